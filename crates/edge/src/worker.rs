//! The loop of one worker: one thread, its sockets, its gateways.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, mpsc};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mio::event::Event;
use mio::{Events, Poll};

use crate::bell::Bell;
use crate::engine::Ready;
use crate::hosted::{Hosted, Place};
use crate::mailbox::PutOff;
use crate::pace::{GATHER, Pace};
use crate::source::Source;
use crate::spare_descriptor::SpareDescriptor;
use crate::transfer::{self, Census, Kind, Predecessor, Sender, Successor};
use crate::{Handle, Now};

/// Events per `epoll_wait`.
const EVENTS: usize = 1024;

/// Commands of the edge to a worker; the bell follows.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub(crate) stop_accepting: AtomicBool,
    /// Flush until this time, close, and end.
    pub(crate) stop: OnceLock<Instant>,
}

/// Commands for a move to another process. The bell follows; the sender waits for the reply.
pub(crate) enum Order {
    /// Accept and read nothing, or again.
    Freeze(bool, mpsc::Sender<()>),
    /// Finish what can be finished at once.
    Rest(mpsc::Sender<()>),
    /// Handle all mail, write output, and count the connections.
    Settle(mpsc::Sender<Census>),
    /// Send the connections to the worker of this number in another process. Then wait for the next order without a turn.
    Send { to: Successor, reply: mpsc::Sender<io::Result<()>> },
    /// The sent connections belong to the other process. Close the others until this time, and end.
    Leave(Instant),
    /// Begin, with the connections of another process.
    Begin,
}

/// Arguments of a worker's thread.
pub(crate) struct Plan {
    pub(crate) worker: usize,
    pub(crate) private_descriptors: bool,
    pub(crate) gateways: Vec<MakeHosted>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) control: Arc<Control>,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) predecessor: Option<Predecessor>,
}

/// Creates a gateway's part of a worker, on the worker's thread.
pub(crate) type MakeHosted = Box<dyn FnOnce(Place) -> io::Result<Box<dyn Hosted>> + Send>;

pub(crate) struct Worker {
    number: usize,
    gateways: Vec<Box<dyn Hosted>>,
    poll: Poll,
    spare: SpareDescriptor,
    bell: Arc<Bell>,
    control: Arc<Control>,
    is_accepting: bool,
    stopping: bool,
    orders: mpsc::Receiver<Order>,
    /// The bell has rung in this turn, so there may be an order.
    has_rung: bool,
    /// Set by [`Order::Leave`].
    leaves_at: Option<Instant>,
    /// Waits for [`Order::Begin`].
    is_waiting: bool,
}

impl Worker {
    /// Called on the worker's thread, where its descriptors must be opened.
    pub(crate) fn new(plan: Plan) -> io::Result<Worker> {
        let Plan { worker, gateways, bell, control, orders, predecessor, .. } = plan;
        let poll = Poll::new()?;
        bell.register(poll.registry(), Source::Bell.token())?;
        let registry = Arc::new(poll.registry().try_clone()?);
        // One time for all gateways, so that their ticks begin together.
        let now = clock();
        let count = gateways.len();
        let is_waiting = predecessor.is_some();
        let from = predecessor.filter(|predecessor| worker < predecessor.workers);
        let arrived = from.map(|from| transfer::receive(&from, worker, count)).transpose()?;
        let mut arrived = arrived.unwrap_or_default().into_iter();
        let place = |gateway, arrived| Place {
            worker,
            gateway,
            gateways: count,
            bell: Arc::clone(&bell),
            registry: Arc::clone(&registry),
            now,
            arrived,
        };
        let gateways = gateways
            .into_iter()
            .enumerate()
            .map(|(gateway, make)| make(place(gateway, arrived.next().unwrap_or_default())))
            .collect::<io::Result<_>>()?;
        Ok(Worker {
            number: worker,
            gateways,
            poll,
            spare: SpareDescriptor::new(),
            bell,
            control,
            is_accepting: true,
            stopping: false,
            orders,
            has_rung: false,
            leaves_at: None,
            is_waiting,
        })
    }

    pub(crate) fn run(mut self) {
        if std::mem::take(&mut self.is_waiting) && !self.begin() {
            return;
        }
        let put_off = PutOff::begin();
        let mut events = Events::with_capacity(EVENTS);
        let mut pace = Pace::new(Instant::now());
        loop {
            if pace.is_busy() && !self.is_behind() {
                std::thread::sleep(GATHER);
            }
            self.sleep(&mut events);
            let now = clock();
            self.each(|gateway| gateway.begin_turn(now));
            let mut work = 0;
            for event in &events {
                self.dispatch(event);
                work += 1;
            }
            self.each(|gateway| work += gateway.work());
            pace.note(work, now.instant);
            self.each(|gateway| gateway.timers());
            self.accept();
            self.hand_over();
            self.carry_out(&put_off);
            let ended = self.stopped();
            self.each(|gateway| gateway.end_turn());
            put_off.ring();
            if ended {
                return;
            }
        }
    }

    /// The connections and sessions that came from another process, once.
    pub(crate) fn take_imported(&mut self) -> Vec<Handle> {
        self.gateways.iter_mut().flat_map(|gateway| gateway.take_imported()).collect()
    }

    fn each(&mut self, act: impl FnMut(&mut Box<dyn Hosted>)) {
        self.gateways.iter_mut().for_each(act);
    }

    /// Waits for an event, not longer than the next tick.
    fn sleep(&mut self, events: &mut Events) {
        let idle = !self.is_behind() && self.gateways.iter().all(|gateway| gateway.may_sleep());
        let timeout = if idle { self.until_next_tick() } else { Duration::ZERO };
        if let Err(error) = self.poll.poll(events, Some(timeout))
            && error.kind() != io::ErrorKind::Interrupted
        {
            // Cannot happen on our own descriptor; if it does, do not spin and do not fill the log.
            tracing::error!(worker = self.number, %error, "cannot wait for events");
            std::thread::sleep(timeout.max(Duration::from_millis(100)));
        }
        if idle {
            self.each(|gateway| gateway.woke());
        }
    }

    fn until_next_tick(&self) -> Duration {
        let now = Instant::now();
        self.gateways.iter().map(|gateway| gateway.until_next_tick(now)).min().unwrap_or(Duration::ZERO)
    }

    /// Whether work is left that causes no event.
    fn is_behind(&self) -> bool {
        self.gateways.iter().any(|gateway| gateway.is_behind())
    }

    fn dispatch(&mut self, event: &Event) {
        match Source::of(event.token()) {
            Source::Bell => {
                self.has_rung = true;
                self.bell.drain();
            }
            Source::OwnSocket { gateway, number } => self.gateways[gateway].readable(number),
            Source::Listener { gateway, index } => self.gateways[gateway].can_accept(index),
            Source::Connection(handle) => {
                let ready = Ready {
                    readable: event.is_readable(),
                    writable: event.is_writable(),
                    read_closed: event.is_read_closed(),
                    hung_up: event.is_error() || event.is_read_closed() && event.is_write_closed(),
                };
                self.gateways[handle.gateway()].ready(handle, ready);
            }
        }
    }

    fn accept(&mut self) {
        if self.is_accepting && self.control.stop_accepting.load(Ordering::Relaxed) {
            self.is_accepting = false;
            self.each(|gateway| gateway.stop_accepting());
        }
        for gateway in &mut self.gateways {
            gateway.accept(&mut self.spare);
        }
    }

    /// Moves connections between gateways. Before a stop, so that each is closed by one of them.
    fn hand_over(&mut self) {
        for from in 0..self.gateways.len() {
            for connection in self.gateways[from].handed_over() {
                // `Io::hand_over` has checked the number.
                self.gateways[connection.to].take_over(connection);
            }
        }
    }

    /// Waits until the connections of another process are ours. False: they are not, and the worker ends.
    fn begin(&mut self) -> bool {
        loop {
            match self.orders.recv() {
                Ok(Order::Begin) => break,
                Ok(Order::Leave(_)) | Err(_) => return false,
                // Replies are dropped, so their receivers do not wait.
                Ok(_) => {}
            }
        }
        let now = clock();
        self.each(|gateway| {
            gateway.begin_turn(now);
            gateway.go_on();
        });
        true
    }

    /// Carries out orders. A reply can be lost only if the edge is being dropped.
    fn carry_out(&mut self, put_off: &PutOff) {
        if !std::mem::take(&mut self.has_rung) {
            return;
        }
        while let Ok(order) = self.orders.try_recv() {
            self.carry_out_one(order, put_off);
        }
    }

    fn carry_out_one(&mut self, order: Order, put_off: &PutOff) {
        match order {
            Order::Freeze(on, reply) => {
                self.each(|gateway| gateway.freeze(on));
                let _ = reply.send(());
            }
            Order::Rest(reply) => {
                self.each(|gateway| gateway.rest());
                let _ = reply.send(());
            }
            Order::Settle(reply) => {
                let mut census = Census::default();
                self.each(|gateway| census = census.sum(gateway.settle()));
                put_off.ring();
                let _ = reply.send(census);
            }
            Order::Send { to, reply } => {
                put_off.ring();
                let _ = reply.send(self.send(&to));
                drop(reply);
                // No turn now: the connections may belong to the other process already. Without an order, the edge is being dropped.
                if let Ok(order) = self.orders.recv() {
                    self.carry_out_one(order, put_off);
                }
            }
            Order::Leave(until) => {
                self.each(|gateway| gateway.forget_sent());
                self.leaves_at = Some(until);
            }
            Order::Begin => {}
        }
    }

    fn send(&mut self, to: &Successor) -> io::Result<()> {
        let mut sender = Sender::connect(to, self.number)?;
        for gateway in &mut self.gateways {
            gateway.send_to(&mut sender)?;
        }
        sender.frame(Kind::End, &[], &[])
    }

    /// Carries out a stop command. True when all connections are closed.
    fn stopped(&mut self) -> bool {
        let Some(deadline) = self.control.stop.get().copied().or(self.leaves_at) else { return false };
        if !self.stopping {
            self.stopping = true;
            self.each(|gateway| gateway.begin_stop());
        }
        let mut ended = true;
        for gateway in &mut self.gateways {
            ended &= gateway.stopped(deadline);
        }
        ended
    }
}

fn clock() -> Now {
    static BEGIN: LazyLock<(Instant, u64)> = LazyLock::new(|| (Instant::now(), unix_ms()));
    let (begin, began_ms) = *BEGIN;
    let instant = Instant::now();
    let steady_ms = began_ms + instant.saturating_duration_since(begin).as_millis() as u64;
    Now { instant, unix_ms: unix_ms(), steady_ms }
}

fn unix_ms() -> u64 {
    // A clock before 1970 is broken; zero is as good as any other value.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}
