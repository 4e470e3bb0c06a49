//! Imports of another system's users, contacts, rooms and messages: `docs/design/import.md`.

use std::collections::HashMap;

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    By, ConversationId, Done, ImportFloor, ImportItem, ImportJob, ImportKey, ImportMessage, ImportOutcome,
    ImportRefusal, ImportStore, ImportTo, Imported, MemberState, MessageKind, Position, Refusal, Relation,
    Role, Seq, SiteId, StoreError, Sub, Timestamp, UserId, imported_client_id,
};

use crate::fault::{Fault, Outcome};
use crate::moderation::audit;
use crate::room::{self, RoomRow};
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};
use crate::{contact, message, user};

impl ImportStore for Sqlite {
    fn import(&self, job: ImportJob, done: Done<Imported>) {
        let import = move |batch: &mut Batch<'_>| Importer::new(batch, &job).run();
        self.shared.write_last(writer::write(import, |outcome, _| done(outcome)));
    }

    fn publish_import(&self, site: SiteId, ends: bool, done: Done<Position>) {
        self.write(move |batch| publish(batch, site, ends), done);
    }

    fn import_floors(&self) -> Result<Vec<ImportFloor>, StoreError> {
        self.admin(|db| floors(db))
    }
}

/// A room in the open transaction; its row is written at the end of the job.
struct OpenRoom {
    row: RoomRow,
    /// The newest seq before the job.
    before: u64,
    /// The job added members.
    changed: bool,
}

/// One job in the writer's transaction.
struct Importer<'a, 'b, 'c> {
    batch: &'a mut Batch<'b>,
    job: &'c ImportJob,
    users: HashMap<&'c Sub, Result<UserId, ImportRefusal>>,
    rooms: HashMap<ConversationId, OpenRoom>,
    imported: Imported,
}

/// Err: the reason why nothing was stored.
type Stored = Result<(), ImportOutcome>;

fn refused<T>(why: ImportRefusal) -> Outcome<Result<T, ImportOutcome>> {
    Ok(Err(ImportOutcome::Refused(why)))
}

/// Returns the value, or ends this item with its outcome.
macro_rules! or_end {
    ($found:expr) => {
        match $found {
            Ok(found) => found,
            Err(outcome) => return Ok(Err(outcome)),
        }
    };
}

impl<'a, 'b, 'c> Importer<'a, 'b, 'c> {
    fn new(batch: &'a mut Batch<'b>, job: &'c ImportJob) -> Importer<'a, 'b, 'c> {
        let imported = Imported {
            outcomes: Vec::with_capacity(job.items.len()),
            users: Vec::new(),
            rooms: Vec::new(),
            contacts: Vec::new(),
            position: Position::default(),
        };
        Importer { batch, job, users: HashMap::new(), rooms: HashMap::new(), imported }
    }

    fn run(mut self) -> Outcome<Imported> {
        for item in &self.job.items {
            let stored = match self.job.rules.check(item) {
                Ok(()) => self.store(item)?,
                Err(why) => Err(ImportOutcome::Refused(why)),
            };
            self.imported.outcomes.push(stored.err().unwrap_or(ImportOutcome::Added));
        }
        let mut rooms: Vec<_> = std::mem::take(&mut self.rooms).into_iter().collect();
        rooms.sort_unstable_by_key(|(id, _)| *id);
        for (id, room) in rooms {
            save_room(self.batch.db, &room)?;
            if room.changed || room.row.newest.seq > room.before {
                self.imported.rooms.push((id, self.batch.state.members.of(self.batch.db, id)?));
            }
        }
        self.imported.users.sort_unstable();
        self.imported.users.dedup();
        if self.imported.outcomes.contains(&ImportOutcome::Added) {
            self.raise_floor()?;
        }
        self.imported.position = self.batch.position();
        Ok(self.imported)
    }

    fn store(&mut self, item: &'c ImportItem) -> Outcome<Stored> {
        match item {
            ImportItem::User { profile, created } => {
                let key = ImportKey::user(&profile.sub);
                if self.find(&key)?.is_some() {
                    return Ok(Err(ImportOutcome::Known));
                }
                let (site, batch) = (self.job.site, &mut *self.batch);
                let before = user::by_sub(batch.db, site, &profile.sub)?;
                let id = match &before {
                    Some(row) => row.id,
                    None => {
                        let now = self.job.rules.now;
                        let (row, _) = user::put(batch.db, site, profile, now, || batch.next_user(site))?;
                        if let Some(created) = created {
                            user::set_created(batch.db, row.id, *created)?;
                        }
                        self.batch.next_number();
                        self.users.remove(&profile.sub);
                        row.id
                    }
                };
                self.keep(&key, id.num.into())?;
                Ok(if before.is_some() { Err(ImportOutcome::Known) } else { Ok(()) })
            }
            ImportItem::Contact([one, other]) => {
                let (a, b) = (or_end!(self.user(one)?), or_end!(self.user(other)?));
                self.contact(a, b)
            }
            ImportItem::Room { key, room, created } => {
                if self.find(key)?.is_some() {
                    return Ok(Err(ImportOutcome::Known));
                }
                let (site, now) = (self.job.site, self.job.rules.now);
                let row = room::change::import(self.batch, site, room, *created, now)?;
                self.keep(key, row.id.key as i64)?;
                self.open(row);
                Ok(Ok(()))
            }
            ImportItem::Member { room, user, role } => {
                let id = or_end!(self.room(*room)?);
                let user = or_end!(self.user(user)?);
                self.member(id, user, *role)
            }
            ImportItem::Message(message) => self.message(message),
        }
    }

    fn contact(&mut self, a: UserId, b: UserId) -> Outcome<Stored> {
        if a == b {
            return refused(ImportRefusal::SameUser);
        }
        if contact::have_met(self.batch.db, a, b)? {
            return Ok(Err(ImportOutcome::Known));
        }
        if contact::put(self.batch, a, b, Relation::CONTACTS, self.job.rules.contacts)?.is_none() {
            return refused(ImportRefusal::TooManyContacts);
        }
        self.imported.users.extend([a.num, b.num]);
        self.imported.contacts.push((a, b));
        Ok(Ok(()))
    }

    fn member(&mut self, id: ConversationId, user: UserId, role: Role) -> Outcome<Stored> {
        if room::membership(self.batch.db, id, user)?.is_some() {
            return Ok(Err(ImportOutcome::Known));
        }
        let room = self.rooms.get_mut(&id).expect("a room that was found is open");
        let limits = self.job.rules.rooms;
        if let Err(why) = room::member::has_place(self.batch.db, Some(&room.row), user, limits)? {
            return refused(match why {
                Refusal::RoomFull => ImportRefusal::RoomFull,
                _ => ImportRefusal::TooManyRooms,
            });
        }
        room::member::put(self.batch, &room.row, user, None, MemberState::In(role))?;
        std::sync::Arc::make_mut(&mut room.row.room).members += 1;
        room.changed = true;
        self.imported.users.push(user.num);
        Ok(Ok(()))
    }

    fn message(&mut self, message: &'c ImportMessage) -> Outcome<Stored> {
        if self.find(&message.key)?.is_some() {
            return Ok(Err(ImportOutcome::Known));
        }
        let from = or_end!(self.user(&message.from)?);
        let id = match &message.to {
            ImportTo::Room(room) => or_end!(self.room(*room)?),
            ImportTo::User(other) => match ConversationId::direct(from, or_end!(self.user(other)?)) {
                Some(id) => id,
                None => return refused(ImportRefusal::SameUser),
            },
        };
        let (newest, active) = match self.rooms.get(&id) {
            Some(room) => (room.row.newest, room.row.active),
            None => match self.batch.conversation(id)? {
                Some(direct) => (direct.newest(), direct.active),
                None => (message::Newest { seq: 0, position: 0 }, Timestamp(0)),
            },
        };
        let before = (newest.seq > 0).then_some(active);
        or_end!(self.job.rules.place(id, message.time, before));
        let reply_to = match message.reply_to {
            Some(key) => self.seq_in(id, &key)?,
            None => None,
        };
        let number = self.batch.next_logged();
        let seq = newest.seq + 1;
        let append = chat::Append {
            conversation: id,
            from,
            kind: MessageKind::Text,
            client_id: imported_client_id(number),
            body: message.body.clone(),
            extension: None,
            time: message.time,
            reply_to,
            rich: None,
        };
        message::insert(self.batch.db, &append, number, seq, newest.position, false)?;
        self.batch.state.sent.note(from, &append.client_id, number);
        self.keep(&message.key, number as i64)?;
        let newest = message::Newest { seq, position: number };
        let active = before.map_or(message.time, |active| active.max(message.time));
        match self.rooms.get_mut(&id) {
            Some(room) => (room.row.newest, room.row.active) = (newest, active),
            None => self.append_direct(id, from, newest, active)?,
        }
        Ok(Ok(()))
    }

    /// A member who had read everything before the import has read the imported message, too.
    fn append_direct(
        &mut self,
        id: ConversationId,
        from: UserId,
        newest: message::Newest,
        active: Timestamp,
    ) -> Outcome<()> {
        let mut blocks = None;
        if let (1, Some(other)) = (newest.seq, id.other(from)) {
            blocks = Some(contact::relation(self.batch.db, from, other)?).filter(|known| known.is_blocked());
        }
        self.batch.upsert(id, |direct| {
            if let Some(relation) = blocks {
                contact::note_blocks(direct, id, from, relation);
            }
            let before = direct.seq;
            (direct.seq, direct.position, direct.active) = (newest.seq, newest.position, active);
            for side in &mut direct.sides {
                side.changed = newest.position;
                if side.read >= before {
                    (side.received, side.read) = (newest.seq, newest.seq);
                }
            }
        });
        self.imported.users.extend(id.pair().into_iter().flatten().map(|user| user.num));
        Ok(())
    }

    /// The seq of an imported message, if it is in this conversation and still exists.
    fn seq_in(&self, id: ConversationId, key: &ImportKey) -> Outcome<Option<Seq>> {
        let Some(position) = self.find(key)? else { return Ok(None) };
        let sql = sql!("SELECT seq FROM message WHERE position = $1 AND site = $2 AND conversation = $3");
        let mut statement = self.batch.db.prepare_cached(sql)?;
        let found =
            statement.query_row(params![position, id.site.0, id.key as i64], |row| row.get::<_, i64>(0));
        Ok(found.optional()?.map(|seq| Seq(seq as u64)))
    }

    /// None for a user who was erased after the import, even if another user has the id now.
    fn user(&mut self, sub: &'c Sub) -> Outcome<Result<UserId, ImportOutcome>> {
        if let Some(known) = self.users.get(sub) {
            return Ok(known.map_err(ImportOutcome::Refused));
        }
        let kept = self.find(&ImportKey::user(sub))?;
        let found = match (user::by_sub(self.batch.db, self.job.site, sub)?, kept) {
            (Some(row), Some(number)) if i64::from(row.id.num) != number => Err(ImportRefusal::UserErased),
            (Some(row), _) => Ok(row.id),
            (None, Some(_)) => Err(ImportRefusal::UserErased),
            (None, None) => Err(ImportRefusal::NoSuchUser),
        };
        self.users.insert(sub, found);
        Ok(found.map_err(ImportOutcome::Refused))
    }

    /// An imported room, which stays open until the end of the job.
    fn room(&mut self, key: ImportKey) -> Outcome<Result<ConversationId, ImportOutcome>> {
        let Some(found) = self.find(&key)? else { return refused(ImportRefusal::NoSuchRoom) };
        let id = ConversationId { site: self.job.site, key: found as u64 };
        if !self.rooms.contains_key(&id) {
            let Some(row) = room::load(self.batch.db, id)? else { return refused(ImportRefusal::NoSuchRoom) };
            self.open(row);
        }
        Ok(Ok(id))
    }

    fn open(&mut self, row: RoomRow) {
        let before = row.newest.seq;
        self.rooms.insert(row.id, OpenRoom { row, before, changed: false });
    }

    fn find(&self, key: &ImportKey) -> Outcome<Option<i64>> {
        let sql = sql!("SELECT number FROM imported WHERE site = $1 AND key = $2");
        let mut statement = self.batch.db.prepare_cached(sql)?;
        Ok(statement.query_row(params![self.job.site.0, key.bytes()], |row| row.get(0)).optional()?)
    }

    fn keep(&self, key: &ImportKey, number: i64) -> Outcome<()> {
        let sql = sql!("INSERT INTO imported (site, key, number) VALUES ($1, $2, $3)");
        let mut statement = self.batch.db.prepare_cached(sql)?;
        statement.execute(params![self.job.site.0, key.bytes(), number])?;
        Ok(())
    }

    /// The record has one entry for all jobs until they are published.
    fn raise_floor(&mut self) -> Outcome<()> {
        let (db, site) = (self.batch.db, self.job.site);
        let sql = sql!("SELECT 1 FROM import_floor WHERE site = $1 AND unpublished = 1");
        if !db.prepare_cached(sql)?.exists([site.0])? {
            let (by, act, time) = (By::Site, "import", self.job.rules.now);
            audit::note(
                db,
                &audit::Entry { site, by, act, user: None, conversation: None, detail: "", time },
            )?;
        }
        put_floor(db, site, self.batch.position().number, true)
    }
}

/// Writes the room's row. Members who had read everything before the job have read everything now.
fn save_room(db: &Connection, room: &OpenRoom) -> Outcome<()> {
    let OpenRoom { row, before, .. } = room;
    if row.newest.seq == *before {
        return Ok(());
    }
    let key = (row.id.site.0, row.id.key as i64);
    let sql = sql!("UPDATE room SET seq = $3, position = $4, active = $5 WHERE site = $1 AND key = $2");
    let (seq, position) = (row.newest.seq as i64, row.newest.position as i64);
    db.prepare_cached(sql)?.execute(params![key.0, key.1, seq, position, row.active.0 as i64])?;
    let sql = sql!(concat!(
        "UPDATE membership",
        indexed_by!("membership_room"),
        " SET received = $4, read = $4, \
               archived = CASE WHEN archived = $3 + 1 THEN $4 + 1 ELSE archived END \
               WHERE site = $1 AND room = $2 AND state < 8 AND read >= $3"
    ));
    db.prepare_cached(sql)?.execute(params![key.0, key.1, *before as i64, seq])?;
    Ok(())
}

fn publish(batch: &mut Batch<'_>, site: SiteId, ends: bool) -> Outcome<Position> {
    let number = batch.next_number();
    put_floor(batch.db, site, number, !ends)?;
    Ok(batch.position())
}

fn put_floor(db: &Connection, site: SiteId, number: u64, unpublished: bool) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO import_floor (site, number, unpublished) VALUES ($1, $2, $3) \
               ON CONFLICT (site) DO UPDATE SET number = excluded.number, unpublished = excluded.unpublished"
    );
    db.prepare_cached(sql)?.execute(params![site.0, number as i64, unpublished])?;
    Ok(())
}

fn floors(db: &Connection) -> Outcome<Vec<ImportFloor>> {
    let mut statement = db.prepare_cached("SELECT site, number, unpublished FROM import_floor")?;
    let rows = statement.query_map([], |row| {
        let number = row.get::<_, i64>(1)? as u64;
        Ok(ImportFloor { site: SiteId(row.get(0)?), number, unpublished: row.get(2)? })
    })?;
    rows.collect::<Result<_, _>>().map_err(Fault::Sql)
}
