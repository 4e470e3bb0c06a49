//! What moves during a run, for its curves: counted by the workers, looked at by the conductor.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};

use hdrhistogram::Histogram;

use crate::crowd::add;

pub(crate) struct Traffic {
    pub(crate) sent: AtomicU64,
    pub(crate) acknowledged: AtomicU64,
    pub(crate) refused: AtomicU64,
    /// Messages that have reached the member they were written to, each once.
    pub(crate) delivered: AtomicU64,
    /// Changes of presence that members have made, and news of such changes that have reached somebody.
    pub(crate) changes: AtomicU64,
    pub(crate) presence: AtomicU64,
    /// Latency since the last look, by worker: nobody waits for the lock but at a look.
    lately: Vec<Mutex<Histogram<u64>>>,
}

/// Median and 99th percentile of what came since the last look, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Lately {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// More workers than this share a place.
const PLACES: usize = 8;

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic {
            sent: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            changes: AtomicU64::new(0),
            presence: AtomicU64::new(0),
            lately: (0..PLACES).map(|_| Mutex::new(coarse())).collect(),
        }
    }
}

impl Traffic {
    pub(crate) fn deliver(&self, worker: u32, micros: u64) {
        add(&self.delivered, 1);
        self.note(worker, micros);
    }

    /// A latency that is no delivery: of a login, of an acknowledgement.
    pub(crate) fn note(&self, worker: u32, micros: u64) {
        let place = &self.lately[worker as usize % PLACES];
        place.lock().unwrap_or_else(PoisonError::into_inner).saturating_record(micros);
    }

    /// None: nothing came since the last look.
    pub(crate) fn look(&self) -> Option<Lately> {
        let mut all = coarse();
        for place in &self.lately {
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            all.add(&*place).expect("all have the same bounds");
            place.reset();
        }
        let at = |quantile| all.value_at_quantile(quantile) as f64 / 1000.0;
        (!all.is_empty()).then(|| Lately { p50_ms: at(0.5), p99_ms: at(0.99) })
    }
}

/// Two digits are enough for a curve.
fn coarse() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 60_000_000, 2).expect("the bounds are in order")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_sees_only_what_came_since_the_last_one() {
        let traffic = Traffic::default();
        assert_eq!(traffic.look(), None);
        traffic.deliver(0, 1_000);
        traffic.deliver(1, 1_000);
        traffic.note(9, 50_000);
        let seen = traffic.look().unwrap();
        assert!((0.9..1.1).contains(&seen.p50_ms) && (49.0..51.0).contains(&seen.p99_ms), "{seen:?}");
        assert_eq!((traffic.look(), crate::crowd::read(&traffic.delivered)), (None, 2));
    }
}
