//! Web Push (RFC 8030): sends a message to a browser without a connection, through the push service of its maker.
//!
//! [`seal`] encrypts the message so that the service cannot read it (RFC 8291). [`Vapid`] signs the request for the
//! site (RFC 8292). [`Client`] sends it. The browser, and so a stranger, chooses the address of the service: see
//! [`Endpoint`] and [`reach`].
//!
//! This crate does not decide who gets which notification, or when (`chat`), and keeps no subscriptions (`server`).

mod client;
mod endpoint;
mod seal;
#[cfg(feature = "testing")]
pub mod testing;
mod vapid;

pub use client::{Client, NoAuthority, Outcome, Request, Trouble, Urgency};
pub use endpoint::{Endpoint, WrongEndpoint};
pub use reach::Reach;
pub use seal::{Receiver, WrongReceiver, seal};
pub use vapid::{Vapid, WrongKey};

/// Longest message, in bytes. A service must accept bodies of 4,096 bytes (RFC 8030 §7.2), and the encryption takes a
/// part.
pub const MESSAGE_BYTES: usize = seal::MESSAGE_BYTES;
