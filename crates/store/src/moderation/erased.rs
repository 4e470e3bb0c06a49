//! Moderation of users who were erased: their sanctions hold for the next user with the same id, and open reports about them keep
//! their words for a while.

use chat::{
    ConversationId, EVIDENCE_AFTER_ERASURE_MS, LeftReason, Role, SanctionKind, SiteId, Timestamp, UserId,
    UserRow,
};
use rusqlite::{Connection, params};

use super::sanction::{self, code, kind_of};
use crate::fault::Outcome;
use crate::room::{self, MemberState, member};
use crate::user;

/// Keeps the sanctions of a user who is being erased. Bans and mutes that only a room or the user's row knows count, too.
pub(crate) fn keep_sanctions(db: &Connection, before: &UserRow, now: Timestamp) -> Outcome<()> {
    let UserId { site, num } = before.id;
    let digest = before.profile.sub.digest();
    let keep = "INSERT INTO erased_sanction (site, sub, room, kind, until) VALUES (?1, ?2, ?3, ?4, ?5) \
                ON CONFLICT DO UPDATE SET until = max(until, excluded.until)";
    let mut kept: Vec<(i64, SanctionKind, i64)> = Vec::new();
    let sql = "SELECT room, kind, until FROM sanction WHERE site = ?1 AND user = ?2 AND until > ?3";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![site.0, num, now.0 as i64], |row| {
        Ok((row.get(0)?, kind_of(row.get(1)?), row.get(2)?))
    })?;
    kept.extend(rows.collect::<Result<Vec<_>, _>>()?);
    let sql = "SELECT room, state FROM membership WHERE site = ?1 AND user = ?2 AND state IN (?3, ?4)";
    let (muted, banned) = (MemberState::In(Role::Muted).code(), MemberState::Out(LeftReason::Banned).code());
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![site.0, num, muted, banned], |row| {
        let kind = if row.get::<_, i64>(1)? == muted { SanctionKind::Mute } else { SanctionKind::Ban };
        Ok((row.get::<_, i64>(0)?, kind, Timestamp::MAX.0 as i64))
    })?;
    let of_rooms = rows.collect::<Result<Vec<_>, _>>()?;
    let of_site = before.banned.then_some((0, SanctionKind::Ban, Timestamp::MAX.0 as i64));
    for one in of_rooms.into_iter().chain(of_site) {
        if !kept.iter().any(|(room, kind, _)| (*room, *kind) == (one.0, one.1)) {
            kept.push(one);
        }
    }
    for (room, kind, until) in kept.into_iter().filter(|(_, kind, _)| kind.outlives_erasure()) {
        db.prepare_cached(keep)?.execute(params![site.0, digest, room, code(kind), until])?;
    }
    Ok(())
}

/// Gives a new user the sanctions that an erased user of the same id had.
pub(crate) fn restore_sanctions(db: &Connection, row: UserRow, now: Timestamp) -> Outcome<UserRow> {
    let (id, digest) = (row.id, row.profile.sub.digest());
    let sql = "DELETE FROM erased_sanction WHERE site = ?1 AND sub = ?2 RETURNING room, kind, until";
    let mut statement = db.prepare_cached(sql)?;
    let kept = statement.query_map(params![id.site.0, digest], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    })?;
    let kept: Vec<(i64, i64, i64)> = kept.collect::<Result<_, _>>()?;
    if kept.is_empty() {
        return Ok(row);
    }
    let sql = "INSERT INTO sanction (site, user, room, kind, until, reason, created) VALUES (?1, ?2, ?3, ?4, ?5, '', ?6)";
    for (key, kind, until) in kept.into_iter().filter(|(_, _, until)| *until > now.0 as i64) {
        let room = (key != 0).then_some(ConversationId { site: id.site, key: key as u64 });
        if let Some(room) = room
            && room::load(db, room)?.is_none()
        {
            continue;
        }
        db.prepare_cached(sql)?.execute(params![id.site.0, id.num, key, kind, until, now.0 as i64])?;
        match (kind_of(kind), room) {
            (SanctionKind::Ban, Some(room)) => member::keep_out(db, room, id)?,
            (SanctionKind::Ban, None) => {
                user::set_banned(db, id, true)?;
            }
            // A mute in a room takes hold when the user joins it.
            (SanctionKind::Mute | SanctionKind::Shadow | SanctionKind::Warning, _) => {}
        }
    }
    sanction::stand(db, id)?;
    Ok(user::by_id(db, id)?.unwrap_or(row))
}

/// Removes the words of an erased user from the reports of the site. Open reports about the user keep them for now.
pub(crate) fn remove_words(db: &Connection, user: UserId, now: Timestamp) -> Outcome<()> {
    let UserId { site, num } = user;
    let ends = now.0.saturating_add(EVIDENCE_AFTER_ERASURE_MS) as i64;
    let keep = "UPDATE report SET evidence_ends = ?3 WHERE site = ?1 AND user = ?2 AND state < 2 AND evidence_ends = 0";
    db.prepare_cached(keep)?.execute(params![site.0, num, ends])?;
    let lines = "UPDATE report_line SET body = '' WHERE site = ?1 AND sender = ?2 AND body <> '' AND report NOT IN \
                 (SELECT number FROM report WHERE site = ?1 AND user = ?2 AND evidence_ends > 0)";
    db.prepare_cached(lines)?.execute(params![site.0, num])?;
    let former = "DELETE FROM report_former WHERE site = ?1 AND report IN \
                  (SELECT number FROM report WHERE site = ?1 AND user = ?2 AND evidence_ends = 0)";
    db.prepare_cached(former)?.execute(params![site.0, num])?;
    let said = "UPDATE report SET text = '' WHERE site = ?1 AND reporter = ?2 AND text <> ''";
    db.prepare_cached(said)?.execute(params![site.0, num])?;
    Ok(())
}

/// A report was closed: it keeps no words of an erased user. Answers whether there were some.
pub(super) fn end_evidence(db: &Connection, site: SiteId, report: u64) -> Outcome<bool> {
    let sql = "UPDATE report SET evidence_ends = 0 WHERE site = ?1 AND number = ?2 AND evidence_ends > 0";
    let key = params![site.0, report as i64];
    if db.prepare_cached(sql)?.execute(key)? == 0 {
        return Ok(false);
    }
    let lines = "UPDATE report_line SET body = '' WHERE site = ?1 AND report = ?2 AND sender = \
                 (SELECT user FROM report WHERE site = ?1 AND number = ?2)";
    db.prepare_cached(lines)?.execute(key)?;
    db.prepare_cached("DELETE FROM report_former WHERE site = ?1 AND report = ?2")?.execute(key)?;
    Ok(true)
}

/// Reports whose evidence ends at one go; more of them wait for the next.
const TOGETHER: u32 = 100;

/// Removes what has ended: evidence, and sanctions of users who did not come back. Answers whether words were removed.
pub(super) fn end(db: &Connection, now: Timestamp) -> Outcome<bool> {
    let sql = "SELECT site, number FROM report INDEXED BY report_evidence \
               WHERE evidence_ends > 0 AND evidence_ends <= ?1 ORDER BY evidence_ends LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let over = statement.query_map(params![now.0 as i64, TOGETHER], |row| {
        Ok((SiteId(row.get(0)?), row.get::<_, i64>(1)? as u64))
    })?;
    let over: Vec<(SiteId, u64)> = over.collect::<Result<_, _>>()?;
    for (site, number) in &over {
        end_evidence(db, *site, *number)?;
    }
    let sql = "DELETE FROM erased_sanction WHERE until <= ?1 AND until < 253402300799999";
    db.prepare_cached(sql)?.execute([now.0 as i64])?;
    Ok(!over.is_empty())
}

/// When the evidence of the next report ends.
pub(super) fn next_end(db: &Connection) -> Outcome<Option<Timestamp>> {
    let sql = "SELECT min(evidence_ends) FROM report INDEXED BY report_evidence WHERE evidence_ends > 0";
    let next: Option<i64> = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(next.map(|end| Timestamp(end as u64)))
}
