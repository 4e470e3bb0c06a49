//! The connected users, as one bit each. Most of a contact list is offline, and this shows it with few memory
//! accesses.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::session::NumberHasher;
use crate::{SiteId, UserId};

/// The users who are in the table of sessions. A look-up in the table takes a lock and up to three memory
/// accesses. The store numbers the users of a site from 1 on, so a million of them take 125 kB here.
///
/// Change it under the lock of the user's shard together with the table, and before the table on a sign-in.
/// Then two threads see it as consistently as the table.
#[derive(Default)]
pub(crate) struct Roll {
    bits_by_site: RwLock<BitsBySite>,
}

type BitsBySite = HashMap<SiteId, Box<[AtomicU64]>, BuildHasherDefault<NumberHasher>>;

impl Roll {
    pub(crate) fn enter(&self, user: UserId) {
        let (word, bit) = place(user);
        if let Some(bits) = self.read().get(&user.site).and_then(|bits| bits.get(word)) {
            bits.fetch_or(bit, Ordering::AcqRel);
            return;
        }
        let mut sites = self.bits_by_site.write().unwrap_or_else(PoisonError::into_inner);
        let bits = sites.entry(user.site).or_default();
        if bits.len() <= word {
            let mut grown = std::mem::take(bits).into_vec();
            grown.resize_with((word + 1).next_power_of_two(), AtomicU64::default);
            *bits = grown.into();
        }
        *bits[word].get_mut() |= bit;
    }

    pub(crate) fn leave(&self, user: UserId) {
        let (word, bit) = place(user);
        if let Some(bits) = self.read().get(&user.site).and_then(|bits| bits.get(word)) {
            bits.fetch_and(!bit, Ordering::AcqRel);
        }
    }

    pub(crate) fn has(&self, user: UserId) -> bool {
        let (word, bit) = place(user);
        let sites = self.read();
        sites
            .get(&user.site)
            .and_then(|bits| bits.get(word))
            .is_some_and(|bits| bits.load(Ordering::Acquire) & bit != 0)
    }

    /// Whether each of these users, all of one site, is connected.
    pub(crate) fn which(&self, users: impl Iterator<Item = UserId>) -> Vec<bool> {
        let sites = self.read();
        let mut users = users.peekable();
        let bits = users.peek().and_then(|first| sites.get(&first.site)).map_or(&[][..], |bits| bits);
        let is_here = |user| {
            let (word, bit) = place(user);
            bits.get(word).is_some_and(|bits| bits.load(Ordering::Acquire) & bit != 0)
        };
        users.map(is_here).collect()
    }

    fn read(&self) -> RwLockReadGuard<'_, BitsBySite> {
        self.bits_by_site.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn place(user: UserId) -> (usize, u64) {
    (user.num as usize / 64, 1 << (user.num % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_separate_and_absent_users_have_no_bit() {
        let roll = Roll::default();
        let user = |site, num| UserId { site: SiteId(site), num };
        let here = |site| -> Vec<u32> {
            let asked = [0, 1, 63, 64, 65, 1_000, 1_000_000];
            let which = roll.which(asked.iter().map(|num| user(site, *num)));
            asked.into_iter().zip(which).filter(|(_, here)| *here).map(|(num, _)| num).collect()
        };
        assert!(here(1).is_empty());
        for num in [1, 64, 1_000, 64] {
            roll.enter(user(1, num));
        }
        roll.enter(user(2, 63));
        assert_eq!((here(1), here(2)), (vec![1, 64, 1_000], vec![63]));
        for num in [64, 65, 1_000_000] {
            roll.leave(user(1, num));
        }
        assert_eq!((here(1), here(2), here(3)), (vec![1, 1_000], vec![63], vec![]));
    }
}
