//! Events on their way to a worker: bounded, so that a worker that falls behind cannot take all memory.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chat::SessionHandle;

/// Deliveries that may wait for one worker: an event for a thousand sessions counts as a thousand. Some 100 MB at most.
pub(crate) const MOST_WAITING: usize = 1 << 20;

/// The deliveries that wait for one worker, and the sessions that have missed one at the bound.
#[derive(Debug)]
pub struct Backlog {
    most: usize,
    waiting: AtomicUsize,
    /// No more than the worker has sessions.
    missed: Mutex<HashSet<SessionHandle>>,
}

/// Deliveries that were admitted; dropped when they are made, or can never be made.
#[derive(Debug)]
pub struct Admitted {
    backlog: Arc<Backlog>,
    count: usize,
}

impl Backlog {
    pub(crate) fn new(most: usize) -> Arc<Backlog> {
        Arc::new(Backlog { most, waiting: AtomicUsize::new(0), missed: Mutex::default() })
    }

    /// None at the bound: then these sessions have [`missed`](Self::miss) an event.
    pub(crate) fn admit(self: &Arc<Backlog>, count: usize) -> Option<Admitted> {
        let is_full = self.waiting.load(Ordering::Relaxed) >= self.most;
        (!is_full).then(|| self.admit_always(count))
    }

    pub(crate) fn admit_always(self: &Arc<Backlog>, count: usize) -> Admitted {
        self.waiting.fetch_add(count, Ordering::Relaxed);
        Admitted { backlog: Arc::clone(self), count }
    }

    /// True: the worker is to be told. Otherwise it was, and has not looked yet.
    pub(crate) fn miss(&self, sessions: impl IntoIterator<Item = SessionHandle>) -> bool {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        let tell = missed.is_empty();
        missed.extend(sessions);
        tell && !missed.is_empty()
    }

    pub(crate) fn take_missed(&self) -> HashSet<SessionHandle> {
        std::mem::take(&mut *self.missed.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        self.backlog.waiting.fetch_sub(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_every_missed_session_is_named_once() {
        let backlog = Backlog::new(3);
        let kept = [backlog.admit(2), backlog.admit(5)];
        assert!(kept.iter().all(Option::is_some), "the last may be larger than what is left");
        assert!(backlog.admit(1).is_none());
        let [a, b] = [1, 2].map(SessionHandle);
        assert!(backlog.miss([a]), "the first tells the worker");
        assert!(!backlog.miss([b, a]));
        assert_eq!(backlog.take_missed(), HashSet::from([a, b]));
        drop(kept);
        assert!(backlog.admit(1).is_some());
        assert!(backlog.miss([b]), "told anew");
        assert!(!backlog.miss([]));
    }
}
