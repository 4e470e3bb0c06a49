//! Full-text search: a word index that the writer fills later. Queries find only messages that the reader may read.
//!
//! An index entry with each message would cost the writer more than the message does. So the writer indexes some
//! hundred log rows at a time, when it is idle or too many are not indexed. The index keeps no text: a hit is a
//! position, and the result shows the present row of the log.

use std::iter;
use std::time::{Duration, Instant};

use crate::engine::{Connection, params};
use chat::{Act, ConversationId, FoundPage, MemberState, Refusal, Search, SiteId, UserId, is_left_out};

use crate::contact;
use crate::conversation::side_of;
use crate::dialect;
use crate::fault::Outcome;
use crate::message::Lines;
use crate::meta;
use crate::room;
use crate::writer::Batch;

/// The progress of the index, in the writer.
#[derive(Default)]
pub(crate) struct Indexed {
    /// The index contains every message up to this position.
    upto: u64,
    /// When the last slice was done, and how long it took.
    last: Option<(Instant, Duration)>,
}

/// Most rows that are indexed in one transaction.
const SLICE: u32 = 1_024;
/// How long one transaction indexes rows: if no writes came for a while, and under continuous writes. A message may
/// have to wait this time and the commit.
pub(crate) const IDLE: Duration = Duration::from_millis(10);
pub(crate) const BUSY: Duration = Duration::from_millis(2);
/// The pause of writes before a slice.
const QUIET: Duration = Duration::from_millis(20);
/// Fewer unindexed rows are indexed at most once per [`SELDOM`], because each slice flushes the disk.
const MANY: u64 = 256;
const SELDOM: Duration = Duration::from_secs(1);
/// With more unindexed positions than this, slices also run under continuous writes. They take at most one part in
/// [`SHARE`] of the writer's time.
const FAR: u64 = 1_024;
const SHARE: u32 = 20;
/// Pages of the index that one transaction rewrites after an erasure.
const REWRITTEN_PAGES: i64 = 256;
/// Most rooms of a user that a search without a conversation covers.
const ROOMS: usize = 100;

// ---- writes ----

impl Indexed {
    pub(crate) fn load(&mut self, db: &Connection) -> Outcome<()> {
        self.upto = meta::search_indexed(db)?;
        Ok(())
    }

    /// The pause of writes before the next slice. None: nothing is left to index.
    pub(crate) fn pause(&self, committed: u64, now: Instant) -> Option<Duration> {
        match committed.saturating_sub(self.upto) {
            0 => None,
            behind if behind >= MANY => Some(QUIET),
            _ => Some(QUIET.max(self.last.map_or(QUIET, |(when, _)| SELDOM.saturating_sub(now - when)))),
        }
    }

    /// Whether a slice is due under continuous writes.
    pub(crate) fn is_due(&self, committed: u64, now: Instant) -> bool {
        committed.saturating_sub(self.upto) >= FAR
            && self.last.is_none_or(|(when, took)| now - when >= took * SHARE)
    }

    /// Call after a slice, also one that failed.
    pub(crate) fn record_slice(&mut self, took: Duration, now: Instant) {
        self.last = Some((now, took));
    }

    /// Indexes the next rows for about `time`. Call in a transaction. Writes nothing if the new positions have no
    /// messages.
    pub(crate) fn index_next(&mut self, db: &Connection, committed: u64, time: Duration) -> Outcome<()> {
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
            let body = row.get_ref(3)?.as_str().map_err(crate::engine::Error::from)?;
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

/// Call after a change of a message's body.
pub(crate) fn changed(batch: &Batch<'_>, at: u64, id: ConversationId, body: &str) -> Outcome<()> {
    if at > batch.state.indexed.upto {
        return Ok(());
    }
    batch.db.prepare_cached(dialect::FORGET_WORDS.of(batch.db))?.put([at as i64])?;
    put(batch.db, at, id, body)
}

fn put(db: &Connection, at: u64, id: ConversationId, body: &str) -> Outcome<()> {
    if body.is_empty() {
        return Ok(());
    }
    let members = id.pair().into_iter().flatten();
    let who: Vec<String> = iter::once(name_of_conversation(id)).chain(members.map(name_of_user)).collect();
    Ok(dialect::put_words(db, at as i64, body, &who)?)
}

/// Rewrites some pages of the index without the words of deleted messages, which otherwise stay until a later merge.
/// Returns whether the merge is complete.
pub(crate) fn rewrite(db: &Connection, is_begin: bool) -> Outcome<bool> {
    let pages = if is_begin { -REWRITTEN_PAGES } else { REWRITTEN_PAGES };
    Ok(dialect::merge_words(db, pages)?)
}

/// A word for the readers of a message. It stands in a column of its own, which no body can reach.
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
        Some(id) if may_read(db, id, wanted.user)? => vec![name_of_conversation(id)],
        Some(_) => return Ok(Err(Refusal::NoSuchConversation)),
    };
    let before = wanted.after.as_deref().and_then(|after| i64::from_str_radix(after, 16).ok());
    let words: Vec<(&str, bool)> = wanted.words.iter().map(|word| (&*word.text, word.is_start)).collect();
    let values = params![
        dialect::words_query(db, &words, &scope),
        before.unwrap_or(i64::MAX),
        i64::from(wanted.limit) + 1
    ];
    let mut statement = db.prepare_cached(dialect::FIND_WORDS.of(db))?;
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
        // The index covers all sites, so check the site once more.
        if message.conversation.site == wanted.user.site && !message.deleted && !is_left_out {
            hits.push(message);
        }
    }
    Ok(Ok(FoundPage { hits, next }))
}

/// The user's direct conversations, by the user's word, and rooms, each by its own word.
fn scope_of_user(db: &Connection, user: UserId) -> Outcome<Vec<String>> {
    let mut rooms = Vec::new();
    room::each(db, user, |id, mine| {
        if matches!(mine.state, MemberState::In(_)) && rooms.len() < ROOMS {
            rooms.push(name_of_conversation(id));
        }
        Ok(())
    })?;
    rooms.push(name_of_user(user));
    Ok(rooms)
}

fn may_read(db: &Connection, id: ConversationId, user: UserId) -> Outcome<bool> {
    match id.is_room() {
        true => Ok(room::allowed(db, id, user, Act::Read)?.is_ok()),
        false => Ok(side_of(id, user).is_some()),
    }
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
        indexed.record_slice(Duration::from_millis(5), begin);
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
        indexed.record_slice(Duration::from_millis(5), begin);
        let after = |ms| indexed.is_due(u64::MAX, begin + Duration::from_millis(ms));
        assert_eq!([after(0), after(99), after(100)], [false, false, true]);
    }
}
