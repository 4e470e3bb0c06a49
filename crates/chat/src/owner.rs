//! What a site's own server, and its admins, ask of a node over REST. What they do is recorded as done by the site.

use serde_json::Value;

use crate::erase::Messages;
use crate::merge::Merge;
use crate::moderation::{AuditPage, By, FilterTest, Moderate, ReportRow, ReportState, ReportsPage};
use crate::node::{Node, unavailable};
use crate::people::MAX_QUERY_BYTES;
use crate::token;
use crate::{
    PageOf, PeoplePage, Refusal, RequestKind, Settings, SettingsError, SiteId, StoreError, Sub, Timestamp,
};

/// Somebody who may, for one site. Only [`Node::caller`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    site: SiteId,
}

impl Caller {
    pub fn site(self) -> SiteId {
        self.site
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

impl Node {
    /// Whom a token speaks for: one with the role `service` or `admin`, signed by the site.
    pub fn caller(&self, site_key: &str, token: &str, now: Timestamp) -> Result<Caller, Refusal> {
        let live = self.inner().sites.by_key(site_key).ok_or(Refusal::NoSuchSite)?;
        let skew = self.inner().config.clock_skew_ms;
        token::verify_caller(token, site_key, &live.verifiers, now, skew)?;
        let taken = self.inner().requests.of_site(RequestKind::Rest, live.site.id, now);
        taken.inspect_err(|_| self.inner().counters.requests_refused.add(1))?;
        Ok(Caller { site: live.site.id })
    }

    pub fn settings(&self, caller: Caller) -> Result<Settings, Refusal> {
        let live = self.inner().sites.by_id(caller.site).ok_or(Refusal::NoSuchSite)?;
        Ok(live.site.settings.clone())
    }

    /// Changes the settings by a merge patch, and answers them. They hold when it returns, and the record says so. It waits for the disk:
    /// never call it on a worker.
    pub fn change_settings(&self, caller: Caller, patch: &Value, now: Timestamp) -> Result<Settings, NotSet> {
        let live = self.inner().sites.by_id(caller.site).ok_or(NotSet::Refused(Refusal::NoSuchSite))?;
        live.take_change(now).map_err(NotSet::Refused)?;
        live.site.settings.patched(patch)?;
        let (tell, told) = std::sync::mpsc::channel();
        let wanted = Moderate::Configure { patch: Box::new(patch.clone()) };
        let then = move |outcome: Result<_, Refusal>| drop(tell.send(outcome));
        self.inner().moderate_as(caller.site, By::Site, None, wanted, now, Box::new(then));
        told.recv().unwrap_or(Err(Refusal::Unavailable)).map_err(NotSet::Refused)?;
        self.settings(caller).map_err(NotSet::Refused)
    }

    /// What the filters of the site would do with a text.
    pub fn test_filters(&self, caller: Caller, body: &str, now: Timestamp) -> Result<FilterTest, Refusal> {
        crate::send::check_body(body, &self.inner().config.limits)?;
        let live = self.inner().sites.by_id(caller.site).ok_or(Refusal::NoSuchSite)?;
        live.test_filters(body, now)
    }

    /// As a moderator's command, with the site's own word.
    pub fn moderate(
        &self,
        caller: Caller,
        wanted: Moderate,
        now: Timestamp,
        told: Told<Option<Box<ReportRow>>>,
    ) {
        self.inner().moderate_as(caller.site, By::Site, None, wanted, now, told);
    }

    /// A page of all members, banned ones too, whatever the mode of the site: by name.
    pub fn users(&self, caller: Caller, query: Option<String>, page: PageOf, told: Told<PeoplePage>) {
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return told(Err(Refusal::BadValue));
        }
        let limit = self.inner().page_limit(page.limit);
        let done = move |rows: Result<PeoplePage, StoreError>| told(rows.map_err(unavailable));
        self.inner().store.people(caller.site, query, page.after, limit, Box::new(done));
    }

    pub fn reports(&self, caller: Caller, state: Option<ReportState>, page: PageOf, told: Told<ReportsPage>) {
        let limit = self.inner().page_limit(page.limit);
        let done = move |outcome: Result<Result<ReportsPage, Refusal>, StoreError>| {
            told(outcome.map_err(unavailable).flatten());
        };
        self.inner().store.reports(caller.site, By::Site, state, page.after, limit, Box::new(done));
    }

    /// The user is nobody at once; what there is much of goes in the time that follows. Somebody else may have their id from then on.
    pub fn erase(&self, caller: Caller, user: Sub, messages: Messages, now: Timestamp, told: Told<()>) {
        self.inner().erase(caller.site, user, messages, now, told);
    }

    /// A guest goes on under the id of an account. Doing it again does nothing.
    pub fn merge_guest(&self, caller: Caller, guest: Sub, user: Sub, now: Timestamp, told: Told<()>) {
        let merge = Merge { site: caller.site, guest, user, by: By::Site, time: now };
        self.inner().merge_guest(merge, told);
    }

    pub fn audit(&self, caller: Caller, page: PageOf, told: Told<AuditPage>) {
        let limit = self.inner().page_limit(page.limit);
        let done = move |outcome: Result<Result<AuditPage, Refusal>, StoreError>| {
            told(outcome.map_err(unavailable).flatten());
        };
        self.inner().store.audit(caller.site, By::Site, page.after, limit, Box::new(done));
    }
}
