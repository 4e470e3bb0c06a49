//! A Poisson process: members act at random times, independently of each other.

use std::time::{Duration, Instant};

use crate::client::Masks;

/// Events at a given rate. Each member has its turn, in a scattered order.
pub(super) struct PoissonSchedule {
    /// Events per second of all members together; 0: never.
    rate: f64,
    members: u64,
    /// Has no divisor in common with `members`.
    stride: u64,
    count: u64,
    next: Instant,
    chance: Masks,
}

/// The turn of a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turn {
    pub(super) due: Instant,
    pub(super) member: u32,
    /// The number of this event, from 0.
    pub(super) number: u64,
}

impl PoissonSchedule {
    /// `every`: mean interval between two turns of a member.
    pub(super) fn new(members: u32, every: Option<Duration>, begin: Instant, seed: u64) -> PoissonSchedule {
        let members = u64::from(members.max(1));
        let golden = (members as f64 * 0.618) as u64 | 1;
        let stride = (golden..).find(|stride| gcd(*stride, members) == 1).unwrap_or(1);
        let mut moments = PoissonSchedule {
            rate: every.map_or(0.0, |every| members as f64 / every.as_secs_f64().max(1e-6)),
            members,
            stride,
            count: 0,
            next: begin,
            chance: Masks::new(seed),
        };
        moments.draw();
        moments
    }

    /// The next event, if it is due.
    pub(super) fn take(&mut self, now: Instant) -> Option<Turn> {
        if self.rate == 0.0 || self.next > now {
            return None;
        }
        let number = self.count;
        let member = (number % self.members * self.stride % self.members) as u32;
        let moment = Turn { due: self.next, member, number };
        self.count += 1;
        self.draw();
        Some(moment)
    }

    /// Restarts the schedule at `now`; skips the events that were due before.
    pub(super) fn skip_to(&mut self, now: Instant) {
        self.next = now;
        self.draw();
    }

    fn draw(&mut self) {
        if self.rate > 0.0 {
            let gap = -(1.0 - self.chance.chance().min(1.0 - 1e-9)).ln() / self.rate;
            self.next += Duration::from_secs_f64(gap);
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_has_a_turn_at_a_time_of_its_own() {
        let begin = Instant::now();
        let mut moments = PoissonSchedule::new(100, Some(Duration::from_secs(10)), begin, 7);
        let end = begin + Duration::from_secs(100);
        let all: Vec<Turn> = std::iter::from_fn(|| moments.take(end)).collect();
        // 1,000 are expected, with a standard deviation of 32.
        assert!((850..1150).contains(&all.len()), "{}", all.len());
        let mut first: Vec<u32> = all[..100].iter().map(|moment| moment.member).collect();
        assert_ne!(first[1], first[0] + 1);
        first.sort_unstable();
        assert_eq!(first, (0..100).collect::<Vec<u32>>());
        let gaps: Vec<f64> = all.windows(2).map(|two| (two[1].due - two[0].due).as_secs_f64()).collect();
        let long = gaps.iter().filter(|gap| **gap > 0.1).count() as f64 / gaps.len() as f64;
        // In a Poisson process, 1/e of the intervals are longer than the mean.
        assert!((0.3..0.44).contains(&long), "{long}");
    }

    #[test]
    fn without_a_rate_nothing_is_ever_due() {
        let begin = Instant::now();
        assert!(
            PoissonSchedule::new(10, None, begin, 1).take(begin + Duration::from_secs(1_000_000)).is_none()
        );
    }
}
