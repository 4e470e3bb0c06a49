//! Devices of members.

use super::Tables;
use crate::account::devices::{DeviceRow, MOST_DEVICES, NewDevice, SignedOut};
use crate::{SiteId, Sub, Timestamp, UserId};

pub(super) struct Entry {
    row: DeviceRow,
    expires: Timestamp,
    signed_out: Option<Timestamp>,
}

impl Tables {
    pub(in crate::memory) fn put_device(&mut self, user: UserId, device: NewDevice) {
        let NewDevice { id, agent, expires, time } = device;
        let created = self.devices.get(&(user, id)).map_or(time, |before| before.row.created);
        let row = DeviceRow { id, agent, created, used: time };
        self.devices.insert((user, id), Entry { row, expires, signed_out: None });
        let mut all: Vec<_> = self.devices.iter().filter(|((of, _), _)| *of == user).collect();
        all.sort_unstable_by_key(|((_, id), entry)| std::cmp::Reverse((entry.row.used, *id as i64)));
        let beyond: Vec<_> = all.into_iter().skip(MOST_DEVICES).map(|(key, _)| *key).collect();
        for key in beyond {
            self.devices.remove(&key);
        }
    }

    pub(in crate::memory) fn devices(&self, user: UserId) -> Vec<DeviceRow> {
        let own = self.devices.iter().filter(|((of, _), entry)| *of == user && entry.signed_out.is_none());
        let mut rows: Vec<DeviceRow> = own.map(|(_, entry)| entry.row).collect();
        rows.sort_unstable_by_key(|row| std::cmp::Reverse((row.used, row.id as i64)));
        rows
    }

    pub(in crate::memory) fn sign_out(
        &mut self,
        user: UserId,
        device: u64,
        expires: Timestamp,
        now: Timestamp,
    ) -> Option<bool> {
        let entry = self.devices.get_mut(&(user, device)).filter(|entry| entry.signed_out.is_none())?;
        entry.signed_out = Some(now);
        entry.expires = entry.expires.max(expires);
        Some(self.remove_push_of(user, device))
    }

    pub(super) fn is_signed_out(&self, user: UserId, device: u64) -> bool {
        self.devices.get(&(user, device)).is_some_and(|entry| entry.signed_out.is_some())
    }

    pub(in crate::memory) fn signed_out(&self, site: SiteId, user: &Sub, device: u64) -> Option<SignedOut> {
        let user = self.user(site, user)?;
        let entry = self.devices.get(&(user.id, device))?;
        Some(SignedOut { at: entry.signed_out?, expires: entry.expires })
    }
}
