//! The way back to sessions.

use crate::{Event, SessionHandle};

/// The way back to sessions. Called from any thread, often inside the store's commit thread: must not
/// block nor call back into the node, and must keep the order of calls for each session.
pub trait Outbox: Send + Sync + 'static {
    fn deliver(&self, to: SessionHandle, event: Event);
    /// Delivers one event to many sessions; a gateway encodes it once.
    fn deliver_all(&self, to: &[SessionHandle], event: Event) {
        for &handle in to {
            self.deliver(handle, event.clone());
        }
    }
    /// Each session hears those of the events that are named beside it; a gateway encodes each once. What one session hears
    /// lies side by side.
    fn deliver_each(&self, to: &[(SessionHandle, usize)], events: Vec<Event>) {
        for &(handle, at) in to {
            self.deliver(handle, events[at].clone());
        }
    }
}
