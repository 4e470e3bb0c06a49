//! Multi-User Chat (XEP-0045), as rooms of the domain.
//!
//! A room is a conversation, and its address has the conversation's number. Who may enter, write and moderate is decided by
//! the domain; occupancy is the domain's, too (`chat::rooms`). Here is the part of a client: the rooms in which its session
//! is, and what it knows of them.

mod admin;
mod archive;
mod arrival;
mod changes;
mod configuration;
mod creation;
mod discovery;
pub(crate) mod hats;
pub(crate) mod invitations;
mod message;
pub(crate) mod moderation;
mod nicks;
mod occupants;

use std::sync::Arc;

use chat::{ConversationId, Message, Role, Sub};
use serde::{Deserialize, Serialize};
use xmpp_proto::payload::muc::{Affiliation, Role as MucRole};

use crate::extensions::{Extension, Spec};

pub(crate) use creation::{KnownRoom, address_of};
pub(crate) use discovery::{room_info, service_info, service_items};
pub(crate) use message::Reflection;
pub(crate) use nicks::{Nicks, resource};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(45),
    name: "Multi-User Chat",
    version: "1.35.1",
    scenario: "muc",
    server_features: &[],
    account_features: &[],
    iq: &[admin::HANDLER, configuration::HANDLER],
};

/// Occupants have an id that stays the same under every nickname.
pub(crate) const OCCUPANT_IDS: Extension = Extension {
    spec: Spec::Xep(421),
    name: "Occupant identifiers for semi-anonymous MUCs",
    version: "1.0.1",
    scenario: "muc",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// A client asks by a ping of its own occupant whether it is still in the room.
pub(crate) const SELF_PING: Extension = Extension {
    spec: Spec::Xep(410),
    name: "MUC Self-Ping (Schrödinger's Chat)",
    version: "1.1.0",
    scenario: "muc",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// The name of the service of rooms, below the domain of the site.
pub(crate) const SERVICE: &str = "rooms";
/// Messages that arrive before the room is shown to the client. With more, the client is out of the room.
const MOST_HELD: usize = 256;

/// A room that a session has entered, or is about to enter.
pub(crate) struct Visit {
    pub(crate) room: ConversationId,
    /// The own nickname, in the form of an address.
    nick: Box<str>,
    /// The subject that the client knows.
    topic: Option<Arc<str>>,
    /// The number of the last change of a nickname, which presences tell.
    nicknames: u64,
    /// The client has created the room, and not configured it yet.
    is_locked: bool,
    /// Some: the room is not shown to the client yet.
    arrival: Option<Box<Arrival>>,
}

/// What a client that enters waits for.
struct Arrival {
    /// The client was not in the room before. On a refusal it is out again.
    is_new: bool,
    /// The stream was resumed: the client knows the room, and gets no history.
    is_resumed: bool,
    /// The nickname was refused, and the client enters without one.
    has_given_up_nick: bool,
    most_history: u32,
    history: xmpp_proto::payload::muc::History,
    past: Vec<Arc<Message>>,
    /// Messages that came meanwhile.
    held: Vec<Arc<Message>>,
}

/// A room of a stream without a connection, or of one that moves to another process.
#[derive(Serialize, Deserialize)]
pub(crate) struct Left {
    pub(crate) room: ConversationId,
    pub(crate) nick: Box<str>,
    pub(crate) topic: Option<Arc<str>>,
}

impl Visit {
    pub(crate) fn is_shown(&self) -> bool {
        self.arrival.is_none()
    }

    pub(crate) fn has_nick(&self, nick: &str) -> bool {
        *self.nick == *nick
    }

    /// For a stream that goes on later. None: the client never saw the room.
    pub(crate) fn left(&self) -> Option<Left> {
        let Visit { room, nick, topic, nicknames: _, is_locked: _, arrival } = self;
        let is_known = arrival.as_ref().is_none_or(|arrival| !arrival.is_new);
        is_known.then(|| Left { room: *room, nick: nick.clone(), topic: topic.clone() })
    }

    /// The client is in the room, and the domain does not know it yet.
    pub(crate) fn again(Left { room, nick, topic }: Left) -> Visit {
        Visit { room, nick, topic, nicknames: 0, is_locked: false, arrival: None }
    }
}

/// The address of a room whose address has its number.
pub(crate) fn address(room: ConversationId, domain: &str) -> String {
    format!("{}@{SERVICE}.{domain}", room.room_number().unwrap_or_default())
}

/// XEP-0421 §3: the rooms are not anonymous, so the id need not hide the user.
fn occupant_id(sub: &Sub) -> String {
    sub.digest().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// XEP-0045 §5: the lasting relation, and the rights in this visit.
fn affiliation_and_role(role: Role) -> (Affiliation, MucRole) {
    match role {
        Role::Owner => (Affiliation::Owner, MucRole::Moderator),
        Role::Moderator => (Affiliation::Admin, MucRole::Moderator),
        Role::Member => (Affiliation::Member, MucRole::Participant),
        Role::Muted => (Affiliation::Member, MucRole::Visitor),
    }
}
