//! Watching all contacts: one bit per session, and no list of watchers.
//!
//! The contact list of a user whose presence changes has all who see the user, so it contains all watchers; see
//! `presence/mod.rs`. The list is read from the store only for a change to publish.

use crate::presence::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::presence::Presences;
use crate::session::UserSessions;
use crate::session::{ContactWatch, Watching};
use crate::store::unavailable;
use crate::{Presence, SessionId, Sub, UserId};

/// Present contacts in one answer. Far fewer than a session's queue holds.
const MOST_NAMED: usize = 1_000;

/// Changes of a session's contacts since they were read.
#[derive(PartialEq, Eq)]
enum Known {
    AsRead,
    Changed,
}

impl Presences {
    /// Starts or ends the watch; the start answers with the present contacts.
    pub(crate) fn watch_contacts(self: &Arc<Self>, session: SessionId, on: bool) {
        self.sessions.lock(session.user).watch_contacts(session.user, session.handle, on);
        self.answer_contacts(session);
    }

    /// Answers the present contacts of a session that watches them.
    pub(crate) fn answer_contacts(self: &Arc<Self>, session: SessionId) {
        match self.sessions.lock(session.user).session(session.user, session.handle) {
            Some(here) if here.contacts.is_on() => here.contacts = ContactWatch::AsRead,
            _ => return,
        }
        let this = self.clone();
        self.users.with_contacts_of(vec![session.user], move |contacts| match contacts {
            Ok(contacts) => this.say_who_is_here(session, contacts[0].seen()),
            Err(error) => this.sessions.refuse(session.handle, AnswerTo::Session, unavailable(error)),
        });
    }

    /// Whether any session watches its contacts. Called after a change of published presence: a session that
    /// starts later gets the new state.
    pub(crate) fn anybody_watches_contacts(&self) -> bool {
        self.sessions.each().any(|shard| shard.anybody_watches_contacts())
    }

    /// Adds the user's sessions that watch their contacts to `to`, when a contact was added or removed.
    pub(crate) fn contact_watchers_anew(&self, user: UserId, to: &mut Watching) {
        let mut shard = self.sessions.lock(user);
        let sessions = shard.user(user).into_iter().flat_map(|user| &mut user.sessions);
        sessions
            .filter(|session| session.contacts.is_on())
            .for_each(|session| session.contacts = ContactWatch::Changed);
        shard.contact_watchers(user, to);
    }

    /// Another thread may publish a change at the same time. So the answer is checked afterwards and repeated
    /// if it is outdated.
    fn say_who_is_here(self: &Arc<Self>, session: SessionId, contacts: &[UserId]) {
        if self.sessions.lock(session.user).announced(session.user, session.handle).is_some() {
            return self.say_which_sessions(session, contacts);
        }
        let mut last_sent = None;
        loop {
            let rounds = self.news.rounds();
            let mut here: Vec<(Sub, Presence)> =
                self.sessions.of(contacts).filter_map(|id| self.seen_here(id)).collect();
            let more = here.len() > MOST_NAMED;
            here.truncate(MOST_NAMED);
            if last_sent.as_ref() != Some(&here) {
                if self.contact_watch(session).is_none() {
                    return;
                }
                last_sent = Some(here.clone());
                self.sessions.send(session.handle, Event::Watching { here, more });
            }
            if self.contact_watch(session) == Some(Known::Changed) {
                return self.answer_contacts(session);
            }
            if self.news.rounds() == rounds {
                return;
            }
        }
    }

    /// Like [`say_who_is_here`](Self::say_who_is_here), for a session with a resource: all sessions of the contacts, and of the
    /// user.
    fn say_which_sessions(self: &Arc<Self>, session: SessionId, contacts: &[UserId]) {
        let mut last_sent = None;
        loop {
            let rounds = self.news.rounds();
            let those = self.sessions.of(contacts).chain([session.user]);
            let here: Vec<UserSessions> =
                those.filter_map(|id| self.sessions_seen(id)).take(MOST_NAMED).collect();
            if last_sent.as_ref() != Some(&here) {
                if self.contact_watch(session).is_none() {
                    return;
                }
                last_sent = Some(here.clone());
                self.sessions.send(session.handle, Event::Sessions(here));
            }
            if self.contact_watch(session) == Some(Known::Changed) {
                return self.answer_contacts(session);
            }
            if self.news.rounds() == rounds {
                return;
            }
        }
    }

    fn sessions_seen(&self, user: UserId) -> Option<UserSessions> {
        self.published(user);
        let mut shard = self.sessions.lock(user);
        let sub = shard.user(user)?.sub.clone();
        let sessions = shard.sessions_shown(user);
        (!sessions.is_empty()).then_some(UserSessions { user: sub, sessions })
    }

    /// None: the session does not watch its contacts (any more).
    fn contact_watch(&self, session: SessionId) -> Option<Known> {
        let mut shard = self.sessions.lock(session.user);
        let here = shard.session(session.user, session.handle)?;
        Some(match here.contacts {
            ContactWatch::No => return None,
            ContactWatch::AsRead => Known::AsRead,
            ContactWatch::Changed => Known::Changed,
        })
    }

    /// The published presence of a user, if they are here.
    fn seen_here(&self, user: UserId) -> Option<(Sub, Presence)> {
        let presence =
            Some(self.published(user).presence).filter(|published| *published != Presence::Offline)?;
        let sub = self.sessions.lock(user).user(user)?.sub.clone();
        Some((sub, presence))
    }
}
