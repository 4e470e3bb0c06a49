//! Homes and fronts: the port between gateways and the domain, across nodes.
//!
//! The *home* of a slot of sites is the node that runs their domain. Any other node is a *front*: it holds sockets and sessions,
//! and passes sign-ins, commands and events through a link. A link is a stream of items in each direction, in numbered
//! envelopes on a bus that may lose, repeat, delay and reorder them. After a gap, a silence or a new home, the front opens a new
//! link and lets the home adopt its sessions, so their connections stay. A front has a link with the home of each slot.
//!
//! [`Home`] and [`Fronts`] open no socket, and read no clock but the one that they are given. [`nats`] connects them to NATS.
//!
//! Not here: the protocols of clients (`web`, `xmpp`), the rules of the domain (`chat`), requests over HTTP (`server`).
//!
//! Read first: [`Fronts`], [`Front`], [`Home`], `stream.rs`.

#[cfg(test)]
mod attacks;
mod bus;
#[cfg(test)]
mod clocks;
mod counters;
#[cfg(test)]
mod crowds;
mod envelope;
mod front;
mod fronts;
#[cfg(test)]
mod given_up_sign_ins;
mod home;
mod link;
#[cfg(test)]
mod moves;
pub mod nats;
#[cfg(test)]
mod relays;
#[cfg(test)]
mod slots;
mod stream;
#[cfg(test)]
mod versions;
mod wire;

pub use bus::{Send, Subject};
pub use chat::Slot;
pub use counters::{Counter, Counters};
pub use envelope::{FrontId, NotAnEnvelope, Term, VERSION};
pub use front::{Front, FrontRecord, FrontStatus};
pub use fronts::{Fronts, FrontsRecord};
pub use home::{Home, HomeOutbox, LinkStatus, Links};
pub use link::LOST_MS;
pub use stream::{ENVELOPE_BYTES, IN_FLIGHT_BYTES, ITEM_BYTES};
