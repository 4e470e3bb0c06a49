//! Devices: in which browsers and apps a member is signed in, and signing one out from another.
//!
//! Only where the site has switched it on: a row of each device is written as it signs in, and asked for before it does. A
//! device that was signed out comes back with a token that the site has made since; whether the site makes one without a
//! new login is the site's to decide.

mod agent;
mod list;
mod store;

use serde::{Deserialize, Serialize};

pub use agent::{Agent, Browser, System};
pub use store::{DeviceRow, DeviceStore, MOST_DEVICES, NewDevice, SignedOut};

use crate::site::token::Ticket;

/// A device of one's own, as one sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownDevice {
    pub row: DeviceRow,
    /// It is connected now.
    pub here: bool,
    /// It is the one that asks.
    pub this: bool,
}

/// Was the token made after the device was signed out? A token that says when it was made, or when the member has signed in on
/// the site, is taken by its word, to the second; of another one must end later than those that the device has shown.
pub(crate) fn may_return(signed_out: SignedOut, ticket: &Ticket) -> bool {
    match ticket.issued {
        Some(issued) => issued.0 + 1_000 > signed_out.at.0,
        None => ticket.expires > signed_out.expires,
    }
}
