//! The slice of the port to storage for app passwords. The promises of [`Store`](crate::Store) hold here too.

use std::fmt;
use std::num::NonZeroU32;

use crate::account::app_passwords::{
    AppDeviceOf, AppPasswordRow, AppToken, AppTokenSecret, AppTokens, ScramKeys,
};
use crate::{By, Done, Refusal, SiteId, StoreError, Sub, Timestamp, UserId};

/// A slice of [`Store`](crate::Store).
pub trait AppPasswordStore: Send + Sync + 'static {
    /// The keys of the user with this id. The answer takes as long for an id of no user.
    fn app_credentials(&self, site: SiteId, user: Sub, done: Done<StoredCredentials>);
    /// The site's secret for the salts. `fresh` becomes it if the site has none.
    fn salt_key(&self, site: SiteId, fresh: [u8; 32], done: Done<[u8; 32]>);
    /// The user's passwords, newest first.
    fn app_passwords(&self, user: UserId, done: Done<Vec<AppPasswordRow>>);
    /// Stores a password, with the checks of [`may_manage_app_passwords`](crate::may_manage_app_passwords) and
    /// [`may_add_app_password`](crate::may_add_app_password). The record gets an act of the operator.
    ///
    /// [`Refusal::NoSuchUser`]: the user does not exist.
    fn add_app_password(
        &self,
        user: UserId,
        new: NewAppPassword,
        by: By,
        done: Done<Result<AppPasswordRow, Refusal>>,
    );
    /// Replaces the keys of a password, which gets a new number, and answers with that. Its tokens end, and its last use stays.
    ///
    /// [`Refusal::SignedOut`]: the user has no password of this number.
    fn change_app_password(
        &self,
        user: UserId,
        number: u32,
        keys: StoredKeys,
        now: Timestamp,
        done: Done<Result<u32, Refusal>>,
    );
    /// Removes a password; false if the user has none of this number. An act of the operator is recorded, and other processes
    /// find the password in [`ended_app_passwords`](Self::ended_app_passwords).
    fn revoke_app_password(
        &self,
        user: UserId,
        number: u32,
        by: By,
        now: Timestamp,
        done: Done<Result<bool, Refusal>>,
    );
    /// Those of these passwords that do not exist.
    fn missing_app_passwords(&self, of: Vec<(UserId, u32)>, done: Done<Vec<(UserId, u32)>>);
    /// Passwords that the operator has revoked within a day. May block.
    fn ended_app_passwords(&self) -> Result<Vec<(UserId, u32)>, StoreError>;
}

/// A slice of [`Store`](crate::Store). The tokens of a password end with it.
pub trait AppTokenStore: Send + Sync + 'static {
    /// The tokens of a device. The answer takes as long for an id of no user.
    fn app_tokens(&self, of: AppDeviceOf, done: Done<Option<AppTokens>>);
    /// Stores tokens in place of those that the device has. False if the app password does not exist. Removes expired tokens of the
    /// user, and those beyond [`MOST_APP_TOKENS`](crate::MOST_APP_TOKENS) devices.
    fn put_app_tokens(&self, of: AppDeviceOf, tokens: AppTokens, now: Timestamp, done: Done<bool>);
    /// Stores what follows from a use, see [`AppTokens::after_use`], and answers with the token for the app.
    fn use_app_token(
        &self,
        of: AppDeviceOf,
        used: AppTokenSecret,
        fresh: AppToken,
        now: Timestamp,
        done: Done<Option<AppToken>>,
    );
    /// Removes the tokens of a device.
    fn remove_app_tokens(&self, of: AppDeviceOf, done: Done<()>);
}

/// An app password to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAppPassword {
    /// Checked by [`app_password_name`](crate::app_password_name).
    pub name: Box<str>,
    pub keys: StoredKeys,
    pub time: Timestamp,
}

/// The stored keys of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredKeys {
    pub iterations: NonZeroU32,
    pub scram: ScramKeys,
    /// SHA-256 of salt and password; only of random passwords.
    pub verifier: Option<[u8; 32]>,
}

/// The stored credentials of an id.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct StoredCredentials {
    /// None: no user of the site has had a password yet.
    pub salt_key: Option<[u8; 32]>,
    /// By number.
    pub passwords: Vec<(u32, StoredKeys)>,
}

impl fmt::Debug for StoredKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoredKeys(…)")
    }
}

impl fmt::Debug for StoredCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<u32> = self.passwords.iter().map(|(number, _)| *number).collect();
        f.debug_struct("StoredCredentials").field("passwords", &numbers).finish_non_exhaustive()
    }
}
