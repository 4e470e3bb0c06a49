//! Files: their rows, their share of the quotas, and their place in a message. A [`Folder`](crate::Folder) holds the
//! bytes.

use std::collections::HashSet;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    ANSWER_WITHIN, Act, Append, Appended, ConversationId, Done, File, FileFound, FileId, FileLimits,
    FilePlace, FileRow, FileStore, FileType, NewFile, NewPicture, Peaks, Picture, Refusal, SiteId,
    StoreError, StoredMessage, Timestamp, UserId, has_room, may, may_begin_file, may_send_files,
    standing_to_write,
};

use crate::contact;
use crate::fault::Outcome;
use crate::forward;
use crate::message;
use crate::preview;
use crate::rich;
use crate::room;
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};

macro_rules! columns {
    () => {
        "id, owner, message, complete, bytes, name, type, width, height, blurhash, thumbnail, duration, voice, \
         conversation, peaks"
    };
}
impl FileStore for Sqlite {
    fn create_file(&self, file: NewFile, limits: FileLimits, done: Done<Result<(), Refusal>>) {
        self.write(move |batch| create(batch, &file, limits), done);
    }

    fn grow_file(&self, id: FileId, arrived: u64, limits: FileLimits, done: Done<Result<(), Refusal>>) {
        self.write(move |batch| grow(batch.db, id, arrived, limits), done);
    }

    fn file(&self, id: FileId, done: Done<Option<FileRow>>) {
        let read = move |db: &Connection| {
            let Some(row) = load(db, id)? else { return Ok(None) };
            Ok(Some(FileRow { copies: forward::places(db, id)?, ..row }))
        };
        self.read(read, done);
    }

    fn open_file(&self, owner: UserId, id: FileId, done: Done<Result<File, Refusal>>) {
        // On the writer: a message that was sent before this request may have the file.
        self.write(move |batch| open_file(batch.db, owner, id), done);
    }

    fn complete_file(&self, id: FileId, found: FileFound, done: Done<Option<FileRow>>) {
        self.write(move |batch| complete(batch.db, id, &found), done);
    }

    fn remove_files(&self, files: Vec<FileId>, done: Done<Vec<FileId>>) {
        let remove = move |batch: &mut Batch<'_>| {
            let mut removed = Vec::new();
            for id in &files {
                if remove_loose(batch.db, *id)? {
                    removed.push(*id);
                }
            }
            Ok(removed)
        };
        self.write(remove, done);
    }

    fn append_with_files(
        &self,
        append: Append,
        files: Vec<FileId>,
        done: Done<Result<(Appended, Vec<File>), Refusal>>,
    ) {
        let bytes = message::bytes(&append.body, append.extension.as_deref());
        let job = move |batch: &mut Batch<'_>| append_with(batch, &append, &files);
        self.shared.write(writer::write(job, |outcome, _| done(outcome)), bytes);
    }

    fn stale_files(
        &self,
        before: Timestamp,
        open_before: Timestamp,
        empty_before: Timestamp,
        limit: u32,
    ) -> Result<Vec<FileId>, StoreError> {
        self.admin(|db| stale(db, [before, open_before, empty_before], limit))
    }

    fn forget_files(&self, files: &[FileId]) -> Result<(), StoreError> {
        self.admin(|db| {
            let transaction = db.transaction()?;
            for id in files {
                transaction
                    .prepare_cached(sql!("DELETE FROM file WHERE site = $1 AND id = $2 AND message = -1"))?
                    .execute(key(*id))?;
            }
            Ok(transaction.commit()?)
        })
    }
}

// ---- writes ----

fn create(batch: &mut Batch<'_>, new: &NewFile, limits: FileLimits) -> Outcome<Result<(), Refusal>> {
    let conversation = match target_conversation(batch, new)? {
        Ok(conversation) => conversation,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let db = batch.db;
    let of_user = bytes_of(db, new.owner.site, new.owner.num)?;
    if let Err(refusal) = has_room(limits, of_user, bytes_of(db, new.owner.site, ALL)?, new.bytes) {
        return Ok(Err(refusal));
    }
    let is_open = conversation.is_none();
    let sql = match is_open {
        false => sql!(
            "SELECT count(*) FROM file WHERE site = $1 AND owner = $2 AND message = 0 AND conversation <> 0"
        ),
        true => sql!(
            "SELECT count(*) FROM file WHERE site = $1 AND owner = $2 AND message = 0 AND conversation = 0"
        ),
    };
    let loose: u32 =
        db.prepare_cached(sql)?.query_row([new.owner.site.0, new.owner.num], |row| row.get(0))?;
    if let Err(refusal) = may_begin_file(loose, is_open) {
        return Ok(Err(refusal));
    }
    let sql = sql!(
        "INSERT INTO file (site, id, owner, conversation, message, place, created, complete, kept_bytes, bytes, \
               name, type, thumbnail, duration, voice, peaks) \
               VALUES ($1, $2, $3, $4, 0, 0, $5, 0, 0, $6, $7, $8, 0, $9, $10, $11)"
    );
    db.prepare_cached(sql)?.execute(params![
        new.id.site.0,
        new.id.number as i64,
        new.owner.num,
        conversation.map_or(OPEN, |conversation| conversation.key as i64),
        new.time.0 as i64,
        new.bytes as i64,
        &*new.name,
        FileType::OTHER.name(),
        new.duration_ms,
        new.voice,
        new.peaks.as_ref().map(Peaks::as_str),
    ])?;
    Ok(Ok(()))
}

fn grow(db: &Connection, id: FileId, arrived: u64, limits: FileLimits) -> Outcome<Result<(), Refusal>> {
    let sql =
        sql!("SELECT owner, complete, kept_bytes FROM file WHERE site = $1 AND id = $2 AND message >= 0");
    let row =
        |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, bool>(1)?, row.get::<_, i64>(2)? as u64));
    let Some((owner, is_complete, kept)) = db.prepare_cached(sql)?.query_row(key(id), row).optional()? else {
        return Ok(Err(Refusal::NoSuchFile));
    };
    if is_complete || arrived == kept {
        return Ok(Ok(()));
    }
    let owner = UserId { site: id.site, num: owner };
    if let Some(more) = arrived.checked_sub(kept) {
        let (of_user, of_site) = (bytes_of(db, id.site, owner.num)?, bytes_of(db, id.site, ALL)?);
        if let Err(refusal) = has_room(limits, of_user, of_site, more) {
            return Ok(Err(refusal));
        }
    }
    let sql = sql!("UPDATE file SET kept_bytes = $3 WHERE site = $1 AND id = $2");
    db.prepare_cached(sql)?.execute(params![id.site.0, id.number as i64, arrived as i64])?;
    count(db, owner, arrived as i64 - kept as i64)?;
    Ok(Ok(()))
}

/// The value of `file.conversation` for [`FilePlace::Open`]. No conversation has this key.
const OPEN: i64 = 0;

/// The conversation in which the uploader may post the file; None: in any.
fn target_conversation(
    batch: &mut Batch<'_>,
    new: &NewFile,
) -> Outcome<Result<Option<ConversationId>, Refusal>> {
    let db = batch.db;
    match &new.place {
        FilePlace::Open => Ok(Ok(None)),
        FilePlace::Direct(id) => {
            let Some(other) = id.other(new.owner) else { return Ok(Err(Refusal::NoSuchConversation)) };
            Ok(may_send_to(batch, *id, new.owner, other)?.map(|()| Some(*id)))
        }
        FilePlace::Room(name) => {
            let found = room::find(db, name)?.filter(|room| room.id.site == new.owner.site);
            let Some(room) = found else { return Ok(Err(Refusal::NoSuchConversation)) };
            let stored = room::standing(room::membership(db, room.id, new.owner)?.as_ref());
            let who = standing_to_write(stored, &room.room);
            Ok(may(who, Act::Post, room.rules()).map(|()| Some(room.id)))
        }
    }
}

/// [`may_send_files`] in a direct conversation.
fn may_send_to(
    batch: &mut Batch<'_>,
    id: ConversationId,
    from: UserId,
    to: UserId,
) -> Outcome<Result<(), Refusal>> {
    let relation = contact::relation(batch.db, from, to)?;
    // Contacts may send files, so no further check is needed.
    if may_send_files(relation, false).is_ok() {
        return Ok(Ok(()));
    }
    Ok(may_send_files(relation, has_answered(batch, id, to)?))
}

/// Looks for a message of `other` among the newest messages, from the newest back.
pub(crate) fn has_answered(batch: &mut Batch<'_>, id: ConversationId, other: UserId) -> Outcome<bool> {
    let Some(direct) = batch.conversation(id)? else { return Ok(false) };
    let mut position = direct.position as i64;
    let mut hop =
        batch.db.prepare_cached(sql!("SELECT previous, sender FROM message WHERE position = $1"))?;
    for _ in 0..ANSWER_WITHIN {
        let found = hop.query_row([position], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, u32>(1)?)));
        let Some((previous, sender)) = found.optional()? else { return Ok(false) };
        if sender == other.num {
            return Ok(true);
        }
        position = previous;
    }
    Ok(false)
}

fn complete(db: &Connection, id: FileId, found: &FileFound) -> Outcome<Option<FileRow>> {
    let Some(row) = load(db, id)? else { return Ok(None) };
    if row.is_complete {
        return Ok(Some(row));
    }
    let picture = found.picture.as_ref();
    let sql = sql!("SELECT kept_bytes FROM file WHERE site = $1 AND id = $2");
    let before: i64 = db.prepare_cached(sql)?.query_row(key(id), |row| row.get(0))?;
    let sql = sql!(
        "UPDATE file SET complete = 1, kept_bytes = $3, bytes = $4, type = $5, width = $6, height = $7, \
               blurhash = $8, thumbnail = $9 WHERE site = $1 AND id = $2"
    );
    db.prepare_cached(sql)?.execute(params![
        id.site.0,
        id.number as i64,
        found.kept_bytes as i64,
        found.bytes as i64,
        found.kind.name(),
        picture.map(|picture| picture.width),
        picture.map(|picture| picture.height),
        picture.map(|picture| &*picture.blurhash),
        picture.is_some_and(|picture| picture.has_thumbnail),
    ])?;
    count(db, row.owner, found.kept_bytes as i64 - before)?;
    load(db, id)
}

/// Removes a file that is in no message.
pub(crate) fn remove_loose(db: &Connection, id: FileId) -> Outcome<bool> {
    let sql = sql!(
        "UPDATE file SET message = -1, created = 0 WHERE site = $1 AND id = $2 AND message = 0 \
               RETURNING owner, kept_bytes"
    );
    let owner = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, i64>(1)?));
    let Some((owner, kept)) = db.prepare_cached(sql)?.query_row(key(id), owner).optional()? else {
        return Ok(false);
    };
    count(db, UserId { site: id.site, num: owner }, -kept)?;
    Ok(true)
}

/// The value of `file.message` for the picture of a room.
const ROOM_PICTURE: i64 = -2;

/// Makes a complete picture, which `by` uploaded for this room, the room's picture.
pub(crate) fn take_room_picture(
    db: &Connection,
    id: FileId,
    room: ConversationId,
    by: UserId,
) -> Outcome<Result<(), Refusal>> {
    let sql = sql!(
        "UPDATE file SET message = $5 WHERE site = $1 AND id = $2 AND owner = $3 AND conversation = $4 \
               AND message = 0 AND complete = 1 AND width IS NOT NULL"
    );
    let values = params![id.site.0, id.number as i64, by.num, room.key as i64, ROOM_PICTURE];
    let is_taken = id.site == by.site && db.prepare_cached(sql)?.execute(values)? > 0;
    Ok(if is_taken { Ok(()) } else { Err(Refusal::NoSuchFile) })
}

/// The room has another picture, or none. The bytes are removed from the disk like those of other removed files.
pub(crate) fn drop_room_picture(db: &Connection, id: FileId) -> Outcome<()> {
    let sql = sql!(
        "UPDATE file SET message = -1, created = 0 WHERE site = $1 AND id = $2 AND message = $3 \
               RETURNING owner, kept_bytes"
    );
    let values = params![id.site.0, id.number as i64, ROOM_PICTURE];
    let owner = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, i64>(1)?));
    match db.prepare_cached(sql)?.query_row(values, owner).optional()? {
        Some((num, kept)) => count(db, UserId { site: id.site, num }, -kept),
        None => Ok(()),
    }
}

/// Takes a file of an erased owner out of another user's message. Returns the position of that message; None if the
/// file is in no such message.
pub(crate) fn take_from_forward(db: &Connection, id: FileId, owner: UserId) -> Outcome<Option<u64>> {
    let copy = sql!(
        "DELETE FROM file_copy WHERE site = $1 AND file = $2 AND message = \
                (SELECT min(message) FROM file_copy WHERE site = $1 AND file = $2) RETURNING message"
    );
    let position = |row: &Row<'_>| row.get::<_, i64>(0);
    let mut message = db.prepare_cached(copy)?.query_row(key(id), position).optional()?;
    if message.is_none() {
        let sql = sql!(
            "SELECT f.message, f.kept_bytes FROM file f JOIN message m ON m.position = f.message \
                   WHERE f.site = $1 AND f.id = $2 AND f.message > 0 AND m.sender <> $3"
        );
        let values = params![id.site.0, id.number as i64, owner.num];
        let found = db
            .prepare_cached(sql)?
            .query_row(values, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
            .optional()?;
        if let Some((at, kept)) = found {
            let sql = sql!("UPDATE file SET message = -1, created = 0 WHERE site = $1 AND id = $2");
            db.prepare_cached(sql)?.execute(key(id))?;
            count(db, owner, -kept)?;
            message = Some(at);
        }
    }
    if let Some(at) = message {
        let sql = sql!(
            "UPDATE message SET files = CASE WHEN files > 0 THEN files - 1 ELSE 0 END WHERE position = $1"
        );
        db.prepare_cached(sql)?.execute([at])?;
    }
    Ok(message.map(|at| at as u64))
}

/// Removes the files of the deleted message at this position. Files in forwards by others stay in those messages.
pub(crate) fn remove_of_message(db: &Connection, site: SiteId, message: u64) -> Outcome<()> {
    forward::hand_over(db, site, message)?;
    let sql = sql!("SELECT owner, sum(kept_bytes) FROM file WHERE site = $1 AND message = $2 GROUP BY owner");
    let values = [i64::from(site.0), message as i64];
    let mut statement = db.prepare_cached(sql)?;
    let kept: Vec<(u32, i64)> =
        statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let sql = sql!("UPDATE file SET message = -1, created = 0 WHERE site = $1 AND message = $2");
    db.prepare_cached(sql)?.execute(values)?;
    db.prepare_cached(sql!("UPDATE message SET files = 0 WHERE position = $1"))?.execute([message as i64])?;
    kept.into_iter().try_for_each(|(num, bytes)| count(db, UserId { site, num }, -bytes))
}

fn append_with(
    batch: &mut Batch<'_>,
    append: &Append,
    files: &[FileId],
) -> Outcome<Result<(Appended, Vec<File>), Refusal>> {
    if let Some(repeated) = message::sent_before(batch, append.from, &append.client_id)? {
        return Ok(Ok((repeated, Vec::new())));
    }
    if let Err(refusal) = are_ready(batch, append.from, append.conversation, files)? {
        return Ok(Err(refusal));
    }
    let rich = append.rich.as_deref();
    let checked = match rich::check(batch, append.conversation, append.from, None, rich)? {
        Ok(checked) => checked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let appended = message::append(batch, append)?;
    let mut posted = Vec::new();
    if !files.is_empty() {
        posted = post(batch.db, append.conversation, appended.position.number, files)?;
    }
    if let Some(rich) = rich {
        let place = rich::Place::of(append.from, &appended);
        posted.extend(rich::put(batch, &place, rich, &checked, &HashSet::new())?.0);
    }
    Ok(Ok((appended, posted)))
}

/// Whether all of these files can be posted in this conversation. The rules of rooms are checked with the message.
pub(crate) fn are_ready(
    batch: &mut Batch<'_>,
    from: UserId,
    conversation: ConversationId,
    files: &[FileId],
) -> Outcome<Result<(), Refusal>> {
    let sql = sql!(
        "SELECT conversation FROM file WHERE site = $1 AND id = $2 AND owner = $3 \
               AND (conversation = $4 OR conversation = 0) AND message = 0 AND complete = 1"
    );
    let mut statement = batch.db.prepare_cached(sql)?;
    let mut has_open = false;
    for (at, id) in files.iter().enumerate() {
        let values = params![id.site.0, id.number as i64, from.num, conversation.key as i64];
        let place = statement.query_row(values, |row| row.get::<_, i64>(0)).optional()?;
        let Some(place) = place.filter(|_| id.site == from.site && !files[..at].contains(id)) else {
            return Ok(Err(Refusal::NoSuchFile));
        };
        has_open |= place == OPEN;
    }
    match conversation.other(from).filter(|_| has_open) {
        Some(other) => may_send_to(batch, conversation, from, other),
        None => Ok(Ok(())),
    }
}

fn open_file(db: &Connection, owner: UserId, id: FileId) -> Outcome<Result<File, Refusal>> {
    let row = load(db, id)?
        .filter(|row| row.owner == owner && row.conversation.is_none() && row.is_complete && !row.is_posted);
    Ok(row.map(|row| row.file).ok_or(Refusal::NoSuchFile))
}

/// Puts files that passed [`are_ready`] into a message.
pub(crate) fn post(
    db: &Connection,
    conversation: ConversationId,
    message: u64,
    files: &[FileId],
) -> Outcome<Vec<File>> {
    let sql = sql!("UPDATE file SET message = $3, place = $4, conversation = $5 WHERE site = $1 AND id = $2");
    for (place, id) in files.iter().enumerate() {
        let key = conversation.key as i64;
        let values = params![id.site.0, id.number as i64, message as i64, place as i64, key];
        db.prepare_cached(sql)?.execute(values)?;
    }
    let sql = sql!("UPDATE message SET files = $2 WHERE position = $1");
    db.prepare_cached(sql)?.execute([message as i64, files.len() as i64])?;
    match files.first() {
        Some(first) => of_message(db, first.site, message),
        None => Ok(Vec::new()),
    }
}

/// Stores the picture of a preview. Its bytes are complete, and it belongs to the message at once.
pub(crate) fn put_picture(db: &Connection, before: &StoredMessage, at: u64, new: &NewPicture) -> Outcome<()> {
    let (site, owner) = (before.from.site, before.from);
    let sql = sql!(
        "INSERT INTO file (site, id, owner, conversation, message, place, created, complete, kept_bytes, bytes, name, type, \
               width, height, blurhash, thumbnail, voice) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $8, 'preview', $9, $10, $11, $12, 0, 0)"
    );
    db.prepare_cached(sql)?.execute(params![
        site.0,
        new.id.number as i64,
        owner.num,
        before.conversation.key as i64,
        at as i64,
        preview::PICTURE,
        before.time.0 as i64,
        new.bytes as i64,
        new.kind.name(),
        new.picture.width,
        new.picture.height,
        &*new.picture.blurhash,
    ])?;
    count(db, owner, new.bytes as i64)
}

/// Removes the row. The bytes are removed from the disk like those of other removed files.
pub(crate) fn remove_picture(db: &Connection, site: SiteId, at: u64) -> Outcome<()> {
    let sql = sql!(
        "UPDATE file SET message = -1, created = 0 WHERE site = $1 AND message = $2 AND place = $3 \
               RETURNING owner, kept_bytes"
    );
    let values = params![site.0, at as i64, preview::PICTURE];
    let owner = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, i64>(1)?));
    match db.prepare_cached(sql)?.query_row(values, owner).optional()? {
        Some((num, kept)) => count(db, UserId { site, num }, -kept),
        None => Ok(()),
    }
}

pub(crate) fn picture_of(db: &Connection, site: SiteId, at: u64) -> Outcome<Option<File>> {
    let sql =
        sql!(concat!("SELECT ", columns!(), " FROM file WHERE site = $1 AND message = $2 AND place = -1"));
    let values = [i64::from(site.0), at as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| parse(site, row)).optional()?.map(|row| row.file))
}

/// User 0 stands for the whole site.
const ALL: u32 = 0;

fn count(db: &Connection, user: UserId, difference: i64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO file_bytes (site, user, bytes) VALUES ($1, $2, $3) \
         ON CONFLICT (site, user) DO UPDATE SET bytes = CASE WHEN file_bytes.bytes + $4 > 0 \
         THEN file_bytes.bytes + $4 ELSE 0 END"
    );
    for num in [user.num, ALL] {
        db.prepare_cached(sql)?.execute(params![user.site.0, num, difference.max(0), difference])?;
    }
    Ok(())
}

// ---- reads ----

/// In the order in which they were posted.
pub(crate) fn of_message(db: &Connection, site: SiteId, message: u64) -> Outcome<Vec<File>> {
    let sql = sql!(concat!(
        "SELECT ",
        columns!(),
        " FROM file WHERE site = $1 AND message = $2 AND place >= 0 ORDER BY place"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([site.0 as i64, message as i64], |row| Ok(parse(site, row)?.file))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn load(db: &Connection, id: FileId) -> Outcome<Option<FileRow>> {
    let sql =
        sql!(concat!("SELECT ", columns!(), " FROM file WHERE site = $1 AND id = $2 AND message <> -1"));
    Ok(db.prepare_cached(sql)?.query_row(key(id), |row| parse(id.site, row)).optional()?)
}

fn parse(site: SiteId, row: &Row<'_>) -> crate::engine::Result<FileRow> {
    let picture = match (row.get(7)?, row.get(8)?, row.get::<_, Option<Box<str>>>(9)?) {
        (Some(width), Some(height), Some(blurhash)) => {
            Some(Picture { width, height, blurhash, has_thumbnail: row.get(10)? })
        }
        _ => None,
    };
    Ok(FileRow {
        file: File {
            id: FileId { site, number: row.get::<_, i64>(0)? as u64 },
            name: row.get(5)?,
            kind: FileType::named(row.get_ref(6)?.as_str()?),
            bytes: row.get::<_, i64>(4)? as u64,
            picture,
            duration_ms: row.get(11)?,
            voice: row.get(12)?,
            peaks: row.get_ref(14)?.as_str_or_null()?.and_then(Peaks::parse),
        },
        owner: UserId { site, num: row.get(1)? },
        conversation: Some(row.get::<_, i64>(13)?)
            .filter(|key| *key != OPEN)
            .map(|key| ConversationId { site, key: key as u64 }),
        is_complete: row.get(3)?,
        is_posted: row.get::<_, i64>(2)? > 0,
        is_room_picture: row.get::<_, i64>(2)? == ROOM_PICTURE,
        copies: Vec::new(),
    })
}

/// The times are those of [`FileStore::stale_files`].
fn stale(
    db: &Connection,
    [before, open_before, empty_before]: [Timestamp; 3],
    limit: u32,
) -> Outcome<Vec<FileId>> {
    let id = |row: &Row<'_>| Ok(FileId { site: SiteId(row.get(0)?), number: row.get::<_, i64>(1)? as u64 });
    // Each of the two statements has the condition of its index, or it would read all open files.
    let sql = sql!(
        "SELECT site, id FROM file WHERE message <= 0 AND (message < 0 OR conversation <> 0 OR complete = 0) \
               AND message >= -1 AND created < $2 \
               AND (created < $1 OR (kept_bytes = 0 AND complete = 0)) ORDER BY created LIMIT $3"
    );
    let values = [before.0 as i64, before.max(empty_before).0 as i64, i64::from(limit)];
    let mut statement = db.prepare_cached(sql)?;
    let mut files: Vec<FileId> = statement.query_map(values, id)?.collect::<Result<_, _>>()?;
    let sql = sql!(
        "SELECT site, id FROM file WHERE message = 0 AND conversation = 0 AND complete = 1 AND created < $1 \
               ORDER BY created LIMIT $2"
    );
    let values = [open_before.0 as i64, i64::from(limit) - files.len() as i64];
    let mut statement = db.prepare_cached(sql)?;
    for file in statement.query_map(values, id)? {
        files.push(file?);
    }
    Ok(files)
}

fn bytes_of(db: &Connection, site: SiteId, user: u32) -> Outcome<u64> {
    let sql = sql!("SELECT bytes FROM file_bytes WHERE site = $1 AND user = $2");
    let bytes = db.prepare_cached(sql)?.query_row([site.0, user], |row| row.get::<_, i64>(0)).optional()?;
    Ok(bytes.unwrap_or(0) as u64)
}

fn key(id: FileId) -> [i64; 2] {
    [id.site.0.into(), id.number as i64]
}
