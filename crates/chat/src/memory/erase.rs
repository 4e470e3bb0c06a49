//! The part of the port that is about erasing users.

use super::MemoryStore;
use crate::account::erasure::{EraseSlice, EraseStore, Erased, NewErasure};
use crate::{Done, Refusal, Timestamp};

impl EraseStore for MemoryStore {
    fn begin_erasure(&self, erasure: NewErasure, done: Done<Result<Erased, Refusal>>) {
        self.write(move |tables| tables.begin_erasure(erasure), done);
    }

    fn erase_some(&self, now: Timestamp, limit: u32, done: Done<EraseSlice>) {
        self.write(move |tables| tables.erase_some(now, limit as usize), done);
    }
}
