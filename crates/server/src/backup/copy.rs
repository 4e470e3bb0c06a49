//! Copies members' files from one directory to another: only missing files.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use super::encryption::{self, Way};
use crate::files::{FOLDER, SECRET};

/// Interval of progress lines.
const SAY_EVERY: Duration = Duration::from_secs(5);

/// Count of copied files and bytes, and of files that were there before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    files: u64,
    bytes: u64,
    there_already: u64,
}

impl fmt::Display for Copied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} files ({} bytes) were copied, {} were there",
            self.files, self.bytes, self.there_already
        )
    }
}

/// Copies the folder of files, and the secret of their links, to another data directory or a backup of one. Skips
/// files that have the same name and length in the target: a complete file never changes. Removes no file.
pub(super) fn files(from: &Path, to: &Path, way: &Way<'_>) -> io::Result<Copied> {
    let mut copied = Copied::default();
    let mut said = Instant::now();
    if from.join(FOLDER).try_exists()? {
        directory(&from.join(FOLDER), &to.join(FOLDER), way, &mut copied, &mut |copied| {
            if said.elapsed() >= SAY_EVERY {
                said = Instant::now();
                eprintln!("copied so far: {copied}");
            }
        })?;
    }
    let encrypted = format!("{SECRET}.{}", encryption::ENDING);
    for name in [SECRET, &encrypted] {
        if from.join(name).try_exists()? {
            make_directory(to)?;
            one(&from.join(name), &to.join(name), way)?;
        }
    }
    Ok(copied)
}

fn directory(
    from: &Path,
    to: &Path,
    way: &Way<'_>,
    copied: &mut Copied,
    say: &mut dyn FnMut(&Copied),
) -> io::Result<()> {
    make_directory(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            directory(&source, &target, way, copied, say)?;
        } else if kind.is_file() {
            match one(&source, &target, way) {
                Ok(Some(bytes)) => (copied.files, copied.bytes) = (copied.files + 1, copied.bytes + bytes),
                Ok(None) => copied.there_already += 1,
                // Deleted since the directory was read.
                Err(error) if error.kind() == ErrorKind::NotFound && !source.try_exists()? => {}
                Err(error) => return Err(error),
            }
            say(copied);
        }
    }
    Ok(())
}

/// Returns the copied bytes; 0 for an existing file.
fn one(from: &Path, to: &Path, way: &Way<'_>) -> io::Result<Option<u64>> {
    let bytes = fs::metadata(from)?.len();
    let to = way.target(from, to)?;
    if way.is_there(from, bytes, &to) {
        return Ok(None);
    }
    // Only a complete file gets the name.
    let mut part = to.as_os_str().to_owned();
    part.push(".part");
    let copied = way.copy(from, Path::new(&part)).inspect_err(|_| drop(fs::remove_file(&part)))?;
    fs::rename(&part, &to)?;
    Ok(Some(copied))
}

/// Readable by its owner only, because members' files are in it.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}
