//! Rate limits: the generic cell rate algorithm, 8 bytes per limit.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Refusal, Timestamp};

/// A burst, and then an even rate.
///
/// The virtual scheduling of ITU-T I.371 Annex A: the state is the time at which the next item would be due
/// at the even rate. An item that is earlier than the burst allows is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Microseconds between two items at the even rate; 0: no limit.
    interval: u64,
    burst: u64,
}

impl Rate {
    pub(crate) fn per_minute(burst: u32, count: u32) -> Rate {
        Rate { interval: 60_000_000 / u64::from(count.max(1)) * u64::from(count > 0), burst: burst.into() }
    }

    /// An amount that may be spent at once and comes back evenly over a period, see [`spend`](Self::spend). 0: no limit.
    pub(crate) fn budget(amount: u64, period_ms: u64) -> Rate {
        let interval = (period_ms.saturating_mul(1000) / amount.max(1)).max(1);
        Rate { interval: interval * u64::from(amount > 0), burst: amount }
    }

    /// The burst is one second's worth.
    pub(crate) fn per_second(count: u32) -> Rate {
        Rate { interval: 1_000_000 / u64::from(count.max(1)) * u64::from(count > 0), burst: count.into() }
    }

    /// The limit with its rate and burst divided by `by`.
    pub(crate) fn slowed(self, by: u32) -> Rate {
        Rate { interval: self.interval * u64::from(by), burst: (self.burst / u64::from(by)).max(1) }
    }

    pub(crate) fn is_unlimited(self) -> bool {
        self.interval == 0
    }

    /// Takes one item, or answers the time for a retry.
    pub(crate) fn take(self, due: &mut Due, now: Timestamp) -> Result<(), Refusal> {
        *due = self.next(*due, now)?;
        Ok(())
    }

    /// Like [`take`](Self::take), for a limit that threads share.
    pub(crate) fn take_shared(self, due: &AtomicU64, now: Timestamp) -> Result<(), Refusal> {
        let mut outcome = Ok(());
        let step = |before: u64| match self.next(Due(before), now) {
            Ok(after) => Some(after.0),
            Err(refusal) => {
                outcome = Err(refusal);
                None
            }
        };
        // Err: `step` answered None, and has set the outcome.
        if due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step).is_ok() {
            return Ok(());
        }
        outcome
    }

    /// Whether a budget is not used up; otherwise the time for a retry.
    pub(crate) fn has_left(self, due: Due, now: Timestamp) -> Result<(), Refusal> {
        let now = now.0.saturating_mul(1000);
        let full = self.interval.saturating_mul(self.burst);
        let owed = self.owed(due, now);
        if self.interval == 0 || owed < full {
            return Ok(());
        }
        let wait = (owed - full + self.interval).div_ceil(1000);
        Err(Refusal::RateLimited { retry_after_ms: wait.min(u64::from(u32::MAX)) as u32 })
    }

    /// Takes an amount that is known only afterwards. A budget can be overdrawn by its whole size, never by
    /// more.
    pub(crate) fn spend(self, due: &mut Due, amount: u64, now: Timestamp) {
        let now = now.0.saturating_mul(1000);
        let full = self.interval.saturating_mul(self.burst);
        let owed = self.owed(*due, now).saturating_add(self.interval.saturating_mul(amount));
        *due = Due(now.saturating_add(owed.min(full.saturating_mul(2))));
    }

    /// Microseconds until the whole budget is available. A longer time than possible means that the clock was
    /// set back, and resets the budget.
    fn owed(self, due: Due, now: u64) -> u64 {
        let owed = due.0.saturating_sub(now);
        let most =
            self.interval.saturating_mul(self.burst).saturating_mul(2).saturating_add(CLOCK_JUMP_MICROS);
        if owed > most { 0 } else { owed }
    }

    /// Takes `count` items at once. They pass as soon as a single one would, and delay later ones.
    pub(crate) fn take_many_shared(self, due: &AtomicU64, count: u64, now: Timestamp) -> Result<(), Refusal> {
        if count == 0 || self.interval == 0 {
            return Ok(());
        }
        let mut outcome = Ok(());
        let step = |before: u64| match self.next(Due(before), now) {
            Ok(after) => Some(after.0.saturating_add((count - 1).saturating_mul(self.interval))),
            Err(refusal) => {
                outcome = Err(refusal);
                None
            }
        };
        match due.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) {
            Ok(_) => Ok(()),
            Err(_) => outcome,
        }
    }

    fn next(self, due: Due, now: Timestamp) -> Result<Due, Refusal> {
        if self.interval == 0 {
            return Ok(due);
        }
        let now = now.0.saturating_mul(1000);
        let ahead = self.interval * self.burst.saturating_sub(1);
        let furthest = now.saturating_add(ahead + self.interval + CLOCK_JUMP_MICROS);
        let due = if due.0 > furthest { now } else { due.0.max(now) };
        if due - now > ahead {
            let wait = (due - now - ahead).div_ceil(1000);
            return Err(Refusal::RateLimited { retry_after_ms: wait.min(u64::from(u32::MAX)) as u32 });
        }
        Ok(Due(due + self.interval))
    }
}

/// A due time further ahead than any burst allows: the clock was set back by more than threads differ. The
/// limit is then reset, because otherwise a user would be locked out for that time.
const CLOCK_JUMP_MICROS: u64 = 60_000_000;

/// State of a limit for one user or address: microseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Due(u64);

impl Due {
    /// Forgetting this state gives no advantage to its owner.
    pub(crate) fn is_idle(self, now: Timestamp) -> bool {
        self.0 <= now.0.saturating_mul(1000)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_even_rate() {
        let rate = Rate::per_minute(3, 60);
        let mut due = Due::default();
        let start = 1_000_000;
        let outcomes: Vec<bool> = [0, 0, 0, 0, 999, 1000, 1001, 1999, 2000]
            .into_iter()
            .map(|ms| rate.take(&mut due, Timestamp(start + ms)).is_ok())
            .collect();
        assert_eq!(outcomes, [true, true, true, false, false, true, false, false, true]);
    }

    #[test]
    fn zero_is_no_limit() {
        let mut due = Due::default();
        for rate in [Rate::per_minute(0, 0), Rate::per_second(0), Rate::per_minute(5, 0).slowed(4)] {
            assert!((0..1000).all(|_| rate.take(&mut due, Timestamp(5)).is_ok()));
        }
    }

    #[test]
    fn a_budget_is_spent_afterwards_and_refills_evenly() {
        let rate = Rate::budget(60_000, 3_600_000);
        let (mut due, start) = (Due::default(), 1_764_000_000_000);
        let has_left = |due: Due, seconds: u64| rate.has_left(due, Timestamp(start + seconds * 1000));
        rate.spend(&mut due, 59_999, Timestamp(start));
        assert!(has_left(due, 0).is_ok());
        rate.spend(&mut due, 20_000, Timestamp(start));
        let Err(Refusal::RateLimited { retry_after_ms }) = has_left(due, 0) else {
            panic!("nothing is left")
        };
        assert_eq!(retry_after_ms, 20_000 * 60);
        assert!(has_left(due, 1_199).is_err());
        assert!(has_left(due, 1_200).is_ok());
        rate.spend(&mut due, u64::MAX, Timestamp(start));
        assert!(has_left(due, 3_600).is_err(), "overdrawn by its whole size");
        assert!(has_left(due, 3_601).is_ok(), "and by no more");
        assert!(Rate::budget(0, 1).has_left(due, Timestamp(start)).is_ok(), "0 is no limit");
    }

    #[test]
    fn a_guest_is_slower() {
        let (mut a, mut b) = (Due::default(), Due::default());
        let rate = Rate::per_minute(20, 60);
        let passed = |rate: Rate, due: &mut Due| {
            (0..60_000).filter(|ms| rate.take(due, Timestamp(1_000_000 + ms)).is_ok()).count()
        };
        assert_eq!(passed(rate, &mut a), 20 + 59);
        assert_eq!(passed(rate.slowed(4), &mut b), 5 + 14);
    }

    #[test]
    fn a_clock_set_back_locks_nobody_out() {
        let rate = Rate::per_minute(2, 60);
        let mut due = Due::default();
        assert!(rate.take(&mut due, Timestamp(1_000_000_000)).is_ok());
        assert!(rate.take(&mut due, Timestamp(1_000_000_000)).is_ok());
        assert!(rate.take(&mut due, Timestamp(999_999_990)).is_err(), "threads read the time apart");
        assert!(rate.take(&mut due, Timestamp(500_000_000)).is_ok());
    }

    proptest! {
        /// For every pattern of requests, no window passes more than burst + window × rate. A request that
        /// waits for the answered time passes.
        #[test]
        fn the_rate_is_never_exceeded(
            burst in 1u32..50,
            per_minute in 1u32..2000,
            gaps in proptest::collection::vec(0u64..3000, 1..300),
        ) {
            let rate = Rate::per_minute(burst, per_minute);
            let shared = AtomicU64::new(0);
            let mut due = Due::default();
            let mut now = 1_700_000_000_000u64;
            let mut passed: Vec<u64> = Vec::new();
            for gap in gaps {
                now += gap;
                let outcome = rate.take(&mut due, Timestamp(now));
                prop_assert_eq!(outcome, rate.take_shared(&shared, Timestamp(now)));
                match outcome {
                    Ok(()) => passed.push(now),
                    Err(Refusal::RateLimited { retry_after_ms }) => {
                        let mut later = due;
                        prop_assert!(rate.take(&mut later, Timestamp(now + u64::from(retry_after_ms))).is_ok());
                        let mut sooner = due;
                        prop_assert!(rate.take(&mut sooner, Timestamp(now + u64::from(retry_after_ms) - 1)).is_err());
                    }
                    Err(other) => prop_assert!(false, "{other}"),
                }
            }
            for (first, from) in passed.iter().enumerate() {
                for (last, to) in passed.iter().enumerate().skip(first) {
                    let allowed = f64::from(burst)
                        + (to - from) as f64 * 1000.0 / (60_000_000 / u64::from(per_minute)) as f64;
                    prop_assert!((last - first + 1) as f64 <= allowed + 1e-6);
                }
            }
        }
    }
}
