//! Profiles: what members say of themselves, and have chosen.

use super::Tables;
use crate::account::profile::{NameChange, ProfileChange, ProfileView};
use crate::{SiteId, Sub, UserId};

impl Tables {
    pub(in crate::memory) fn profile(&self, asker: UserId, of: &Sub) -> Option<ProfileView> {
        let row = self.user(asker.site, of)?;
        let relation = self.relation(asker, row.id);
        Some(ProfileView { status: self.statuses.get(&row.id).cloned(), relation, row })
    }

    pub(in crate::memory) fn change_profile(
        &mut self,
        user: UserId,
        change: ProfileChange,
    ) -> Option<ProfileView> {
        let row = self.users.get_mut(&user)?;
        row.privacy = change.privacy(row.privacy);
        let before = row.profile.name.clone();
        match change.name {
            Some(NameChange::Own(name)) => {
                row.profile.name = name;
                row.named = true;
            }
            Some(NameChange::OfSite) => row.named = false,
            None => {}
        }
        let sub = row.profile.sub.clone();
        if row.profile.name != before {
            self.commit();
        }
        match change.status {
            Some(Some(status)) => _ = self.statuses.insert(user, status),
            Some(None) => _ = self.statuses.remove(&user),
            None => {}
        }
        self.profile(user, &sub)
    }

    /// The site lets nobody choose a name any more.
    pub(in crate::memory) fn unname_all(&mut self, site: SiteId) {
        self.users.values_mut().filter(|row| row.id.site == site).for_each(|row| row.named = false);
    }
}
