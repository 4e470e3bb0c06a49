//! Events about rooms, their members and their invitation links.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Invitation, LeftReason, Occupant, OccupantChange, Room, RoomLink};
use crate::event::{Answers, Policy};
use crate::privacy::Signal;
use crate::{Conversation, ConversationId, Member, Person, Sub};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// A room of this member has changed.
    Room {
        conversation: ConversationId,
        room: Arc<Room>,
    },
    /// The current number of members, and in a small room the users who joined. It is not stored.
    MemberCount {
        conversation: ConversationId,
        members: u32,
        joined: Arc<[Person]>,
    },
    /// The user is no longer a member of a room.
    Left {
        conversation: ConversationId,
        reason: LeftReason,
    },
    Member(Box<Member>),
    Members {
        members: Vec<Member>,
        next: Option<String>,
    },
    /// A new invitation link.
    Link {
        conversation: ConversationId,
        link: Box<RoomLink>,
    },
    /// The valid invitation links, newest first.
    Links {
        conversation: ConversationId,
        links: Vec<RoomLink>,
    },
    Invitation(Box<Invitation>),
    /// This session is in the room now.
    Entered {
        conversation: Box<Conversation>,
        me: Box<Occupant>,
        /// The others whom one sees, in no order.
        occupants: Vec<Occupant>,
    },
    /// An occupant of a room in which this session is has come, changed or gone.
    Occupant {
        conversation: ConversationId,
        occupant: Box<Occupant>,
        change: OccupantChange,
    },
    Occupants {
        conversation: ConversationId,
        occupants: Vec<Occupant>,
    },
    Names {
        conversation: ConversationId,
        names: Vec<(Sub, Arc<str>)>,
    },
    Rooms {
        rooms: Vec<(ConversationId, Room)>,
        next: Option<String>,
    },
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Room { .. } => Policy::STORED,
            Event::Left { .. } => Policy { answers: Answers::RequestOrNone, ..Policy::STORED },
            Event::MemberCount { .. } | Event::Occupant { .. } => Policy::LIVE,
            Event::Member(_)
            | Event::Entered { .. }
            | Event::Occupants { .. }
            | Event::Names { .. }
            | Event::Members { .. }
            | Event::Link { .. }
            | Event::Links { .. }
            | Event::Invitation(_)
            | Event::Rooms { .. } => Policy::ANSWER,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Member(member) => member.person.signal(),
            Event::Members { members, .. } => match members.iter().any(|one| one.markers.is_some()) {
                true => Some(Signal::RoomMarker),
                false => members.iter().find_map(|one| one.person.signal()),
            },
            Event::Room { .. }
            // The people in these events have no presence.
            | Event::MemberCount { .. }
            | Event::Left { .. }
            | Event::Link { .. }
            | Event::Links { .. }
            | Event::Invitation(_)
            | Event::Rooms { .. }
            // Occupants have entered the room or written in it; those who hide are left out.
            | Event::Entered { .. }
            | Event::Occupant { .. }
            | Event::Occupants { .. }
            | Event::Names { .. } => None,
        }
    }
}
