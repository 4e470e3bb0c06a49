//! Writes connections down for another process, and continues those of another process.

use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mio::net::TcpStream;

use crate::engine::{Engine, release};
use crate::output::Output;
use crate::pool::Remainder;
use crate::slot::{Flags, Line, Slot, Stage, Waiting};
use crate::tls::Session;
use crate::transfer::record::{Reader, Writer};
use crate::transfer::{Census, Moves};
use crate::wire::Wire;
use crate::{Closed, Handle, Io, Protocol};

/// The stage of a connection in its record.
const WAITING: u8 = 0;
const OPEN: u8 = 1;

impl<P: Protocol> Engine<P> {
    /// Stops or resumes to read and to begin handshakes. Output, timers and mail go on.
    pub(crate) fn freeze(&mut self, on: bool) {
        if !std::mem::replace(&mut self.shared.frozen, on) || on {
            return;
        }
        // Events of the time between are lost, so every connection looks for input.
        for slot in self.slots.slots() {
            let Some((_, entry)) = self.slots.at(slot) else { continue };
            let line = &mut entry.line;
            if line.flags.has(Flags::RESUMED) {
                self.shared.mark_dirty(line, slot);
            }
            if !line.flags.has(Flags::MORE) {
                line.flags.put(Flags::MORE, true);
                if !line.flags.has(Flags::PAUSED) {
                    self.shared.more.push(slot);
                }
            }
        }
    }

    /// The protocol finishes what can be finished at once, so that connections can move.
    pub(crate) fn rest(&mut self) {
        let Engine { protocol, slots, shared, .. } = self;
        let numbers = slots.slots();
        let resting = || {
            for slot in numbers {
                let Some((generation, entry)) = slots.at(slot) else { continue };
                if let Stage::Open(conn) = &mut entry.stage {
                    let handle = shared.handle(slot, generation);
                    let mut io = Io::new(&mut entry.line, shared, handle);
                    protocol.rest(conn, &mut io);
                }
            }
        };
        if catch_unwind(AssertUnwindSafe(resting)).is_err() {
            self.panicked("rest");
        }
    }

    pub(crate) fn census(&mut self) -> Census {
        let mut census = Census::default();
        for slot in self.slots.slots() {
            if let Some((_, entry)) = self.slots.at(slot) {
                census.add(moves::<P>(entry));
            }
        }
        census
    }

    /// The protocol's state that belongs to no connection, and the generation for unused slots.
    pub(crate) fn export_state(&mut self) -> (u32, Vec<u8>) {
        let mut state = Vec::new();
        self.protocol.export_state(self.shared.now, &mut state);
        (self.slots.newest_generation(), state)
    }

    pub(crate) fn own_sockets(&self) -> Vec<(u32, BorrowedFd<'_>)> {
        self.protocol.own_sockets()
    }

    pub(crate) fn own_sockets_moved(&mut self) {
        self.protocol.own_sockets_moved();
    }

    /// The record of a connection, if it can move now. The connection is unchanged.
    pub(crate) fn export(&mut self, slot: u32) -> Option<Vec<u8>> {
        let (generation, entry) = self.slots.at(slot)?;
        if moves::<P>(entry) != Moves::Now {
            return None;
        }
        let line = &entry.line;
        let mut record = Writer::default();
        let kept = [Flags::PAUSED, Flags::ENDED, Flags::END_AHEAD];
        let flags = kept.into_iter().enumerate().filter(|(_, flag)| line.flags.has(*flag));
        let flags = flags.fold(0, |flags, (bit, _)| flags | 1 << bit);
        record.u32(slot).u32(generation).u8(flags).u8(line.counted.is_some().into());
        record.time(self.shared.timer_left(line));
        record.bytes(line.input.as_ref().map_or(&[], |input| &input.0));
        let mut output = Writer::default();
        if let Some(pending) = &line.output {
            pending.export(&mut output);
        }
        record.bytes(&output.0);
        let mut tls = Writer::default();
        if let Some(session) = &line.tls
            && !session.export(&mut tls)
        {
            return None;
        }
        record.bytes(&tls.0);
        match &entry.stage {
            Stage::Waiting(waiting) => {
                record.u8(WAITING).u16(waiting.listener);
            }
            Stage::Open(conn) => {
                let mut state = Vec::new();
                let protocol = &self.protocol;
                let now = self.shared.now;
                let exported = catch_unwind(AssertUnwindSafe(|| protocol.export(conn, now, &mut state)));
                if !exported.unwrap_or(false) {
                    return None;
                }
                record.u8(OPEN).bytes(&state);
            }
            Stage::Lingering => return None,
        }
        Some(record.0)
    }

    /// These connections have moved: forgets them without a call of `closed`.
    pub(crate) fn forget(&mut self, moved: &[u32]) {
        for slot in moved {
            if let Some(mut entry) = self.slots.remove(*slot) {
                release(&mut entry.line, &mut self.shared);
                if let Some(bucket) = entry.line.counted.take() {
                    self.shared.addresses.release(bucket);
                }
            }
        }
        self.shared.tally().open.set(self.slots.len() as u64);
    }

    pub(crate) fn import_own_sockets(&mut self, sockets: Vec<(u32, OwnedFd)>) {
        self.protocol.import_own_sockets(sockets);
    }

    pub(crate) fn import_state(&mut self, state: &[u8]) -> Vec<Handle> {
        let protocol = &mut self.protocol;
        let now = self.shared.now;
        catch_unwind(AssertUnwindSafe(|| protocol.import_state(state, now))).unwrap_or_else(|_| {
            self.panicked("import_state");
            Vec::new()
        })
    }

    /// Takes a connection of another process under its old handle. Returns its handle; None: it cannot be continued, and is closed.
    pub(crate) fn import(&mut self, socket: OwnedFd, record: &[u8]) -> Option<Handle> {
        let mut record = Reader(record);
        let (slot, generation) = (record.u32()?, record.u32()?);
        let (flags, counted) = (record.u8()?, record.u8()? != 0);
        let timer = record.time()?;
        let (input, output, tls) = (record.bytes()?, record.bytes()?, record.bytes()?);
        let socket = std::net::TcpStream::from(socket);
        socket.set_nonblocking(true).ok()?;
        // None: the connection was reset meanwhile.
        let peer = socket.peer_addr().ok()?;
        let mut line = Line::new(Wire::Tcp(TcpStream::from_std(socket)));
        for (bit, flag) in [Flags::PAUSED, Flags::ENDED, Flags::END_AHEAD].into_iter().enumerate() {
            line.flags.put(flag, flags & 1 << bit != 0);
        }
        // A resume then looks for input.
        line.flags.put(Flags::MORE, line.flags.has(Flags::PAUSED));
        if !input.is_empty() {
            line.input = Some(Box::new(Remainder(input.to_vec())));
        }
        if !output.is_empty() {
            line.output = Some(Box::new(Output::import(&mut Reader(output))?));
        }
        if !tls.is_empty() {
            line.tls = Some(Box::new(Session::import(&mut Reader(tls))?));
        }
        let outgoing = line.outgoing();
        line.flags.put(Flags::OVER_SOFT, outgoing > self.shared.limits.output_soft_limit);
        if counted {
            // Over the limit, it stays and is not counted.
            line.counted = self.shared.addresses.admit(peer.ip()).ok().flatten();
        }
        let (stage, state) = match record.u8()? {
            WAITING => (Stage::Waiting(Waiting::new(peer, record.u16()?.into())), None),
            OPEN => (Stage::Waiting(Waiting::new(peer, 0)), Some(record.bytes()?)),
            _ => return None,
        };
        self.shared.outgoing += line.output.as_ref().map_or(0, |output| output.len());
        if !self.slots.place(slot, generation, Slot { line, stage }) {
            return None;
        }
        if let Some(state) = state
            && !self.import_open(slot, state, peer)
        {
            self.close(slot, Closed::Error);
            return None;
        }
        if let Some((_, entry)) = self.slots.at(slot) {
            self.shared.set_timer(&mut entry.line, slot, timer);
        }
        let tally = self.shared.tally();
        tally.taken_over.add(1);
        tally.open.set(self.slots.len() as u64);
        Some(self.shared.handle(slot, generation))
    }

    fn import_open(&mut self, slot: u32, state: &[u8], peer: SocketAddr) -> bool {
        let Engine { protocol, slots, shared, .. } = self;
        let Some((generation, entry)) = slots.at(slot) else { return false };
        let handle = shared.handle(slot, generation);
        let mut io = Io::new(&mut entry.line, shared, handle);
        match catch_unwind(AssertUnwindSafe(|| protocol.import(state, &mut io))) {
            Ok(Some(conn)) => {
                entry.stage = Stage::Open(conn);
                true
            }
            Ok(None) => {
                tracing::debug!(%peer, "the state of a connection cannot be read");
                false
            }
            Err(_) => {
                self.panicked("import");
                false
            }
        }
    }

    /// Continues a connection of another process. Bytes in its socket cause an event.
    pub(crate) fn go_on_imported(&mut self, slot: u32) {
        let Some((_, entry)) = self.slots.at(slot) else { return };
        self.shared.mark_dirty(&mut entry.line, slot);
        if entry.line.input.is_some() && !entry.line.flags.has(Flags::PAUSED) {
            self.deliver(slot, &mut []);
        }
    }
}

fn moves<P: Protocol>(entry: &Slot<P::Conn>) -> Moves {
    let line = &entry.line;
    if line.flags.any(Flags::CLOSING | Flags::OVER_LIMIT | Flags::QUEUED) || line.is_young() {
        return Moves::Never;
    }
    match &entry.stage {
        Stage::Waiting(_) if line.tls.is_none() => Moves::Now,
        Stage::Waiting(_) | Stage::Lingering => Moves::Never,
        Stage::Open(conn) => P::moves(conn),
    }
}
