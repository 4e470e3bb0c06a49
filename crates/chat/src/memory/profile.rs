//! The part of the port that is about profiles.

use super::MemoryStore;
use crate::account::profile::{ProfileChange, ProfileStore, ProfileView};
use crate::{Done, Sub, UserId};

impl ProfileStore for MemoryStore {
    fn profile(&self, asker: UserId, of: Sub, done: Done<Option<ProfileView>>) {
        self.read(move |tables| tables.profile(asker, &of), done);
    }

    fn change_profile(&self, user: UserId, change: ProfileChange, done: Done<Option<ProfileView>>) {
        self.write(move |tables| tables.change_profile(user, change), done);
    }
}
