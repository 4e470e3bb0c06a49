//! E-mail digests: their addresses and due times.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{ConversationList, MailAddress, MailDue, MailView, SiteId, Timestamp, UserId, digest_due};

use crate::fault::Outcome;
use crate::late::Settled;
use crate::{conversation, notify, user};

/// Most conversations that are read for a digest.
const MOST_LOOKED_AT: u32 = 30;

// ---- writes ----

pub(crate) fn put_address(db: &Connection, user: UserId, new: &MailAddress) -> Outcome<bool> {
    let sql = sql!("SELECT address, language, after, due FROM mail WHERE site = $1 AND user = $2");
    let before = db.prepare_cached(sql)?.query_row(params![user.site.0, user.num], |row| {
        let same = row.get_ref(0)?.as_str()? == &*new.address && row.get_ref(1)?.as_str()? == &*new.language;
        let may_be_due = row.get::<_, Option<u32>>(2)? != Some(0) && row.get::<_, i64>(3)? == 0;
        Ok((same, may_be_due))
    });
    let before = before.optional()?;
    // Nearly every sign-in brings the same address: write nothing.
    if let Some((true, may_be_due)) = before {
        return Ok(may_be_due);
    }
    let sql = sql!(
        "INSERT INTO mail VALUES ($1, $2, $3, $4, NULL, 0, 0) \
               ON CONFLICT (site, user) DO UPDATE SET address = $3, language = $4"
    );
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, &*new.address, &*new.language])?;
    Ok(before.is_none_or(|(_, may_be_due)| may_be_due))
}

pub(crate) fn schedule(db: &Connection, user: UserId, now: Timestamp, minutes: u32) -> Outcome<()> {
    let sql = sql!("SELECT after, sent FROM mail WHERE site = $1 AND user = $2 AND due = 0");
    let settled = db
        .prepare_cached(sql)?
        .query_row([user.site.0, user.num], |row| Ok((row.get::<_, Option<u32>>(0)?, row.get::<_, i64>(1)?)));
    let Some((after, sent)) = settled.optional()? else { return Ok(()) };
    let sent = (sent > 0).then_some(Timestamp(sent as u64));
    if let Some(due) = digest_due(now, after.unwrap_or(minutes), sent) {
        let sql = sql!("UPDATE mail SET due = $3 WHERE site = $1 AND user = $2");
        db.prepare_cached(sql)?.execute(params![user.site.0, user.num, due.0 as i64])?;
    }
    Ok(())
}

pub(crate) fn settle(db: &Connection, user: UserId, sent: Option<Timestamp>) -> Outcome<()> {
    let sql = sql!("UPDATE mail SET due = 0, sent = coalesce($3, sent) WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, sent.map(|at| at.0 as i64)])?;
    Ok(())
}

pub(crate) fn set_after(db: &Connection, user: UserId, minutes: u32) -> Outcome<()> {
    let sql = sql!(
        "UPDATE mail SET after = $3, due = CASE WHEN $3 = 0 THEN 0 ELSE due END WHERE site = $1 AND user = $2"
    );
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, minutes])?;
    Ok(())
}

// ---- reads ----

pub(crate) fn view(db: &Connection, user: UserId) -> Outcome<Option<MailView>> {
    let sql = sql!("SELECT address, language, after FROM mail WHERE site = $1 AND user = $2");
    let found = db.prepare_cached(sql)?.query_row(params![user.site.0, user.num], |row| {
        let address = MailAddress {
            address: row.get_ref(0)?.as_str()?.into(),
            language: row.get_ref(1)?.as_str()?.into(),
        };
        Ok(MailView { address, after: row.get(2)? })
    });
    Ok(found.optional()?)
}

pub(crate) fn due(db: &Settled<'_>, now: Timestamp, limit: u32) -> Outcome<Vec<MailDue>> {
    let sql = sql!(
        "SELECT site, user, address, language FROM mail WHERE due > 0 AND due <= $1 ORDER BY due LIMIT $2"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![now.0 as i64, limit], |row| {
        let user = UserId { site: SiteId(row.get(0)?), num: row.get(1)? };
        let (address, language) = (row.get_ref(2)?.as_str()?.into(), row.get_ref(3)?.as_str()?.into());
        Ok((user, MailAddress { address, language }))
    })?;
    let mut all = Vec::new();
    for row in rows.collect::<Result<Vec<_>, _>>()? {
        let (id, address) = row;
        let Some(known) = user::by_id(db, id)? else { continue };
        let page = conversation::page(db, id, ConversationList::Unread, None, MOST_LOOKED_AT)?;
        let talks = page.rows.into_iter().map(|row| notify::talk(db, id, row)).collect::<Outcome<_>>()?;
        let settings = notify::settings(db, id)?;
        all.push(MailDue { user: id, name: known.profile.name, address, settings, talks });
    }
    Ok(all)
}

pub(crate) fn users(db: &Connection) -> Outcome<Vec<UserId>> {
    let mut statement =
        db.prepare_cached("SELECT site, user FROM mail WHERE due = 0 AND coalesce(after, 1) > 0")?;
    let rows = statement.query_map([], |row| Ok(UserId { site: SiteId(row.get(0)?), num: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
