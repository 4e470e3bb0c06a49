//! The client side of RFC 6455.

use std::fmt::Write;
use std::ops::Range;

use super::{Fault, Masks};
use crate::target::Target;

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
const CONTINUATION: u8 = 0;
pub(crate) const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// Appends the opening handshake (§4.1).
pub(crate) fn open(target: &Target, path: &str, protocol: &str, out: &mut Vec<u8>) {
    let mut head = String::with_capacity(256);
    let _ = write!(
        head,
        "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {}\r\nSec-WebSocket-Protocol: {protocol}\r\n\r\n",
        target.host, target.websocket_key
    );
    out.extend_from_slice(head.as_bytes());
}

/// Appends one masked frame (§5.2, §5.3).
pub(crate) fn write(opcode: u8, payload: &[u8], mask: [u8; 4], out: &mut Vec<u8>) {
    out.push(0x80 | opcode);
    match payload.len() {
        short @ 0..=125 => out.push(0x80 | short as u8),
        middle @ 126..=0xffff => {
            out.push(0x80 | 126);
            out.extend_from_slice(&(middle as u16).to_be_bytes());
        }
        long => {
            out.push(0x80 | 127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&mask);
    let start = out.len();
    out.extend_from_slice(payload);
    for (at, byte) in out[start..].iter_mut().enumerate() {
        *byte ^= mask[at % 4];
    }
}

/// A frame from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) fin: bool,
    pub(crate) opcode: u8,
    pub(crate) payload: Range<usize>,
    /// Length of the whole frame.
    pub(crate) bytes: usize,
}

/// Reads the frame at the start of `input`; None: more bytes are needed.
pub(crate) fn read(input: &[u8]) -> Result<Option<Frame>, Fault> {
    let &[first, second, ref rest @ ..] = input else { return Ok(None) };
    if first & 0x70 != 0 {
        return Err(Fault::Websocket("a reserved bit"));
    }
    if second & 0x80 != 0 {
        return Err(Fault::Websocket("a masked frame of a server"));
    }
    let (fin, opcode) = (first & 0x80 != 0, first & 0x0f);
    let (length, start) = match (second & 0x7f, rest) {
        (126, &[a, b, ..]) => (usize::from(u16::from_be_bytes([a, b])), 4),
        (127, &[a, b, c, d, e, f, g, h, ..]) => {
            let length = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            (usize::try_from(length).ok().filter(|length| *length < 1 << 30).ok_or(TOO_LONG)?, 10)
        }
        (126 | 127, _) => return Ok(None),
        (short, _) => (usize::from(short), 2),
    };
    if (start == 4 && length < 126) || (start == 10 && length < 0x1_0000) {
        return Err(Fault::Websocket("a length that is not the shortest"));
    }
    match opcode {
        CONTINUATION | TEXT | BINARY => {}
        CLOSE | PING | PONG if fin && length <= 125 => {}
        CLOSE | PING | PONG => return Err(Fault::Websocket("a long or cut control frame")),
        _ => return Err(Fault::Websocket("an opcode that nobody sends here")),
    }
    let bytes = start + length;
    Ok((input.len() >= bytes).then_some(Frame { fin, opcode, payload: start..bytes, bytes }))
}

/// What a frame asks of its receiver.
pub(crate) enum Control {
    /// It is a part of a message.
    Data,
    Answered,
    /// The server has closed, and got its answer (§5.5.1).
    Closed,
}

/// Answers a control frame (§5.5).
pub(crate) fn control(opcode: u8, payload: &[u8], masks: &mut Masks, out: &mut Vec<u8>) -> Control {
    match opcode {
        PING => write(PONG, payload, masks.next(), out),
        PONG => {}
        CLOSE => {
            write(CLOSE, payload, masks.next(), out);
            return Control::Closed;
        }
        _ => return Control::Data,
    }
    Control::Answered
}

/// The content of a frame, from a server that sends each message in one frame.
pub(crate) enum Content<'a> {
    Message(&'a [u8]),
    /// A control frame that needs no further action.
    Nothing,
    /// The payload of the close frame.
    Closed(&'a [u8]),
}

/// Reads the frame at the start of `input` and answers control frames. Returns its content and its length (0: more bytes are
/// needed). `opcode`: of messages.
pub(crate) fn content<'a>(
    opcode: u8,
    input: &'a [u8],
    masks: &mut Masks,
    out: &mut Vec<u8>,
) -> Result<(Content<'a>, usize), Fault> {
    let Some(frame) = read(input)? else { return Ok((Content::Nothing, 0)) };
    let payload = &input[frame.payload];
    let content = match control(frame.opcode, payload, masks, out) {
        Control::Data if frame.opcode != opcode => {
            return Err(Fault::Websocket("a message of the wrong type"));
        }
        Control::Data if !frame.fin => return Err(Fault::Websocket("a message in several frames")),
        Control::Data => Content::Message(payload),
        Control::Answered => Content::Nothing,
        Control::Closed => Content::Closed(payload),
    };
    Ok((content, frame.bytes))
}

const TOO_LONG: Fault = Fault::Websocket("a frame above 1 GiB");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_a_server() {
        assert_eq!(
            read(b"\x81\x02hi!").unwrap(),
            Some(Frame { fin: true, opcode: TEXT, payload: 2..4, bytes: 4 })
        );
        let middle = [&b"\x01\x7e\x00\x80"[..], &[b'x'; 128]].concat();
        assert_eq!(
            read(&middle).unwrap(),
            Some(Frame { fin: false, opcode: TEXT, payload: 4..132, bytes: 132 })
        );
        for at in 0..middle.len() {
            assert_eq!(read(&middle[..at]).unwrap(), None);
        }
        for bad in [
            &b"\xc1\x00"[..],
            b"\x81\x80",
            b"\x83\x00",
            b"\x87\x00",
            b"\x08\x00",
            b"\x89\x7e\x00\x80",
            b"\x81\x7e\x00\x05",
            b"\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x05",
            b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn frames_of_ours_are_masked() {
        for (length, start) in [(5, 2), (300, 4), (70_000, 10)] {
            let (payload, mut out) = (vec![b'a'; length], Vec::new());
            write(TEXT, &payload, [1, 2, 3, 4], &mut out);
            assert_eq!(out[1] & 0x80, 0x80);
            assert_eq!(&out[start..start + 4], [1, 2, 3, 4]);
            let body: Vec<u8> =
                out[start + 4..].iter().zip([1, 2, 3, 4].iter().cycle()).map(|(a, b)| a ^ b).collect();
            assert_eq!(body, payload);
        }
    }
}
