//! Recognises a client id that its user has sent before, as long as the message exists.
//!
//! An index entry per message, written at once, would dirty one page per message and cost more than the
//! message. So the ids of the newest messages are known in memory, by hash, and go into the index some
//! thousand at a time, sorted by sender, a slice with each batch. After a crash they are read from the log.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use chat::{SiteId, UserId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::fault::Outcome;
use crate::meta;

#[derive(Default)]
pub(crate) struct Sent {
    hasher: RandomState,
    /// Everything up to this position is in the index.
    indexed: u64,
    /// Positions of newer messages, by the hash of sender and client id.
    recent: HashMap<u64, u64>,
    /// Positions of those whose hash was taken: next to never one.
    clashes: Vec<u64>,
    moving: Option<Moving>,
    /// The greatest indexed id of senders, its first bytes: an id beyond it is new without a search. That
    /// is what ids that begin with the time (UUIDv7) are good for.
    greatest: HashMap<UserId, u128>,
}

/// On the way into the index.
struct Moving {
    /// The last of the log among them.
    upto: u64,
    /// Sorted in the order of the index; what is left to do.
    entries: std::vec::IntoIter<Entry>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    user: UserId,
    client_id: Box<str>,
    position: u64,
}

/// So many recent ids are moved into the index together. While that happens as many may come again, and
/// 8 bytes of hash and 8 of position are kept of each.
const TOGETHER: usize = 4_096;
/// Fewest that are moved with one batch, however small it is.
const SLICE: usize = 256;
/// Most senders whose greatest id is known.
const SENDERS: usize = 2_048;

impl Sent {
    /// Begins anew from what the database says.
    pub(crate) fn load(&mut self, db: &Connection) -> Outcome<()> {
        *self = Sent { indexed: meta::sent_indexed(db)?, ..Sent::default() };
        let sql = "SELECT site, sender, client_id, position FROM message WHERE position > ?1";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([self.indexed as i64])?;
        while let Some(row) = rows.next()? {
            let user = UserId { site: SiteId(row.get(0)?), num: row.get(1)? };
            let client_id = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            self.note(user, client_id, row.get::<_, i64>(3)? as u64);
        }
        Ok(())
    }

    /// Position of the message with this id.
    pub(crate) fn find(&mut self, db: &Connection, user: UserId, client_id: &str) -> Outcome<Option<u64>> {
        let hit = self.recent.get(&self.hash(user, client_id));
        for position in hit.into_iter().chain(&self.clashes) {
            if is_at(db, *position, user, client_id)? {
                return Ok(Some(*position));
            }
        }
        if self.greatest_of(db, user)? < Some(prefix(client_id)) {
            return Ok(None);
        }
        let sql = "SELECT position FROM sent WHERE site = ?1 AND user = ?2 AND client_id = ?3";
        let values = params![user.site.0, user.num, client_id];
        let found = db.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0)).optional()?;
        Ok(found.map(|position| position as u64))
    }

    /// A message was stored.
    pub(crate) fn note(&mut self, user: UserId, client_id: &str, position: u64) {
        if let Some(clash) = self.recent.insert(self.hash(user, client_id), position) {
            self.clashes.push(clash);
        }
    }

    /// Moves a slice into the index. Call in each transaction, with the size of its batch: more is moved than
    /// comes, so that the end is reached before [`TOGETHER`] have come again.
    pub(crate) fn move_some(&mut self, db: &Connection, batch: usize, newest: u64) -> Outcome<()> {
        if self.moving.is_none() {
            if self.recent.len() < TOGETHER {
                return Ok(());
            }
            self.moving = Some(Moving::from_log(db, self.indexed, newest)?);
        }
        let Some(moving) = &mut self.moving else { return Ok(()) };
        // IGNORE: a crash forgets how far a move had come.
        let sql = "INSERT OR IGNORE INTO sent (site, user, client_id, position) VALUES (?1, ?2, ?3, ?4)";
        let mut statement = db.prepare_cached(sql)?;
        for entry in moving.entries.by_ref().take(SLICE.max(2 * batch)) {
            let Entry { user, client_id, position } = &entry;
            statement.execute(params![user.site.0, user.num, client_id, *position as i64])?;
        }
        if moving.entries.len() == 0 {
            self.indexed = moving.upto;
            meta::set_sent_indexed(db, self.indexed)?;
            self.moving = None;
            self.greatest.clear();
            let indexed = self.indexed;
            self.recent.retain(|_, position| *position > indexed);
            self.clashes.retain(|position| *position > indexed);
        }
        Ok(())
    }

    fn greatest_of(&mut self, db: &Connection, user: UserId) -> Outcome<Option<u128>> {
        if let Some(greatest) = self.greatest.get(&user) {
            return Ok(Some(*greatest));
        }
        let sql = "SELECT max(client_id) FROM sent WHERE site = ?1 AND user = ?2";
        let mut statement = db.prepare_cached(sql)?;
        let found: Option<Box<str>> =
            statement.query_row([user.site.0, user.num], |row| row.get(0)).optional()?.flatten();
        let greatest = found.map_or(0, |id| prefix(&id));
        if self.greatest.len() >= SENDERS {
            self.greatest.clear();
        }
        self.greatest.insert(user, greatest);
        Ok(Some(greatest))
    }

    fn hash(&self, user: UserId, client_id: &str) -> u64 {
        self.hasher.hash_one((user, client_id))
    }
}

impl Moving {
    fn from_log(db: &Connection, after: u64, upto: u64) -> Outcome<Moving> {
        let sql =
            "SELECT site, sender, client_id, position FROM message WHERE position > ?1 AND position <= ?2";
        let mut statement = db.prepare_cached(sql)?;
        let rows = statement.query_map([after as i64, upto as i64], |row| {
            Ok(Entry {
                user: UserId { site: SiteId(row.get(0)?), num: row.get(1)? },
                client_id: row.get(2)?,
                position: row.get::<_, i64>(3)? as u64,
            })
        })?;
        let mut entries = rows.collect::<Result<Vec<_>, _>>()?;
        entries.sort_unstable();
        Ok(Moving { upto, entries: entries.into_iter() })
    }
}

fn is_at(db: &Connection, position: u64, user: UserId, client_id: &str) -> Outcome<bool> {
    let sql = "SELECT 1 FROM message WHERE position = ?1 AND site = ?2 AND sender = ?3 AND client_id = ?4";
    let values = params![position as i64, user.site.0, user.num, client_id];
    Ok(db.prepare_cached(sql)?.exists(values)?)
}

/// Compares as the whole id does, up to its length.
fn prefix(client_id: &str) -> u128 {
    let mut bytes = [0; 16];
    let length = client_id.len().min(16);
    bytes[..length].copy_from_slice(&client_id.as_bytes()[..length]);
    u128::from_be_bytes(bytes)
}
