//! Displayed Markers (XEP-0333), as read markers of the domain.
//!
//! A message of the widget is sent with a request for markers, so an app tells when it was displayed. Whether the author
//! learns of it is the reader's choice in the domain, for apps as for browsers.

use chat::messages::{Command, MessageName};
use chat::{MarkerSet, Sub, To};
use xmpp_proto::payload::displayed::Displayed;
use xmpp_proto::payload::markers::Marker;
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{Asked, Turn, found};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(333),
    name: "Displayed Markers",
    version: "1.0.0",
    scenario: "markers",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// The message of the other user up to which a client has displayed the conversation. `archive`: the own bare JID.
///
/// A client may name it by the archive's id, too (XEP-0490 §4.5.3).
pub(crate) fn displayed(message: Element<'_>, archive: &str) -> Option<MessageName> {
    let by_archive = message
        .children()
        .find_map(Displayed::of)
        .filter(|displayed| displayed.by == archive)
        .and_then(|displayed| displayed.id.parse().ok());
    if let Some(position) = by_archive {
        return Some(MessageName::Position(position));
    }
    match Marker::of(message)? {
        Marker::Displayed { id } => Some(MessageName::Theirs(id.into())),
        Marker::Markable => None,
    }
}

impl Turn<'_, '_> {
    /// The user has read the conversation up to this message.
    pub(crate) fn mark_read(&mut self, user: Sub, name: MessageName) {
        let asked = Asked::internal();
        self.continue_then(asked, Command::Find { to: To::User(user), name }, |turn, _, answer| {
            if let Some(message) = answer.ok().and_then(found) {
                let (conversation, set) = (message.conversation, MarkerSet::Read(message.seq));
                turn.command(Command::Mark { conversation, set });
            }
        });
    }
}
