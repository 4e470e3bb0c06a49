//! The few numbers that belong to the whole database.

use chat::Position;
use rusqlite::{Connection, OptionalExtension};

use crate::dialect;
use crate::fault::Outcome;

/// Names the database. A position of another epoch is of another database.
pub(crate) fn epoch(db: &Connection) -> Outcome<u32> {
    Ok(number(db, "epoch")? as u32)
}

/// The last commit visible here.
pub(crate) fn position(db: &Connection, epoch: u32) -> Outcome<Position> {
    Ok(Position { epoch, number: number(db, "position")? })
}

pub(crate) fn set_position(db: &Connection, number: u64) -> Outcome<()> {
    db.prepare_cached(sql!("UPDATE meta SET value = $1 WHERE name = 'position'"))?
        .execute([number as i64])?;
    Ok(())
}

/// Everything up to this position is in the index of client ids; see `sent.rs`.
pub(crate) fn sent_indexed(db: &Connection) -> Outcome<u64> {
    number(db, "sent_indexed")
}

pub(crate) fn set_sent_indexed(db: &Connection, number: u64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO meta VALUES ('sent_indexed', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    );
    db.prepare_cached(sql)?.execute([number as i64])?;
    Ok(())
}

/// Everything up to this position is in the index of words; see `search.rs`.
pub(crate) fn search_indexed(db: &Connection) -> Outcome<u64> {
    number(db, "search_indexed")
}

pub(crate) fn set_search_indexed(db: &Connection, number: u64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO meta VALUES ('search_indexed', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    );
    db.prepare_cached(sql)?.execute([number as i64])?;
    Ok(())
}

/// Counts changes of sites and bans, whoever made them.
pub(crate) fn revision(db: &Connection) -> Outcome<u64> {
    number(db, "revision")
}

pub(crate) fn bump_revision(db: &Connection) -> Outcome<()> {
    db.prepare_cached("UPDATE meta SET value = value + 1 WHERE name = 'revision'")?.execute([])?;
    Ok(())
}

/// Numbers of sites are never used twice, so that nothing of a removed one can come back in another.
pub(crate) fn take_site_number(db: &Connection) -> Outcome<u32> {
    let sql = "UPDATE meta SET value = value + 1 WHERE name = 'next_site' RETURNING value - 1";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

/// Differs from the answer before where another connection has committed since.
pub(crate) fn data_version(db: &Connection) -> Outcome<i64> {
    Ok(db.prepare_cached(dialect::DATA_VERSION)?.query_row([], |row| row.get(0))?)
}

/// How far the rewriting after an erasure is.
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
