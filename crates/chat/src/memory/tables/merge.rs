//! Guests who become members.

use super::Tables;
use crate::account::erasure::Renamed;
use crate::account::guest_merge::Merge;
use crate::{Profile, Refusal, SiteId, UserRow};

impl Tables {
    pub(in crate::memory) fn merge_guest(&mut self, merge: Merge) -> Result<Option<UserRow>, Refusal> {
        let Merge { guest, user, by, time } = merge;
        let (site, guest) = (guest.site(), guest.sub());
        let key = (site, guest.clone());
        if let Some(id) = self.merged.get(&key)
            && self.users.get(id).is_some_and(|row| row.profile.sub == user)
        {
            return Ok(None);
        }
        let before = self.user(site, guest).ok_or(Refusal::NoSuchUser)?;
        if !before.profile.guest {
            return Err(Refusal::NotAllowed);
        }
        if self.user_by_sub.contains_key(&(site, user.clone())) {
            return Err(Refusal::UserExists);
        }
        self.user_by_sub.remove(&key);
        self.user_by_sub.insert((site, user.clone()), before.id);
        self.merged.insert(key, before.id);
        if let Some(row) = self.users.get_mut(&before.id) {
            row.profile.sub = user;
            row.profile.guest = false;
        }
        let changed = self.commit();
        let others = self.contacts.iter_mut().filter(|((_, to), _)| *to == before.id);
        others.for_each(|(_, entry)| entry.changed = changed);
        self.note(site, by, "merge", Some(before.id), None, guest.as_str(), time);
        self.revision += 1;
        if let Some(row) = self.users.get(&before.id) {
            let renamed = Renamed { former: guest.clone(), now: row.profile.clone(), erased: false };
            self.begin_renaming(before.id, renamed, true);
        }
        Ok(Some(before))
    }

    /// The member whom a guest's profile leads to.
    pub(super) fn member_of_guest(&self, site: SiteId, profile: &Profile) -> Option<UserRow> {
        if !profile.guest {
            return None;
        }
        let by_sub = self.user(site, &profile.sub).filter(|row| !row.profile.guest);
        let merged = || self.users.get(self.merged.get(&(site, profile.sub.clone()))?).cloned();
        by_sub.or_else(merged)
    }
}
