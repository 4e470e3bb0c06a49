//! The standing on the site of a connected user.

use crate::{Level, SiteRole, SiteStanding};

/// [`SiteStanding`] of a connected user in one byte, because a million of them are kept. `noticed` is left
/// out: the notice was sent at the sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StandingHere(u8);

impl StandingHere {
    /// `recent`: new enough at the sign-in that raid mode applies.
    pub(crate) fn new(standing: SiteStanding, recent: bool) -> StandingHere {
        let SiteStanding { role, muted, noticed: _, shadowed, level, fixed } = standing;
        let flags = [(muted, 16), (shadowed, 32), (fixed, 64), (recent, 128)];
        let flags = flags.into_iter().map(|(is_set, bit)| if is_set { bit } else { 0 }).sum::<u8>();
        StandingHere(role as u8 + ((level as u8) << 2) + flags)
    }

    pub(crate) fn get(self) -> SiteStanding {
        let has = |bit: u8| self.0 & bit != 0;
        SiteStanding {
            role: match self.0 & 3 {
                0 => SiteRole::Member,
                1 => SiteRole::Moderator,
                _ => SiteRole::Admin,
            },
            level: match self.0 >> 2 & 3 {
                0 => Level::New,
                1 => Level::Basic,
                _ => Level::Trusted,
            },
            muted: has(16),
            noticed: false,
            shadowed: has(32),
            fixed: has(64),
        }
    }

    pub(crate) fn is_recent(self) -> bool {
        self.0 & 128 != 0
    }

    /// Applies the stored state.
    pub(crate) fn set(&mut self, stored: SiteStanding) {
        *self = StandingHere::new(stored.for_who_was(self.get()), self.is_recent());
    }
}
