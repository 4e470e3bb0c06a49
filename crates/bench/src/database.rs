//! A database with the threads of a node's.

use std::path::PathBuf;
use std::time::Duration;

use store::{Options, Sqlite, Synchronous};

/// A new database. Only requests decide when to commit, and neither the disk nor checkpoints of the log are measured: their cost in
/// one operation is random. Drop the folder last.
pub(crate) fn database(name: &str) -> (Sqlite, Folder) {
    let folder = std::env::temp_dir().join(format!("kith-bench-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary directory is writable");
    let options = Options {
        interval: Duration::ZERO,
        gather: Duration::ZERO,
        synchronous: Synchronous::Normal,
        checkpoint_pages: 1 << 30,
        readers: 1,
        ..Options::default()
    };
    let store = Sqlite::open(&folder.join("kith.db"), options).expect("a new database");
    (store, Folder(folder))
}

/// Removed when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
