//! Moderation of a whole site: roles, and a table of rights.

use serde::{Deserialize, Serialize};

use crate::{Level, Refusal, Timestamp, UserId};

/// Role of a user on the site; a greater role has more rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteRole {
    #[default]
    Member,
    /// Handles reports, and moderates members.
    Moderator,
    /// Also moderates moderators, and changes the site's settings.
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

/// The role that a token claims for its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoleClaim {
    pub role: SiteRole,
    /// The time of signing (`iat`), if the token has it.
    pub made: Option<Timestamp>,
}

impl RoleClaim {
    /// Whether the claim sets the role of a user whose role was last set by hand, or who was erased, at
    /// `decided`. A token from before, or without a time of signing, does not undo the decision. Tokens count
    /// in whole seconds: one of the same second counts as older.
    pub fn holds(self, decided: Option<Timestamp>) -> bool {
        decided.is_none_or(|decided| self.made.is_some_and(|made| made >= decided))
    }
}

/// The fields of a user that decide on the whole site, besides a ban. Read with the user's row, and kept
/// while the user is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SiteStanding {
    pub role: SiteRole,
    /// The user may read, but not write.
    pub muted: bool,
    /// The user gets notices at the next sign-in: a sanction, a warning, or a held message.
    pub noticed: bool,
    /// Shadow ban: others do not see what the user writes, and the user gets no notice.
    pub shadowed: bool,
    pub level: Level,
    /// A moderator has set the level.
    pub fixed: bool,
}

impl SiteStanding {
    /// Whether a newly reached level applies. A level set by a moderator stays, and no level falls.
    pub fn rises_to(self, level: Level) -> bool {
        !self.fixed && self.level < level
    }

    /// The stored state for a connected user: a level that the user has reached meanwhile stays.
    pub(crate) fn for_who_was(self, before: SiteStanding) -> SiteStanding {
        let keeps = !self.fixed && !before.fixed;
        SiteStanding { level: if keeps { self.level.max(before.level) } else { self.level }, ..self }
    }
}

/// The author of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    User(UserId),
    /// The site's own server, or the operator of the node. Both have all rights.
    Site,
}

impl By {
    pub fn user(self) -> Option<UserId> {
        match self {
            By::User(id) => Some(id),
            By::Site => None,
        }
    }
}

/// An act on a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SiteAct {
    /// Reads reports and their handling.
    Look,
    /// Deletes a message.
    Tidy,
    /// Warns, mutes, kicks or bans, or lifts a sanction.
    Sanction,
    SetRole(SiteRole),
    /// Starts or ends raid mode.
    Guard,
    /// Changes the site's settings.
    Configure,
    /// Erases another user.
    Erase,
}

/// The table: whether a user of one role may do this to a user of the other.
pub fn may_on_site(who: SiteRole, act: SiteAct, of: SiteRole) -> Result<(), Refusal> {
    let allowed = match act {
        SiteAct::Look | SiteAct::Tidy | SiteAct::Guard => who >= SiteRole::Moderator,
        SiteAct::Sanction => who >= SiteRole::Moderator && of < who,
        SiteAct::SetRole(to) => who == SiteRole::Admin && of < SiteRole::Admin && to < SiteRole::Admin,
        SiteAct::Configure => who == SiteRole::Admin,
        SiteAct::Erase => who == SiteRole::Admin && of < SiteRole::Admin,
    };
    if allowed { Ok(()) } else { Err(Refusal::NotAllowed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::StandingHere;
    use SiteRole::{Admin, Member, Moderator};

    #[test]
    fn the_table_of_rights() {
        let table = [
            // by a member, a moderator, an admin; each to a member, a moderator, an admin
            (SiteAct::Look, ["---", "yyy", "yyy"]),
            (SiteAct::Tidy, ["---", "yyy", "yyy"]),
            (SiteAct::Sanction, ["---", "y--", "yy-"]),
            (SiteAct::SetRole(Member), ["---", "---", "yy-"]),
            (SiteAct::SetRole(Moderator), ["---", "---", "yy-"]),
            (SiteAct::SetRole(Admin), ["---", "---", "---"]),
            (SiteAct::Guard, ["---", "yyy", "yyy"]),
            (SiteAct::Configure, ["---", "---", "yyy"]),
            (SiteAct::Erase, ["---", "---", "yy-"]),
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
    fn a_standing_fits_in_a_byte() {
        for role in [Member, Moderator, Admin] {
            for level in Level::ALL {
                for flags in 0u8..16 {
                    let has = |bit| flags & bit != 0;
                    let standing = SiteStanding {
                        role,
                        level,
                        muted: has(1),
                        noticed: false,
                        shadowed: has(2),
                        fixed: has(4),
                    };
                    let here = StandingHere::new(standing, has(8));
                    assert_eq!((here.get(), here.is_recent()), (standing, has(8)));
                }
            }
        }
        let mut here =
            StandingHere::new(SiteStanding { level: Level::Basic, ..SiteStanding::default() }, true);
        here.set(SiteStanding { muted: true, ..SiteStanding::default() });
        assert_eq!((here.get().level, here.get().muted, here.is_recent()), (Level::Basic, true, true));
        here.set(SiteStanding { fixed: true, ..SiteStanding::default() });
        assert_eq!(here.get().level, Level::New, "a moderator has the last word");
    }

    #[test]
    fn a_token_does_not_undo_a_later_decision() {
        let claim = |made: Option<u64>| RoleClaim { role: Admin, made: made.map(Timestamp) };
        let decided = Some(Timestamp(5_500));
        assert!(claim(None).holds(None) && claim(Some(1)).holds(None));
        assert!(!claim(None).holds(decided) && !claim(Some(5_000)).holds(decided));
        assert!(claim(Some(6_000)).holds(decided));
    }

    #[test]
    fn roles_have_words() {
        for role in [Member, Moderator, Admin] {
            assert_eq!(SiteRole::parse(role.word()), Some(role));
        }
        assert_eq!(SiteRole::parse("owner"), None);
    }
}
