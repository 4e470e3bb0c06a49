//! The envelope: one message on the bus. A fixed head, and a part of the stream of items of a link.
//!
//! | bytes | field |
//! |---|---|
//! | 2 | `Kc` |
//! | 1 | version |
//! | 1 | kind |
//! | 2 | slot |
//! | 8 | term of the home; 0: the front knows none |
//! | 8 | front: a random number of its process |
//! | 8 | link: a number that the front raises with each attempt |
//! | 8 | number of the envelope in its direction of the link |
//! | 8 | number up to which the sender has received the other direction |
//! | rest | payload |
//!
//! Numbers are big-endian.

use chat::Slot;

/// The version that this node writes. It reads this one only, because there is none before.
pub const VERSION: u8 = 1;
const MAGIC: [u8; 2] = *b"Kc";
pub(crate) const HEAD_BYTES: usize = 46;

/// The number of a home among all homes of its slot: later ones are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Term(pub u64);

/// A front: a random number that its process draws at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrontId(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From a home to all fronts: it is there. The payload is [`Announced`](crate::wire::Announced).
    Announce,
    /// From a front: it asks for a link. The payload is [`Join`](crate::wire::Join).
    Join,
    /// The next part of the stream of items.
    Data,
    /// The sender is alive, and has sent all envelopes up to this number.
    Beat,
    /// From a home: it does not know this link.
    Reset,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    pub(crate) kind: Kind,
    pub(crate) slot: Slot,
    pub(crate) term: Term,
    pub(crate) front: FrontId,
    pub(crate) link: u64,
    pub(crate) number: u64,
    pub(crate) acknowledged: u64,
    pub(crate) payload: &'a [u8],
}

/// The bytes are no envelope that this node can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotAnEnvelope {
    #[error("the head is too short, or begins with other bytes")]
    Malformed,
    #[error("version {0} is not known here")]
    Version(u8),
    #[error("kind {0} is not known here")]
    Kind(u8),
    #[error("slot {0} is not known here")]
    Slot(u16),
}

impl<'a> Envelope<'a> {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[VERSION, self.kind as u8]);
        bytes.extend_from_slice(&u16::from(self.slot.0).to_be_bytes());
        for number in [self.term.0, self.front.0, self.link, self.number, self.acknowledged] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes.extend_from_slice(self.payload);
        bytes
    }

    pub(crate) fn read(bytes: &'a [u8]) -> Result<Envelope<'a>, NotAnEnvelope> {
        let (head, payload) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or(NotAnEnvelope::Malformed)?;
        if head[..2] != MAGIC {
            return Err(NotAnEnvelope::Malformed);
        }
        if head[2] != VERSION {
            return Err(NotAnEnvelope::Version(head[2]));
        }
        let kind = match head[3] {
            0 => Kind::Announce,
            1 => Kind::Join,
            2 => Kind::Data,
            3 => Kind::Beat,
            4 => Kind::Reset,
            other => return Err(NotAnEnvelope::Kind(other)),
        };
        let slot = u16::from_be_bytes([head[4], head[5]]);
        let slot = Slot(u8::try_from(slot).map_err(|_| NotAnEnvelope::Slot(slot))?);
        let number = |at: usize| {
            let at = 6 + at * 8;
            u64::from_be_bytes(std::array::from_fn(|byte| head[at + byte]))
        };
        Ok(Envelope {
            kind,
            slot,
            term: Term(number(0)),
            front: FrontId(number(1)),
            link: number(2),
            number: number(3),
            acknowledged: number(4),
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ANY: Envelope<'_> = Envelope {
        kind: Kind::Data,
        slot: Slot(3),
        term: Term(4),
        front: FrontId(u64::MAX),
        link: 5,
        number: 6,
        acknowledged: 7,
        payload: b"payload",
    };

    #[test]
    fn an_envelope_is_read_as_it_was_written() {
        for kind in [Kind::Announce, Kind::Join, Kind::Data, Kind::Beat, Kind::Reset] {
            let envelope = Envelope { kind, ..ANY };
            assert_eq!(Envelope::read(&envelope.write()), Ok(envelope));
        }
    }

    #[test]
    fn other_versions_kinds_and_slots_are_refused() {
        let mut bytes = ANY.write();
        bytes[4] = 1;
        assert_eq!(Envelope::read(&bytes), Err(NotAnEnvelope::Slot(0x0103)));
        bytes[3] = 9;
        assert_eq!(Envelope::read(&bytes), Err(NotAnEnvelope::Kind(9)));
        bytes[2] = 2;
        assert_eq!(Envelope::read(&bytes), Err(NotAnEnvelope::Version(2)));
        bytes[0] = b'x';
        assert_eq!(Envelope::read(&bytes), Err(NotAnEnvelope::Malformed));
        assert_eq!(Envelope::read(&ANY.write()[..HEAD_BYTES - 1]), Err(NotAnEnvelope::Malformed));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Envelope::read(&bytes);
        }
    }
}
