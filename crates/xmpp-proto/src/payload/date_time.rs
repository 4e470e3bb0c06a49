//! Dates and times (XEP-0082), as milliseconds since 1970.

use std::fmt;

/// A moment in UTC. `Display` writes the form of XEP-0082 §3.2, with milliseconds if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DateTime(pub u64);

const DAY: u64 = 86_400_000;
/// Days from 0000-03-01 to 1970-01-01 in the Gregorian calendar.
const EPOCH: i64 = 719_468;

impl DateTime {
    /// Reads `2010-07-10T23:08:25.123Z`, or an offset such as `-06:00` in place of `Z`. Moments before 1970 count as its
    /// beginning; digits after the milliseconds do not count.
    pub fn parse(text: &str) -> Option<DateTime> {
        let (date, time) = text.split_at_checked(10)?;
        let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
        let (time, rest) = time.strip_prefix('T')?.split_at_checked(8)?;
        let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
        // A leap second is the last second of its day.
        let fine = (1..=12).contains(&month) && (1..=days_of(year, month)).contains(&day);
        if !fine || hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let (milliseconds, zone) = match rest.strip_prefix('.') {
            None => (0, rest),
            Some(rest) => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let (fraction, zone) = rest.split_at(digits);
                let fraction = fraction.bytes().chain(*b"000").take(3);
                let milliseconds = fraction.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
                ((digits > 0).then_some(milliseconds)?, zone)
            }
        };
        let seconds =
            days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second.min(59);
        let milliseconds = (seconds - offset(zone)?) * 1000 + milliseconds;
        Some(DateTime(u64::try_from(milliseconds).unwrap_or(0)))
    }
}

fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts
            .next()
            .filter(|part| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

/// The seconds by which a time zone is before UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes() {
        b"Z" => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let [hours, minutes] = numbers(&zone[1..], ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts in years that begin in March, so that a leap day is the last day of one.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let year = year.rem_euclid(400);
    era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - EPOCH
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = i64::try_from(self.0 / DAY).expect("u64::MAX milliseconds are fewer days") + EPOCH;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (carry, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
        let year = era * 400 + year + carry;
        let seconds = self.0 % DAY / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.0 % 1000 {
            0 => f.write_str("Z"),
            milliseconds => write!(f, ".{milliseconds:03}Z"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_are_read_and_written() {
        for (text, milliseconds, again) in [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("1969-07-21T02:56:15Z", 0, "1970-01-01T00:00:00Z"),
            ("2006-12-19T17:58:35Z", 1_166_551_115_000, "2006-12-19T17:58:35Z"),
            ("2006-12-19T11:58:35.5-06:00", 1_166_551_115_500, "2006-12-19T17:58:35.500Z"),
            ("2000-02-29T23:59:60.123456Z", 951_868_799_123, "2000-02-29T23:59:59.123Z"),
            ("2026-11-26T01:00:00+02:00", 1_795_647_600_000, "2026-11-25T23:00:00Z"),
        ] {
            assert_eq!(DateTime::parse(text), Some(DateTime(milliseconds)), "{text}");
            assert_eq!(DateTime(milliseconds).to_string(), again);
        }
    }

    #[test]
    fn other_texts_are_no_moments() {
        for text in [
            "",
            "2006-12-19",
            "2006-12-19T17:58:35",
            "20061219T17:58:35",
            "2006-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2006-13-01T00:00:00Z",
            "2006-12-00T00:00:00Z",
            "2006-12-19T24:00:00Z",
            "2006-12-19T17:58:35.Z",
            "2006-12-19T17:58:35+6:00",
            "2006-12-19T17:58:35Zx",
            "+006-12-19T17:58:35Z",
            "2006-12-19 17:58:35Z",
            "2006-12-1äT17:58:35Z",
        ] {
            assert_eq!(DateTime::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_moment_is_read_again(milliseconds in 0..253_402_300_800_000u64) {
            let moment = DateTime(milliseconds);
            prop_assert_eq!(DateTime::parse(&moment.to_string()), Some(moment));
        }

        #[test]
        fn any_text_and_any_number_are_handled(text in "[0-9TZ:.+-]{0,30}|\\PC*", milliseconds: u64) {
            let _ = DateTime::parse(&text);
            prop_assert!(DateTime(milliseconds).to_string().ends_with('Z'));
        }
    }
}
