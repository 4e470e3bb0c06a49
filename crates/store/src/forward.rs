//! Forwarded messages: their first authors, and files that are in more than one message.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{ConversationId, File, FileId, Forwarded, NewForward, Refusal, SiteId, UserId, may_send_files};

use crate::contact;
use crate::fault::Outcome;
use crate::file;
use crate::rich::Place;
use crate::user::Subs;
use crate::writer::Batch;

/// Whether these files may be forwarded.
pub(crate) fn check(
    batch: &mut Batch<'_>,
    conversation: ConversationId,
    from: UserId,
    forward: &NewForward,
) -> Outcome<Result<(), Refusal>> {
    if forward.files.is_empty() {
        return Ok(Ok(()));
    }
    if let Some(other) = conversation.other(from) {
        let relation = contact::relation(batch.db, from, other)?;
        let is_known = may_send_files(relation, false).is_ok();
        let answered = !is_known && file::has_answered(batch, conversation, other)?;
        if let Err(refusal) = may_send_files(relation, answered) {
            return Ok(Err(refusal));
        }
    }
    let sql = sql!("SELECT 1 FROM file WHERE site = $1 AND id = $2 AND message > 0");
    let mut statement = batch.db.prepare_cached(sql)?;
    for id in &forward.files {
        if id.site != from.site || !statement.exists(params![id.site.0, id.number as i64])? {
            return Ok(Err(Refusal::NoSuchMessage));
        }
    }
    Ok(Ok(()))
}

pub(crate) fn put(db: &Connection, place: &Place, forward: &NewForward) -> Outcome<Vec<File>> {
    let (site, at) = (place.from.site, place.position as i64);
    let sql = sql!("INSERT INTO forward (site, message, author) VALUES ($1, $2, $3)");
    let author = forward.author.as_ref().map(|(user, _)| user.num);
    db.prepare_cached(sql)?.execute(params![site.0, at, author])?;
    if forward.files.is_empty() {
        return Ok(Vec::new());
    }
    let sql =
        sql!("INSERT INTO file_copy (site, file, message, place, conversation) VALUES ($1, $2, $3, $4, $5)");
    for (number, id) in forward.files.iter().enumerate() {
        let key = place.conversation.key as i64;
        db.prepare_cached(sql)?.execute(params![site.0, id.number as i64, at, number as i64, key])?;
    }
    let sql = sql!("UPDATE message SET files = $2 WHERE position = $1");
    db.prepare_cached(sql)?.execute([at, forward.files.len() as i64])?;
    files(db, site, place.position)
}

pub(crate) fn origin(
    db: &Connection,
    subs: &mut Subs<'_>,
    site: SiteId,
    position: u64,
) -> Outcome<Forwarded> {
    let sql = sql!("SELECT author FROM forward WHERE site = $1 AND message = $2");
    let values = params![site.0, position as i64];
    let author: Option<Option<u32>> =
        db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    let Some(num) = author.flatten() else { return Ok(Forwarded { from: None }) };
    let user = UserId { site, num };
    Ok(Forwarded { from: subs.of(user)?.map(|sub| (user, sub)) })
}

/// The files of a forwarded message: those it shares with an earlier message, and those that were handed over to it.
pub(crate) fn files(db: &Connection, site: SiteId, position: u64) -> Outcome<Vec<File>> {
    let sql = sql!(
        "SELECT place, id FROM file WHERE site = $1 AND message = $2 AND place >= 0 \
               UNION ALL SELECT place, file FROM file_copy WHERE site = $1 AND message = $2 ORDER BY 1"
    );
    let mut statement = db.prepare_cached(sql)?;
    let values = [i64::from(site.0), position as i64];
    let ids: Vec<i64> = statement.query_map(values, |row| row.get(1))?.collect::<Result<_, _>>()?;
    let mut files = Vec::with_capacity(ids.len());
    for id in ids {
        files.extend(file::load(db, FileId { site, number: id as u64 })?.map(|row| row.file));
    }
    Ok(files)
}

/// Call before the message at `position` loses its files. Files in other messages are given to another message, which
/// then owns them instead of a copy.
pub(crate) fn hand_over(db: &Connection, site: SiteId, position: u64) -> Outcome<()> {
    let (site, at) = (i64::from(site.0), position as i64);
    db.prepare_cached(sql!("DELETE FROM file_copy WHERE site = $1 AND message = $2"))?.execute([site, at])?;
    let sql = sql!(
        "SELECT c.file, min(c.message) FROM file f JOIN file_copy c ON c.site = f.site AND c.file = f.id \
               WHERE f.site = $1 AND f.message = $2 GROUP BY c.file"
    );
    let mut statement = db.prepare_cached(sql)?;
    let heirs: Vec<(i64, i64)> =
        statement.query_map([site, at], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (file, message) in heirs {
        let sql = sql!(
            "UPDATE file SET message = $3, \
                   (place, conversation) = (SELECT place, conversation FROM file_copy WHERE site = $1 AND file = $2 AND message = $3) \
                   WHERE site = $1 AND id = $2"
        );
        db.prepare_cached(sql)?.execute([site, file, message])?;
        let sql = sql!("DELETE FROM file_copy WHERE site = $1 AND file = $2 AND message = $3");
        db.prepare_cached(sql)?.execute([site, file, message])?;
    }
    Ok(())
}

/// Most conversations with copies that are examined to decide who may see a file.
const MOST_PLACES: i64 = 100;

/// Conversations of other messages that have the file.
pub(crate) fn places(db: &Connection, id: FileId) -> Outcome<Vec<ConversationId>> {
    let sql = sql!("SELECT DISTINCT conversation FROM file_copy WHERE site = $1 AND file = $2 LIMIT $3");
    let mut statement = db.prepare_cached(sql)?;
    let values = [i64::from(id.site.0), id.number as i64, MOST_PLACES];
    let places = statement
        .query_map(values, |row| Ok(ConversationId { site: id.site, key: row.get::<_, i64>(0)? as u64 }))?;
    Ok(places.collect::<Result<_, _>>()?)
}
