//! Kith's XMPP gateway: client-to-server streams (RFC 6120, RFC 6121) on the workers of the connection layer.
//!
//! A stream comes over a [`transport`], is negotiated in [`stream`], and then belongs to a [`session`]. A stanza of a client becomes a command of the
//! domain; an event of the domain becomes stanzas. Each extension is one file in [`xep`] and one entry of [`EXTENSIONS`], from
//! which service discovery and the table in the documentation come.
//!
//! Deliberately not here: who may write to whom, what is stored, who sees a presence. The domain (`chat`) decides that for web
//! and XMPP members alike. XML is read and written by `xmpp-proto`.
//!
//! Read first: [`Gateway`], `session::Session`, [`EXTENSIONS`].

mod address;
mod config;
mod counters;
mod extensions;
mod gateway;
mod hand_over;
mod missed;
mod outbox;
mod refusal;
mod s2s;
mod session;
mod stream;
mod transport;
mod xep;

pub use config::{FileLinks, FileSlot, ListenerRole, Peers, Shared, WebTransports, XmppConfig};
pub use counters::{Counter, Counters};
pub use extensions::{EXTENSIONS, Extension, Spec};
pub use gateway::{Gateway, Mail};
pub use outbox::XmppOutbox;
pub use s2s::{
    Address, Component, Directory as RemoteUsers, Ensured, Found, FoundComponents, Letter, Names, Servers,
    ServersAtHome, ensure_remote_user, find_components,
};
pub use session::IqHandler;
pub use stream::Checked;
pub use transport::bosh::Posted;
pub use transport::http::is_xmpp_path;
pub use transport::passed_on::{ACCEPTED, IsProof, PassedOn, PassedStream, is_passed_on};
pub use xep::push::AppPushes;
pub use xep::stream_management::Streams;
