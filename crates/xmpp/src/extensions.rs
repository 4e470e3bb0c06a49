//! The extensions that this server has: one array, from which service discovery, the request handlers and the table in the
//! documentation come.

use crate::session::IqHandler;
use crate::{s2s, session, stream, transport, xep};

/// The document that defines a behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spec {
    Rfc(u16),
    Xep(u16),
}

/// One behaviour of the server.
pub struct Extension {
    pub spec: Spec,
    pub name: &'static str,
    /// Of the XEP; empty for an RFC.
    pub version: &'static str,
    /// The script in `tests/scenarios` that shows it.
    pub scenario: &'static str,
    /// Features of the domain in service discovery.
    pub server_features: &'static [&'static str],
    /// Features of the user's own account.
    pub account_features: &'static [&'static str],
    /// The requests that it answers.
    pub iq: &'static [IqHandler],
}

/// By number.
pub static EXTENSIONS: &[&Extension] = &[
    &session::ESTABLISHMENT,
    &session::ROSTER,
    &transport::websocket::EXTENSION,
    &xep::commands::FORMS,
    &xep::last_activity::EXTENSION,
    &xep::disco::EXTENSION,
    &xep::muc::EXTENSION,
    &xep::bookmarks::stored::EXTENSION,
    &xep::private_xml::EXTENSION,
    &xep::commands::EXTENSION,
    &xep::vcard::EXTENSION,
    &xep::archive::PAGES,
    &xep::pep::PUBSUB,
    &xep::oob::EXTENSION,
    &xep::registration::EXTENSION,
    &xep::avatar::EXTENSION,
    &xep::chat_states::EXTENSION,
    &xep::version::EXTENSION,
    &s2s::COMPONENTS,
    &xep::caps::EXTENSION,
    &transport::bosh::EXTENSION,
    &xep::commands::ADMINISTRATION,
    &xep::avatar::IN_PRESENCE,
    &transport::host_meta::EXTENSION,
    &xep::offline_messages::EXTENSION,
    &xep::pep::EXTENSION,
    &xep::jingle::EXTENSION,
    &xep::jingle::RTP,
    &xep::jingle::ICE,
    &s2s::EXTERNAL,
    &xep::receipts::EXTENSION,
    &s2s::DIALBACK_KEYS,
    &xep::blocking::EXTENSION,
    &xep::stream_management::EXTENSION,
    &xep::ping::EXTENSION,
    &xep::time::EXTENSION,
    &xep::offline_messages::DELAY,
    &transport::bosh::XMPP_OVER_BOSH,
    &xep::external_services::EXTENSION,
    &s2s::DIALBACK,
    &xep::pep::PUBLIC,
    &xep::pep::PRIVATE,
    &xep::roster_versioning::EXTENSION,
    &xep::muc::invitations::DIRECT,
    &xep::carbons::EXTENSION,
    &s2s::BIDIRECTIONAL,
    &xep::jingle::FEEDBACK,
    &xep::jingle::HEADER_EXTENSIONS,
    &xep::carbons::FORWARDING,
    &xep::corrections::EXTENSION,
    &xep::archive::EXTENSION,
    &xep::muc::hats::EXTENSION,
    &xep::jingle::DTLS,
    &xep::markers::EXTENSION,
    &xep::carbons::HINTS,
    &xep::jingle::GROUPING,
    &xep::jingle::SOURCES,
    &xep::csi::EXTENSION,
    &xep::jingle_messages::EXTENSION,
    &xep::push::EXTENSION,
    &xep::stanza_ids::EXTENSION,
    &xep::http_upload::EXTENSION,
    &xep::reports::EXTENSION,
    &xep::pep::ENCRYPTION,
    &xep::pep::OMEMO,
    &stream::sasl2::BIND2,
    &stream::sasl2::EXTENSION,
    &xep::caps::VERSION_2,
    &xep::avatar::CONVERSION,
    &xep::bookmarks::EXTENSION,
    &xep::muc::SELF_PING,
    &xep::bookmarks::stored::CONVERSION,
    &xep::muc::OCCUPANT_IDS,
    &xep::retractions::EXTENSION,
    &xep::muc::moderation::EXTENSION,
    &xep::replies::FALLBACK,
    &stream::features::CHANNEL_BINDING,
    &xep::archive::PREFERENCES,
    &xep::reactions::EXTENSION,
    &xep::replies::EXTENSION,
    &stream::features::DOWNGRADE_PROTECTION,
    &stream::features::STREAM_LIMITS,
    &stream::fast::EXTENSION,
    &xep::displayed::EXTENSION,
];

pub(crate) fn handlers() -> impl Iterator<Item = &'static IqHandler> {
    EXTENSIONS.iter().flat_map(|extension| extension.iq)
}
