//! The slices of erasures: one after the other as time passes, each published to the users it affects.

use crate::account::Event;
use crate::messages;
use crate::rooms;
use crate::session::Completion;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::account::Account;
use crate::account::erasure::{ERASE_SLICE, EraseSlice};
use crate::presence::shown::Shown;
use crate::{Presence, Sub, Timestamp};

/// Milliseconds between two slices, so that members' writes go first.
const EVERY_MS: u64 = 100;

/// Whether an erasure is unfinished. A starting node checks it once.
pub(crate) struct Erasing {
    is_due: AtomicBool,
    under_way: AtomicBool,
    last: AtomicU64,
}

impl Default for Erasing {
    fn default() -> Erasing {
        Erasing { is_due: AtomicBool::new(true), under_way: AtomicBool::new(false), last: AtomicU64::new(0) }
    }
}

impl Erasing {
    pub(crate) fn begin(&self) {
        self.is_due.store(true, Ordering::Release);
    }

    /// Whether a slice may be done now.
    fn take(&self, now: Timestamp) -> bool {
        let waits = now.0.abs_diff(self.last.load(Ordering::Relaxed)) < EVERY_MS;
        if waits || !self.is_due.load(Ordering::Acquire) || self.under_way.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.last.store(now.0, Ordering::Relaxed);
        self.is_due.store(false, Ordering::Release);
        true
    }

    /// `more`: another slice is left, or it is unknown.
    fn done(&self, more: bool) {
        if more {
            self.begin();
        }
        self.under_way.store(false, Ordering::Release);
    }
}

impl Account {
    pub(crate) fn erase_what_is_left(self: &Arc<Self>, now: Timestamp) {
        if !self.erasing.take(now) {
            return;
        }
        let done = self.then::<EraseSlice>(move |this, slice| match slice {
            Ok(slice) => {
                let more = slice.more;
                this.publish_slice(slice);
                this.erasing.done(more);
            }
            // The store logs its errors; the next slice retries.
            Err(_) => this.erasing.done(true),
        });
        self.store.erase_some(now, ERASE_SLICE, done);
    }

    fn publish_slice(self: &Arc<Self>, slice: EraseSlice) {
        let EraseSlice { renamed, audience, renamed_at, rooms, conversations, changed, position, more: _ } =
            slice;
        if let Some((site, renamed)) = renamed {
            for members in audience {
                let event = Event::Renamed(renamed.clone());
                self.sessions.publish_to_members(site, &members, renamed_at, None, event);
            }
        }
        for (conversation, room, members) in rooms {
            let event = rooms::Event::Room { conversation, room };
            self.sessions.publish_to_members(conversation.site, &members, position, None, event);
        }
        for (other, row) in conversations {
            let shown = Shown { presence: Some(Presence::Offline), markers: true };
            let seen = crate::presence::shown::conversation(row, shown);
            let event = messages::Event::Conversation(Box::new(seen));
            self.sessions.publish(other, position, None, event);
        }
        for changed in changed {
            let by: Sub = changed.message.from_sub.clone();
            self.messages.publish_changed(by, changed);
        }
    }
}
