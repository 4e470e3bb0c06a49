//! The bytes of one frame (RFC 6455 §5.2): heads from clients, whole frames to them.

use super::Violation;

/// Most bytes of a control frame's payload (RFC 6455 §5.5).
pub(super) const MAX_CONTROL_BYTES: usize = 125;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn parse(nibble: u8) -> Option<Opcode> {
        Some(match nibble {
            0 => Opcode::Continuation,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            _ => return None,
        })
    }

    fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// The header of a client's frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) fin: bool,
    pub(super) opcode: Opcode,
    pub(super) mask: [u8; 4],
    pub(super) payload: u64,
    /// Length of the head itself.
    pub(super) bytes: usize,
}

impl FrameHead {
    /// None while it is not complete; what is wrong with the first two bytes is said at once.
    pub(super) fn parse(input: &[u8]) -> Result<Option<FrameHead>, Violation> {
        let &[first, second, ref rest @ ..] = input else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(Violation::protocol("reserved bit without an extension"));
        }
        let opcode = Opcode::parse(first & 0x0f).ok_or(Violation::protocol("reserved opcode"))?;
        let fin = first & 0x80 != 0;
        if second & 0x80 == 0 {
            // RFC 6455 §5.1: the server must close on a frame that is not masked.
            return Err(Violation::protocol("frame without a mask"));
        }
        let short = second & 0x7f;
        if opcode.is_control() && (!fin || short as usize > MAX_CONTROL_BYTES) {
            return Err(Violation::protocol("control frame in fragments or over 125 bytes"));
        }
        let (payload, rest) = match short {
            126 => match rest.split_first_chunk::<2>() {
                None => return Ok(None),
                Some((bytes, rest)) => (u64::from(u16::from_be_bytes(*bytes)), rest),
            },
            127 => match rest.split_first_chunk::<8>() {
                None => return Ok(None),
                Some((bytes, rest)) => (u64::from_be_bytes(*bytes), rest),
            },
            _ => (u64::from(short), rest),
        };
        let minimal = match short {
            126 => payload > 125,
            127 => payload > 0xffff && payload >> 63 == 0,
            _ => true,
        };
        if !minimal {
            return Err(Violation::protocol("length not in its shortest form"));
        }
        let Some((mask, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        Ok(Some(FrameHead { fin, opcode, mask: *mask, payload, bytes: input.len() - rest.len() }))
    }
}

/// Takes the mask off, or puts it on; `offset` is how far into the payload the bytes begin (RFC 6455 §5.3).
pub(super) fn unmask(bytes: &mut [u8], mask: [u8; 4], offset: u64) {
    let turned = u32::from_ne_bytes(mask);
    let shift = (offset % 4) as u32 * 8;
    let turned =
        if cfg!(target_endian = "little") { turned.rotate_right(shift) } else { turned.rotate_left(shift) };
    let wide = u64::from(turned) << 32 | u64::from(turned);
    let mut chunks = bytes.chunks_exact_mut(8);
    for chunk in &mut chunks {
        let masked = u64::from_ne_bytes((&*chunk).try_into().expect("a chunk of 8 has 8 bytes"));
        chunk.copy_from_slice(&(masked ^ wide).to_ne_bytes());
    }
    let mask = turned.to_ne_bytes();
    for (at, byte) in chunks.into_remainder().iter_mut().enumerate() {
        *byte ^= mask[at % 4];
    }
}

/// Longest head of a server's frame.
pub(super) const MAX_HEAD_BYTES: usize = 10;

/// The head of a whole, unmasked frame, at the end of an array: answers the array and where the head begins.
pub fn head(opcode: Opcode, payload: usize) -> ([u8; MAX_HEAD_BYTES], usize) {
    let mut head = [0; MAX_HEAD_BYTES];
    let start = match payload {
        0..=125 => {
            head[9] = payload as u8;
            8
        }
        126..=0xffff => {
            head[7] = 126;
            head[8..].copy_from_slice(&(payload as u16).to_be_bytes());
            6
        }
        _ => {
            head[1] = 127;
            head[2..].copy_from_slice(&(payload as u64).to_be_bytes());
            0
        }
    };
    head[start] = 0x80 | opcode as u8;
    (head, start)
}

/// Appends a whole frame.
pub fn write_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8]) {
    let (head, start) = head(opcode, payload.len());
    out.extend_from_slice(&head[start..]);
    out.extend_from_slice(payload);
}

/// Appends a close frame; the reason is cut to what fits.
pub fn write_close(out: &mut Vec<u8>, code: u16, reason: &str) {
    let mut end = reason.len().min(MAX_CONTROL_BYTES - 2);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let (head, start) = head(Opcode::Close, 2 + end);
    out.extend_from_slice(&head[start..]);
    out.extend_from_slice(&code.to_be_bytes());
    out.extend_from_slice(&reason.as_bytes()[..end]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn unmasking_in_pieces_is_unmasking(
            bytes in prop::collection::vec(any::<u8>(), 0..100), mask: [u8; 4], cut in 0..100_usize,
        ) {
            let naive: Vec<u8> = bytes.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]).collect();
            let mut pieces = bytes.clone();
            let (left, right) = pieces.split_at_mut(cut.min(bytes.len()));
            unmask(left, mask, 0);
            unmask(right, mask, left.len() as u64);
            prop_assert_eq!(pieces, naive);
        }
    }

    #[test]
    fn broken_heads_are_refused_by_their_first_bytes() {
        for (head, text) in [
            (&[0xc1, 0x80][..], "reserved bit"),
            (&[0xa1, 0x80], "reserved bit"),
            (&[0x91, 0x80], "reserved bit"),
            (&[0x83, 0x80], "reserved opcode"),
            (&[0x87, 0x80], "reserved opcode"),
            (&[0x8b, 0x80], "reserved opcode"),
            (&[0x8f, 0x80], "reserved opcode"),
            (&[0x81, 0x00], "without a mask"),
            (&[0x09, 0x80], "control frame"),
            (&[0x89, 0xfe], "control frame"),
            (&[0x81, 0xfe, 0, 125], "shortest"),
            (&[0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff], "shortest"),
            (&[0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0], "shortest"),
        ] {
            let violation = FrameHead::parse(head).unwrap_err();
            assert!(violation.text.contains(text) && violation.code == 1002, "{head:?}: {violation:?}");
        }
    }

    #[test]
    fn long_reasons_are_cut_between_characters() {
        let mut out = Vec::new();
        write_close(&mut out, 1000, &"\u{e4}".repeat(100));
        assert_eq!(out[1] as usize, out.len() - 2);
        assert_eq!(std::str::from_utf8(&out[4..]).unwrap().chars().count(), 61);
    }
}
