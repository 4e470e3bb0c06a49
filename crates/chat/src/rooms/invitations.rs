//! Adding a user to a room: contacts become members at once, all others get a *room request* that the user
//! accepts, declines or answers with a block.
//!
//! The rules are those for first messages. [`may_write`] and the user's choice of who may write decide
//! whether the user can be asked at all; [`requests::rules`](crate::contacts::message_requests::rules)
//! decides whether it is a request. A user who has declined or left is never added at once again, and the
//! same member cannot ask again. The asking member gets the same answer in each of these cases, so that it
//! does not reveal a declined request.

use crate::rooms::Event;
use std::sync::Arc;

use crate::command::AnswerTo;
use crate::contacts::message_requests::{LinkRule, RequestAnswer, first_contact, request_rules};
use crate::rooms::{LeftReason, MemberChanged, Role, Room, RoomLimits, RoomName, Rooms};
use crate::session::{Asker, Completion};
use crate::site::trust;
use crate::users::peer::{Peer, may_write};
use crate::{
    ConversationId, ConversationOf, ConversationRow, Done, MessageRequest, Position, Refusal, Seq, SiteRole,
    Timestamp, UserId, UserRow, has_link,
};

/// Room requests of one user that wait for an answer. At the bound, new ones are refused until the user
/// answers some.
pub const MOST_ROOM_REQUESTS: u32 = 100;
/// Answered requests kept of one user; the oldest are forgotten first.
pub const MOST_ROOM_ANSWERS: u32 = 2_000;

/// The slice of the port to storage for room requests. See [`Store`](crate::Store).
pub trait RoomRequestStore: Send + Sync + 'static {
    /// Adds or asks the user, as [`add_outcome`] decides with the stored data.
    fn add_member(&self, add: AddMember, limits: RoomLimits, done: Done<Result<MemberChanged, Refusal>>);
    /// Declines all pending requests to `user` for this room. None: no request was pending.
    fn decline_room_request(&self, room: ConversationId, user: UserId, done: Done<Option<Position>>);
    /// Declines all pending requests that `by` made to `user`. Answers the rooms for which none is pending any more.
    fn decline_room_requests_by(&self, user: UserId, by: UserId, done: Done<(Vec<ConversationId>, Position)>);
}

/// A member wants to add another user to a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddMember {
    pub room: ConversationId,
    pub by: UserId,
    pub user: UserId,
    pub rule: AddRule,
    pub time: Timestamp,
}

/// How a user may add another to a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddRule {
    pub how: AddAs,
    /// The daily limit (UTC), shared with message requests. None: not counted.
    pub per_day: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddAs {
    Member,
    Request(LinkRule),
}

/// Stored state of one member's request to a user to join a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomRequestState {
    Pending,
    /// Declined, or accepted and left later. Stays until the user joins on their own.
    Declined,
    /// A moderator of the room took it back.
    Withdrawn,
    /// The request made the user a member.
    Accepted,
}

impl RoomRequestState {
    /// The state after the user became a member. None: the request is forgotten.
    pub fn after_join(self) -> Option<RoomRequestState> {
        match self {
            RoomRequestState::Pending => Some(RoomRequestState::Accepted),
            RoomRequestState::Declined | RoomRequestState::Withdrawn | RoomRequestState::Accepted => None,
        }
    }

    /// The state after the user has left: the same member cannot add them again.
    pub fn after_leave(self) -> RoomRequestState {
        match self {
            RoomRequestState::Accepted => RoomRequestState::Declined,
            RoomRequestState::Pending | RoomRequestState::Declined | RoomRequestState::Withdrawn => self,
        }
    }
}

/// The stored relation of a user to a room before the user is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BeforeAdd {
    /// The last request of the same member.
    pub by_same: Option<RoomRequestState>,
    /// The user has declined a request of some member.
    pub declined: bool,
    /// The user has left on their own.
    pub left: bool,
    /// Pending requests of this user, for all rooms.
    pub pending: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddOutcome {
    Add,
    Ask,
    /// Answered like a request, but not stored and without notifications.
    Ignore,
}

/// Decides the outcome of an attempt to add a user who is not in the room.
pub fn add_outcome(rule: AddRule, before: BeforeAdd) -> Result<AddOutcome, Refusal> {
    use RoomRequestState::{Declined, Pending};
    let must_ask = matches!(rule.how, AddAs::Request(_)) || before.left || before.declined;
    match before.by_same {
        Some(Declined) => Ok(AddOutcome::Ignore),
        Some(Pending) if must_ask => Ok(AddOutcome::Ignore),
        _ if !must_ask => Ok(AddOutcome::Add),
        _ if before.pending >= MOST_ROOM_REQUESTS => Err(Refusal::NotAllowed),
        _ => Ok(AddOutcome::Ask),
    }
}

/// Whether a stranger may see the room's name. It follows the rule for the text of a first message.
pub fn may_show(rule: AddRule, room: &Room) -> Result<(), Refusal> {
    match rule.how {
        AddAs::Member => Ok(()),
        AddAs::Request(links) => first_contact([&*room.name], 0, links),
    }
}

/// The conversation that a pending request shows to its receiver. No messages or events of the room are
/// visible before it is accepted.
pub fn requested_conversation(
    id: ConversationId,
    room: &Room,
    by: UserRow,
    time: Timestamp,
) -> ConversationRow {
    ConversationRow {
        id,
        of: ConversationOf::Room { room: Arc::new(room_in_request(room)), role: Role::Muted },
        last: None,
        received: Seq(0),
        read: Seq(0),
        their_received: Seq(0),
        their_read: Seq(0),
        blocked: false,
        unread: 0,
        mentions: 0,
        muted_until: Timestamp(0),
        pinned: false,
        archived: false,
        request: Some(MessageRequest::Received),
        requested_by: Some(Box::new(by)),
        marked_unread: false,
        draft: None,
        active: time,
    }
}

/// The room without topic and picture, because strangers choose both, and without a link in its name.
fn room_in_request(room: &Room) -> Room {
    let name = if has_link(&room.name) { "…".into() } else { room.name.clone() };
    Room { name, topic: None, avatar: None, ..room.clone() }
}

impl Rooms {
    /// The rule for adding this user; the same rules as for a first message.
    fn add_rule(&self, asker: &Asker, peer: &Peer, now: Timestamp) -> Result<AddRule, Refusal> {
        let site = &asker.site.site;
        if !may_write(site.mode, peer.is_banned, peer.relation) {
            return Err(Refusal::NotAllowed);
        }
        if asker.role >= SiteRole::Moderator {
            return Ok(AddRule { how: AddAs::Member, per_day: None });
        }
        if !peer.privacy.write.has(peer.relation.is_contact()) {
            return Err(Refusal::NotAllowed);
        }
        if peer.relation.is_contact() {
            return Ok(AddRule { how: AddAs::Member, per_day: None });
        }
        let per_day = Some(trust::requests_per_day(&site.settings, asker.level));
        let Some(rules) = request_rules(asker, peer, now) else {
            return Ok(AddRule { how: AddAs::Member, per_day });
        };
        rules.begin?;
        Ok(AddRule { how: AddAs::Request(rules.links), per_day })
    }

    pub(super) fn add_member(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        peer: &Peer,
        now: Timestamp,
    ) {
        let rule = match self.add_rule(asker, peer, now) {
            Ok(rule) => rule,
            Err(refusal) => {
                return self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), refusal);
            }
        };
        let add = AddMember { room, by: asker.session.user, user: peer.id, rule, time: now };
        let (handle, limits) = (asker.session.handle, self.room_limits(asker));
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, changed| {
            if let MemberChanged { member, seen: Some(_), requested: false, .. } = &changed {
                this.member_joined(room, member.user.id);
            }
            this.member_changed(handle, re, room, changed);
        });
        self.store.add_member(add, limits, done);
    }

    /// Accepts a request by joining: the pending request gives access to the room.
    pub(crate) fn answer_room_request(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        room: ConversationId,
        answer: RequestAnswer,
        now: Timestamp,
    ) {
        if answer == RequestAnswer::Accept {
            return self.join(asker, re, RoomName::Id(room), now);
        }
        let session = asker.session;
        let done = self.on_loaded(session.handle, AnswerTo::Request(re), move |this, position| {
            let Some(position) = position else {
                let refusal = Refusal::NoSuchConversation;
                return this.sessions.refuse(session.handle, AnswerTo::Request(re), refusal);
            };
            let event = Event::Left { conversation: room, reason: LeftReason::Left };
            this.sessions.reply_and_publish(session, re, position, event);
        });
        self.store.decline_room_request(room, session.user, done);
    }

    /// A block declines the pending requests of the blocked user.
    pub(crate) fn decline_requests_of_blocked(self: &Arc<Self>, user: UserId, blocked: UserId) {
        let done = self.then(move |this, outcome| {
            let Ok((rooms, position)) = outcome else { return };
            for conversation in rooms {
                let event = Event::Left { conversation, reason: LeftReason::Left };
                this.sessions.publish(user, position, None, event);
            }
        });
        self.store.decline_room_requests_by(user, blocked, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RoomRequestState::{Accepted, Declined, Pending, Withdrawn};

    const AT_ONCE: AddRule = AddRule { how: AddAs::Member, per_day: None };
    const REQUEST: AddRule = AddRule { how: AddAs::Request(LinkRule::Refused), per_day: Some(5) };

    #[test]
    fn joining_accepts_a_request_and_leaving_declines_it() {
        let all = [Pending, Declined, Withdrawn, Accepted];
        assert_eq!(all.map(RoomRequestState::after_join), [Some(Accepted), None, None, None]);
        assert_eq!(all.map(RoomRequestState::after_leave), [Pending, Declined, Withdrawn, Declined]);
    }

    #[test]
    fn the_table_of_outcomes() {
        use AddOutcome::{Add, Ask, Ignore};
        let before = |by_same, declined, left| BeforeAdd { by_same, declined, left, pending: 0 };
        let table = [
            // stored state; outcome for a contact, for a stranger
            (before(None, false, false), Add, Ask),
            (before(Some(Pending), false, false), Add, Ignore),
            (before(Some(Withdrawn), false, false), Add, Ask),
            (before(Some(Accepted), false, false), Add, Ask),
            (before(Some(Declined), true, false), Ignore, Ignore),
            (before(None, true, false), Ask, Ask),
            (before(None, false, true), Ask, Ask),
            (before(Some(Pending), false, true), Ignore, Ignore),
            (before(Some(Declined), true, true), Ignore, Ignore),
        ];
        for (before, contact, stranger) in table {
            assert_eq!(add_outcome(AT_ONCE, before), Ok(contact), "{before:?}");
            assert_eq!(add_outcome(REQUEST, before), Ok(stranger), "{before:?}");
        }
        let full = BeforeAdd { pending: MOST_ROOM_REQUESTS, ..BeforeAdd::default() };
        assert_eq!(add_outcome(REQUEST, full), Err(Refusal::NotAllowed));
        assert_eq!(add_outcome(AT_ONCE, full), Ok(Add), "a contact asks nothing");
    }
}
