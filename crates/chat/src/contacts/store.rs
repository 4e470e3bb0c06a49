//! The slice of the port to storage for contacts and the directory.

use crate::contacts::message_requests::RequestStore;
use crate::users::store::UserStore;
use crate::{ContactRow, Done, Position, Relation, SiteId, Timestamp, UserId, UserRow};

/// Blocked users of later pages that are added to the first page of contacts.
pub const MOST_BLOCKED_FIRST: u32 = 1_000;

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait ContactStore: UserStore + RequestStore {
    /// Sets the relation of `a` and `b`, both sides in one transaction. `None` on a side removes the entry
    /// from the list; changes since an older position still report it once, as `None`. `limit`: most contact
    /// rows of one user. Answers None, and changes nothing, if a list would exceed it.
    fn put_relation(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
        now: Timestamp,
        done: Done<Option<Position>>,
    );
    /// A page by name, then sub. The first page, also that of a [`Snapshot`], ends with blocked users of all
    /// other pages, at most [`MOST_BLOCKED_FIRST`]: a client must know them to collapse their messages.
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
