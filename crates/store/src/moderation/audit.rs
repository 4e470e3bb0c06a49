//! The record of moderators' acts. Rows never change.

use crate::engine::{Connection, params};
use chat::{AuditEntry, AuditPage, By, ConversationId, Refusal, SiteId, Timestamp, UserId};

use super::{may_look, number_of};
use crate::counter::{self, Counted};
use crate::fault::Outcome;
use crate::user::{Subs, text};

/// A new row of the record.
pub(crate) struct Entry<'a> {
    pub(crate) site: SiteId,
    pub(crate) by: By,
    pub(crate) act: &'a str,
    pub(crate) user: Option<UserId>,
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) detail: &'a str,
    pub(crate) time: Timestamp,
}

pub(crate) fn note(db: &Connection, entry: &Entry<'_>) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO audit (site, number, time, moderator, act, user, conversation, detail) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    );
    let number = counter::next(db, entry.site, Counted::Audit)?;
    db.prepare_cached(sql)?.execute(params![
        entry.site.0,
        number,
        entry.time.0 as i64,
        number_of(entry.by),
        entry.act,
        entry.user.map_or(0, |user| user.num),
        entry.conversation.map_or(0, |id| id.key as i64),
        entry.detail,
    ])?;
    Ok(())
}

/// Newest first.
pub(super) fn page(
    db: &Connection,
    site: SiteId,
    asker: By,
    after: Option<&str>,
    limit: u32,
) -> Outcome<Result<AuditPage, Refusal>> {
    if let Err(refusal) = may_look(db, site, asker)? {
        return Ok(Err(refusal));
    }
    let before = after.and_then(|after| after.parse::<i64>().ok()).unwrap_or(i64::MAX);
    let sql = sql!(
        "SELECT number, time, moderator, act, user, conversation, detail FROM audit \
               WHERE site = $1 AND number < $2 ORDER BY number DESC LIMIT $3"
    );
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![site.0, before, i64::from(limit) + 1])?;
    let (mut entries, mut subs) = (Vec::new(), Subs::new(db));
    while let Some(row) = rows.next()? {
        let conversation: i64 = row.get(5)?;
        entries.push(AuditEntry {
            number: row.get::<_, i64>(0)? as u64,
            time: Timestamp(row.get::<_, i64>(1)? as u64),
            by: subs.of(UserId { site, num: row.get(2)? })?,
            act: text(&row, 3)?.into(),
            user: subs.of(UserId { site, num: row.get(4)? })?,
            conversation: (conversation != 0).then_some(ConversationId { site, key: conversation as u64 }),
            detail: row.get(6)?,
        });
    }
    let more = entries.len() > limit as usize;
    entries.truncate(limit as usize);
    let next = entries.last().filter(|_| more).map(|entry| entry.number.to_string());
    Ok(Ok(AuditPage { rows: entries, next }))
}
