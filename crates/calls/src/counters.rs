//! Counters of the calls role, shared by all workers.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::refusal::Refusal;

#[derive(Debug, Default)]
pub struct Counters {
    /// Answered Binding requests.
    pub bindings: Count,
    /// Relays created since the start.
    pub allocations: Count,
    /// Datagrams that are not STUN, or malformed.
    pub strange: Count,
    /// Requests of unproven sources without an answer, because it would have exceeded the request.
    pub unanswered: Count,
    /// Data without permission, from or to a peer.
    pub not_permitted: Count,
    /// Data dropped by a bandwidth quota.
    pub over_bandwidth: Count,
    /// Datagrams that the system, or a slow client's connection, did not accept.
    pub unsent: Count,
    refusals: [Count; Refusal::ALL.len()],
}

#[derive(Debug, Default)]
pub struct Count(AtomicU64);

/// Number of refusals of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    pub word: &'static str,
    pub times: u64,
}

impl Count {
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }
}

impl Counters {
    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refusals[refusal as usize].add(1);
    }

    pub fn refusals(&self) -> impl Iterator<Item = Refused> + '_ {
        Refusal::ALL
            .iter()
            .map(|refusal| Refused { word: refusal.word(), times: self.refusals[*refusal as usize].read() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_place_and_its_code() {
        for (index, refusal) in Refusal::ALL.iter().enumerate() {
            assert_eq!(*refusal as usize, index);
            assert!((400..600).contains(&refusal.code()) && !refusal.reason().is_empty());
        }
        let counters = Counters::default();
        counters.refused(Refusal::Quota);
        let refused: Vec<Refused> = counters.refusals().filter(|refused| refused.times > 0).collect();
        assert_eq!(refused, [Refused { word: "quota", times: 1 }]);
    }
}
