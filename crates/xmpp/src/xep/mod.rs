//! Extensions of XMPP: one file for each behaviour, listed in [`EXTENSIONS`](crate::EXTENSIONS).

pub(crate) mod blocking;
pub(crate) mod chat_states;
pub(crate) mod csi;
pub(crate) mod disco;
pub(crate) mod offline_messages;
pub(crate) mod ping;
pub(crate) mod stream_management;
pub(crate) mod time;
pub(crate) mod version;
