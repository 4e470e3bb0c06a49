//! Unique and Stable Stanza IDs (XEP-0359): the archive of the user gives each message its position as the id.

use xmpp_proto::ns;

use crate::extensions::{Extension, Spec};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(359),
    name: "Unique and Stable Stanza IDs",
    version: "0.7.0",
    scenario: "message",
    server_features: &[],
    account_features: &[ns::STANZA_IDS],
    iq: &[],
};
