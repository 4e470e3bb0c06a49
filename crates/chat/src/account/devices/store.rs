//! The slice of the port to storage for devices. The promises of [`Store`](crate::Store) hold here too.

use serde::{Deserialize, Serialize};

use crate::account::devices::Agent;
use crate::{Done, SiteId, Sub, Timestamp, UserId};

/// Stored devices of one user. One more replaces the device that was used longest ago.
pub const MOST_DEVICES: usize = 20;

/// A slice of [`Store`](crate::Store). The key of a device is the fingerprint of the client's device id.
pub trait DeviceStore: Send + Sync + 'static {
    /// Stores a sign-in of the device. No caller waits for the write.
    fn put_device(&self, user: UserId, device: NewDevice);
    /// Devices that are not signed out, most recently used first.
    fn devices(&self, user: UserId, done: Done<Vec<DeviceRow>>);
    /// Signs the device out, and removes its browser's push subscription and the user's subscriptions of
    /// unknown devices. Answers None if the device does not exist or is signed out already; else whether
    /// the user has a push subscription in another browser. `expires`: expiry of the newest token that the device is known to
    /// have, besides those of its sign-ins.
    fn sign_out(
        &self,
        user: UserId,
        device: u64,
        expires: Timestamp,
        now: Timestamp,
        done: Done<Option<bool>>,
    );
    /// The last sign-out of the device; None if it has signed in again since, or was never signed out.
    fn signed_out(&self, site: SiteId, user: Sub, device: u64, done: Done<Option<SignedOut>>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDevice {
    pub id: u64,
    pub agent: Agent,
    /// Expiry of the token that the device has shown.
    pub expires: Timestamp,
    pub time: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRow {
    pub id: u64,
    pub agent: Agent,
    pub created: Timestamp,
    /// Time of the last sign-in.
    pub used: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedOut {
    pub at: Timestamp,
    /// The latest expiry of all tokens that the device is known to have had.
    pub expires: Timestamp,
}
