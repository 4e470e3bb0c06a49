//! The part of the port to storage that is about devices. What [`Store`](crate::Store) promises holds here too.

use serde::{Deserialize, Serialize};

use crate::account::devices::Agent;
use crate::{Done, SiteId, Sub, Timestamp, UserId};

/// Most devices of one user that are kept; one more takes the place of the one that was used longest ago.
pub const MOST_DEVICES: usize = 20;

/// See [`Store`](crate::Store), of which it is a part. A device is named by the fingerprint of what the client calls itself.
pub trait DeviceStore: Send + Sync + 'static {
    /// It has signed in. Nobody waits for it.
    fn put_device(&self, user: UserId, device: NewDevice);
    /// Those that are not signed out, the one used last first.
    fn devices(&self, user: UserId, done: Done<Vec<DeviceRow>>);
    /// Its browser takes no notifications any more; nor does one of the user's of which is not known which device it is.
    /// None: there is no such device. Else whether the user has another browser that takes some. `expires`: of the newest
    /// token it is known to have, beside those it has signed in with.
    fn sign_out(
        &self,
        user: UserId,
        device: u64,
        expires: Timestamp,
        now: Timestamp,
        done: Done<Option<bool>>,
    );
    /// Whether it was signed out and has not come back since.
    fn signed_out(&self, site: SiteId, user: Sub, device: u64, done: Done<Option<SignedOut>>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewDevice {
    pub id: u64,
    pub agent: Agent,
    /// Of the token that it has shown.
    pub expires: Timestamp,
    pub time: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRow {
    pub id: u64,
    pub agent: Agent,
    pub created: Timestamp,
    /// When it has signed in last.
    pub used: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedOut {
    pub at: Timestamp,
    /// The greatest end of a token that the device is known to have had.
    pub expires: Timestamp,
}
