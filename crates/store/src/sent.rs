//! Recognises client ids that a user has sent before, as long as the message exists.
//!
//! Writing an index entry with each message would change one page per message and cost more than the message. So the
//! ids of the newest messages are known in memory, by hash. [`TOGETHER`] of them at a time are read from the log, sorted
//! by sender, and moved into the index, a slice with each batch. After a crash they are read from the log.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::engine::{Connection, OptionalExtension, params};
use chat::{SiteId, UserId};

use crate::fault::Outcome;
use crate::meta;

pub(crate) struct Sent {
    hasher: RandomState,
    is_loaded: bool,
    /// The index contains every message up to this position.
    indexed: u64,
    /// The position of the newest message in `recent`.
    newest: u64,
    /// Newer messages by a hash of sender and client id. Keys and values are the lower halves, so an entry has 9 bytes.
    /// A hit is checked in the log, so a false one costs only a search.
    recent: HashMap<u32, u32>,
    /// The rare messages whose hash was taken: hash and position.
    clashes: Vec<(u32, u64)>,
    moving: Option<Moving>,
    /// The first bytes of the greatest indexed id of senders. A greater id is new, without a search. Ids that begin
    /// with the time (UUIDv7) benefit from this.
    greatest: HashMap<UserId, u128>,
}

/// Ids that are moving into the index. Two large allocations, which go back to the system.
struct Moving {
    /// The position of the last one.
    upto: u64,
    /// Everything up to this position was read from the log.
    read: u64,
    /// In the order of positions while they are read, then in the order of the index.
    entries: Vec<Entry>,
    /// The number of entries that are in the index.
    done: usize,
    /// All client ids, one after the other.
    ids: String,
}

struct Entry {
    user: UserId,
    position: u64,
    /// Offset of the client id in `ids`.
    begin: u32,
    length: u32,
}

/// Ids that move into the index together: the more, the fewer pages each costs. With 5,000 senders each has some twenty
/// of them, which share a page.
const TOGETHER: usize = 98_304;
/// Most ids in memory: twice [`TOGETHER`] and some batches. All fit in a table of 262,144 places (2.4 MB).
const RECENT: usize = 229_376;
/// Fewest ids that are read or move with one batch.
const SLICE: usize = 256;
/// Most senders whose greatest id is known.
const SENDERS: usize = 2_048;

impl Sent {
    pub(crate) fn new() -> Sent {
        Sent {
            hasher: RandomState::new(),
            is_loaded: false,
            indexed: 0,
            newest: 0,
            recent: HashMap::new(),
            clashes: Vec::new(),
            moving: None,
            greatest: HashMap::new(),
        }
    }

    /// Allocates and touches all the memory that it will need, so that the memory usage of a node does not grow with
    /// its first messages.
    pub(crate) fn allocate(&mut self) {
        self.recent.extend((0..RECENT as u32).map(|place| (place, 0)));
        self.recent.clear();
        self.greatest.reserve(SENDERS);
    }

    /// Follows the database after another connection has changed it: reads the messages that it does not know. Entries
    /// of removed messages stay, which costs a search each.
    pub(crate) fn load(&mut self, db: &Connection) -> Outcome<()> {
        let indexed = meta::sent_indexed(db)?;
        self.greatest.clear();
        if !self.is_loaded || indexed != self.indexed {
            (self.is_loaded, self.indexed, self.newest) = (false, indexed, indexed);
            self.recent.clear();
            self.clashes.clear();
            self.moving = None;
        }
        let sql = sql!("SELECT site, sender, client_id, position FROM message WHERE position > $1");
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([self.newest as i64])?;
        while let Some(row) = rows.next()? {
            let user = UserId { site: SiteId(row.get(0)?), num: row.get(1)? };
            let client_id = row.get_ref(2)?.as_str().map_err(crate::engine::Error::from)?;
            self.note(user, client_id, row.get::<_, i64>(3)? as u64);
        }
        self.is_loaded = true;
        Ok(())
    }

    /// Follows a rollback to this position. If the index had moved on, [`load`](Self::load) notices.
    pub(crate) fn roll_back(&mut self, committed: u64) {
        let indexed = self.indexed;
        self.recent.retain(|_, low| whole(indexed, *low) <= committed);
        self.clashes.retain(|(_, position)| *position <= committed);
        self.newest = self.newest.min(committed);
        self.moving = None;
    }

    /// Position of the message with this id.
    pub(crate) fn find(&mut self, db: &Connection, user: UserId, client_id: &str) -> Outcome<Option<u64>> {
        let hash = self.hash(user, client_id);
        let hit = self.recent.get(&hash).map(|low| whole(self.indexed, *low));
        let clashes = self.clashes.iter().filter(|(clash, _)| *clash == hash).map(|(_, position)| *position);
        for position in hit.into_iter().chain(clashes) {
            if is_at(db, position, user, client_id)? {
                return Ok(Some(position));
            }
        }
        if self.greatest_of(db, user)? < Some(prefix(client_id)) {
            return Ok(None);
        }
        let sql = sql!("SELECT position FROM sent WHERE site = $1 AND user = $2 AND client_id = $3");
        let values = params![user.site.0, user.num, client_id];
        let found = db.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0)).optional()?;
        Ok(found.map(|position| position as u64))
    }

    /// Call after a message was stored.
    pub(crate) fn note(&mut self, user: UserId, client_id: &str, position: u64) {
        let hash = self.hash(user, client_id);
        if let Some(clash) = self.recent.insert(hash, position as u32) {
            self.clashes.push((hash, whole(self.indexed, clash)));
        }
        self.newest = self.newest.max(position);
    }

    /// Moves everything up to `newest` into the index.
    pub(crate) fn move_all(&mut self, db: &Connection, newest: u64) -> Outcome<()> {
        if self.moving.is_none() {
            self.moving = Some(Moving::new(self.indexed, newest));
        }
        while self.moving.is_some() {
            self.move_some(db, 0, newest)?;
        }
        Ok(())
    }

    /// Reads or moves a slice. Call in each transaction, with the size of its batch. Four times as many ids are read,
    /// and twice as many move, as come. So the move ends before [`TOGETHER`] new ones have come.
    pub(crate) fn move_some(&mut self, db: &Connection, batch: usize, newest: u64) -> Outcome<()> {
        if self.moving.is_none() {
            if self.recent.len() < TOGETHER {
                return Ok(());
            }
            self.moving = Some(Moving::new(self.indexed, newest));
        }
        let Some(moving) = &mut self.moving else { return Ok(()) };
        if moving.read < moving.upto {
            return moving.read_on(db, SLICE.max(4 * batch));
        }
        // IGNORE: after a crash, a part of these rows may be in the index already.
        let sql = sql!(
            "INSERT INTO sent (site, user, client_id, position) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING"
        );
        let mut statement = db.prepare_cached(sql)?;
        let end = moving.entries.len().min(moving.done + SLICE.max(2 * batch));
        for entry in &moving.entries[moving.done..end] {
            let Entry { user, position, .. } = entry;
            let client_id = id_of(&moving.ids, entry);
            statement.put(params![user.site.0, user.num, client_id, *position as i64])?;
        }
        moving.done = end;
        if end == moving.entries.len() {
            let (before, now) = (self.indexed, moving.upto);
            meta::set_sent_indexed(db, now)?;
            self.indexed = now;
            self.moving = None;
            self.greatest.clear();
            self.recent.retain(|_, low| whole(before, *low) > now);
            self.clashes.retain(|(_, position)| *position > now);
        }
        Ok(())
    }

    fn greatest_of(&mut self, db: &Connection, user: UserId) -> Outcome<Option<u128>> {
        if let Some(greatest) = self.greatest.get(&user) {
            return Ok(Some(*greatest));
        }
        let greatest = greatest_indexed(db, user)?.map_or(0, |id| prefix(&id));
        if self.greatest.len() >= SENDERS {
            self.greatest.clear();
        }
        self.greatest.insert(user, greatest);
        Ok(Some(greatest))
    }

    fn hash(&self, user: UserId, client_id: &str) -> u32 {
        self.hasher.hash_one((user, client_id)) as u32
    }
}

/// Also loads the page of the user's next entry.
pub(crate) fn greatest_indexed(db: &Connection, user: UserId) -> Outcome<Option<Box<str>>> {
    let sql = sql!("SELECT max(client_id) FROM sent WHERE site = $1 AND user = $2");
    let mut statement = db.prepare_cached(sql)?;
    Ok(statement.query_row([user.site.0, user.num], |row| row.get(0)).optional()?.flatten())
}

impl Moving {
    fn new(after: u64, upto: u64) -> Moving {
        let entries = Vec::with_capacity(TOGETHER + TOGETHER / 8);
        Moving { upto, read: after, entries, done: 0, ids: String::new() }
    }

    /// Reads a slice of about `count` entries. Sorts them after the last one.
    fn read_on(&mut self, db: &Connection, count: usize) -> Outcome<()> {
        let sql = sql!(
            "SELECT site, sender, client_id, position FROM message WHERE position > $1 AND position <= $2"
        );
        let upto = self.upto.min(self.read + count as u64);
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([self.read as i64, upto as i64])?;
        while let Some(row) = rows.next()? {
            let client_id = row.get_ref(2)?.as_str().map_err(crate::engine::Error::from)?;
            self.entries.push(Entry {
                user: UserId { site: SiteId(row.get(0)?), num: row.get(1)? },
                position: row.get::<_, i64>(3)? as u64,
                begin: self.ids.len() as u32,
                length: client_id.len() as u32,
            });
            self.ids.push_str(client_id);
        }
        self.read = upto;
        if self.read == self.upto {
            // Ids of one sender nearly always come in their order.
            self.entries.sort_unstable_by_key(|entry| (entry.user, entry.position));
        }
        Ok(())
    }
}

fn id_of<'a>(ids: &'a str, entry: &Entry) -> &'a str {
    &ids[entry.begin as usize..][..entry.length as usize]
}

/// The position after `indexed` that has this lower half.
fn whole(indexed: u64, low: u32) -> u64 {
    indexed + u64::from(low.wrapping_sub(indexed as u32))
}

fn is_at(db: &Connection, position: u64, user: UserId, client_id: &str) -> Outcome<bool> {
    let sql =
        sql!("SELECT 1 FROM message WHERE position = $1 AND site = $2 AND sender = $3 AND client_id = $4");
    let values = params![position as i64, user.site.0, user.num, client_id];
    Ok(db.prepare_cached(sql)?.exists(values)?)
}

/// Compares like the whole id, up to its length.
fn prefix(client_id: &str) -> u128 {
    let mut bytes = [0; 16];
    let length = client_id.len().min(16);
    bytes[..length].copy_from_slice(&client_id.as_bytes()[..length]);
    u128::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once every message was looked up in the log as soon as two ids had the same hash.
    #[test]
    fn only_a_message_of_the_same_hash_is_looked_up_in_the_log() {
        let db = Connection::Sqlite(rusqlite::Connection::open_in_memory().expect("a database"));
        let user = UserId { site: SiteId(1), num: 2 };
        let mut sent = Sent::new();
        sent.greatest.insert(user, 0);
        let hash = sent.hash(user, "id");
        sent.clashes.push((hash.wrapping_add(1), 5));
        assert_eq!(sent.find(&db, user, "id").expect("no table is read"), None);
        sent.clashes.push((hash, 6));
        assert!(sent.find(&db, user, "id").is_err(), "there is no table of messages");
    }
}
