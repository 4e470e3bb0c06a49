//! Full-text search: an index of words that is filled behind the writer, and found through by who may read.
//!
//! An entry at each message would cost the writer more than the message does. So the log is indexed some hundred rows at a
//! time when the writer has nothing else to do, or has left too many behind. The index keeps no text: a hit is a position, and
//! what is shown is the log's row as it is now.

use std::time::{Duration, Instant};

use chat::{Act, ConversationId, FoundPage, MemberState, Refusal, Search, SiteId, UserId, is_left_out};
use rusqlite::{Connection, params};

use crate::contact;
use crate::conversation::side_of;
use crate::dialect;
use crate::fault::Outcome;
use crate::message::Lines;
use crate::meta;
use crate::room;
use crate::writer::Batch;

/// How far the index has come; the writer's.
#[derive(Default)]
pub(crate) struct Indexed {
    /// Every message up to this position is in it.
    upto: u64,
    /// When the last slice was done, and how long it took.
    last: Option<(Instant, Duration)>,
}

/// Rows that are indexed in one transaction, at most.
const SLICE: u32 = 1_024;
/// How long rows are taken into one transaction where nobody has written for a while, and where others write without a
/// pause: a message may have to wait for that, and for the commit.
pub(crate) const IDLE: Duration = Duration::from_millis(10);
pub(crate) const BUSY: Duration = Duration::from_millis(2);
/// So long nobody has written when a slice is done.
const QUIET: Duration = Duration::from_millis(20);
/// Where fewer are left behind, they are not indexed more often than [`SELDOM`]: each slice is a flush of the disk.
const MANY: u64 = 256;
const SELDOM: Duration = Duration::from_secs(1);
/// Positions left behind from which on a slice is also done where nobody pauses, but not more often than takes this
/// share of the writer's time.
const FAR: u64 = 1_024;
const SHARE: u32 = 20;
/// Pages of the index that are written anew in one transaction after an erasure.
const REWRITTEN_PAGES: i64 = 256;
/// Rooms of one user that a search without a conversation looks into.
const ROOMS: usize = 100;

// ---- writes ----

impl Indexed {
    pub(crate) fn load(&mut self, db: &Connection) -> Outcome<()> {
        self.upto = meta::search_indexed(db)?;
        Ok(())
    }

    /// How long nobody may write before the next slice is done. None: there is nothing to do.
    pub(crate) fn pause(&self, committed: u64, now: Instant) -> Option<Duration> {
        match committed.saturating_sub(self.upto) {
            0 => None,
            behind if behind >= MANY => Some(QUIET),
            _ => Some(QUIET.max(self.last.map_or(QUIET, |(when, _)| SELDOM.saturating_sub(now - when)))),
        }
    }

    /// Is it time for a slice although others write without a pause?
    pub(crate) fn is_due(&self, committed: u64, now: Instant) -> bool {
        committed.saturating_sub(self.upto) >= FAR
            && self.last.is_none_or(|(when, took)| now - when >= took * SHARE)
    }

    /// A slice was done, or tried.
    pub(crate) fn took(&mut self, took: Duration, now: Instant) {
        self.last = Some((now, took));
    }

    /// Indexes for about so long what comes next; call in a transaction. Where only other changes were committed since,
    /// nothing is written.
    pub(crate) fn move_on(&mut self, db: &Connection, committed: u64, time: Duration) -> Outcome<()> {
        let begin = Instant::now();
        let sql = sql!(
            "SELECT position, site, conversation, body FROM message WHERE position > $1 ORDER BY position LIMIT $2"
        );
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query(params![self.upto as i64, SLICE])?;
        let (mut count, mut last) = (0, self.upto);
        let mut is_all = true;
        while let Some(row) = rows.next()? {
            if count > 0 && begin.elapsed() > time {
                is_all = false;
                break;
            }
            let id = ConversationId { site: SiteId(row.get(1)?), key: row.get::<_, i64>(2)? as u64 };
            let body = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
            last = row.get::<_, i64>(0)? as u64;
            put(db, last, id, body)?;
            count += 1;
        }
        if count > 0 {
            meta::set_search_indexed(db, last)?;
        }
        self.upto = if is_all && count < SLICE { committed } else { last };
        Ok(())
    }
}

/// The body of a message is another one now.
pub(crate) fn changed(batch: &Batch<'_>, at: u64, id: ConversationId, body: &str) -> Outcome<()> {
    if at > batch.state.indexed.upto {
        return Ok(());
    }
    batch.db.prepare_cached(dialect::FORGET_WORDS)?.execute([at as i64])?;
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
    db.prepare_cached(dialect::PUT_WORDS)?.execute(params![at as i64, body, who])?;
    Ok(())
}

/// Writes some pages of the index anew, without the words of deleted messages, which otherwise stay until their pages are merged
/// at some later time. Answers whether all of it is done.
pub(crate) fn rewrite(db: &Connection, is_begin: bool) -> Outcome<bool> {
    let pages = if is_begin { -REWRITTEN_PAGES } else { REWRITTEN_PAGES };
    Ok(dialect::merge_words(db, pages)?)
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
    let values = params![expression(wanted, &scope), before.unwrap_or(i64::MAX), i64::from(wanted.limit) + 1];
    let mut statement = db.prepare_cached(dialect::FIND_WORDS)?;
    let mut found: Vec<u64> =
        statement.query_map(values, |row| Ok(row.get::<_, i64>(0)? as u64))?.collect::<Result<_, _>>()?;
    let more = found.len() > wanted.limit as usize;
    found.truncate(wanted.limit as usize);
    let next = found.last().filter(|_| more).map(|position| format!("{position:x}"));
    let mut lines = Lines::new(db, wanted.user)?;
    let mut hits = Vec::with_capacity(found.len());
    for position in found {
        let Some(message) = lines.at(position)?.map(|line| line.message) else { continue };
        let is_left_out = message.conversation.is_room()
            && is_left_out(message.conversation, contact::has_blocked(db, wanted.user, message.from)?);
        // The index is built of the log; that a site's messages stay in it is held here once more.
        if message.conversation.site == wanted.user.site && !message.deleted && !is_left_out {
            hits.push(message);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_waits_for_quiet_and_a_small_one_for_longer() {
        let begin = Instant::now();
        let mut indexed = Indexed { upto: 10, last: None };
        assert_eq!(indexed.pause(10, begin), None);
        assert_eq!(indexed.pause(11, begin), Some(QUIET));
        indexed.took(Duration::from_millis(5), begin);
        let later = |ms| begin + Duration::from_millis(ms);
        assert_eq!(indexed.pause(11, later(100)), Some(Duration::from_millis(900)));
        assert_eq!(indexed.pause(11, later(5_000)), Some(QUIET));
        assert_eq!(indexed.pause(10 + MANY, later(1)), Some(QUIET));
    }

    #[test]
    fn in_a_flood_it_takes_its_share_and_no_more() {
        let begin = Instant::now();
        let mut indexed = Indexed::default();
        assert!(!indexed.is_due(FAR - 1, begin) && indexed.is_due(FAR, begin));
        indexed.took(Duration::from_millis(5), begin);
        let after = |ms| indexed.is_due(u64::MAX, begin + Duration::from_millis(ms));
        assert_eq!([after(0), after(99), after(100)], [false, false, true]);
    }

    #[test]
    fn nothing_of_a_query_is_an_operator() {
        let wanted = Search {
            user: UserId { site: SiteId(1), num: 2 },
            words: chat::words("NOT who:u1x1 mot"),
            conversation: None,
            after: None,
            limit: 1,
        };
        let expected = r#"{who} : (u1x2) AND {body} : ("NOT" AND "who" AND "u1x1" AND "mot" *)"#;
        assert_eq!(expression(&wanted, "u1x2"), expected);
    }
}
