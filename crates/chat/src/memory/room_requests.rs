//! The part of the port that is about room requests.

use super::MemoryStore;
use crate::rooms::{AddMember, MemberChanged, RoomLimits, RoomRequestStore};
use crate::{ConversationId, Done, Position, Refusal, UserId};

impl RoomRequestStore for MemoryStore {
    fn add_member(&self, add: AddMember, limits: RoomLimits, done: Done<Result<MemberChanged, Refusal>>) {
        self.write(move |tables| tables.add_member(add, limits), done);
    }

    fn decline_room_request(&self, room: ConversationId, user: UserId, done: Done<Option<Position>>) {
        self.write(move |tables| tables.decline_room_request(room, user), done);
    }

    fn decline_room_requests_by(
        &self,
        user: UserId,
        by: UserId,
        done: Done<(Vec<ConversationId>, Position)>,
    ) {
        self.write(move |tables| tables.decline_room_requests_by(user, by), done);
    }
}
