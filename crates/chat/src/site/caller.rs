//! The author of a request over REST: the site's own server, or an admin.

use crate::{By, Refusal, SettingsError, SiteId, SiteNotChanged, Sub, UserId};

/// The author of a request over REST. [`Node::caller`](crate::Node::caller) makes it from a token; the rights of a user are looked up for each request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// The site's own server, by a token with the role `service`. It may do everything on its site.
    Site(SiteId),
    /// A person. They may do what their stored role allows, and the record names them.
    User(UserId, Sub),
}

impl Caller {
    pub fn site(&self) -> SiteId {
        match self {
            Caller::Site(site) => *site,
            Caller::User(user, _) => user.site,
        }
    }

    /// As stores know it, which check the rights of a user in the transaction of the act.
    pub fn by(&self) -> By {
        match self {
            Caller::Site(_) => By::Site,
            Caller::User(user, _) => By::User(*user),
        }
    }

    /// The id of the user, where it is one.
    pub fn sub(&self) -> Option<Sub> {
        match self {
            Caller::Site(_) => None,
            Caller::User(_, sub) => Some(sub.clone()),
        }
    }
}

/// Called once, perhaps on a thread of the store.
pub type Told<T> = Box<dyn FnOnce(Result<T, Refusal>) + Send>;

/// Why settings were not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotSet {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("{0}")]
    Refused(Refusal),
}

/// Why a site was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SiteNotSet {
    #[error(transparent)]
    Site(#[from] SiteNotChanged),
    #[error("{0}")]
    Refused(Refusal),
}
