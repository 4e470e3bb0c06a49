//! Moves a whole database between SQLite and PostgreSQL.
//!
//! 1. The late rows of the source are written. From then on no other process can write to it.
//! 2. The target gets the schema, the rows of `meta`, and a table `transfer` with the progress of each table. Its schema version is
//!    one that every node refuses.
//! 3. The tables are copied in the order of their keys. Each transaction adds rows and counts them in `transfer`, so a transfer
//!    that was killed goes on behind the last row of the target.
//! 4. Both databases are read again as a whole, and every value is compared.
//! 5. One transaction of the target removes `transfer` and sets the schema version. Then the source gets a new epoch.
//!
//! The node makes the index of words anew after its start. Files of members are not in the database.

mod compare;
mod copy;
mod end;
mod table;

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use chat::{SiteId, Slot, Timestamp};

use self::end::{End, Found};
use self::table::Table;
use crate::engine::{self, Connection, params, postgres};
use crate::migrate::{NEWEST, UNFINISHED};
use crate::{OpenError, dialect, meta};

/// A database of either engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// The file of SQLite.
    File(PathBuf),
    /// The address of PostgreSQL: `postgres://user:password@host/name`.
    Server(String),
}

impl Database {
    pub fn is_server(&self) -> bool {
        matches!(self, Database::Server(_))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferOptions {
    /// Most rows of one transaction. Large rows make transactions of fewer.
    pub rows: usize,
    /// The time that marks the target.
    pub now: Timestamp,
    /// The slot of the PostgreSQL database whose sites move. None: its only one; a database with sites in other slots is refused.
    pub slot: Option<Slot>,
}

impl TransferOptions {
    pub fn new(now: Timestamp) -> TransferOptions {
        TransferOptions { rows: 8_192, now, slot: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Copy,
    Compare,
}

/// The state of a transfer after a transaction of the target, or after some compared rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'t> {
    pub step: Step,
    pub table: &'t str,
    /// Rows of the table: done, and all.
    pub rows: u64,
    pub of: u64,
    /// Rows of all tables: done, and all.
    pub total: u64,
    pub of_total: u64,
}

/// The result of a transfer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// The target, without a password.
    pub place: String,
    pub tables: usize,
    pub rows: u64,
    /// An earlier call had done it already.
    pub was_finished: bool,
}

/// The reason why a transfer ended. The target stays unfinished, and the source as it was.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    #[error("both databases are of the same engine")]
    OneEngine,
    #[error("this is not the address of a PostgreSQL database: {why}")]
    Address { why: String },
    #[error("{by} uses {place}")]
    InUse { place: String, by: String },
    #[error("{place} has the schema {found}, and this kith knows {known}")]
    OtherSchema { place: String, found: u32, known: u32 },
    #[error("{place} has the encoding {encoding}, and Kith needs UTF8")]
    Encoding { place: String, encoding: String },
    #[error("{place} also has sites in other slots: {}", numbers(slots))]
    SeveralSlots { place: String, slots: Vec<Slot> },
    #[error("the sites of {place} have numbers of slot {}, not of slot {}", found.0, wanted.0)]
    OtherSlot { place: String, found: Slot, wanted: Slot },
    #[error("{place} is not empty: the table {table} has rows")]
    NotEmpty { place: String, table: String },
    #[error("{place} is the target of a finished migration")]
    Finished { place: String },
    #[error("{place} is the unfinished target of another source, or the source has changed since")]
    OtherSource { place: String },
    #[error("{table} ({key}): the column {column} has {why}, which cannot be moved")]
    Value { table: String, key: String, column: String, why: &'static str },
    #[error("{table} differs{at}: {what}")]
    Differs {
        table: String,
        /// The first row that differs.
        at: String,
        what: String,
    },
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{place}: {error}")]
    Failed { place: String, error: engine::Error },
}

type Outcome<T> = Result<T, TransferError>;

fn numbers(slots: &[Slot]) -> String {
    slots.iter().map(|slot| slot.0.to_string()).collect::<Vec<_>>().join(", ")
}

/// Rows of `meta` that belong to one database and do not move.
const STAY: [&str; 3] = ["schema", "search_indexed", MARK];
/// The row of `meta` that marks the target of a finished transfer. Its value is the time.
const MARK: &str = "moved";

/// Copies everything, or one slot, from one database to another one of the other engine, and compares both. Afterwards the target has the epoch
/// of the source, so clients go on with their positions. The source gets a new epoch, so clients load everything anew if a node
/// uses it again. No node may use either; the caller holds the locks of data directories. Blocks.
///
/// The target must be empty, or the unfinished target of the same source. `report` is called after each transaction; if the process
/// dies there or elsewhere, another call goes on.
pub fn transfer(
    from: &Database,
    to: &Database,
    options: &TransferOptions,
    report: &mut dyn FnMut(Progress<'_>),
) -> Outcome<Moved> {
    if from.is_server() == to.is_server() {
        return Err(TransferError::OneEngine);
    }
    let source = End::source(from, options.slot)?;
    if to.is_server() {
        check_slot(&source, options.slot.unwrap_or(Slot::FIRST))?;
    }
    let (target, found) = End::target(to, options.slot)?;
    let (file, server) = if from.is_server() { (&target, &source) } else { (&source, &target) };
    let tables = file.done(Table::all(file.db.sqlite()))?;
    match found {
        Found::Unfinished => check_source(&source, &target, &tables)?,
        Found::Complete => match begin(&source, &target, &tables) {
            Err(TransferError::Finished { .. }) if target_has_epoch(&source, &target)? => {
                source.done(renew_epoch(&source.db))?;
                return Ok(Moved { place: target.place, tables: tables.len(), rows: 0, was_finished: true });
            }
            begun => begun?,
        },
    }
    let counts =
        tables.iter().map(|table| source.done(table.count(&source.db))).collect::<Outcome<Vec<_>>>()?;
    let mut report = Report { report, step: Step::Copy, before: 0, of_total: counts.iter().sum() };
    for (table, count) in tables.iter().zip(&counts) {
        copy::table(&source, &target, table, options.rows, &mut |rows| report.rows(table, rows, *count))?;
        report.before += count;
    }
    if target.db.is_postgres() {
        target.done(analyze(&target.db, &tables))?;
    }
    let mut report = Report { step: Step::Compare, before: 0, ..report };
    check_meta(&source, &target)?;
    for (table, count) in tables.iter().zip(&counts) {
        let mut report_rows = |rows| report.rows(table, rows, *count);
        compare::table(file, server, table, options.rows, &mut report_rows)?;
        report.before += count;
    }
    target.done(finish(&target.db, &tables, options.now))?;
    source.done(renew_epoch(&source.db))?;
    Ok(Moved { place: target.place, tables: tables.len(), rows: report.of_total, was_finished: false })
}

struct Report<'r> {
    report: &'r mut dyn FnMut(Progress<'_>),
    step: Step,
    /// Rows of the tables before this one.
    before: u64,
    of_total: u64,
}

impl Report<'_> {
    fn rows(&mut self, table: &Table, rows: u64, of: u64) {
        let (step, of_total) = (self.step, self.of_total);
        let total = self.before + rows;
        (self.report)(Progress { step, table: &table.name, rows, of, total, of_total });
    }
}

/// Makes an empty database an unfinished target.
fn begin(source: &End, target: &End, tables: &[Table]) -> Outcome<()> {
    for table in tables {
        if target.done(table.has_rows(&target.db))? {
            let place = target.place.clone();
            let is_finished = target.done(meta_rows(&target.db))?.iter().any(|(name, _)| name == MARK);
            return Err(match is_finished {
                true => TransferError::Finished { place },
                false => TransferError::NotEmpty { place, table: table.name.clone() },
            });
        }
    }
    let meta = moving(source)?;
    target.done(begin_target(&target.db, &meta, tables))
}

fn begin_target(db: &Connection, meta: &[(String, i64)], tables: &[Table]) -> engine::Result<()> {
    db.begin_write()?;
    db.execute(
        "CREATE TABLE transfer (name TEXT NOT NULL PRIMARY KEY, moved BIGINT NOT NULL, done BIGINT NOT NULL)",
        [],
    )?;
    for table in tables {
        let sql = sql!("INSERT INTO transfer (name, moved, done) VALUES ($1, 0, 0)");
        db.execute(sql, [table.name.as_str()])?;
    }
    set_triggers(db, tables, "DISABLE")?;
    // A folder of files that a home has named before is kept, unless the source has named one.
    db.execute("DELETE FROM meta WHERE name NOT IN ('schema', 'files')", [])?;
    for (name, value) in meta {
        let sql =
            sql!("INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value");
        db.execute(sql, params![name.as_str(), *value])?;
    }
    set_version(db, UNFINISHED + NEWEST)?;
    db.commit()
}

/// Of PostgreSQL. In SQLite the connection has them switched off. They would run for each row, and remove rows that are copied, too.
fn set_triggers(db: &Connection, tables: &[Table], to: &str) -> engine::Result<()> {
    let Connection::Postgres(server) = db else { return Ok(()) };
    let sql = "SELECT DISTINCT relname::text FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid \
               WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace";
    for row in server.ask(sql, params![])? {
        let name: &str = row.try_get(0).map_err(postgres::Error::from)?;
        // Tables of other programs may be beside them.
        if tables.iter().any(|table| table.name == name) {
            db.execute(&format!("ALTER TABLE {name} {to} TRIGGER USER"), [])?;
        }
    }
    Ok(())
}

fn set_version(db: &Connection, version: u32) -> engine::Result<()> {
    if let Connection::Sqlite(db) = db {
        return Ok(dialect::set(db, "user_version", version)?);
    }
    db.execute(sql!("UPDATE meta SET value = $1 WHERE name = 'schema'"), [version])?;
    Ok(())
}

/// A site's number has its slot in the highest byte, and fronts leave out sites of another slot than their home's.
fn check_slot(source: &End, wanted: Slot) -> Outcome<()> {
    let next = source.done(meta::next_site(&source.db))?;
    // The number before the next one is the last that was given, or that of the slot without a site.
    match SiteId(next.saturating_sub(1)).slot() {
        found if found == wanted => Ok(()),
        found => Err(TransferError::OtherSlot { place: source.place.clone(), found, wanted }),
    }
}

/// Checks that the unfinished target is that of this source, and that the source is as it was.
fn check_source(source: &End, target: &End, tables: &[Table]) -> Outcome<()> {
    let found = target.done(meta_rows(&target.db))?;
    let is_known = moving(source)?.iter().all(|row| found.contains(row));
    let sql = "SELECT count(*) FROM transfer";
    let count: i64 = target
        .done(target.db.prepare_cached(sql).and_then(|mut count| count.query_row([], |row| row.get(0))))?;
    match is_known && count == tables.len() as i64 {
        true => Ok(()),
        false => Err(TransferError::OtherSource { place: target.place.clone() }),
    }
}

fn check_meta(source: &End, target: &End) -> Outcome<()> {
    let found = target.done(meta_rows(&target.db))?;
    match moving(source)?.into_iter().find(|row| !found.contains(row)) {
        None => Ok(()),
        Some((name, value)) => Err(TransferError::Differs {
            table: "meta".into(),
            at: format!(" at name = {name}"),
            what: format!("the source has {value}"),
        }),
    }
}

/// The rows of `meta` that move.
fn moving(source: &End) -> Outcome<Vec<(String, i64)>> {
    let mut rows = source.done(meta_rows(&source.db))?;
    rows.retain(|(name, _)| !STAY.contains(&name.as_str()));
    Ok(rows)
}

fn meta_rows(db: &Connection) -> engine::Result<Vec<(String, i64)>> {
    let mut statement = db.prepare_cached("SELECT name, value FROM meta ORDER BY name")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// False after the source has got a new one.
fn target_has_epoch(source: &End, target: &End) -> Outcome<bool> {
    let epochs = [source, target].map(|end| end.done(meta::epoch(&end.db)));
    let [source, target] = epochs;
    Ok(source? == target?)
}

/// Tells PostgreSQL's planner what the tables have; its own service would do so only after a minute.
fn analyze(db: &Connection, tables: &[Table]) -> engine::Result<()> {
    tables.iter().try_for_each(|table| db.execute(&format!("ANALYZE {}", table.name), []).map(drop))
}

fn finish(db: &Connection, tables: &[Table], now: Timestamp) -> engine::Result<()> {
    if let Connection::Sqlite(db) = db {
        dialect::set(db, "synchronous", "FULL")?;
    }
    db.begin_write()?;
    db.execute("DROP TABLE transfer", [])?;
    set_triggers(db, tables, "ENABLE")?;
    let sql =
        sql!("INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value");
    db.execute(sql, params![MARK, now.0 as i64])?;
    set_version(db, NEWEST)?;
    db.commit()?;
    if let Connection::Sqlite(db) = db {
        dialect::run(db, dialect::EMPTY_LOG)?;
    }
    Ok(())
}

/// Ends the transaction of the source, in which it was read.
fn renew_epoch(db: &Connection) -> engine::Result<()> {
    if db.is_postgres() {
        db.commit()?;
        db.begin_write()?;
    }
    // Never 0, so the new epoch differs from the old one.
    let step = (RandomState::new().hash_one(NEWEST) as u32).max(1);
    db.execute(sql!("UPDATE meta SET value = (value + $1) % 4294967296 WHERE name = 'epoch'"), [step])?;
    db.commit()
}
