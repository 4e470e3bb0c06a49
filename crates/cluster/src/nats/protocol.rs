//! The part of the NATS client protocol that a node needs: sign in, subscribe, publish, receive, and answer pings.
//!
//! A value that takes bytes. `docs.nats.io/reference/reference-protocols/nats-protocol` has the protocol.

use serde::Deserialize;
use serde_json::json;

/// The longest control line. NATS itself sends at most 4 KiB, but for `INFO`.
const LINE_BYTES: usize = 64 * 1024;
/// The longest message. A server may allow more; nodes send less.
const MESSAGE_BYTES: usize = 8 * 1024 * 1024;

/// A control line of the server, with the payload of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    Info(Info),
    Message(Vec<u8>),
    Ping,
    Pong,
    /// The reason; the server usually closes the connection afterwards.
    Error(String),
}

/// The part of `INFO` that a node reads.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Info {
    #[serde(default)]
    pub(super) tls_required: bool,
    #[serde(default)]
    pub(super) max_payload: u64,
}

/// The server does not keep the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server does not speak the protocol of NATS")]
pub(super) struct Offence;

/// Cuts the bytes of the server into what it has sent.
#[derive(Debug, Default)]
pub(super) struct Parser {
    bytes: Vec<u8>,
    used: usize,
}

impl Parser {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.used > 0 {
            self.bytes.drain(..self.used);
            self.used = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// None: more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<Received>, Offence> {
        loop {
            let rest = &self.bytes[self.used..];
            let Some(end) = rest.iter().take(LINE_BYTES).position(|byte| *byte == b'\n') else {
                return if rest.len() < LINE_BYTES { Ok(None) } else { Err(Offence) };
            };
            let line = std::str::from_utf8(&rest[..end]).map_err(|_| Offence)?.trim_ascii_end();
            let (verb, fields) = line.split_once([' ', '\t']).unwrap_or((line, ""));
            let received = match verb.to_ascii_uppercase().as_str() {
                "MSG" => {
                    let length: usize = fields
                        .split_ascii_whitespace()
                        .next_back()
                        .and_then(|length| length.parse().ok())
                        .ok_or(Offence)?;
                    if length > MESSAGE_BYTES {
                        return Err(Offence);
                    }
                    let after = end + 1 + length + 2;
                    if rest.len() < after {
                        return Ok(None);
                    }
                    let message = rest[end + 1..end + 1 + length].to_vec();
                    self.used += after;
                    return Ok(Some(Received::Message(message)));
                }
                "INFO" => Some(Received::Info(serde_json::from_str(fields).map_err(|_| Offence)?)),
                "PING" => Some(Received::Ping),
                "PONG" => Some(Received::Pong),
                "-ERR" => Some(Received::Error(fields.trim_matches('\'').to_owned())),
                "+OK" | "" => None,
                _ => return Err(Offence),
            };
            self.used += end + 1;
            if let Some(received) = received {
                return Ok(Some(received));
            }
        }
    }
}

/// How a node signs in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
}

pub(super) fn connect(name: &str, credentials: &Credentials, is_tls: bool) -> Vec<u8> {
    let mut fields = json!({
        "verbose": false,
        "pedantic": false,
        "lang": "rust",
        "version": env!("CARGO_PKG_VERSION"),
        "name": name,
        "tls_required": is_tls,
        "protocol": 1,
        // A node does not hear itself.
        "echo": false,
    });
    match (&credentials.user, &credentials.password) {
        (Some(user), Some(password)) => (fields["user"], fields["pass"]) = (json!(user), json!(password)),
        (Some(token), None) => fields["auth_token"] = json!(token),
        (None, _) => {}
    }
    format!("CONNECT {fields}\r\n").into_bytes()
}

pub(super) fn subscribe(subject: &str, number: usize) -> Vec<u8> {
    format!("SUB {subject} {number}\r\n").into_bytes()
}

pub(super) fn publish(out: &mut Vec<u8>, subject: &str, payload: &[u8]) {
    out.extend_from_slice(format!("PUB {subject} {}\r\n", payload.len()).as_bytes());
    out.extend_from_slice(payload);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pieces: &[&[u8]]) -> Result<Vec<Received>, Offence> {
        let mut parser = Parser::default();
        let mut all = Vec::new();
        for piece in pieces {
            parser.push(piece);
            while let Some(received) = parser.next()? {
                all.push(received);
            }
        }
        Ok(all)
    }

    const SESSION: &[u8] = b"INFO {\"server_id\":\"x\",\"tls_required\":true,\"max_payload\":1048576}\r\n+OK\r\nPING\r\n\
        MSG kith.slot.0.home 1 5\r\na\r\nbc\r\nMSG kith.front.1 2 _INBOX.1 0\r\n\r\n-ERR 'Authorization Violation'\r\nPONG\r\n";

    #[test]
    fn the_words_of_a_server_are_understood_in_any_pieces() {
        let expected = vec![
            Received::Info(Info { tls_required: true, max_payload: 1_048_576 }),
            Received::Ping,
            Received::Message(b"a\r\nbc".to_vec()),
            Received::Message(Vec::new()),
            Received::Error("Authorization Violation".into()),
            Received::Pong,
        ];
        assert_eq!(all(&[SESSION]).as_ref(), Ok(&expected));
        for at in 0..SESSION.len() {
            let (first, second) = SESSION.split_at(at);
            assert_eq!(all(&[first, second]).as_ref(), Ok(&expected), "cut at {at}");
        }
    }

    #[test]
    fn other_words_and_too_long_messages_are_an_offence() {
        for wrong in [
            "HELLO\r\n",
            "MSG a 1 x\r\n",
            "MSG\r\n",
            "INFO no\r\n",
            "MSG a 1 99999999\r\n",
            "MSG a 1 99999999999999999999\r\n",
        ] {
            assert_eq!(all(&[wrong.as_bytes()]), Err(Offence), "{wrong}");
        }
        assert_eq!(all(&[&vec![b'x'; LINE_BYTES]]), Err(Offence));
    }

    #[test]
    fn a_user_without_a_password_is_a_token() {
        let of = |user: Option<&str>, password: Option<&str>| {
            let credentials = Credentials { user: user.map(Into::into), password: password.map(Into::into) };
            String::from_utf8(connect("n", &credentials, false)).expect("text")
        };
        assert!(of(Some("kith"), Some("\"quoted\"")).contains(r#""pass":"\"quoted\"""#));
        assert!(of(Some("secret"), None).contains(r#""auth_token":"secret""#));
        assert!(!of(None, None).contains("auth_token"));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..8)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = all(&pieces);
        }
    }
}
