//! The folder of files of all homes: each home must see the same one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use store::Lease;

use crate::config::Config;
use crate::files;
use crate::trouble::{Outcome, Trouble};

/// In the folder: the number that the database has for it.
const MARK: &str = "database.number";

/// Refuses a folder that is not the one of the database. Before a home has named one, each will do.
pub(super) fn check(lease: &Lease, config: &Config) -> Outcome {
    match look(lease, config)? {
        Some((Some(named), found)) if found != Some(named) => Err(wrong(config, named, found)),
        _ => Ok(()),
    }
}

/// As [`check`]; the first home names its folder. Call it with the lease.
pub(crate) fn claim(lease: &Lease, config: &Config) -> Outcome {
    let Some((named, found)) = look(lease, config)? else { return Ok(()) };
    match (named, found) {
        (Some(named), found) if found == Some(named) => Ok(()),
        (Some(named), found) => Err(wrong(config, named, found)),
        (None, Some(_)) => {
            let folder = files::folder(config);
            Err(Trouble::new(format!("cannot keep files in {}", folder.display()))
                .because("the folder belongs to another database")
                .remedy(format!(
                    "set files.folder to a folder of this database alone; if it is that one, remove {}",
                    folder.join(MARK).display()
                )))
        }
        (None, None) => {
            let number = u32::from_be_bytes(std::array::from_fn({
                let random = crate::serve::random();
                move |at| random[at]
            }));
            let folder = files::folder(config);
            mark(&folder, number).map_err(|error| {
                Trouble::new(format!("cannot keep files in {}", folder.display())).because(error)
            })?;
            lease.name_files(number).map_err(crate::data_dir::unreadable)
        }
    }
}

/// The number that the database has, and the one in the folder. None: files are in a bucket.
fn look(lease: &Lease, config: &Config) -> Outcome<Option<(Option<u32>, Option<u32>)>> {
    if !config.files.bucket.is_empty() {
        return Ok(None);
    }
    let path = files::folder(config).join(MARK);
    let found = match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Trouble::new(format!("cannot read {}", path.display())).because(error)),
    };
    let named = lease.files_number().map_err(crate::data_dir::unreadable)?;
    Ok(Some((named, found)))
}

fn mark(folder: &Path, number: u32) -> io::Result<()> {
    if !folder.is_dir() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(folder.join(MARK))?;
    writeln!(file, "{number}")?;
    file.sync_all()
}

fn wrong(config: &Config, named: u32, found: Option<u32>) -> Trouble {
    let folder = files::folder(config);
    let path = folder.join(MARK);
    Trouble::new(format!("{} is not the folder of files of this database", folder.display()))
        .because(match found {
            Some(found) => format!("{} has the number {found}, and the database {named}", path.display()),
            None => format!("it has no {}, and the database has the number {named}", path.display()),
        })
        .remedy(format!(
            "all homes need the same files: set files.folder to a folder on storage that they share, or set files.bucket; \
             after you have copied the files by hand: echo {named} > {}",
            path.display()
        ))
}
