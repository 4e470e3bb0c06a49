//! The port: every request as what to do and whom to tell.

use std::sync::Arc;

use chat::{
    Append, Appended, ChangeMessage, ChangedMessage, ContactsPage, ConversationChange, ConversationId,
    ConversationList, ConversationRow, ConversationsPage, Done, FoundPage, HistoryPage, Level, MarkerRow,
    MessageChange, Met, PeoplePage, Position, Profile, Refusal, Relation, ResumeFrom, Revision, Search,
    Secret, Seq, SetPresence, Settings, Site, SiteAuthor, SiteChange, SiteId, SiteNotChanged, Snapshot,
    Store, StoreError, StoredMessage, Sub, Timestamp, TokenUser, UnpublishedPage, UserId, UserRow,
};
use rusqlite::Connection;

use crate::fault::Outcome;
use crate::reader::{self, Read};
use crate::sqlite::{Shared, Sqlite};
use crate::user::Seen;
use crate::writer::{self, Batch};
use crate::{
    contact, conversation, message, message_change, meta, moderation, resume, room, search, site, token, user,
};

impl Sqlite {
    pub(crate) fn write<T: Send + 'static>(
        &self,
        operation: impl FnMut(&mut Batch<'_>) -> Outcome<T> + Send + 'static,
        done: Done<T>,
    ) {
        self.shared.write(writer::write(operation, |outcome, _| done(outcome)), 0);
    }

    pub(crate) fn read<T: Send + 'static>(
        &self,
        operation: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
        done: Done<T>,
    ) {
        self.shared.read(read(operation, done));
    }
}

impl Sqlite {
    /// Names the database: a restored backup has another one.
    pub fn epoch(&self) -> Result<u32, StoreError> {
        self.admin(|db| meta::epoch(db))
    }
}

fn read<T: Send + 'static>(
    operation: impl FnMut(&Connection) -> Outcome<T> + Send + 'static,
    done: Done<T>,
) -> Box<dyn Read> {
    reader::read(operation, |outcome| {
        done(outcome);
        None
    })
}

fn put_user(
    batch: &mut Batch<'_>,
    site: SiteId,
    profile: &Profile,
    now: Timestamp,
) -> Outcome<(UserRow, Seen)> {
    let (row, seen) = user::put(batch.db, site, profile, now, || batch.next_user(site))?;
    if seen != Seen::Before {
        batch.next_number();
    }
    Ok((row, seen))
}

fn put_token_user(
    batch: &mut Batch<'_>,
    site: SiteId,
    user: &TokenUser,
    now: Timestamp,
) -> Outcome<(UserRow, Seen)> {
    let (row, seen) = put_user(batch, site, &user.profile, now)?;
    Ok((moderation::role::follow(batch.db, row, user.role, now)?, seen))
}

/// The view of a user who has signed in, once the node has met them.
fn view(row: UserRow, from: ResumeFrom, done: Done<(UserRow, Snapshot)>) -> Box<dyn Read> {
    let id = row.id;
    read(
        move |db| resume::snapshot(db, id, from, meta::epoch(db)?),
        Box::new(move |outcome| done(outcome.map(|snapshot| (row, snapshot)))),
    )
}

/// A user who is new, or whose profile or role has changed.
fn sign_in_changed(
    shared: &Arc<Shared>,
    site: SiteId,
    user: TokenUser,
    from: ResumeFrom,
    now: Timestamp,
    met: Met,
    done: Done<(UserRow, Snapshot)>,
) {
    let job = writer::write(
        move |batch| put_token_user(batch, site, &user, now),
        move |outcome, after| match outcome {
            Err(error) => done(Err(error)),
            Ok((row, _)) if !met(&row) => {}
            // Nobody else has known this user until now: there is nothing to see.
            Ok((row, Seen::New)) => done(Ok((row, resume::empty(after.committed)))),
            Ok((row, _)) => after.shared.read(view(row, from, done)),
        },
    );
    shared.write_patiently(job);
}

impl Store for Sqlite {
    fn put_user(&self, site: SiteId, profile: Profile, now: Timestamp, done: Done<UserRow>) {
        self.write(move |batch| Ok(put_user(batch, site, &profile, now)?.0), done);
    }

    fn renew_user(&self, site: SiteId, user: TokenUser, now: Timestamp, done: Done<UserRow>) {
        self.write(move |batch| Ok(put_token_user(batch, site, &user, now)?.0), done);
    }

    fn sign_in(
        &self,
        site: SiteId,
        user: TokenUser,
        from: ResumeFrom,
        now: Timestamp,
        met: Met,
        done: Done<(UserRow, Snapshot)>,
    ) {
        let shared = Arc::clone(&self.shared);
        let sub = user.profile.sub.clone();
        let look_up = reader::read(
            move |db| user::by_sub(db, site, &sub),
            move |outcome| match outcome {
                Err(error) => {
                    done(Err(error));
                    None
                }
                Ok(Some(row)) if row.is_as(&user.profile) && !row.differs_in_role(user.role) => {
                    met(&row).then(|| view(row, from, done))
                }
                Ok(_) => {
                    sign_in_changed(&shared, site, user, from, now, met, done);
                    None
                }
            },
        );
        self.shared.read_last(look_up);
    }

    fn append(&self, append: Append, done: Done<Appended>) {
        let bytes = append.body.len();
        let job = writer::write(move |batch| message::append(batch, &append), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn change_message(&self, change: ChangeMessage, done: Done<Result<ChangedMessage, Refusal>>) {
        let bytes = match &change.change {
            MessageChange::Edit(body) => body.len(),
            MessageChange::Delete
            | MessageChange::React { .. }
            | MessageChange::Pin(_)
            | MessageChange::Vote(_)
            | MessageChange::ClosePoll
            | MessageChange::Preview(_) => 0,
        };
        let job =
            writer::write(move |batch| message_change::change(batch, &change), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn publish_gathered(&self, conversation: ConversationId, seq: Seq, done: Done<Option<ChangedMessage>>) {
        self.write(move |batch| message_change::publish(batch, conversation, seq), done);
    }

    fn unpublished(&self, page: UnpublishedPage, done: Done<Vec<(ConversationId, Seq)>>) {
        self.read(move |db| message_change::unpublished(db, page), done);
    }

    fn mark(
        &self,
        conversation: ConversationId,
        user: UserId,
        received: Seq,
        read: Seq,
        done: Done<MarkerRow>,
    ) {
        let mark = if conversation.is_room() { room::change::mark } else { conversation::mark };
        self.write(move |batch| mark(batch, conversation, user, received, read), done);
    }

    fn change_conversation(
        &self,
        conversation: ConversationId,
        user: UserId,
        change: ConversationChange,
        done: Done<Result<(ConversationRow, Position), Refusal>>,
    ) {
        let set = if conversation.is_room() { room::change::change_view } else { conversation::change };
        let bytes = change.draft.as_deref().map_or(0, str::len);
        let job =
            writer::write(move |batch| set(batch, conversation, user, &change), |outcome, _| done(outcome));
        self.shared.write(job, bytes);
    }

    fn put_relation(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
        _now: Timestamp,
        done: Done<Option<Position>>,
    ) {
        self.write(move |batch| contact::put(batch, a, b, relation, limit), done);
    }

    fn put_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp) {
        let put = move |batch: &mut Batch<'_>| user::put_presence(batch.db, user, presence, last_seen);
        self.shared.write_patiently(writer::write(put, |_, _| ()));
    }

    fn use_token(&self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp, done: Done<bool>) {
        let jti: Box<str> = jti.into();
        self.write(move |batch| token::spend(batch.db, site, &jti, expires, now), done);
    }

    fn set_banned(&self, user: UserId, banned: bool, done: Done<bool>) {
        self.write(move |batch| user::set_banned(batch.db, user, banned), done);
    }

    fn keep_level(&self, user: UserId, level: Level, done: Done<Option<UserRow>>) {
        self.write(move |batch| user::keep_level(batch.db, user, level), done);
    }

    fn written(&self, user: UserId, most: u32, done: Done<u32>) {
        self.read(move |db| user::written(db, user, most), done);
    }

    fn rooms_made(&self, user: UserId, since: Timestamp, done: Done<u32>) {
        self.read(move |db| room::member::made_since(db, user, since), done);
    }

    fn user(&self, site: SiteId, sub: Sub, done: Done<Option<UserRow>>) {
        self.read(move |db| user::by_sub(db, site, &sub), done);
    }

    fn users(&self, site: SiteId, subs: Vec<Sub>, done: Done<Vec<UserRow>>) {
        self.read(
            move |db| subs.iter().filter_map(|sub| user::by_sub(db, site, sub).transpose()).collect(),
            done,
        );
    }

    fn users_by_id(&self, ids: Vec<UserId>, done: Done<Vec<UserRow>>) {
        self.read(move |db| ids.iter().filter_map(|id| user::by_id(db, *id).transpose()).collect(), done);
    }

    fn relation(&self, a: UserId, b: UserId, done: Done<Relation>) {
        let read = move |db: &Connection| {
            message::bring_in(db, a, b)?;
            contact::relation(db, a, b)
        };
        self.read(read, done);
    }

    fn relations(&self, user: UserId, others: Vec<UserId>, done: Done<Vec<Relation>>) {
        self.read(move |db| others.iter().map(|other| contact::relation(db, user, *other)).collect(), done);
    }

    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>) {
        self.read(move |db| resume::snapshot(db, user, from, meta::epoch(db)?), done);
    }

    fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<String>,
        limit: u32,
        done: Done<ConversationsPage>,
    ) {
        self.read(move |db| conversation::page(db, user, list, after.as_deref(), limit), done);
    }

    fn conversation(&self, user: UserId, conversation: ConversationId, done: Done<Option<ConversationRow>>) {
        self.read(move |db| conversation::one(db, user, conversation), done);
    }

    fn history(
        &self,
        reader: UserId,
        conversation: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<HistoryPage>,
    ) {
        self.read(move |db| message::history(db, reader, conversation, before, after, limit), done);
    }

    fn history_since(
        &self,
        reader: UserId,
        conversation: ConversationId,
        time: Timestamp,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        self.read(move |db| message::history_since(db, reader, conversation, time, limit), done);
    }

    fn search(&self, wanted: Search, done: Done<Result<FoundPage, Refusal>>) {
        // After other reads: a common word may take a while.
        self.shared.read_last(read(move |db| search::search(db, &wanted), done));
    }

    fn message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        seq: Seq,
        done: Done<Result<StoredMessage, Refusal>>,
    ) {
        self.read(move |db| message::one(db, reader, conversation, seq), done);
    }

    fn pins(
        &self,
        reader: UserId,
        conversation: ConversationId,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    ) {
        self.read(move |db| message_change::pins(db, reader, conversation), done);
    }

    fn revisions(&self, conversation: ConversationId, seq: Seq, done: Done<Vec<Revision>>) {
        self.read(move |db| message_change::revisions(db, conversation, seq), done);
    }

    fn contacts_of(&self, users: Vec<UserId>, done: Done<Vec<Vec<UserId>>>) {
        let lists = move |db: &Connection| users.iter().map(|user| contact::agreed(db, *user)).collect();
        self.shared.read_last(read(lists, done));
    }

    fn contacts(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ContactsPage>) {
        self.read(move |db| contact::page(db, user, after.as_deref(), limit), done);
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

    fn sites(&self) -> Result<Vec<Site>, StoreError> {
        self.admin(site::all)
    }

    fn revision(&self) -> Result<u64, StoreError> {
        self.admin(|db| meta::revision(db))
    }

    fn add_site(&self, site: &Site) -> Result<Option<SiteId>, StoreError> {
        self.admin(|db| site::add(db, site))
    }

    fn banned(&self) -> Result<Vec<UserId>, StoreError> {
        self.admin(|db| user::banned(db))
    }

    fn standings(&self) -> Result<Vec<UserRow>, StoreError> {
        self.admin(|db| user::with_standing(db))
    }

    fn next_sanction_end(&self) -> Result<Option<Timestamp>, StoreError> {
        self.admin(|db| moderation::sanction::next_end(db))
    }

    fn set_settings(&self, site: SiteId, settings: &Settings) -> Result<bool, StoreError> {
        self.admin(|db| site::set_settings(db, site, settings))
    }

    fn change_site(
        &self,
        site: SiteId,
        change: SiteChange,
        author: SiteAuthor,
        now: Timestamp,
    ) -> Result<Result<Site, SiteNotChanged>, StoreError> {
        self.admin(|db| site::change(db, site, &change, author, now))
    }

    fn update_site(&self, site: &Site) -> Result<(), StoreError> {
        self.admin(|db| site::update(db, site))
    }

    fn remove_site(&self, site: SiteId) -> Result<bool, StoreError> {
        self.admin(|db| site::remove(db, site))
    }

    fn add_secret(&self, site: SiteId, secret: &Secret) -> Result<(), StoreError> {
        self.admin(|db| site::add_secret(db, site, secret))
    }

    fn list_users(&self, site: SiteId, after: Option<Sub>, limit: u32) -> Result<Vec<UserRow>, StoreError> {
        self.admin(|db| user::list(db, site, after.as_ref(), limit))
    }

    fn flush(&self) -> Result<(), StoreError> {
        let (told, wait) = std::sync::mpsc::sync_channel(1);
        let job = writer::write(|_| Ok(()), move |outcome, _| _ = told.send(outcome));
        self.shared.write(job, 0);
        self.run();
        wait.recv().unwrap_or_else(|_| Err(StoreError::Failed("the store is closed".into())))
    }
}
