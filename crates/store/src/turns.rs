//! The store in memory and without threads. Requests run in the caller's thread, at once or when a test chooses.
//!
//! Statements, transactions and the writer's state are those of the store on disk. Only the two loops of `writer.rs`
//! and `reader.rs` are not used.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use chat::{Position, Slot, StoreError};
use rusqlite::OpenFlags;
use rusqlite::backup::Backup;

use crate::dialect;
use crate::engine::Connection;
use crate::late::Late;
use crate::open::connect;
use crate::reader::{self, Performed, Read};
use crate::sqlite::{Shared, Sqlite};
use crate::writer::{self, After, Batch, State, Write};
use crate::{Options, migrate};

/// The requests of a store without threads.
///
/// No lock is held while a completion runs.
pub(crate) struct Turns {
    inner: Mutex<Inner>,
    is_at_once: bool,
}

struct Inner {
    writer: Connection,
    reader: Connection,
    state: State,
    /// Queued writes.
    writes: VecDeque<Box<dyn Write>>,
    reads: VecDeque<Box<dyn Read>>,
    /// Committed writes whose completion was not called yet.
    committed: VecDeque<(Box<dyn Write>, Option<StoreError>, Position)>,
    answers: VecDeque<(Box<dyn Read>, Result<(), StoreError>)>,
    failing_writes: Option<StoreError>,
    failing_reads: Option<StoreError>,
    is_running: bool,
}

/// A possible next step of a store by turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Commit,
    CompleteWrite,
    Read(usize),
    CompleteRead(usize),
}

/// An outcome whose completion is called without the lock.
enum Outcome {
    Write(Box<dyn Write>, Option<StoreError>, Position),
    Read(Box<dyn Read>, Result<(), StoreError>),
    Lacking(Box<dyn Read>),
}

/// The methods for tests. On a store with threads they do nothing.
impl Sqlite {
    /// In memory, without threads. All effects of a call, with further calls in completions, have happened when it
    /// returns, as seen from one thread.
    pub fn in_memory() -> Sqlite {
        Sqlite::without_threads(true)
    }

    /// In memory, without threads. Does nothing before [`turn`](Self::turn), so that a test can choose every
    /// interleaving that is possible with threads. Writes are committed and completed in order; reads run and complete
    /// in any order.
    pub fn by_turns() -> Sqlite {
        Sqlite::without_threads(false)
    }

    /// The number of possible next steps; 0 if nothing is queued.
    pub fn turns(&self) -> usize {
        self.by_turns_or(0, |turns, _| turns.lock().turns().count())
    }

    /// Whether nothing is queued and no completion runs, on any thread.
    pub fn is_idle(&self) -> bool {
        self.by_turns_or(true, |turns, _| {
            let inner = turns.lock();
            !inner.is_running && inner.turns().next().is_none()
        })
    }

    /// Does one step, `which` < [`turns`](Self::turns): runs a queued request, or calls a completion. Completions have
    /// the lowest numbers.
    pub fn turn(&self, which: usize) {
        self.by_turns_or((), |turns, shared| {
            let turn = turns.lock().turns().nth(which);
            turn.into_iter().for_each(|turn| turns.take(turn, shared));
        });
    }

    /// Runs everything that is queued, and all that follows from it, oldest first.
    pub fn run(&self) {
        while self.turns() > 0 {
            self.turn(0);
        }
        self.by_turns_or((), |turns, shared| turns.lock().index_words(&shared.late));
    }

    /// Simulates a killed process: queued requests do not run, and completions of committed writes are not called.
    pub fn crash(&self) {
        self.shared.packing.forget();
        self.by_turns_or((), |turns, _| {
            let mut inner = turns.lock();
            let Inner { writes, reads, committed, answers, state, .. } = &mut *inner;
            let forgotten = (mem::take(writes), mem::take(reads), mem::take(committed), mem::take(answers));
            *state = State::new();
            // A completion may hold the last reference to a node, so drop none under the lock.
            drop(inner);
            drop(forgotten);
        });
    }

    /// Further sites are those of a slot.
    pub fn number_sites_in(&self, slot: Slot) -> Result<(), StoreError> {
        let next = i64::from(slot.0) << 24 | 1;
        let sql = sql!("UPDATE meta SET value = $1 WHERE name = 'next_site'");
        self.admin(|db| Ok(db.execute(sql, [next]).map(|_| ())?))
    }

    /// Removes the packed contact lists, and returns their number. The next reads are of the rows.
    pub fn unpack_lists(&self) -> Result<usize, StoreError> {
        self.admin(|db| Ok(db.execute("DELETE FROM contact_list", [])?))
    }

    /// From now on every write fails with this error, and reads succeed, as with a full disk. None ends this.
    pub fn fail_writes(&self, with: Option<StoreError>) {
        self.by_turns_or((), |turns, _| turns.lock().failing_writes = with);
    }

    /// From now on every read fails with this error. None ends this.
    pub fn fail_reads(&self, with: Option<StoreError>) {
        self.by_turns_or((), |turns, _| turns.lock().failing_reads = with);
    }

    /// Moves the client ids of all messages into their index, as a node does after some thousand messages.
    pub fn index_client_ids(&self) -> Result<(), StoreError> {
        self.by_turns_or(Ok(()), |turns, _| {
            let mut inner = turns.lock();
            let Inner { writer, state, .. } = &mut *inner;
            Batch { db: writer, late: &self.shared.late, state }
                .index_client_ids()
                .map_err(|fault| fault.to_store_error())
        })
    }

    fn by_turns_or<T>(&self, otherwise: T, does: impl FnOnce(&Turns, &Arc<Shared>) -> T) -> T {
        match &self.shared.turns {
            Some(turns) => does(turns, &self.shared),
            None => otherwise,
        }
    }

    #[allow(
        clippy::expect_used,
        reason = "a database in memory has no file that could be missing or foreign"
    )]
    fn without_threads(is_at_once: bool) -> Sqlite {
        let [writer, reader, admin] = connections().expect("SQLite opens databases in memory");
        let inner = Inner {
            writer,
            reader,
            state: State::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            committed: VecDeque::new(),
            answers: VecDeque::new(),
            failing_writes: None,
            failing_reads: None,
            is_running: false,
        };
        Sqlite::of(Turns { inner: Mutex::new(inner), is_at_once }, admin)
    }
}

/// Three connections to one new database in memory.
fn connections() -> rusqlite::Result<[Connection; 3]> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static TEMPLATE: OnceLock<Mutex<rusqlite::Connection>> = OnceLock::new();
    let name = format!("file:/kith-{}?vfs=memdb", NEXT.fetch_add(1, Relaxed));
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI;
    let open = || connect(name.as_ref(), flags, &Options::default());
    let mut writer = open()?;
    // Copying an empty database takes a tenth of the time of all migrations.
    if TEMPLATE.get().is_none() {
        let mut template = rusqlite::Connection::open_in_memory()?;
        migrate::migrate(&mut template, 1)?;
        let _ = TEMPLATE.set(Mutex::new(template));
    }
    if let Some(template) = TEMPLATE.get() {
        let template = template.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Backup::new(&template, &mut writer)?.run_to_completion(1_024, Duration::ZERO, None)?;
    }
    let [reader, admin] = [open()?, open()?];
    dialect::set(&reader, "query_only", true)?;
    Ok([writer.into(), reader.into(), admin.into()])
}

impl Turns {
    pub(crate) fn write(&self, job: Box<dyn Write>, shared: &Arc<Shared>) {
        self.lock().writes.push_back(job);
        self.work(shared);
    }

    pub(crate) fn read(&self, job: Box<dyn Read>, shared: &Arc<Shared>) {
        self.lock().reads.push_back(job);
        self.work(shared);
    }

    /// In the immediate mode, the first caller does everything that is queued. So completions are called in order, even
    /// if they call back or several threads call.
    fn work(&self, shared: &Arc<Shared>) {
        if !self.is_at_once || mem::replace(&mut self.lock().is_running, true) {
            return;
        }
        loop {
            let mut inner = self.lock();
            let Some(turn) = inner.turns().next() else {
                inner.index_words(&shared.late);
                inner.is_running = false;
                return;
            };
            drop(inner);
            self.take(turn, shared);
        }
    }

    fn take(&self, turn: Turn, shared: &Arc<Shared>) {
        let outcome = self.lock().carry_out(turn, &shared.late);
        match outcome {
            None => {}
            Some(Outcome::Write(job, error, committed)) => {
                job.complete(error.map_or(Ok(()), Err), &After { committed, shared });
            }
            Some(Outcome::Read(job, outcome)) => {
                let next = job.complete(outcome);
                self.lock().reads.extend(next);
            }
            Some(Outcome::Lacking(read)) => reader::settle_before(shared, read),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Inner {
    /// Completions come before queued requests, so repeating turn 0 acts like a store without delay.
    fn turns(&self) -> impl Iterator<Item = Turn> + use<> {
        let complete = (!self.committed.is_empty()).then_some(Turn::CompleteWrite);
        let commit = (!self.writes.is_empty()).then_some(Turn::Commit);
        let answers = (0..self.answers.len()).map(Turn::CompleteRead);
        let reads = (0..self.reads.len()).map(Turn::Read);
        complete.into_iter().chain(answers).chain(commit).chain(reads)
    }

    /// `scripts/instructions.sh` excludes this function, by name, from its counts.
    #[inline(never)]
    fn carry_out(&mut self, turn: Turn, late: &Late) -> Option<Outcome> {
        match turn {
            Turn::Commit => {
                let mut job = [self.writes.pop_front()?];
                let mut batch = Batch { db: &self.writer, late, state: &mut self.state };
                let mut refused = match &self.failing_writes {
                    None => writer::commit(&mut batch, &mut job),
                    Some(error) => {
                        let [job] = &mut job;
                        vec![(!job.rescue(&mut batch)).then(|| error.clone())]
                    }
                };
                let [job] = job;
                self.committed.push_back((job, refused.remove(0), batch.position()));
                None
            }
            Turn::Read(at) => {
                let mut job = [self.reads.remove(at)?];
                let performed = match &self.failing_reads {
                    None => reader::perform_some(&self.reader, &mut job, late.snapshot(0)).remove(0),
                    Some(error) => Performed::Ended(Err(error.clone())),
                };
                let [job] = job;
                match performed {
                    Performed::Ended(outcome) => self.answers.push_back((job, outcome)),
                    Performed::Lacking => return Some(Outcome::Lacking(job)),
                }
                None
            }
            Turn::CompleteWrite => {
                let (job, error, committed) = self.committed.pop_front()?;
                Some(Outcome::Write(job, error, committed))
            }
            Turn::CompleteRead(at) => {
                let (job, outcome) = self.answers.remove(at)?;
                Some(Outcome::Read(job, outcome))
            }
        }
    }

    /// Indexes words, as the writer does when it is idle. `scripts/instructions.sh` excludes this function, too.
    #[inline(never)]
    fn index_words(&mut self, late: &Late) {
        let mut batch = Batch { db: &self.writer, late, state: &mut self.state };
        while batch.pause().is_some() && batch.index(Duration::MAX) {}
    }
}
