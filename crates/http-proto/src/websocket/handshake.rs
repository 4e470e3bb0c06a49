//! The opening handshake, server side (RFC 6455 §4.2).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::head::{Framing, Head, Version};

/// Appended to the client's key (RFC 6455 §1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Why a request opens no WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeError {
    /// It does not ask for one: 426 with `Upgrade: websocket`.
    NotAnUpgrade,
    /// Another version than 13: 426 with `Sec-WebSocket-Version: 13` (RFC 6455 §4.4).
    BadVersion,
    /// The key is missing or no 16 bytes in base64, there is a body, or it is HTTP/1.0.
    Malformed,
}

/// The answer to the client's key, where the request opens a WebSocket.
pub fn check(head: &Head<'_>) -> Result<[u8; 28], HandshakeError> {
    if !head.has_token("connection", "upgrade") || !head.has_token("upgrade", "websocket") {
        return Err(HandshakeError::NotAnUpgrade);
    }
    if head.method != "GET" || head.version != Version::Http11 || head.framing != Framing::Length(0) {
        return Err(HandshakeError::Malformed);
    }
    if head.field("sec-websocket-version") != Some(b"13") {
        return Err(HandshakeError::BadVersion);
    }
    let key = head.field("sec-websocket-key").ok_or(HandshakeError::Malformed)?;
    let mut decoded = [0; 18];
    match STANDARD.decode_slice(key, &mut decoded) {
        Ok(16) => Ok(accept_key(key)),
        _ => Err(HandshakeError::Malformed),
    }
}

/// `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key` (RFC 6455 §4.2.2).
pub(super) fn accept_key(key: &[u8]) -> [u8; 28] {
    // 24 bytes of key, 36 of GUID: no longer key gets here.
    let mut text = [0; 60];
    let length = (key.len() + GUID.len()).min(text.len());
    text[..key.len().min(24)].copy_from_slice(&key[..key.len().min(24)]);
    text[length - GUID.len()..length].copy_from_slice(GUID);
    let mut accept = [0; 28];
    STANDARD
        .encode_slice(digest(&SHA1_FOR_LEGACY_USE_ONLY, &text[..length]), &mut accept)
        .expect("20 bytes are 28 in base64");
    accept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::{NO_FIELDS, parse};

    fn checked(fields: &str) -> Result<[u8; 28], HandshakeError> {
        let mut room = NO_FIELDS;
        let input = format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
        check(&parse(input.as_bytes(), &mut room).unwrap().unwrap())
    }

    const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const UPGRADE: &str = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n";

    #[test]
    fn the_example_of_the_rfc() {
        let accept = checked(&format!("{UPGRADE}Sec-WebSocket-Version: 13\r\n{KEY}"));
        assert_eq!(accept.as_ref().map(|accept| &accept[..]), Ok(&b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="[..]));
    }

    #[test]
    fn incomplete_handshakes_are_refused() {
        use HandshakeError::{BadVersion, Malformed, NotAnUpgrade};
        let version = "Sec-WebSocket-Version: 13\r\n";
        let table = [
            (format!("{version}{KEY}"), NotAnUpgrade),
            (format!("Upgrade: websocket\r\n{version}{KEY}"), NotAnUpgrade),
            (format!("Connection: Upgrade\r\nUpgrade: h2c\r\n{version}{KEY}"), NotAnUpgrade),
            (format!("{UPGRADE}{KEY}"), BadVersion),
            (format!("{UPGRADE}{KEY}Sec-WebSocket-Version: 8\r\n"), BadVersion),
            (format!("{UPGRADE}{version}"), Malformed),
            (format!("{UPGRADE}{version}Sec-WebSocket-Key: short\r\n"), Malformed),
            (format!("{UPGRADE}{version}Sec-WebSocket-Key: {}\r\n", "a".repeat(200)), Malformed),
            (format!("{UPGRADE}{version}{KEY}Content-Length: 5\r\n"), Malformed),
        ];
        for (fields, expected) in table {
            assert_eq!(checked(&fields), Err(expected), "{fields}");
        }
    }
}
