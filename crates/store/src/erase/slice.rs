//! The slices after the first transaction: rooms, the conversations of others, and all messages that name the user.
//!
//! The members of each room and conversation get the new id first. Then each message that names the user gets a new
//! version without an event. Connected devices have renamed the user by themselves; later ones resume over these
//! versions. A device that connects between the two steps gets the former id with its changes (`resume.rs`).

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, ToSql, params};
use chat::{
    ConversationId, ConversationRow, EraseSlice, FileId, LeftReason, MemberState, Renamed, Role, SiteId, Sub,
    Timestamp, UserId,
};

use crate::conversation::{self, side_of};
use crate::fault::Outcome;
use crate::message::Lines;
use crate::meta::{self, Purge};
use crate::room::{self, member};
use crate::writer::Batch;
use crate::{file, message_change, moderation, search, user};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    ErasedWithMessages,
    Erased,
    /// The user has another id and stays.
    Renamed,
}

/// In this order; the table stores the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Rooms,
    Conversations,
    /// The user's files in messages that others forwarded.
    Files,
    /// Messages that are not in the index by sender yet.
    Newest,
    Written,
    Reactions,
    Votes,
    Forwards,
}

const STEPS: [Step; 8] = [
    Step::Rooms,
    Step::Conversations,
    Step::Files,
    Step::Newest,
    Step::Written,
    Step::Reactions,
    Step::Votes,
    Step::Forwards,
];

/// Most positions of the log that one slice examines.
const MOST_EXAMINED: i64 = 8_192;

/// About the most members of rooms that receive the new id by one slice.
const MOST_RECIPIENTS: usize = 20_000;
/// Most messages with files of the user that change in one slice. They are sent whole, so this bounds the events of a
/// room.
const MOST_FILES: u32 = 5;

/// A row of `erasure`.
struct Left {
    user: UserId,
    kind: Kind,
    /// Direct conversations up to this key are done.
    conversation: i64,
    /// Empty if the erasure began before this column existed.
    former: String,
    step: usize,
    at: i64,
    at_id: String,
    began: i64,
    indexed: i64,
}

/// Outcome of a step.
enum Progress {
    /// Nothing was left.
    Done,
    /// There may be more.
    Some,
}

pub(super) fn some(batch: &mut Batch<'_>, now: Timestamp, limit: u32) -> Outcome<EraseSlice> {
    let mut slice = EraseSlice { position: batch.position(), ..EraseSlice::default() };
    let Some(mut left) = next(batch.db)? else {
        slice.more = purge(batch)?;
        return Ok(slice);
    };
    slice.more = true;
    let renamed = renamed(batch.db, left.user, &left.former, left.kind)?;
    slice.renamed = renamed.map(|renamed| (left.user.site, Arc::new(renamed)));
    loop {
        let Some(step) = STEPS.get(left.step) else {
            finish(batch.db, &left, now)?;
            slice.more = next(batch.db)?.is_some() || meta::purge(batch.db)? != Purge::Nothing;
            break;
        };
        match left.take(batch, *step, now, limit, &mut slice)? {
            Progress::Done => left.begin_step(batch.db, left.step + 1)?,
            Progress::Some => {
                left.keep(batch.db)?;
                break;
            }
        }
    }
    slice.position = batch.position();
    Ok(slice)
}

fn next(db: &Connection) -> Outcome<Option<Left>> {
    let sql = "SELECT site, user, messages, conversation, former, step, at, at_id, began, indexed \
               FROM erasure LIMIT 1";
    let found = db.prepare_cached(sql)?.query_row([], |row| {
        Ok(Left {
            user: UserId { site: SiteId(row.get(0)?), num: row.get(1)? },
            kind: kind(row.get(2)?),
            conversation: row.get(3)?,
            former: row.get(4)?,
            step: row.get::<_, u32>(5)? as usize,
            at: row.get(6)?,
            at_id: row.get(7)?,
            began: row.get(8)?,
            indexed: row.get(9)?,
        })
    });
    Ok(found.optional()?)
}

fn kind(code: i64) -> Kind {
    match code {
        0 => Kind::Erased,
        1 => Kind::ErasedWithMessages,
        _ => Kind::Renamed,
    }
}

fn renamed(db: &Connection, id: UserId, former: &str, kind: Kind) -> Outcome<Option<Renamed>> {
    let Some(former) = Sub::parse(former) else { return Ok(None) };
    let Some(row) = user::by_id(db, id)? else { return Ok(None) };
    let erased = kind == Kind::ErasedWithMessages;
    Ok(Some(Renamed { former, now: row.profile, erased }))
}

/// Erasures and renamings in progress of users who share a conversation with `reader`; the reader may not have received
/// the new id. None if they are more than `most`.
pub(crate) fn under_way(db: &Connection, reader: UserId, most: usize) -> Outcome<Option<Vec<Renamed>>> {
    let sql = sql!(
        "SELECT user, former, messages FROM erasure WHERE site = $1 AND former <> '' AND user <> $2 LIMIT $3"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![reader.site.0, reader.num, most as i64 + 1], |row| {
        let id = UserId { site: reader.site, num: row.get(0)? };
        Ok((id, row.get::<_, String>(1)?, kind(row.get(2)?)))
    })?;
    let rows: Vec<(UserId, String, Kind)> = rows.collect::<Result<_, _>>()?;
    if rows.len() > most {
        return Ok(None);
    }
    let mut found = Vec::new();
    for (id, former, kind) in rows {
        if share_conversation(db, reader, id)? {
            found.extend(renamed(db, id, &former, kind)?);
        }
    }
    Ok(Some(found))
}

/// Rooms that one of them has left count, too.
fn share_conversation(db: &Connection, a: UserId, b: UserId) -> Outcome<bool> {
    let direct = ConversationId::direct(a, b);
    let is_there = sql!("SELECT 1 FROM conversation WHERE site = $1 AND key = $2");
    if let Some(id) = direct
        && db.prepare_cached(is_there)?.exists([i64::from(id.site.0), id.key as i64])?
    {
        return Ok(true);
    }
    let sql = sql!(
        "SELECT 1 FROM membership mine JOIN membership theirs \
               ON theirs.site = $1 AND theirs.user = $3 AND theirs.room = mine.room \
               WHERE mine.site = $1 AND mine.user = $2"
    );
    Ok(db.prepare_cached(sql)?.exists(params![a.site.0, a.num, b.num])?)
}

impl Left {
    fn begin_step(&mut self, db: &Connection, step: usize) -> Outcome<()> {
        (self.step, self.at) = (step, 0);
        self.at_id.clear();
        if STEPS.get(step) == Some(&Step::Newest) {
            // The index now has messages up to this position. Messages that enter it later were examined in the log.
            self.indexed = meta::sent_indexed(db)? as i64;
            self.at = self.indexed;
        }
        self.keep(db)
    }

    fn keep(&self, db: &Connection) -> Outcome<()> {
        let sql = sql!(
            "UPDATE erasure SET conversation = $3, step = $4, at = $5, at_id = $6, indexed = $7 \
                   WHERE site = $1 AND user = $2"
        );
        let Left { user, conversation, step, at, at_id, indexed, .. } = self;
        let values = params![user.site.0, user.num, conversation, *step as i64, at, at_id, indexed];
        db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// The least number, for a step that has not begun: ids of rooms and files may be negative here.
    fn after(&self) -> i64 {
        if self.at == 0 { i64::MIN } else { self.at }
    }

    fn take(
        &mut self,
        batch: &mut Batch<'_>,
        step: Step,
        now: Timestamp,
        limit: u32,
        slice: &mut EraseSlice,
    ) -> Outcome<Progress> {
        match step {
            Step::Rooms => self.rooms(batch, limit, slice),
            Step::Conversations => self.conversations(batch, limit, slice),
            Step::Files => self.files(batch, limit.min(MOST_FILES), slice),
            Step::Newest => self.newest(batch, now, limit),
            Step::Written => self.written(batch, now, limit),
            Step::Reactions => {
                let sql = sql!(concat!(
                    "SELECT DISTINCT message FROM reaction",
                    indexed_by!("reaction_user"),
                    " WHERE site = $1 AND user = $2 AND message > $3 ORDER BY message LIMIT $4"
                ));
                self.naming(batch, sql, limit)
            }
            Step::Votes => {
                let sql = sql!(concat!(
                    "SELECT DISTINCT message FROM vote",
                    indexed_by!("vote_user"),
                    " WHERE site = $1 AND user = $2 AND message > $3 ORDER BY message LIMIT $4"
                ));
                self.naming(batch, sql, limit)
            }
            Step::Forwards => {
                let sql = sql!(concat!(
                    "SELECT message FROM forward",
                    indexed_by!("forward_author"),
                    " WHERE site = $1 AND author = $2 AND message > $3 ORDER BY message LIMIT $4"
                ));
                self.naming(batch, sql, limit)
            }
        }
    }

    /// Publishes the new id to members of rooms where the user is or was a member. An erased user leaves. If they were
    /// the only owner, another member becomes owner.
    fn rooms(&mut self, batch: &mut Batch<'_>, limit: u32, slice: &mut EraseSlice) -> Outcome<Progress> {
        let user = self.user;
        let sql = sql!(
            "SELECT room FROM membership WHERE site = $1 AND user = $2 AND room > $3 ORDER BY room LIMIT $4"
        );
        let keys = numbers(batch.db, sql, params![user.site.0, user.num, self.after(), limit])?;
        let mut recipients = 0;
        for key in &keys {
            self.at = *key;
            let id = ConversationId { site: user.site, key: *key as u64 };
            let Some(room) = room::load(batch.db, id)? else { continue };
            let mine = room::membership(batch.db, id, user)?;
            let stays = self.kind == Kind::Renamed;
            let is_in = mine.as_ref().is_some_and(|mine| matches!(mine.state, MemberState::In(_)));
            if is_in && !stays {
                if member::owners_beside(batch.db, &room, mine.as_ref())?.is_some_and(|owners| owners <= 1)
                    && let Some(next_owner) = next_owner(batch.db, id, user)?
                {
                    let before = room::membership(batch.db, id, next_owner)?;
                    member::put(batch, &room, next_owner, before, MemberState::In(Role::Owner))?;
                }
                member::put(batch, &room, user, mine, MemberState::Out(LeftReason::Left))?;
            }
            let members = batch.state.members.of(batch.db, id)?;
            recipients += members.len();
            if self.kind == Kind::ErasedWithMessages
                && let Some(now) = room::change::remove_picture_of(batch, &room, user)?
            {
                slice.rooms.push((id, now, members.clone()));
            }
            slice.audience.push(members);
            if recipients >= MOST_RECIPIENTS {
                break;
            }
        }
        if keys.is_empty() {
            return Ok(Progress::Done);
        }
        batch.next_number();
        slice.renamed_at = batch.position();
        Ok(Progress::Some)
    }

    /// Publishes the new id to the other member of each direct conversation.
    fn conversations(
        &mut self,
        batch: &mut Batch<'_>,
        limit: u32,
        slice: &mut EraseSlice,
    ) -> Outcome<Progress> {
        let keys = conversation_keys(batch.db, self, limit)?;
        let Some(last) = keys.last() else { return Ok(Progress::Done) };
        let ids = keys.iter().map(|key| ConversationId { site: self.user.site, key: *key as u64 });
        let others = ids.clone().filter_map(|id| Some(id.other(self.user)?.num)).collect();
        batch.next_number();
        slice.audience.push(Arc::new(others));
        slice.renamed_at = batch.position();
        for id in ids {
            slice.conversations.extend(renew_conversation(batch, self.user, id)?);
        }
        self.conversation = *last;
        Ok(Progress::Some)
    }

    /// Forwards keep the files of a deleted message, but not those of an erased user.
    fn files(&mut self, batch: &mut Batch<'_>, limit: u32, slice: &mut EraseSlice) -> Outcome<Progress> {
        if self.kind != Kind::ErasedWithMessages {
            return Ok(Progress::Done);
        }
        let user = self.user;
        let sql = sql!(concat!(
            "SELECT id FROM file",
            indexed_by!("file_owner"),
            " WHERE site = $1 AND owner = $2 AND message > 0 \
                   AND id > $3 ORDER BY id LIMIT 1"
        ));
        let mut changed = 0;
        let mut after = self.after();
        while changed < limit {
            let found = numbers(batch.db, sql, params![user.site.0, user.num, after])?;
            let Some(number) = found.first() else { break };
            let id = FileId { site: user.site, number: *number as u64 };
            match file::take_from_forward(batch.db, id, user)? {
                Some(message) => {
                    slice.changed.extend(message_change::renewed(batch, user.site, message)?);
                    changed += 1;
                }
                // The file is only in the user's own message, and is removed with it.
                None => after = *number,
            }
        }
        self.at = after;
        Ok(if changed == 0 { Progress::Done } else { Progress::Some })
    }

    fn newest(&mut self, batch: &mut Batch<'_>, now: Timestamp, limit: u32) -> Outcome<Progress> {
        let user = self.user;
        let sql = sql!(
            "SELECT position FROM message WHERE position > $3 AND position <= $4 AND site = $1 AND sender = $2 \
                   ORDER BY position LIMIT $5"
        );
        let upto = self.began.min(self.at + MOST_EXAMINED);
        let values = params![user.site.0, user.num, self.at, upto, limit];
        let positions = numbers(batch.db, sql, values)?;
        for position in &positions {
            self.write(batch, *position, now)?;
            self.at = *position;
        }
        if positions.len() < limit as usize {
            self.at = upto;
        }
        Ok(if positions.is_empty() && self.at >= self.began { Progress::Done } else { Progress::Some })
    }

    fn written(&mut self, batch: &mut Batch<'_>, now: Timestamp, limit: u32) -> Outcome<Progress> {
        let user = self.user;
        let sql = sql!(
            "SELECT client_id, position FROM sent WHERE site = $1 AND user = $2 AND client_id > $3 \
                   ORDER BY client_id LIMIT $4"
        );
        let mut statement = batch.db.prepare_cached(sql)?;
        let values = params![user.site.0, user.num, self.at_id, limit];
        let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows: Vec<(String, i64)> = rows.collect::<Result<_, _>>()?;
        if rows.is_empty() {
            return Ok(Progress::Done);
        }
        for (client_id, position) in rows {
            if position <= self.indexed {
                self.write(batch, position, now)?;
            }
            self.at_id = client_id;
        }
        Ok(Progress::Some)
    }

    /// One message of the user.
    fn write(&self, batch: &mut Batch<'_>, position: i64, now: Timestamp) -> Outcome<()> {
        match self.kind {
            Kind::ErasedWithMessages => erase_message(batch, self.user, position, now),
            Kind::Erased => anonymize_message(batch, self.user, position, now),
            Kind::Renamed => message_change::renew(batch, self.user.site, position as u64).map(drop),
        }
    }

    /// Messages of others that name the user. `sql`: takes site, user, the last message that is done, and a limit.
    fn naming(&mut self, batch: &mut Batch<'_>, sql: &str, limit: u32) -> Outcome<Progress> {
        let user = self.user;
        let messages = numbers(batch.db, sql, params![user.site.0, user.num, self.at, limit])?;
        for position in &messages {
            message_change::renew(batch, user.site, *position as u64)?;
            self.at = *position;
        }
        Ok(if messages.is_empty() { Progress::Done } else { Progress::Some })
    }
}

fn numbers(db: &Connection, sql: &str, values: &[&dyn ToSql]) -> Outcome<Vec<i64>> {
    let mut statement = db.prepare_cached(sql)?;
    let found = statement.query_map(values, |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn renew_conversation(
    batch: &mut Batch<'_>,
    user: UserId,
    id: ConversationId,
) -> Outcome<Option<(UserId, ConversationRow)>> {
    let (Some(other), Some(me)) = (id.other(user), side_of(id, user)) else { return Ok(None) };
    if batch.conversation(id)?.is_none() {
        return Ok(None);
    }
    let number = batch.next_number();
    batch.change(id, |direct| direct.sides[1 - me].changed = number);
    let Some(direct) = batch.conversation(id)?.cloned() else { return Ok(None) };
    let mut lines = Lines::new(batch.db, other)?;
    let row = conversation::assemble(batch.db, &mut lines, other, id, &direct)?;
    Ok(row.map(|row| (other, row)))
}

/// The next owner: a moderator, else a member, by name.
fn next_owner(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<UserId>> {
    let sql = sql!(concat!(
        "SELECT user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8 AND user <> $3 ORDER BY state, folded, sub LIMIT 1"
    ));
    let values = params![id.site.0, id.key as i64, user.num];
    let found = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(found.map(|num| UserId { site: id.site, num }))
}

/// Ascending. Conversations in which the user has the higher number come first, because their keys are less.
fn conversation_keys(db: &Connection, left: &Left, limit: u32) -> Outcome<Vec<i64>> {
    let as_high = sql!(concat!(
        "SELECT key FROM conversation",
        indexed_by!("conversation_high"),
        " WHERE site = $1 AND (key & 4294967295) = $2 AND key > $3 ORDER BY key LIMIT $4"
    ));
    let as_low = sql!(
        "SELECT key FROM conversation WHERE site = $1 AND key BETWEEN $2 << 32 AND ($2 << 32) + 4294967295 \
                  AND key > $3 ORDER BY key LIMIT $4"
    );
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

/// Gives a message that stays a new version. Its extension may contain addresses of the user, so it is removed; a message
/// that had nothing else is erased.
fn anonymize_message(batch: &mut Batch<'_>, user: UserId, position: i64, now: Timestamp) -> Outcome<()> {
    let sql = sql!(
        "UPDATE message SET extension = NULL WHERE position = $1 AND extension IS NOT NULL \
         RETURNING body = '' AND files = 0"
    );
    let was_opaque = batch.db.prepare_cached(sql)?.query_row([position], |row| row.get(0)).optional()?;
    match was_opaque {
        Some(true) => erase_message(batch, user, position, now),
        Some(false) | None => message_change::renew(batch, user.site, position as u64).map(drop),
    }
}

/// Removes the body, its former versions, and its files.
fn erase_message(batch: &mut Batch<'_>, user: UserId, position: i64, now: Timestamp) -> Outcome<()> {
    let changed = message_change::erase(batch, position as u64, now)?;
    let db = batch.db;
    let site = user.site.0;
    db.prepare_cached(sql!("DELETE FROM message_revision WHERE site = $1 AND message = $2"))?
        .execute(params![site, position])?;
    db.prepare_cached(sql!("DELETE FROM sent WHERE site = $1 AND user = $2 AND position = $3"))?
        .execute(params![site, user.num, position])?;
    if changed.is_some_and(|changed| !changed.changed) {
        // The message was deleted before the user was erased.
        message_change::renew(batch, user.site, position as u64)?;
    }
    Ok(())
}

/// After all erasures: rewrites the word index without the erased messages, and empties the log. Returns whether there
/// is more to do.
fn purge(batch: &mut Batch<'_>) -> Outcome<bool> {
    let now = meta::purge(batch.db)?;
    if now == Purge::Nothing {
        return Ok(false);
    }
    let is_done = search::rewrite(batch.db, now == Purge::Begin)?;
    meta::set_purge(batch.db, if is_done { Purge::Nothing } else { Purge::UnderWay })?;
    batch.state.empties_log |= is_done;
    Ok(!is_done)
}

fn finish(db: &Connection, left: &Left, now: Timestamp) -> Outcome<()> {
    let key = [left.user.site.0, left.user.num];
    if left.kind == Kind::ErasedWithMessages {
        moderation::erased::remove_words(db, left.user, now)?;
    }
    if left.kind != Kind::Renamed {
        meta::set_purge(db, Purge::Begin)?;
        db.prepare_cached(sql!("DELETE FROM membership WHERE site = $1 AND user = $2"))?.execute(key)?;
    }
    db.prepare_cached(sql!("DELETE FROM erasure WHERE site = $1 AND user = $2"))?.execute(key)?;
    Ok(())
}
