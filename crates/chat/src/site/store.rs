//! The slice of the port to storage for sites and one-time tokens.

use crate::{
    Done, Secret, Settings, Site, SiteAuthor, SiteChange, SiteId, SiteNotChanged, StoreError, Timestamp,
};

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
///
/// Requests without a [`Done`] are administration: they may block, and no worker calls them.
pub trait SiteStore: Send + Sync + 'static {
    /// Stores a one-time token until it expires. Answers false if it was used before.
    fn use_token(&self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp, done: Done<bool>);
    fn sites(&self) -> Result<Vec<Site>, StoreError>;
    /// Changes whenever another process may have changed sites or bans; cheap.
    fn revision(&self) -> Result<u64, StoreError>;
    /// Adds a site (its `id` is ignored) and answers its id; None if the key is taken.
    fn add_site(&self, site: &Site) -> Result<Option<SiteId>, StoreError>;
    /// Replaces settings and secrets of a site.
    fn update_site(&self, site: &Site) -> Result<(), StoreError>;
    /// Applies [`SiteChange::apply`] to the stored site, records it, and answers the new site. A user must be
    /// allowed to configure the site.
    fn change_site(
        &self,
        site: SiteId,
        change: SiteChange,
        author: SiteAuthor,
        now: Timestamp,
    ) -> Result<Result<Site, SiteNotChanged>, StoreError>;
    /// Replaces only the site's [`Settings`]; false if the site does not exist.
    fn set_settings(&self, site: SiteId, settings: &Settings) -> Result<bool, StoreError>;
    /// Removes the site with all its data.
    fn remove_site(&self, site: SiteId) -> Result<bool, StoreError>;
    fn add_secret(&self, site: SiteId, secret: &Secret) -> Result<(), StoreError>;
}
