//! Counters for metrics.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Load and errors of the store. Totals count from its opening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests that are queued now.
    pub write_queue: u64,
    pub read_queue: u64,
    /// Completed writes, and the number of their transactions.
    pub writes: u64,
    pub commits: u64,
    pub largest_batch: u64,
    /// Time in transactions, including the wait for the disk, ns.
    pub commit_nanos: u64,
    pub reads: u64,
    /// Requests refused because a queue was full.
    pub overloaded: u64,
    /// Writes refused because the disk was full.
    pub disk_full: u64,
    /// Requests that failed for another reason.
    pub failed: u64,
    /// Completions that panicked: a bug.
    pub panics: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) writes: AtomicU64,
    pub(crate) commits: AtomicU64,
    pub(crate) largest_batch: AtomicU64,
    pub(crate) commit_nanos: AtomicU64,
    pub(crate) reads: AtomicU64,
    pub(crate) overloaded: AtomicU64,
    pub(crate) disk_full: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) panics: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, batch: usize, took: Duration) {
        self.writes.fetch_add(batch as u64, Relaxed);
        self.commits.fetch_add(1, Relaxed);
        self.largest_batch.fetch_max(batch as u64, Relaxed);
        self.commit_nanos.fetch_add(took.as_nanos() as u64, Relaxed);
    }

    pub(crate) fn read(&self, write_queue: usize, read_queue: usize) -> Stats {
        Stats {
            write_queue: write_queue as u64,
            read_queue: read_queue as u64,
            writes: self.writes.load(Relaxed),
            commits: self.commits.load(Relaxed),
            largest_batch: self.largest_batch.load(Relaxed),
            commit_nanos: self.commit_nanos.load(Relaxed),
            reads: self.reads.load(Relaxed),
            overloaded: self.overloaded.load(Relaxed),
            disk_full: self.disk_full.load(Relaxed),
            failed: self.failed.load(Relaxed),
            panics: self.panics.load(Relaxed),
        }
    }
}
