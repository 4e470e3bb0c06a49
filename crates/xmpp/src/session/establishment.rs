//! The request for a session, which older clients send after the binding of a resource. RFC 6121 has removed it; a stream with a
//! resource is a session.

use xmpp_proto::ns;
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Rfc(3921),
    name: "Session establishment",
    version: "",
    scenario: "session_establishment",
    server_features: &[],
    account_features: &[],
    iq: &[IqHandler { name: "session", ns: ns::SESSION, handle: establish }],
};

/// RFC 3921 §3.
fn establish(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    match (iq.kind, &iq.target) {
        (IqKind::Set, Target::Server | Target::Account) => turn.empty_result(iq),
        _ => return Err(StanzaError::new(Condition::ServiceUnavailable)),
    }
    Ok(())
}
