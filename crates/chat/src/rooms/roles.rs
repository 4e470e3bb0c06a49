//! The rights of users in rooms: one table of pure functions, for every gateway and every store.

use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::rooms::RoomKind;

/// Role of a member in a room; a greater role has more rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    Muted,
    Member,
    Moderator,
    Owner,
}

impl Role {
    /// Whether the role may moderate the room: moderators and owners.
    pub fn moderates(self) -> bool {
        self >= Role::Moderator
    }
}

/// The standing of a user in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Standing {
    In(Role),
    Out,
    /// No member, and may not return.
    Banned,
}

/// An act in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// Reads the room's messages and its data.
    Read,
    Join,
    /// Joining by a valid invitation link.
    JoinByLink,
    Leave,
    /// Lists the members.
    List,
    Post,
    React,
    /// `@room`: mentions everybody.
    CallAll,
    /// Removes one's own message or reaction.
    TakeBack,
    /// Removes a message of another user, or reads its earlier bodies.
    Tidy,
    Invite(Standing),
    Remove(Standing),
    Ban(Standing),
    Unban(Standing),
    SetRole {
        of: Standing,
        to: Role,
    },
    /// Changes topic, slow mode, freeze or size; removes the picture.
    Configure,
    /// Changes the name, the picture or the kind.
    Rename,
    /// Closes the room for good.
    Close,
}

impl Act {
    /// Whether moderators of the site may do this in rooms, too, members or not. Such acts are recorded if
    /// they concern another user.
    pub fn is_moderation(self) -> bool {
        matches!(
            self,
            Act::List
                | Act::Tidy
                | Act::Remove(_)
                | Act::Ban(_)
                | Act::Unban(_)
                | Act::SetRole { .. }
                | Act::Configure
        )
    }
}

/// The properties of a room that decide about an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rules {
    pub kind: RoomKind,
    pub frozen: bool,
    /// Milliseconds until this user may send the next message in slow mode.
    pub wait_ms: u32,
}

/// [`may`] for moderators of the site: in rooms that are not private they have the rights of a room's
/// moderators.
pub fn may_as_site_moderator(act: Act, room: Rules) -> Result<(), Refusal> {
    match room.kind {
        RoomKind::Private => Err(Refusal::NoSuchConversation),
        _ if act.is_moderation() => member_may(Role::Moderator, act, room),
        _ => Err(Refusal::NotAMember),
    }
}

/// Whether moderators of the site may read and delete a message. In private rooms and direct conversations,
/// only a reported message or one near it. `room`: None for a direct conversation.
pub fn may_moderate_message(room: Option<RoomKind>, is_reported: bool) -> Result<(), Refusal> {
    match room {
        Some(RoomKind::Public | RoomKind::Announcement) => Ok(()),
        Some(RoomKind::Private) | None if is_reported => Ok(()),
        Some(RoomKind::Private) | None => Err(Refusal::NoSuchConversation),
    }
}

/// The table. For users who are neither members nor invited, a private room does not exist.
pub fn may(who: Standing, act: Act, room: Rules) -> Result<(), Refusal> {
    match who {
        Standing::In(role) => member_may(role, act, room),
        Standing::Banned => Err(Refusal::RoomBanned),
        Standing::Out if act == Act::JoinByLink => Ok(()),
        Standing::Out if room.kind == RoomKind::Private => Err(Refusal::NoSuchConversation),
        Standing::Out => match act {
            Act::Read | Act::Join => Ok(()),
            _ => Err(Refusal::NotAMember),
        },
    }
}

fn member_may(role: Role, act: Act, room: Rules) -> Result<(), Refusal> {
    let moderates = role.moderates();
    let allowed = match act {
        Act::Read | Act::Join | Act::JoinByLink | Act::Leave | Act::List | Act::TakeBack => true,
        Act::Post | Act::React => return member_may_write(role, act, room),
        Act::CallAll | Act::Tidy | Act::Configure => moderates,
        // A banned user needs an `unban` before an invitation. So a moderator cannot undo another's ban by
        // mistake.
        Act::Invite(Standing::Banned) => return Err(Refusal::RoomBanned),
        Act::Invite(_) => moderates || role == Role::Member && room.kind == RoomKind::Public,
        Act::Remove(of) | Act::Ban(of) => moderates && ranks_below(of, role),
        Act::Unban(_) => moderates,
        Act::SetRole { of: Standing::In(of), to } => match role {
            Role::Owner => true,
            Role::Moderator => of <= Role::Member && to <= Role::Member,
            Role::Member | Role::Muted => false,
        },
        Act::SetRole { .. } => return Err(Refusal::NoSuchUser),
        Act::Rename | Act::Close => role == Role::Owner,
    };
    if allowed { Ok(()) } else { Err(Refusal::NotAllowed) }
}

fn member_may_write(role: Role, act: Act, room: Rules) -> Result<(), Refusal> {
    match role {
        Role::Owner | Role::Moderator => Ok(()),
        Role::Muted => Err(Refusal::Muted),
        Role::Member if act == Act::Post && room.kind == RoomKind::Announcement => Err(Refusal::ReadOnly),
        Role::Member if room.frozen => Err(Refusal::Frozen),
        Role::Member if act == Act::Post && room.wait_ms > 0 => {
            Err(Refusal::SlowMode { retry_after_ms: room.wait_ms })
        }
        Role::Member => Ok(()),
    }
}

/// Owners cannot be removed; they step down or leave.
fn ranks_below(of: Standing, role: Role) -> bool {
    match of {
        Standing::In(of) => of < role && of < Role::Owner,
        Standing::Out | Standing::Banned => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Standing; 6] = [
        Standing::In(Role::Owner),
        Standing::In(Role::Moderator),
        Standing::In(Role::Member),
        Standing::In(Role::Muted),
        Standing::Out,
        Standing::Banned,
    ];

    const OPEN: Rules = Rules { kind: RoomKind::Public, frozen: false, wait_ms: 0 };
    const HIDDEN: Rules = Rules { kind: RoomKind::Private, ..OPEN };
    const NEWS: Rules = Rules { kind: RoomKind::Announcement, ..OPEN };
    const FROZEN: Rules = Rules { frozen: true, ..OPEN };
    const SLOW: Rules = Rules { wait_ms: 7, ..OPEN };

    /// `yes`, or the word of the refusal.
    fn word(who: Standing, act: Act, room: Rules) -> &'static str {
        may(who, act, room).map_or_else(Refusal::word, |()| "yes")
    }

    fn check(act: Act, room: Rules, row: &str) {
        let words: Vec<&str> = COLUMNS.iter().map(|who| word(*who, act, room)).collect();
        assert_eq!(words.join(" "), row.split_whitespace().collect::<Vec<_>>().join(" "), "{act:?} {room:?}");
    }

    #[test]
    fn rights_to_read_and_write() {
        let no = "room_banned";
        //                           owner moderator member muted out banned
        for act in [Act::Read, Act::Join] {
            for room in [OPEN, NEWS, FROZEN, SLOW] {
                check(act, room, &format!("yes yes yes yes yes {no}"));
            }
            check(act, HIDDEN, &format!("yes yes yes yes no_such_conversation {no}"));
        }
        for room in [OPEN, HIDDEN, NEWS, FROZEN, SLOW] {
            check(Act::JoinByLink, room, &format!("yes yes yes yes yes {no}"));
        }
        for act in [Act::Leave, Act::List, Act::TakeBack] {
            for room in [OPEN, NEWS, FROZEN, SLOW] {
                check(act, room, &format!("yes yes yes yes not_a_member {no}"));
            }
            check(act, HIDDEN, &format!("yes yes yes yes no_such_conversation {no}"));
        }
        for act in [Act::Post, Act::React] {
            check(act, OPEN, &format!("yes yes yes muted not_a_member {no}"));
            check(act, HIDDEN, &format!("yes yes yes muted no_such_conversation {no}"));
            check(act, FROZEN, &format!("yes yes frozen muted not_a_member {no}"));
        }
        check(Act::Post, NEWS, &format!("yes yes read_only muted not_a_member {no}"));
        check(Act::React, NEWS, &format!("yes yes yes muted not_a_member {no}"));
        check(Act::Post, SLOW, &format!("yes yes slow_mode muted not_a_member {no}"));
        check(Act::React, SLOW, &format!("yes yes yes muted not_a_member {no}"));
    }

    #[test]
    fn site_moderators_read_open_rooms_and_reported_messages() {
        let rooms = [Some(RoomKind::Public), Some(RoomKind::Announcement), Some(RoomKind::Private), None];
        let unseen = Err(Refusal::NoSuchConversation);
        assert_eq!(rooms.map(|room| may_moderate_message(room, false)), [Ok(()), Ok(()), unseen, unseen]);
        assert_eq!(rooms.map(|room| may_moderate_message(room, true)), [Ok(()); 4]);
    }

    #[test]
    fn site_moderators_moderate_rooms_that_are_not_private() {
        let tidy = [Act::Tidy, Act::List, Act::Configure, Act::Ban(Standing::In(Role::Member))];
        for act in tidy {
            for room in [OPEN, NEWS, FROZEN, SLOW] {
                assert_eq!(may_as_site_moderator(act, room), Ok(()), "{act:?} {room:?}");
            }
            assert_eq!(may_as_site_moderator(act, HIDDEN), Err(Refusal::NoSuchConversation), "{act:?}");
        }
        let owner = Standing::In(Role::Owner);
        for act in [Act::Ban(owner), Act::SetRole { of: owner, to: Role::Muted }] {
            assert_eq!(may_as_site_moderator(act, OPEN), Err(Refusal::NotAllowed), "{act:?}");
        }
        for act in [Act::Post, Act::Rename, Act::CallAll] {
            assert_eq!(may_as_site_moderator(act, OPEN), Err(Refusal::NotAMember), "{act:?}");
        }
    }

    #[test]
    fn rights_to_moderate() {
        for room in [OPEN, NEWS, FROZEN, SLOW] {
            for act in [Act::CallAll, Act::Tidy, Act::Configure, Act::Unban(Standing::Banned)] {
                check(act, room, "yes yes not_allowed not_allowed not_a_member room_banned");
            }
            check(Act::Rename, room, "yes not_allowed not_allowed not_allowed not_a_member room_banned");
        }
        for act in [Act::CallAll, Act::Tidy, Act::Configure, Act::Unban(Standing::Banned)] {
            check(act, HIDDEN, "yes yes not_allowed not_allowed no_such_conversation room_banned");
        }
        check(
            Act::Rename,
            HIDDEN,
            "yes not_allowed not_allowed not_allowed no_such_conversation room_banned",
        );
        let invite = Act::Invite(Standing::Out);
        check(invite, OPEN, "yes yes yes not_allowed not_a_member room_banned");
        check(invite, NEWS, "yes yes not_allowed not_allowed not_a_member room_banned");
        check(invite, HIDDEN, "yes yes not_allowed not_allowed no_such_conversation room_banned");
        let back = Act::Invite(Standing::Banned);
        check(back, OPEN, "room_banned room_banned room_banned room_banned not_a_member room_banned");
    }

    #[test]
    fn rights_to_remove_members() {
        for act in [Act::Remove as fn(Standing) -> Act, Act::Ban] {
            for (of, owner, moderator) in [
                (Standing::In(Role::Owner), "not_allowed", "not_allowed"),
                (Standing::In(Role::Moderator), "yes", "not_allowed"),
                (Standing::In(Role::Member), "yes", "yes"),
                (Standing::In(Role::Muted), "yes", "yes"),
                (Standing::Out, "yes", "yes"),
                (Standing::Banned, "yes", "yes"),
            ] {
                let row = format!("{owner} {moderator} not_allowed not_allowed not_a_member room_banned");
                check(act(of), OPEN, &row);
            }
        }
    }

    #[test]
    fn rights_to_give_roles() {
        let roles = [Role::Owner, Role::Moderator, Role::Member, Role::Muted];
        for of in roles {
            for to in roles {
                let low = of <= Role::Member && to <= Role::Member;
                let moderator = if low { "yes" } else { "not_allowed" };
                let row = format!("yes {moderator} not_allowed not_allowed not_a_member room_banned");
                check(Act::SetRole { of: Standing::In(of), to }, OPEN, &row);
            }
        }
        for of in [Standing::Out, Standing::Banned] {
            let act = Act::SetRole { of, to: Role::Member };
            check(act, OPEN, "no_such_user no_such_user no_such_user no_such_user not_a_member room_banned");
        }
    }
}
