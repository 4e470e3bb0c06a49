//! Closes a room for good, in slices.

use crate::engine::{Connection, params};
use chat::{
    Act, By, ConversationId, LeftReason, MOST_CLOSED_AT_ONCE, MemberState, Refusal, RoomAvatar, RoomClosed,
    SiteId, Timestamp, UserId,
};

use super::{RoomRow, allowed, link, member, membership};
use crate::fault::Outcome;
use crate::file;
use crate::moderation::audit;
use crate::writer::Batch;

/// The kind of a closed room in the table.
pub(super) const CLOSED: i64 = 3;
/// The states of a former owner: the room still counts towards the rooms that the user may create in a day.
pub(super) const WAS_OWNER: i64 = 12;
/// The owner was the last member, and has left.
pub(super) const LEFT_AS_LAST: i64 = 13;

pub(super) fn some(
    batch: &mut Batch<'_>,
    id: ConversationId,
    by: UserId,
    reason: Option<&str>,
    now: Timestamp,
) -> Outcome<Result<RoomClosed, Refusal>> {
    let room = match allowed(batch.db, id, by, Act::Close)? {
        Ok((room, _)) => room,
        Err(refusal) => return Ok(Err(refusal)),
    };
    // A node that dies now continues with the other slices, so the first one has the reason.
    if shut(batch.db, &room)? {
        record(batch.db, id, by, reason, now)?;
    }
    let mut members = next(batch.db, id, Some(by))?;
    // Owners and moderators come first, so that nobody is invited between two slices.
    let more = members.len() as u32 == MOST_CLOSED_AT_ONCE;
    if !more {
        members.push(by.num);
        link::end_all(batch.db, id)?;
    }
    end_memberships(batch, &room, &members)?;
    Ok(Ok(RoomClosed { members, position: batch.position(), more }))
}

/// The closed rooms that still have members: their closing was interrupted. Reads all rooms once.
pub(super) fn unfinished(db: &Connection) -> Outcome<Vec<ConversationId>> {
    let sql = sql!("SELECT site, key FROM room WHERE kind = $1 AND members > 0");
    let mut statement = db.prepare_cached(sql)?;
    let id = |row: &crate::engine::Row<'_>| {
        Ok(ConversationId { site: SiteId(row.get(0)?), key: row.get::<_, i64>(1)? as u64 })
    };
    Ok(statement.query_map([CLOSED], id)?.collect::<Result<_, _>>()?)
}

/// The next slice of a closing that was interrupted.
pub(super) fn rest(batch: &mut Batch<'_>, id: ConversationId) -> Outcome<RoomClosed> {
    let nothing = RoomClosed { members: Vec::new(), position: batch.position(), more: false };
    let Some(room) = super::load(batch.db, id)? else { return Ok(nothing) };
    let sql = sql!("SELECT 1 FROM room WHERE site = $1 AND key = $2 AND kind = $3");
    if !batch.db.prepare_cached(sql)?.exists(params![id.site.0, id.key as i64, CLOSED])? {
        return Ok(nothing);
    }
    let members = next(batch.db, id, None)?;
    let more = members.len() as u32 == MOST_CLOSED_AT_ONCE;
    if !more {
        link::end_all(batch.db, id)?;
    }
    end_memberships(batch, &room, &members)?;
    Ok(RoomClosed { members, position: batch.position(), more })
}

/// Closes the room of an owner who has left it as the last member.
pub(super) fn by_last(batch: &mut Batch<'_>, room: &RoomRow, user: UserId) -> Outcome<()> {
    shut(batch.db, room)?;
    link::end_all(batch.db, room.id)?;
    set_state(batch.db, room.id, user.num, LEFT_AS_LAST)
}

/// Nobody finds or enters the room from here on. False: it was closed before.
fn shut(db: &Connection, room: &RoomRow) -> Outcome<bool> {
    if let Some(RoomAvatar::Upload(picture)) = room.room.avatar {
        file::drop_room_picture(db, picture)?;
    }
    let sql = sql!("UPDATE room SET kind = $3, avatar = NULL WHERE site = $1 AND key = $2 AND kind <> $3");
    Ok(db.prepare_cached(sql)?.execute(params![room.id.site.0, room.id.key as i64, CLOSED])? > 0)
}

fn end_memberships(batch: &mut Batch<'_>, room: &RoomRow, members: &[u32]) -> Outcome<()> {
    let id = room.id;
    for num in members {
        let user = UserId { site: id.site, num: *num };
        let before = membership(batch.db, id, user)?;
        let owned = before.as_ref().is_some_and(|mine| mine.state == MemberState::In(chat::Role::Owner));
        member::put(batch, room, user, before, MemberState::Out(LeftReason::Closed))?;
        if owned {
            set_state(batch.db, id, *num, WAS_OWNER)?;
        }
    }
    Ok(())
}

fn set_state(db: &Connection, id: ConversationId, user: u32, state: i64) -> Outcome<()> {
    let sql = sql!("UPDATE membership SET state = $4 WHERE site = $1 AND user = $2 AND room = $3");
    db.prepare_cached(sql)?.execute(params![id.site.0, user, id.key as i64, state])?;
    Ok(())
}

/// Members besides `by`.
fn next(db: &Connection, id: ConversationId, by: Option<UserId>) -> Outcome<Vec<u32>> {
    let sql = sql!(concat!(
        "SELECT user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8 AND user <> $3 ORDER BY state LIMIT $4"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let by = by.map_or(-1, |by| i64::from(by.num));
    let values = params![id.site.0, id.key as i64, by, MOST_CLOSED_AT_ONCE];
    Ok(statement.query_map(values, |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn record(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    reason: Option<&str>,
    time: Timestamp,
) -> Outcome<()> {
    let (by, detail, conversation) = (By::User(by), reason.unwrap_or_default(), Some(id));
    let act = "close_room";
    audit::note(db, &audit::Entry { site: id.site, by, act, user: None, conversation, detail, time })
}
