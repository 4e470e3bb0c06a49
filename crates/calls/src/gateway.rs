//! The sockets around the machine: a worker of `edge` owns the connections, datagrams and relays of its clients.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use edge::{
    Accepted, Closed, Conns, Counters as EdgeCounters, Edge, EdgeConfig, Handle, Io, Moves, Now, Predecessor,
    Protocol, Records, Successor,
};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::ServerConfig;

use crate::datagrams::{BATCH, Inbound, Outbound, Via};
use crate::machine::RelaysRecord;
use crate::relays::{Relay, Relays, unbound};
use crate::{CallsConfig, Client, Counters, Framed, Machine, Output, RelayId, Shared, Sites, Step, frame};

/// The format of the relays that this version sends to a successor, and takes from a predecessor. Without a common one, a new process
/// begins without relays.
pub const MOVES_FORMAT: u16 = 1;

/// Registered sockets: numbers from here on are listeners, lower ones are slots of relays.
const LISTENER: u32 = 1 << 31;

/// Batches of one socket per turn.
const BATCHES: usize = 4;

/// Receive buffer of a listener; the system's limit may reduce it.
const LISTENER_BUFFER: usize = 4 << 20;

/// Pending data above which data for a slow client is dropped, as a network would do.
const MOST_UNREAD: usize = 128 * 1024;

/// A connection without a relay is closed after this time.
const IDLE: Duration = Duration::from_secs(60);

/// ALPN of RFC 7443: some clients offer it, and a server without it would reject them.
const PROTOCOLS: [&[u8]; 2] = [b"stun.turn", b"stun.nat-discovery"];

/// The running calls role.
pub struct Calls {
    edge: Edge,
    udp: Vec<SocketAddr>,
    counters: Arc<Counters>,
    sites: Arc<Sites>,
}

/// Starts the workers. Returns when all of them listen.
///
/// `predecessor`: another process with the same addresses and not more workers, whose listeners, connections and relays come. Then it
/// returns when they have come, and nothing is done before [`Calls::begin`].
pub fn start(
    mut config: CallsConfig,
    workers: usize,
    predecessor: Option<&Predecessor>,
) -> io::Result<Calls> {
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).map_err(|_| io::Error::other("the system gives no random numbers"))?;
    let listeners = std::mem::take(&mut config.streams);
    let reserve = |address: &SocketAddr| reserve(*address, config.shares_ports);
    let reserved = config.udp.iter().map(reserve).collect::<io::Result<Vec<_>>>()?;
    config.udp = reserved.iter().map(|(address, _)| *address).collect();
    let udp = config.udp.clone();
    let (max_connections, private_descriptor_tables) = (config.max_connections, config.private_descriptors);
    let per_address = config.per_address.take();
    let shared = Arc::new(Shared::new(config, &key, Instant::now()));
    let (counters, sites) = (shared.counters(), shared.sites());
    let (_, inboxes) = edge::mailboxes::<()>(workers);
    // COMPAT(turnutils_uclient, 2026): it treats each record as one message, and drops records with two.
    let records = Records::PerSend;
    let edge_config = EdgeConfig {
        listeners,
        max_connections,
        per_address,
        private_descriptor_tables,
        records,
        ..EdgeConfig::default()
    };
    let (failed, failures) = mpsc::channel();
    let old_workers = predecessor.map(|predecessor| predecessor.workers);
    let make = move |worker| {
        let mut gateway = Gateway::new(Arc::clone(&shared), workers);
        match old_workers {
            // On the worker's own thread, because a descriptor of another table would be invalid.
            None => {
                if let Err(error) = gateway.listen() {
                    // It listens nowhere, and the start fails.
                    gateway.is_without_listeners = true;
                    let _ = failed.send(error);
                }
            }
            // One more socket on an address would change the worker of each client.
            Some(old_workers) => gateway.is_without_listeners = worker >= old_workers,
        }
        gateway
    };
    let gateway = edge::Gateway::new(edge_config, inboxes, make);
    let edge = match predecessor {
        Some(predecessor) => Edge::succeed(predecessor, vec![gateway])?,
        None => Edge::start_all(vec![gateway])?,
    };
    match failures.try_recv() {
        Ok(error) => Err(error),
        Err(_) => Ok(Calls { edge, udp, counters, sites }),
    }
}

impl Calls {
    /// Its addresses for datagrams, with real ports, in the order of the configuration;
    pub fn udp_addrs(&self) -> &[SocketAddr] {
        &self.udp
    }

    /// and its addresses for connections.
    pub fn stream_addrs(&self) -> &[SocketAddr] {
        self.edge.local_addrs()
    }

    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    pub fn connections(&self) -> Arc<EdgeCounters> {
        self.edge.counters()
    }

    pub fn sites(&self) -> Arc<Sites> {
        Arc::clone(&self.sites)
    }

    /// New connections get this certificate.
    pub fn reload_tls(&self, config: &ServerConfig) {
        for listener in 0..self.edge.local_addrs().len() {
            self.edge.reload_tls(listener, tls(config));
        }
    }

    pub fn stop(self, flush: Duration) {
        self.edge.stop(flush);
    }

    /// Begins, after a [`start`] with a predecessor. Otherwise it runs already.
    pub fn begin(&self) {
        self.edge.begin();
    }

    /// Sends everything to the process that takes the place of this one. Nothing is relayed afterwards until [`stay`](Self::stay) or
    /// [`leave`](Self::leave): data wait in the sockets.
    pub fn send(&self, to: &Successor) -> io::Result<()> {
        self.edge.freeze(true);
        // Sockets of new relays are opened.
        self.edge.settle();
        self.edge.send(to)
    }

    /// The other process has failed.
    pub fn stay(&self) {
        self.edge.stay();
    }

    /// The other process has what was [sent](Self::send). Ends; what was not sent is closed.
    pub fn leave(self) {
        self.edge.leave(Duration::ZERO);
    }
}

/// A certificate's settings for the web, as they are for TURN.
pub fn tls(config: &ServerConfig) -> Arc<ServerConfig> {
    let mut config = config.clone();
    config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
    Arc::new(config)
}

/// A local address, and the socket that reserves a chosen port until the workers have bound it.
fn reserve(address: SocketAddr, shares_ports: bool) -> io::Result<(SocketAddr, Option<UdpSocket>)> {
    if shares_ports && address.port() != 0 {
        return Ok((address, None));
    }
    let socket = unbound(address)?;
    if address.port() != 0 {
        // Another process on the port would receive a part of our clients.
        return socket.bind(&address.into()).map(|()| (address, None));
    }
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    let socket = UdpSocket::from(socket);
    Ok((socket.local_addr()?, Some(socket)))
}

/// A worker's socket. All workers have one on the same address; the system distributes clients by their 5-tuple.
fn listen(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = unbound(address)?;
    socket.set_reuse_port(true)?;
    // As much as the system permits.
    let _ = socket.set_recv_buffer_size(LISTENER_BUFFER);
    let _ = socket.set_send_buffer_size(LISTENER_BUFFER);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// One worker.
pub(crate) struct Gateway {
    machine: Machine,
    shared: Arc<Shared>,
    /// By the addresses of the settings.
    listeners: Vec<Option<UdpSocket>>,
    /// It shall have none.
    is_without_listeners: bool,
    relays: Relays,
    /// Sockets of another process, until its relays are known.
    arrived: HashMap<u32, OwnedFd>,
    inbound: Inbound,
    outbound: Outbound,
    is_watched: bool,
}

/// A client over TCP or TLS.
pub(crate) struct Conn {
    from: SocketAddr,
}

impl Gateway {
    fn new(shared: Arc<Shared>, workers: usize) -> Gateway {
        let config = shared.config();
        Gateway {
            relays: Relays::new(config.ports.clone(), &config.relays),
            machine: Machine::new(Arc::clone(&shared), workers),
            listeners: config.udp.iter().map(|_| None).collect(),
            is_without_listeners: false,
            arrived: HashMap::new(),
            inbound: Inbound::new(),
            outbound: Outbound::default(),
            is_watched: false,
            shared,
        }
    }

    /// Opens the listeners that it lacks.
    fn listen(&mut self) -> io::Result<()> {
        if self.is_without_listeners {
            return Ok(());
        }
        for (listener, address) in self.listeners.iter_mut().zip(&self.shared.config().udp) {
            if listener.is_none() {
                *listener = Some(listen(*address)?);
            }
        }
        Ok(())
    }

    fn watch_sockets(&mut self, conns: &mut Conns<'_, Conn>) {
        self.is_watched = true;
        for (number, socket) in self.own_sockets() {
            if let Err(error) = conns.watch(&socket, number) {
                tracing::error!(%error, "a worker cannot receive datagrams for calls");
            }
        }
        for stream in self.machine.streams() {
            if conns.get(stream).is_none() {
                self.machine.client_gone(Client::Stream(stream));
            }
        }
    }

    fn receive_from_clients(&mut self, index: usize, conns: &mut Conns<'_, Conn>) {
        let now = conns.now();
        for _ in 0..BATCHES {
            let Some(Some(listener)) = self.listeners.get(index) else { return };
            let count = self.inbound.receive(listener, self.is_ipv6(index));
            for datagram in 0..count {
                let (from, bytes) = self.inbound.datagram(datagram);
                let client = Client::Datagrams { listener: index as u8, from };
                match self.machine.handle_input(client, from, bytes, now) {
                    Step::Nothing => {}
                    Step::Answer(answer) => self.outbound.stage(Via::Listener(index as u8), from, answer),
                    Step::ToPeer { relay, to, data } => {
                        self.outbound.stage(Via::Relay(relay.slot), self.relays.inward(to), data);
                    }
                }
            }
            if self.outbound.is_full() {
                self.flush();
            }
            if count < BATCH {
                return;
            }
        }
        conns.look_again(LISTENER | index as u32);
    }

    fn receive_from_peers(&mut self, slot: u32, conns: &mut Conns<'_, Conn>) {
        let now = conns.now().instant;
        for _ in 0..BATCHES {
            let Some(relay) = self.relays.get(slot) else { return };
            let (id, count) = (relay.id, self.inbound.receive(&relay.socket, relay.is_ipv6));
            for index in 0..count {
                let Some((from, packet)) = self.inbound.packet(index) else { continue };
                let from = self.relays.outward(from);
                if let Some((client, message)) = self.machine.handle_peer_input(id, from, packet, now) {
                    deliver(client, message, &mut self.outbound, conns, &self.shared.counters);
                }
            }
            if self.outbound.is_full() {
                self.flush();
            }
            if count < BATCH {
                return;
            }
        }
        conns.look_again(slot);
    }

    fn carry_out(&mut self, output: Output, conns: &mut Conns<'_, Conn>) {
        match output {
            Output::Close { relay } => self.relays.close(relay),
            Output::Open { relay, address, even } => {
                let opened = self.relays.open(relay, address, even).and_then(|port| {
                    let socket = &self.relays.get(relay.slot).ok_or(io::ErrorKind::NotFound)?.socket;
                    conns.watch(socket, relay.slot).map(|()| port)
                });
                if let Err(error) = &opened {
                    tracing::debug!(%error, "cannot open a socket for a relay");
                }
                if let Some((client, answer)) = self.machine.opened(relay, opened.ok()) {
                    deliver(client, answer, &mut self.outbound, conns, &self.shared.counters);
                }
            }
        }
    }

    fn flush(&mut self) {
        let (listeners, relays) = (&self.listeners, &self.relays);
        let socket_of = |via| match via {
            Via::Listener(index) => listeners.get(usize::from(index))?.as_ref(),
            Via::Relay(slot) => relays.get(slot).map(|relay| &relay.socket),
        };
        self.outbound.flush(socket_of, &self.shared.counters);
    }

    fn is_ipv6(&self, listener: usize) -> bool {
        self.shared.config().udp.get(listener).is_some_and(SocketAddr::is_ipv6)
    }
}

fn deliver(
    client: Client,
    message: &[u8],
    outbound: &mut Outbound,
    conns: &mut Conns<'_, Conn>,
    counters: &Counters,
) {
    match client {
        Client::Datagrams { listener, from } => outbound.stage(Via::Listener(listener), from, message),
        Client::Stream(handle) => match conns.get(handle) {
            Some((_, mut io)) if io.outgoing() < MOST_UNREAD => io.send(message),
            _ => counters.unsent.add(1),
        },
    }
}

impl Protocol for Gateway {
    type Conn = Conn;
    type Mail = ();

    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> Conn {
        io.set_timer(Some(IDLE));
        // A socket of both families maps IPv4 (RFC 4291 §2.5.5.2); the client needs its own address.
        Conn { from: SocketAddr::new(accepted.peer.ip().to_canonical(), accepted.peer.port()) }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let client = Client::Stream(io.handle());
        let mut at = 0;
        loop {
            match frame(&input[at..]) {
                Framed::Incomplete => return at,
                Framed::Broken => {
                    io.close();
                    return input.len();
                }
                Framed::Whole { message, next } => {
                    match self.machine.handle_input(client, conn.from, &input[at..at + message], io.now()) {
                        Step::Nothing => {}
                        Step::Answer(answer) => io.send(answer),
                        Step::ToPeer { relay, to, data } => {
                            self.outbound.stage(Via::Relay(relay.slot), self.relays.inward(to), data);
                        }
                    }
                    at += next;
                    if self.outbound.is_full() {
                        self.flush();
                    }
                }
            }
        }
    }

    fn eof(&mut self, _: &mut Conn, io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut Conn, io: &mut Io<'_>) {
        if self.machine.has_relay(Client::Stream(io.handle())) {
            io.set_timer(Some(IDLE));
        } else {
            io.close();
        }
    }

    fn drained(&mut self, _: &mut Conn, _: &mut Io<'_>) {}

    fn closed(&mut self, _: Conn, handle: Handle, _: Closed, _: Now) {
        self.machine.client_gone(Client::Stream(handle));
    }

    fn moves(_: &Conn) -> Moves {
        Moves::Now
    }

    fn export(&self, conn: &Conn, _: Now, into: &mut Vec<u8>) -> bool {
        serde_json::to_writer(into, &conn.from).is_ok()
    }

    fn import(&mut self, state: &[u8], _: &mut Io<'_>) -> Option<Conn> {
        serde_json::from_slice(state).ok().map(|from| Conn { from })
    }

    fn own_sockets(&self) -> Vec<(u32, BorrowedFd<'_>)> {
        let listeners = self.listeners.iter().enumerate();
        let listeners =
            listeners.filter_map(|(index, socket)| Some((LISTENER | index as u32, socket.as_ref()?.as_fd())));
        listeners.chain(self.relays.all().map(|relay| (relay.id.slot, relay.socket.as_fd()))).collect()
    }

    fn import_own_sockets(&mut self, sockets: Vec<(u32, OwnedFd)>) {
        for (number, socket) in sockets {
            match number.checked_sub(LISTENER) {
                Some(index) => {
                    if let Some(place) = self.listeners.get_mut(index as usize) {
                        *place = Some(socket.into());
                    }
                }
                None => _ = self.arrived.insert(number, socket),
            }
        }
        // The other process may have ended before it had sent them.
        if let Err(error) = self.listen() {
            tracing::error!(%error, "a worker cannot listen for datagrams");
        }
    }

    fn own_sockets_moved(&mut self) {
        self.listeners.clear();
        self.relays.close_all();
    }

    fn export_state(&self, now: Now, into: &mut Vec<u8>) {
        serde_json::to_writer(into, &self.machine.write_down(now.instant))
            .expect("a record has no map, so it can be written as JSON");
    }

    fn import_state(&mut self, state: &[u8], now: Now) -> Vec<Handle> {
        let mut sockets = std::mem::take(&mut self.arrived);
        match serde_json::from_slice::<RelaysRecord>(state) {
            Ok(record) => {
                let has_socket = |relay: RelayId| sockets.contains_key(&relay.slot);
                for id in self.machine.continue_relays(record, has_socket, now.instant) {
                    let Some(socket) = sockets.remove(&id.slot).map(UdpSocket::from) else { continue };
                    let is_ipv6 = socket.local_addr().is_ok_and(|address| address.is_ipv6());
                    self.relays.insert(Relay { id, socket, is_ipv6 });
                }
            }
            Err(error) => tracing::error!(%error, "the relays of the old process cannot be read"),
        }
        Vec::new()
    }

    fn mail(&mut self, (): (), _: &mut Conns<'_, Conn>) {}

    fn readable(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        match number.checked_sub(LISTENER) {
            Some(listener) => self.receive_from_clients(listener as usize, conns),
            None => self.receive_from_peers(number, conns),
        }
    }

    fn turn_ends(&mut self, conns: &mut Conns<'_, Conn>) {
        if !self.is_watched {
            self.watch_sockets(conns);
        }
        while let Some(output) = self.machine.poll_output() {
            self.carry_out(output, conns);
        }
        self.flush();
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.machine.handle_timeout(conns.now().instant);
    }
}
