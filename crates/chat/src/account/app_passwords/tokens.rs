//! App tokens: an app that has signed in with an app password gets a token for its device, and proves that token next time. So an
//! app need not keep its password, and signs in in one round trip.
//!
//! A token belongs to its app password, and ends with it. A device has one token, and for some time two: a new token becomes the
//! only one when it is used, because the app may have lost the answer that contained it.

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::Rng as _;
use ring::digest;
use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::session::Completion;
use crate::store::unavailable;
use crate::{Refusal, SiteId, StoreError, Sub, Timestamp};

/// Devices of a user that have tokens. At the bound, the device whose token ends first loses it.
pub const MOST_APP_TOKENS: u32 = 32;
/// A token is valid for so long.
pub const APP_TOKEN_MS: u64 = 14 * 24 * 3_600_000;
/// A token of this age is replaced when it is used.
pub const APP_TOKEN_REPLACED_AFTER_MS: u64 = 24 * 3_600_000;

/// A secret of 32 random bytes. The proof of it is an HMAC with the secret as its key, so a hash in the store would serve a thief as
/// well as the secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppTokenSecret(pub [u8; 32]);

impl AppTokenSecret {
    /// The form that the app gets, and with which it computes its proof.
    pub fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

impl fmt::Debug for AppTokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AppTokenSecret(…)")
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppToken {
    pub secret: AppTokenSecret,
    pub expires: Timestamp,
}

impl AppToken {
    pub(crate) fn new(secret: [u8; 32], now: Timestamp) -> AppToken {
        AppToken { secret: AppTokenSecret(secret), expires: Timestamp(now.0.saturating_add(APP_TOKEN_MS)) }
    }
}

/// A device of an app: the digest of an id that the app has chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppDevice(pub [u8; 16]);

impl AppDevice {
    pub fn of(id: &str) -> AppDevice {
        let digest = digest::digest(&digest::SHA256, id.as_bytes());
        AppDevice(std::array::from_fn(|at| digest.as_ref()[at]))
    }
}

/// A device of the user with this id, who need not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppDeviceOf {
    pub site: SiteId,
    pub sub: Sub,
    pub device: AppDevice,
}

/// The tokens of a device, as they are stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppTokens {
    /// Of the app password.
    pub number: u32,
    /// The name of the mechanism that may prove the tokens: the gateway's.
    pub mechanism: Box<str>,
    pub current: AppToken,
    /// Given to the app, and not used yet.
    pub next: Option<AppToken>,
}

/// The outcome of the use of a token.
#[derive(Debug, PartialEq, Eq)]
pub struct AppTokenUse {
    pub tokens: AppTokens,
    /// For the app.
    pub given: Option<AppToken>,
}

impl AppTokens {
    /// Those that are valid, the newer one first.
    pub fn valid(&self, now: Timestamp) -> impl Iterator<Item = &AppToken> {
        self.next.iter().chain([&self.current]).filter(move |token| now < token.expires)
    }

    /// After the use of a token; `fresh` may become its successor. None: it is not one of these. For stores.
    pub fn after_use(self, used: &AppTokenSecret, fresh: AppToken, now: Timestamp) -> Option<AppTokenUse> {
        if let Some(next) = self.next.clone().filter(|next| next.secret == *used) {
            let tokens = AppTokens { current: next, next: None, ..self };
            return Some(AppTokenUse { tokens, given: None });
        }
        if self.current.secret != *used {
            return None;
        }
        let left = self.current.expires.since(now);
        let next = match &self.next {
            // The app has lost the answer that contained it.
            Some(next) if now < next.expires => Some(next.clone()),
            _ => (left <= APP_TOKEN_MS - APP_TOKEN_REPLACED_AFTER_MS).then_some(fresh),
        };
        Some(AppTokenUse { given: next.clone(), tokens: AppTokens { next, ..self } })
    }
}

/// Why an app gets a token, or none any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AppTokenFor {
    /// It has signed in with the password of this number, and asks for a token.
    Password { number: u32, mechanism: Box<str> },
    /// It has signed in with one of these tokens.
    Token { tokens: AppTokens, used: AppTokenSecret },
    /// It has signed in with a token for the last time.
    End,
}

impl Account {
    /// The tokens of a device; `then` is called once, perhaps on a thread of the store.
    pub(crate) fn app_tokens(
        self: &Arc<Self>,
        of: AppDeviceOf,
        then: impl FnOnce(Result<Option<AppTokens>, Refusal>) + Send + 'static,
    ) {
        self.store.app_tokens(of, self.then(move |_, found| then(found.map_err(unavailable))));
    }

    /// The token for an app that has signed in. None: it gets none, or keeps the one that it has. Without an answer of the store
    /// the app gets none, and can still sign in with its password.
    pub(crate) fn renew_app_token(
        self: &Arc<Self>,
        of: AppDeviceOf,
        why: AppTokenFor,
        now: Timestamp,
        then: impl FnOnce(Option<AppToken>) + Send + 'static,
    ) {
        let fresh = AppToken::new(self.rng.lock().random(), now);
        match why {
            AppTokenFor::Password { number, mechanism } => {
                let tokens = AppTokens { number, mechanism, current: fresh.clone(), next: None };
                let done = self.then(move |_, stored| then(stored.unwrap_or(false).then_some(fresh)));
                self.store.put_app_tokens(of, tokens, now, done);
            }
            AppTokenFor::Token { tokens, used } => {
                match tokens.clone().after_use(&used, fresh.clone(), now) {
                    // Most uses change nothing, and cost no write.
                    Some(after) if after.tokens == tokens => then(after.given),
                    _ => {
                        let done =
                            self.then(move |_, given: Result<_, StoreError>| then(given.ok().flatten()));
                        self.store.use_app_token(of, used, fresh, now, done);
                    }
                }
            }
            AppTokenFor::End => self.store.remove_app_tokens(of, self.then(move |_, _| then(None))),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_000_000);

    fn at(ms: u64) -> Timestamp {
        Timestamp(START.0 + ms)
    }

    fn token(byte: u8, made: u64) -> AppToken {
        AppToken::new([byte; 32], at(made))
    }

    fn tokens(next: Option<AppToken>) -> AppTokens {
        AppTokens { number: 7, mechanism: "M".into(), current: token(1, 0), next }
    }

    fn used(tokens: AppTokens, byte: u8, ms: u64) -> Option<AppTokenUse> {
        tokens.after_use(&AppTokenSecret([byte; 32]), token(9, ms), at(ms))
    }

    #[test]
    fn a_token_of_a_day_is_replaced_and_stays_valid_until_its_successor_is_used() {
        let day = APP_TOKEN_REPLACED_AFTER_MS;
        assert_eq!(used(tokens(None), 1, day - 1), Some(AppTokenUse { tokens: tokens(None), given: None }));
        let after = used(tokens(None), 1, day).unwrap();
        let next = Some(token(9, day));
        assert_eq!(after, AppTokenUse { tokens: tokens(next.clone()), given: next.clone() });

        let again = used(after.tokens, 1, day + 5).unwrap();
        assert_eq!(again.given, next, "the same one, because the first answer was lost");
        let confirmed = used(again.tokens, 9, day + 6).unwrap();
        let expected = AppTokens { current: token(9, day), ..tokens(None) };
        assert_eq!(confirmed, AppTokenUse { tokens: expected, given: None });
        assert_eq!(used(confirmed.tokens, 1, day + 7), None, "the old one is gone");
    }

    #[test]
    fn tokens_expire() {
        let both = tokens(Some(token(2, 10)));
        let valid = |ms| both.valid(at(ms)).map(|token| token.secret.0[0]).collect::<Vec<_>>();
        assert_eq!(valid(APP_TOKEN_MS - 1), [2, 1]);
        assert_eq!(valid(APP_TOKEN_MS), [2]);
        assert_eq!(valid(APP_TOKEN_MS + 10), [0; 0]);
    }

    #[test]
    fn secrets_are_not_printed() {
        assert!(!format!("{:?}", tokens(Some(token(2, 0)))).contains("[1"));
        assert_eq!(AppTokenSecret([0; 32]).text().len(), 43);
        assert_ne!(AppDevice::of("a"), AppDevice::of("b"));
    }
}
