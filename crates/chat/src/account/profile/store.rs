//! The slice of the port to storage for profiles. The promises of [`Store`](crate::Store) hold here too.

use crate::account::profile::{ProfileChange, Status};
use crate::{Done, Relation, Sub, UserId, UserRow};

/// A slice of [`Store`](crate::Store).
pub trait ProfileStore: Send + Sync + 'static {
    /// The profile, from one snapshot. None: the user does not exist.
    fn profile(&self, asker: UserId, of: Sub, done: Done<Option<ProfileView>>);
    /// Changes the user's own profile, and answers it. A chosen name stays, whatever the site's tokens
    /// contain, until it is [the site's](crate::account::profile::NameChange::OfSite) again. A change without
    /// effect writes nothing.
    fn change_profile(&self, user: UserId, change: ProfileChange, done: Done<Option<ProfileView>>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileView {
    pub row: UserRow,
    /// The stored status, expired or not.
    pub status: Option<Status>,
    /// `of_a` is the asker's side.
    pub relation: Relation,
}
