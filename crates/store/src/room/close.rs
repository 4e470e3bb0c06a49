//! Closes a room for good, in slices.

use chat::{
    Act, By, ConversationId, LeftReason, MOST_CLOSED_AT_ONCE, MemberState, Refusal, RoomAvatar, RoomClosed,
    Timestamp, UserId,
};
use rusqlite::{Connection, params};

use super::{allowed, link, member, membership};
use crate::fault::Outcome;
use crate::file;
use crate::moderation::audit;
use crate::writer::Batch;

/// The kind of a closed room in the table.
pub(super) const CLOSED: i64 = 3;
/// The state of a former owner: the room still counts towards the rooms that the user may create in a day.
pub(super) const WAS_OWNER: i64 = 12;

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
    if let Some(RoomAvatar::Upload(picture)) = room.room.avatar {
        file::drop_room_picture(batch.db, picture)?;
    }
    let sql = sql!("UPDATE room SET kind = $3, avatar = NULL WHERE site = $1 AND key = $2");
    batch.db.prepare_cached(sql)?.execute(params![id.site.0, id.key as i64, CLOSED])?;
    let mut members = next(batch.db, id, by)?;
    // Owners and moderators come first, so that nobody is invited between two slices.
    let more = members.len() as u32 == MOST_CLOSED_AT_ONCE;
    if !more {
        members.push(by.num);
        link::end_all(batch.db, id)?;
        record(batch.db, id, by, reason, now)?;
    }
    for num in &members {
        let user = UserId { site: id.site, num: *num };
        let before = membership(batch.db, id, user)?;
        let owned = before.as_ref().is_some_and(|mine| mine.state == MemberState::In(chat::Role::Owner));
        member::put(batch, &room, user, before, MemberState::Out(LeftReason::Closed))?;
        if owned {
            let sql = sql!("UPDATE membership SET state = $4 WHERE site = $1 AND user = $2 AND room = $3");
            batch.db.prepare_cached(sql)?.execute(params![id.site.0, num, id.key as i64, WAS_OWNER])?;
        }
    }
    Ok(Ok(RoomClosed { members, position: batch.position(), more }))
}

/// Members besides `by`.
fn next(db: &Connection, id: ConversationId, by: UserId) -> Outcome<Vec<u32>> {
    let sql = sql!(concat!(
        "SELECT user FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state < 8 AND user <> $3 ORDER BY state LIMIT $4"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let values = params![id.site.0, id.key as i64, by.num, MOST_CLOSED_AT_ONCE];
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
