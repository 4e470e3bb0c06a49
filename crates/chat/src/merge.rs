//! A guest becomes a member: what they said, whom they know and where they are goes on under the id of their new account.
//!
//! The site says so when somebody registers, before it signs the first token of the account. The guest's own row gets the
//! new id, so nothing has to be carried from one user to another; of a member who has been here already it cannot be done.

use std::sync::Arc;

use crate::moderation::By;
use crate::node::{Inner, unavailable};
use crate::{Done, Refusal, SiteId, StoreError, Sub, Timestamp, UserRow};

/// The part of the port to storage that is about guests who become members. See [`Store`](crate::Store), of which it is a part.
pub trait MergeStore: Send + Sync + 'static {
    /// Answers the guest as they were; None where it was done before. [`Refusal::NoSuchUser`]: there is no such guest.
    /// [`Refusal::NotAllowed`]: it is no guest. [`Refusal::UserExists`]: somebody has the new id. It is written into the record.
    fn merge_guest(&self, merge: Merge, done: Done<Result<Option<UserRow>, Refusal>>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    pub site: SiteId,
    pub guest: Sub,
    /// The id of the account.
    pub user: Sub,
    pub by: By,
    pub time: Timestamp,
}

impl Inner {
    /// The guest's sessions end: the page brings the token of the account, and they come back as it.
    pub(crate) fn merge_guest(
        self: &Arc<Self>,
        merge: Merge,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let node = self.clone();
        let done = move |merged: Result<Result<Option<UserRow>, Refusal>, StoreError>| {
            let before = merged.map_err(unavailable).flatten();
            if let Ok(Some(before)) = &before {
                node.recent.clear();
                node.end_user(before.id, Refusal::TokenExpired);
                node.erasing.begin();
            }
            then(before.map(drop));
        };
        self.store.merge_guest(merge, Box::new(done));
    }
}
