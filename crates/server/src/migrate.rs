//! `kith migrate`: the whole database from SQLite to PostgreSQL, or back.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chat::Slot;
use store::{Database, Progress, Step, TransferError, TransferOptions};

use crate::cli::MigrateArgs;
use crate::data_dir;
use crate::data_lock::DataLock;
use crate::print_line;
use crate::progress::{ProgressLine, per_second};
use crate::trouble::{Outcome, Trouble};

pub(crate) fn run(args: &MigrateArgs) -> Outcome {
    let (from, to) = (database(&args.from), database(&args.to));
    if let Database::File(path) = &from
        && !path.exists()
    {
        return Err(Trouble::new("cannot migrate")
            .because(format!("there is no {}", path.display()))
            .remedy("name the node's data directory with --from DIR"));
    }
    // No node may start before the end.
    let _locks = (lock(&from)?, lock(&to)?);
    let mut line = ProgressLine::begin();
    let mut pace = Pace::begin();
    let options = TransferOptions { slot: args.slot.map(Slot), ..TransferOptions::new(crate::now()) };
    let moved = store::transfer(&from, &to, &options, &mut |progress| {
        let (rows, time) = pace.of(&progress);
        line.show(|_| text(&progress, rows, time));
    });
    line.end();
    let moved = moved.map_err(|error| explain(&error))?;
    match moved.was_finished {
        true => print_line(&format!("{} has everything already", moved.place))?,
        false => print_line(&format!(
            "{} rows of {} tables are in {}; every value was compared",
            moved.rows, moved.tables, moved.place
        ))?,
    }
    print_line(&next_step(&to))
}

/// A path that is no file yet is a directory, unless its name says otherwise.
fn database(text: &str) -> Database {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Database::Server(text.to_owned());
    }
    let path = Path::new(text);
    match path.is_file() || path.extension().is_some_and(|end| end == "db") {
        true => Database::File(path.to_owned()),
        false => Database::File(data_dir::database_in(path)),
    }
}

/// Nodes use only the file of a data directory; another one has no lock.
fn lock(database: &Database) -> Outcome<Option<DataLock>> {
    let Database::File(path) = database else { return Ok(None) };
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_owned(),
        _ => PathBuf::from("."),
    };
    let is_of_node = path.file_name() == data_dir::database_in(&dir).file_name();
    is_of_node.then(|| DataLock::acquire(&dir, crate::now())).transpose()
}

/// The rows of this step that this process has done, and the time since they began.
struct Pace {
    step: Step,
    begin: Instant,
    before: Option<u64>,
}

impl Pace {
    fn begin() -> Pace {
        Pace { step: Step::Copy, begin: Instant::now(), before: None }
    }

    fn of(&mut self, progress: &Progress<'_>) -> (u64, Duration) {
        if self.step != progress.step {
            *self = Pace { step: progress.step, begin: Instant::now(), before: Some(0) };
        }
        // Rows that an earlier process has copied come with the first report.
        let before = *self.before.get_or_insert(progress.total);
        (progress.total.saturating_sub(before), self.begin.elapsed())
    }
}

fn text(progress: &Progress<'_>, since: u64, time: Duration) -> String {
    let Progress { step, table, rows, of, total, of_total } = *progress;
    let step = match step {
        Step::Copy => "copied",
        Step::Compare => "compared",
    };
    let per_second = per_second(since, time);
    let share = total * 100 / of_total.max(1);
    format!("{table}: {step} {rows} of {of} rows; all tables: {share}%, {per_second} rows per second")
}

fn next_step(to: &Database) -> String {
    let start = match to {
        Database::Server(_) => {
            "Start the node with the same data directory, and the setting database (KITH_DATABASE)."
                .to_owned()
        }
        Database::File(path) => format!(
            "Start the node with --data {} and without the settings database and cluster.slots.",
            path.parent().unwrap_or(path).display()
        ),
    };
    format!(
        "{start}\nFiles of members have not moved: they stay in the folder files of the old data directory, in files.folder, or in \
         the bucket.\nSearch finds older messages once the node has made its index anew.\nIf a node starts on the source again, all \
         clients load their history anew."
    )
}

fn explain(error: &TransferError) -> Trouble {
    let anew = "begin anew with an empty target: dropdb and createdb, or remove the target's kith.db, kith.db-wal and kith.db-shm";
    let remedy = match error {
        TransferError::OneEngine => {
            "one of --from and --to is a data directory, the other one postgres://…; to copy within an engine, use kith backup and \
             kith restore, or pg_dump and pg_restore"
        }
        TransferError::Address { .. } => "postgres://user@host/name",
        TransferError::InUse { .. } => {
            "stop the node, its standbys and all commands that use the database, then run this again"
        }
        TransferError::OtherSchema { .. } => {
            "start a node of this version on it once, and stop it; or, for a target, name an empty database"
        }
        TransferError::Encoding { .. } => "createdb --encoding UTF8 --template template0 NAME",
        TransferError::SeveralSlots { .. } => {
            "move each slot on its own, with --slot N (also --slot 0): each gets a data directory and a node of its own"
        }
        TransferError::OtherSlot { .. } => {
            "name that slot with --slot N: the number of a site has its slot in it"
        }
        TransferError::NotEmpty { .. } => {
            "name a data directory without kith.db, or an empty PostgreSQL database"
        }
        TransferError::Finished { .. } => {
            "start the node on it; to repeat the migration, name an empty database"
        }
        TransferError::OtherSource { .. } | TransferError::Differs { .. } => anew,
        TransferError::Value { .. } => {
            "change or remove this value in the source, then run this again; it continues"
        }
        TransferError::Open(_) | TransferError::Failed { .. } => {
            "run this again when the cause is gone; it continues where it stopped"
        }
    };
    Trouble::new("the migration is not complete").because(error).remedy(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_address_a_directory_or_a_file() {
        let file = |path: &str| Database::File(path.into());
        for (text, wanted) in [
            ("postgres://kith@a/b", Database::Server("postgres://kith@a/b".into())),
            ("postgresql://kith@a/b", Database::Server("postgresql://kith@a/b".into())),
            ("/nowhere/data", file("/nowhere/data/kith.db")),
            ("/nowhere/data/kith.db", file("/nowhere/data/kith.db")),
            ("copy.db", file("copy.db")),
        ] {
            assert_eq!(database(text), wanted);
        }
    }

    #[test]
    fn only_the_file_of_a_data_directory_has_a_lock() {
        let lock = |path: &str| lock(&Database::File(path.into())).expect("nobody has it");
        assert!(lock("/nowhere/copy.db").is_none() && lock("copy.db").is_none());
        let dir = std::env::temp_dir().join(format!("kith-migrate-{}", std::process::id()));
        let database = dir.join("kith.db");
        let held = lock(&database.display().to_string());
        assert!(held.is_some() && DataLock::is_held(&dir));
        drop(held);
        std::fs::remove_dir_all(dir).expect("it is ours");
    }

    #[test]
    fn the_progress_names_table_rows_share_and_speed() {
        let progress =
            Progress { step: Step::Copy, table: "message", rows: 20, of: 50, total: 120, of_total: 400 };
        let line = text(&progress, 100, Duration::from_secs(2));
        assert_eq!(line, "message: copied 20 of 50 rows; all tables: 30%, 50 rows per second");
    }
}
