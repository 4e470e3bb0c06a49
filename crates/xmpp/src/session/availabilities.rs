//! Availabilities in use on a worker. The apps of one version announce the same one, so it is in memory once.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Weak};

use chat::presence::Availability;

const SLOTS: usize = 256;

/// The last availability of each slot. A collision costs memory and nothing else.
pub(crate) struct Availabilities {
    slots: Vec<Weak<Availability>>,
    hasher: RandomState,
}

impl Default for Availabilities {
    fn default() -> Availabilities {
        let slots = std::iter::repeat_with(Weak::new).take(SLOTS).collect();
        Availabilities { slots, hasher: RandomState::new() }
    }
}

impl Availabilities {
    pub(super) fn shared(&mut self, new: Availability) -> Arc<Availability> {
        let slot = &mut self.slots[self.hasher.hash_one(&new) as usize % SLOTS];
        if let Some(known) = slot.upgrade().filter(|known| **known == new) {
            return known;
        }
        let new = Arc::new(new);
        *slot = Arc::downgrade(&new);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_availabilities_are_one_while_somebody_uses_them() {
        let of = |status: &str| Availability { status: status.into(), ..Availability::default() };
        let mut all = Availabilities::default();
        let first = all.shared(of("here"));
        assert!(Arc::ptr_eq(&first, &all.shared(of("here"))));
        for number in 0..2 * SLOTS {
            let status = number.to_string();
            assert_eq!(*all.shared(of(&status)).status, *status);
        }
        drop(first);
        assert_eq!(*all.shared(of("here")), of("here"));
    }
}
