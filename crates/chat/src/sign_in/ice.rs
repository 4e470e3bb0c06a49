//! STUN and TURN servers for the user of a token.

use std::net::IpAddr;
use std::sync::Arc;

use crate::calls::CredentialFor;
use crate::session::Completion;
use crate::sign_in::SignIn;
use crate::sign_in::log::SignInAttempt;
use crate::store::unavailable;
use crate::{Door, Ice, Refusal, RequestKind, Timestamp, UserRow};

impl SignIn {
    /// Servers for the user of a token: for the user's current call, otherwise for a check. `then` may be
    /// called on a thread of the store.
    pub(crate) fn ice(
        self: &Arc<Self>,
        site_key: &str,
        token: &str,
        address: Option<IpAddr>,
        now: Timestamp,
        then: impl FnOnce(Result<Ice, Refusal>) + Send + 'static,
    ) {
        let shown = SignInAttempt { door: Door::Ice, site: None, user: None, address };
        let Some(site) = self.sites.by_key(site_key) else {
            self.records.record_refused(shown, Refusal::NoSuchSite, now);
            return then(Err(Refusal::NoSuchSite));
        };
        let ticket = match self.tokens.check_token(&site, token, now) {
            Ok(ticket) => ticket,
            Err(refusal) => {
                self.records.record_refused(
                    SignInAttempt { site: Some(&site.site.key), ..shown },
                    refusal,
                    now,
                );
                return then(Err(refusal));
            }
        };
        let sub = ticket.profile.sub.clone();
        let done = self.then::<Option<UserRow>>(move |this, row| {
            then(match row {
                Ok(Some(row)) if row.banned => Err(Refusal::Banned),
                Ok(Some(row)) => ticket.opens(&row).and_then(|()| {
                    this.requests.count_request(RequestKind::Ice, row.id, ticket.profile.guest, now).map(
                        |()| {
                            let call = this.calls.call_of(row.id);
                            let what_for = call.map_or(CredentialFor::Check, CredentialFor::Call);
                            this.config.calls.ice(row.id, what_for, now)
                        },
                    )
                }),
                Ok(None) => Err(Refusal::NoSuchUser),
                Err(error) => Err(unavailable(error)),
            });
        });
        self.store.user(site.site.id, sub, done);
    }
}
