//! Moderation of erased users: their sanctions hold for the next user with the same id, and open reports about them
//! keep their words for a while.

use crate::engine::{Connection, Row, params};
use chat::{
    ConversationId, EVIDENCE_AFTER_ERASURE_MS, ErasedSanction, LeftReason, MemberState, Role, SanctionKind,
    SiteId, Timestamp, UserId, UserRow, sanctions_after_erasure,
};

use super::sanction::{self, code, kind_of, room_key};
use crate::fault::Outcome;
use crate::room::{self, member};
use crate::user;

/// Keeps the sanctions of a user who is being erased. Includes bans and mutes that only a room or the user's row has.
pub(crate) fn keep_sanctions(db: &Connection, before: &UserRow, now: Timestamp) -> Outcome<()> {
    let UserId { site, num } = before.id;
    let digest = before.profile.sub.digest();
    let keep = sql!(
        "INSERT INTO erased_sanction (site, sub, room, kind, until) VALUES ($1, $2, $3, $4, $5) \
                ON CONFLICT (site, sub, room, kind) DO UPDATE SET until = CASE WHEN erased_sanction.until > excluded.until \
                THEN erased_sanction.until ELSE excluded.until END"
    );
    let sql = sql!("SELECT room, kind, until FROM sanction WHERE site = $1 AND user = $2");
    let mut statement = db.prepare_cached(sql)?;
    let stored = statement.query_map([site.0, num], |row| read(site, row))?.collect::<Result<Vec<_>, _>>()?;
    let sql = sql!("SELECT room, state FROM membership WHERE site = $1 AND user = $2 AND state IN ($3, $4)");
    let [muted, banned] =
        [MemberState::In(Role::Muted), MemberState::Out(LeftReason::Banned)].map(room::state_code);
    let mut statement = db.prepare_cached(sql)?;
    let memberships = statement.query_map(params![site.0, num, muted, banned], |row| {
        let id = ConversationId { site, key: row.get::<_, i64>(0)? as u64 };
        Ok((id, room::state_of(row.get(1)?)))
    })?;
    let memberships = memberships.collect::<Result<Vec<_>, _>>()?;
    for sanction in sanctions_after_erasure(stored, &memberships, before.banned, now) {
        let ErasedSanction { room, kind, until } = sanction;
        let values = params![site.0, digest, room_key(room), code(kind), until.0 as i64];
        db.prepare_cached(keep)?.execute(values)?;
    }
    Ok(())
}

/// Reads the columns `room, kind, until`.
fn read(site: SiteId, row: &Row<'_>) -> crate::engine::Result<ErasedSanction> {
    let key: i64 = row.get(0)?;
    Ok(ErasedSanction {
        room: (key != 0).then_some(ConversationId { site, key: key as u64 }),
        kind: kind_of(row.get(1)?),
        until: Timestamp(row.get::<_, i64>(2)? as u64),
    })
}

/// Gives a new user the sanctions of an erased user with the same id.
pub(crate) fn restore_sanctions(db: &Connection, row: UserRow, now: Timestamp) -> Outcome<UserRow> {
    let (id, digest) = (row.id, row.profile.sub.digest());
    let sql = sql!("DELETE FROM erased_sanction WHERE site = $1 AND sub = $2 RETURNING room, kind, until");
    let mut statement = db.prepare_cached(sql)?;
    let kept = statement.query_map(params![id.site.0, digest], |row| read(id.site, row))?;
    let kept = kept.collect::<Result<Vec<ErasedSanction>, _>>()?;
    if kept.is_empty() {
        return Ok(row);
    }
    let sql = sql!(
        "INSERT INTO sanction (site, user, room, kind, until, reason, created) VALUES ($1, $2, $3, $4, $5, '', $6)"
    );
    for ErasedSanction { room, kind, until } in kept.into_iter().filter(|sanction| !sanction.is_over(now)) {
        if let Some(room) = room
            && room::load(db, room)?.is_none()
        {
            continue;
        }
        let key = room_key(room);
        let values = params![id.site.0, id.num, key, code(kind), until.0 as i64, now.0 as i64];
        db.prepare_cached(sql)?.execute(values)?;
        match (kind, room) {
            (SanctionKind::Ban, Some(room)) => member::ban_outsider(db, room, id)?,
            (SanctionKind::Ban, None) => {
                user::set_banned(db, id, true)?;
            }
            // A mute in a room takes effect when the user joins the room.
            (SanctionKind::Mute | SanctionKind::Shadow | SanctionKind::Warning, _) => {}
        }
    }
    sanction::update_standing(db, id)?;
    Ok(user::by_id(db, id)?.unwrap_or(row))
}

/// Removes the words of an erased user from the reports of the site. Open reports about the user keep them for now.
pub(crate) fn remove_words(db: &Connection, user: UserId, now: Timestamp) -> Outcome<()> {
    let UserId { site, num } = user;
    let ends = now.0.saturating_add(EVIDENCE_AFTER_ERASURE_MS) as i64;
    let keep = sql!(
        "UPDATE report SET evidence_ends = $3 WHERE site = $1 AND user = $2 AND state < 2 AND evidence_ends = 0"
    );
    db.prepare_cached(keep)?.execute(params![site.0, num, ends])?;
    let lines = sql!(
        "UPDATE report_line SET body = '' WHERE site = $1 AND sender = $2 AND body <> '' AND report NOT IN \
                 (SELECT number FROM report WHERE site = $1 AND user = $2 AND evidence_ends > 0)"
    );
    db.prepare_cached(lines)?.execute(params![site.0, num])?;
    let former = sql!(
        "DELETE FROM report_former WHERE site = $1 AND report IN \
                  (SELECT number FROM report WHERE site = $1 AND user = $2 AND evidence_ends = 0)"
    );
    db.prepare_cached(former)?.execute(params![site.0, num])?;
    let said = sql!("UPDATE report SET text = '' WHERE site = $1 AND reporter = $2 AND text <> ''");
    db.prepare_cached(said)?.execute(params![site.0, num])?;
    Ok(())
}

/// A report was closed: removes the words of an erased user from it. Returns whether it had some.
pub(super) fn end_evidence(db: &Connection, site: SiteId, report: u64) -> Outcome<bool> {
    let sql =
        sql!("UPDATE report SET evidence_ends = 0 WHERE site = $1 AND number = $2 AND evidence_ends > 0");
    let key = params![site.0, report as i64];
    if db.prepare_cached(sql)?.execute(key)? == 0 {
        return Ok(false);
    }
    let lines = sql!(
        "UPDATE report_line SET body = '' WHERE site = $1 AND report = $2 AND sender = \
                 (SELECT user FROM report WHERE site = $1 AND number = $2)"
    );
    db.prepare_cached(lines)?.execute(key)?;
    db.prepare_cached(sql!("DELETE FROM report_former WHERE site = $1 AND report = $2"))?.execute(key)?;
    Ok(true)
}

/// Most reports whose evidence ends in one call; the rest waits for the next.
const TOGETHER: u32 = 100;

/// Removes evidence, and sanctions of users who did not return, after their time. Returns whether it removed words.
pub(super) fn end(db: &Connection, now: Timestamp) -> Outcome<bool> {
    let sql = sql!(concat!(
        "SELECT site, number FROM report",
        indexed_by!("report_evidence"),
        " WHERE evidence_ends > 0 AND evidence_ends <= $1 ORDER BY evidence_ends LIMIT $2"
    ));
    let mut statement = db.prepare_cached(sql)?;
    let over = statement.query_map(params![now.0 as i64, TOGETHER], |row| {
        Ok((SiteId(row.get(0)?), row.get::<_, i64>(1)? as u64))
    })?;
    let over: Vec<(SiteId, u64)> = over.collect::<Result<_, _>>()?;
    for (site, number) in &over {
        end_evidence(db, *site, *number)?;
    }
    let sql = sql!("DELETE FROM erased_sanction WHERE until <= $1 AND until < 253402300799999");
    db.prepare_cached(sql)?.execute([now.0 as i64])?;
    Ok(!over.is_empty())
}

/// The time at which the evidence of the next report ends.
pub(super) fn next_end(db: &Connection) -> Outcome<Option<Timestamp>> {
    let sql = concat!(
        "SELECT min(evidence_ends) FROM report",
        indexed_by!("report_evidence"),
        " WHERE evidence_ends > 0"
    );
    let next: Option<i64> = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(next.map(|end| Timestamp(end as u64)))
}
