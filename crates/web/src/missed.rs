//! Sessions of a worker that have missed an event, because the mailbox of the worker was full.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use chat::SessionHandle;

/// No more than the worker has sessions. While some are here, a [`Mail::Missed`](crate::Mail::Missed) is on its way to
/// the worker.
#[derive(Debug, Default)]
pub struct Missed {
    sessions: Mutex<HashSet<SessionHandle>>,
}

impl Missed {
    /// True: the caller must notify the worker. False: an earlier notice is pending.
    pub(crate) fn add(&self, sessions: impl IntoIterator<Item = SessionHandle>) -> bool {
        let mut missed = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = missed.is_empty();
        missed.extend(sessions);
        is_first && !missed.is_empty()
    }

    pub(crate) fn sessions(&self) -> HashSet<SessionHandle> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn take(&self) -> HashSet<SessionHandle> {
        std::mem::take(&mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missed_session_is_named_once_and_the_worker_told_once() {
        let missed = Missed::default();
        let [a, b] = [1, 2].map(SessionHandle);
        assert!(missed.add([a]), "the first tells the worker");
        assert!(!missed.add([b, a]));
        assert_eq!(missed.take(), HashSet::from([a, b]));
        assert!(missed.add([b]), "told anew");
        missed.take();
        assert!(!missed.add([]));
    }
}
