//! XMPP Ping (XEP-0199).

use xmpp_proto::ns;
use xmpp_proto::payload::ping as payload;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Open;

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Iq, IqHandler, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(199),
    name: "XMPP Ping",
    version: "2.0.1",
    scenario: "disco",
    server_features: &[ns::PING],
    account_features: &[],
    iq: &[IqHandler { name: "ping", ns: ns::PING, handle: answer }],
};

/// XEP-0199 §4.3.
fn answer(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    match iq.target {
        Target::Server | Target::Account => turn.empty_result(iq),
        Target::Rooms => turn.empty_result(iq),
        Target::Room(number) => return turn.ping_occupant(iq, number),
        Target::User(_) | Target::Elsewhere => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    }
    Ok(())
}

/// A ping of this server (XEP-0199 §4.2). Any stanza of the client answers it.
pub(crate) fn write(out: &mut Vec<u8>, from: &str, to: &str) {
    Open::new(out, "iq").attr("type", "get").attr("id", "ping").attr("from", from).attr("to", to).children(
        |out| {
            payload::write(out);
        },
    );
}
