//! Users of other servers whom nobody has answered. They do not stay for ever: anybody can make one by a single request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::account::Account;
use crate::account::erasure::MessagesAfterErasure;
use crate::session::Completion;
use crate::{By, Timestamp, UserId};

/// A remote user without an answer is removed this long after the first contact.
pub const UNANSWERED_MS: u64 = 60 * 24 * 3_600_000;
/// Milliseconds between two looks.
const EVERY_MS: u64 = 3_600_000;
/// Users of one site that one look removes.
const MOST: u32 = 50;

/// When the node has looked last. A starting node looks at once.
#[derive(Default)]
pub(crate) struct LastLook(AtomicU64);

impl LastLook {
    fn is_due(&self, now: Timestamp) -> bool {
        let is_due = now.0.abs_diff(self.0.load(Ordering::Relaxed)) >= EVERY_MS;
        if is_due {
            self.0.store(now.0, Ordering::Relaxed);
        }
        is_due
    }
}

impl Account {
    /// Called with every tick. The requests of these users end, with their messages.
    pub(crate) fn end_unanswered(self: &Arc<Self>, now: Timestamp) {
        if !self.unanswered.is_due(now) {
            return;
        }
        let before = Timestamp(now.0.saturating_sub(UNANSWERED_MS));
        for site in self.sites.that_federate() {
            let done = self.then::<Vec<UserId>>(move |this, users| {
                // A failure is repeated with the next look.
                for user in users.unwrap_or_default() {
                    let erased = MessagesAfterErasure::Erased;
                    this.begin_erasure(user, By::Site, erased, now, Box::new(|_| ()));
                }
            });
            self.store.unanswered_users(site, before, MOST, done);
        }
    }
}
