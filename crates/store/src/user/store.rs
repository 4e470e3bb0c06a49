//! The slices of users and presence: queues each request with its completion.

use crate::engine::Connection;
use chat::{
    ContactIds, ConversationId, ConversationRow, Done, PresenceStore, Profile, Refusal, Relation,
    SetPresence, SiteId, StoreError, Sub, Timestamp, UserId, UserRow, UserStore,
};

use crate::late::Scope;
use crate::port::read;
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};
use crate::{contact, conversation, message, room};

impl UserStore for Sqlite {
    fn put_user(&self, site: SiteId, profile: Profile, now: Timestamp, done: Done<UserRow>) {
        self.write(move |batch| Ok(super::put_with_number(batch, site, &profile, now)?.0), done);
    }

    fn set_banned(&self, user: UserId, banned: bool, done: Done<bool>) {
        self.write(move |batch| super::set_banned(batch.db, user, banned), done);
    }

    fn user(&self, site: SiteId, sub: Sub, done: Done<Option<UserRow>>) {
        self.read(move |db| super::by_sub(db, site, &sub), done);
    }

    fn users(&self, site: SiteId, subs: Vec<Sub>, done: Done<Vec<UserRow>>) {
        self.read(move |db| super::by_subs(db, site, &subs), done);
    }

    fn users_by_id(&self, ids: Vec<UserId>, done: Done<Vec<UserRow>>) {
        self.read(move |db| super::by_ids(db, &ids), done);
    }

    fn relation(&self, a: UserId, b: UserId, done: Done<Relation>) {
        let read = move |db: &Connection| {
            message::load_pages(db, a, b)?;
            contact::relation(db, a, b)
        };
        self.read(read, done);
    }

    fn relations(&self, pairs: Vec<[UserId; 2]>, done: Done<Vec<Relation>>) {
        self.read(move |db| contact::relations(db, &pairs), done);
    }

    fn contacts_of(&self, users: Vec<UserId>, done: Done<Vec<ContactIds>>) {
        let lists = move |db: &Connection| users.iter().map(|user| contact::contact_ids(db, *user)).collect();
        self.shared.read_last(read(lists, done));
    }

    fn conversation(&self, user: UserId, conversation: ConversationId, done: Done<Option<ConversationRow>>) {
        self.read_settled(
            Scope::One(conversation),
            move |db| conversation::one(db, user, conversation),
            done,
        );
    }

    fn few_members(
        &self,
        room: ConversationId,
        asker: UserId,
        most: u32,
        done: Done<Result<Vec<UserId>, Refusal>>,
    ) {
        self.read(move |db| room::list::few(db, room, asker, most), done);
    }

    fn banned(&self) -> Result<Vec<UserId>, StoreError> {
        self.admin(|db| super::banned(db))
    }

    fn list_users(&self, site: SiteId, after: Option<Sub>, limit: u32) -> Result<Vec<UserRow>, StoreError> {
        self.admin(|db| super::list(db, site, after.as_ref(), limit))
    }
}

impl PresenceStore for Sqlite {
    fn put_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        let put = move |batch: &mut Batch<'_>| super::put_presence(batch.db, user, presence, last_seen);
        self.shared.write_patiently(writer::write(put, |_, _| ()));
    }
}
