//! The slice of rooms: queues each request with its completion.

use std::sync::Arc;

use chat::{
    Alias, ConversationId, Done, Entered, Joined, MemberAction, MemberChanged, MembersPage, Named, Naming,
    NewRoom, Nickname, Nicknamed, Position, Refusal, Room, RoomChange, RoomChanged, RoomClosed, RoomLimits,
    RoomMembers, RoomName, RoomSanction, RoomStore, RoomsPage, SanctionedPage, SiteId, Sub, Timestamp,
    UserId,
};

use super::{change, close, list, member, nickname};
use crate::sqlite::Sqlite;
use crate::writer;

impl RoomStore for Sqlite {
    fn create_room(
        &self,
        owner: UserId,
        room: NewRoom,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        self.write(move |batch| change::create(batch, owner, &room, limits, now), done);
    }

    fn change_room(
        &self,
        room: ConversationId,
        by: UserId,
        change: RoomChange,
        now: Timestamp,
        done: Done<Result<RoomChanged, Refusal>>,
    ) {
        self.write(move |batch| change::change(batch, room, by, &change, now), done);
    }

    fn join_room(
        &self,
        room: RoomName,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        self.write(move |batch| member::join(batch, &room, user, limits, now), done);
    }

    fn enter_room(
        &self,
        room: ConversationId,
        user: UserId,
        nickname: Option<Nickname>,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Entered, Refusal>>,
    ) {
        self.write(move |batch| nickname::enter(batch, room, user, nickname.as_ref(), limits, now), done);
    }

    fn close_room(
        &self,
        room: ConversationId,
        by: UserId,
        reason: Option<Arc<str>>,
        now: Timestamp,
        done: Done<Result<RoomClosed, Refusal>>,
    ) {
        self.write(move |batch| close::some(batch, room, by, reason.as_deref(), now), done);
    }

    fn unfinished_closings(&self, done: Done<Vec<ConversationId>>) {
        self.read(close::unfinished, done);
    }

    fn close_rest(&self, room: ConversationId, done: Done<RoomClosed>) {
        self.write(move |batch| close::rest(batch, room), done);
    }

    fn leave_room(&self, room: ConversationId, user: UserId, done: Done<Result<Position, Refusal>>) {
        self.write(move |batch| member::leave(batch, room, user), done);
    }

    fn leave_rooms_of(&self, user: UserId, blocked: UserId, done: Done<(Vec<ConversationId>, Position)>) {
        self.write(move |batch| member::leave_rooms_of(batch, user, blocked), done);
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
        self.write(move |batch| member::change(batch, room, by, user, (action, None), limits, now), done);
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
        let act = move |batch: &mut writer::Batch<'_>| {
            let wanted = (sanction.kind.action(), Some(&sanction));
            member::change(batch, room, by, user, wanted, RoomLimits::default(), now)
        };
        self.write(act, done);
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
        let page = move |db: &crate::engine::Connection| {
            list::members(db, room, asker, query.as_deref(), after.as_deref(), limit)
        };
        self.read(page, done);
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
        self.read(move |db| list::sanctioned(db, room, asker, after.as_deref(), limit, now), done);
    }

    fn room(&self, room: ConversationId, asker: UserId, done: Done<Result<Room, Refusal>>) {
        self.read(move |db| nickname::room(db, room, asker), done);
    }

    fn find_room(
        &self,
        alias: Alias,
        asker: UserId,
        now: Timestamp,
        done: Done<Result<(ConversationId, Room), Refusal>>,
    ) {
        self.read(move |db| nickname::find(db, &alias, asker, now), done);
    }

    fn nicknames(
        &self,
        room: ConversationId,
        asker: UserId,
        users: Vec<Sub>,
        naming: Naming,
        done: Done<Result<Vec<Named>, Refusal>>,
    ) {
        self.read(move |db| nickname::list(db, room, asker, &users, naming), done);
    }

    fn set_nickname(
        &self,
        room: ConversationId,
        user: UserId,
        nickname: Option<Nickname>,
        done: Done<Result<Nicknamed, Refusal>>,
    ) {
        self.write(move |batch| nickname::change(batch, room, user, nickname.as_ref()), done);
    }

    fn room_members(&self, room: ConversationId, users: Vec<UserId>, done: Done<RoomMembers>) {
        self.read(move |db| list::all(db, room, &users), done);
    }

    fn rooms(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<RoomsPage>,
    ) {
        self.read(move |db| list::rooms(db, site, query.as_deref(), after.as_deref(), limit), done);
    }

    fn rooms_made(&self, user: UserId, since: Timestamp, done: Done<u32>) {
        self.read(move |db| member::made_since(db, user, since), done);
    }
}
