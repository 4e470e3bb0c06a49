//! What follows: rooms, the conversations of others, messages.

use chat::{
    ChangedMessage, ConversationId, ConversationRow, EraseSlice, LeftReason, Role, SiteId, Timestamp, UserId,
};
use rusqlite::{Connection, OptionalExtension, params};

use crate::conversation::{self, side_of};
use crate::fault::Outcome;
use crate::message::Lines;
use crate::meta::{self, Purge};
use crate::room::{self, MemberState, member};
use crate::writer::Batch;
use crate::{message_change, moderation, search};

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    ErasedWithMessages,
    Erased,
    /// They go by another id, and stay.
    Renamed,
}

/// A row of `erasure`.
struct Left {
    user: UserId,
    what: What,
    /// Direct conversations up to this key are done.
    conversation: i64,
}

pub(super) fn some(batch: &mut Batch<'_>, now: Timestamp, limit: u32) -> Outcome<EraseSlice> {
    let mut slice = EraseSlice { position: batch.position(), ..EraseSlice::default() };
    let Some(left) = next(batch.db)? else {
        slice.more = purge(batch)?;
        return Ok(slice);
    };
    slice.more = true;
    let stays = left.what == What::Renamed;
    let mut is_done = stays || !leave_rooms(batch, left.user, limit)?;
    if is_done {
        slice.conversations = renew_conversations(batch, &left, limit)?;
        is_done = slice.conversations.is_empty();
    }
    if is_done && left.what == What::ErasedWithMessages {
        let places = written(batch.db, left.user, limit)?;
        for position in &places {
            slice.changed.extend(erase_message(batch, left.user, *position, now)?);
        }
        is_done = places.is_empty();
    }
    if is_done {
        finish(batch.db, &left, now)?;
        slice.more = next(batch.db)?.is_some() || meta::purge(batch.db)? != Purge::Nothing;
    }
    slice.position = batch.position();
    Ok(slice)
}

fn next(db: &Connection) -> Outcome<Option<Left>> {
    let sql = "SELECT site, user, messages, conversation FROM erasure LIMIT 1";
    let found = db.prepare_cached(sql)?.query_row([], |row| {
        let user = UserId { site: SiteId(row.get(0)?), num: row.get(1)? };
        let what = match row.get::<_, i64>(2)? {
            0 => What::Erased,
            1 => What::ErasedWithMessages,
            _ => What::Renamed,
        };
        Ok(Left { user, what, conversation: row.get(3)? })
    });
    Ok(found.optional()?)
}

/// Where they were the only owner, somebody else keeps order from now on. False: they are in none.
fn leave_rooms(batch: &mut Batch<'_>, user: UserId, limit: u32) -> Outcome<bool> {
    let sql = "SELECT room FROM membership WHERE site = ?1 AND user = ?2 AND state < 8 LIMIT ?3";
    let mut statement = batch.db.prepare_cached(sql)?;
    let rooms = statement.query_map([user.site.0, user.num, limit], |row| row.get::<_, i64>(0))?;
    let rooms: Vec<i64> = rooms.collect::<Result<_, _>>()?;
    for key in &rooms {
        let id = ConversationId { site: user.site, key: *key as u64 };
        let Some(room) = room::load(batch.db, id)? else { continue };
        let mine = room::membership(batch.db, id, user)?;
        if member::is_only_owner(batch.db, &room, mine.as_ref())?
            && let Some(heir) = heir(batch.db, id, user)?
        {
            let before = room::membership(batch.db, id, heir)?;
            member::put(batch, &room, heir, before, MemberState::In(Role::Owner))?;
        }
        member::put(batch, &room, user, mine, MemberState::Out(LeftReason::Left))?;
    }
    Ok(!rooms.is_empty())
}

/// A moderator, else a member, by name.
fn heir(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<UserId>> {
    let sql = "SELECT user FROM membership INDEXED BY membership_room \
               WHERE site = ?1 AND room = ?2 AND state < 8 AND user <> ?3 ORDER BY state, folded, sub LIMIT 1";
    let values = params![id.site.0, id.key as i64, user.num];
    let found = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(found.map(|num| UserId { site: id.site, num }))
}

/// Each is another one for the other member: with nobody.
fn renew_conversations(
    batch: &mut Batch<'_>,
    left: &Left,
    limit: u32,
) -> Outcome<Vec<(UserId, ConversationRow)>> {
    let user = left.user;
    let keys = conversation_keys(batch.db, left, limit)?;
    let mut renewed = Vec::with_capacity(keys.len());
    for key in &keys {
        let id = ConversationId { site: user.site, key: *key as u64 };
        let (Some(other), Some(me)) = (id.other(user), side_of(id, user)) else { continue };
        if batch.conversation(id)?.is_none() {
            continue;
        }
        let number = batch.next_number();
        batch.change(id, |direct| direct.sides[1 - me].changed = number);
        let Some(direct) = batch.conversation(id)?.cloned() else { continue };
        let mut lines = Lines::new(batch.db, other)?;
        let row = conversation::assemble(batch.db, &mut lines, other, id, &direct)?;
        renewed.extend(row.map(|row| (other, row)));
    }
    if let Some(last) = keys.last() {
        let sql = "UPDATE erasure SET conversation = ?3 WHERE site = ?1 AND user = ?2";
        batch.db.prepare_cached(sql)?.execute(params![user.site.0, user.num, last])?;
    }
    Ok(renewed)
}

/// Ascending: those in which the user is the high one come first, because their keys are less.
fn conversation_keys(db: &Connection, left: &Left, limit: u32) -> Outcome<Vec<i64>> {
    let as_high = "SELECT key FROM conversation INDEXED BY conversation_high \
                   WHERE site = ?1 AND (key & 4294967295) = ?2 AND key > ?3 ORDER BY key LIMIT ?4";
    let as_low = "SELECT key FROM conversation WHERE site = ?1 AND key BETWEEN ?2 << 32 AND (?2 << 32) + 4294967295 \
                  AND key > ?3 ORDER BY key LIMIT ?4";
    let mut keys: Vec<i64> = Vec::new();
    for sql in [as_high, as_low] {
        let room = i64::from(limit) - keys.len() as i64;
        let values = params![left.user.site.0, left.user.num, left.conversation, room];
        let mut statement = db.prepare_cached(sql)?;
        let found = statement.query_map(values, |row| row.get(0))?;
        keys.extend(found.collect::<Result<Vec<i64>, _>>()?);
    }
    Ok(keys)
}

/// Positions of what the user has written: first what the index by sender has, then the newest, which it has not yet.
fn written(db: &Connection, user: UserId, limit: u32) -> Outcome<Vec<i64>> {
    let indexed = "SELECT position FROM sent WHERE site = ?1 AND user = ?2 LIMIT ?3";
    let newest = "SELECT position FROM message WHERE position > ?4 AND site = ?1 AND sender = ?2 AND \
                  (body <> '' OR files > 0 OR EXISTS (SELECT 1 FROM message_revision r WHERE r.site = ?1 \
                  AND r.message = position)) LIMIT ?3";
    let mut statement = db.prepare_cached(indexed)?;
    let found = statement.query_map([user.site.0, user.num, limit], |row| row.get(0))?;
    let found: Vec<i64> = found.collect::<Result<_, _>>()?;
    if !found.is_empty() {
        return Ok(found);
    }
    let values = params![user.site.0, user.num, limit, meta::sent_indexed(db)? as i64];
    let mut statement = db.prepare_cached(newest)?;
    let found = statement.query_map(values, |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Its body and those before it go, and its files.
fn erase_message(
    batch: &mut Batch<'_>,
    user: UserId,
    position: i64,
    now: Timestamp,
) -> Outcome<Option<ChangedMessage>> {
    // A deleted message leaves its files to the messages they were forwarded to; an erased user leaves none to anybody.
    let copies = "DELETE FROM file_copy WHERE site = ?1 AND file IN \
                  (SELECT id FROM file WHERE site = ?1 AND message = ?2 AND owner = ?3)";
    batch.db.prepare_cached(copies)?.execute(params![user.site.0, position, user.num])?;
    let changed = message_change::erase(batch, position as u64, now)?;
    let db = batch.db;
    let site = user.site.0;
    db.prepare_cached("DELETE FROM message_revision WHERE site = ?1 AND message = ?2")?
        .execute(params![site, position])?;
    db.prepare_cached("DELETE FROM sent WHERE site = ?1 AND user = ?2 AND position = ?3")?
        .execute(params![site, user.num, position])?;
    Ok(changed)
}

/// Once all are erased: the index of words is written anew without the erased, and the log is emptied. Answers whether there is
/// more to do.
fn purge(batch: &mut Batch<'_>) -> Outcome<bool> {
    let now = meta::purge(batch.db)?;
    if now == Purge::Nothing {
        return Ok(false);
    }
    let is_done = search::rewrite(batch.db, now == Purge::Begin)?;
    meta::set_purge(batch.db, if is_done { Purge::Nothing } else { Purge::UnderWay })?;
    batch.empties_log |= is_done;
    Ok(!is_done)
}

fn finish(db: &Connection, left: &Left, now: Timestamp) -> Outcome<()> {
    let key = [left.user.site.0, left.user.num];
    if left.what == What::ErasedWithMessages {
        moderation::erased::remove_words(db, left.user, now)?;
    }
    if left.what != What::Renamed {
        meta::set_purge(db, Purge::Begin)?;
        db.prepare_cached("DELETE FROM membership WHERE site = ?1 AND user = ?2")?.execute(key)?;
    }
    db.prepare_cached("DELETE FROM erasure WHERE site = ?1 AND user = ?2")?.execute(key)?;
    Ok(())
}
