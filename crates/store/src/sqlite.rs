//! The store: its threads, its queues, its shutdown.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use crate::contact::packed::Packing;
use crate::dialect;
use crate::engine::postgres::{self, Place};
use crate::engine::{self, Connection};
use crate::fault::{self, Fault, Outcome};
use crate::late::Late;
use crate::migrate;
use crate::open::{check_ours, connect, explain, newer, newer_server, open, open_first, open_reader};
use crate::queue::{Queue, Refused};
use crate::reader::{self, Read};
use crate::stats::Counters;
use crate::turns::Turns;
use crate::writer::{self, After, Write};
use crate::written::Written;
use crate::{OpenError, Options, Stats, site};
use chat::{Slot, StoreError};
use rusqlite::OpenFlags;

/// Chat's storage in one SQLite file. Several processes may open the same file: a running node and administration
/// commands.
///
/// Dropping it does the same as [`close`](Self::close).
pub struct Sqlite {
    pub(crate) shared: Arc<Shared>,
    /// The connection for administration, which may block.
    admin: Mutex<Connection>,
    at: At,
    threads: Mutex<Threads>,
}

#[derive(Default)]
struct Threads {
    writer: Option<JoinHandle<Connection>>,
    readers: Vec<JoinHandle<Connection>>,
    /// Of a file, while the store is paused: opening it again could need room on the disk.
    paused: Option<(Connection, Vec<Connection>)>,
}

/// Where the data is.
enum At {
    /// Of a store without threads.
    Memory,
    File(PathBuf),
    /// With the term that the store's writes need.
    Server(Box<Place>),
}

/// One connection for each thread of a store.
struct Connections {
    writer: Connection,
    admin: Connection,
    readers: Vec<Connection>,
}

/// State that the threads share.
pub(crate) struct Shared {
    pub(crate) writes: Queue<Box<dyn Write>>,
    pub(crate) reads: Queue<Box<dyn Read>>,
    pub(crate) counters: Counters,
    pub(crate) options: Options,
    pub(crate) written: Written,
    pub(crate) late: Late,
    pub(crate) packing: Packing,
    /// Replaces the threads in tests.
    pub(crate) turns: Option<Turns>,
}

impl Sqlite {
    /// Opens the file at `path`. Creates it (mode 0600) and its directory (mode 0700) if needed, and migrates an older
    /// schema. Blocks. Starts the store's threads.
    pub fn open(path: &Path, options: Options) -> Result<Sqlite, OpenError> {
        let failed = |error| OpenError::Failed { path: path.to_owned(), error };
        let connections = Sqlite::connect_to_file(path, options)?;
        Sqlite::start(connections, options, At::File(path.to_owned()), path, failed)
    }

    fn connect_to_file(path: &Path, options: Options) -> Result<Connections, OpenError> {
        let mut connections = Connections {
            writer: open_first(path, &options)?,
            admin: open(path, &Options { writer_cache_kib: 128, ..options })?,
            readers: Vec::new(),
        };
        for _ in 0..options.readers.max(1) {
            connections.readers.push(open_reader(path, &options)?);
        }
        Ok(connections)
    }

    /// Connects to the PostgreSQL database at `url` (`postgres://user:password@host/name?sslmode=require`), and makes the
    /// schema of the slot if it has none. Blocks. Starts the store's threads.
    pub fn open_postgres(url: &str, slot: Slot, options: Options) -> Result<Sqlite, OpenError> {
        let place = Place::parse(url, slot).map_err(|why| OpenError::Address { why })?;
        Sqlite::open_server(place, options)
    }

    pub(crate) fn open_server(place: Place, options: Options) -> Result<Sqlite, OpenError> {
        let connections = Sqlite::connect_to_server(&place, options)?;
        let name = place.name.clone();
        let at = At::Server(Box::new(place.clone()));
        Sqlite::start(connections, options, at, Path::new(&name), move |error| failed_at(&place, error))
    }

    fn connect_to_server(place: &Place, options: Options) -> Result<Connections, OpenError> {
        let failed = |error| failed_at(place, error);
        let connect = || postgres::Connection::open(place).map_err(|error| failed(error.into()));
        let writer = connect()?;
        migrate_postgres(&writer, place, options)?;
        let as_connection = |db| Connection::Postgres(Box::new(db));
        let mut connections = Connections {
            writer: as_connection(writer),
            admin: as_connection(connect()?),
            readers: Vec::new(),
        };
        for _ in 0..options.readers.max(1) {
            connections.readers.push(as_connection(connect()?));
        }
        Ok(connections)
    }

    fn start(
        connections: Connections,
        options: Options,
        at: At,
        place: &Path,
        failed: impl Fn(engine::Error) -> OpenError,
    ) -> Result<Sqlite, OpenError> {
        let Connections { writer, mut admin, readers } = connections;
        site::sweep(&mut admin).or_else(|fault| match fault {
            Fault::Sql(error) => Err(failed(error)),
            Fault::Invalid(_) => Ok(()),
        })?;
        let store = Sqlite::with(options, None, admin, at);
        store.catch_up(&writer, failed)?;
        store.begin(writer, readers, place)?;
        Ok(store)
    }

    /// Brings the rows up to the log.
    fn catch_up(
        &self,
        writer: &Connection,
        failed: impl Fn(engine::Error) -> OpenError,
    ) -> Result<(), OpenError> {
        writer::catch_up(writer, &self.shared.late).map_err(|fault| match fault {
            Fault::Sql(error) => failed(error),
            Fault::Invalid(why) => failed(engine::Error::Invalid(why)),
        })
    }

    /// Starts the threads.
    fn begin(&self, writer: Connection, readers: Vec<Connection>, place: &Path) -> Result<(), OpenError> {
        let shared = Arc::clone(&self.shared);
        let mut threads = self.threads();
        let thread_failed = |error| thread_failed(place.to_owned(), &error);
        for (number, db) in readers.into_iter().enumerate() {
            let shared = Arc::clone(&shared);
            let thread = spawn(format!("store-read-{number}"), move || {
                reader::run(&shared, &db, number);
                db
            });
            threads.readers.push(thread.map_err(thread_failed)?);
        }
        let thread = spawn("store-write".into(), move || {
            writer::run(&shared, &writer);
            if let Connection::Sqlite(writer) = &writer {
                checkpoint(writer);
            }
            writer
        });
        threads.writer = Some(thread.map_err(thread_failed)?);
        Ok(())
    }

    /// Writes everything that is queued to disk and ends the threads, so that another process can work with the data. Requests fail
    /// until [`resume`](Self::resume). Blocks.
    pub fn pause(&self) {
        let mut threads = self.threads();
        // The writer first: its completions may still queue reads.
        self.shared.writes.close();
        let writer = threads.writer.take().and_then(end);
        self.shared.reads.close();
        let readers = threads.readers.drain(..).filter_map(end).collect();
        if let (At::File(_), Some(writer)) = (&self.at, writer) {
            threads.paused = Some((writer, readers));
        }
    }

    /// Goes on after [`pause`](Self::pause). An error if another process has migrated the data to a newer schema. A file needs no room
    /// on its disk for that. Blocks.
    pub fn resume(&self) -> Result<(), OpenError> {
        let options = self.shared.options;
        let paused = self.threads().paused.take();
        let (writer, readers, place) = match (&self.at, paused) {
            (At::File(path), Some((writer, readers))) => {
                let found = migrate::version(writer.sqlite()).map_err(|error| explain(path, error))?;
                if found > migrate::NEWEST {
                    return Err(OpenError::Newer { path: path.clone(), found, known: migrate::NEWEST });
                }
                // Rows that are late in the file are late in memory, too.
                if let Err(error) = self.catch_up(&writer, |error| explain(path, error)) {
                    tracing::warn!(%error, "cannot write late rows; they are written with the next messages");
                }
                (writer, readers, path.clone())
            }
            (At::Server(place), _) => {
                let Connections { writer, admin: _, readers } = Sqlite::connect_to_server(place, options)?;
                self.catch_up(&writer, |error| failed_at(place, error))?;
                (writer, readers, place.name.clone().into())
            }
            (At::Memory | At::File(_), _) => return Ok(()),
        };
        self.shared.writes.reopen();
        self.shared.reads.reopen();
        self.begin(writer, readers, &place)
    }

    /// Checks without a change that this version can work with the file, or migrate it. A missing file is a new one.
    pub fn check(path: &Path, options: &Options) -> Result<(), OpenError> {
        if !path.exists() {
            return Ok(());
        }
        let read = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let db = connect(path, read, options).map_err(|error| explain(path, error))?;
        check_ours(&db, path)?;
        let found = migrate::version(&db).map_err(|error| explain(path, error))?;
        match found > migrate::NEWEST {
            true => Err(newer(path, found)),
            false => Ok(()),
        }
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// A store without threads.
    pub(crate) fn of(turns: Turns, admin: Connection) -> Sqlite {
        // Tests have short lists.
        let options = Options { pack_from: 1, ..Options::default() };
        Sqlite::with(options, Some(turns), admin, At::Memory)
    }

    fn with(options: Options, turns: Option<Turns>, admin: Connection, at: At) -> Sqlite {
        let shared = Arc::new(Shared {
            writes: Queue::new(options.queue, options.queue_bytes, 1),
            reads: Queue::new(options.queue, usize::MAX, options.readers),
            counters: Counters::default(),
            options,
            written: Written::default(),
            late: Late::new(options.readers),
            packing: Packing::default(),
            turns,
        });
        Sqlite { shared, admin: Mutex::new(admin), at, threads: Mutex::default() }
    }

    /// Writes everything that is queued to disk, ends the threads and closes the file. Requests that other threads make
    /// meanwhile fail.
    pub fn close(self) {
        drop(self);
    }

    /// Counters for metrics; cheap.
    pub fn stats(&self) -> Stats {
        self.shared.counters.read(self.shared.writes.len(), self.shared.reads.len())
    }

    /// Runs an administrative operation on the caller's thread.
    pub(crate) fn admin<T>(
        &self,
        operation: impl FnOnce(&mut Connection) -> Outcome<T>,
    ) -> Result<T, StoreError> {
        operation(&mut self.lock()).map_err(|fault| match fault {
            Fault::Invalid(why) => StoreError::Failed(why.into()),
            Fault::Sql(error) => fault::store_error(&error),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic has rolled its transaction back, so the connection is still usable.
        self.admin.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.pause();
    }
}

/// About nine times the share that an event loop gets of a full core (sched(7)). The threads never use more than they
/// need.
#[cfg(target_os = "linux")]
const NICE: i32 = -10;

impl Shared {
    pub(crate) fn write(self: &Arc<Self>, job: Box<dyn Write>, bytes: usize) {
        match &self.turns {
            None => self.refuse_write(self.writes.push(job, bytes)),
            Some(turns) => turns.write(job, self),
        }
    }

    /// For writes that no client waits for: see [`Options::gather_patient`].
    pub(crate) fn write_patiently(self: &Arc<Self>, job: Box<dyn Write>) {
        match &self.turns {
            None => self.refuse_write(self.writes.push_patient(job)),
            Some(turns) => turns.write(job, self),
        }
    }

    /// For writes that run after all others, even later ones.
    pub(crate) fn write_last(self: &Arc<Self>, job: Box<dyn Write>) {
        match &self.turns {
            None => self.refuse_write(self.writes.push_last(job)),
            Some(turns) => turns.write(job, self),
        }
    }

    fn refuse_write(self: &Arc<Self>, pushed: Result<(), (Box<dyn Write>, Refused)>) {
        if let Err((job, refused)) = pushed {
            let after = After { committed: chat::Position::default(), shared: self };
            job.complete(Err(self.refusal(refused)), &after);
        }
    }

    pub(crate) fn read(self: &Arc<Self>, job: Box<dyn Read>) {
        match &self.turns {
            None => self.refuse_read(self.reads.push(job, 0)),
            Some(turns) => turns.read(job, self),
        }
    }

    /// Runs after all other reads, even later ones, so that many sign-ins do not delay connected users.
    pub(crate) fn read_last(self: &Arc<Self>, job: Box<dyn Read>) {
        match &self.turns {
            None => self.refuse_read(self.reads.push_last(job)),
            Some(turns) => turns.read(job, self),
        }
    }

    fn refuse_read(&self, pushed: Result<(), (Box<dyn Read>, Refused)>) {
        if let Err((job, refused)) = pushed {
            job.complete(Err(self.refusal(refused)));
        }
    }

    fn refusal(&self, refused: Refused) -> StoreError {
        match refused {
            Refused::Full => {
                self.counters.overloaded.fetch_add(1, Relaxed);
                StoreError::Overloaded
            }
            Refused::Closed => StoreError::Failed("the store is closed".into()),
        }
    }
}

pub(crate) fn failed_at(place: &Place, error: engine::Error) -> OpenError {
    match error {
        engine::Error::Postgres(error) => OpenError::Server { place: place.name.clone(), error },
        error => OpenError::Failed { path: place.name.clone().into(), error },
    }
}

fn spawn(
    name: String,
    run: impl FnOnce() -> Connection + Send + 'static,
) -> io::Result<JoinHandle<Connection>> {
    std::thread::Builder::new().name(name).spawn(|| {
        raise_priority();
        run()
    })
}

/// Gives the store's few threads priority over the workers. Each message passes through them, and a commit that waits
/// for dozens of event loops delays every user. Without the right to do this (root, or systemd's `LimitNICE=`) the
/// priority stays the same.
fn raise_priority() {
    #[cfg(target_os = "linux")] // elsewhere this would change the priority of the whole process
    let _ = rustix::process::setpriority_process(None, NICE);
}

fn thread_failed(path: PathBuf, error: &io::Error) -> OpenError {
    OpenError::Thread { path, error: error.to_string() }
}

pub(crate) fn migrate_postgres(
    db: &postgres::Connection,
    place: &Place,
    options: Options,
) -> Result<(), OpenError> {
    let newest = crate::migrate::NEWEST;
    let name = place.name.clone();
    let failed = |error| failed_at(place, error);
    let found = crate::migrate::postgres_version(db).map_err(failed)?;
    if found < newest && !options.migrate {
        return Err(OpenError::OlderServer { place: name, found, known: newest });
    }
    // Before it waits for the lock, which a transfer has.
    if found > newest {
        return Err(newer_server(&name, found));
    }
    let epoch = RandomState::new().hash_one(&name) as u32;
    let migrated = crate::migrate::migrate_postgres(db, epoch);
    let found = migrated.map_err(|error| match (error, place.schema()) {
        (engine::Error::Postgres(error), Some(schema)) if found == 0 && error.is_forbidden() => {
            let [database, user] = place.database_and_user();
            let remedy = format!(
                "`GRANT CREATE ON DATABASE {database} TO {user}`, or create it by hand: `CREATE SCHEMA {schema} \
                 AUTHORIZATION {user}`"
            );
            OpenError::Schema { place: name.clone(), error, remedy }
        }
        (error, _) => failed(error),
    })?;
    if found > newest {
        return Err(newer_server(&name, found));
    }
    if found < newest {
        tracing::info!(from = found, to = newest, "migrated the database");
    }
    Ok(())
}

/// Copies the log into the database, so that the next start has none to read.
fn checkpoint(db: &rusqlite::Connection) {
    if let Err(error) = dialect::run(db, dialect::EMPTY_LOG) {
        tracing::warn!(%error, "cannot empty the write-ahead log before the stop");
    }
}

/// The connection of the thread.
fn end(thread: JoinHandle<Connection>) -> Option<Connection> {
    if thread.thread().id() == std::thread::current().id() {
        return None; // a completion dropped the last owner; this thread ends by itself afterwards
    }
    thread.join().inspect_err(|_| tracing::error!("a storage thread panicked")).ok()
}
