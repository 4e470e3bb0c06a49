//! Retention: removes the oldest messages of a conversation, from its beginning on.
//!
//! Milestones lead to the beginning: the first one left is at most 32 messages after it. Finding the beginning costs a
//! few searches for each conversation, and further cost is proportional to the removed messages.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{ConversationId, Done, RetentionStore, Seq, SiteId, Timestamp, Trim, Trimmed};

use crate::dialect;
use crate::fault::Outcome;
use crate::file;
use crate::late::Scope;
use crate::preview;
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};

/// Most conversations that one slice examines.
const CONVERSATIONS: usize = 64;

impl RetentionStore for Sqlite {
    fn trim(&self, site: SiteId, after: Option<u64>, trim: Trim, limit: u32, done: Done<Trimmed>) {
        let slice = move |batch: &mut Batch<'_>| {
            batch.name_position();
            batch.settle(&Scope::All)?;
            slice(batch.db, site, after, &trim, limit)
        };
        self.shared.write_patiently(writer::write(slice, |outcome, _| done(outcome)));
    }
}

/// A message that may be old enough.
struct Old {
    position: i64,
    seq: i64,
    time: Timestamp,
    sender: u32,
    client_id: Box<str>,
    changed: i64,
    files: i64,
    rich: i64,
}

fn slice(db: &Connection, site: SiteId, after: Option<u64>, trim: &Trim, limit: u32) -> Outcome<Trimmed> {
    let mut removed = 0;
    let keys = keys_after(db, site, after.map_or(i64::MIN, |key| key as i64))?;
    for (key, newest) in &keys {
        let id = ConversationId { site, key: *key as u64 };
        let Some(before) = trim.of(id) else { continue };
        while let Some(count) = trim_once(db, id, *newest, before)? {
            removed += count;
            if removed >= limit {
                // The next slice continues with this conversation.
                return Ok(Trimmed { removed, next: Some(previous(*key)) });
            }
        }
    }
    let next = keys.last().filter(|_| keys.len() >= CONVERSATIONS).map(|(key, _)| *key as u64);
    Ok(Trimmed { removed, next })
}

/// The cursor before a key, in SQLite's order.
fn previous(key: i64) -> u64 {
    key.wrapping_sub(1) as u64
}

/// Conversations after a key, with the positions of their newest messages. Rooms come first: their keys are negative
/// numbers.
fn keys_after(db: &Connection, site: SiteId, after: i64) -> Outcome<Vec<(i64, i64)>> {
    let mut keys: Vec<(i64, i64)> = Vec::new();
    for sql in [
        sql!("SELECT key, position FROM room WHERE site = $1 AND key > $2 ORDER BY key LIMIT $3"),
        sql!("SELECT key, position FROM conversation WHERE site = $1 AND key > $2 ORDER BY key LIMIT $3"),
    ] {
        let room = (CONVERSATIONS - keys.len()) as i64;
        let mut statement = db.prepare_cached(sql)?;
        let found =
            statement.query_map(params![site.0, after, room], |row| Ok((row.get(0)?, row.get(1)?)))?;
        keys.extend(found.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(keys)
}

/// Removes messages up to the first milestone; None if nothing is left to remove there.
fn trim_once(db: &Connection, id: ConversationId, newest: i64, before: Timestamp) -> Outcome<Option<u32>> {
    let first = sql!(
        "SELECT seq, position FROM milestone WHERE site = $1 AND conversation = $2 ORDER BY seq LIMIT 1"
    );
    let milestone: Option<(i64, i64)> = db
        .prepare_cached(first)?
        .query_row(params![id.site.0, id.key as i64], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let beginning = beginning(db, milestone.map_or(newest, |(_, position)| position))?;
    let old: Vec<Old> = beginning.into_iter().rev().take_while(|one| one.time < before).collect();
    let Some(last) = old.last().map(|one| one.seq) else { return Ok(None) };
    for one in &old {
        remove(db, id, one)?;
    }
    if milestone.is_some_and(|(seq, _)| seq <= last) {
        let sql = sql!("DELETE FROM milestone WHERE site = $1 AND conversation = $2 AND seq <= $3");
        db.prepare_cached(sql)?.execute(params![id.site.0, id.key as i64, last])?;
    }
    if id.is_room() {
        let sql = sql!("DELETE FROM mention WHERE site = $1 AND room = $2 AND seq <= $3");
        db.prepare_cached(sql)?.execute(params![id.site.0, id.key as i64, last])?;
    }
    Ok(Some(old.len() as u32))
}

/// Messages from this one back to the first that exists, newest first.
fn beginning(db: &Connection, from: i64) -> Outcome<Vec<Old>> {
    let sql = sql!(
        "SELECT seq, time, sender, client_id, changed, files, rich, previous FROM message WHERE position = $1"
    );
    let mut statement = db.prepare_cached(sql)?;
    let (mut position, mut found) = (from, Vec::new());
    loop {
        let hop = statement.query_row([position], |row| {
            let old = Old {
                position,
                seq: row.get(0)?,
                time: Timestamp(row.get::<_, i64>(1)? as u64),
                sender: row.get(2)?,
                client_id: row.get(3)?,
                changed: row.get(4)?,
                files: row.get(5)?,
                rich: row.get(6)?,
            };
            Ok((old, row.get::<_, i64>(7)?))
        });
        let Some((old, previous)) = hop.optional()? else { return Ok(found) };
        found.push(old);
        position = previous;
    }
}

fn remove(db: &Connection, id: ConversationId, old: &Old) -> Outcome<()> {
    let (site, at) = (id.site.0, old.position);
    if old.files > 0 {
        file::remove_of_message(db, id.site, at as u64)?;
    }
    if old.changed > 0 {
        let sql = sql!("DELETE FROM message_change WHERE site = $1 AND conversation = $2 AND position = $3");
        db.prepare_cached(sql)?.execute(params![site, id.key as i64, old.changed])?;
        for sql in [
            sql!("DELETE FROM message_revision WHERE site = $1 AND message = $2"),
            sql!("DELETE FROM reaction WHERE site = $1 AND message = $2"),
            sql!("DELETE FROM reaction_count WHERE site = $1 AND message = $2"),
        ] {
            db.prepare_cached(sql)?.execute(params![site, at])?;
        }
    }
    if old.rich > 0 {
        remove_rich(db, id, old)?;
    }
    let sent = sql!("DELETE FROM sent WHERE site = $1 AND user = $2 AND client_id = $3");
    db.prepare_cached(sent)?.execute(params![site, old.sender, old.client_id])?;
    db.prepare_cached(dialect::FORGET_WORDS.of(db))?.execute([at])?;
    db.prepare_cached(sql!("DELETE FROM message WHERE position = $1"))?.execute([at])?;
    Ok(())
}

/// Removes a message's poll, origin, preview, sticker and place in a thread, and the thread below it.
fn remove_rich(db: &Connection, id: ConversationId, old: &Old) -> Outcome<()> {
    preview::remove(db, id.site, old.position as u64)?;
    for sql in [
        sql!("DELETE FROM poll WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM poll_choice WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM vote WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM forward WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM message_sticker WHERE site = $1 AND message = $2"),
        sql!("DELETE FROM thread_reply WHERE site = $1 AND message = $2"),
    ] {
        db.prepare_cached(sql)?.execute(params![id.site.0, old.position])?;
    }
    for sql in [
        sql!("DELETE FROM thread WHERE site = $1 AND room = $2 AND root = $3"),
        sql!(concat!(
            "DELETE FROM thread_follow WHERE site = $1 AND user IN (SELECT user FROM membership",
            indexed_by!("membership_room"),
            " WHERE site = $1 AND room = $2 AND state < 8) AND room = $2 AND root = $3"
        )),
    ] {
        db.prepare_cached(sql)?.execute(params![id.site.0, id.key as i64, old.seq])?;
    }
    Ok(())
}

/// The first seq that a conversation still has; None if it has none.
pub(crate) fn oldest(db: &Connection, id: ConversationId, newest: u64) -> Outcome<Option<Seq>> {
    let first =
        sql!("SELECT position FROM milestone WHERE site = $1 AND conversation = $2 ORDER BY seq LIMIT 1");
    let values = params![id.site.0, id.key as i64];
    let milestone: Option<i64> = db.prepare_cached(first)?.query_row(values, |row| row.get(0)).optional()?;
    let beginning = beginning(db, milestone.unwrap_or(newest as i64))?;
    Ok(beginning.last().map(|one| Seq(one.seq as u64)))
}
