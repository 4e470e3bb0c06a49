//! Web Push (RFC 8030): a message for a browser that has no connection to us, by way of its maker's push service.
//!
//! [`seal`] encrypts it so that the service cannot read it (RFC 8291), [`Vapid`] says who sends it (RFC 8292), and
//! [`Client`] carries it there. The address of a service is chosen by a browser, and so by anybody: see [`Endpoint`] and
//! [`reach`].
//!
//! Deliberately not here: who is told what, and when (`chat`); what becomes of a subscription that is gone (`server`).

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

/// Longest message: what a service must take is 4,096 bytes in all (RFC 8030 §7.2), and the encryption needs some.
pub const MESSAGE_BYTES: usize = seal::MESSAGE_BYTES;
