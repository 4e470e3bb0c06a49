//! Devices: the browsers and apps in which a member is signed in, and signing one out from another.
//!
//! Works only where the site has enabled it. Each sign-in writes a row for its device, after a check of the
//! row that exists. A device that was signed out needs a token that the site has made since then. Whether the
//! site asks for a new login before it makes one is the site's decision.

mod agent;
mod list;
mod store;

use serde::{Deserialize, Serialize};

pub use agent::{Agent, Browser, System};
pub use store::{DeviceRow, DeviceStore, MOST_DEVICES, NewDevice, SignedOut};

use crate::site::token::Ticket;

/// A device of the user who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownDevice {
    pub row: DeviceRow,
    /// The device has a connected session.
    pub here: bool,
    /// The request came from this device.
    pub this: bool,
}

/// Checks whether the token was made after the device was signed out. Tokens that carry the time of their
/// making, or of the member's sign-in on the site, are compared by that time, to the second. Other tokens
/// must expire later than every token that the device has shown.
pub(crate) fn may_return(signed_out: SignedOut, ticket: &Ticket) -> bool {
    match ticket.issued {
        Some(issued) => issued.0 + 1_000 > signed_out.at.0,
        None => ticket.expires > signed_out.expires,
    }
}
