//! How many messages a user has written: those in the index of client ids, and the newest of the log, which are not in it yet.
//!
//! The index lags some thousand messages behind (`sent.rs`), and a search of the log for each user who signs in would cost as many rows. So
//! the newest messages are counted by their senders once: each question reads only what was stored since the one before. The path of a message
//! pays nothing for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use chat::{SiteId, UserId};
use rusqlite::{Connection, params};

use crate::fault::Outcome;
use crate::meta;

/// Of all readers.
#[derive(Default)]
pub(crate) struct Written {
    newest: Mutex<Newest>,
}

/// As many senders at most as the index lags behind.
#[derive(Default)]
struct Newest {
    /// Everything up to this position is in the index.
    indexed: u64,
    /// Everything up to this position is counted.
    upto: u64,
    by_sender: HashMap<UserId, u32>,
}

impl Written {
    /// Up to `most`. Call inside a transaction: the index and the log are of one moment.
    pub(crate) fn count(&self, db: &Connection, user: UserId, most: u32) -> Outcome<u32> {
        let indexed = meta::sent_indexed(db)?;
        // A slice on its way into the index has rows there that count as the log's.
        let sql = sql!(
            "SELECT count(*) FROM (SELECT 1 FROM sent WHERE site = $1 AND user = $2 AND position <= $3 LIMIT $4) AS some"
        );
        let values = params![user.site.0, user.num, indexed as i64, most];
        let older: u32 = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        if older >= most {
            return Ok(most);
        }
        // A panic in between leaves counts that are too low, until the index moves on.
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.indexed != indexed {
            *newest = Newest { indexed, upto: indexed, by_sender: HashMap::new() };
        }
        newest.read_on(db)?;
        Ok(most.min(older + newest.by_sender.get(&user).copied().unwrap_or(0)))
    }
}

impl Newest {
    fn read_on(&mut self, db: &Connection) -> Outcome<()> {
        let sql = sql!("SELECT position, site, sender FROM message WHERE position > $1 ORDER BY position");
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([self.upto as i64])?;
        while let Some(row) = rows.next()? {
            let sender = UserId { site: SiteId(row.get(1)?), num: row.get(2)? };
            *self.by_sender.entry(sender).or_default() += 1;
            self.upto = row.get::<_, i64>(0)? as u64;
        }
        Ok(())
    }
}
