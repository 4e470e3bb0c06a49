//! App passwords: with one of them, an app that shows no page of the site signs in as the member. Gateways use them; the web
//! has tokens.
//!
//! Members make them, give each a name, and revoke them one by one. The store has keys that check a password, never the
//! password. A moderator or an admin has no access to the passwords of others; the operator of the server does.

mod credentials;
mod manage;
mod password;
mod scram;
mod store;
mod tokens;

pub use credentials::{AppCredentials, AppPasswordKeys};
pub use manage::AppPasswordShown;
pub use password::{AppPassword, CHOSEN_CHARS, NotChosen};
pub use scram::{ITERATIONS, SALT_BYTES, ScramKeys, ScramPair};
pub use store::{AppPasswordStore, AppTokenStore, NewAppPassword, StoredCredentials, StoredKeys};
pub use tokens::{
    APP_TOKEN_MS, APP_TOKEN_REPLACED_AFTER_MS, AppDevice, AppDeviceOf, AppToken, AppTokenFor, AppTokenSecret,
    AppTokenUse, AppTokens, MOST_APP_TOKENS,
};

use serde::{Deserialize, Serialize};

use crate::site::settings::Settings;
use crate::site::token::is_misleading;
use crate::{By, Refusal, Timestamp, UserId, UserRow};

/// App passwords of one user, at most.
pub const MOST_APP_PASSWORDS: usize = 16;
/// Longest name of an app password.
pub const APP_PASSWORD_NAME_BYTES: usize = 64;
/// The time of the last use is stored at most so often.
const NOTED_EVERY_MS: u64 = 3_600_000;

/// An app password, as it is stored, without its keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppPasswordRow {
    /// Unique on the site, and never used again.
    pub number: u32,
    pub name: Box<str>,
    pub created: Timestamp,
    /// The last sign-in, up to an hour old; None: never used.
    pub used: Option<Timestamp>,
}

/// An app password in the list of its user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownAppPassword {
    pub row: AppPasswordRow,
    /// An app that has signed in with it is connected to this node.
    pub here: bool,
}

/// The name without spaces around it. None if it is empty, too long, or has misleading characters.
pub fn app_password_name(name: &str) -> Option<Box<str>> {
    let name = name.trim();
    let fits = (1..=APP_PASSWORD_NAME_BYTES).contains(&name.len());
    (fits && !name.chars().any(is_misleading)).then(|| name.into())
}

/// Whether `by` may make or revoke app passwords of this user: the user and the operator may.
pub fn may_manage_app_passwords(by: By, user: UserId) -> Result<(), Refusal> {
    match by {
        By::Site => Ok(()),
        By::User(other) if other == user => Ok(()),
        By::User(_) => Err(Refusal::NotAllowed),
    }
}

/// Whether the user may have one more app password, besides `count`. Guests have no account; an erased user is banned.
pub fn may_add_app_password(row: &UserRow, count: usize) -> Result<(), Refusal> {
    if row.profile.guest {
        return Err(Refusal::NotAllowed);
    }
    if row.banned {
        return Err(Refusal::Banned);
    }
    if count >= MOST_APP_PASSWORDS {
        return Err(Refusal::TooManyAppPasswords);
    }
    Ok(())
}

/// Whether a use at `now` is stored.
pub fn notes_app_password_use(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now.since(last) >= NOTED_EVERY_MS)
}

/// Whether the site has app passwords now.
pub(crate) fn are_allowed(settings: &Settings) -> Result<(), Refusal> {
    if settings.xmpp.enabled { Ok(()) } else { Err(Refusal::NotAllowed) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;
    use crate::SiteId;

    #[test]
    fn names_are_short_and_shown_as_typed() {
        assert_eq!(
            app_password_name("  Conversations on my phone ").as_deref(),
            Some("Conversations on my phone")
        );
        assert!(app_password_name(&"x".repeat(64)).is_some());
        for bad in ["", "  ", "a\nb", "a\u{202e}b", &"x".repeat(65), &"ü".repeat(33)] {
            assert_eq!(app_password_name(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_the_user_and_the_operator_manage_passwords() {
        let user = |num| UserId { site: SiteId(1), num };
        assert_eq!(may_manage_app_passwords(By::User(user(1)), user(1)), Ok(()));
        assert_eq!(may_manage_app_passwords(By::Site, user(1)), Ok(()));
        assert_eq!(may_manage_app_passwords(By::User(user(2)), user(1)), Err(Refusal::NotAllowed));
    }

    #[test]
    fn a_use_is_stored_once_an_hour() {
        let at = |ms: u64| Timestamp(1_000_000_000 + ms);
        assert!(notes_app_password_use(None, at(0)));
        assert!(!notes_app_password_use(Some(at(0)), at(3_599_999)));
        assert!(notes_app_password_use(Some(at(0)), at(3_600_000)));
        assert!(!notes_app_password_use(Some(at(3_600_000)), at(0)), "the clock was set back");
    }
}
