//! Erasure of users. The first transaction removes everything that identifies the user; slices remove the many rows.
//!
//! The row of `erasure` records the progress of the slices. Each slice writes it in its own transaction, so a slice
//! that failed is repeated.

mod begin;
mod slice;
mod unanswered;

pub(crate) use slice::under_way;

use chat::{Done, EraseSlice, EraseStore, Erased, NewErasure, Refusal, SiteId, Timestamp, UserId};

use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};

impl EraseStore for Sqlite {
    fn begin_erasure(&self, erasure: NewErasure, done: Done<Result<Erased, Refusal>>) {
        self.write(move |batch| begin::begin(batch, &erasure), done);
    }

    fn unanswered_users(&self, site: SiteId, before: Timestamp, limit: u32, done: Done<Vec<UserId>>) {
        self.read(move |db| unanswered::users(db, site, before, limit), done);
    }

    fn erase_some(&self, now: Timestamp, limit: u32, done: Done<EraseSlice>) {
        let some = move |batch: &mut Batch<'_>| slice::some(batch, now, limit);
        self.shared.write_patiently(writer::write(some, |outcome, _| done(outcome)));
    }
}
