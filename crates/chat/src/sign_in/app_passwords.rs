//! The checks of app passwords by gateways, before they sign a user in.

use std::net::IpAddr;

use crate::account::app_passwords::{
    AppCredentials, AppDeviceOf, AppToken, AppTokenFor, AppTokens, are_allowed,
};
use crate::sign_in::log::SignInAttempt;
use crate::sign_in::{Arrival, SignIn};
use crate::{Door, Refusal, SiteId, Sub, Timestamp, UserId};

impl SignIn {
    /// The keys to check a password of the user with this id.
    pub(crate) fn app_credentials(
        &self,
        site: SiteId,
        sub: Sub,
        then: impl FnOnce(Result<AppCredentials, Refusal>) + Send + 'static,
    ) {
        match self.has_app_passwords(site) {
            Ok(()) => self.account.app_credentials(site, sub, then),
            Err(refusal) => then(Err(refusal)),
        }
    }

    /// The tokens of a device of an app.
    pub(crate) fn app_tokens(
        &self,
        of: AppDeviceOf,
        then: impl FnOnce(Result<Option<AppTokens>, Refusal>) + Send + 'static,
    ) {
        match self.has_app_passwords(of.site) {
            Ok(()) => self.account.app_tokens(of, then),
            Err(refusal) => then(Err(refusal)),
        }
    }

    pub(crate) fn renew_app_token(
        &self,
        of: AppDeviceOf,
        why: AppTokenFor,
        now: Timestamp,
        then: impl FnOnce(Option<AppToken>) + Send + 'static,
    ) {
        self.account.renew_app_token(of, why, now, then);
    }

    /// The user of a token.
    pub(crate) fn token_user(&self, site_key: &str, token: &str, now: Timestamp) -> Result<Sub, Refusal> {
        let live = self.sites.by_key(site_key).ok_or(Refusal::NoSuchSite)?;
        Ok(self.tokens.check_token(&live, token, now)?.profile.sub)
    }

    fn has_app_passwords(&self, site: SiteId) -> Result<(), Refusal> {
        let live = self.sites.by_id(site).ok_or(Refusal::NoSuchSite)?;
        are_allowed(&live.site.settings)
    }

    pub(crate) fn password_may_be_tried(
        &self,
        site: SiteId,
        sub: &Sub,
        address: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        self.guesses.may_try(site, sub, address, now)
    }

    /// Counts and records a wrong password. The record does not name the user: the client has proved nothing.
    pub(crate) fn password_failed(&self, site: SiteId, sub: &Sub, address: Option<IpAddr>, now: Timestamp) {
        self.guesses.failed(site, sub, address, now);
        let shown = SignInAttempt { door: Door::AppPassword, site: None, user: None, address };
        self.records.record_refused_at(site, shown, Refusal::BadToken, now);
    }

    /// Ends the sessions of app passwords that the operator has revoked by another process.
    pub(crate) fn end_app_passwords(&self, of: Vec<(UserId, u32)>) {
        let now = self.sessions.last_tick();
        for (user, number) in of {
            self.account.end_app_password(user, number, Refusal::SignedOut, now);
        }
    }

    /// Whether the site has disabled app passwords since this sign-in began.
    pub(super) fn app_password_is_over(&self, arrival: &Arrival) -> bool {
        arrival.pass.app_password().is_some() && self.has_app_passwords(arrival.site.site.id).is_err()
    }
}
