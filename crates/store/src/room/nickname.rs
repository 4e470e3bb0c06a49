//! Nicknames of members, and entering a room.

use std::sync::Arc;

use chat::{
    Act, Alias, ConversationId, Entered, Named, Nickname, Occupant, Refusal, Role, Room, RoomLimits,
    RoomName, Sub, Timestamp, UserId, may,
};
use rusqlite::{Connection, OptionalExtension, params};

use super::{allowed, load, member, membership, request};
use crate::fault::{Fault, Outcome};
use crate::user;
use crate::writer::Batch;

pub(crate) fn enter(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    nickname: Option<&Nickname>,
    limits: RoomLimits,
    now: Timestamp,
) -> Outcome<Result<Entered, Refusal>> {
    // First, so that a conflict does not reveal a private room.
    if let Err(refusal) = may_enter(batch.db, id, user, now)? {
        return Ok(Err(refusal));
    }
    let before = of(batch.db, id, user)?;
    let wanted = nickname.filter(|nickname| Some(nickname.as_str()) != before.as_deref());
    if let Some(nickname) = wanted
        && is_taken(batch.db, id, user, &nickname.folded())?
    {
        return Ok(Err(Refusal::UserExists));
    }
    let joined = match member::join(batch, &RoomName::Id(id), user, limits, now)? {
        Ok(joined) => joined,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(nickname) = wanted {
        set(batch.db, id, user, nickname)?;
    }
    let nick = of(batch.db, id, user)?.ok_or(Fault::Sql(rusqlite::Error::QueryReturnedNoRows))?;
    Ok(Ok(Entered { joined, nick }))
}

fn may_enter(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    now: Timestamp,
) -> Outcome<Result<(), Refusal>> {
    let Some(room) = load(db, id)?.filter(|_| id.site == user.site) else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let is_asked = request::of_room(db, id, user)?.is_some();
    let act = if is_asked { Act::JoinByLink } else { Act::Join };
    let mine = membership(db, id, user)?;
    let standing = member::standing_at(db, id, user, mine.as_ref(), now)?;
    Ok(may(standing, act, room.rules()))
}

/// The user's name in the room, member or not. None: no such user.
fn of(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<Arc<str>>> {
    let sql = sql!("SELECT nick FROM membership WHERE site = $1 AND user = $2 AND room = $3");
    let values = params![id.site.0, user.num, id.key as i64];
    let chosen: Option<Option<String>> =
        db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    if let Some(nick) = chosen.flatten() {
        return Ok(Some(nick.into()));
    }
    Ok(user::by_id(db, user)?.map(|row| row.profile.name))
}

/// Whether another member has this nickname, or this display name and no nickname.
fn is_taken(db: &Connection, id: ConversationId, user: UserId, folded: &str) -> Outcome<bool> {
    let sql = sql!(concat!(
        "SELECT 1 FROM membership",
        indexed_by!("membership_nick"),
        " WHERE site = $1 AND room = $2 AND nick_folded = $3 AND user <> $4"
    ));
    let values = params![id.site.0, id.key as i64, folded, user.num];
    if db.prepare_cached(sql)?.exists(values)? {
        return Ok(true);
    }
    // One range of the index for each role.
    let sql = sql!(concat!(
        "SELECT 1 FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state = $5 AND state < 8 AND folded = $3 AND nick IS NULL AND user <> $4"
    ));
    for role in [Role::Owner, Role::Moderator, Role::Member, Role::Muted] {
        let state = super::state_code(chat::MemberState::In(role));
        let values = params![id.site.0, id.key as i64, folded, user.num, state];
        if db.prepare_cached(sql)?.exists(values)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A nickname that is the display name is none, so that it follows a change of that name.
fn set(db: &Connection, id: ConversationId, user: UserId, nickname: &Nickname) -> Outcome<()> {
    let is_name = user::by_id(db, user)?.is_some_and(|row| *row.profile.name == *nickname.as_str());
    let nick = (!is_name).then(|| (nickname.as_str(), nickname.folded()));
    let sql =
        sql!("UPDATE membership SET nick = $4, nick_folded = $5 WHERE site = $1 AND user = $2 AND room = $3");
    let (nick, folded) = nick.unzip();
    db.prepare_cached(sql)?.execute(params![id.site.0, user.num, id.key as i64, nick, folded])?;
    Ok(())
}

/// A nickname ends with the membership: others may have it then.
pub(super) fn end(db: &Connection, id: ConversationId, user: UserId) -> Outcome<()> {
    let sql = sql!(
        "UPDATE membership SET nick = NULL, nick_folded = NULL \
               WHERE site = $1 AND user = $2 AND room = $3 AND nick IS NOT NULL"
    );
    db.prepare_cached(sql)?.execute(params![id.site.0, user.num, id.key as i64])?;
    Ok(())
}

pub(crate) fn list(
    db: &Connection,
    id: ConversationId,
    asker: UserId,
    users: &[Sub],
) -> Outcome<Result<Vec<Named>, Refusal>> {
    if let Err(refusal) = allowed(db, id, asker, Act::Read)? {
        return Ok(Err(refusal));
    }
    let mut names = Vec::with_capacity(users.len());
    for sub in users {
        if let Some(row) = user::by_sub(db, id.site, sub)?
            && let Some(name) = of(db, id, row.id)?
        {
            names.push((sub.clone(), name));
        }
    }
    Ok(Ok(names))
}

pub(crate) fn room(db: &Connection, id: ConversationId, asker: UserId) -> Outcome<Result<Room, Refusal>> {
    Ok(allowed(db, id, asker, Act::Read)?.map(|(row, _)| Arc::unwrap_or_clone(row.room)))
}

/// The room with this alias, for a user who may enter it.
pub(crate) fn find(
    db: &Connection,
    alias: &Alias,
    asker: UserId,
    now: Timestamp,
) -> Outcome<Result<(ConversationId, Room), Refusal>> {
    let Some(room) = super::of_alias(db, asker.site, alias.as_str())? else {
        return Ok(Err(Refusal::NoSuchConversation));
    };
    let id = room.id;
    Ok(may_enter(db, id, asker, now)?.map(|()| (id, Arc::unwrap_or_clone(room.room))))
}

/// A member as an occupant of the room.
pub(super) fn occupant(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    role: Role,
) -> Outcome<Option<Occupant>> {
    let (row, nick) = (user::by_id(db, user)?, of(db, id, user)?);
    Ok(row.zip(nick).map(|(row, nick)| {
        let (site_role, is_guest) = (row.on_site.role, row.profile.guest);
        Occupant { sub: row.profile.sub, nick, role, site_role, is_guest }
    }))
}
