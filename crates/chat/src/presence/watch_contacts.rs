//! Watching all of one's contacts: one bit per session, and no list of who watches whom.
//!
//! Contacts are mutual, so the list of the user whose presence changes names everybody who is to hear it; see
//! `presence/mod.rs`. It is read from the store when there is something to tell.

use std::sync::Arc;

use crate::command::AnswerTo;
use crate::node::{Inner, unavailable};
use crate::session::{ContactWatch, Handles};
use crate::{Event, Presence, SessionId, StoreError, Sub, UserId};

/// Most contacts who are here that one answer names. It stays far below what a session's queue holds.
const MOST_NAMED: usize = 1_000;

/// Those with whom somebody has agreed to be contacts, in no order.
pub(crate) type ContactIds = Arc<[UserId]>;

/// Changes of a session's contacts since they were read.
#[derive(PartialEq, Eq)]
enum Known {
    AsRead,
    Changed,
}

impl Inner {
    /// Begins or ends it; at the beginning the session is told who is here.
    pub(crate) fn watch_contacts(self: &Arc<Self>, session: SessionId, on: bool) {
        self.here.lock(session.user).watch_contacts(session.user, session.handle, on);
        self.answer_contacts(session);
    }

    /// Answers the present contacts of a session that watches them.
    pub(crate) fn answer_contacts(self: &Arc<Self>, session: SessionId) {
        match self.here.lock(session.user).session(session.user, session.handle) {
            Some(here) if here.contacts.is_on() => here.contacts = ContactWatch::AsRead,
            _ => return,
        }
        let node = self.clone();
        self.with_contacts_of(vec![session.user], move |contacts| match contacts {
            Ok(contacts) => node.say_who_is_here(session, &contacts[0]),
            Err(error) => node.refuse(session.handle, AnswerTo::Session, unavailable(error)),
        });
    }

    /// Of each those with whom it has agreed to be contacts, from the cache or the store.
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
        let node = self.clone();
        let since = self.recent.generation();
        let asked = unknown.clone();
        let done = move |read: Result<Vec<Vec<UserId>>, StoreError>| {
            then(read.map(|read| {
                let read: Vec<ContactIds> = read.into_iter().map(Into::into).collect();
                for (user, contacts) in asked.iter().zip(&read) {
                    node.recent.keep_contacts(*user, contacts, since);
                }
                let mut read = read.into_iter();
                cached.into_iter().filter_map(|known| known.or_else(|| read.next())).collect()
            }));
        };
        self.store.contacts_of(unknown, Box::new(done));
    }

    /// Does any session hear of its contacts? Asked after what is told was changed: a session that begins later is told
    /// what it is by then.
    pub(crate) fn anybody_watches_contacts(&self) -> bool {
        self.here.each().any(|shard| shard.anybody_watches_contacts())
    }

    /// Sessions that watch their contacts, of a user who has one more or one less.
    pub(crate) fn contact_watchers_anew(&self, user: UserId, to: &mut Handles) {
        let mut shard = self.here.lock(user);
        let sessions = shard.user(user).into_iter().flat_map(|user| &mut user.sessions);
        sessions
            .filter(|session| session.contacts.is_on())
            .for_each(|session| session.contacts = ContactWatch::Changed);
        shard.contact_watchers(user, to);
    }

    /// Something on another thread may overtake this, so it is said again where it is not true any more when it is said.
    fn say_who_is_here(self: &Arc<Self>, session: SessionId, contacts: &[UserId]) {
        let mut said = None;
        loop {
            let tellings = self.news.tellings();
            let mut here: Vec<(Sub, Presence)> =
                self.here.of(contacts).filter_map(|id| self.seen_here(id)).collect();
            let more = here.len() > MOST_NAMED;
            here.truncate(MOST_NAMED);
            if said.as_ref() != Some(&here) {
                if self.contact_watch(session).is_none() {
                    return;
                }
                said = Some(here.clone());
                self.outbox.deliver(session.handle, Event::Watching { here, more });
            }
            if self.contact_watch(session) == Some(Known::Changed) {
                return self.answer_contacts(session);
            }
            if self.news.tellings() == tellings {
                return;
            }
        }
    }

    /// None: the session does not watch its contacts, or not any more.
    fn contact_watch(&self, session: SessionId) -> Option<Known> {
        let mut shard = self.here.lock(session.user);
        let here = shard.session(session.user, session.handle)?;
        Some(match here.contacts {
            ContactWatch::No => return None,
            ContactWatch::AsRead => Known::AsRead,
            ContactWatch::Changed => Known::Changed,
        })
    }

    /// The published presence of a user who is here.
    fn seen_here(&self, user: UserId) -> Option<(Sub, Presence)> {
        let presence = Some(self.told(user).presence).filter(|told| *told != Presence::Offline)?;
        let sub = self.here.lock(user).user(user)?.sub.clone();
        Some((sub, presence))
    }
}
