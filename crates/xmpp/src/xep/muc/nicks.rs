//! Nicknames of authors and occupants, as parts of addresses.

use std::collections::HashMap;

use chat::{ConversationId, Sub};
use xmpp_proto::jid::Jid;

/// Nicknames that a worker remembers. At the bound all are forgotten: then an author appears under the user's id until the
/// next change.
const MOST: usize = 16_384;

/// Nicknames by room and user, of the rooms in which sessions of this worker are.
#[derive(Default)]
pub(crate) struct Nicks {
    by_room: HashMap<(ConversationId, Sub), Box<str>>,
}

impl Nicks {
    pub(crate) fn learn(&mut self, room: ConversationId, sub: &Sub, nick: &str) -> Box<str> {
        if self.by_room.len() >= MOST {
            self.by_room.clear();
        }
        let nick = resource(nick, sub);
        self.by_room.insert((room, sub.clone()), nick.clone());
        nick
    }

    pub(crate) fn of(&self, room: ConversationId, sub: &Sub) -> Box<str> {
        self.known(room, sub).unwrap_or_else(|| sub.address_local().into())
    }

    /// None: the user was no occupant of the room lately.
    pub(crate) fn known(&self, room: ConversationId, sub: &Sub) -> Option<Box<str>> {
        self.by_room.get(&(room, sub.clone())).cloned()
    }
}

/// The nickname as the resource of an address. A name that cannot be one is replaced by the user's id.
pub(crate) fn resource(nick: &str, sub: &Sub) -> Box<str> {
    match Jid::of(None, "rooms.example", Some(nick)) {
        Ok(jid) => jid.resource().unwrap_or_default().into(),
        Err(_) => sub.address_local().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::SiteId;

    #[test]
    fn a_name_that_is_no_resource_becomes_the_id() {
        let sub = Sub::parse("anna").unwrap();
        assert_eq!(&*resource("The anna", &sub), "The anna");
        assert_eq!(&*resource("\u{fffd}", &sub), "anna", "Resourceprep forbids it");
    }

    #[test]
    fn nicknames_are_bounded() {
        let mut nicks = Nicks::default();
        let (room, anna) = (ConversationId::room(SiteId(1), 1), Sub::parse("anna").unwrap());
        nicks.learn(room, &anna, "Anna");
        assert_eq!(&*nicks.of(room, &anna), "Anna");
        for number in 0..MOST as u64 {
            nicks.learn(ConversationId::room(SiteId(1), number + 2), &anna, "Anna");
            assert!(nicks.by_room.len() <= MOST);
        }
        assert_eq!(&*nicks.of(room, &anna), "anna");
    }
}
