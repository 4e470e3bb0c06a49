//! Event counters: each written by one worker, read by metrics from any thread.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::Closed;

/// The counters of all workers.
#[derive(Debug)]
pub struct Counters {
    workers: Box<[Tally]>,
    last_over_address_limit: Mutex<Option<IpAddr>>,
}

impl Counters {
    pub(crate) fn new(workers: usize) -> Counters {
        let workers = (0..workers).map(|_| Tally::default()).collect();
        Counters { workers, last_over_address_limit: Mutex::default() }
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.len()
    }

    pub(crate) fn worker(&self, worker: usize) -> &Tally {
        &self.workers[worker]
    }

    pub(crate) fn over_address_limit(&self, worker: usize, address: IpAddr) {
        self.worker(worker).over_address_limit.add(1);
        *self.last_over_address_limit.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
    }

    /// The last address that `per_address` refused, for the log.
    pub fn last_over_address_limit(&self) -> Option<IpAddr> {
        *self.last_over_address_limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sum over all workers. Not a snapshot of one moment, but each event is counted exactly once.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for tally in &self.workers {
            tally.add_to(&mut totals);
        }
        totals
    }
}

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// One worker's counters, aligned to a cache line, so that two workers never write to the same line.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct Tally { $(pub(crate) $name: Count),* }

        /// Counters since the start.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct Totals { $($(#[$doc])* pub $name: u64),* }

        impl Tally {
            fn add_to(&self, totals: &mut Totals) { $(totals.$name += self.$name.0.load(Relaxed);)* }
        }

        impl Totals {
            /// Name and value of each, for an exporter of metrics.
            pub fn each(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Connections accepted from a listener.
    accepted,
    /// Outgoing connections.
    connected,
    /// Connections that left for another gateway of the worker (`Io::hand_over`).
    handed_over,
    /// Connections from another gateway of the worker.
    taken_over,
    /// Connections that are open now (not a sum over time).
    open,
    /// Accepted and closed at once: `max_connections` was reached.
    over_limit,
    /// Accepted and closed at once: `per_address` was reached, also for a client behind a proxy.
    over_address_limit,
    /// Accepted and closed at once, or not accepted: the limit of open files was reached.
    no_descriptors,
    /// Other failures of accept.
    accept_errors,
    bytes_in,
    bytes_out,
    /// TLS handshakes begun, and those finished.
    handshakes_begun,
    handshakes_done,
    /// Renegotiations of TLS 1.2 that connections with [`Memory::Low`](crate::tls::Memory::Low) refused.
    renegotiations_refused,
    /// Panics in the protocol that were caught.
    panics,
    /// Bytes of output dropped because the connection was behind (`Io::drop_outgoing`).
    bytes_dropped,
    /// Connections that lost their pending output because all output took more than `output_memory`.
    output_reclaimed,
    closed_by_us,
    /// Closed by us before all output was flushed.
    closed_unflushed,
    closed_by_peer,
    closed_error,
    closed_tls,
    closed_input_limit,
    closed_output_limit,
    closed_handshake_timeout,
    closed_stopping,
    closed_panicked,
    /// Turns of all loops.
    turns,
}

/// A number with one writer, so that an increment is a load and a store instead of a locked instruction.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    pub(crate) fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }
}

impl Tally {
    pub(crate) fn closed(&self, why: Closed) {
        let count = match why {
            Closed::ByUs { flushed: true } => &self.closed_by_us,
            Closed::ByUs { flushed: false } => &self.closed_unflushed,
            Closed::ByPeer => &self.closed_by_peer,
            Closed::Error => &self.closed_error,
            Closed::Tls => &self.closed_tls,
            Closed::InputLimit => &self.closed_input_limit,
            Closed::OutputLimit => &self.closed_output_limit,
            Closed::HandshakeTimeout => &self.closed_handshake_timeout,
            Closed::Stopping => &self.closed_stopping,
            Closed::Panicked => &self.closed_panicked,
        };
        count.add(1);
    }
}
