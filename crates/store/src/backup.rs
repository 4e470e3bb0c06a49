//! Copies a whole database while a node runs, and restores such a copy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::dialect;
use crate::migrate::{self, NEWEST};
use crate::open::{check_ours, connect, create, explain, newer};
use crate::{OpenError, Options};

/// Copies the database at `from`, as it is at one moment, to the file `to`. Replaces `to` once the copy is complete and
/// on disk. A node may continue to write: the copy contains everything that it acknowledged before the call. Blocks.
pub fn backup(from: &Path, to: &Path) -> Result<(), OpenError> {
    let source = source(from)?;
    let aside = beside(to, ".new");
    copy(&source, &aside).inspect_err(|_| drop(fs::remove_file(&aside)))?;
    put(&aside, to)
}

/// Replaces the database at `to` with a copy, under a new *epoch*. Clients treat it as another database and begin with
/// a first page; otherwise they would treat messages that the copy lacks as read. Returns the new path of the former
/// database. After an error the former database is still at `to`. If the last rename fails, it is at its new path
/// already. Blocks.
///
/// No process may have the database open. Returns [`OpenError::Busy`] if it detects one.
pub fn restore(from: &Path, to: &Path) -> Result<Option<PathBuf>, OpenError> {
    let source = source(from)?;
    let aside = beside(to, ".new");
    let prepared = copy(&source, &aside).and_then(|()| renew_epoch(&aside)).and_then(|()| move_away(to));
    let replaced = prepared.inspect_err(|_| drop(fs::remove_file(&aside)))?;
    put(&aside, to)?;
    Ok(replaced)
}

/// Opens a complete Kith database that is not newer than this program.
fn source(path: &Path) -> Result<Connection, OpenError> {
    let explain = |error| explain(path, error);
    if !path.is_file() {
        return Err(OpenError::Missing { path: path.into() });
    }
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &Options::default()).map_err(explain)?;
    check_ours(&db, path)?;
    let found = migrate::version(&db).map_err(explain)?;
    if found > NEWEST {
        return Err(newer(path, found));
    }
    Ok(db)
}

/// Copies in one statement, which sees one moment of the source. `VACUUM INTO` writes only present rows, not deleted
/// bytes in free or half-empty pages.
fn copy(source: &Connection, to: &Path) -> Result<(), OpenError> {
    let explain = |error| explain(to, error);
    let failed = |error| OpenError::Create { path: to.into(), error };
    remove(to)?;
    create(to).map_err(failed)?;
    source.execute(sql!("VACUUM INTO $1"), [to.to_string_lossy()]).map_err(explain)?;
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(failed)?;
    let db = connect(to, OpenFlags::SQLITE_OPEN_READ_WRITE, &Options::default()).map_err(explain)?;
    dialect::set(&db, "synchronous", "FULL").map_err(explain)?;
    // The copy is one file without a log beside it.
    let mode: String = db.query_row(dialect::JOURNAL_DELETE, [], |row| row.get(0)).map_err(explain)?;
    debug_assert_eq!(mode, "delete", "nobody else has this file");
    let sound: String = db.query_row(dialect::QUICK_CHECK, [], |row| row.get(0)).map_err(explain)?;
    if sound != "ok" {
        let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(11), Some(sound));
        return Err(OpenError::Damaged { path: to.into(), error });
    }
    Ok(())
}

fn renew_epoch(path: &Path) -> Result<(), OpenError> {
    let explain = |error| explain(path, error);
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &Options::default()).map_err(explain)?;
    dialect::set(&db, "synchronous", "FULL").map_err(explain)?;
    crate::open::renew_epoch(&db, path)
}

/// Moves the former database away instead of deleting it, in case the operator restores the wrong copy.
fn move_away(path: &Path) -> Result<Option<PathBuf>, OpenError> {
    if !path.exists() {
        return Ok(None);
    }
    close_log(path)?;
    let away = beside(path, ".replaced");
    for end in ["", "-wal", "-shm"] {
        let (from, to) = (beside(path, end), beside(&away, end));
        remove(&to)?;
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(OpenError::Create { path: to, error });
            }
            _ => {}
        }
    }
    Ok(Some(away))
}

/// Writes the log into the file. SQLite does this only if no other process has the file open. A file that cannot be
/// read, the usual reason to restore, is moved with its log.
fn close_log(path: &Path) -> Result<(), OpenError> {
    let options = Options { busy_ms: 500, ..Options::default() };
    let Ok(db) = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &options) else { return Ok(()) };
    let closed = db.query_row(dialect::JOURNAL_DELETE, [], |row| row.get::<_, String>(0));
    match closed.map_err(|error| explain(path, error)) {
        Err(busy @ OpenError::Busy { .. }) => Err(busy),
        _ => Ok(()),
    }
}

/// Renames the file, and syncs the directory so that the rename survives a power cut.
fn put(aside: &Path, to: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::Create { path: to.into(), error };
    fs::rename(aside, to).map_err(failed)?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty());
    fs::File::open(parent.unwrap_or(Path::new(".")))
        .and_then(|directory| directory.sync_all())
        .map_err(failed)
}

fn remove(path: &Path) -> Result<(), OpenError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(OpenError::Create { path: path.into(), error })
        }
        _ => Ok(()),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
