//! Retention: removes messages that are older than the site's limit, in slices, as time passes.
//!
//! Messages are removed from the oldest on, with their earlier bodies, reactions and files. Seqs stay, so a
//! conversation then begins with a higher one. No event is sent: a device keeps its copies until it loads the
//! conversation again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::messages::Messages;
use crate::session::Completion;
use crate::{Done, SiteId, Timestamp, Trim};

/// The slice of the port to storage for retention. See [`Store`](crate::Store).
pub trait RetentionStore: Send + Sync + 'static {
    /// Removes messages from before the given times, the oldest of each conversation first. Covers some
    /// conversations of the site after `after`, and at most `limit` messages.
    fn trim(&self, site: SiteId, after: Option<u64>, trim: Trim, limit: u32, done: Done<Trimmed>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trimmed {
    pub removed: u32,
    /// Where the next slice starts; None: the site is finished.
    pub next: Option<u64>,
}

/// Messages of one slice, at most: a few milliseconds of the writer's time.
pub const TRIM_SLICE: u32 = 100;
/// Milliseconds between two slices, and between two rounds over all sites.
const SLICE_EVERY_MS: u64 = 500;
const ROUND_EVERY_MS: u64 = 600_000;

/// The progress of the round. After a crash, a new round starts.
#[derive(Default)]
pub(crate) struct Retaining {
    under_way: AtomicBool,
    round: Mutex<Round>,
}

#[derive(Default)]
struct Round {
    /// The remaining sites, and the conversation in the last of them.
    sites: Vec<SiteId>,
    after: Option<u64>,
    due: Timestamp,
}

impl Messages {
    pub(crate) fn trim_what_is_old(self: &Arc<Self>, now: Timestamp) {
        let mut round = self.retaining.round();
        // A clock that was set back must not stop it for that time.
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
        let done = self.then(move |this, trimmed| {
            // The store logs its errors; the next slice retries.
            if let Ok(Trimmed { next, .. }) = trimmed {
                let mut round = this.retaining.round();
                round.after = next;
                if next.is_none() {
                    round.sites.pop();
                }
            }
            this.retaining.under_way.store(false, Ordering::Release);
        });
        self.store.trim(site, after, trim, TRIM_SLICE, done);
    }
}

impl Retaining {
    fn round(&self) -> std::sync::MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    /// The next site. After all sites, the next round starts after a pause.
    fn next(&mut self, this: &Messages, now: Timestamp) -> Option<(SiteId, Trim)> {
        self.due = Timestamp(now.0 + SLICE_EVERY_MS);
        if self.sites.is_empty() {
            self.sites = this.sites.that_forget();
            self.after = None;
            self.due = Timestamp(now.0 + if self.sites.is_empty() { ROUND_EVERY_MS } else { SLICE_EVERY_MS });
        }
        while let Some(site) = self.sites.last() {
            // The site may be gone, or may keep all messages now.
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
