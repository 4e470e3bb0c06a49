//! Messages: one log in the order of commits. Each message has a link to the previous one of its conversation.
//!
//! If messages were clustered by conversation, each message of a batch would write a page of its own; in this log a
//! page takes some twenty. The price: a page of history is read along the links, one search by integer each (about 1
//! µs). Reading starts at the newest message or at a milestone near the wanted seq.

mod store;

use crate::engine::{Connection, OptionalExtension, Statement, params};
use chat::{
    Act, Append, Appended, ConversationId, HistoryPage, MessageKind, Position, Refusal, Seq, SiteId,
    StoredMessage, Timestamp, UserId, directory::mentions,
};

use crate::archive::{self, Place};
use crate::contact::{self, Blocked};
use crate::conversation::{self, Direct, Side, side_of};
use crate::fault::{Fault, Outcome};
use crate::file;
use crate::forward;
use crate::late::Settled;
use crate::message_change;
use crate::retention;
use crate::rich;
use crate::room;
use crate::sent;
use crate::user::{self, Subs};
use crate::writer::Batch;

/// Every message whose seq is a multiple of this is a milestone, which can be found by its seq.
pub(crate) const MILESTONE: u64 = 32;

/// The newest message of a conversation; 0 and 0 if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Newest {
    pub(crate) seq: u64,
    pub(crate) position: u64,
}

/// A message, and the position of the previous one.
pub(crate) struct Line {
    pub(crate) message: StoredMessage,
    pub(crate) previous: u64,
}

// ---- writes ----

pub(crate) fn append(batch: &mut Batch<'_>, append: &Append) -> Outcome<Appended> {
    let id = append.conversation;
    let me = side_of(id, append.from).ok_or(Fault::Invalid("the sender is no member"))?;
    if let Some(repeated) = sent_before(batch, append.from, &append.client_id)? {
        return Ok(repeated);
    }
    let mut blocks = None;
    let (seq, previous) = match batch.conversation(id)? {
        Some(direct) => (direct.seq + 1, direct.position),
        None => {
            let other = id.other(append.from).expect("a member of a pair has another");
            if !batch.is_user(append.from)? || !batch.is_user(other)? {
                return Err(Fault::Invalid("a member does not exist"));
            }
            blocks = Some(batch.relation(id, append.from, other)?).filter(|known| known.is_blocked());
            (1, 0)
        }
    };
    let mention = mentions_other(batch.db, id, append.from, &append.body)?;
    let number = batch.next_logged();
    insert(batch.db, append, number, seq, previous, mention)?;
    batch.state.sent.note(append.from, &append.client_id, number);
    let logged = Logged { conversation: id, number, seq, by: me, mention, time: append.time };
    batch.append(id, |direct| {
        note(direct, &logged);
        if let Some(relation) = blocks {
            contact::note_blocks(direct, id, append.from, relation);
        }
    });
    Ok(Appended {
        conversation: id,
        seq: Seq(seq),
        time: append.time,
        position: batch.position(),
        repeated: false,
    })
}

/// The columns of a logged message from which [`note`] makes the row of its direct conversation.
pub(crate) struct Logged {
    pub(crate) conversation: ConversationId,
    pub(crate) number: u64,
    seq: u64,
    /// The sender: an index of the conversation's sides.
    by: usize,
    mention: bool,
    time: Timestamp,
}

/// Brings the row of a conversation up to a message.
pub(crate) fn note(direct: &mut Direct, logged: &Logged) {
    let Logged { number, seq, by, mention, time, .. } = *logged;
    (direct.seq, direct.position, direct.active) = (seq, number, time);
    for side in &mut direct.sides {
        side.archived = false;
        side.changed = number;
    }
    let mine = direct.sides[by];
    direct.sides[by] = Side { received: seq, read: seq, mentions: 0, ..mine };
    direct.sides[1 - by].mentions += u64::from(mention);
}

/// The messages of direct conversations after a position, in their order.
pub(crate) fn after(db: &Connection, position: u64) -> Outcome<Vec<Logged>> {
    let sql = sql!(
        "SELECT position, site, conversation, seq, sender, mention, time FROM message WHERE position > $1 ORDER BY position"
    );
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([position as i64])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let site = SiteId(row.get(1)?);
        let conversation = ConversationId { site, key: row.get::<_, i64>(2)? as u64 };
        let Some(by) = side_of(conversation, UserId { site, num: row.get(4)? }) else { continue };
        found.push(Logged {
            conversation,
            number: row.get::<_, i64>(0)? as u64,
            seq: row.get::<_, i64>(3)? as u64,
            by,
            mention: row.get(5)?,
            time: Timestamp(row.get::<_, i64>(6)? as u64),
        });
    }
    Ok(found)
}

/// The first answer to this (sender, client id).
pub(crate) fn sent_before(batch: &mut Batch<'_>, from: UserId, client_id: &str) -> Outcome<Option<Appended>> {
    let found = batch.state.sent.find(batch.db, from, client_id)?;
    let Some(number) = found else { return Ok(None) };
    let position = Position { number, ..batch.position() };
    let sql = sql!("SELECT site, conversation, seq, time FROM message WHERE position = $1");
    let mut statement = batch.db.prepare_cached(sql)?;
    let answer = statement.query_row([number as i64], |row| {
        let site = SiteId(row.get(0)?);
        Ok(Appended {
            conversation: ConversationId { site, key: row.get::<_, i64>(1)? as u64 },
            seq: Seq(row.get::<_, i64>(2)? as u64),
            time: Timestamp(row.get::<_, i64>(3)? as u64),
            position,
            repeated: true,
        })
    });
    Ok(answer.optional()?)
}

/// The size of a message in the writer's queue.
pub(crate) fn bytes(body: &str, extension: Option<&str>) -> usize {
    body.len() + extension.map_or(0, str::len)
}

/// Whether a body by one member mentions the other member.
pub(crate) fn mentions_other(db: &Connection, id: ConversationId, from: UserId, body: &str) -> Outcome<bool> {
    let Some(other) = id.other(from).filter(|_| body.contains('@')) else { return Ok(false) };
    Ok(user::sub_of(db, other)?.is_some_and(|sub| mentions(body, sub.as_str())))
}

pub(crate) fn insert(
    db: &Connection,
    append: &Append,
    number: u64,
    seq: u64,
    previous: u64,
    mention: bool,
) -> Outcome<()> {
    let id = append.conversation;
    let reply_to = append.reply_to.filter(|to| (1..seq).contains(&to.0)).map(|to| to.0 as i64);
    let sql = sql!(
        "INSERT INTO message (position, site, conversation, seq, previous, sender, mention, time, reply_to, \
               client_id, body, kind, extension) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"
    );
    db.prepare_cached(sql)?.put(params![
        number as i64,
        id.site.0,
        id.key as i64,
        seq as i64,
        previous as i64,
        append.from.num,
        mention,
        append.time.0 as i64,
        reply_to,
        &*append.client_id,
        &*append.body,
        kind_code(append.kind),
        append.extension.as_deref(),
    ])?;
    if seq.is_multiple_of(MILESTONE) {
        let sql = sql!("INSERT INTO milestone (site, conversation, seq, position) VALUES ($1, $2, $3, $4)");
        db.prepare_cached(sql)?.put([id.site.0 as i64, id.key as i64, seq as i64, number as i64])?;
    }
    Ok(())
}

const fn kind_code(kind: MessageKind) -> i64 {
    match kind {
        MessageKind::Text => 0,
        MessageKind::Call => 1,
    }
}

/// A message of an unknown kind, from a newer program, is shown by its body.
fn kind(code: i64) -> MessageKind {
    match code {
        1 => MessageKind::Call,
        _ => MessageKind::Text,
    }
}

// ---- reads ----

/// Reads the pages to which a message from one user to the other would be written. A user who asks for a relation after
/// a pause is about to write. If the pages are only on disk, readers load them in parallel, and the single writer does
/// not wait for each.
pub(crate) fn load_pages(db: &Connection, from: UserId, to: UserId) -> Outcome<()> {
    if let Some(id) = ConversationId::direct(from, to) {
        conversation::visit(db, id)?;
        sent::greatest_indexed(db, from)?;
    }
    Ok(())
}

/// Counts messages that mention this member and are newer than `read`, from the newest at `tail` back.
pub(crate) fn mentions_after(db: &Connection, tail: u64, read: u64, user: UserId) -> Outcome<u64> {
    let sql = sql!("SELECT seq, previous, mention <> 0 AND sender <> $2 FROM message WHERE position = $1");
    let mut statement = db.prepare_cached(sql)?;
    let (mut position, mut count) = (tail as i64, 0);
    loop {
        let hop =
            |row: &crate::engine::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get(1)?, row.get::<_, bool>(2)?));
        let found = statement.query_row(params![position, user.num], hop).optional()?;
        let Some((_, previous, mention)) = found.filter(|(seq, ..)| *seq as u64 > read) else {
            return Ok(count);
        };
        count += u64::from(mention);
        position = previous;
    }
}

pub(crate) fn history(
    db: &Settled<'_>,
    reader: UserId,
    id: ConversationId,
    before: Option<Seq>,
    after: Option<Seq>,
    limit: u32,
) -> Outcome<HistoryPage> {
    let Some(direct) = conversation::load(db, id)? else {
        return Ok(HistoryPage { messages: Vec::new(), more: false });
    };
    page(db, reader, id, direct.newest(), before, after, limit)
}

pub(crate) fn page(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
    newest: Newest,
    before: Option<Seq>,
    after: Option<Seq>,
    limit: u32,
) -> Outcome<HistoryPage> {
    let last = before.map_or(newest.seq, |before| before.0.saturating_sub(1).min(newest.seq));
    let first = after.map_or(1, |after| after.0.saturating_add(1));
    let available = (last + 1).saturating_sub(first);
    let taken = available.min(u64::from(limit));
    let (first, last) = match after {
        Some(_) => (first, first.saturating_add(taken).saturating_sub(1)),
        None => (last + 1 - taken, last),
    };
    if taken == 0 {
        return Ok(HistoryPage { messages: Vec::new(), more: false });
    }
    let (messages, before_it) = range(db, reader, id, newest, first, last)?;
    let is_whole = messages.len() as u64 == taken;
    if after.is_some() && !is_whole {
        // The requested messages are not kept any more: continue at the present beginning of the conversation.
        return match retention::oldest(db, id, newest.position)?.filter(|oldest| oldest.0 > first) {
            Some(oldest) => page(db, reader, id, newest, None, Some(Seq(oldest.0 - 1)), limit),
            None => Ok(HistoryPage { messages, more: false }),
        };
    }
    let is_there = match after {
        Some(_) => true,
        None => db
            .prepare_cached(sql!("SELECT 1 FROM message WHERE position = $1"))?
            .exists([before_it as i64])?,
    };
    Ok(HistoryPage { messages, more: taken < available && is_whole && is_there })
}

/// The messages from seq `first` to `last` that still exist, and the position of the one before them.
fn range(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
    newest: Newest,
    first: u64,
    last: u64,
) -> Outcome<(Vec<StoredMessage>, u64)> {
    let Some(mut position) = position_of(db, id, newest, last)? else { return Ok((Vec::new(), 0)) };
    let mut lines = Lines::new(db, reader)?;
    let (mut seq, mut messages) = (last, Vec::new());
    while seq >= first
        && let Some(line) = lines.at(position)?
    {
        messages.push(line.message);
        position = line.previous;
        seq -= 1;
    }
    messages.reverse();
    Ok((messages, position))
}

/// One message, for a user who may read the conversation.
pub(crate) fn one(
    db: &Settled<'_>,
    reader: UserId,
    id: ConversationId,
    seq: Seq,
) -> Outcome<Result<StoredMessage, Refusal>> {
    let newest = match newest_for(db, reader, id)? {
        Ok(Some(newest)) => newest,
        Ok(None) => return Ok(Err(Refusal::NoSuchMessage)),
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(position) = position_of(db, id, newest, seq.0)? else { return Ok(Err(Refusal::NoSuchMessage)) };
    let line = Lines::new(db, reader)?.at(position)?;
    Ok(line.map(|line| line.message).ok_or(Refusal::NoSuchMessage))
}

/// The newest message, for a user who may read the conversation. None if the direct conversation does not exist.
pub(crate) fn newest_for(
    db: &Settled<'_>,
    reader: UserId,
    id: ConversationId,
) -> Outcome<Result<Option<Newest>, Refusal>> {
    if id.is_room() {
        return Ok(room::allowed(db, id, reader, Act::Read)?.map(|(room, _)| Some(room.newest)));
    }
    if side_of(id, reader).is_none() {
        return Ok(Err(Refusal::NoSuchConversation));
    }
    Ok(Ok(conversation::load(db, id)?.map(|direct| direct.newest())))
}

/// The page that begins with the first message of `time` or later.
pub(crate) fn history_since(
    db: &Settled<'_>,
    reader: UserId,
    id: ConversationId,
    time: Timestamp,
    limit: u32,
) -> Outcome<Result<HistoryPage, Refusal>> {
    let newest = match newest_for(db, reader, id)? {
        Ok(Some(newest)) => newest,
        Ok(None) => return Ok(Ok(HistoryPage { messages: Vec::new(), more: false })),
        Err(refusal) => return Ok(Err(refusal)),
    };
    let first = first_since(db, id, newest, time)?;
    page(db, reader, id, newest, None, Some(Seq(first - 1)), limit).map(Ok)
}

/// The smallest seq of a message of `time` or later; one beyond the newest if there is none.
fn first_since(db: &Connection, id: ConversationId, newest: Newest, time: Timestamp) -> Outcome<u64> {
    first_that(db, id, newest, |place| place.time >= time.0)
}

/// The smallest seq whose message satisfies `is_wanted`; one beyond the newest if there is none. All later messages must
/// satisfy it, too. Messages that are not kept any more do not count.
///
/// A binary search over milestones and then a walk between two of them: the cost grows with the logarithm of the
/// conversation's length.
pub(crate) fn first_that(
    db: &Connection,
    id: ConversationId,
    newest: Newest,
    is_wanted: impl Fn(Place) -> bool,
) -> Outcome<u64> {
    let mut hop = db.prepare_cached(sql!("SELECT previous, time FROM message WHERE position = $1"))?;
    let mut read = |position: u64| {
        let read = hop.query_row([position as i64], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)));
        let read = read.optional()?;
        Outcome::Ok(read.map(|(previous, time)| (previous as u64, Place { position, time: time as u64 })))
    };
    if !read(newest.position)?.is_some_and(|(_, place)| is_wanted(place)) {
        return Ok(newest.seq + 1);
    }
    // Milestones before `low` are not wanted or not kept; those from `high` on are wanted.
    let (mut low, mut high) = (1, newest.seq / MILESTONE + 1);
    let mut entrance = (newest.seq, newest.position);
    while low < high {
        let middle = low + (high - low) / 2;
        match archive::milestone(db, id, middle * MILESTONE)?.filter(|place| is_wanted(*place)) {
            Some(place) => {
                high = middle;
                entrance = (middle * MILESTONE, place.position);
            }
            None => low = middle + 1,
        }
    }
    let (mut seq, mut position) = entrance;
    while seq > (low - 1) * MILESTONE
        && let Some((previous, place)) = read(position)?
        && is_wanted(place)
    {
        seq -= 1;
        position = previous;
    }
    Ok(seq + 1)
}

/// The positions of the messages from seq `first` to `last` that still exist, the newest first.
pub(crate) fn positions(
    db: &Connection,
    id: ConversationId,
    newest: Newest,
    first: u64,
    last: u64,
) -> Outcome<Vec<u64>> {
    let mut hop = db.prepare_cached(sql!("SELECT previous FROM message WHERE position = $1"))?;
    let mut positions = Vec::new();
    let mut at = position_of(db, id, newest, last)?;
    for _ in first..=last {
        let Some(position) = at else { break };
        let previous = hop.query_row([position as i64], |row| row.get::<_, i64>(0)).optional()?;
        let Some(previous) = previous else { break };
        positions.push(position);
        at = Some(previous as u64);
    }
    Ok(positions)
}

/// None if no message has this seq.
pub(crate) fn position_of(
    db: &Connection,
    id: ConversationId,
    newest: Newest,
    seq: u64,
) -> Outcome<Option<u64>> {
    if !(1..=newest.seq).contains(&seq) {
        return Ok(None);
    }
    let Some((mut at, mut position)) = entrance(db, id, newest, seq)? else { return Ok(None) };
    let mut hop = db.prepare_cached(sql!("SELECT previous FROM message WHERE position = $1"))?;
    while at > seq {
        let previous = hop.query_row([position as i64], |row| row.get::<_, i64>(0)).optional()?;
        let Some(previous) = previous else { return Ok(None) };
        position = previous as u64;
        at -= 1;
    }
    Ok(Some(position))
}

/// Seq and position of the message with this seq or a slightly higher one. None if it is not kept any more.
fn entrance(db: &Connection, id: ConversationId, newest: Newest, seq: u64) -> Outcome<Option<(u64, u64)>> {
    if seq + MILESTONE > newest.seq {
        return Ok(Some((newest.seq, newest.position)));
    }
    let sql = sql!("SELECT position FROM milestone WHERE site = $1 AND conversation = $2 AND seq = $3");
    let at = seq.next_multiple_of(MILESTONE);
    let values = [id.site.0 as i64, id.key as i64, at as i64];
    let position = db.prepare_cached(sql)?.query_row(values, |row| row.get::<_, i64>(0)).optional()?;
    Ok(position.map(|position| (at, position as u64)))
}

/// Reads messages by position, as one user sees them.
pub(crate) struct Lines<'a> {
    db: &'a Connection,
    reader: UserId,
    statement: Statement<'a>,
    pub(crate) subs: Subs<'a>,
    /// Users whom the reader has blocked.
    pub(crate) blocked: Blocked,
    /// Whether messages of erased users are shown while they are still on disk.
    shows_erased: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(db: &'a Connection, reader: UserId) -> Outcome<Lines<'a>> {
        let sql = sql!(
            "SELECT site, conversation, seq, previous, sender, time, reply_to, client_id, body, changed, \
                   files, rich, kind, extension FROM message WHERE position = $1"
        );
        let statement = db.prepare_cached(sql)?;
        let blocked = Blocked::by(reader);
        Ok(Lines { db, reader, statement, subs: Subs::new(db), blocked, shows_erased: false })
    }

    /// The messages as they are on disk, for code that changes them.
    pub(crate) fn stored(db: &'a Connection, site: SiteId) -> Outcome<Lines<'a>> {
        Ok(Lines { shows_erased: true, ..Lines::new(db, UserId::nobody(site))? })
    }

    /// None if the message was removed with its site.
    pub(crate) fn at(&mut self, position: u64) -> Outcome<Option<Line>> {
        let mut rows = self.statement.query([position as i64])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let number = |column: usize| Ok::<u64, crate::engine::Error>(row.get::<_, i64>(column)? as u64);
        let site = SiteId(row.get(0)?);
        let from = UserId { site, num: row.get(4)? };
        let Some(author) = self.subs.author(from)? else { return Ok(None) };
        let conversation = ConversationId { site, key: number(1)? };
        let to_sub = match conversation.other(from) {
            Some(to) => self.subs.of(to)?,
            None => None,
        };
        let mut message = StoredMessage {
            conversation,
            seq: Seq(number(2)?),
            from,
            from_sub: author.sub,
            to_sub,
            kind: kind(row.get(12)?),
            client_id: row.get(7)?,
            body: row.get(8)?,
            extension: row.get(13)?,
            time: Timestamp(number(5)?),
            position,
            reply_to: row.get::<_, Option<i64>>(6)?.map(|to| Seq(to as u64)),
            version: number(9)?,
            edited: None,
            deleted: false,
            pinned: false,
            reactions: Vec::new(),
            files: Vec::new(),
            rich: None,
        };
        let previous = number(3)?;
        if message.version > 0 {
            message_change::complete(self.db, &mut self.subs, self.reader, position, &mut message)?;
        }
        let bits: i64 = row.get(11)?;
        if bits != 0 {
            message.rich = rich::load(self.db, &mut self.subs, self.reader, position, &message, bits)?;
        }
        if number(10)? > 0 {
            message.files = match bits & rich::FORWARDED {
                0 => file::of_message(self.db, site, position)?,
                _ => forward::files(self.db, site, position)?,
            };
        }
        if author.erased && !self.shows_erased {
            message.take_back();
        }
        Ok(Some(Line { message, previous }))
    }
}
