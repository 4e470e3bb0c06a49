//! A connection to PostgreSQL that blocks its thread, like SQLite's.
//!
//! Each connection has a runtime of its own, which runs while the thread waits. Statements are sent in order, so writes
//! without an answer ([`Statement::put`]) travel together with the next statement that has one. Rows that one insert or update
//! puts without another statement in between become one statement, so the order of all statements stays.
//!
//! **One writer.** Transactions that write hold an advisory lock of the slot. The row of `lease` names the connection
//! that wrote last and counts how often that changed, so each writer learns that another one has written.
//!
//! **Slots.** Each slot has its own schema, which the connection names in `search_path`. So all statements name tables alone.
//!
//! **A lost connection.** A statement fails with [`Error::Away`], and so does the rest of the transaction. The next
//! transaction connects again, after a bounded pause. If the connection is lost while the answer of COMMIT is awaited, the
//! new connection asks for the outcome by the number of the transaction (`pg_xact_status`).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use chat::Slot;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config};

use super::Params;
use super::spelling;
use super::tls::Tls;
use super::value::{Kind, Value};

/// The reason why PostgreSQL did not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("PostgreSQL is away: {0}")]
    Away(String),
    /// It may be stored or not.
    #[error("the connection to PostgreSQL was lost during a commit, and its outcome cannot be read")]
    Unknown,
    #[error("another node has the lease of slot {slot}: its term is {term}, and this node's is {mine}")]
    Fenced { slot: i64, term: i64, mine: i64 },
    #[error("{}", explain(.0))]
    Refused(Box<tokio_postgres::Error>),
    #[error(transparent)]
    Value(#[from] rusqlite::Error),
}

fn explain(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} ({})", error.message(), error.code().code()),
        None => with_sources(error),
    }
}

fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Error {
        let is_away = match error.code() {
            // A standby answers a write with the last one.
            Some(code) => {
                [
                    &SqlState::ADMIN_SHUTDOWN,
                    &SqlState::CRASH_SHUTDOWN,
                    &SqlState::CANNOT_CONNECT_NOW,
                    &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                    &SqlState::READ_ONLY_SQL_TRANSACTION,
                ]
                .contains(&code)
                    || code.code().starts_with("08")
            }
            None => {
                error.is_closed()
                    || std::error::Error::source(&error).is_some_and(|source| source.is::<std::io::Error>())
            }
        };
        if is_away { Error::Away(explain(&error)) } else { Error::Refused(Box::new(error)) }
    }
}

impl Error {
    /// The disk of the server is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        matches!(self, Error::Refused(error) if error.code() == Some(&SqlState::DISK_FULL))
    }

    /// The schema or a table is missing, or the user cannot see it.
    pub(crate) fn is_missing(&self) -> bool {
        self.has_code(&[&SqlState::UNDEFINED_TABLE, &SqlState::INVALID_SCHEMA_NAME])
    }

    pub(crate) fn is_missing_column(&self) -> bool {
        self.has_code(&[&SqlState::UNDEFINED_COLUMN])
    }

    /// The user must not create a schema, or a table in one.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.has_code(&[&SqlState::INSUFFICIENT_PRIVILEGE, &SqlState::INVALID_SCHEMA_NAME])
    }

    fn has_code(&self, codes: &[&SqlState]) -> bool {
        matches!(self, Error::Refused(error) if error.code().is_some_and(|code| codes.contains(&code)))
    }

    /// Another connection has kept a lock for too long.
    pub(crate) fn is_locked(&self) -> bool {
        matches!(self, Error::Refused(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }

    /// Nothing of the transaction is stored, and it may succeed on a new connection.
    pub(crate) fn is_away(&self) -> bool {
        matches!(self, Error::Away(_))
    }

    /// Whether every other write fails, too.
    pub(crate) fn concerns_all(&self) -> bool {
        match self {
            Error::Away(_) | Error::Unknown | Error::Fenced { .. } => true,
            // Out of resources, of locks, or an error of the system.
            Error::Refused(error) => error.code().is_some_and(|code| {
                ["53", "55", "58", "40"].iter().any(|class| code.code().starts_with(class))
            }),
            Error::Value(_) => false,
        }
    }
}

type Result<T> = std::result::Result<T, Error>;

/// Where the database is, and how to reach it.
#[derive(Clone)]
pub(crate) struct Place {
    config: Config,
    tls: Tls,
    /// For error messages: without the password.
    pub(crate) name: String,
    /// Each transaction that writes fails unless the lease has this term; 0: it needs no lease.
    term: Arc<AtomicI64>,
    limits: Limits,
    slot: Slot,
}

/// How long statements and pauses may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limits {
    /// Of a node: members wait.
    Short,
    /// Of work on a whole database.
    Long,
}

/// The server ends a statement after this time.
const STATEMENT: Duration = Duration::from_secs(30);
/// A writer waits so long for another one.
const LOCK: Duration = Duration::from_secs(10);
/// The server ends a transaction whose client does nothing for so long, so that a frozen node keeps no lock.
const IDLE: Duration = Duration::from_secs(5);
/// The client ends a connection that gives no answer for so long.
const SILENCE: Duration = Duration::from_secs(35);
const LONG_SILENCE: Duration = Duration::from_secs(24 * 3_600);
const CONNECT: Duration = Duration::from_secs(3);
/// A transaction waits so long for a server that has just gone away.
const PATIENCE: Duration = Duration::from_secs(3);
/// The pause between two attempts to connect grows from the first to the second.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// So long is the outcome of a commit asked for.
const RESOLVE: Duration = Duration::from_secs(15);
/// A commit with one record in the log of PostgreSQL, and no change. A commit without any record would not wait.
const WAIT_FOR_REPLICA: &str =
    "BEGIN; SET LOCAL statement_timeout = 0; SELECT pg_logical_emit_message(true, 'kith', ''); COMMIT";
/// Statements that a connection keeps.
const STATEMENTS: usize = 1_024;
/// The key of the lock of the one writer is this, "Kith" in ASCII, and the slot.
const LOCK_KEY: i64 = 0x4b69_7468 << 32;

impl Place {
    /// Parses `postgres://user:password@host/name?sslmode=…&sslrootcert=…`.
    pub(crate) fn parse(url: &str, slot: Slot) -> std::result::Result<Place, String> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut roots = None;
        let mut kept = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslrootcert", path)) => roots = Some(std::path::PathBuf::from(path)),
                // Each TLS connection is verified in full.
                Some(("sslmode", "verify-full" | "verify-ca")) => kept.push("sslmode=require"),
                _ => kept.push(pair),
            }
        }
        let url = if kept.is_empty() { base.to_owned() } else { format!("{base}?{}", kept.join("&")) };
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| with_sources(&error))?;
        if config.get_dbname().is_none() {
            return Err("it names no database: postgres://user@host/NAME".into());
        }
        config.connect_timeout(CONNECT).tcp_user_timeout(Duration::from_secs(10));
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
        let mut name = format!("postgres://{}", rest.rsplit_once('@').map_or(rest, |(_, place)| place));
        if slot != Slot::FIRST {
            name.push_str(&format!(" (slot {})", slot.0));
        }
        let tls = Tls::new(roots.as_deref())?;
        let place = Place { config, tls, name, term: Arc::default(), limits: Limits::Short, slot };
        Ok(place.plain())
    }

    /// This place, whose connections have the name in `pg_stat_activity`. Both share the term.
    pub(crate) fn named(&self, name: &str) -> Place {
        let mut place = self.clone();
        place.config.application_name(name);
        place
    }

    /// This place, with the name of connections of a store or a command.
    pub(crate) fn plain(&self) -> Place {
        match self.slot {
            Slot::FIRST => self.named("kith"),
            Slot(number) => self.named(&format!("kith slot {number}")),
        }
    }

    /// This place for work on the whole database: the server ends no statement and no transaction of the connection because of
    /// its time.
    pub(crate) fn patient(&self) -> Place {
        Place { limits: Limits::Long, ..self.clone() }
    }

    /// The term that transactions need, of all connections with this place.
    pub(crate) fn term(&self) -> &AtomicI64 {
        &self.term
    }

    /// The number of the slot, as the row of `lease` has it.
    pub(crate) fn slot(&self) -> i64 {
        self.slot.0.into()
    }

    /// The schema of the slot. None: the first slot uses the schema of the connection.
    pub(crate) fn schema(&self) -> Option<String> {
        (self.slot != Slot::FIRST).then(|| schema(self.slot))
    }

    /// The number of the first site of the slot.
    pub(crate) fn first_site(&self) -> u32 {
        (u32::from(self.slot.0) << 24) + 1
    }

    /// The names of the database and of its user, in quotes, for statements.
    pub(crate) fn database_and_user(&self) -> [String; 2] {
        [self.config.get_dbname(), self.config.get_user()]
            .map(|name| format!("\"{}\"", name.unwrap_or("USER").replace('"', "\"\"")))
    }

    /// Begins a transaction and takes the lock of the one writer of the slot.
    pub(crate) fn begin_locked(&self) -> String {
        format!("BEGIN; {}", self.take_lock())
    }

    /// As [`begin_locked`](Self::begin_locked), and waits for locks as long as a statement may last.
    pub(crate) fn begin_locked_patiently(&self) -> String {
        format!("BEGIN; SET LOCAL lock_timeout = 0; {}", self.take_lock())
    }

    fn take_lock(&self) -> String {
        format!("SELECT pg_advisory_xact_lock({})", LOCK_KEY + self.slot())
    }

    /// Takes the same lock until the connection ends.
    pub(crate) fn lock_connection(&self) -> String {
        format!("SELECT pg_advisory_lock({})", LOCK_KEY + self.slot())
    }
}

const SCHEMA_OF_SLOT: &str = "kith_slot_";

/// The schema of a slot other than the first one.
pub(crate) fn schema(slot: Slot) -> String {
    format!("{SCHEMA_OF_SLOT}{}", slot.0)
}

/// None: it is the schema of no slot, or of the first one.
pub(crate) fn slot_of_schema(name: &str) -> Option<Slot> {
    name.strip_prefix(SCHEMA_OF_SLOT)?.parse().ok().map(Slot)
}

pub(crate) struct Connection {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
    place: Place,
    inner: RefCell<Inner>,
}

type Answer = std::result::Result<u64, tokio_postgres::Error>;
type Sent = Pin<Box<dyn Future<Output = Answer> + Send>>;

enum Pending {
    Waits(Sent),
    /// The connection had ended.
    Has(Answer),
}

struct Inner {
    client: Option<Arc<Client>>,
    /// Counts connections.
    generation: u64,
    statements: HashMap<String, Arc<Prepared>>,
    /// Sent, in order, and not answered yet.
    pending: Vec<Pending>,
    /// Behind everything that was sent.
    gathered: Option<Gathered>,
    open: Open,
    /// Open savepoints.
    depth: u32,
    has_written: bool,
    pipelines: bool,
    /// When the server went away, the next attempt to connect, and the pause after that one.
    away: Option<(Instant, Instant, Duration)>,
    /// This connection in `lease`.
    id: i64,
    lease: Lease,
    /// How often this connection has counted `lease.version` up.
    own: i64,
    /// Makes each version that is not this connection's another one.
    strange: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Read,
    Write,
    /// The connection was lost in a transaction.
    Broken,
}

/// The row of `lease` at the begin of the transaction.
#[derive(Default)]
struct Lease {
    version: i64,
    writer: i64,
    transaction: String,
}

pub(crate) struct Prepared {
    text: String,
    /// The statement that writes many rows at once.
    many: Option<Many>,
    /// With the generation of its connection.
    statement: Mutex<Option<(u64, tokio_postgres::Statement)>>,
}

impl Prepared {
    fn new(text: String) -> Prepared {
        let many = match (insert_many(&text), update_many(&text)) {
            (Some(text), _) => Some((text, 0)),
            (None, update) => update,
        };
        let many = many.map(|(text, key)| Many { statement: Arc::new(Prepared::once(text)), key });
        Prepared { many, ..Prepared::once(text) }
    }

    fn once(text: String) -> Prepared {
        Prepared { text, many: None, statement: Mutex::new(None) }
    }
}

/// A statement with an array of values for each parameter of another one, which it carries out for each element.
struct Many {
    statement: Arc<Prepared>,
    /// So many parameters, the first ones, name the row of an update. 0: an insert.
    key: usize,
}

/// `INSERT INTO t (a, b) VALUES ($1, $2::type)` with an array of values for each column. None: it has another form. An insert that
/// updates rows is not gathered, because one statement must not update a row twice.
fn insert_many(text: &str) -> Option<String> {
    let (table, rest) = text.strip_prefix("INSERT INTO ")?.split_once(" VALUES (")?;
    let (values, end) = rest.split_once(')')?;
    let (mut arrays, mut columns, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for (at, value) in values.split(", ").enumerate() {
        let number = value.strip_prefix('$')?;
        let (number, cast) = number.split_at(number.find("::").unwrap_or(number.len()));
        if number.parse() != Ok(at + 1) {
            return None;
        }
        arrays.push(format!("${number}"));
        columns.push(format!("value_{number}"));
        read.push(format!("value_{number}{cast}"));
    }
    let keeps_rows = end.is_empty() || end == " ON CONFLICT DO NOTHING";
    let names_columns = table.ends_with(')');
    let [arrays, columns, read] = [arrays, columns, read].map(|list| list.join(", "));
    (keeps_rows && names_columns).then(|| {
        format!("INSERT INTO {table} SELECT {read} FROM unnest({arrays}) AS of_each ({columns}){end}")
    })
}

/// `UPDATE t SET c = $3, d = $4 WHERE a = $1 AND b = $2` with an array of values for each parameter, and the number of parameters that
/// name the row. None: it has another form. Two elements must not name one row: PostgreSQL would take one of them.
fn update_many(text: &str) -> Option<(String, usize)> {
    let (table, rest) = text.strip_prefix("UPDATE ")?.split_once(" SET ")?;
    let (values, key) = rest.split_once(" WHERE ")?;
    let (values, key): (Vec<&str>, Vec<&str>) = (values.split(", ").collect(), key.split(" AND ").collect());
    let mut names = Vec::new();
    for (at, one) in key.iter().chain(&values).enumerate() {
        let (name, number) = one.trim().split_once(" = $")?;
        if number.parse() != Ok(at + 1) {
            return None;
        }
        names.push(name);
    }
    let list = |part: fn(usize) -> String, by| (1..=names.len()).map(part).collect::<Vec<_>>().join(by);
    let (arrays, columns) = (list(|at| format!("${at}"), ", "), list(|at| format!("value_{at}"), ", "));
    let each = |from: usize, to: usize, of: &str, by| {
        let one = |at: usize| format!("{of}{} = of_each.value_{}", names[at], at + 1);
        (from..to).map(one).collect::<Vec<_>>().join(by)
    };
    let set = each(key.len(), names.len(), "", ", ");
    let is_row = each(0, key.len(), &format!("{table}."), " AND ");
    let text =
        format!("UPDATE {table} SET {set} FROM unnest({arrays}) AS of_each ({columns}) WHERE {is_row}");
    Some((text, key.len()))
}

/// `SELECT a FROM t WHERE b = $1` for each element of an array of values for each parameter. `LATERAL` keeps the meaning of the query
/// for one element. `OFFSET 0` has it planned apart, with the indexes that it would use alone. Otherwise a table that was empty at the
/// first plan is joined by a scan, and this plan stays until the next ANALYZE: sign-ins cost PostgreSQL twice the CPU.
fn for_each(text: &str, parameters: usize) -> String {
    let mut parts = text.split('$');
    let mut one = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        one.push_str("of_each.value_");
        one.push_str(part); // begins with the number
    }
    let list =
        |name: &str| (1..=parameters).map(|number| format!("{name}{number}")).collect::<Vec<_>>().join(", ");
    format!(
        "SELECT answer.*, of_each.number FROM unnest({}) WITH ORDINALITY AS of_each ({}, number), LATERAL ({one} OFFSET 0) AS answer",
        list("$"),
        list("value_"),
    )
}

/// Rows of one insert or update that were not sent yet.
struct Gathered {
    prepared: Arc<Prepared>,
    rows: Vec<Vec<Value>>,
    /// The rows that are updated.
    keys: HashSet<Vec<i64>>,
}

/// Most rows in one statement.
const GATHERED: usize = 1_024;
/// So many rows are worth an own statement for many.
const WORTH: usize = 4;

pub(crate) struct Statement<'c> {
    db: &'c Connection,
    prepared: Arc<Prepared>,
}

pub(crate) struct Rows {
    rows: Vec<tokio_postgres::Row>,
    next: usize,
}

impl Rows {
    pub(crate) fn next(&mut self) -> Option<&tokio_postgres::Row> {
        self.next += 1;
        self.rows.get(self.next - 1)
    }

    /// As [`next`](Self::next), for rows of [`Statement::query_each`]: also the index of the values of the row.
    pub(crate) fn next_of_each(&mut self) -> Result<Option<(usize, &tokio_postgres::Row)>> {
        let Some(row) = self.next() else { return Ok(None) };
        let number: i64 = row.try_get(row.len() - 1)?; // from 1
        Ok(Some((number as usize - 1, row)))
    }
}

impl Statement<'_> {
    pub(crate) fn execute(&mut self, values: impl Params) -> Result<usize> {
        self.db.execute(&self.prepared, values.values()?)
    }

    pub(crate) fn put(&mut self, values: impl Params) -> Result<()> {
        if !self.db.inner.borrow().pipelines || self.db.is_autocommit() {
            return self.execute(values).map(drop);
        }
        let values = values.values()?;
        let key = |many: &Many| values[..many.key].iter().map(Value::integer).collect::<Option<Vec<i64>>>();
        if let Some(key) = self.prepared.many.as_ref().and_then(key) {
            return self.db.gather(&self.prepared, key, values);
        }
        let (client, statement) = self.db.statement(&self.prepared, &values)?;
        self.db.inner.borrow_mut().has_written = true;
        self.db.send(Box::pin(async move { client.execute_raw(&statement, values).await }));
        Ok(())
    }

    pub(crate) fn query(&mut self, values: impl Params) -> Result<Rows> {
        let values = values.values()?;
        // Statements with RETURNING write. Their first word tells.
        let writes = !self.prepared.text.trim_start().starts_with("SELECT");
        self.db.writing(writes, |db| db.rows(&self.prepared, &values)).map(|rows| Rows { rows, next: 0 })
    }

    /// The rows of the query for all of these values. The last column is their number, from 1.
    pub(crate) fn query_each<P: Params>(&mut self, all: impl IntoIterator<Item = P>) -> Result<Rows> {
        let (mut kinds, mut columns): (Vec<Kind>, Vec<Vec<Value>>) = (Vec::new(), Vec::new());
        for values in all {
            let values = values.values()?;
            if kinds.is_empty() {
                kinds = values.iter().map(|value| value.kind).collect();
                columns = vec![Vec::new(); kinds.len()];
            }
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        if columns.is_empty() {
            return Ok(Rows { rows: Vec::new(), next: 0 });
        }
        let each = self.db.prepare(&for_each(&self.prepared.text, kinds.len())).prepared;
        self.db.flush()?;
        let (client, statement) = self.db.statement_of(&each, &kinds, Kind::postgres_array)?;
        let columns: Vec<_> =
            columns.iter().map(|column| column as &(dyn tokio_postgres::types::ToSql + Sync)).collect();
        self.db.wait(client.query(&statement, &columns)).map(|rows| Rows { rows, next: 0 })
    }
}

impl Connection {
    /// Connects. Blocks.
    pub(crate) fn open(place: &Place) -> Result<Connection> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Away(format!("no runtime: {error}")))?;
        let id = RandomState::new().hash_one(thread::current().id()) as i64;
        let db = Connection {
            runtime: Some(runtime),
            place: place.clone(),
            inner: RefCell::new(Inner {
                client: None,
                generation: 0,
                statements: HashMap::new(),
                pending: Vec::new(),
                gathered: None,
                open: Open::Nothing,
                depth: 0,
                has_written: false,
                pipelines: true,
                away: None,
                id,
                lease: Lease::default(),
                own: 0,
                strange: 0,
            }),
        };
        db.connect()?;
        Ok(db)
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Whether [`Statement::put`] may wait for its answer later. Returns the former choice.
    pub(crate) fn set_pipelining(&self, on: bool) -> bool {
        std::mem::replace(&mut self.inner.borrow_mut().pipelines, on)
    }

    pub(crate) fn is_autocommit(&self) -> bool {
        self.inner.borrow().open == Open::Nothing
    }

    pub(crate) fn prepare(&self, sql: &str) -> Statement<'_> {
        let mut inner = self.inner.borrow_mut();
        let prepared = match inner.statements.get(sql) {
            Some(prepared) => Arc::clone(prepared),
            None => {
                if inner.statements.len() >= STATEMENTS {
                    inner.statements.clear();
                }
                let text = spelling::postgres(sql);
                let prepared = Arc::new(Prepared::new(text));
                inner.statements.insert(sql.to_owned(), Arc::clone(&prepared));
                prepared
            }
        };
        Statement { db: self, prepared }
    }

    /// Runs a statement that no cache of a store depends on: it is not counted as a write, and takes no lock of the writer.
    pub(crate) fn ask(&self, sql: &str, values: impl Params) -> Result<Vec<tokio_postgres::Row>> {
        self.rows(&self.prepare(sql).prepared, &values.values()?)
    }

    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        self.flush()?;
        let client = self.client()?;
        self.wait(client.batch_execute(sql))
    }

    /// Adds rows with one COPY, in an open transaction. `sql`: `COPY t (a, b) FROM STDIN BINARY`. `values`: of all rows, one after the other; each
    /// row has as many as `kinds`.
    pub(crate) fn copy_in(&self, sql: &str, kinds: &[Kind], values: &[Value]) -> Result<()> {
        self.flush()?;
        let client = self.client()?;
        self.inner.borrow_mut().has_written = true;
        let types: Vec<Type> = kinds.iter().map(|kind| kind.postgres()).collect();
        let sql = spelling::postgres(sql);
        self.wait(async {
            let sink = client.copy_in(&sql).await?;
            let mut writer = std::pin::pin!(BinaryCopyInWriter::new(sink, &types));
            for row in values.chunks_exact(types.len()) {
                writer.as_mut().write_raw(row).await?;
            }
            writer.finish().await.map(drop)
        })
    }

    pub(crate) fn begin_read(&self) -> Result<()> {
        let client = self.begin()?;
        self.inner.borrow_mut().open = Open::Read;
        self.send_batch(client, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        Ok(())
    }

    pub(crate) fn begin_write(&self) -> Result<()> {
        self.begin_write_of(self.place.term.load(SeqCst))
    }

    /// Also if this node's term has ended.
    pub(crate) fn begin_write_of_any_term(&self) -> Result<()> {
        self.begin_write_of(0)
    }

    /// `required`: the term that the lease must have, or 0.
    fn begin_write_of(&self, required: i64) -> Result<()> {
        if self.inner.borrow().open == Open::Write {
            let depth = self.inner.borrow().depth + 1;
            self.execute_batch(&format!("SAVEPOINT kith_{depth}"))?;
            self.inner.borrow_mut().depth = depth;
            return Ok(());
        }
        let client = self.begin()?;
        self.inner.borrow_mut().open = Open::Write;
        let began = self.begin_locked(client, required);
        if began.is_err() {
            _ = self.rollback();
        }
        began
    }

    fn begin_locked(&self, client: Arc<Client>, required: i64) -> Result<()> {
        self.send_batch(client, self.place.begin_locked());
        // Of a new snapshot, because the wait for the lock may have been long.
        let sql = sql!("SELECT version, writer, term, pg_current_xact_id()::text FROM lease WHERE slot = $1");
        let prepared = self.prepare(sql).prepared;
        let rows = self.rows(&prepared, &[self.place.slot()].values()?)?;
        self.answers()?;
        let missing = || Error::Away(format!("the schema has no lease of slot {}", self.place.slot()));
        let row = rows.first().ok_or_else(missing)?;
        let term: i64 = row.try_get(2)?;
        let mut inner = self.inner.borrow_mut();
        inner.lease =
            Lease { version: row.try_get(0)?, writer: row.try_get(1)?, transaction: row.try_get(3)? };
        inner.has_written = false;
        match required {
            0 => Ok(()),
            mine if mine == term => Ok(()),
            mine => Err(Error::Fenced { slot: self.place.slot(), term, mine }),
        }
    }

    /// Call in a transaction that writes.
    pub(crate) fn data_version(&self) -> i64 {
        let mut inner = self.inner.borrow_mut();
        if inner.lease.writer == inner.id {
            return inner.lease.version - inner.own;
        }
        // The other one may write again without counting.
        inner.strange -= 1;
        inner.strange
    }

    pub(crate) fn commit(&self) -> Result<()> {
        let (open, depth) = (self.inner.borrow().open, self.inner.borrow().depth);
        match open {
            Open::Nothing => Ok(()),
            Open::Read => {
                let client = self.inner.borrow().client.clone();
                self.inner.borrow_mut().open = Open::Nothing;
                if let Some(client) = client {
                    self.send_batch(client, "COMMIT");
                    self.run_briefly();
                }
                Ok(())
            }
            Open::Broken => {
                self.rollback()?;
                Err(Error::Away("the connection was lost in the transaction".into()))
            }
            Open::Write if depth > 0 => {
                self.execute_batch(&format!("RELEASE kith_{depth}"))?;
                self.inner.borrow_mut().depth = depth - 1;
                Ok(())
            }
            Open::Write => self.commit_write(),
        }
    }

    fn commit_write(&self) -> Result<()> {
        self.flush()?;
        let (id, counts) = {
            let inner = self.inner.borrow();
            (inner.id, inner.has_written && inner.lease.writer != inner.id)
        };
        if counts {
            let sql = sql!("UPDATE lease SET version = version + 1, writer = $1 WHERE slot = $2");
            self.execute(&self.prepare(sql).prepared, [id, self.place.slot()].values()?)?;
        }
        let client = self.client()?;
        // A time-out would end the wait for a synchronous replica, and PostgreSQL would report success.
        let committed = self.wait(client.batch_execute("SET LOCAL statement_timeout = 0; COMMIT"));
        let written = self.answers();
        match committed {
            Ok(()) => {
                self.inner.borrow_mut().open = Open::Nothing;
                written?; // a failed write has turned the commit into a rollback
                if counts {
                    self.inner.borrow_mut().own += 1;
                }
                Ok(())
            }
            Err(Error::Away(why)) => {
                self.inner.borrow_mut().open = Open::Nothing;
                let outcome = self.resolve(why);
                if counts && outcome.is_ok() {
                    self.inner.borrow_mut().own += 1;
                }
                outcome
            }
            Err(error) => Err(error), // the server has refused it, and the transaction is rolled back by the caller
        }
    }

    /// Asks for the outcome of a commit whose answer was lost. A commit that waits for a synchronous replica when its connection ends
    /// is visible at once. So this waits for the replica, by a commit of its own, which comes after that one.
    fn resolve(&self, why: String) -> Result<()> {
        let transaction = self.inner.borrow().lease.transaction.clone();
        let began = Instant::now();
        while began.elapsed() < RESOLVE {
            let asked = self.connect().and_then(|()| {
                let status = self.prepare(sql!("SELECT pg_xact_status($1::xid8)")).prepared;
                self.rows(&status, &[transaction.as_str()].values()?)
            });
            match asked {
                Ok(rows) => {
                    match rows.first().map(|row| row.try_get::<_, Option<&str>>(0)).transpose()?.flatten() {
                        Some("committed") if self.execute_batch(WAIT_FOR_REPLICA).is_ok() => return Ok(()),
                        Some("aborted") => return Err(Error::Away(why)),
                        Some(_) => {} // the server still works on it, or its replica is away
                        None => return Err(Error::Unknown),
                    }
                }
                // The number is one of the future: the server that has taken over has never seen it.
                Err(Error::Refused(error)) if error.code() == Some(&SqlState::INVALID_PARAMETER_VALUE) => {
                    return Err(Error::Away(why));
                }
                Err(_) => {}
            }
            thread::sleep(PAUSES[0]);
        }
        Err(Error::Unknown)
    }

    pub(crate) fn rollback(&self) -> Result<()> {
        let (open, depth) = (self.inner.borrow().open, self.inner.borrow().depth);
        if open == Open::Write && depth > 0 {
            self.execute_batch(&format!("ROLLBACK TO kith_{depth}; RELEASE kith_{depth}"))?;
            self.inner.borrow_mut().depth = depth - 1;
            return Ok(());
        }
        {
            let mut inner = self.inner.borrow_mut();
            inner.pending.clear();
            inner.gathered = None;
            inner.open = Open::Nothing;
            inner.depth = 0;
        }
        let client = self.inner.borrow().client.clone();
        match client {
            Some(client) if open != Open::Broken => self.wait(client.batch_execute("ROLLBACK")),
            _ => Ok(()),
        }
    }

    fn execute(&self, prepared: &Prepared, values: Vec<Value>) -> Result<usize> {
        self.writing(true, |db| {
            let (client, statement) = db.statement(prepared, &values)?;
            let count = db.wait(client.execute_raw(&statement, values))?;
            Ok(count as usize)
        })
    }

    fn rows(&self, prepared: &Prepared, values: &[Value]) -> Result<Vec<tokio_postgres::Row>> {
        let (client, statement) = self.statement(prepared, values)?;
        let values: Vec<_> =
            values.iter().map(|value| value as &(dyn tokio_postgres::types::ToSql + Sync)).collect();
        self.wait(client.query(&statement, &values))
    }

    /// A write without a transaction gets one, because of the lock.
    fn writing<T>(&self, writes: bool, does: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        if !writes {
            return does(self);
        }
        if !self.is_autocommit() {
            self.inner.borrow_mut().has_written = true;
            return does(self);
        }
        self.begin_write()?;
        self.inner.borrow_mut().has_written = true;
        let done = does(self);
        match done {
            Ok(value) => self.commit().map(|()| value),
            Err(error) => {
                _ = self.rollback();
                Err(error)
            }
        }
    }

    /// Keeps a row until another statement comes.
    fn gather(&self, prepared: &Arc<Prepared>, key: Vec<i64>, values: Vec<Value>) -> Result<()> {
        let fits = self.inner.borrow().gathered.as_ref().is_some_and(|gathered| {
            Arc::ptr_eq(&gathered.prepared, prepared)
                && gathered.rows.len() < GATHERED
                && !gathered.keys.contains(&key)
        });
        if !fits {
            self.flush()?;
        }
        let mut inner = self.inner.borrow_mut();
        inner.has_written = true;
        let none = || Gathered { prepared: Arc::clone(prepared), rows: Vec::new(), keys: HashSet::new() };
        let gathered = inner.gathered.get_or_insert_with(none);
        gathered.rows.push(values);
        if !key.is_empty() {
            gathered.keys.insert(key);
        }
        Ok(())
    }

    /// Sends the rows that were gathered.
    fn flush(&self) -> Result<()> {
        let gathered = self.inner.borrow_mut().gathered.take();
        let Some(Gathered { prepared, rows, .. }) = gathered else { return Ok(()) };
        let kinds: Vec<Kind> = rows[0].iter().map(|value| value.kind).collect();
        let many = prepared.many.as_ref().filter(|_| rows.len() >= WORTH);
        let Some(many) = many else {
            for values in rows {
                let (client, statement) = self.statement_of(&prepared, &kinds, Kind::postgres)?;
                self.send(Box::pin(async move { client.execute_raw(&statement, values).await }));
            }
            return Ok(());
        };
        let mut columns: Vec<Vec<Value>> = kinds.iter().map(|_| Vec::with_capacity(rows.len())).collect();
        for row in rows {
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
        let (client, statement) = self.statement_of(&many.statement, &kinds, Kind::postgres_array)?;
        self.send(Box::pin(async move { client.execute_raw(&statement, columns).await }));
        Ok(())
    }

    fn statement(
        &self,
        prepared: &Prepared,
        values: &[Value],
    ) -> Result<(Arc<Client>, tokio_postgres::Statement)> {
        self.flush()?;
        let kinds: Vec<Kind> = values.iter().map(|value| value.kind).collect();
        self.statement_of(prepared, &kinds, Kind::postgres)
    }

    /// Prepares it if this connection has not done so.
    fn statement_of(
        &self,
        prepared: &Prepared,
        kinds: &[Kind],
        type_of: fn(Kind) -> Type,
    ) -> Result<(Arc<Client>, tokio_postgres::Statement)> {
        let client = self.client()?;
        let generation = self.inner.borrow().generation;
        let mut kept = prepared.statement.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, statement)) = &*kept
            && *of == generation
        {
            return Ok((client, statement.clone()));
        }
        let types: Vec<Type> = kinds.iter().map(|kind| type_of(*kind)).collect();
        let statement = self.wait(client.prepare_typed(&prepared.text, &types))?;
        *kept = Some((generation, statement.clone()));
        Ok((client, statement))
    }

    fn send_batch(&self, client: Arc<Client>, sql: impl AsRef<str> + Send + Sync + 'static) {
        self.send(Box::pin(async move { client.batch_execute(sql.as_ref()).await.map(|()| 0) }));
    }

    /// Sends it with the next statement that is waited for.
    fn send(&self, mut statement: Sent) {
        // The first poll hands the request to the connection, in order.
        let answer = match statement.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Pending::Waits(statement),
            Poll::Ready(answer) => Pending::Has(answer),
        };
        self.inner.borrow_mut().pending.push(answer);
    }

    /// The first error of the writes that were sent.
    fn answers(&self) -> Result<()> {
        let pending = std::mem::take(&mut self.inner.borrow_mut().pending);
        if pending.is_empty() {
            return Ok(());
        }
        self.wait(async {
            let mut outcome = Ok(());
            for statement in pending {
                let answer = match statement {
                    Pending::Waits(statement) => statement.await,
                    Pending::Has(answer) => answer,
                };
                outcome = outcome.and(answer.map(drop));
            }
            outcome
        })
    }

    fn begin(&self) -> Result<Arc<Client>> {
        let read_before = {
            let mut inner = self.inner.borrow_mut();
            inner.open = Open::Nothing;
            inner.depth = 0;
            inner.gathered = None;
            std::mem::take(&mut inner.pending)
        };
        drop(read_before); // begins and ends of reads
        self.run_briefly();
        let is_live = self.inner.borrow().client.as_ref().is_some_and(|client| !client.is_closed());
        if !is_live {
            self.reconnect()?;
        }
        self.client()
    }

    /// Waits up to [`PATIENCE`] for a server that has just gone away. Later calls fail at once between attempts.
    fn reconnect(&self) -> Result<()> {
        let now = Instant::now();
        let (since, mut next, mut pause) = self.inner.borrow().away.unwrap_or((now, now, PAUSES[0]));
        if now < next && now.duration_since(since) > PATIENCE {
            return Err(Error::Away("it was away a moment ago".into()));
        }
        loop {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let connected = self.connect();
            if connected.is_ok() {
                self.inner.borrow_mut().away = None;
                tracing::info!(place = self.place.name, "connected to PostgreSQL again");
                return Ok(());
            }
            pause = (pause * 2).min(PAUSES[1]);
            next = Instant::now() + pause;
            self.inner.borrow_mut().away = Some((since, next, pause));
            if since.elapsed() > PATIENCE {
                return connected;
            }
        }
    }

    fn connect(&self) -> Result<()> {
        self.inner.borrow_mut().client = None;
        let (config, tls) = (self.place.config.clone(), self.place.tls.clone());
        // 0: no limit.
        let (statement, idle) = match self.place.limits {
            Limits::Short => (STATEMENT, IDLE),
            Limits::Long => (Duration::ZERO, Duration::ZERO),
        };
        // Not as an option of the connection's start, which poolers refuse or drop. It is also stronger than `options` of the URL.
        // Without another schema behind it: tables of another slot must not be found there.
        let schema =
            self.place.schema().map_or_else(String::new, |schema| format!("SET search_path = {schema}; "));
        let settings = format!(
            "{schema}SET statement_timeout = {}; SET lock_timeout = {}; SET idle_in_transaction_session_timeout = {}; \
             SET client_min_messages = warning; SET synchronous_commit = on; SET jit = off; \
             SET standard_conforming_strings = on",
            statement.as_millis(),
            LOCK.as_millis(),
            idle.as_millis()
        );
        let client = self.wait(async move {
            let (client, connection) = config.connect(tls).await?;
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection to PostgreSQL has ended");
                }
            });
            client.batch_execute(&settings).await?;
            Ok(client)
        })?;
        let mut inner = self.inner.borrow_mut();
        inner.client = Some(Arc::new(client));
        inner.generation += 1;
        Ok(())
    }

    fn client(&self) -> Result<Arc<Client>> {
        let (open, client) = {
            let inner = self.inner.borrow();
            (inner.open, inner.client.clone())
        };
        match client {
            Some(client) if !client.is_closed() => Ok(client),
            _ if open == Open::Nothing => {
                self.reconnect()?;
                self.inner.borrow().client.clone().ok_or_else(|| Error::Away("not connected".into()))
            }
            _ => {
                self.lose();
                Err(Error::Away("the connection was lost".into()))
            }
        }
    }

    /// Sends what waits to be sent, and notices that the server has ended the connection.
    fn run_briefly(&self) {
        let yields = async {
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            Ok(())
        };
        // It has no error of its own.
        _ = self.wait(yields);
    }

    fn lose(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.client = None;
        inner.pending.clear();
        inner.gathered = None;
        if inner.open != Open::Nothing {
            inner.open = Open::Broken;
        }
    }

    fn wait<T: Send>(
        &self,
        future: impl Future<Output = std::result::Result<T, tokio_postgres::Error>> + Send,
    ) -> Result<T> {
        let runtime = self.runtime.as_ref().expect("it ends with the connection");
        let silence = match self.place.limits {
            Limits::Short => SILENCE,
            Limits::Long => LONG_SILENCE,
        };
        let bounded = async { tokio::time::timeout(silence, future).await };
        let answer = match Handle::try_current() {
            Err(_) => runtime.block_on(bounded),
            // An administrative request on a thread of another runtime, which must not run this one.
            Ok(_) => thread::scope(|scope| scope.spawn(|| runtime.block_on(bounded)).join())
                .map_err(|_| Error::Away("the thread of a statement panicked".into()))?,
        };
        match answer.map(|answer| answer.map_err(Error::from)) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => {
                if error.is_away() {
                    self.lose();
                }
                Err(error)
            }
            Err(_) => {
                self.lose();
                Err(Error::Away(format!("no answer for {} s", silence.as_secs())))
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A runtime must not wait for its tasks on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            self.inner.borrow_mut().client = None;
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_for_many_values_is_the_query_with_columns_in_place_of_its_parameters() {
        assert_eq!(
            for_each("SELECT a FROM t WHERE b = $1 AND (c > $2 OR d = $1)", 2),
            "SELECT answer.*, of_each.number FROM unnest($1, $2) \
             WITH ORDINALITY AS of_each (value_1, value_2, number), LATERAL \
             (SELECT a FROM t WHERE b = of_each.value_1 AND (c > of_each.value_2 OR d = of_each.value_1) OFFSET 0) AS answer"
        );
    }

    #[test]
    fn only_inserts_that_change_no_row_are_gathered() {
        assert_eq!(
            insert_many("INSERT INTO t (a, \"user\") VALUES ($1, $2)").as_deref(),
            Some(
                "INSERT INTO t (a, \"user\") SELECT value_1, value_2 FROM unnest($1, $2) AS of_each (value_1, value_2)"
            )
        );
        assert_eq!(
            insert_many("INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING").as_deref(),
            Some(
                "INSERT INTO t (a) SELECT value_1 FROM unnest($1) AS of_each (value_1) ON CONFLICT DO NOTHING"
            )
        );
        assert_eq!(
            insert_many("INSERT INTO t (a, b) VALUES ($1, $2::tsvector)").as_deref(),
            Some(
                "INSERT INTO t (a, b) SELECT value_1, value_2::tsvector FROM unnest($1, $2) AS of_each (value_1, value_2)"
            )
        );
        for other in [
            "INSERT INTO t (a, b) VALUES ($2, $1)",
            "INSERT INTO t (a, b) VALUES ($1, 0)",
            "INSERT INTO t (a, b) VALUES ($1, lower($2))",
            "INSERT INTO t VALUES ($1, $2)",
            "INSERT INTO t (a) VALUES ($1) RETURNING b",
            "INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET a = excluded.a",
            "UPDATE t SET a = $1",
        ] {
            assert_eq!(insert_many(other), None, "{other}");
        }
    }

    #[test]
    fn only_updates_of_one_row_that_keep_the_order_of_their_parameters_are_gathered() {
        assert_eq!(
            update_many("UPDATE t SET c = $3, d = $4 WHERE a = $1 AND b = $2"),
            Some((
                "UPDATE t SET c = of_each.value_3, d = of_each.value_4 FROM unnest($1, $2, $3, $4) \
                 AS of_each (value_1, value_2, value_3, value_4) WHERE t.a = of_each.value_1 AND t.b = of_each.value_2"
                    .to_owned(),
                2
            ))
        );
        for other in [
            "UPDATE t SET c = $1 WHERE a = $2",
            "UPDATE t SET c = c + $2 WHERE a = $1",
            "UPDATE t SET c = $2 WHERE a = $1 AND c > 0",
            "UPDATE t SET c = $2 WHERE a = $1 AND d = $1",
            "UPDATE t SET c = $2 WHERE a = $1 RETURNING c",
            "UPDATE t SET c = $1",
        ] {
            assert_eq!(update_many(other), None, "{other}");
        }
    }
}
