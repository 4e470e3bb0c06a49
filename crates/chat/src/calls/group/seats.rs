//! The calls of rooms in a shard of the table, next to the direct calls. One lock covers both, because a user
//! is in at most one call.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::atomic::Ordering;

use crate::calls::group::machine::{GroupCall, GroupEffects, Joining};
use crate::calls::group::{GroupNews, GroupStanding, Place};
use crate::calls::table::{NO_ROOM, Shard, take_due};
use crate::calls::{AWAY_MS, CallEntry, Media, Outcome};
use crate::limits::Rate;
use crate::session::NumberHasher;
use crate::{CallId, ConversationId, Refusal, SessionId, Sub, Timestamp, UserId};

type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

#[derive(Default)]
pub(crate) struct Groups {
    by_id: ByNumber<CallId, GroupCall>,
    by_room: ByNumber<ConversationId, CallId>,
    /// Calls in which a participant went away, with the time; ascending.
    away: VecDeque<(Timestamp, CallId)>,
}

/// The result of a step of a room's call.
pub(crate) struct GroupMoved {
    pub(crate) room: ConversationId,
    pub(crate) effects: GroupEffects,
    /// The new state and its receivers, if the set of participants changed.
    pub(crate) standing: Option<(std::sync::Arc<[u32]>, GroupStanding)>,
    /// The call is over and had at least two participants.
    pub(crate) left: Option<GroupLeft>,
}

/// The entry of a finished call of a room.
pub(crate) struct GroupLeft {
    pub(crate) entry: CallEntry,
    pub(crate) room: ConversationId,
    pub(crate) from: (UserId, Sub),
}

/// The outcome of a join.
pub(crate) enum JoinOutcome {
    In(Box<GroupMoved>),
    /// Relations to these participants must be read before the join.
    Unknown(Vec<UserId>),
}

impl Shard {
    pub(crate) fn group_of_room(&mut self, room: ConversationId) -> Option<&mut GroupCall> {
        let id = self.groups.by_room.get(&room)?;
        self.groups.by_id.get_mut(id)
    }

    /// Joins the call of a room, or starts it. `known`: participants whose relation to the user was read.
    /// `is_here`: whether the session still exists. It is checked after this call is counted, so that the end
    /// of the session finds the call.
    #[allow(clippy::too_many_arguments, reason = "what was read, and the limits")]
    pub(crate) fn come(
        &mut self,
        (id, room, media): (CallId, ConversationId, Media),
        mut joining: Joining,
        known: &[UserId],
        pace: Rate,
        most: u32,
        is_here: impl FnOnce() -> bool,
        now: Timestamp,
    ) -> Result<JoinOutcome, Refusal> {
        let user = joining.session.user;
        let there = self.group_of_room(room).map(|call| call.id);
        if self.by_user.get(&user).is_some_and(|id| Some(*id) != there) {
            return Err(Refusal::InCall);
        }
        if let Some(call) = self.group_of_room(room) {
            let others: Vec<UserId> = call.users().filter(|other| *other != user).collect();
            if others.iter().any(|other| !known.contains(other)) {
                return Ok(JoinOutcome::Unknown(others));
            }
        }
        self.take_pace(user, pace, now)?;
        if there.is_none() && !self.has_room_for_call(user.site, most) {
            return Err(NO_ROOM);
        }
        self.totals.groups.fetch_add(u64::from(there.is_none()), Ordering::SeqCst);
        if there.is_none() {
            self.call_begins(user.site);
        }
        joining.place = Place(self.totals.places.fetch_add(1, Ordering::Relaxed));
        let id = there.unwrap_or(id);
        let came = match is_here() {
            true => {
                if there.is_none() {
                    let call = GroupCall::new(id, room, media, &joining, now);
                    self.groups.by_id.insert(id, call);
                    self.groups.by_room.insert(room, id);
                }
                self.with_group(id, now, |call| call.join(joining))
            }
            false => Err(Refusal::NoSession),
        };
        match came {
            Ok(moved) => {
                self.by_user.insert(user, id);
                Ok(JoinOutcome::In(Box::new(moved)))
            }
            Err(refusal) => {
                self.totals.groups.fetch_sub(u64::from(there.is_none()), Ordering::Relaxed);
                if there.is_none() {
                    self.call_is_over(user.site);
                    self.groups.by_id.remove(&id);
                    self.groups.by_room.remove(&room);
                }
                Err(refusal)
            }
        }
    }

    /// A step of a user who is in the call of this room.
    pub(crate) fn step_in_room(
        &mut self,
        room: ConversationId,
        now: Timestamp,
        step: impl FnOnce(&mut GroupCall) -> Result<GroupEffects, Refusal>,
    ) -> Result<GroupMoved, Refusal> {
        let id = *self.groups.by_room.get(&room).ok_or(Refusal::NoSuchCall)?;
        self.with_group(id, now, step)
    }

    /// A step of a user in any room's call.
    pub(crate) fn step_of_user(
        &mut self,
        user: UserId,
        now: Timestamp,
        step: impl FnOnce(&mut GroupCall) -> Option<GroupEffects>,
    ) -> Option<GroupMoved> {
        let id = *self.by_user.get(&user)?;
        self.with_group(id, now, |call| step(call).ok_or(Refusal::NoSuchCall)).ok()
    }

    pub(crate) fn session_left_group(
        &mut self,
        session: SessionId,
        on_purpose: bool,
        now: Timestamp,
    ) -> Option<GroupMoved> {
        let id = *self.by_user.get(&session.user)?;
        let moved =
            self.step_of_user(session.user, now, |call| call.session_ended(session.handle, on_purpose, now))?;
        if moved.effects.gone.is_empty() {
            while self.groups.away.front().is_some_and(|(_, id)| !self.groups.by_id.contains_key(id)) {
                self.groups.away.pop_front();
            }
            self.groups.away.push_back((now, id));
        }
        Some(moved)
    }

    /// The next call in which a participant was away for too long; None: no such call is left.
    pub(crate) fn next_due_group(&mut self, now: Timestamp) -> Option<GroupMoved> {
        loop {
            let id = take_due(&mut self.groups.away, AWAY_MS, now)?;
            let step = |call: &mut GroupCall| call.time_passed(now).ok_or(Refusal::NoSuchCall);
            if let Ok(moved) = self.with_group(id, now, step) {
                return Some(moved);
            }
        }
    }

    /// Applies a step to a call, and removes the call after its last one.
    fn with_group(
        &mut self,
        id: CallId,
        now: Timestamp,
        step: impl FnOnce(&mut GroupCall) -> Result<GroupEffects, Refusal>,
    ) -> Result<GroupMoved, Refusal> {
        let call = self.groups.by_id.get_mut(&id).ok_or(Refusal::NoSuchCall)?;
        let effects = step(call)?;
        let room = call.room;
        let standing = effects.changed.then(|| (call.members().clone(), call.standing()));
        for user in &effects.gone {
            self.by_user.remove(*user);
        }
        let mut left = None;
        if call.is_over() {
            let (media, ms) = (call.media, now.since(call.since));
            let entry = CallEntry { call: id, media, outcome: Outcome::Ended, ms };
            left = call.was_shared().then(|| GroupLeft { entry, room, from: call.host().clone() });
            self.groups.by_id.remove(&id);
            self.groups.by_room.remove(&room);
            self.totals.groups.fetch_sub(1, Ordering::Relaxed);
            self.call_is_over(room.site);
        }
        Ok(GroupMoved { room, effects, standing, left })
    }
}

impl GroupMoved {
    /// Takes the answer for the session that sent the command.
    pub(crate) fn take_answer(&mut self) -> Option<GroupNews> {
        self.effects.answer.take()
    }
}
