//! Entity Time (XEP-0202).

use xmpp_proto::ns;
use xmpp_proto::payload::date_time::DateTime;
use xmpp_proto::payload::time as payload;
use xmpp_proto::stanza::{Condition, StanzaError};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::session::{Iq, IqHandler, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(202),
    name: "Entity Time",
    version: "2.0",
    scenario: "disco",
    server_features: &[ns::TIME],
    account_features: &[],
    iq: &[IqHandler { name: "time", ns: ns::TIME, handle: answer }],
};

fn answer(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Server {
        return Err(StanzaError::new(Condition::ServiceUnavailable));
    }
    let now = DateTime(turn.now().0);
    turn.result(iq, |out| payload::write(out, now));
    Ok(())
}
