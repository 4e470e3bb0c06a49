//! The part of the port to storage that is about rooms. What [`Store`](crate::Store) promises of queues, order and
//! crashes holds here too.
//!
//! Writes ask [`may`](crate::rooms::may) in their own transaction, with what is stored then; a refusal changes nothing.

use std::sync::Arc;

use crate::rooms::invitations::RoomRequestStore;
use crate::rooms::invite_links::LinkStore;
use crate::rooms::{
    Markers, MemberAction, PageKey, Room, RoomChange, RoomKind, RoomLimits, RoomMembers, RoomName,
    RoomSanction, Standing,
};
use crate::store::MemberChanged;
use crate::users::store::UserStore;
use crate::{
    ConversationId, ConversationRow, Done, MemberSanction, Position, Refusal, SiteId, Timestamp, UserId,
    UserRow,
};

/// See [`Store`](crate::Store), of which it is a part. One conformance suite holds every implementation to what is written here.
pub trait RoomStore: UserStore + LinkStore + RoomRequestStore {
    /// Makes a room with `owner` as its only member.
    fn create_room(
        &self,
        owner: UserId,
        room: NewRoom,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    );
    /// Where nothing changes, nothing is committed and `members` is empty. What is done to keep order is recorded, here and in
    /// [`change_member`](Self::change_member): see [`ModerationStore`](crate::ModerationStore).
    fn change_room(
        &self,
        room: ConversationId,
        by: UserId,
        change: RoomChange,
        now: Timestamp,
        done: Done<Result<RoomChanged, Refusal>>,
    );
    /// Makes a page's room where there is none. Who is a member stays one, and nothing is committed.
    fn join_room(
        &self,
        room: RoomName,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    );
    fn leave_room(&self, room: ConversationId, user: UserId, done: Done<Result<Position, Refusal>>);
    /// `user` has blocked somebody, and leaves private rooms that `blocked` alone owns, as with `leave_room`: at most
    /// [`MOST_LEFT_BY_BLOCK`](crate::rooms::MOST_LEFT_BY_BLOCK). Answers which.
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
    /// As [`change_member`](Self::change_member) with the [`action`](crate::rooms::RoomSanctionKind::action) of the sanction, which ends by itself: at
    /// `until` the store acts as if it were lifted, and [`end_sanctions`](crate::ModerationStore::end_sanctions) lifts it. A sanction that
    /// holds already is replaced. The reason is recorded. [`kept_sanction`](crate::rooms::kept_sanction) says which sanction the store keeps.
    fn sanction_member(
        &self,
        room: ConversationId,
        by: UserId,
        user: UserId,
        sanction: RoomSanction,
        now: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    );

    /// Owners, moderators, members, muted ones, each by name and id. `query` is a case-insensitive start of a word of the name.
    fn members(
        &self,
        room: ConversationId,
        asker: UserId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<MembersPage, Refusal>>,
    );
    /// Muted members, and users who are banned from the room, for those who may [unban](crate::rooms::Act::Unban). A sanction that is over by
    /// `now` is not among them.
    fn sanctioned(
        &self,
        room: ConversationId,
        asker: UserId,
        after: Option<String>,
        limit: u32,
        now: Timestamp,
        done: Done<Result<SanctionedPage, Refusal>>,
    );
    /// All members of a room, and of `users` those who are among them.
    fn room_members(&self, room: ConversationId, users: Vec<UserId>, done: Done<RoomMembers>);
    /// How many rooms that the user owns were made since then.
    fn rooms_made(&self, user: UserId, since: Timestamp, done: Done<u32>);
    /// Public and announcement rooms that are of no page, by name. `query` is a case-insensitive start of the name.
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
}

impl NewRoom {
    /// The room with the rules of a new one, before it has members. For stores.
    pub fn room(self) -> Room {
        let NewRoom { name, kind, topic } = self;
        Room {
            name,
            kind,
            topic,
            avatar: None,
            page: None,
            slow_ms: 0,
            frozen: false,
            members: 0,
            max_members: 0,
        }
    }

    /// The room that a page gets when somebody first comes to it. For stores.
    pub fn of_page(page: &PageKey) -> Room {
        let new = NewRoom { name: page.room_name(), kind: RoomKind::Public, topic: None };
        Room { page: Some(page.shared()), ..new.room() }
    }
}

/// One is a member now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    pub row: ConversationRow,
    pub position: Position,
    /// One was a member before.
    pub before: bool,
}

#[derive(Debug, Clone)]
pub struct RoomChanged {
    /// As who changed it sees it.
    pub row: ConversationRow,
    pub position: Position,
    /// The users to notify, by number.
    pub members: Arc<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRow {
    pub user: UserRow,
    pub standing: Standing,
}

#[derive(Debug, Clone)]
pub struct MembersPage {
    pub rows: Vec<MemberRow>,
    /// Of each row, where the asker is a member and the room has at most [`MOST_SEEN_BY`](crate::MOST_SEEN_BY); else empty.
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
