//! The port for REST requests of a site's own server and its admins. Each call goes to its part.

use std::net::IpAddr;

use serde_json::Value;

use crate::account::erasure::MessagesAfterErasure;
use crate::account::guest_merge::Merge;
use crate::store::unavailable;
use crate::{
    AuditPage, Caller, FilterTest, GuestProof, ImportItem, ImportOutcome, Late, Moderate, NewSticker,
    NoSticker, Node, NotSet, PageOf, PeoplePage, Refusal, ReportRow, ReportState, ReportsPage, Respond,
    Settings, Site, SiteAuthor, SiteChange, SiteNotSet, Sticker, Sub, Timestamp,
};

impl Node {
    /// The author of a request with this token: the site itself (role `service`), or an admin. Of an admin's
    /// token only the `sub` counts. The user must have signed in before, not be banned, and be an admin by
    /// the stored role. `address`: the client's, for the log of refused tokens.
    pub fn caller(
        &self,
        site_key: &str,
        token: &str,
        address: Option<IpAddr>,
        now: Timestamp,
        respond: Respond<Caller>,
    ) {
        self.inner.sign_in.caller(site_key, token, address, now, respond);
    }

    pub fn settings(&self, caller: &Caller) -> Result<Settings, Refusal> {
        self.inner.moderation.settings_over_rest(caller)
    }

    /// Changes the settings by a merge patch, and answers the new ones. They apply, and are recorded, when
    /// the call returns. Waits for the disk: never call it on a worker.
    pub fn change_settings(
        &self,
        caller: &Caller,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Settings, NotSet> {
        self.inner.moderation.change_settings(caller, patch, now)
    }

    /// The current site with its keys. The gateway chooses the fields to show.
    pub fn site(&self, caller: &Caller) -> Result<Site, Refusal> {
        let live = self.inner.sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        Ok(live.site.clone())
    }

    /// Changes name, mode, guests, origins or keys of the site. The change applies, and is recorded, when the
    /// call returns. Waits for the disk: never call it on a worker.
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

    /// Carries out a moderator's act: a user's by their stored role, the site's without limits.
    pub fn moderate(
        &self,
        caller: &Caller,
        wanted: Moderate,
        now: Timestamp,
        respond: Respond<Option<Box<ReportRow>>>,
    ) {
        self.inner.moderation.moderate_over_rest(caller, wanted, now, respond);
    }

    /// A page of all members by name, including banned ones, in every mode of the site.
    pub fn users(&self, caller: &Caller, query: Option<String>, page: PageOf, respond: Respond<PeoplePage>) {
        self.inner.contacts.users_over_rest(caller, query, page, respond);
    }

    pub fn reports(
        &self,
        caller: &Caller,
        state: Option<ReportState>,
        page: PageOf,
        respond: Respond<ReportsPage>,
    ) {
        self.inner.moderation.reports_over_rest(caller, state, page, respond);
    }

    pub fn audit(&self, caller: &Caller, page: PageOf, respond: Respond<AuditPage>) {
        self.inner.moderation.audit_over_rest(caller, page, respond);
    }

    /// Erases a user. The user is anonymous at once; their messages follow in slices. The id is free for a
    /// new user from then on.
    pub fn erase(
        &self,
        caller: &Caller,
        user: Sub,
        messages: MessagesAfterErasure,
        now: Timestamp,
        respond: Respond<()>,
    ) {
        self.inner.account.erase(caller, user, messages, now, respond);
    }

    /// The guest of a token that the caller was shown. See [`GuestProof::verify`].
    pub fn guest_proof(&self, caller: &Caller, token: &str, now: Timestamp) -> Result<GuestProof, Refusal> {
        let live = self.inner.sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        GuestProof::verify(token, &live.site, now, self.inner.config.clock_skew_ms)
    }

    /// Lets a guest continue under the id of an account. A repetition changes nothing.
    pub fn merge_guest(
        &self,
        caller: &Caller,
        guest: GuestProof,
        user: Sub,
        now: Timestamp,
        respond: Respond<()>,
    ) {
        if guest.site() != caller.site() {
            return respond(Err(Refusal::NotAllowed));
        }
        let merge = Merge { guest, user, by: caller.by(), time: now };
        self.inner.account.merge_guest(merge, respond);
    }

    pub fn stickers(&self, caller: &Caller, respond: Respond<Vec<Sticker>>) {
        self.inner.messages.stickers(caller, respond);
    }

    /// Adds a sticker that [`NewSticker::check`] accepted to the caller's site, and records it.
    pub fn add_sticker(&self, caller: &Caller, new: NewSticker, respond: Respond<Result<(), NoSticker>>) {
        self.inner.messages.add_sticker(caller, new, respond);
    }

    /// Removes a sticker, and records it.
    pub fn remove_sticker(&self, caller: &Caller, number: u64, now: Timestamp, respond: Respond<()>) {
        self.inner.messages.remove_sticker(caller, number, now, respond);
    }

    /// Counts the bytes of an import request, before they are parsed. Only the site itself may import.
    pub fn may_import(&self, caller: &Caller, bytes: u64, now: Timestamp) -> Result<(), Refusal> {
        match caller {
            Caller::Site(site) => self.inner.requests.take_import(*site, bytes, now),
            Caller::User(..) => Err(Refusal::NotAllowed),
        }
    }

    /// Stores at most [`IMPORT_JOB`](crate::IMPORT_JOB) items. The caller bounds the number of simultaneous
    /// jobs.
    pub fn import(
        &self,
        caller: &Caller,
        items: Vec<ImportItem>,
        late: Late,
        now: Timestamp,
        respond: Respond<Vec<ImportOutcome>>,
    ) {
        match caller {
            Caller::Site(site) => self.inner.import.import(*site, items, late, now, respond),
            Caller::User(..) => respond(Err(Refusal::NotAllowed)),
        }
    }
}
