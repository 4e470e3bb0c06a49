//! Threads in rooms: a row for each reply, one for the thread, and one for each follower.

use std::collections::HashSet;

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    Act, ConversationId, Done, HistoryPage, InThread, MemberState, Refusal, Replies, Seq, SiteId,
    StoredMessage, ThreadChange, ThreadCount, ThreadRow, ThreadStore, Timestamp, UserId, is_left_out,
};

use crate::contact::Blocked;
use crate::fault::Outcome;
use crate::late::Settled;
use crate::message::{self, Lines, Newest};
use crate::rich::{self, Place};
use crate::room;
use crate::sqlite::Sqlite;

impl ThreadStore for Sqlite {
    fn thread_history(
        &self,
        reader: UserId,
        room: ConversationId,
        root: Seq,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    ) {
        self.read(move |db| history(db, reader, room, root, before, after, limit), done);
    }

    fn change_thread(
        &self,
        reader: UserId,
        room: ConversationId,
        root: Seq,
        change: ThreadChange,
        done: Done<Result<ThreadRow, Refusal>>,
    ) {
        // A request without a change does not wait for the writer.
        match change == ThreadChange::default() {
            true => self.read(move |db| seen(db, reader, room, root), done),
            false => self.write(move |batch| self::change(batch.db, reader, room, root, change), done),
        }
    }

    fn threads(
        &self,
        reader: UserId,
        room: ConversationId,
        limit: u32,
        done: Done<Result<Vec<ThreadRow>, Refusal>>,
    ) {
        self.read(move |db| followed(db, reader, room, limit), done);
    }
}

/// A message that may have a thread.
pub(crate) struct Root {
    seq: Seq,
    position: u64,
    author: UserId,
}

// ---- writes ----

/// Finds the root, as the author of the reply sees it.
pub(crate) fn root(
    db: &Connection,
    id: ConversationId,
    newest: Newest,
    from: UserId,
    seq: Seq,
) -> Outcome<Result<Root, Refusal>> {
    let Some(position) = message::position_of(db, id, newest, seq.0)? else {
        return Ok(Err(Refusal::NoSuchMessage));
    };
    let found = Lines::new(db, from)?.at(position)?.map(|line| line.message);
    let is_reply = |message: &StoredMessage| message.rich.as_ref().is_some_and(|rich| rich.thread.is_some());
    match found.filter(|message| !message.deleted && !is_reply(message)) {
        Some(message) => Ok(Ok(Root { seq, position, author: message.from })),
        None => Ok(Err(Refusal::NoSuchMessage)),
    }
}

/// Puts a message into the thread. Its author, the root's author and mentioned members follow the thread.
pub(crate) fn put(db: &Connection, place: &Place, root: &Root, named: &HashSet<u32>) -> Outcome<InThread> {
    let (site, room) = (place.conversation.site.0, place.conversation.key as i64);
    let (below, time) = (root.seq.0 as i64, place.time.0 as i64);
    let at = place.position as i64;
    let sql = sql!(
        "INSERT INTO thread (site, room, root, replies, last, position) VALUES ($1, $2, $3, 1, $4, $5) \
               ON CONFLICT (site, room, root) DO UPDATE SET replies = thread.replies + 1, last = $4, position = $5 \
               RETURNING replies"
    );
    let values = params![site, room, below, time, at];
    let number: i64 = db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
    if number == 1 {
        rich::add(db, root.position, rich::ROOT)?;
    }
    let sql = sql!(
        "INSERT INTO thread_reply (site, room, root, seq, number, message) VALUES ($1, $2, $3, $4, $5, $6)"
    );
    db.prepare_cached(sql)?.execute(params![site, room, below, place.seq.0 as i64, number, at])?;
    let sql = sql!(
        "INSERT INTO thread_follow (site, user, room, root, read) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING"
    );
    for user in named.iter().filter(|user| **user != room::ALL).chain([&root.author.num]) {
        db.prepare_cached(sql)?.execute(params![site, user, room, below, number - 1])?;
    }
    let sql = sql!(
        "INSERT INTO thread_follow (site, user, room, root, read) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (site, user, room, root) DO UPDATE SET read = $5"
    );
    db.prepare_cached(sql)?.execute(params![site, place.from.num, room, below, number])?;
    Ok(InThread { root: root.seq, number: number as u64 })
}

fn change(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
    root: Seq,
    change: ThreadChange,
) -> Outcome<Result<ThreadRow, Refusal>> {
    let row = match seen(db, reader, id, root)? {
        Ok(row) => row,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let replies = row.root.rich.as_ref().and_then(|rich| rich.replies).map_or(0, |replies| replies.count);
    let (site, room, below) = (id.site.0, id.key as i64, root.0 as i64);
    match change.follow {
        Some(true) => {
            let mine = room::membership(db, id, reader)?;
            if !mine.is_some_and(|mine| matches!(mine.state, MemberState::In(_))) {
                return Ok(Err(Refusal::NotAMember));
            }
            let is_reply = row.root.rich.as_ref().is_some_and(|rich| rich.thread.is_some());
            if row.root.deleted || is_reply {
                return Ok(Err(Refusal::NoSuchMessage));
            }
            let sql = sql!(
                "INSERT INTO thread_follow (site, user, room, root, read) VALUES ($1, $2, $3, $4, $5) \
                       ON CONFLICT DO NOTHING"
            );
            db.prepare_cached(sql)?.execute(params![site, reader.num, room, below, replies as i64])?;
        }
        Some(false) => {
            let sql =
                sql!("DELETE FROM thread_follow WHERE site = $1 AND user = $2 AND room = $3 AND root = $4");
            db.prepare_cached(sql)?.execute(params![site, reader.num, room, below])?;
        }
        None => {}
    }
    if let Some(read) = change.read {
        let sql = sql!(
            "UPDATE thread_follow SET read = CASE WHEN read > $5 THEN read ELSE $5 END \
                   WHERE site = $1 AND user = $2 AND room = $3 AND root = $4"
        );
        let read = read.min(replies) as i64;
        db.prepare_cached(sql)?.execute(params![site, reader.num, room, below, read])?;
    }
    let read = follows(db, reader, id, root)?;
    let blocked = blocked_replies(db, id, root, read, &mut Blocked::by(reader))?;
    Ok(Ok(ThreadRow { read, blocked, ..row }))
}

// ---- reads ----

fn seen(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
    root: Seq,
) -> Outcome<Result<ThreadRow, Refusal>> {
    if !id.is_room() {
        return Ok(Err(Refusal::NoSuchConversation));
    }
    // Rows of rooms are never late.
    let message = match message::one(&Settled::trust(db), reader, id, root)? {
        Ok(message) => message,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let read = follows(db, reader, id, root)?;
    Ok(Ok(ThreadRow {
        read,
        blocked: blocked_replies(db, id, root, read, &mut Blocked::by(reader))?,
        root: message,
    }))
}

fn follows(db: &Connection, reader: UserId, id: ConversationId, root: Seq) -> Outcome<Option<u64>> {
    let sql =
        sql!("SELECT read FROM thread_follow WHERE site = $1 AND user = $2 AND room = $3 AND root = $4");
    let values = params![id.site.0, reader.num, id.key as i64, root.0 as i64];
    let read = db.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0)).optional()?;
    Ok(read.map(|read| read as u64))
}

/// Counts replies after `read` by authors whom the reader has blocked.
fn blocked_replies(
    db: &Connection,
    id: ConversationId,
    root: Seq,
    read: Option<u64>,
    blocked: &mut Blocked,
) -> Outcome<u64> {
    let Some(read) = read.filter(|_| id.is_room()) else { return Ok(0) };
    if blocked.others(db)?.is_empty() {
        return Ok(0);
    }
    let looked_at = blocked.take(u64::MAX);
    let sql = sql!(
        "SELECT (SELECT sender FROM message WHERE position = r.message) FROM thread_reply r \
               WHERE site = $1 AND room = $2 AND root = $3 AND number > $4 ORDER BY seq DESC LIMIT $5"
    );
    let mut statement = db.prepare_cached(sql)?;
    let values = params![id.site.0, id.key as i64, root.0 as i64, read as i64, looked_at];
    let senders = statement.query_map(values, |row| row.get::<_, Option<u32>>(0))?;
    let senders = senders.collect::<Result<Vec<_>, _>>()?;
    blocked.give_back(looked_at - senders.len() as u32);
    let blocked = blocked.others(db)?;
    Ok(senders.into_iter().flatten().filter(|sender| is_left_out(id, blocked.contains(sender))).count()
        as u64)
}

fn followed(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
    limit: u32,
) -> Outcome<Result<Vec<ThreadRow>, Refusal>> {
    let room = match room::allowed(db, id, reader, Act::Read)? {
        Ok((room, _)) => room,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let sql = sql!(
        "SELECT f.root, f.read FROM thread_follow f \
               JOIN thread t ON t.site = f.site AND t.room = f.room AND t.root = f.root \
               WHERE f.site = $1 AND f.user = $2 AND f.room = $3 ORDER BY t.last DESC, f.root DESC LIMIT $4"
    );
    let mut statement = db.prepare_cached(sql)?;
    let values = params![id.site.0, reader.num, id.key as i64, limit];
    let roots: Vec<(i64, i64)> =
        statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut lines = Lines::new(db, reader)?;
    let mut rows = Vec::with_capacity(roots.len());
    for (root, read) in roots {
        let Some(position) = message::position_of(db, id, room.newest, root as u64)? else { continue };
        let Some(line) = lines.at(position)? else { continue };
        let read = Some(read as u64);
        let blocked = blocked_replies(db, id, Seq(root as u64), read, &mut lines.blocked)?;
        rows.push(ThreadRow { root: line.message, read, blocked });
    }
    Ok(Ok(rows))
}

fn history(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
    root: Seq,
    before: Option<Seq>,
    after: Option<Seq>,
    limit: u32,
) -> Outcome<Result<HistoryPage, Refusal>> {
    if let Err(refusal) = seen(db, reader, id, root)? {
        return Ok(Err(refusal));
    }
    let oldest_first = sql!(
        "SELECT message FROM thread_reply WHERE site = $1 AND room = $2 AND root = $3 AND seq < $4 AND seq > $5 \
         ORDER BY seq LIMIT $6"
    );
    let newest_first = sql!(
        "SELECT message FROM thread_reply WHERE site = $1 AND room = $2 AND root = $3 AND seq < $4 AND seq > $5 \
         ORDER BY seq DESC LIMIT $6"
    );
    let mut statement = db.prepare_cached(if after.is_some() { oldest_first } else { newest_first })?;
    let values = params![
        id.site.0,
        id.key as i64,
        root.0 as i64,
        before.map_or(i64::MAX, |seq| seq.0 as i64),
        after.map_or(0, |seq| seq.0 as i64),
        i64::from(limit) + 1,
    ];
    let mut positions: Vec<i64> = statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?;
    let more = positions.len() > limit as usize;
    positions.truncate(limit as usize);
    if after.is_none() {
        positions.reverse();
    }
    let mut lines = Lines::new(db, reader)?;
    let mut messages = Vec::with_capacity(positions.len());
    for position in positions {
        messages.extend(lines.at(position as u64)?.map(|line| line.message));
    }
    Ok(Ok(HistoryPage { messages, more }))
}

/// The place of a message in its thread.
pub(crate) fn place(db: &Connection, site: SiteId, position: u64) -> Outcome<Option<InThread>> {
    let sql = sql!(concat!(
        "SELECT root, number FROM thread_reply",
        indexed_by!("thread_reply_message"),
        " WHERE site = $1 AND message = $2"
    ));
    let found = db.prepare_cached(sql)?.query_row(params![site.0, position as i64], |row| {
        Ok(InThread { root: Seq(row.get::<_, i64>(0)? as u64), number: row.get::<_, i64>(1)? as u64 })
    });
    Ok(found.optional()?)
}

/// The thread below a message.
pub(crate) fn replies(db: &Connection, id: ConversationId, root: Seq) -> Outcome<Option<Replies>> {
    let sql = sql!("SELECT replies, last FROM thread WHERE site = $1 AND room = $2 AND root = $3");
    let values = params![id.site.0, id.key as i64, root.0 as i64];
    let found = db.prepare_cached(sql)?.query_row(values, |row| {
        Ok(Replies { count: row.get::<_, i64>(0)? as u64, last: Timestamp(row.get::<_, i64>(1)? as u64) })
    });
    Ok(found.optional()?)
}

/// Threads of a room with replies after `since`.
pub(crate) fn replied_since(
    db: &Connection,
    id: ConversationId,
    since: u64,
    limit: usize,
) -> Outcome<Vec<ThreadCount>> {
    if !id.is_room() {
        return Ok(Vec::new());
    }
    let sql = sql!(concat!(
        "SELECT root, replies, last FROM thread",
        indexed_by!("thread_position"),
        " WHERE site = $1 AND room = $2 AND position > $3 ORDER BY position LIMIT $4"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let values = params![id.site.0, id.key as i64, since as i64, limit as i64];
    let threads = statement.query_map(values, |row| {
        let replies =
            Replies { count: row.get::<_, i64>(1)? as u64, last: Timestamp(row.get::<_, i64>(2)? as u64) };
        Ok(ThreadCount { conversation: id, root: Seq(row.get::<_, i64>(0)? as u64), replies })
    })?;
    Ok(threads.collect::<Result<_, _>>()?)
}
