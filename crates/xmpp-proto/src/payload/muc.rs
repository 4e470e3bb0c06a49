//! Multi-user chat (XEP-0045): rooms.

mod admin;
mod join;
mod owner;
mod user;

pub use admin::{AdminItem, AdminRequest, Change, write_admin_items};
pub use join::{History, Join};
pub use owner::{Destroy, OwnerRequest, ROOM_CONFIG, write_configuration};
pub use user::{Invite, Item, Mediated, Status, write_user};

/// §5.2: a lasting relation of a user to a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affiliation {
    Owner,
    Admin,
    Member,
    None,
    Outcast,
}

impl Affiliation {
    pub fn name(self) -> &'static str {
        match self {
            Affiliation::Owner => "owner",
            Affiliation::Admin => "admin",
            Affiliation::Member => "member",
            Affiliation::None => "none",
            Affiliation::Outcast => "outcast",
        }
    }

    pub fn of(name: &str) -> Option<Affiliation> {
        [Affiliation::Owner, Affiliation::Admin, Affiliation::Member, Affiliation::None, Affiliation::Outcast]
            .into_iter()
            .find(|affiliation| affiliation.name() == name)
    }
}

/// §5.1: what an occupant may do in this visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Moderator,
    Participant,
    Visitor,
    /// Not in the room.
    None,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::Moderator => "moderator",
            Role::Participant => "participant",
            Role::Visitor => "visitor",
            Role::None => "none",
        }
    }

    pub fn of(name: &str) -> Option<Role> {
        [Role::Moderator, Role::Participant, Role::Visitor, Role::None]
            .into_iter()
            .find(|role| role.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        for name in ["owner", "admin", "member", "none", "outcast"] {
            assert_eq!(Affiliation::of(name).map(Affiliation::name), Some(name));
        }
        for name in ["moderator", "participant", "visitor", "none"] {
            assert_eq!(Role::of(name).map(Role::name), Some(name));
        }
        assert_eq!((Affiliation::of("moderator"), Role::of("owner")), (None, None));
    }
}
