//! Members of a room: joins, leaves and roles.

use crate::engine::{Connection, params};
use chat::{
    Act, By, ConversationId, Joined, LeftReason, MOST_LEFT_BY_BLOCK, MemberAction, MemberChanged, MemberRow,
    MemberState, Position, Refusal, Role, RoomLimits, RoomName, RoomRequestState, RoomSanction, SanctionKind,
    Standing, Timestamp, UserId, kept_sanction, leaves_by_block, may, owner_may_leave, owner_may_step_down,
    sanction_behind, standing_now, until_and_reason,
};

use super::{Membership, RoomRow, allowed, close, find, link, membership, one, request, standing};
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
                if let Err(refusal) = has_place(batch.db, None, user, limits)? {
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

/// Makes a user who may `act` in the room a member, unless the user is one already.
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
        if let Err(refusal) = has_place(batch.db, Some(room), user, limits)? {
            return Ok(Err(refusal));
        }
        let role = role_of_new(batch.db, room.id, user, now)?;
        put(batch, room, user, before, MemberState::In(role))?;
        request::member_joined(batch.db, room.id, user)?;
    }
    let row = one(batch.db, user, room.id)?.ok_or(Fault::no_row())?;
    Ok(Ok(Joined { row, position: batch.position(), before: is_member }))
}

/// The user's present standing in a room. Ignores a sanction that is over but not lifted yet.
pub(super) fn standing_at(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    membership: Option<&Membership>,
    now: Timestamp,
) -> Outcome<Standing> {
    let stored = standing(membership);
    match sanction_behind(stored) {
        Some(kind) => Ok(standing_now(stored, sanction::until(db, id, user, kind)?, now)),
        None => Ok(stored),
    }
}

/// The role of a user who joins: a mute survives leaving.
pub(super) fn role_of_new(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    now: Timestamp,
) -> Outcome<Role> {
    Ok(chat::role_of_new(sanction::until(db, id, user, SanctionKind::Mute)?, now))
}

/// `None`: a room that does not exist yet.
pub(crate) fn has_place(
    db: &Connection,
    room: Option<&RoomRow>,
    user: UserId,
    limits: RoomLimits,
) -> Outcome<Result<(), Refusal>> {
    if let Some(Err(refusal)) = room.map(|row| limits.has_place_in(&row.room)) {
        return Ok(Err(refusal));
    }
    let rooms = if limits.per_user > 0 { memberships(db, user, 7)? } else { 0 };
    Ok(limits.has_place_for(rooms))
}

/// The number of rooms that the user owns, or owned when they were closed or left without members, and that were created after
/// `since`.
pub(crate) fn made_since(db: &Connection, user: UserId, since: Timestamp) -> Outcome<u32> {
    let sql = sql!(
        "SELECT count(*) FROM membership m JOIN room r ON r.site = m.site AND r.key = m.room \
               WHERE m.site = $1 AND m.user = $2 AND m.state IN (0, 12, 13) AND r.created >= $3"
    );
    let values = params![user.site.0, user.num, since.0 as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// The number of rooms in which the user has a state up to `state`.
pub(super) fn memberships(db: &Connection, user: UserId, state: i64) -> Outcome<u32> {
    let sql = sql!("SELECT count(*) FROM membership WHERE site = $1 AND user = $2 AND state <= $3");
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
    let owners = owners_beside(batch.db, &room, before.as_ref())?;
    if let Some(owners) = owners
        && let Err(refusal) = owner_may_leave(owners, room.room.members)
    {
        return Ok(Err(refusal));
    }
    put(batch, &room, user, before, MemberState::Out(LeftReason::Left))?;
    request::member_left(batch.db, id, user)?;
    if owners.is_some() && room.room.members == 1 {
        close::by_last(batch, &room, user)?;
    }
    Ok(Ok(batch.position()))
}

/// Finds the rooms through the few rooms of `user`, each by its key.
pub(crate) fn leave_rooms_of(
    batch: &mut Batch<'_>,
    user: UserId,
    blocked: UserId,
) -> Outcome<(Vec<ConversationId>, Position)> {
    let sql = sql!(concat!(
        "SELECT mine.room FROM membership mine",
        join_in_order!(),
        "membership theirs ON theirs.site = mine.site AND theirs.user = $3 AND theirs.room = mine.room",
        join_in_order!(),
        "room ON room.site = mine.site AND room.key = mine.room \
               WHERE mine.site = $1 AND mine.user = $2 AND mine.state BETWEEN 1 AND 7 AND theirs.state = 0 \
               AND room.kind = 1 LIMIT $4"
    ));
    let site = user.site;
    let values = params![site.0, user.num, blocked.num, MOST_LEFT_BY_BLOCK];
    let mut statement = batch.db.prepare_cached(sql)?;
    let rooms = statement
        .query_map(values, |row| Ok(ConversationId { site, key: row.get::<_, i64>(0)? as u64 }))?
        .collect::<Result<Vec<_>, _>>()?;
    let mut left = Vec::with_capacity(rooms.len());
    for id in rooms {
        let Some(room) = super::load(batch.db, id)? else { continue };
        let (mine, theirs) = (membership(batch.db, id, user)?, membership(batch.db, id, blocked)?);
        let (Some(mine), Some(theirs)) = (mine, theirs) else { continue };
        let owners = owners_beside(batch.db, &room, Some(&theirs))?.unwrap_or(0);
        if leaves_by_block(mine.state, theirs.state, room.room.kind, owners)
            && leave(batch, id, user)?.is_ok()
        {
            left.push(id);
        }
    }
    Ok((left, batch.position()))
}

/// The number of owners of the room, if this user is one of them.
pub(crate) fn owners_beside(
    db: &Connection,
    room: &RoomRow,
    membership: Option<&Membership>,
) -> Outcome<Option<u32>> {
    if membership.is_none_or(|mine| mine.state != MemberState::In(Role::Owner)) {
        return Ok(None);
    }
    let sql = sql!(concat!(
        "SELECT count(*) FROM membership",
        indexed_by!("membership_room"),
        " WHERE site = $1 AND room = $2 AND state = 0 AND state < 8"
    ));
    let key = params![room.id.site.0, room.id.key as i64];
    Ok(Some(db.prepare_cached(sql)?.query_row(key, |row| row.get(0))?))
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
    let act = action.act(of);
    let (room, _) = match allowed(batch.db, id, by, act)? {
        Ok(found) => found,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(mut row) = user::by_id(batch.db, user)?.filter(|row| row.id.site == id.site) else {
        return Ok(Err(Refusal::NoSuchUser));
    };
    let enters_as = match action {
        MemberAction::Invite => role_of_new(batch.db, id, user, now)?,
        MemberAction::Remove | MemberAction::Ban | MemberAction::Unban | MemberAction::SetRole(_) => {
            Role::Member
        }
    };
    let after = action.state_after(of, enters_as);
    if after.is_some_and(|after| MemberState::begins_anew(before.as_ref().map(|mine| mine.state), after))
        && let Err(refusal) = has_place(batch.db, Some(&room), user, limits)?
    {
        return Ok(Err(refusal));
    }
    if matches!((action, after), (MemberAction::SetRole(_), Some(_)))
        && let Some(owners) = owners_beside(batch.db, &room, before.as_ref())?
        && let Err(refusal) = owner_may_step_down(owners)
    {
        return Ok(Err(refusal));
    }
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
        if terms.is_none() && act.is_moderation() && by != user {
            record(batch.db, id, by, user, action, now)?;
        }
        match after {
            MemberState::In(_) => seen = one(batch.db, user, id)?,
            MemberState::Out(reason) => left = was_in.then_some(reason),
        }
    }
    if action.withdraws_requests() && request::end(batch, id, user, RoomRequestState::Withdrawn)? {
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

/// Sets a user's state in a room, and updates the room's count of members.
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
        Some(before) if !MemberState::begins_anew(Some(before.state), state) => {
            Membership { state, changed: number, ..before }
        }
        _ => fresh,
    };
    save(batch.db, room.id, user, &row)?;
    if was_in && !is_in {
        super::nickname::end(batch.db, room.id, user)?;
    }
    if was_in {
        link::end_of_member(batch.db, room.id, user, state.standing(), room.rules())?;
    }
    if is_in != was_in {
        let sql = sql!("UPDATE room SET members = members + $3 WHERE site = $1 AND key = $2");
        let step = if is_in { 1 } else { -1 };
        batch.db.prepare_cached(sql)?.execute(params![room.id.site.0, room.id.key as i64, step])?;
        match is_in {
            true => batch.state.members.add(room.id, user.num),
            false => batch.state.members.remove(room.id, user.num),
        }
    }
    Ok(())
}

/// Bans a user who has never been in the room.
pub(crate) fn ban_outsider(db: &Connection, id: ConversationId, user: UserId) -> Outcome<()> {
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

/// Writes a whole row.
fn save(db: &Connection, id: ConversationId, user: UserId, row: &Membership) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO membership (site, user, room, state, received, read, sent, muted_until, marks, archived, \
               changed, folded, sub) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, folded, sub FROM user \
               WHERE site = $1 AND num = $2 \
               ON CONFLICT (site, user, room) DO UPDATE SET state = excluded.state, received = excluded.received, read = excluded.read, \
               sent = excluded.sent, muted_until = excluded.muted_until, marks = excluded.marks, \
               archived = excluded.archived, changed = excluded.changed"
    );
    let rows = db.prepare_cached(sql)?.execute(params![
        id.site.0,
        user.num,
        id.key as i64,
        super::state_code(row.state),
        row.received as i64,
        row.read as i64,
        row.sent.0 as i64,
        row.muted_until.0 as i64,
        row.marks.0,
        row.archived as i64,
        row.changed as i64,
    ])?;
    if rows == 0 { Err(Fault::no_row()) } else { Ok(()) }
}

/// Updates the folded name of a user in the lists of members.
pub(crate) fn rename(db: &Connection, user: UserId, folded: &str) -> Outcome<()> {
    let sql = sql!("UPDATE membership SET folded = $3 WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, folded])?;
    Ok(())
}
