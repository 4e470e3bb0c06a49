//! Last Message Correction (XEP-0308), as edits of the domain.

use chat::{Message, MessageChange, Sub, To};
use xmpp_proto::payload::correction;
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{MessageStanza, Turn};
use crate::xep::replies;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(308),
    name: "Last Message Correction",
    version: "1.2.1",
    scenario: "corrections",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

impl Turn<'_, '_> {
    /// A client corrects the message with this id. If the message is not known, the correction is a message of its own.
    pub(crate) fn correct(&mut self, element: Element<'_>, user: Sub, id: &str) {
        let draft = self.draft(element, &user);
        let as_answer = replies::without_quotation(element);
        let (asked, names) = (self.counted(element), self.own_names(id));
        self.find_named(asked, To::User(user), names.into_iter(), move |turn, asked, found| match found {
            Ok(Some(message)) => {
                let as_written = (draft.body, draft.extension);
                let (body, extension) = if message.reply_to.is_some() { as_answer } else { as_written };
                let edit = MessageChange::Edit { body, extension };
                turn.change_message(asked, message, vec![edit]);
            }
            Ok(None) => turn.submit(asked, draft),
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }

    /// A message has a new text.
    pub(crate) fn corrected(&mut self, message: &Message) {
        let jid = self.session.jid.clone();
        let links = self.links();
        let Some(stanza) = MessageStanza::of(message, &jid, &links) else { return };
        self.send_change(message, |out| {
            stanza.write_content(out);
            correction::write(out, stanza.id());
        });
    }
}
