//! The port to the sessions of gateways.

use crate::{Delivery, SessionHandle};

/// Delivers events to the sessions of gateways. Called from any thread, often from the store's commit thread:
/// must not block nor call back into the node. It must keep the order of calls for each session.
pub trait Outbox: Send + Sync + 'static {
    /// Delivers one event to all these sessions; a gateway encodes it once.
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery);
    /// Delivers to each session the event at the index beside it; a gateway encodes each event once. The entries of one session
    /// are next to each other.
    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        for &(handle, at) in to {
            self.deliver(&[handle], deliveries[at].clone());
        }
    }
}
