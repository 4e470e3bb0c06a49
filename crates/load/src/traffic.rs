//! Counts of messages during a run: the workers write them, the conductor samples them.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::worker::{add, read};

pub(crate) struct Traffic {
    pub(crate) sent: AtomicU64,
    pub(crate) acknowledged: AtomicU64,
    pub(crate) refused: AtomicU64,
    /// Messages that have reached their recipient, each counted once.
    pub(crate) delivered: AtomicU64,
    /// Changes of presence by members, and presence events that members have received.
    pub(crate) changes: AtomicU64,
    pub(crate) presence: AtomicU64,
    /// Members send nothing new.
    pub(crate) over: AtomicBool,
    /// Latency since the last sample, by worker: the lock is contended only during a sample.
    lately: Vec<Mutex<Histogram<u64>>>,
}

/// The counts at one moment, or the difference of two.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    pub(crate) sent: u64,
    pub(crate) acknowledged: u64,
    pub(crate) refused: u64,
    pub(crate) delivered: u64,
    pub(crate) changes: u64,
    pub(crate) presence: u64,
}

impl Counted {
    pub(crate) fn since(self, before: Counted) -> Counted {
        Counted {
            sent: self.sent - before.sent,
            acknowledged: self.acknowledged - before.acknowledged,
            refused: self.refused - before.refused,
            delivered: self.delivered - before.delivered,
            changes: self.changes - before.changes,
            presence: self.presence - before.presence,
        }
    }

    /// Messages that were acknowledged but not delivered.
    pub(crate) fn lost(self) -> u64 {
        self.acknowledged.saturating_sub(self.delivered)
    }

    /// Messages that were neither acknowledged nor refused.
    pub(crate) fn unanswered(self) -> u64 {
        self.sent.saturating_sub(self.acknowledged + self.refused)
    }
}

/// Median and 99th percentile of latencies since the last sample, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RecentLatency {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

/// More workers than this share an entry.
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
            over: AtomicBool::new(false),
            lately: (0..PLACES).map(|_| Mutex::new(coarse())).collect(),
        }
    }
}

impl Traffic {
    pub(crate) fn counted(&self) -> Counted {
        Counted {
            sent: read(&self.sent),
            acknowledged: read(&self.acknowledged),
            refused: read(&self.refused),
            delivered: read(&self.delivered),
            changes: read(&self.changes),
            presence: read(&self.presence),
        }
    }

    pub(crate) fn deliver(&self, worker: u32, micros: u64) {
        add(&self.delivered, 1);
        self.note(worker, micros);
    }

    /// A latency of a login or an acknowledgement, not of a delivery.
    pub(crate) fn note(&self, worker: u32, micros: u64) {
        let place = &self.lately[worker as usize % PLACES];
        place.lock().unwrap_or_else(PoisonError::into_inner).saturating_record(micros);
    }

    /// None: no latency since the last sample.
    pub(crate) fn look(&self) -> Option<RecentLatency> {
        let mut all = coarse();
        for place in &self.lately {
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            all.add(&*place).expect("all have the same bounds");
            place.reset();
        }
        let at = |quantile| all.value_at_quantile(quantile) as f64 / 1000.0;
        (!all.is_empty()).then(|| RecentLatency { p50_ms: at(0.5), p99_ms: at(0.99) })
    }
}

/// Longest wait for retries of refused commands.
const AGAIN_PATIENCE: Duration = Duration::from_secs(60);

/// Waits for pending messages.
pub(crate) struct Drain {
    patience: Duration,
    begin: Instant,
    moved: u64,
    last_change: Instant,
    patient_since: Instant,
}

impl Drain {
    pub(crate) fn new(patience: Duration, now: Instant) -> Drain {
        Drain { patience, begin: now, moved: 0, last_change: now, patient_since: now }
    }

    /// The time of the last change, once every message is acknowledged and delivered, or nothing has changed for too
    /// long. `waiting`: the number of commands that wait for a retry.
    pub(crate) fn over(&mut self, traffic: &Traffic, waiting: u64, now: Instant) -> Option<Instant> {
        let Counted { sent, acknowledged, refused, delivered, .. } = traffic.counted();
        if acknowledged + delivered != self.moved {
            self.moved = acknowledged + delivered;
            (self.last_change, self.patient_since) = (now, now);
        }
        if waiting > 0 && now - self.begin < AGAIN_PATIENCE {
            self.patient_since = now;
        }
        let done = acknowledged + refused >= sent && delivered >= acknowledged;
        (done || now - self.patient_since > self.patience).then_some(self.last_change)
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
    fn a_sample_has_only_latencies_since_the_last_one() {
        let traffic = Traffic::default();
        assert_eq!(traffic.look(), None);
        traffic.deliver(0, 1_000);
        traffic.deliver(1, 1_000);
        traffic.note(9, 50_000);
        let seen = traffic.look().unwrap();
        assert!((0.9..1.1).contains(&seen.p50_ms) && (49.0..51.0).contains(&seen.p99_ms), "{seen:?}");
        assert_eq!((traffic.look(), read(&traffic.delivered)), (None, 2));
    }

    #[test]
    fn a_drain_ends_when_all_has_come_or_its_patience_does() {
        let (begin, traffic) = (Instant::now(), Traffic::default());
        let after = |seconds| begin + Duration::from_secs(seconds);
        let mut drain = Drain::new(Duration::from_secs(5), begin);
        assert_eq!(drain.over(&traffic, 0, begin), Some(begin), "nothing was sent");
        add(&traffic.sent, 2);
        add(&traffic.acknowledged, 1);
        assert_eq!(drain.over(&traffic, 0, after(3)), None);
        assert_eq!(drain.over(&traffic, 0, after(8)), None);
        assert_eq!(drain.over(&traffic, 1, after(9)), None, "one is to be said again");
        assert_eq!(drain.over(&traffic, 0, after(14)), None);
        assert_eq!(drain.over(&traffic, 0, after(15)), Some(after(3)), "it was, and has no answer");
        add(&traffic.refused, 1);
        traffic.deliver(0, 1_000);
        assert_eq!(drain.over(&traffic, 0, after(16)), Some(after(16)));
        assert!(drain.over(&Traffic::default(), 1, after(99)).is_some());
    }
}
