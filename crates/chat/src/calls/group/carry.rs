//! Carries out clients' actions in calls of rooms, and the effects of time, lost sessions and moderators.

use crate::calls::Event;
use std::sync::Arc;

use crate::calls::group::machine::{GroupEffects, Joining};
use crate::calls::group::seats::{GroupLeft, GroupMoved, JoinOutcome};
use crate::calls::group::{
    GroupAction, GroupCall, GroupEvent, GroupNews, GroupStanding, MOST_MEMBERS_CALLED, Place,
};
use crate::calls::signal::answer_to;
use crate::calls::store::{NewCallEntry, PostedCall};
use crate::calls::table::Shard;
use crate::calls::{Calls, CredentialFor, Media};
use crate::config::GUEST_SHARE;
use crate::limits::Rate;
use crate::session::{Asker, Completion, Handles};
use crate::store::unavailable;
use crate::{CallId, ConversationId, MOST_IN_GROUP, Refusal, Relation, SessionId, Timestamp, UserId};

/// Retries of a join, if others join while the relations to them are read.
const MOST_TRIES: u32 = 8;

/// A user who is about to join the call of a room.
struct Comer {
    asker: Asker,
    re: Option<u64>,
    room: ConversationId,
    media: Media,
    members: Arc<[u32]>,
    /// Participants with known relations, and those who must stay separated from the user.
    known: Vec<UserId>,
    apart: Vec<UserId>,
    tries: u32,
}

impl Calls {
    pub(crate) fn group_call(
        self: &Arc<Self>,
        asker: Asker,
        re: Option<u64>,
        room: ConversationId,
        action: GroupAction,
        now: Timestamp,
    ) {
        let session = asker.session;
        let moved = match action {
            _ if !room.is_room() => Err(Refusal::NoSuchConversation),
            GroupAction::Look => return self.look_for_group(&asker, re, room),
            GroupAction::Join { media } => return self.join_group(asker, re, room, media, now),
            GroupAction::Leave => {
                self.in_group(room, Some((session, re)), now, |call| call.leave(session.handle))
            }
            GroupAction::Signal { to, signal } => self.in_group(room, Some((session, re)), now, |call| {
                call.signal(session.handle, to, signal, now)
            }),
        };
        if let Err(refusal) = moved {
            self.sessions.refuse(session.handle, answer_to(re), refusal);
        }
    }

    /// Users who may not join must not learn of a call: they get the state without one. Without any call
    /// nothing is read.
    fn look_for_group(self: &Arc<Self>, asker: &Asker, re: Option<u64>, room: ConversationId) {
        let (session, most) = (asker.session, asker.most_in_group());
        let none = GroupNews::Standing(GroupStanding { most, call: None });
        if self.table.lock(session.user.site).group_of_room(room).is_none() {
            return self.send_group_event(session, re, room, None, none);
        }
        let to = answer_to(re);
        let done = self.on_loaded(session.handle, to, move |this, members: Result<Vec<UserId>, Refusal>| {
            let Ok(members) = members else {
                return this.send_group_event(session, re, room, None, none);
            };
            let members = members.iter().map(|member| member.num).collect();
            let mut shard = this.table.lock(session.user.site);
            let standing = shard.group_of_room(room).map(|call| {
                call.told_are(members);
                GroupNews::Standing(call.standing())
            });
            this.send_group_event(session, re, room, None, standing.unwrap_or(none));
        });
        self.store.few_members(room, session.user, MOST_MEMBERS_CALLED, done);
    }

    /// Members who may write in the room may join, and participants may rejoin although the room was frozen
    /// meanwhile.
    fn join_group(
        self: &Arc<Self>,
        asker: Asker,
        re: Option<u64>,
        room: ConversationId,
        media: Media,
        now: Timestamp,
    ) {
        let session = asker.session;
        if asker.most_in_group() == 0 {
            return self.sessions.refuse(session.handle, answer_to(re), Refusal::NotAllowed);
        }
        let done = self.then::<Result<Vec<UserId>, Refusal>>(move |this, members| {
            let members = match members.map_err(unavailable).flatten() {
                Ok(members) => members.iter().map(|member| member.num).collect(),
                Err(refusal) => match this.goes_on(session.user, room, refusal) {
                    Some(members) => members,
                    None => return this.sessions.refuse(session.handle, answer_to(re), refusal),
                },
            };
            let (known, apart) = (Vec::new(), Vec::new());
            this.come_to_group(Comer { asker, re, room, media, members, known, apart, tries: 0 }, now);
        });
        self.store.few_members(room, session.user, MOST_MEMBERS_CALLED, done);
    }

    /// The members to notify, if this user keeps a place in spite of the refusal. Users without any access
    /// have [left](Calls::out_of_group) already.
    fn goes_on(&self, user: UserId, room: ConversationId, refusal: Refusal) -> Option<Arc<[u32]>> {
        let silences_all = matches!(refusal, Refusal::Frozen | Refusal::ReadOnly);
        let mut shard = self.table.lock(room.site);
        let call = shard.group_of_room(room).filter(|_| silences_all)?;
        call.users().any(|one| one == user).then(|| call.members().clone())
    }

    fn come_to_group(self: &Arc<Self>, comer: Comer, now: Timestamp) {
        let (asker, config) = (&comer.asker, &self.config.calls);
        let (session, re, room) = (asker.session, comer.re, comer.room);
        let pace = Rate::per_minute(config.burst, config.per_minute);
        let pace = if asker.guest { pace.slowed(GUEST_SHARE) } else { pace };
        let (id, _) = self.draw();
        let joining = Joining {
            session,
            sub: asker.sub.clone(),
            place: Place(0),
            most: asker.most_in_group(),
            apart: comer.apart.clone(),
            members: comer.members.clone(),
        };
        let is_here = || self.sessions.lock(session.user).session(session.user, session.handle).is_some();
        let mut shard = self.table.lock(session.user.site);
        let call = (id, room, comer.media);
        let came = shard.come(call, joining, &comer.known, pace, config.most, is_here, now);
        match came {
            Ok(JoinOutcome::In(moved)) => {
                self.carry_group(&mut shard, *moved, Some((session, re)));
            }
            Ok(JoinOutcome::Unknown(_)) if comer.tries >= MOST_TRIES => {
                drop(shard);
                let refusal = Refusal::Overloaded { retry_after_ms: 1_000 };
                self.sessions.refuse(session.handle, answer_to(re), refusal);
            }
            Ok(JoinOutcome::Unknown(others)) => {
                drop(shard);
                self.ask_who_is_apart(comer, &others, now);
            }
            Err(refusal) => {
                drop(shard);
                self.sessions.refuse(session.handle, answer_to(re), refusal);
            }
        }
    }

    fn ask_who_is_apart(self: &Arc<Self>, comer: Comer, others: &[UserId], now: Timestamp) {
        let (this, user, asked) = (self.clone(), comer.asker.session.user, others.to_vec());
        self.users.with_relations(user, others, move |relations| match relations {
            Ok(relations) => {
                let both = asked.iter().zip(&relations);
                let apart = both.filter(|(_, relation)| is_apart(**relation)).map(|(other, _)| *other);
                let apart = apart.collect();
                this.come_to_group(Comer { known: asked, apart, tries: comer.tries + 1, ..comer }, now);
            }
            Err(error) => {
                this.sessions.refuse(comer.asker.session.handle, answer_to(comer.re), unavailable(error));
            }
        });
    }

    /// A step in the call of this room.
    fn in_group(
        self: &Arc<Self>,
        room: ConversationId,
        asker: Option<(SessionId, Option<u64>)>,
        now: Timestamp,
        step: impl FnOnce(&mut GroupCall) -> Result<GroupEffects, Refusal>,
    ) -> Result<(), Refusal> {
        let mut shard = self.table.lock(room.site);
        let moved = shard.step_in_room(room, now, step)?;
        let left = self.carry_group(&mut shard, moved, asker);
        drop(shard);
        self.keep_group(left, now);
        Ok(())
    }

    /// The user is no longer a member of the room, or is muted, and leaves its call. `hears`: the user still
    /// gets the state.
    pub(crate) fn out_of_group(self: &Arc<Self>, user: UserId, room: ConversationId, hears: bool) {
        if self.table.groups() == 0 {
            return;
        }
        let now = self.sessions.last_tick();
        let mut shard = self.table.lock(room.site);
        let moved = shard.step_in_room(room, now, |call| {
            if !hears {
                call.no_member(user);
            }
            call.take_out(user).ok_or(Refusal::NoSuchCall)
        });
        let Ok(moved) = moved else { return };
        let left = self.carry_group(&mut shard, moved, None);
        drop(shard);
        // The entry of the call must not make a user a member of the room again.
        self.keep_group(left.filter(|left| hears || left.from.0 != user), now);
    }

    /// Applies a block between two participants of one call.
    pub(crate) fn blocked_in_group(&self, one: UserId, other: UserId) {
        if self.table.groups() == 0 {
            return;
        }
        let mut shard = self.table.lock(one.site);
        let moved = shard.step_of_user(one, self.sessions.last_tick(), |call| call.blocked(one, other));
        if let Some(moved) = moved {
            self.carry_group(&mut shard, moved, None);
        }
    }

    /// Handles the end of a session, after its removal from the table of sessions.
    pub(crate) fn group_lost(self: &Arc<Self>, session: SessionId, on_purpose: bool, now: Timestamp) {
        if self.table.groups() == 0 {
            return;
        }
        let mut shard = self.table.lock(session.user.site);
        let Some(moved) = shard.session_left_group(session, on_purpose, now) else { return };
        let left = self.carry_group(&mut shard, moved, None);
        drop(shard);
        self.keep_group(left, now);
    }

    /// Removes participants who were away for too long.
    pub(crate) fn end_groups(self: &Arc<Self>, now: Timestamp) {
        if self.table.groups() == 0 {
            return;
        }
        for mut shard in self.table.each() {
            let mut all = Vec::new();
            while let Some(moved) = shard.next_due_group(now) {
                all.push(self.carry_group(&mut shard, moved, None));
            }
            drop(shard);
            all.into_iter().for_each(|left| self.keep_group(left, now));
        }
    }

    /// Hands over the effects of a step while the shard is locked, so that all receive them before those of
    /// the next step.
    fn carry_group(
        &self,
        locked: &mut Shard,
        mut moved: GroupMoved,
        asker: Option<(SessionId, Option<u64>)>,
    ) -> Option<GroupLeft> {
        let room = moved.room;
        if let (Some((session, re)), Some(answer)) = (asker, moved.take_answer()) {
            // A request without a number gets no plain *done*.
            if re.is_some() || !matches!(answer, GroupNews::Done) {
                let call = locked.by_user.get(&session.user).copied();
                self.send_group_event(session, re, room, call, answer);
            }
        }
        for (handle, news) in moved.effects.events {
            let event = GroupEvent { room, news, ice: None };
            self.sessions.send(handle, Event::GroupCall(Arc::new(event)));
        }
        if let Some((members, standing)) = moved.standing {
            let mut handles = Handles::new();
            for &num in members.iter() {
                let user = UserId { site: room.site, num };
                self.sessions.lock(user).live(user, None, &mut handles);
            }
            let news = GroupNews::Standing(standing);
            let event = GroupEvent { room, news, ice: None };
            self.sessions.send_all(&handles, Event::GroupCall(Arc::new(event)));
        }
        moved.left
    }

    fn send_group_event(
        &self,
        to: SessionId,
        re: Option<u64>,
        room: ConversationId,
        call: Option<CallId>,
        news: GroupNews,
    ) {
        let joined = call.filter(|_| matches!(news, GroupNews::Joined { .. }));
        let ice = joined
            .map(|call| self.config.calls.ice(to.user, CredentialFor::Call(call), self.sessions.last_tick()));
        let event = Event::GroupCall(Arc::new(GroupEvent { room, news, ice }));
        self.sessions.answer_if_asked(to.handle, re, event);
    }

    /// Stores the entry of a finished call in the room. A failure has no further effect: the call itself is
    /// over.
    fn keep_group(self: &Arc<Self>, left: Option<GroupLeft>, now: Timestamp) {
        let Some(GroupLeft { entry, room, from: (user, sub) }) = left else { return };
        let new = NewCallEntry { conversation: room, from: user, entry, time: now };
        let done = self.then(move |this, posted| match posted {
            Ok(Ok(PostedCall { appended, members })) => {
                this.counters.messages.add(1);
                let message = entry.message(room, sub, &appended);
                let event = crate::Event::message(Arc::new(message));
                this.sessions.publish_to_members(room.site, &members, appended.position, None, event);
            }
            // The last participant was removed from the room, and may not write there.
            Ok(Err(refusal)) => tracing::debug!(%refusal, "the store refused the entry of a group call"),
            Err(error) => tracing::warn!(%error, "cannot store the entry of a group call"),
        });
        self.store.post_call(new, self.config.limits.rooms, done);
    }
}

impl Asker {
    /// Most participants of a call in a room of this site.
    fn most_in_group(&self) -> u8 {
        self.site.site.settings.calls.group.min(MOST_IN_GROUP)
    }
}

fn is_apart(relation: Relation) -> bool {
    relation.is_blocked()
}
