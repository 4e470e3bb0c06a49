//! A guest becomes a member: their messages, contacts and memberships continue under the id of the new
//! account.
//!
//! The site requests it at the registration, before it signs the account's first token, and shows the guest's
//! own token ([`GuestProof`]). The guest's row gets the new id, so no data is copied from one user to
//! another: bans, mutes and blocks stay. An account that has signed in before cannot take over a guest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::account::Account;
use crate::session::Completion;
use crate::store::unavailable;
use crate::{By, Done, GuestProof, Refusal, StoreError, Sub, Timestamp, UserId, UserRow};

/// The slice of the port to storage for guests who become members. See [`Store`](crate::Store).
///
/// After a merge the guest's public id stays taken: [`put_user`](crate::UserStore::put_user), and a sign-in
/// with a guest's profile of that id, answer the member's row and change nothing.
pub trait MergeStore: Send + Sync + 'static {
    /// Merges a guest, and records it. Answers the former guest; None for a repetition.
    ///
    /// * [`Refusal::NoSuchUser`]: the guest does not exist, or is another member already.
    ///
    /// * [`Refusal::NotAllowed`]: the user is no guest.
    ///
    /// * [`Refusal::UserExists`]: the new id is taken.
    fn merge_guest(&self, merge: Merge, done: Done<Result<Option<UserRow>, Refusal>>);
    /// Those of these users who are no guests any more. Blocks, and costs one read for each.
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

/// Counts merges. A guest's sign-in that began before a merge may have read the guest's row, and is refused.
#[derive(Default)]
pub(crate) struct Merges(AtomicU64);

impl Merges {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl Account {
    /// Merges a guest and ends the guest's sessions: the page gets the token of the account, and the user
    /// signs in with it.
    pub(crate) fn merge_guest(
        self: &Arc<Self>,
        merge: Merge,
        then: impl FnOnce(Result<(), Refusal>) + Send + 'static,
    ) {
        let done = self.then::<Result<Option<UserRow>, Refusal>>(move |this, merged| {
            let before = merged.map_err(unavailable).flatten();
            if let Ok(Some(before)) = &before {
                this.users.recent().clear();
                this.end_guest(before.id);
                this.erasing.begin();
            }
            then(before.map(drop));
        });
        self.store.merge_guest(merge, done);
    }

    /// Ends the sessions of guests whom another process has merged. Checks only connected guests: their
    /// number is bounded, the number of all merges is not. Blocks.
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

    /// Counts first, then ends the sessions. A sign-in under way either sees the new count, or its session is
    /// among the ended ones.
    fn end_guest(self: &Arc<Self>, user: UserId) {
        self.merges.0.fetch_add(1, Ordering::AcqRel);
        self.sessions.end_user(user, Refusal::TokenExpired);
    }
}
