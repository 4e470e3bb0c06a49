//! Profiles: the data and settings that members enter about themselves.

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    Done, NameChange, Profile, ProfileChange, ProfileStore, ProfileView, Status, Sub, Timestamp, UserId,
};

use crate::fault::Outcome;
use crate::sqlite::Sqlite;
use crate::writer::Batch;
use crate::{contact, user};

impl ProfileStore for Sqlite {
    fn profile(&self, asker: UserId, of: Sub, done: Done<Option<ProfileView>>) {
        self.read(move |db| view(db, asker, &of), done);
    }

    fn change_profile(&self, user: UserId, change: ProfileChange, done: Done<Option<ProfileView>>) {
        self.write(move |batch| self::change(batch, user, &change), done);
    }
}

fn view(db: &Connection, asker: UserId, of: &Sub) -> Outcome<Option<ProfileView>> {
    let Some(row) = user::by_sub(db, asker.site, of)? else { return Ok(None) };
    let relation = contact::relation(db, asker, row.id)?;
    Ok(Some(ProfileView { status: status(db, row.id)?, relation, row }))
}

fn change(batch: &mut Batch<'_>, id: UserId, change: &ProfileChange) -> Outcome<Option<ProfileView>> {
    let db = batch.db;
    let Some(before) = user::by_id(db, id)? else { return Ok(None) };
    let (named, name) = match &change.name {
        Some(NameChange::Own(name)) => (true, Arc::clone(name)),
        Some(NameChange::OfSite) => (false, Arc::clone(&before.profile.name)),
        None => (before.named, Arc::clone(&before.profile.name)),
    };
    let privacy = change.privacy(before.privacy);
    if (privacy, named) != (before.privacy, before.named) {
        user::set_choices(db, id, privacy, named)?;
    }
    if name != before.profile.name {
        user::update(db, &before, &Profile { name, ..before.profile.clone() })?;
        batch.next_number();
    }
    if let Some(status) = &change.status
        && *status != self::status(db, id)?
    {
        set_status(db, id, status.as_ref())?;
    }
    view(db, id, &before.profile.sub)
}

fn set_status(db: &Connection, user: UserId, status: Option<&Status>) -> Outcome<()> {
    match status {
        Some(Status { text, until }) => {
            let sql = sql!(
                "INSERT INTO status (site, user, text, until) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (site, user) DO UPDATE SET text = excluded.text, until = excluded.until"
            );
            let until = until.map(|until| until.0 as i64);
            db.prepare_cached(sql)?.execute(params![user.site.0, user.num, text, until])?;
        }
        None => {
            let sql = sql!("DELETE FROM status WHERE site = $1 AND user = $2");
            db.prepare_cached(sql)?.execute([user.site.0, user.num])?;
        }
    }
    Ok(())
}

fn status(db: &Connection, user: UserId) -> Outcome<Option<Status>> {
    let sql = sql!("SELECT text, until FROM status WHERE site = $1 AND user = $2");
    let found = db.prepare_cached(sql)?.query_row([user.site.0, user.num], |row| {
        let until: Option<i64> = row.get(1)?;
        Ok(Status { text: row.get(0)?, until: until.map(|until| Timestamp(until as u64)) })
    });
    Ok(found.optional()?)
}
