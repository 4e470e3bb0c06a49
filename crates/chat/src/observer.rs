//! Observers: how a part of the domain notifies the parts that depend on it.

use std::sync::{Arc, OnceLock, Weak};

/// Set once, when the node is wired. Weak, because the observer owns the observed part.
pub(crate) struct Observer<T: ?Sized>(OnceLock<Weak<T>>);

impl<T: ?Sized> Observer<T> {
    pub(crate) fn new() -> Observer<T> {
        Observer(OnceLock::new())
    }

    pub(crate) fn set(&self, observer: Weak<T>) {
        let is_first = self.0.set(observer).is_ok();
        debug_assert!(is_first, "a node is wired once");
    }

    /// None: the node is not wired yet, or is being dropped.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.0.get().and_then(Weak::upgrade)
    }
}
