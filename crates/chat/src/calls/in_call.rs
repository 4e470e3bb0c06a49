//! The call of each user in a shard of the table. An observer learns of each change.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::session::NumberHasher;
use crate::{CallId, UserId};

type Calls = HashMap<UserId, CallId, BuildHasherDefault<NumberHasher>>;
type Observer = Box<dyn Fn(UserId, Option<CallId>) + Send + Sync>;

/// See [`Node::observe_calls`](crate::Node::observe_calls). Not set: nobody wants to know.
#[derive(Clone, Default)]
pub(crate) struct CallObserver(Arc<OnceLock<Observer>>);

impl CallObserver {
    /// Only the first observer counts.
    pub(crate) fn set(&self, observer: impl Fn(UserId, Option<CallId>) + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(observer));
    }
}

/// A map from a user to their call, which only [`insert`](Self::insert) and [`remove`](Self::remove) change.
#[derive(Default)]
pub(crate) struct InCall {
    calls: Calls,
    observer: CallObserver,
}

impl InCall {
    pub(crate) fn new(observer: CallObserver) -> InCall {
        InCall { calls: Calls::default(), observer }
    }

    pub(crate) fn observer(&self) -> CallObserver {
        self.observer.clone()
    }

    pub(super) fn insert(&mut self, user: UserId, call: CallId) {
        if self.calls.insert(user, call) != Some(call) {
            self.notify(user, Some(call));
        }
    }

    pub(super) fn remove(&mut self, user: UserId) {
        if self.calls.remove(&user).is_some() {
            self.notify(user, None);
        }
    }

    fn notify(&self, user: UserId, call: Option<CallId>) {
        if let Some(observer) = self.observer.0.get() {
            observer(user, call);
        }
    }
}

impl Deref for InCall {
    type Target = Calls;

    fn deref(&self) -> &Calls {
        &self.calls
    }
}
