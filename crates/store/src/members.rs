//! Members of a cluster: which nodes live, and which node is the home of each slot.
//!
//! A node that runs the homes of several slots is no home itself, and has no lease. It is a member by a connection whose name
//! is in `pg_stat_activity`, as the name of a home is ([`Lease`](crate::Lease)). So a node that ends is no longer a member.
//!
//! The leases of all slots lie in different schemas. A look reads all of them with one statement, which is made of the slots that
//! exist. It also answers which exist now, and is repeated if these are others.

use std::sync::{Mutex, PoisonError};

use chat::{Slot, StoreError};

use crate::engine::postgres::{self, Place, schema};
use crate::engine::{self, params};
use crate::{Clock, LeaseState, OpenError, fault, lease, migrate, sqlite};

/// The prefix of the name of a member's connection, as long as that of a home.
const NODE: &str = "kith node ";

// Each statement of a look has the columns: number, text, term, time until the end, pin. $1 is the time, or 0 for that of PostgreSQL.

/// Members and homes that have asked within the last ten seconds: a frozen process keeps its connection.
const PROCESSES: &str = "SELECT -1::bigint, application_name, 0::bigint, 0::bigint, '' FROM pg_stat_activity \
                         WHERE datname = current_database() AND application_name ~ '^kith (node|home|h[0-9]{3}) ' \
                         AND state_change > clock_timestamp() - interval '10 seconds'";
/// The schemas of slots with a lease that this user may read.
const SCHEMAS: &str = "SELECT -2::bigint, nspname::text, 0::bigint, 0::bigint, '' \
                       FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
                       WHERE relname = 'lease' AND nspname ~ '^kith_slot_[0-9]+$' \
                       AND has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT')";
/// Of a table `lease`. The schema of a slot may be older than the column with the pin, until its home migrates it.
const COLUMNS: &str = sql!(
    "holder, term, greatest(expires - (CASE WHEN $1 > 0 THEN $1 ELSE \
     floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint END), 0), coalesce(to_jsonb(lease) ->> 'pinned', '')"
);
const PIN: &str = sql!("UPDATE lease SET pinned = $2 WHERE slot = $1 RETURNING slot");
/// A connection with another name is no member.
const LEAVE: &str = "SET application_name = 'kith'";
/// A slot may be made or removed between two attempts.
const ATTEMPTS: u32 = 4;

/// The connection by which a node is a member of the cluster.
pub struct Members {
    holder: String,
    inner: Mutex<Inner>,
}

struct Inner {
    db: postgres::Connection,
    /// The slots with a schema, in order, without the first one, which always has one.
    known: Vec<u8>,
}

/// The members and the slots at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// The holders of the nodes that live, in order.
    pub nodes: Vec<String>,
    /// The index is the number of the slot.
    pub slots: Vec<SlotState>,
}

/// A slot that nobody has used yet has the default.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SlotState {
    /// Its homes: the processes that serve or stand by for this slot.
    pub lease: LeaseState,
    /// The name of the node that shall have the home. None: any node.
    pub pinned: Option<String>,
}

type Answer<T> = Result<T, engine::Error>;

impl Members {
    /// Connects, and makes the schema of the first slot if the database has none. `name`: of the node. `number`: no other process
    /// has it. Blocks.
    pub fn connect(url: &str, name: &str, number: u64) -> Result<Members, OpenError> {
        let holder = lease::holder(name, number);
        let place = Place::parse(url, Slot::FIRST).map_err(|why| OpenError::Address { why })?;
        let db = lease::connect(&place.named(&format!("{NODE}{holder}")))?;
        let inner = Mutex::new(Inner { db, known: Vec::new() });
        Ok(Members { holder, inner })
    }

    /// The name of this process in [`Look::nodes`].
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// The members, and the first `slots` slots. This node is a member for ten seconds from then on. Blocks; takes no lock.
    pub fn look(&self, slots: u8, clock: Clock) -> Result<Look, StoreError> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.look(slots, clock).map_err(|error| fault::store_error(&error))
    }

    /// This node is no member any more, and can still look. Blocks.
    pub fn leave(&self) -> Result<(), StoreError> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let left = inner.db.execute_batch(LEAVE).map_err(engine::Error::from);
        left.map_err(|error| fault::store_error(&error))
    }
}

/// Chooses the node that shall have the home of a slot. It need not live. Makes the schema of the slot if it has none. None: any node.
/// Blocks.
pub fn pin(url: &str, slot: Slot, node: Option<&str>) -> Result<(), OpenError> {
    let place = Place::parse(url, slot).map_err(|why| OpenError::Address { why })?;
    if node.is_none() && !has_tables(&place)? {
        return Ok(());
    }
    let node = node.map(lease::plain_name).unwrap_or_default();
    let db = lease::connect(&place)?;
    set_pin(&db, slot, &node).map_err(|error| sqlite::failed_at(&place, error))
}

fn has_tables(place: &Place) -> Result<bool, OpenError> {
    let failed = |error| sqlite::failed_at(place, error);
    let db = postgres::Connection::open(place).map_err(|error| failed(error.into()))?;
    Ok(migrate::postgres_version(&db).map_err(failed)? > 0)
}

/// `db`: of this slot.
fn set_pin(db: &postgres::Connection, slot: Slot, node: &str) -> Answer<()> {
    match db.ask(PIN, params![i64::from(slot.0), node]) {
        Ok(rows) if rows.is_empty() => Err(engine::Error::Invalid("its schema has no lease of this slot")),
        Ok(_) => Ok(()),
        Err(error) if error.is_missing_column() => Err(engine::Error::Invalid(
            "the slot has an older schema; its home must have this version of kith before it can be pinned",
        )),
        Err(error) => Err(error.into()),
    }
}

impl Inner {
    fn look(&mut self, slots: u8, clock: Clock) -> Answer<Look> {
        for _ in 1..ATTEMPTS {
            match self.look_at_known(slots, clock) {
                Ok((look, known)) if known == self.known => return Ok(look),
                Ok((_, known)) => self.known = known,
                Err(error) if error.is_missing() && !self.known.is_empty() => self.known.clear(),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.look_at_known(slots, clock)?.0)
    }

    fn look_at_known(&self, slots: u8, clock: Clock) -> Result<(Look, Vec<u8>), postgres::Error> {
        let rows = self.db.ask(&look_at(&self.known), params![clock.millis()])?;
        Ok(read(&rows, slots)?)
    }
}

/// The table of the lease of a slot, for a connection of the first one.
fn lease_of(slot: Slot) -> String {
    match slot {
        Slot::FIRST => "lease".into(),
        _ => format!("{}.lease", schema(slot)),
    }
}

fn look_at(known: &[u8]) -> String {
    let mut text = format!("{PROCESSES} UNION ALL {SCHEMAS}");
    for slot in [0].iter().chain(known) {
        let table = lease_of(Slot(*slot));
        text.push_str(&format!(
            " UNION ALL SELECT {slot}::bigint, {COLUMNS} FROM {table} WHERE slot = {slot}"
        ));
    }
    text
}

/// Also which of the slots have a schema, without the first one.
fn read(rows: &[tokio_postgres::Row], slots: u8) -> Result<(Look, Vec<u8>), tokio_postgres::Error> {
    let mut look = Look { nodes: Vec::new(), slots: vec![SlotState::default(); slots.into()] };
    let mut known = Vec::new();
    let prefixes: Vec<String> = (0..slots).map(|slot| lease::home_prefix(slot.into())).collect();
    for row in rows {
        let (kind, text): (i64, &str) = (row.try_get(0)?, row.try_get(1)?);
        match kind {
            -1 => match text.strip_prefix(NODE) {
                Some(node) => look.nodes.push(node.to_owned()),
                None => {
                    let of_slot = prefixes.iter().position(|begin| text.starts_with(begin));
                    if let Some(at) = of_slot {
                        look.slots[at].lease.homes.push(text[prefixes[at].len()..].to_owned());
                    }
                }
            },
            -2 => {
                let number = text.rsplit('_').next().and_then(|number| number.parse().ok());
                known.extend(number.filter(|number| (1..slots).contains(number)));
            }
            slot => {
                let (term, left): (i64, i64) = (row.try_get(2)?, row.try_get(3)?);
                let pinned: &str = row.try_get(4)?;
                if let Some(state) = usize::try_from(slot).ok().and_then(|slot| look.slots.get_mut(slot)) {
                    state.lease.holder = text.to_owned();
                    state.lease.term = term as u64;
                    state.lease.left_ms = left as u64;
                    state.pinned = (!pinned.is_empty()).then(|| pinned.to_owned());
                }
            }
        }
    }
    // A connection that was lost is listed beside its successor until PostgreSQL notices.
    let lists = look.slots.iter_mut().map(|slot| &mut slot.lease.homes).chain([&mut look.nodes]);
    for list in lists {
        list.sort_unstable();
        list.dedup();
    }
    known.sort_unstable();
    Ok((look, known))
}
