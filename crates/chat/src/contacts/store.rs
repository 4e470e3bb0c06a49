//! The slice of the port to storage for contacts and the directory.

use crate::contacts::message_requests::RequestStore;
use crate::users::store::UserStore;
use crate::{ContactRow, Done, Position, Relation, SiteId, Timestamp, UserId, UserRow};

/// Blocked users of later pages that come with the first page of contacts.
pub const MOST_BLOCKED_FIRST: u32 = 1_000;

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait ContactStore: UserStore + RequestStore {
    /// Sets how `a` and `b` stand to each other, both sides in one transaction. `None` on a side takes it off
    /// the list; a difference since before then still tells it once, as `None`.
    /// `limit`: most contact rows of one user; answers None (and changes nothing) where it would be passed.
    fn put_relation(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
        now: Timestamp,
        done: Done<Option<Position>>,
    );
    /// By name, then sub. The first page, also that of a [`Snapshot`], ends with the blocked ones of all other pages, at most
    /// [`MOST_BLOCKED_FIRST`]: a client must know them to collapse their messages.
    fn contacts(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ContactsPage>);
    /// The directory: by name, then sub; `query` is a case-insensitive start of a word of the name.
    fn people(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<PeoplePage>,
    );
}

#[derive(Debug, Clone)]
pub struct ContactsPage {
    pub rows: Vec<ContactRow>,
    pub next: Option<String>,
}

#[derive(Debug, Clone)]
pub struct PeoplePage {
    pub rows: Vec<UserRow>,
    pub next: Option<String>,
}
