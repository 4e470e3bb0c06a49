//! Guests who become members: the user row and its copies get another id.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{Done, Merge, MergeStore, Refusal, SiteId, StoreError, Sub, UserId, UserRow};

use crate::fault::Outcome;
use crate::moderation::audit;
use crate::sqlite::Sqlite;
use crate::user;
use crate::writer::Batch;

impl MergeStore for Sqlite {
    fn merge_guest(&self, merge: Merge, done: Done<Result<Option<UserRow>, Refusal>>) {
        self.write(move |batch| self::merge(batch, &merge), done);
    }

    fn no_guests(&self, of: &[UserId]) -> Result<Vec<UserId>, StoreError> {
        self.admin(|db| members(db, of))
    }
}

fn merge(batch: &mut Batch<'_>, merge: &Merge) -> Outcome<Result<Option<UserRow>, Refusal>> {
    let Merge { guest, user, by, time } = merge;
    let (site, guest) = (&guest.site(), guest.sub());
    let db = batch.db;
    if was_merged(db, merge)? {
        return Ok(Ok(None));
    }
    let Some(before) = user::by_sub(db, *site, guest)? else { return Ok(Err(Refusal::NoSuchUser)) };
    if !before.profile.guest {
        return Ok(Err(Refusal::NotAllowed));
    }
    if user::by_sub(db, *site, user)?.is_some() {
        return Ok(Err(Refusal::UserExists));
    }
    user::become_member(db, &before, user)?;
    let number = batch.next_number();
    rename_on_lists(db, before.id, user.as_str(), number)?;
    let sql = sql!(
        "INSERT INTO merged_guest (site, sub, user) VALUES ($1, $2, $3) \
               ON CONFLICT (site, sub) DO UPDATE SET user = excluded.user"
    );
    db.prepare_cached(sql)?.execute(params![site.0, guest.as_str(), before.id.num])?;
    let sql = sql!(
        "INSERT INTO erasure (site, user, messages, conversation, former, began) \
               VALUES ($1, $2, 2, 0, $3, $4) \
               ON CONFLICT (site, user) DO UPDATE SET messages = excluded.messages, conversation = excluded.conversation, former = excluded.former, began = excluded.began, \
               step = 0, at = 0, at_id = '', indexed = 0"
    );
    db.prepare_cached(sql)?.execute(params![site.0, before.id.num, guest.as_str(), number as i64])?;
    let (act, user, detail) = ("merge", Some(before.id), guest.as_str());
    audit::note(
        db,
        &audit::Entry { site: *site, by: *by, act, user, conversation: None, detail, time: *time },
    )?;
    Ok(Ok(Some(before)))
}

fn was_merged(db: &Connection, merge: &Merge) -> Outcome<bool> {
    let sql = sql!(
        "SELECT u.sub = $3 FROM merged_guest g JOIN user u ON u.site = g.site AND u.num = g.user \
               WHERE g.site = $1 AND g.sub = $2"
    );
    let values = params![merge.guest.site().0, merge.guest.sub().as_str(), merge.user.as_str()];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?.unwrap_or(false))
}

fn members(db: &Connection, of: &[UserId]) -> Outcome<Vec<UserId>> {
    let mut statement = db.prepare_cached(sql!("SELECT guest FROM user WHERE site = $1 AND num = $2"))?;
    let mut members = Vec::new();
    for id in of {
        let guest: Option<bool> =
            statement.query_row(params![id.site.0, id.num], |row| row.get(0)).optional()?;
        members.extend((guest == Some(false)).then_some(*id));
    }
    Ok(members)
}

/// The member who was the guest with this id.
pub(crate) fn member(db: &Connection, site: SiteId, guest: &Sub) -> Outcome<Option<UserRow>> {
    let sql = sql!("SELECT user FROM merged_guest WHERE site = $1 AND sub = $2");
    let num =
        db.prepare_cached(sql)?.query_row(params![site.0, guest.as_str()], |row| row.get(0)).optional()?;
    num.map_or(Ok(None), |num| user::by_id(db, UserId { site, num }))
}

/// The guest's own rows lead to the lists that have the guest.
fn rename_on_lists(db: &Connection, id: UserId, sub: &str, number: u64) -> Outcome<()> {
    let sql = sql!(
        "UPDATE contact SET sub = $3, guest = 0, changed = $4 WHERE site = $1 AND other = $2 AND user IN \
               (SELECT mine.other FROM contact mine WHERE mine.site = $1 AND mine.user = $2)"
    );
    db.prepare_cached(sql)?.execute(params![id.site.0, id.num, sub, number as i64])?;
    Ok(())
}
