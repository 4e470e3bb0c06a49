//! Message Moderation (XEP-0425): a moderator deletes a message of another member. The widget's delete reaches apps in the same
//! form; an author's own delete is a retraction (XEP-0424).

use chat::messages::{Command, MessageChange};
use chat::{ConversationId, Delivery, Message, Seq, Sub};
use xmpp_proto::ns;
use xmpp_proto::payload::moderation::{Moderated, Request};
use xmpp_proto::payload::{occupant_id, retraction};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Open;

use super::address;
use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(425),
    name: "Moderated Message Retraction",
    version: "0.3.0",
    scenario: "muc_administration",
    server_features: &[],
    account_features: &[],
    iq: &[IqHandler { name: "moderate", ns: ns::MODERATION, handle: request }],
};

/// §3. The reason is not kept: the domain records who deleted the message.
fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let Target::Room(Some(number)) = iq.target else {
        return Err(StanzaError::new(Condition::ItemNotFound));
    };
    if iq.kind != IqKind::Set {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    let request = Request::of(iq.payload).map_err(StanzaError::new)?;
    let seq = request.id.parse().map_err(|_| StanzaError::new(Condition::ItemNotFound))?;
    let conversation = ConversationId::room(turn.session.user.site, number);
    turn.ask(iq, deleted, Command::Change { conversation, seq: Seq(seq), change: MessageChange::Delete });
    Ok(())
}

/// The answer is also the change for this session.
fn deleted(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    turn.answer(asked, |_| {});
    if let chat::Event::Messages(chat::messages::Event::Update { message, by }) = &delivery.event {
        turn.room_message_changed(message, by);
    }
}

impl Turn<'_, '_> {
    /// A message of a room has changed: apps learn of deletions.
    pub(crate) fn room_message_changed(&mut self, message: &Message, by: &Sub) {
        let room = message.conversation;
        if !message.deleted || !self.session.visit(room).is_some_and(|visit| visit.is_shown()) {
            return;
        }
        let (from, to) = (address(room, self.domain()), self.session.jid.as_str().to_owned());
        let nick = self.gateway.nicks.of(room, by);
        let (full, id) = (format!("{from}/{nick}"), message.seq.0.to_string());
        let is_own = *by == message.from;
        let occupant = super::occupant_id(by);
        self.send(|out| {
            let open = Open::new(out, "message").attr("type", "groupchat");
            let open = open.attr("from", if is_own { &full } else { &from }).attr("to", &to);
            open.display("id", format_args!("retraction-{id}")).children(|out| {
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
}
