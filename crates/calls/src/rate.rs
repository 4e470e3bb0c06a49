//! A rate per second with a burst of one second: one number that many threads share.

use std::sync::atomic::{AtomicU64, Ordering};

const SECOND: u64 = 1_000_000_000;

/// The virtual scheduling algorithm (ITU-T I.371, annex A): the time at which the taken amount conforms, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Rate(AtomicU64);

impl Rate {
    /// Takes `amount` if it is available. `per_second` 0: no limit. `now` in nanoseconds of a monotonic clock.
    pub(crate) fn take(&self, amount: usize, per_second: u64, now: u64) -> bool {
        if per_second == 0 {
            return true;
        }
        let costs = (amount as u64).saturating_mul(SECOND) / per_second;
        let mut earned = self.0.load(Ordering::Relaxed);
        loop {
            let then = earned.max(now).saturating_add(costs);
            if then > now + SECOND {
                return false;
            }
            match self.0.compare_exchange_weak(earned, then, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => earned = found,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_burst_is_at_most_one_second_and_the_earned_rate(
            steps in prop::collection::vec((0u64..200_000_000, 0usize..2_000), 1..200),
            per_second in 1_000u64..100_000,
        ) {
            let rate = Rate::default();
            let (mut now, mut taken) = (0, 0);
            for (passed, amount) in steps {
                now += passed;
                if rate.take(amount, per_second, now) {
                    taken += amount as u64;
                }
                let earned = u128::from(per_second) * u128::from(now + SECOND) / u128::from(SECOND);
                // Each call rounds down by less than one.
                prop_assert!(u128::from(taken) <= earned + 200);
            }
        }
    }

    #[test]
    fn a_spent_budget_refills() {
        let rate = Rate::default();
        assert!(rate.take(100, 100, 0));
        assert!(!rate.take(1, 100, 0));
        assert!(rate.take(50, 100, SECOND / 2));
        assert!(!rate.take(1, 100, SECOND / 2));
        assert!(rate.take(usize::MAX, 0, 0), "no limit");
    }
}
