//! A guest becomes a member: what they said, whom they know and where they are goes on under the id of their new account.
//!
//! The site asks for it when somebody registers, before it signs the first token of the account, and shows the guest's own token
//! ([`GuestProof`]). The guest's row gets the new id, so nothing has to be carried from one user to another: bans, mutes and blocks stay.
//! An account that has been here already cannot take a guest in.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::account::Account;
use crate::store::unavailable;
use crate::{By, Done, GuestProof, Refusal, StoreError, Sub, Timestamp, UserId, UserRow};

/// The part of the port to storage that is about guests who become members. See [`Store`](crate::Store), of which it is a part.
///
/// After a merge the guest's public id stays taken: [`put_user`](crate::UserStore::put_user) and a sign-in with a guest's profile of that id
/// answer the member's row and change nothing.
pub trait MergeStore: Send + Sync + 'static {
    /// Answers the guest as they were; None where it was done before. [`Refusal::NoSuchUser`]: there is no such guest, or the guest is
    /// another member already. [`Refusal::NotAllowed`]: it is no guest. [`Refusal::UserExists`]: somebody has the new id. It is written
    /// into the record.
    fn merge_guest(&self, merge: Merge, done: Done<Result<Option<UserRow>, Refusal>>);
    /// Of these users, those who are no guests any more. Blocks, and costs one look at each.
    fn no_guests(&self, of: &[UserId]) -> Result<Vec<UserId>, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    pub guest: GuestProof,
    /// The id of the account.
    pub user: Sub,
    pub by: By,
    pub time: Timestamp,
}

/// Counts merges. A guest's sign-in that began before one may have read the guest's row, and is refused.
#[derive(Default)]
pub(crate) struct Merges(AtomicU64);

impl Merges {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Account {
    /// The guest's sessions end: the page brings the token of the account, and they come back as it.
    pub(crate) fn merge_guest(
        self: &Arc<Self>,
        merge: Merge,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let this = self.clone();
        let done = move |merged: Result<Result<Option<UserRow>, Refusal>, StoreError>| {
            let before = merged.map_err(unavailable).flatten();
            if let Ok(Some(before)) = &before {
                this.users.recent().clear();
                this.end_guest(before.id);
                this.erasing.begin();
            }
            then(before.map(drop));
        };
        self.store.merge_guest(merge, Box::new(done));
    }

    /// Ends the sessions of guests whom another process has merged. It asks for guests who are here only: they are bounded by the
    /// sessions of the node, and all merges that there ever were are not. Blocks.
    pub(crate) fn end_merged_guests(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut guests = Vec::new();
        for mut shard in self.sessions.each() {
            guests.extend(shard.users().filter(|user| user.guest).map(|user| user.id));
        }
        if guests.is_empty() {
            return Ok(());
        }
        for user in self.store.no_guests(&guests)? {
            self.end_guest(user);
        }
        Ok(())
    }

    /// First the count, then the sessions: a sign-in that is under way sees the one or is among the others.
    fn end_guest(self: &Arc<Self>, user: UserId) {
        self.merges.0.fetch_add(1, Ordering::AcqRel);
        self.sessions.end_user(user, Refusal::TokenExpired);
    }
}
