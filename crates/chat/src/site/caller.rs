//! The author of a REST request: the site's own server, or an admin.

use crate::{By, Refusal, SettingsError, SiteId, SiteNotChanged, Sub, UserId};

/// The author of a REST request. [`Node::caller`](crate::Node::caller) makes it from a token; the rights of a
/// user are read for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The site's own server, with a token of the role `service`. It has all rights on its site.
    Site(SiteId),
    /// A person, with the rights of their stored role; the record contains their name.
    User(UserId, Sub),
}

impl Caller {
    pub fn site(&self) -> SiteId {
        match self {
            Caller::Site(site) => *site,
            Caller::User(user, _) => user.site,
        }
    }

    /// The author for stores, which check the rights of a user in the transaction of the act.
    pub fn by(&self) -> By {
        match self {
            Caller::Site(_) => By::Site,
            Caller::User(user, _) => By::User(*user),
        }
    }

    /// The id of the user; None for the site's server.
    pub fn sub(&self) -> Option<Sub> {
        match self {
            Caller::Site(_) => None,
            Caller::User(_, sub) => Some(sub.clone()),
        }
    }
}

/// Called once, perhaps on a thread of the store.
pub type Respond<T> = Box<dyn FnOnce(Result<T, Refusal>) + Send>;

/// The reason why settings were not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSet {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("{0}")]
    Refused(Refusal),
}

/// The reason why a site was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SiteNotSet {
    #[error(transparent)]
    Site(#[from] SiteNotChanged),
    #[error("{0}")]
    Refused(Refusal),
}
