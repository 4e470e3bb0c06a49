//! XMPP without I/O: bytes go in, values come out.
//!
//! [`xml::Reader`] cuts a byte stream into stream headers and stanzas, each a [`xml::Tree`] of its own.
//! [`xml::Open`] writes elements straight into an output buffer. [`jid::Jid`] is an address that is valid once it
//! exists. [`stream`] and [`stanza`] have the errors of RFC 6120 with their names on the wire. [`sasl`] has the
//! mechanisms of authentication, [`bosh`] the bodies of XMPP over HTTP, [`sdp`] the session descriptions of calls, and
//! [`payload`] the payloads of stanzas.
//!
//! It deliberately knows no socket, no clock, no randomness and no user: ids, nonces and times are arguments. It also
//! knows no permissions; the gateway asks the domain.
//!
//! Read first: [`xml::Reader`], [`xml::Element`], [`jid::Jid`].

pub mod bosh;
pub mod jid;
pub mod ns;
pub mod payload;
pub mod sasl;
pub mod sdp;
pub mod stanza;
pub mod stream;
pub mod xml;
