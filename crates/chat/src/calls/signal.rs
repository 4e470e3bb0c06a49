//! Carries out clients' actions in direct calls, and the effects of time and lost sessions.

use crate::calls::Event;
use std::sync::Arc;

use rand::Rng;

use crate::calls::machine::{Recipient, check_length};
use crate::calls::store::NewCallEntry;
use crate::calls::table::{Invitation, Invited, Moved, Shard};
use crate::calls::{
    CallAction, CallEntry, CallEvent, CallNews, CallTicket, Calls, CredentialFor, Media, Outcome,
};
use crate::command::AnswerTo;
use crate::config::GUEST_SHARE;
use crate::contacts::message_requests::{is_stranger, rules};
use crate::limits::Rate;
use crate::notifications::{PushedRing, RingingCall};
use crate::privacy::{Signal, Visibility};
use crate::session::{Asker, Completion};
use crate::users::peer::{Peer, PeerJob, may_write};
use crate::{
    CallId, CallsFrom, ConversationId, ConversationRow, Message, Mode, Refusal, Relation, SessionHandle,
    SessionId, Sub, Timestamp, To, UserId,
};

/// Whether a user may call another. Users who may not write may not call either, and get the same refusal.
pub(crate) fn may_call(from: CallsFrom, mode: Mode, peer_is_banned: bool, relation: Relation) -> bool {
    let known = match from {
        CallsFrom::Nobody => false,
        CallsFrom::Contacts => relation.is_contact(),
        CallsFrom::Everyone => true,
    };
    known && may_write(mode, peer_is_banned, relation)
}

/// An invitation to a call, before its callee is known.
pub(crate) struct Invite {
    pub(crate) re: Option<u64>,
    pub(crate) user: Sub,
    pub(crate) media: Media,
    pub(crate) offer: Arc<str>,
}

/// An invitation to a call.
pub(crate) struct InviteJob {
    pub(crate) calls: Arc<Calls>,
    pub(crate) invite: Invite,
}

impl PeerJob for InviteJob {
    fn begins_conversation(&self) -> bool {
        true
    }

    fn answer_to(&self) -> AnswerTo {
        self.invite.re.map_or(AnswerTo::Session, AnswerTo::Request)
    }

    fn run(self, asker: &Asker, peer: &Peer, now: Timestamp) {
        self.calls.invite(asker, peer, self.invite, now);
    }
}

impl Calls {
    pub(crate) fn call(
        self: &Arc<Self>,
        asker: Asker,
        is_waiting: bool,
        re: Option<u64>,
        action: CallAction,
        now: Timestamp,
    ) {
        let (id, step) = match action {
            CallAction::Invite { user, media, offer } => {
                let invite = Invite { re, user: user.clone(), media, offer };
                return self.users.for_peer(
                    asker,
                    is_waiting,
                    To::User(user),
                    InviteJob { calls: self.clone(), invite },
                    now,
                );
            }
            CallAction::Of(id, step) => (id, step),
        };
        let session = asker.session;
        let (_, ticket) = self.draw();
        let mut shard = self.table.lock(session.user.site);
        let moved = shard.step(id, session, step, ticket, now);
        let moved = moved.map(|moved| self.carry_on(&mut shard, moved, Some((session, re)), now));
        drop(shard);
        match moved {
            Ok(after) => self.finish(after, now),
            Err(refusal) => self.sessions.refuse(session.handle, answer_to(re), refusal),
        }
    }

    pub(crate) fn invite(self: &Arc<Self>, asker: &Asker, peer: &Peer, invite: Invite, now: Timestamp) {
        let Invite { re, user, media, offer } = invite;
        let (session, config) = (asker.session, &self.config.calls);
        let site = &asker.site.site;
        let from = site.settings.calls.from.unwrap_or(config.from);
        let allowed = may_call(from, site.mode, peer.is_banned, peer.relation);
        let sound = check_length(&offer).and_then(|()| allowed.then_some(()).ok_or(Refusal::NotAllowed));
        if let Err(refusal) = sound {
            return self.sessions.refuse(session.handle, answer_to(re), refusal);
        }
        let invite = Invite { re, user, media, offer };
        let is_raid = asker.recent && site.settings.raid.is_on(now) && is_stranger(peer.relation);
        if !is_raid && rules(&site.settings, site.mode, peer.relation).is_none() {
            return self.ring(asker, peer, invite, now);
        }
        // A stranger's pending request must not ring before an answer.
        let Some(conversation) = ConversationId::direct(session.user, peer.id) else { return };
        let (asker, peer) = (asker.clone(), peer.clone());
        let to = answer_to(re);
        let done = self.on_loaded(session.handle, to, move |this, row: Option<ConversationRow>| match row {
            Some(row) if row.request.is_none() => this.ring(&asker, &peer, invite, now),
            _ => this.sessions.refuse(session.handle, answer_to(re), Refusal::NotAllowed),
        });
        self.store.conversation(session.user, conversation, done);
    }

    fn ring(self: &Arc<Self>, asker: &Asker, peer: &Peer, invite: Invite, now: Timestamp) {
        let Invite { re, user, media, offer } = invite;
        let (session, config, site) = (asker.session, &self.config.calls, &asker.site.site);
        let pace = Rate::per_minute(config.burst, config.per_minute);
        let pace = if asker.guest { pace.slowed(GUEST_SHARE) } else { pace };
        let (id, ticket) = self.draw();
        let caller = (session, asker.sub.clone());
        let invitation = Invitation { id, ticket, media, caller, callee: (peer.id, user.clone()), offer };
        let mut shard = self.table.lock(session.user.site);
        let to_caller = |id, news| self.send_call_event(session, re, id, news, now);
        match shard.invite(invitation, pace, config.most, now) {
            Ok(Invited::Rings(ring)) => {
                self.counters.calls.add(1);
                to_caller(id, CallNews::Calling { user, media, ticket });
                self.send_to_devices(peer.id, None, id, ring, now);
                if let Some(conversation) = ConversationId::direct(session.user, peer.id) {
                    let (to, from) = (peer.id, asker.sub.clone());
                    self.notifications.notify_ring(RingingCall {
                        call: id,
                        media,
                        to,
                        from,
                        conversation,
                        since: now,
                    });
                }
            }
            Ok(Invited::Glare(id, ring)) => to_caller(id, ring),
            Ok(Invited::Busy) => {
                drop(shard);
                // A busy callee reveals that they are connected.
                let chosen =
                    self.sessions.lock(peer.id).user(peer.id).map(|user| user.chosen).unwrap_or_default();
                let of = Visibility { privacy: peer.privacy, chosen };
                let is_told = of.sends(Signal::Busy, site.mode, peer.relation.a_views_b());
                let outcome = if is_told { Outcome::Busy } else { Outcome::Missed };
                to_caller(id, CallNews::Over { outcome, ms: 0 });
                let entry = CallEntry { call: id, media, outcome, ms: 0 };
                let (from, to) = (asker.sub.clone(), user);
                let left = Left { entry, caller: session.user, from, callee: peer.id, to };
                self.finish(After { left: Some(left), pushed: None }, now);
            }
            Err(refusal) => {
                drop(shard);
                self.sessions.refuse(session.handle, answer_to(re), refusal);
            }
        }
    }

    /// Handles the end of a session, after its removal from the table of sessions.
    pub(crate) fn call_lost(self: &Arc<Self>, session: SessionId, on_purpose: bool, now: Timestamp) {
        self.group_lost(session, on_purpose, now);
        if self.table.live() == 0 {
            return;
        }
        let mut shard = self.table.lock(session.user.site);
        let Some(moved) = shard.session_ended(session, on_purpose, now) else { return };
        let after = self.carry_on(&mut shard, moved, None, now);
        drop(shard);
        self.finish(after, now);
    }

    /// Rings on a session that has just signed in or caught up, if its user has an incoming call.
    pub(crate) fn ring_late(&self, session: SessionId, now: Timestamp) {
        if !self.table.any_rings() {
            return;
        }
        let shard = self.table.lock(session.user.site);
        let call = shard.call_of(session.user).filter(|call| call.callee.user == session.user);
        if let Some((id, ring)) = call.and_then(|call| Some((call.id, call.ring(false)?))) {
            self.send_call_event(session, None, id, ring, now);
        }
    }

    /// Ends calls that rang or lacked a party for too long.
    pub(crate) fn end_calls(self: &Arc<Self>, now: Timestamp) {
        self.end_groups(now);
        self.table.age(now);
        if self.table.live() == 0 {
            return;
        }
        for mut shard in self.table.each() {
            let mut all = Vec::new();
            while let Some(moved) = shard.next_due(now) {
                all.push(self.carry_on(&mut shard, moved, None, now));
            }
            drop(shard);
            all.into_iter().for_each(|after| self.finish(after, now));
        }
    }

    /// Hands over the effects of a step while the shard is locked, so that both parties receive them before
    /// those of the next step. The rest follows after the unlock.
    fn carry_on(
        &self,
        _locked: &mut Shard,
        moved: Moved,
        asker: Option<(SessionId, Option<u64>)>,
        now: Timestamp,
    ) -> After {
        let Moved { id, media, caller, caller_sub, callee, callee_sub, stopped_ringing, effects } = moved;
        if let (Some((session, re)), Some(answer)) = (asker, effects.answer) {
            // A request without a number gets no plain *done*.
            if re.is_some() || !matches!(answer, CallNews::Done) {
                self.send_call_event(session, re, id, answer, now);
            }
        }
        for (recipient, news) in effects.events {
            let is_accepted = matches!(news, CallNews::Accepted { .. });
            self.counters.calls_accepted.add(is_accepted.into());
            match recipient {
                Recipient::Session(handle) => {
                    let event = CallEvent { call: id, news, ice: None };
                    self.sessions.send(handle, Event::Call(Arc::new(event)));
                }
                Recipient::Callee { except } => self.send_to_devices(callee, except, id, news, now),
            }
        }
        let left = effects.over.map(|over| {
            let entry = CallEntry { call: id, media, outcome: over.outcome, ms: over.ms };
            Left { entry, caller, from: caller_sub, callee, to: callee_sub }
        });
        let pushed = if stopped_ringing { self.notifications.end_ring(callee, id) } else { None };
        After { left, pushed }
    }

    fn send_call_event(&self, to: SessionId, re: Option<u64>, call: CallId, news: CallNews, now: Timestamp) {
        let what_for = CredentialFor::Call(call);
        let ice = news.needs_servers().then(|| self.config.calls.ice(to.user, what_for, now));
        let event = Event::Call(Arc::new(CallEvent { call, news, ice }));
        self.sessions.answer_if_asked(to.handle, re, event);
    }

    fn send_to_devices(
        &self,
        user: UserId,
        except: Option<SessionHandle>,
        call: CallId,
        news: CallNews,
        now: Timestamp,
    ) {
        let what_for = CredentialFor::Call(call);
        let ice = news.needs_servers().then(|| self.config.calls.ice(user, what_for, now));
        let event = CallEvent { call, news, ice };
        self.sessions.publish_transient(user, except, Event::Call(Arc::new(event)));
    }

    /// Stores the entry of a finished call in the conversation, as a message of the caller, and replaces the
    /// notice of the ringing. A failure has no further effect: the call itself is over.
    fn finish(self: &Arc<Self>, after: After, now: Timestamp) {
        let After { left, pushed } = after;
        let Some(Left { entry, caller, from, callee, to }) = left else {
            return pushed.into_iter().for_each(|pushed| self.notifications.close_ring(pushed));
        };
        let Some(conversation) = ConversationId::direct(caller, callee) else { return };
        let new = NewCallEntry { conversation, from: caller, entry, time: now };
        let done = self.then(move |this, outcome| match outcome {
            Ok(appended) => {
                this.counters.messages.add(1);
                let message = Message { to: Some(to), ..entry.message(conversation, from, &appended) };
                let event = crate::Event::message(Arc::new(message));
                this.sessions.publish(caller, appended.position, None, event.clone());
                this.sessions.publish(callee, appended.position, None, event);
                this.notifications.notify_call_over(
                    callee,
                    conversation,
                    entry.is_missed(),
                    pushed,
                    appended.time,
                );
            }
            Err(error) => {
                tracing::warn!(%error, "cannot store the entry of a call");
                this.notifications.notify_call_over(callee, conversation, false, pushed, now);
            }
        });
        self.store.append_call(new, done);
    }

    pub(super) fn draw(&self) -> (CallId, CallTicket) {
        let mut rng = self.rng.lock();
        (CallId(rng.random()), CallTicket::of(rng.random()))
    }
}

/// Work that follows after the call's shard is unlocked.
struct After {
    left: Option<Left>,
    /// The notice of the ringing that browsers still show.
    pushed: Option<PushedRing>,
}

/// The entry of a finished call.
struct Left {
    entry: CallEntry,
    caller: UserId,
    from: Sub,
    callee: UserId,
    to: Sub,
}

pub(super) fn answer_to(re: Option<u64>) -> AnswerTo {
    re.map_or(AnswerTo::Session, AnswerTo::Request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Side;

    #[test]
    fn the_relation_decides_who_may_call() {
        let table = [
            // The relation; contacts only, everyone; the same two in mode *contacts*
            ((Side::NONE, Side::NONE), [false, true], [false, false]),
            ((Side::REQUESTED, Side::NONE), [false, true], [false, false]),
            ((Side::CONTACT, Side::CONTACT), [true, true], [true, true]),
            ((Side::SEES, Side::SEEN), [true, true], [true, true]),
            ((Side::NONE, Side::BLOCKED), [false, false], [false, false]),
            ((Side::BLOCKED, Side::NONE), [false, false], [false, false]),
        ];
        for ((of_a, of_b), open, contacts) in table {
            let relation = Relation { of_a, of_b };
            let may = |mode, banned| {
                [CallsFrom::Contacts, CallsFrom::Everyone].map(|from| may_call(from, mode, banned, relation))
            };
            assert_eq!(may(Mode::Open, false), open, "{relation:?}");
            assert_eq!(may(Mode::Contacts, false), contacts, "{relation:?}");
            assert_eq!(may(Mode::Open, true), [false, false], "banned: {relation:?}");
            assert!(!may_call(CallsFrom::Nobody, Mode::Open, false, relation));
        }
    }
}
