//! Retention: what was said longer ago than the owner wants to keep it goes, in slices, as time passes.
//!
//! The oldest messages of a conversation go with their former bodies, reactions and files; numbers stay as they are, so a conversation
//! begins with a higher one then. Nobody is told: a device that has them keeps them until it loads the conversation anew.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::messages::Messages;
use crate::{Done, SiteId, StoreError, Timestamp, Trim};

/// The part of the port to storage that is about retention. See [`Store`](crate::Store), of which it is a part.
pub trait RetentionStore: Send + Sync + 'static {
    /// Removes messages from before the given times, the oldest of each conversation first: of some conversations of the site after `after`,
    /// and at most `limit` messages.
    fn trim(&self, site: SiteId, after: Option<u64>, trim: Trim, limit: u32, done: Done<Trimmed>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trimmed {
    pub removed: u32,
    /// Go on after this one; None: the site is done.
    pub next: Option<u64>,
}

/// Messages of one slice, at most: a few milliseconds of the writer's time.
pub const TRIM_SLICE: u32 = 100;
/// Between two slices, and between two rounds over all sites.
const SLICE_EVERY_MS: u64 = 500;
const ROUND_EVERY_MS: u64 = 600_000;

/// How far the round is. A node that dies begins anew.
#[derive(Default)]
pub(crate) struct Retaining {
    under_way: AtomicBool,
    round: Mutex<Round>,
}

#[derive(Default)]
struct Round {
    /// Sites that are still to be gone over, and the conversation in the last of them.
    sites: Vec<SiteId>,
    after: Option<u64>,
    due: Timestamp,
}

impl Messages {
    pub(crate) fn trim_what_is_old(self: &Arc<Self>, now: Timestamp) {
        let mut round = self.retaining.round();
        // A clock that jumps back must not stop it for as long.
        if now < round.due && round.due.since(now) <= ROUND_EVERY_MS {
            return;
        }
        if self.retaining.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        let next = round.next(self, now);
        let after = round.after;
        drop(round);
        let Some((site, trim)) = next else {
            return self.retaining.under_way.store(false, Ordering::Release);
        };
        let this = self.clone();
        let done = move |trimmed: Result<Trimmed, StoreError>| {
            // The store logs its errors; the next slice tries again.
            if let Ok(Trimmed { next, .. }) = trimmed {
                let mut round = this.retaining.round();
                round.after = next;
                if next.is_none() {
                    round.sites.pop();
                }
            }
            this.retaining.under_way.store(false, Ordering::Release);
        };
        self.store.trim(site, after, trim, TRIM_SLICE, Box::new(done));
    }
}

impl Retaining {
    fn round(&self) -> std::sync::MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    /// The site whose turn it is. When all were, the next round begins after a while.
    fn next(&mut self, this: &Messages, now: Timestamp) -> Option<(SiteId, Trim)> {
        self.due = Timestamp(now.0 + SLICE_EVERY_MS);
        if self.sites.is_empty() {
            self.sites = this.sites.that_forget();
            self.after = None;
            self.due = Timestamp(now.0 + if self.sites.is_empty() { ROUND_EVERY_MS } else { SLICE_EVERY_MS });
        }
        while let Some(site) = self.sites.last() {
            // It may have gone, or keeps everything by now.
            let live = this.sites.by_id(*site).filter(|live| live.site.settings.retention.is_on());
            if let Some(live) = live {
                return Some((*site, live.site.settings.retention.trim(*site, now)));
            }
            self.sites.pop();
            self.after = None;
        }
        None
    }
}
