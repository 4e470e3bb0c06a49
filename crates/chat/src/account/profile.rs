//! A member's profile: what others see of them besides name and picture, and the fields that members choose
//! themselves.

mod change;
mod look;
mod store;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use store::{ProfileStore, ProfileView};

use crate::privacy::{Audience, Privacy};
use crate::site::token;
use crate::{ContactState, Person, Refusal, SiteRole, Timestamp};

/// Longest status, in characters.
pub const STATUS_CHARS: usize = 140;
/// Longest name, in characters: the limit of names in tokens, too.
pub(crate) const NAME_CHARS: usize = 200;

/// The status of a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    pub text: Box<str>,
    /// None: the status has no end.
    pub until: Option<Timestamp>,
}

impl Status {
    /// The status at `now`; None once it has expired.
    pub fn at(self, now: Timestamp) -> Option<Status> {
        self.until.is_none_or(|until| now < until).then_some(self)
    }
}

/// A member, as the asker may see them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileCard {
    pub person: Person,
    pub status: Option<Status>,
    /// Only of members who are offline, and only if the asker may see it.
    pub last_seen: Option<Timestamp>,
    pub role: SiteRole,
    /// The asker's relation to the member.
    pub contact: ContactState,
    /// Only in the asker's own profile.
    pub own: Option<OwnCard>,
}

/// Fields that only the owner of the profile gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnCard {
    pub privacy: Privacy,
    /// The site lets members choose their names.
    pub may_rename: bool,
    /// The site lets members remove their accounts.
    pub may_remove: bool,
    /// The site lets members see their devices.
    pub devices: bool,
    /// Apps of members can sign in to the site on this node. Guests get it too, but cannot have app passwords.
    pub apps: bool,
}

/// A change of a profile. Fields that are None stay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProfileChange {
    /// `Some(None)` removes the status.
    #[serde(with = "crate::serialize::optional_change")]
    pub status: Option<Option<Status>>,
    pub name: Option<NameChange>,
    pub write: Option<Audience>,
    pub presence: Option<Audience>,
    pub last_seen: Option<Audience>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NameChange {
    Own(Arc<str>),
    /// The name of the site's token, from the next sign-in on.
    OfSite,
}

impl ProfileChange {
    /// The new settings: unset fields keep the values of `before`.
    pub fn privacy(&self, before: Privacy) -> Privacy {
        Privacy {
            write: self.write.unwrap_or(before.write),
            presence: self.presence.unwrap_or(before.presence),
            last_seen: self.last_seen.unwrap_or(before.last_seen),
        }
    }

    /// Trims texts, and refuses characters that cannot be shown.
    pub(crate) fn tidied(mut self, now: Timestamp) -> Result<ProfileChange, Refusal> {
        if let Some(Some(status)) = &mut self.status {
            let text = shown(&status.text, STATUS_CHARS)?;
            let is_over = status.until.is_some_and(|until| until <= now || until > Timestamp::MAX);
            if is_over {
                return Err(Refusal::BadValue);
            }
            status.text = text.into();
        }
        if self.status.as_ref().is_some_and(|status| status.as_ref().is_some_and(|one| one.text.is_empty())) {
            self.status = Some(None);
        }
        if let Some(NameChange::Own(name)) = &self.name {
            let name = shown(name, NAME_CHARS)?;
            self.name = Some(if name.is_empty() { NameChange::OfSite } else { NameChange::Own(name.into()) });
        }
        Ok(self)
    }
}

/// Names and statuses have no characters that mislead readers, as in a token.
fn shown(text: &str, chars: usize) -> Result<&str, Refusal> {
    let text = text.trim();
    let is_sound = text.chars().count() <= chars && !text.chars().any(token::is_misleading);
    if is_sound { Ok(text) } else { Err(Refusal::BadValue) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000);

    fn status(text: &str, until: Option<u64>) -> ProfileChange {
        let status = Status { text: text.into(), until: until.map(Timestamp) };
        ProfileChange { status: Some(Some(status)), ..ProfileChange::default() }
    }

    #[test]
    fn a_status_is_short_and_ends_in_the_future() {
        assert_eq!(status("  On holiday 🌴 ", None).tidied(NOW), Ok(status("On holiday 🌴", None)));
        assert_eq!(status(&"🌴".repeat(140), Some(1_001)).tidied(NOW).map(drop), Ok(()));
        for wrong in [
            status(&"x".repeat(141), None),
            status("a\nb", None),
            status("x", Some(1_000)),
            status("x", Some(u64::MAX)),
        ] {
            assert_eq!(wrong.tidied(NOW), Err(Refusal::BadValue));
        }
        assert_eq!(status(" ", None).tidied(NOW).map(|change| change.status), Ok(Some(None)));
    }

    #[test]
    fn a_status_ends() {
        let ends = Status { text: "x".into(), until: Some(Timestamp(5)) };
        assert_eq!(ends.clone().at(Timestamp(4)), Some(ends.clone()));
        assert_eq!(ends.at(Timestamp(5)), None);
    }

    #[test]
    fn an_empty_name_is_the_sites() {
        let change = |name: &str| ProfileChange {
            name: Some(NameChange::Own(name.into())),
            ..ProfileChange::default()
        };
        assert_eq!(change(" Ann ").tidied(NOW), Ok(change("Ann")));
        assert_eq!(change("  ").tidied(NOW).map(|change| change.name), Ok(Some(NameChange::OfSite)));
        assert_eq!(change("A\u{7}").tidied(NOW), Err(Refusal::BadValue));
        assert_eq!(change("nimda\u{202e}").tidied(NOW), Err(Refusal::BadValue));
        assert_eq!(change(&"x".repeat(201)).tidied(NOW), Err(Refusal::BadValue));
    }
}
