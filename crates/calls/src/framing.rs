//! Message boundaries in a stream, from the messages' lengths (RFC 8656 §12.5, RFC 8489 §6.2.2).

use crate::stun::{HEADER, padded};

/// The first frame of a stream's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framed {
    /// A message of this length; the next begins after `next` bytes.
    Whole {
        message: usize,
        next: usize,
    },
    Incomplete,
    /// Neither STUN nor data of a channel; the rest of the stream cannot be trusted.
    Broken,
}

pub fn frame(bytes: &[u8]) -> Framed {
    let Some(&[kind, _, a, b]) = bytes.first_chunk() else {
        return match bytes.first() {
            Some(0x00..=0x7f) | None => Framed::Incomplete,
            Some(_) => Framed::Broken,
        };
    };
    let length = usize::from(u16::from_be_bytes([a, b]));
    let (message, next) = match kind {
        0x00..=0x3f if length % 4 == 0 => (HEADER + length, HEADER + length),
        0x40..=0x7f => (4 + length, 4 + padded(length)),
        _ => return Framed::Broken,
    };
    if next <= bytes.len() { Framed::Whole { message, next } } else { Framed::Incomplete }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_are_found_by_their_lengths() {
        assert_eq!(frame(&[]), Framed::Incomplete);
        assert_eq!(frame(&[0x40, 0, 0]), Framed::Incomplete);
        assert_eq!(frame(&[0x40, 0, 0, 3, 1, 2, 3]), Framed::Incomplete, "its padding is still to come");
        assert_eq!(frame(&[0x40, 0, 0, 3, 1, 2, 3, 0, 9]), Framed::Whole { message: 7, next: 8 });
        let mut binding = [0; 20];
        binding[1] = 1;
        assert_eq!(frame(&binding), Framed::Whole { message: 20, next: 20 });
        assert_eq!(frame(&binding[..19]), Framed::Incomplete);
        binding[3] = 2;
        assert_eq!(frame(&binding), Framed::Broken, "no whole words");
        assert_eq!(frame(b"HTTP/1.1 200"), Framed::Incomplete, "what begins like a channel's data is one");
        assert_eq!(frame(&[0x80]), Framed::Broken);
        assert_eq!(frame(&[0xff; 4]), Framed::Broken);
    }

    proptest! {
        #[test]
        fn any_input_advances_within_its_bounds(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Framed::Whole { message, next } = frame(&bytes) {
                prop_assert!(4 <= message && message <= next && next <= bytes.len());
            }
        }
    }
}
