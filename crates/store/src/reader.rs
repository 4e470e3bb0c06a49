//! The reader threads: each takes queued reads and answers them from one snapshot.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use chat::StoreError;
use rusqlite::Connection;

use crate::fault::{Fault, Outcome};
use crate::sqlite::Shared;
use crate::writer::{CALM, release_pages};

/// A queued read.
pub(crate) trait Read: Send {
    fn perform(&mut self, db: &Connection) -> Outcome<()>;
    /// Called once, without an open transaction. Returns a read that must run next, in a newer snapshot.
    fn complete(self: Box<Self>, outcome: Result<(), StoreError>) -> Option<Box<dyn Read>>;
}

/// A read made of an operation and its completion.
pub(crate) fn read<T, O, D>(operation: O, then: D) -> Box<dyn Read>
where
    T: Send + 'static,
    O: FnMut(&Connection) -> Outcome<T> + Send + 'static,
    D: FnOnce(Result<T, StoreError>) -> Option<Box<dyn Read>> + Send + 'static,
{
    Box::new(Pending { operation, answer: None, then })
}

struct Pending<T, O, D> {
    operation: O,
    answer: Option<T>,
    then: D,
}

impl<T, O, D> Read for Pending<T, O, D>
where
    T: Send,
    O: FnMut(&Connection) -> Outcome<T> + Send,
    D: FnOnce(Result<T, StoreError>) -> Option<Box<dyn Read>> + Send,
{
    fn perform(&mut self, db: &Connection) -> Outcome<()> {
        self.answer = Some((self.operation)(db)?);
        Ok(())
    }

    fn complete(self: Box<Self>, outcome: Result<(), StoreError>) -> Option<Box<dyn Read>> {
        let Pending { answer, then, .. } = *self;
        then(outcome.map(|()| answer.expect("Ok comes only after perform has set the answer")))
    }
}

/// Most reads in one snapshot: SQLite cannot reset the log while an old snapshot is open.
const BATCH: usize = 64;

/// After this time the finished reads are answered first, so that reads from memory do not wait for reads from disk in
/// the same batch.
const SLICE: Duration = Duration::from_millis(2);

/// Runs until the queue is closed and empty.
pub(crate) fn run(shared: &Shared, db: &Connection) {
    let mut jobs = Vec::with_capacity(BATCH);
    loop {
        if !shared.reads.comes_within(CALM) {
            release_pages(db);
        }
        if !shared.reads.take(&mut jobs, BATCH) {
            return;
        }
        while !jobs.is_empty() {
            let outcomes = perform_some(db, &mut jobs);
            shared.counters.reads.fetch_add(outcomes.len() as u64, Relaxed);
            let done: Vec<_> = jobs.drain(..outcomes.len()).collect();
            for (job, outcome) in done.into_iter().zip(outcomes) {
                jobs.extend(complete(shared, job, outcome));
            }
        }
    }
}

/// Performs at least one job, and returns the outcomes of the finished ones.
pub(crate) fn perform_some(db: &Connection, jobs: &mut [Box<dyn Read>]) -> Vec<Result<(), StoreError>> {
    let begin = Instant::now();
    let begun = db.prepare_cached("BEGIN").and_then(|mut begin| begin.execute([]));
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        outcomes.push(match &begun {
            Ok(_) => job.perform(db).map_err(|fault: Fault| fault.to_store_error()),
            Err(error) => Err(StoreError::Failed(error.to_string().into())),
        });
        if begin.elapsed() > SLICE {
            break;
        }
    }
    if let Err(error) = db.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([])) {
        tracing::error!(%error, "cannot end a read transaction");
    }
    outcomes
}

fn complete(shared: &Shared, job: Box<dyn Read>, outcome: Result<(), StoreError>) -> Option<Box<dyn Read>> {
    if let Err(error) = &outcome {
        shared.counters.failed.fetch_add(1, Relaxed);
        tracing::error!(%error, "a read failed");
    }
    catch_unwind(AssertUnwindSafe(|| job.complete(outcome))).unwrap_or_else(|_| {
        shared.counters.panics.fetch_add(1, Relaxed);
        None
    })
}
