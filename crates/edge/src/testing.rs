//! A protocol driven by hand: virtual time, no sockets, the same engine as in a worker.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, IoSlice};
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, ServerConfig};
use rustls_pki_types::ServerName;

use crate::address_limit::AddressCounts;
use crate::config::{EdgeConfig, Listener};
use crate::counters::{Counters, Totals};
use crate::engine::{Engine, HandedOver, Ready};
use crate::pool::Pool;
use crate::shared::Shared;
use crate::tls::{Keys, Session};
use crate::wire::Wire;
use crate::{Accepted, Closed, Conns, Handle, Now, Protocol};

/// The Unix time at which a harness begins, in milliseconds.
pub const START_UNIX_MS: u64 = 1_700_000_000_000;

/// One worker around a protocol. Each method is one turn of the loop: when it returns, output is written.
pub struct Harness<P: Protocol> {
    engine: Engine<P>,
    now: Now,
    peers: HashMap<Handle, Rc<RefCell<Peer>>>,
}

/// A connection between two gateways.
pub struct Moving(HandedOver);

impl Moving {
    /// The number of the gateway that takes it.
    pub fn to(&self) -> usize {
        self.0.to
    }
}

/// The other side of a connection.
#[derive(Default)]
pub(crate) struct Peer {
    to_us: Vec<u8>,
    ended: bool,
    reset: bool,
    written: Vec<u8>,
    /// How many more bytes it reads; None: no limit.
    room: Option<usize>,
    saw_end: bool,
    closed: Option<Closed>,
    reads: usize,
}

impl<P: Protocol> Harness<P> {
    /// The configuration's listeners do not matter; there is one plain listener if it has none.
    pub fn new(config: EdgeConfig, protocol: P) -> Harness<P> {
        Harness::with_worker(config, 0, 1, protocol)
    }

    /// As worker `worker` of `workers`, for protocols that use the number.
    pub fn with_worker(config: EdgeConfig, worker: usize, workers: usize, protocol: P) -> Harness<P> {
        Harness::of_gateway(config, worker, workers, 0, protocol)
    }

    /// As one of several gateways of the worker: its number is in the handles.
    pub fn of_gateway(
        mut config: EdgeConfig,
        worker: usize,
        workers: usize,
        gateway: usize,
        protocol: P,
    ) -> Harness<P> {
        if config.listeners.is_empty() {
            config.listeners.push(Listener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))));
        }
        let now = Now { instant: Instant::now(), unix_ms: START_UNIX_MS, steady_ms: START_UNIX_MS };
        let addresses = Arc::new(AddressCounts::new(config.per_address.clone()));
        let shared = Shared::new(&config, worker, gateway, Arc::new(Counters::new(workers)), addresses, now);
        Harness { engine: Engine::new(protocol, shared), now, peers: HashMap::new() }
    }

    /// A plain connection from 127.0.0.1; the protocol's `accept` is called at once.
    pub fn connect(&mut self) -> Handle {
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000));
        self.connect_as(Accepted { peer, listener: 0, tls: false })
    }

    /// A connection with these arguments of `accept`.
    pub fn connect_as(&mut self, accepted: Accepted) -> Handle {
        let handle = self.admit(accepted.peer, accepted.listener);
        self.engine.accept(handle.slot(), accepted);
        self.finish();
        handle
    }

    /// A connection before its first byte, which decides about TLS, as on a socket.
    pub fn connect_silent(&mut self, listener: usize) -> Handle {
        self.admit(SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000)), listener)
    }

    /// The connections that the protocol has opened since the last call, with their addresses. They are established now.
    pub fn dialed(&mut self) -> Vec<(Handle, SocketAddr)> {
        let dialed = std::mem::take(&mut self.engine.shared.dialed);
        let mut established = Vec::new();
        for Dialed { to, handle, peer } in dialed {
            self.peers.insert(handle, peer);
            self.ready(handle, Ready { writable: true, ..Ready::default() });
            established.push((handle, to));
        }
        established
    }

    /// The connections that the protocol has handed over since the last call.
    pub fn handed_over(&mut self) -> Vec<Moving> {
        std::mem::take(&mut self.engine.handed_over).into_iter().map(Moving).collect()
    }

    /// Takes a connection over from another gateway. None: its limits refuse it.
    pub fn take_over(&mut self, Moving(connection): Moving) -> Option<Handle> {
        let Wire::Pipe(Pipe(peer)) = &connection.line.wire else { return None };
        let peer = Rc::clone(peer);
        self.engine.begin_turn(self.now);
        let handle = self.engine.take_over(connection.line)?;
        self.peers.insert(handle, peer);
        self.finish();
        Some(handle)
    }

    /// The peer sends bytes. They wait while the protocol does not read, and are lost if the connection is closed.
    pub fn feed(&mut self, handle: Handle, bytes: &[u8]) {
        self.peer(handle).borrow_mut().to_us.extend_from_slice(bytes);
        self.ready(handle, Ready { readable: true, ..Ready::default() });
    }

    /// The peer closes its side.
    pub fn end(&mut self, handle: Handle) {
        self.peer(handle).borrow_mut().ended = true;
        self.ready(handle, Ready { readable: true, read_closed: true, ..Ready::default() });
    }

    /// The connection is reset.
    pub fn reset(&mut self, handle: Handle) {
        self.peer(handle).borrow_mut().reset = true;
        self.ready(handle, Ready { readable: true, writable: true, read_closed: true, hung_up: true });
    }

    /// The bytes that the peer received since the last call.
    pub fn output(&mut self, handle: Handle) -> Vec<u8> {
        std::mem::take(&mut self.peer(handle).borrow_mut().written)
    }

    /// The peer takes this many bytes more and then stops reading (None: it reads everything again). Further output of
    /// the protocol stays pending.
    pub fn set_room(&mut self, handle: Handle, bytes: Option<usize>) {
        self.peer(handle).borrow_mut().room = bytes;
        self.ready(handle, Ready { writable: true, ..Ready::default() });
    }

    /// Bytes that wait to be written.
    pub fn pending(&mut self, handle: Handle) -> usize {
        self.engine.slots.get_mut(handle.slot(), handle.generation()).map_or(0, |slot| slot.line.outgoing())
    }

    /// The wall clock jumps, ahead or back. Timers do not notice.
    pub fn set_clock(&mut self, jump_ms: i64) {
        self.now.unix_ms = self.now.unix_ms.saturating_add_signed(jump_ms);
    }

    /// Advances the time, tick by tick, and fires timers.
    pub fn advance(&mut self, time: Duration) {
        let target = self.now.instant + time;
        let target_unix_ms = self.now.unix_ms + time.as_millis() as u64;
        let target_steady_ms = self.now.steady_ms + time.as_millis() as u64;
        loop {
            let step = self.engine.shared.until_next_tick(self.now.instant);
            let next = (self.now.instant + step).min(target);
            self.now.unix_ms = target_unix_ms - (target - next).as_millis() as u64;
            self.now.steady_ms = target_steady_ms - (target - next).as_millis() as u64;
            self.now.instant = next;
            self.engine.begin_turn(self.now);
            if self.engine.timers() {
                self.engine.tick();
            }
            self.finish();
            if next == target {
                return;
            }
        }
    }

    pub fn mail(&mut self, mail: P::Mail) {
        self.engine.mail(mail);
        self.finish();
    }

    /// How often the connection was read: each time is a call to the system.
    pub fn reads(&self, handle: Handle) -> usize {
        self.peer(handle).borrow().reads
    }

    /// Why the connection ended, if it did.
    pub fn closed(&self, handle: Handle) -> Option<Closed> {
        self.peer(handle).borrow().closed
    }

    /// Whether the peer has seen the end of our output: we closed our side, and it has read everything.
    pub fn saw_end(&self, handle: Handle) -> bool {
        self.peer(handle).borrow().saw_end
    }

    pub fn now(&self) -> Now {
        self.now
    }

    pub fn protocol(&mut self) -> &mut P {
        &mut self.engine.protocol
    }

    /// Reaches into the connections, as `Protocol::mail` can.
    pub fn with_conns<R>(&mut self, act: impl FnOnce(&mut P, &mut Conns<'_, P::Conn>) -> R) -> R {
        let Engine { protocol, slots, shared, .. } = &mut self.engine;
        let result = act(protocol, &mut Conns { slots, shared });
        self.finish();
        result
    }

    /// The state of an open connection.
    pub fn conn(&mut self, handle: Handle) -> Option<&mut P::Conn> {
        match &mut self.engine.slots.get_mut(handle.slot(), handle.generation())?.stage {
            crate::slot::Stage::Open(conn) => Some(conn),
            _ => None,
        }
    }

    pub fn totals(&self) -> Totals {
        self.engine.shared.counters.totals()
    }

    fn admit(&mut self, from: SocketAddr, listener: usize) -> Handle {
        let peer = Rc::new(RefCell::new(Peer::default()));
        let wire = Wire::Pipe(Pipe(Rc::clone(&peer)));
        let handle = self.engine.admit(wire, from, None, listener);
        self.peers.insert(handle, peer);
        handle
    }

    fn peer(&self, handle: Handle) -> &Rc<RefCell<Peer>> {
        self.peers.get(&handle).expect("a handle of this harness")
    }

    fn ready(&mut self, handle: Handle, ready: Ready) {
        self.engine.begin_turn(self.now);
        self.engine.ready(handle, ready);
        self.finish();
    }

    fn finish(&mut self) {
        self.engine.turn_ends();
        self.engine.finish_turn();
        // A worker would take another turn at once; here a protocol without rest would hang the test.
        for _ in 0..10_000 {
            if !self.engine.has_work() {
                return;
            }
            self.engine.read_more();
            self.engine.begin_handshakes();
            self.engine.turn_ends();
            self.engine.finish_turn();
        }
        panic!("the protocol never comes to rest");
    }
}

/// A connection that the protocol opens.
pub(crate) struct Dialed {
    pub(crate) to: SocketAddr,
    pub(crate) handle: Handle,
    pub(crate) peer: PeerEnd,
}

/// The harness' end of a connection.
type PeerEnd = Rc<RefCell<Peer>>;

/// Both ends of a connection that the protocol opens.
pub(crate) fn pipe() -> (Pipe, PeerEnd) {
    let peer = PeerEnd::default();
    (Pipe(Rc::clone(&peer)), peer)
}

/// Our end of a connection to a [`Peer`].
pub(crate) struct Pipe(Rc<RefCell<Peer>>);

impl Pipe {
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut peer = self.0.borrow_mut();
        peer.reads += 1;
        if peer.reset {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let n = peer.to_us.len().min(into.len());
        if n == 0 && !peer.ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        into[..n].copy_from_slice(&peer.to_us[..n]);
        peer.to_us.drain(..n);
        Ok(n)
    }

    pub(crate) fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let mut peer = self.0.borrow_mut();
        if peer.reset {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let wanted: usize = slices.iter().map(|slice| slice.len()).sum();
        let taken = peer.room.map_or(wanted, |room| room.min(wanted));
        if taken == 0 && wanted > 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        if let Some(room) = &mut peer.room {
            *room -= taken;
        }
        let mut rest = taken;
        for slice in slices {
            let part = slice.len().min(rest);
            peer.written.extend_from_slice(&slice[..part]);
            rest -= part;
        }
        Ok(taken)
    }

    pub(crate) fn shutdown_write(&mut self) {
        self.0.borrow_mut().saw_end = true;
    }

    pub(crate) fn note_closed(&mut self, why: Closed) {
        let mut peer = self.0.borrow_mut();
        peer.closed = Some(why);
        peer.saw_end = true;
    }
}

/// One end of a TLS connection without a socket, for fuzzing.
pub struct TlsEnd {
    session: Session,
    pool: Pool,
    keys: Keys,
}

impl TlsEnd {
    pub fn server(config: Arc<ServerConfig>) -> Result<TlsEnd, rustls::Error> {
        Ok(TlsEnd { session: Session::server(config)?, pool: Pool::new(1 << 20), keys: Keys::default() })
    }

    pub fn client(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<TlsEnd, rustls::Error> {
        Ok(TlsEnd {
            session: Session::client(config, name)?,
            pool: Pool::new(1 << 20),
            keys: Keys::default(),
        })
    }

    /// Takes bytes of the peer; returns the plaintext. Without bytes it begins a client's handshake.
    pub fn receive(&mut self, bytes: &mut [u8]) -> Result<Vec<u8>, rustls::Error> {
        let mut plain = Vec::new();
        self.session.receive(bytes, &mut plain, &mut self.pool, &mut self.keys).map(|_| plain)
    }

    /// The bytes to write to the peer.
    pub fn unsent(&mut self) -> Vec<u8> {
        self.session.unsent.take().map(|unsent| unsent.0).unwrap_or_default()
    }

    pub fn is_handshaking(&self) -> bool {
        self.session.is_handshaking()
    }

    /// Of a server: see [`Io::channel_bindings`](crate::Io::channel_bindings).
    pub fn channel_bindings(&self) -> Option<&crate::tls::ChannelBindings> {
        self.session.bindings()
    }

    /// A record of any type, also of those that no correct peer makes. Only with [`Memory::Low`](crate::tls::Memory::Low).
    pub fn seal_as(&mut self, kind: u8, content: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        self.session.seal_as(kind, content, &mut self.keys)
    }

    pub fn seal(&mut self, plain: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        let mut sealed = Vec::new();
        self.session.seal(plain, &mut sealed, &mut self.keys).map(|()| sealed)
    }
}
