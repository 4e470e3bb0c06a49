//! Room requests in memory: the plain reading of what `RoomRequestStore` promises.

use super::Tables;
use crate::rooms::{
    Act, AddMember, AddOutcome, BeforeAdd, LeftReason, MOST_ROOM_ANSWERS, MemberChanged, MemberRow,
    RoomLimits, RoomRequestState, Standing, add_outcome, may_show, requested_conversation,
};
use crate::{ConversationId, ConversationRow, Position, Refusal, Timestamp, UserId};

use RoomRequestState::{Accepted, Declined, Pending, Withdrawn};

#[derive(Clone, Copy)]
pub(super) struct Entry {
    state: RoomRequestState,
    changed: u64,
    time: Timestamp,
}

impl Tables {
    pub(in crate::memory) fn add_member(
        &mut self,
        add: AddMember,
        limits: RoomLimits,
    ) -> Result<MemberChanged, Refusal> {
        let AddMember { room: id, by, user, rule, time } = add;
        let of = if self.rooms.contains_key(&id) { self.standing_at(id, user, time) } else { Standing::Out };
        let room = self.allowed(id, by, Act::Invite(of))?.room();
        let row =
            self.users.get(&user).filter(|row| row.id.site == id.site).cloned().ok_or(Refusal::NoSuchUser)?;
        let answer = |tables: &Tables, seen, requested| {
            let standing = tables.rooms[&id].standing(user);
            let member = MemberRow { user: row.clone(), standing };
            Ok(MemberChanged { member, position: tables.position(), seen, left: None, requested })
        };
        if of.role().is_some() {
            return answer(self, None, false);
        }
        let outcome = add_outcome(rule, self.before_add(&add))?;
        if outcome == AddOutcome::Ignore {
            return answer(self, None, true);
        }
        may_show(rule, &room)?;
        let day = time.0 / super::requests::DAY_MS;
        if let Some(per_day) = rule.per_day {
            let (last, count) = self.requests.get(&by).copied().unwrap_or_default();
            let today = if last == day { count } else { 0 };
            if today >= per_day {
                return Err(Refusal::TooManyRequests);
            }
            self.has_room_for_one(Some(id), user, limits)?;
            self.requests.insert(by, (day, today + 1));
        }
        self.has_room_for_one(Some(id), user, limits)?;
        let state = if outcome == AddOutcome::Add { Accepted } else { Pending };
        if outcome == AddOutcome::Add {
            self.put_member(id, user, Ok(self.role_of_new(id, user, time)));
            self.came_in(id, user);
        }
        let changed = if outcome == AddOutcome::Add { self.number } else { self.commit() };
        self.room_requests.insert((user, id, by), Entry { state, changed, time });
        self.forget_old_answers(user);
        let seen = match outcome {
            AddOutcome::Add => self.room_row(user, id),
            _ => self.room_request(user, id),
        };
        answer(self, seen, outcome == AddOutcome::Ask)
    }

    fn before_add(&self, add: &AddMember) -> BeforeAdd {
        let of_user = || self.room_requests.iter().filter(|((user, ..), _)| *user == add.user);
        let of_room = || of_user().filter(|((_, room, _), _)| *room == add.room);
        BeforeAdd {
            by_same: self.room_requests.get(&(add.user, add.room, add.by)).map(|entry| entry.state),
            declined: of_room().any(|(_, entry)| entry.state == Declined),
            left: self.rooms[&add.room].state(add.user) == Some(Err(LeftReason::Left)),
            pending: of_user().filter(|(_, entry)| entry.state == Pending).count() as u32,
        }
    }

    fn forget_old_answers(&mut self, user: UserId) {
        let answered = self.room_requests.iter();
        let answered = answered.filter(|((of, ..), entry)| *of == user && entry.state != Pending);
        let mut answered: Vec<_> = answered.map(|(key, entry)| (entry.time, *key)).collect();
        answered.sort_unstable();
        let surplus = answered.len().saturating_sub(MOST_ROOM_ANSWERS as usize);
        for (_, key) in &answered[..surplus] {
            self.room_requests.remove(key);
        }
    }

    /// The user is a member now: pending requests are accepted, and what was declined before does not count any more.
    pub(super) fn came_in(&mut self, room: ConversationId, user: UserId) {
        self.room_requests.retain(|(of, to, _), entry| (*of, *to) != (user, room) || entry.state == Pending);
        self.set_requests(room, user, Pending, Accepted);
    }

    /// The user left: whoever brought them in cannot do it again.
    pub(super) fn went_out(&mut self, room: ConversationId, user: UserId) {
        self.set_requests(room, user, Accepted, Declined);
    }

    /// Answers whether there were any.
    fn set_requests(
        &mut self,
        room: ConversationId,
        user: UserId,
        from: RoomRequestState,
        to: RoomRequestState,
    ) -> bool {
        let meant = self.room_requests.iter_mut().filter(|((of, at, _), _)| (*of, *at) == (user, room));
        let meant: Vec<_> = meant.map(|(_, entry)| entry).filter(|entry| entry.state == from).collect();
        let any = !meant.is_empty();
        meant.into_iter().for_each(|entry| entry.state = to);
        any
    }

    fn end_requests(&mut self, room: ConversationId, user: UserId, to: RoomRequestState) -> bool {
        let number = self.number + 1;
        let meant = self
            .room_requests
            .iter_mut()
            .filter(|((of, at, _), entry)| (*of, *at) == (user, room) && entry.state == Pending);
        let mut any = false;
        for (_, entry) in meant {
            (entry.state, entry.changed, any) = (to, number, true);
        }
        if any {
            self.number = number;
        }
        any
    }

    /// Answers whether one was pending.
    pub(super) fn withdraw_requests(&mut self, room: ConversationId, user: UserId) -> bool {
        self.end_requests(room, user, Withdrawn)
    }

    pub(in crate::memory) fn decline_room_request(
        &mut self,
        room: ConversationId,
        user: UserId,
    ) -> Option<Position> {
        self.end_requests(room, user, Declined).then(|| self.position())
    }

    pub(in crate::memory) fn decline_room_requests_by(
        &mut self,
        user: UserId,
        by: UserId,
    ) -> (Vec<ConversationId>, Position) {
        let number = self.number + 1;
        let mut rooms = Vec::new();
        for ((of, room, from), entry) in &mut self.room_requests {
            if (*of, *from) == (user, by) && entry.state == Pending {
                (entry.state, entry.changed) = (Declined, number);
                rooms.push(*room);
            }
        }
        if !rooms.is_empty() {
            self.number = number;
        }
        rooms.retain(|room| !self.has_room_request(*room, user));
        (rooms, self.position())
    }

    pub(super) fn has_room_request(&self, room: ConversationId, user: UserId) -> bool {
        self.pending(room, user).is_some()
    }

    /// The oldest of those whose makers are not banned.
    fn pending(&self, room: ConversationId, user: UserId) -> Option<(UserId, Entry)> {
        let meant = self
            .room_requests
            .iter()
            .filter(|((of, at, _), entry)| (*of, *at) == (user, room) && entry.state == Pending);
        let meant = meant.map(|((.., by), entry)| (*by, *entry));
        let here = meant.filter(|(by, _)| self.users.get(by).is_some_and(|row| !row.banned));
        here.min_by_key(|(by, entry)| (entry.time, by.num))
    }

    /// Rooms into which the user is asked.
    pub(super) fn requested_rooms(&self, user: UserId) -> Vec<ConversationId> {
        let pending = self.room_requests.iter();
        let pending = pending.filter(|((of, ..), entry)| *of == user && entry.state == Pending);
        let mut rooms: Vec<ConversationId> = pending.map(|((_, room, _), _)| *room).collect();
        rooms.dedup();
        rooms.retain(|room| self.has_room_request(*room, user));
        rooms
    }

    pub(super) fn room_request_is_new(&self, room: ConversationId, user: UserId, since: u64) -> bool {
        self.pending(room, user).is_some_and(|(_, entry)| entry.changed > since)
    }

    pub(super) fn room_requests_ended_since(
        &self,
        user: UserId,
        since: u64,
    ) -> Vec<(ConversationId, LeftReason)> {
        let ended = self.room_requests.iter().filter(|((of, ..), entry)| {
            *of == user && entry.changed > since && matches!(entry.state, Declined | Withdrawn)
        });
        let mut rooms: Vec<ConversationId> = ended.map(|((_, room, _), _)| *room).collect();
        rooms.dedup();
        rooms.retain(|room| {
            !self.has_room_request(*room, user)
                && self.rooms[room].state(user).is_none_or(|state| state.is_err())
        });
        rooms.into_iter().map(|room| (room, LeftReason::Left)).collect()
    }

    /// The room as the user sees it who is asked.
    pub(super) fn room_request(&self, user: UserId, id: ConversationId) -> Option<ConversationRow> {
        let (by, entry) = self.pending(id, user)?;
        let room = self.rooms.get(&id)?.room();
        Some(requested_conversation(id, &room, self.user_by_id(by)?, entry.time))
    }

    pub(super) fn forget_room_requests(&mut self, is_meant: impl Fn(UserId) -> bool) {
        self.room_requests.retain(|(user, _, by), _| !is_meant(*user) && !is_meant(*by));
    }
}
