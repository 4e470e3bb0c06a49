//! Extensions of XMPP: one file for each behaviour, listed in [`EXTENSIONS`](crate::EXTENSIONS).

pub(crate) mod archive;
pub(crate) mod avatar;
pub(crate) mod blocking;
pub(crate) mod bookmarks;
pub(crate) mod caps;
pub(crate) mod carbons;
pub(crate) mod chat_states;
pub(crate) mod commands;
pub(crate) mod corrections;
pub(crate) mod csi;
pub(crate) mod disco;
pub(crate) mod displayed;
pub(crate) mod external_services;
pub(crate) mod http_upload;
pub(crate) mod jingle;
pub(crate) mod jingle_messages;
pub(crate) mod last_activity;
pub(crate) mod markers;
pub(crate) mod muc;
pub(crate) mod offline_messages;
pub(crate) mod oob;
pub(crate) mod pep;
pub(crate) mod ping;
pub(crate) mod private_xml;
pub(crate) mod push;
pub(crate) mod reactions;
pub(crate) mod receipts;
pub(crate) mod registration;
pub(crate) mod replies;
pub(crate) mod reports;
pub(crate) mod retractions;
pub(crate) mod roster_versioning;
pub(crate) mod stanza_ids;
pub(crate) mod stream_management;
pub(crate) mod time;
pub(crate) mod vcard;
pub(crate) mod version;

/// The id of the stanza that tells of a change of a message: a new one for each version.
pub(crate) fn change_id(message: &chat::Message) -> String {
    format!("{}:{}", message.client_id, message.version)
}
