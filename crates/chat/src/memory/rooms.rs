//! The rooms' part of the port.

use super::{MemoryStore, Tables};
use crate::rooms::{
    Joined, MemberAction, MemberChanged, MembersPage, NewRoom, Post, Posted, RoomChange, RoomChanged,
    RoomLimits, RoomMembers, RoomName, RoomSanction, RoomStore, RoomsPage, SanctionedPage,
};
use crate::{ConversationId, Done, HistoryPage, Position, Refusal, Seq, SiteId, Timestamp, UserId};

impl RoomStore for MemoryStore {
    fn create_room(
        &self,
        owner: UserId,
        room: NewRoom,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        self.write(move |tables| tables.create_room(owner, room, limits, now), done);
    }

    fn change_room(
        &self,
        room: ConversationId,
        by: UserId,
        change: RoomChange,
        now: Timestamp,
        done: Done<Result<RoomChanged, Refusal>>,
    ) {
        self.write(move |tables| tables.change_room(room, by, change, now), done);
    }

    fn join_room(
        &self,
        room: RoomName,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        self.write(move |tables| tables.join_room(&room, user, limits, now), done);
    }

    fn leave_room(&self, room: ConversationId, user: UserId, done: Done<Result<Position, Refusal>>) {
        self.write(move |tables| tables.leave_room(room, user), done);
    }

    fn leave_rooms_of(&self, user: UserId, blocked: UserId, done: Done<(Vec<ConversationId>, Position)>) {
        self.write(move |tables| tables.leave_rooms_of(user, blocked), done);
    }

    fn change_member(
        &self,
        room: ConversationId,
        by: UserId,
        user: UserId,
        action: MemberAction,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    ) {
        self.write(move |tables| tables.change_member(room, by, user, (action, None), limits, now), done);
    }

    fn sanction_member(
        &self,
        room: ConversationId,
        by: UserId,
        user: UserId,
        sanction: RoomSanction,
        now: Timestamp,
        done: Done<Result<MemberChanged, Refusal>>,
    ) {
        let act = move |tables: &mut Tables| {
            let wanted = (sanction.kind.action(), Some(&sanction));
            tables.change_member(room, by, user, wanted, RoomLimits::default(), now)
        };
        self.write(act, done);
    }

    fn post(&self, post: Post, limits: RoomLimits, done: Done<Result<Posted, Refusal>>) {
        self.write(move |tables| tables.post(post, limits), done);
    }

    fn room_history(
        &self,
        room: RoomName,
        asker: UserId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<Result<(Option<ConversationId>, HistoryPage), Refusal>>,
    ) {
        self.read(move |tables| tables.room_history(&room, asker, before, after, limit), done);
    }

    fn members(
        &self,
        room: ConversationId,
        asker: UserId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<Result<MembersPage, Refusal>>,
    ) {
        self.read(move |tables| tables.members(room, asker, query.as_deref(), after.as_deref(), limit), done);
    }

    fn sanctioned(
        &self,
        room: ConversationId,
        asker: UserId,
        after: Option<String>,
        limit: u32,
        now: Timestamp,
        done: Done<Result<SanctionedPage, Refusal>>,
    ) {
        self.read(move |tables| tables.sanctioned(room, asker, after.as_deref(), limit, now), done);
    }

    fn few_members(
        &self,
        room: ConversationId,
        asker: UserId,
        most: u32,
        done: Done<Result<Vec<UserId>, Refusal>>,
    ) {
        self.read(move |tables| tables.few_members(room, asker, most), done);
    }

    fn room_members(&self, room: ConversationId, users: Vec<UserId>, done: Done<RoomMembers>) {
        self.read(move |tables| tables.room_members(room, &users), done);
    }

    fn rooms(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<RoomsPage>,
    ) {
        self.read(move |tables| tables.list_rooms(site, query.as_deref(), after.as_deref(), limit), done);
    }
}
