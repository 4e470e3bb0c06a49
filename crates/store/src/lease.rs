//! The lease of a slot in PostgreSQL: which home may write. Each lease has a term, which grows with every holder.
//!
//! A lease is taken under the lock of the one writer (`engine/postgres.rs`), and each transaction that writes reads the term under
//! the same lock. So a commit and a new lease never overlap: a home with an older term cannot commit any more, and nothing of
//! its transaction is stored. SQLite has one node and needs no lease.
//!
//! A renewal changes only the time of the end, so it takes no lock of the writer, and a long transaction does not delay it.
//! PostgreSQL's clock decides whether a lease has ended, so the clocks of nodes do not matter.
//!
//! Each home has one connection for its lease. The name of this connection in `pg_stat_activity` names the home, so a home that
//! ends is no longer listed.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat::{Slot, StoreError, Timestamp};

use crate::engine::postgres::{self, Place};
use crate::engine::{self, params};
use crate::migrate::{self, NEWEST};
use crate::open::newer_server;
use crate::sqlite::{self, Sqlite};
use crate::{OpenError, Options, fault};

/// PostgreSQL cuts names of connections at 63 bytes, and the rest is a [prefix](home_prefix) of ten bytes and a number.
const NAME_CHARS: usize = 36;

// In each statement $2 is the time, or 0 for that of PostgreSQL.

const READ: &str = sql!(
    "SELECT holder, term, greatest(expires - (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END), 0) \
     FROM lease WHERE slot = $1"
);
/// The term is a time, so it is greater than the terms of homes on SQLite, which fronts may know.
const TAKE: &str = sql!(
    "UPDATE lease SET \
     term = greatest(term + 1, (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END)), \
     holder = $3, \
     expires = (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END) + $4 \
     WHERE slot = $1 AND (holder = $3 OR expires <= (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END) \
     OR $5 > 0 AND expires > (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END) + $5) \
     RETURNING term"
);
/// Does not wait for a synchronous replica, so that its loss costs no home its lease. If the server fails before the replica has the
/// renewal, the lease only ends earlier.
const RENEW: &str = sql!(
    "UPDATE lease SET expires = (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END) + $4 \
     WHERE slot = $1 AND holder = $3 AND term = $5 AND set_config('synchronous_commit', 'local', true) = 'local' \
     RETURNING term"
);
const GIVE: &str = sql!(
    "UPDATE lease SET holder = $6, expires = CASE WHEN $6 = '' THEN 0 ELSE (CASE WHEN $2 > 0 THEN $2 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END) + $4 END \
     WHERE slot = $1 AND holder = $3 AND term = $5 RETURNING term"
);
/// Homes that have asked within the last ten seconds: a frozen process keeps its connection.
const HOMES: &str = sql!(
    "SELECT substr(application_name, 11) FROM pg_stat_activity WHERE datname = current_database() \
     AND starts_with(application_name, $1) \
     AND state_change > clock_timestamp() - interval '10 seconds' ORDER BY 1"
);

/// The prefix of the name of a home's connection. Those of all slots have the same length.
pub(crate) fn home_prefix(slot: i64) -> String {
    match slot {
        0 => "kith home ".into(),
        _ => format!("kith h{slot:03} "),
    }
}

/// The name of a node without characters that a name of a connection cannot have, and not too long for one.
pub(crate) fn plain_name(name: &str) -> String {
    let plain = name.chars().map(|c| if c == ' ' || c.is_ascii_graphic() { c } else { '?' });
    plain.take(NAME_CHARS).collect()
}

/// The name of a process in the cluster.
pub(crate) fn holder(name: &str, number: u64) -> String {
    format!("{number:016x} {}", plain_name(name))
}

/// Connects, and makes the schema of the slot if it has none.
pub(crate) fn connect(place: &Place) -> Result<postgres::Connection, OpenError> {
    let failed = |error| sqlite::failed_at(place, error);
    let db = postgres::Connection::open(place).map_err(|error| failed(error.into()))?;
    // An older schema stays until the lease is taken, because its home still works with it.
    match migrate::postgres_version(&db).map_err(failed)? {
        0 => sqlite::migrate_postgres(&db, place, Options::default())?,
        found if found > NEWEST => return Err(newer_server(&place.name, found)),
        _ => {}
    }
    Ok(db)
}

/// The clock that decides whether a lease has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    OfDatabase,
    /// For tests.
    At(Timestamp),
}

/// The lease of a slot, as one process sees it.
pub struct Lease {
    place: Place,
    holder: String,
    db: Mutex<postgres::Connection>,
}

/// The answer to an attempt to take the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    Taken {
        term: u64,
    },
    /// Another home has it, for so long without a renewal.
    Held {
        left_ms: u64,
    },
}

/// The row of the lease, and the homes that could have it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LeaseState {
    /// Empty: nobody has it.
    pub holder: String,
    pub term: u64,
    /// Until it ends without a renewal.
    pub left_ms: u64,
    /// The holders that could be, in order: those of all homes that run.
    pub homes: Vec<String>,
}

/// The name of a node in the name of a holder.
pub fn name_of_holder(holder: &str) -> &str {
    holder.split_once(' ').map_or(holder, |(_, name)| name)
}

type Answer<T> = Result<T, engine::Error>;

impl Lease {
    /// Connects, and makes the schema of the slot if the database has none. `name`: of the node. `number`: no other process has it.
    /// Blocks.
    pub fn connect(url: &str, slot: Slot, name: &str, number: u64) -> Result<Lease, OpenError> {
        let holder = holder(name, number);
        let place = Place::parse(url, slot).map_err(|why| OpenError::Address { why })?;
        let place = place.named(&format!("{}{holder}", home_prefix(place.slot())));
        let db = connect(&place)?;
        Ok(Lease { place, holder, db: Mutex::new(db) })
    }

    /// The name of the node that has the lease of a slot; None: nobody has it. Blocks.
    pub fn home_of(url: &str, slot: Slot) -> Result<Option<String>, OpenError> {
        let place = Place::parse(url, slot).map_err(|why| OpenError::Address { why })?;
        let failed = |error| sqlite::failed_at(&place, error);
        let db = postgres::Connection::open(&place).map_err(|error| failed(error.into()))?;
        node_of(&db).map_err(failed)
    }

    /// The name of this process in the row of the lease.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Takes the lease if nobody has it, or if it was given to this process. From then on, stores that were opened
    /// [with it](Sqlite::open_leased) refuse each write whose term is not the newest. Blocks; waits for a running commit of the
    /// former holder.
    pub fn take(&self, clock: Clock, valid: Duration) -> Result<Take, StoreError> {
        self.take_from(clock, valid, None)
    }

    /// Like [`take`](Self::take), also if the lease of another home lasts longer than `longest`, the longest time for which a lease is
    /// ever renewed. Then the clock of PostgreSQL was set back. Call it when no home has renewed the lease for its time.
    pub fn take_overlong(
        &self,
        clock: Clock,
        valid: Duration,
        longest: Duration,
    ) -> Result<Take, StoreError> {
        self.take_from(clock, valid, Some(longest))
    }

    fn take_from(
        &self,
        clock: Clock,
        valid: Duration,
        longest: Option<Duration>,
    ) -> Result<Take, StoreError> {
        self.answer(|db| {
            let state = row(db, clock)?;
            let is_overlong = longest.is_some_and(|longest| state.left_ms > longest.as_millis() as u64);
            let held = Take::Held { left_ms: state.left_ms };
            if state.left_ms > 0 && state.holder != self.holder && !is_overlong {
                return Ok(held);
            }
            if migrate::postgres_version(db)? > NEWEST {
                return Err(engine::Error::Invalid(
                    "a newer kith has migrated the database; run that version here, too",
                ));
            }
            db.begin_write_of_any_term()?;
            let longest = longest.map_or(0, millis);
            let slot = self.place.slot();
            let taken =
                db.ask(TAKE, params![slot, clock.millis(), self.holder.as_str(), millis(valid), longest]);
            let term = taken.map_err(engine::Error::from).and_then(|rows| {
                let term = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
                term.map_err(|error| postgres::Error::from(error).into())
            });
            let Ok(Some(term)) = term else {
                _ = db.rollback();
                return term.map(|_| held);
            };
            db.commit()?;
            self.place.term().store(term, SeqCst);
            Ok(Take::Taken { term: term as u64 })
        })
    }

    /// False: another holder has it, and this process must not write any more. A lease that has ended, and that nobody has
    /// taken, is renewed. Blocks.
    pub fn renew(&self, clock: Clock, valid: Duration) -> Result<bool, StoreError> {
        let term = self.place.term().load(SeqCst);
        let values = params![self.place.slot(), clock.millis(), self.holder.as_str(), millis(valid), term];
        self.answer(|db| Ok(!db.ask(RENEW, values)?.is_empty()))
    }

    /// Gives the lease to another holder, or to nobody if `to` is empty. Call it after the last write. Its new holder has `valid` to
    /// take it; then any home can. False: this process had no lease. Blocks.
    pub fn give(&self, to: &str, clock: Clock, valid: Duration) -> Result<bool, StoreError> {
        let term = self.place.term().load(SeqCst);
        let values =
            params![self.place.slot(), clock.millis(), self.holder.as_str(), millis(valid), term, to];
        self.answer(|db| Ok(!db.ask(GIVE, values)?.is_empty()))
    }

    /// Blocks.
    pub fn state(&self, clock: Clock) -> Result<LeaseState, StoreError> {
        self.answer(|db| {
            let mut state = row(db, clock)?;
            let name = |row: &tokio_postgres::Row| row.try_get::<_, String>(0);
            let homes = db
                .ask(HOMES, [home_prefix(self.place.slot()).as_str()])?
                .iter()
                .map(name)
                .collect::<Result<_, _>>();
            state.homes = homes.map_err(postgres::Error::from)?;
            Ok(state)
        })
    }

    /// The number of the folder of files that belongs to the database; None: no home has named one. Blocks.
    pub fn files_number(&self) -> Result<Option<u32>, StoreError> {
        self.answer(|db| {
            let rows = db.ask("SELECT value FROM meta WHERE name = 'files'", params![])?;
            let number = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
            Ok(number.map_err(postgres::Error::from)?.map(|number| number as u32))
        })
    }

    /// Names the folder of files. A folder that was named before stays. Blocks.
    pub fn name_files(&self, number: u32) -> Result<(), StoreError> {
        let sql = sql!("INSERT INTO meta VALUES ('files', $1) ON CONFLICT DO NOTHING");
        self.answer(|db| Ok(db.ask(sql, params![i64::from(number)]).map(drop)?))
    }

    fn answer<T>(&self, ask: impl FnOnce(&postgres::Connection) -> Answer<T>) -> Result<T, StoreError> {
        ask(&self.lock()).map_err(|error| fault::store_error(&error))
    }

    fn lock(&self) -> MutexGuard<'_, postgres::Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of the node that has the lease; None: nobody has it.
pub(crate) fn node_of(db: &postgres::Connection) -> Answer<Option<String>> {
    if migrate::postgres_version(db)? == 0 {
        return Ok(None);
    }
    let state = row(db, Clock::OfDatabase)?;
    Ok((state.left_ms > 0).then(|| name_of_holder(&state.holder).to_owned()))
}

fn row(db: &postgres::Connection, clock: Clock) -> Answer<LeaseState> {
    let rows = db.ask(READ, params![db.place().slot(), clock.millis()])?;
    let row = rows.first().ok_or(engine::Error::NoRows)?;
    let read = || -> Result<LeaseState, tokio_postgres::Error> {
        let (term, left): (i64, i64) = (row.try_get(1)?, row.try_get(2)?);
        Ok(LeaseState { holder: row.try_get(0)?, term: term as u64, left_ms: left as u64, homes: Vec::new() })
    };
    Ok(read().map_err(postgres::Error::from)?)
}

impl Clock {
    pub(crate) fn millis(self) -> i64 {
        match self {
            Clock::OfDatabase => 0,
            Clock::At(now) => now.0 as i64,
        }
    }
}

fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

impl Sqlite {
    /// As [`open_postgres`](Self::open_postgres), for the holder of the lease: each write needs its term. Take the lease first, because
    /// this migrates the schema.
    pub fn open_leased(lease: &Lease, options: Options) -> Result<Sqlite, OpenError> {
        Sqlite::open_server(lease.place.plain(), options)
    }
}
