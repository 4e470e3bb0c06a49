//! Erasing users: at once what says who they were, then in slices what there is much of.
//!
//! The row of `erasure` says how far the slices have come. It is written in the transaction of each slice, so a slice that did
//! not happen is done again.

mod begin;
mod slice;

pub(crate) use slice::under_way;

use chat::{Done, EraseSlice, EraseStore, Erased, NewErasure, Refusal, Timestamp};

use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};

impl EraseStore for Sqlite {
    fn begin_erasure(&self, erasure: NewErasure, done: Done<Result<Erased, Refusal>>) {
        self.write(move |batch| begin::begin(batch, &erasure), done);
    }

    fn erase_some(&self, now: Timestamp, limit: u32, done: Done<EraseSlice>) {
        let some = move |batch: &mut Batch<'_>| slice::some(batch, now, limit);
        self.shared.write_patiently(writer::write(some, |outcome, _| done(outcome)));
    }
}
