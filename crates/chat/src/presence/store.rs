//! The slice of the port to storage for presence.

use crate::users::store::UserStore;
use crate::{SetPresence, Timestamp, UserId};

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait PresenceStore: UserStore {
    /// Remembers the chosen presence and when the user was last here.
    fn put_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp);
}
