//! Everything that a device does not have yet.

use crate::engine::Connection;
use chat::{
    ContactList, ContactsPage, ConversationId, ConversationList, ConversationsPage, Gap, LeftReason,
    MOST_RENAMED, MemberState, Position, ResumeFrom, Seq, Snapshot, StoredMessage, ThreadCount, UserId,
    Waiting,
};

use crate::conversation::{self, Direct, Place};
use crate::fault::Outcome;
use crate::late::Settled;
use crate::message::{Lines, Newest};
use crate::room::{self, Membership, RoomRow};
use crate::{contact, erase, item, message_change, meta, thread};

/// The difference since a position, or a first page. Call in a transaction, so that all parts come from one moment.
pub(crate) fn snapshot(db: &Settled<'_>, user: UserId, from: ResumeFrom) -> Outcome<View> {
    let epoch = meta::epoch(db)?;
    let position = meta::position(db, epoch)?;
    let since = from.position.filter(|p| p.epoch == epoch && p.number <= position.number);
    if let Some(since) = since
        && let Some(difference) = difference(db, user, from, since.number, position)?
    {
        return Ok(View { snapshot: difference, unpacked: 0 });
    }
    if from.page == 0 {
        let snapshot = Snapshot { waiting: waiting(db, user)?, ..empty(position) };
        return Ok(View { snapshot, unpacked: 0 });
    }
    let contact::Page { page: contacts, unpacked } = contact::page(db, user, None, from.contacts)?;
    let snapshot = Snapshot {
        reset: true,
        conversations: conversation::page(db, user, ConversationList::Main, None, from.page)?,
        messages: Vec::new(),
        updates: Vec::new(),
        gaps: Vec::new(),
        left: Vec::new(),
        contacts,
        threads: Vec::new(),
        renamed: Vec::new(),
        waiting: Waiting::default(),
        position,
    };
    Ok(View { snapshot, unpacked })
}

/// A snapshot that was read.
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    /// See [`contact::Page`].
    pub(crate) unpacked: usize,
}

/// A first page without content, which needs no query.
pub(crate) fn empty(position: Position) -> Snapshot {
    Snapshot {
        reset: true,
        conversations: ConversationsPage { rows: Vec::new(), next: None },
        messages: Vec::new(),
        updates: Vec::new(),
        gaps: Vec::new(),
        left: Vec::new(),
        contacts: ContactsPage { rows: ContactList::default(), next: None },
        threads: Vec::new(),
        renamed: Vec::new(),
        waiting: Waiting::default(),
        position,
    }
}

fn waiting(db: &Settled<'_>, user: UserId) -> Outcome<Waiting> {
    Ok(Waiting {
        contact_requests: contact::has_requests(db, user)?,
        conversations: conversation::any_waits(db, user)?,
        items: item::has_any(db, user)?,
    })
}

/// Whether the difference of each view since its position has anything, and the position of all answers. Call in a transaction.
///
/// Each condition of [`CHANGED`] contains one of [`difference`] and of the functions that it calls. A few contain more: a room request
/// that is hidden, a room or a user who was removed. So a view without a change may pass for changed, and never the other way round.
pub(crate) fn changed_views(
    db: &Settled<'_>,
    views: &[(UserId, Position)],
) -> Outcome<(Vec<bool>, Position)> {
    let epoch = meta::epoch(db)?;
    let now = meta::position(db, epoch)?;
    // A position of another history, or of the future, gets a first page.
    let is_strange = |seen: &Position| seen.epoch != epoch || seen.number > now.number;
    let mut changed: Vec<bool> = views.iter().map(|(_, seen)| is_strange(seen)).collect();
    let unknown = |at: &usize| !changed[*at] && views[*at].1 != now;
    let unknown: Vec<usize> = (0..views.len()).filter(unknown).collect();
    let values = unknown.iter().map(|at| {
        let (user, seen) = views[*at];
        [i64::from(user.site.0), user.num.into(), seen.number as i64, MOST_RENAMED as i64]
    });
    db.prepare_cached(CHANGED)?.query_each(values, |at, _| {
        changed[unknown[at]] = true;
        Ok(())
    })?;
    Ok((changed, now))
}

/// A row if the view of the user $2 of the site $1 has changed since the position $3. At most $4 users are renamed in a difference.
///
/// The order of its conditions: conversations as the lower and the higher member ([`conversation::each`]), rooms ([`room_changed_since`]),
/// contacts ([`contact::changed_since`]), room requests ([`add_room_requests`]), users who are renamed ([`erase::under_way`]).
const CHANGED: &str = sql!(concat!(
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM conversation        WHERE site = $1 AND key BETWEEN $2 << 32 AND ($2 << 32) + 4294967295 AND low_changed > $3)      OR EXISTS (SELECT 1 FROM conversation",
    indexed_by!("conversation_high"),
    " WHERE site = $1 AND (key & 4294967295) = $2 AND high_changed > $3)      OR EXISTS (SELECT 1 FROM membership mine WHERE site = $1 AND user = $2 AND (changed > $3 OR state < 8        AND EXISTS (SELECT 1 FROM room WHERE site = $1 AND key = mine.room AND (position > $3 OR changed > $3))))      OR EXISTS (SELECT 1 FROM contact WHERE site = $1 AND user = $2 AND changed > $3 AND changed > 0)      OR EXISTS (SELECT 1 FROM room_request WHERE site = $1 AND user = $2 AND changed > $3)      OR EXISTS (SELECT 1 FROM erasure WHERE site = $1 AND former <> '' AND user <> $2 LIMIT 1 OFFSET $4)      OR EXISTS (SELECT 1 FROM erasure other WHERE site = $1 AND former <> '' AND user <> $2        AND (EXISTS (SELECT 1 FROM conversation WHERE site = $1 AND key = CASE WHEN other.user < $2               THEN (other.user << 32) + $2 ELSE ($2 << 32) + other.user END)          OR EXISTS (SELECT 1 FROM membership theirs JOIN membership mine ON mine.site = $1 AND mine.user = $2               AND mine.room = theirs.room WHERE theirs.site = $1 AND theirs.user = other.user)))"
));

/// None if so much has changed that a first page is the better answer.
fn difference(
    db: &Settled<'_>,
    user: UserId,
    from: ResumeFrom,
    since: u64,
    position: Position,
) -> Outcome<Option<Snapshot>> {
    if since == position.number {
        return Ok(Some(Snapshot { reset: false, ..empty(position) }));
    }
    let Some(changed) = changed_since(db, user, since, from.page)? else { return Ok(None) };
    let Some(contacts) = contact::changed_since(db, user, since, from.contacts)? else { return Ok(None) };
    let Some(renamed) = erase::under_way(db, user, MOST_RENAMED)? else { return Ok(None) };
    let mut missed = Missed::new(since, from.messages as usize);
    let mut lines = Lines::new(db, user)?;
    let mut rows = Vec::with_capacity(changed.len());
    let mut left = Vec::new();
    for changed in changed {
        let (id, newest) = match changed {
            Changed::Direct(_, id, direct) => {
                rows.extend(conversation::assemble(db, &mut lines, user, id, &direct)?);
                (id, direct.newest())
            }
            Changed::Room(_, row, mine) => {
                rows.extend(room::seen(db, &mut lines, user, &row, &mine)?);
                (row.id, row.newest)
            }
            Changed::Asked(_, id) => {
                rows.extend(room::request::seen(db, user, id)?);
                continue;
            }
            Changed::Left(id, reason) => {
                left.push((id, reason));
                continue;
            }
        };
        missed.collect(db, &mut lines, id, newest, from.messages_per_conversation as usize)?;
    }
    Ok(Some(Snapshot {
        reset: false,
        conversations: ConversationsPage { rows, next: None },
        messages: missed.messages,
        updates: missed.updates,
        gaps: missed.gaps,
        left,
        contacts: ContactsPage { rows: contacts, next: None },
        threads: missed.threads,
        renamed,
        waiting: Waiting::default(),
        position,
    }))
}

/// The changes of a user's conversations.
enum Changed {
    Direct(Place, ConversationId, Direct),
    Room(Place, RoomRow, Membership),
    /// A user invites the reader into a room.
    Asked(Place, ConversationId),
    Left(ConversationId, LeftReason),
}

impl Changed {
    fn place(&self) -> Option<Place> {
        match self {
            Changed::Direct(place, ..) | Changed::Room(place, ..) | Changed::Asked(place, _) => Some(*place),
            Changed::Left(..) => None,
        }
    }
}

/// Newest activity first; None if they are more than `limit`.
fn changed_since(db: &Settled<'_>, user: UserId, since: u64, limit: u32) -> Outcome<Option<Vec<Changed>>> {
    let mut changed = Vec::new();
    conversation::each(db, user, |id, direct, side| {
        if side.changed > since && changed.len() <= limit as usize {
            let place = Place::new(side.marks.is_pinned(), direct.active, id);
            changed.push(Changed::Direct(place, id, direct.clone()));
        }
    })?;
    room::each(db, user, |id, mine| {
        if changed.len() <= limit as usize {
            changed.extend(room_changed_since(db, id, mine, since)?);
        }
        Ok(())
    })?;
    add_room_requests(db, user, since, &mut changed)?;
    changed.sort_by_key(Changed::place);
    Ok((changed.len() <= limit as usize).then_some(changed))
}

/// Adds new and ended room requests. A room into which the user is invited again is not reported as left.
fn add_room_requests(db: &Connection, user: UserId, since: u64, changed: &mut Vec<Changed>) -> Outcome<()> {
    let pending = room::request::pending(db, user)?;
    let is_pending = |id: &ConversationId| pending.iter().any(|request| request.room == *id);
    changed.retain(|one| !matches!(one, Changed::Left(id, _) if is_pending(id)));
    for id in room::request::ended_since(db, user, since)? {
        let is_known = changed.iter().any(|one| match one {
            Changed::Room(_, row, _) => row.id == id,
            Changed::Left(left, _) => *left == id,
            Changed::Direct(..) | Changed::Asked(..) => false,
        });
        let mine = room::membership(db, id, user)?;
        let is_member = mine.is_some_and(|mine| matches!(mine.state, MemberState::In(_)));
        if !is_known && !is_member && !is_pending(&id) {
            changed.push(Changed::Left(id, LeftReason::Left));
        }
    }
    let new = pending.iter().filter(|request| request.changed > since);
    changed.extend(new.map(|request| Changed::Asked(request.place(), request.room)));
    Ok(())
}

/// Changes of a room since a position, for a present or former member. A new message or a new name changes only the
/// room's row, not a row per member.
fn room_changed_since(
    db: &Connection,
    id: ConversationId,
    mine: &Membership,
    since: u64,
) -> Outcome<Option<Changed>> {
    if let MemberState::Out(reason) = mine.state {
        return Ok((mine.changed > since).then_some(Changed::Left(id, reason)));
    }
    let Some(row) = room::load(db, id)? else { return Ok(None) };
    let is_new = mine.changed > since || row.newest.position > since || row.changed > since;
    let place = row.place(mine);
    Ok(is_new.then(|| Changed::Room(place, row, mine.clone())))
}

struct Missed {
    since: u64,
    /// Most messages, and most updates.
    most: usize,
    messages: Vec<StoredMessage>,
    updates: Vec<StoredMessage>,
    gaps: Vec<Gap>,
    threads: Vec<ThreadCount>,
}

impl Missed {
    fn new(since: u64, most: usize) -> Missed {
        Missed {
            since,
            most,
            messages: Vec::new(),
            updates: Vec::new(),
            gaps: Vec::new(),
            threads: Vec::new(),
        }
    }

    fn collect(
        &mut self,
        db: &Connection,
        lines: &mut Lines<'_>,
        id: ConversationId,
        newest: Newest,
        most: usize,
    ) -> Outcome<()> {
        let (first, is_whole) = self.collect_new(lines, newest, most)?;
        let mut forget = !self.collect_updates(db, lines, id, most)?;
        if !is_whole && !forget {
            forget = !self.collect_threads(db, id, most)?;
        }
        if !is_whole || forget {
            self.gaps.push(Gap { conversation: id, first: Seq(first), forget });
        }
        Ok(())
    }

    /// Walks back from the newest message to the first that the device has, within the bound. Returns the seq of the
    /// first message that was taken, and whether all were taken.
    fn collect_new(&mut self, lines: &mut Lines<'_>, newest: Newest, most: usize) -> Outcome<(u64, bool)> {
        let begin = self.messages.len();
        let mut position = newest.position;
        let mut first = newest.seq + 1;
        let most = most.min(self.most - begin);
        while position > self.since && self.messages.len() - begin < most {
            let Some(line) = lines.at(position)? else { break };
            first = line.message.seq.0;
            position = line.previous;
            self.messages.push(line.message);
        }
        self.messages[begin..].reverse();
        Ok((first, position <= self.since))
    }

    /// Threads that may have replies in the gap; false if they are more than `most`.
    fn collect_threads(&mut self, db: &Connection, id: ConversationId, most: usize) -> Outcome<bool> {
        let threads = thread::replied_since(db, id, self.since, most + 1)?;
        let fit = threads.len() <= most;
        self.threads.extend(threads.into_iter().filter(|_| fit));
        Ok(fit)
    }

    /// Changed messages that the device has. Adds all of them; if they exceed the bound, adds none and returns false.
    fn collect_updates(
        &mut self,
        db: &Connection,
        lines: &mut Lines<'_>,
        id: ConversationId,
        most: usize,
    ) -> Outcome<bool> {
        let most = most.min(self.most - self.updates.len());
        let Some(updated) = message_change::updated_since(db, id, self.since, most)? else {
            return Ok(false);
        };
        for position in updated {
            self.updates.extend(lines.at(position)?.map(|line| line.message));
        }
        Ok(true)
    }
}
