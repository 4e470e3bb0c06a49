//! Handing events to sessions: who hears now, for whom it is held, who must not hear it.

use std::sync::{MutexGuard, PoisonError};

use super::Sessions;
use crate::command::AnswerTo;
use crate::session::Handles;
use crate::{Event, Position, Refusal, SessionHandle, SessionId, SiteId, UserId};

impl Sessions {
    #[inline]
    pub(crate) fn deliver(&self, to: &[SessionHandle], event: Event) {
        match to {
            [] => {}
            [one] => self.outbox.deliver(*one, event),
            many => self.outbox.deliver_all(many, event),
        }
    }

    /// Delivers an event committed at `position` to a user's sessions. Call it in the order of commits.
    pub(crate) fn publish(
        &self,
        user: UserId,
        position: Position,
        except: Option<SessionHandle>,
        event: Event,
    ) {
        let _publishing = self.publishing();
        let mut handles = Handles::new();
        self.lock(user).plan(user, position, except, &event, &mut handles);
        self.deliver(&handles, event);
    }

    /// As [`publish`](Self::publish), for both members of a conversation, except the session that caused it.
    pub(crate) fn publish_to_both(&self, from: SessionId, to: UserId, position: Position, event: Event) {
        let _publishing = self.publishing();
        let mut handles = Handles::new();
        self.lock(from.user).plan(from.user, position, Some(from.handle), &event, &mut handles);
        self.lock(to).plan(to, position, None, &event, &mut handles);
        self.counters.deliveries.add(handles.len() as u64);
        self.deliver(&handles, event);
    }

    /// Delivers an event committed at `position` to all sessions here of these members. One lookup for each member;
    /// silent members cost nothing else.
    pub(crate) fn publish_to_members(
        &self,
        site: SiteId,
        members: &[u32],
        position: Position,
        except: Option<SessionHandle>,
        event: Event,
    ) {
        let _publishing = self.publishing();
        let mut handles = Handles::new();
        for &num in members {
            let user = UserId { site, num };
            self.lock(user).plan(user, position, except, &event, &mut handles);
        }
        self.counters.deliveries.add(handles.len() as u64);
        self.deliver(&handles, event);
    }

    /// An answer that has a position, for the one session that asked.
    pub(crate) fn reply(&self, to: SessionId, mut event: Event) {
        let _publishing = self.publishing();
        let now = self.lock(to.user).plan_answer(to.user, to.handle, &mut event);
        if now {
            self.outbox.deliver(to.handle, event);
        }
    }

    /// Delivers an event that is not stored to a user's sessions.
    pub(crate) fn publish_transient(&self, user: UserId, except: Option<SessionHandle>, event: Event) {
        let mut handles = Handles::new();
        self.lock(user).live(user, except, &mut handles);
        self.deliver(&handles, event);
    }

    /// Waits until what was planned for a session before it began to hold events has been handed over, so that
    /// its changes come after it.
    pub(crate) fn wait_for_publishing(&self) {
        drop(self.publishing());
    }

    /// Held while something that was committed is planned and handed over. Nearly always free: it is taken on
    /// the store's one thread for completions of writes, and once per resume.
    #[inline]
    pub(crate) fn publishing(&self) -> MutexGuard<'_, ()> {
        self.publishing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn refuse(&self, handle: SessionHandle, to: AnswerTo, refusal: Refusal) {
        self.counters.refused(refusal);
        let event = match to {
            AnswerTo::Message(client_id) => Event::SendRefused { client_id, refusal },
            AnswerTo::Request(re) => Event::Refused { re: Some(re), refusal },
            AnswerTo::Session => Event::Refused { re: None, refusal },
            AnswerTo::Nobody => return,
        };
        self.outbox.deliver(handle, event);
    }

    pub(crate) fn bye(&self, handle: SessionHandle, refusal: Refusal) {
        self.counters.refused(refusal);
        self.outbox.deliver(handle, Event::Bye(refusal));
    }
}
