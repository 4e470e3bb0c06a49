//! Completions of requests to the store.

use std::sync::Arc;

use super::Sessions;
use crate::command::AnswerTo;
use crate::store::unavailable;
use crate::{Done, Refusal, SessionHandle, StoreError};

/// An owner of a part that sends requests to the store. A completion is one allocation and keeps the owner alive.
/// A plain [`Done`] has no owner: it only passes its outcome to a callback.
pub(crate) trait Completion: Send + Sync + Sized + 'static {
    fn sessions(&self) -> &Sessions;

    /// Continues with the rows. If the store fails, the session is refused as [`Refusal::Unavailable`].
    fn on_loaded<T: 'static>(
        self: &Arc<Self>,
        handle: SessionHandle,
        to: AnswerTo,
        next: impl FnOnce(&Arc<Self>, T) + Send + 'static,
    ) -> Done<T> {
        let this = self.clone();
        Box::new(move |outcome| match outcome {
            Ok(rows) => next(&this, rows),
            Err(error) => this.sessions().refuse(handle, to, unavailable(error)),
        })
    }

    /// Like [`on_loaded`](Self::on_loaded), for a request that the rules can refuse: the session gets that refusal.
    fn on_accepted<T: 'static>(
        self: &Arc<Self>,
        handle: SessionHandle,
        to: AnswerTo,
        next: impl FnOnce(&Arc<Self>, T) + Send + 'static,
    ) -> Done<Result<T, Refusal>> {
        let this = self.clone();
        Box::new(move |outcome| match outcome.map_err(unavailable).flatten() {
            Ok(accepted) => next(&this, accepted),
            Err(refusal) => this.sessions().refuse(handle, to, refusal),
        })
    }

    /// Continues with the outcome. For requests without a waiting session, and for errors that need more than a refusal.
    fn then<T: 'static>(
        self: &Arc<Self>,
        next: impl FnOnce(&Arc<Self>, Result<T, StoreError>) + Send + 'static,
    ) -> Done<T> {
        let this = self.clone();
        Box::new(move |outcome| next(&this, outcome))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use std::sync::Mutex;

    use super::*;
    use crate::session::{Event, Outbox};
    use crate::site::live::Sites;
    use crate::stats::Counters;
    use crate::{CallConfig, Delivery, Limits, NodeConfig};

    const HANDLE: SessionHandle = SessionHandle(5);

    #[derive(Default)]
    struct Delivered(Mutex<Vec<(SessionHandle, Delivery)>>);

    impl Outbox for Delivered {
        fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
            let to = to.iter().map(|handle| (*handle, delivery.clone()));
            self.0.lock().unwrap().extend(to);
        }
    }

    struct Owner {
        sessions: Sessions,
        next_got: Mutex<Vec<u32>>,
    }

    impl Completion for Owner {
        fn sessions(&self) -> &Sessions {
            &self.sessions
        }
    }

    impl Owner {
        fn keep(self: &Arc<Self>, rows: u32) {
            self.next_got.lock().unwrap().push(rows);
        }
    }

    fn owner() -> (Arc<Owner>, Arc<Delivered>) {
        let config = NodeConfig {
            limits: Limits::without_rates(),
            presence_grace_ms: 0,
            presence_coalesce_ms: 0,
            clock_skew_ms: 0,
            calls: CallConfig::default(),
            app_passwords: false,
        };
        let outbox = Arc::new(Delivered::default());
        let (sites, counters) = (Arc::new(Sites::default()), Arc::new(Counters::default()));
        let sessions = Sessions::new(Arc::new(config), outbox.clone(), sites, counters);
        (Arc::new(Owner { sessions, next_got: Mutex::default() }), outbox)
    }

    /// The values for `next`, and the refusals for sessions, with the numbers of their requests.
    type Seen = (Vec<u32>, Vec<(SessionHandle, Option<u64>, Refusal)>);

    fn seen(complete: impl FnOnce(&Arc<Owner>)) -> Seen {
        let (owner, outbox) = owner();
        complete(&owner);
        let refusal = |(to, delivery): &(SessionHandle, Delivery)| match &delivery.event {
            crate::Event::Session(Event::Refused(refusal)) => (*to, delivery.re, *refusal),
            other => panic!("{other:?}"),
        };
        let refusals = outbox.0.lock().unwrap().iter().map(refusal).collect();
        assert_eq!(Arc::strong_count(&owner), 1, "the completion let its owner go");
        (owner.next_got.lock().unwrap().clone(), refusals)
    }

    #[test]
    fn rows_go_on_and_a_failure_answers_the_request() {
        let loaded = |outcome| {
            seen(|owner| owner.on_loaded(HANDLE, AnswerTo::Request(9), |this, rows| this.keep(rows))(outcome))
        };
        assert_eq!(loaded(Ok(7)), (vec![7], vec![]));
        let unavailable = (HANDLE, Some(9), Refusal::Unavailable);
        assert_eq!(loaded(Err(StoreError::DiskFull)), (vec![], vec![unavailable]));
    }

    #[test]
    fn a_refusal_of_the_rules_is_the_answer() {
        let accepted = |outcome| {
            seen(|owner| {
                owner.on_accepted(HANDLE, AnswerTo::Request(9), |this, rows| this.keep(rows))(outcome);
            })
        };
        assert_eq!(accepted(Ok(Ok(7))), (vec![7], vec![]));
        let refused = (HANDLE, Some(9), Refusal::NotAllowed);
        assert_eq!(accepted(Ok(Err(Refusal::NotAllowed))), (vec![], vec![refused]));
        let unavailable = (HANDLE, Some(9), Refusal::Unavailable);
        assert_eq!(accepted(Err(StoreError::Overloaded)), (vec![], vec![unavailable]));
    }

    #[test]
    fn outcomes_without_a_waiting_session_are_not_answered() {
        let then = |outcome| seen(|owner| owner.then(|this, got| this.keep(got.unwrap_or(0)))(outcome));
        assert_eq!(then(Ok(7)), (vec![7], vec![]));
        assert_eq!(then(Err(StoreError::Overloaded)), (vec![0], vec![]));
    }
}
