//! The archive of a user: messages of several conversations in the order of their positions.
//!
//! No index has a user's messages by position: it would cost each message two entries. A page merges the user's
//! conversations instead. Each contributes its messages from one end of the range on, along the links of the log. So a
//! page costs one row for each conversation of the user, a binary search for each that has messages in the range, and
//! one search by integer for each message. A client that asks what is new since its last position pays only for the
//! conversations that have something new.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::{Connection, OptionalExtension};
use chat::messages::{ArchiveEnd, MessageName};
use chat::{
    Act, ArchivePage, ArchiveRead, ConversationId, MemberState, MessageRequest, ReadFrom, Refusal,
    StoredMessage, UserId,
};

use crate::conversation::{self, side_of};
use crate::fault::Outcome;
use crate::late::{Scope, Settled};
use crate::message::{self, Lines, MILESTONE, Newest};
use crate::meta;
use crate::room;
use crate::writer::Batch;

/// A message's place in the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) position: u64,
    pub(crate) time: u64,
}

pub(crate) fn page(db: &Settled<'_>, wanted: &ArchiveRead) -> Outcome<Result<ArchivePage, Refusal>> {
    let newest = meta::position(db, 0)?.number;
    if wanted.after.max(wanted.before).is_some_and(|position| position > newest) {
        return Ok(Err(Refusal::NoSuchMessage));
    }
    let conversations = match conversations(db, wanted)? {
        Ok(conversations) => conversations,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut lines = Lines::new(db, wanted.reader)?;
    let mut messages = match wanted.from {
        ArchiveEnd::Oldest => oldest(db, &mut lines, wanted, &conversations)?,
        ArchiveEnd::Newest => latest(db, &mut lines, wanted, &conversations)?,
    };
    let more = messages.len() > wanted.limit as usize;
    messages.truncate(wanted.limit as usize);
    if wanted.from == ArchiveEnd::Newest {
        messages.reverse();
    }
    Ok(Ok(ArchivePage { messages, more }))
}

/// The conversations that can have messages in the range.
fn conversations(
    db: &Settled<'_>,
    wanted: &ArchiveRead,
) -> Outcome<Result<Vec<(ConversationId, Newest)>, Refusal>> {
    let reader = wanted.reader;
    if let ReadFrom::One(id) = wanted.of {
        let newest = message::newest_for(db, reader, id)?;
        return Ok(newest.map(|newest| newest.into_iter().map(|newest| (id, newest)).collect()));
    }
    let mut found = Vec::new();
    let mut add = |id: ConversationId, newest: Newest| {
        if newest.seq > 0 && wanted.after.is_none_or(|after| after < newest.position) {
            found.push((id, newest));
        }
    };
    conversation::each(db, reader, |id, direct, _| {
        let me = side_of(id, reader);
        if me.and_then(|me| direct.request(me)) != Some(MessageRequest::Received) {
            add(id, direct.newest());
        }
    })?;
    if wanted.of == ReadFrom::All {
        room::each(db, reader, |id, mine| {
            if let (MemberState::In(_), Some(room)) = (mine.state, room::load(db, id)?) {
                add(id, room.newest);
            }
            Ok(())
        })?;
    }
    Ok(Ok(found))
}

/// From the newest message of the range back, one more than the page has.
fn latest(
    db: &Connection,
    lines: &mut Lines<'_>,
    wanted: &ArchiveRead,
    conversations: &[(ConversationId, Newest)],
) -> Outcome<Vec<StoredMessage>> {
    let is_wanted = |place: Place| {
        wanted.before.is_none_or(|before| place.position < before)
            && wanted.end.is_none_or(|end| place.time <= end.0)
    };
    let mut next = BinaryHeap::new();
    for (id, newest) in conversations {
        // The first message beyond the range, and so the last one within.
        let beyond = message::first_that(db, *id, *newest, |place| !is_wanted(place))?;
        next.extend(message::position_of(db, *id, *newest, beyond - 1)?);
    }
    let mut messages = Vec::new();
    while messages.len() <= wanted.limit as usize
        && let Some(position) = next.pop()
    {
        // None: the message and all before it are not kept any more.
        let Some(line) = lines.at(position)? else { continue };
        let is_within = wanted.after.is_none_or(|after| after < position)
            && wanted.start.is_none_or(|start| start <= line.message.time);
        if is_within {
            next.extend(Some(line.previous).filter(|previous| *previous > 0));
            messages.push(line.message);
        }
    }
    Ok(messages)
}

/// From the oldest message of the range on, one more than the page has.
fn oldest(
    db: &Connection,
    lines: &mut Lines<'_>,
    wanted: &ArchiveRead,
    conversations: &[(ConversationId, Newest)],
) -> Outcome<Vec<StoredMessage>> {
    let is_wanted = |place: Place| {
        wanted.after.is_none_or(|after| after < place.position)
            && wanted.start.is_none_or(|start| start.0 <= place.time)
    };
    let mut sources = Vec::new();
    let mut next = BinaryHeap::new();
    for (id, newest) in conversations {
        let first = message::first_that(db, *id, *newest, is_wanted)?;
        let mut source = Ascending { id: *id, newest: *newest, next: first, block: Vec::new() };
        if let Some(position) = source.take(db)? {
            next.push(Reverse((position, sources.len())));
            sources.push(source);
        }
    }
    let mut messages = Vec::new();
    while messages.len() <= wanted.limit as usize
        && let Some(Reverse((position, at))) = next.pop()
    {
        if wanted.before.is_some_and(|before| position >= before) {
            break;
        }
        let Some(line) = lines.at(position)? else { continue };
        if wanted.end.is_some_and(|end| line.message.time > end) {
            continue;
        }
        messages.push(line.message);
        if let Some(position) = sources[at].take(db)? {
            next.push(Reverse((position, at)));
        }
    }
    Ok(messages)
}

/// Positions of a conversation, ascending. The log's links lead back, so they are read in blocks that end at milestones.
struct Ascending {
    id: ConversationId,
    newest: Newest,
    /// The seq of the next block.
    next: u64,
    /// The last one is the next.
    block: Vec<u64>,
}

impl Ascending {
    fn take(&mut self, db: &Connection) -> Outcome<Option<u64>> {
        if self.block.is_empty() && self.next <= self.newest.seq {
            let last = self.next.next_multiple_of(MILESTONE).min(self.newest.seq);
            self.block = message::positions(db, self.id, self.newest, self.next, last)?;
            self.next = last + 1;
        }
        Ok(self.block.pop())
    }
}

/// Messages by position, in the given order.
pub(crate) fn named(
    db: &Settled<'_>,
    reader: UserId,
    positions: &[u64],
) -> Outcome<Result<Vec<StoredMessage>, Refusal>> {
    let mut lines = Lines::new(db, reader)?;
    let mut messages = Vec::with_capacity(positions.len());
    for position in positions {
        let Some(line) = lines.at(*position)? else { return Ok(Err(Refusal::NoSuchMessage)) };
        if !may_read(db, reader, line.message.conversation)? {
            return Ok(Err(Refusal::NoSuchMessage));
        }
        messages.push(line.message);
    }
    Ok(Ok(messages))
}

fn may_read(db: &Settled<'_>, reader: UserId, id: ConversationId) -> Outcome<bool> {
    match id.is_room() {
        true => Ok(room::allowed(db, id, reader, Act::Read)?.is_ok()),
        false => Ok(side_of(id, reader).is_some()),
    }
}

pub(crate) fn find(
    batch: &mut Batch<'_>,
    reader: UserId,
    id: ConversationId,
    name: &MessageName,
) -> Outcome<Result<StoredMessage, Refusal>> {
    let db = batch.settle(&Scope::One(id))?;
    let position = match (name, id.other(reader)) {
        (MessageName::Seq(seq), _) => return message::one(&db, reader, id, *seq),
        (MessageName::Position(position), _) => Some(*position),
        (MessageName::Mine(client_id), _) => batch.state.sent.find(&db, reader, client_id)?,
        (MessageName::Theirs(client_id), Some(other)) => batch.state.sent.find(&db, other, client_id)?,
        (MessageName::Theirs(_), None) => None,
    };
    if !may_read(&db, reader, id)? {
        return Ok(Err(Refusal::NoSuchConversation));
    }
    let Some(position) = position else { return Ok(Err(Refusal::NoSuchMessage)) };
    let line = Lines::new(&db, reader)?.at(position)?;
    let message = line.map(|line| line.message).filter(|message| message.conversation == id);
    Ok(message.ok_or(Refusal::NoSuchMessage))
}

/// The place of a milestone. None: it is not kept any more.
pub(crate) fn milestone(db: &Connection, id: ConversationId, seq: u64) -> Outcome<Option<Place>> {
    let sql = sql!(
        "SELECT message.position, message.time FROM milestone JOIN message ON message.position = milestone.position \
               WHERE milestone.site = $1 AND milestone.conversation = $2 AND milestone.seq = $3"
    );
    let values = [i64::from(id.site.0), id.key as i64, seq as i64];
    let place = |row: &crate::engine::Row<'_>| {
        Ok(Place { position: row.get::<_, i64>(0)? as u64, time: row.get::<_, i64>(1)? as u64 })
    };
    Ok(db.prepare_cached(sql)?.query_row(values, place).optional()?)
}
