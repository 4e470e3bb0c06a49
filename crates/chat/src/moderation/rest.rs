//! Moderation over REST, by a site's own server and its admins. The record contains the admin's name; the
//! site's server is recorded as the site.

use std::sync::Arc;

use serde_json::Value;

use crate::moderation::{AuditPage, FilterTest, Moderate, Moderation, ReportRow, ReportState, ReportsPage};
use crate::store::unavailable;
use crate::{Caller, Done, NotSet, PageOf, Refusal, Respond, Settings, Timestamp};

impl Moderation {
    pub(crate) fn settings_over_rest(&self, caller: &Caller) -> Result<Settings, Refusal> {
        let live = self.sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        Ok(live.site.settings.clone())
    }

    /// Changes the settings by a merge patch, and answers the new ones. They apply, and are recorded, when
    /// the call returns. Waits for the disk: never call it on a worker.
    pub(crate) fn change_settings(
        self: &Arc<Self>,
        caller: &Caller,
        patch: &Value,
        now: Timestamp,
    ) -> Result<Settings, NotSet> {
        let live = self.sites.by_id(caller.site()).ok_or(NotSet::Refused(Refusal::NoSuchSite))?;
        live.take_change(now).map_err(NotSet::Refused)?;
        live.site.settings.patched(patch)?;
        let (sender, outcome) = std::sync::mpsc::channel();
        let wanted = Moderate::Configure { patch: Box::new(patch.clone()) };
        let then = move |result: Result<_, Refusal>| drop(sender.send(result));
        self.moderate_as(caller.site(), caller.by(), caller.sub(), wanted, now, Box::new(then));
        outcome.recv().unwrap_or(Err(Refusal::Unavailable)).map_err(NotSet::Refused)?;
        self.settings_over_rest(caller).map_err(NotSet::Refused)
    }

    /// Tests the filters of the site on a text.
    pub(crate) fn test_filters(
        &self,
        caller: &Caller,
        body: &str,
        now: Timestamp,
    ) -> Result<FilterTest, Refusal> {
        self.config.limits.check_body(body)?;
        let live = self.sites.by_id(caller.site()).ok_or(Refusal::NoSuchSite)?;
        live.test_filters(body, now)
    }

    /// Carries out a moderator's act: a user's by their stored role, the site's without limits.
    pub(crate) fn moderate_over_rest(
        self: &Arc<Self>,
        caller: &Caller,
        wanted: Moderate,
        now: Timestamp,
        respond: Respond<Option<Box<ReportRow>>>,
    ) {
        self.moderate_as(caller.site(), caller.by(), caller.sub(), wanted, now, respond);
    }

    pub(crate) fn reports_over_rest(
        &self,
        caller: &Caller,
        state: Option<ReportState>,
        page: PageOf,
        respond: Respond<ReportsPage>,
    ) {
        let limit = self.sessions.page_limit(page.limit);
        let done: Done<Result<ReportsPage, Refusal>> =
            Box::new(move |outcome| respond(outcome.map_err(unavailable).flatten()));
        self.store.reports(caller.site(), caller.by(), state, page.after, limit, done);
    }

    pub(crate) fn audit_over_rest(&self, caller: &Caller, page: PageOf, respond: Respond<AuditPage>) {
        let limit = self.sessions.page_limit(page.limit);
        let done: Done<Result<AuditPage, Refusal>> =
            Box::new(move |outcome| respond(outcome.map_err(unavailable).flatten()));
        self.store.audit(caller.site(), caller.by(), page.after, limit, done);
    }
}
