//! The slice of contacts and the directory: queues each request with its completion.

use chat::{
    ContactList, ContactNote, ContactPair, ContactStore, ContactsPage, Done, PeoplePage, Position, Relation,
    SiteId, Timestamp, UserId,
};

use super::{Page, packed};
use crate::late::{Scope, Settled};
use crate::reader;
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

    fn contact_pair(&self, a: UserId, b: UserId, done: Done<ContactPair>) {
        self.read(move |db| super::pair(db, a, b), done);
    }

    fn put_contact_note(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        note: ContactNote,
        limit: u32,
        _now: Timestamp,
        done: Done<Option<Position>>,
    ) {
        self.write(move |batch| super::put_note(batch, a, b, relation, &note, limit), done);
    }

    fn changed_contacts(&self, user: UserId, since: Position, limit: u32, done: Done<Option<ContactList>>) {
        self.read(move |db| super::changed(db, user, since, limit), done);
    }

    fn contacts(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ContactsPage>) {
        let read = move |db: &Settled<'_>| super::page(db, user, after.as_deref(), limit);
        let done = move |outcome: Result<Page, _>| done(outcome.map(|read| read.page));
        let then = packed::after(&self.shared, user, |read| read.unpacked, done);
        self.shared.read(reader::read(Scope::Nothing, read, then));
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
