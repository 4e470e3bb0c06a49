//! Jumps of the wall clock. After one, nothing is removed because of its age for a while: the clock may be wrong, and an operator gets
//! time to correct it.

use std::time::{Duration, Instant};

use chat::Timestamp;

/// A smaller jump removes nothing that would not be removed soon.
const LEAST_MS: u64 = 60_000;
/// Nothing is removed for this time after the last jump.
pub(crate) const CAUTION: Duration = Duration::from_secs(3_600);

/// Compares the wall clock with the steady one. The sleep of a machine looks like a jump ahead.
pub(crate) struct ClockJumps {
    last: (Timestamp, Instant),
    cautious_until: Option<Instant>,
}

impl ClockJumps {
    pub(crate) fn new(now: Timestamp, steady: Instant) -> ClockJumps {
        ClockJumps { last: (now, steady), cautious_until: None }
    }

    /// Takes the time of both clocks at this moment. Some: the milliseconds by which the wall clock has jumped since the last call, ahead
    /// or back.
    pub(crate) fn look(&mut self, now: Timestamp, steady: Instant) -> Option<i64> {
        let (before, then) = self.last;
        let expected = before.0.saturating_add(steady.saturating_duration_since(then).as_millis() as u64);
        self.last = (now, steady);
        if now.0.abs_diff(expected) < LEAST_MS {
            return None;
        }
        self.cautious_until = Some(steady + CAUTION);
        Some(now.0.wrapping_sub(expected) as i64)
    }

    /// Whether what is old may be removed at the time of the last [`look`](Self::look).
    pub(crate) fn may_remove(&self) -> bool {
        self.cautious_until.is_none_or(|until| self.last.1 >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const DAY_MS: u64 = 86_400_000;

    #[test]
    fn nothing_is_removed_for_an_hour_after_a_jump_of_the_clock() {
        let (wall, begin) = (1_800_000_000_000, Instant::now());
        let mut jumps = ClockJumps::new(Timestamp(wall), begin);
        let mut look = |wall: u64, after: Duration| {
            let jump = jumps.look(Timestamp(wall + after.as_millis() as u64), begin + after);
            (jump, jumps.may_remove())
        };
        assert_eq!(look(wall, SECOND), (None, true));
        assert_eq!(look(wall, 90 * 60 * SECOND), (None, true), "the process was frozen");
        let mut at = 91 * 60 * SECOND;
        assert_eq!(look(wall + 59_000, at), (None, true), "the clock is corrected by seconds");
        assert_eq!(look(wall + 59_000 + 2 * DAY_MS, at + SECOND), (Some(2 * DAY_MS as i64), false));
        assert_eq!(look(wall + 59_000 + 2 * DAY_MS, at + 60 * SECOND), (None, false));
        assert_eq!(
            look(wall, at + 1_800 * SECOND),
            (Some(-(2 * DAY_MS as i64) - 59_000), false),
            "it is back"
        );
        assert_eq!(look(wall, at + 1_800 * SECOND + CAUTION - SECOND), (None, false));
        at += 1_800 * SECOND + CAUTION;
        assert_eq!(look(wall, at), (None, true));
        assert_eq!(look(wall - 2 * DAY_MS, at + SECOND), (Some(-2 * DAY_MS as i64), false));
    }
}
