//! The state machine of a direct call: the effects of each step. It uses no clock, table or socket.
//!
//! ```text
//!            accept                    hang-up, or one is away too long
//! Ringing ────────────► Up ───────────────────────────────────────────► over
//!    │  decline · hang-up · 45 s · the caller is away too long            ▲
//!    └───────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A party is the place of one session. After the end of the session the place stays empty for 20 s. Within that time
//! another session can take it with the place's ticket.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::calls::{
    AWAY_MS, CANDIDATE_BYTES, CallNews, CallStep, CallTicket, DESCRIPTION_BYTES, Media, Outcome, RINGS_MS,
};
use crate::limits::{Due, Rate};
use crate::{CallId, Refusal, SessionHandle, SessionId, Sub, Timestamp, UserId};

/// Candidates kept until a device accepts; more are refused.
const WAITING_CANDIDATES: usize = 64;

/// A path needs a dozen candidates, and twice as many after a change of network.
fn candidate_rate() -> Rate {
    Rate::per_minute(100, 60)
}

/// Offers, answers, rejoins and holds: people cause them by hand, or an unstable network does.
fn description_rate() -> Rate {
    Rate::per_minute(20, 60)
}

/// A call. Some 200 bytes once established; a ringing call also holds the offer.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: CallId,
    pub(crate) media: Media,
    pub(crate) caller: Party,
    pub(crate) callee: Party,
    stage: Stage,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Party {
    pub(crate) user: UserId,
    pub(crate) sub: Sub,
    seat: Seat,
    ticket: CallTicket,
    // Limits begin anew in another process.
    #[serde(skip)]
    candidates: Due,
    #[serde(skip)]
    descriptions: Due,
    holds: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Seat {
    /// No device of the callee has accepted yet.
    Free,
    Taken(SessionHandle),
    /// The session has ended.
    Away(Timestamp),
}

#[derive(Clone, Serialize, Deserialize)]
enum Stage {
    Ringing(Box<Ringing>),
    Up { since: Timestamp },
}

#[derive(Clone, Serialize, Deserialize)]
struct Ringing {
    since: Timestamp,
    offer: Arc<str>,
    /// Candidates of the caller, for the device that will accept.
    candidates: Vec<Arc<str>>,
}

/// One of the two parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Caller,
    Callee,
}

/// The effects of a step.
#[derive(Default)]
pub(crate) struct Effects {
    /// For the session that sent the command.
    pub(crate) answer: Option<CallNews>,
    pub(crate) events: SmallVec<[(Recipient, CallNews); 2]>,
    pub(crate) over: Option<Over>,
}

/// The receivers of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipient {
    Session(SessionHandle),
    /// All sessions of the callee except this one.
    Callee {
        except: Option<SessionHandle>,
    },
}

/// The end of a call, equal for both parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) outcome: Outcome,
    pub(crate) ms: u64,
}

impl Call {
    /// A new call. `caller`: the calling session, with its ticket.
    pub(crate) fn new(
        id: CallId,
        media: Media,
        caller: (SessionId, Sub, CallTicket),
        callee: (UserId, Sub),
        offer: Arc<str>,
        now: Timestamp,
    ) -> Call {
        let (session, sub, ticket) = caller;
        let caller = Party::new(session.user, sub, Seat::Taken(session.handle), ticket);
        // No client can show this ticket: the device that accepts gets a new one.
        let callee = Party::new(callee.0, callee.1, Seat::Free, CallTicket::of(0));
        let stage = Stage::Ringing(Box::new(Ringing { since: now, offer, candidates: Vec::new() }));
        Call { id, media, caller, callee, stage }
    }

    /// Since when it rings. None: it is established.
    pub(crate) fn rings_since(&self) -> Option<Timestamp> {
        match &self.stage {
            Stage::Ringing(ringing) => Some(ringing.since),
            Stage::Up { .. } => None,
        }
    }

    /// Since when a party without a session is away.
    pub(crate) fn away_since(&self) -> Option<Timestamp> {
        let away = |party: &Party| match party.seat {
            Seat::Away(since) => Some(since),
            Seat::Free | Seat::Taken(_) => None,
        };
        away(&self.caller).into_iter().chain(away(&self.callee)).min()
    }

    pub(crate) fn rings(&self) -> bool {
        matches!(self.stage, Stage::Ringing(_))
    }

    /// The event for the callee's devices while the call rings.
    pub(crate) fn ring(&self, glare: bool) -> Option<CallNews> {
        let Stage::Ringing(ringing) = &self.stage else { return None };
        let (from, offer) = (self.caller.sub.clone(), ringing.offer.clone());
        Some(CallNews::Ring { from, media: self.media, offer, glare })
    }

    /// Bytes that are kept only while the call rings.
    pub(crate) fn kept_bytes(&self) -> usize {
        match &self.stage {
            Stage::Ringing(ringing) => {
                ringing.offer.len() + ringing.candidates.iter().map(|text| text.len()).sum::<usize>()
            }
            Stage::Up { .. } => 0,
        }
    }

    /// Applies a step of a session of either party. `ticket`: a fresh one, for steps that need one.
    ///
    /// Outsiders and steps that the state does not allow get the same answer, [`Refusal::NoSuchCall`]: so
    /// outsiders cannot find out who calls whom.
    pub(crate) fn step(
        &mut self,
        by: SessionId,
        step: CallStep,
        ticket: CallTicket,
        now: Timestamp,
    ) -> Result<Effects, Refusal> {
        step.check()?;
        let role = self.role_of(by.user).ok_or(Refusal::NoSuchCall)?;
        match step {
            CallStep::Rejoin { ticket, offer } => self.rejoin(role, by.handle, ticket, offer, now),
            CallStep::Accept { answer } if role == Role::Callee => {
                self.accept(by.handle, answer, ticket, now)
            }
            CallStep::Decline { busy } if role == Role::Callee && self.rings() => {
                Ok(self.over(if busy { Outcome::Busy } else { Outcome::Declined }, Some(by.handle), now))
            }
            // While the call rings, all devices of the callee have the same rights.
            CallStep::HangUp if role == Role::Callee && self.rings() => {
                Ok(self.over(Outcome::Declined, Some(by.handle), now))
            }
            step if self.party(role).seat == Seat::Taken(by.handle) => {
                self.of_party(role, by.handle, step, now)
            }
            _ => Err(Refusal::NoSuchCall),
        }
    }

    fn of_party(
        &mut self,
        role: Role,
        me: SessionHandle,
        step: CallStep,
        now: Timestamp,
    ) -> Result<Effects, Refusal> {
        if let CallStep::HangUp = step {
            let outcome = if self.rings() { Outcome::Cancelled } else { Outcome::Ended };
            return Ok(self.over(outcome, Some(me), now));
        }
        if let CallStep::Candidate(candidate) = step {
            candidate_rate().take(&mut self.party_mut(role).candidates, now)?;
            return self.candidate(role, candidate);
        }
        if self.rings() {
            return Err(Refusal::NoSuchCall);
        }
        let news = match step {
            CallStep::Offer(offer) => CallNews::Offer(offer),
            CallStep::Answer(answer) => CallNews::Answer(answer),
            CallStep::Hold(on) => CallNews::Hold(on),
            _ => return Err(Refusal::NoSuchCall),
        };
        let party = self.party_mut(role);
        description_rate().take(&mut party.descriptions, now)?;
        if let CallNews::Hold(on) = news {
            party.holds = on;
        }
        Ok(self.pass_on(role, news))
    }

    fn candidate(&mut self, role: Role, candidate: Arc<str>) -> Result<Effects, Refusal> {
        let Stage::Ringing(ringing) = &mut self.stage else {
            return Ok(self.pass_on(role, CallNews::Candidate(candidate)));
        };
        if ringing.candidates.len() == WAITING_CANDIDATES {
            return Err(Refusal::RateLimited { retry_after_ms: 1_000 });
        }
        ringing.candidates.push(candidate);
        Ok(Effects { answer: Some(CallNews::Done), ..Effects::default() })
    }

    /// Forwards an event to the other party. An absent party misses it: it starts with a new offer when it
    /// returns.
    fn pass_on(&self, from: Role, news: CallNews) -> Effects {
        let mut effects = Effects { answer: Some(CallNews::Done), ..Effects::default() };
        if let Seat::Taken(other) = self.party(from.other()).seat {
            effects.events.push((Recipient::Session(other), news));
        }
        effects
    }

    /// The first device to accept wins; the others are notified.
    fn accept(
        &mut self,
        by: SessionHandle,
        answer: Arc<str>,
        ticket: CallTicket,
        now: Timestamp,
    ) -> Result<Effects, Refusal> {
        let Stage::Ringing(ringing) = &mut self.stage else { return Err(Refusal::NoSuchCall) };
        // Without an offer there is nothing to answer yet.
        if answer.is_empty() != ringing.offer.is_empty() {
            return Err(Refusal::BadValue);
        }
        let candidates = std::mem::take(&mut ringing.candidates);
        self.callee.seat = Seat::Taken(by);
        self.callee.ticket = ticket;
        self.stage = Stage::Up { since: now };
        let mut events = smallvec![(Recipient::Callee { except: Some(by) }, CallNews::Elsewhere)];
        match self.caller.seat {
            Seat::Taken(caller) => {
                events.push((Recipient::Session(caller), CallNews::Accepted { answer }));
                let of_caller = candidates.into_iter().map(CallNews::Candidate);
                events.extend(of_caller.map(|candidate| (Recipient::Session(by), candidate)));
            }
            // The other party returns with a new offer, or never.
            _ => events.push((Recipient::Session(by), CallNews::Away)),
        }
        Ok(Effects { answer: Some(CallNews::Joined { ticket }), events, over: None })
    }

    /// Gives the place to any session of the user with the ticket, even if the end of the old session was not
    /// noticed yet.
    fn rejoin(
        &mut self,
        role: Role,
        by: SessionHandle,
        shown: CallTicket,
        offer: Arc<str>,
        now: Timestamp,
    ) -> Result<Effects, Refusal> {
        let party = self.party_mut(role);
        if party.seat == Seat::Free || !party.ticket.is(shown) {
            return Err(Refusal::NoSuchCall);
        }
        description_rate().take(&mut party.descriptions, now)?;
        let before = std::mem::replace(&mut party.seat, Seat::Taken(by));
        party.holds = false;
        let mut effects = Effects::default();
        if let Seat::Taken(before) = before
            && before != by
        {
            effects.events.push((Recipient::Session(before), CallNews::Elsewhere));
        }
        let other = self.party(role.other());
        let (hold, away) = (other.holds, matches!(other.seat, Seat::Away(_)));
        let ms = match &self.stage {
            Stage::Ringing(_) => None,
            Stage::Up { since } => Some(now.since(*since)),
        };
        effects.answer = Some(CallNews::Rejoined { media: self.media, hold, away, ms });
        let other = other.seat;
        match (&mut self.stage, other) {
            // The connection continues, so the offer that rings stays valid.
            (Stage::Ringing(_), _) if offer.is_empty() => {}
            (Stage::Ringing(ringing), _) => {
                ringing.offer = offer;
                ringing.candidates.clear();
                let again = self.ring(false).expect("it rings");
                effects.events.push((Recipient::Callee { except: None }, again));
            }
            (Stage::Up { .. }, Seat::Taken(other)) => {
                effects.events.push((Recipient::Session(other), CallNews::Back { offer }));
            }
            (Stage::Up { .. }, _) => {}
        }
        Ok(effects)
    }

    /// Handles the end of a session. `on_purpose`: it does not come back. None: the session had no place
    /// here.
    pub(crate) fn session_ended(
        &mut self,
        session: SessionId,
        on_purpose: bool,
        now: Timestamp,
    ) -> Option<Effects> {
        let role = self.role_of(session.user)?;
        let party = self.party_mut(role);
        if party.seat != Seat::Taken(session.handle) {
            return None;
        }
        party.seat = Seat::Away(now);
        if on_purpose {
            let outcome = if self.rings() { Outcome::Cancelled } else { Outcome::Ended };
            return Some(self.over(outcome, None, now));
        }
        Some(Effects { answer: None, ..self.pass_on(role, CallNews::Away) })
    }

    /// Ends the call if it rang, or a party was away, for too long.
    pub(crate) fn time_passed(&mut self, now: Timestamp) -> Option<Effects> {
        let is_long = |since: Timestamp, ms: u64| now.since(since) >= ms || since.0 > now.0 + CLOCK_JUMP_MS;
        let is_away = |party: &Party| matches!(party.seat, Seat::Away(since) if is_long(since, AWAY_MS));
        let outcome = match &self.stage {
            Stage::Ringing(ringing) if is_long(ringing.since, RINGS_MS) => Outcome::Missed,
            Stage::Ringing(_) if is_away(&self.caller) => Outcome::Cancelled,
            Stage::Up { .. } if is_away(&self.caller) || is_away(&self.callee) => Outcome::Lost,
            _ => return None,
        };
        Some(self.over(outcome, None, now))
    }

    /// Ends the call and notifies every session that takes part or rings. The table removes the call.
    fn over(&self, outcome: Outcome, asker: Option<SessionHandle>, now: Timestamp) -> Effects {
        let ms = match self.stage {
            Stage::Ringing(_) => 0,
            Stage::Up { since } => now.since(since),
        };
        let news = CallNews::Over { outcome, ms };
        let mut events = SmallVec::new();
        if self.rings() {
            events.push((Recipient::Callee { except: asker }, news.clone()));
        }
        for party in [&self.caller, &self.callee] {
            if let Seat::Taken(session) = party.seat
                && asker != Some(session)
            {
                events.push((Recipient::Session(session), news.clone()));
            }
        }
        Effects { answer: asker.map(|_| news), events, over: Some(Over { outcome, ms }) }
    }

    fn role_of(&self, user: UserId) -> Option<Role> {
        match user {
            user if user == self.caller.user => Some(Role::Caller),
            user if user == self.callee.user => Some(Role::Callee),
            _ => None,
        }
    }

    fn party(&self, role: Role) -> &Party {
        match role {
            Role::Caller => &self.caller,
            Role::Callee => &self.callee,
        }
    }

    fn party_mut(&mut self, role: Role) -> &mut Party {
        match role {
            Role::Caller => &mut self.caller,
            Role::Callee => &mut self.callee,
        }
    }
}

/// A time further in the future than clocks of threads differ. The system clock was set back, and waiting for
/// that time could take forever.
pub(super) const CLOCK_JUMP_MS: u64 = 60_000;

impl Role {
    fn other(self) -> Role {
        match self {
            Role::Caller => Role::Callee,
            Role::Callee => Role::Caller,
        }
    }
}

impl Party {
    fn new(user: UserId, sub: Sub, seat: Seat, ticket: CallTicket) -> Party {
        let (candidates, descriptions) = (Due::default(), Due::default());
        Party { user, sub, seat, ticket, candidates, descriptions, holds: false }
    }
}

impl CallStep {
    /// Bytes that the step may add to a ringing call.
    pub(super) fn kept_bytes(&self) -> usize {
        match self {
            CallStep::Candidate(text) | CallStep::Rejoin { offer: text, .. } => text.len(),
            _ => 0,
        }
    }

    fn check(&self) -> Result<(), Refusal> {
        match self {
            CallStep::Accept { answer: text } | CallStep::Rejoin { offer: text, .. } => check_length(text),
            CallStep::Offer(text) | CallStep::Answer(text) => check_description(text),
            CallStep::Candidate(text) if text.len() > CANDIDATE_BYTES => Err(Refusal::BadValue),
            CallStep::Candidate(_) | CallStep::Decline { .. } | CallStep::HangUp | CallStep::Hold(_) => {
                Ok(())
            }
        }
    }
}

pub(super) fn check_description(text: &str) -> Result<(), Refusal> {
    if text.is_empty() { Err(Refusal::BadValue) } else { check_length(text) }
}

/// Of a description that may be empty: a party sends it later.
pub(super) fn check_length(text: &str) -> Result<(), Refusal> {
    if text.len() <= DESCRIPTION_BYTES { Ok(()) } else { Err(Refusal::BadValue) }
}

#[cfg(test)]
mod tests;
