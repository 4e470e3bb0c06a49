//! The slice of the port to storage for presence.

use crate::users::store::UserStore;
use crate::{SetPresence, Timestamp, UserId};

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait PresenceStore: UserStore {
    /// Stores the chosen presence and the time of the user's last connection.
    fn put_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp);
}
