//! An observer of a running plan, such as a progress bar.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use crate::series::Point;

/// Called from the thread that runs the plan: must not block.
pub trait Observer: Debug + Send + Sync {
    fn stage(&self, name: &'static str, until: Until);
    /// Called a few times per second.
    fn point(&self, point: &Point);
}

/// The end of a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Until {
    /// This many members are logged in.
    Members(u64),
    Time(Duration),
    /// A sign from the server, without an estimate.
    ItIsDone,
}

const LINE_EVERY: Duration = Duration::from_secs(10);

/// The times of progress lines: some time after the last one.
pub(crate) struct Lines {
    last: Instant,
}

impl Lines {
    pub(crate) fn new(now: Instant) -> Lines {
        Lines { last: now }
    }

    pub(crate) fn are_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) >= LINE_EVERY
    }

    pub(crate) fn printed(&mut self, now: Instant) {
        self.last = now;
    }
}

/// Ignores everything.
#[derive(Debug)]
pub(crate) struct NoObserver;

impl Observer for NoObserver {
    fn stage(&self, _: &'static str, _: Until) {}

    fn point(&self, _: &Point) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_some_time_after_the_last_one() {
        let begin = Instant::now();
        let mut lines = Lines::new(begin);
        let due: Vec<u64> = (0..50)
            .filter(|second| {
                let now = begin + Duration::from_secs(*second);
                let due = lines.are_due(now) || *second == 13;
                if due {
                    lines.printed(now);
                }
                due
            })
            .collect();
        assert_eq!(due, [10, 13, 23, 33, 43]);
    }
}
