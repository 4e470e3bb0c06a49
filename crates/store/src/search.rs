//! Full-text search: an index of words that is filled behind the writer, and found through by who may read.
//!
//! An entry at each message would cost the writer more than the message does. So the log is indexed some hundred rows at a
//! time when the writer has nothing else to do, or has left too many behind. The index keeps no text: a hit is a position, and
//! what is shown is the log's row as it is now.

use chat::{Act, ConversationId, FoundPage, Refusal, Search, SiteId, UserId};
use rusqlite::{Connection, params};

use crate::conversation::side_of;
use crate::fault::Outcome;
use crate::message::Lines;
use crate::meta;
use crate::room::{self, MemberState};
use crate::writer::Batch;

/// How far the index has come; the writer's.
#[derive(Default)]
pub(crate) struct Indexed {
    /// Every message up to this position is in it.
    upto: u64,
}

/// Rows that are indexed in one transaction: a few milliseconds, for which a message may have to wait.
const SLICE: u32 = 256;
/// Positions left behind from which on a slice follows a batch even where others come without a pause; and from which on
/// also where others wait.
const FAR: u64 = 8_192;
const FARTHEST: u64 = 65_536;
/// Rooms of one user that a search without a conversation looks into.
const ROOMS: usize = 100;

// ---- writes ----

impl Indexed {
    pub(crate) fn load(&mut self, db: &Connection) -> Outcome<()> {
        self.upto = meta::search_indexed(db)?;
        Ok(())
    }

    pub(crate) fn is_behind(&self, committed: u64) -> bool {
        self.upto < committed
    }

    /// Is it time for a slice although the writer has work?
    pub(crate) fn is_due(&self, committed: u64, is_busy: bool) -> bool {
        committed.saturating_sub(self.upto) > if is_busy { FARTHEST } else { FAR }
    }

    /// Indexes what comes next; call in a transaction. Where only other changes were committed since, nothing is written.
    pub(crate) fn move_on(&mut self, db: &Connection, committed: u64) -> Outcome<()> {
        let sql = "SELECT position, site, conversation, body FROM message WHERE position > ?1 ORDER BY position LIMIT ?2";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.upto as i64, SLICE])?;
        let (mut count, mut last) = (0, self.upto);
        while let Some(row) = rows.next()? {
            let id = ConversationId { site: SiteId(row.get(1)?), key: row.get::<_, i64>(2)? as u64 };
            let body = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
            last = row.get::<_, i64>(0)? as u64;
            put(db, last, id, body)?;
            count += 1;
        }
        if count > 0 {
            meta::set_search_indexed(db, last)?;
        }
        self.upto = if count < SLICE { committed } else { last };
        Ok(())
    }
}

/// The body of a message is another one now.
pub(crate) fn changed(batch: &Batch<'_>, at: u64, id: ConversationId, body: &str) -> Outcome<()> {
    if at > batch.indexed.upto {
        return Ok(());
    }
    batch.db.prepare_cached("DELETE FROM message_text WHERE rowid = ?1")?.execute([at as i64])?;
    put(batch.db, at, id, body)
}

fn put(db: &Connection, at: u64, id: ConversationId, body: &str) -> Outcome<()> {
    if body.is_empty() {
        return Ok(());
    }
    let mut who = name_of_conversation(id);
    for member in id.pair().into_iter().flatten() {
        who.push(' ');
        who += &name_of_user(member);
    }
    let sql = "INSERT INTO message_text (rowid, body, who) VALUES (?1, ?2, ?3)";
    db.prepare_cached(sql)?.execute(params![at as i64, body, who])?;
    Ok(())
}

/// A word that stands for who may find a message. It is looked for in a column of its own, where no body can stand.
fn name_of_user(user: UserId) -> String {
    format!("u{}x{}", user.site.0, user.num)
}

fn name_of_conversation(id: ConversationId) -> String {
    format!("c{}x{:x}", id.site.0, id.key)
}

// ---- reads ----

/// Newest first.
pub(crate) fn search(db: &Connection, wanted: &Search) -> Outcome<Result<FoundPage, Refusal>> {
    let scope = match wanted.conversation {
        None => scope_of_user(db, wanted.user)?,
        Some(id) if may_read(db, id, wanted.user)? => name_of_conversation(id),
        Some(_) => return Ok(Err(Refusal::NoSuchConversation)),
    };
    let before = wanted.after.as_deref().and_then(|after| i64::from_str_radix(after, 16).ok());
    let sql = "SELECT rowid FROM message_text WHERE message_text MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC LIMIT ?3";
    let values = params![expression(wanted, &scope), before.unwrap_or(i64::MAX), i64::from(wanted.limit) + 1];
    let mut statement = db.prepare_cached(sql)?;
    let mut found: Vec<u64> =
        statement.query_map(values, |row| Ok(row.get::<_, i64>(0)? as u64))?.collect::<Result<_, _>>()?;
    let more = found.len() > wanted.limit as usize;
    found.truncate(wanted.limit as usize);
    let next = found.last().filter(|_| more).map(|position| format!("{position:x}"));
    let mut lines = Lines::new(db, wanted.user)?;
    let mut hits = Vec::with_capacity(found.len());
    for position in found {
        let message = lines.at(position)?.map(|line| line.message);
        // The index is built of the log; that a site's messages stay in it is held here once more.
        hits.extend(message.filter(|one| one.conversation.site == wanted.user.site && !one.deleted));
    }
    Ok(Ok(FoundPage { hits, next }))
}

/// Direct conversations by their members, and rooms, each by its name.
fn scope_of_user(db: &Connection, user: UserId) -> Outcome<String> {
    let mut rooms = Vec::new();
    room::each(db, user, |id, mine| {
        if matches!(mine.state, MemberState::In(_)) && rooms.len() < ROOMS {
            rooms.push(name_of_conversation(id));
        }
        Ok(())
    })?;
    rooms.push(name_of_user(user));
    Ok(rooms.join(" OR "))
}

fn may_read(db: &Connection, id: ConversationId, user: UserId) -> Outcome<bool> {
    match id.is_room() {
        true => Ok(room::allowed(db, id, user, Act::Read)?.is_ok()),
        false => Ok(side_of(id, user).is_some()),
    }
}

/// In FTS5's language. Words are letters and digits, and in quotes: nothing of a query is an operator.
fn expression(wanted: &Search, scope: &str) -> String {
    let words =
        wanted.words.iter().map(|word| format!("\"{}\"{}", word.text, if word.is_start { " *" } else { "" }));
    let words: Vec<String> = words.collect();
    format!("{{who}} : ({scope}) AND {{body}} : ({})", words.join(" AND "))
}
