//! The requests of a site's own server and of its admins over REST. The record names the admin; the site's server is the site.

use std::net::IpAddr;

use serde_json::Value;

use crate::account::erasure::MessagesAfterErasure;
use crate::account::guest_merge::Merge;
use crate::contacts::directory::MAX_QUERY_BYTES;
use crate::moderation::{AuditPage, FilterTest, Moderate, ReportRow, ReportState, ReportsPage};
use crate::node::Node;
use crate::sign_in::log::SignInAttempt;
use crate::site::token::{self, Bearer};
use crate::store::unavailable;
use crate::{
    By, Door, GuestProof, PageOf, PeoplePage, Refusal, RequestKind, Settings, SettingsError, Site,
    SiteAuthor, SiteChange, SiteId, SiteNotChanged, SiteRole, StoreError, Sub, Timestamp, UserId, UserRow,
};

/// The author of a request over REST. [`Node::caller`] makes it from a token; the rights of a user are looked up for each request.
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

impl Node {
    /// The author of a request with this token: the site itself (role `service`), or an admin. Of an admin's token only the `sub` counts:
    /// the user must have signed in before, not be banned, and be an admin by the role that is stored now.
    /// `address`: of the client, for the log of refused tokens.
    pub fn caller(
        &self,
        site_key: &str,
        token: &str,
        address: Option<IpAddr>,
        now: Timestamp,
        told: Told<Caller>,
    ) {
        let shown = SignInAttempt { door: Door::Rest, site: None, user: None, address };
        let (site, sub) = match self.bearer(site_key, token, now) {
            Ok((site, Bearer::Service)) => return told(Ok(Caller::Site(site))),
            Ok((site, Bearer::Admin(sub))) => (site, sub),
            Err(refusal) => {
                let known = self.inner().sites.by_key(site_key);
                let site = known.as_ref().map(|live| &*live.site.key);
                self.inner().records.record_refused(SignInAttempt { site, ..shown }, refusal, now);
                return told(Err(refusal));
            }
        };
        let (node, user) = (self.inner().clone(), sub.clone());
        let found = move |row: Result<Option<UserRow>, StoreError>| {
            let caller = row.map_err(unavailable).and_then(|row| match row {
                Some(row) if row.banned => Err(Refusal::Banned),
                Some(row) if row.on_site.role == SiteRole::Admin => Ok(Caller::User(row.id, row.profile.sub)),
                Some(_) | None => Err(Refusal::NotAllowed),
            });
            if let Err(refusal) = caller {
                node.records.record_refused_at(
                    site,
                    SignInAttempt { user: Some(user.as_str()), ..shown },
                    refusal,
                    now,
                );
            }
            told(caller);
        };
        self.inner().store.user(site, sub, Box::new(found));
    }

    fn bearer(&self, site_key: &str, token: &str, now: Timestamp) -> Result<(SiteId, Bearer), Refusal> {
        let live = self.inner().sites.by_key(site_key).ok_or(Refusal::NoSuchSite)?;
        let skew = self.inner().config.clock_skew_ms;
        let bearer = token::verify_caller(token, site_key, &live.verifiers, now, skew)?;
        let taken = self.inner().requests.of_site(RequestKind::Rest, live.site.id, now);
        taken.inspect_err(|_| self.inner().counters.requests_refused.add(1))?;
        Ok((live.site.id, bearer))
    }

    pub fn settings(&self, caller: &Caller) -> Result<Settings, Refusal> {
        let live = self.inner().sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        Ok(live.site.settings.clone())
    }

    /// Changes the settings by a merge patch, and answers them. They hold when it returns, and the record says so. It waits for the disk:
    /// never call it on a worker.
    pub fn change_settings(
        &self,
        caller: &Caller,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Settings, NotSet> {
        let live = self.inner().sites.by_id(caller.site()).ok_or(NotSet::Refused(Refusal::NoSuchSite))?;
        live.take_change(now).map_err(NotSet::Refused)?;
        live.site.settings.patched(patch)?;
        let (tell, told) = std::sync::mpsc::channel();
        let wanted = Moderate::Configure { patch: Box::new(patch.clone()) };
        let then = move |outcome: Result<_, Refusal>| drop(tell.send(outcome));
        self.inner().moderation.moderate_as(
            caller.site(),
            caller.by(),
            caller.sub(),
            wanted,
            now,
            Box::new(then),
        );
        told.recv().unwrap_or(Err(Refusal::Unavailable)).map_err(NotSet::Refused)?;
        self.settings(caller).map_err(NotSet::Refused)
    }

    /// The site as it is now, with its keys: what is shown of them is the gateway's to choose.
    pub fn site(&self, caller: &Caller) -> Result<Site, Refusal> {
        let live = self.inner().sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        Ok(live.site.clone())
    }

    /// Changes name, mode, guests, origins or keys of the site. It holds when it returns, and is recorded. It waits for the disk: never call
    /// it on a worker.
    pub fn change_site(
        &self,
        caller: &Caller,
        change: SiteChange,
        now: Timestamp,
    ) -> Result<Site, SiteNotSet> {
        let inner = self.inner();
        let author = SiteAuthor::Tenant(caller.by());
        let unavailable = |error| SiteNotSet::Refused(unavailable(error));
        let changed = inner.store.change_site(caller.site(), change, author, now).map_err(unavailable)??;
        self.refresh_sites().map_err(unavailable)?;
        Ok(changed)
    }

    /// Tests the filters of the site on a text.
    pub fn test_filters(&self, caller: &Caller, body: &str, now: Timestamp) -> Result<FilterTest, Refusal> {
        self.inner().config.limits.check_body(body)?;
        let live = self.inner().sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        live.test_filters(body, now)
    }

    /// As a moderator's command: a user by their stored role, the site without limits.
    pub fn moderate(
        &self,
        caller: &Caller,
        wanted: Moderate,
        now: Timestamp,
        told: Told<Option<Box<ReportRow>>>,
    ) {
        self.inner().moderation.moderate_as(caller.site(), caller.by(), caller.sub(), wanted, now, told);
    }

    /// A page of all members, banned ones too, whatever the mode of the site: by name.
    pub fn users(&self, caller: &Caller, query: Option<String>, page: PageOf, told: Told<PeoplePage>) {
        if query.as_ref().is_some_and(|query| query.len() > MAX_QUERY_BYTES) {
            return told(Err(Refusal::BadValue));
        }
        let limit = self.inner().sessions.page_limit(page.limit);
        let done = move |rows: Result<PeoplePage, StoreError>| told(rows.map_err(unavailable));
        self.inner().store.people(caller.site(), query, page.after, limit, Box::new(done));
    }

    pub fn reports(
        &self,
        caller: &Caller,
        state: Option<ReportState>,
        page: PageOf,
        told: Told<ReportsPage>,
    ) {
        let limit = self.inner().sessions.page_limit(page.limit);
        let done = move |outcome: Result<Result<ReportsPage, Refusal>, StoreError>| {
            told(outcome.map_err(unavailable).flatten());
        };
        self.inner().store.reports(caller.site(), caller.by(), state, page.after, limit, Box::new(done));
    }

    /// The user is nobody at once; what there is much of goes in the time that follows. Somebody else may have their id from then on.
    pub fn erase(
        &self,
        caller: &Caller,
        user: Sub,
        messages: MessagesAfterErasure,
        now: Timestamp,
        told: Told<()>,
    ) {
        self.inner().account.erase(caller, user, messages, now, told);
    }

    /// The guest of a token that the caller was shown. See [`GuestProof::verify`].
    pub fn guest_proof(&self, caller: &Caller, token: &str, now: Timestamp) -> Result<GuestProof, Refusal> {
        let live = self.inner().sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        GuestProof::verify(token, &live.site, now, self.inner().config.clock_skew_ms)
    }

    /// A guest goes on under the id of an account. Doing it again does nothing.
    pub fn merge_guest(&self, caller: &Caller, guest: GuestProof, user: Sub, now: Timestamp, told: Told<()>) {
        if guest.site() != caller.site() {
            return told(Err(Refusal::NotAllowed));
        }
        let merge = Merge { guest, user, by: caller.by(), time: now };
        self.inner().account.merge_guest(merge, told);
    }

    pub fn audit(&self, caller: &Caller, page: PageOf, told: Told<AuditPage>) {
        let limit = self.inner().sessions.page_limit(page.limit);
        let done = move |outcome: Result<Result<AuditPage, Refusal>, StoreError>| {
            told(outcome.map_err(unavailable).flatten());
        };
        self.inner().store.audit(caller.site(), caller.by(), page.after, limit, Box::new(done));
    }
}
