//! Members: who comes, who goes, who gets which role.

use chat::{
    Act, By, ConversationId, Joined, LeftReason, MOST_LEFT_BY_BLOCK, MemberAction, MemberChanged, MemberRow,
    Position, Refusal, Role, RoomLimits, RoomName, RoomRequestState, RoomSanction, SanctionKind, Standing,
    Timestamp, UserId, after_sanction, kept_sanction, may, sanction_behind, until_and_reason,
};
use rusqlite::{Connection, params};

use super::{MemberState, Membership, RoomRow, allowed, find, link, membership, one, request, standing};
use crate::fault::{Fault, Outcome};
use crate::marks::Marks;
use crate::moderation::{audit, sanction};
use crate::user;
use crate::writer::Batch;

pub(crate) fn join(
    batch: &mut Batch<'_>,
    name: &RoomName,
    user: UserId,
    limits: RoomLimits,
    now: Timestamp,
) -> Outcome<Result<Joined, Refusal>> {
    let room = match find(batch.db, name)? {
        Some(room) if room.id.site == user.site => room,
        Some(_) => return Ok(Err(Refusal::NoSuchConversation)),
        None => match name {
            RoomName::Page(site, page) if *site == user.site => {
                if let Err(refusal) = has_room_for_one(batch.db, None, user, limits)? {
                    return Ok(Err(refusal));
                }
                super::change::make_for_page(batch, user.site, page, now)?
            }
            RoomName::Id(_) | RoomName::Page(..) => return Ok(Err(Refusal::NoSuchConversation)),
        },
    };
    let is_asked = request::of_room(batch.db, room.id, user)?.is_some();
    let act = if is_asked { Act::JoinByLink } else { Act::Join };
    enter(batch, &room, user, act, limits, now)
}

/// Makes a member of somebody who may `act` in the room, if they are not one already.
pub(super) fn enter(
    batch: &mut Batch<'_>,
    room: &RoomRow,
    user: UserId,
    act: Act,
    limits: RoomLimits,
    now: Timestamp,
) -> Outcome<Result<Joined, Refusal>> {
    let before = membership(batch.db, room.id, user)?;
    let standing = standing_at(batch.db, room.id, user, before.as_ref(), now)?;
    if let Err(refusal) = may(standing, act, room.rules()) {
        return Ok(Err(refusal));
    }
    let is_member = matches!(standing, Standing::In(_));
    if !is_member {
        if let Err(refusal) = has_room_for_one(batch.db, Some(room), user, limits)? {
            return Ok(Err(refusal));
        }
        let role = role_of_new(batch.db, room.id, user, now)?;
        put(batch, room, user, before, MemberState::In(role))?;
        request::came_in(batch.db, room.id, user)?;
    }
    let row = one(batch.db, user, room.id)?.ok_or(Fault::Sql(rusqlite::Error::QueryReturnedNoRows))?;
    Ok(Ok(Joined { row, position: batch.position(), before: is_member }))
}

/// How a user stands to a room now. A sanction that is over holds no more, even if it was not lifted yet.
pub(super) fn standing_at(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    membership: Option<&Membership>,
    now: Timestamp,
) -> Outcome<Standing> {
    let standing = standing(membership);
    let Some(kind) = sanction_behind(standing) else { return Ok(standing) };
    let until = sanction::until(db, id, user, kind)?;
    Ok(if until.is_some_and(|until| until <= now) { after_sanction(standing) } else { standing })
}

/// The role of a user who comes in: a mute outlasts leaving.
pub(super) fn role_of_new(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    now: Timestamp,
) -> Outcome<Role> {
    let until = sanction::until(db, id, user, SanctionKind::Mute)?;
    Ok(if until.is_some_and(|until| until > now) { Role::Muted } else { Role::Member })
}

/// None: a room that is yet to be made.
pub(crate) fn has_room_for_one(
    db: &Connection,
    room: Option<&RoomRow>,
    user: UserId,
    limits: RoomLimits,
) -> Outcome<Result<(), Refusal>> {
    if let Some(RoomRow { room, .. }) = room {
        let most = limits.members_of(room);
        if most > 0 && room.members >= most {
            return Ok(Err(Refusal::RoomFull));
        }
    }
    let has = if limits.per_user > 0 { memberships(db, user, 7)? } else { 0 };
    let is_full = limits.per_user > 0 && has >= limits.per_user;
    Ok(if is_full { Err(Refusal::TooManyRooms) } else { Ok(()) })
}

/// How many rooms that the user owns were made since then.
pub(crate) fn made_since(db: &Connection, user: UserId, since: Timestamp) -> Outcome<u32> {
    let sql = "SELECT count(*) FROM membership m JOIN room r ON r.site = m.site AND r.key = m.room \
               WHERE m.site = ?1 AND m.user = ?2 AND m.state = 0 AND r.created >= ?3";
    let values = params![user.site.0, user.num, since.0 as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// In how many rooms a user has a state up to this one.
pub(super) fn memberships(db: &Connection, user: UserId, state: i64) -> Outcome<u32> {
    let sql = "SELECT count(*) FROM membership WHERE site = ?1 AND user = ?2 AND state <= ?3";
    Ok(db.prepare_cached(sql)?.query_row(params![user.site.0, user.num, state], |row| row.get(0))?)
}

pub(crate) fn leave(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
) -> Outcome<Result<Position, Refusal>> {
    let (room, before) = match allowed(batch.db, id, user, Act::Leave)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if room.room.members > 1 && is_only_owner(batch.db, &room, before.as_ref())? {
        return Ok(Err(Refusal::LastOwner));
    }
    put(batch, &room, user, before, MemberState::Out(LeftReason::Left))?;
    request::went_out(batch.db, id, user)?;
    Ok(Ok(batch.position()))
}

/// Found through the rooms of `user`, of whom there are few, each by its key.
pub(crate) fn leave_rooms_of(
    batch: &mut Batch<'_>,
    user: UserId,
    blocked: UserId,
) -> Outcome<(Vec<ConversationId>, Position)> {
    let sql = "SELECT mine.room FROM membership mine \
               CROSS JOIN membership theirs ON theirs.site = mine.site AND theirs.user = ?3 AND theirs.room = mine.room \
               CROSS JOIN room ON room.site = mine.site AND room.key = mine.room \
               WHERE mine.site = ?1 AND mine.user = ?2 AND mine.state BETWEEN 1 AND 7 AND theirs.state = 0 \
               AND room.kind = 1 LIMIT ?4";
    let site = user.site;
    let values = params![site.0, user.num, blocked.num, MOST_LEFT_BY_BLOCK];
    let mut statement = batch.db.prepare_cached(sql)?;
    let rooms = statement
        .query_map(values, |row| Ok(ConversationId { site, key: row.get::<_, i64>(0)? as u64 }))?
        .collect::<Result<Vec<_>, _>>()?;
    let mut left = Vec::with_capacity(rooms.len());
    for id in rooms {
        let Some(room) = super::load(batch.db, id)? else { continue };
        let theirs = membership(batch.db, id, blocked)?;
        if is_only_owner(batch.db, &room, theirs.as_ref())? && leave(batch, id, user)?.is_ok() {
            left.push(id);
        }
    }
    Ok((left, batch.position()))
}

pub(crate) fn is_only_owner(
    db: &Connection,
    room: &RoomRow,
    membership: Option<&Membership>,
) -> Outcome<bool> {
    if membership.is_none_or(|mine| mine.state != MemberState::In(Role::Owner)) {
        return Ok(false);
    }
    let sql = "SELECT count(*) FROM membership INDEXED BY membership_room \
               WHERE site = ?1 AND room = ?2 AND state = 0 AND state < 8";
    let owners: i64 =
        db.prepare_cached(sql)?.query_row(params![room.id.site.0, room.id.key as i64], |row| row.get(0))?;
    Ok(owners <= 1)
}

pub(crate) fn change(
    batch: &mut Batch<'_>,
    id: ConversationId,
    by: UserId,
    user: UserId,
    (action, terms): (MemberAction, Option<&RoomSanction>),
    limits: RoomLimits,
    now: Timestamp,
) -> Outcome<Result<MemberChanged, Refusal>> {
    let before = membership(batch.db, id, user)?;
    let of = standing(before.as_ref());
    let act = match action {
        MemberAction::Invite => Act::Invite(of),
        MemberAction::Remove => Act::Remove(of),
        MemberAction::Ban => Act::Ban(of),
        MemberAction::Unban => Act::Unban(of),
        MemberAction::SetRole(to) => Act::SetRole { of, to },
    };
    let (room, _) = match allowed(batch.db, id, by, act)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(mut row) = user::by_id(batch.db, user)?.filter(|row| row.id.site == id.site) else {
        return Ok(Err(Refusal::NoSuchUser));
    };
    let after = match (action, of) {
        (MemberAction::Invite, Standing::Out) => {
            if let Err(refusal) = has_room_for_one(batch.db, Some(&room), user, limits)? {
                return Ok(Err(refusal));
            }
            Some(MemberState::In(role_of_new(batch.db, id, user, now)?))
        }
        (MemberAction::Remove, Standing::In(_)) => Some(MemberState::Out(LeftReason::Removed)),
        (MemberAction::Ban, Standing::In(_) | Standing::Out) => Some(MemberState::Out(LeftReason::Banned)),
        (MemberAction::Unban, Standing::Banned) => Some(MemberState::Out(LeftReason::Removed)),
        (MemberAction::SetRole(to), Standing::In(role)) if role != to => {
            if role == Role::Owner && is_only_owner(batch.db, &room, before.as_ref())? {
                return Ok(Err(Refusal::LastOwner));
            }
            Some(MemberState::In(to))
        }
        _ => None,
    };
    let was_in = matches!(of, Standing::In(_));
    if let Some(kept) = kept_sanction(id, user, action, terms, was_in) {
        sanction::keep(batch.db, id, user, &kept, now)?;
        row = user::by_id(batch.db, user)?.unwrap_or(row);
    }
    if let Some(terms) = terms {
        record_sanction(batch.db, id, by, user, terms, now)?;
    }
    let (mut seen, mut left) = (None, None);
    if let Some(after) = after {
        put(batch, &room, user, before, after)?;
        if terms.is_none() && act.keeps_order() && by != user {
            record(batch.db, id, by, user, action, now)?;
        }
        match after {
            MemberState::In(_) => seen = one(batch.db, user, id)?,
            MemberState::Out(reason) => left = was_in.then_some(reason),
        }
    }
    if matches!(action, MemberAction::Remove | MemberAction::Ban)
        && request::end(batch, id, user, RoomRequestState::Withdrawn)?
    {
        left = Some(LeftReason::Removed);
    }
    let standing = after.map_or(of, MemberState::standing);
    let member = MemberRow { user: row, standing };
    Ok(Ok(MemberChanged { member, position: batch.position(), seen, left, requested: false }))
}

fn record_sanction(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    user: UserId,
    terms: &RoomSanction,
    time: Timestamp,
) -> Outcome<()> {
    let RoomSanction { kind, until, reason, shows_reason: _ } = terms;
    let entry = audit::Entry {
        site: id.site,
        by: By::User(by),
        act: kind.kind().word(),
        user: Some(user),
        conversation: Some(id),
        detail: &until_and_reason(*until, reason),
        time,
    };
    audit::note(db, &entry)
}

fn record(
    db: &Connection,
    id: ConversationId,
    by: UserId,
    user: UserId,
    action: MemberAction,
    time: Timestamp,
) -> Outcome<()> {
    let (act, detail) = match action {
        MemberAction::Invite => ("invite", ""),
        MemberAction::Remove => ("remove", ""),
        MemberAction::Ban => ("ban", ""),
        MemberAction::Unban => ("unban", ""),
        MemberAction::SetRole(role) => (
            "set_role",
            match role {
                Role::Owner => "owner",
                Role::Moderator => "moderator",
                Role::Member => "member",
                Role::Muted => "muted",
            },
        ),
    };
    let (by, user) = (By::User(by), Some(user));
    audit::note(db, &audit::Entry { site: id.site, by, act, user, conversation: Some(id), detail, time })
}

/// Gives a user a state in a room, and the room its number of members.
pub(crate) fn put(
    batch: &mut Batch<'_>,
    room: &RoomRow,
    user: UserId,
    before: Option<Membership>,
    state: MemberState,
) -> Outcome<()> {
    let number = batch.next_number();
    let was_in = before.as_ref().is_some_and(|before| matches!(before.state, MemberState::In(_)));
    let is_in = matches!(state, MemberState::In(_));
    let fresh = Membership {
        state,
        received: room.newest.seq,
        read: room.newest.seq,
        sent: before.as_ref().map_or(Timestamp(0), |before| before.sent),
        muted_until: Timestamp(0),
        marks: Marks::default(),
        archived: 0,
        changed: number,
    };
    let row = match before {
        Some(before) if was_in || !is_in => Membership { state, changed: number, ..before },
        _ => fresh,
    };
    save(batch.db, room.id, user, &row)?;
    if was_in {
        link::end_of_member(batch.db, room.id, user, state.standing(), room.rules())?;
    }
    if is_in != was_in {
        let sql = "UPDATE room SET members = members + ?3 WHERE site = ?1 AND key = ?2";
        let step = if is_in { 1 } else { -1 };
        batch.db.prepare_cached(sql)?.execute(params![room.id.site.0, room.id.key as i64, step])?;
        match is_in {
            true => batch.state.members.came(room.id, user.num),
            false => batch.state.members.went(room.id, user.num),
        }
    }
    Ok(())
}

/// Bans a user who has never been in the room.
pub(crate) fn keep_out(db: &Connection, id: ConversationId, user: UserId) -> Outcome<()> {
    let row = Membership {
        state: MemberState::Out(LeftReason::Banned),
        received: 0,
        read: 0,
        sent: Timestamp(0),
        muted_until: Timestamp(0),
        marks: Marks::default(),
        archived: 0,
        changed: 0,
    };
    save(db, id, user, &row)
}

/// Writes a row whole.
fn save(db: &Connection, id: ConversationId, user: UserId, row: &Membership) -> Outcome<()> {
    let sql = "INSERT INTO membership (site, user, room, state, received, read, sent, muted_until, marks, archived, \
               changed, folded, sub) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, folded, sub FROM user \
               WHERE site = ?1 AND num = ?2 \
               ON CONFLICT DO UPDATE SET state = excluded.state, received = excluded.received, read = excluded.read, \
               sent = excluded.sent, muted_until = excluded.muted_until, marks = excluded.marks, \
               archived = excluded.archived, changed = excluded.changed";
    let rows = db.prepare_cached(sql)?.execute(params![
        id.site.0,
        user.num,
        id.key as i64,
        row.state.code(),
        row.received as i64,
        row.read as i64,
        row.sent.0 as i64,
        row.muted_until.0 as i64,
        row.marks.0,
        row.archived as i64,
        row.changed as i64,
    ])?;
    if rows == 0 { Err(Fault::Sql(rusqlite::Error::QueryReturnedNoRows)) } else { Ok(()) }
}

/// A user has another name, as it is compared: it stands in the lists of members.
pub(crate) fn rename(db: &Connection, user: UserId, folded: &str) -> Outcome<()> {
    let sql = "UPDATE membership SET folded = ?3 WHERE site = ?1 AND user = ?2";
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, folded])?;
    Ok(())
}
