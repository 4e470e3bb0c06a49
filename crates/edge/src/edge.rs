//! Starts, controls and stops all workers of a process.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::bell::Bell;
use crate::config::EdgeConfig;
use crate::counters::Counters;
use crate::gateway::{Gateway, RunningGateway};
use crate::handle::{MAX_GATEWAYS, MAX_WORKERS};
use crate::listen::Reservation;
use crate::system::{make_private, yield_to_others};
use crate::transfer::{Census, Predecessor, Successor};
use crate::worker::{Control, Order, Plan, Worker};
use crate::{Handle, Inbox, Protocol};

/// The running connection layer. Dropping it stops all workers without a flush.
pub struct Edge {
    gateways: Vec<RunningGateway>,
    bells: Vec<Arc<Bell>>,
    control: Arc<Control>,
    threads: Vec<JoinHandle<()>>,
    orders: Vec<mpsc::Sender<Order>>,
    imported: Vec<Handle>,
}

impl Edge {
    /// Starts one gateway on workers of its own: see [`Edge::start_all`].
    pub fn start<P>(
        config: EdgeConfig,
        inboxes: Vec<Inbox<P::Mail>>,
        make: impl Fn(usize) -> P + Send + Sync + 'static,
    ) -> io::Result<Edge>
    where
        P: Protocol + 'static,
    {
        Edge::start_all(vec![Gateway::new(config, inboxes, make)])
    }

    /// Starts one worker per inbox, on threads `edge-0`, `edge-1`…; each carries all of these gateways. A gateway has its own
    /// listeners, connections, mailboxes, limits and counters. Returns when all workers listen, or with the first error, and then
    /// none runs. Without listeners a gateway only makes outgoing connections.
    pub fn start_all(gateways: Vec<Gateway>) -> io::Result<Edge> {
        Edge::start_from(None, gateways)
    }

    /// [`start_all`](Self::start_all) with the listeners and connections of another process, under their old handles. Returns when
    /// they have come. The workers wait for [`begin`](Self::begin): until then the other process can go on with its copies.
    ///
    /// A worker has its own listeners where the other process had none on an address. Handles name workers, so at least as many
    /// workers are needed as there.
    pub fn succeed(predecessor: &Predecessor, gateways: Vec<Gateway>) -> io::Result<Edge> {
        Edge::start_from(Some(predecessor), gateways)
    }

    fn start_from(predecessor: Option<&Predecessor>, gateways: Vec<Gateway>) -> io::Result<Edge> {
        let invalid = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if gateways.is_empty() || gateways.len() > MAX_GATEWAYS {
            return invalid("between 1 and 8 gateways are possible");
        }
        let (workers, private) = (gateways[0].workers, gateways[0].config.private_descriptor_tables);
        let niceness = gateways[0].config.niceness;
        if workers == 0 || workers > MAX_WORKERS {
            return invalid("between 1 and 255 workers are possible");
        }
        if gateways.iter().any(|gateway| gateway.workers != workers) {
            return invalid("all gateways need an inbox for each worker");
        }
        if gateways.iter().any(|gateway| gateway.config.private_descriptor_tables != private) {
            return invalid("private_descriptor_tables differs between gateways");
        }
        if predecessor.is_some_and(|predecessor| predecessor.workers > workers) {
            return invalid("the other process has more workers");
        }
        let reservations = gateways.iter().map(Gateway::reserve).collect::<io::Result<Vec<_>>>()?;
        let _shared =
            reservations.iter().flatten().map(Reservation::share).collect::<io::Result<Vec<_>>>()?;
        let bells = (0..workers).map(|_| Bell::new().map(Arc::new)).collect::<io::Result<Vec<_>>>()?;
        let mut edge = Edge {
            gateways: Vec::with_capacity(gateways.len()),
            bells,
            control: Arc::new(Control::default()),
            threads: Vec::with_capacity(workers),
            orders: Vec::with_capacity(workers),
            imported: Vec::new(),
        };
        let mut plans: Vec<Plan> =
            (0..workers).map(|worker| edge.plan(worker, private, predecessor.cloned())).collect();
        for (gateway, reservations) in gateways.into_iter().zip(&reservations) {
            let (running, parts) = gateway.prepare(reservations);
            edge.gateways.push(running);
            for (plan, part) in plans.iter_mut().zip(parts) {
                plan.gateways.push(part);
            }
        }
        let (report, reports) = mpsc::channel();
        for plan in plans {
            edge.spawn(plan, niceness, report.clone())?;
        }
        drop(report);
        // A worker that panics during its start reports nothing; then the channel closes.
        let started = reports.iter().take(workers).collect::<io::Result<Vec<_>>>()?;
        if started.len() < workers {
            return Err(io::Error::other("a worker ended while it started"));
        }
        edge.imported = started.into_iter().flatten().collect();
        Ok(edge)
    }

    /// A gateway, by its index in [`Edge::start_all`].
    pub fn gateway(&self, number: usize) -> &RunningGateway {
        &self.gateways[number]
    }

    /// [`RunningGateway::local_addrs`] of the first gateway.
    pub fn local_addrs(&self) -> &[SocketAddr] {
        self.gateway(0).local_addrs()
    }

    /// [`RunningGateway::counters`] of the first gateway.
    pub fn counters(&self) -> Arc<Counters> {
        self.gateway(0).counters()
    }

    /// [`RunningGateway::reload_tls`] of the first gateway.
    pub fn reload_tls(&self, listener: usize, config: Arc<ServerConfig>) -> bool {
        self.gateway(0).reload_tls(listener, config)
    }

    /// False if a worker has ended by itself, which only a bug of ours can cause. Use it in readiness checks.
    pub fn all_workers_run(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }

    /// The connections that came from another process, and its sessions without one, of all gateways. For [`succeed`](Self::succeed).
    pub fn imported(&self) -> &[Handle] {
        &self.imported
    }

    pub fn workers(&self) -> usize {
        self.orders.len()
    }

    /// Begins, after [`succeed`](Self::succeed).
    pub fn begin(&self) {
        self.order(|| Order::Begin);
    }

    /// Stops or resumes accepting and reading, on all workers. Output, timers and mail go on.
    pub fn freeze(&self, on: bool) {
        self.ask(|reply| Order::Freeze(on, reply));
    }

    /// Lets the protocols finish what they can ([`Protocol::rest`]).
    pub fn rest(&self) {
        self.ask(Order::Rest);
    }

    /// Has every worker handle its mail and write its output. Counts the connections by the time at which they can move.
    pub fn settle(&self) -> Census {
        self.ask(Order::Settle).into_iter().fold(Census::default(), Census::sum)
    }

    /// Sends listeners and connections to a process that [succeeds](Self::succeed) this one.
    /// The workers stand still afterwards, with copies of everything, until [`stay`](Self::stay) or [`leave`](Self::leave). Call it
    /// while the edge is [frozen](Self::freeze).
    pub fn send(&self, to: &Successor) -> io::Result<()> {
        let sent = self.ask(|reply| Order::Send { to: to.clone(), reply });
        if sent.len() < self.orders.len() {
            return Err(io::Error::other("a worker has ended"));
        }
        sent.into_iter().collect()
    }

    /// The other process has failed, so the connections go on here.
    pub fn stay(&self) {
        self.freeze(false);
    }

    /// The other process has the sent connections. Flushes and closes the others within the given time, and waits for the workers to
    /// end.
    pub fn leave(mut self, flush: Duration) {
        let until = Instant::now() + flush;
        self.order(|| Order::Leave(until));
        self.end(flush);
    }

    fn order(&self, order: impl Fn() -> Order) {
        for worker in &self.orders {
            // A worker that has ended needs no order.
            let _ = worker.send(order());
        }
        self.ring();
    }

    /// The replies of all workers that run.
    fn ask<R>(&self, order: impl Fn(mpsc::Sender<R>) -> Order) -> Vec<R> {
        let (reply, replies) = mpsc::channel();
        self.order(|| order(reply.clone()));
        drop(reply);
        replies.into_iter().collect()
    }

    /// Closes the listeners; connections continue.
    pub fn stop_accepting(&self) {
        self.control.stop_accepting.store(true, Ordering::Relaxed);
        self.ring();
    }

    /// Flushes output within the given time, closes all connections and waits for the workers to end. Mail that was sent before is
    /// still handled.
    pub fn stop(mut self, flush: Duration) {
        self.end(flush);
    }

    fn plan(&mut self, worker: usize, private_descriptors: bool, predecessor: Option<Predecessor>) -> Plan {
        let (sender, orders) = mpsc::channel();
        self.orders.push(sender);
        Plan {
            worker,
            private_descriptors,
            gateways: Vec::new(),
            bell: Arc::clone(&self.bells[worker]),
            control: Arc::clone(&self.control),
            orders,
            predecessor,
        }
    }

    fn spawn(
        &mut self,
        plan: Plan,
        niceness: u8,
        report: mpsc::Sender<io::Result<Vec<Handle>>>,
    ) -> io::Result<()> {
        let name = format!("edge-{}", plan.worker);
        let body = move || {
            yield_to_others(niceness);
            let private = if plan.private_descriptors { make_private() } else { Ok(()) };
            match private.and_then(|()| Worker::new(plan)) {
                Ok(mut worker) => {
                    let _ = report.send(Ok(worker.take_imported()));
                    drop(report);
                    worker.run();
                }
                Err(error) => {
                    let _ = report.send(Err(error));
                }
            }
        };
        self.threads.push(std::thread::Builder::new().name(name).spawn(body)?);
        Ok(())
    }

    fn end(&mut self, flush: Duration) {
        // A worker that stands still, or has not begun, goes on when its channel closes.
        self.orders.clear();
        // Only the first stop counts.
        let _ = self.control.stop.set(Instant::now() + flush);
        self.ring();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a worker panicked outside the protocol");
            }
        }
    }

    fn ring(&self) {
        for bell in &self.bells {
            bell.ring();
        }
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}
