//! The sanctions of erased users. They apply to the next user of the same id, so that an erasure does not
//! lift a ban.

use crate::rooms::{LeftReason, MemberState, Role};
use crate::{ConversationId, SanctionKind, Timestamp};

/// A sanction of an erased user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasedSanction {
    /// None: the whole site.
    pub room: Option<ConversationId>,
    pub kind: SanctionKind,
    pub until: Timestamp,
}

impl ErasedSanction {
    pub fn is_over(self, now: Timestamp) -> bool {
        self.until <= now
    }
}

/// The sanctions to keep of a user. Includes bans and mutes that only a membership or the user's row stores;
/// these have no end.
pub fn sanctions_after_erasure(
    stored: Vec<ErasedSanction>,
    memberships: &[(ConversationId, MemberState)],
    is_banned: bool,
    now: Timestamp,
) -> Vec<ErasedSanction> {
    let mut kept: Vec<_> = stored.into_iter().filter(|sanction| !sanction.is_over(now)).collect();
    let in_rooms = memberships.iter().filter_map(|(room, state)| {
        let kind = match state {
            MemberState::In(Role::Muted) => SanctionKind::Mute,
            MemberState::Out(LeftReason::Banned) => SanctionKind::Ban,
            MemberState::In(_) | MemberState::Out(_) => return None,
        };
        Some((Some(*room), kind))
    });
    let on_site = is_banned.then_some((None, SanctionKind::Ban));
    for (room, kind) in in_rooms.chain(on_site) {
        if !kept.iter().any(|known| (known.room, known.kind) == (room, kind)) {
            kept.push(ErasedSanction { room, kind, until: Timestamp::MAX });
        }
    }
    kept.retain(|sanction| sanction.kind.outlives_erasure());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    #[test]
    fn current_sanctions_are_kept_and_expired_ones_are_dropped() {
        let room = |key| ConversationId::room(SiteId(1), key);
        let sanction = |room, kind, until| ErasedSanction { room, kind, until: Timestamp(until) };
        let stored = vec![
            sanction(None, SanctionKind::Warning, 99),
            sanction(None, SanctionKind::Mute, 10),
            sanction(Some(room(1)), SanctionKind::Mute, 50),
            sanction(Some(room(2)), SanctionKind::Ban, 5),
        ];
        let memberships = [
            (room(1), MemberState::In(Role::Muted)),
            (room(2), MemberState::Out(LeftReason::Banned)),
            (room(3), MemberState::In(Role::Owner)),
            (room(4), MemberState::Out(LeftReason::Left)),
        ];
        let kept = sanctions_after_erasure(stored, &memberships, true, Timestamp(10));
        let none = Timestamp::MAX.0;
        assert_eq!(
            kept,
            [
                sanction(Some(room(1)), SanctionKind::Mute, 50),
                sanction(Some(room(2)), SanctionKind::Ban, none),
                sanction(None, SanctionKind::Ban, none),
            ]
        );
        assert_eq!(sanctions_after_erasure(Vec::new(), &[], false, Timestamp(0)), []);
    }
}
