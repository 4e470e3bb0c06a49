//! Decides when a busy worker sleeps briefly to batch its work.

use std::time::{Duration, Instant};

/// The sleep of a busy worker. A sleep this short ends some 50 µs late.
pub(crate) const GATHER: Duration = Duration::from_micros(100);

const WINDOW: Duration = Duration::from_millis(10);

/// A worker with more to do than this in a window is busy: 15,000 events and mails per second.
const BUSY: usize = 150;

/// Measures the load of a worker.
///
/// With one turn per event, a worker that is neither idle nor overloaded spends more time on sleeping and waking than on its work. It
/// also interrupts the thread that caused the event, if both share a core. With events every few microseconds, turns come every
/// 150 µs instead; with an event every millisecond, at once.
#[derive(Debug)]
pub(crate) struct Pace {
    began: Instant,
    done: usize,
    busy: bool,
}

impl Pace {
    pub(crate) fn new(now: Instant) -> Pace {
        Pace { began: now, done: 0, busy: false }
    }

    /// Records the work of a turn that began at `now`.
    pub(crate) fn note(&mut self, work: usize, now: Instant) {
        self.done += work;
        let window = now.saturating_duration_since(self.began);
        if window >= WINDOW {
            self.busy = self.done as u128 * WINDOW.as_micros() >= BUSY as u128 * window.as_micros();
            *self = Pace { began: now, done: 0, busy: self.busy };
        }
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a worker is busy after a second of turns at this interval with this work.
    fn busy(every: Duration, work: usize) -> bool {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        let turns = Duration::from_secs(1).as_nanos() / every.as_nanos();
        (1..=turns as u32).for_each(|turn| pace.note(work, start + every * turn));
        pace.is_busy()
    }

    #[test]
    fn a_few_thousand_events_per_second_are_handled_at_once() {
        assert!(!busy(Duration::from_micros(250), 1));
        assert!(!busy(Duration::from_millis(1), 10));
        assert!(!busy(Duration::from_millis(100), 1_000));
    }

    #[test]
    fn many_gather() {
        assert!(busy(Duration::from_micros(50), 1));
        assert!(busy(Duration::from_micros(150), 5), "and goes on gathering");
    }

    #[test]
    fn a_calm_turn_ends_the_busy_state() {
        let start = Instant::now();
        let mut pace = Pace { began: start, done: 500, busy: true };
        pace.note(1, start + Duration::from_secs(1));
        assert!(!pace.is_busy());
    }
}
