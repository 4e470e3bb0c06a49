//! Delivery of events: finds the sessions that receive an event now, and those for which it is held.

use std::sync::{MutexGuard, PoisonError};

use super::{Event as SessionEvent, Sessions};
use crate::command::AnswerTo;
use crate::session::Handles;
use crate::{Delivery, Event, Position, Refusal, SessionHandle, SessionId, SiteId, UserId};

impl Sessions {
    /// Delivers an event that is not stored to one session, without the table.
    #[inline]
    pub(crate) fn send(&self, to: SessionHandle, event: impl Into<Event>) {
        self.outbox.deliver(&[to], Delivery::live(event.into()));
    }

    /// Answers request number `re` with an event that is not stored.
    #[inline]
    pub(crate) fn answer(&self, to: SessionHandle, re: u64, event: impl Into<Event>) {
        self.outbox.deliver(&[to], Delivery::answer(Some(re), event.into()));
    }

    /// Like [`answer`](Self::answer), for a command that may have no number.
    #[inline]
    pub(crate) fn answer_if_asked(&self, to: SessionHandle, re: Option<u64>, event: impl Into<Event>) {
        self.outbox.deliver(&[to], Delivery::answer(re, event.into()));
    }

    /// Delivers an event that is not stored to several sessions.
    #[inline]
    pub(crate) fn send_all(&self, to: &[SessionHandle], event: impl Into<Event>) {
        if !to.is_empty() {
            self.outbox.deliver(to, Delivery::live(event.into()));
        }
    }

    /// Delivers to each session the event at the index beside it: see [`Outbox::deliver_each`](crate::Outbox::deliver_each).
    #[inline]
    pub(crate) fn send_each(&self, to: &[(SessionHandle, usize)], events: impl Iterator<Item = Event>) {
        self.outbox.deliver_each(to, events.map(Delivery::live).collect());
    }

    /// Delivers the events that were held for a session.
    pub(crate) fn send_held(&self, to: SessionHandle, held: Vec<Delivery>) {
        held.into_iter().for_each(|delivery| self.outbox.deliver(&[to], delivery));
    }

    #[inline]
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        if !to.is_empty() {
            self.outbox.deliver(to, delivery);
        }
    }

    /// Delivers an event committed at `position` to a user's sessions. Call it in the order of commits.
    pub(crate) fn publish(
        &self,
        user: UserId,
        position: Position,
        except: Option<SessionHandle>,
        event: impl Into<Event>,
    ) {
        let delivery = Delivery::stored(None, position, event.into());
        let _publishing = self.publishing();
        let mut handles = Handles::new();
        self.lock(user).plan(user, position, except, &delivery, &mut handles);
        self.deliver(&handles, delivery);
    }

    /// Like [`publish`](Self::publish), for both members of a conversation, except the session that caused
    /// the event.
    pub(crate) fn publish_to_both(
        &self,
        from: SessionId,
        to: UserId,
        position: Position,
        event: impl Into<Event>,
    ) {
        let delivery = Delivery::stored(None, position, event.into());
        let _publishing = self.publishing();
        let mut handles = Handles::new();
        self.lock(from.user).plan(from.user, position, Some(from.handle), &delivery, &mut handles);
        self.lock(to).plan(to, position, None, &delivery, &mut handles);
        self.counters.deliveries.add(handles.len() as u64);
        self.deliver(&handles, delivery);
    }

    /// Delivers an event committed at `position` to all sessions here of these members. One lookup for each member;
    /// members who are not connected cost nothing else.
    pub(crate) fn publish_to_members(
        &self,
        site: SiteId,
        members: &[u32],
        position: Position,
        except: Option<SessionHandle>,
        event: impl Into<Event>,
    ) {
        let delivery = Delivery::stored(None, position, event.into());
        let _publishing = self.publishing();
        let mut handles = Handles::new();
        for &num in members {
            let user = UserId { site, num };
            self.lock(user).plan(user, position, except, &delivery, &mut handles);
        }
        self.counters.deliveries.add(handles.len() as u64);
        self.deliver(&handles, delivery);
    }

    /// Answers a command with a stored event. `re`: the number of the request; messages have none.
    pub(crate) fn reply(&self, to: SessionId, re: Option<u64>, position: Position, event: impl Into<Event>) {
        let mut answer = Delivery::stored(re, position, event.into());
        let _publishing = self.publishing();
        let now = self.lock(to.user).plan_answer(to.user, to.handle, &mut answer);
        if now {
            self.outbox.deliver(&[to.handle], answer);
        }
    }

    /// Answers request number `re` with a stored event, and publishes the same event to the user's other
    /// sessions.
    pub(crate) fn reply_and_publish(
        &self,
        session: SessionId,
        re: u64,
        position: Position,
        event: impl Into<Event>,
    ) {
        let event = event.into();
        self.reply(session, Some(re), position, event.clone());
        self.publish(session.user, position, Some(session.handle), event);
    }

    /// Delivers an event that is not stored to a user's sessions.
    pub(crate) fn publish_transient(
        &self,
        user: UserId,
        except: Option<SessionHandle>,
        event: impl Into<Event>,
    ) {
        let mut handles = Handles::new();
        self.lock(user).live(user, except, &mut handles);
        self.send_all(&handles, event);
    }

    /// Waits until earlier planned events of a session are handed over, before it began to hold events. So
    /// its changes come after them.
    pub(crate) fn wait_for_publishing(&self) {
        drop(self.publishing());
    }

    /// Held while a committed event is planned and handed over. Rarely contended: only the store's one
    /// completion thread and each resume take it.
    #[inline]
    pub(crate) fn publishing(&self) -> MutexGuard<'_, ()> {
        self.publishing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn refuse(&self, handle: SessionHandle, to: AnswerTo, refusal: Refusal) {
        self.counters.refused(refusal);
        let (re, event) = match to {
            AnswerTo::Message(client_id) => (None, SessionEvent::SendRefused { client_id, refusal }),
            AnswerTo::Request(re) => (Some(re), SessionEvent::Refused(refusal)),
            AnswerTo::Session => (None, SessionEvent::Refused(refusal)),
            AnswerTo::Nobody => return,
        };
        self.answer_if_asked(handle, re, event);
    }

    pub(crate) fn bye(&self, handle: SessionHandle, refusal: Refusal) {
        self.counters.refused(refusal);
        self.send(handle, SessionEvent::Bye(refusal));
    }
}
