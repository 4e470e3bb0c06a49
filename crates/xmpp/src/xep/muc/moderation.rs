//! Message Moderation (XEP-0425): a moderator deletes a message of another member. The widget's delete reaches apps in the same
//! form; an author's own delete is a retraction (XEP-0424).

use chat::messages::Command;
use chat::{ConversationId, Delivery, MessageChange, Seq};
use xmpp_proto::ns;
use xmpp_proto::payload::moderation::Request;
use xmpp_proto::stanza::{Condition, StanzaError};

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
    turn.room_update(delivery);
}
