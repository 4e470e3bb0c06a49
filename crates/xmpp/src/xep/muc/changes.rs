//! Corrections (XEP-0308) and retractions (XEP-0424) of messages in rooms, and deletions by moderators (XEP-0425).

use chat::messages::{Command, Event as MessagesEvent};
use chat::{ConversationId, Delivery, Event, Message, MessageChange, Refusal, Seq, Sub, To};
use xmpp_proto::ns;
use xmpp_proto::payload::moderation::Moderated;
use xmpp_proto::payload::{correction, occupant_id, retraction};
use xmpp_proto::xml::{Element, Open};

use crate::session::{Asked, Stored, Turn, extension_of, own_id};
use crate::xep::replies::AnsweredInRoom;
use crate::xep::{change_id, replies};

impl Turn<'_, '_> {
    /// A message to a room that changes one of the client's own. False: it is another one.
    pub(super) fn changes_own_message(&mut self, element: Element<'_>, room: ConversationId) -> bool {
        if let Some(id) = retraction::of(element) {
            let asked = self.counted(element);
            // XEP-0424 §3.2: the id that the room gave.
            match id.parse() {
                Ok(seq) => self.change_in_room(asked, room, Seq(seq), MessageChange::Delete),
                Err(_) => self.fail(&asked, Refusal::NoSuchMessage),
            }
            return true;
        }
        let Some(id) = correction::of(element) else { return false };
        let body = element.child("body", ns::CLIENT).map(|body| body.text().into_owned());
        let as_written = (body.unwrap_or_default().into(), extension_of(element));
        let as_answer = replies::without_quotation(element);
        let (asked, names) = (self.counted(element), self.own_names(id));
        let to = To::Conversation(room);
        self.find_named(asked, to, names.into_iter(), move |turn, asked, found| match found {
            Ok(Some(message)) => {
                let seq = message.seq;
                let (body, extension) = if message.reply_to.is_some() { as_answer } else { as_written };
                turn.change_in_room(asked, room, seq, MessageChange::Edit { body, extension });
            }
            Ok(None) => turn.fail(&asked, Refusal::NoSuchMessage),
            Err(refusal) => turn.fail(&asked, refusal),
        });
        true
    }

    /// The answer is also the change for this session, as all others get it.
    fn change_in_room(&mut self, asked: Asked, room: ConversationId, seq: Seq, change: MessageChange) {
        let command = Command::Change { conversation: room, seq, change };
        self.continue_then(asked, command, |turn, asked, answer| match answer {
            Ok(delivery) => {
                turn.room_update(delivery);
                turn.done(&asked);
            }
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }

    pub(super) fn room_update(&mut self, delivery: &Delivery) {
        if let Event::Messages(MessagesEvent::Update { message, by }) = &delivery.event {
            self.room_message_changed(message, by);
        }
    }

    /// A message of a room was deleted, or has a new text. Other changes have no counterpart.
    pub(crate) fn room_message_changed(&mut self, message: &Message, by: &Sub) {
        if !self.session.visit(message.conversation).is_some_and(|visit| visit.is_shown()) {
            return;
        }
        match message.deleted {
            true => self.room_message_deleted(message, by),
            false if message.edited.is_some() => self.room_message_edited(message),
            false => {}
        }
    }

    fn room_message_deleted(&mut self, message: &Message, by: &Sub) {
        let room = message.conversation;
        let (from, to) = (self.room_address(room), self.session.jid.as_str().to_owned());
        let nick = self.gateway.nicks.of(room, by);
        let (full, id) = (format!("{from}/{nick}"), message.seq.0.to_string());
        let is_own = *by == message.from;
        let occupant = super::occupant_id(by);
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "groupchat");
            let open = open.attr("from", if is_own { &full } else { &from }).attr("to", &to);
            open.attr("id", &change_id(message)).children(|out| {
                if is_own {
                    retraction::write(out, &id);
                    occupant_id::write(out, &occupant);
                } else {
                    let moderated = Moderated { by: Some(&full), occupant_id: Some(&occupant), reason: None };
                    moderated.write_retraction(out, &id);
                }
            });
        });
    }

    /// The author knows the message by its own id.
    fn room_message_edited(&mut self, message: &Message) {
        let room = message.conversation;
        let nick = self.gateway.nicks.of(room, &message.from);
        let from = format!("{}/{nick}", self.room_address(room));
        let to = self.session.jid.as_str().to_owned();
        let is_own = self.session.is_own(&message.from);
        let id = if is_own { own_id(&message.client_id) } else { &message.client_id };
        let stored = Stored::of(message.extension.as_deref());
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "groupchat").attr("from", &from);
            open.attr("to", &to).attr("id", &change_id(message)).children(|out| {
                if !message.body.is_empty() {
                    Open::new(out, "body").text(&message.body);
                }
                if let Some(seq) = message.reply_to {
                    AnsweredInRoom { seq, known: None }.write(out);
                }
                stored.write(out);
                correction::write(out, id);
                occupant_id::write(out, &super::occupant_id(&message.from));
            });
        });
    }
}
