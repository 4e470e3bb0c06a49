//! What a protocol may ask of its connections.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use mio::Registry;
use rustls::ClientConfig;
use rustls_pki_types::ServerName;

use crate::config::{EdgeConfig, Listener};
use crate::counters::{Counters, Tally};
use crate::engine::{READ_SIZE, SEALED_SIZE};
use crate::listen::SourcePorts;
use crate::output::Output;
use crate::pool::{Pool, Remainder};
use crate::slab::Slab;
use crate::tls::Session;
use crate::wheel::{TICK, Timer, Wheel};
use crate::wire::Wire;
use crate::{Handle, Now, listen};

/// What a protocol may ask of one connection.
pub struct Io<'a> {
    pub(crate) line: &'a mut Line,
    pub(crate) shared: &'a mut Shared,
    pub(crate) handle: Handle,
}

impl Io<'_> {
    pub fn handle(&self) -> Handle {
        self.handle
    }

    pub fn now(&self) -> Now {
        self.shared.now
    }

    /// Appends to the output; written once at the end of the loop turn. Nothing is added to a connection that is
    /// closing or over its output limit.
    pub fn send(&mut self, bytes: &[u8]) {
        self.send_parts(&[bytes]);
    }

    /// One send made of several parts: `drop_outgoing` never cuts between them.
    pub fn send_parts(&mut self, parts: &[&[u8]]) {
        let len = parts.iter().map(|part| part.len()).sum();
        if let Some(output) = self.room_for(len) {
            output.push(parts);
        }
    }

    /// The same without a copy: for what is large or goes to many.
    pub fn send_shared(&mut self, bytes: Bytes) {
        if let Some(output) = self.room_for(bytes.len()) {
            output.push_shared(bytes);
        }
    }

    /// Bytes that wait to be written.
    pub fn outgoing(&self) -> usize {
        self.line.outgoing()
    }

    /// Drops what waits and has not begun to be written: whole `send`s only, never part of one. Answers the bytes
    /// dropped.
    pub fn drop_outgoing(&mut self) -> usize {
        let Some(output) = &mut self.line.output else { return 0 };
        let dropped = output.drop_unbegun();
        self.shared.tally().bytes_dropped.add(dropped as u64);
        self.shared.mark_dirty(self.line, self.handle.slot());
        dropped
    }

    /// Sets the one timer of this connection (coarse: fires up to 100 ms late, never early), or clears it.
    pub fn set_timer(&mut self, after: Option<Duration>) {
        // A closing connection's timer is the linger time.
        if !self.line.flags.has(Flags::CLOSING) {
            self.shared.set_timer(self.line, self.handle.slot(), after);
        }
    }

    /// Stops or resumes reading from the peer (backpressure). When it is resumed, what was not consumed comes again.
    pub fn set_reading(&mut self, on: bool) {
        if on == self.line.flags.has(Flags::PAUSED) {
            self.line.flags.put(Flags::PAUSED, !on);
            self.line.flags.put(Flags::RESUMED, on);
            self.shared.mark_dirty(self.line, self.handle.slot());
        }
    }

    /// Flush, then close (bounded by the configured linger time). `input` is not called again.
    pub fn close(&mut self) {
        if self.line.flags.has(Flags::CLOSING) {
            return;
        }
        let by_peer = self.line.flags.has(Flags::ENDED);
        self.line.flags.put(Flags::BY_PEER, by_peer);
        self.shared.begin_close(self.line, self.handle.slot());
    }

    /// Close at once.
    pub fn abort(&mut self) {
        self.line.flags.put(Flags::CLOSING | Flags::ABORTED, true);
        self.shared.mark_dirty(self.line, self.handle.slot());
    }

    fn room_for(&mut self, len: usize) -> Option<&mut Output> {
        if len == 0 || self.line.flags.any(Flags::CLOSING | Flags::OVER_LIMIT) {
            return None;
        }
        self.shared.mark_dirty(self.line, self.handle.slot());
        let outgoing = self.line.outgoing() + len;
        if outgoing > self.shared.limits.output_limit {
            self.line.flags.put(Flags::OVER_LIMIT, true);
            return None;
        }
        if outgoing > self.shared.limits.output_soft_limit {
            self.line.flags.put(Flags::OVER_SOFT, true);
        }
        Some(self.line.output.get_or_insert_with(|| self.shared.pool.take_output()))
    }
}

/// A connection of our own.
#[derive(Debug, Clone)]
pub struct Connect {
    pub to: SocketAddr,
    /// The source address; None leaves it to the system.
    pub from: Option<IpAddr>,
    /// With it, `connected` is called after the handshake.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// All connections of a worker, for mail and ticks.
pub struct Conns<'a, C> {
    pub(crate) slots: &'a mut Slab<Slot<C>>,
    pub(crate) shared: &'a mut Shared,
}

impl<C> Conns<'_, C> {
    pub fn now(&self) -> Now {
        self.shared.now
    }

    /// The number of this worker.
    pub fn worker(&self) -> usize {
        self.shared.worker
    }

    /// None if the connection is gone or belongs to another worker. One that is closing is still there, but sends
    /// nothing more.
    pub fn get(&mut self, handle: Handle) -> Option<(&mut C, Io<'_>)> {
        if handle.worker() != self.shared.worker {
            return None;
        }
        let slot = self.slots.get_mut(handle.slot(), handle.generation())?;
        let Stage::Open(conn) = &mut slot.stage else { return None };
        Some((conn, Io { line: &mut slot.line, shared: self.shared, handle }))
    }

    /// Begins a connection of our own. Never waits: `Protocol::connected` is called when it is there, `closed` if it does
    /// not come about within `first_byte_timeout` (unless the protocol sets its own timer). What is sent before goes
    /// out then. On an error nothing is called.
    pub fn connect(&mut self, connect: Connect, conn: C) -> io::Result<Handle> {
        let Some(registry) = &self.shared.registry else { return Err(io::ErrorKind::Unsupported.into()) };
        let Connect { to, from, tls } = connect;
        let session =
            tls.map(|(config, name)| Session::client(config, name)).transpose().map_err(io::Error::other)?;
        let mut line = Line::new(Wire::Tcp(listen::connect(to, from, &mut self.shared.ports)?));
        line.flags.put(Flags::CONNECTING, true);
        line.tls = session.map(Box::new);
        let (slot, generation) = self.slots.insert(Slot { line, stage: Stage::Open(conn) });
        let handle = Handle::new(self.shared.worker, slot, generation);
        let Some((_, entry)) = self.slots.at(slot) else { return Err(io::ErrorKind::NotFound.into()) };
        if let Err(error) = entry.line.wire.watch(registry, handle) {
            self.slots.remove(slot);
            return Err(error);
        }
        let timeout = self.shared.limits.first_byte_timeout;
        self.shared.set_timer(&mut entry.line, slot, Some(timeout));
        let tally = self.shared.tally();
        tally.connected.add(1);
        tally.open.set(self.slots.len() as u64);
        Ok(handle)
    }

    /// Every connection of this worker, in no order. Costs a look at every slot.
    pub fn each(&mut self, mut act: impl FnMut(&mut C, Io<'_>)) {
        for slot in self.slots.slots() {
            if let Some((generation, found)) = self.slots.at(slot)
                && let Stage::Open(conn) = &mut found.stage
            {
                let handle = Handle::new(self.shared.worker, slot, generation);
                act(conn, Io { line: &mut found.line, shared: self.shared, handle });
            }
        }
    }
}

/// A connection in its slot.
pub(crate) struct Slot<C> {
    pub(crate) line: Line,
    pub(crate) stage: Stage<C>,
}

pub(crate) enum Stage<C> {
    /// Not known to the protocol yet: no first byte, or no finished handshake.
    Waiting(Waiting),
    Open(C),
    /// The protocol has been told that it is over; what the peer still sends is read and thrown away for a while, since
    /// closing a socket with unread input would reset it and destroy our last words on their way.
    Lingering,
}

/// What `accept` will be told. Packed, because it must not make the slot bigger than the protocol's own state does.
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
    pub(crate) timer: Timer,
    /// Received and not consumed.
    pub(crate) input: Option<Box<Remainder>>,
    /// Sent and not written.
    pub(crate) output: Option<Box<Output>>,
    pub(crate) tls: Option<Box<Session>>,
}

impl Line {
    pub(crate) fn new(wire: Wire) -> Line {
        Line { wire, flags: Flags::default(), timer: Timer::default(), input: None, output: None, tls: None }
    }

    pub(crate) fn outgoing(&self) -> usize {
        let unsent = self.tls.as_ref().and_then(|session| session.unsent.as_ref());
        self.output.as_ref().map_or(0, |output| output.len()) + unsent.map_or(0, |unsent| unsent.0.len())
    }

    /// One of ours that is not ready to be used.
    pub(crate) fn is_young(&self) -> bool {
        self.flags.has(Flags::CONNECTING) || self.tls.as_ref().is_some_and(|session| session.handshaking)
    }
}

/// The small states of a line.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flags(u16);

impl Flags {
    /// In the list of those to attend to at the end of the turn.
    pub(crate) const DIRTY: u16 = 1;
    /// The protocol has closed it; it flushes.
    pub(crate) const CLOSING: u16 = 1 << 1;
    /// To be closed without a flush.
    pub(crate) const ABORTED: u16 = 1 << 2;
    /// Output has passed the hard limit.
    pub(crate) const OVER_LIMIT: u16 = 1 << 3;
    /// Output has passed the soft limit and was not empty since.
    pub(crate) const OVER_SOFT: u16 = 1 << 4;
    /// The protocol does not want to read.
    pub(crate) const PAUSED: u16 = 1 << 5;
    /// It wants again; there may be input that no event will announce.
    pub(crate) const RESUMED: u16 = 1 << 6;
    /// The socket takes no more until it says so.
    pub(crate) const BLOCKED: u16 = 1 << 7;
    /// The peer has closed its side.
    pub(crate) const ENDED: u16 = 1 << 8;
    /// It had before we closed ours.
    pub(crate) const BY_PEER: u16 = 1 << 9;
    /// One of ours that is not connected yet.
    pub(crate) const CONNECTING: u16 = 1 << 10;
    /// Closing because the worker stops.
    pub(crate) const STOPPING: u16 = 1 << 11;
    /// In the list of those that had more to read than their share of a turn.
    pub(crate) const MORE: u16 = 1 << 12;
    /// The system has announced the peer's end; it is behind what there is to read.
    pub(crate) const END_AHEAD: u16 = 1 << 13;
    /// Its ClientHello waits for its turn.
    pub(crate) const QUEUED: u16 = 1 << 14;
    /// Counted among the handshakes in flight.
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

/// What the connections of a worker share, the protocol's own things aside.
pub(crate) struct Shared {
    pub(crate) worker: usize,
    pub(crate) now: Now,
    /// When tick 1 began.
    start: Instant,
    pub(crate) limits: Limits,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) wheel: Wheel,
    pub(crate) pool: Pool,
    /// Slots to attend to at the end of the turn.
    pub(crate) dirty: Vec<u32>,
    /// Slots with more to read than their share of a turn.
    pub(crate) more: Vec<u32>,
    pub(crate) handshakes: Handshakes,
    /// Where all TLS connections decrypt and encrypt; empty in between.
    pub(crate) plain: Vec<u8>,
    pub(crate) sealed: Vec<u8>,
    pub(crate) counters: Arc<Counters>,
    /// To watch the sockets of connections that we make; None without sockets.
    pub(crate) registry: Option<Registry>,
    pub(crate) ports: SourcePorts,
}

/// TLS handshakes as a server: those under way, and those that wait.
pub(crate) struct Handshakes {
    /// Who has gone in the meantime is still in it.
    pub(crate) queue: VecDeque<Handle>,
    /// Beyond it a connection is closed.
    pub(crate) queue_limit: usize,
    pub(crate) in_flight: usize,
    limit: usize,
    pub(crate) per_turn: usize,
}

impl Handshakes {
    pub(crate) fn are_full(&self) -> bool {
        self.in_flight >= self.limit
    }

    pub(crate) fn can_begin(&self) -> bool {
        !self.queue.is_empty() && !self.are_full()
    }
}

/// The limits of [`EdgeConfig`] that count per connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) input_limit: usize,
    pub(crate) output_soft_limit: usize,
    pub(crate) output_limit: usize,
    pub(crate) linger: Duration,
    pub(crate) first_byte_timeout: Duration,
}

impl Shared {
    pub(crate) fn new(config: &EdgeConfig, worker: usize, counters: Arc<Counters>, now: Now) -> Shared {
        Shared {
            worker,
            now,
            start: now.instant,
            limits: Limits {
                input_limit: config.input_limit,
                output_soft_limit: config.output_soft_limit,
                output_limit: config.output_limit,
                linger: config.linger,
                first_byte_timeout: config.first_byte_timeout,
            },
            listeners: config.listeners.clone(),
            wheel: Wheel::new(),
            pool: Pool::new(config.pool_limit),
            dirty: Vec::new(),
            more: Vec::new(),
            handshakes: Handshakes {
                queue: VecDeque::new(),
                queue_limit: 4 * config.handshakes_in_flight,
                in_flight: 0,
                limit: config.handshakes_in_flight,
                per_turn: config.handshakes_per_turn.max(1),
            },
            // Reserved whole at the start, and touched only where TLS is used: a buffer that grew later would lie above
            // the connections in the heap, and keep their memory from going back when they have left.
            plain: Vec::with_capacity(2 * READ_SIZE),
            sealed: Vec::with_capacity(SEALED_SIZE),
            counters,
            registry: None,
            ports: SourcePorts::new(worker),
        }
    }

    pub(crate) fn tally(&self) -> &Tally {
        self.counters.worker(self.worker)
    }

    /// The tick in which this turn is.
    pub(crate) fn tick(&self) -> u32 {
        1 + ticks(self.now.instant.saturating_duration_since(self.start), Round::Down)
    }

    /// How long until the next tick begins.
    pub(crate) fn until_next_tick(&self, now: Instant) -> Duration {
        let past = now.saturating_duration_since(self.start).as_nanos() % TICK.as_nanos();
        TICK - Duration::from_nanos(past as u64)
    }

    pub(crate) fn set_timer(&mut self, line: &mut Line, slot: u32, after: Option<Duration>) {
        let Some(after) = after else { return self.wheel.clear(&mut line.timer) };
        let due = self.now.instant.saturating_duration_since(self.start).saturating_add(after);
        self.wheel.set(&mut line.timer, slot, ticks(due, Round::Up).saturating_add(1));
    }

    pub(crate) fn begin_close(&mut self, line: &mut Line, slot: u32) {
        line.flags.put(Flags::CLOSING, true);
        self.set_timer(line, slot, Some(self.limits.linger));
        self.mark_dirty(line, slot);
    }

    pub(crate) fn mark_dirty(&mut self, line: &mut Line, slot: u32) {
        if !line.flags.has(Flags::DIRTY) {
            line.flags.put(Flags::DIRTY, true);
            self.dirty.push(slot);
        }
    }
}

#[derive(Clone, Copy)]
enum Round {
    Up,
    Down,
}

fn ticks(time: Duration, round: Round) -> u32 {
    let tick = TICK.as_millis();
    let ticks = match round {
        Round::Up => time.as_nanos().div_ceil(TICK.as_nanos()),
        Round::Down => time.as_millis() / tick,
    };
    // Thirteen years; a longer timer does not fire in the life of a process.
    u32::try_from(ticks).unwrap_or(u32::MAX - 1)
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
