//! Banned devices: those from which a banned user was connected, for every user who signs in from them.
//!
//! A device is identified by the name that its browser keeps, so a private window is another device. The ban
//! only stops users who make no effort, and the manual says so.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::moderation::{Moderation, ModeratorAct};
use crate::session::Completion;
use crate::{By, SiteId, Timestamp, UserId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceBan {
    pub site: SiteId,
    /// Fingerprint. 0: the user had no session; their next device is banned.
    pub device: u64,
    /// The banned user who used the device.
    pub user: UserId,
    pub until: Timestamp,
}

/// All banned devices: few, because each needs an act of a moderator.
#[derive(Default)]
pub(crate) struct DeviceBans {
    by_device: RwLock<HashMap<(SiteId, u64), DeviceBan>>,
}

/// Banned devices kept of one user.
pub const MOST_BANNED_DEVICES: usize = 20;

impl DeviceBans {
    pub(crate) fn replace(&self, all: Vec<DeviceBan>) {
        let all = all.into_iter().map(|ban| ((ban.site, ban.device), ban)).collect();
        *self.by_device.write().unwrap_or_else(PoisonError::into_inner) = all;
    }

    /// Costs a look into an empty table if the node has no bans.
    pub(crate) fn has(&self, site: SiteId, device: u64, now: Timestamp) -> bool {
        let bans = self.by_device.read().unwrap_or_else(PoisonError::into_inner);
        !bans.is_empty() && bans.get(&(site, device)).is_some_and(|ban| ban.until > now)
    }

    /// The end of the ban of this user's devices, if they are banned and this one is not yet listed.
    fn adds(&self, user: UserId, device: u64, now: Timestamp) -> Option<Timestamp> {
        let bans = self.by_device.read().unwrap_or_else(PoisonError::into_inner);
        let of_user = || bans.values().filter(|ban| ban.user == user && ban.until > now);
        let is_room = of_user().count() < MOST_BANNED_DEVICES && !of_user().any(|ban| ban.device == device);
        of_user().map(|ban| ban.until).max().filter(|_| is_room)
    }
}

impl Moderation {
    pub(crate) fn read_device_bans(self: &Arc<Self>) {
        let done = self.then(move |this, all| {
            if let Ok(all) = all {
                this.device_bans.replace(all);
            }
        });
        self.store.device_bans(done);
    }

    /// Fingerprints of the devices with which the user is connected.
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
