//! The author of a REST request, by a token.

use std::net::IpAddr;
use std::sync::Arc;

use crate::session::Completion;
use crate::sign_in::SignIn;
use crate::sign_in::log::SignInAttempt;
use crate::site::token::{self, Bearer};
use crate::store::unavailable;
use crate::{Caller, Door, Refusal, RequestKind, Respond, SiteId, SiteRole, Timestamp, UserRow};

impl SignIn {
    /// The author of a request with this token: the site itself (role `service`), or an admin. Of an admin's
    /// token only the `sub` counts. The user must have signed in before, not be banned, and be an admin by
    /// the stored role. `address`: the client's, for the log of refused tokens.
    pub(crate) fn caller(
        self: &Arc<Self>,
        site_key: &str,
        token: &str,
        address: Option<IpAddr>,
        now: Timestamp,
        respond: Respond<Caller>,
    ) {
        let shown = SignInAttempt { door: Door::Rest, site: None, user: None, address };
        let (site, sub) = match self.bearer(site_key, token, now) {
            Ok((site, Bearer::Service)) => return respond(Ok(Caller::Site(site))),
            Ok((site, Bearer::Admin(sub))) => (site, sub),
            Err(refusal) => {
                let known = self.sites.by_key(site_key);
                let site = known.as_ref().map(|live| &*live.site.key);
                self.records.record_refused(SignInAttempt { site, ..shown }, refusal, now);
                return respond(Err(refusal));
            }
        };
        let user = sub.clone();
        let found = self.then::<Option<UserRow>>(move |this, row| {
            let caller = row.map_err(unavailable).and_then(|row| match row {
                Some(row) if row.banned => Err(Refusal::Banned),
                Some(row) if row.on_site.role == SiteRole::Admin => Ok(Caller::User(row.id, row.profile.sub)),
                Some(_) | None => Err(Refusal::NotAllowed),
            });
            if let Err(refusal) = caller {
                this.records.record_refused_at(
                    site,
                    SignInAttempt { user: Some(user.as_str()), ..shown },
                    refusal,
                    now,
                );
            }
            respond(caller);
        });
        self.store.user(site, sub, found);
    }

    fn bearer(&self, site_key: &str, token: &str, now: Timestamp) -> Result<(SiteId, Bearer), Refusal> {
        let live = self.sites.by_key(site_key).ok_or(Refusal::NoSuchSite)?;
        let skew = self.config.clock_skew_ms;
        let bearer = token::verify_caller(token, site_key, &live.verifiers, now, skew)?;
        let taken = self.requests.of_site(RequestKind::Rest, live.site.id, now);
        taken.inspect_err(|_| self.counters.requests_refused.add(1))?;
        Ok((live.site.id, bearer))
    }
}
