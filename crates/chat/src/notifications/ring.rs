//! A call that rings is pushed to the browsers of a callee who is away. The outcome of the call replaces that notice.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::limits::{Due, Rate};
use crate::notifications::decide::{may_disturb, may_ring, news};
use crate::notifications::push::About;
use crate::notifications::{Notifications, NotifyFacts, PushNotice, Ring};
use crate::session::Completion;
use crate::site::share::SiteCounts;
use crate::{CallId, ConversationId, Media, RINGS_MS, Seq, Sub, Timestamp, UserId, UserRow};

/// Milliseconds from the call to the push: a page that is loading, or a call that ends at once, needs none.
pub(crate) const RING_PAUSE_MS: u64 = 2_000;
/// Calls that may be pushed; further calls are only notified as missed ones.
const MAX_RINGING: usize = 10_000;
/// Pairs whose rate is known; at the bound no ring of another pair is pushed until some are forgotten.
const MAX_PACED: usize = 20_000;
/// Calls whose facts are read together.
const MAX_DUE: usize = 64;

/// The rate of pushed rings from one caller to one callee. Calls beyond it are only notified as missed ones.
fn ring_rate() -> Rate {
    Rate::per_minute(3, 1)
}

/// A call that rings for a user with a subscribed browser.
#[derive(Debug, Clone)]
pub(crate) struct RingingCall {
    pub(crate) call: CallId,
    pub(crate) media: Media,
    pub(crate) to: UserId,
    pub(crate) from: Sub,
    pub(crate) conversation: ConversationId,
    pub(crate) since: Timestamp,
}

/// A call whose notice the callee's browsers show.
#[derive(Debug, Clone)]
pub(crate) struct PushedRing {
    about: About,
    ring: Arc<Ring>,
}

/// Part of the queue's state. A user is in at most one call.
#[derive(Default)]
pub(super) struct Rings {
    by_callee: HashMap<UserId, (RingingCall, Option<Arc<Ring>>)>,
    by_site: SiteCounts,
    due: VecDeque<(Timestamp, UserId, CallId)>,
    paces: HashMap<(UserId, ConversationId), Due>,
}

impl Rings {
    pub(super) fn begin(&mut self, call: RingingCall) {
        let site = call.to.site;
        if self.by_site.has_place(site, MAX_RINGING) && self.due.len() < 2 * MAX_RINGING {
            self.due.push_back((Timestamp(call.since.0 + RING_PAUSE_MS), call.to, call.call));
            if self.by_callee.insert(call.to, (call, None)).is_none() {
                self.by_site.add(site);
            }
        }
    }

    /// Calls that still ring and are due for a push.
    pub(super) fn due(&mut self, now: Timestamp) -> Vec<RingingCall> {
        let mut calls = Vec::new();
        while calls.len() < MAX_DUE
            && let Some((due, user, call)) = self.due.front().copied()
            // A clock that was set back delays a push by no more than the usual time.
            && (due <= now || due.0 > now.0 + RING_PAUSE_MS)
        {
            self.due.pop_front();
            let ringing = self.by_callee.get(&user).filter(|(ringing, _)| ringing.call == call);
            calls.extend(ringing.map(|(ringing, _)| ringing.clone()));
        }
        calls
    }

    /// False: the call no longer rings, or this caller has rung too often.
    pub(super) fn push(&mut self, call: &RingingCall, ring: &Arc<Ring>, now: Timestamp) -> bool {
        let Some((ringing, pushed)) = self.by_callee.get_mut(&call.to) else { return false };
        if ringing.call != call.call {
            return false;
        }
        let pair = (call.to, call.conversation);
        if self.paces.len() >= MAX_PACED && !self.paces.contains_key(&pair) {
            self.paces.retain(|_, due| !due.is_idle(now));
            if self.paces.len() >= MAX_PACED {
                return false;
            }
        }
        let may_ring = ring_rate().take(self.paces.entry(pair).or_default(), now).is_ok();
        if may_ring {
            *pushed = Some(Arc::clone(ring));
        }
        may_ring
    }

    /// The call no longer rings. Answers the notice that has to be replaced.
    pub(super) fn end(&mut self, user: UserId, call: CallId) -> Option<PushedRing> {
        self.by_callee.get(&user).filter(|(ringing, _)| ringing.call == call)?;
        let (ringing, pushed) = self.by_callee.remove(&user)?;
        self.by_site.remove(user.site);
        if self.by_callee.is_empty() {
            (self.by_callee, self.due) = Default::default();
        }
        let RingingCall { to, from, conversation, .. } = ringing;
        pushed.map(|ring| PushedRing { about: About { to, conversation, with: Some(from) }, ring })
    }

    /// Whether the user's browsers show the notice of a ringing call.
    pub(super) fn is_shown(&self, user: UserId, conversation: ConversationId) -> bool {
        let shown = |(ringing, pushed): &(RingingCall, Option<_>)| {
            ringing.conversation == conversation && pushed.is_some()
        };
        self.by_callee.get(&user).is_some_and(shown)
    }
}

impl Notifications {
    /// Called with every tick: pushes calls that have rung for a moment and still do.
    pub(super) fn push_rings(self: &Arc<Self>, now: Timestamp) {
        for call in self.queue.due_rings(now) {
            if !self.is_away(call.to) {
                continue;
            }
            let (site, from) = (call.to.site, call.from.clone());
            let done = self.then(move |this, caller| {
                if let Ok(Some(caller)) = caller {
                    this.push_ring(call, &caller, now);
                }
            });
            self.store.user(site, from, done);
        }
    }

    fn push_ring(self: &Arc<Self>, call: RingingCall, caller: &UserRow, now: Timestamp) {
        if caller.banned {
            return;
        }
        let ring = Arc::new(Ring {
            name: Arc::clone(&caller.profile.name),
            avatar: caller.profile.avatar.clone(),
            media: call.media,
            until: Timestamp(call.since.0 + RINGS_MS),
        });
        let (to, conversation) = (call.to, call.conversation);
        let done = self.then::<NotifyFacts>(move |this, facts| {
            let Ok(facts) = facts else { return };
            let may_ring = may_ring(&facts, now) && may_disturb(&facts.settings, facts.presence, now);
            if may_ring && this.queue.push_ring(&call, &ring, now) {
                let about = About { to, conversation, with: Some(call.from) };
                this.push(&about, &facts.devices, &PushNotice::Ring(ring));
                this.wake(to, &this.receivers(to, &facts).apps, 1, now);
            }
        });
        self.store.notify_facts(to, vec![conversation], done);
    }

    /// The entry of a call is stored, or could not be. `missed`: the callee did not take part in the end of the call.
    pub(crate) fn notify_call_over(
        self: &Arc<Self>,
        callee: UserId,
        conversation: ConversationId,
        missed: bool,
        pushed: Option<PushedRing>,
        now: Timestamp,
    ) {
        match pushed {
            Some(pushed) if missed && self.is_away(callee) => self.replace_ring(pushed, now),
            Some(pushed) => self.close_ring(pushed),
            None if missed => self.notify_away(callee, conversation, now),
            None => {}
        }
    }

    /// The missed call replaces the notice at once, without the usual pause: the notice of a finished call
    /// misleads.
    fn replace_ring(self: &Arc<Self>, pushed: PushedRing, now: Timestamp) {
        let PushedRing { about: About { to, conversation, .. }, .. } = pushed;
        if self.queue.is_mailable(to) {
            self.mail_later(to, now);
        }
        let done = self.then::<NotifyFacts>(move |this, facts| {
            let Ok(facts) = facts else { return };
            let about = &pushed.about;
            let disturb = may_disturb(&facts.settings, facts.presence, now);
            let talk = facts.talks.first().filter(|_| disturb);
            let notice = match talk.and_then(|talk| news(talk, to, &facts.settings, now)) {
                Some(news) => PushNotice::Show(Arc::new(news)),
                None => PushNotice::RingOver(Arc::clone(&pushed.ring)),
            };
            let last = talk.and_then(|talk| talk.row.last.as_ref()).map_or(Seq(0), |last| last.seq);
            this.queue.replace(to, conversation, last, now);
            this.push(about, &facts.devices, &notice);
        });
        self.store.notify_facts(to, vec![conversation], done);
    }

    /// Removes the notice after the call was answered or declined on another device.
    pub(crate) fn close_ring(self: &Arc<Self>, pushed: PushedRing) {
        let to = pushed.about.to;
        let done = self.then::<NotifyFacts>(move |this, facts| {
            if let Ok(facts) = facts {
                this.push(&pushed.about, &facts.devices, &PushNotice::RingOver(pushed.ring));
            }
        });
        self.store.notify_facts(to, Vec::new(), done);
    }
}
