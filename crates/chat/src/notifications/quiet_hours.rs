//! Hours in which a member gets no notices.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

const DAY: u16 = 24 * 60;
/// Offsets from UTC in minutes: from Baker Island to Kiribati.
const OFFSETS: std::ops::RangeInclusive<i16> = -12 * 60..=14 * 60;

/// From one minute of the day to another, by the member's clock. May pass midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "(u16, u16, i16)", into = "(u16, u16, i16)")]
pub struct QuietHours {
    from: u16,
    to: u16,
    /// Minutes by which the member's clock is ahead of UTC. The client updates it when that changes.
    offset: i16,
}

impl QuietHours {
    /// None if a value is out of range, or the interval is empty.
    pub fn new(from: u16, to: u16, offset: i16) -> Option<QuietHours> {
        let fits = from < DAY && to < DAY && from != to && OFFSETS.contains(&offset);
        fits.then_some(QuietHours { from, to, offset })
    }

    pub fn from(&self) -> u16 {
        self.from
    }

    pub fn to(&self) -> u16 {
        self.to
    }

    pub fn offset(&self) -> i16 {
        self.offset
    }

    pub fn contain(&self, now: Timestamp) -> bool {
        let minutes = i64::try_from(now.0 / 60_000).unwrap_or(i64::MAX) + i64::from(self.offset);
        let minute = minutes.rem_euclid(i64::from(DAY)) as u16;
        match self.from < self.to {
            true => (self.from..self.to).contains(&minute),
            false => minute >= self.from || minute < self.to,
        }
    }
}

impl From<QuietHours> for (u16, u16, i16) {
    fn from(hours: QuietHours) -> Self {
        (hours.from, hours.to, hours.offset)
    }
}

impl TryFrom<(u16, u16, i16)> for QuietHours {
    type Error = &'static str;

    fn try_from((from, to, offset): (u16, u16, i16)) -> Result<QuietHours, &'static str> {
        QuietHours::new(from, to, offset).ok_or("no quiet hours")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This time of day in UTC, on some day.
    fn at(hour: u64, minute: u64) -> Timestamp {
        Timestamp(1_800_000_000_000 / 86_400_000 * 86_400_000 + (hour * 60 + minute) * 60_000)
    }

    #[test]
    fn hours_follow_the_members_clock_and_may_pass_midnight() {
        let night = QuietHours::new(22 * 60, 7 * 60, 0).expect("they can be");
        for (hour, minute, quiet) in
            [(21, 59, false), (22, 0, true), (0, 0, true), (6, 59, true), (7, 0, false)]
        {
            assert_eq!(night.contain(at(hour, minute)), quiet, "{hour}:{minute}");
        }
        let noon = QuietHours::new(12 * 60, 13 * 60, 120).expect("they can be");
        for (hour, quiet) in [(9, false), (10, true), (11, false), (12, false)] {
            assert_eq!(noon.contain(at(hour, 0)), quiet, "{hour} UTC is two hours later there");
        }
        let west = QuietHours::new(20 * 60, 21 * 60, -300).expect("they can be");
        assert!(west.contain(at(1, 30)) && !west.contain(at(20, 30)));
        assert!(!west.contain(Timestamp(u64::MAX)), "a time that cannot be harms nobody");
    }

    #[test]
    fn impossible_hours_are_refused() {
        for (from, to, offset) in [(0, 0, 0), (1_440, 0, 0), (0, 1_440, 0), (0, 1, 841), (0, 1, -721)] {
            assert_eq!(QuietHours::new(from, to, offset), None, "{from} {to} {offset}");
        }
    }
}
