//! The current calls of a node, and the call of each user.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::calls::group::Groups;
use crate::calls::in_call::{CallObserver, InCall};
use crate::calls::machine::{CLOCK_JUMP_MS, Call, Effects};
use crate::calls::{AWAY_MS, CallNews, CallStep, CallTicket, Media, RINGS_MS};
use crate::limits::{Due, Rate};
use crate::session::NumberHasher;
use crate::site::share::has_places;
use crate::{CallId, Refusal, SessionId, SiteId, Sub, Timestamp, UserId};

const SHARDS: usize = 16;
/// Bytes of all ringing calls together. Above the bound new calls are refused; sites with few calls keep a
/// share.
const KEPT_BYTES: usize = 64 * 1024 * 1024;
/// Callers in one shard whose rate is known. At the bound the caller who may call again first is forgotten.
const MOST_PACED: usize = 16_384;
/// How often the shards are tidied up.
const AGED_EVERY_MS: u64 = 10_000;
pub(super) const NO_ROOM: Refusal = Refusal::Overloaded { retry_after_ms: 5_000 };

type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Sharded by site, as both parties of a call belong to one. A user is in at most one call.
///
/// A shard stays locked while the effects of a step are handed to the outbox, so that both parties receive
/// them in one order.
pub(crate) struct CallTable {
    shards: Box<[Mutex<Shard>]>,
    totals: Arc<Totals>,
    pub(super) observer: CallObserver,
    /// Milliseconds of the Unix epoch.
    aged: AtomicU64,
}

#[derive(Default)]
pub(super) struct Totals {
    live: AtomicU64,
    ringing: AtomicU64,
    kept: AtomicUsize,
    /// Calls of rooms, and places given in them.
    pub(super) groups: AtomicU64,
    pub(super) places: AtomicU32,
}

impl Totals {
    pub(super) fn all(&self) -> u64 {
        self.live.load(Ordering::Relaxed) + self.groups.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
pub(crate) struct Shard {
    calls: ByNumber<CallId, Call>,
    /// The direct call or room's call of each user.
    pub(crate) by_user: InCall,
    pub(super) groups: Groups,
    /// Ringing calls, and calls with an absent party, each with the time; ascending. Most are over, or
    /// established, when their time comes.
    rang: VecDeque<(Timestamp, CallId)>,
    away: VecDeque<(Timestamp, CallId)>,
    paces: ByNumber<UserId, Due>,
    by_site: ByNumber<SiteId, OfSite>,
    pub(super) totals: Arc<Totals>,
}

/// A site's share of the bounds that all sites have in common.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct OfSite {
    /// Direct calls and calls of rooms.
    calls: usize,
    kept: usize,
}

/// An invitation that passed the checks.
pub(crate) struct Invitation {
    pub(crate) id: CallId,
    pub(crate) ticket: CallTicket,
    pub(crate) media: Media,
    pub(crate) caller: (SessionId, Sub),
    pub(crate) callee: (UserId, Sub),
    pub(crate) offer: Arc<str>,
}

/// The result of a step of a call.
pub(crate) struct Moved {
    pub(crate) id: CallId,
    pub(crate) media: Media,
    pub(crate) caller: UserId,
    pub(crate) caller_sub: Sub,
    pub(crate) callee: UserId,
    pub(crate) callee_sub: Sub,
    /// The call rang until this step.
    pub(crate) stopped_ringing: bool,
    pub(crate) effects: Effects,
}

/// The outcome of an invitation.
pub(crate) enum Invited {
    /// The call rings. The event for the callee's devices.
    Rings(CallNews),
    /// The callee has called at the same moment and was first. The event for the second caller.
    Glare(CallId, CallNews),
    /// The callee is in another call.
    Busy,
}

impl CallTable {
    pub(crate) fn new() -> CallTable {
        let totals = Arc::<Totals>::default();
        let observer = CallObserver::default();
        let shard = |_| {
            let by_user = InCall::new(observer.clone());
            Mutex::new(Shard { totals: Arc::clone(&totals), by_user, ..Shard::default() })
        };
        let shards = (0..SHARDS).map(shard).collect();
        CallTable { shards, totals, observer, aged: AtomicU64::new(0) }
    }

    pub(crate) fn live(&self) -> u64 {
        self.totals.live.load(Ordering::Relaxed)
    }

    /// Calls of rooms, which [`live`](Self::live) excludes.
    pub(crate) fn groups(&self) -> u64 {
        self.totals.groups.load(Ordering::SeqCst)
    }

    pub(crate) fn any_rings(&self) -> bool {
        self.totals.ringing.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn lock(&self, site: SiteId) -> MutexGuard<'_, Shard> {
        lock(&self.shards[site.0 as usize % SHARDS])
    }

    /// Every ten seconds: forgets what is idle in each shard.
    pub(crate) fn age(&self, now: Timestamp) {
        let aged = Timestamp(self.aged.load(Ordering::Relaxed));
        if now.since(aged) < AGED_EVERY_MS && aged <= now {
            return;
        }
        self.aged.store(now.0, Ordering::Relaxed);
        self.each().for_each(|mut shard| shard.age(now));
    }

    pub(crate) fn each(&self) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.shards.iter().map(lock)
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    // After a panic in another worker, the worst result is a call that ends too late or too soon.
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shard {
    /// Starts a call. If two users call each other at the same time, the first call counts for both.
    pub(crate) fn invite(
        &mut self,
        invitation: Invitation,
        pace: Rate,
        most: u32,
        now: Timestamp,
    ) -> Result<Invited, Refusal> {
        let (caller, callee) = (invitation.caller.0.user, invitation.callee.0);
        self.take_pace(caller, pace, now)?;
        if let Some(call) = self.call_of(caller) {
            let theirs = call.caller.user == callee && call.callee.user == caller;
            let id = call.id;
            return match call.ring(true).filter(|_| theirs) {
                Some(ring) => Ok(Invited::Glare(id, ring)),
                None => Err(Refusal::InCall),
            };
        }
        if self.by_user.contains_key(&caller) {
            return Err(Refusal::InCall);
        }
        if self.by_user.contains_key(&callee) {
            return Ok(Invited::Busy);
        }
        if !self.has_room_for_call(caller.site, most)
            || !self.has_room_for_bytes(caller.site, invitation.offer.len())
        {
            return Err(NO_ROOM);
        }
        Ok(Invited::Rings(self.begin(invitation, now)))
    }

    pub(super) fn has_room_for_call(&self, site: SiteId, most: u32) -> bool {
        has_places(self.totals.all() as usize, self.of_site(site).calls, 1, most as usize)
    }

    fn has_room_for_bytes(&self, site: SiteId, bytes: usize) -> bool {
        has_places(self.totals.kept.load(Ordering::Relaxed), self.of_site(site).kept, bytes, KEPT_BYTES)
    }

    fn of_site(&self, site: SiteId) -> OfSite {
        self.by_site.get(&site).copied().unwrap_or_default()
    }

    pub(super) fn call_begins(&mut self, site: SiteId) {
        self.by_site.entry(site).or_default().calls += 1;
    }

    pub(super) fn call_is_over(&mut self, site: SiteId) {
        if let Some(of_site) = self.by_site.get_mut(&site) {
            of_site.calls = of_site.calls.saturating_sub(1);
            if *of_site == OfSite::default() {
                self.by_site.remove(&site);
            }
        }
    }

    fn begin(&mut self, invitation: Invitation, now: Timestamp) -> CallNews {
        let Invitation { id, ticket, media, caller: (session, sub), callee, offer } = invitation;
        let (caller_id, callee_id) = (session.user, callee.0);
        let call = Call::new(id, media, (session, sub, ticket), callee, offer, now);
        let ring = call.ring(false).expect("it was made a moment ago");
        self.by_user.insert(caller_id, id);
        self.by_user.insert(callee_id, id);
        self.wait_for_answer(now, id);
        self.totals.live.fetch_add(1, Ordering::Relaxed);
        self.totals.ringing.fetch_add(1, Ordering::Relaxed);
        self.totals.kept.fetch_add(call.kept_bytes(), Ordering::Relaxed);
        self.call_begins(caller_id.site);
        self.by_site.entry(caller_id.site).or_default().kept += call.kept_bytes();
        self.calls.insert(id, call);
        ring
    }

    pub(crate) fn direct_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.values()
    }

    /// A call of another process goes on here, unless one of its parties is in a call already.
    pub(crate) fn continue_call(&mut self, call: Call) {
        let (id, caller, callee) = (call.id, call.caller.user, call.callee.user);
        if [caller, callee].iter().any(|user| self.by_user.contains_key(user)) {
            return;
        }
        self.by_user.insert(caller, id);
        self.by_user.insert(callee, id);
        if let Some(since) = call.rings_since() {
            self.rang.push_back((since, id));
            self.totals.ringing.fetch_add(1, Ordering::Relaxed);
        }
        if let Some(since) = call.away_since() {
            self.away.push_back((since, id));
        }
        self.totals.live.fetch_add(1, Ordering::Relaxed);
        self.totals.kept.fetch_add(call.kept_bytes(), Ordering::Relaxed);
        self.call_begins(caller.site);
        self.by_site.entry(caller.site).or_default().kept += call.kept_bytes();
        self.calls.insert(id, call);
    }

    /// Queues the call for its timeout. Removes calls from the front that no longer ring; most calls ring
    /// only briefly.
    fn wait_for_answer(&mut self, now: Timestamp, id: CallId) {
        let rings = |(_, id): &(Timestamp, CallId)| self.calls.get(id).is_some_and(Call::rings);
        while self.rang.front().is_some_and(|first| !rings(first)) {
            self.rang.pop_front();
        }
        self.rang.push_back((now, id));
    }

    fn wait_for_return(&mut self, now: Timestamp, id: CallId) {
        while self.away.front().is_some_and(|(_, id)| !self.calls.contains_key(id)) {
            self.away.pop_front();
        }
        self.away.push_back((now, id));
    }

    /// Limits the invitations of a user, including those to busy users.
    pub(super) fn take_pace(&mut self, user: UserId, pace: Rate, now: Timestamp) -> Result<(), Refusal> {
        if pace.is_unlimited() {
            return Ok(());
        }
        if self.paces.len() >= MOST_PACED && !self.paces.contains_key(&user) {
            self.paces.retain(|_, due| !due.is_idle(now));
            if self.paces.len() >= MOST_PACED
                && let Some(first) = self.paces.iter().min_by_key(|(_, due)| **due).map(|(user, _)| *user)
            {
                self.paces.remove(&first);
            }
        }
        pace.take(self.paces.entry(user).or_default(), now)
    }

    /// The call that a user is in.
    pub(crate) fn call_of(&self, user: UserId) -> Option<&Call> {
        self.calls.get(self.by_user.get(&user)?)
    }

    pub(crate) fn step(
        &mut self,
        id: CallId,
        by: SessionId,
        step: CallStep,
        ticket: CallTicket,
        now: Timestamp,
    ) -> Result<Moved, Refusal> {
        // In a call of another site in this shard, the session is no party.
        let mut refused = Refusal::NoSuchCall;
        let has_room = self.has_room_for_bytes(by.user.site, step.kept_bytes());
        if step.kept_bytes() > 0 && !has_room && self.calls.get(&id).is_some_and(Call::rings) {
            return Err(NO_ROOM);
        }
        let stepped = self.with_call(id, |call| match call.step(by, step, ticket, now) {
            Ok(effects) => Some(effects),
            Err(refusal) => {
                refused = refusal;
                None
            }
        });
        stepped.ok_or(refused)
    }

    /// Applies the end of a session to the call in which it has a place.
    pub(crate) fn session_ended(
        &mut self,
        session: SessionId,
        on_purpose: bool,
        now: Timestamp,
    ) -> Option<Moved> {
        let id = *self.by_user.get(&session.user)?;
        let moved = self.with_call(id, |call| call.session_ended(session, on_purpose, now))?;
        if moved.effects.over.is_none() {
            self.wait_for_return(now, id);
        }
        Some(moved)
    }

    /// The next call that rang, or waited for a party, for too long; None: no such call is left.
    pub(crate) fn next_due(&mut self, now: Timestamp) -> Option<Moved> {
        loop {
            let id = [(RINGS_MS, &mut self.rang), (AWAY_MS, &mut self.away)]
                .into_iter()
                .find_map(|(ms, queue)| take_due(queue, ms, now))?;
            if let Some(moved) = self.with_call(id, |call| call.time_passed(now)) {
                return Some(moved);
            }
        }
    }

    /// Forgets idle rate limits. A shard without a call also drops its queues, whose entries are all over, and gives memory back.
    fn age(&mut self, now: Timestamp) {
        self.paces.retain(|_, due| !due.is_idle(now));
        if self.by_user.is_empty() && self.by_user.capacity() > 0 {
            let totals = Arc::clone(&self.totals);
            let paces = std::mem::take(&mut self.paces);
            let by_user = InCall::new(self.by_user.observer());
            *self = Shard { totals, paces, by_user, ..Shard::default() };
        }
    }

    /// Applies a step to a call, and removes the call after its last one. None: the call does not exist, or
    /// the step had no effect.
    fn with_call(&mut self, id: CallId, step: impl FnOnce(&mut Call) -> Option<Effects>) -> Option<Moved> {
        let call = self.calls.get_mut(&id)?;
        let (rang, kept) = (call.rings(), call.kept_bytes());
        let effects = step(call);
        let is_over = effects.as_ref().is_some_and(|effects| effects.over.is_some());
        let (rings, keeps) = if is_over { (false, 0) } else { (call.rings(), call.kept_bytes()) };
        let totals = &self.totals;
        totals.ringing.fetch_sub(u64::from(rang && !rings), Ordering::Relaxed);
        totals.kept.fetch_add(keeps, Ordering::Relaxed);
        totals.kept.fetch_sub(kept, Ordering::Relaxed);
        let of_site = self.by_site.entry(call.caller.user.site).or_default();
        of_site.kept = (of_site.kept + keeps).saturating_sub(kept);
        let (caller, callee, media) = (call.caller.user, call.callee.user, call.media);
        let (caller_sub, callee_sub) = (call.caller.sub.clone(), call.callee.sub.clone());
        let (stopped_ringing, effects) = (rang && !rings, effects?);
        let moved = Moved { id, media, caller, caller_sub, callee, callee_sub, stopped_ringing, effects };
        if is_over {
            totals.live.fetch_sub(1, Ordering::Relaxed);
            self.call_is_over(caller.site);
            self.calls.remove(&id);
            self.by_user.remove(caller);
            self.by_user.remove(callee);
        }
        Some(moved)
    }
}

/// The first of a queue, if its time has come. A clock that was set back does not delay it.
pub(super) fn take_due(queue: &mut VecDeque<(Timestamp, CallId)>, ms: u64, now: Timestamp) -> Option<CallId> {
    let (since, id) = *queue.front()?;
    let due = now.since(since) >= ms || since.0 > now.0 + CLOCK_JUMP_MS;
    due.then(|| {
        queue.pop_front();
        id
    })
}

#[cfg(test)]
mod tests;
