//! Users: their cards, the directory, and profiles by id.

pub(crate) mod cache;
pub(crate) mod contact_ids;
pub mod directory;
pub(crate) mod mentions;
pub(crate) mod peer;
pub(crate) mod store;

use std::sync::Arc;

use crate::privacy::{Privacy, Visibility};
use crate::session::{Completion, Sessions};
use crate::store::unavailable;
use crate::users::cache::{Generation, Recent};
use crate::users::contact_ids::ContactIds;
use crate::users::store::UserStore;
use crate::{ContactList, Person, Presence, Profile, Refusal, Relation, StoreError, Sub, UserId, UserRow};

/// A user as others see it.
pub(crate) fn person(row: &UserRow, presence: Option<Presence>) -> Person {
    card(row.id, row.profile.clone(), presence)
}

pub(crate) fn card(id: UserId, profile: Profile, presence: Option<Presence>) -> Person {
    let Profile { sub, name, avatar, guest } = profile;
    Person { id, sub, name, avatar, guest, presence }
}

pub(crate) fn visibility(row: &UserRow) -> Visibility {
    Visibility { privacy: row.privacy, chosen: row.presence }
}

/// Rows of users and their relations, from a cache or the store.
pub(crate) struct Users {
    recent: Recent,
    store: Arc<dyn UserStore>,
    sessions: Arc<Sessions>,
}

impl Users {
    pub(crate) fn new(store: Arc<dyn UserStore>, sessions: Arc<Sessions>) -> Users {
        Users { recent: Recent::new(), store, sessions }
    }

    #[inline]
    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    /// The relations of `user` to each of these users, from the cache or the store.
    pub(crate) fn with_relations(
        self: &Arc<Self>,
        user: UserId,
        others: &[UserId],
        then: impl FnOnce(Result<Vec<Relation>, StoreError>) + Send + 'static,
    ) {
        self.with_relations_of(others.iter().map(|other| [user, *other]), then);
    }

    /// The relation of each of these pairs, in their order.
    pub(crate) fn with_relations_of(
        self: &Arc<Self>,
        pairs: impl Iterator<Item = [UserId; 2]> + Clone,
        then: impl FnOnce(Result<Vec<Relation>, StoreError>) + Send + 'static,
    ) {
        let cached: Vec<Option<Relation>> =
            pairs.clone().map(|[user, other]| self.recent.relation(user, other)).collect();
        let unknown: Vec<[UserId; 2]> =
            pairs.zip(&cached).filter(|(_, known)| known.is_none()).map(|(pair, _)| pair).collect();
        if unknown.is_empty() {
            return then(Ok(cached.into_iter().flatten().collect()));
        }
        let since = self.recent.generation();
        let asked = unknown.clone();
        let done = self.then::<Vec<Relation>>(move |this, read| {
            then(read.map(|read| {
                for ([user, other], relation) in asked.iter().zip(&read) {
                    this.recent.keep_relation(*user, *other, *relation, since);
                }
                let mut read = read.into_iter();
                cached.into_iter().filter_map(|known| known.or_else(|| read.next())).collect()
            }));
        });
        self.store.relations(unknown, done);
    }

    /// Rows of users by sub, from the cache or the store; unknown ones are left out.
    pub(crate) fn with_users(
        self: &Arc<Self>,
        asker: UserId,
        subs: Vec<Sub>,
        then: impl FnOnce(Result<Vec<Arc<UserRow>>, StoreError>) + Send + 'static,
    ) {
        let mut rows = Vec::with_capacity(subs.len());
        let mut unknown = Vec::new();
        for sub in subs {
            match self.recent.user_by_sub(asker.site, &sub) {
                Some(row) => rows.push(row),
                None => unknown.push(sub),
            }
        }
        if unknown.is_empty() {
            return then(Ok(rows));
        }
        let since = self.recent.generation();
        let done = self.then::<Vec<UserRow>>(move |this, read| {
            then(read.map(|read| {
                for row in read.into_iter().map(Arc::new) {
                    this.recent.keep_user(&row, since);
                    rows.push(row);
                }
                rows
            }));
        });
        self.store.users(asker.site, unknown, done);
    }

    pub(crate) fn with_both(
        self: &Arc<Self>,
        site: crate::SiteId,
        subs: [Sub; 2],
        then: impl FnOnce(Result<[Arc<UserRow>; 2], Refusal>) + Send + 'static,
    ) {
        let cached = subs.each_ref().map(|sub| self.recent.user_by_sub(site, sub));
        if let [Some(me), Some(other)] = cached {
            return then(Ok([me, other]));
        }
        let since = self.recent.generation();
        let asked = subs.to_vec();
        let done = self.then::<Vec<UserRow>>(move |this, rows| {
            then(rows.map_err(unavailable).and_then(|rows| {
                let rows: Vec<Arc<UserRow>> = rows.into_iter().map(Arc::new).collect();
                rows.iter().for_each(|row| this.recent.keep_user(row, since));
                let find = |sub: &Sub| rows.iter().find(|row| row.profile.sub == *sub).cloned();
                let [me, other] = subs.each_ref().map(find);
                Ok([me.ok_or(Refusal::NoSession)?, other.ok_or(Refusal::NoSuchUser)?])
            }));
        });
        self.store.users(site, asked, done);
    }

    /// The contacts of each user by direction, from the cache or the store.
    pub(crate) fn with_contacts_of(
        self: &Arc<Self>,
        users: Vec<UserId>,
        then: impl FnOnce(Result<Vec<ContactIds>, StoreError>) + Send + 'static,
    ) {
        let cached: Vec<Option<ContactIds>> = users.iter().map(|user| self.recent.contacts(*user)).collect();
        let unknown: Vec<UserId> =
            users.into_iter().zip(&cached).filter(|(_, known)| known.is_none()).map(|(id, _)| id).collect();
        if unknown.is_empty() {
            return then(Ok(cached.into_iter().flatten().collect()));
        }
        let since = self.recent.generation();
        let asked = unknown.clone();
        let done = self.then::<Vec<ContactIds>>(move |this, read| {
            then(read.map(|read| {
                for (user, contacts) in asked.iter().zip(&read) {
                    this.recent.keep_contacts(*user, contacts, since);
                }
                let mut read = read.into_iter();
                cached.into_iter().filter_map(|known| known.or_else(|| read.next())).collect()
            }));
        });
        self.store.contacts_of(unknown, done);
    }

    /// Caches the contacts of a first page that has all of them, because the presence of the user is
    /// published to them next.
    pub(crate) fn keep_contacts(&self, user: UserId, list: &ContactList, since: Generation) {
        let contacts: ContactIds = list.sides().collect();
        self.recent.keep_contacts(user, &contacts, since);
    }

    /// The user's latest choices.
    pub(crate) fn privacy_of(&self, row: &UserRow) -> Privacy {
        self.sessions.lock(row.id).user(row.id).map_or(row.privacy, |here| here.privacy)
    }
}

impl Completion for Users {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}
