//! The part of the port to storage that is about profiles. What [`Store`](crate::Store) promises holds here too.

use crate::account::profile::{ProfileChange, Status};
use crate::{Done, Relation, Sub, UserId, UserRow};

/// See [`Store`](crate::Store), of which it is a part.
pub trait ProfileStore: Send + Sync + 'static {
    /// Of one snapshot. None: no such user.
    fn profile(&self, asker: UserId, of: Sub, done: Done<Option<ProfileView>>);
    /// Changes one's own, and answers it. A name that a member has chosen stays whatever the site's tokens say, until it is
    /// [the site's](crate::account::profile::NameChange::OfSite) again. Where nothing is another, nothing is written.
    fn change_profile(&self, user: UserId, change: ProfileChange, done: Done<Option<ProfileView>>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileView {
    pub row: UserRow,
    /// As it was said, whether it is over by now or not.
    pub status: Option<Status>,
    /// `of_a` is the asker's side.
    pub relation: Relation,
}
