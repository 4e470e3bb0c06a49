//! Operations of a protocol on its connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mio::Interest;
use mio::unix::SourceFd;
use rustls::ClientConfig;
use rustls_pki_types::{CertificateDer, ServerName};

use crate::address_limit::TooMany;
use crate::engine::{Wrote, write_out};
use crate::output::Output;
use crate::shared::Shared;
use crate::slab::Slab;
use crate::slot::{Flags, Line, Slot, Stage};
use crate::source::Source;
use crate::tls::{Acceptor, ChannelBindings, Session};
use crate::wire::Wire;
use crate::{Handle, Now, listen};

/// More output than this does not wait; otherwise a fast reader would look like a slow one.
const GATHERED_BYTES: usize = 8 * 1024;

/// Operations of a protocol on one connection.
pub struct Io<'a> {
    pub(crate) line: &'a mut Line,
    pub(crate) shared: &'a mut Shared,
    pub(crate) handle: Handle,
    /// Output may wait for more output.
    waits: bool,
    pub(crate) taker: Taker,
}

/// The gateway that takes the connection over after the call.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Taker {
    /// The call is not one of `input`.
    Impossible,
    Nobody,
    Gateway(usize),
}

impl<'a> Io<'a> {
    pub(crate) fn new(line: &'a mut Line, shared: &'a mut Shared, handle: Handle) -> Io<'a> {
        Io { line, shared, handle, waits: false, taker: Taker::Impossible }
    }
}

impl Io<'_> {
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Borrows the connection for a value that owns its `Io`. Such an `Io` cannot [`hand_over`](Self::hand_over).
    pub fn reborrow(&mut self) -> Io<'_> {
        Io {
            line: self.line,
            shared: self.shared,
            handle: self.handle,
            waits: self.waits,
            taker: Taker::Impossible,
        }
    }

    pub fn now(&self) -> Now {
        self.shared.now
    }

    /// The address of the other side, from the system, because connections do not store it. None if the connection is closed.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.line.wire.peer()
    }

    /// Counts this connection for the address of the client behind a trusted proxy instead of the peer's. False if that address has
    /// reached its limit; then this connection is not counted, and should be refused.
    pub fn count_for(&mut self, client: IpAddr) -> bool {
        if let Some(bucket) = self.line.counted.take() {
            self.shared.addresses.release(bucket);
        }
        match self.shared.addresses.admit(client) {
            Ok(bucket) => {
                self.line.counted = bucket;
                true
            }
            Err(TooMany) => {
                self.shared.counters.over_address_limit(self.shared.worker, client);
                false
            }
        }
    }

    /// Appends to the output, which is written once at the end of the loop turn. A connection that is closing or over its output
    /// limit ignores it.
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

    /// Sends without a copy: for large output, or output to many.
    pub fn send_shared(&mut self, bytes: Bytes) {
        if let Some(output) = self.room_for(bytes.len()) {
            output.push_shared(bytes);
        }
    }

    /// Later sends through this `Io` may wait up to 200 ms for more, so that several sends cost one write. The order
    /// is kept: a send without this flushes them, and so does a large amount of waiting output.
    pub fn may_wait(&mut self) {
        self.waits = true;
    }

    /// Pending bytes.
    pub fn outgoing(&self) -> usize {
        self.line.outgoing()
    }

    /// Drops pending `send`s of which no byte is written, never part of one. Returns the dropped bytes.
    pub fn drop_outgoing(&mut self) -> usize {
        let Some(output) = &mut self.line.output else { return 0 };
        let dropped = output.drop_unbegun();
        self.shared.outgoing = self.shared.outgoing.saturating_sub(dropped);
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

    /// Stops or resumes reading from the peer (backpressure). A resume passes unconsumed input again.
    pub fn set_reading(&mut self, on: bool) {
        if on == self.line.flags.has(Flags::PAUSED) {
            self.line.flags.put(Flags::PAUSED, !on);
            self.line.flags.put(Flags::RESUMED, on);
            self.shared.mark_dirty(self.line, self.handle.slot());
        }
    }

    /// Hands the connection over to another gateway of the worker, to whose protocol the next bytes belong. Only for `input`.
    ///
    /// At the end of the call the connection leaves this gateway: its state is dropped without [`Protocol::closed`], and its
    /// handle is invalid. Socket, TLS session, pending output and unconsumed input move; the timer does not. The other gateway
    /// applies its own limits, and its protocol gets [`Accepted::HANDED_OVER`](crate::Accepted::HANDED_OVER) and then the input.
    ///
    /// False, and nothing happens: the worker has no other gateway of this number, the connection is closing, or the caller
    /// is not `input`. Closing the connection in the same call takes precedence.
    ///
    /// [`Protocol::closed`]: crate::Protocol::closed
    pub fn hand_over(&mut self, gateway: usize) -> bool {
        let exists = gateway < self.shared.gateways && gateway != self.shared.gateway;
        let can = !matches!(self.taker, Taker::Impossible) && !self.line.flags.has(Flags::CLOSING);
        if exists && can {
            self.taker = Taker::Gateway(gateway);
        }
        exists && can
    }

    /// Begins TLS as the server on a plain connection (STARTTLS). Pending output is written in plain first, and the next bytes
    /// that arrive are the ClientHello; [`Protocol::connected`](crate::Protocol::connected) is called after the handshake.
    ///
    /// False, and nothing has changed: the connection has TLS already or is closing, the socket takes no output now, or too many
    /// handshakes are in progress. Call it from `input`, and consume all input: plain bytes behind the request could be
    /// injected by somebody on the path, and must not count as sent under TLS.
    pub fn start_tls(&mut self, acceptor: &Acceptor) -> bool {
        let Io { line, shared, .. } = self;
        if line.tls.is_some() || line.flags.has(Flags::CLOSING) || shared.handshakes.are_full() {
            return false;
        }
        let Ok(session) = Session::server(acceptor.current()) else { return false };
        if !matches!(write_out(line, shared), Ok(Wrote::All)) {
            return false;
        }
        if let Some(output) = line.output.take() {
            shared.pool.give_output(output);
        }
        line.tls = Some(Box::new(session));
        line.flags.put(Flags::IN_FLIGHT, true);
        shared.handshakes.in_flight += 1;
        shared.tally().handshakes_begun.add(1);
        let timeout = shared.limits.first_byte_timeout;
        shared.set_timer(line, self.handle.slot(), Some(timeout));
        true
    }

    /// Begins TLS as the client on a plain connection of [`Conns::connect`], as [`start_tls`](Self::start_tls) does as the server: the
    /// peer's next bytes belong to the handshake, after which [`Protocol::connected`](crate::Protocol::connected) is called.
    pub fn start_tls_as_client(&mut self, config: Arc<ClientConfig>, name: ServerName<'static>) -> bool {
        let Io { line, shared, .. } = self;
        if line.tls.is_some() || line.flags.has(Flags::CLOSING) {
            return false;
        }
        let Ok(mut session) = Session::client(config, name) else { return false };
        if !matches!(write_out(line, shared), Ok(Wrote::All)) {
            return false;
        }
        if let Some(output) = line.output.take() {
            shared.pool.give_output(output);
        }
        // Without input, only the ClientHello is made.
        if session.receive(&mut [], &mut Vec::new(), &mut shared.pool, &mut shared.keys).is_err() {
            session.release(&mut shared.pool);
            return false;
        }
        line.tls = Some(Box::new(session));
        shared.tally().handshakes_begun.add(1);
        shared.mark_dirty(line, self.handle.slot());
        let timeout = shared.limits.first_byte_timeout;
        shared.set_timer(line, self.handle.slot(), Some(timeout));
        true
    }

    /// The certificates that the peer has shown in its finished TLS handshake, its own first. The handshake of a client has verified
    /// those of a server; nobody has verified those of a client, except that it has the key. Those of a server are not kept with
    /// [`Memory::Low`](crate::tls::Memory::Low).
    pub fn peer_certificates(&self) -> &[CertificateDer<'static>] {
        let session = self.line.tls.as_ref().filter(|session| !session.is_handshaking());
        session.and_then(|session| session.peer_certificates()).unwrap_or_default()
    }

    /// The channel bindings (RFC 5056) of this TLS connection, if its acceptor is made by
    /// [`with_channel_bindings`](crate::tls::with_channel_bindings).
    pub fn channel_bindings(&self) -> Option<&ChannelBindings> {
        self.line.tls.as_ref().filter(|session| !session.is_handshaking())?.bindings()
    }

    /// Frees their memory, once the client is authenticated.
    pub fn drop_channel_bindings(&mut self) {
        if let Some(session) = &mut self.line.tls {
            session.drop_bindings();
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
        let waiting = self.line.outgoing();
        let outgoing = waiting + len;
        if !self.waits || outgoing > GATHERED_BYTES {
            self.shared.mark_dirty(self.line, self.handle.slot());
        } else if waiting == 0 {
            self.shared.gather(self.line, self.handle.slot());
        }
        if outgoing > self.shared.limits.output_limit {
            self.line.flags.put(Flags::OVER_LIMIT, true);
            return None;
        }
        if outgoing > self.shared.limits.output_soft_limit {
            self.line.flags.put(Flags::OVER_SOFT, true);
        }
        self.shared.outgoing += len;
        Some(self.line.output.get_or_insert_with(|| self.shared.pool.take_output()))
    }
}

/// An outgoing connection.
#[derive(Debug, Clone)]
pub struct Connect {
    pub to: SocketAddr,
    /// The source address; None leaves it to the system.
    pub from: Option<IpAddr>,
    /// With it, `connected` is called after the handshake.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
}

/// All connections of a gateway on one worker, for mail and ticks.
pub struct Conns<'a, C> {
    pub(crate) slots: &'a mut Slab<Slot<C>>,
    pub(crate) shared: &'a mut Shared,
}

impl<C> Conns<'_, C> {
    pub fn now(&self) -> Now {
        self.shared.now
    }

    /// The number of this gateway among those of the worker.
    pub fn gateway(&self) -> usize {
        self.shared.gateway
    }

    /// The number of this worker.
    pub fn worker(&self) -> usize {
        self.shared.worker
    }

    /// None if the connection is closed, or belongs to another worker or gateway. A closing one still exists, but sends nothing more.
    pub fn get(&mut self, handle: Handle) -> Option<(&mut C, Io<'_>)> {
        if !self.shared.is_ours(handle) {
            return None;
        }
        let slot = self.slots.get_mut(handle.slot(), handle.generation())?;
        let Stage::Open(conn) = &mut slot.stage else { return None };
        Some((conn, Io::new(&mut slot.line, self.shared, handle)))
    }

    /// Begins an outgoing connection without waiting. `Protocol::connected` is called when it is established, `closed` if it fails or
    /// takes longer than `first_byte_timeout` (unless the protocol sets its own timer). Earlier output is sent then. After an
    /// error neither is called.
    pub fn connect(&mut self, connect: Connect, conn: C) -> io::Result<Handle> {
        let Connect { to, from, tls } = connect;
        let session =
            tls.map(|(config, name)| Session::client(config, name)).transpose().map_err(io::Error::other)?;
        #[cfg(feature = "testing")]
        if self.shared.registry.is_none() {
            return Ok(self.dial_in_test(to, session, conn));
        }
        let Some(registry) = &self.shared.registry else { return Err(io::ErrorKind::Unsupported.into()) };
        let mut line = Line::new(Wire::Tcp(listen::connect(to, from, &mut self.shared.ports)?));
        line.flags.put(Flags::CONNECTING, true);
        line.tls = session.map(Box::new);
        let (slot, generation) = self.slots.insert(Slot { line, stage: Stage::Open(conn) });
        let handle = self.shared.handle(slot, generation);
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

    /// Without sockets: the harness establishes the connection.
    #[cfg(feature = "testing")]
    fn dial_in_test(&mut self, to: SocketAddr, session: Option<Session>, conn: C) -> Handle {
        let (pipe, peer) = crate::testing::pipe();
        let mut line = Line::new(Wire::Pipe(pipe));
        line.flags.put(Flags::CONNECTING, true);
        line.tls = session.map(Box::new);
        let (slot, generation) = self.slots.insert(Slot { line, stage: Stage::Open(conn) });
        let handle = self.shared.handle(slot, generation);
        self.shared.dialed.push(crate::testing::Dialed { to, handle, peer });
        handle
    }

    /// Registers a socket of the protocol, mostly for datagrams. [`Protocol::readable`](crate::Protocol::readable) is called with this
    /// number when it is readable, until it is closed. The socket must be non-blocking.
    pub fn watch(&mut self, socket: &impl AsRawFd, number: u32) -> io::Result<()> {
        let Some(registry) = &self.shared.registry else { return Err(io::ErrorKind::Unsupported.into()) };
        let source = Source::OwnSocket { gateway: self.shared.gateway, number };
        registry.register(&mut SourceFd(&socket.as_raw_fd()), source.token(), Interest::READABLE)
    }

    /// Calls `readable` for the socket again in the next turn, for a protocol that stopped before the socket was empty.
    pub fn look_again(&mut self, number: u32) {
        self.shared.again.push(number);
    }

    /// Every connection of this gateway on this worker, in no order. Visits every slot.
    pub fn each(&mut self, mut act: impl FnMut(&mut C, Io<'_>)) {
        for slot in self.slots.slots() {
            if let Some((generation, found)) = self.slots.at(slot)
                && let Stage::Open(conn) = &mut found.stage
            {
                let handle = self.shared.handle(slot, generation);
                act(conn, Io::new(&mut found.line, self.shared, handle));
            }
        }
    }
}
