//! The part of the port that is about guests who become members.

use super::MemoryStore;
use crate::merge::{Merge, MergeStore};
use crate::{Done, Refusal, StoreError, UserId, UserRow};

impl MergeStore for MemoryStore {
    fn merge_guest(&self, merge: Merge, done: Done<Result<Option<UserRow>, Refusal>>) {
        self.write(move |tables| tables.merge_guest(merge), done);
    }

    fn merged_guests(&self) -> Result<Vec<UserId>, StoreError> {
        Ok(self.lock().tables.merged_guests())
    }
}
