//! The store: its threads, its queues, its shutdown.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use chat::StoreError;
use rusqlite::Connection;

use crate::dialect;
use crate::fault::{self, Fault, Outcome};
use crate::late::Late;
use crate::open::{open, open_first, open_reader};
use crate::queue::{Queue, Refused};
use crate::reader::{self, Read};
use crate::stats::Counters;
use crate::turns::Turns;
use crate::writer::{self, After, Write};
use crate::written::Written;
use crate::{OpenError, Options, Stats, site};

/// Chat's storage in one SQLite file. Several processes may open the same file: a running node and administration
/// commands.
///
/// Dropping it does the same as [`close`](Self::close).
pub struct Sqlite {
    pub(crate) shared: Arc<Shared>,
    /// The connection for administration, which may block.
    admin: Mutex<Connection>,
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
}

/// State that the threads share.
pub(crate) struct Shared {
    pub(crate) writes: Queue<Box<dyn Write>>,
    pub(crate) reads: Queue<Box<dyn Read>>,
    pub(crate) counters: Counters,
    pub(crate) options: Options,
    pub(crate) written: Written,
    pub(crate) late: Late,
    /// Replaces the threads in tests.
    pub(crate) turns: Option<Turns>,
}

impl Sqlite {
    /// Opens the file at `path`. Creates it (mode 0600) and its directory (mode 0700) if needed, and migrates an older
    /// schema. Blocks. Starts the store's threads.
    pub fn open(path: &Path, options: Options) -> Result<Sqlite, OpenError> {
        let failed = |error| OpenError::Failed { path: path.to_owned(), error };
        let writer = open_first(path, &options)?;
        let mut admin = open(path, &Options { writer_cache_kib: 128, ..options })?;
        site::sweep(&mut admin).or_else(|fault| match fault {
            Fault::Sql(error) => Err(failed(error)),
            Fault::Invalid(_) => Ok(()),
        })?;
        let mut store = Sqlite::with(options, None, admin);
        writer::catch_up(&writer, &store.shared.late).map_err(|fault| match fault {
            Fault::Sql(error) => failed(error),
            Fault::Invalid(why) => failed(rusqlite::Error::InvalidParameterName(why.into())),
        })?;
        let shared = Arc::clone(&store.shared);
        let thread_failed = |error| thread_failed(path.to_owned(), &error);
        for number in 0..options.readers.max(1) {
            let (db, shared) = (open_reader(path, &options)?, Arc::clone(&shared));
            let thread = spawn(format!("store-read-{number}"), move || reader::run(&shared, &db, number));
            store.readers.push(thread.map_err(thread_failed)?);
        }
        let thread = spawn("store-write".into(), move || {
            writer::run(&shared, &writer);
            checkpoint(&writer);
        });
        store.writer = Some(thread.map_err(thread_failed)?);
        Ok(store)
    }

    /// A store without threads.
    pub(crate) fn of(turns: Turns, admin: Connection) -> Sqlite {
        Sqlite::with(Options::default(), Some(turns), admin)
    }

    fn with(options: Options, turns: Option<Turns>, admin: Connection) -> Sqlite {
        let shared = Arc::new(Shared {
            writes: Queue::new(options.queue, options.queue_bytes, 1),
            reads: Queue::new(options.queue, usize::MAX, options.readers),
            counters: Counters::default(),
            options,
            written: Written::default(),
            late: Late::new(options.readers),
            turns,
        });
        Sqlite { shared, admin: Mutex::new(admin), writer: None, readers: Vec::new() }
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
        // Close the writer first: its completions may still queue reads.
        self.shared.writes.close();
        self.writer.take().into_iter().for_each(end);
        self.shared.reads.close();
        self.readers.drain(..).for_each(end);
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

fn spawn(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).spawn(|| {
        raise_priority();
        run();
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

/// Copies the log into the database, so that the next start has none to read.
fn checkpoint(db: &Connection) {
    if let Err(error) = dialect::run(db, dialect::EMPTY_LOG) {
        tracing::warn!(%error, "cannot empty the write-ahead log before the stop");
    }
}

fn end(thread: JoinHandle<()>) {
    if thread.thread().id() == std::thread::current().id() {
        return; // a completion dropped the last owner; this thread ends by itself afterwards
    }
    if thread.join().is_err() {
        tracing::error!("a storage thread panicked");
    }
}
