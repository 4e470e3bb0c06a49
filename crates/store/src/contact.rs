//! Contacts: how users stand to each other.

use chat::{ContactRow, ContactState, ContactsPage, Position, Relation, UserId, UserRow};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::Outcome;
use crate::user::{self, NameCursor, name_cursor};
use crate::writer::Batch;

// ---- writes ----

/// None where a list would be longer than `limit`; then nothing was written.
pub(crate) fn put(
    batch: &mut Batch<'_>,
    a: UserId,
    b: UserId,
    wanted: Relation,
    limit: u32,
) -> Outcome<Option<Position>> {
    let before = relation(batch.db, a, b)?;
    let sides = [(a, b, before.of_a, wanted.of_a), (b, a, before.of_b, wanted.of_b)];
    for (user, _, was, will) in sides {
        let grows = was == ContactState::None && will != ContactState::None;
        if grows && length(batch.db, user)? >= u64::from(limit) {
            return Ok(None);
        }
    }
    if before != wanted {
        let number = batch.next_number();
        for (user, other, _, will) in sides.into_iter().filter(|(.., was, will)| was != will) {
            put_side(batch.db, user, other, will, number)?;
        }
    }
    Ok(Some(batch.position()))
}

fn put_side(db: &Connection, user: UserId, other: UserId, state: ContactState, position: u64) -> Outcome<()> {
    let sql = "INSERT INTO contact (site, user, other, state, changed, folded, sub) \
               SELECT site, ?2, num, ?4, ?5, folded, sub FROM user WHERE site = ?1 AND num = ?3 \
               ON CONFLICT DO UPDATE SET state = excluded.state, changed = excluded.changed";
    let values = params![user.site.0, user.num, other.num, code(state), position as i64];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// The order of lists follows the new name.
pub(crate) fn renamed(db: &Connection, other: UserId, folded: &str) -> Outcome<()> {
    let sql = "UPDATE contact SET folded = ?3 WHERE site = ?1 AND other = ?2";
    db.prepare_cached(sql)?.execute(params![other.site.0, other.num, folded])?;
    Ok(())
}

// ---- reads ----

pub(crate) fn relation(db: &Connection, a: UserId, b: UserId) -> Outcome<Relation> {
    Ok(Relation { of_a: side(db, a, b)?, of_b: side(db, b, a)? })
}

fn side(db: &Connection, user: UserId, other: UserId) -> Outcome<ContactState> {
    let sql = "SELECT state FROM contact WHERE site = ?1 AND user = ?2 AND other = ?3";
    let found =
        db.prepare_cached(sql)?.query_row([user.site.0, user.num, other.num], |row| row.get(0)).optional()?;
    Ok(found.map_or(ContactState::None, state))
}

fn length(db: &Connection, user: UserId) -> Outcome<u64> {
    let sql = "SELECT count(*) FROM contact WHERE site = ?1 AND user = ?2 AND state <> 0";
    let count: i64 = db.prepare_cached(sql)?.query_row([user.site.0, user.num], |row| row.get(0))?;
    Ok(count as u64)
}

pub(crate) fn page(db: &Connection, user: UserId, after: Option<&str>, limit: u32) -> Outcome<ContactsPage> {
    let after = NameCursor::parse(after);
    let sql = "SELECT other, state FROM contact \
               WHERE site = ?1 AND user = ?2 AND state <> 0 AND (folded, sub) > (?3, ?4) \
               ORDER BY folded, sub LIMIT ?5";
    let values = params![user.site.0, user.num, after.folded, after.sub, u64::from(limit) as i64 + 1];
    let mut statement = db.prepare_cached(sql)?;
    let entries = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut entries: Vec<(u32, i64)> = entries.collect::<Result<_, _>>()?;
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let rows = with_users(db, user, entries)?;
    let next = rows.last().filter(|_| more).map(|row| name_cursor(&row.user));
    Ok(ContactsPage { rows, next })
}

/// Those whose state changed after a position, taken off ones too; None where they are more than `limit`.
pub(crate) fn changed_since(
    db: &Connection,
    user: UserId,
    since: u64,
    limit: u32,
) -> Outcome<Option<Vec<ContactRow>>> {
    let sql = "SELECT other, state FROM contact WHERE site = ?1 AND user = ?2 AND changed > ?3 LIMIT ?4";
    let values = params![user.site.0, user.num, since as i64, u64::from(limit) as i64 + 1];
    let mut statement = db.prepare_cached(sql)?;
    let entries = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut entries: Vec<(u32, i64)> = entries.collect::<Result<_, _>>()?;
    if entries.len() > limit as usize {
        return Ok(None);
    }
    entries.sort_unstable();
    with_users(db, user, entries).map(Some)
}

fn with_users(db: &Connection, user: UserId, entries: Vec<(u32, i64)>) -> Outcome<Vec<ContactRow>> {
    let mut rows = Vec::with_capacity(entries.len());
    for (num, code) in entries {
        let other: Option<UserRow> = user::by_id(db, UserId { site: user.site, num })?;
        rows.extend(other.map(|other| ContactRow { user: other, state: state(code) }));
    }
    Ok(rows)
}

fn code(state: ContactState) -> i64 {
    match state {
        ContactState::None => 0,
        ContactState::RequestSent => 1,
        ContactState::RequestReceived => 2,
        ContactState::Contact => 3,
        ContactState::Blocked => 4,
    }
}

fn state(code: i64) -> ContactState {
    match code {
        1 => ContactState::RequestSent,
        2 => ContactState::RequestReceived,
        3 => ContactState::Contact,
        4 => ContactState::Blocked,
        _ => ContactState::None,
    }
}
