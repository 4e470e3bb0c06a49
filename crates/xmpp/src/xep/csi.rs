//! Client State Indication (XEP-0352): an inactive client gets no typing, and presence only once it is active again.

use chat::notifications::Command;
use xmpp_proto::payload::csi::ClientState;
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{Flags, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(352),
    name: "Client State Indication",
    version: "1.0.0",
    scenario: "csi",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

impl Turn<'_, '_> {
    /// Whether the element is an indication. It is no stanza.
    pub(crate) fn client_state(&mut self, element: Element<'_>) -> bool {
        match ClientState::of(element) {
            Some(ClientState::Inactive) => {
                self.session.set(Flags::INACTIVE, true);
                // An inactive app may be suspended by its system, and a push service can wake it.
                self.command(Command::SetIdle(true));
            }
            Some(ClientState::Active) => {
                self.session.set(Flags::INACTIVE, false);
                self.command(Command::SetIdle(false));
                self.catch_up_presence();
            }
            None => return false,
        }
        true
    }
}
