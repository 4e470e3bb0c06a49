//! HTTP/1.1 and WebSocket as bytes: what a server reads from clients, and the frames that it sends.
//!
//! Everything here is strict, because a proxy in front of a node reads the same bytes: a head or a body that two servers could
//! read differently is refused by name ([`head::Offence`]).
//!
//! Deliberately not here: sockets, time, routes, sessions, answers.
//!
//! Read first: [`head::parse`], [`body::Reader`], [`websocket::Reader`].

pub mod body;
pub mod head;
pub mod proxies;
pub mod websocket;
