//! The name of a connection, and of what else a worker waits for.

use mio::Token;

/// A connection: worker, slot, generation. A handle of a connection that is gone never reaches a new one
/// (until its slot was reused 2^24 times).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(u64);

/// Generations are 24 bits wide, so that a handle fits in eight bytes beside 256 workers and 2^32 slots.
pub(crate) const GENERATION_MASK: u32 = (1 << 24) - 1;

/// More workers than this do not fit in a handle.
pub(crate) const MAX_WORKERS: usize = 255;

impl Handle {
    pub fn new(worker: usize, slot: u32, generation: u32) -> Handle {
        debug_assert!(worker < MAX_WORKERS);
        Handle((worker as u64) << 56 | u64::from(generation & GENERATION_MASK) << 32 | u64::from(slot))
    }

    pub fn worker(self) -> usize {
        (self.0 >> 56) as usize
    }

    pub fn slot(self) -> u32 {
        self.0 as u32
    }

    pub fn generation(self) -> u32 {
        (self.0 >> 32) as u32 & GENERATION_MASK
    }

    /// For tables of gateways and the domain; `from_bits(h.to_bits()) == h`.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    pub fn from_bits(bits: u64) -> Handle {
        Handle(bits)
    }
}

/// The number of no worker: tokens of what is no connection begin with it.
const NO_WORKER: usize = MAX_WORKERS << 56;

/// How the system names a socket of the protocol's own to us. Bells and listeners are at the end of the same range.
pub(crate) fn own_socket(number: u32) -> Token {
    Token(NO_WORKER | number as usize)
}

/// The number of such a socket.
pub(crate) fn own_socket_of(token: Token) -> Option<u32> {
    (token.0 & NO_WORKER == NO_WORKER).then(|| u32::try_from(token.0 ^ NO_WORKER).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_survive_packing(worker in 0..MAX_WORKERS, slot: u32, generation in 0..=GENERATION_MASK) {
            let handle = Handle::from_bits(Handle::new(worker, slot, generation).to_bits());
            prop_assert_eq!((handle.worker(), handle.slot(), handle.generation()), (worker, slot, generation));
        }
    }

    #[test]
    fn an_own_socket_is_no_connection_and_no_listener() {
        for number in [0, 7, u32::MAX] {
            assert_eq!(own_socket_of(own_socket(number)), Some(number));
        }
        for other in
            [usize::MAX, usize::MAX - 300, 0, Handle::new(254, u32::MAX, GENERATION_MASK).to_bits() as usize]
        {
            assert_eq!(own_socket_of(Token(other)), None);
        }
    }
}
