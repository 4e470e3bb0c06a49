//! Sessions of a worker that have missed an event, because the mailbox of the worker was full.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use chat::SessionHandle;

/// No more than the worker has sessions. While some are here, a [`Mail::Missed`](crate::Mail::Missed) is on its way to the
/// worker.
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

    pub(crate) fn take(&self) -> HashSet<SessionHandle> {
        std::mem::take(&mut *self.sessions.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
