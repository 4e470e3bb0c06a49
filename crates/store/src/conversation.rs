//! Direct conversations: markers, the view of each member, and the list of a member.
//!
//! The list has no index by activity, which would cost two index entries per message. Reading all rows of a member to
//! find the newest costs 0.3–1.5 µs each, and few members have more than some hundred.

use std::collections::BinaryHeap;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    ConversationChange, ConversationId, ConversationList, ConversationOf, ConversationRow, ConversationsPage,
    MarkerRow, MemberState, MessageRequest, Position, Refusal, Seq, Timestamp, UserId, markers_after,
};

use crate::contact::Blocked;
use crate::fault::Outcome;
use crate::late::Settled;
use crate::marks::{self, Marked, Marks};
use crate::message::{self, Lines, Newest};
use crate::writer::Batch;
use crate::{room, user};

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Direct {
    /// Seq of the newest message.
    pub(crate) seq: u64,
    pub(crate) position: u64,
    pub(crate) active: Timestamp,
    /// In the order of [`ConversationId::pair`].
    pub(crate) sides: [Side; 2],
    /// The message request that waits for an answer.
    pub(crate) asking: Option<Asking>,
}

/// A message request of one member to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asking {
    /// The asker: an index of `sides`.
    pub(crate) by: usize,
    /// The other member has dismissed the request.
    pub(crate) dismissed: bool,
}

impl Asking {
    fn code(asking: Option<Asking>) -> i64 {
        asking.map_or(0, |asking| 1 + asking.by as i64 + if asking.dismissed { 2 } else { 0 })
    }

    fn of(code: i64) -> Option<Asking> {
        (1..=4).contains(&code).then(|| Asking { by: usize::from(code % 2 == 0), dismissed: code > 2 })
    }
}

/// The view of one member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) received: u64,
    pub(crate) read: u64,
    pub(crate) mentions: u64,
    pub(crate) muted_until: Timestamp,
    pub(crate) marks: Marks,
    pub(crate) archived: bool,
    /// Position at which this view changed last.
    pub(crate) changed: u64,
}

impl Direct {
    pub(crate) fn newest(&self) -> Newest {
        Newest { seq: self.seq, position: self.position }
    }

    /// The request as the member at index `me` sees it.
    pub(crate) fn request(&self, me: usize) -> Option<MessageRequest> {
        self.asking
            .map(|asking| if asking.by == me { MessageRequest::Sent } else { MessageRequest::Received })
    }

    fn is_listed(&self, side: &Side, list: ConversationList) -> bool {
        match list {
            ConversationList::Main => !side.archived,
            ConversationList::Archived => side.archived,
            ConversationList::Unread | ConversationList::Waiting => {
                !side.archived && (self.seq > side.read || side.marks.is_unread())
            }
            ConversationList::Mentions => !side.archived && side.mentions > 0,
        }
    }

    fn place(&self, id: ConversationId, side: &Side) -> Place {
        Place::new(side.marks.is_pinned(), self.active, id)
    }
}

/// The index of this user's side; None if the user is not a member.
pub(crate) fn side_of(id: ConversationId, user: UserId) -> Option<usize> {
    id.pair()?.iter().position(|member| *member == user)
}

// ---- writes ----

pub(crate) fn mark(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    received: Seq,
    read: Seq,
) -> Outcome<MarkerRow> {
    let nothing = MarkerRow::nothing(batch.position());
    let Some(me) = side_of(id, user) else { return Ok(nothing) };
    let Some(direct) = batch.conversation(id)? else { return Ok(nothing) };
    let newest = direct.seq;
    let notifies_other = direct.request(me) != Some(MessageRequest::Received);
    let before = direct.sides[me];
    let (received, read) = markers_after((before.received, before.read), (received, read), newest);
    let moved = (received, read) != (before.received, before.read);
    if moved {
        let (tail, had_mentions) = (direct.position, before.mentions > 0 && read > before.read);
        let mentions = match had_mentions {
            true => message::mentions_after(batch.db, tail, read, user)?,
            false => before.mentions,
        };
        let number = batch.next_number();
        batch.change(id, |direct| {
            let marks = if read > before.read { before.marks.read() } else { before.marks };
            direct.sides[me] = Side { received, read, mentions, marks, ..before };
            direct.sides.iter_mut().for_each(|side| side.changed = number);
        });
    }
    Ok(MarkerRow {
        received: Seq(received),
        read: Seq(read),
        unread: newest - read,
        moved,
        notifies_other,
        position: batch.position(),
    })
}

pub(crate) fn change(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    change: &ConversationChange,
) -> Outcome<Result<(ConversationRow, Position), Refusal>> {
    let Some(me) = side_of(id, user) else { return Ok(Err(Refusal::NoSuchConversation)) };
    let Some(direct) = batch.conversation(id)? else { return Ok(Err(Refusal::NoSuchConversation)) };
    let (mut direct, before) = (direct.clone(), direct.sides[me]);
    let Marked { marks, is_new_draft } = match marks::change(batch.db, user, id, before.marks, change)? {
        Ok(marked) => marked,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let after = Side {
        muted_until: change.muted_until.unwrap_or(before.muted_until),
        marks,
        archived: change.archived.unwrap_or(before.archived),
        ..before
    };
    if before != after || is_new_draft {
        let number = batch.next_number();
        direct.sides[me] = Side { changed: number, ..after };
        batch.change(id, |row| *row = direct.clone());
    }
    let row = assemble(batch.db, &mut Lines::new(batch.db, user)?, user, id, &direct)?;
    Ok(row.map(|row| (row, batch.position())).ok_or(Refusal::NoSuchConversation))
}

/// The columns of a [`Direct`].
macro_rules! columns {
    () => {
        "seq, position, active, \
         low_received, low_read, low_mentions, low_muted_until, low_marks, low_archived, low_changed, \
         high_received, high_read, high_mentions, high_muted_until, high_marks, high_archived, high_changed, \
         request"
    };
}

pub(crate) const INSERT: &str = sql!(concat!(
    "INSERT INTO conversation (site, key, ",
    columns!(),
    ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)"
));

pub(crate) const UPDATE: &str = sql!(
    "UPDATE conversation SET seq = $3, position = $4, active = $5, \
     low_received = $6, low_read = $7, low_mentions = $8, low_muted_until = $9, low_marks = $10, \
     low_archived = $11, low_changed = $12, \
     high_received = $13, high_read = $14, high_mentions = $15, high_muted_until = $16, high_marks = $17, \
     high_archived = $18, high_changed = $19, request = $20 \
     WHERE site = $1 AND key = $2"
);

/// Writes the row. `sql`: [`INSERT`] or [`UPDATE`].
pub(crate) fn save(db: &Connection, sql: &str, id: ConversationId, direct: &Direct) -> Outcome<()> {
    let [low, high] = &direct.sides;
    db.prepare_cached(sql)?.put(params![
        id.site.0,
        id.key as i64,
        direct.seq as i64,
        direct.position as i64,
        direct.active.0 as i64,
        low.received as i64,
        low.read as i64,
        low.mentions as i64,
        low.muted_until.0 as i64,
        low.marks.0,
        low.archived,
        low.changed as i64,
        high.received as i64,
        high.read as i64,
        high.mentions as i64,
        high.muted_until.0 as i64,
        high.marks.0,
        high.archived,
        high.changed as i64,
        Asking::code(direct.asking),
    ])?;
    Ok(())
}

// ---- reads ----

const BY_ID: &str = sql!(concat!("SELECT ", columns!(), " FROM conversation WHERE site = $1 AND key = $2"));

pub(crate) fn load(db: &Settled<'_>, id: ConversationId) -> Outcome<Option<Direct>> {
    let values = params![id.site.0, id.key as i64];
    Ok(db.prepare_cached(BY_ID)?.query_row(values, |row| parse(row, 0)).optional()?)
}

/// As [`load`], for many.
pub(crate) fn load_each(db: &Settled<'_>, ids: &[ConversationId]) -> Outcome<Vec<Option<Direct>>> {
    let mut found = vec![None; ids.len()];
    let values = ids.iter().map(|id| [i64::from(id.site.0), id.key as i64]);
    db.prepare_cached(BY_ID)?.query_each(values, |at, row| {
        found[at] = Some(parse(row, 0)?);
        Ok(())
    })?;
    Ok(found)
}

/// Loads the pages of the row and of its index entry, or the pages where a new row would go.
pub(crate) fn visit(db: &Connection, id: ConversationId) -> Outcome<()> {
    let row = sql!("SELECT 1 FROM conversation WHERE site = $1 AND key = $2");
    let entry = sql!(concat!(
        "SELECT 1 FROM conversation",
        indexed_by!("conversation_high"),
        " WHERE site = $1 AND (key & 4294967295) = $2 \
                 LIMIT 1"
    ));
    for (sql, key) in [(row, id.key as i64), (entry, i64::from(id.key as u32))] {
        db.prepare_cached(sql)?.query_row([i64::from(id.site.0), key], |_| Ok(())).optional()?;
    }
    Ok(())
}

/// Every conversation of a user, in no order.
pub(crate) fn each(
    db: &Settled<'_>,
    user: UserId,
    mut visit: impl FnMut(ConversationId, &Direct, &Side),
) -> Outcome<()> {
    let as_low = sql!(concat!(
        "SELECT key, ",
        columns!(),
        " FROM conversation WHERE site = $1 AND key BETWEEN $2 << 32 AND ($2 << 32) + 4294967295"
    ));
    let as_high = sql!(concat!(
        "SELECT key, ",
        columns!(),
        " FROM conversation",
        indexed_by!("conversation_high"),
        " WHERE site = $1 AND (key & 4294967295) = $2"
    ));
    for (me, sql) in [as_low, as_high].into_iter().enumerate() {
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([user.site.0, user.num])?;
        while let Some(row) = rows.next()? {
            let id = ConversationId { site: user.site, key: row.get::<_, i64>(0)? as u64 };
            let direct = parse(&row, 1)?;
            visit(id, &direct, &direct.sides[me]);
        }
    }
    Ok(())
}

/// Whether [`ConversationList::Waiting`] has a direct conversation or an invitation.
pub(crate) fn any_waits(db: &Settled<'_>, user: UserId) -> Outcome<bool> {
    let mut found = false;
    each(db, user, |_, direct, side| found |= direct.is_listed(side, ConversationList::Waiting))?;
    Ok(found || !room::request::pending(db, user)?.is_empty())
}

pub(crate) fn page(
    db: &Settled<'_>,
    user: UserId,
    list: ConversationList,
    after: Option<&str>,
    limit: u32,
) -> Outcome<ConversationsPage> {
    let after = after.and_then(Place::parse);
    let mut newest: BinaryHeap<(Place, ConversationId)> = BinaryHeap::new();
    let mut offer = |place: Place, id| {
        if after.is_none_or(|after| after < place) {
            newest.push((place, id));
            if newest.len() > limit as usize + 1 {
                newest.pop(); // the oldest
            }
        }
    };
    each(db, user, |id, direct, side| {
        if direct.is_listed(side, list) {
            offer(direct.place(id, side), id);
        }
    })?;
    let mut blocked = Blocked::by(user);
    room::each(db, user, |id, mine| {
        if let (MemberState::In(_), Some(room)) = (mine.state, room::load(db, id)?)
            && room.is_listed(db, user, mine, list, &mut blocked)?
        {
            offer(room.place(mine), id);
        }
        Ok(())
    })?;
    if matches!(list, ConversationList::Main | ConversationList::Waiting) {
        for pending in room::request::pending(db, user)? {
            offer(pending.place(), pending.room);
        }
    }
    let mut places = newest.into_sorted_vec();
    let more = places.len() > limit as usize;
    places.truncate(limit as usize);
    let next = places.last().filter(|_| more).map(|(place, _)| place.cursor());
    let mut lines = Lines::new(db, user)?;
    let mut rows = Vec::with_capacity(places.len());
    for (_, id) in places {
        rows.extend(one_of(db, &mut lines, user, id)?);
    }
    Ok(ConversationsPage { rows, next })
}

pub(crate) fn one(db: &Settled<'_>, user: UserId, id: ConversationId) -> Outcome<Option<ConversationRow>> {
    one_of(db, &mut Lines::new(db, user)?, user, id)
}

fn one_of(
    db: &Settled<'_>,
    lines: &mut Lines<'_>,
    user: UserId,
    id: ConversationId,
) -> Outcome<Option<ConversationRow>> {
    if id.is_room() {
        let (Some(row), Some(mine)) = (room::load(db, id)?, room::membership(db, id, user)?) else {
            return room::request::seen(db, user, id);
        };
        return match room::seen(db, lines, user, &row, &mine)? {
            Some(row) => Ok(Some(row)),
            None => room::request::seen(db, user, id),
        };
    }
    match load(db, id)? {
        Some(direct) => assemble(db, lines, user, id, &direct),
        None => Ok(None),
    }
}

/// The row as the user sees it; None if the user is not a member.
pub(crate) fn assemble(
    db: &Connection,
    lines: &mut Lines<'_>,
    user: UserId,
    id: ConversationId,
    direct: &Direct,
) -> Outcome<Option<ConversationRow>> {
    let (Some(me), Some(other)) = (side_of(id, user), id.other(user)) else { return Ok(None) };
    let Some(other) = user::by_id(db, other)? else { return Ok(None) };
    lines.subs.learn(&other);
    let last = lines.at(direct.position)?.map(|line| line.message);
    let (mine, mut theirs) = (direct.sides[me], direct.sides[1 - me]);
    let request = direct.request(me);
    if request == Some(MessageRequest::Sent) {
        (theirs.received, theirs.read) = (0, 0); // a request does not show what its recipient has seen
    }
    Ok(Some(ConversationRow {
        id,
        of: ConversationOf::Direct(other),
        last,
        received: Seq(mine.received),
        read: Seq(mine.read),
        their_received: Seq(theirs.received),
        their_read: Seq(theirs.read),
        blocked: mine.marks.is_blocking() || theirs.marks.is_blocking(),
        // Writing marks everything as read, so messages after `read` are the other member's.
        unread: direct.seq - mine.read,
        mentions: mine.mentions,
        muted_until: mine.muted_until,
        pinned: mine.marks.is_pinned(),
        archived: mine.archived,
        request,
        requested_by: None,
        marked_unread: mine.marks.is_unread(),
        draft: marks::draft(db, user, id, mine.marks)?,
        active: direct.active,
    }))
}

/// The place of a conversation in a list: pinned first, then newest activity, then by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    unpinned: bool,
    age: u64,
    key: u64,
}

impl Place {
    pub(crate) fn new(pinned: bool, active: Timestamp, id: ConversationId) -> Place {
        Place { unpinned: !pinned, age: u64::MAX - active.0, key: id.key }
    }

    fn cursor(self) -> String {
        format!("{}{:016x}{:016x}", u8::from(self.unpinned), self.age, self.key)
    }

    /// None if the cursor is invalid; the list then begins at the top.
    fn parse(cursor: &str) -> Option<Place> {
        let number = |from, to| u64::from_str_radix(cursor.get(from..to)?, 16).ok();
        let unpinned = number(0, 1)? != 0;
        (cursor.len() == 33).then_some(Place { unpinned, age: number(1, 17)?, key: number(17, 33)? })
    }
}

fn parse(row: &Row<'_>, at: usize) -> crate::engine::Result<Direct> {
    let number = |column: usize| Ok::<u64, crate::engine::Error>(row.get::<_, i64>(at + column)? as u64);
    let side = |first: usize| {
        Ok::<Side, crate::engine::Error>(Side {
            received: number(first)?,
            read: number(first + 1)?,
            mentions: number(first + 2)?,
            muted_until: Timestamp(number(first + 3)?),
            // Keeps a bit that a newer program has set.
            marks: Marks(row.get(at + first + 4)?),
            archived: number(first + 5)? != 0,
            changed: number(first + 6)?,
        })
    };
    Ok(Direct {
        seq: number(0)?,
        position: number(1)?,
        active: Timestamp(number(2)?),
        sides: [side(3)?, side(10)?],
        asking: Asking::of(row.get(at + 17)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_one_number() {
        for code in 0..=4 {
            assert_eq!(Asking::code(Asking::of(code)), code);
        }
        assert_eq!((Asking::of(5), Asking::of(-1)), (None, None));
    }

    #[test]
    fn a_cursor_is_read_back_and_nonsense_is_none() {
        let place = Place { unpinned: true, age: 7, key: u64::MAX };
        assert_eq!(Place::parse(&place.cursor()), Some(place));
        for nonsense in ["", "x", "0", "é", &"f".repeat(34), &"ä".repeat(20)] {
            assert_eq!(Place::parse(nonsense), None, "{nonsense}");
        }
    }
}
