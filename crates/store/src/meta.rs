//! The few numbers that belong to the whole database.

use crate::engine::{Connection, OptionalExtension};
use chat::Position;

use crate::fault::{Fault, Outcome};

/// Identifies the database. A position with another epoch belongs to another database.
pub(crate) fn epoch(db: &Connection) -> Outcome<u32> {
    Ok(number(db, "epoch")? as u32)
}

/// Makes clients treat it as another database. Returns the new epoch.
pub(crate) fn renew_epoch(db: &Connection) -> Outcome<u32> {
    let sql = "UPDATE meta SET value = (value + 1) % 4294967296 WHERE name = 'epoch' RETURNING value";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get::<_, i64>(0))? as u32)
}

/// The last commit that this connection sees: the newest message's, or a later one that changed something else.
pub(crate) fn position(db: &Connection, epoch: u32) -> Outcome<Position> {
    let sql = sql!("SELECT max(position) FROM message");
    let newest: Option<i64> = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(Position { epoch, number: named_position(db)?.max(newest.unwrap_or(0) as u64) })
}

/// The position of the last commit whose last change was no new message.
pub(crate) fn named_position(db: &Connection) -> Outcome<u64> {
    number(db, "position")
}

/// Call before messages are removed outside of the writer: the newest one may have named the position.
pub(crate) fn name_position(db: &Connection) -> Outcome<()> {
    set_position(db, position(db, 0)?.number)
}

pub(crate) fn set_position(db: &Connection, number: u64) -> Outcome<()> {
    db.prepare_cached(sql!("UPDATE meta SET value = $1 WHERE name = 'position'"))?.put([number as i64])?;
    Ok(())
}

/// The index of client ids contains every message up to this position; see `sent.rs`.
pub(crate) fn sent_indexed(db: &Connection) -> Outcome<u64> {
    number(db, "sent_indexed")
}

pub(crate) fn set_sent_indexed(db: &Connection, number: u64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO meta VALUES ('sent_indexed', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    );
    db.prepare_cached(sql)?.put([number as i64])?;
    Ok(())
}

/// The rows of direct conversations contain every message up to this position; see `late.rs`.
pub(crate) fn viewed(db: &Connection) -> Outcome<u64> {
    number(db, "viewed")
}

pub(crate) fn set_viewed(db: &Connection, number: u64) -> Outcome<()> {
    db.prepare_cached(sql!("UPDATE meta SET value = $1 WHERE name = 'viewed'"))?.put([number as i64])?;
    Ok(())
}

/// The word index contains every message up to this position; see `search.rs`.
pub(crate) fn search_indexed(db: &Connection) -> Outcome<u64> {
    number(db, "search_indexed")
}

pub(crate) fn set_search_indexed(db: &Connection, number: u64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO meta VALUES ('search_indexed', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    );
    db.prepare_cached(sql)?.put([number as i64])?;
    Ok(())
}

/// Counts changes of sites and bans by all processes.
pub(crate) fn revision(db: &Connection) -> Outcome<u64> {
    number(db, "revision")
}

pub(crate) fn bump_revision(db: &Connection) -> Outcome<()> {
    db.prepare_cached("UPDATE meta SET value = value + 1 WHERE name = 'revision'")?.execute([])?;
    Ok(())
}

/// The number that the next new site gets.
pub(crate) fn next_site(db: &Connection) -> Outcome<u32> {
    Ok(number(db, "next_site")? as u32)
}

/// Never reuses the number of a removed site, so that its data cannot appear in another site. The highest byte is the slot.
pub(crate) fn take_site_number(db: &Connection) -> Outcome<u32> {
    let sql = "UPDATE meta SET value = value + 1 WHERE name = 'next_site' RETURNING value - 1";
    let number: i64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    match number & 0x00ff_ffff {
        0 => Err(Fault::Invalid("the slot has no more numbers for sites")),
        _ => Ok(number as u32),
    }
}

/// The result changes after another connection has committed.
pub(crate) fn data_version(db: &Connection) -> Outcome<i64> {
    Ok(db.data_version()?)
}

/// The progress of the rewriting after erasures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purge {
    Nothing,
    Begin,
    UnderWay,
}

pub(crate) fn purge(db: &Connection) -> Outcome<Purge> {
    Ok(match number(db, "purge")? {
        0 => Purge::Nothing,
        1 => Purge::Begin,
        _ => Purge::UnderWay,
    })
}

pub(crate) fn set_purge(db: &Connection, purge: Purge) -> Outcome<()> {
    db.prepare_cached(sql!(
        "INSERT INTO meta VALUES ('purge', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    ))?
    .execute([purge as i64])?;
    Ok(())
}

fn number(db: &Connection, name: &str) -> Outcome<u64> {
    let sql = sql!("SELECT value FROM meta WHERE name = $1");
    let value = db.prepare_cached(sql)?.query_row([name], |row| row.get::<_, i64>(0)).optional()?;
    Ok(value.unwrap_or(0) as u64)
}
