//! The connection layer: bytes in, bytes out, no protocol.
//!
//! One event-loop thread (a *worker*) per core owns its sockets for their whole life. A gateway plugs in a
//! [`Protocol`]: a value per worker that receives input and the time, and uses [`Io`] for output and timers. It never blocks
//! and never sees a connection's socket, so the same value runs in tests without one. A connection keeps one small slot;
//! buffers exist only while they hold bytes. Workers can carry several gateways, which share their threads and nothing else
//! ([`Edge::start_all`]). A protocol can register its own sockets for datagrams ([`Conns::watch`]).
//!
//! Deliberately not here: HTTP, WebSocket, JSON, XMPP, users.
//!
//! Read first: [`Protocol`], [`Io`], [`Edge`].

mod address_limit;
mod api;
mod bell;
mod config;
mod counters;
mod descriptor_limit;
mod edge;
mod engine;
mod gateway;
mod gathered;
mod handle;
mod hosted;
mod io;
mod listen;
mod mailbox;
mod output;
mod pace;
mod pool;
mod shared;
mod slab;
mod slot;
mod source;
mod spare_descriptor;
mod system;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tls;
mod transfer;
mod wheel;
mod wire;
mod worker;

pub use address_limit::AddressLimit;
pub use api::{Accepted, Closed, Now, Protocol};
pub use config::{EdgeConfig, Listener, Records};
pub use counters::{Counters, Totals};
pub use descriptor_limit::raise_descriptor_limit;
pub use edge::Edge;
pub use gateway::{Gateway, RunningGateway};
pub use handle::Handle;
pub use io::{Connect, Conns, Io};
pub use mailbox::{Inbox, MAILBOX_WEIGHT, Mailboxes, bounded_mailboxes, mailboxes};
pub use slab::Slab;
pub use transfer::{
    Census, Moves, OLDEST_TRANSFER_FORMAT, Predecessor, Successor, TRANSFER_FORMAT, is_of_this_user,
};
