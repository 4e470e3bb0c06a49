//! One JSON frame in the clothes of its transport.

use bytes::Bytes;
use edge::Io;
use http_proto::websocket::{Opcode, frame_head};

use crate::counters::Transport;

/// How frames follow each other on a connection that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    WebSocket,
    /// JSON lines in chunks.
    Stream,
    /// Server-Sent Events in chunks.
    Sse,
}

impl Framing {
    pub(crate) fn transport(self) -> Transport {
        match self {
            Framing::WebSocket => Transport::WebSocket,
            Framing::Stream => Transport::Stream,
            Framing::Sse => Transport::Sse,
        }
    }

    /// One `send`, so that `Io::drop_outgoing` never cuts a frame.
    pub(crate) fn send(self, io: &mut Io<'_>, json: &[u8]) {
        match self {
            Framing::WebSocket => {
                let (head, start) = frame_head(Opcode::Text, json.len());
                io.send_parts(&[&head[start..], json]);
            }
            Framing::Stream => {
                let (size, start) = hex(json.len() + 1);
                io.send_parts(&[&size[start..], b"\r\n", json, b"\n\r\n"]);
            }
            Framing::Sse => {
                let (size, start) = hex(json.len() + 8);
                io.send_parts(&[&size[start..], b"\r\ndata: ", json, b"\n\n\r\n"]);
            }
        }
    }

    /// The heartbeat, equal for all silent sessions. WebSocket has its own pings.
    pub(crate) fn heartbeat(self) -> Option<Bytes> {
        match self {
            Framing::WebSocket => None,
            Framing::Stream => Some(Bytes::from_static(b"12\r\n{\"t\":\"heartbeat\"}\n\r\n")),
            Framing::Sse => Some(Bytes::from_static(b"19\r\ndata: {\"t\":\"heartbeat\"}\n\n\r\n")),
        }
    }

    /// The end of a chunked answer (RFC 9112 §7.1).
    pub(crate) const LAST_CHUNK: &'static [u8] = b"0\r\n\r\n";
}

/// Hexadecimal digits at the end of an array: answers the array and where they begin.
fn hex(mut number: usize) -> ([u8; 16], usize) {
    let mut digits = [0; 16];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789abcdef"[number & 15];
        number >>= 4;
        if number == 0 {
            return (digits, start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_say_their_length() {
        for framing in [Framing::Stream, Framing::Sse] {
            let bytes = framing.heartbeat().unwrap();
            let text = std::str::from_utf8(&bytes).unwrap();
            let (size, rest) = text.split_once("\r\n").unwrap();
            assert_eq!(usize::from_str_radix(size, 16).unwrap(), rest.len() - 2);
        }
        assert!(Framing::WebSocket.heartbeat().is_none());
    }

    #[test]
    fn numbers_in_hexadecimal() {
        for number in [0, 1, 15, 16, 255, 65_536, usize::MAX] {
            let (digits, start) = hex(number);
            assert_eq!(std::str::from_utf8(&digits[start..]).unwrap(), format!("{number:x}"));
        }
    }
}
