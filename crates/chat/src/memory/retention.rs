//! The part of the port that is about retention.

use super::MemoryStore;
use crate::messages::retention::{RetentionStore, Trim, Trimmed};
use crate::{Done, SiteId};

impl RetentionStore for MemoryStore {
    fn trim(&self, site: SiteId, after: Option<u64>, trim: Trim, limit: u32, done: Done<Trimmed>) {
        self.write(move |tables| tables.trim(site, after, &trim, limit as usize), done);
    }
}
