//! The part of the port that is about devices.

use super::MemoryStore;
use crate::account::devices::{DeviceRow, DeviceStore, NewDevice, SignedOut};
use crate::{Done, SiteId, Sub, Timestamp, UserId};

impl DeviceStore for MemoryStore {
    fn put_device(&self, user: UserId, device: NewDevice) {
        self.write(move |tables| tables.put_device(user, device), Box::new(drop));
    }

    fn devices(&self, user: UserId, done: Done<Vec<DeviceRow>>) {
        self.read(move |tables| tables.devices(user), done);
    }

    fn sign_out(
        &self,
        user: UserId,
        device: u64,
        expires: Timestamp,
        now: Timestamp,
        done: Done<Option<bool>>,
    ) {
        self.write(move |tables| tables.sign_out(user, device, expires, now), done);
    }

    fn signed_out(&self, site: SiteId, user: Sub, device: u64, done: Done<Option<SignedOut>>) {
        self.read(move |tables| tables.signed_out(site, &user, device), done);
    }
}
