//! Hashed tokens (draft-schmaus-kitten-sasl-ht-09): one message proves that a client has a token, and the answer that
//! the server has it too.

use ring::hmac;

use super::{BindingKind, SaslError};

/// The mechanisms, by the kind of their channel binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HtMechanism {
    None,
    EndPoint,
    Exporter,
}

impl HtMechanism {
    pub const ALL: [HtMechanism; 3] = [HtMechanism::None, HtMechanism::EndPoint, HtMechanism::Exporter];

    pub fn name(self) -> &'static str {
        match self {
            HtMechanism::None => "HT-SHA-256-NONE",
            HtMechanism::EndPoint => "HT-SHA-256-ENDP",
            HtMechanism::Exporter => "HT-SHA-256-EXPR",
        }
    }

    pub fn of(name: &str) -> Option<HtMechanism> {
        HtMechanism::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }

    pub fn binding(self) -> Option<BindingKind> {
        match self {
            HtMechanism::None => None,
            HtMechanism::EndPoint => Some(BindingKind::TlsServerEndPoint),
            HtMechanism::Exporter => Some(BindingKind::TlsExporter),
        }
    }
}

/// §3.1: the message of a client.
pub struct HtMessage<'a> {
    pub username: &'a str,
    hashed: &'a [u8],
}

impl<'a> HtMessage<'a> {
    pub fn parse(message: &'a [u8]) -> Result<HtMessage<'a>, SaslError> {
        let end = message.iter().position(|byte| *byte == 0).ok_or(SaslError::MalformedRequest)?;
        let username = str::from_utf8(&message[..end]).map_err(|_| SaslError::MalformedRequest)?;
        if username.is_empty() {
            return Err(SaslError::MalformedRequest);
        }
        Ok(HtMessage { username, hashed: &message[end + 1..] })
    }

    /// Checks the message against one token of the user, in constant time. `binding` is the data of the mechanism's
    /// channel binding; empty without one. Some: the server's own proof, which goes to the client with the success.
    pub fn verify(&self, token: &[u8], binding: &[u8]) -> Option<Vec<u8>> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token);
        hmac::verify(&key, &[b"Initiator", binding].concat(), self.hashed).ok()?;
        Some(hmac::sign(&key, &[b"Responder", binding].concat()).as_ref().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(username: &str, token: &[u8], binding: &[u8]) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, token);
        let hashed = hmac::sign(&key, &[b"Initiator", binding].concat());
        [username.as_bytes(), b"\0", hashed.as_ref()].concat()
    }

    #[test]
    fn a_token_proves_both_sides() {
        let bytes = message("user", b"token", b"exported");
        let parsed = HtMessage::parse(&bytes).unwrap();
        assert_eq!(parsed.username, "user");
        let proof = parsed.verify(b"token", b"exported").unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"token");
        assert!(hmac::verify(&key, b"Responderexported", &proof).is_ok());
        assert!(parsed.verify(b"other", b"exported").is_none());
        assert!(parsed.verify(b"token", b"another connection").is_none());
        assert!(parsed.verify(b"token", b"").is_none());
    }

    #[test]
    fn wrong_messages_are_refused() {
        for wrong in [&b""[..], b"user", b"\0hash", b"\xFF\0hash"] {
            assert!(matches!(HtMessage::parse(wrong), Err(SaslError::MalformedRequest)), "{wrong:?}");
        }
        assert!(HtMessage::parse(b"user\0").unwrap().verify(b"token", b"").is_none());
    }

    #[test]
    fn mechanisms_are_found_by_name() {
        for mechanism in HtMechanism::ALL {
            assert_eq!(HtMechanism::of(mechanism.name()), Some(mechanism));
            assert_eq!(mechanism.binding().is_none(), mechanism.name().ends_with("NONE"));
        }
        assert_eq!(HtMechanism::of("HT-SHA-256-UNIQ"), None);
    }
}
