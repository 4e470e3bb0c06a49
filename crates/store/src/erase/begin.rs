//! The first transaction of an erasure: it removes the user's identity.

use crate::engine::{Connection, params};
use chat::{By, Erased, FileId, MessagesAfterErasure, NewErasure, Refusal, SiteAct, SiteRole, UserId};

use crate::fault::Outcome;
use crate::moderation::{self, audit, role};
use crate::writer::Batch;
use crate::{file, item, room, user};

macro_rules! delete_from {
    ($table:literal) => {
        sql!(concat!("DELETE FROM ", $table, " WHERE site = $1 AND user = $2"))
    };
}

/// Removes the user's own rows, of which there are few.
const OWN: [&str; 17] = [
    delete_from!("device"),
    delete_from!("app_password"),
    delete_from!("app_token"),
    delete_from!("thread_follow"),
    delete_from!("push_device"),
    delete_from!("push_app"),
    delete_from!("notify_setting"),
    delete_from!("mail"),
    delete_from!("draft"),
    delete_from!("status"),
    delete_from!("own_picture"),
    delete_from!("request_day"),
    delete_from!("held_message"),
    delete_from!("device_ban"),
    delete_from!("sanction"),
    delete_from!("room_link"),
    delete_from!("room_request"),
];

pub(super) fn begin(batch: &mut Batch<'_>, erasure: &NewErasure) -> Outcome<Result<Erased, Refusal>> {
    let NewErasure { user: id, alias, name, messages, by, time } = erasure;
    let db = batch.db;
    let Some(before) = user::by_id(db, *id)? else { return Ok(Err(Refusal::NoSuchUser)) };
    if *by != By::User(*id) {
        let role = before.on_site.role;
        if let Err(refusal) = moderation::may(db, id.site, *by, SiteAct::Erase, role)? {
            return Ok(Err(refusal));
        }
    }
    if user::by_sub(db, id.site, alias)?.is_some() {
        return Ok(Err(Refusal::NoSuchUser));
    }
    // Devices learn of one former id at a time.
    if db
        .prepare_cached(sql!("SELECT 1 FROM erasure WHERE site = $1 AND user = $2"))?
        .exists([id.site.0, id.num])?
    {
        return Ok(Err(Refusal::RateLimited { retry_after_ms: 1_000 }));
    }
    if before.on_site.role != SiteRole::Member {
        role::decide(db, id.site, &before.profile.sub, *time)?;
    }
    moderation::erased::keep_sanctions(db, &before, *time)?;
    user::become_nobody(db, &before, alias, name, *messages)?;
    for sql in OWN {
        db.prepare_cached(sql)?.execute([id.site.0, id.num])?;
    }
    item::erase(db, *id)?;
    room::request::forget_asker(db, *id)?;
    remove_loose_files(db, *id)?;
    let contacts = remove_contacts(db, *id)?;
    let number = batch.next_number();
    let sql = sql!(
        "INSERT INTO erasure (site, user, messages, conversation, former, began) VALUES ($1, $2, $3, 0, $4, $5)"
    );
    let former = before.profile.sub.as_str();
    let values = params![id.site.0, id.num, *messages == MessagesAfterErasure::Erased, former, number as i64];
    db.prepare_cached(sql)?.execute(values)?;
    let (act, user, detail) = ("erase", Some(*id), messages.word());
    let entry = audit::Entry { site: id.site, by: *by, act, user, conversation: None, detail, time: *time };
    audit::note(db, &entry)?;
    let Some(after) = user::by_id(db, *id)? else { return Ok(Err(Refusal::NoSuchUser)) };
    Ok(Ok(Erased { before, after, parted: contacts, position: batch.position() }))
}

fn remove_loose_files(db: &Connection, user: UserId) -> Outcome<()> {
    let sql = sql!("SELECT id FROM file WHERE site = $1 AND owner = $2 AND message = 0");
    let mut statement = db.prepare_cached(sql)?;
    let loose = statement.query_map([user.site.0, user.num], |row| row.get::<_, i64>(0))?;
    for number in loose.collect::<Result<Vec<_>, _>>()? {
        file::remove_loose(db, FileId { site: user.site, number: number as u64 })?;
    }
    Ok(())
}

/// Removes both rows of each pair. Each side has a row, so the user's own rows lead to every list that has the user.
/// Returns at most as many users as a list may have, and blocked ones beyond that.
fn remove_contacts(db: &Connection, user: UserId) -> Outcome<Vec<UserId>> {
    let sql = sql!(
        "SELECT mine.other, mine.state, theirs.state FROM contact mine LEFT JOIN contact theirs \
               ON theirs.site = $1 AND theirs.user = mine.other AND theirs.other = $2 \
               WHERE mine.site = $1 AND mine.user = $2"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([user.site.0, user.num], |row| {
        let other = UserId { site: user.site, num: row.get(0)? };
        let theirs = row.get::<_, Option<i64>>(2)?.unwrap_or(0);
        Ok((other, row.get::<_, i64>(1)? != 0 || theirs != 0))
    })?;
    let others: Vec<(UserId, bool)> = rows.collect::<Result<_, _>>()?;
    let theirs = sql!("DELETE FROM contact WHERE site = $1 AND user = $2 AND other = $3");
    for (other, _) in &others {
        db.prepare_cached(theirs)?.execute([user.site.0, other.num, user.num])?;
    }
    db.prepare_cached(sql!("DELETE FROM contact WHERE site = $1 AND user = $2"))?
        .execute([user.site.0, user.num])?;
    Ok(others.into_iter().filter(|(_, stood)| *stood).map(|(other, _)| other).collect())
}
