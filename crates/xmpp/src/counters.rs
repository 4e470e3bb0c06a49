//! The gateway's counters, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Shared by all workers.
#[derive(Debug, Default)]
pub struct Counters {
    /// Living sessions.
    pub sessions: Counter,
    pub stanzas_in: Counter,
    pub stanzas_out: Counter,
    /// Sign-ins that failed for a wrong password or token.
    pub authentication_failures: Counter,
    /// Streams that this server ended with an error.
    pub stream_errors: Counter,
    /// Streams that ended because the client read too slowly.
    pub too_slow: Counter,
}

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn take(&self, count: u64) {
        self.0.fetch_sub(count, Ordering::Relaxed);
    }
}
