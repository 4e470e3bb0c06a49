//! Message Retraction (XEP-0424), as deletions of the domain.

use chat::{Message, MessageChange, Refusal, Sub, To};
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::retraction::{self, Tombstone};
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{MessageStanza, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(424),
    name: "Message Retraction",
    version: "0.4.2",
    scenario: "retractions",
    server_features: &[],
    account_features: &[retraction::TOMBSTONES],
    iq: &[],
};

impl Turn<'_, '_> {
    /// A client takes its message with this id back.
    pub(crate) fn retract(&mut self, element: Element<'_>, user: Sub, id: &str) {
        let (asked, names) = (self.counted(element), self.own_names(id));
        self.find_named(asked, To::User(user), names.into_iter(), |turn, asked, found| match found {
            Ok(Some(message)) => turn.change_message(asked, message, vec![MessageChange::Delete]),
            Ok(None) => turn.fail(&asked, Refusal::NoSuchMessage),
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }

    pub(crate) fn retracted(&mut self, message: &Message) {
        let jid = self.session.jid.clone();
        let links = self.links();
        let Some(stanza) = MessageStanza::of(message, &jid, &links) else { return };
        self.send_change(message, |out| retraction::write(out, stanza.id()));
    }
}

/// What the archive has of a deleted message. The domain does not keep when it was deleted.
pub(crate) fn write_tombstone(out: &mut Vec<u8>, message: &Message) {
    let stamp = DateTime(message.time.0);
    Tombstone { id: &super::change_id(message), stamp }.write(out, |_| ());
}
