//! Connections that change their gateway: socket, TLS session and pending bytes move, the protocol's state does not.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::Engine;
use crate::io::Taker;
use crate::slot::{Flags, Line, Slot, Stage, Waiting};
use crate::wheel::Timer;
use crate::{Accepted, Closed, Handle, Protocol};

/// A connection between two gateways of its worker.
pub(crate) struct HandedOver {
    /// The number of the gateway that takes it.
    pub(crate) to: usize,
    pub(crate) line: Line,
}

impl<P: Protocol> Engine<P> {
    /// Removes a connection that the protocol has handed over, after its call of `input`.
    pub(super) fn hand_over(&mut self, slot: u32, taker: Taker) {
        let Taker::Gateway(to) = taker else { return };
        let Some((_, entry)) = self.slots.at(slot) else { return };
        // What the protocol did after `Io::hand_over` counts: it may have closed the connection.
        if entry.line.flags.any(Flags::CLOSING | Flags::OVER_LIMIT) || entry.line.is_young() {
            return;
        }
        let Some(Slot { mut line, stage }) = self.slots.remove(slot) else { return };
        let shared = &mut self.shared;
        let unencrypted = line.output.as_ref().map_or(0, |output| output.len());
        shared.outgoing = shared.outgoing.saturating_sub(unencrypted);
        if let Some(bucket) = line.counted.take() {
            shared.addresses.release(bucket);
        }
        let tally = shared.tally();
        tally.handed_over.add(1);
        tally.open.set(self.slots.len() as u64);
        self.handed_over.push(HandedOver { to, line });
        if catch_unwind(AssertUnwindSafe(|| drop(stage))).is_err() {
            self.panicked("hand_over");
        }
    }

    /// Takes a connection over, and passes its unconsumed input to the protocol. None: it was refused, and is closed.
    pub(crate) fn take_over(&mut self, line: Line) -> Option<Handle> {
        let shared = &mut self.shared;
        let Some(peer) = line.wire.peer() else {
            // It was reset.
            shared.tally().accept_errors.add(1);
            return None;
        };
        let Ok(counted) = shared.addresses.admit(peer.ip()) else {
            shared.counters.over_address_limit(shared.worker, peer.ip());
            return None;
        };
        let mut flags = Flags::default();
        for kept in [Flags::ENDED, Flags::END_AHEAD] {
            flags.put(kept, line.flags.has(kept));
        }
        let ended = flags.has(Flags::ENDED);
        let outgoing = line.outgoing();
        flags.put(Flags::OVER_SOFT, outgoing > shared.limits.output_soft_limit);
        flags.put(Flags::OVER_LIMIT, outgoing > shared.limits.output_limit);
        shared.outgoing += line.output.as_ref().map_or(0, |output| output.len());
        let tls = line.tls.is_some();
        let line = Line { counted, flags, timer: Timer::default(), ..line };
        let stage = Stage::Waiting(Waiting::new(peer, 0));
        let (slot, generation) = self.slots.insert(Slot { line, stage });
        let tally = self.shared.tally();
        tally.taken_over.add(1);
        tally.open.set(self.slots.len() as u64);
        let handle = self.shared.handle(slot, generation);
        if !self.watch_again(handle) {
            self.close(slot, Closed::Error);
            return None;
        }
        if self.accept(slot, Accepted { peer, listener: Accepted::HANDED_OVER, tls }) {
            self.go_on(slot, ended);
        }
        Some(handle)
    }

    /// Continues with the bytes that came along, and those that are in the socket: an event of the old handle may have been lost.
    fn go_on(&mut self, slot: u32, ended: bool) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        self.shared.mark_dirty(&mut entry.line, slot);
        if entry.line.input.is_some() {
            self.deliver(slot, &mut []);
        }
        if ended { self.ended(slot) } else { self.read(slot) }
    }

    fn watch_again(&mut self, handle: Handle) -> bool {
        let Engine { slots, shared, .. } = self;
        let Some(registry) = &shared.registry else { return true };
        let entry = slots.get_mut(handle.slot(), handle.generation());
        entry.is_some_and(|entry| entry.line.wire.watch_again(registry, handle).is_ok())
    }
}
