//! STUN (RFC 8489) and TURN (RFC 8656): what brings two members together where their networks do not.
//!
//! [`Machine`] is the protocol: it takes a message, who sent it and what time it is, and says what to do. It opens no socket, reads
//! no clock, and allocates nothing for what it passes on. [`start`] puts sockets around it: a worker of `edge` per core, which owns the
//! clients' connections (TCP, TLS), the datagrams of its listeners, and a socket for each relay.
//!
//! Deliberately not here: who may call whom, and users at all. All that is shared with `chat` is the secret from which names and
//! passwords are made for a while. Nor are TCP relays (RFC 6062) and mobility (RFC 8016), which browsers do not use.
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
pub use gateway::{Calls, start, tls};
pub use machine::{Client, Machine, Output, Packet, RelayId, Shared, Step};
pub use meter::{Site, Sites};
