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
use crate::system::make_private;
use crate::worker::{Control, Plan, Worker};
use crate::{Inbox, Protocol};

/// The running connection layer. Dropping it stops all workers without a flush.
pub struct Edge {
    gateways: Vec<RunningGateway>,
    bells: Vec<Arc<Bell>>,
    control: Arc<Control>,
    threads: Vec<JoinHandle<()>>,
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
        let invalid = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        if gateways.is_empty() || gateways.len() > MAX_GATEWAYS {
            return invalid("between 1 and 8 gateways are possible");
        }
        let (workers, private) = (gateways[0].workers, gateways[0].config.private_descriptor_tables);
        if workers == 0 || workers > MAX_WORKERS {
            return invalid("between 1 and 255 workers are possible");
        }
        if gateways.iter().any(|gateway| gateway.workers != workers) {
            return invalid("all gateways need an inbox for each worker");
        }
        if gateways.iter().any(|gateway| gateway.config.private_descriptor_tables != private) {
            return invalid("private_descriptor_tables differs between gateways");
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
        };
        let mut plans: Vec<Plan> = (0..workers).map(|worker| edge.plan(worker, private)).collect();
        for (gateway, reservations) in gateways.into_iter().zip(&reservations) {
            let (running, parts) = gateway.prepare(reservations);
            edge.gateways.push(running);
            for (plan, part) in plans.iter_mut().zip(parts) {
                plan.gateways.push(part);
            }
        }
        let (report, reports) = mpsc::channel();
        for plan in plans {
            edge.spawn(plan, report.clone())?;
        }
        drop(report);
        // A worker that panics during its start reports nothing; then the channel closes.
        let started = reports.iter().take(workers).collect::<io::Result<Vec<()>>>()?.len();
        if started < workers {
            return Err(io::Error::other("a worker ended while it started"));
        }
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

    fn plan(&self, worker: usize, private_descriptors: bool) -> Plan {
        Plan {
            worker,
            private_descriptors,
            gateways: Vec::new(),
            bell: Arc::clone(&self.bells[worker]),
            control: Arc::clone(&self.control),
        }
    }

    fn spawn(&mut self, plan: Plan, report: mpsc::Sender<io::Result<()>>) -> io::Result<()> {
        let name = format!("edge-{}", plan.worker);
        let body = move || {
            let private = if plan.private_descriptors { make_private() } else { Ok(()) };
            match private.and_then(|()| Worker::new(plan)) {
                Ok(worker) => {
                    let _ = report.send(Ok(()));
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
