//! `kith backup` and `kith restore`: the database to a file and back, and the bytes of members' files to a directory and back.

mod copy;
mod encryption;

use std::fmt::Display;
use std::fs::File;
use std::path::Path;

pub(crate) use encryption::remove_readable_copies;

use crate::cli::{BackupArgs, RestoreArgs};
use crate::config::Loaded;
use crate::data_dir;
use crate::data_lock::DataLock;
use crate::trouble::{Outcome, Trouble};

use self::encryption::{Decrypter, Encrypter, ReadableCopy, Way};

/// While a node runs, or not.
pub(crate) fn take(args: &BackupArgs, loaded: &Loaded) -> Outcome {
    refuse_postgres(loaded, "back up", "pg_dump --format=custom --file=kith.dump")?;
    let to = &args.to;
    let dir = data_dir::locate(loaded, None)?;
    let what = || format!("cannot back up {}", dir.display());
    if to.is_dir() {
        let inside = to.join("kith-backup.db");
        return Err(Trouble::new(what())
            .because(format!("{} is a directory", to.display()))
            .remedy(format!("name a file, for example {}", inside.display())));
    }
    if to.exists() && !args.force {
        return Err(Trouble::new(what())
            .because(format!("{} exists already", to.display()))
            .remedy("name another file, or add --force to replace this one"));
    }
    let encrypter = Encrypter::of(&args.key)?;
    // First the steps that a wrong key can stop.
    let of_files = match (&encrypter, args.files.as_deref()) {
        (Some(encrypter), Some(files)) => {
            let made = copy::make_directory(files).and_then(|()| encrypter.of_files(files));
            Some(made.map_err(|error| files_not_copied(&dir, files, error))?)
        }
        _ => None,
    };
    match &encrypter {
        None => store::backup(&data_dir::database_in(&dir), to).map_err(|error| {
            Trouble::new(what()).because(error).remedy("name the node's data directory with --data DIR")
        })?,
        Some(encrypter) => encrypted(&dir, encrypter, to).map_err(|trouble| trouble(&what()))?,
    }
    let bytes = std::fs::metadata(to).map_or(0, |file| file.len());
    let kind = if encrypter.is_some() { "an encrypted copy" } else { "a copy" };
    crate::print_line(&format!("{} ({bytes} bytes) is {kind} of {}", to.display(), dir.display()))?;
    // After the database, so that its files exist, or were deleted meanwhile.
    let Some(files) = args.files.as_deref() else { return Ok(()) };
    copy_files(&dir, files, &of_files.as_ref().map_or(Way::Plain, Way::Encrypt))
}

/// The unencrypted copy is beside the database meanwhile, where messages are readable anyway.
fn encrypted(
    dir: &Path,
    encrypter: &Encrypter,
    to: &Path,
) -> Result<(), impl FnOnce(&str) -> Trouble + use<>> {
    let with = |error: String| move |what: &str| Trouble::new(what).because(error);
    let readable = ReadableCopy::in_data(dir);
    store::backup(&data_dir::database_in(dir), readable.path()).map_err(|error| with(error.to_string()))?;
    let mut part = to.as_os_str().to_owned();
    part.push(".new");
    let written = File::open(readable.path())
        .and_then(|mut file| encrypter.encrypt(&mut file, Path::new(&part)))
        .and_then(|_| std::fs::rename(&part, to));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        with(error.to_string())
    })
}

fn copy_files(from: &Path, to: &Path, way: &Way<'_>) -> Outcome {
    let copied = copy::files(from, to, way).map_err(|error| files_not_copied(from, to, error))?;
    crate::print_line(&format!("{copied}, in {}", to.display()))
}

fn files_not_copied(from: &Path, to: &Path, error: std::io::Error) -> Trouble {
    Trouble::new(format!("cannot copy members' files from {} to {}", from.display(), to.display()))
        .because(error)
        .remedy("run the command again; it skips files that were copied")
}

/// PostgreSQL has its own tools.
fn refuse_postgres(loaded: &Loaded, what: &str, instead: &str) -> Outcome {
    if loaded.config.database.is_none() {
        return Ok(());
    }
    Err(Trouble::new(format!("cannot {what} a PostgreSQL database"))
        .because("this command copies the SQLite file of a data directory")
        .remedy(format!("use PostgreSQL's tools, for example\n{instead} URL\nand copy the data directory's files beside it")))
}

/// Only without a running node.
pub(crate) fn restore(args: &RestoreArgs, loaded: &Loaded) -> Outcome {
    refuse_postgres(loaded, "restore", "pg_restore --clean --dbname")?;
    let (from, dir) = (&args.from, &loaded.config.data);
    let what = || format!("cannot restore into {}", dir.display());
    // A running node would not see the change, and no node may start before the end.
    let _lock = DataLock::acquire(dir, crate::now())?;
    let database = data_dir::database_in(dir);
    if database.exists() && !args.force {
        return Err(Trouble::new(what())
            .because(format!("{} exists already", database.display()))
            .remedy("add --force to replace it; the present database is kept as kith.db.replaced"));
    }
    let decrypter = Decrypter::of(&args.key)?;
    // Everything that a wrong key or a damaged file can stop happens before the database is replaced.
    let readable = encryption::is_encrypted(from).then(|| ReadableCopy::in_data(dir));
    let unchanged = |error: &dyn Display| Trouble::new(what()).because(error).remedy("nothing was changed");
    if let Some(readable) = &readable {
        decrypter.decrypt(from, readable.path()).map_err(|error| unchanged(&error))?;
    }
    if let Some(files) = &args.files {
        let failed = |trouble: Trouble| trouble.or_try("the database has not been changed");
        let decrypter =
            decrypter.of_files(files).map_err(|error| failed(files_not_copied(files, dir, error)))?;
        copy_files(files, dir, &Way::Decrypt(&decrypter)).map_err(failed)?;
    }
    let source = readable.as_ref().map_or(from.as_path(), ReadableCopy::path);
    let replaced = store::restore(source, &database).map_err(|error| unchanged(&error))?;
    crate::print_line(&format!("{} is restored from {}", database.display(), from.display()))?;
    if let Some(replaced) = replaced {
        crate::print_line(&format!("what was there before is {}", replaced.display()))?;
    }
    crate::print_line("Start the node now. Clients will load afresh.")
}
