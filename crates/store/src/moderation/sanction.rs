//! Sanctions of a user, on the whole site or in a room, with their ends.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    By, ConversationId, Ended, HeldSanction, KeptSanction, MemberChanged, MemberRow, MemberSanction,
    MemberState, Notice, Sanction, SanctionKind, SiteId, Timestamp, UserId, standing_under, state_under,
    state_without,
};

use super::{audit, erased, guard};
use crate::fault::Outcome;
use crate::held;
use crate::room::{self, member, membership};
use crate::user;
use crate::writer::Batch;

/// Applies and stores a sanction. A site-wide one changes the user's row; one in a room changes the membership.
pub(super) fn put(
    batch: &mut Batch<'_>,
    sanction: &Sanction,
    now: Timestamp,
) -> Outcome<Option<MemberChanged>> {
    save(batch.db, sanction, now)?;
    hold(batch, sanction.user, sanction.room, sanction.kind)
}

fn save(db: &Connection, sanction: &Sanction, now: Timestamp) -> Outcome<()> {
    let Sanction { user, room, kind, until, reason, notified } = sanction;
    let sql = sql!(
        "INSERT INTO sanction (site, user, room, kind, until, reason, created, told) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
               ON CONFLICT (site, user, room, kind) DO UPDATE SET until = excluded.until, reason = excluded.reason, created = excluded.created, told = excluded.told"
    );
    let until = if *kind == SanctionKind::Warning { Timestamp::MAX } else { *until };
    db.prepare_cached(sql)?.execute(params![
        user.site.0,
        user.num,
        room_key(*room),
        code(*kind),
        until.0 as i64,
        &**reason,
        now.0 as i64,
        notified,
    ])?;
    Ok(())
}

/// Stores or removes a user's sanction for a moderator of the room.
pub(crate) fn keep(
    db: &Connection,
    room: ConversationId,
    user: UserId,
    kept: &KeptSanction,
    now: Timestamp,
) -> Outcome<()> {
    match kept {
        KeptSanction::Put(sanction) => save(db, sanction, now)?,
        KeptSanction::Forget(kind) => {
            if !forget(db, user, Some(room), *kind)? {
                return Ok(());
            }
        }
    }
    update_standing(db, user)
}

/// Returns whether there was one.
fn forget(db: &Connection, user: UserId, room: Option<ConversationId>, kind: SanctionKind) -> Outcome<bool> {
    let sql = sql!("DELETE FROM sanction WHERE site = $1 AND user = $2 AND room = $3 AND kind = $4");
    let values = params![user.site.0, user.num, room_key(room), code(kind)];
    Ok(db.prepare_cached(sql)?.execute(values)? > 0)
}

pub(super) fn room_key(room: Option<ConversationId>) -> i64 {
    room.map_or(0, |room| room.key as i64)
}

/// The end of a user's sanction in a room.
pub(crate) fn until(
    db: &Connection,
    room: ConversationId,
    user: UserId,
    kind: SanctionKind,
) -> Outcome<Option<Timestamp>> {
    let sql = sql!("SELECT until FROM sanction WHERE site = $1 AND user = $2 AND room = $3 AND kind = $4");
    let values = params![user.site.0, user.num, room.key as i64, code(kind)];
    let until: Option<i64> = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(until.map(|until| Timestamp(until as u64)))
}

/// The end and the reason of a member's sanction in a room.
pub(crate) fn of_member(
    db: &Connection,
    room: ConversationId,
    user: UserId,
    kind: SanctionKind,
) -> Outcome<Option<MemberSanction>> {
    let sql =
        sql!("SELECT until, reason FROM sanction WHERE site = $1 AND user = $2 AND room = $3 AND kind = $4");
    let values = params![user.site.0, user.num, room.key as i64, code(kind)];
    let kept = db.prepare_cached(sql)?.query_row(values, |row| {
        Ok(MemberSanction { until: Timestamp(row.get::<_, i64>(0)? as u64), reason: row.get(1)? })
    });
    Ok(kept.optional()?)
}

fn hold(
    batch: &mut Batch<'_>,
    user: UserId,
    room: Option<ConversationId>,
    kind: SanctionKind,
) -> Outcome<Option<MemberChanged>> {
    if room.is_some() {
        update_standing(batch.db, user)?;
    }
    match (kind, room) {
        (SanctionKind::Mute | SanctionKind::Ban, Some(room)) => {
            set_state(batch, room, user, |before| state_under(kind, before))
        }
        (SanctionKind::Ban, None) => {
            user::set_banned(batch.db, user, true)?;
            update_standing(batch.db, user)?;
            Ok(None)
        }
        (SanctionKind::Mute, None) | (SanctionKind::Warning | SanctionKind::Shadow, _) => {
            update_standing(batch.db, user)?;
            Ok(None)
        }
    }
}

pub(super) fn lift(
    batch: &mut Batch<'_>,
    user: UserId,
    room: Option<ConversationId>,
    kind: SanctionKind,
) -> Outcome<Option<MemberChanged>> {
    forget(batch.db, user, room, kind)?;
    if room.is_some() {
        update_standing(batch.db, user)?;
    }
    match (kind, room) {
        (SanctionKind::Mute | SanctionKind::Ban, Some(room)) => {
            set_state(batch, room, user, |before| state_without(kind, before))
        }
        (SanctionKind::Ban, None) => {
            user::set_banned(batch.db, user, false)?;
            guard::lift_devices(batch.db, user)?;
            Ok(None)
        }
        (SanctionKind::Mute, None) | (SanctionKind::Warning | SanctionKind::Shadow, _) => {
            update_standing(batch.db, user)?;
            Ok(None)
        }
    }
}

/// Updates the summary of the sanctions in the user's row, so that a sign-in reads no further row.
pub(crate) fn update_standing(db: &Connection, user: UserId) -> Outcome<()> {
    let Some(row) = user::by_id(db, user)? else { return Ok(()) };
    let sql = sql!("SELECT kind, room, told FROM sanction WHERE site = $1 AND user = $2");
    let mut statement = db.prepare_cached(sql)?;
    let sanctions = statement.query_map([user.site.0, user.num], |row| {
        let in_room = row.get::<_, i64>(1)? != 0;
        Ok(HeldSanction { kind: kind_of(row.get(0)?), in_room, notified: row.get(2)? })
    })?;
    let sanctions = sanctions.collect::<Result<Vec<_>, _>>()?;
    let standing = standing_under(row.on_site, &sanctions, held::any(db, user)?);
    if standing != row.on_site { user::set_standing(db, user, standing) } else { Ok(()) }
}

fn set_state(
    batch: &mut Batch<'_>,
    id: ConversationId,
    user: UserId,
    after: impl FnOnce(Option<MemberState>) -> Option<MemberState>,
) -> Outcome<Option<MemberChanged>> {
    let Some(row) = room::load(batch.db, id)? else { return Ok(None) };
    let before = membership(batch.db, id, user)?;
    let was = before.as_ref().map(|before| before.state);
    let Some(state) = after(was) else { return Ok(None) };
    member::put(batch, &row, user, before, state)?;
    let Some(user_row) = user::by_id(batch.db, user)? else { return Ok(None) };
    let was_in = matches!(was, Some(MemberState::In(_)));
    let (seen, left) = match state {
        MemberState::In(_) => (room::one(batch.db, user, id)?, None),
        MemberState::Out(reason) => (None, was_in.then_some(reason)),
    };
    let member = MemberRow { user: user_row, standing: state.standing() };
    Ok(Some(MemberChanged { member, position: batch.position(), seen, left, requested: false }))
}

/// The user has read the warnings.
pub(super) fn seen(db: &Connection, user: UserId) -> Outcome<()> {
    let sql = sql!("DELETE FROM sanction WHERE site = $1 AND user = $2 AND kind = 0");
    let warned = db.prepare_cached(sql)?.execute([user.site.0, user.num])? > 0;
    if held::forget_refused(db, user)? || warned {
        update_standing(db, user)?;
    }
    Ok(())
}

/// Most sanctions that end in one call; the rest waits for the next.
const TOGETHER: u32 = 500;

pub(super) fn end(batch: &mut Batch<'_>, now: Timestamp) -> Outcome<(Vec<Ended>, Option<Timestamp>)> {
    let sql = sql!(concat!(
        "SELECT site, user, room, kind FROM sanction",
        indexed_by!("sanction_until"),
        " WHERE until <= $1 AND until < 253402300799999 ORDER BY until LIMIT $2"
    ));
    let over: Vec<(u32, u32, i64, i64)> = batch
        .db
        .prepare_cached(sql)?
        .query_map(params![now.0 as i64, TOGETHER], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?
        .collect::<Result<_, _>>()?;
    let mut ended = Vec::new();
    for (site, num, room, kind) in over {
        let site = SiteId(site);
        let user = UserId { site, num };
        let (room, kind) = ((room != 0).then_some(ConversationId { site, key: room as u64 }), kind_of(kind));
        let member = lift(batch, user, room, kind)?;
        let entry = audit::Entry {
            site,
            by: By::Site,
            act: kind.lifted(),
            user: Some(user),
            conversation: room,
            detail: "ended",
            time: now,
        };
        audit::note(batch.db, &entry)?;
        if let Some(user) = user::by_id(batch.db, user)? {
            ended.push(Ended { user, room, kind, member });
        }
    }
    batch.state.empties_log |= erased::end(batch.db, now)?;
    Ok((ended, next_end(batch.db)?))
}

pub(crate) fn next_end(db: &Connection) -> Outcome<Option<Timestamp>> {
    let sql = concat!(
        "SELECT min(until) FROM sanction",
        indexed_by!("sanction_until"),
        " WHERE until < 253402300799999"
    );
    let next: Option<i64> = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    let next = next.map(|until| Timestamp(until as u64));
    Ok(next.into_iter().chain(erased::next_end(db)?).min())
}

/// Notices of the site, then those of rooms.
pub(super) fn notices(db: &Connection, user: UserId) -> Outcome<Vec<Notice>> {
    let sql = sql!(
        "SELECT room, kind, until, reason, told FROM sanction WHERE site = $1 AND user = $2 ORDER BY room <> 0, created"
    );
    let mut statement = db.prepare_cached(sql)?;
    let notices = statement.query_map([user.site.0, user.num], |row| {
        let room: i64 = row.get(0)?;
        let sanction = Sanction {
            user,
            room: (room != 0).then_some(ConversationId { site: user.site, key: room as u64 }),
            kind: kind_of(row.get(1)?),
            until: Timestamp(row.get::<_, i64>(2)? as u64),
            reason: row.get(3)?,
            notified: row.get(4)?,
        };
        Ok(sanction.notice())
    })?;
    Ok(notices.filter_map(Result::transpose).collect::<Result<_, _>>()?)
}

pub(super) fn code(kind: SanctionKind) -> i64 {
    match kind {
        SanctionKind::Warning => 0,
        SanctionKind::Mute => 1,
        SanctionKind::Ban => 2,
        SanctionKind::Shadow => 3,
    }
}

pub(super) fn kind_of(code: i64) -> SanctionKind {
    match code {
        0 => SanctionKind::Warning,
        1 => SanctionKind::Mute,
        3 => SanctionKind::Shadow,
        _ => SanctionKind::Ban,
    }
}
