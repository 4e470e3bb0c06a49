//! A gateway's part of one worker: its engine, its mailbox and its listeners.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::net::TcpListener;
use mio::{Interest, Registry};

use crate::address_limit::AddressCounts;
use crate::bell::Bell;
use crate::config::EdgeConfig;
use crate::counters::Counters;
use crate::engine::{Engine, HandedOver, Ready};
use crate::listen;
use crate::mailbox::{Inbox, KEPT, Letter};
use crate::shared::Shared;
use crate::source::Source;
use crate::spare_descriptor::SpareDescriptor;
use crate::transfer::record::Writer;
use crate::transfer::{Arrived, BATCH, Census, Kind, Sender};
use crate::wire::Wire;
use crate::{Handle, Now, Protocol};

/// Work on mail per turn ([`Protocol::work`]): a long batch is sliced, and sockets are polled in between.
const WORK_PER_TURN: usize = 1024;

/// A worker's loop calls each of its gateways through this trait. The loop does not know their protocols: it makes a few virtual
/// calls per turn and one per event. All code below is compiled for the protocol.
pub(crate) trait Hosted {
    fn begin_turn(&mut self, now: Now);

    /// The socket of a connection is ready.
    fn ready(&mut self, handle: Handle, ready: Ready);

    /// A socket that the protocol registered is readable.
    fn readable(&mut self, number: u32);

    /// A listener has connections to accept.
    fn can_accept(&mut self, index: usize);

    /// Continues reads that reached their share of a turn, begins handshakes, and handles mail. Returns the work of the mail.
    fn work(&mut self) -> usize;

    fn timers(&mut self);

    fn accept(&mut self, spare: &mut SpareDescriptor);

    fn stop_accepting(&mut self);

    /// Takes the connections that the protocol has handed over.
    fn handed_over(&mut self) -> Vec<HandedOver>;

    /// Takes a connection over from another gateway.
    fn take_over(&mut self, connection: HandedOver);

    /// Handles mail from before the stop, and begins to close all connections.
    fn begin_stop(&mut self);

    /// Flushes until the deadline. True when all connections are closed.
    fn stopped(&mut self, deadline: Instant) -> bool;

    /// Writes pending output.
    fn end_turn(&mut self);

    /// Stops or resumes accepting and reading.
    fn freeze(&mut self, on: bool);

    /// Lets the protocol finish what it can.
    fn rest(&mut self);

    /// Handles all mail, and counts the connections.
    fn settle(&mut self) -> Census;

    /// Sends listeners, connections and the protocol's state to another process.
    fn send_to(&mut self, sender: &mut Sender) -> io::Result<()>;

    /// The connections of the last [`send_to`](Self::send_to) belong to the other process: forgets them.
    fn forget_sent(&mut self);

    /// The connections and sessions that came from another process, once.
    fn take_imported(&mut self) -> Vec<Handle>;

    /// Continues the connections of another process.
    fn go_on(&mut self);

    /// Whether work is left that causes no event.
    fn is_behind(&self) -> bool;

    /// False if mail is waiting. True: the next mail will ring the bell.
    fn may_sleep(&self) -> bool;

    /// After a sleep: senders need not ring the bell.
    fn woke(&self);

    fn until_next_tick(&self, now: Instant) -> Duration;
}

/// State that the parts of a gateway on all workers share.
pub(crate) struct Setup {
    pub(crate) workers: usize,
    pub(crate) config: EdgeConfig,
    /// The addresses of the configuration with real ports.
    pub(crate) addrs: Vec<SocketAddr>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) addresses: Arc<AddressCounts>,
}

/// The worker of a gateway's part.
pub(crate) struct Place {
    pub(crate) worker: usize,
    /// Its number among the gateways of the worker.
    pub(crate) gateway: usize,
    /// The number of these.
    pub(crate) gateways: usize,
    pub(crate) bell: Arc<Bell>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) now: Now,
    /// From another process.
    pub(crate) arrived: Arrived,
}

pub(crate) struct HostedGateway<P: Protocol> {
    engine: Engine<P>,
    registry: Arc<Registry>,
    inbox: Inbox<P::Mail>,
    letters: VecDeque<Letter<P::Mail>>,
    listeners: Vec<Listening>,
    accepts_per_turn: usize,
    max_connections: usize,
    /// The slots of connections that came from another process, until they go on; then of those that were sent to one.
    moved: Vec<u32>,
    /// Accepts nothing.
    frozen: bool,
    /// Connections and sessions of another process, for the owner of the edge.
    imported: Vec<Handle>,
}

struct Listening {
    socket: TcpListener,
    index: usize,
    /// Connections may wait for an accept without a further event.
    pending: bool,
    /// Out of descriptors: not before the next tick.
    resting: bool,
}

impl<P: Protocol> HostedGateway<P> {
    /// Called on the worker's thread, where its descriptors must be opened.
    pub(crate) fn new(
        place: Place,
        setup: &Setup,
        inbox: Inbox<P::Mail>,
        protocol: P,
    ) -> io::Result<HostedGateway<P>> {
        let Place { worker, gateway, gateways, bell, registry, now, arrived } = place;
        inbox.hang(bell);
        let Setup { workers, config, addrs, counters, addresses } = setup;
        let Arrived { listeners: inherited, generation, state, connections, own_sockets } = arrived;
        let mut inherited: HashMap<usize, OwnedFd> = inherited.into_iter().collect();
        let mut listeners = Vec::new();
        for (index, addr) in addrs.iter().enumerate() {
            let inherited = inherited.remove(&index).and_then(|socket| listen::inherit(socket, *addr));
            let mut socket = match inherited {
                Some(socket) => socket,
                None => listen::listen(*addr, config, *workers)?,
            };
            let token = Source::Listener { gateway, index }.token();
            registry.register(&mut socket, token, Interest::READABLE)?;
            listeners.push(Listening { socket, index, pending: true, resting: false });
        }
        let mut shared =
            Shared::new(config, worker, gateway, Arc::clone(counters), Arc::clone(addresses), now);
        shared.gateways = gateways;
        shared.registry = Some(Arc::clone(&registry));
        let mut hosted = HostedGateway {
            engine: Engine::new(protocol, shared),
            registry,
            inbox,
            letters: VecDeque::new(),
            listeners,
            accepts_per_turn: config.accepts_per_turn.max(1),
            max_connections: config.max_connections.div_ceil(*workers),
            moved: Vec::new(),
            frozen: false,
            imported: Vec::new(),
        };
        hosted.engine.import_own_sockets(own_sockets);
        let state = state.map(|state| hosted.engine.import_state(&state));
        hosted.imported = state.unwrap_or_default();
        let moved =
            connections.into_iter().filter_map(|(socket, record)| hosted.engine.import(socket, &record));
        let moved: Vec<Handle> = moved.collect();
        if generation > 0 {
            hosted.engine.slots.places_end(generation);
        }
        hosted.moved = moved.iter().map(|handle| handle.slot()).collect();
        hosted.imported.extend(moved);
        Ok(hosted)
    }

    /// Returns the work.
    fn take_mail(&mut self) -> usize {
        if self.letters.is_empty() {
            let mut batch = Vec::from(std::mem::take(&mut self.letters));
            self.inbox.take(&mut batch);
            self.letters = VecDeque::from(batch);
        }
        let (mut work, mut weight) = (0, 0);
        while work < WORK_PER_TURN
            && let Some(letter) = self.letters.pop_front()
        {
            work += P::work(&letter.mail).max(1);
            weight += letter.weight as usize;
            self.engine.mail(letter.mail);
        }
        self.inbox.handled(weight);
        work
    }

    /// True if another one may wait.
    fn accept_one(&mut self, listening: &mut Listening, spare: &mut SpareDescriptor) -> bool {
        match listening.socket.accept() {
            Ok((socket, peer)) => {
                if self.engine.slots.len() >= self.max_connections {
                    self.engine.shared.tally().over_limit.add(1);
                    return true;
                }
                let Ok(counted) = self.engine.shared.addresses.admit(peer.ip()) else {
                    let shared = &self.engine.shared;
                    shared.counters.over_address_limit(shared.worker, peer.ip());
                    return true;
                };
                let handle = self.engine.admit(Wire::Tcp(socket), peer, counted, listening.index);
                self.watch(handle);
                true
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                listening.pending = false;
                false
            }
            Err(error) if is_out_of_descriptors(&error) => self.turn_away(listening, spare),
            // The connection ended before it was accepted, or the network had an error: accept(2) says to try again.
            Err(_) => {
                self.engine.shared.tally().accept_errors.add(1);
                true
            }
        }
    }

    /// Accepts and closes one with the spare descriptor. A closed client retries later; one in the queue would hang. True if another
    /// one may wait.
    fn turn_away(&mut self, listening: &mut Listening, spare: &mut SpareDescriptor) -> bool {
        let accepted = spare.lend(|| listening.socket.accept().map(drop));
        match accepted {
            Some(Ok(())) => self.engine.shared.tally().no_descriptors.add(1),
            // accept(2) allocates the descriptor first, so it fails even if no connection waits.
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => listening.pending = false,
            Some(Err(_)) => listening.resting = true,
            None => {
                self.engine.shared.tally().no_descriptors.add(1);
                listening.resting = true;
            }
        }
        listening.ready()
    }

    fn send_batch(&mut self, sender: &mut Sender, records: &[(u32, Vec<u8>)]) -> io::Result<()> {
        let mut body = Writer::default();
        body.u8(self.engine.shared.gateway as u8);
        let slots = &mut self.engine.slots;
        let mut moved = Vec::with_capacity(records.len());
        for (slot, record) in records {
            body.bytes(record);
            moved.push(*slot);
        }
        let sockets = slots.shared_at(&moved, |entry| entry.line.wire.socket());
        if sockets.is_empty() {
            return Ok(());
        }
        sender.frame(Kind::Connections, &body.0, &sockets)?;
        self.moved.append(&mut moved);
        Ok(())
    }

    fn watch(&mut self, handle: Handle) {
        let Some(slot) = self.engine.slots.get_mut(handle.slot(), handle.generation()) else { return };
        if slot.line.wire.watch(&self.registry, handle).is_err() {
            self.engine.shared.tally().accept_errors.add(1);
            self.engine.dismiss(handle);
        }
    }
}

impl<P: Protocol> Hosted for HostedGateway<P> {
    fn begin_turn(&mut self, now: Now) {
        self.engine.begin_turn(now);
    }

    fn ready(&mut self, handle: Handle, ready: Ready) {
        self.engine.ready(handle, ready);
    }

    fn readable(&mut self, number: u32) {
        self.engine.readable(number);
    }

    fn can_accept(&mut self, index: usize) {
        if let Some(listening) = self.listeners.iter_mut().find(|listening| listening.index == index) {
            listening.pending = true;
        }
    }

    fn work(&mut self) -> usize {
        self.engine.read_more();
        self.engine.begin_handshakes();
        self.take_mail()
    }

    fn timers(&mut self) {
        if self.engine.timers() {
            self.engine.tick();
            self.inbox.shrink();
            if self.letters.is_empty() {
                self.letters.shrink_to(KEPT);
            }
            for listening in &mut self.listeners {
                listening.resting = false;
            }
        }
    }

    fn accept(&mut self, spare: &mut SpareDescriptor) {
        if self.frozen {
            return;
        }
        let mut listeners = std::mem::take(&mut self.listeners);
        for listening in listeners.iter_mut().filter(|listening| listening.ready()) {
            for _ in 0..self.accepts_per_turn {
                if !self.accept_one(listening, spare) {
                    break;
                }
            }
        }
        self.listeners = listeners;
    }

    fn stop_accepting(&mut self) {
        self.listeners.clear();
    }

    fn handed_over(&mut self) -> Vec<HandedOver> {
        std::mem::take(&mut self.engine.handed_over)
    }

    fn take_over(&mut self, connection: HandedOver) {
        if self.engine.slots.len() >= self.max_connections {
            return self.engine.shared.tally().over_limit.add(1);
        }
        self.engine.take_over(connection.line);
    }

    fn begin_stop(&mut self) {
        self.listeners.clear();
        // Commands that were sent before the stop are still carried out.
        let mut late = Vec::new();
        self.inbox.take(&mut late);
        for letter in self.letters.drain(..).chain(late) {
            self.engine.mail(letter.mail);
        }
        self.engine.begin_stop();
        self.engine.finish_turn();
    }

    fn stopped(&mut self, deadline: Instant) -> bool {
        if self.engine.shared.now.instant >= deadline {
            self.engine.end_stop();
        }
        self.engine.slots.is_empty()
    }

    fn end_turn(&mut self) {
        self.engine.turn_ends();
        self.engine.finish_turn();
    }

    fn freeze(&mut self, on: bool) {
        self.frozen = on;
        self.engine.freeze(on);
    }

    fn rest(&mut self) {
        self.engine.rest();
    }

    fn settle(&mut self) -> Census {
        while self.take_mail() > 0 {}
        self.engine.turn_ends();
        self.engine.finish_turn();
        self.engine.census()
    }

    fn send_to(&mut self, sender: &mut Sender) -> io::Result<()> {
        let gateway = self.engine.shared.gateway as u8;
        for listening in &self.listeners {
            let mut body = Writer::default();
            body.u8(gateway).u32(listening.index as u32);
            sender.frame(Kind::Listener, &body.0, &[listening.socket.as_fd()])?;
        }
        let (generation, state) = self.engine.export_state();
        let mut body = Writer::default();
        body.u8(gateway).u32(generation).bytes(&state);
        sender.frame(Kind::Gateway, &body.0, &[])?;
        for some in self.engine.own_sockets().chunks(BATCH) {
            let mut body = Writer::default();
            body.u8(gateway);
            let sockets = some.iter().map(|(number, socket)| {
                body.u32(*number);
                *socket
            });
            let sockets: Vec<BorrowedFd<'_>> = sockets.collect();
            sender.frame(Kind::OwnSockets, &body.0, &sockets)?;
        }
        self.moved.clear();
        let slots = self.engine.slots.slots();
        let mut records: Vec<(u32, Vec<u8>)> = Vec::with_capacity(BATCH);
        for slot in slots {
            records.extend(self.engine.export(slot).map(|record| (slot, record)));
            if records.len() == BATCH {
                self.send_batch(sender, &records)?;
                records.clear();
            }
        }
        self.send_batch(sender, &records)
    }

    fn forget_sent(&mut self) {
        let moved = std::mem::take(&mut self.moved);
        self.engine.forget(&moved);
        // The other process accepts by copies of these sockets.
        self.listeners.clear();
        self.engine.own_sockets_moved();
    }

    fn take_imported(&mut self) -> Vec<Handle> {
        std::mem::take(&mut self.imported)
    }

    fn go_on(&mut self) {
        for slot in std::mem::take(&mut self.moved) {
            let handle = self.engine.slots.at(slot).map(|(generation, _)| (slot, generation));
            if let Some((slot, generation)) = handle {
                self.watch(self.engine.shared.handle(slot, generation));
                self.engine.go_on_imported(slot);
            }
        }
    }

    fn is_behind(&self) -> bool {
        self.engine.has_work()
            || !self.engine.handed_over.is_empty()
            || !self.letters.is_empty()
            || !self.frozen && self.listeners.iter().any(Listening::ready)
    }

    fn may_sleep(&self) -> bool {
        self.inbox.may_sleep()
    }

    fn woke(&self) {
        self.inbox.woke();
    }

    fn until_next_tick(&self, now: Instant) -> Duration {
        self.engine.shared.until_next_tick(now)
    }
}

impl Listening {
    fn ready(&self) -> bool {
        self.pending && !self.resting
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(rustix::io::Errno::MFILE.raw_os_error())
        || code == Some(rustix::io::Errno::NFILE.raw_os_error())
}
