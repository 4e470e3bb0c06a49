//! The author of an upload or a download, by a token.

use std::net::IpAddr;
use std::sync::Arc;

use crate::session::Asker;
use crate::session::request_limits::{RequestKind, RequestLimits};
use crate::sign_in::SignIn;
use crate::sign_in::log::SignInAttempt;
use crate::site::live::LiveSite;
use crate::site::settings::Access;
use crate::store::unavailable;
use crate::{
    Done, Door, Identified, Refusal, SessionHandle, SessionId, SiteId, SiteRole, Timestamp, UserId, UserRow,
    Visibility,
};

impl SignIn {
    /// The user of this token, on a page of this origin, checked like a `hello`. The user must have sent a
    /// hello before. A one-time token is used up.
    pub(crate) fn identify(
        self: &Arc<Self>,
        site: SiteId,
        token: &str,
        origin: Option<&str>,
        address: Option<IpAddr>,
        now: Timestamp,
        then: impl FnOnce(Result<Identified, Refusal>) + Send + 'static,
    ) {
        let logging = self.clone();
        let shown = SignInAttempt { door: Door::Files, site: None, user: None, address };
        let then = move |outcome: Result<Identified, Refusal>| {
            if let Err(refusal) = outcome {
                logging.records.record_refused_at(site, shown, refusal, now);
            }
            then(outcome);
        };
        let Some(live) = self.sites.by_id(site) else { return then(Err(Refusal::NoSuchSite)) };
        if origin.is_some_and(|origin| !live.allows_origin(origin)) {
            return then(Err(Refusal::BadOrigin));
        }
        let ticket = match self.tokens.check_token(&live, token, now) {
            Ok(ticket) => ticket,
            Err(refusal) => return then(Err(refusal)),
        };
        let (this, sub, expires) = (self.clone(), ticket.profile.sub.clone(), ticket.expires);
        let once = ticket.once.clone();
        let limits = self.requests.clone();
        let found = move |row: Result<Option<Arc<UserRow>>, Refusal>| {
            then(row.and_then(|row| row.ok_or(Refusal::NoSession)).and_then(|row| {
                ticket.opens(&row)?;
                identified(&limits, live, &row, ticket.profile.guest, now)
            }));
        };
        let look = move |checked: Result<(), Refusal>| {
            if let Err(refusal) = checked {
                return found(Err(refusal));
            }
            if let Some(row) = this.users.recent().user_by_sub(site, &sub) {
                return found(Ok(Some(row)));
            }
            let done: Done<Option<UserRow>> =
                Box::new(move |row| found(row.map(|row| row.map(Arc::new)).map_err(unavailable)));
            this.store.user(site, sub, done);
        };
        match once {
            None => look(Ok(())),
            Some(jti) => self.tokens.use_token(site, &jti, expires, now, look),
        }
    }

    /// A user without a token, checked like one with a token.
    pub(crate) fn file_owner(
        self: &Arc<Self>,
        owner: UserId,
        now: Timestamp,
        then: impl FnOnce(Result<Identified, Refusal>) + Send + 'static,
    ) {
        let Some(live) = self.sites.by_id(owner.site) else { return then(Err(Refusal::NoSuchSite)) };
        let limits = self.requests.clone();
        let found = move |row: Result<Option<Arc<UserRow>>, Refusal>| {
            then(
                row.and_then(|row| row.ok_or(Refusal::NoSession))
                    .and_then(|row| identified(&limits, live, &row, row.profile.guest, now)),
            );
        };
        if let Some(row) = self.users.recent().user(owner) {
            return found(Ok(Some(row)));
        }
        let done: Done<Vec<UserRow>> = Box::new(move |rows| {
            found(rows.map(|rows| rows.into_iter().next().map(Arc::new)).map_err(unavailable));
        });
        self.store.users_by_id(vec![owner], done);
    }
}

/// Checks whether the user may come in, and counts the request.
fn identified(
    limits: &RequestLimits,
    live: Arc<LiveSite>,
    row: &UserRow,
    guest: bool,
    now: Timestamp,
) -> Result<Identified, Refusal> {
    if row.banned {
        return Err(Refusal::Banned);
    }
    limits.count_request(RequestKind::Files, row.id, guest, now)?;
    let role = row.on_site.role;
    if live.site.settings.access == Access::Closed && role < SiteRole::Moderator {
        return Err(Refusal::SiteClosed);
    }
    // Answers go nowhere: no session has this handle.
    let session = SessionId { user: row.id, handle: SessionHandle(u64::MAX) };
    let asker = Asker {
        session,
        sub: row.profile.sub.clone(),
        guest,
        role,
        level: row.on_site.level,
        recent: false,
        shadowed: row.on_site.shadowed,
        visibility: Visibility { privacy: row.privacy, chosen: row.presence },
        site: live,
    };
    Ok(Identified { asker, is_muted: row.on_site.muted })
}
