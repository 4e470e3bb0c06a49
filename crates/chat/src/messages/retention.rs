//! Retention: what was said longer ago than the owner wants to keep it goes, in slices, as time passes.
//!
//! The oldest messages of a conversation go with their former bodies, reactions and files; numbers stay as they are, so a conversation
//! begins with a higher one then. Nobody is told: a device that has them keeps them until it loads the conversation anew.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::messages::Messages;
use crate::{ConversationId, Done, SettingsError, SiteId, StoreError, Timestamp};

/// How long a site keeps messages.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Retention {
    /// Messages of all conversations; 0: for good.
    pub days: u32,
    /// Rooms that have a time of their own.
    pub rooms: Vec<RoomRetention>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomRetention {
    /// Its id, as the protocol has it.
    pub room: String,
    /// 0: for good.
    pub days: u32,
}

/// Most rooms with a time of their own.
const MOST_ROOMS: usize = 1_000;
/// A hundred years.
const MOST_DAYS: u32 = 36_500;

impl Retention {
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        let wrong = |why: &str| Err(SettingsError::Wrong(why.to_owned()));
        if self.days > MOST_DAYS || self.rooms.iter().any(|one| one.days > MOST_DAYS) {
            return wrong("retention: at most 36500 days; 0 is for good");
        }
        if self.rooms.len() > MOST_ROOMS {
            return wrong("retention.rooms: at most 1000");
        }
        match self.rooms.iter().all(|one| key_of(&one.room).is_some()) {
            true => Ok(()),
            false => {
                wrong("retention.rooms: [{\"room\":\"8000000000000001\",\"days\":30}], with the ids of rooms")
            }
        }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.days > 0 || self.rooms.iter().any(|one| one.days > 0)
    }

    /// The times before which messages are removed at this moment.
    pub fn trim(&self, site: SiteId, now: Timestamp) -> Trim {
        let room = |one: &RoomRetention| {
            Some((ConversationId { site, key: key_of(&one.room)? }, before(one.days, now)))
        };
        Trim { before: before(self.days, now), rooms: self.rooms.iter().filter_map(room).collect() }
    }
}

fn key_of(room: &str) -> Option<u64> {
    let key = u64::from_str_radix(room, 16).ok()?;
    ConversationId { site: SiteId(0), key }.is_room().then_some(key)
}

fn before(days: u32, now: Timestamp) -> Option<Timestamp> {
    (days > 0).then(|| Timestamp(now.0.saturating_sub(u64::from(days) * 24 * 3_600_000)))
}

/// The part of the port to storage that is about retention. See [`Store`](crate::Store), of which it is a part.
pub trait RetentionStore: Send + Sync + 'static {
    /// Removes messages from before the given times, the oldest of each conversation first: of some conversations of the site after `after`,
    /// and at most `limit` messages.
    fn trim(&self, site: SiteId, after: Option<u64>, trim: Trim, limit: u32, done: Done<Trimmed>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trim {
    /// None: they stay.
    pub before: Option<Timestamp>,
    /// Rooms of which something else holds.
    pub rooms: Vec<(ConversationId, Option<Timestamp>)>,
}

impl Trim {
    /// Of this conversation.
    pub fn of(&self, id: ConversationId) -> Option<Timestamp> {
        self.rooms.iter().find(|(room, _)| *room == id).map_or(self.before, |(_, before)| *before)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trimmed {
    pub removed: u32,
    /// Go on after this one; None: the site is done.
    pub next: Option<u64>,
}

/// Messages of one slice, at most: a few milliseconds of the writer's time.
pub const TRIM_SLICE: u32 = 100;
/// Between two slices, and between two rounds over all sites.
const SLICE_EVERY_MS: u64 = 500;
const ROUND_EVERY_MS: u64 = 600_000;

/// How far the round is. A node that dies begins anew.
#[derive(Default)]
pub(crate) struct Retaining {
    under_way: AtomicBool,
    round: Mutex<Round>,
}

#[derive(Default)]
struct Round {
    /// Sites that are still to be gone over, and the conversation in the last of them.
    sites: Vec<SiteId>,
    after: Option<u64>,
    due: Timestamp,
}

impl Messages {
    pub(crate) fn trim_what_is_old(self: &Arc<Self>, now: Timestamp) {
        let mut round = self.retaining.round();
        // A clock that jumps back must not stop it for as long.
        if now < round.due && round.due.since(now) <= ROUND_EVERY_MS {
            return;
        }
        if self.retaining.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let next = round.next(self, now);
        let after = round.after;
        drop(round);
        let Some((site, trim)) = next else {
            return self.retaining.under_way.store(false, Ordering::Release);
        };
        let this = self.clone();
        let done = move |trimmed: Result<Trimmed, StoreError>| {
            // The store logs its errors; the next slice tries again.
            if let Ok(Trimmed { next, .. }) = trimmed {
                let mut round = this.retaining.round();
                round.after = next;
                if next.is_none() {
                    round.sites.pop();
                }
            }
            this.retaining.under_way.store(false, Ordering::Release);
        };
        self.store.trim(site, after, trim, TRIM_SLICE, Box::new(done));
    }
}

impl Retaining {
    fn round(&self) -> std::sync::MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    /// The site whose turn it is. When all were, the next round begins after a while.
    fn next(&mut self, this: &Messages, now: Timestamp) -> Option<(SiteId, Trim)> {
        self.due = Timestamp(now.0 + SLICE_EVERY_MS);
        if self.sites.is_empty() {
            self.sites = this.sites.that_forget();
            self.after = None;
            self.due = Timestamp(now.0 + if self.sites.is_empty() { ROUND_EVERY_MS } else { SLICE_EVERY_MS });
        }
        while let Some(site) = self.sites.last() {
            // It may have gone, or keeps everything by now.
            let live = this.sites.by_id(*site).filter(|live| live.site.settings.retention.is_on());
            if let Some(live) = live {
                return Some((*site, live.site.settings.retention.trim(*site, now)));
            }
            self.sites.pop();
            self.after = None;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 3_600_000;

    fn rooms(room: &str, days: u32) -> Retention {
        Retention { days: 30, rooms: vec![RoomRetention { room: room.into(), days }] }
    }

    #[test]
    fn a_room_may_have_a_time_of_its_own() {
        let site = SiteId(1);
        let room = ConversationId { site, key: 0x8000_0000_0000_0001 };
        let other = ConversationId { site, key: 5 };
        let now = Timestamp(100 * DAY);
        let trim = rooms("8000000000000001", 7).trim(site, now);
        assert_eq!((trim.of(room), trim.of(other)), (Some(Timestamp(93 * DAY)), Some(Timestamp(70 * DAY))));
        assert_eq!(rooms("8000000000000001", 0).trim(site, now).of(room), None, "for good");
        assert_eq!(Retention::default().trim(site, now).of(other), None);
        assert!(!Retention::default().is_on() && rooms("8000000000000001", 0).is_on());
    }

    #[test]
    fn what_cannot_be_is_said() {
        assert_eq!(rooms("8000000000000001", 36_500).check(), Ok(()));
        for wrong in [rooms("5", 1), rooms("x", 1), rooms("8000000000000001", 36_501)] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
