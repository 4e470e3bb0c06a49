//! Closing a room for good.
//!
//! An owner closes a room: nobody is a member afterwards, and nobody can find, enter or read it. Its messages stay in the
//! store, so that moderators can work on reports, until the site's retention removes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::rooms::{Event, LeftReason, RoomClosed, Rooms, is_text};
use crate::session::{Asker, Completion};
use crate::{ConversationId, Refusal, SessionHandle, SessionId, Timestamp, UserId};

/// Members whose membership ends in one transaction.
pub const MOST_CLOSED_AT_ONCE: u32 = 500;
const REASON_BYTES: usize = 1_000;

/// An owner's words about a closed room. Only users who are in the room at that time receive them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Closing {
    pub reason: Option<Arc<str>>,
    /// The address of the room that takes its place, unread.
    pub successor: Option<Arc<str>>,
}

impl Closing {
    fn check(&self) -> Result<(), Refusal> {
        let Closing { reason, successor } = self;
        let is_sound = [reason, successor].into_iter().flatten().all(|text| is_text(text, REASON_BYTES));
        if is_sound { Ok(()) } else { Err(Refusal::BadValue) }
    }

    /// The texts that others see.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        let Closing { reason, successor } = self;
        [reason, successor].into_iter().flatten().map(|text| &**text)
    }
}

/// Whether closings of an earlier node may be unfinished. A starting node checks it once.
pub(super) struct Unfinished(AtomicBool);

impl Default for Unfinished {
    fn default() -> Unfinished {
        Unfinished(AtomicBool::new(true))
    }
}

impl Unfinished {
    fn take(&self) -> bool {
        self.0.load(Ordering::Acquire) && self.0.swap(false, Ordering::AcqRel)
    }

    fn again(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Rooms {
    /// Called with every tick. Continues the closings that the end of an earlier node has interrupted.
    pub(crate) fn continue_closings(self: &Arc<Self>) {
        if !self.unfinished.take() {
            return;
        }
        let done = self.then::<Vec<ConversationId>>(|this, rooms| match rooms {
            Ok(rooms) => this.close_rest(rooms),
            Err(_) => this.unfinished.again(),
        });
        self.store.unfinished_closings(done);
    }

    /// One slice after the other, room by room.
    fn close_rest(self: &Arc<Self>, mut rooms: Vec<ConversationId>) {
        let Some(room) = rooms.pop() else { return };
        let done = self.then::<RoomClosed>(move |this, closed| match closed {
            Ok(closed) => {
                this.members_of_closed(None, room, &closed, &Arc::default());
                if closed.more {
                    rooms.push(room);
                }
                this.close_rest(rooms);
            }
            // The next tick begins anew.
            Err(_) => this.unfinished.again(),
        });
        self.store.close_rest(room, done);
    }

    pub(crate) fn close_room(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
        closing: Closing,
        now: Timestamp,
    ) {
        let session = asker.session;
        match closing.check() {
            Ok(()) => self.close_slice(session, re, conversation, Arc::new(closing), now),
            Err(refusal) => self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
        }
    }

    /// Removes some members, the owner last. If the node dies before the last slice, the next one continues.
    fn close_slice(
        self: &Arc<Self>,
        session: SessionId,
        re: u64,
        conversation: ConversationId,
        closing: Arc<Closing>,
        now: Timestamp,
    ) {
        let words = closing.reason.clone();
        let done =
            self.on_accepted(session.handle, AnswerTo::Request(re), move |this, closed: RoomClosed| {
                this.members_of_closed(Some(session.handle), conversation, &closed, &closing);
                if closed.more {
                    return this.close_slice(session, re, conversation, closing, now);
                }
                let event = Event::Left { conversation, reason: LeftReason::Closed };
                this.sessions.reply(session, Some(re), closed.position, event);
            });
        self.store.close_room(conversation, session.user, words, now, done);
    }

    fn members_of_closed(
        self: &Arc<Self>,
        closer: Option<SessionHandle>,
        conversation: ConversationId,
        closed: &RoomClosed,
        closing: &Arc<Closing>,
    ) {
        let site = conversation.site;
        self.occupants_of_closed(conversation, closing);
        for num in &closed.members {
            let user = UserId { site, num: *num };
            // A session may have entered again between two slices.
            self.occupant_left(user, conversation, LeftReason::Closed);
            self.calls.out_of_group(user, conversation, false);
        }
        let event = Event::Left { conversation, reason: LeftReason::Closed };
        self.sessions.publish_to_members(site, &closed.members, closed.position, closer, event);
    }
}
