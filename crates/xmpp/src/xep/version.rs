//! Software Version (XEP-0092).

use xmpp_proto::ns;
use xmpp_proto::payload::version as payload;
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Iq, IqHandler, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(92),
    name: "Software Version",
    version: "1.1",
    scenario: "disco",
    server_features: &[ns::VERSION],
    account_features: &[],
    iq: &[IqHandler { name: "query", ns: ns::VERSION, handle: answer }],
};

/// The operating system stays private (XEP-0092 §6).
fn answer(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Server {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    turn.result(iq, |out| payload::write(out, "Kith", env!("CARGO_PKG_VERSION"), None));
    Ok(())
}
