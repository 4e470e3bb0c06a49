//! Who keeps order on a whole site: roles, and a table of who may do what to whom.

use serde::{Deserialize, Serialize};

use crate::Refusal;

/// What a user may do on the site, beside being a member of it; the greater may do more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteRole {
    #[default]
    Member,
    /// Looks after reports, and keeps order among members.
    Moderator,
    /// The same among moderators, and changes the site's settings.
    Admin,
}

impl SiteRole {
    pub fn parse(text: &str) -> Option<SiteRole> {
        [SiteRole::Member, SiteRole::Moderator, SiteRole::Admin].into_iter().find(|role| role.word() == text)
    }

    pub fn word(self) -> &'static str {
        match self {
            SiteRole::Member => "member",
            SiteRole::Moderator => "moderator",
            SiteRole::Admin => "admin",
        }
    }
}

/// What of a user decides on the whole site, beside a ban. Read with the user's row, and kept while they are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SiteStanding {
    pub role: SiteRole,
    /// May read, and not write.
    pub muted: bool,
    /// There is a sanction or a warning to be told at the next sign-in.
    pub noticed: bool,
}

/// What is done on a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SiteAct {
    /// Reports, and what was done about them.
    Look,
    /// Take a message away.
    Tidy,
    /// Warn, mute, send away, ban, or take that back.
    Sanction,
    SetRole(SiteRole),
    /// The site's settings.
    Configure,
}

/// The table: may one with this role do this to a user with that role?
pub fn may_on_site(who: SiteRole, act: SiteAct, of: SiteRole) -> Result<(), Refusal> {
    let allowed = match act {
        SiteAct::Look | SiteAct::Tidy => who >= SiteRole::Moderator,
        SiteAct::Sanction => who >= SiteRole::Moderator && of < who,
        SiteAct::SetRole(to) => who == SiteRole::Admin && of < SiteRole::Admin && to < SiteRole::Admin,
        SiteAct::Configure => who == SiteRole::Admin,
    };
    if allowed { Ok(()) } else { Err(Refusal::NotAllowed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SiteRole::{Admin, Member, Moderator};

    #[test]
    fn who_may_do_what_to_whom() {
        let table = [
            // by a member, a moderator, an admin; each to a member, a moderator, an admin
            (SiteAct::Look, ["---", "yyy", "yyy"]),
            (SiteAct::Tidy, ["---", "yyy", "yyy"]),
            (SiteAct::Sanction, ["---", "y--", "yy-"]),
            (SiteAct::SetRole(Member), ["---", "---", "yy-"]),
            (SiteAct::SetRole(Moderator), ["---", "---", "yy-"]),
            (SiteAct::SetRole(Admin), ["---", "---", "---"]),
            (SiteAct::Configure, ["---", "---", "yyy"]),
        ];
        for (act, rows) in table {
            for (who, row) in [Member, Moderator, Admin].into_iter().zip(rows) {
                let of = |of| if may_on_site(who, act, of).is_ok() { 'y' } else { '-' };
                let said: String = [Member, Moderator, Admin].into_iter().map(of).collect();
                assert_eq!(said, row, "{act:?} by {who:?}");
            }
        }
    }

    #[test]
    fn roles_have_words() {
        for role in [Member, Moderator, Admin] {
            assert_eq!(SiteRole::parse(role.word()), Some(role));
        }
        assert_eq!(SiteRole::parse("owner"), None);
    }
}
