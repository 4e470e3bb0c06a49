//! Presence: what others see of a user, told late and once.
//!
//! A user who drops stays visible for a grace time; changes are collected and told together at the next due tick, if
//! there is still something to tell. So a mass reconnect shows nobody any flapping and costs no wave.

use crate::command::SetPresence;
use crate::node::{Asker, Inner};
use crate::session::{Shard, UserHere};
use crate::{Event, Presence, Sub, Timestamp, UserId};

/// A clock that jumps back by more than this ends all grace times, instead of keeping everyone here for as long.
const CLOCK_JUMP_MS: u64 = 60_000;

/// What others see of a user with this choice, who is here or not.
pub(crate) fn shown(chosen: SetPresence, is_here: bool) -> Presence {
    match chosen {
        _ if !is_here => Presence::Offline,
        SetPresence::Online => Presence::Online,
        SetPresence::Away => Presence::Away,
        SetPresence::Busy => Presence::Busy,
        SetPresence::Invisible => Presence::Offline,
    }
}

/// A change that watchers are to hear.
struct News {
    user: UserId,
    sub: Sub,
    presence: Presence,
    last_seen: Option<Timestamp>,
}

impl Inner {
    /// Sets one's own presence for all devices; the others hear it at once, watchers with the next telling.
    pub(crate) fn set_presence(&self, asker: &Asker, set: SetPresence, now: Timestamp) {
        let id = asker.session.user;
        let mut shard = self.here.lock(id);
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
        self.tell_in_passing(id, Some(asker.session.handle), event);
    }

    /// The user has left. Who was invisible has left long ago, as far as others know.
    pub(crate) fn remember_leaving(&self, user: UserId, chosen: SetPresence, last_seen: Timestamp) {
        if chosen != SetPresence::Invisible {
            self.remember_presence(user, chosen, last_seen);
        }
    }

    fn remember_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        self.store.put_presence(user, presence, last_seen);
        self.recent.change_user(user, |row| {
            row.presence = presence;
            row.last_seen = last_seen;
        });
    }

    /// What watchers were told of a user last.
    pub(crate) fn told(&self, user: UserId) -> Presence {
        self.here.lock(user).user(user).map_or(Presence::Offline, |user| user.told)
    }

    pub(crate) fn end_grace(&self, now: Timestamp) {
        for mut shard in self.here.each() {
            if shard.leaving.is_empty() {
                continue;
            }
            let left = shard.end_grace(self.config.presence_grace_ms, now);
            drop(shard);
            for (user, chosen, last_seen) in left {
                self.remember_leaving(user, chosen, last_seen);
            }
        }
    }

    /// Tells watchers what has changed since the last telling.
    pub(crate) fn tell_presence(&self, now: Timestamp) {
        for mut shard in self.here.each() {
            if shard.changed.is_empty() {
                continue;
            }
            let news = shard.take_news(now);
            drop(shard);
            for News { user, sub, presence, last_seen } in news {
                let watchers = self.watches.watchers_of(user);
                if !watchers.is_empty() {
                    let handles = self.live_of(&watchers);
                    self.deliver(&handles, Event::Presence { user: sub, presence, last_seen });
                }
            }
        }
    }
}

impl Shard {
    /// Users whose grace time is over, and when they were here last.
    fn end_grace(&mut self, grace_ms: u64, now: Timestamp) -> Vec<(UserId, SetPresence, Timestamp)> {
        let mut left = Vec::new();
        while let Some(&(dropped, id)) = self.leaving.front() {
            if now.since(dropped) < grace_ms && dropped.0 <= now.0 + CLOCK_JUMP_MS {
                break;
            }
            self.leaving.pop_front();
            // Who came back is here, or has dropped once more and stands in line again.
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

    /// Changes that are still changes, and drops users who are gone.
    fn take_news(&mut self, now: Timestamp) -> Vec<News> {
        let mut news = Vec::new();
        for id in std::mem::take(&mut self.changed) {
            let Some(user) = self.user(id) else { continue };
            user.is_changed = false;
            let presence = shown(user.chosen, !user.has_left);
            if std::mem::replace(&mut user.told, presence) != presence {
                news.push(user.news(presence, now));
            }
            if !user.has_left {
                continue;
            }
            if user.sends.is_idle(now) && user.commands.is_idle(now) {
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
    fn news(&self, presence: Presence, now: Timestamp) -> News {
        let last_seen = (presence == Presence::Offline).then(|| self.last_seen(now));
        News { user: self.id, sub: self.sub.clone(), presence, last_seen }
    }

    /// From its low bits: right as long as nobody is kept here for 49 days after he left.
    fn last_seen(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0.saturating_sub((now.0 as u32).wrapping_sub(self.seen).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_see() {
        use {Presence as P, SetPresence as S};
        let table =
            [(S::Online, P::Online), (S::Away, P::Away), (S::Busy, P::Busy), (S::Invisible, P::Offline)];
        for (chosen, seen) in table {
            assert_eq!(shown(chosen, true), seen);
            assert_eq!(shown(chosen, false), P::Offline);
        }
    }
}
