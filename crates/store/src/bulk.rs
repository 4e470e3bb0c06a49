//! Imports a whole community into a database that no node has open.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};

use chat::{Profile, Side, SiteId, Sub, Timestamp, UserId};
use rusqlite::OpenFlags;
use rusqlite::config::DbConfig;

use crate::counter::{self, Counted};
use crate::dialect;
use crate::engine::{Connection, params};
use crate::fault::Fault;
use crate::open::{connect, explain, open};
use crate::user::Seen;
use crate::{OpenError, Options, contact, user};

/// Imports many users and contacts faster than a node could: without requests, and without a disk flush per row.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (path, site, now, profiles) = (std::path::Path::new("kith.db"), chat::SiteId(1), chat::Timestamp(0), vec![]);
/// let mut import = store::bulk::Import::open(path)?;
/// let ids = import.users(site, profiles, now)?; // in the order of the profiles
/// import.contacts(ids[0], [ids[1]])?; // contacts are mutual,
/// import.contacts(ids[1], [ids[0]])?; // so pass each side once
/// import.finish()?;
/// # Ok(()) }
/// ```
///
/// Import is fastest, and the file smallest, if users are sorted by their `sub` and owners of contacts by their
/// numbers. So pass all users first, then all contacts. Passing a row a second time changes nothing. An import of
/// contacts gives the database a new *epoch*: existing devices reload their lists.
///
/// No process may have the database open, and no other process can open it during the import. If the import is dropped
/// without [`finish`](Self::finish), or the process dies, a part of the rows is stored. Each stored row is complete.
pub struct Import {
    db: Connection,
    path: PathBuf,
    /// Rows that the open transaction has written.
    pending: u32,
    counts: Counts,
    cards: HashMap<SiteId, Cards>,
    has_triggers: bool,
}

/// Progress of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub users_new: u64,
    /// Users whose profile changed.
    pub users_changed: u64,
    pub users_as_before: u64,
    /// Entries of contact lists: two for a pair.
    pub contacts_new: u64,
    /// Entries of pairs that already have a relation, as contacts or otherwise. The import keeps the members' own
    /// decision.
    pub contacts_as_before: u64,
}

/// The reason why an import ended.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("user {} of site {} is not in the database", .0.num, .0.site.0)]
    NoSuchUser(UserId),
    #[error("a user cannot be a contact of himself, or of another site (user {} of site {})", .0.num, .0.site.0)]
    NoPair(UserId),
    #[error(transparent)]
    Store(#[from] OpenError),
}

/// Rows of one transaction. Each transaction begins with an empty page cache of SQLite's log and ends with a copy to
/// the database, so transactions are large. A crash undoes at most this number of rows.
const PORTION: u32 = 500_000;

impl Import {
    /// Opens the database at `path`, or creates it, and locks out all other processes. Returns [`OpenError::Busy`] if a
    /// node or a command has it open.
    pub fn open(path: &Path) -> Result<Import, OpenError> {
        let options = Options { writer_cache_kib: 256 << 10, busy_ms: 1_000, ..Options::default() };
        drop(open(path, &options)?); // creates and migrates the database
        let explain = |error| explain(path, error);
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, &options).map_err(explain)?;
        let settings = [
            ("locking_mode", "EXCLUSIVE".to_owned()),
            ("synchronous", "NORMAL".to_owned()),
            ("cache_size", format!("-{}", options.writer_cache_kib)),
        ];
        for (name, value) in settings {
            dialect::set(&db, name, value).map_err(explain)?;
        }
        let import = Import {
            db: db.into(),
            path: path.to_owned(),
            pending: 0,
            counts: Counts::default(),
            cards: HashMap::new(),
            has_triggers: true,
        };
        import.run(dialect::BEGIN_WRITE)?;
        Ok(import)
    }

    /// Adds users of a site, or updates the profiles of existing users. Returns their ids in the order of the profiles:
    /// 8 bytes each, so pass a very large community in portions.
    pub fn users(
        &mut self,
        site: SiteId,
        profiles: impl IntoIterator<Item = Profile>,
        now: Timestamp,
    ) -> Result<Vec<UserId>, ImportError> {
        self.cards.remove(&site);
        self.set_triggers(true)?;
        let mut ids = Vec::new();
        for profile in profiles {
            let (row, seen) = user::put(&self.db, site, &profile, now, || {
                Ok(counter::next(&self.db, site, Counted::User)? as u32)
            })
            .map_err(|f| self.fault(f))?;
            match seen {
                Seen::New => self.counts.users_new += 1,
                Seen::Changed => self.counts.users_changed += 1,
                Seen::Before => self.counts.users_as_before += 1,
            }
            ids.push(row.id);
            self.count_rows(u32::from(seen != Seen::Before))?;
        }
        Ok(ids)
    }

    /// The id of the user with this `sub`.
    pub fn user(&self, site: SiteId, sub: &Sub) -> Result<Option<UserId>, ImportError> {
        let row = user::by_sub(&self.db, site, sub).map_err(|fault| self.fault(fault))?;
        Ok(row.map(|row| row.id))
    }

    /// The number of contacts on a user's list, as the limit of a list counts them. Reads all of them.
    pub fn list_length(&self, owner: UserId) -> Result<u64, ImportError> {
        contact::length(&self.db, owner).map_err(|fault| self.fault(fault))
    }

    /// Whether the two users have a relation already. If so, [`contacts`](Self::contacts) changes nothing.
    pub fn knows(&self, owner: UserId, other: UserId) -> Result<bool, ImportError> {
        let sql = sql!("SELECT 1 FROM contact WHERE site = $1 AND user = $2 AND other = $3");
        let row = self
            .db
            .prepare_cached(sql)
            .and_then(|mut statement| statement.exists([owner.site.0, owner.num, other.num]));
        Ok(row.map_err(|e| explain(&self.path, e))?)
    }

    /// Adds users to the owner's contact list, without a limit. Pass the other direction in a call of its own, so that
    /// both users are on each other's list. The first call of a site reads the names of its users into memory, some 50
    /// bytes each.
    pub fn contacts(
        &mut self,
        owner: UserId,
        others: impl IntoIterator<Item = UserId>,
    ) -> Result<(), ImportError> {
        let mut numbers = Vec::new();
        for other in others {
            if other == owner || other.site != owner.site {
                return Err(ImportError::NoPair(other));
            }
            numbers.push(other.num);
        }
        numbers.sort_unstable();
        numbers.dedup();
        self.load_cards(owner.site)?;
        // They remove the packed list with each row, in six times the time of the row. The list is made anew below.
        self.set_triggers(false)?;
        let cards = &self.cards[&owner.site];
        cards.of(owner.num).ok_or(ImportError::NoSuchUser(owner))?;
        let sql = sql!(
            "INSERT INTO contact (site, user, other, state, changed, sub, name, avatar, guest) \
                   VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8) \
                   ON CONFLICT DO NOTHING"
        );
        let mut statement = self.db.prepare_cached(sql).map_err(|e| explain(&self.path, e))?;
        let mut new = 0;
        for num in &numbers {
            let other = UserId { site: owner.site, num: *num };
            let card = cards.of(*num).ok_or(ImportError::NoSuchUser(other))?;
            let state = contact::code(Side::CONTACT);
            let key = (owner.site.0, owner.num, num);
            let values = params![key.0, key.1, key.2, state, card.sub, card.name, card.avatar, card.guest];
            new += statement.execute(values).map_err(|e| explain(&self.path, e))? as u32;
        }
        drop(statement);
        if new > 0 && self.counts.contacts_new == 0 {
            self.renew_epoch()?;
        }
        self.counts.contacts_new += u64::from(new);
        if new > 0 {
            // Every device loads its list after an import.
            contact::packed::store(&self.db, owner).map_err(|fault| self.fault(fault))?;
        }
        self.counts.contacts_as_before += numbers.len() as u64 - u64::from(new);
        self.count_rows(new)
    }

    /// The counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Commits the rest, and waits until everything is on disk.
    pub fn finish(self) -> Result<Counts, ImportError> {
        self.run("COMMIT")?;
        let carried = dialect::run(self.db.sqlite(), dialect::EMPTY_LOG);
        carried.map_err(|e| explain(&self.path, e))?;
        Ok(self.counts)
    }

    /// Runs in the transaction of the first rows, because devices learn of these rows only by the new epoch.
    fn renew_epoch(&self) -> Result<(), ImportError> {
        let step = (RandomState::new().hash_one(&self.path) as u32).max(1);
        let sql = sql!("UPDATE meta SET value = (value + $1) % 4294967296 WHERE name = 'epoch'");
        self.db.execute(sql, [step]).map_err(|e| explain(&self.path, e))?;
        Ok(())
    }

    /// Of this connection. A change makes SQLite prepare all statements again.
    fn set_triggers(&mut self, on: bool) -> Result<(), ImportError> {
        if self.has_triggers != on {
            let changed = self.db.sqlite().set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, on);
            changed.map_err(|error| explain(&self.path, error))?;
            self.has_triggers = on;
        }
        Ok(())
    }

    fn load_cards(&mut self, site: SiteId) -> Result<(), ImportError> {
        if !self.cards.contains_key(&site) {
            let cards = Cards::read(&self.db, site).map_err(|e| explain(&self.path, e))?;
            self.cards.insert(site, cards);
        }
        Ok(())
    }

    fn count_rows(&mut self, rows: u32) -> Result<(), ImportError> {
        self.pending += rows;
        if self.pending >= PORTION {
            self.pending = 0;
            self.run("COMMIT")?;
            self.run(dialect::BEGIN_WRITE)?;
        }
        Ok(())
    }

    fn run(&self, sql: &str) -> Result<(), OpenError> {
        self.db.execute_batch(sql).map_err(|error| explain(&self.path, error))
    }

    fn fault(&self, fault: Fault) -> ImportError {
        match fault {
            Fault::Sql(error) => explain(&self.path, error).into(),
            Fault::Invalid(_) => {
                let error = crate::engine::Error::Invalid("an invalid row");
                OpenError::Failed { path: self.path.clone(), error }.into()
            }
        }
    }
}

/// The contact-row fields of one site's users, in one allocation.
struct Cards {
    /// By user number: the offset of the card, or [`NOBODY`] if no user has this number.
    begins: Vec<u64>,
    bytes: Vec<u8>,
}

const NOBODY: u64 = u64::MAX;

struct Card<'a> {
    sub: &'a str,
    name: &'a str,
    avatar: Option<&'a str>,
    guest: bool,
}

impl Cards {
    fn read(db: &Connection, site: SiteId) -> crate::engine::Result<Cards> {
        let mut cards = Cards { begins: Vec::new(), bytes: Vec::new() };
        let mut statement = db.prepare_cached(sql!(
            "SELECT num, sub, name, avatar, guest FROM user WHERE site = $1 ORDER BY sub"
        ))?;
        let mut rows = statement.query([site.0])?;
        while let Some(row) = rows.next()? {
            cards.add(
                row.get(0)?,
                &Card {
                    sub: user::text(&row, 1)?,
                    name: user::text(&row, 2)?,
                    avatar: user::maybe_text(&row, 3)?,
                    guest: row.get(4)?,
                },
            );
        }
        Ok(cards)
    }

    fn add(&mut self, num: u32, card: &Card<'_>) {
        let at = num as usize;
        if self.begins.len() <= at {
            self.begins.resize(at + 1, NOBODY);
        }
        self.begins[at] = self.bytes.len() as u64;
        for text in [card.sub, card.name, card.avatar.unwrap_or_default()] {
            self.bytes.extend((text.len() as u32).to_le_bytes());
            self.bytes.extend(text.as_bytes());
        }
        self.bytes.push(u8::from(card.guest) | u8::from(card.avatar.is_some()) << 1);
    }

    fn of(&self, num: u32) -> Option<Card<'_>> {
        let begin = *self.begins.get(num as usize).filter(|begin| **begin != NOBODY)?;
        let mut rest = &self.bytes[begin as usize..];
        let mut text = || {
            let (length, after) = rest.split_first_chunk().expect("cards are written whole");
            let (text, after) = after.split_at(u32::from_le_bytes(*length) as usize);
            rest = after;
            std::str::from_utf8(text).expect("cards are written from text")
        };
        let (sub, name, avatar) = (text(), text(), text());
        let flags = rest[0];
        Some(Card { sub, name, avatar: (flags & 2 != 0).then_some(avatar), guest: flags & 1 != 0 })
    }
}
