//! The kill of a process of the cluster in mid-run.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::observer::Until;
use crate::processes::Part;

/// Kills a process.
pub trait Fault: Debug + Send + Sync {
    /// Returns the time of the signal when the process is dead. What follows, such as a new start, happens on another thread.
    fn strike(&self) -> Instant;
}

/// The process that dies, and when.
#[derive(Debug, Clone)]
pub struct Kill {
    pub part: Part,
    /// The dead front, by its index in the targets of the run. None: another part dies.
    pub front: Option<usize>,
    /// After the beginning of the traffic. None: after half of it.
    pub after: Option<Duration>,
    pub fault: Arc<dyn Fault>,
}

/// A fault that waits for its time.
#[derive(Debug)]
pub(crate) struct Pending {
    kill: Kill,
    due: Option<Instant>,
    by_order: bool,
}

impl Pending {
    pub(crate) fn new(kill: Kill) -> Pending {
        Pending { kill, due: None, by_order: false }
    }

    /// The plan says when it is due. Answers the time after the beginning of the traffic that was asked for.
    pub(crate) fn wait_for_order(&mut self) -> Option<Duration> {
        self.by_order = true;
        self.kill.after
    }

    pub(crate) fn order(&mut self, now: Instant) {
        self.due = Some(now);
    }

    /// The traffic is the first stage with a known length.
    pub(crate) fn stage(&mut self, until: Until, now: Instant) {
        if let (None, Until::Time(length), false) = (self.due, until, self.by_order) {
            self.due = Some(now + self.kill.after.unwrap_or(length / 2));
        }
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.due.is_some_and(|due| due <= now)
    }

    /// Kills the process, and returns the time of the signal when it is dead.
    pub(crate) fn strike(self) -> Instant {
        self.kill.fault.strike()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Strikes(AtomicU32);

    impl Fault for Strikes {
        fn strike(&self) -> Instant {
            self.0.fetch_add(1, Ordering::Relaxed);
            Instant::now()
        }
    }

    #[test]
    fn a_process_dies_in_the_middle_of_the_traffic_or_when_it_was_ordered() {
        for (after, due) in [(None, 5_000), (Some(Duration::from_secs(1)), 1_000)] {
            let (begin, strikes) = (Instant::now(), Arc::new(Strikes::default()));
            let at = |millis| begin + Duration::from_millis(millis);
            let fault = Arc::clone(&strikes) as Arc<dyn Fault>;
            let mut pending = Pending::new(Kill { part: Part::Home, front: None, after, fault });
            pending.stage(Until::Members(10), begin);
            assert!(!pending.is_due(at(60_000)), "the ramp has no length");
            pending.stage(Until::Time(Duration::from_secs(10)), begin);
            pending.stage(Until::Time(Duration::from_secs(90)), at(900));
            assert!(!pending.is_due(at(due - 1)));
            assert!(pending.is_due(at(due)));
            assert!(pending.strike() >= begin);
            assert_eq!(strikes.0.load(Ordering::Relaxed), 1);
        }
    }

    #[test]
    fn a_plan_may_choose_the_moment_itself() {
        let begin = Instant::now();
        let (after, fault) = (Some(Duration::from_secs(7)), Arc::new(Strikes::default()) as Arc<dyn Fault>);
        let mut pending = Pending::new(Kill { part: Part::Front, front: Some(2), after, fault });
        assert_eq!(pending.wait_for_order(), after);
        pending.stage(Until::Time(Duration::from_secs(10)), begin);
        assert!(!pending.is_due(begin + Duration::from_secs(600)));
        pending.order(begin);
        assert!(pending.is_due(begin));
    }
}
