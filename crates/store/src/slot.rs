//! The slots of a database, for commands of the operator, which know a site by its key or its XMPP domain.

use chat::Slot;

use crate::engine::postgres::{self, Place};
use crate::{OpenError, migrate, sqlite};

/// How a command names a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteBy<'a> {
    Key(&'a str),
    /// Also a key that is a domain, because it is the domain of a site without another one.
    Domain(&'a str),
}

const BY_KEY: &str = sql!("SELECT id FROM site WHERE key = $1");
const BY_DOMAIN: &str = sql!("SELECT id FROM site WHERE domain = $1 OR domain IS NULL AND key = $1");

/// The first slot with such a site, in a PostgreSQL database with `slots` slots. Connects once for each slot. Blocks.
pub fn find_site(url: &str, slots: u8, by: SiteBy<'_>) -> Result<Option<Slot>, OpenError> {
    let (sql, value) = match by {
        SiteBy::Key(key) => (BY_KEY, key),
        SiteBy::Domain(domain) => (BY_DOMAIN, domain),
    };
    for slot in (0..slots).map(Slot) {
        let Some((place, db)) = connect(url, slot)? else { continue };
        let rows = db.ask(sql, [value]).map_err(|error| sqlite::failed_at(&place, error.into()))?;
        if !rows.is_empty() {
            return Ok(Some(slot));
        }
    }
    Ok(None)
}

/// The slots that have tables, in order. Blocks.
pub fn used_slots(url: &str, slots: u8) -> Result<Vec<Slot>, OpenError> {
    let mut used = Vec::new();
    for slot in (0..slots).map(Slot) {
        if connect(url, slot)?.is_some() {
            used.push(slot);
        }
    }
    Ok(used)
}

/// None: the slot has no tables.
fn connect(url: &str, slot: Slot) -> Result<Option<(Place, postgres::Connection)>, OpenError> {
    let place = Place::parse(url, slot).map_err(|why| OpenError::Address { why })?;
    let failed = |error| sqlite::failed_at(&place, error);
    let db = postgres::Connection::open(&place).map_err(|error| failed(error.into()))?;
    let version = migrate::postgres_version(&db).map_err(failed)?;
    Ok((version > 0).then_some((place, db)))
}
