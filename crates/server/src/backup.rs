//! `kith backup` and `kith restore`: the database to a file and back, and the bytes of members' files to a directory and back.

mod copy;

use std::path::Path;

use crate::cli::{BackupArgs, RestoreArgs};
use crate::config::Loaded;
use crate::data_dir;
use crate::data_lock::DataLock;
use crate::trouble::{Outcome, Trouble};

/// While a node runs, or not.
pub(crate) fn take(args: &BackupArgs, loaded: &Loaded) -> Outcome {
    let to = &args.to;
    let dir = data_dir::locate(loaded, None)?;
    let what = || format!("cannot back up {}", dir.display());
    if to.is_dir() {
        let inside = to.join("kith-backup.db");
        return Err(Trouble::new(what())
            .because(format!("{} is a directory", to.display()))
            .remedy(format!("name a file, as in {}", inside.display())));
    }
    if to.exists() && !args.force {
        return Err(Trouble::new(what())
            .because(format!("{} is there already", to.display()))
            .remedy("name another file, or replace this one with --force"));
    }
    store::backup(&data_dir::database_in(&dir), to).map_err(|error| {
        Trouble::new(what()).because(error).remedy("name the node's data directory with --data DIR")
    })?;
    let bytes = std::fs::metadata(to).map_or(0, |file| file.len());
    crate::print_line(&format!("{} ({bytes} bytes) is a copy of {}", to.display(), dir.display()))?;
    // After the database: what it names is there then, or was deleted meanwhile.
    args.files.as_deref().map_or(Ok(()), |files| copy_files(&dir, files))
}

fn copy_files(from: &Path, to: &Path) -> Outcome {
    let copied = copy::files(from, to).map_err(|error| {
        Trouble::new(format!("cannot copy members' files from {} to {}", from.display(), to.display()))
            .because(error)
            .remedy("say it again: what was copied is not copied twice")
    })?;
    crate::print_line(&format!("{copied}, in {}", to.display()))
}

/// While no node runs.
pub(crate) fn restore(args: &RestoreArgs, loaded: &Loaded) -> Outcome {
    let (from, dir) = (&args.from, &loaded.config.data);
    let what = || format!("cannot restore into {}", dir.display());
    // A node would not see the change, and none may start before it is done.
    let _lock = DataLock::acquire(dir, crate::now())?;
    let database = data_dir::database_in(dir);
    if database.exists() && !args.force {
        return Err(Trouble::new(what())
            .because(format!("{} is there already", database.display()))
            .remedy("to put the copy in its place, add --force; what is there now is kept beside it"));
    }
    let replaced = store::restore(from, &database)
        .map_err(|error| Trouble::new(what()).because(error).remedy("nothing has been changed"))?;
    crate::print_line(&format!("{} is restored from {}", database.display(), from.display()))?;
    if let Some(replaced) = replaced {
        crate::print_line(&format!("what was there before is {}", replaced.display()))?;
    }
    if let Some(files) = &args.files {
        copy_files(files, dir)?;
    }
    crate::print_line("Start the node now. Clients will load afresh.")
}
