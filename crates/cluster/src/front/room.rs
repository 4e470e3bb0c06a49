//! A bound on bytes that all slots of a front share, with some room that is reserved for each of them: a slot whose home is away must not
//! take the room of the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Each slot may have so many bytes, whatever the others have.
const RESERVED: usize = 256 * 1024;

pub(crate) struct Room {
    used: AtomicUsize,
    most: usize,
}

impl Room {
    pub(crate) fn new(most: usize) -> Arc<Room> {
        Arc::new(Room { used: AtomicUsize::new(0), most })
    }
}

/// The bytes of one slot. Threads that add at once may exceed the bound by an item each.
pub(crate) struct Share {
    room: Arc<Room>,
    own: usize,
}

impl Share {
    pub(crate) fn of(room: &Arc<Room>) -> Share {
        Share { room: Arc::clone(room), own: 0 }
    }

    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.own + bytes <= RESERVED || self.room.used.load(Ordering::Relaxed) + bytes <= self.room.most
    }

    /// Without a check of the bound.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.own += bytes;
        self.room.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn remove(&mut self, bytes: usize) {
        self.own -= bytes;
        self.room.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn clear(&mut self) {
        self.remove(self.own);
    }

    #[cfg(test)]
    pub(crate) fn own(&self) -> usize {
        self.own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_has_its_reserve_even_if_others_have_taken_the_room() {
        let room = Room::new(4 * RESERVED);
        let (mut one, mut other) = (Share::of(&room), Share::of(&room));
        assert!(one.fits(4 * RESERVED) && !one.fits(4 * RESERVED + 1));
        one.add(4 * RESERVED);
        assert!(!one.fits(1) && other.fits(RESERVED) && !other.fits(RESERVED + 1));
        other.add(RESERVED);
        assert!(!other.fits(1));
        one.clear();
        assert!(other.fits(3 * RESERVED) && !other.fits(3 * RESERVED + 1));
        other.remove(RESERVED);
        assert!(one.fits(4 * RESERVED));
    }
}
