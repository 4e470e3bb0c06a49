//! The state that a connection keeps.

use std::net::{IpAddr, SocketAddr};

use crate::address_limit::Bucket;
use crate::output::Output;
use crate::pool::Remainder;
use crate::tls::Session;
use crate::wheel::Timer;
use crate::wire::Wire;

/// A connection in its slot.
pub(crate) struct Slot<C> {
    pub(crate) line: Line,
    pub(crate) stage: Stage<C>,
}

pub(crate) enum Stage<C> {
    /// Before `accept`: no first byte, or no finished handshake.
    Waiting(Waiting),
    Open(C),
    /// After `closed`: further input is read and discarded for a while, because closing a socket with unread input would reset it and
    /// destroy our output in flight.
    Lingering,
}

/// The arguments of `accept`. Packed, so that the slot is not larger than with the protocol's state.
#[derive(Clone, Copy)]
pub(crate) struct Waiting {
    ip: IpAddr,
    port: u16,
    pub(crate) listener: u16,
}

impl Waiting {
    pub(crate) fn new(peer: SocketAddr, listener: usize) -> Waiting {
        Waiting { ip: peer.ip(), port: peer.port(), listener: listener as u16 }
    }

    pub(crate) fn peer(self) -> SocketAddr {
        SocketAddr::new(self.ip, self.port)
    }
}

/// The part of a slot that does not depend on the protocol.
pub(crate) struct Line {
    pub(crate) wire: Wire,
    pub(crate) flags: Flags,
    /// The bucket that counts its address.
    pub(crate) counted: Option<Bucket>,
    pub(crate) timer: Timer,
    /// Unconsumed input.
    pub(crate) input: Option<Box<Remainder>>,
    /// Pending output.
    pub(crate) output: Option<Box<Output>>,
    pub(crate) tls: Option<Box<Session>>,
}

impl Line {
    pub(crate) fn new(wire: Wire) -> Line {
        Line {
            wire,
            flags: Flags::default(),
            counted: None,
            timer: Timer::default(),
            input: None,
            output: None,
            tls: None,
        }
    }

    pub(crate) fn outgoing(&self) -> usize {
        let unsent = self.tls.as_ref().and_then(|session| session.unsent.as_ref());
        self.output.as_ref().map_or(0, |output| output.len()) + unsent.map_or(0, |unsent| unsent.0.len())
    }

    /// An outgoing connection that is not ready.
    pub(crate) fn is_young(&self) -> bool {
        self.flags.has(Flags::CONNECTING) || self.tls.as_ref().is_some_and(|session| session.is_handshaking())
    }
}

/// Flags of a line.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flags(u16);

impl Flags {
    /// In the list for the end of the turn.
    pub(crate) const DIRTY: u16 = 1;
    /// The protocol has closed it; it flushes.
    pub(crate) const CLOSING: u16 = 1 << 1;
    /// To be closed without a flush.
    pub(crate) const ABORTED: u16 = 1 << 2;
    /// Output has passed the hard limit.
    pub(crate) const OVER_LIMIT: u16 = 1 << 3;
    /// Output has passed the soft limit and was not empty since.
    pub(crate) const OVER_SOFT: u16 = 1 << 4;
    /// The protocol has paused reading.
    pub(crate) const PAUSED: u16 = 1 << 5;
    /// The protocol has resumed reading; input may wait without an event.
    pub(crate) const RESUMED: u16 = 1 << 6;
    /// The socket is full until it becomes writable.
    pub(crate) const BLOCKED: u16 = 1 << 7;
    /// The peer has closed its side.
    pub(crate) const ENDED: u16 = 1 << 8;
    /// The peer closed its side before we closed ours.
    pub(crate) const BY_PEER: u16 = 1 << 9;
    /// An outgoing connection in progress.
    pub(crate) const CONNECTING: u16 = 1 << 10;
    /// Closing because the worker stops.
    pub(crate) const STOPPING: u16 = 1 << 11;
    /// In the list of connections with more input than their share of a turn; or paused, with input since.
    pub(crate) const MORE: u16 = 1 << 12;
    /// The system has reported the peer's end, behind the readable bytes.
    pub(crate) const END_AHEAD: u16 = 1 << 13;
    /// Its ClientHello waits.
    pub(crate) const QUEUED: u16 = 1 << 14;
    /// Counted as a handshake in progress.
    pub(crate) const IN_FLIGHT: u16 = 1 << 15;

    pub(crate) fn has(self, flag: u16) -> bool {
        self.0 & flag == flag
    }

    pub(crate) fn any(self, flags: u16) -> bool {
        self.0 & flags != 0
    }

    pub(crate) fn put(&mut self, flags: u16, on: bool) {
        self.0 = if on { self.0 | flags } else { self.0 & !flags };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the testing wire, which is bigger, it is eight bytes less.
    #[test]
    fn a_slot_is_small() {
        assert!(size_of::<Line>() <= 64, "{}", size_of::<Line>());
        assert!(size_of::<Slot<()>>() <= 88, "{}", size_of::<Slot<()>>());
    }
}
