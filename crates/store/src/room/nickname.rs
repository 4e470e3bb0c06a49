//! Nicknames of members, and entering a room.

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    Act, Alias, ConversationId, Entered, MemberState, Named, Naming, Nickname, NicknameChange, Nicknamed,
    Occupant, Refusal, Role, Room, RoomLimits, RoomName, Sub, Timestamp, UserId, may,
};

use super::{allowed, load, member, membership, one, request};
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
    let mut joined = match member::join(batch, &RoomName::Id(id), user, limits, now)? {
        Ok(joined) => joined,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let change = match wanted {
        Some(nickname) => set(batch, id, user, Some(nickname))?,
        None => None,
    };
    if let Some(change) = &change {
        joined.position = change.position;
        if let Some(row) = one(batch.db, user, id)? {
            joined.row = row;
        }
    }
    let nick = of(batch.db, id, user)?.ok_or(Fault::no_row())?;
    Ok(Ok(Entered { joined, nick, change }))
}

/// Sets or removes the nickname of a member.
pub(crate) fn change(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    nickname: Option<&Nickname>,
) -> Outcome<Result<Nicknamed, Refusal>> {
    let mine = match allowed(batch.db, id, user, Act::List)? {
        Ok((_, mine)) => mine,
        Err(refusal) => return Ok(Err(refusal)),
    };
    match mine.map(|mine| mine.state) {
        Some(MemberState::In(Role::Muted)) if nickname.is_some() => return Ok(Err(Refusal::Muted)),
        Some(MemberState::In(_)) => {}
        Some(MemberState::Out(_)) | None => return Ok(Err(Refusal::NotAMember)),
    }
    if let Some(nickname) = nickname
        && is_taken(batch.db, id, user, &nickname.folded())?
    {
        return Ok(Err(Refusal::UserExists));
    }
    let change = set(batch, id, user, nickname)?;
    let is_chosen = chosen(batch.db, id, user)?.is_some();
    let nick = of(batch.db, id, user)?.ok_or(Fault::no_row())?;
    Ok(Ok(Nicknamed { nick, is_chosen, change }))
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

fn chosen(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<Arc<str>>> {
    let sql = sql!("SELECT nick FROM membership WHERE site = $1 AND user = $2 AND room = $3");
    let values = params![id.site.0, user.num, id.key as i64];
    let nick: Option<Option<String>> =
        db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(nick.flatten().map(Arc::from))
}

/// The user's name in the room, member or not. None: no such user.
fn of(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<Arc<str>>> {
    if let Some(nick) = chosen(db, id, user)? {
        return Ok(Some(nick));
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
fn set(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    nickname: Option<&Nickname>,
) -> Outcome<Option<NicknameChange>> {
    let name = user::by_id(batch.db, user)?.map(|row| row.profile.name);
    let nickname = nickname.filter(|nickname| name.as_deref() != Some(nickname.as_str()));
    if chosen(batch.db, id, user)?.as_deref() == nickname.map(Nickname::as_str) {
        return Ok(None);
    }
    let sql =
        sql!("UPDATE membership SET nick = $4, nick_folded = $5 WHERE site = $1 AND user = $2 AND room = $3");
    let (nick, folded) = (nickname.map(Nickname::as_str), nickname.map(Nickname::folded));
    batch.db.prepare_cached(sql)?.execute(params![id.site.0, user.num, id.key as i64, nick, folded])?;
    let number = batch.next_number() as i64;
    let sql = sql!("UPDATE room SET nicknames = $3, changed = $3 WHERE site = $1 AND key = $2");
    batch.db.prepare_cached(sql)?.execute([i64::from(id.site.0), id.key as i64, number])?;
    let room = load(batch.db, id)?.ok_or(Fault::no_row())?.room;
    let members = batch.state.members.of(batch.db, id)?;
    Ok(Some(NicknameChange { room, position: batch.position(), members }))
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
    naming: Naming,
) -> Outcome<Result<Vec<Named>, Refusal>> {
    if let Err(refusal) = allowed(db, id, asker, Act::Read)? {
        return Ok(Err(refusal));
    }
    let mut names = Vec::with_capacity(users.len());
    for sub in users {
        let Some(row) = user::by_sub(db, id.site, sub)? else { continue };
        let name = match naming {
            Naming::Shown => of(db, id, row.id)?,
            Naming::Chosen => chosen(db, id, row.id)?,
        };
        names.extend(name.map(|name| (sub.clone(), name)));
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
