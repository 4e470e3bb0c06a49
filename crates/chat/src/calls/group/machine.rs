//! The state machine of a room's call: its participants and the effects of each step. It uses no clock, table or socket.
//!
//! ```text
//!          joins               session ends                 20 s
//! nobody ────────► here ────────────────────────► away ───────────► gone
//!                   │ ▲            joins again      │                ▲
//!                   │ └─────────────────────────────┘                │
//!                   └────────────────────────────────────────────────┘
//!                     leaves · is no member any more · is muted
//! ```
//!
//! The call is over when the last participant is gone. It keeps no description and no candidate: a new participant sends
//! offers to all present ones, and a returning one starts again.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::calls::group::topology::{Mesh, Topology};
use crate::calls::group::{GroupNews, GroupSignal, GroupStanding, GroupUnderWay, Participant, Place};
use crate::calls::machine::{CLOCK_JUMP_MS, check_description};
use crate::calls::{AWAY_MS, CANDIDATE_BYTES, Media};
use crate::limits::{Due, Rate};
use crate::{CallId, ConversationId, Refusal, SessionHandle, SessionId, Sub, Timestamp, UserId};

/// A dozen for each of five others, and as many again after a change of network.
fn candidate_rate() -> Rate {
    Rate::per_minute(300, 300)
}

/// One for each of five others, and again for changes that people make by hand.
fn description_rate() -> Rate {
    Rate::per_minute(60, 60)
}

/// At most 6 seats and 500 numbers of members: less than 3 KiB.
pub(crate) struct GroupCall<T = Mesh> {
    pub(crate) id: CallId,
    pub(crate) room: ConversationId,
    pub(crate) media: Media,
    pub(crate) since: Timestamp,
    /// The author of the call's entry in the history: the user who started the call, or the one who has been in it
    /// longest.
    host: (UserId, Sub),
    most: u8,
    /// In the order of joining.
    seats: Vec<Seat>,
    /// Pairs of user numbers of which one user has blocked the other.
    apart: Vec<[u32; 2]>,
    /// Two participants were in the call at the same time.
    was_shared: bool,
    /// The members who get the state of the call, by number.
    members: Arc<[u32]>,
    topology: T,
}

struct Seat {
    user: UserId,
    sub: Sub,
    place: Place,
    at: At,
    candidates: Due,
    descriptions: Due,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Here(SessionHandle),
    Away(Timestamp),
}

/// A user who may join, with the data that was read for the check.
pub(crate) struct Joining {
    pub(crate) session: SessionId,
    pub(crate) sub: Sub,
    pub(crate) place: Place,
    /// Most participants, by the site's current settings.
    pub(crate) most: u8,
    /// Participants who have blocked the user or whom the user has blocked.
    pub(crate) apart: Vec<UserId>,
    /// The members of the room, from the read that checked the access.
    pub(crate) members: Arc<[u32]>,
}

/// The effects of a step.
#[derive(Default)]
pub(crate) struct GroupEffects {
    /// For the session that sent the command.
    pub(crate) answer: Option<GroupNews>,
    pub(crate) events: SmallVec<[(SessionHandle, GroupNews); 2]>,
    /// Users who lost their place.
    pub(crate) gone: SmallVec<[UserId; 1]>,
    /// The set of participants changed: the members receive the new state.
    pub(crate) changed: bool,
}

impl<T: Topology> GroupCall<T> {
    /// A call without participants.
    pub(crate) fn new(
        id: CallId,
        room: ConversationId,
        media: Media,
        host: &Joining,
        now: Timestamp,
    ) -> Self {
        GroupCall {
            id,
            room,
            media,
            since: now,
            host: (host.session.user, host.sub.clone()),
            most: host.most,
            seats: Vec::new(),
            apart: Vec::new(),
            was_shared: false,
            members: host.members.clone(),
            topology: T::default(),
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.seats.is_empty()
    }

    /// The call leaves an entry in the room's history. A call with only one participant leaves none.
    pub(crate) fn was_shared(&self) -> bool {
        self.was_shared
    }

    pub(crate) fn host(&self) -> &(UserId, Sub) {
        &self.host
    }

    pub(crate) fn members(&self) -> &Arc<[u32]> {
        &self.members
    }

    pub(crate) fn users(&self) -> impl Iterator<Item = UserId> {
        self.seats.iter().map(|seat| seat.user)
    }

    pub(crate) fn standing(&self) -> GroupStanding {
        let here: Vec<Sub> = self.seats.iter().map(|seat| seat.sub.clone()).collect();
        let call = GroupUnderWay { media: self.media, since: self.since, here };
        GroupStanding { most: self.most, call: Some(call).filter(|call| !call.here.is_empty()) }
    }

    /// Replaces the list of members who receive the state.
    pub(crate) fn told_are(&mut self, members: Arc<[u32]>) {
        self.members = members;
    }

    /// Removes a user who is no longer a member.
    pub(crate) fn no_member(&mut self, user: UserId) {
        if self.members.contains(&user.num) {
            self.members = self.members.iter().copied().filter(|num| *num != user.num).collect();
        }
    }

    /// Adds the user, or moves them to a new place if they are in the call. The new session may be any of the
    /// user's, even if the end of the old one was not noticed yet.
    pub(crate) fn join(&mut self, joining: Joining) -> Result<GroupEffects, Refusal> {
        let Joining { session, sub, place, most, apart, members } = joining;
        let (at, is_full) = (At::Here(session.handle), self.seats.len() >= usize::from(most));
        let mut effects = GroupEffects::default();
        match self.seats.iter_mut().find(|seat| seat.user == session.user) {
            Some(seat) => {
                if let At::Here(before) = std::mem::replace(&mut seat.at, at)
                    && before != session.handle
                {
                    effects.events.push((before, GroupNews::Elsewhere));
                }
                seat.place = place;
            }
            None if is_full => return Err(Refusal::CallFull),
            None => {
                let (candidates, descriptions) = (Due::default(), Due::default());
                self.seats.push(Seat { user: session.user, sub, place, at, candidates, descriptions });
                effects.changed = true;
            }
        }
        (self.most, self.members) = (most, members);
        self.part(session.user, &apart);
        self.was_shared |= self.seats.len() > 1;
        let me = self.seat_of(session.user).expect("they have just taken it");
        let others = || self.seats.iter().filter(|seat| seat.user != session.user);
        let here = others().map(|seat| self.participant(seat, me)).collect();
        let (media, since) = (self.media, self.since);
        effects.answer = Some(GroupNews::Joined { place, media, since, most, here });
        for (other, handle) in others().filter_map(|seat| Some((seat, seat.handle()?))) {
            effects.events.push((handle, GroupNews::Came(self.participant(me, other))));
        }
        Ok(effects)
    }

    pub(crate) fn leave(&mut self, by: SessionHandle) -> Result<GroupEffects, Refusal> {
        let user = self.seat_at(by).ok_or(Refusal::NoSuchCall)?.user;
        Ok(GroupEffects { answer: Some(GroupNews::Left), ..self.remove(user) })
    }

    /// Removes a user who has lost the right to take part.
    pub(crate) fn take_out(&mut self, user: UserId) -> Option<GroupEffects> {
        let handle = self.seat_of(user)?.handle();
        let mut effects = self.remove(user);
        effects.events.extend(handle.map(|handle| (handle, GroupNews::Left)));
        Some(effects)
    }

    /// Forwards a signal. Signals to participants who are gone, away or blocked are dropped without an error:
    /// those need none of it, and the sender must not learn the reason.
    pub(crate) fn signal(
        &mut self,
        by: SessionHandle,
        to: Place,
        signal: GroupSignal,
        now: Timestamp,
    ) -> Result<GroupEffects, Refusal> {
        signal.check()?;
        let seat = self.seats.iter_mut().find(|seat| seat.handle() == Some(by)).ok_or(Refusal::NoSuchCall)?;
        match signal {
            GroupSignal::Candidate(_) => candidate_rate().take(&mut seat.candidates, now)?,
            GroupSignal::Offer(_) | GroupSignal::Answer(_) => {
                description_rate().take(&mut seat.descriptions, now)?;
            }
        }
        let mut effects = GroupEffects { answer: Some(GroupNews::Done), ..GroupEffects::default() };
        let me = self.seat_at(by).expect("found above");
        let other = self.seats.iter().find(|seat| seat.place == to && self.pairs(me, seat));
        if let Some(handle) = other.and_then(Seat::handle) {
            effects.events.push((handle, GroupNews::Signal { from: me.place, signal }));
        }
        Ok(effects)
    }

    /// Handles the end of a session. `on_purpose`: it does not come back. None: the session had no place
    /// here.
    pub(crate) fn session_ended(
        &mut self,
        by: SessionHandle,
        on_purpose: bool,
        now: Timestamp,
    ) -> Option<GroupEffects> {
        let seat = self.seats.iter_mut().find(|seat| seat.handle() == Some(by))?;
        let (user, place) = (seat.user, seat.place);
        if on_purpose {
            return Some(self.remove(user));
        }
        seat.at = At::Away(now);
        Some(GroupEffects { events: self.to_others(user, &GroupNews::Away { place }), ..Default::default() })
    }

    /// Removes participants who were away for too long.
    pub(crate) fn time_passed(&mut self, now: Timestamp) -> Option<GroupEffects> {
        let is_late = |since: Timestamp| now.since(since) >= AWAY_MS || since.0 > now.0 + CLOCK_JUMP_MS;
        let late = |seat: &&Seat| matches!(seat.at, At::Away(since) if is_late(since));
        let user = self.seats.iter().find(late)?.user;
        Some(self.remove(user))
    }

    /// Applies a block or its end. Existing connections of the two end. New ones need a join of either.
    pub(crate) fn blocked(&mut self, one: UserId, other: UserId) -> Option<GroupEffects> {
        let (a, b) = (self.seat_of(one)?, self.seat_of(other)?);
        let news = |place| GroupNews::Apart { place };
        let events = [(a.handle(), news(b.place)), (b.handle(), news(a.place))];
        let events = events.into_iter().filter_map(|(handle, news)| Some((handle?, news))).collect();
        if !self.apart.contains(&pair(one, other)) {
            self.apart.push(pair(one, other));
        }
        Some(GroupEffects { events, ..GroupEffects::default() })
    }

    fn remove(&mut self, user: UserId) -> GroupEffects {
        let Some(at) = self.seats.iter().position(|seat| seat.user == user) else {
            return GroupEffects::default();
        };
        let seat = self.seats.remove(at);
        self.apart.retain(|pair| !pair.contains(&user.num));
        if let Some(longest) = self.seats.first().filter(|_| self.host.0 == user) {
            self.host = (longest.user, longest.sub.clone());
        }
        let events = self.to_others(user, &GroupNews::Went { place: seat.place });
        GroupEffects { answer: None, events, gone: smallvec![user], changed: true }
    }

    fn to_others(&self, user: UserId, news: &GroupNews) -> SmallVec<[(SessionHandle, GroupNews); 2]> {
        let others = self.seats.iter().filter(|seat| seat.user != user);
        others.filter_map(|seat| Some((seat.handle()?, news.clone()))).collect()
    }

    /// Replaces the users from whom `user` is separated.
    fn part(&mut self, user: UserId, from: &[UserId]) {
        self.apart.retain(|pair| !pair.contains(&user.num));
        let here = from.iter().filter(|other| self.seats.iter().any(|seat| seat.user == **other));
        let pairs: Vec<[u32; 2]> = here.map(|other| pair(user, *other)).collect();
        self.apart.extend(pairs);
    }

    fn is_apart(&self, one: UserId, other: UserId) -> bool {
        self.apart.contains(&pair(one, other))
    }

    fn pairs(&self, one: &Seat, other: &Seat) -> bool {
        self.topology.pairs(one.place, other.place) && !self.is_apart(one.user, other.user)
    }

    /// The participant of `seat`, as the participant of `by` sees them.
    fn participant(&self, seat: &Seat, by: &Seat) -> Participant {
        let away = seat.handle().is_none();
        let apart = !self.pairs(seat, by);
        Participant { user: seat.sub.clone(), place: seat.place, away, apart }
    }

    fn seat_of(&self, user: UserId) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.user == user)
    }

    fn seat_at(&self, session: SessionHandle) -> Option<&Seat> {
        self.seats.iter().find(|seat| seat.handle() == Some(session))
    }
}

impl Seat {
    fn handle(&self) -> Option<SessionHandle> {
        match self.at {
            At::Here(handle) => Some(handle),
            At::Away(_) => None,
        }
    }
}

impl GroupSignal {
    fn check(&self) -> Result<(), Refusal> {
        match self {
            GroupSignal::Offer(text) | GroupSignal::Answer(text) => check_description(text),
            GroupSignal::Candidate(text) if text.len() > CANDIDATE_BYTES => Err(Refusal::BadValue),
            GroupSignal::Candidate(_) => Ok(()),
        }
    }
}

/// A key that does not depend on the order of the two.
fn pair(one: UserId, other: UserId) -> [u32; 2] {
    [one.num.min(other.num), one.num.max(other.num)]
}

#[cfg(test)]
mod tests;
