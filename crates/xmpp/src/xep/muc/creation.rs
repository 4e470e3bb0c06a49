//! Rooms that apps create (XEP-0045 §10.1), and the names in their addresses.
//!
//! A client chooses the address of a new room, and this name becomes the domain's alias of the room. All other rooms have
//! their number. A stanza to a name waits until the name is looked up; the session remembers it then.

use chat::messages::Event as MessagesEvent;
use chat::rooms::{Command, Event as RoomsEvent};
use chat::{Alias, ConversationId, Delivery, Event, Nickname, Refusal, Room, RoomKind};
use serde::{Deserialize, Serialize};
use xmpp_proto::jid::Jid;
use xmpp_proto::payload::muc::{History, Join};
use xmpp_proto::stanza::{Condition, StanzaError, StanzaKind};
use xmpp_proto::xml::{Element, document};

use super::{Arrival, SERVICE, Visit};
use crate::address::Target;
use crate::refusal::stanza_error;
use crate::session::{Asked, Turn};

/// Names that a session remembers: more than the rooms in which it can be. The oldest others are looked up again.
const MOST_KNOWN: usize = 200;

/// A room whose address has a name.
#[derive(Serialize, Deserialize)]
pub(crate) struct KnownRoom {
    alias: Box<str>,
    room: ConversationId,
}

/// The address of a room of which the data is known.
pub(crate) fn address_of(id: ConversationId, room: &Room, domain: &str) -> String {
    match &room.alias {
        Some(alias) => format!("{alias}@{SERVICE}.{domain}"),
        None => super::address(id, domain),
    }
}

/// XEP-0106: a client writes a space in this way.
fn title(alias: &str) -> String {
    alias.replace("\\20", " ").trim().to_owned()
}

impl Turn<'_, '_> {
    /// The address of a room in this session.
    pub(crate) fn room_address(&self, room: ConversationId) -> String {
        let known = self.session.known_rooms().iter().find(|known| known.room == room);
        match known.map(|known| format!("{}@{SERVICE}", known.alias)) {
            Some(address) => format!("{address}.{}", self.domain()),
            None => super::address(room, self.domain()),
        }
    }

    /// The target of an address; a name of a room counts if the session knows it.
    pub(crate) fn target_of(&self, to: Option<&Jid>) -> Target {
        let target = Target::of(to, &self.session.jid);
        let (Target::Room(None), Some(alias)) = (&target, to.and_then(Jid::local)) else { return target };
        let known = self.session.known_rooms().iter().find(|known| *known.alias == *alias);
        Target::Room(known.and_then(|known| known.room.room_number()))
    }

    /// The client gets this address, or has used it.
    pub(crate) fn learn_room(&mut self, id: ConversationId, room: &Room) {
        let Some(alias) = room.alias.as_deref() else { return };
        if self.session.known_rooms().iter().any(|known| known.room == id) {
            return;
        }
        if self.session.known_rooms().len() >= MOST_KNOWN {
            let visited: Vec<ConversationId> = self.session.visits().iter().map(|visit| visit.room).collect();
            let known = self.session.know_rooms();
            if let Some(at) = known.iter().position(|known| !visited.contains(&known.room)) {
                known.remove(at);
            }
        }
        self.session.know_rooms().push(KnownRoom { alias: alias.into(), room: id });
    }

    /// True: the stanza goes to a name that the session does not know. It and all later ones wait for the look-up.
    pub(crate) fn waits_for_room(&mut self, element: Element<'_>, kind: StanzaKind, to: &Jid) -> bool {
        let asks = !matches!(element.attr("type"), Some("error" | "result" | "unavailable"));
        let Some(alias) = to.local().and_then(Alias::parse).filter(|_| asks && !self.is_of_server()) else {
            return false;
        };
        let mut stanza = Vec::new();
        element.write(&mut stanza, "");
        self.pause();
        let command = Command::Find { alias: alias.clone() };
        self.continue_then(Asked::internal(), command, move |turn, _, answer| {
            let found = match answer {
                Ok(Delivery { event: Event::Rooms(RoomsEvent::Rooms { rooms, .. }), .. }) => rooms.first(),
                Ok(_) | Err(_) => None,
            };
            if let Some((id, room)) = found {
                turn.learn_room(*id, room);
            }
            let refusal = answer.err();
            turn.unpause(|turn| turn.room_looked_up(&stanza, kind, alias, refusal));
        });
        true
    }

    fn room_looked_up(&mut self, stanza: &[u8], kind: StanzaKind, alias: Alias, refusal: Option<Refusal>) {
        let limits = self.gateway.shared.config.limits;
        // It was read with the same limits; only its namespace was added.
        let Ok(tree) = document(stanza, &limits) else { return };
        let element = tree.root();
        let Some(to) = element.attr("to").and_then(|to| Jid::parse(to).ok()) else { return };
        match (refusal, Join::of(element), to.resource().map(Nickname::parse)) {
            (Some(Refusal::NoSuchConversation), Some(join), Some(Some(nickname)))
                if kind == StanzaKind::Presence && element.attr("type").is_none() =>
            {
                self.create_room(Asked::of(element), alias, nickname, join.history);
            }
            (Some(refusal), Some(_), _) if refusal != Refusal::NoSuchConversation => {
                self.presence_error(&Asked::of(element), &stanza_error(refusal));
            }
            _ => {
                let target = self.target_of(Some(&to));
                self.dispatch(element, kind, Some(&to), target);
            }
        }
    }

    /// §10.1.1: a new room. It is private and has no other members, so nobody else can enter it until its owner has
    /// configured it.
    fn create_room(&mut self, asked: Asked, alias: Alias, nickname: Nickname, history: History) {
        let name = title(alias.as_str());
        let command = Command::Create { name, kind: RoomKind::Private, topic: None, alias: Some(alias) };
        self.continue_then(asked, command, move |turn, asked, answer| match answer {
            Ok(Delivery { event: Event::Messages(MessagesEvent::Conversation(created)), .. }) => {
                let id = created.id;
                if let chat::With::Room(room, _) = &created.with {
                    turn.learn_room(id, room);
                }
                let arrival = Some(Box::new(Arrival::of(history, true)));
                let nick = nickname.as_str().into();
                turn.session.visits().push(Visit {
                    room: id,
                    nick,
                    topic: None,
                    nicknames: 0,
                    is_locked: true,
                    arrival,
                });
                turn.enter(asked, id, Some(nickname));
            }
            Ok(_) => {}
            // The room exists, for others.
            Err(Refusal::UserExists) => {
                turn.presence_error(&asked, &StanzaError::new(Condition::ItemNotFound));
            }
            Err(refusal) => turn.presence_error(&asked, &stanza_error(refusal)),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_in_the_address_is_the_first_title() {
        assert_eq!(title("garden\\20talk"), "garden talk");
        assert_eq!(title("bikers"), "bikers");
    }
}
