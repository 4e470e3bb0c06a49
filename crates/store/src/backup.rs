//! Copies of a whole database: taken while a node runs, and put in its place again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::dialect;
use crate::migrate::{self, NEWEST};
use crate::open::{check_ours, connect, create, explain};
use crate::{OpenError, Options};

/// Copies the database at `from`, as it is at one moment, to the file `to`, which is replaced once the copy is whole
/// and on disk. A node may go on writing meanwhile: everything that it has acknowledged before is in the copy. Blocks.
pub fn backup(from: &Path, to: &Path) -> Result<(), OpenError> {
    let source = source(from)?;
    let aside = beside(to, ".new");
    copy(&source, &aside).inspect_err(|_| drop(fs::remove_file(&aside)))?;
    put(&aside, to)
}

/// Puts a copy in the place of the database at `to`, under a new *epoch*: to clients it is another database, so that
/// each begins with a first page, instead of taking the messages that the copy lacks for seen. Answers where the
/// database that was there is now. Where it fails, that one is still in its place, or at the latest moment, if the disk
/// does not take a rename, there already. Blocks.
///
/// No process may have the database open; one that this can find out about is [`OpenError::Busy`].
pub fn restore(from: &Path, to: &Path) -> Result<Option<PathBuf>, OpenError> {
    let source = source(from)?;
    let aside = beside(to, ".new");
    let prepared = copy(&source, &aside).and_then(|()| renew_epoch(&aside)).and_then(|()| move_away(to));
    let replaced = prepared.inspect_err(|_| drop(fs::remove_file(&aside)))?;
    put(&aside, to)?;
    Ok(replaced)
}

/// A whole database of ours, not newer than this program.
fn source(path: &Path) -> Result<Connection, OpenError> {
    let explain = |error| explain(path, error);
    if !path.is_file() {
        return Err(OpenError::Missing { path: path.into() });
    }
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &Options::default()).map_err(explain)?;
    check_ours(&db, path)?;
    let found = migrate::version(&db).map_err(explain)?;
    if found > NEWEST {
        return Err(OpenError::Newer { path: path.into(), found, known: NEWEST });
    }
    Ok(db)
}

/// In one statement, which is one moment of the source. Only what is there is written, not what was deleted from pages that are
/// free or half empty now.
fn copy(source: &Connection, to: &Path) -> Result<(), OpenError> {
    let explain = |error| explain(to, error);
    let failed = |error| OpenError::Create { path: to.into(), error };
    remove(to)?;
    create(to).map_err(failed)?;
    source.execute(sql!("VACUUM INTO $1"), [to.to_string_lossy()]).map_err(explain)?;
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(failed)?;
    let db = connect(to, OpenFlags::SQLITE_OPEN_READ_WRITE, &Options::default()).map_err(explain)?;
    dialect::set(&db, "synchronous", "FULL").map_err(explain)?;
    // One file without a log beside it.
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

/// Out of the way, not deleted: whoever restores the wrong copy wants it back.
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

/// Writes the log into the file, which SQLite does only where no other process has it open. A file that cannot be
/// read, the usual reason to restore, goes as it is.
fn close_log(path: &Path) -> Result<(), OpenError> {
    let options = Options { busy_ms: 500, ..Options::default() };
    let Ok(db) = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &options) else { return Ok(()) };
    let closed = db.query_row(dialect::JOURNAL_DELETE, [], |row| row.get::<_, String>(0));
    match closed.map_err(|error| explain(path, error)) {
        Err(busy @ OpenError::Busy { .. }) => Err(busy),
        _ => Ok(()),
    }
}

/// Renames, and makes sure that this survives a power cut.
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
