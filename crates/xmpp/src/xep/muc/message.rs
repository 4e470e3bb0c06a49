//! Messages in rooms (XEP-0045 §7.4, §8.1).

use std::collections::HashMap;
use std::sync::Arc;

use chat::rooms::{Command, Event as RoomsEvent};
use chat::{
    ConversationId, Delivery, Event, Message, Naming, Position, Reaction, RoomChange, Seq, Sub, To, With,
};
use xmpp_proto::jid::Jid;
use xmpp_proto::ns;
use xmpp_proto::payload::chat_states::ChatState;
use xmpp_proto::payload::delay::Delay;
use xmpp_proto::payload::hints::Hints;
use xmpp_proto::payload::muc::Status;
use xmpp_proto::payload::reactions::Reactions;
use xmpp_proto::payload::{occupant_id, stanza_ids};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use super::MOST_HELD;
use crate::session::{Asked, Stored, Turn, message_text};
use crate::xep::replies::{AnsweredInRoom, quotation_of};
use crate::xep::{oob, reactions};

/// A message that the room sends back to its author (§7.4).
pub(crate) struct Reflection {
    room: ConversationId,
    /// The client's own id of the stanza.
    id: Option<Box<str>>,
    body: Box<str>,
    extension: Option<Box<str>>,
}

impl Reflection {
    pub(crate) fn new(
        room: ConversationId,
        id: Option<&str>,
        body: &str,
        extension: Option<&str>,
    ) -> Reflection {
        Reflection { room, id: id.map(Into::into), body: body.into(), extension: extension.map(Into::into) }
    }

    pub(crate) fn room(&self) -> ConversationId {
        self.room
    }
}

impl Turn<'_, '_> {
    /// A message to a room.
    pub(crate) fn room_message(&mut self, element: Element<'_>, number: Option<u64>) {
        let refusal = |condition| StanzaError::new(condition);
        let Some(number) = number else { return self.refuse(element, &refusal(Condition::ItemNotFound)) };
        let room = ConversationId::room(self.session.user.site, number);
        let to = element.attr("to").and_then(|to| Jid::parse(to).ok());
        if to.is_some_and(|to| to.resource().is_some()) {
            // §7.5: members write to each other's address, which the room shows.
            return self.refuse(element, &refusal(Condition::NotAllowed));
        }
        if element.attr("type") != Some("groupchat") && self.mediated(element, room) {
            return;
        }
        if element.attr("type") != Some("groupchat") {
            return self.refuse(element, &refusal(Condition::BadRequest));
        }
        if self.session.visit(room).is_none() {
            return self.refuse(element, &refusal(Condition::NotAcceptable));
        }
        let body = element.child("body", ns::CLIENT).map(|body| body.text().into_owned());
        if let (Some(subject), None) = (element.child("subject", ns::CLIENT), &body) {
            let change = RoomChange { topic: Some(subject.text().into_owned()), ..RoomChange::default() };
            let change = Command::Change { conversation: room, change: Box::new(change) };
            return self.ask_for(Asked::of(element), changed, change);
        }
        if let Some(on) = crate::xep::chat_states::is_composing(element) {
            let to = To::Conversation(room);
            self.command(chat::messages::Command::Typing { to, on });
        }
        if let Some(reactions) = Reactions::of(element) {
            return self.react_in_room(element, room, &reactions);
        }
        if self.changes_own_message(element, room) {
            return;
        }
        // Without a body, only what asks for it is kept: an encrypted message does (XEP-0334 §4.4).
        if body.is_none() && !Hints::of(element).store {
            return;
        }
        self.submit_to_room(element, room, body.unwrap_or_default().into());
    }

    /// §7.4: the author gets the message as all others do, with the client's own id. `seq` None: the message waits for a
    /// moderator, which its author does not see.
    pub(crate) fn reflect(&mut self, reflection: &Reflection, seq: Option<Seq>) {
        let Reflection { room, id, body, extension } = reflection;
        let Some(visit) = self.session.visit(*room).filter(|visit| visit.is_shown()) else { return };
        let nick = visit.nick.clone();
        let Some(sub) = self.session.jid.local().and_then(Sub::of_address_local) else { return };
        let stanza = Stanza {
            answered: None,
            id: id.as_deref(),
            body,
            extension: extension.as_deref(),
            files: &[],
            seq,
            delay: None,
        };
        self.room_message_stanza(*room, &nick, &sub, stanza);
        if let Some(seq) = seq {
            self.note_sent((*room, seq));
        }
    }

    /// A new message of a room. A client for which too many wait before it is shown the room is out again.
    /// `before`: the position of the last event before it.
    pub(crate) fn room_message_event(&mut self, message: &Arc<Message>, before: Position) {
        let room = message.conversation;
        let Some(visit) = self.session.visit(room) else { return };
        if let Some(arrival) = &mut visit.arrival {
            if arrival.held.len() < MOST_HELD {
                return arrival.held.push(Arc::clone(message));
            }
            return self.expel(room, &[Status::RemovedByError, Status::OwnPresence]);
        }
        if let Some(seq) = message.reply_to.filter(|_| !message.deleted)
            && self.may_hold()
        {
            return self.hold_answer_in_room(message, seq, before);
        }
        self.live_room_message(message, None);
    }

    /// `answered`: the message that this one answers, if it is known.
    pub(crate) fn live_room_message(&mut self, message: &Message, answered: Option<&Message>) {
        let room = message.conversation;
        if self.session.visit(room).is_none() {
            return;
        }
        let nick = self.gateway.nicks.of(room, &message.from);
        let answered = self.answered_in_room(message, answered, &HashMap::new());
        self.room_stanza(message, &nick, answered.as_ref(), None);
    }

    /// The part of an answer that names the answered message.
    pub(super) fn answered_in_room(
        &self,
        message: &Message,
        answered: Option<&Message>,
        names: &HashMap<Sub, Box<str>>,
    ) -> Option<AnsweredInRoom> {
        let (room, seq) = (message.conversation, message.reply_to?);
        let known = answered.filter(|one| one.seq == seq && !one.deleted).map(|one| {
            let nick = self.nick_of(room, &one.from, names);
            (format!("{}/{nick}", self.room_address(room)), quotation_of(&one.body))
        });
        Some(AnsweredInRoom { seq, known })
    }

    /// All reactions of a user to a message of the room. `id`: of the stanza that they come back to.
    pub(crate) fn room_reactions(
        &mut self,
        room: ConversationId,
        seq: Seq,
        by: &Sub,
        reactions: &[Reaction],
        id: Option<&str>,
    ) {
        if !self.session.visit(room).is_some_and(|visit| visit.is_shown()) {
            return;
        }
        let id = id.filter(|id| !id.is_empty()).map_or_else(|| self.push_id(), str::to_owned);
        let from = format!("{}/{}", self.room_address(room), self.gateway.nicks.of(room, by));
        let to = self.session.jid.as_str().to_owned();
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "groupchat").attr("from", &from);
            open.attr("to", &to).attr("id", &id).children(|out| {
                reactions::write(out, &seq.0.to_string(), reactions.iter());
                occupant_id::write(out, &super::occupant_id(by));
            });
        });
    }

    /// Somebody in the room has changed the own reactions. A user who has neither entered nor written is named first.
    pub(crate) fn reacted_in_room(&mut self, room: ConversationId, seq: Seq, by: &Sub, all: &[Reaction]) {
        if !self.session.visit(room).is_some_and(|visit| visit.is_shown()) {
            return;
        }
        if self.gateway.nicks.known(room, by).is_some() {
            return self.room_reactions(room, seq, by, all, None);
        }
        let (by, all) = (by.clone(), all.to_vec());
        let command =
            Command::ListNames { conversation: room, users: vec![by.clone()], naming: Naming::Shown };
        self.continue_then(Asked::internal(), command, move |turn, _, answer| {
            if let Ok(Delivery { event: Event::Rooms(RoomsEvent::Names { names, .. }), .. }) = answer
                && let Some((sub, nick)) = names.first()
            {
                turn.gateway.nicks.learn(room, sub, nick);
            }
            turn.room_reactions(room, seq, &by, &all, None);
        });
    }

    pub(super) fn room_stanza(
        &mut self,
        message: &Message,
        nick: &str,
        answered: Option<&AnsweredInRoom>,
        delay: Option<Delay<'_>>,
    ) {
        let links = self.links();
        let stanza = Stanza {
            answered,
            id: Some(&message.client_id),
            body: &message_text(message, self.domain(), &links),
            extension: message.extension.as_deref(),
            files: &oob::addresses(message, &links),
            seq: Some(message.seq),
            delay,
        };
        self.room_message_stanza(message.conversation, nick, &message.from, stanza);
        self.note_sent((message.conversation, message.seq));
    }

    fn room_message_stanza(
        &mut self,
        room: ConversationId,
        nick: &str,
        author: &Sub,
        Stanza { answered, id, body, extension, files, seq, delay }: Stanza<'_>,
    ) {
        let by = self.room_address(room);
        let (from, to) = (format!("{by}/{nick}"), self.session.jid.as_str().to_owned());
        let stored = Stored::of(extension);
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "groupchat").attr("from", &from);
            open.attr("to", &to).opt("id", id).children(|out| {
                oob::write_body(out, answered.map_or("", AnsweredInRoom::quotation), body, files);
                if let Some(answered) = answered {
                    answered.write(out);
                }
                stored.write(out);
                if let Some(seq) = seq {
                    stanza_ids::write_stanza_id(out, &by, &seq.0.to_string());
                }
                occupant_id::write(out, &super::occupant_id(author));
                if let Some(delay) = delay {
                    delay.write(out);
                }
            });
        });
    }

    /// §7.2.15: an empty subject is one, too.
    pub(crate) fn subject(&mut self, room: ConversationId, topic: &str) {
        let (from, to) = (self.room_address(room), self.session.jid.as_str().to_owned());
        self.send(|out| {
            Open::new(out, "message")
                .attr("type", "groupchat")
                .attr("from", &from)
                .attr("to", &to)
                .children(|out| Open::new(out, "subject").text(topic));
        });
    }

    pub(crate) fn typing_in_room(&mut self, room: ConversationId, user: &Sub, on: bool) {
        // Typing of somebody whom the client does not see in the room would show a stranger there.
        let Some(nick) = self.gateway.nicks.known(room, user) else { return };
        if !self.session.visit(room).is_some_and(|visit| visit.is_shown() && !visit.has_nick(&nick)) {
            return;
        }
        let from = format!("{}/{nick}", self.room_address(room));
        let to = self.session.jid.as_str().to_owned();
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "groupchat").attr("from", &from);
            open.attr("to", &to).children(|out| {
                let state = if on { ChatState::Composing } else { ChatState::Paused };
                state.write(out);
            });
        });
    }
}

struct Stanza<'a> {
    answered: Option<&'a AnsweredInRoom>,
    id: Option<&'a str>,
    body: &'a str,
    extension: Option<&'a str>,
    files: &'a [String],
    seq: Option<Seq>,
    delay: Option<Delay<'a>>,
}

/// The room after a change by this session.
fn changed(turn: &mut Turn<'_, '_>, _: Asked, delivery: &Delivery) {
    if let Event::Messages(chat::messages::Event::Conversation(conversation)) = &delivery.event
        && let With::Room(room, _) = &conversation.with
    {
        turn.room_changed(conversation.id, room);
    }
}
