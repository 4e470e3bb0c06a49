//! The slice of the port to storage for rooms. The promises of [`Store`](crate::Store) about queues, order
//! and crashes hold here too.
//!
//! Writes check [`may`](crate::rooms::may) in their own transaction, with the data stored at that moment. A
//! refused write changes nothing.

use std::sync::Arc;

use crate::rooms::invitations::RoomRequestStore;
use crate::rooms::invite_links::LinkStore;
use crate::rooms::{
    Alias, Markers, MemberAction, Naming, Nickname, PageKey, Room, RoomChange, RoomKind, RoomLimits,
    RoomMembers, RoomName, RoomSanction, Standing,
};
use crate::store::MemberChanged;
use crate::users::store::UserStore;
use crate::{
    ConversationId, ConversationRow, Done, MemberSanction, Position, Refusal, SiteId, Sub, Timestamp, UserId,
    UserRow,
};

/// A slice of [`Store`](crate::Store). One conformance suite tests this contract against every
/// implementation.
pub trait RoomStore: UserStore + LinkStore + RoomRequestStore {
    /// Creates a room with `owner` as its only member.
    fn create_room(
        &self,
        owner: UserId,
        room: NewRoom,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    );
    /// Changes a room. A change without effect commits nothing, and `members` is empty. Acts of moderation
    /// are recorded, here and in [`change_member`](Self::change_member): see
    /// [`ModerationStore`](crate::ModerationStore).
    fn change_room(
        &self,
        room: ConversationId,
        by: UserId,
        change: RoomChange,
        now: Timestamp,
        done: Done<Result<RoomChanged, Refusal>>,
    );
    /// Joins a room; creates a page's room if it does not exist. For members nothing changes and nothing is
    /// committed.
    fn join_room(
        &self,
        room: RoomName,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    );
    /// Joins a room like [`join_room`](Self::join_room), unless the user is a member, and gives the member this nickname; None
    /// keeps the one of before. [`Refusal::UserExists`]: another member has it, or has it as the display name. A nickname
    /// ends with the membership.
    fn enter_room(
        &self,
        room: ConversationId,
        user: UserId,
        nickname: Option<Nickname>,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Entered, Refusal>>,
    );
    /// Closes a room, and ends at most [`MOST_CLOSED_AT_ONCE`](crate::rooms::MOST_CLOSED_AT_ONCE) memberships, that of `by`
    /// last. Links end, requests are hidden, the picture is removed, and its alias is never free again. The first slice is
    /// recorded with the reason.
    fn close_room(
        &self,
        room: ConversationId,
        by: UserId,
        reason: Option<Arc<str>>,
        now: Timestamp,
        done: Done<Result<RoomClosed, Refusal>>,
    );
    /// The closed rooms whose members [`close_room`](Self::close_room) has not all removed, because a node died. Costs a look at
    /// each room.
    fn unfinished_closings(&self, done: Done<Vec<ConversationId>>);
    /// The next slice of such a room. Without effect on a room that is open.
    fn close_rest(&self, room: ConversationId, done: Done<RoomClosed>);
    /// An owner who is the last member closes the room by leaving it.
    fn leave_room(&self, room: ConversationId, user: UserId, done: Done<Result<Position, Refusal>>);
    /// `user` has blocked `blocked`, and leaves private rooms that `blocked` alone owns, like `leave_room`:
    /// at most [`MOST_LEFT_BY_BLOCK`](crate::rooms::MOST_LEFT_BY_BLOCK). Answers the rooms.
    fn leave_rooms_of(&self, user: UserId, blocked: UserId, done: Done<(Vec<ConversationId>, Position)>);
    #[allow(clippy::too_many_arguments, reason = "the command, and when it came")]
    fn change_member(
        &self,
        room: ConversationId,
        by: UserId,
        user: UserId,
        action: MemberAction,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    );
    /// Like [`change_member`](Self::change_member) with the
    /// [`action`](crate::rooms::RoomSanctionKind::action) of the sanction. From `until` on the sanction has
    /// no effect, and [`end_sanctions`](crate::ModerationStore::end_sanctions) lifts it. It replaces an
    /// existing sanction. The reason is recorded. [`kept_sanction`](crate::rooms::kept_sanction) decides
    /// which sanction the store keeps.
    fn sanction_member(
        &self,
        room: ConversationId,
        by: UserId,
        user: UserId,
        sanction: RoomSanction,
        now: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    );

    /// Owners, moderators, members, muted members, each group by name and id. `query` is a case-insensitive
    /// start of a word of the name.
    fn members(
        &self,
        room: ConversationId,
        asker: UserId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<MembersPage, Refusal>>,
    );
    /// Muted members, and users who are banned from the room, for users who may
    /// [unban](crate::rooms::Act::Unban). Sanctions that ended before `now` are left out.
    fn sanctioned(
        &self,
        room: ConversationId,
        asker: UserId,
        after: Option<String>,
        limit: u32,
        now: Timestamp,
        done: Done<Result<SanctionedPage, Refusal>>,
    );
    /// A room that the user may [read](crate::rooms::Act::Read).
    fn room(&self, room: ConversationId, asker: UserId, done: Done<Result<Room, Refusal>>);
    /// The room with this alias, if the user may enter it. All others answer
    /// [`NoSuchConversation`](Refusal::NoSuchConversation), except for a user who is banned there.
    fn find_room(
        &self,
        alias: Alias,
        asker: UserId,
        now: Timestamp,
        done: Done<Result<(ConversationId, Room), Refusal>>,
    );
    /// Nicknames, or display names of users without one, in a room that the asker may read. Unknown users are left out.
    fn nicknames(
        &self,
        room: ConversationId,
        asker: UserId,
        users: Vec<Sub>,
        naming: Naming,
        done: Done<Result<Vec<Named>, Refusal>>,
    );
    /// Sets or removes the nickname of a member. [`Refusal::UserExists`]: as for [`enter_room`](Self::enter_room). A member who is
    /// muted in the room cannot change it.
    fn set_nickname(
        &self,
        room: ConversationId,
        user: UserId,
        nickname: Option<Nickname>,
        done: Done<Result<Nicknamed, Refusal>>,
    );
    /// All members of a room, and which of `users` are among them.
    fn room_members(&self, room: ConversationId, users: Vec<UserId>, done: Done<RoomMembers>);
    /// The user's own rooms created since then.
    fn rooms_made(&self, user: UserId, since: Timestamp, done: Done<u32>);
    /// Public and announcement rooms, except those of pages, by name. `query` is a case-insensitive start of
    /// the name.
    fn rooms(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<RoomsPage>,
    );
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRoom {
    pub name: Arc<str>,
    pub kind: RoomKind,
    pub topic: Option<Arc<str>>,
    pub alias: Option<Arc<str>>,
}

impl NewRoom {
    /// A new room with default rules and no members. For stores.
    pub fn room(self) -> Room {
        let NewRoom { name, kind, topic, alias } = self;
        Room {
            name,
            kind,
            topic,
            avatar: None,
            page: None,
            alias,
            slow_ms: 0,
            frozen: false,
            members: 0,
            max_members: 0,
            nicknames: 0,
        }
    }

    /// The new room of a page. For stores.
    pub fn of_page(page: &PageKey) -> Room {
        let new = NewRoom { name: page.room_name(), kind: RoomKind::Public, topic: None, alias: None };
        Room { page: Some(page.shared()), ..new.room() }
    }
}

/// The result of a join.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    pub row: ConversationRow,
    pub position: Position,
    /// The user was a member before.
    pub before: bool,
}

/// A user, and the name of the user in a room.
pub type Named = (Sub, Arc<str>);

/// The result of entering a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entered {
    pub joined: Joined,
    /// The member's nickname, or the display name.
    pub nick: Arc<str>,
    /// The entry has changed the nickname.
    pub change: Option<NicknameChange>,
}

/// A member's name in a room after a request to change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nicknamed {
    /// The nickname, or the display name.
    pub nick: Arc<str>,
    pub is_chosen: bool,
    pub change: Option<NicknameChange>,
}

/// A change of a nickname, for the members of the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NicknameChange {
    pub room: Arc<Room>,
    pub position: Position,
    /// The users to notify, by number.
    pub members: Arc<Vec<u32>>,
}

#[derive(Debug, Clone)]
pub struct RoomChanged {
    /// The conversation, as the author of the change sees it.
    pub row: ConversationRow,
    pub position: Position,
    /// The users to notify, by number.
    pub members: Arc<Vec<u32>>,
}

/// One slice of a room that is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomClosed {
    /// The users who are no members any more, by number.
    pub members: Vec<u32>,
    pub position: Position,
    /// Members are left.
    pub more: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRow {
    pub user: UserRow,
    pub standing: Standing,
}

#[derive(Debug, Clone)]
pub struct MembersPage {
    pub rows: Vec<MemberRow>,
    /// One entry for each row if the asker is a member and the room has at most
    /// [`MOST_SEEN_BY`](crate::MOST_SEEN_BY) members; else empty.
    pub markers: Vec<Markers>,
    pub next: Option<String>,
}

#[derive(Debug, Clone)]
pub struct RoomsPage {
    pub rows: Vec<(ConversationId, Room)>,
    pub next: Option<String>,
}

#[derive(Debug, Clone)]
pub struct SanctionedPage {
    pub rows: Vec<(MemberRow, MemberSanction)>,
    pub next: Option<String>,
}
