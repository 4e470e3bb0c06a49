//! The memory store: the whole [`Store`] contract without a disk, for tests.

mod device;
mod erase;
mod export;
mod files;
mod import;
mod links;
mod merge;
mod notify;
mod profile;
mod retention;
mod room_requests;
mod rooms;
mod safety;
mod stickers;
mod tables;
mod threads;

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use tables::Tables;

use crate::{
    Append, Appended, ChangeMessage, ChangedMessage, ContactsPage, ConversationChange, ConversationId,
    ConversationList, ConversationRow, ConversationsPage, Done, FoundPage, HistoryPage, Level, MarkerRow,
    Met, PeoplePage, Position, Profile, Refusal, Relation, ResumeFrom, Revision, Search, Secret, Seq,
    SetPresence, Settings, Site, SiteAuthor, SiteChange, SiteId, SiteNotChanged, Snapshot, Store, StoreError,
    StoredMessage, Sub, Timestamp, TokenUser, UnpublishedPage, UserId, UserRow,
};

/// Two manners. [`MemoryStore::new`] answers at once: everything a call leads to, also through further calls
/// made in completions, has happened when it returns (seen from one thread). [`MemoryStore::by_turns`]
/// does nothing until told, so that a test chooses every interleaving that a store with threads may show:
/// writes are committed in order and told in order, reads happen and are told whenever.
///
/// No lock is held while a completion runs.
pub struct MemoryStore {
    inner: Mutex<Inner>,
    by_turns: bool,
}

#[derive(Default)]
struct Inner {
    tables: Tables,
    /// Queued, not done yet.
    writes: VecDeque<Operation>,
    reads: VecDeque<Operation>,
    /// Done, not told yet.
    committed: VecDeque<Completion>,
    answers: VecDeque<Completion>,
    /// The error of writes and sign-ins, for tests.
    failing: Option<StoreError>,
    /// The error of reads, except those of sign-ins and views.
    failing_reads: Option<StoreError>,
    running: bool,
}

type Operation = Box<dyn FnOnce(&mut Tables, Option<StoreError>) -> Completion + Send>;
type Completion = Box<dyn FnOnce(&MemoryStore) + Send>;

/// Something that a store by turns can do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Commit,
    TellCommitted,
    Read(usize),
    TellRead(usize),
}

impl MemoryStore {
    #[allow(clippy::new_without_default, reason = "a store has two manners, neither is the default")]
    pub fn new() -> MemoryStore {
        let mut inner = Inner::default();
        inner.tables.epoch = 1;
        MemoryStore { inner: Mutex::new(inner), by_turns: false }
    }

    /// A store that works only in [`turn`](Self::turn).
    pub fn by_turns() -> MemoryStore {
        MemoryStore { by_turns: true, ..MemoryStore::new() }
    }

    /// How many things it could do next; 0: nothing is queued.
    pub fn turns(&self) -> usize {
        self.lock().turns().count()
    }

    /// Nothing is queued and nothing is being told, by no thread.
    pub fn is_idle(&self) -> bool {
        let inner = self.lock();
        !inner.running && inner.turns().next().is_none()
    }

    /// Does one of them, `which` < [`turns`](Self::turns): performs a queued operation, or tells an outcome.
    pub fn turn(&self, which: usize) {
        let mut inner = self.lock();
        let Some(turn) = inner.turns().nth(which) else { return };
        let completion = inner.take(turn);
        drop(inner);
        if let Some(completion) = completion {
            completion(self);
        }
    }

    /// Does everything that is queued and what comes of it, the oldest first.
    pub fn run(&self) {
        while self.turns() > 0 {
            self.turn(0);
        }
    }

    /// As if the process had been killed: what is queued does not happen, what is done is told to nobody.
    pub fn crash(&self) {
        let mut inner = self.lock();
        let Inner { writes, reads, committed, answers, .. } = &mut *inner;
        let forgotten = (
            std::mem::take(writes),
            std::mem::take(reads),
            std::mem::take(committed),
            std::mem::take(answers),
        );
        // Completions may hold the last reference to a node; none is dropped under the lock.
        drop(inner);
        drop(forgotten);
    }

    /// From now on every write fails with this (None: works again); reads go on, as with a full disk.
    pub fn fail_writes(&self, with: Option<StoreError>) {
        self.lock().failing = with;
    }

    /// Lets reads fail, except those of sign-ins and views.
    pub fn fail_reads(&self, with: Option<StoreError>) {
        self.lock().failing_reads = with;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no operation on the tables panics")
    }

    fn write<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Tables) -> T + Send + 'static,
        done: Done<T>,
    ) {
        self.write_then(operation, move |_, outcome| done(outcome));
    }

    fn write_then<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Tables) -> T + Send + 'static,
        then: impl FnOnce(&MemoryStore, Result<T, StoreError>) + Send + 'static,
    ) {
        self.lock().writes.push_back(Box::new(move |tables, failing| {
            let outcome = match failing {
                None => Ok(operation(tables)),
                Some(error) => Err(error),
            };
            Box::new(move |store| then(store, outcome))
        }));
        self.work();
    }

    fn read<T: Send + 'static>(&self, operation: impl FnOnce(&Tables) -> T + Send + 'static, done: Done<T>) {
        self.lock().reads.push_back(Box::new(move |tables, failing| {
            let outcome = match failing {
                None => Ok(operation(tables)),
                Some(error) => Err(error),
            };
            Box::new(move |_| done(outcome))
        }));
        self.work();
    }

    fn read_then<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Tables) -> T + Send + 'static,
        then: impl FnOnce(&MemoryStore, T) + Send + 'static,
    ) {
        self.lock().reads.push_back(Box::new(move |tables, _| {
            let answer = operation(tables);
            Box::new(move |store| then(store, answer))
        }));
        self.work();
    }

    /// Where it answers at once: whoever comes first does everything queued, so that outcomes are told in
    /// order also when completions call back or several threads call.
    fn work(&self) {
        if self.by_turns || std::mem::replace(&mut self.lock().running, true) {
            return;
        }
        loop {
            let mut inner = self.lock();
            let Some(turn) = inner.turns().next() else {
                inner.running = false;
                return;
            };
            let completion = inner.take(turn);
            drop(inner);
            if let Some(completion) = completion {
                completion(self);
            }
        }
    }

    fn snapshot_for_sign_in(
        &self,
        row: UserRow,
        from: ResumeFrom,
        met: Met,
        done: Done<(UserRow, Snapshot)>,
    ) {
        if met(&row) {
            let user = row.id;
            self.read_then(
                move |tables| tables.snapshot(user, from),
                move |_, snapshot| done(Ok((row, snapshot))),
            );
        }
    }
}

impl Inner {
    /// Outcomes first, then what is queued: turn 0 repeated is a store without any delay.
    fn turns(&self) -> impl Iterator<Item = Turn> + use<> {
        let tell = (!self.committed.is_empty()).then_some(Turn::TellCommitted);
        let commit = (!self.writes.is_empty()).then_some(Turn::Commit);
        let answers = (0..self.answers.len()).map(Turn::TellRead);
        let reads = (0..self.reads.len()).map(Turn::Read);
        tell.into_iter().chain(answers).chain(commit).chain(reads)
    }

    /// Takes the turn; what it answers is to be called without the lock.
    fn take(&mut self, turn: Turn) -> Option<Completion> {
        match turn {
            Turn::Commit => {
                let operation = self.writes.pop_front()?;
                let completion = operation(&mut self.tables, self.failing.clone());
                self.committed.push_back(completion);
                None
            }
            Turn::Read(at) => {
                let operation = self.reads.remove(at)?;
                let completion = operation(&mut self.tables, self.failing_reads.clone());
                self.answers.push_back(completion);
                None
            }
            Turn::TellCommitted => self.committed.pop_front(),
            Turn::TellRead(at) => self.answers.remove(at),
        }
    }
}

impl Store for MemoryStore {
    fn put_user(&self, site: SiteId, profile: Profile, now: Timestamp, done: Done<UserRow>) {
        self.write(move |tables| tables.put_user(site, profile, now), done);
    }

    fn renew_user(&self, site: SiteId, user: TokenUser, now: Timestamp, done: Done<UserRow>) {
        self.write(move |tables| tables.put_token_user(site, user, now), done);
    }

    fn sign_in(
        &self,
        site: SiteId,
        user: TokenUser,
        from: ResumeFrom,
        now: Timestamp,
        met: Met,
        done: Done<(UserRow, Snapshot)>,
    ) {
        let sub = user.profile.sub.clone();
        self.read_then(
            move |tables| tables.user(site, &sub),
            move |store, row| match row {
                Some(row) if row.is_as(&user.profile) && !row.differs_in_role(user.role) => {
                    store.snapshot_for_sign_in(row, from, met, done);
                }
                _ => store.write_then(
                    move |tables| tables.put_token_user(site, user, now),
                    move |store, outcome| match outcome {
                        Ok(row) => store.snapshot_for_sign_in(row, from, met, done),
                        Err(error) => done(Err(error)),
                    },
                ),
            },
        );
    }

    fn append(&self, append: Append, done: Done<Appended>) {
        self.write(move |tables| tables.append(append), done);
    }

    fn change_message(&self, change: ChangeMessage, done: Done<Result<ChangedMessage, Refusal>>) {
        self.write(move |tables| tables.change_message(change), done);
    }

    fn publish_gathered(&self, conversation: ConversationId, seq: Seq, done: Done<Option<ChangedMessage>>) {
        self.write(move |tables| tables.publish_gathered(conversation, seq), done);
    }

    fn unpublished(&self, page: UnpublishedPage, done: Done<Vec<(ConversationId, Seq)>>) {
        self.read(move |tables| tables.unpublished(page), done);
    }

    fn mark(
        &self,
        conversation: ConversationId,
        user: UserId,
        received: Seq,
        read: Seq,
        done: Done<MarkerRow>,
    ) {
        self.write(move |tables| tables.mark(conversation, user, received, read), done);
    }

    fn change_conversation(
        &self,
        conversation: ConversationId,
        user: UserId,
        change: ConversationChange,
        done: Done<Result<(ConversationRow, Position), Refusal>>,
    ) {
        self.write(move |tables| tables.change_conversation(conversation, user, &change), done);
    }

    fn put_relation(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
        _now: Timestamp,
        done: Done<Option<Position>>,
    ) {
        self.write(move |tables| tables.put_relation(a, b, relation, limit), done);
    }

    fn put_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        self.write(move |tables| tables.put_presence(user, presence, last_seen), Box::new(|_| ()));
    }

    fn use_token(&self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp, done: Done<bool>) {
        let jti: Box<str> = jti.into();
        self.write(move |tables| tables.use_token(site, &jti, expires, now), done);
    }

    fn set_banned(&self, user: UserId, banned: bool, done: Done<bool>) {
        self.write(move |tables| tables.set_banned(user, banned), done);
    }

    fn keep_level(&self, user: UserId, level: Level, done: Done<Option<UserRow>>) {
        self.write(move |tables| tables.keep_level(user, level), done);
    }

    fn written(&self, user: UserId, most: u32, done: Done<u32>) {
        self.read(move |tables| tables.written(user, most), done);
    }

    fn rooms_made(&self, user: UserId, since: Timestamp, done: Done<u32>) {
        self.read(move |tables| tables.rooms_made(user, since), done);
    }

    fn user(&self, site: SiteId, sub: Sub, done: Done<Option<UserRow>>) {
        self.read(move |tables| tables.user(site, &sub), done);
    }

    fn users(&self, site: SiteId, subs: Vec<Sub>, done: Done<Vec<UserRow>>) {
        self.read(move |tables| subs.iter().filter_map(|sub| tables.user(site, sub)).collect(), done);
    }

    fn users_by_id(&self, ids: Vec<UserId>, done: Done<Vec<UserRow>>) {
        self.read(move |tables| ids.iter().filter_map(|id| tables.user_by_id(*id)).collect(), done);
    }

    fn relation(&self, a: UserId, b: UserId, done: Done<Relation>) {
        self.read(move |tables| tables.relation(a, b), done);
    }

    fn relations(&self, user: UserId, others: Vec<UserId>, done: Done<Vec<Relation>>) {
        self.read(move |tables| others.iter().map(|other| tables.relation(user, *other)).collect(), done);
    }

    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>) {
        self.read(move |tables| tables.snapshot(user, from), done);
    }

    fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<String>,
        limit: u32,
        done: Done<ConversationsPage>,
    ) {
        self.read(move |tables| tables.conversations(user, list, after.as_deref(), limit), done);
    }

    fn conversation(&self, user: UserId, conversation: ConversationId, done: Done<Option<ConversationRow>>) {
        self.read(move |tables| tables.conversation(user, conversation), done);
    }

    fn history(
        &self,
        reader: UserId,
        conversation: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<HistoryPage>,
    ) {
        self.read(move |tables| tables.history(reader, conversation, before, after, limit), done);
    }

    fn history_since(
        &self,
        reader: UserId,
        conversation: ConversationId,
        time: Timestamp,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        self.read(move |tables| tables.history_since(reader, conversation, time, limit), done);
    }

    fn search(&self, wanted: Search, done: Done<Result<FoundPage, Refusal>>) {
        self.read(move |tables| tables.search(&wanted), done);
    }

    fn message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        seq: Seq,
        done: Done<Result<StoredMessage, Refusal>>,
    ) {
        self.read(move |tables| tables.one_message(reader, conversation, seq), done);
    }

    fn pins(
        &self,
        reader: UserId,
        conversation: ConversationId,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    ) {
        self.read(move |tables| tables.pins(reader, conversation), done);
    }

    fn revisions(&self, conversation: ConversationId, seq: Seq, done: Done<Vec<Revision>>) {
        self.read(move |tables| tables.revisions(conversation, seq), done);
    }

    fn contacts_of(&self, users: Vec<UserId>, done: Done<Vec<Vec<UserId>>>) {
        self.read(move |tables| users.iter().map(|user| tables.agreed_contacts(*user)).collect(), done);
    }

    fn contacts(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ContactsPage>) {
        self.read(move |tables| tables.contacts(user, after.as_deref(), limit), done);
    }

    fn people(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<PeoplePage>,
    ) {
        self.read(move |tables| tables.people(site, query.as_deref(), after.as_deref(), limit), done);
    }

    fn sites(&self) -> Result<Vec<Site>, StoreError> {
        Ok(self.lock().tables.sites.values().cloned().collect())
    }

    fn revision(&self) -> Result<u64, StoreError> {
        Ok(self.lock().tables.revision)
    }

    fn add_site(&self, site: &Site) -> Result<Option<SiteId>, StoreError> {
        Ok(self.lock().tables.add_site(site))
    }

    fn update_site(&self, site: &Site) -> Result<(), StoreError> {
        let mut inner = self.lock();
        if let Some(row) = inner.tables.sites.get_mut(&site.id) {
            *row = site.clone();
            inner.tables.revision += 1;
        }
        Ok(())
    }

    fn next_sanction_end(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.lock().tables.next_sanction_end())
    }

    fn change_site(
        &self,
        site: SiteId,
        change: SiteChange,
        author: SiteAuthor,
        now: Timestamp,
    ) -> Result<Result<Site, SiteNotChanged>, StoreError> {
        Ok(self.lock().tables.change_site(site, &change, author, now))
    }

    fn set_settings(&self, site: SiteId, settings: &Settings) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let known = inner.tables.sites.contains_key(&site);
        if known {
            inner.tables.put_settings(site, settings);
        }
        Ok(known)
    }

    fn remove_site(&self, site: SiteId) -> Result<bool, StoreError> {
        Ok(self.lock().tables.remove_site(site))
    }

    fn add_secret(&self, site: SiteId, secret: &Secret) -> Result<(), StoreError> {
        let mut inner = self.lock();
        if let Some(row) = inner.tables.sites.get_mut(&site) {
            row.secrets.insert(0, secret.clone());
            inner.tables.revision += 1;
        }
        Ok(())
    }

    fn list_users(&self, site: SiteId, after: Option<Sub>, limit: u32) -> Result<Vec<UserRow>, StoreError> {
        Ok(self.lock().tables.list_users(site, after.as_ref(), limit))
    }

    fn flush(&self) -> Result<(), StoreError> {
        if self.by_turns {
            self.run();
        } else {
            self.work();
        }
        Ok(())
    }
}
