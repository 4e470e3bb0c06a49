//! The port for requests over REST: of a site's own server, and of its admins. Each one goes to its part.

use std::net::IpAddr;

use serde_json::Value;

use crate::account::erasure::MessagesAfterErasure;
use crate::account::guest_merge::Merge;
use crate::store::unavailable;
use crate::{
    AuditPage, Caller, FilterTest, GuestProof, ImportItem, ImportOutcome, Late, Moderate, NewSticker,
    NoSticker, Node, NotSet, PageOf, PeoplePage, Refusal, ReportRow, ReportState, ReportsPage, Settings,
    Site, SiteAuthor, SiteChange, SiteNotSet, Sticker, Sub, Timestamp, Told,
};

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
        self.inner.sign_in.caller(site_key, token, address, now, told);
    }

    pub fn settings(&self, caller: &Caller) -> Result<Settings, Refusal> {
        self.inner.moderation.settings_over_rest(caller)
    }

    /// Changes the settings by a merge patch, and answers them. They hold when it returns, and the record says so. It waits for the disk:
    /// never call it on a worker.
    pub fn change_settings(
        &self,
        caller: &Caller,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Settings, NotSet> {
        self.inner.moderation.change_settings(caller, patch, now)
    }

    /// The site as it is now, with its keys: what is shown of them is the gateway's to choose.
    pub fn site(&self, caller: &Caller) -> Result<Site, Refusal> {
        let live = self.inner.sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
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
        let inner = &self.inner;
        let author = SiteAuthor::Tenant(caller.by());
        let unavailable = |error| SiteNotSet::Refused(unavailable(error));
        let changed = inner.store.change_site(caller.site(), change, author, now).map_err(unavailable)??;
        self.refresh_sites().map_err(unavailable)?;
        Ok(changed)
    }

    /// Tests the filters of the site on a text.
    pub fn test_filters(&self, caller: &Caller, body: &str, now: Timestamp) -> Result<FilterTest, Refusal> {
        self.inner.moderation.test_filters(caller, body, now)
    }

    /// As a moderator's command: a user by their stored role, the site without limits.
    pub fn moderate(
        &self,
        caller: &Caller,
        wanted: Moderate,
        now: Timestamp,
        told: Told<Option<Box<ReportRow>>>,
    ) {
        self.inner.moderation.moderate_over_rest(caller, wanted, now, told);
    }

    /// A page of all members, banned ones too, whatever the mode of the site: by name.
    pub fn users(&self, caller: &Caller, query: Option<String>, page: PageOf, told: Told<PeoplePage>) {
        self.inner.contacts.users_over_rest(caller, query, page, told);
    }

    pub fn reports(
        &self,
        caller: &Caller,
        state: Option<ReportState>,
        page: PageOf,
        told: Told<ReportsPage>,
    ) {
        self.inner.moderation.reports_over_rest(caller, state, page, told);
    }

    pub fn audit(&self, caller: &Caller, page: PageOf, told: Told<AuditPage>) {
        self.inner.moderation.audit_over_rest(caller, page, told);
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
        self.inner.account.erase(caller, user, messages, now, told);
    }

    /// The guest of a token that the caller was shown. See [`GuestProof::verify`].
    pub fn guest_proof(&self, caller: &Caller, token: &str, now: Timestamp) -> Result<GuestProof, Refusal> {
        let live = self.inner.sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        GuestProof::verify(token, &live.site, now, self.inner.config.clock_skew_ms)
    }

    /// A guest goes on under the id of an account. Doing it again does nothing.
    pub fn merge_guest(&self, caller: &Caller, guest: GuestProof, user: Sub, now: Timestamp, told: Told<()>) {
        if guest.site() != caller.site() {
            return told(Err(Refusal::NotAllowed));
        }
        let merge = Merge { guest, user, by: caller.by(), time: now };
        self.inner.account.merge_guest(merge, told);
    }

    pub fn stickers(&self, caller: &Caller, told: Told<Vec<Sticker>>) {
        self.inner.messages.stickers(caller, told);
    }

    /// Adds a sticker that [`NewSticker::check`] accepted. Its site is the caller's. It is recorded.
    pub fn add_sticker(&self, caller: &Caller, new: NewSticker, told: Told<Result<(), NoSticker>>) {
        self.inner.messages.add_sticker(caller, new, told);
    }

    /// It is recorded.
    pub fn remove_sticker(&self, caller: &Caller, number: u64, now: Timestamp, told: Told<()>) {
        self.inner.messages.remove_sticker(caller, number, now, told);
    }

    /// Counts the bytes of a request that imports, before they are looked at. Only the site itself may import.
    pub fn may_import(&self, caller: &Caller, bytes: u64, now: Timestamp) -> Result<(), Refusal> {
        match caller {
            Caller::Site(site) => self.inner.requests.take_import(*site, bytes, now),
            Caller::User(..) => Err(Refusal::NotAllowed),
        }
    }

    /// Stores at most [`IMPORT_JOB`](crate::IMPORT_JOB) items. How many jobs run at a time is the caller's to bound.
    pub fn import(
        &self,
        caller: &Caller,
        items: Vec<ImportItem>,
        late: Late,
        now: Timestamp,
        told: Told<Vec<ImportOutcome>>,
    ) {
        match caller {
            Caller::Site(site) => self.inner.import.import(*site, items, late, now, told),
            Caller::User(..) => told(Err(Refusal::NotAllowed)),
        }
    }
}
