//! The loop of one worker: one thread, its sockets, its protocol value.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mio::event::Event;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};

use crate::address_limit::AddressCounts;
use crate::bell::Bell;
use crate::config::EdgeConfig;
use crate::counters::Counters;
use crate::engine::{Engine, Ready};
use crate::handle::own_socket_of;
use crate::listen;
use crate::mailbox::{Inbox, KEPT, PutOff};
use crate::pace::{GATHER, Pace};
use crate::shared::Shared;
use crate::spare_descriptor::SpareDescriptor;
use crate::wire::Wire;
use crate::{Handle, Now, Protocol};

/// Events taken from the kernel at once.
const EVENTS: usize = 1024;

/// Mail handled per turn: a long batch is sliced, sockets have their turn in between.
const MAIL_PER_TURN: usize = 1024;

/// Tokens above every handle: no worker has the number 255.
const BELL: Token = Token(usize::MAX);
const FIRST_LISTENER: usize = usize::MAX - 1;

/// How the owner of all workers speaks to them; then it rings.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub(crate) stop_accepting: AtomicBool,
    /// Flush until then, close, and end.
    pub(crate) stop: OnceLock<Instant>,
}

/// Arguments of a worker's thread.
pub(crate) struct Plan {
    pub(crate) worker: usize,
    pub(crate) workers: usize,
    pub(crate) config: Arc<EdgeConfig>,
    /// The addresses of the configuration with real ports.
    pub(crate) addrs: Vec<SocketAddr>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) control: Arc<Control>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) addresses: Arc<AddressCounts>,
}

pub(crate) struct Worker<P: Protocol> {
    engine: Engine<P>,
    poll: Poll,
    inbox: Inbox<P::Mail>,
    mail: VecDeque<P::Mail>,
    listeners: Vec<Listening>,
    accepts_per_turn: usize,
    max_connections: usize,
    spare: SpareDescriptor,
    bell: Arc<Bell>,
    control: Arc<Control>,
    stopping: bool,
}

struct Listening {
    socket: TcpListener,
    index: usize,
    /// There may be connections to accept that no event will announce.
    pending: bool,
    /// Out of descriptors: not before the next tick.
    resting: bool,
}

impl<P: Protocol> Worker<P> {
    /// Called on the worker's thread, where its descriptors must be opened.
    pub(crate) fn new(plan: Plan, inbox: Inbox<P::Mail>, protocol: P) -> io::Result<Worker<P>> {
        let Plan { worker, workers, config, addrs, bell, control, counters, addresses } = plan;
        let poll = Poll::new()?;
        bell.register(poll.registry(), BELL)?;
        let mut listeners = Vec::new();
        for (index, addr) in addrs.iter().enumerate() {
            let mut socket = listen::listen(*addr, &config)?;
            poll.registry().register(&mut socket, Token(FIRST_LISTENER - index), Interest::READABLE)?;
            listeners.push(Listening { socket, index, pending: true, resting: false });
        }
        let mut shared = Shared::new(&config, worker, counters, addresses, clock());
        shared.registry = Some(poll.registry().try_clone()?);
        Ok(Worker {
            engine: Engine::new(protocol, shared),
            poll,
            inbox,
            mail: VecDeque::new(),
            listeners,
            accepts_per_turn: config.accepts_per_turn.max(1),
            max_connections: config.max_connections.div_ceil(workers),
            spare: SpareDescriptor::new(),
            bell,
            control,
            stopping: false,
        })
    }

    pub(crate) fn run(mut self) {
        let put_off = PutOff::begin();
        let mut events = Events::with_capacity(EVENTS);
        let mut pace = Pace::new(Instant::now());
        loop {
            if pace.is_busy() && !self.is_behind() {
                std::thread::sleep(GATHER);
            }
            self.sleep(&mut events);
            let now = clock();
            self.engine.begin_turn(now);
            let mut work = 0;
            for event in &events {
                self.dispatch(event);
                work += 1;
            }
            self.engine.read_more();
            self.engine.begin_handshakes();
            work += self.take_mail();
            pace.note(work, now.instant);
            self.timers();
            self.accept();
            let ended = self.stopped();
            self.engine.turn_ends();
            self.engine.finish_turn();
            put_off.ring();
            if ended {
                return;
            }
        }
    }

    /// Waits for something to do, not longer than the next tick.
    fn sleep(&mut self, events: &mut Events) {
        let idle = !self.is_behind() && self.inbox.may_sleep();
        let timeout = if idle { self.engine.shared.until_next_tick(Instant::now()) } else { Duration::ZERO };
        if let Err(error) = self.poll.poll(events, Some(timeout))
            && error.kind() != io::ErrorKind::Interrupted
        {
            // Cannot happen on a descriptor that is ours; if it does, do not spin and do not fill the log.
            tracing::error!(worker = self.engine.shared.worker, %error, "cannot wait for events");
            std::thread::sleep(timeout.max(Duration::from_millis(100)));
        }
        if idle {
            self.inbox.woke();
        }
    }

    /// There is work that nobody will announce.
    fn is_behind(&self) -> bool {
        self.engine.has_work() || !self.mail.is_empty() || self.listeners.iter().any(Listening::ready)
    }

    fn dispatch(&mut self, event: &Event) {
        let token = event.token();
        if token == BELL {
            self.bell.hear();
        } else if let Some(number) = own_socket_of(token) {
            self.engine.readable(number);
        } else if let Some(listening) =
            self.listeners.iter_mut().find(|l| FIRST_LISTENER - l.index == token.0)
        {
            listening.pending = true;
        } else {
            let ready = Ready {
                readable: event.is_readable(),
                writable: event.is_writable(),
                read_closed: event.is_read_closed(),
                hung_up: event.is_error() || event.is_read_closed() && event.is_write_closed(),
            };
            self.engine.ready(Handle::from_bits(token.0 as u64), ready);
        }
    }

    /// Answers how much it was.
    fn take_mail(&mut self) -> usize {
        if self.mail.is_empty() {
            let mut batch = Vec::from(std::mem::take(&mut self.mail));
            self.inbox.take(&mut batch);
            self.mail = VecDeque::from(batch);
        }
        let mut taken = 0;
        while taken < MAIL_PER_TURN
            && let Some(mail) = self.mail.pop_front()
        {
            taken += P::weight(&mail).max(1);
            self.engine.mail(mail);
        }
        taken
    }

    fn timers(&mut self) {
        if self.engine.timers() {
            self.engine.tick();
            self.inbox.shrink();
            if self.mail.is_empty() {
                self.mail.shrink_to(KEPT);
            }
            for listening in &mut self.listeners {
                listening.resting = false;
            }
        }
    }

    fn accept(&mut self) {
        if self.control.stop_accepting.load(Ordering::Relaxed) && !self.listeners.is_empty() {
            self.listeners.clear();
        }
        let mut listeners = std::mem::take(&mut self.listeners);
        for listening in listeners.iter_mut().filter(|listening| listening.ready()) {
            for _ in 0..self.accepts_per_turn {
                if !self.accept_one(listening) {
                    break;
                }
            }
        }
        self.listeners = listeners;
    }

    /// True if there may be another.
    fn accept_one(&mut self, listening: &mut Listening) -> bool {
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
            Err(error) if is_out_of_descriptors(&error) => self.turn_away(listening),
            // The connection ended before it was accepted, or the network had an error: accept(2) says to try again.
            Err(_) => {
                self.engine.shared.tally().accept_errors.add(1);
                true
            }
        }
    }

    /// Accepts and closes one with the spare descriptor: clients that are told come back at another moment, those that
    /// are left waiting hang. True if there may be another.
    fn turn_away(&mut self, listening: &mut Listening) -> bool {
        let accepted = self.spare.lend(|| listening.socket.accept().map(drop));
        match accepted {
            Some(Ok(())) => self.engine.shared.tally().no_descriptors.add(1),
            // accept(2) looks for a descriptor first, and says that there is none even if nobody is waiting.
            Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => listening.pending = false,
            Some(Err(_)) => listening.resting = true,
            None => {
                self.engine.shared.tally().no_descriptors.add(1);
                listening.resting = true;
            }
        }
        listening.ready()
    }

    fn watch(&mut self, handle: Handle) {
        let Some(slot) = self.engine.slots.get_mut(handle.slot(), handle.generation()) else { return };
        if slot.line.wire.watch(self.poll.registry(), handle).is_err() {
            self.engine.shared.tally().accept_errors.add(1);
            self.engine.dismiss(handle);
        }
    }

    /// Stops if that was asked for. True when all is over.
    fn stopped(&mut self) -> bool {
        let Some(&deadline) = self.control.stop.get() else { return false };
        if !self.stopping {
            self.stopping = true;
            self.listeners.clear();
            // Commands that were sent before the stop are still carried out.
            let mut late = Vec::new();
            self.inbox.take(&mut late);
            for mail in self.mail.drain(..).chain(late) {
                self.engine.mail(mail);
            }
            self.engine.begin_stop();
            self.engine.finish_turn();
        }
        if self.engine.shared.now.instant >= deadline {
            self.engine.end_stop();
        }
        self.engine.slots.is_empty()
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

fn clock() -> Now {
    // A clock before 1970 is a broken one; zero is as good as any other answer.
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Now { instant: Instant::now(), unix_ms: unix.as_millis() as u64 }
}
