//! Decides when free memory returns to the system.
//!
//! Reasons and cost: `docs/design/memory.md`.

use std::time::{Duration, Instant};

use edge::Totals;

/// Times after a burst. Three, because memory becomes free in steps: buffers at once, caches within 10 s, members after the grace
/// time of their presence.
const INTO_THE_CALM: [Duration; 3] =
    [Duration::from_secs(2), Duration::from_secs(12), Duration::from_secs(30)];

/// Interval on a node that is never calm.
const AT_LATEST: Duration = Duration::from_secs(60);

/// Largest share of the time, and shortest interval.
const SHARE_OF_TIME: u32 = 500;
const REST: Duration = Duration::from_secs(5);

/// Smallest burst: KiB, and opened or closed connections.
const WORTH_IT: u64 = 1_000;

/// A second with less traffic is calm.
const CALM: u64 = 100;

/// Decides when to return free memory. Called once per second.
pub(crate) struct Returns {
    seen: u64,
    /// Traffic since the last return after a burst.
    moved: u64,
    /// Traffic of the busiest second.
    peak: u64,
    calm_since: Option<Instant>,
    /// Returns since the node is calm.
    times: usize,
    last: Instant,
    not_before: Instant,
}

impl Returns {
    pub(crate) fn new(now: Instant) -> Returns {
        Returns { seen: 0, moved: 0, peak: 0, calm_since: None, times: 0, last: now, not_before: now }
    }

    /// Whether to return memory now; `traffic` counts from the start.
    pub(crate) fn are_due(&mut self, traffic: u64, now: Instant) -> bool {
        let step = traffic.saturating_sub(self.seen);
        self.seen = traffic;
        self.moved += step;
        self.peak = self.peak.max(step);
        if step > CALM.max(self.peak / 8) {
            self.calm_since = None;
            self.times = 0;
        } else {
            self.calm_since.get_or_insert(now);
        }
        if self.moved < WORTH_IT || now < self.not_before {
            return false;
        }
        match self.calm_since {
            None => now.duration_since(self.last) >= AT_LATEST,
            Some(since) => now.duration_since(since) >= INTO_THE_CALM[self.times],
        }
    }

    /// Records the duration of a return.
    pub(crate) fn done(&mut self, took: Duration, now: Instant) {
        self.last = now;
        self.not_before = now + REST.max(took * SHARE_OF_TIME);
        if self.calm_since.is_some() {
            self.times += 1;
        }
        if self.times == INTO_THE_CALM.len() {
            (self.moved, self.peak, self.times) = (0, 0, 0);
            self.calm_since = None;
        }
    }
}

/// A measure of allocations: opened and closed connections, and moved KiB.
pub(crate) fn traffic(totals: &Totals) -> u64 {
    let came_and_went = 2 * totals.accepted - totals.open.min(totals.accepted);
    came_and_went + (totals.bytes_in + totals.bytes_out) / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds at which memory is returned, for this traffic in each second.
    fn returned(traffic: impl IntoIterator<Item = u64>, took: Duration) -> Vec<u64> {
        let begin = Instant::now();
        let mut returns = Returns::new(begin);
        let mut all = 0;
        let mut times = Vec::new();
        for (second, step) in traffic.into_iter().enumerate() {
            all += step;
            let now = begin + Duration::from_secs(second as u64);
            if returns.are_due(all, now) {
                returns.done(took, now);
                times.push(second as u64);
            }
        }
        times
    }

    fn seconds(of: &[(u64, usize)]) -> Vec<u64> {
        of.iter().flat_map(|(step, times)| std::iter::repeat_n(*step, *times)).collect()
    }

    const SHORT: Duration = Duration::from_millis(2);

    #[test]
    fn after_a_burst_three_times_and_then_never() {
        assert_eq!(returned(seconds(&[(0, 10), (20_000, 5), (3, 300)]), SHORT), [17, 27, 45]);
    }

    #[test]
    fn a_new_burst_restarts_the_schedule() {
        assert_eq!(returned(seconds(&[(9_000, 5), (0, 5), (9_000, 5), (0, 100)]), SHORT), [7, 17, 27, 45]);
    }

    #[test]
    fn a_tenth_of_the_peak_is_calm_and_a_half_is_not() {
        assert_eq!(returned(seconds(&[(20_000, 5), (2_000, 20)]), SHORT), [7, 17]);
        assert_eq!(returned(seconds(&[(20_000, 5), (10_000, 20)]), SHORT), [0; 0]);
    }

    #[test]
    fn a_busy_node_returns_memory_once_a_minute() {
        assert_eq!(returned(seconds(&[(5_000, 200)]), SHORT), [60, 120, 180]);
    }

    #[test]
    fn small_bursts_add_up() {
        assert_eq!(returned(seconds(&[(50, 25)]), SHORT), [19, 24]);
        assert_eq!(returned(seconds(&[(0, 500)]), SHORT), [0; 0]);
    }

    #[test]
    fn a_large_heap_is_left_alone_for_longer() {
        let took = Duration::from_millis(100);
        assert_eq!(returned(seconds(&[(9_000, 5), (0, 200)]), took), [7, 57, 107]);
    }
}
