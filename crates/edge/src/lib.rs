//! The connection layer: bytes in, bytes out, no protocol.
//!
//! One event-loop thread (a *worker*) per core owns its sockets for their whole life. A gateway plugs in a
//! [`Protocol`]: a value per worker that is told what arrived and what time it is, and says through [`Io`]
//! what to send and when to be woken. It never blocks and never sees a socket, so the same value runs in
//! tests without one. What stays per connection is one small slot; buffers exist only while they hold bytes.
//!
//! Deliberately not here: HTTP, WebSocket, JSON, XMPP, users.
//!
//! Read first: [`Protocol`], [`Io`], [`Edge`].

mod api;

pub use api::{Accepted, Closed, Handle, Io, Mailboxes, Now, Protocol};
