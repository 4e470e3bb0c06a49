//! Counts a user's messages: those in the index of client ids, and the newest in the log, which are not indexed yet.
//!
//! The index lags some thousand messages behind (`sent.rs`), and a search of the log at each sign-in would cost as many
//! rows. So the newest messages are counted by sender once, and each call reads only the messages since the last call.
//! Posting a message costs nothing more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::engine::{Connection, params};
use chat::{SiteId, UserId};

use crate::fault::Outcome;
use crate::meta;

/// Shared by all readers.
#[derive(Default)]
pub(crate) struct Written {
    newest: Mutex<Newest>,
}

/// Has at most as many senders as the index lags behind.
#[derive(Default)]
struct Newest {
    /// The index contains every message up to this position.
    indexed: u64,
    /// Every message up to this position is counted.
    upto: u64,
    by_sender: HashMap<UserId, u32>,
}

impl Written {
    /// Counts up to `most`. Call in a transaction, so that index and log are of one moment.
    pub(crate) fn count(&self, db: &Connection, user: UserId, most: u32) -> Outcome<u32> {
        let indexed = meta::sent_indexed(db)?;
        // A slice that is moving into the index already has rows there. They are counted from the log, so skip them.
        let sql = sql!(
            "SELECT count(*) FROM (SELECT 1 FROM sent WHERE site = $1 AND user = $2 AND position <= $3 LIMIT $4) AS older"
        );
        let values = params![user.site.0, user.num, indexed as i64, most];
        let older: u32 = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        if older >= most {
            return Ok(most);
        }
        // A panic leaves counts that are too low, until the index moves on.
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
