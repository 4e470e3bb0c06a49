//! The source of a system event, packed into its token.

use mio::Token;

use crate::Handle;
use crate::handle::{MAX_WORKERS, WORKER_SHIFT};

/// A source of events of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Connection(Handle),
    /// A listener of a gateway, by its index in the gateway's configuration.
    Listener {
        gateway: usize,
        index: usize,
    },
    /// A socket that a protocol has registered, by the protocol's number.
    OwnSocket {
        gateway: usize,
        number: u32,
    },
    /// Mail, or a command of the edge.
    Bell,
}

/// A number that no worker has: all sources except connections begin with it.
const NO_WORKER: u64 = (MAX_WORKERS as u64) << WORKER_SHIFT;

/// Kinds of sources other than connections.
const OWN_SOCKET: u64 = 0;
const LISTENER: u64 = 1;
const BELL: u64 = 2;

impl Source {
    pub(crate) fn token(self) -> Token {
        let other =
            |kind: u64, gateway: usize, number: u64| NO_WORKER | kind << 56 | (gateway as u64) << 32 | number;
        let bits = match self {
            Source::Connection(handle) => handle.to_bits(),
            Source::OwnSocket { gateway, number } => other(OWN_SOCKET, gateway, number.into()),
            Source::Listener { gateway, index } => other(LISTENER, gateway, index as u64),
            Source::Bell => other(BELL, 0, 0),
        };
        Token(bits as usize)
    }

    pub(crate) fn of(token: Token) -> Source {
        let bits = token.0 as u64;
        if bits & NO_WORKER != NO_WORKER {
            return Source::Connection(Handle::from_bits(bits));
        }
        let (kind, gateway, number) = (bits >> 56, (bits >> 32 & 0xffff) as usize, bits as u32);
        match kind {
            OWN_SOCKET => Source::OwnSocket { gateway, number },
            LISTENER => Source::Listener { gateway, index: number as usize },
            _ => Source::Bell,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{GENERATION_MASK, MAX_GATEWAYS, MAX_SLOTS};

    #[test]
    fn every_source_has_its_own_token() {
        let mut sources = vec![Source::Bell];
        for gateway in 0..MAX_GATEWAYS {
            for (worker, slot) in [(0, 0), (0, 7), (MAX_WORKERS - 1, MAX_SLOTS - 1)] {
                let handle = Handle::of_gateway(worker, gateway, slot, GENERATION_MASK);
                sources.push(Source::Connection(handle));
            }
            sources.extend([0, 7, 65_535].map(|index| Source::Listener { gateway, index }));
            sources.extend([0, 7, u32::MAX].map(|number| Source::OwnSocket { gateway, number }));
        }
        for source in &sources {
            assert_eq!(Source::of(source.token()), *source);
        }
    }
}
