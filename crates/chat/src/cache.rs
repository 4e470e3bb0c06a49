//! Users and relations that were read from the store a moment ago: what makes a second message cheap.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::sync::Cache;

use crate::{ContactState, ConversationId, Relation, SiteId, Sub, UserId, UserRow};

const MAX_USERS: usize = 8_192;
const MAX_RELATIONS: usize = 32_768;

/// Bounded; the least recently used go. Filled by reads only, so that idle members cost nothing here.
pub(crate) struct Recent {
    rows: Cache<UserId, Arc<UserRow>>,
    id_by_sub: Cache<(SiteId, Sub), UserId>,
    /// By the pair; states in the order of `ConversationId::pair`.
    relations: Cache<ConversationId, [ContactState; 2]>,
    /// Changes whenever something cached has changed. A read that began before may bring what was true
    /// before, so it is kept only if this is the same as when it began.
    generation: AtomicU64,
}

/// When a read began.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Generation(u64);

impl Recent {
    pub(crate) fn new() -> Recent {
        Recent {
            rows: Cache::new(MAX_USERS),
            id_by_sub: Cache::new(MAX_USERS),
            relations: Cache::new(MAX_RELATIONS),
            generation: AtomicU64::new(0),
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
        if since == self.generation() {
            self.id_by_sub.insert((row.id.site, row.profile.sub.clone()), row.id);
            self.rows.insert(row.id, row.clone());
        }
    }

    /// A row that is certainly the newest: replaces what is cached, and nothing else.
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

    /// How `a` stands to `b` and `b` to `a`.
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
        if since == self.generation() {
            self.insert_relation(a, b, relation);
        }
    }

    /// It has just been stored.
    pub(crate) fn relation_is(&self, a: UserId, b: UserId, relation: Relation) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.insert_relation(a, b, relation);
    }

    fn insert_relation(&self, a: UserId, b: UserId, relation: Relation) {
        let Some(pair) = ConversationId::direct(a, b) else { return };
        let states = if a < b { [relation.of_a, relation.of_b] } else { [relation.of_b, relation.of_a] };
        self.relations.insert(pair, states);
    }

    /// Another process may have changed anything.
    pub(crate) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.rows.clear();
        self.id_by_sub.clear();
        self.relations.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, SetPresence, Timestamp};

    const NOTHING: Relation = Relation { of_a: ContactState::None, of_b: ContactState::None };

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
            created: Timestamp(0),
            last_seen: Timestamp(0),
        })
    }

    #[test]
    fn a_relation_is_the_same_from_both_sides() {
        let recent = Recent::new();
        let relation = Relation { of_a: ContactState::RequestSent, of_b: ContactState::RequestReceived };
        recent.keep_relation(id(9), id(3), relation, recent.generation());
        assert_eq!(recent.relation(id(9), id(3)), Some(relation));
        let turned = Relation { of_a: relation.of_b, of_b: relation.of_a };
        assert_eq!(recent.relation(id(3), id(9)), Some(turned));
        assert_eq!(recent.relation(id(3), id(4)), None);
    }

    #[test]
    fn a_read_that_began_before_a_change_is_not_kept() {
        let recent = Recent::new();
        let before = recent.generation();
        let blocked = Relation { of_a: ContactState::Blocked, ..NOTHING };
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
    fn signing_in_alone_fills_nothing() {
        let recent = Recent::new();
        recent.user_is(&row(1, "Ann"));
        assert!(recent.user(id(1)).is_none());
    }
}
