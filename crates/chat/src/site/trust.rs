//! Trust: the rights of a member grow with the time of their membership and the number of their messages.
//!
//! The level is computed at the sign-in, by age, and by the number of messages if that matters. The store
//! keeps it, so that each step up is computed once. Levels never fall. A level set by a moderator is fixed.

use serde::{Deserialize, Serialize};

use crate::config::GUEST_SHARE;
use crate::limits::Rate;
use crate::site::settings::Settings;
use crate::{Refusal, Timestamp, has_link};

/// How well a member is known; a greater level has more rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    #[default]
    New,
    Basic,
    Trusted,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::New, Level::Basic, Level::Trusted];

    pub fn parse(text: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.word() == text)
    }

    pub fn word(self) -> &'static str {
        match self {
            Level::New => "new",
            Level::Basic => "basic",
            Level::Trusted => "trusted",
        }
    }
}

/// Limits for new members, and conditions for trusting members. Off by default; on for new sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trust {
    /// Limits for new members. Off by default; on for new sites.
    pub on: bool,
    /// A member is new for this time at least. Raid mode uses the same time, even if `on` is false.
    pub new_hours: u32,
    /// A member is new until they have written this number of messages.
    pub new_messages: u32,
    /// A member is trusted after this time at the earliest.
    pub trusted_days: u32,
    /// A member is trusted after this number of messages at the earliest.
    pub trusted_messages: u32,
    /// New members can write links.
    pub new_links: bool,
    /// Message requests of a new member per day, at most `requests.per_day`. Trusted members have twice that number.
    pub new_requests_per_day: u32,
    /// Rooms that a new member can create in 24 hours.
    pub new_rooms_per_day: u32,
    /// Rooms that a basic member can create in 24 hours. Trusted members can create as many as they may own.
    pub rooms_per_day: u32,
}

impl Default for Trust {
    fn default() -> Trust {
        Trust {
            on: false,
            new_hours: 24,
            new_messages: 5,
            trusted_days: 14,
            trusted_messages: 100,
            new_links: false,
            new_requests_per_day: 5,
            new_rooms_per_day: 1,
            rooms_per_day: 10,
        }
    }
}

const HOUR_MS: u64 = 3_600_000;
pub(crate) const DAY_MS: u64 = 24 * HOUR_MS;
/// A user who joins within the first days of a site was most likely in the community before.
const FIRST_DAYS_MS: u64 = 7 * DAY_MS;

/// The level of a member who joined at `came` and has written `written` messages. `site`: creation of the
/// site.
pub fn level(trust: &Trust, site: Timestamp, came: Timestamp, written: u32, now: Timestamp) -> Level {
    let age = now.since(came);
    let was_there_before = came.since(site) < FIRST_DAYS_MS;
    let is_known = age >= u64::from(trust.new_hours) * HOUR_MS && written >= trust.new_messages;
    match is_known || was_there_before {
        true if age >= u64::from(trust.trusted_days) * DAY_MS && written >= trust.trusted_messages => {
            Level::Trusted
        }
        true => Level::Basic,
        false => Level::New,
    }
}

/// The number of messages up to which counting can change the level; None if it cannot.
pub(crate) fn worth_counting(trust: &Trust, now_at: Level, age: u64) -> Option<u32> {
    match now_at {
        Level::New if age >= u64::from(trust.new_hours) * HOUR_MS => {
            Some(trust.new_messages.max(trust.trusted_messages))
        }
        Level::Basic if age >= u64::from(trust.trusted_days) * DAY_MS => Some(trust.trusted_messages),
        _ => None,
    }
}

/// Whether raid mode applies to this member, by age only.
pub(crate) fn is_recent(trust: &Trust, came: Timestamp, now: Timestamp) -> bool {
    now.since(came) < u64::from(trust.new_hours) * HOUR_MS
}

/// The message rate for this level: new members have the rate of guests.
pub(crate) fn paced(rate: Rate, settings: &Settings, level: Level, guest: bool) -> Rate {
    let is_slow = guest || settings.trust.on && level == Level::New;
    if is_slow { rate.slowed(GUEST_SHARE) } else { rate }
}

/// Whether a member of this level may write the text.
pub(crate) fn may_say(settings: &Settings, level: Level, body: &str) -> Result<(), Refusal> {
    let trust = &settings.trust;
    let is_asked = trust.on && level == Level::New && !trust.new_links;
    if is_asked && has_link(body) { Err(Refusal::TooNew) } else { Ok(()) }
}

/// Requests to strangers per day.
pub(crate) fn requests_per_day(settings: &Settings, level: Level) -> u32 {
    let all = settings.requests.per_day;
    match level {
        _ if !settings.trust.on => all,
        Level::New => all.min(settings.trust.new_requests_per_day),
        Level::Basic => all,
        Level::Trusted => all.saturating_mul(2),
    }
}

/// Rooms per 24 hours. None: no such limit.
pub(crate) fn rooms_per_day(settings: &Settings, level: Level) -> Option<u32> {
    match level {
        _ if !settings.trust.on => None,
        Level::New => Some(settings.trust.new_rooms_per_day),
        Level::Basic => Some(settings.trust.rooms_per_day),
        Level::Trusted => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SITE: Timestamp = Timestamp(1_800_000_000_000);

    fn days(days: u64) -> u64 {
        days * DAY_MS
    }

    #[test]
    fn the_level_follows_age_and_messages() {
        let trust = Trust::default();
        let came = Timestamp(SITE.0 + days(100));
        for (age, written, expected) in [
            (0, 0, Level::New),
            (0, 1_000, Level::New),
            (days(1) - 1, 5, Level::New),
            (days(1), 4, Level::New),
            (days(1), 5, Level::Basic),
            (days(13), 1_000, Level::Basic),
            (days(14), 99, Level::Basic),
            (days(14), 100, Level::Trusted),
            (days(1_000), 0, Level::New),
        ] {
            let now = Timestamp(came.0 + age);
            assert_eq!(level(&trust, SITE, came, written, now), expected, "{age} ms, {written} messages");
        }
    }

    #[test]
    fn early_members_start_with_a_higher_level() {
        let trust = Trust::default();
        let first = Timestamp(SITE.0 + days(6));
        assert_eq!(level(&trust, SITE, first, 0, first), Level::Basic);
        assert_eq!(level(&trust, SITE, first, 100, Timestamp(first.0 + days(14))), Level::Trusted);
        assert_eq!(level(&trust, SITE, Timestamp(SITE.0 + days(7)), 0, first), Level::New);
        assert!(is_recent(&trust, first, first), "but raid mode means them, too");
        assert!(!is_recent(&trust, first, Timestamp(first.0 + days(1))));
    }

    #[test]
    fn rights_of_each_level() {
        let mut settings = Settings::default();
        let may = |settings: &Settings, level| {
            (
                may_say(settings, level, "see evil.com").is_ok(),
                requests_per_day(settings, level),
                rooms_per_day(settings, level),
            )
        };
        for level in Level::ALL {
            assert_eq!(may(&settings, level), (true, 20, None), "it is off");
        }
        settings.trust.on = true;
        assert_eq!(may(&settings, Level::New), (false, 5, Some(1)));
        assert_eq!(may(&settings, Level::Basic), (true, 20, Some(10)));
        assert_eq!(may(&settings, Level::Trusted), (true, 40, None));
        assert!(may_say(&settings, Level::New, "Hello").is_ok());
        settings.trust.new_links = true;
        assert!(may(&settings, Level::New).0);
        let rate = Rate::per_minute(20, 60);
        assert_eq!(paced(rate, &settings, Level::New, false), rate.slowed(4));
        assert_eq!(paced(rate, &settings, Level::New, true), rate.slowed(4), "not twice");
        assert_eq!(paced(rate, &settings, Level::Basic, false), rate);
    }

    proptest! {
        /// Skipped counts never change a level, and counts that matter are never skipped.
        #[test]
        fn skipped_counts_never_change_the_level(age in 0..days(40), written in 0u32..300, stored in 0usize..3) {
            let trust = Trust::default();
            let came = Timestamp(SITE.0 + days(100));
            let now = Timestamp(came.0 + age);
            let before = Level::ALL[stored];
            let reached = level(&trust, SITE, came, written, now);
            match worth_counting(&trust, before, age) {
                None => prop_assert!(reached <= before || before == Level::New && reached == Level::New),
                Some(most) => {
                    prop_assert_eq!(level(&trust, SITE, came, written.min(most), now), reached);
                }
            }
        }
    }
}
