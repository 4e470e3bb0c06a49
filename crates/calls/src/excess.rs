//! Limits amplification: a source that has not proven its address gets little more than it has sent.
//!
//! A datagram's source may be forged, and answers go to it. An answer that is not longer than its request is always sent. The excess of a
//! longer one is charged to a small budget of the address. When the budget is spent, no answer is sent.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};

use crate::rate::Rate;

/// More addresses than entries share budgets at random, so the table never grows. 64 KiB.
const BUDGETS: usize = 8_192;

pub(crate) struct Excess {
    per_second: u64,
    hasher: RandomState,
    budgets: Box<[Rate]>,
}

impl Excess {
    /// Bytes per second for each address. 0: no limit.
    pub(crate) fn new(per_second: u64) -> Excess {
        let budgets = (0..BUDGETS).map(|_| Rate::default()).collect();
        Excess { per_second, hasher: RandomState::new(), budgets }
    }

    /// Whether an answer of this length may be sent. `now` in nanoseconds.
    pub(crate) fn allows(&self, client: SocketAddr, question: usize, answer: usize, now: u64) -> bool {
        let excess = answer.saturating_sub(question);
        if excess == 0 || self.per_second == 0 {
            return true;
        }
        let whose = match client.ip() {
            IpAddr::V4(ip) => u64::from(u32::from(ip)),
            // One subscriber has a whole /64.
            IpAddr::V6(ip) => (u128::from(ip) >> 64) as u64,
        };
        let budget = self.hasher.hash_one(whose) as usize % BUDGETS;
        self.budgets[budget].take(excess, self.per_second, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_source_gets_no_more_than_its_budget_beyond_the_questions() {
        let excess = Excess::new(1_000);
        let victim = "192.0.2.1:53".parse().unwrap();
        let sent: usize = (0..10_000).filter(|_| excess.allows(victim, 28, 96, 0)).count();
        assert_eq!(sent, 1_000 / 68);
        assert!(excess.allows(victim, 96, 96, 0), "as long as the question");
        assert!(excess.allows(victim, 28, 96, 1_000_000_000), "a second later");
        assert!(Excess::new(0).allows(victim, 20, 2_000, 0));
    }

    #[test]
    fn a_whole_network_of_ipv6_is_one_source() {
        let excess = Excess::new(100);
        let from = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 1);
        assert!(excess.allows(from("2001:db8::1"), 0, 100, 0));
        assert!(!excess.allows(from("2001:db8::2"), 0, 100, 0));
    }
}
