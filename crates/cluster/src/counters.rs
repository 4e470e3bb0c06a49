//! The counters of a node's links.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::envelope::{Envelope, NotAnEnvelope};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters of a home or a front.
        #[derive(Debug, Default)]
        pub struct Counters {
            $($(#[$doc])* pub $name: Counter,)*
        }

        impl Counters {
            /// The name and the value of each.
            pub fn all(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.read()),)*]
            }
        }
    };
}

counters! {
    envelopes_sent,
    envelopes_received,
    bytes_sent,
    bytes_received,
    /// Bytes on the bus that are no envelope, or of another version.
    envelopes_unreadable,
    /// Envelopes of an earlier link, an earlier home, or another slot.
    envelopes_old,
    items_unreadable,
    links_begun,
    /// Links that ended by a gap or by silence.
    links_broken,
    sessions_adopted,
    /// Requests that a front refused because the link had ended before their answer, or because the home was away.
    requests_refused,
    /// Sessions that missed an event because the queue for their front was full.
    sessions_missed,
}

impl Counters {
    /// Reads bytes of the bus. None: they were counted as unreadable, or of a slot that no node has.
    pub(crate) fn envelope<'a>(&self, bytes: &'a [u8]) -> Option<Envelope<'a>> {
        match Envelope::read(bytes) {
            Ok(envelope) => return Some(envelope),
            Err(NotAnEnvelope::Slot(_)) => self.envelopes_old.add(1),
            Err(error) => {
                tracing::debug!(%error, "unreadable bytes on the bus");
                self.envelopes_unreadable.add(1);
            }
        }
        None
    }
}

#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
