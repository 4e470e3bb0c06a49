//! The times at which members connect.

use std::time::Duration;

use crate::client::Masks;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arrivals {
    /// Members per second, at even intervals.
    Even(f64),
    /// Seconds after the start, by member, in order.
    At(Vec<f64>),
}

impl Arrivals {
    /// `rate` members per second on average, at random times (a Poisson process).
    pub(crate) fn by_chance(members: u32, rate: f64, seed: u64) -> Arrivals {
        let (mut chance, mut at) = (Masks::new(seed), 0.0);
        let next = |_| {
            at += -(1.0 - chance.chance() * 0.999_999).ln() / rate;
            at
        };
        Arrivals::At((0..members).map(next).collect())
    }

    /// The time after the start at which a member connects.
    pub(crate) fn of(&self, member: u32) -> Duration {
        Duration::from_secs_f64(match self {
            Arrivals::Even(rate) => f64::from(member) / rate,
            Arrivals::At(moments) => {
                moments.get(member as usize).or(moments.last()).copied().unwrap_or_default()
            }
        })
    }

    /// The number of members that are due after `elapsed`.
    pub(crate) fn by(&self, elapsed: Duration) -> u64 {
        let seconds = elapsed.as_secs_f64();
        match self {
            Arrivals::Even(rate) => (seconds * rate).ceil() as u64,
            Arrivals::At(moments) => moments.partition_point(|at| *at <= seconds) as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_due_by_a_moment_were_due_before_it() {
        for arrivals in [Arrivals::Even(40.0), Arrivals::by_chance(2_000, 40.0, 7)] {
            for millis in (1..20_000).step_by(37) {
                let elapsed = Duration::from_millis(millis);
                let come = arrivals.by(elapsed);
                assert!(come == 0 || arrivals.of(come as u32 - 1) <= elapsed, "{arrivals:?} {millis}");
                assert!(arrivals.of(come as u32) >= elapsed, "{arrivals:?} {millis}");
            }
        }
    }

    #[test]
    fn by_chance_they_are_as_many_in_the_mean_and_never_even() {
        let arrivals = Arrivals::by_chance(10_000, 100.0, 2007);
        let seconds = arrivals.of(9_999).as_secs_f64();
        assert!((95.0..105.0).contains(&seconds), "{seconds}");
        let gaps: Vec<u128> =
            (1..100).map(|member| (arrivals.of(member) - arrivals.of(member - 1)).as_micros()).collect();
        assert!(gaps.iter().max() > gaps.iter().min().map(|least| least * 10).as_ref(), "{gaps:?}");
    }
}
