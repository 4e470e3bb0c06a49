//! The part of the port that is about exports.

use super::MemoryStore;
use crate::account::export::{ExportPage, ExportStore};
use crate::{Done, UserId};

impl ExportStore for MemoryStore {
    fn export(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ExportPage>) {
        self.read(move |tables| tables.export(user, after.as_deref(), limit as usize), done);
    }
}
