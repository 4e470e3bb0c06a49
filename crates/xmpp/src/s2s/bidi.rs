//! Bidirectional Server-to-Server Connections (XEP-0288): a connection that another server has opened carries our stanzas, too.
//!
//! The other server has proved its domain, by its certificate or by a key, before it gets a stanza. Our own connection to its
//! address would prove no more.

use edge::Handle;

use super::stream::Incoming;
use super::{Content, DIALBACK};
use crate::extensions::{Extension, Spec};
use crate::gateway::Gateway;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(288),
    name: "Bidirectional Server-to-Server Connections",
    version: "1.0.1",
    scenario: "two_sites",
    ..DIALBACK
};

impl Gateway {
    /// Offers a connection to the links of the pairs that the other server has proved since the last call.
    pub(super) fn offer_to_links(&self, incoming: &mut Incoming, by: Handle) {
        let carried = incoming.responder.carries();
        for pair in &carried[incoming.offered..] {
            self.shared.send_to_owner(&pair.remote, Content::Carries { pair: pair.clone(), by });
        }
        incoming.offered = carried.len();
    }

    /// The connection has ended.
    pub(super) fn withdraw_from_links(&self, incoming: &Incoming, by: Handle) {
        for pair in incoming.responder.proved().iter().take(incoming.offered) {
            self.shared.send_to_owner(&pair.remote, Content::CarriesNoMore { pair: pair.clone(), by });
        }
    }
}
