//! Presence: changes are published with a delay, and combined.
//!
//! A user whose connection drops stays visible for a grace time. Changes are collected and published together
//! at the next due tick, if the published state still differs. So a mass reconnect causes no flicker and no
//! wave of events.

pub(crate) mod availability;
mod command;
mod event;
mod relay;
pub(crate) mod shown;
pub(crate) mod store;
pub(crate) mod watch;
pub(crate) mod watch_contacts;

pub use event::Event;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use crate::session::{
    AVAILABILITY_EXTENSION_BYTES, Announced, Availability, RESOURCE_BYTES, SESSION_STATUS_BYTES,
    SessionShown, Show, UserSessions,
};
pub use command::{Command, RELAY_BYTES};

use smallvec::SmallVec;

use crate::presence::store::PresenceStore;
use crate::presence::watch::{Restores, Watches};
use crate::privacy::SetPresence;
use crate::privacy::{Audience, Privacy};
use crate::session::admission::Admission;
use crate::session::{Asker, Completion, Handles, SHARDS, Sessions, Shard, UserHere, Watching};
use crate::stats::Counters;
use crate::users::Users;
use crate::users::contact_ids::ContactIds;
use crate::{NodeConfig, Presence, SessionHandle, Sub, Timestamp, UserId};

/// A clock that jumps back by more than this ends all grace times, instead of keeping everyone here for as long.
const CLOCK_JUMP_MS: u64 = 60_000;

/// The presence that others see for this choice, depending on whether the user is here.
pub(crate) fn shown(chosen: SetPresence, is_here: bool) -> Presence {
    match chosen {
        _ if !is_here => Presence::Offline,
        SetPresence::Online => Presence::Online,
        SetPresence::Away => Presence::Away,
        SetPresence::Busy => Presence::Busy,
        SetPresence::Invisible => Presence::Offline,
    }
}

/// While a crowd reconnects in turn (`session/admission.rs`), disconnected users stay present for this time. A deferred user
/// has not left, and publishing all of them as offline, and then as online, would be the greatest wave of all.
const GRACE_IN_LINE_MS: u64 = 300_000;

/// Users whose contacts are read together.
const READ_TOGETHER: usize = 64;
/// Most presence events per second for all sessions together. Above it, changes are collected for longer, so that a
/// session gets many in one event when a crowd comes.
const DELIVERIES_PER_SECOND: u64 = 20_000;
/// The upper limit of that time.
const LONGEST_PAUSE_MS: u64 = 5_000;
/// Up to this number of sessions, one round is published at once, because it takes no noticeable time.
const MANY_SESSIONS: u64 = 1_000;
/// If a round reaches at least this part of all sessions, it is published at once: each session then gets one packet.
const REACHED_PART: u64 = 4;
/// Changes that wait while the store does not answer. Further changes are published only to sessions that
/// watch the user by name.
const MAX_UNPUBLISHED: usize = 100_000;

/// Presence changes that are not published yet.
#[derive(Default)]
pub(crate) struct PresenceQueue {
    /// Number of published rounds. A thread that publishes earlier reads checks it first: the rows may have changed
    /// since.
    rounds: AtomicU64,
    /// Presence changes handed to sessions in this round.
    deliveries: AtomicU64,
    queued: Mutex<Queued>,
}

#[derive(Default)]
struct Queued {
    unpublished: Vec<News>,
    /// Reads of contacts that are under way.
    readings: usize,
    /// Pairs (watched user, watcher) whose watcher must not be notified any more, since the oldest of these
    /// reads began.
    parted: HashSet<(UserId, UserId)>,
}

impl PresenceQueue {
    /// Call when the changes to publish have changed, before anybody is notified.
    fn begin_round(&self) {
        self.rounds.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Acquire)
    }

    /// Call before notifying the user who must not get presence any more.
    pub(crate) fn part(&self, of: UserId, who: UserId) {
        let mut queued = self.lock();
        if queued.readings > 0 {
            queued.parted.insert((of, who));
        }
    }

    fn begin_reading(&self) {
        self.lock().readings += 1;
    }

    fn end_reading(&self) {
        let mut queued = self.lock();
        queued.readings -= 1;
        if queued.readings == 0 {
            queued.parted = HashSet::new();
        }
    }

    fn parted<'a>(&self, of: UserId, contacts: &'a [UserId]) -> SmallVec<[&'a UserId; 1]> {
        let queued = self.lock();
        let parted = |who: &&UserId| !queued.parted.is_empty() && queued.parted.contains(&(of, **who));
        contacts.iter().filter(parted).collect()
    }

    fn keep_unpublished(&self, mut news: Vec<News>) {
        let mut queued = self.lock();
        news.truncate(MAX_UNPUBLISHED.saturating_sub(queued.unpublished.len()));
        queued.unpublished.append(&mut news);
    }

    fn has_room(&self) -> bool {
        self.lock().unpublished.len() < MAX_UNPUBLISHED
    }

    /// Keeps a change for the next round. Called under the lock of the user's shard, so that no round comes in between.
    /// Threads that have seen room at the same time may exceed the bound by one each.
    fn keep_one(&self, news: News) {
        self.lock().unpublished.push(news);
    }

    fn take_unpublished(&self) -> Vec<News> {
        std::mem::take(&mut self.lock().unpublished)
    }

    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Presence is published in rounds over all shards of the table of users. If many users are here and few of them get
/// events, the shards follow one another over the time of the round: published at once, the events would delay every
/// message behind them.
#[derive(Default)]
pub(crate) struct Round {
    began: Timestamp,
    /// Shards published in this round.
    published: usize,
    in_turn: bool,
}

impl Round {
    /// The shards to publish now, in a round of this length.
    fn due(&self, length_ms: u64, now: Timestamp) -> Range<usize> {
        let length_ms = length_ms.max(1);
        let elapsed = if now < self.began { length_ms } else { now.since(self.began).min(length_ms) };
        let until = match self.in_turn {
            true => elapsed as usize * SHARDS / length_ms as usize,
            false if elapsed == length_ms => SHARDS,
            false => 0,
        };
        self.published..until.max(self.published)
    }

    /// After the last shard, the next round begins.
    fn published(&mut self, shards: &Range<usize>, deliveries: &AtomicU64, sessions: u64, now: Timestamp) {
        self.published = shards.end;
        if self.published == SHARDS {
            let deliveries = deliveries.swap(0, Ordering::Relaxed);
            let in_turn = sessions >= MANY_SESSIONS && deliveries < sessions / REACHED_PART;
            *self = Round { began: now, published: 0, in_turn };
        }
    }
}

/// The last published presence of a user, with the user's privacy choices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Published {
    pub(crate) presence: Presence,
    pub(crate) privacy: Privacy,
}

impl Published {
    pub(crate) const OFFLINE: Published = Published {
        presence: Presence::Offline,
        privacy: Privacy {
            write: Audience::Everybody,
            presence: Audience::Everybody,
            last_seen: Audience::Everybody,
        },
    };
}

/// A change to publish to watchers.
pub(crate) struct News {
    pub(crate) user: UserId,
    sub: Sub,
    last_seen: Option<Timestamp>,
    /// The user's presence has changed, and not only that of a session.
    is_changed: bool,
    /// The resources of the sessions that have changed; None: the sessions without one.
    sessions: Vec<Option<Arc<str>>>,
}

/// Presence that waits to be published, and the watches of all sessions.
pub(crate) struct Presences {
    news: PresenceQueue,
    watches: Watches,
    restores: Mutex<Restores>,
    users: Arc<Users>,
    sessions: Arc<Sessions>,
    store: Arc<dyn PresenceStore>,
    config: Arc<NodeConfig>,
    admission: Arc<Admission>,
    counters: Arc<Counters>,
    round: Mutex<Round>,
}

impl Presences {
    pub(crate) fn new(
        users: Arc<Users>,
        sessions: Arc<Sessions>,
        store: Arc<dyn PresenceStore>,
        config: Arc<NodeConfig>,
        admission: Arc<Admission>,
        counters: Arc<Counters>,
    ) -> Presences {
        Presences {
            news: PresenceQueue::default(),
            watches: Watches::new(),
            restores: Mutex::default(),
            users,
            sessions,
            store,
            config,
            admission,
            counters,
            round: Mutex::default(),
        }
    }

    /// The users whom the session watches in addition to its contacts.
    /// The sessions that watch this user by name and may see them, if they receive live events.
    pub(crate) fn watching(&self, user: UserId) -> Handles {
        self.live_of(&self.watches.watchers_of(user))
    }

    pub(crate) fn watched_by(&self, session: SessionHandle) -> Vec<UserId> {
        self.watches.watched_by(session).into_vec()
    }

    /// Removes all watches of the session.
    pub(crate) fn forget_watches(&self, session: SessionHandle) {
        self.watches.forget(session);
    }

    /// Sets the user's own presence for all devices. The user's devices receive it at once, watchers with the
    /// next round.
    pub(crate) fn set_presence(&self, asker: &Asker, set: SetPresence, now: Timestamp) {
        let id = asker.session.user;
        let mut shard = self.sessions.lock(id);
        let Some(user) = shard.user(id) else { return };
        if user.chosen == SetPresence::Invisible && set == SetPresence::Invisible {
            return;
        }
        user.chosen = set;
        user.seen = now.0 as u32;
        shard.mark_changed(id);
        drop(shard);
        self.remember_presence(id, set, now);
        let event = Event::Presence { user: asker.sub.clone(), presence: shown(set, true), last_seen: None };
        self.sessions.publish_transient(id, Some(asker.session.handle), event);
    }

    /// The user has left. For others, an invisible user left long ago.
    pub(crate) fn remember_leaving(&self, user: UserId, chosen: SetPresence, last_seen: Timestamp) {
        if chosen != SetPresence::Invisible {
            self.remember_presence(user, chosen, last_seen);
        }
    }

    fn remember_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        self.store.put_presence(user, presence, last_seen);
        self.users.recent().change_user(user, |row| {
            row.presence = presence;
            row.last_seen = last_seen;
        });
    }

    /// The published presence of a user, but never *offline* for a user who has connected since. The next
    /// round publishes such a user, so that all watchers are notified when they leave again.
    pub(crate) fn published(&self, id: UserId) -> Published {
        let mut shard = self.sessions.lock(id);
        let Some(user) = shard.user(id) else { return Published::OFFLINE };
        let known = Published { presence: user.published, privacy: user.privacy };
        if !user.has_arrived() || !self.news.has_room() {
            return known;
        }
        if let Some(arrival) = shard.publish(id, self.sessions.last_tick()) {
            self.news.keep_one(arrival);
        }
        let presence = shard.user(id).map_or(known.presence, |user| user.published);
        Published { presence, ..known }
    }

    /// See [`Node::clients_wait_at_a_front`](crate::Node::clients_wait_at_a_front).
    pub(crate) fn clients_wait_at_a_front(&self, left_ms: u32, now: Timestamp) {
        self.admission.awaits_clients_of_a_front(left_ms, now);
    }

    pub(crate) fn end_grace(&self, now: Timestamp) {
        let mut grace_ms = self.config.presence_grace_ms;
        if self.admission.awaits_somebody(grace_ms, now) {
            grace_ms = grace_ms.max(GRACE_IN_LINE_MS);
        }
        for mut shard in self.sessions.each() {
            if shard.leaving.is_empty() {
                continue;
            }
            let left = shard.end_grace(grace_ms, now);
            drop(shard);
            for (user, chosen, last_seen) in left {
                self.remember_leaving(user, chosen, last_seen);
            }
        }
    }

    /// Ends all grace times.
    pub(crate) fn end_all_grace(&self, now: Timestamp) {
        for mut shard in self.sessions.each() {
            let left = shard.end_grace(0, now);
            drop(shard);
            for (user, chosen, last_seen) in left {
                self.remember_leaving(user, chosen, last_seen);
            }
        }
    }

    /// Publishes the changes of the shards that are due in this round.
    pub(crate) fn publish_due(self: &Arc<Self>, now: Timestamp) {
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let shards = round.due(self.round_ms(), now);
        if !shards.is_empty() {
            round.published(&shards, &self.news.deliveries, self.counters.sessions.read(), now);
            self.publish_shards(shards, now);
        }
    }

    /// How long changes are collected before they are published. The time grows with the number of watchers.
    fn round_ms(&self) -> u64 {
        let pause = self.news.deliveries.load(Ordering::Relaxed) * 1000 / DELIVERIES_PER_SECOND;
        self.config.presence_coalesce_ms.max(pause.min(LONGEST_PAUSE_MS))
    }

    fn publish_shards(self: &Arc<Self>, shards: Range<usize>, now: Timestamp) {
        let mut news = self.news.take_unpublished();
        for mut shard in self.sessions.some(shards) {
            if !shard.changed.is_empty() {
                news.append(&mut shard.take_news(now));
            }
        }
        self.news.begin_round();
        if news.is_empty() {
            return;
        }
        let read = self.anybody_watches_contacts();
        self.news.begin_reading();
        let contacts = |news: &News| {
            if read { self.users.recent().contacts(news.user) } else { Some(ContactIds::empty()) }
        };
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for news in news {
            match contacts(&news) {
                Some(contacts) => known.push((news, contacts)),
                None => unknown.push(news),
            }
        }
        self.publish_to_watchers(&known);
        self.news.end_reading();
        while !unknown.is_empty() {
            let rest = unknown.split_off(unknown.len().min(READ_TOGETHER));
            self.read_and_tell(std::mem::replace(&mut unknown, rest));
        }
    }

    fn read_and_tell(self: &Arc<Self>, news: Vec<News>) {
        let users = news.iter().map(|news| news.user).collect();
        let this = self.clone();
        self.news.begin_reading();
        self.users.with_contacts_of(users, move |contacts| {
            let is_read = contacts.is_ok();
            let contacts = contacts.unwrap_or_else(|_| vec![ContactIds::empty(); news.len()]);
            let known: Vec<(News, ContactIds)> = news.into_iter().zip(contacts).collect();
            this.publish_to_watchers(&known);
            // Retry in the next round; sessions that watch a user by name need not wait for it.
            if !is_read {
                this.news.keep_unpublished(known.into_iter().map(|(news, _)| news).collect());
            }
            this.news.end_reading();
        });
    }

    /// The contacts who see a user are on the user's own list, so nobody else's list is read. A session gets all its
    /// events in one packet.
    fn publish_to_watchers(&self, news: &[(News, ContactIds)]) {
        let gone: Vec<_> =
            news.iter().map(|(news, contacts)| self.news.parted(news.user, contacts.seeing())).collect();
        let mut recipients: Vec<(SessionHandle, usize)> = Vec::new();
        let mut of_sessions: Vec<(SessionHandle, usize)> = Vec::new();
        for (at, (news, contacts)) in news.iter().enumerate() {
            let users = self.live_of(&self.watches.watchers_of(news.user));
            let mut to = Watching { users, sessions: Handles::new() };
            for contact in self.sessions.of(contacts.seeing()).filter(|contact| !gone[at].contains(&contact))
            {
                self.sessions.lock(contact).contact_watchers(contact, &mut to);
            }
            if news.is_changed {
                recipients.extend(to.users.into_iter().map(|handle| (handle, at)));
            }
            if !news.sessions.is_empty() {
                // The user's own sessions see each other.
                let mut own = Watching::default();
                self.sessions.lock(news.user).contact_watchers(news.user, &mut own);
                to.sessions.append(&mut own.sessions);
            }
            of_sessions.extend(to.sessions.into_iter().map(|handle| (handle, at)));
        }
        if !of_sessions.is_empty() {
            self.publish_sessions(|at| &news[at].0, of_sessions);
        }
        recipients.sort_unstable();
        recipients.dedup();
        self.news.deliveries.fetch_add(recipients.len() as u64, Ordering::Relaxed);
        // During the read of the contacts, a newer change may have been published and may have overtaken this
        // one.
        let mut last_sent: Option<Vec<Presence>> = None;
        loop {
            let published: Vec<_> = news.iter().map(|(news, _)| self.published(news.user).presence).collect();
            recipients.retain(|(_, at)| {
                last_sent.as_ref().is_none_or(|last_sent| last_sent[*at] != published[*at])
            });
            if recipients.is_empty() {
                break;
            }
            let events =
                news.iter().zip(&published).map(|((news, _), published)| news.event(*published).into());
            self.sessions.send_each(&recipients, events);
            last_sent = Some(published);
        }
        // This change may arrive after the notice to a user who parted meanwhile, so the notice is repeated.
        for ((news, contacts), gone) in news.iter().zip(&gone) {
            for parted in
                self.news.parted(news.user, contacts.seeing()).iter().filter(|parted| !gone.contains(parted))
            {
                let mut to = Watching::default();
                self.sessions.lock(**parted).contact_watchers(**parted, &mut to);
                let presence = Presence::Offline;
                self.sessions.send_all(
                    &to.users,
                    Event::Presence { user: news.sub.clone(), presence, last_seen: None },
                );
                to.sessions.iter().for_each(|one| self.send_sessions(*one, news.user, &news.sub, false));
            }
        }
    }
}

impl Completion for Presences {
    fn sessions(&self) -> &Sessions {
        &self.sessions
    }
}

impl News {
    fn event(&self, presence: Presence) -> Event {
        let last_seen = self.last_seen.filter(|_| presence == Presence::Offline);
        Event::Presence { user: self.sub.clone(), presence, last_seen }
    }
}

impl Shard {
    /// Users whose grace time is over, with the time of their disconnection.
    fn end_grace(&mut self, grace_ms: u64, now: Timestamp) -> Vec<(UserId, SetPresence, Timestamp)> {
        let mut left = Vec::new();
        while let Some(&(dropped, id)) = self.leaving.front() {
            if now.since(dropped) < grace_ms && dropped.0 <= now.0 + CLOCK_JUMP_MS {
                break;
            }
            self.leaving.pop_front();
            // A user who came back is here, or has disconnected again and is in the queue once more.
            if let Some(user) = self.user(id)
                && user.sessions.is_empty()
                && !user.has_left
                && user.seen == dropped.0 as u32
            {
                user.has_left = true;
                left.push((id, user.chosen, dropped));
                self.mark_changed(id);
            }
        }
        left
    }

    /// Takes the changes that differ from the published state, and drops users who have left.
    fn take_news(&mut self, now: Timestamp) -> Vec<News> {
        let mut news = Vec::new();
        let is_somebody_announced = !self.announcements.is_empty();
        for id in std::mem::take(&mut self.changed) {
            if is_somebody_announced {
                news.extend(self.publish(id, now));
            }
            let Some(user) = self.user(id) else { continue };
            user.is_changed = false;
            if !is_somebody_announced {
                news.extend(user.publish(now));
            }
            let is_idle = user.has_left && user.sends.is_idle(now) && user.commands.is_idle(now);
            let (has_left, announced) = (user.has_left, self.announcements.get(&id));
            let is_waiting = announced.is_some_and(|announced| announced.is_waiting());
            if !has_left && !is_waiting {
                continue;
            }
            if is_idle && !is_waiting {
                self.remove_user(id);
            } else {
                // Leaving and coming back must not be a way around the limits.
                self.mark_changed(id);
            }
        }
        news
    }
}

impl UserHere {
    /// Watchers already have the user's current presence.
    pub(crate) fn is_published(&mut self) {
        self.published = self.shown();
    }

    /// Publishes the presence of a user without announced sessions; None: it has not changed.
    pub(super) fn publish(&mut self, now: Timestamp) -> Option<News> {
        let presence = self.shown();
        let is_changed = std::mem::replace(&mut self.published, presence) != presence;
        is_changed.then(|| self.news(presence, now))
    }

    /// The presence for viewers with permission. Hiding from everybody counts as invisible.
    fn shown(&self) -> Presence {
        let is_here = !self.has_left && self.privacy.presence != Audience::Nobody;
        match self.chosen {
            _ if !is_here => Presence::Offline,
            SetPresence::Invisible => Presence::Offline,
            chosen => self.announced.with(shown(chosen, true)),
        }
    }

    /// An answer before the next round needs this change. The round compares with `published`, so the change is
    /// kept separately.
    fn has_arrived(&self) -> bool {
        self.published == Presence::Offline && self.shown() != Presence::Offline
    }

    fn news(&self, presence: Presence, now: Timestamp) -> News {
        // Some watchers may not see this; viewers with permission get it from the answer to `watch` and from the
        // profile.
        let has_last_seen = presence == Presence::Offline && self.privacy.last_seen == Audience::Everybody;
        let last_seen = has_last_seen.then(|| self.last_seen(now));
        News { user: self.id, sub: self.sub.clone(), last_seen, is_changed: true, sessions: Vec::new() }
    }

    /// From its low 32 bits: correct if no user is kept here for 24 days after leaving.
    fn last_seen(&self, now: Timestamp) -> Timestamp {
        // Negative after the clock was set back.
        let ago = (now.0 as u32).wrapping_sub(self.seen) as i32;
        Timestamp(now.0.saturating_sub(ago.max(0) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_published_in_turn_for_few_receivers() {
        let deliveries = AtomicU64::new(250);
        let mut round = Round::default();
        let mut published_at = |sessions, ms| {
            let due = round.due(500, Timestamp(ms));
            round.published(&due, &deliveries, sessions, Timestamp(ms));
            due
        };
        assert_eq!(published_at(1_001, 500), 0..64, "the first round is told at once");
        deliveries.store(249, Ordering::Relaxed);
        assert_eq!(published_at(1_001, 999), 0..0);
        assert_eq!(published_at(1_001, 1_000), 0..64, "a quarter had heard of it");
        assert_eq!(published_at(1_001, 1_025), 0..3);
        assert_eq!(published_at(1_001, 1_050), 3..6);
        assert_eq!(published_at(1_001, 1_400), 6..51);
        deliveries.store(250, Ordering::Relaxed);
        assert_eq!(published_at(1_001, 1_900), 51..64, "late, and each shard once");
        assert_eq!(published_at(1_001, 1_950), 0..0, "many hear something again");
        assert_eq!(published_at(999, 2_400), 0..64);
        assert_eq!(published_at(999, 2_500), 0..0, "and a few are told at once");
        assert_eq!(published_at(999, 2_000), 0..64, "a clock that went back ends the round");
    }

    #[test]
    fn presence_shown_to_others() {
        use {Presence as P, SetPresence as S};
        let table =
            [(S::Online, P::Online), (S::Away, P::Away), (S::Busy, P::Busy), (S::Invisible, P::Offline)];
        for (chosen, seen) in table {
            assert_eq!(shown(chosen, true), seen);
            assert_eq!(shown(chosen, false), P::Offline);
        }
    }
}
