//! The pinned messages of a conversation.

use crate::engine::{Connection, params};
use chat::{Act, ConversationId, Refusal, StoredMessage, UserId};

use crate::conversation::side_of;
use crate::fault::Outcome;
use crate::message::Lines;
use crate::room;

/// Newest first, for a user who may read the conversation.
pub(crate) fn pins(
    db: &Connection,
    reader: UserId,
    id: ConversationId,
) -> Outcome<Result<Vec<StoredMessage>, Refusal>> {
    if id.is_room() {
        if let Err(refusal) = room::allowed(db, id, reader, Act::Read)? {
            return Ok(Err(refusal));
        }
    } else if side_of(id, reader).is_none() {
        return Ok(Err(Refusal::NoSuchConversation));
    }
    let mut lines = Lines::new(db, reader)?;
    let mut messages = Vec::new();
    for at in pinned(db, id)? {
        messages.extend(lines.at(at)?.map(|line| line.message));
    }
    Ok(Ok(messages))
}

/// Positions of the pinned messages, the newest first.
pub(super) fn pinned(db: &Connection, id: ConversationId) -> Outcome<Vec<u64>> {
    let sql = sql!(concat!(
        "SELECT message FROM message_change",
        indexed_by!("message_pinned"),
        " WHERE site = $1 AND conversation = $2 AND pinned = 1 ORDER BY message DESC"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let pinned =
        statement.query_map(params![id.site.0, id.key as i64], |row| Ok(row.get::<_, i64>(0)? as u64))?;
    Ok(pinned.collect::<Result<_, _>>()?)
}
