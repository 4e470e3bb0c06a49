//! Watching all of one's contacts: one bit per session, and no list of who watches whom.
//!
//! Contacts are mutual, so the list of the user whose presence changes names everybody who is to hear it; see
//! `presence/mod.rs`. It is read from the store when there is something to tell.

use crate::presence::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::presence::Presences;
use crate::session::{ContactWatch, Handles};
use crate::store::unavailable;
use crate::{Presence, SessionId, Sub, UserId};

/// Most contacts who are here that one answer names. It stays far below what a session's queue holds.
const MOST_NAMED: usize = 1_000;

/// Changes of a session's contacts since they were read.
#[derive(PartialEq, Eq)]
enum Known {
    AsRead,
    Changed,
}

impl Presences {
    /// Begins or ends it; at the beginning the session is told who is here.
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
            Ok(contacts) => this.say_who_is_here(session, &contacts[0]),
            Err(error) => this.sessions.refuse(session.handle, AnswerTo::Session, unavailable(error)),
        });
    }

    /// Does any session hear of its contacts? Asked after what is told was changed: a session that begins later is told
    /// what it is by then.
    pub(crate) fn anybody_watches_contacts(&self) -> bool {
        self.sessions.each().any(|shard| shard.anybody_watches_contacts())
    }

    /// Sessions that watch their contacts, of a user who has one more or one less.
    pub(crate) fn contact_watchers_anew(&self, user: UserId, to: &mut Handles) {
        let mut shard = self.sessions.lock(user);
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
                self.sessions.of(contacts).filter_map(|id| self.seen_here(id)).collect();
            let more = here.len() > MOST_NAMED;
            here.truncate(MOST_NAMED);
            if said.as_ref() != Some(&here) {
                if self.contact_watch(session).is_none() {
                    return;
                }
                said = Some(here.clone());
                self.sessions.send(session.handle, Event::Watching { here, more });
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
        let mut shard = self.sessions.lock(session.user);
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
        let sub = self.sessions.lock(user).user(user)?.sub.clone();
        Some((sub, presence))
    }
}
