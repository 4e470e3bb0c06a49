//! Devices that may not come in: those from which a banned user was here, whoever signs in from them now.
//!
//! A device is known by the name that its browser keeps, so a private window is another one: it stops who is lazy, and says so in the
//! manual.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::moderation::{Moderation, ModeratorAct};
use crate::{By, SiteId, StoreError, Timestamp, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceBan {
    pub site: SiteId,
    /// Fingerprint. 0: none was here; the next one from which the user comes.
    pub device: u64,
    /// Because of whom.
    pub user: UserId,
    pub until: Timestamp,
}

/// All of them: few, because each was a moderator's word.
#[derive(Default)]
pub(crate) struct DeviceBans {
    by_device: RwLock<HashMap<(SiteId, u64), DeviceBan>>,
}

/// Devices of one user that are kept.
pub const MOST_BANNED_DEVICES: usize = 20;

impl DeviceBans {
    pub(crate) fn replace(&self, all: Vec<DeviceBan>) {
        let all = all.into_iter().map(|ban| ((ban.site, ban.device), ban)).collect();
        *self.by_device.write().unwrap_or_else(PoisonError::into_inner) = all;
    }

    /// Costs a look at an empty table where there are none.
    pub(crate) fn has(&self, site: SiteId, device: u64, now: Timestamp) -> bool {
        let bans = self.by_device.read().unwrap_or_else(PoisonError::into_inner);
        !bans.is_empty() && bans.get(&(site, device)).is_some_and(|ban| ban.until > now)
    }

    /// Until when the devices of this user are banned, if they are, and this one is not among them yet.
    fn adds(&self, user: UserId, device: u64, now: Timestamp) -> Option<Timestamp> {
        let bans = self.by_device.read().unwrap_or_else(PoisonError::into_inner);
        let of_user = || bans.values().filter(|ban| ban.user == user && ban.until > now);
        let is_room = of_user().count() < MOST_BANNED_DEVICES && !of_user().any(|ban| ban.device == device);
        of_user().map(|ban| ban.until).max().filter(|_| is_room)
    }
}

impl Moderation {
    pub(crate) fn read_device_bans(self: &Arc<Self>) {
        let this = self.clone();
        let done = move |all: Result<Vec<DeviceBan>, StoreError>| {
            if let Ok(all) = all {
                this.device_bans.replace(all);
            }
        };
        self.store.device_bans(Box::new(done));
    }

    /// Fingerprints of the devices from which the user is here.
    pub(crate) fn fingerprints_here(&self, user: UserId) -> Vec<u64> {
        let mut shard = self.sessions.lock(user);
        let mut devices: Vec<u64> =
            shard.user(user).into_iter().flat_map(|user| &user.sessions).map(|one| one.device).collect();
        drop(shard);
        devices.truncate(MOST_BANNED_DEVICES);
        if devices.is_empty() { vec![0] } else { devices }
    }

    /// A banned user, whose devices are banned, too, tried to sign in from another device: it is banned as well.
    pub(crate) fn banned_from(self: &Arc<Self>, user: UserId, device: u64, now: Timestamp) {
        let Some(until) = self.device_bans.adds(user, device, now) else { return };
        let act = ModeratorAct::BanDevices { user, devices: vec![device], until };
        self.do_act(user.site, By::Site, None, act, now, Box::new(drop));
    }
}
