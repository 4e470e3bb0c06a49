//! The one writer thread: group commit.
//!
//! While a transaction waits for the disk, requests queue up and form the next one. `pace.rs` decides when the next one
//! begins.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use crate::engine::Connection;
use chat::{ConversationId, Position, Relation, SiteId, StoreError, Timestamp, UserId};

use crate::contact;
use crate::conversation::{self, Direct, Side};
use crate::counter::{self, Counted};
use crate::dialect;
use crate::fault::{Fault, Outcome};
use crate::late::{Late, Scope, Settled};
use crate::message;
use crate::meta;
use crate::pace::Pace;
use crate::read_ahead::ReadAhead;
use crate::room::known_members::KnownMembers;
use crate::search::{self, Indexed};
use crate::sent::Sent;
use crate::sqlite::Shared;
use crate::user;

/// A queued write.
pub(crate) trait Write: Send {
    /// Keeps its input, because it may be called again after a rollback.
    fn apply(&mut self, batch: &mut Batch<'_>) -> Outcome<()>;
    /// The conversation of a message between two members, if this writes nothing besides. The batch [reads it ahead](ReadAhead).
    fn appends_to(&self) -> Option<ConversationId> {
        None
    }
    /// Called if the commit failed, without an open transaction. True if the job could be done without it.
    fn rescue(&mut self, _batch: &mut Batch<'_>) -> bool {
        false
    }
    /// Called once: with `Ok` after the commit if `apply` succeeded last, else with the reason why nothing was stored.
    fn complete(self: Box<Self>, outcome: Result<(), StoreError>, after: &After<'_>);
}

/// Data of the transaction for a completion.
pub(crate) struct After<'a> {
    pub(crate) committed: Position,
    pub(crate) shared: &'a Arc<Shared>,
}

/// A write made of an operation and its completion.
pub(crate) fn write<T, O, D>(operation: O, then: D) -> Box<dyn Write>
where
    T: Send + 'static,
    O: FnMut(&mut Batch<'_>) -> Outcome<T> + Send + 'static,
    D: FnOnce(Result<T, StoreError>, &After<'_>) + Send + 'static,
{
    Box::new(Pending { appends_to: None, operation, answer: None, then })
}

/// As [`write`], for an operation that does nothing but append a message to this conversation.
pub(crate) fn append<T, O, D>(to: ConversationId, operation: O, then: D) -> Box<dyn Write>
where
    T: Send + 'static,
    O: FnMut(&mut Batch<'_>) -> Outcome<T> + Send + 'static,
    D: FnOnce(Result<T, StoreError>, &After<'_>) + Send + 'static,
{
    Box::new(Pending { appends_to: Some(to), operation, answer: None, then })
}

struct Pending<T, O, D> {
    appends_to: Option<ConversationId>,
    operation: O,
    answer: Option<T>,
    then: D,
}

impl<T, O, D> Write for Pending<T, O, D>
where
    T: Send,
    O: FnMut(&mut Batch<'_>) -> Outcome<T> + Send,
    D: FnOnce(Result<T, StoreError>, &After<'_>) + Send,
{
    fn apply(&mut self, batch: &mut Batch<'_>) -> Outcome<()> {
        self.answer = Some((self.operation)(batch)?);
        Ok(())
    }

    fn appends_to(&self) -> Option<ConversationId> {
        self.appends_to
    }

    fn complete(self: Box<Self>, outcome: Result<(), StoreError>, after: &After<'_>) {
        let Pending { answer, then, .. } = *self;
        then(outcome.map(|()| answer.expect("Ok comes only after apply has set the answer")), after);
    }
}

/// Runs until the queue is closed and empty.
pub(crate) fn run(shared: &Arc<Shared>, db: &Connection) {
    let mut state = State::new();
    state.sent.allocate();
    let mut batch = Batch { db, late: &shared.late, state: &mut state };
    let mut jobs = Vec::new();
    let mut is_busy = false;
    let mut pace = Pace::default();
    let mut swept = Instant::now();
    let mut commits = 0_u32;
    batch.index(search::IDLE); // rows that the last writer left unindexed
    loop {
        if is_busy {
            thread::sleep(shared.options.gather);
            shared.writes.gather(shared.options.gather_patient, shared.options.batch);
        }
        while batch.pause().is_some_and(|pause| !shared.writes.comes_within(pause))
            && batch.index(search::IDLE)
        {}
        if !shared.writes.comes_within(CALM) {
            batch.settle_all();
            batch.forget();
            release_pages(db);
        }
        let wait = pace.wait(shared.options.interval, Instant::now());
        if !wait.is_zero() {
            thread::sleep(wait);
        }
        if !shared.writes.take(&mut jobs, shared.options.batch) {
            batch.settle_all();
            return;
        }
        let begin = Instant::now();
        pace.began(jobs.len(), begin);
        if begin.duration_since(swept) > LATEST {
            swept = begin;
            batch.state.sweeps = true;
        }
        commits = commits.wrapping_add(1);
        if commits.is_multiple_of(COMMITS_OF_A_READ) {
            shared.late.age();
        }
        let refused = commit(&mut batch, &mut jobs);
        let took = begin.elapsed();
        is_busy = jobs.len() > FEW;
        shared.counters.committed(jobs.len(), took);
        batch.empty_log();
        complete_all(shared, batch.position(), jobs.drain(..).zip(refused));
        if batch.state.indexed.is_due(batch.state.committed, Instant::now()) {
            batch.index(search::BUSY);
        }
        if jobs.capacity() > shared.options.batch.min(1_024) {
            jobs = Vec::new();
        }
    }
}

/// After a larger batch the writer also waits for requests that its completions bring about.
const FEW: usize = 8;

/// A row is written at the latest in the sweep after this time.
const LATEST: Duration = Duration::from_secs(30);

/// A conversation that was read is written with each of its messages for one to two times as many commits.
const COMMITS_OF_A_READ: u32 = 128;

/// After this time without work a thread of the store frees its caches; the system's file cache has the same data.
pub(crate) const CALM: Duration = Duration::from_secs(5);

/// Frees SQLite's page cache of a connection.
pub(crate) fn release_pages(db: &Connection) {
    if let Connection::Sqlite(db) = db
        && let Err(error) = db.execute_batch(dialect::SHRINK_MEMORY)
    {
        tracing::warn!(%error, "cannot shrink the page cache");
    }
}

fn complete_all(
    shared: &Arc<Shared>,
    committed: Position,
    jobs: impl Iterator<Item = (Box<dyn Write>, Option<StoreError>)>,
) {
    let after = After { committed, shared };
    for (job, error) in jobs {
        match &error {
            None => {}
            Some(StoreError::DiskFull) => _ = shared.counters.disk_full.fetch_add(1, Relaxed),
            Some(_) => _ = shared.counters.failed.fetch_add(1, Relaxed),
        }
        let outcome = error.map_or(Ok(()), Err);
        // A bug in one completion must not end the only writer.
        if catch_unwind(AssertUnwindSafe(|| job.complete(outcome, &after))).is_err() {
            shared.counters.panics.fetch_add(1, Relaxed);
        }
    }
}

/// Returns for each job the reason why it was not stored, or None.
///
/// If a job fails, the others are repeated without it, so that it cannot fail its neighbours.
pub(crate) fn commit(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Write>]) -> Vec<Option<StoreError>> {
    let mut refused = attempts(batch, jobs);
    for (job, why) in jobs.iter_mut().zip(&mut refused) {
        if why.is_some() && job.rescue(batch) {
            *why = None;
        }
    }
    refused
}

fn attempts(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Write>]) -> Vec<Option<StoreError>> {
    let refused = attempts_until_known(batch, jobs);
    batch.db.set_pipelining(true);
    refused
}

fn attempts_until_known(batch: &mut Batch<'_>, jobs: &mut [Box<dyn Write>]) -> Vec<Option<StoreError>> {
    let mut refused = vec![None; jobs.len()];
    let mut may_repeat = true;
    loop {
        match attempt(batch, jobs, &mut refused) {
            Ok(()) => return refused,
            // PostgreSQL has restarted, or another server has taken over. Nothing of the attempt is stored.
            Err(Undone::All(fault)) if may_repeat && fault.is_away() => {
                tracing::warn!(?fault, jobs = jobs.len(), "repeating a commit");
                batch.abandon();
                may_repeat = false;
            }
            // The error of a write that was sent ahead comes later, so it is not known whose it is.
            Err(Undone::All(fault) | Undone::Job(_, fault))
                if !fault.concerns_all() && batch.db.set_pipelining(false) =>
            {
                batch.abandon();
            }
            Err(Undone::Job(job, fault)) => {
                tracing::error!(?fault, "a write failed");
                batch.abandon();
                refused[job] = Some(fault.to_store_error());
            }
            Err(Undone::All(fault)) => {
                tracing::error!(?fault, jobs = jobs.len(), "cannot write to the database");
                batch.abandon();
                let error = fault.to_store_error();
                refused.iter_mut().for_each(|why| _ = why.get_or_insert_with(|| error.clone()));
                return refused;
            }
        }
    }
}

/// Brings the rows of conversations up to the log, at the start.
pub(crate) fn catch_up(db: &Connection, late: &Late) -> Outcome<()> {
    let mut state = State::new();
    let mut batch = Batch { db, late, state: &mut state };
    batch.settle_every_row()
}

/// The side that ended a transaction.
enum Undone {
    Job(usize, Fault),
    All(Fault),
}

fn attempt(
    batch: &mut Batch<'_>,
    jobs: &mut [Box<dyn Write>],
    refused: &mut [Option<StoreError>],
) -> Result<(), Undone> {
    batch.begin().map_err(Undone::All)?;
    let appends = jobs.iter().zip(&*refused).filter(|(_, refused)| refused.is_none());
    batch.read_ahead(appends.filter_map(|(job, _)| job.appends_to())).map_err(Undone::All)?;
    for (at, job) in jobs.iter_mut().enumerate() {
        if refused[at].is_some() {
            continue;
        }
        if job.appends_to().is_none() {
            batch.state.ahead.may_be_outdated();
        }
        match job.apply(batch) {
            Ok(()) => {}
            Err(fault @ Fault::Invalid(_)) => refused[at] = Some(fault.to_store_error()),
            Err(fault) if fault.concerns_all() => return Err(Undone::All(fault)),
            Err(fault) => return Err(Undone::Job(at, fault)),
        }
    }
    batch.finish(jobs.len()).map_err(Undone::All)
}

/// The open transaction, and the writer's state between transactions.
pub(crate) struct Batch<'c> {
    pub(crate) db: &'c Connection,
    pub(crate) late: &'c Late,
    pub(crate) state: &'c mut State,
}

/// The writer's state between transactions.
///
/// Reading and writing the row of a conversation would be half of the cost of an append. So rows that only got new
/// messages are written later (`late.rs`), and others once per batch and kept for the next batch.
pub(crate) struct State {
    epoch: u32,
    /// The last position given out. `committed`: the last one committed.
    number: u64,
    committed: u64,
    /// The position that `meta` names. A newer message in the log names its own.
    named: u64,
    /// The position of the newest message if the log surely has it.
    logged: u64,
    /// See [`meta::data_version`]. None: the cached state may be wrong.
    version: Option<i64>,
    conversations: HashMap<ConversationId, Kept>,
    /// The older generation of conversations; those that are used again move back.
    older: HashMap<ConversationId, Kept>,
    dirty: Vec<ConversationId>,
    /// Rows that are newer than those in the database, by messages in the log alone.
    late: HashMap<ConversationId, Direct>,
    /// Those that this transaction has made late.
    newly_late: Vec<ConversationId>,
    /// Late rows that this transaction has written.
    settled: Vec<ConversationId>,
    /// Every message up to this position is in the rows of the database.
    viewed: u64,
    sweep: Option<Sweep>,
    /// A sweep is due.
    sweeps: bool,
    pub(crate) sent: Sent,
    pub(crate) members: KnownMembers,
    pub(crate) indexed: Indexed,
    /// The log still contains erased data: empty it after the commit.
    pub(crate) empties_log: bool,
    /// The greatest user number by site, if it was looked up.
    newest_users: HashMap<SiteId, u32>,
    ahead: ReadAhead,
}

struct Kept {
    direct: Direct,
    stored: bool,
    dirty: bool,
}

/// A pass over all late rows, in their order, some with each batch.
struct Sweep {
    /// The last position before the sweep.
    upto: u64,
    rows: Vec<ConversationId>,
    done: usize,
}

/// Conversations in each of the two generations, about 200 bytes each.
const KEPT: usize = 1_024;

/// Late rows that start a sweep, about 300 bytes each.
const MANY_LATE: usize = 8_192;

/// Most late rows.
const MOST_LATE: usize = 2 * MANY_LATE;

/// Positions that start a sweep. A start after a crash reads at most two to three times as many messages.
const WINDOW: u64 = 16_384;

/// Fewest rows that a sweep writes with one batch.
const SWEPT: usize = 32;

impl State {
    pub(crate) fn new() -> State {
        State {
            epoch: 0,
            number: 0,
            committed: 0,
            named: 0,
            logged: 0,
            version: None,
            conversations: HashMap::new(),
            older: HashMap::new(),
            dirty: Vec::new(),
            late: HashMap::new(),
            newly_late: Vec::new(),
            settled: Vec::new(),
            viewed: 0,
            sweep: None,
            sweeps: false,
            sent: Sent::new(),
            members: KnownMembers::default(),
            indexed: Indexed::default(),
            empties_log: false,
            newest_users: HashMap::new(),
            ahead: ReadAhead::default(),
        }
    }
}

impl<'c> Batch<'c> {
    /// Position of the newest change so far.
    pub(crate) fn position(&self) -> Position {
        Position { epoch: self.state.epoch, number: self.state.number }
    }

    /// The position of the next change.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.state.number += 1;
        self.state.number
    }

    /// The position of a new message, which its row in the log names. So the commit need not write it elsewhere.
    pub(crate) fn next_logged(&mut self) -> u64 {
        self.state.logged = self.next_number();
        self.state.logged
    }

    /// Call before messages are removed: the newest one may have named the position.
    pub(crate) fn name_position(&mut self) {
        self.state.logged = 0;
    }

    /// The number for a new user of a site. It is lost if no row is made.
    pub(crate) fn next_user(&mut self, site: SiteId) -> Outcome<u32> {
        let next = counter::next(self.db, site, Counted::User)? as u32;
        self.state.newest_users.insert(site, next);
        Ok(next)
    }

    /// Whether the user exists or existed. Users are removed only with their site, which another process may have
    /// removed a moment ago. So the number decides, and no user row is read.
    pub(crate) fn is_user(&mut self, id: UserId) -> Outcome<bool> {
        Ok(id.num <= self.newest_user(id.site)?)
    }

    fn newest_user(&mut self, site: SiteId) -> Outcome<u32> {
        if let Some(newest) = self.state.newest_users.get(&site) {
            return Ok(*newest);
        }
        if self.state.newest_users.len() >= KEPT {
            self.state.newest_users.clear();
        }
        let newest = user::newest(self.db, site)?;
        self.state.newest_users.insert(site, newest);
        Ok(newest)
    }

    /// Reads what these messages need. Call at the begin of a transaction.
    fn read_ahead(&mut self, conversations: impl Iterator<Item = ConversationId>) -> Outcome<()> {
        if !self.db.is_postgres() {
            return Ok(());
        }
        let State { late, conversations: kept, older, .. } = &*self.state;
        let is_here =
            |id: &ConversationId| late.contains_key(id) || kept.contains_key(id) || older.contains_key(id);
        let unknown = conversations.filter(|id| !is_here(id)).collect();
        let (found, ahead) = ReadAhead::read(self.db, unknown)?;
        let found = found.into_iter().map(|(id, direct)| (id, Kept { direct, stored: true, dirty: false }));
        self.state.conversations.extend(found);
        self.state.ahead = ahead;
        Ok(())
    }

    /// The relation of two members whose conversation has no row.
    pub(crate) fn relation(&self, id: ConversationId, of: UserId, to: UserId) -> Outcome<Relation> {
        match self.state.ahead.relation(id, of) {
            Some(relation) => Ok(relation),
            None => contact::relation(self.db, of, to),
        }
    }

    pub(crate) fn conversation(&mut self, id: ConversationId) -> Outcome<Option<&Direct>> {
        if self.state.late.contains_key(&id) {
            return Ok(self.state.late.get(&id));
        }
        if !self.state.conversations.contains_key(&id) {
            let kept = match self.state.older.remove(&id) {
                Some(kept) => kept,
                None if self.state.ahead.is_new(id) => return Ok(None),
                None => match conversation::load(&Settled::trust(self.db), id)? {
                    Some(direct) => Kept { direct, stored: true, dirty: false },
                    None => return Ok(None),
                },
            };
            self.state.conversations.insert(id, kept);
        }
        Ok(self.state.conversations.get(&id).map(|kept| &kept.direct))
    }

    /// Changes a conversation that [`conversation`](Self::conversation) has just returned.
    pub(crate) fn change(&mut self, id: ConversationId, change: impl FnOnce(&mut Direct)) {
        if let Some(direct) = self.state.late.remove(&id) {
            self.state.conversations.insert(id, Kept { direct, stored: true, dirty: false });
            self.state.settled.push(id);
        }
        if let Some(kept) = self.state.conversations.get_mut(&id) {
            change(&mut kept.direct);
            if !mem::replace(&mut kept.dirty, true) {
                self.state.dirty.push(id);
            }
        }
    }

    /// As [`change`](Self::change), for a change that [`message::note`] can repeat from the log. Creates the row if
    /// [`conversation`](Self::conversation) has just returned None.
    pub(crate) fn append(&mut self, id: ConversationId, change: impl FnOnce(&mut Direct)) {
        if let Some(direct) = self.state.late.get_mut(&id) {
            change(direct);
            return;
        }
        let may_wait = |kept: &Kept| kept.stored && !kept.dirty;
        if self.state.late.len() < MOST_LATE
            && self.state.conversations.get(&id).is_some_and(may_wait)
            && !self.late.is_read(id)
            && let Some(mut kept) = self.state.conversations.remove(&id)
        {
            change(&mut kept.direct);
            self.state.late.insert(id, kept.direct);
            self.state.newly_late.push(id);
            return;
        }
        self.upsert(id, change);
    }

    /// Changes a conversation, or creates the row if [`conversation`](Self::conversation) has just returned None.
    pub(crate) fn upsert(&mut self, id: ConversationId, change: impl FnOnce(&mut Direct)) {
        if !self.state.late.contains_key(&id) {
            self.state.conversations.entry(id).or_insert_with(|| Kept {
                direct: Direct {
                    seq: 0,
                    position: 0,
                    active: Timestamp(0),
                    sides: [Side::default(); 2],
                    asking: None,
                },
                stored: false,
                dirty: false,
            });
        }
        self.change(id, change);
    }

    /// Writes the late rows of a scope.
    pub(crate) fn settle(&mut self, scope: &Scope) -> Outcome<Settled<'c>> {
        let mut rows = self.late.of(scope);
        rows.extend(self.state.newly_late.iter().filter(|id| scope.has(**id)));
        rows.into_iter().try_for_each(|id| self.settle_one(id))?;
        Ok(Settled::trust(self.db))
    }

    /// Reads rows of a scope without writing them to the disk. Call without an open transaction.
    pub(crate) fn read_alone(
        &mut self,
        scope: &Scope,
        read: impl FnOnce(&Settled<'_>) -> Outcome<()>,
    ) -> bool {
        let read = self.begin().and_then(|()| read(&self.settle(scope)?));
        if let Err(fault) = &read {
            tracing::warn!(?fault, "cannot read rows that the writer could not write");
        }
        self.abandon();
        read.is_ok()
    }

    fn settle_one(&mut self, id: ConversationId) -> Outcome<()> {
        if let Some(direct) = self.state.late.remove(&id) {
            conversation::save(self.db, conversation::UPDATE, id, &direct)?;
            self.state.conversations.insert(id, Kept { direct, stored: true, dirty: false });
            self.state.settled.push(id);
        }
        Ok(())
    }

    /// Writes all late rows, in a transaction of its own. If that fails, they are made again from the log.
    pub(crate) fn settle_all(&mut self) {
        if self.state.late.is_empty() {
            return;
        }
        if let Err(fault) = self.settle_every_row() {
            tracing::warn!(?fault, "cannot write the rows of conversations");
            self.abandon();
        }
    }

    fn settle_every_row(&mut self) -> Outcome<()> {
        self.begin()?;
        self.settle(&Scope::All)?;
        (self.state.sweep, self.state.sweeps) = (None, false);
        self.state.viewed = self.state.number;
        meta::set_viewed(self.db, self.state.viewed)?;
        self.finish(0)
    }

    /// Starts a sweep if one is due, and writes its next rows.
    fn sweep(&mut self, jobs: usize) -> Outcome<()> {
        let state = &mut *self.state;
        let is_due = state.sweeps
            || state.late.len() >= MANY_LATE
            || state.committed.saturating_sub(state.viewed) >= WINDOW;
        if state.sweep.is_none() && is_due {
            let mut rows: Vec<ConversationId> = state.late.keys().copied().collect();
            rows.sort_unstable(); // neighbours share pages
            state.sweep = Some(Sweep { upto: state.committed, rows, done: 0 });
        }
        let Some(mut sweep) = state.sweep.take() else { return Ok(()) };
        let end = sweep.rows.len().min(sweep.done + SWEPT.max(2 * jobs));
        for id in &sweep.rows[sweep.done..end] {
            self.settle_one(*id)?;
        }
        sweep.done = end;
        if end < sweep.rows.len() {
            self.state.sweep = Some(sweep);
            return Ok(());
        }
        self.state.sweeps = false;
        self.state.viewed = sweep.upto;
        meta::set_viewed(self.db, sweep.upto)
    }

    /// Makes late rows again from the log.
    fn replay(&mut self) -> Outcome<()> {
        self.state.viewed = meta::viewed(self.db)?;
        let mut late = HashSet::new();
        for line in message::after(self.db, self.state.viewed)? {
            let id = line.conversation;
            if self.conversation(id)?.is_none_or(|direct| direct.position >= line.number) {
                continue;
            }
            if let Some(kept) = self.state.conversations.remove(&id) {
                self.state.late.insert(id, kept.direct);
            }
            if let Some(direct) = self.state.late.get_mut(&id) {
                message::note(direct, &line);
                late.insert(id);
            }
            if self.state.conversations.len() > KEPT {
                self.state.conversations.clear();
            }
        }
        self.late.restart(&late, self.state.committed);
        Ok(())
    }

    fn begin(&mut self) -> Outcome<()> {
        self.db.begin_write()?;
        let version = meta::data_version(self.db)?;
        if self.state.version != Some(version) {
            self.forget();
            self.state.epoch = meta::epoch(self.db)?;
            let known =
                mem::replace(&mut self.state.number, meta::position(self.db, self.state.epoch)?.number);
            if self.state.number < known && self.db.is_postgres() {
                // A standby without the newest commits has taken over. Clients must reload.
                tracing::error!(known, found = self.state.number, "the database has lost commits");
                self.state.epoch = meta::renew_epoch(self.db)?;
            }
            self.state.committed = self.state.number;
            (self.state.named, self.state.logged) = (meta::named_position(self.db)?, 0);
            self.state.sent.load(self.db)?;
            self.state.indexed.load(self.db)?;
            self.replay()?;
            self.state.version = Some(version);
        }
        Ok(())
    }

    /// See [`Indexed::pause`].
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.state.version.and_then(|_| self.state.indexed.pause(self.state.committed, Instant::now()))
    }

    /// Indexes the words of more messages for about `time`, in a transaction of its own; false if that failed.
    pub(crate) fn index(&mut self, time: Duration) -> bool {
        let begin = Instant::now();
        let outcome = self.begin().and_then(|()| {
            self.state.indexed.index_next(self.db, self.state.committed, time)?;
            self.db.commit()?;
            Ok(())
        });
        if let Err(fault) = &outcome {
            tracing::warn!(?fault, "cannot index messages for search");
            self.abandon();
        }
        self.state.indexed.record_slice(begin.elapsed(), Instant::now());
        outcome.is_ok()
    }

    /// Moves the client ids of all messages into their index, in a transaction of its own.
    pub(crate) fn index_client_ids(&mut self) -> Outcome<()> {
        self.begin()?;
        self.state.sent.move_all(self.db, self.state.committed)?;
        self.db.commit()?;
        Ok(())
    }

    /// Copies the log into the database and truncates it. If a reader prevents this, the next commit tries again.
    fn empty_log(&mut self) {
        let Connection::Sqlite(db) = self.db else { return };
        if !self.state.empties_log || !db.is_autocommit() {
            return;
        }
        let emptied = db.query_row(dialect::EMPTY_LOG, [], |row| row.get::<_, i64>(0));
        match emptied {
            Ok(busy) => self.state.empties_log = busy != 0,
            Err(error) => tracing::warn!(%error, "cannot remove erased data from the write-ahead log"),
        }
    }

    fn finish(&mut self, jobs: usize) -> Outcome<()> {
        if self.state.number != self.state.committed {
            self.state.sent.move_some(self.db, jobs, self.state.committed)?;
            self.sweep(jobs)?;
        }
        self.state.dirty.sort_unstable(); // neighbours share pages
        for id in &self.state.dirty {
            let kept = self.state.conversations.get(id).expect("what is dirty is kept until it is saved");
            let sql = if kept.stored { conversation::UPDATE } else { conversation::INSERT };
            conversation::save(self.db, sql, *id, &kept.direct)?;
        }
        let number = self.state.number;
        if number != self.state.named && number != self.state.logged {
            meta::set_position(self.db, number)?;
            self.state.named = number;
        }
        self.late.add(self.state.newly_late.drain(..), self.state.committed + 1);
        self.state.ahead = ReadAhead::default();
        self.db.commit()?;
        self.state.committed = self.state.number;
        if !self.state.settled.is_empty() {
            self.late.settle(self.state.settled.drain(..), self.state.committed);
        }
        for id in self.state.dirty.drain(..) {
            if let Some(kept) = self.state.conversations.get_mut(&id) {
                (kept.stored, kept.dirty) = (true, false);
            }
        }
        if self.state.conversations.len() > KEPT {
            self.state.older = mem::take(&mut self.state.conversations);
        }
        Ok(())
    }

    fn abandon(&mut self) {
        if !self.db.is_autocommit()
            && let Err(error) = self.db.rollback()
        {
            tracing::error!(%error, "cannot roll back a failed transaction");
        }
        self.forget();
        self.state.number = self.state.committed;
        self.state.sent.roll_back(self.state.committed);
        self.state.version = None;
    }

    fn forget(&mut self) {
        self.state.conversations = HashMap::new();
        self.state.older = HashMap::new();
        self.state.dirty = Vec::new();
        if !self.state.late.is_empty() {
            self.state.late = HashMap::new();
            self.state.version = None; // they are made again from the log
        }
        self.state.newly_late = Vec::new();
        self.state.settled = Vec::new();
        self.state.sweep = None;
        self.state.members.forget();
        self.state.newest_users = HashMap::new();
        self.state.ahead = ReadAhead::default();
    }
}
