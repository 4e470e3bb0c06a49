//! PLAIN (RFC 4616): the password itself, so only inside TLS.

use std::borrow::Cow;
use std::fmt;

use super::SaslError;

/// A user name and password, prepared with SASLprep.
pub struct Plain<'a> {
    pub authzid: Option<&'a str>,
    pub username: Cow<'a, str>,
    pub password: Cow<'a, str>,
}

impl<'a> Plain<'a> {
    /// RFC 4616 §2: `[authzid] NUL authcid NUL passwd`.
    pub fn parse(message: &'a [u8]) -> Result<Plain<'a>, SaslError> {
        let message = str::from_utf8(message).map_err(|_| SaslError::MalformedRequest)?;
        let mut parts = message.split('\0');
        let (Some(authzid), Some(username), Some(password), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(SaslError::MalformedRequest);
        };
        if username.is_empty() || password.is_empty() {
            return Err(SaslError::MalformedRequest);
        }
        // RFC 4616 §2: the verification fails if a string cannot be prepared, or is empty then.
        let prepare = |text: &'a str| {
            let prepared = stringprep::saslprep(text).ok().filter(|prepared| !prepared.is_empty());
            prepared.ok_or(SaslError::NotAuthorized)
        };
        Ok(Plain {
            authzid: (!authzid.is_empty()).then_some(authzid),
            username: prepare(username)?,
            password: prepare(password)?,
        })
    }
}

impl fmt::Debug for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plain").field("username", &self.username).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_three_parts() {
        let plain = Plain::parse(b"\0tim\0tanstaaf\xE2\x85\xA3").unwrap();
        assert_eq!((plain.authzid, &*plain.username, &*plain.password), (None, "tim", "tanstaafIV"));
        assert_eq!(format!("{plain:?}"), "Plain { username: \"tim\", .. }");
        assert_eq!(Plain::parse(b"a\0tim\0x").unwrap().authzid, Some("a"));
    }

    #[test]
    fn wrong_messages_are_refused() {
        for (message, error) in [
            (&b""[..], SaslError::MalformedRequest),
            (b"\0tim", SaslError::MalformedRequest),
            (b"\0tim\0", SaslError::MalformedRequest),
            (b"\0\0x", SaslError::MalformedRequest),
            (b"\0tim\0x\0", SaslError::MalformedRequest),
            (b"\0tim\0\xFF", SaslError::MalformedRequest),
            (b"\0tim\0\x07", SaslError::NotAuthorized),
            (b"\0\xC2\xAD\0x", SaslError::NotAuthorized),
        ] {
            assert_eq!(Plain::parse(message).unwrap_err(), error, "{message:?}");
        }
    }
}
