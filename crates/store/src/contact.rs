//! Contacts: relations between users. A row has the other user's name and avatar, so that a list is one range.

pub(crate) mod packed;
mod store;

use std::collections::HashSet;
use std::ops::Range;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::directory::{fold, fold_into};
use chat::{
    ContactCard, ContactIds, ContactList, ContactNote, ContactPair, ContactsPage, ConversationId, GROUP_END,
    MOST_BLOCKED_FIRST, MOST_BLOCKED_LOOKED_AT, Position, Profile, Relation, Side, UserId,
};

use crate::conversation::{Direct, side_of};
use crate::fault::Outcome;
use crate::meta;
use crate::requests;
use crate::user::{self, NameCursor};
use crate::writer::Batch;

// ---- writes ----

/// Returns None, and writes nothing, if a list would be longer than `limit`.
pub(crate) fn put(
    batch: &mut Batch<'_>,
    a: UserId,
    b: UserId,
    wanted: Relation,
    limit: u32,
) -> Outcome<Option<Position>> {
    let before = relation(batch.db, a, b)?;
    let sides = [(a, b, before.of_a, wanted.of_a), (b, a, before.of_b, wanted.of_b)];
    for (user, _, was, will) in sides {
        let grows = was == Side::NONE && will != Side::NONE;
        if grows && length(batch.db, user)? >= u64::from(limit) {
            return Ok(None);
        }
    }
    if before != wanted {
        let number = batch.next_number();
        for (user, other, was, will) in sides {
            match was == will {
                true => put_empty_side(batch.db, user, other)?,
                false => put_side(batch.db, user, other, will, number)?,
            }
        }
        if wanted.is_contact() {
            requests::agreed(batch, a, b, number)?;
        }
        mark_blocks(batch, a, b, before, wanted)?;
    }
    Ok(Some(batch.position()))
}

/// Stores a block in the direct conversation, too; see `marks.rs`. This counts as no change of a view, because the
/// other user must not notice the block.
fn mark_blocks(
    batch: &mut Batch<'_>,
    a: UserId,
    b: UserId,
    before: Relation,
    after: Relation,
) -> Outcome<()> {
    let blocks = |relation: Relation| [relation.of_a, relation.of_b].map(Side::is_blocked);
    let Some(id) = ConversationId::direct(a, b).filter(|_| blocks(before) != blocks(after)) else {
        return Ok(());
    };
    if batch.conversation(id)?.is_some() {
        batch.change(id, |direct| note_blocks(direct, id, a, after));
    }
    Ok(())
}

pub(crate) fn note_blocks(direct: &mut Direct, id: ConversationId, a: UserId, relation: Relation) {
    let Some(at) = side_of(id, a) else { return };
    let [of_a, of_b] = [relation.of_a, relation.of_b].map(Side::is_blocked);
    direct.sides[at].marks = direct.sides[at].marks.blocking(of_a);
    direct.sides[1 - at].marks = direct.sides[1 - at].marks.blocking(of_b);
}

/// Returns None, and writes nothing, if a list would be longer than `limit`.
pub(crate) fn put_note(
    batch: &mut Batch<'_>,
    a: UserId,
    b: UserId,
    wanted: Relation,
    note: &ContactNote,
    limit: u32,
) -> Outcome<Option<Position>> {
    if put(batch, a, b, wanted, limit)?.is_none() {
        return Ok(None);
    }
    let number = batch.next_number();
    let sql = sql!(
        "UPDATE contact SET own_name = $4, own_groups = $5, changed = $6 \
               WHERE site = $1 AND user = $2 AND other = $3"
    );
    let groups = Some(note.groups.join(GROUP_END)).filter(|groups| !groups.is_empty());
    let values = params![a.site.0, a.num, b.num, note.name.as_deref(), groups, number as i64];
    batch.db.prepare_cached(sql)?.execute(values)?;
    Ok(Some(batch.position()))
}

/// An entry that leaves the list loses the own name and groups.
fn put_side(db: &Connection, user: UserId, other: UserId, side: Side, position: u64) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO contact (site, user, other, state, changed, sub, name, avatar, guest) \
               SELECT site, $2, num, $4, $5, sub, name, avatar, guest FROM user WHERE site = $1 AND num = $3 \
               ON CONFLICT (site, user, other) DO UPDATE SET state = excluded.state, changed = excluded.changed, \
               own_name = CASE WHEN $6 = 1 THEN contact.own_name END, \
               own_groups = CASE WHEN $6 = 1 THEN contact.own_groups END"
    );
    let number = position as i64;
    let values = params![user.site.0, user.num, other.num, code(side), number, side.is_on_list()];
    db.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// A row without a relation, which leads [`update_card`] to the other side's row.
fn put_empty_side(db: &Connection, user: UserId, other: UserId) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO contact (site, user, other, state, changed, sub, name, avatar, guest) \
               SELECT site, $2, num, 0, 0, sub, name, avatar, guest FROM user WHERE site = $1 AND num = $3 \
               ON CONFLICT DO NOTHING"
    );
    db.prepare_cached(sql)?.execute([user.site.0, user.num, other.num])?;
    Ok(())
}

/// Copies the user's new name and avatar to every contact list that has the user.
pub(crate) fn update_card(db: &Connection, user: UserId, card: &Profile) -> Outcome<()> {
    let sql = sql!("SELECT other FROM contact WHERE site = $1 AND user = $2");
    let mut statement = db.prepare_cached(sql)?;
    let others = statement.query_map([user.site.0, user.num], |row| row.get(0))?;
    let others: Vec<u32> = others.collect::<Result<_, _>>()?;
    let sql = sql!(
        "UPDATE contact SET name = $4, avatar = $5, guest = $6 \
               WHERE site = $1 AND user = $2 AND other = $3"
    );
    let mut statement = db.prepare_cached(sql)?;
    for other in others {
        let key = (user.site.0, other, user.num);
        statement.execute(params![key.0, key.1, key.2, &*card.name, card.avatar.as_deref(), card.guest])?;
    }
    Ok(())
}

// ---- reads ----

pub(crate) fn relation(db: &Connection, a: UserId, b: UserId) -> Outcome<Relation> {
    Ok(Relation { of_a: side(db, a, b)?, of_b: side(db, b, a)? })
}

/// The relation of each of these pairs.
pub(crate) fn relations(db: &Connection, pairs: &[[UserId; 2]]) -> Outcome<Vec<Relation>> {
    let mut found = vec![Relation { of_a: Side::NONE, of_b: Side::NONE }; pairs.len()];
    let both = |[a, b]: &[UserId; 2]| [[a.site.0, a.num, b.num], [a.site.0, b.num, a.num]];
    let keys = pairs.iter().flat_map(both);
    db.prepare_cached(SIDE)?.query_each(keys, |at, row| {
        let relation = &mut found[at / 2];
        let side = if at % 2 == 0 { &mut relation.of_a } else { &mut relation.of_b };
        *side = of_code(row.get(0)?);
        Ok(())
    })?;
    Ok(found)
}

pub(crate) fn pair(db: &Connection, a: UserId, b: UserId) -> Outcome<ContactPair> {
    Ok(ContactPair { relation: relation(db, a, b)?, notes: [note(db, a, b)?, note(db, b, a)?] })
}

fn note(db: &Connection, user: UserId, other: UserId) -> Outcome<Option<ContactNote>> {
    let sql = sql!("SELECT own_name, own_groups FROM contact WHERE site = $1 AND user = $2 AND other = $3");
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([user.site.0, user.num, other.num])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let name = user::maybe_text(&row, 0)?.map(Into::into);
    let groups = user::maybe_text(&row, 1)?.map(|groups| groups.split(GROUP_END).map(Into::into).collect());
    let note = ContactNote { name, groups: groups.unwrap_or_default() };
    Ok((!note.is_empty()).then_some(note))
}

const SIDE: &str = sql!("SELECT state FROM contact WHERE site = $1 AND user = $2 AND other = $3");

fn side(db: &Connection, user: UserId, other: UserId) -> Outcome<Side> {
    let found = db
        .prepare_cached(SIDE)?
        .query_row([user.site.0, user.num, other.num], |row| row.get(0))
        .optional()?;
    Ok(found.map_or(Side::NONE, of_code))
}

pub(crate) fn has_blocked(db: &Connection, user: UserId, other: UserId) -> Outcome<bool> {
    Ok(side(db, user, other)?.is_blocked())
}

/// The users whom `user` has blocked, read at the first use. Make a new one for each answer, because it also bounds the
/// number of messages that are examined.
pub(crate) struct Blocked {
    user: UserId,
    others: Option<HashSet<u32>>,
    left: u32,
}

impl Blocked {
    pub(crate) fn by(user: UserId) -> Blocked {
        Blocked { user, others: None, left: MOST_BLOCKED_LOOKED_AT }
    }

    pub(crate) fn others(&mut self, db: &Connection) -> Outcome<&HashSet<u32>> {
        if self.others.is_none() {
            self.others = Some(blocked_by(db, self.user)?);
        }
        Ok(self.others.get_or_insert_default())
    }

    /// Reserves up to `wanted` messages that the caller may examine, and returns their number.
    pub(crate) fn take(&mut self, wanted: u64) -> u32 {
        let taken = self.left.min(u32::try_from(wanted).unwrap_or(u32::MAX));
        self.left -= taken;
        taken
    }

    pub(crate) fn give_back(&mut self, unused: u32) {
        self.left += unused;
    }
}

fn blocked_by(db: &Connection, user: UserId) -> Outcome<HashSet<u32>> {
    let sql = sql!(concat!(
        "SELECT other FROM contact",
        indexed_by!("contact_blocked"),
        " WHERE site = $1 AND user = $2 AND state = 4"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let others = statement.query_map([user.site.0, user.num], |row| row.get(0))?;
    Ok(others.collect::<Result<_, _>>()?)
}

/// Whether the two ever had a relation, even one that ended.
pub(crate) fn have_met(db: &Connection, a: UserId, b: UserId) -> Outcome<bool> {
    let sql = sql!("SELECT 1 FROM contact WHERE site = $1 AND user = $2 AND other = $3");
    let mut statement = db.prepare_cached(sql)?;
    let mut met = |user: UserId, other: UserId| statement.exists([user.site.0, user.num, other.num]);
    Ok(met(a, b)? || met(b, a)?)
}

/// Whether anybody waits for the user's answer.
pub(crate) fn has_requests(db: &Connection, user: UserId) -> Outcome<bool> {
    let sql = sql!("SELECT 1 FROM contact WHERE site = $1 AND user = $2 AND state & 16 <> 0");
    Ok(db.prepare_cached(sql)?.exists([user.site.0, user.num])?)
}

/// The number of contacts on the user's list.
pub(crate) fn length(db: &Connection, user: UserId) -> Outcome<u64> {
    let sql = sql!("SELECT count(*) FROM contact WHERE site = $1 AND user = $2 AND state <> 0");
    let count: i64 = db.prepare_cached(sql)?.query_row([user.site.0, user.num], |row| row.get(0))?;
    Ok(count as u64)
}

/// Contacts in at least one direction.
pub(crate) fn contact_ids(db: &Connection, user: UserId) -> Outcome<ContactIds> {
    if let Some(list) = packed::read(db, user)? {
        return Ok(list.sides().collect());
    }
    let sql = sql!("SELECT other, state FROM contact WHERE site = $1 AND user = $2 AND state & 3 <> 0");
    let mut statement = db.prepare_cached(sql)?;
    let site = user.site;
    let rows = statement
        .query_map([site.0, user.num], |row| Ok((UserId { site, num: row.get(0)? }, of_code(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Sorted by name, then sub. The first page also has the users whom `user` has blocked. The packed list is read if there is
/// one, otherwise the rows; those are stored by number, so each page of a long list reads all of them.
pub(crate) fn page(db: &Connection, user: UserId, after: Option<&str>, limit: u32) -> Outcome<Page> {
    let cursor = NameCursor::parse(after);
    let (list, first, is_packed) = match packed::read(db, user)? {
        Some(list) => {
            let first = after.map_or(0, |_| first_after(&list, &cursor));
            (list, first, true)
        }
        None => (sorted(db, user, &cursor)?, 0, false),
    };
    let unpacked = if !is_packed && after.is_none() && packed::fits(&list) { list.len() } else { 0 };
    let blocked = if after.is_none() { MOST_BLOCKED_FIRST as usize } else { 0 };
    Ok(Page { page: cut(list, first, limit as usize, blocked), unpacked })
}

/// A page of a user's contacts.
pub(crate) struct Page {
    pub(crate) page: ContactsPage,
    /// See [`packed::after`].
    pub(crate) unpacked: usize,
}

/// At most `limit` entries from `first` on, and after them `blocked` users whom the user has blocked.
fn cut(list: ContactList, first: usize, limit: usize, blocked: usize) -> ContactsPage {
    let end = list.len().min(first.saturating_add(limit));
    if (first, end) == (0, list.len()) {
        return ContactsPage { rows: list, next: None };
    }
    let last = list.get(end.wrapping_sub(1)).filter(|_| first < end && end < list.len());
    let Some(last) = last else { return ContactsPage { rows: list.arranged(first..end), next: None } };
    let next = NameCursor { folded: &fold(last.name), sub: last.sub }.to_string();
    let others = list.sides().enumerate().skip(end).filter(|(_, (_, side))| side.is_blocked());
    let places = (first..end).chain(others.map(|(at, _)| at).take(blocked));
    ContactsPage { rows: list.arranged(places), next: Some(next) }
}

/// The place of the first entry after the cursor in a sorted list.
fn first_after(list: &ContactList, cursor: &NameCursor<'_>) -> usize {
    let (mut low, mut high) = (0, list.len());
    while let Some(card) = (low < high).then(|| list.get((low + high) / 2)).flatten() {
        match cursor.is_before(&fold(card.name), card.sub) {
            true => high = (low + high) / 2,
            false => low = (low + high) / 2 + 1,
        }
    }
    low
}

/// All entries after the cursor, from their rows, by name, then sub.
fn sorted(db: &Connection, user: UserId, after: &NameCursor<'_>) -> Outcome<ContactList> {
    let sql = sql!(
        "SELECT other, state, sub, name, avatar, guest, own_name, own_groups FROM contact \
               WHERE site = $1 AND user = $2 AND state <> 0"
    );
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([user.site.0, user.num])?;
    let (mut list, mut names, mut places) = (ContactList::default(), String::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let begin = names.len();
        fold_into(user::text(&row, 3)?, &mut names);
        if !after.is_before(&names[begin..], user::text(&row, 2)?) {
            names.truncate(begin);
            continue;
        }
        read_row(user, &row, &mut list)?;
        places.push(Place {
            first: first(&names.as_bytes()[begin..]),
            name: begin..names.len(),
            at: list.len() - 1,
        });
    }
    let whole = |place: &Place| (&names[place.name.clone()], list.get(place.at).map(|card| card.sub));
    places.sort_unstable_by(|a, b| a.first.cmp(&b.first).then_with(|| whole(a).cmp(&whole(b))));
    Ok(list.arranged(places.iter().map(|place| place.at)))
}

/// An entry that is sorted.
struct Place {
    /// The first bytes of the folded name: they decide nearly every comparison.
    first: u128,
    name: Range<usize>,
    at: usize,
}

/// The first bytes as a number, so that comparing numbers compares the texts.
fn first(text: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let known = text.len().min(bytes.len());
    bytes[..known].copy_from_slice(&text[..known]);
    u128::from_be_bytes(bytes)
}

/// Contacts whose state changed after a position, with removed ones; None if they are more than `limit`.
pub(crate) fn changed_since(
    db: &Connection,
    user: UserId,
    since: u64,
    limit: u32,
) -> Outcome<Option<ContactList>> {
    // `changed > 0` lets SQLite use the index, which has only such rows. That index returns them by position.
    let sql = sql!(
        "SELECT other, state, sub, name, avatar, guest, own_name, own_groups FROM contact \
               WHERE site = $1 AND user = $2 AND changed > $3 AND changed > 0 LIMIT $4"
    );
    let values = params![user.site.0, user.num, since as i64, u64::from(limit) as i64 + 1];
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut list = ContactList::default();
    while let Some(row) = rows.next()? {
        read_row(user, &row, &mut list)?;
    }
    if list.len() > limit as usize {
        return Ok(None);
    }
    let mut places: Vec<(UserId, usize)> = list.sides().enumerate().map(|(at, (id, _))| (id, at)).collect();
    places.sort_unstable();
    Ok(Some(list.arranged(places.into_iter().map(|(_, at)| at))))
}

/// Adds a row of the columns `other, state, sub, name, avatar, guest, own_name, own_groups` to a list.
fn read_row(of: UserId, row: &Row<'_>, list: &mut ContactList) -> Outcome<()> {
    let sub = user::text(row, 2)?;
    let is_added = list.push(&ContactCard {
        id: UserId { site: of.site, num: row.get(0)? },
        sub,
        name: user::text(row, 3)?,
        avatar: user::maybe_text(row, 4)?,
        guest: row.get(5)?,
        side: of_code(row.get(1)?),
        own_name: user::maybe_text(row, 6)?,
        groups: user::maybe_text(row, 7)?.unwrap_or_default(),
        presence: None,
    });
    if !is_added {
        user::valid_sub(sub)?;
    }
    Ok(())
}

/// Contacts that have changed since a position, if it is of this database; see [`changed_since`].
pub(crate) fn changed(
    db: &Connection,
    user: UserId,
    since: Position,
    limit: u32,
) -> Outcome<Option<ContactList>> {
    let position = meta::position(db, meta::epoch(db)?)?;
    if since.epoch != position.epoch || since.number > position.number {
        return Ok(None);
    }
    changed_since(db, user, since.number, limit)
}

pub(crate) fn code(side: Side) -> i64 {
    side.code().into()
}

/// Codes above the flags are of a newer program, and their known flags count.
fn of_code(code: i64) -> Side {
    Side::of_code(code as u8)
}
