//! A worker without its sockets' loop: slots, timers, buffers, and the protocol's calls in their order.

mod hand_over;
mod output_memory;
mod tls;
mod transfer;
mod write;

pub(crate) use hand_over::HandedOver;
pub(crate) use write::{SEALED_SIZE, Wrote, write_out};

use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::address_limit::Bucket;
use crate::engine::output_memory::Ceiling;
use crate::io::Taker;
use crate::pool::Remainder;
use crate::shared::Shared;
use crate::slab::Slab;
use crate::slot::{Flags, Line, Slot, Stage, Waiting};
use crate::wire::Wire;
use crate::{Accepted, Closed, Conns, Handle, Io, Now, Protocol};

/// Bytes of one read. All connections of a worker share the buffer.
pub(crate) const READ_SIZE: usize = 64 * 1024;

/// Reads from one connection per turn, so that other connections are read too.
const READS_PER_TURN: usize = 4;

/// How often a turn repeats for connections that sent more during the flush.
const FLUSH_ROUNDS: usize = 4;

/// An unused buffer is freed after this time.
const TICKS_UNTIL_UNUSED: u32 = 20;

/// A record that opens with this byte is a TLS handshake (RFC 8446 §5.1); no text protocol begins so.
const TLS_HANDSHAKE: u8 = 0x16;

pub(crate) struct Engine<P: Protocol> {
    pub(crate) protocol: P,
    pub(crate) slots: Slab<Slot<P::Conn>>,
    pub(crate) shared: Shared,
    scratch: Vec<u8>,
    ceiling: Ceiling,
    /// Recipients of the current mail.
    recipients: Vec<Handle>,
    /// Connections that other gateways of the worker have to take over.
    pub(crate) handed_over: Vec<HandedOver>,
}

/// Readiness of a socket, as the system reports it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ready {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    /// The peer has closed its side, behind the readable bytes.
    pub(crate) read_closed: bool,
    /// Both directions are closed: reset, or closed by the peer after we closed our side.
    pub(crate) hung_up: bool,
}

impl<P: Protocol> Engine<P> {
    pub(crate) fn new(protocol: P, shared: Shared) -> Engine<P> {
        let read_size = READ_SIZE.min(shared.limits.input_limit.max(1024));
        Engine {
            protocol,
            slots: Slab::new(),
            shared,
            scratch: vec![0; read_size],
            ceiling: Ceiling::default(),
            recipients: Vec::new(),
            handed_over: Vec::new(),
        }
    }

    pub(crate) fn begin_turn(&mut self, now: Now) {
        self.shared.now = now;
        self.shared.tally().turns.add(1);
    }

    /// A connection was accepted. The protocol is called with its first bytes.
    pub(crate) fn admit(
        &mut self,
        wire: Wire,
        peer: SocketAddr,
        counted: Option<Bucket>,
        listener: usize,
    ) -> Handle {
        let stage = Stage::Waiting(Waiting::new(peer, listener));
        let (slot, generation) = self.slots.insert(Slot { line: Line { counted, ..Line::new(wire) }, stage });
        if let Some((_, entry)) = self.slots.at(slot) {
            let timeout = self.shared.limits.first_byte_timeout;
            self.shared.set_timer(&mut entry.line, slot, Some(timeout));
        }
        let tally = self.shared.tally();
        tally.accepted.add(1);
        tally.open.set(self.slots.len() as u64);
        self.shared.handle(slot, generation)
    }

    /// Its socket is unusable.
    pub(crate) fn dismiss(&mut self, handle: Handle) {
        if self.slots.get_mut(handle.slot(), handle.generation()).is_some() {
            self.close(handle.slot(), Closed::Error);
        }
    }

    pub(crate) fn ready(&mut self, handle: Handle, ready: Ready) {
        let slot = handle.slot();
        let Some(entry) = self.slots.get_mut(slot, handle.generation()) else { return };
        let line = &mut entry.line;
        if line.flags.has(Flags::CONNECTING) && !self.connecting(slot, ready) {
            return;
        }
        let Some(entry) = self.slots.get_mut(slot, handle.generation()) else { return };
        let line = &mut entry.line;
        if ready.hung_up && line.flags.any(Flags::PAUSED | Flags::ENDED) {
            return self.close(slot, Closed::Error);
        }
        if ready.writable && line.flags.has(Flags::BLOCKED) {
            line.flags.put(Flags::BLOCKED, false);
            self.shared.mark_dirty(line, slot);
        }
        // Also while paused, because the event is edge-triggered.
        if ready.read_closed {
            line.flags.put(Flags::END_AHEAD, true);
        }
        if ready.readable || ready.read_closed || ready.hung_up {
            self.read(slot);
        }
    }

    /// Continues reads that reached their share of a turn.
    pub(crate) fn read_more(&mut self) {
        if self.shared.frozen {
            return;
        }
        for slot in std::mem::take(&mut self.shared.more) {
            if let Some((_, entry)) = self.slots.at(slot)
                && entry.line.flags.has(Flags::MORE)
            {
                entry.line.flags.put(Flags::MORE, false);
                self.read(slot);
            }
        }
        for number in std::mem::take(&mut self.shared.again) {
            self.readable(number);
        }
    }

    /// A socket that the protocol registered is readable.
    pub(crate) fn readable(&mut self, number: u32) {
        let Engine { protocol, slots, shared, .. } = self;
        let mut conns = Conns { slots, shared };
        if catch_unwind(AssertUnwindSafe(|| protocol.readable(number, &mut conns))).is_err() {
            self.panicked("readable");
        }
    }

    pub(crate) fn turn_ends(&mut self) {
        let Engine { protocol, slots, shared, .. } = self;
        let mut conns = Conns { slots, shared };
        if catch_unwind(AssertUnwindSafe(|| protocol.turn_ends(&mut conns))).is_err() {
            self.panicked("turn_ends");
        }
    }

    pub(crate) fn mail(&mut self, mail: P::Mail) {
        let Engine { protocol, slots, shared, recipients, .. } = self;
        recipients.clear();
        let mut conns = Conns { slots, shared };
        let handle = || {
            P::recipients(&mail, recipients);
            protocol.mail(mail, &mut conns);
        };
        if catch_unwind(AssertUnwindSafe(handle)).is_err() {
            self.panicked("mail");
            self.lose();
        }
    }

    /// Closes the recipients of a mail that panicked.
    fn lose(&mut self) {
        let recipients = std::mem::take(&mut self.recipients);
        if recipients.is_empty() {
            return;
        }
        for handle in &recipients {
            let entry = self.slots.get_mut(handle.slot(), handle.generation());
            let is_open = entry.is_some_and(|entry| matches!(entry.stage, Stage::Open(_)));
            if is_open && self.shared.is_ours(*handle) {
                self.close(handle.slot(), Closed::Panicked);
            }
        }
        let Engine { protocol, slots, shared, .. } = self;
        let mut conns = Conns { slots, shared };
        if catch_unwind(AssertUnwindSafe(|| protocol.lost(&recipients, &mut conns))).is_err() {
            self.panicked("lost");
        }
    }

    /// Fires due timers. Returns whether a tick has begun.
    pub(crate) fn timers(&mut self) -> bool {
        let until = self.shared.tick();
        let mut began = false;
        while let Some((tick, due)) = self.shared.wheel.step(until) {
            began = true;
            for slot in due {
                if let Some((_, entry)) = self.slots.at(slot)
                    && self.shared.wheel.visit(&mut entry.line.timer, slot, tick)
                {
                    self.timer(slot);
                }
            }
        }
        if self.shared.wheel.entries() > 4 * self.slots.len() + 256 {
            self.rebuild_wheel();
        }
        began
    }

    pub(crate) fn tick(&mut self) {
        if self.shared.tick().is_multiple_of(TICKS_UNTIL_UNUSED) {
            self.shared.pool.shrink();
            self.shared.keys.shrink();
        }
        self.keep_output_memory();
        for slot in self.shared.gathered.due(self.shared.tick()) {
            if let Some((_, entry)) = self.slots.at(slot) {
                self.shared.mark_dirty(&mut entry.line, slot);
            }
        }
        let Engine { protocol, slots, shared, .. } = self;
        let mut conns = Conns { slots, shared };
        if catch_unwind(AssertUnwindSafe(|| protocol.tick(&mut conns))).is_err() {
            self.panicked("tick");
        }
    }

    /// Writes pending output and closes connections. Their callbacks may cause more of both, so this repeats a few times. The
    /// next turn does the rest, so that the loop polls its sockets again.
    pub(crate) fn finish_turn(&mut self) {
        for _ in 0..FLUSH_ROUNDS {
            if self.shared.dirty.is_empty() {
                break;
            }
            for slot in std::mem::take(&mut self.shared.dirty) {
                self.attend(slot);
            }
        }
        self.keep_output_memory();
    }

    /// Whether work is left that causes no event.
    pub(crate) fn has_work(&self) -> bool {
        let reads = !self.shared.more.is_empty() || self.shared.handshakes.can_begin();
        !self.shared.dirty.is_empty() || !self.shared.again.is_empty() || reads && !self.shared.frozen
    }

    /// Flushes and closes all connections. They end as [`Closed::Stopping`].
    pub(crate) fn begin_stop(&mut self) {
        for slot in self.slots.slots() {
            let Some((_, entry)) = self.slots.at(slot) else { continue };
            match entry.stage {
                Stage::Open(_) => {
                    entry.line.flags.put(Flags::STOPPING, true);
                    self.shared.begin_close(&mut entry.line, slot);
                }
                Stage::Waiting(_) | Stage::Lingering => self.close(slot, Closed::Stopping),
            }
        }
    }

    pub(crate) fn end_stop(&mut self) {
        for slot in self.slots.slots() {
            self.close(slot, Closed::Stopping);
        }
    }

    /// The connection attempt has ended. True if it succeeded.
    fn connecting(&mut self, slot: u32, ready: Ready) -> bool {
        let Some((_, entry)) = self.slots.at(slot) else { return false };
        if !ready.writable && !ready.hung_up {
            return false;
        }
        match entry.line.wire.connected() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotConnected && !ready.hung_up => return false,
            Err(_) => {
                self.close(slot, Closed::Error);
                return false;
            }
        }
        entry.line.flags.put(Flags::CONNECTING, false);
        if entry.line.tls.is_some() {
            self.begin_our_handshake(slot);
        } else {
            self.established(slot);
        }
        true
    }

    /// An outgoing connection and its handshake are established. True if it is still open.
    fn established(&mut self, slot: u32) -> bool {
        let Some((_, entry)) = self.slots.at(slot) else { return false };
        self.shared.mark_dirty(&mut entry.line, slot);
        if entry.line.flags.has(Flags::CLOSING) {
            return true;
        }
        self.shared.wheel.clear(&mut entry.line.timer);
        self.call(slot, |protocol, conn, io| protocol.connected(conn, io)).is_some()
    }

    fn read(&mut self, slot: u32) {
        let mut scratch = std::mem::take(&mut self.scratch);
        for _ in 0..READS_PER_TURN {
            if !self.read_once(slot, &mut scratch) {
                self.scratch = scratch;
                return;
            }
        }
        self.scratch = scratch;
        if let Some((_, entry)) = self.slots.at(slot)
            && !entry.line.flags.has(Flags::MORE)
        {
            entry.line.flags.put(Flags::MORE, true);
            self.shared.more.push(slot);
        }
    }

    /// True if more bytes may be readable.
    fn read_once(&mut self, slot: u32, scratch: &mut [u8]) -> bool {
        let Some((_, entry)) = self.slots.at(slot) else { return false };
        let flags = &mut entry.line.flags;
        if self.shared.frozen {
            return false;
        }
        if flags.any(Flags::PAUSED | Flags::ENDED | Flags::CONNECTING | Flags::QUEUED) {
            // Not listed: a resume checks for input.
            let paused = flags.has(Flags::PAUSED);
            flags.put(Flags::MORE, paused || flags.has(Flags::MORE));
            return false;
        }
        match entry.line.wire.read(scratch) {
            Ok(0) => {
                let line = &entry.line;
                let expected = line.tls.is_none() || line.flags.has(Flags::CLOSING);
                if expected || !matches!(entry.stage, Stage::Open(_)) {
                    self.ended(slot);
                } else {
                    self.truncated(slot);
                }
                false
            }
            Ok(n) => {
                self.shared.tally().bytes_in.add(n as u64);
                // A short read has emptied the socket; later bytes are a new edge (epoll(7)). But the end may have arrived
                // before, and causes no further event.
                let more = n == scratch.len() || entry.line.flags.has(Flags::END_AHEAD);
                self.received(slot, &mut scratch[..n]);
                more
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => true,
            Err(_) => {
                self.close(slot, Closed::Error);
                false
            }
        }
    }

    fn received(&mut self, slot: u32, bytes: &mut [u8]) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        match entry.stage {
            Stage::Lingering => {}
            _ if entry.line.flags.has(Flags::CLOSING) => {}
            _ if entry.line.tls.is_some() => self.received_tls(slot, bytes),
            Stage::Open(_) => self.deliver(slot, bytes),
            Stage::Waiting(waiting) => {
                let listener = &self.shared.listeners[usize::from(waiting.listener)];
                if listener.tls.is_some() && bytes.first() == Some(&TLS_HANDSHAKE) {
                    return self.queue_handshake(slot, bytes);
                }
                if listener.require_tls {
                    return self.close(slot, Closed::Tls);
                }
                let (peer, listener) = (waiting.peer(), usize::from(waiting.listener));
                if self.accept(slot, Accepted { peer, listener, tls: false }) {
                    self.deliver(slot, bytes);
                }
            }
        }
    }

    /// Calls `accept` for a waiting connection. False if it failed.
    pub(crate) fn accept(&mut self, slot: u32, accepted: Accepted) -> bool {
        let Engine { protocol, slots, shared, .. } = self;
        let Some((generation, entry)) = slots.at(slot) else { return false };
        shared.wheel.clear(&mut entry.line.timer);
        let handle = shared.handle(slot, generation);
        let mut io = Io::new(&mut entry.line, shared, handle);
        match catch_unwind(AssertUnwindSafe(|| protocol.accept(accepted, &mut io))) {
            Ok(conn) => entry.stage = Stage::Open(conn),
            Err(_) => {
                self.panicked("accept");
                self.close(slot, Closed::Panicked);
                return false;
            }
        }
        true
    }

    /// Passes unconsumed input and then `bytes` to the protocol.
    pub(crate) fn deliver(&mut self, slot: u32, bytes: &mut [u8]) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        if entry.line.flags.has(Flags::CLOSING) {
            return;
        }
        let Some(mut rest) = entry.line.input.take() else {
            let Some((consumed, taker)) = self.input(slot, bytes) else { return };
            if consumed < bytes.len() {
                let mut rest = self.shared.pool.take_remainder();
                rest.0.extend_from_slice(&bytes[consumed..]);
                self.keep(slot, rest);
            }
            return self.hand_over(slot, taker);
        };
        rest.0.extend_from_slice(bytes);
        let Some((consumed, taker)) = self.input(slot, &mut rest.0) else {
            return self.shared.pool.give_remainder(rest);
        };
        if consumed < rest.0.len() {
            rest.0.drain(..consumed);
            self.keep(slot, rest);
        } else {
            self.shared.pool.give_remainder(rest);
        }
        self.hand_over(slot, taker);
    }

    /// Calls the protocol with unconsumed bytes. Returns how many it has consumed, and the gateway that takes the connection over.
    fn input(&mut self, slot: u32, bytes: &mut [u8]) -> Option<(usize, Taker)> {
        self.call(slot, |protocol, conn, io| {
            io.taker = Taker::Nobody;
            (protocol.input(conn, bytes, io), io.taker)
        })
    }

    fn keep(&mut self, slot: u32, rest: Box<Remainder>) {
        let limit = self.shared.limits.input_limit;
        let Some((_, entry)) = self.slots.at(slot) else { return };
        let flags = entry.line.flags;
        // A paused connection may be in the middle of a read, which adds at most one read.
        if rest.0.len() > limit && !flags.any(Flags::PAUSED | Flags::CLOSING) {
            return self.close(slot, Closed::InputLimit);
        }
        if flags.has(Flags::CLOSING) {
            self.shared.pool.give_remainder(rest);
        } else {
            entry.line.input = Some(rest);
        }
    }

    /// The peer has closed its side.
    fn ended(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        entry.line.flags.put(Flags::ENDED, true);
        match entry.stage {
            Stage::Waiting(_) => self.close(slot, Closed::ByPeer),
            Stage::Lingering => self.close(slot, Closed::ByUs { flushed: true }),
            Stage::Open(_) => {
                self.call(slot, |protocol, conn, io| {
                    if !io.line.flags.has(Flags::CLOSING) {
                        protocol.eof(conn, io);
                    }
                });
            }
        }
    }

    fn timer(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        let flags = entry.line.flags;
        match entry.stage {
            Stage::Waiting(_) => self.close(slot, Closed::HandshakeTimeout),
            Stage::Lingering => self.close(slot, Closed::ByUs { flushed: true }),
            Stage::Open(_) if flags.has(Flags::CLOSING) => self.close(slot, Closed::ByUs { flushed: false }),
            Stage::Open(_) if entry.line.is_young() => self.close(slot, Closed::HandshakeTimeout),
            Stage::Open(_) => {
                self.call(slot, |protocol, conn, io| protocol.timer(conn, io));
            }
        }
    }

    fn rebuild_wheel(&mut self) {
        self.shared.wheel.forget_entries();
        for slot in self.slots.slots() {
            if let Some((_, entry)) = self.slots.at(slot) {
                self.shared.wheel.rearm(&mut entry.line.timer, slot);
            }
        }
    }

    /// Carries out the requests of one connection's callbacks.
    fn attend(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        let line = &mut entry.line;
        if !line.flags.has(Flags::DIRTY) {
            return;
        }
        line.flags.put(Flags::DIRTY, false);
        if line.flags.has(Flags::ABORTED) {
            return self.close(slot, Closed::ByUs { flushed: false });
        }
        if line.flags.has(Flags::OVER_LIMIT) {
            return self.close(slot, Closed::OutputLimit);
        }
        if line.flags.has(Flags::RESUMED) && !self.shared.frozen {
            line.flags.put(Flags::RESUMED, false);
            self.resume(slot);
        }
        self.flush(slot);
    }

    /// Reads input that arrived during a pause, or was left over: it causes no event.
    fn resume(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        let flags = &mut entry.line.flags;
        let more = flags.has(Flags::MORE);
        flags.put(Flags::MORE, false);
        if entry.line.input.is_some() {
            self.deliver(slot, &mut []);
        }
        if more {
            self.read(slot);
        }
    }

    fn flush(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        if entry.line.flags.any(Flags::BLOCKED | Flags::CONNECTING) {
            return;
        }
        match write_out(&mut entry.line, &mut self.shared) {
            Ok(Wrote::All) => self.flushed(slot),
            Ok(Wrote::Blocked) => entry.line.flags.put(Flags::BLOCKED, true),
            Ok(Wrote::Held) => {}
            Err(_) => self.close(slot, Closed::Error),
        }
    }

    fn flushed(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        let line = &mut entry.line;
        if let Some(output) = line.output.take() {
            self.shared.pool.give_output(output);
        }
        if line.flags.has(Flags::CLOSING) {
            self.finish(slot);
        } else if line.flags.has(Flags::OVER_SOFT) {
            line.flags.put(Flags::OVER_SOFT, false);
            self.call(slot, |protocol, conn, io| protocol.drained(conn, io));
        }
    }

    /// Closes a connection whose output is in the kernel's buffer.
    fn finish(&mut self, slot: u32) {
        let Engine { protocol, slots, shared, scratch, .. } = self;
        let Some((generation, entry)) = slots.at(slot) else { return };
        let flags = entry.line.flags;
        if flags.has(Flags::STOPPING) {
            // Unread input would turn the close into a reset that overtakes our output.
            let _ = entry.line.wire.read(scratch);
            return self.close(slot, Closed::Stopping);
        }
        let why = if flags.has(Flags::BY_PEER) { Closed::ByPeer } else { Closed::ByUs { flushed: true } };
        if flags.has(Flags::ENDED) || entry.line.wire.shutdown_write().is_err() {
            return self.close(slot, why);
        }
        let Stage::Open(conn) = std::mem::replace(&mut entry.stage, Stage::Lingering) else { return };
        release(&mut entry.line, shared);
        entry.line.flags.put(Flags::PAUSED, false);
        entry.line.wire.note_closed(why);
        shared.tally().closed(why);
        let handle = shared.handle(slot, generation);
        let now = shared.now;
        if catch_unwind(AssertUnwindSafe(|| protocol.closed(conn, handle, why, now))).is_err() {
            self.panicked("closed");
        }
        self.read(slot);
    }

    pub(crate) fn close(&mut self, slot: u32, why: Closed) {
        let Some((generation, _)) = self.slots.at(slot) else { return };
        let Some(mut entry) = self.slots.remove(slot) else { return };
        let shared = &mut self.shared;
        release(&mut entry.line, shared);
        if let Some(bucket) = entry.line.counted.take() {
            shared.addresses.release(bucket);
        }
        shared.tally().open.set(self.slots.len() as u64);
        if !matches!(entry.stage, Stage::Lingering) {
            shared.tally().closed(why);
            entry.line.wire.note_closed(why);
        }
        let Stage::Open(conn) = entry.stage else { return };
        let handle = shared.handle(slot, generation);
        let (protocol, now) = (&mut self.protocol, shared.now);
        if catch_unwind(AssertUnwindSafe(|| protocol.closed(conn, handle, why, now))).is_err() {
            self.panicked("closed");
        }
    }

    /// Calls the protocol for an open connection. None if it does not exist, or the call panicked and the connection is closed now.
    fn call<R>(&mut self, slot: u32, act: impl FnOnce(&mut P, &mut P::Conn, &mut Io<'_>) -> R) -> Option<R> {
        let Engine { protocol, slots, shared, .. } = self;
        let (generation, entry) = slots.at(slot)?;
        let Stage::Open(conn) = &mut entry.stage else { return None };
        let handle = shared.handle(slot, generation);
        let mut io = Io::new(&mut entry.line, shared, handle);
        match catch_unwind(AssertUnwindSafe(|| act(protocol, conn, &mut io))) {
            Ok(result) => Some(result),
            Err(_) => {
                self.panicked("connection");
                self.close(slot, Closed::Panicked);
                None
            }
        }
    }

    /// The panic hook has printed message and place; this counts and logs the consequence.
    fn panicked(&mut self, within: &'static str) {
        self.shared.tally().panics.add(1);
        tracing::error!(worker = self.shared.worker, within, "the protocol panicked; the worker continues");
    }
}

/// Releases the buffers of a line. Only its socket stays.
fn release(line: &mut Line, shared: &mut Shared) {
    if let Some(input) = line.input.take() {
        shared.pool.give_remainder(input);
    }
    if let Some(output) = line.output.take() {
        shared.outgoing = shared.outgoing.saturating_sub(output.len());
        shared.pool.give_output(output);
    }
    if let Some(mut session) = line.tls.take() {
        session.release(&mut shared.pool);
    }
    if line.flags.has(Flags::IN_FLIGHT) {
        line.flags.put(Flags::IN_FLIGHT, false);
        shared.handshakes.in_flight -= 1;
    }
}
