//! All workers of a process: started, spoken to, stopped.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustls::ServerConfig;

use crate::address_limit::AddressCounts;
use crate::bell::Bell;
use crate::config::{EdgeConfig, Listener};
use crate::counters::Counters;
use crate::handle::MAX_WORKERS;
use crate::listen::Reservation;
use crate::system::make_private;
use crate::worker::{Control, Plan, Worker};
use crate::{Inbox, Protocol, listen, tls};

/// The running connection layer. Dropping it stops all workers without a flush.
pub struct Edge {
    local_addrs: Vec<SocketAddr>,
    tls: Vec<Option<tls::Acceptor>>,
    bells: Vec<Arc<Bell>>,
    control: Arc<Control>,
    counters: Arc<Counters>,
    addresses: Arc<AddressCounts>,
    threads: Vec<JoinHandle<()>>,
}

impl Edge {
    /// Starts one worker per inbox, on threads `edge-0`, `edge-1`… `make` is called on each of them. Returns when all of
    /// them listen, or with the first error, and then none runs. Without listeners it only makes connections.
    pub fn start<P>(
        config: EdgeConfig,
        inboxes: Vec<Inbox<P::Mail>>,
        make: impl Fn(usize) -> P + Send + Sync + 'static,
    ) -> io::Result<Edge>
    where
        P: Protocol + 'static,
    {
        let workers = inboxes.len();
        if workers == 0 || workers > MAX_WORKERS {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "between 1 and 255 workers are possible",
            ));
        }
        let reserve = |listener: &Listener| match &listener.reserved {
            Some(reservation) => Ok(reservation.clone()),
            None => listen::reserve(listener.addr),
        };
        let reservations = config.listeners.iter().map(reserve).collect::<io::Result<Vec<_>>>()?;
        let _shared = reservations.iter().map(Reservation::share).collect::<io::Result<Vec<_>>>()?;
        let bells = (0..workers).map(|_| Bell::new().map(Arc::new)).collect::<io::Result<Vec<_>>>()?;
        let mut edge = Edge {
            local_addrs: reservations.iter().map(Reservation::addr).collect(),
            tls: config.listeners.iter().map(|listener| listener.tls.clone()).collect(),
            bells,
            control: Arc::new(Control::default()),
            counters: Arc::new(Counters::new(workers)),
            addresses: Arc::new(AddressCounts::new(config.per_address.clone())),
            threads: Vec::with_capacity(workers),
        };
        let config = Arc::new(config);
        let make = Arc::new(make);
        let (report, reports) = mpsc::channel();
        for inbox in inboxes {
            let make = Arc::clone(&make);
            edge.spawn(&config, inbox, move |worker| make(worker), report.clone())?;
        }
        drop(report);
        // A worker that panics while it starts reports nothing; the channel ends without it.
        let started = reports.iter().take(workers).collect::<io::Result<Vec<()>>>()?.len();
        if started < workers {
            return Err(io::Error::other("a worker ended while it started"));
        }
        Ok(edge)
    }

    /// Where it listens, in the order of the configuration, with real ports.
    pub fn local_addrs(&self) -> &[SocketAddr] {
        &self.local_addrs
    }

    pub fn counters(&self) -> Arc<Counters> {
        Arc::clone(&self.counters)
    }

    /// False if a worker has ended by itself, which only a bug of ours can cause: say so in readiness checks.
    pub fn all_workers_run(&self) -> bool {
        self.threads.iter().all(|thread| !thread.is_finished())
    }

    /// New connections on a listener see this certificate. False if the listener has no TLS.
    pub fn reload_tls(&self, listener: usize, config: Arc<ServerConfig>) -> bool {
        let Some(Some(acceptor)) = self.tls.get(listener) else { return false };
        acceptor.replace(config);
        true
    }

    /// Closes the listeners; connections go on.
    pub fn stop_accepting(&self) {
        self.control.stop_accepting.store(true, Ordering::Relaxed);
        self.ring();
    }

    /// Flushes what was sent, for so long at most, closes all connections and waits for the workers to end. Mail that
    /// was sent before is heard.
    pub fn stop(mut self, flush: Duration) {
        self.end(flush);
    }

    fn spawn<P: Protocol + 'static>(
        &mut self,
        config: &Arc<EdgeConfig>,
        inbox: Inbox<P::Mail>,
        make: impl FnOnce(usize) -> P + Send + 'static,
        report: mpsc::Sender<io::Result<()>>,
    ) -> io::Result<()> {
        let worker = inbox.worker();
        let plan = Plan {
            worker,
            workers: self.bells.len(),
            config: Arc::clone(config),
            addrs: self.local_addrs.clone(),
            bell: Arc::clone(&self.bells[worker]),
            control: Arc::clone(&self.control),
            counters: Arc::clone(&self.counters),
            addresses: Arc::clone(&self.addresses),
        };
        inbox.hang(Arc::clone(&plan.bell));
        let body = move || {
            let private = if plan.config.private_descriptor_tables { make_private() } else { Ok(()) };
            match private.and_then(|()| Worker::new(plan, inbox, make(worker))) {
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
        self.threads.push(std::thread::Builder::new().name(format!("edge-{worker}")).spawn(body)?);
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
