//! The effects of acts on memberships: pure functions over stored rows. The store calls them in the
//! transaction of the act.

use crate::rooms::{Act, LeftReason, MemberAction, Role, Room, RoomKind, RoomLimits, Standing};
use crate::{Refusal, SanctionKind, Timestamp};

/// The stored state of a user in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberState {
    In(Role),
    Out(LeftReason),
}

impl MemberState {
    pub fn is_in(self) -> bool {
        matches!(self, MemberState::In(_))
    }

    pub fn standing(self) -> Standing {
        match self {
            MemberState::In(role) => Standing::In(role),
            MemberState::Out(LeftReason::Banned) => Standing::Banned,
            MemberState::Out(LeftReason::Left | LeftReason::Removed | LeftReason::Closed) => Standing::Out,
        }
    }

    /// Whether the user's markers and settings start anew: a user who joins has read all earlier messages.
    pub fn begins_anew(before: Option<MemberState>, after: MemberState) -> bool {
        after.is_in() && !before.is_some_and(MemberState::is_in)
    }
}

impl MemberAction {
    /// The act that must be allowed for this action on a user with this standing.
    pub fn act(self, of: Standing) -> Act {
        match self {
            MemberAction::Invite => Act::Invite(of),
            MemberAction::Remove => Act::Remove(of),
            MemberAction::Ban => Act::Ban(of),
            MemberAction::Unban => Act::Unban(of),
            MemberAction::SetRole(to) => Act::SetRole { of, to },
        }
    }

    /// The user's state after the action; None: unchanged. `enters_as`: the [role of a user who
    /// joins](role_of_new).
    pub fn state_after(self, of: Standing, enters_as: Role) -> Option<MemberState> {
        match (self, of) {
            (MemberAction::Invite, Standing::Out) => Some(MemberState::In(enters_as)),
            (MemberAction::Remove, Standing::In(_)) => Some(MemberState::Out(LeftReason::Removed)),
            (MemberAction::Ban, Standing::In(_) | Standing::Out) => {
                Some(MemberState::Out(LeftReason::Banned))
            }
            (MemberAction::Unban, Standing::Banned) => Some(MemberState::Out(LeftReason::Removed)),
            (MemberAction::SetRole(to), Standing::In(role)) if role != to => Some(MemberState::In(to)),
            _ => None,
        }
    }

    /// Whether the action withdraws the user's pending invitations.
    pub fn withdraws_requests(self) -> bool {
        matches!(self, MemberAction::Remove | MemberAction::Ban)
    }
}

/// The role of a user who joins. A mute outlasts leaving.
pub fn role_of_new(muted_until: Option<Timestamp>, now: Timestamp) -> Role {
    if muted_until.is_some_and(|until| until > now) { Role::Muted } else { Role::Member }
}

/// The current standing of a user in a room. `until`: end of the [sanction behind](sanction_behind) the
/// stored standing. An expired sanction has no effect, even before it was lifted.
pub fn standing_now(stored: Standing, until: Option<Timestamp>, now: Timestamp) -> Standing {
    match stored {
        _ if until.is_none_or(|until| until > now) => stored,
        Standing::In(Role::Muted) => Standing::In(Role::Member),
        Standing::Banned => Standing::Out,
        Standing::In(_) | Standing::Out => stored,
    }
}

/// The kind of sanction that can cause this standing.
pub fn sanction_behind(standing: Standing) -> Option<SanctionKind> {
    match standing {
        Standing::In(Role::Muted) => Some(SanctionKind::Mute),
        Standing::Banned => Some(SanctionKind::Ban),
        Standing::In(Role::Owner | Role::Moderator | Role::Member) | Standing::Out => None,
    }
}

/// The user's state when a sanction in the room begins; None: unchanged. Moderators of a room are not muted
/// there.
pub fn state_under(kind: SanctionKind, before: Option<MemberState>) -> Option<MemberState> {
    let banned = MemberState::Out(LeftReason::Banned);
    match (kind, before) {
        (SanctionKind::Mute, Some(MemberState::In(Role::Member))) => Some(MemberState::In(Role::Muted)),
        (SanctionKind::Ban, before) if before != Some(banned) => Some(banned),
        _ => None,
    }
}

/// The user's state when a sanction in the room is lifted; None: unchanged.
pub fn state_without(kind: SanctionKind, before: Option<MemberState>) -> Option<MemberState> {
    match (kind, before) {
        (SanctionKind::Mute, Some(MemberState::In(Role::Muted))) => Some(MemberState::In(Role::Member)),
        (SanctionKind::Ban, Some(MemberState::Out(LeftReason::Banned))) => {
            Some(MemberState::Out(LeftReason::Removed))
        }
        _ => None,
    }
}

/// Whether an owner may leave a room with this number of owners and members. The last owner may leave only as
/// the last member.
pub fn owner_may_leave(owners: u32, members: u32) -> Result<(), Refusal> {
    if owners <= 1 && members > 1 { Err(Refusal::LastOwner) } else { Ok(()) }
}

/// Whether an owner may get another role, if the room has this number of owners.
pub fn owner_may_step_down(owners: u32) -> Result<(), Refusal> {
    if owners <= 1 { Err(Refusal::LastOwner) } else { Ok(()) }
}

/// Whether a member who has blocked another user leaves a room: only a private room with that user as its
/// only owner.
pub fn leaves_by_block(mine: MemberState, theirs: MemberState, kind: RoomKind, owners: u32) -> bool {
    let is_theirs = theirs == MemberState::In(Role::Owner) && owners <= 1;
    kind == RoomKind::Private && is_theirs && mine.is_in() && mine != MemberState::In(Role::Owner)
}

/// The standing for writing in a room: writing in a page's room joins it.
pub fn standing_to_write(who: Standing, room: &Room) -> Standing {
    match who {
        Standing::Out if room.page.is_some() => Standing::In(Role::Member),
        who => who,
    }
}

impl RoomLimits {
    /// Whether the room takes one more member.
    pub fn has_place_in(self, room: &Room) -> Result<(), Refusal> {
        let most = self.members_of(room);
        if most > 0 && room.members >= most { Err(Refusal::RoomFull) } else { Ok(()) }
    }

    /// Whether a member of this number of rooms may join another.
    pub fn has_place_for(self, rooms: u32) -> Result<(), Refusal> {
        let is_full = self.per_user > 0 && rooms >= self.per_user;
        if is_full { Err(Refusal::TooManyRooms) } else { Ok(()) }
    }

    /// Whether an owner of this number of rooms may create another.
    pub fn may_own_more(self, owned: u32) -> Result<(), Refusal> {
        let is_full = self.owned > 0 && owned >= self.owned;
        if is_full { Err(Refusal::TooManyRooms) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rooms::NewRoom;

    const REMOVED: MemberState = MemberState::Out(LeftReason::Removed);
    const BANNED: MemberState = MemberState::Out(LeftReason::Banned);
    const LEFT: MemberState = MemberState::Out(LeftReason::Left);
    const OWNER: MemberState = MemberState::In(Role::Owner);
    const MEMBER: MemberState = MemberState::In(Role::Member);
    const MUTED: MemberState = MemberState::In(Role::Muted);

    fn room(members: u32, max_members: u32) -> Room {
        let new = NewRoom { name: "Bikes".into(), kind: RoomKind::Public, topic: None, alias: None };
        Room { members, max_members, ..new.room() }
    }

    #[test]
    fn each_action_changes_some_states() {
        let after = |action: MemberAction| {
            [Standing::In(Role::Owner), Standing::In(Role::Muted), Standing::Out, Standing::Banned]
                .map(|of| action.state_after(of, Role::Muted))
        };
        assert_eq!(after(MemberAction::Invite), [None, None, Some(MUTED), None], "the mute is kept");
        assert_eq!(after(MemberAction::Remove), [Some(REMOVED), Some(REMOVED), None, None]);
        assert_eq!(after(MemberAction::Ban), [Some(BANNED), Some(BANNED), Some(BANNED), None]);
        assert_eq!(after(MemberAction::Unban), [None, None, None, Some(REMOVED)]);
        assert_eq!(after(MemberAction::SetRole(Role::Muted)), [Some(MUTED), None, None, None]);
    }

    #[test]
    fn sanctions_begin_and_are_lifted() {
        let under =
            |kind| [None, Some(OWNER), Some(MEMBER), Some(MUTED), Some(BANNED)].map(|s| state_under(kind, s));
        assert_eq!(under(SanctionKind::Mute), [None, None, Some(MUTED), None, None]);
        assert_eq!(under(SanctionKind::Ban), [Some(BANNED), Some(BANNED), Some(BANNED), Some(BANNED), None]);
        assert_eq!(under(SanctionKind::Shadow), [None; 5]);
        let without = |kind| {
            [None, Some(MEMBER), Some(MUTED), Some(BANNED), Some(LEFT)].map(|s| state_without(kind, s))
        };
        assert_eq!(without(SanctionKind::Mute), [None, None, Some(MEMBER), None, None]);
        assert_eq!(without(SanctionKind::Ban), [None, None, None, Some(REMOVED), None]);
        assert_eq!(without(SanctionKind::Warning), [None; 5]);
    }

    #[test]
    fn expired_sanctions_have_no_effect() {
        let now = Timestamp(10);
        let muted = Standing::In(Role::Muted);
        assert_eq!(standing_now(muted, None, now), muted, "it has no end");
        assert_eq!(standing_now(muted, Some(Timestamp(11)), now), muted);
        assert_eq!(standing_now(muted, Some(now), now), Standing::In(Role::Member));
        assert_eq!(standing_now(Standing::Banned, Some(now), now), Standing::Out);
        assert_eq!(standing_now(Standing::In(Role::Owner), Some(now), now), Standing::In(Role::Owner));
        assert_eq!(role_of_new(Some(Timestamp(11)), now), Role::Muted);
        assert_eq!([role_of_new(Some(now), now), role_of_new(None, now)], [Role::Member; 2]);
    }

    #[test]
    fn a_room_with_members_keeps_an_owner() {
        assert_eq!(owner_may_leave(1, 2), Err(Refusal::LastOwner));
        assert_eq!([owner_may_leave(2, 2), owner_may_leave(1, 1)], [Ok(()); 2]);
        assert_eq!([owner_may_step_down(1), owner_may_step_down(2)], [Err(Refusal::LastOwner), Ok(())]);
    }

    #[test]
    fn a_block_ends_a_membership_in_the_others_own_room() {
        let leaves = |mine, theirs, kind, owners| leaves_by_block(mine, theirs, kind, owners);
        assert!(leaves(MEMBER, OWNER, RoomKind::Private, 1) && leaves(MUTED, OWNER, RoomKind::Private, 1));
        assert!(!leaves(MEMBER, OWNER, RoomKind::Private, 2), "another owner is there");
        assert!(!leaves(MEMBER, OWNER, RoomKind::Public, 1) && !leaves(MEMBER, MEMBER, RoomKind::Private, 1));
        assert!(!leaves(OWNER, OWNER, RoomKind::Private, 1) && !leaves(LEFT, OWNER, RoomKind::Private, 1));
    }

    #[test]
    fn joining_resets_markers_and_leaving_keeps_them() {
        assert!(MemberState::begins_anew(None, MEMBER) && MemberState::begins_anew(Some(LEFT), MUTED));
        assert!(
            !MemberState::begins_anew(Some(MEMBER), OWNER) && !MemberState::begins_anew(Some(MEMBER), LEFT)
        );
        assert!(!MemberState::begins_anew(None, BANNED));
    }

    #[test]
    fn rooms_and_memberships_are_limited() {
        let limits = RoomLimits { members: 3, per_user: 2, owned: 1 };
        assert_eq!(
            [limits.has_place_in(&room(2, 0)), limits.has_place_in(&room(3, 0))],
            [Ok(()), Err(Refusal::RoomFull)]
        );
        assert_eq!(limits.has_place_in(&room(2, 2)), Err(Refusal::RoomFull), "its own limit is lower");
        assert_eq!([limits.has_place_for(1), limits.has_place_for(2)], [Ok(()), Err(Refusal::TooManyRooms)]);
        assert_eq!([limits.may_own_more(0), limits.may_own_more(1)], [Ok(()), Err(Refusal::TooManyRooms)]);
        let none = RoomLimits { members: 0, per_user: 0, owned: 0 };
        let most = u32::MAX;
        assert_eq!(
            [none.has_place_in(&room(most, 0)), none.has_place_for(most), none.may_own_more(most)],
            [Ok(()); 3]
        );
    }

    #[test]
    fn writing_in_a_pages_room_joins_it() {
        let page = Room { page: Some("/a".into()), ..room(0, 0) };
        assert_eq!(standing_to_write(Standing::Out, &page), Standing::In(Role::Member));
        assert_eq!(standing_to_write(Standing::Out, &room(0, 0)), Standing::Out);
        assert_eq!(standing_to_write(Standing::Banned, &page), Standing::Banned);
    }
}
