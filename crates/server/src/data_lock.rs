//! The lock of a data directory: one process holds it for its lifetime.
//!
//! It is a lock of the operating system on `kith.lock` (flock(2)), so it ends with the process in any case. The content of the file is
//! for error messages only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chat::Timestamp;
use serde::{Deserialize, Serialize};

use crate::date;
use crate::trouble::{Outcome, Trouble};

const LOCK: &str = "kith.lock";

/// Held until it is dropped.
#[derive(Debug)]
pub(crate) struct DataLock {
    _file: File,
}

/// The process that holds a lock, as it described itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    since_ms: u64,
}

impl DataLock {
    /// Creates the directory if it is missing, closes it to other users of the machine, and locks it. Fails at once if another process
    /// holds the lock.
    pub(crate) fn acquire(dir: &Path, now: Timestamp) -> Outcome<DataLock> {
        make_private(dir)?;
        let path = dir.join(LOCK);
        let unusable = |error: io::Error| {
            Trouble::new(format!("cannot lock {}", path.display()))
                .because(error)
                .remedy("name a directory on a local disk that this user may write to with --data DIR")
        };
        let mut file = open(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(dir, holder(&mut file).as_ref())),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        let holder = Holder { pid: std::process::id(), since_ms: now.0 };
        if let Err(error) = describe(&mut file, &holder) {
            // The disk may be full. The lock holds all the same.
            tracing::warn!(%error, path = %path.display(), "cannot write down who holds the lock");
        }
        Ok(DataLock { _file: file })
    }

    /// Whether another process holds it. False if it was never locked, or this user has no access.
    pub(crate) fn is_held(dir: &Path) -> bool {
        // Never created here: a command must not create a directory for a wrong name.
        let Ok(file) = File::open(dir.join(LOCK)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }
}

fn open(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn describe(file: &mut File, holder: &Holder) -> io::Result<()> {
    let json = serde_json::to_vec(holder)?;
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(&json)
}

/// None in the moment between its lock and its description.
fn holder(file: &mut File) -> Option<Holder> {
    let mut json = Vec::new();
    file.take(256).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

fn in_use(dir: &Path, holder: Option<&Holder>) -> Trouble {
    let trouble = Trouble::new(format!("the data directory {} is in use", dir.display()));
    match holder {
        Some(Holder { pid, since_ms }) => trouble
            .because(format!("process {pid} holds it since {}", date(Timestamp(*since_ms))))
            .remedy(format!("stop process {pid} first, or name another directory with --data DIR")),
        None => trouble
            .because("another kith process locked it just now")
            .remedy("stop the other process first, or name another directory with --data DIR"),
    }
}

/// Access by others of this machine: each of them could read members' files, or replace the database.
const OTHERS: u32 = 0o007;
const GROUP_AND_OTHERS: u32 = 0o077;

fn make_private(dir: &Path) -> Outcome {
    let unmade = |error: io::Error| {
        Trouble::new(format!("cannot create the data directory {}", dir.display()))
            .because(error)
            .remedy("name a directory that this user may write to with --data DIR")
    };
    if !dir.is_dir() {
        // The mode of directories above it does not change.
        dir.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(unmade)?;
        match std::fs::DirBuilder::new().mode(0o700).create(dir) {
            // Another process created it first; it is checked like an existing one.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(unmade(error)),
            _ => {}
        }
    }
    let found = std::fs::metadata(dir).map_err(unmade)?;
    let mode = found.mode() & 0o7777;
    if mode & GROUP_AND_OTHERS == 0 {
        return Ok(());
    }
    match std::fs::set_permissions(dir, std::fs::Permissions::from_mode(mode & !GROUP_AND_OTHERS)) {
        Ok(()) => {
            tracing::warn!(
                directory = %dir.display(),
                was = format!("{mode:04o}"),
                "other users could read the data directory; its mode was corrected"
            );
            Ok(())
        }
        // A volume that belongs to another user and admits us by its group (`fsGroup` of Kubernetes).
        Err(_) if mode & OTHERS == 0 => Ok(()),
        Err(error) => Err(Trouble::new(format!("other users can read the data directory {}", dir.display()))
            .because(format!("its mode is {mode:04o}, and kith cannot change it: {error}"))
            .remedy(format!("chmod o-rwx {}", dir.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("kith-lock-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            Scratch(path)
        }

        fn data(&self) -> PathBuf {
            self.0.join("deep/data")
        }

        fn mode(&self, path: &Path) -> u32 {
            std::fs::metadata(path).expect("it is there").mode() & 0o777
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    const NOON: Timestamp = Timestamp(1_763_812_800_000);

    #[test]
    fn a_second_process_is_refused_with_the_holder_of_the_lock() {
        let scratch = Scratch::new("second");
        let dir = scratch.data();
        assert!(!DataLock::is_held(&dir) && !dir.exists(), "looking makes nothing");
        let held = DataLock::acquire(&dir, NOON).expect("nobody holds it");
        assert!(DataLock::is_held(&dir));
        let refusal = DataLock::acquire(&dir, NOON).expect_err("it is held").to_string();
        let pid = std::process::id();
        assert!(refusal.contains(&format!("process {pid} holds it since 2025-11-22T12:00:00Z")), "{refusal}");
        drop(held);
        assert!(!DataLock::is_held(&dir));
        DataLock::acquire(&dir, NOON).expect("it is free again, although the file is still there");
    }

    #[test]
    fn a_data_directory_is_made_private_and_an_open_one_is_closed() {
        let scratch = Scratch::new("modes");
        let dir = scratch.data();
        drop(DataLock::acquire(&dir, NOON).expect("nobody holds it"));
        assert_eq!((scratch.mode(&dir), scratch.mode(&dir.join(LOCK))), (0o700, 0o600));
        std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        drop(DataLock::acquire(&dir, NOON).expect("nobody holds it"));
        assert_eq!(scratch.mode(&dir), 0o700);
    }
}
