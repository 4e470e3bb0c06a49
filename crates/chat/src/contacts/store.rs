//! The slice of the port to storage for contacts and the directory.

use crate::contacts::message_requests::RequestStore;
use crate::users::store::UserStore;
use crate::{ContactList, ContactNote, Done, Position, Relation, SiteId, Timestamp, UserId, UserRow};

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
    /// The relation of two users, with the own names and groups of both.
    fn contact_pair(&self, a: UserId, b: UserId, done: Done<ContactPair>);
    /// Like [`put_relation`](Self::put_relation), and replaces the name and groups that `a` has for `b`. A relation that takes
    /// the other user off a list removes them.
    #[allow(clippy::too_many_arguments, reason = "those of `put_relation`, and the note")]
    fn put_contact_note(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        note: ContactNote,
        limit: u32,
        now: Timestamp,
        done: Done<Option<Position>>,
    );
    /// Contacts whose side has changed since a position, with removed ones. None: more than `limit`, or the position
    /// is not of this database.
    fn changed_contacts(&self, user: UserId, since: Position, limit: u32, done: Done<Option<ContactList>>);
    /// A page by name, then sub, with the own names and groups. The first page, also that of a [`Snapshot`], ends with blocked users of all
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

/// The relation of `a` and `b`, and what each has noted about the other.
#[derive(Debug, Clone)]
pub struct ContactPair {
    pub relation: Relation,
    pub notes: [Option<ContactNote>; 2],
}

#[derive(Debug, Clone)]
pub struct ContactsPage {
    pub rows: ContactList,
    pub next: Option<String>,
}

#[derive(Debug, Clone)]
pub struct PeoplePage {
    pub rows: Vec<UserRow>,
    pub next: Option<String>,
}
