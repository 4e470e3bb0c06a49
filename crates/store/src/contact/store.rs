//! The slice of contacts and the directory: queues each request with its completion.

use chat::{ContactStore, ContactsPage, Done, PeoplePage, Position, Relation, SiteId, Timestamp, UserId};

use crate::sqlite::Sqlite;
use crate::user;

impl ContactStore for Sqlite {
    fn put_relation(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
        _now: Timestamp,
        done: Done<Option<Position>>,
    ) {
        self.write(move |batch| super::put(batch, a, b, relation, limit), done);
    }

    fn contacts(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ContactsPage>) {
        self.read(move |db| super::page(db, user, after.as_deref(), limit), done);
    }

    fn people(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<PeoplePage>,
    ) {
        self.read(move |db| user::people(db, site, query.as_deref(), after.as_deref(), limit), done);
    }
}
