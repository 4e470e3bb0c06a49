//! Room requests: invitations of users into rooms, and their outcomes.

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    Act, AddMember, AddOutcome, BeforeAdd, ConversationId, ConversationRow, Done, LeftReason,
    MOST_ROOM_ANSWERS, MemberChanged, MemberRow, MemberState, Position, Refusal, RoomLimits,
    RoomRequestState, RoomRequestStore, Timestamp, UserId, add_outcome, may_show, requested_conversation,
};

use super::{allowed, load, member, membership, one, standing};
use crate::conversation::Place;
use crate::fault::Outcome;
use crate::sqlite::Sqlite;
use crate::writer::Batch;
use crate::{requests, user};

impl RoomRequestStore for Sqlite {
    fn add_member(&self, add: AddMember, limits: RoomLimits, done: Done<Result<MemberChanged, Refusal>>) {
        self.write(move |batch| self::add(batch, add, limits), done);
    }

    fn decline_room_request(&self, room: ConversationId, user: UserId, done: Done<Option<Position>>) {
        let job = move |batch: &mut Batch<'_>| {
            let any = end(batch, room, user, RoomRequestState::Declined)?;
            Ok(any.then(|| batch.position()))
        };
        self.write(job, done);
    }

    fn decline_room_requests_by(
        &self,
        user: UserId,
        by: UserId,
        done: Done<(Vec<ConversationId>, Position)>,
    ) {
        self.write(move |batch| decline_by(batch, user, by), done);
    }
}

/// A room into which the user is invited, with its oldest request.
pub(crate) struct Pending {
    pub(crate) room: ConversationId,
    asker: UserId,
    pub(crate) changed: u64,
    time: Timestamp,
}

impl Pending {
    pub(crate) fn place(&self) -> Place {
        Place::new(false, self.time, self.room)
    }
}

const fn code(state: RoomRequestState) -> i64 {
    match state {
        RoomRequestState::Pending => 0,
        RoomRequestState::Declined => 1,
        RoomRequestState::Withdrawn => 2,
        RoomRequestState::Accepted => 3,
    }
}

/// A request with an unknown state, from a newer program, counts as final: the user is not invited again.
fn state(code: i64) -> RoomRequestState {
    match code {
        0 => RoomRequestState::Pending,
        2 => RoomRequestState::Withdrawn,
        3 => RoomRequestState::Accepted,
        _ => RoomRequestState::Declined,
    }
}

// ---- writes ----

fn add(batch: &mut Batch<'_>, add: AddMember, limits: RoomLimits) -> Outcome<Result<MemberChanged, Refusal>> {
    let AddMember { room: id, by, user, rule, time } = add;
    let before = membership(batch.db, id, user)?;
    let of = member::standing_at(batch.db, id, user, before.as_ref(), time)?;
    let room = match allowed(batch.db, id, by, Act::Invite(of))? {
        Ok((room, _)) => room,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(row) = user::by_id(batch.db, user)?.filter(|row| row.id.site == id.site) else {
        return Ok(Err(Refusal::NoSuchUser));
    };
    let answer = |batch: &Batch<'_>, standing, seen, requested| {
        let member = MemberRow { user: row, standing };
        Ok(Ok(MemberChanged { member, position: batch.position(), seen, left: None, requested }))
    };
    if of.role().is_some() {
        return answer(batch, of, None, false);
    }
    let has_left = before.as_ref().is_some_and(|mine| mine.state == MemberState::Out(LeftReason::Left));
    let outcome = match add_outcome(rule, before_add(batch.db, &add, has_left)?) {
        Ok(AddOutcome::Ignore) => return answer(batch, of, None, true),
        Ok(outcome) => outcome,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Err(refusal) = may_show(rule, &room.room) {
        return Ok(Err(refusal));
    }
    if let Some(per_day) = rule.per_day
        && requests::begun_today(batch, by, time)? >= per_day
    {
        return Ok(Err(Refusal::TooManyRequests));
    }
    if let Err(refusal) = member::has_place(batch.db, Some(&room), user, limits)? {
        return Ok(Err(refusal));
    }
    if rule.per_day.is_some() {
        requests::count_today(batch, by, time)?;
    }
    let is_added = outcome == AddOutcome::Add;
    if is_added {
        let role = member::role_of_new(batch.db, id, user, time)?;
        member::put(batch, &room, user, before, MemberState::In(role))?;
        member_joined(batch.db, id, user)?;
    }
    let changed = if is_added { batch.position().number } else { batch.next_number() };
    let kept = if is_added { RoomRequestState::Accepted } else { RoomRequestState::Pending };
    let sql = sql!(
        "INSERT INTO room_request (site, user, room, asker, state, changed, time) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) \
               ON CONFLICT (site, user, room, asker) DO UPDATE SET state = excluded.state, changed = excluded.changed, time = excluded.time"
    );
    let key = (id.site.0, user.num, id.key as i64, by.num);
    let values = params![key.0, key.1, key.2, key.3, code(kept), changed as i64, time.0 as i64];
    batch.db.prepare_cached(sql)?.execute(values)?;
    forget_old_answers(batch.db, user)?;
    if is_added {
        let seen = one(batch.db, user, id)?;
        let standing = standing(membership(batch.db, id, user)?.as_ref());
        return answer(batch, standing, seen, false);
    }
    let seen = self::seen(batch.db, user, id)?;
    answer(batch, of, seen, true)
}

fn before_add(db: &Connection, add: &AddMember, left: bool) -> Outcome<BeforeAdd> {
    let AddMember { room, by, user, .. } = *add;
    let sql =
        sql!("SELECT state FROM room_request WHERE site = $1 AND user = $2 AND room = $3 AND asker = $4");
    let values = params![user.site.0, user.num, room.key as i64, by.num];
    let by_same = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?.map(state);
    let sql = sql!(
        "SELECT count(*) FILTER (WHERE room = $3 AND state NOT IN (0, 2, 3)) > 0, count(*) FILTER (WHERE state = 0) \
               FROM room_request WHERE site = $1 AND user = $2"
    );
    let (declined, pending) = db
        .prepare_cached(sql)?
        .query_row(params![user.site.0, user.num, room.key as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(BeforeAdd { by_same, declined, left, pending })
}

fn forget_old_answers(db: &Connection, user: UserId) -> Outcome<()> {
    let sql = sql!(
        "DELETE FROM room_request WHERE site = $1 AND user = $2 AND (room, asker) IN \
               (SELECT room, asker FROM room_request WHERE site = $1 AND user = $2 AND state <> 0 \
                ORDER BY time DESC LIMIT 9223372036854775807 OFFSET $3)"
    );
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, MOST_ROOM_ANSWERS])?;
    Ok(())
}

/// The user became a member: accepts pending requests, and forgets declined ones.
pub(super) fn member_joined(db: &Connection, id: ConversationId, user: UserId) -> Outcome<()> {
    each_of_room(db, id, user, RoomRequestState::after_join)
}

/// Sets the state of each request to a user for a room; deletes the requests for which `state` returns None.
fn each_of_room(
    db: &Connection,
    id: ConversationId,
    user: UserId,
    after: impl Fn(RoomRequestState) -> Option<RoomRequestState>,
) -> Outcome<()> {
    let sql = sql!("SELECT asker, state FROM room_request WHERE site = $1 AND user = $2 AND room = $3");
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![id.site.0, user.num, id.key as i64], |row| {
        Ok((row.get::<_, u32>(0)?, state(row.get(1)?)))
    })?;
    for (asker, before) in rows.collect::<Result<Vec<_>, _>>()? {
        let key = (id.site.0, user.num, id.key as i64, asker);
        match after(before) {
            Some(after) if after == before => {}
            Some(after) => {
                let sql = sql!(
                    "UPDATE room_request SET state = $5 \
                     WHERE site = $1 AND user = $2 AND room = $3 AND asker = $4"
                );
                db.prepare_cached(sql)?.execute(params![key.0, key.1, key.2, key.3, code(after)])?;
            }
            None => {
                let sql = sql!(
                    "DELETE FROM room_request WHERE site = $1 AND user = $2 AND room = $3 AND asker = $4"
                );
                db.prepare_cached(sql)?.execute(params![key.0, key.1, key.2, key.3])?;
            }
        }
    }
    Ok(())
}

/// The user left: the user who brought them in cannot do it again.
pub(super) fn member_left(db: &Connection, id: ConversationId, user: UserId) -> Outcome<()> {
    each_of_room(db, id, user, |state| Some(state.after_leave()))
}

/// Ends the pending requests to a user for a room; returns whether there were any.
pub(super) fn end(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    to: RoomRequestState,
) -> Outcome<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM room_request \
               WHERE site = $1 AND user = $2 AND room = $3 AND state = 0)"
    );
    let key = params![id.site.0, user.num, id.key as i64];
    let any: bool = batch.db.prepare_cached(sql)?.query_row(key, |row| row.get(0))?;
    if any {
        let number = batch.next_number();
        let sql = sql!(
            "UPDATE room_request SET state = $4, changed = $5 \
                   WHERE site = $1 AND user = $2 AND room = $3 AND state = 0"
        );
        let values = params![id.site.0, user.num, id.key as i64, code(to), number as i64];
        batch.db.prepare_cached(sql)?.execute(values)?;
    }
    Ok(any)
}

fn decline_by(batch: &mut Batch<'_>, user: UserId, by: UserId) -> Outcome<(Vec<ConversationId>, Position)> {
    let sql =
        sql!("SELECT room FROM room_request WHERE site = $1 AND user = $2 AND asker = $3 AND state = 0");
    let mut statement = batch.db.prepare_cached(sql)?;
    let rooms = statement.query_map([user.site.0, user.num, by.num], |row| row.get::<_, i64>(0))?;
    let rooms: Vec<i64> = rooms.collect::<Result<_, _>>()?;
    drop(statement);
    if !rooms.is_empty() {
        let number = batch.next_number();
        let sql = sql!(
            "UPDATE room_request SET state = 1, changed = $4 \
                   WHERE site = $1 AND user = $2 AND asker = $3 AND state = 0"
        );
        let values = params![user.site.0, user.num, by.num, number as i64];
        batch.db.prepare_cached(sql)?.execute(values)?;
    }
    let mut ended = Vec::with_capacity(rooms.len());
    for key in rooms {
        let id = ConversationId { site: user.site, key: key as u64 };
        if of_room(batch.db, id, user)?.is_none() {
            ended.push(id);
        }
    }
    Ok((ended, batch.position()))
}

/// Removes the requests of an erased user.
pub(crate) fn forget_asker(db: &Connection, user: UserId) -> Outcome<()> {
    let sql = sql!("DELETE FROM room_request WHERE site = $1 AND asker = $2");
    db.prepare_cached(sql)?.execute([user.site.0, user.num])?;
    Ok(())
}

// ---- reads ----

/// Requests of banned users and for closed rooms are hidden, and cannot be accepted.
macro_rules! pending {
    ($rest:literal) => {
        sql!(concat!(
            "SELECT r.room, r.asker, r.changed, r.time FROM room_request r \
             JOIN user u ON u.site = r.site AND u.num = r.asker \
             WHERE r.site = $1 AND r.user = $2 AND r.state = 0 AND u.banned = 0 \
             AND NOT EXISTS (SELECT 1 FROM room WHERE site = r.site AND key = r.room AND kind = 3) ",
            $rest
        ))
    };
}

pub(crate) fn pending(db: &Connection, user: UserId) -> Outcome<Vec<Pending>> {
    let sql = pending!("ORDER BY r.room, r.time, r.asker");
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([user.site.0, user.num], |row| parse(user, row))?;
    let mut rows: Vec<Pending> = rows.collect::<Result<_, _>>()?;
    rows.dedup_by_key(|request| request.room);
    Ok(rows)
}

pub(super) fn of_room(db: &Connection, id: ConversationId, user: UserId) -> Outcome<Option<Pending>> {
    if id.site != user.site {
        return Ok(None);
    }
    let sql = pending!("AND r.room = $3 ORDER BY r.time, r.asker LIMIT 1");
    let values = params![user.site.0, user.num, id.key as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| parse(user, row)).optional()?)
}

/// Rooms of requests that ended without the user becoming a member.
pub(crate) fn ended_since(db: &Connection, user: UserId, since: u64) -> Outcome<Vec<ConversationId>> {
    let sql = sql!(
        "SELECT DISTINCT room FROM room_request \
               WHERE site = $1 AND user = $2 AND state IN (1, 2) AND changed > $3"
    );
    let mut statement = db.prepare_cached(sql)?;
    let values = params![user.site.0, user.num, since as i64];
    let rooms = statement.query_map(values, |row| row.get::<_, i64>(0))?;
    let id = |key: i64| ConversationId { site: user.site, key: key as u64 };
    Ok(rooms.map(|key| key.map(id)).collect::<Result<_, _>>()?)
}

/// The room as the invited user sees it; None without a pending request.
pub(crate) fn seen(db: &Connection, asked: UserId, id: ConversationId) -> Outcome<Option<ConversationRow>> {
    let Some(request) = of_room(db, id, asked)? else { return Ok(None) };
    let (Some(row), Some(by)) = (load(db, id)?, user::by_id(db, request.asker)?) else { return Ok(None) };
    Ok(Some(requested_conversation(id, &row.room, by, request.time)))
}

fn parse(user: UserId, row: &Row<'_>) -> crate::engine::Result<Pending> {
    Ok(Pending {
        room: ConversationId { site: user.site, key: row.get::<_, i64>(0)? as u64 },
        asker: UserId { site: user.site, num: row.get(1)? },
        changed: row.get::<_, i64>(2)? as u64,
        time: Timestamp(row.get::<_, i64>(3)? as u64),
    })
}
