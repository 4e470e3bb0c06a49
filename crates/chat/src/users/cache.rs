//! A cache of users and relations that were read from the store recently. It makes a second message cheap.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::session::NumberHasher;
use crate::users::contact_ids::ContactIds;
use crate::{ConversationId, Relation, Side, SiteId, Sub, Timestamp, UserId, UserRow};

/// Half of the entries are certainly kept while others come: 16,000 users who write at the same time, and 65,000 pairs of them.
const MAX_USERS: usize = 32_768;
const MAX_RELATIONS: usize = 131_072;
const MAX_CONTACT_LISTS: usize = 8_192;
/// Longer lists are not cached: all lists together use at most 16 MB.
const MAX_CONTACTS_KEPT: usize = 256;

/// Entries without a request for this time are removed, at the latest after twice the time. Two users in a
/// chat request them again within it. Without removal, the entries of 15,000 users with one message each
/// would hold 3 MB.
const AGE_MS: u64 = 5_000;

/// Bounded in number and in time. Only reads fill it, so idle members cost nothing here.
pub(crate) struct Recent {
    rows: Cache<UserId, Arc<UserRow>, BuildHasherDefault<NumberHasher>>,
    /// Subs come from outside: the hasher must be unpredictable.
    id_by_sub: Cache<(SiteId, Sub), UserId, RandomState>,
    /// By pair; states in the order of `ConversationId::pair`.
    relations: Cache<ConversationId, [Side; 2], BuildHasherDefault<NumberHasher>>,
    /// The accepted contacts of a user: a sign-in reads them, watches them, and publishes presence to them.
    contacts: Cache<UserId, ContactIds, BuildHasherDefault<NumberHasher>>,
    /// Changes with every change of cached data. A read that began before may bring old data, so it is cached
    /// only if this is unchanged.
    generation: AtomicU64,
    /// The last ageing of the tables.
    aged: AtomicU64,
}

/// The state of the cache at the start of a read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(u64);

impl Recent {
    pub(crate) fn new() -> Recent {
        Recent {
            rows: Cache::new(MAX_USERS),
            id_by_sub: Cache::new(MAX_USERS),
            relations: Cache::new(MAX_RELATIONS),
            contacts: Cache::new(MAX_CONTACT_LISTS),
            generation: AtomicU64::new(0),
            aged: AtomicU64::new(0),
        }
    }

    /// Removes entries that were not requested for a while. Called with every tick.
    pub(crate) fn age(&self, now: Timestamp) {
        // A clock that was set back causes one additional ageing, which does no harm.
        if now.0.abs_diff(self.aged.load(Ordering::Relaxed)) >= AGE_MS {
            self.aged.store(now.0, Ordering::Relaxed);
            self.rows.age();
            self.id_by_sub.age();
            self.relations.age();
            self.contacts.age();
        }
    }

    pub(crate) fn generation(&self) -> Generation {
        Generation(self.generation.load(Ordering::Acquire))
    }

    pub(crate) fn user_by_sub(&self, site: SiteId, sub: &Sub) -> Option<Arc<UserRow>> {
        self.user(self.id_by_sub.get(&(site, sub.clone()))?)
    }

    pub(crate) fn user(&self, id: UserId) -> Option<Arc<UserRow>> {
        self.rows.get(&id)
    }

    pub(crate) fn keep_user(&self, row: &Arc<UserRow>, since: Generation) {
        let is_current = || since == self.generation();
        self.id_by_sub.keep((row.id.site, row.profile.sub.clone()), row.id, is_current);
        self.rows.keep(row.id, row.clone(), is_current);
    }

    /// Replaces the cached row by one that is certainly the newest; does not add entries.
    pub(crate) fn user_is(&self, row: &UserRow) {
        if self.rows.peek(&row.id).is_some_and(|cached| *cached != *row) {
            self.generation.fetch_add(1, Ordering::AcqRel);
            self.rows.insert(row.id, Arc::new(row.clone()));
        }
    }

    pub(crate) fn change_user(&self, id: UserId, change: impl FnOnce(&mut UserRow)) {
        if let Some(cached) = self.rows.peek(&id) {
            let mut row = UserRow::clone(&cached);
            change(&mut row);
            self.user_is(&row);
        }
    }

    /// The cached relation of two users, from both sides.
    pub(crate) fn relation(&self, a: UserId, b: UserId) -> Option<Relation> {
        let pair = ConversationId::direct(a, b)?;
        let [first, second] = self.relations.get(&pair)?;
        Some(if a < b {
            Relation { of_a: first, of_b: second }
        } else {
            Relation { of_a: second, of_b: first }
        })
    }

    pub(crate) fn keep_relation(&self, a: UserId, b: UserId, relation: Relation, since: Generation) {
        if let Some((pair, states)) = of_pair(a, b, relation) {
            self.relations.keep(pair, states, || since == self.generation());
        }
    }

    /// The relation was just stored.
    pub(crate) fn relation_is(&self, a: UserId, b: UserId, relation: Relation) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        if let Some((pair, states)) = of_pair(a, b, relation) {
            self.relations.insert(pair, states);
        }
        self.contacts.remove(&a);
        self.contacts.remove(&b);
    }

    pub(crate) fn contacts(&self, user: UserId) -> Option<ContactIds> {
        self.contacts.get(&user)
    }

    pub(crate) fn keep_contacts(&self, user: UserId, contacts: &ContactIds, since: Generation) {
        if contacts.len() <= MAX_CONTACTS_KEPT {
            self.contacts.keep(user, contacts.clone(), || since == self.generation());
        }
    }

    /// Another process may have changed anything: empties the cache.
    pub(crate) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.rows.clear();
        self.id_by_sub.clear();
        self.relations.clear();
        self.contacts.clear();
    }
}

fn of_pair(a: UserId, b: UserId, relation: Relation) -> Option<(ConversationId, [Side; 2])> {
    let states = if a < b { [relation.of_a, relation.of_b] } else { [relation.of_b, relation.of_a] };
    Some((ConversationId::direct(a, b)?, states))
}

/// A sharded table; each shard has two halves. Requested entries move to the young half. A full or aged young
/// half becomes the old one. The former old half is dropped with its memory.
struct Cache<K, V, H> {
    shards: [Mutex<Halves<K, V, H>>; SHARDS],
    hasher: H,
    /// Entries of one half.
    most: usize,
}

struct Halves<K, V, H> {
    young: HashMap<K, V, H>,
    old: HashMap<K, V, H>,
}

/// Workers and the store's threads use the cache with every message.
const SHARDS: usize = 16;

impl<K: Eq + Hash, V: Clone, H: BuildHasher + Default> Cache<K, V, H> {
    fn new(most: usize) -> Cache<K, V, H> {
        let shards = std::array::from_fn(|_| Mutex::new(Halves::new()));
        Cache { shards, hasher: H::default(), most: most / 2 / SHARDS }
    }

    fn get(&self, key: &K) -> Option<V> {
        let mut halves = self.lock(key);
        if let Some(value) = halves.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = halves.old.remove_entry(key)?;
        self.insert_into(&mut halves, key, value.clone());
        Some(value)
    }

    /// Reads an entry, without counting as a request.
    fn peek(&self, key: &K) -> Option<V> {
        let halves = self.lock(key);
        halves.young.get(key).or_else(|| halves.old.get(key)).cloned()
    }

    fn insert(&self, key: K, value: V) {
        self.keep(key, value, || true);
    }

    /// Checks `is_current` under the lock. A thread that changes the generation and then this entry comes
    /// either before the check, or after the insertion.
    fn keep(&self, key: K, value: V, is_current: impl FnOnce() -> bool) {
        let mut halves = self.lock(&key);
        if is_current() {
            halves.old.remove(&key);
            self.insert_into(&mut halves, key, value);
        }
    }

    fn remove(&self, key: &K) {
        let mut halves = self.lock(key);
        halves.young.remove(key);
        halves.old.remove(key);
    }

    fn insert_into(&self, halves: &mut Halves<K, V, H>, key: K, value: V) {
        if halves.young.len() >= self.most {
            halves.age();
        }
        halves.young.insert(key, value);
    }

    fn age(&self) {
        self.each().for_each(|mut halves| halves.age());
    }

    fn clear(&self) {
        self.each().for_each(|mut halves| *halves = Halves::new());
    }

    fn lock(&self, key: &K) -> MutexGuard<'_, Halves<K, V, H>> {
        // The hash tables inside use other bits.
        lock(&self.shards[(self.hasher.hash_one(key) >> 40) as usize % SHARDS])
    }

    fn each(&self) -> impl Iterator<Item = MutexGuard<'_, Halves<K, V, H>>> {
        self.shards.iter().map(lock)
    }
}

impl<K, V, H: Default> Halves<K, V, H> {
    fn new() -> Halves<K, V, H> {
        Halves { young: HashMap::default(), old: HashMap::default() }
    }

    fn age(&mut self) {
        self.old = std::mem::take(&mut self.young);
    }
}

fn lock<T>(shard: &Mutex<T>) -> MutexGuard<'_, T> {
    // The worst result of a panic in between is a missing entry, which is then read again.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, SetPresence};

    const NOTHING: Relation = Relation::NONE;

    fn id(num: u32) -> UserId {
        UserId { site: SiteId(1), num }
    }

    fn row(num: u32, name: &str) -> Arc<UserRow> {
        let sub = Sub::parse(&format!("user{num}")).expect("it is one");
        Arc::new(UserRow {
            id: id(num),
            profile: Profile { sub, name: name.into(), avatar: None, guest: false },
            presence: SetPresence::Online,
            banned: false,
            on_site: crate::SiteStanding::default(),
            privacy: crate::Privacy::default(),
            named: false,
            created: Timestamp(0),
            last_seen: Timestamp(0),
        })
    }

    #[test]
    fn relations_are_cached_for_both_sides() {
        let recent = Recent::new();
        let relation = Relation { of_a: Side::REQUESTED, of_b: Side::ASKS };
        recent.keep_relation(id(9), id(3), relation, recent.generation());
        assert_eq!(recent.relation(id(9), id(3)), Some(relation));
        let turned = relation.turned();
        assert_eq!(recent.relation(id(3), id(9)), Some(turned));
        assert_eq!(recent.relation(id(3), id(4)), None);
    }

    #[test]
    fn reads_from_before_a_change_are_not_cached() {
        let recent = Recent::new();
        let before = recent.generation();
        let blocked = Relation { of_a: Side::BLOCKED, ..NOTHING };
        recent.relation_is(id(1), id(2), blocked);
        recent.keep_relation(id(1), id(2), NOTHING, before);
        assert_eq!(recent.relation(id(1), id(2)), Some(blocked));

        recent.keep_user(&row(1, "old"), recent.generation());
        let before = recent.generation();
        recent.user_is(&row(1, "new"));
        recent.keep_user(&row(1, "old"), before);
        assert_eq!(&*recent.user(id(1)).expect("it is kept").profile.name, "new");

        let before = recent.generation();
        recent.clear();
        recent.keep_user(&row(1, "new"), before);
        assert!(recent.user(id(1)).is_none() && recent.relation(id(1), id(2)).is_none());
    }

    #[test]
    fn changes_remove_cached_contacts() {
        let recent = Recent::new();
        let list =
            |nums: std::ops::Range<u32>| nums.map(|num| (id(num), Side::CONTACT)).collect::<ContactIds>();
        let before = recent.generation();
        recent.keep_contacts(id(1), &list(2..5), before);
        recent.keep_contacts(id(2), &list(1..2), before);
        recent.keep_contacts(id(3), &list(1..2), before);
        recent.keep_contacts(id(4), &list(5..6 + MAX_CONTACTS_KEPT as u32), before);
        assert_eq!(
            recent.contacts(id(1)).map(|known| known.seen().to_vec()),
            Some(vec![id(2), id(3), id(4)])
        );
        assert!(recent.contacts(id(4)).is_none(), "too long");
        recent.relation_is(id(1), id(2), NOTHING);
        assert!(recent.contacts(id(1)).is_none() && recent.contacts(id(2)).is_none());
        assert!(recent.contacts(id(3)).is_some());
        recent.keep_contacts(id(1), &list(2..5), before);
        assert!(recent.contacts(id(1)).is_none(), "it was read before");
        recent.clear();
        assert!(recent.contacts(id(3)).is_none());
    }

    #[test]
    fn a_sign_in_alone_adds_no_entry() {
        let recent = Recent::new();
        recent.user_is(&row(1, "Ann"));
        assert!(recent.user(id(1)).is_none());
    }

    #[test]
    fn unused_entries_are_removed_and_used_ones_stay() {
        let recent = Recent::new();
        let mut now = Timestamp(1_800_000_000_000);
        recent.age(now);
        for num in [1, 2] {
            recent.keep_user(&row(num, "Ann"), recent.generation());
        }
        let silent = Arc::downgrade(&recent.rows.peek(&id(2)).expect("it is kept"));
        for _ in 0..4 {
            now = Timestamp(now.0 + AGE_MS);
            recent.age(Timestamp(now.0 - 1));
            recent.age(now);
            assert!(recent.user_by_sub(SiteId(1), &row(1, "").profile.sub).is_some());
        }
        assert!(recent.user(id(2)).is_none() && silent.upgrade().is_none());
        recent.age(Timestamp(now.0 + AGE_MS));
        recent.age(Timestamp(now.0 + 2 * AGE_MS));
        assert!(recent.rows.each().all(|halves| halves.young.capacity() + halves.old.capacity() == 0));
    }

    #[test]
    fn entries_are_bounded() {
        let cache: Cache<u32, u32, BuildHasherDefault<NumberHasher>> = Cache::new(1_024);
        for key in 0..10_000 {
            cache.insert(key, key);
            assert_eq!(cache.get(&key), Some(key));
        }
        let kept: usize = cache.each().map(|halves| halves.young.len() + halves.old.len()).sum();
        assert!((512..=1_024).contains(&kept), "{kept}");
    }
}
