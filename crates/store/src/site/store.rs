//! The slice of sites: queues each request with its completion.

use chat::{
    Done, Secret, Settings, Site, SiteAuthor, SiteChange, SiteId, SiteNotChanged, SiteStore, StoreError,
    Timestamp,
};

use crate::sqlite::Sqlite;
use crate::{meta, token};

impl SiteStore for Sqlite {
    fn use_token(&self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp, done: Done<bool>) {
        let jti: Box<str> = jti.into();
        self.write(move |batch| token::spend(batch.db, site, &jti, expires, now), done);
    }

    fn sites(&self) -> Result<Vec<Site>, StoreError> {
        self.admin(super::all)
    }

    fn revision(&self) -> Result<u64, StoreError> {
        self.admin(|db| meta::revision(db))
    }

    fn add_site(&self, site: &Site) -> Result<Option<SiteId>, StoreError> {
        self.admin(|db| super::add(db, site))
    }

    fn update_site(&self, site: &Site) -> Result<(), StoreError> {
        self.admin(|db| super::update(db, site))
    }

    fn change_site(
        &self,
        site: SiteId,
        change: SiteChange,
        author: SiteAuthor,
        now: Timestamp,
    ) -> Result<Result<Site, SiteNotChanged>, StoreError> {
        self.admin(|db| super::change(db, site, &change, author, now))
    }

    fn set_settings(&self, site: SiteId, settings: &Settings) -> Result<bool, StoreError> {
        self.admin(|db| super::set_settings(db, site, settings))
    }

    fn remove_site(&self, site: SiteId) -> Result<bool, StoreError> {
        self.admin(|db| super::remove(db, site))
    }

    fn add_secret(&self, site: SiteId, secret: &Secret) -> Result<(), StoreError> {
        self.admin(|db| super::add_secret(db, site, secret))
    }
}
