//! The two databases of a transfer: opened, checked, and held against other processes.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use chat::Slot;
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use super::{Database, Outcome, TransferError};
use crate::engine::postgres::{self, Place};
use crate::engine::{self, Connection, params};
use crate::late::Late;
use crate::migrate::{self, NEWEST, UNFINISHED};
use crate::open::{self, check_ours, connect, explain, newer_server};
use crate::sqlite::failed_at;
use crate::{OpenError, Options, dialect, lease, site, torn_log, writer};

pub(super) struct End {
    pub(super) db: Connection,
    /// For messages: without a password.
    pub(super) place: String,
}

/// The state of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// With the newest schema.
    Complete,
    Unfinished,
}

/// The name of the connections in `pg_stat_activity`.
const NAME: &str = "kith migrate";
/// Connections of other processes of Kith, of any slot. Those of a transfer exclude each other by the lock.
const OTHERS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() \
                      AND starts_with(application_name, 'kith') AND application_name <> 'kith migrate'";
/// The schemas with a table of sites.
const TABLES_OF_SITES: &str = "SELECT nspname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                               WHERE relname = 'site' AND relkind = 'r'";
/// The connections of a process that has ended are gone after this time.
const GONE: Duration = Duration::from_secs(3);
/// SQLite's page cache of the target. Rows come in the order of their keys, but not in that of all indexes.
const CACHE_KIB: u32 = 64 << 10;

impl End {
    /// With all late rows written, in a transaction that no other process can write beside.
    pub(super) fn source(database: &Database, slot: Option<Slot>) -> Outcome<End> {
        let mut end = match database {
            Database::File(path) => source_file(path)?,
            Database::Server(url) => {
                let end = server(url, slot)?;
                match end.done(migrate::postgres_version(end.db.postgres()))? {
                    NEWEST => end,
                    found if found > NEWEST => return Err(newer_server(&end.place, found).into()),
                    found => return Err(end.other_schema(found)),
                }
            }
        };
        let prepared = site::sweep(&mut end.db).and_then(|()| writer::catch_up(&end.db, &Late::new(1)));
        end.done(prepared)?;
        let held = match &end.db {
            Connection::Sqlite(_) => end.db.begin_write(),
            Connection::Postgres(_) => end.db.begin_read(),
        };
        end.done(held)?;
        Ok(end)
    }

    pub(super) fn target(database: &Database, slot: Option<Slot>) -> Outcome<(End, Found)> {
        match database {
            Database::File(path) => target_file(path),
            Database::Server(url) => {
                let end = server(url, slot)?;
                let found = target_server(&end)?;
                Ok((end, found))
            }
        }
    }

    /// Names the place of an error.
    pub(super) fn done<T, E: Into<engine::Error>>(&self, outcome: Result<T, E>) -> Outcome<T> {
        outcome.map_err(|error| TransferError::Failed { place: self.place.clone(), error: error.into() })
    }

    fn other_schema(&self, found: u32) -> TransferError {
        TransferError::OtherSchema { place: self.place.clone(), found, known: NEWEST }
    }
}

fn source_file(path: &Path) -> Outcome<End> {
    if !path.is_file() {
        return Err(OpenError::Missing { path: path.to_owned() }.into());
    }
    // Before the first connection, which may remove the log.
    let is_torn =
        torn_log::is_torn(path).map_err(|error| OpenError::Create { path: path.to_owned(), error })?;
    let end = file(path, |options| open::open(path, options))?;
    if is_torn {
        open::renew_epoch(end.db.sqlite(), path)?;
    }
    Ok(end)
}

/// Refuses an older schema.
fn file(path: &Path, open: impl FnOnce(&Options) -> Result<Connection, OpenError>) -> Outcome<End> {
    let place = path.display().to_string();
    let options =
        Options { migrate: false, busy_ms: 1_000, writer_cache_kib: CACHE_KIB, ..Options::default() };
    match open(&options) {
        Ok(db) => Ok(End { db, place }),
        Err(OpenError::Busy { .. }) => Err(TransferError::InUse { place, by: "another process".into() }),
        Err(OpenError::Older { found, known, .. }) => Err(TransferError::OtherSchema { place, found, known }),
        Err(error) => Err(error.into()),
    }
}

fn target_file(path: &Path) -> Outcome<(End, Found)> {
    let version = file_version(path)?;
    let found = match version {
        found if found == UNFINISHED + NEWEST => Found::Unfinished,
        found if found > UNFINISHED => {
            let place = path.display().to_string();
            return Err(TransferError::OtherSchema { place, found: found - UNFINISHED, known: NEWEST });
        }
        _ => Found::Complete,
    };
    let end = file(path, |options| {
        if found == Found::Complete {
            // Makes the schema of a new file.
            drop(open::open(path, &Options { migrate: version == 0, ..*options })?);
        }
        alone(path, options).map(Connection::from)
    })?;
    Ok((end, found))
}

/// 0: there is no file, or it is empty.
fn file_version(path: &Path) -> Outcome<u32> {
    if std::fs::metadata(path).map_or(0, |file| file.len()) == 0 {
        return Ok(0);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let db = connect(path, flags, &Options::default()).map_err(|error| explain(path, error))?;
    check_ours(&db, path)?;
    Ok(migrate::version(&db).map_err(|error| explain(path, error))?)
}

/// No other process can open it. A crash of the machine may undo the newest transactions, but in their order.
fn alone(path: &Path, options: &Options) -> Result<rusqlite::Connection, OpenError> {
    let explain = |error| explain(path, error);
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options).map_err(explain)?;
    dialect::set(&db, "locking_mode", "EXCLUSIVE").map_err(explain)?;
    dialect::set(&db, "synchronous", "NORMAL").map_err(explain)?;
    dialect::set(&db, "cache_size", -i64::from(options.writer_cache_kib)).map_err(explain)?;
    // Takes the lock, which the connection keeps.
    db.execute_batch(dialect::BEGIN_WRITE).and_then(|()| db.execute_batch("COMMIT")).map_err(explain)?;
    // They would remove rows that are copied, too.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).map_err(explain)?;
    Ok(db)
}

/// A connection that has the lock of the slot's one writer.
fn server(url: &str, slot: Option<Slot>) -> Outcome<End> {
    let place = Place::parse(url, slot.unwrap_or(Slot::FIRST));
    let place = place.map_err(|why| TransferError::Address { why })?.named(NAME).patient();
    let db = postgres::Connection::open(&place).map_err(|error| failed_at(&place, error.into()))?;
    let end = End { db: Connection::Postgres(Box::new(db)), place: place.name };
    let in_use = |by| TransferError::InUse { place: end.place.clone(), by };
    let db = end.db.postgres();
    if slot.is_none() {
        only_slot(&end)?;
    }
    if let Some(home) = end.done(lease::node_of(db))? {
        return Err(in_use(format!("the node {home}")));
    }
    let begin = Instant::now();
    while let count @ 1.. = end.done(others(db))? {
        if begin.elapsed() > GONE {
            return Err(in_use(format!("a node or a command ({count} connections)")));
        }
        thread::sleep(Duration::from_millis(50));
    }
    match db.execute_batch(&db.place().lock_connection()) {
        Err(error) if error.is_locked() => Err(in_use("another process".into())),
        locked => {
            end.done(locked)?;
            Ok(end)
        }
    }
}

/// Refuses a database with sites in another slot than the first one, which a move would leave behind.
fn only_slot(end: &End) -> Outcome<()> {
    let slots = end.done(more_slots(end.db.postgres()))?;
    match slots.is_empty() {
        true => Ok(()),
        false => Err(TransferError::SeveralSlots { place: end.place.clone(), slots }),
    }
}

/// All slots with a site but the first one, in order.
fn more_slots(db: &postgres::Connection) -> Result<Vec<Slot>, postgres::Error> {
    let mut slots = Vec::new();
    for row in db.ask(TABLES_OF_SITES, params![])? {
        let name: &str = row.try_get(0)?;
        let Some(slot) = postgres::slot_of_schema(name) else { continue };
        if !db.ask(&format!("SELECT 1 FROM {name}.site LIMIT 1"), params![])?.is_empty() {
            slots.push(slot);
        }
    }
    slots.sort_unstable();
    Ok(slots)
}

fn others(db: &postgres::Connection) -> Result<i64, postgres::Error> {
    let rows = db.ask(OTHERS, params![])?;
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(0))
}

fn target_server(end: &End) -> Outcome<Found> {
    let db = end.db.postgres();
    let rows = end.done(db.ask("SELECT current_setting('server_encoding')", params![]))?;
    let encoding: String = rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default();
    if encoding != "UTF8" {
        return Err(TransferError::Encoding { place: end.place.clone(), encoding });
    }
    match end.done(migrate::postgres_version(db))? {
        0 => {
            // The source's epoch takes its place.
            end.done(migrate::migrate_postgres(db, 0))?;
            Ok(Found::Complete)
        }
        NEWEST => Ok(Found::Complete),
        found if found == UNFINISHED + NEWEST => Ok(Found::Unfinished),
        found if found > UNFINISHED => Err(end.other_schema(found - UNFINISHED)),
        found if found > NEWEST => Err(newer_server(&end.place, found).into()),
        found => Err(end.other_schema(found)),
    }
}
