//! The reader threads: each takes queued reads and answers them from one snapshot.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use crate::engine::Connection;
use chat::StoreError;

use crate::fault::{Fault, Outcome};
use crate::late::{Scope, Settled, Snapshot};
use crate::meta;
use crate::sqlite::Shared;
use crate::writer::{After, Batch, CALM, Write, release_pages};

/// A queued read.
pub(crate) trait Read: Send {
    /// The rows that must not be late. Cheap: it is called some times.
    fn scope(&self) -> Scope;
    fn perform(&mut self, db: &Settled<'_>) -> Outcome<()>;
    /// Called once, without an open transaction. Returns a read that must run next, in a newer snapshot.
    fn complete(self: Box<Self>, outcome: Result<(), StoreError>) -> Option<Box<dyn Read>>;
}

/// A read made of an operation and its completion.
pub(crate) fn read<T, O, D>(scope: Scope, operation: O, then: D) -> Box<dyn Read>
where
    T: Send + 'static,
    O: FnMut(&Settled<'_>) -> Outcome<T> + Send + 'static,
    D: FnOnce(Result<T, StoreError>) -> Option<Box<dyn Read>> + Send + 'static,
{
    Box::new(Pending { scope, operation, answer: None, then })
}

struct Pending<T, O, D> {
    scope: Scope,
    operation: O,
    answer: Option<T>,
    then: D,
}

impl<T, O, D> Read for Pending<T, O, D>
where
    T: Send,
    O: FnMut(&Settled<'_>) -> Outcome<T> + Send,
    D: FnOnce(Result<T, StoreError>) -> Option<Box<dyn Read>> + Send,
{
    fn scope(&self) -> Scope {
        self.scope.clone()
    }

    fn perform(&mut self, db: &Settled<'_>) -> Outcome<()> {
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

/// Outcome of a job.
pub(crate) enum Performed {
    Ended(Result<(), StoreError>),
    /// The snapshot lacks rows, which the writer must write first.
    Lacking,
}

/// Runs until the queue is closed and empty. `number`: of this reader.
pub(crate) fn run(shared: &Arc<Shared>, db: &Connection, number: usize) {
    let mut jobs = Vec::with_capacity(BATCH);
    loop {
        if !shared.reads.comes_within(CALM) {
            release_pages(db);
        }
        if !shared.reads.take(&mut jobs, BATCH) {
            return;
        }
        while !jobs.is_empty() {
            let performed = perform_some(db, &mut jobs, shared.late.snapshot(number));
            shared.counters.reads.fetch_add(performed.len() as u64, Relaxed);
            let done: Vec<_> = jobs.drain(..performed.len()).collect();
            for (job, performed) in done.into_iter().zip(performed) {
                match performed {
                    Performed::Ended(outcome) => jobs.extend(complete(shared, job, outcome)),
                    Performed::Lacking => settle_before(shared, job),
                }
            }
        }
    }
}

/// Performs at least one job, and returns the outcomes of the finished ones.
pub(crate) fn perform_some(
    db: &Connection,
    jobs: &mut [Box<dyn Read>],
    mut snapshot: Snapshot<'_>,
) -> Vec<Performed> {
    let begin = Instant::now();
    let begun = db.begin_read();
    let position = match jobs.iter().any(|job| job.scope() != Scope::Nothing) {
        true => meta::position(db, 0).map(|position| snapshot.is_of(position.number)),
        false => Ok(()),
    };
    let failed = begun.map_err(Fault::Sql).and(position).err();
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        outcomes.push(match &failed {
            Some(fault) => Performed::Ended(Err(fault.to_store_error())),
            None if snapshot.lacks(&job.scope()) => Performed::Lacking,
            None => {
                let outcome = job.perform(&Settled::trust(db));
                Performed::Ended(outcome.map_err(|fault: Fault| fault.to_store_error()))
            }
        });
        if begin.elapsed() > SLICE {
            break;
        }
    }
    if let Err(error) = db.commit() {
        tracing::error!(%error, "cannot end a read transaction");
    }
    outcomes
}

/// Has the writer write the rows of the read, which follows in a newer snapshot.
pub(crate) fn settle_before(shared: &Arc<Shared>, read: Box<dyn Read>) {
    shared.late.note_read(&read.scope());
    shared.write(Box::new(Settling { read, is_done: false }), 0);
}

struct Settling {
    read: Box<dyn Read>,
    /// The writer has read, too.
    is_done: bool,
}

impl Write for Settling {
    fn apply(&mut self, batch: &mut Batch<'_>) -> Outcome<()> {
        batch.settle(&self.read.scope()).map(drop)
    }

    /// On a full disk, reads go on.
    fn rescue(&mut self, batch: &mut Batch<'_>) -> bool {
        self.is_done = batch.read_alone(&self.read.scope(), |db| self.read.perform(db));
        self.is_done
    }

    fn complete(self: Box<Self>, outcome: Result<(), StoreError>, after: &After<'_>) {
        let next = match outcome {
            Ok(()) if !self.is_done => Some(self.read),
            outcome => self.read.complete(outcome),
        };
        if let Some(next) = next {
            after.shared.read(next);
        }
    }
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
