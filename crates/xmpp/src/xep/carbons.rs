//! Message Carbons (XEP-0280): a client gets copies of the messages that the user sends from elsewhere, app or widget.
//!
//! Messages from others need no copy: the domain delivers each to all sessions of the user, with the bare JID as its
//! address.

use xmpp_proto::ns;
use xmpp_proto::payload::carbons::{self as payload, Direction};
use xmpp_proto::payload::delay::Delay;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Open;

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Flags, Iq, IqHandler, IqKind, MessageStanza, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(280),
    name: "Message Carbons",
    version: "1.0.1",
    scenario: "carbons",
    server_features: &[ns::CARBONS],
    account_features: &[],
    iq: &[
        IqHandler { name: "enable", ns: ns::CARBONS, handle: switch },
        IqHandler { name: "disable", ns: ns::CARBONS, handle: switch },
    ],
};

pub(crate) const FORWARDING: Extension = Extension {
    spec: Spec::Xep(297),
    name: "Stanza Forwarding",
    version: "1.0",
    scenario: "carbons",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const HINTS: Extension = Extension {
    spec: Spec::Xep(334),
    name: "Message Processing Hints",
    version: "0.4.0",
    scenario: "hints",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

fn switch(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let (IqKind::Set, Target::Account, Some(on)) = (iq.kind, &iq.target, payload::is_enabled(iq.payload))
    else {
        return Err(StanzaError::new(Condition::BadRequest));
    };
    turn.session.set(Flags::CARBONS, on);
    turn.empty_result(iq);
    Ok(())
}

impl Turn<'_, '_> {
    /// A message that the user has sent from another session.
    pub(crate) fn sent_elsewhere(&mut self, stanza: &MessageStanza<'_>, delay: Option<Delay<'_>>) {
        if stanza.is_private() {
            return;
        }
        let jid = self.session.jid.clone();
        self.send(|out| {
            Open::new(out, "message")
                .attr("type", stanza.kind())
                .attr("from", jid.bare())
                .attr("to", jid.as_str())
                .children(|out| {
                    payload::write(out, Direction::Sent, |out| stanza.write(out, Some(ns::CLIENT), delay));
                });
        });
    }
}
