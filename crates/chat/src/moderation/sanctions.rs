//! The standing of a user under their sanctions: pure functions over stored rows.

use crate::{SanctionKind, SiteAct, SiteStanding, UserId};

use super::{ModeratorAct, Sanction};

/// The fields of a stored sanction that affect its user's standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldSanction {
    pub kind: SanctionKind,
    /// False: the sanction is for the whole site.
    pub in_room: bool,
    pub notified: bool,
}

impl HeldSanction {
    /// Whether the user receives it as a notice at the next sign-in. Bans from the site are reported when the
    /// sign-in is refused.
    fn is_notice(self) -> bool {
        let is_news = match self.kind {
            SanctionKind::Warning | SanctionKind::Mute => true,
            SanctionKind::Ban => self.in_room,
            SanctionKind::Shadow => false,
        };
        self.notified && is_news
    }
}

/// The standing of a user under these sanctions. `has_held`: messages of the user are held, or were refused.
pub fn standing_under(before: SiteStanding, sanctions: &[HeldSanction], has_held: bool) -> SiteStanding {
    let on_site = |kind| sanctions.iter().any(|one| one.kind == kind && !one.in_room);
    SiteStanding {
        muted: on_site(SanctionKind::Mute),
        noticed: has_held || sanctions.iter().any(|one| one.is_notice()),
        shadowed: on_site(SanctionKind::Shadow),
        ..before
    }
}

impl ModeratorAct {
    /// The right that the act requires, and the user it concerns.
    pub fn right(&self) -> (SiteAct, Option<UserId>) {
        match self {
            ModeratorAct::Sanction(Sanction { user, .. })
            | ModeratorAct::Lift { user, .. }
            | ModeratorAct::Kick(user)
            | ModeratorAct::RemovePicture(user)
            | ModeratorAct::SetLevel(user, _)
            | ModeratorAct::BanDevices { user, .. } => (SiteAct::Sanction, Some(*user)),
            ModeratorAct::SetRole(user, role) => (SiteAct::SetRole(*role), Some(*user)),
            ModeratorAct::DeleteMessage(..) => (SiteAct::Tidy, None),
            ModeratorAct::TakeReport(_)
            | ModeratorAct::CloseReport(..)
            | ModeratorAct::ReopenReport(_)
            | ModeratorAct::Approved(_)
            | ModeratorAct::RefuseHeld(..) => (SiteAct::Look, None),
            ModeratorAct::Configure(_) | ModeratorAct::StickerAdded(_) | ModeratorAct::StickerRemoved(_) => {
                (SiteAct::Configure, None)
            }
            ModeratorAct::Raid(_) => (SiteAct::Guard, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SiteId, SiteRole};

    fn held(kind: SanctionKind, in_room: bool, notified: bool) -> HeldSanction {
        HeldSanction { kind, in_room, notified }
    }

    #[test]
    fn only_site_sanctions_change_the_standing() {
        let before = SiteStanding { role: SiteRole::Moderator, muted: true, ..SiteStanding::default() };
        let under = |sanctions: &[HeldSanction]| {
            let after = standing_under(before, sanctions, false);
            assert_eq!(after.role, SiteRole::Moderator, "the role stays");
            (after.muted, after.noticed, after.shadowed)
        };
        assert_eq!(under(&[]), (false, false, false));
        assert_eq!(under(&[held(SanctionKind::Warning, false, true)]), (false, true, false));
        assert_eq!(under(&[held(SanctionKind::Mute, false, true)]), (true, true, false));
        assert_eq!(under(&[held(SanctionKind::Mute, true, true)]), (false, true, false));
        assert_eq!(under(&[held(SanctionKind::Mute, true, false)]), (false, false, false));
        assert_eq!(under(&[held(SanctionKind::Ban, false, true)]), (false, false, false));
        assert_eq!(under(&[held(SanctionKind::Ban, true, true)]), (false, true, false));
        assert_eq!(
            under(&[held(SanctionKind::Shadow, false, true)]),
            (false, false, true),
            "without a notice"
        );
        assert!(standing_under(before, &[], true).noticed);
    }

    #[test]
    fn each_act_requires_a_right() {
        let ann = UserId { site: SiteId(1), num: 1 };
        assert_eq!(ModeratorAct::Kick(ann).right(), (SiteAct::Sanction, Some(ann)));
        let admin = ModeratorAct::SetRole(ann, SiteRole::Admin);
        assert_eq!(admin.right(), (SiteAct::SetRole(SiteRole::Admin), Some(ann)));
        assert_eq!(ModeratorAct::TakeReport(1).right(), (SiteAct::Look, None));
        assert_eq!(ModeratorAct::StickerAdded(1).right(), (SiteAct::Configure, None));
    }
}
