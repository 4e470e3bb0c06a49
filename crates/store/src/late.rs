//! Conversations whose rows are *late*: older than the log of messages.
//!
//! A message is one append to the log. The row of its conversation follows later, with the rows of thousands of others,
//! once for all messages in between. Until then the writer has the row in memory, and it can be made again from the log.
//! A read that needs a late row does not merge: the writer writes the row (*settles* it), and the read runs after that.
//! So a read is always as of one commit.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::mem;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::Connection;
use chat::{ConversationId, UserId};

/// The rows of direct conversations that a read needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    Nothing,
    One(ConversationId),
    /// All of a user.
    Of(UserId),
    /// All of these users, who are sorted.
    OfEach(Arc<[UserId]>),
    All,
}

impl Scope {
    pub(crate) fn of_each(users: impl Iterator<Item = UserId>) -> Scope {
        let mut users: Vec<UserId> = users.collect();
        users.sort_unstable();
        users.dedup();
        Scope::OfEach(users.into())
    }

    pub(crate) fn has(&self, id: ConversationId) -> bool {
        let is_of = |is_one: &dyn Fn(&UserId) -> bool| id.pair().is_some_and(|pair| pair.iter().any(is_one));
        match self {
            Scope::Nothing => false,
            Scope::One(one) => *one == id,
            Scope::Of(user) => is_of(&|member| member == user),
            Scope::OfEach(users) => is_of(&|member| users.binary_search(member).is_ok()),
            Scope::All => true,
        }
    }
}

/// A connection on which the rows of a [`Scope`] are not late.
#[derive(Clone, Copy)]
pub(crate) struct Settled<'c>(&'c Connection);

impl<'c> Settled<'c> {
    /// The caller has made sure of it.
    pub(crate) fn trust(db: &'c Connection) -> Settled<'c> {
        Settled(db)
    }
}

impl Deref for Settled<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

/// The late rows and the snapshots of all readers. The lock is held for some lookups only.
pub(crate) struct Late {
    rows: Mutex<Rows>,
    /// The position that each reader's snapshot has; [`NO_SNAPSHOT`], or [`ANY`] while the reader takes one.
    snapshots: Vec<AtomicU64>,
    /// Commits with settled rows. Such a commit need not have a position of its own.
    settlements: AtomicU64,
}

const NO_SNAPSHOT: u64 = u64::MAX;
const ANY: u64 = 0;

#[derive(Default)]
struct Rows {
    spans: HashMap<ConversationId, Span>,
    /// The members of each conversation in `spans`.
    members: BTreeSet<(UserId, ConversationId)>,
    /// Settled rows, by the commit that settled them.
    settled: VecDeque<(u64, ConversationId)>,
    /// The scopes that reads named since the last [`Late::age`], and before it. Their rows are written with each message.
    read: Asked,
    read_before: Asked,
}

#[derive(Default)]
struct Asked {
    users: HashSet<UserId>,
    conversations: HashSet<ConversationId>,
}

/// The row is late in the snapshots of `since` and later, up to the commit `until`, which is the settlement with this number.
#[derive(Clone, Copy)]
struct Span {
    since: u64,
    until: u64,
    settlement: u64,
}

const NOT_YET: u64 = u64::MAX;

/// Most users and conversations in [`Asked`].
const MOST_ASKED: usize = 1_024;

impl Late {
    pub(crate) fn new(readers: usize) -> Late {
        Late {
            rows: Mutex::default(),
            snapshots: (0..readers.max(1)).map(|_| AtomicU64::new(NO_SNAPSHOT)).collect(),
            settlements: AtomicU64::new(0),
        }
    }

    /// Call before the reader takes a snapshot. The snapshot ends when the value is dropped.
    pub(crate) fn snapshot(&self, reader: usize) -> Snapshot<'_> {
        let slot = &self.snapshots[reader];
        slot.store(ANY, SeqCst);
        Snapshot { late: self, slot, position: ANY, settlements: self.settlements.load(SeqCst) }
    }

    /// Whether messages of this conversation are written with its row, because somebody reads it.
    pub(crate) fn is_read(&self, id: ConversationId) -> bool {
        self.lock().is_read(id)
    }

    /// Call before the commit of `number` that leaves these rows late.
    pub(crate) fn add(&self, late: impl Iterator<Item = ConversationId>, number: u64) {
        let mut rows = self.lock();
        for id in late {
            rows.add(id, number);
        }
    }

    /// Call after the commit of `number` that has written these rows.
    pub(crate) fn settle(&self, settled: impl Iterator<Item = ConversationId>, number: u64) {
        let oldest = self.snapshots.iter().map(|slot| slot.load(SeqCst)).min().unwrap_or(NO_SNAPSHOT);
        let mut rows = self.lock();
        let settlement = self.settlements.fetch_add(1, SeqCst) + 1;
        for id in settled {
            if let Some(span) = rows.spans.get_mut(&id).filter(|span| span.until == NOT_YET) {
                (span.until, span.settlement) = (number, settlement);
                rows.settled.push_back((number, id));
            }
        }
        rows.forget(oldest);
    }

    /// Call after a rollback or a change by another connection: only these rows are late now.
    pub(crate) fn restart(&self, late: &HashSet<ConversationId>, number: u64) {
        let others: Vec<ConversationId> =
            self.lock().spans.keys().copied().filter(|id| !late.contains(id)).collect();
        self.settle(others.into_iter(), number);
        self.add(late.iter().copied(), ANY);
    }

    /// Remembers that somebody reads these rows.
    pub(crate) fn note_read(&self, scope: &Scope) {
        let mut rows = self.lock();
        match scope {
            Scope::One(id) => _ = rows.read.conversations.insert(*id),
            Scope::Of(user) => _ = rows.read.users.insert(*user),
            Scope::OfEach(users) => rows.read.users.extend(users.iter()),
            Scope::Nothing | Scope::All => {}
        }
        if rows.read.users.len() + rows.read.conversations.len() > MOST_ASKED {
            rows.age();
        }
    }

    /// Call from time to time: what is read no more may be late again.
    pub(crate) fn age(&self) {
        self.lock().age();
    }

    /// The late rows of a scope, in their order.
    pub(crate) fn of(&self, scope: &Scope) -> Vec<ConversationId> {
        let rows = self.lock();
        let is_late = |id: &ConversationId| rows.spans.get(id).is_some_and(|span| span.until == NOT_YET);
        let mut found: Vec<ConversationId> = match scope {
            Scope::Nothing => Vec::new(),
            Scope::One(id) => [*id].into_iter().filter(is_late).collect(),
            Scope::Of(user) => rows.of(*user).filter(is_late).collect(),
            Scope::OfEach(users) => users.iter().flat_map(|user| rows.of(*user)).filter(is_late).collect(),
            Scope::All => rows.spans.keys().copied().filter(is_late).collect(),
        };
        found.sort_unstable();
        found.dedup(); // both members may be in the scope
        found
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        // A panic leaves too many rows late, which costs time only.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn add(&mut self, id: ConversationId, number: u64) {
        let span = self.spans.entry(id).or_insert(Span { since: number, until: NOT_YET, settlement: 0 });
        (span.since, span.until) = (span.since.min(number), NOT_YET);
        for member in id.pair().into_iter().flatten() {
            self.members.insert((member, id));
        }
    }

    fn of(&self, user: UserId) -> impl Iterator<Item = ConversationId> {
        let first = ConversationId { site: user.site, key: 0 };
        let last = ConversationId { site: user.site, key: u64::MAX };
        self.members.range((user, first)..=(user, last)).map(|(_, id)| *id)
    }

    fn is_read(&self, id: ConversationId) -> bool {
        let members = id.pair().into_iter().flatten();
        [&self.read, &self.read_before].iter().any(|asked| asked.conversations.contains(&id))
            || members
                .into_iter()
                .any(|member| self.read.users.contains(&member) || self.read_before.users.contains(&member))
    }

    fn age(&mut self) {
        self.read_before = mem::take(&mut self.read);
    }

    /// Whether the row is late in a snapshot, which was taken after this number of settlements.
    fn is_late(&self, id: ConversationId, position: u64, settlements: u64) -> bool {
        self.spans.get(&id).is_some_and(|span| {
            // A commit of settled rows alone leaves the position as it was.
            let is_older = position < span.until || position == span.until && settlements < span.settlement;
            span.since <= position && is_older
        })
    }

    /// Forgets rows that are late in no snapshot from `oldest` on.
    fn forget(&mut self, oldest: u64) {
        while let Some((until, id)) = self.settled.front().copied().filter(|(until, _)| *until < oldest) {
            self.settled.pop_front();
            if self.spans.get(&id).is_some_and(|span| span.until == until) {
                self.spans.remove(&id);
                for member in id.pair().into_iter().flatten() {
                    self.members.remove(&(member, id));
                }
            }
        }
        if self.spans.is_empty() {
            *self = Rows { read: mem::take(&mut self.read), ..Rows::default() };
        }
    }
}

/// The snapshot of a reader.
pub(crate) struct Snapshot<'l> {
    late: &'l Late,
    slot: &'l AtomicU64,
    position: u64,
    /// Before it was taken.
    settlements: u64,
}

impl Snapshot<'_> {
    /// Call when the snapshot is taken.
    pub(crate) fn is_of(&mut self, position: u64) {
        self.position = position;
        self.slot.store(position, SeqCst);
    }

    /// Whether a row of the scope is late in the snapshot.
    pub(crate) fn lacks(&self, scope: &Scope) -> bool {
        let rows = self.late.lock();
        let lacks_of = |user: &UserId| rows.of(*user).any(|id| self.is_late(&rows, id));
        match scope {
            Scope::Nothing => false,
            Scope::One(id) => self.is_late(&rows, *id),
            Scope::Of(user) => lacks_of(user),
            Scope::OfEach(users) => users.iter().any(lacks_of),
            Scope::All => rows.spans.keys().any(|id| self.is_late(&rows, *id)),
        }
    }
}

impl Snapshot<'_> {
    fn is_late(&self, rows: &Rows, id: ConversationId) -> bool {
        rows.is_late(id, self.position, self.settlements)
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        self.slot.store(NO_SNAPSHOT, SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use chat::SiteId;

    use super::*;

    fn user(num: u32) -> UserId {
        UserId { site: SiteId(1), num }
    }

    fn pair(a: u32, b: u32) -> ConversationId {
        ConversationId::direct(user(a), user(b)).expect("two users")
    }

    fn lacks(late: &Late, scope: &Scope, position: u64) -> bool {
        let mut snapshot = late.snapshot(0);
        snapshot.is_of(position);
        snapshot.lacks(scope)
    }

    #[test]
    fn a_row_is_late_between_its_message_and_its_write() {
        let late = Late::new(2);
        let mut old = late.snapshot(1);
        old.is_of(11);
        late.add([pair(1, 2)].into_iter(), 10);
        assert!(!lacks(&late, &Scope::Of(user(1)), 9), "the message came later than the snapshot");
        assert!(lacks(&late, &Scope::Of(user(1)), 10) && lacks(&late, &Scope::One(pair(1, 2)), 12));
        assert!(!lacks(&late, &Scope::Of(user(3)), 12) && !lacks(&late, &Scope::One(pair(1, 3)), 12));
        late.settle([pair(1, 2)].into_iter(), 20);
        assert!(!lacks(&late, &Scope::All, 20));
        assert!(old.lacks(&Scope::All), "another reader still has the older snapshot");
        drop(old);
        late.settle([].into_iter(), 21);
        assert!(late.lock().spans.is_empty() && late.lock().members.is_empty());
    }

    /// Otherwise a session that is adopted or resumes on the older snapshot would miss the message.
    #[test]
    fn a_snapshot_from_before_a_commit_of_rows_alone_lacks_them_at_the_same_position() {
        let late = Late::new(2);
        late.add([pair(1, 2)].into_iter(), 10);
        let mut before = late.snapshot(0);
        before.is_of(10);
        late.settle([pair(1, 2)].into_iter(), 10);
        assert!(before.lacks(&Scope::Of(user(1))) && before.lacks(&Scope::One(pair(1, 2))));
        let mut after = late.snapshot(1);
        after.is_of(10);
        assert!(!after.lacks(&Scope::All));
        late.settle([].into_iter(), 10);
        assert!(before.lacks(&Scope::All), "it is still open");
        drop((before, after));
        late.settle([].into_iter(), 10);
        assert!(late.lock().spans.is_empty());
    }

    #[test]
    fn a_row_that_is_late_again_is_late_for_older_snapshots_too() {
        let late = Late::new(1);
        let snapshot = late.snapshot(0);
        late.add([pair(1, 2)].into_iter(), 10);
        late.settle([pair(1, 2)].into_iter(), 20);
        late.add([pair(1, 2)].into_iter(), 30);
        assert_eq!(late.of(&Scope::Of(user(2))), [pair(1, 2)]);
        drop(snapshot);
        late.settle([pair(1, 2)].into_iter(), 40);
        assert!(!lacks(&late, &Scope::All, 40) && late.of(&Scope::All).is_empty());
    }

    #[test]
    fn a_row_of_one_of_many_users_is_late_for_all_of_them() {
        let late = Late::new(1);
        late.add([pair(1, 2), pair(3, 4)].into_iter(), 10);
        let of = |users: [u32; 3]| Scope::of_each(users.into_iter().map(user));
        assert!(lacks(&late, &of([7, 1, 2]), 12) && !lacks(&late, &of([7, 1, 2]), 9));
        assert!(!lacks(&late, &of([5, 6, 7]), 12));
        assert_eq!(late.of(&of([2, 1, 1])), [pair(1, 2)]);
        assert!(of([4, 9, 8]).has(pair(3, 4)) && !of([4, 9, 8]).has(pair(1, 2)));
        late.note_read(&of([1, 5, 6]));
        assert!(late.is_read(pair(1, 2)) && late.is_read(pair(6, 8)) && !late.is_read(pair(3, 4)));
        late.settle([pair(1, 2)].into_iter(), 20);
        assert!(!lacks(&late, &of([7, 1, 2]), 20));
    }

    #[test]
    fn what_is_read_is_written_with_each_message_for_a_while() {
        let late = Late::new(1);
        late.note_read(&Scope::Of(user(1)));
        late.note_read(&Scope::One(pair(3, 4)));
        assert!(late.is_read(pair(1, 2)) && late.is_read(pair(3, 4)) && !late.is_read(pair(2, 4)));
        late.age();
        assert!(late.is_read(pair(1, 2)));
        late.age();
        assert!(!late.is_read(pair(1, 2)) && !late.is_read(pair(3, 4)));
    }

    #[test]
    fn after_a_restart_only_the_given_rows_are_late() {
        let late = Late::new(1);
        late.add([pair(1, 2), pair(3, 4)].into_iter(), 10);
        late.restart(&HashSet::from([pair(3, 4), pair(5, 6)]), 12);
        assert_eq!(late.of(&Scope::All), [pair(3, 4), pair(5, 6)]);
        assert!(lacks(&late, &Scope::One(pair(5, 6)), 1));
    }
}
