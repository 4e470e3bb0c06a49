//! The settings of the store.

use std::num::NonZeroU32;
use std::time::Duration;

/// Settings of a [`Sqlite`](crate::Sqlite) store. The default suits a small machine with many sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    pub synchronous: Synchronous,
    /// Reader threads.
    pub readers: usize,
    /// Most requests that wait in each of the two queues; further requests fail with `Overloaded`.
    pub queue: usize,
    /// Most bytes of message bodies that wait to be written; further writes fail with `Overloaded`.
    pub queue_bytes: usize,
    /// Most requests in one transaction. Bounds how long the first request of a batch waits for the last.
    pub batch: usize,
    /// Least time between the beginnings of two commits, if a wait brings more requests. This saves flushes, at the price
    /// of that much latency.
    pub interval: Duration,
    /// How long the writer also waits after a large batch.
    pub gather: Duration,
    /// As `gather`, for writes that no client waits for: new users, and users who leave.
    pub gather_patient: Duration,
    /// SQLite's page cache of the writer, KiB.
    pub writer_cache_kib: u32,
    /// SQLite's page cache of each reader, KiB. Small, because the system's file cache holds the same pages.
    pub reader_cache_kib: u32,
    /// Pages of 4 KiB in the write-ahead log after which SQLite copies it into the database.
    pub checkpoint_pages: u32,
    /// Most pages of 4 KiB that the database may have; further writes fail as with a full disk. None: no limit.
    pub max_pages: Option<NonZeroU32>,
    /// How long to wait for another process that writes to the same database, ms.
    pub busy_ms: u32,
    /// Contact lists with at least so many entries are packed into one row for logins. Shorter ones cost little without it.
    pub pack_from: usize,
    /// Whether to migrate an older schema. If false, an older schema is refused, because another process may use it.
    pub migrate: bool,
}

/// The point that a commit waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// The data is on disk: an acknowledged message survives a power cut.
    Full,
    /// The operating system has the data: an acknowledged message survives a crash of the process, but not a power cut.
    Normal,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            synchronous: Synchronous::Full,
            readers: 4,
            queue: 65_536,
            queue_bytes: 32 << 20,
            batch: 2_048,
            interval: Duration::from_millis(2),
            gather: Duration::from_micros(500),
            gather_patient: Duration::from_millis(5),
            writer_cache_kib: 1_024,
            reader_cache_kib: 256,
            checkpoint_pages: 2_000,
            max_pages: None,
            busy_ms: 10_000,
            pack_from: 8,
            migrate: true,
        }
    }
}
