//! A STUN (RFC 8489) and TURN (RFC 8656) server, for members whose networks do not connect directly.
//!
//! [`Machine`] is the protocol: it takes a message, its source and the time, and returns the next action. It opens no socket, reads no
//! clock, and allocates nothing for relayed data. [`start`] adds the sockets, with a worker of `edge` per core. A worker owns the clients'
//! connections (TCP, TLS), the datagrams of its listeners, and a socket for each relay.
//!
//! Deliberately not here: users, and the permission to call. It shares only the secret for short-lived names and passwords with
//! `chat`. TCP relays (RFC 6062) and mobility (RFC 8016) are missing, because browsers do not use them.
//!
//! Read first: [`Machine`], [`Step`], `gateway.rs`.

mod allocation;
pub mod client;
mod config;
mod counters;
mod credentials;
mod datagrams;
mod excess;
mod framing;
mod gateway;
mod machine;
mod meter;
mod nonce;
mod rate;
mod refusal;
mod relays;
pub mod stun;

pub use config::{CallOf, CallsConfig, IsLive, MayRelay, Quotas, RelayAddress};
pub use counters::{Counters, Refused};
pub use credentials::{Credentials, Key};
pub use framing::{Framed, frame};
pub use gateway::{Calls, MOVES_FORMAT, start, tls};
pub use machine::{Client, Machine, Output, Packet, RelayId, Shared, Step};
pub use meter::{Site, Sites};
