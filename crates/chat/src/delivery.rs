//! Handing events to sessions: who hears now, for whom it is held, who must not hear it.

use crate::node::Inner;
use crate::session::Handles;
use crate::{Event, Position, SessionHandle, SessionId, UserId};

impl Inner {
    pub(crate) fn deliver(&self, to: &[SessionHandle], event: Event) {
        match to {
            [] => {}
            [one] => self.outbox.deliver(*one, event),
            many => self.outbox.deliver_all(many, event),
        }
    }

    /// What was committed at `position`, for a user's sessions. Called in the order of commits.
    pub(crate) fn tell(&self, user: UserId, position: Position, except: Option<SessionHandle>, event: Event) {
        let mut handles = Handles::new();
        self.here.lock(user).plan(user, position, except, &event, &mut handles);
        self.deliver(&handles, event);
    }

    /// An answer that has a position, for the one session that asked.
    pub(crate) fn answer(&self, to: SessionId, mut event: Event) {
        let now = self.here.lock(to.user).plan_answer(to.user, to.handle, &mut event);
        if now {
            self.outbox.deliver(to.handle, event);
        }
    }

    /// What is not stored, for a user's sessions.
    pub(crate) fn tell_in_passing(&self, user: UserId, except: Option<SessionHandle>, event: Event) {
        let mut handles = Handles::new();
        self.here.lock(user).live(user, except, &mut handles);
        self.deliver(&handles, event);
    }
}
