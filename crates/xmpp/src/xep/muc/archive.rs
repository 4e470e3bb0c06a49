//! The archive of a room (XEP-0313, XEP-0045 §7.2.15): everybody who may read the room in the widget may read it here.
//!
//! The room gives its messages their seqs as ids.

use std::collections::HashMap;
use std::sync::Arc;

use chat::rooms::{Command, Event as RoomsEvent, MOST_NAMED_AT_ONCE};
use chat::{ConversationId, Delivery, Event, Message, Naming, Reaction, Sub};
use xmpp_proto::ns;
use xmpp_proto::payload::{occupant_id, stanza_ids};
use xmpp_proto::xml::Open;

use super::nicks;
use crate::session::{Asked, Stored, Turn, message_text, own_id};
use crate::xep::replies::AnsweredInRoom;
use crate::xep::{oob, reactions, retractions};

impl Turn<'_, '_> {
    /// Asks for the nicknames of the authors of these messages, and of the users who have reacted.
    pub(crate) fn learn_names(
        &mut self,
        asked: Asked,
        room: ConversationId,
        messages: &[Arc<Message>],
        then: impl FnOnce(&mut Turn<'_, '_>, Asked, HashMap<Sub, Box<str>>) + Send + 'static,
    ) {
        let mut users: Vec<Sub> = messages.iter().map(|message| message.from.clone()).collect();
        let of_reactions = messages.iter().flat_map(|message| &message.reactions);
        users.extend(of_reactions.flat_map(|one| one.users.iter().cloned()));
        users.sort_unstable();
        users.dedup();
        users.truncate(MOST_NAMED_AT_ONCE);
        let command = Command::ListNames { conversation: room, users, naming: Naming::Shown };
        self.continue_then(asked, command, move |turn, asked, answer| {
            let found = match answer {
                Ok(Delivery { event: Event::Rooms(RoomsEvent::Names { names, .. }), .. }) => &names[..],
                Ok(_) | Err(_) => &[],
            };
            let names = found.iter().map(|(sub, nick)| (sub.clone(), nicks::resource(nick, sub))).collect();
            then(turn, asked, names);
        });
    }

    /// A message of a room, as it was sent to the occupants.
    pub(crate) fn archived_room_message(
        &self,
        room: ConversationId,
        message: &Message,
        answered: Option<&Message>,
        names: &HashMap<Sub, Box<str>>,
    ) -> Vec<u8> {
        let answered = self.answered_in_room(message, answered, names);
        let by = self.room_address(room);
        let from = format!("{by}/{}", self.nick_of(room, &message.from, names));
        let is_own = self.session.is_own(&message.from);
        let id = if is_own { own_id(&message.client_id) } else { &message.client_id };
        let mut out = Vec::new();
        let open = Open::new(&mut out, "message").attr("xmlns", ns::CLIENT).attr("type", "groupchat");
        open.attr("from", &from).attr("id", id).children(|out| {
            if message.deleted {
                return retractions::write_tombstone(out, message);
            }
            let links = self.links();
            let text = message_text(message, self.domain(), &links);
            let quotation = answered.as_ref().map_or("", AnsweredInRoom::quotation);
            oob::write_body(out, quotation, &text, &oob::addresses(message, &links));
            if let Some(answered) = &answered {
                answered.write(out);
            }
            Stored::of(message.extension.as_deref()).write(out);
            stanza_ids::write_stanza_id(out, &by, &message.seq.0.to_string());
            occupant_id::write(out, &super::occupant_id(&message.from));
        });
        out
    }

    /// The reactions of a user to a message of a room, as a stanza of the archive.
    pub(crate) fn archived_room_reactions(
        &self,
        room: ConversationId,
        message: &Message,
        (user, reactions): (&Sub, &[&Reaction]),
        names: &HashMap<Sub, Box<str>>,
        id: &str,
    ) -> Vec<u8> {
        let from = format!("{}/{}", self.room_address(room), self.nick_of(room, user, names));
        let mut out = Vec::new();
        let open = Open::new(&mut out, "message").attr("xmlns", ns::CLIENT).attr("type", "groupchat");
        open.attr("from", &from).attr("id", id).children(|out| {
            reactions::write(out, &message.seq.0.to_string(), reactions.iter().copied());
            occupant_id::write(out, &super::occupant_id(user));
        });
        out
    }
}
