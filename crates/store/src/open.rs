//! Opens the file: modes, settings, schema, and errors that name a remedy.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use crate::dialect;
use crate::engine;
use crate::migrate::{self, NEWEST, UNFINISHED};
use crate::torn_log;
use crate::{Options, Synchronous};

/// The reason why a database cannot be opened, with a remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot create {path}: {error}. Give the user that runs kith the right to write there")]
    Create { path: PathBuf, error: io::Error },
    #[error("{path} is not a Kith database. Name another file, or move this one away")]
    NotOurs { path: PathBuf },
    #[error(
        "{path} is damaged ({error}). Stop kith, keep a copy of the file with its -wal, and restore a backup; \
         without one, `sqlite3 {path} .recover` saves what can be read"
    )]
    Damaged { path: PathBuf, error: rusqlite::Error },
    #[error(
        "{path} was written by a newer kith (schema {found}, this one knows {known}). Run that version, or \
         restore the backup from before the update"
    )]
    Newer { path: PathBuf, found: u32, known: u32 },
    #[error(
        "{path} has an older schema ({found}, this kith knows {known}), and a node of that version is working with it. \
         Restart the node with this version, or use the node's own"
    )]
    Older { path: PathBuf, found: u32, known: u32 },
    #[error(
        "{path} cannot use a write-ahead log (it says {mode}). Put it on a local disk: network file systems \
         lack the shared memory it needs"
    )]
    NoWal { path: PathBuf, mode: String },
    #[error("{path} is held by another process for too long. End that process or try again")]
    Busy { path: PathBuf },
    #[error("there is no room for {path}. Free some and try again")]
    DiskFull { path: PathBuf },
    #[error("cannot start a thread for {path}: {error}. Raise the limit of threads (ulimit -u)")]
    Thread { path: PathBuf, error: String },
    #[error("there is no file {path}")]
    Missing { path: PathBuf },
    #[error("{place} cannot be used: {error}")]
    Server { place: String, error: engine::postgres::Error },
    /// Of a slot other than the first one.
    #[error(
        "{place}: cannot create the schema of the slot: {error}. As an administrator of the database, run {remedy}"
    )]
    Schema { place: String, error: engine::postgres::Error, remedy: String },
    #[error("--database is not the address of a PostgreSQL database: {why}")]
    Address { why: String },
    #[error(
        "{place} was written by a newer kith (schema {found}, this one knows {known}). Run that version, or restore \
         the backup from before the update"
    )]
    NewerServer { place: String, found: u32, known: u32 },
    #[error(
        "{place} has an older schema ({found}, this kith knows {known}), and a node of that version may be working with \
         it. Restart the node with this version, or use the node's own"
    )]
    OlderServer { place: String, found: u32, known: u32 },
    #[error(
        "{place} is the unfinished target of `kith migrate`. Run that command again with the same source, or name another \
         database"
    )]
    Unfinished { place: String },
    #[error("cannot open {path}: {error}")]
    Failed { path: PathBuf, error: engine::Error },
}

/// Stored in the header of our files ("Kith"), so that the store never writes to another program's database.
const APPLICATION_ID: i32 = 0x4b69_7468;

/// Opens a database for writing; creates and migrates it if needed. The file holds secrets and private messages, so
/// only its owner may read it. SQLite gives `-wal` and `-shm` files the same mode.
pub(crate) fn open(path: &Path, options: &Options) -> Result<engine::Connection, OpenError> {
    create(path).map_err(|error| OpenError::Create { path: path.into(), error })?;
    let explain = |error| explain(path, error);
    let mut db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options).map_err(explain)?;
    check_owner(&db, path)?;
    let mode: String = db.query_row(dialect::JOURNAL_WAL, [], |row| row.get(0)).map_err(explain)?;
    if mode != "wal" {
        return Err(OpenError::NoWal { path: path.into(), mode });
    }
    let synchronous = match options.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    dialect::set(&db, "synchronous", synchronous).map_err(explain)?;
    dialect::run(&db, dialect::SECURE_DELETE).map_err(explain)?;
    dialect::set(&db, "cache_size", -i64::from(options.writer_cache_kib)).map_err(explain)?;
    dialect::set(&db, "wal_autocheckpoint", options.checkpoint_pages).map_err(explain)?;
    // Truncates a log that grew in a burst to twice its usual size.
    let log_bytes = i64::from(options.checkpoint_pages) * 4096 * 2;
    dialect::set(&db, "journal_size_limit", log_bytes).map_err(explain)?;
    if let Some(pages) = options.max_pages {
        dialect::limit_pages(&db, pages).map_err(explain)?;
    }
    let found = migrate::version(&db).map_err(explain)?;
    if found < NEWEST && !options.migrate {
        return Err(OpenError::Older { path: path.into(), found, known: NEWEST });
    }
    let epoch = RandomState::new().hash_one(path) as u32;
    let found = migrate::migrate(&mut db, epoch).map_err(explain)?;
    if found > NEWEST {
        return Err(newer(path, found));
    }
    if found < NEWEST {
        tracing::info!(from = found, to = NEWEST, "migrated the database");
    }
    Ok(db.into())
}

/// The reason why a file of a greater version than [`NEWEST`] is refused.
pub(crate) fn newer(path: &Path, found: u32) -> OpenError {
    if found > UNFINISHED {
        return OpenError::Unfinished { place: path.display().to_string() };
    }
    OpenError::Newer { path: path.into(), found, known: NEWEST }
}

/// As [`newer`], for PostgreSQL.
pub(crate) fn newer_server(place: &str, found: u32) -> OpenError {
    if found > UNFINISHED {
        return OpenError::Unfinished { place: place.to_owned() };
    }
    OpenError::NewerServer { place: place.to_owned(), found, known: NEWEST }
}

/// Opens the first connection of a process, before all others. Continues under a new epoch if the log lost data, and
/// restarts the log, so that no data of an older process stays in it.
pub(crate) fn open_first(path: &Path, options: &Options) -> Result<engine::Connection, OpenError> {
    let is_torn = options.migrate
        && torn_log::is_torn(path).map_err(|error| OpenError::Create { path: path.into(), error })?;
    let db = open(path, options)?;
    if is_torn {
        renew_epoch(db.sqlite(), path)?;
        tracing::error!(
            path = %path.display(),
            "the end of the write-ahead log is damaged; the newest writes may be lost, and clients reload their history"
        );
    }
    if options.migrate {
        // If another process reads the log, it stays, and a later start restarts it.
        dialect::run(db.sqlite(), dialect::EMPTY_LOG).map_err(|e| explain(path, e))?;
    }
    Ok(db)
}

/// Gives the database a new epoch, so that clients treat it as another database.
pub(crate) fn renew_epoch(db: &Connection, path: &Path) -> Result<(), OpenError> {
    // A random step that is never 0, so the new epoch differs from the old one.
    let step = (RandomState::new().hash_one(path) as u32).max(1);
    let sql = sql!("UPDATE meta SET value = (value + $1) % 4294967296 WHERE name = 'epoch'");
    match db.execute(sql, [step]).map_err(|error| explain(path, error))? {
        1 => Ok(()),
        _ => Err(OpenError::NotOurs { path: path.into() }),
    }
}

/// Opens a database for reading, after [`open`] has opened it.
pub(crate) fn open_reader(path: &Path, options: &Options) -> Result<engine::Connection, OpenError> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, options).map_err(|e| explain(path, e))?;
    dialect::set(&db, "cache_size", -i64::from(options.reader_cache_kib))
        .and_then(|()| dialect::set(&db, "query_only", true))
        .map_err(|e| explain(path, e))?;
    Ok(db.into())
}

pub(crate) fn create(path: &Path) -> io::Result<()> {
    let mut directory = fs::DirBuilder::new();
    let mut file = fs::OpenOptions::new();
    file.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        directory.recursive(true).create(parent)?;
    }
    file.open(path).map(drop)
}

pub(crate) fn connect(path: &Path, flags: OpenFlags, options: &Options) -> rusqlite::Result<Connection> {
    // Rust guarantees that only one thread at a time uses a connection, so SQLite needs no mutex.
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(Duration::from_millis(options.busy_ms.into()))?;
    db.set_prepared_statement_cache_capacity(128);
    // Without this option SQLite plans some statements again whenever other values are bound, at ten times the cost of
    // running them.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    dialect::set(&db, "temp_store", "MEMORY")?;
    Ok(db)
}

/// Checks that Kith wrote the file.
pub(crate) fn check_ours(db: &Connection, path: &Path) -> Result<(), OpenError> {
    match owner(db).map_err(|error| explain(path, error))? {
        APPLICATION_ID => Ok(()),
        _ => Err(OpenError::NotOurs { path: path.into() }),
    }
}

fn owner(db: &Connection) -> rusqlite::Result<i32> {
    db.query_row(dialect::APPLICATION_ID, [], |row| row.get(0))
}

/// Checks that the file is Kith's, or marks an empty one.
fn check_owner(db: &Connection, path: &Path) -> Result<(), OpenError> {
    let explain = |error| explain(path, error);
    let owner = owner(db).map_err(explain)?;
    if owner == APPLICATION_ID {
        return Ok(());
    }
    let tables: u32 = db.query_row(dialect::COUNT_TABLES, [], |row| row.get(0)).map_err(explain)?;
    if owner != 0 || tables > 0 {
        return Err(OpenError::NotOurs { path: path.into() });
    }
    dialect::set(db, "application_id", APPLICATION_ID).map_err(explain)
}

pub(crate) fn explain(path: &Path, error: impl Into<engine::Error>) -> OpenError {
    let path = path.to_owned();
    let error = match error.into() {
        engine::Error::Sqlite(error) => error,
        error => return OpenError::Failed { path, error },
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OpenError::NotOurs { path },
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, error },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::Busy { path },
        Some(ErrorCode::DiskFull) => OpenError::DiskFull { path },
        _ => OpenError::Failed { path, error: error.into() },
    }
}
