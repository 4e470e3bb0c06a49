//! The part of the port that is about guests who become members.

use super::MemoryStore;
use crate::account::guest_merge::{Merge, MergeStore};
use crate::{Done, Refusal, StoreError, UserId, UserRow};

impl MergeStore for MemoryStore {
    fn merge_guest(&self, merge: Merge, done: Done<Result<Option<UserRow>, Refusal>>) {
        self.write(move |tables| tables.merge_guest(merge), done);
    }

    fn no_guests(&self, of: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        let inner = self.lock();
        let is_member = |id: &&UserId| inner.tables.user_by_id(**id).is_some_and(|row| !row.profile.guest);
        Ok(of.iter().filter(is_member).copied().collect())
    }
}
