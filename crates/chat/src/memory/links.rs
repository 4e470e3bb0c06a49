//! The part of the port that is about invitations into rooms.

use super::MemoryStore;
use crate::rooms::{Invited, Joined, LinkCode, LinkStore, NewLink, RoomLimits, RoomLink};
use crate::{ConversationId, Done, Refusal, Timestamp, UserId};

impl LinkStore for MemoryStore {
    fn make_link(
        &self,
        room: ConversationId,
        by: UserId,
        new: NewLink,
        now: Timestamp,
        done: Done<Result<RoomLink, Refusal>>,
    ) {
        self.write(move |tables| tables.make_link(room, by, new, now), done);
    }

    fn links(
        &self,
        room: ConversationId,
        asker: UserId,
        now: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    ) {
        self.read(move |tables| tables.list_links(room, asker, now), done);
    }

    fn take_back_link(
        &self,
        room: ConversationId,
        by: UserId,
        code: LinkCode,
        now: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    ) {
        self.write(move |tables| tables.take_back_link(room, by, code, now), done);
    }

    fn open_link(
        &self,
        code: LinkCode,
        user: UserId,
        now: Timestamp,
        done: Done<Result<Box<Invited>, Refusal>>,
    ) {
        self.read(move |tables| tables.open_link(code, user, now), done);
    }

    fn join_link(
        &self,
        code: LinkCode,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    ) {
        self.write(move |tables| tables.join_link(code, user, limits, now), done);
    }
}
