//! Message Delivery Receipts (XEP-0184), from the received markers of the domain.
//!
//! The domain knows when a device of the other user has a message: an app by stream management, a browser by its markers. So
//! this server gives the receipt, and those of clients end here.

use chat::{ConversationId, Seq, Sub};
use serde::{Deserialize, Serialize};
use xmpp_proto::payload::markers::Marker;
use xmpp_proto::payload::receipts::Receipt;
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::Turn;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(184),
    name: "Message Delivery Receipts",
    version: "1.4.0",
    scenario: "receipts",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Messages of a session whose receipts or markers are to come. The oldest gives way: its author sees it as sent.
pub(crate) const MOST_EXPECTED: usize = 32;

/// What the author of a message wants to know about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) receipt: bool,
    /// XEP-0333.
    pub(crate) displayed: bool,
}

impl Wanted {
    pub(crate) fn of(message: Element<'_>) -> Wanted {
        Wanted {
            receipt: Receipt::of(message) == Some(Receipt::Request),
            displayed: Marker::of(message) == Some(Marker::Markable),
        }
    }

    fn is_nothing(self) -> bool {
        self == Wanted::default()
    }
}

/// A stored message whose author waits for news of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Expected {
    conversation: ConversationId,
    seq: Seq,
    /// The id of the stanza.
    id: Box<str>,
    wanted: Wanted,
}

impl Expected {
    /// None: the author wants to know nothing.
    pub(crate) fn new(conversation: ConversationId, seq: Seq, id: &str, wanted: Wanted) -> Option<Expected> {
        (!wanted.is_nothing()).then(|| Expected { conversation, seq, id: id.into(), wanted })
    }
}

/// Whether the message is only a receipt of a client.
pub(crate) fn is_receipt(message: Element<'_>) -> bool {
    matches!(Receipt::of(message), Some(Receipt::Received { .. }))
}

impl Turn<'_, '_> {
    /// The other user of a direct conversation has received and read so much of it.
    pub(crate) fn peer_marker(&mut self, conversation: ConversationId, user: &Sub, received: Seq, read: Seq) {
        let mut receipts: Vec<Box<str>> = Vec::new();
        let mut displayed: Option<Box<str>> = None;
        let Some(expected) = self.session.expected() else { return };
        expected.retain_mut(|one| {
            if one.conversation != conversation {
                return true;
            }
            if one.seq <= received && std::mem::take(&mut one.wanted.receipt) {
                receipts.push(one.id.clone());
            }
            // XEP-0333 §4.2: a marker stands for all earlier messages, too.
            if one.seq <= read && std::mem::take(&mut one.wanted.displayed) {
                displayed = Some(one.id.clone());
            }
            !one.wanted.is_nothing()
        });
        self.session.drop_empty_extra();
        for id in &receipts {
            self.send_from(user, user, None, |out| Receipt::Received { id }.write(out));
        }
        if let Some(id) = &displayed {
            self.send_from(user, user, None, |out| Marker::Displayed { id }.write(out));
        }
    }
}
