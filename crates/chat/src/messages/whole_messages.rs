//! Limits whole messages that a small command sends to a room: edits, forwards, pins. The bound is in bytes
//! per room, for all authors together.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::limits::{Due, Rate};
use crate::{Refusal, RoomName, Timestamp};

/// Burst of one room, and the time in which it refills: 32 KiB per second.
const BURST_BYTES: u64 = 256 * 1_024;
const PERIOD_MS: u64 = 8_000;
/// Rooms with a budget in memory. Rooms with a full budget are forgotten; at the bound, also the room with
/// the largest rest.
const MOST_ROOMS: usize = 4_096;
/// Bytes counted for a message besides its body.
const FRAME_BYTES: u64 = 640;

#[derive(Default)]
pub(crate) struct WholeMessages(Mutex<HashMap<RoomName, Due>>);

fn rate() -> Rate {
    Rate::budget(BURST_BYTES, PERIOD_MS)
}

impl WholeMessages {
    /// Checks that the room's budget is not used up.
    pub(crate) fn check(&self, room: &RoomName, now: Timestamp) -> Result<(), Refusal> {
        let rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.get(room).map_or(Ok(()), |due| rate().has_left(*due, now))
    }

    /// Counts a message with such a body, after it was sent to the room. So users who may not write there
    /// cannot use up the budget.
    pub(crate) fn spend(&self, room: RoomName, body: usize, now: Timestamp) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if rooms.len() >= MOST_ROOMS && !rooms.contains_key(&room) {
            rooms.retain(|_, due| !due.is_idle(now));
            if rooms.len() >= MOST_ROOMS
                && let Some(first) = rooms.iter().min_by_key(|(_, due)| **due).map(|(room, _)| room.clone())
            {
                rooms.remove(&first);
            }
        }
        rate().spend(rooms.entry(room).or_default(), body as u64 + FRAME_BYTES, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationId, SiteId};

    fn room(key: u64) -> RoomName {
        RoomName::Id(ConversationId::room(SiteId(1), key))
    }

    #[test]
    fn bytes_per_room_and_second_are_bounded() {
        let rooms = WholeMessages::default();
        let mut taken = 0;
        for ms in 0..60_000 {
            if rooms.check(&room(1), Timestamp(ms)).is_ok() {
                rooms.spend(room(1), 8_192, Timestamp(ms));
                taken += 8_192 + FRAME_BYTES;
            }
        }
        // Costs are rounded to whole microseconds.
        let most = (BURST_BYTES + 60 * BURST_BYTES * 1_000 / PERIOD_MS) / 100 * 103;
        assert!((most / 2..=most).contains(&taken), "{taken} of {most}");
        assert_eq!(rooms.check(&room(2), Timestamp(60_000)), Ok(()), "another room has its own");
    }

    #[test]
    fn rooms_in_memory_are_bounded() {
        let rooms = WholeMessages::default();
        for key in 0..2 * MOST_ROOMS as u64 {
            rooms.spend(room(key), 10_000, Timestamp(0));
        }
        assert_eq!(rooms.0.lock().unwrap().len(), MOST_ROOMS);
        rooms.spend(room(9_999_999), 10, Timestamp(PERIOD_MS));
        assert_eq!(rooms.0.lock().unwrap().len(), 1, "the others have their whole budget");
    }
}
