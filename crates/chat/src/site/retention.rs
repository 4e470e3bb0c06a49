//! How long a site keeps messages.

use crate::{ConversationId, SettingsError, SiteId, Timestamp};
use serde::{Deserialize, Serialize};

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

    /// The times before which messages are removed now.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trim {
    /// None: messages stay.
    pub before: Option<Timestamp>,
    /// Rooms with another time.
    pub rooms: Vec<(ConversationId, Option<Timestamp>)>,
}

impl Trim {
    /// The time for this conversation.
    pub fn of(&self, id: ConversationId) -> Option<Timestamp> {
        self.rooms.iter().find(|(room, _)| *room == id).map_or(self.before, |(_, before)| *before)
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
    fn rooms_may_have_their_own_time() {
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
    fn invalid_values_are_refused_with_a_reason() {
        assert_eq!(rooms("8000000000000001", 36_500).check(), Ok(()));
        for wrong in [rooms("5", 1), rooms("x", 1), rooms("8000000000000001", 36_501)] {
            assert!(wrong.check().is_err(), "{wrong:?}");
        }
    }
}
