//! App passwords of members, and the secrets for their salts.

use std::num::NonZeroU32;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    AppPasswordRow, AppPasswordStore, By, Done, NewAppPassword, Refusal, ScramKeys, ScramPair, SiteId,
    StoreError, StoredCredentials, StoredKeys, Sub, Timestamp, UserId, may_add_app_password,
    may_manage_app_passwords, notes_app_password_use,
};

use crate::counter::{self, Counted};
use crate::fault::Outcome;
use crate::moderation::audit;
use crate::sqlite::Sqlite;
use crate::{app_token, meta, notify, user};

/// Running nodes read revocations of other processes every second.
const ENDED_KEPT_MS: u64 = 24 * 3_600_000;

impl AppPasswordStore for Sqlite {
    fn app_credentials(&self, site: SiteId, user: Sub, done: Done<StoredCredentials>) {
        self.read(move |db| credentials(db, site, &user), done);
    }

    fn salt_key(&self, site: SiteId, fresh: [u8; 32], done: Done<[u8; 32]>) {
        self.write(move |batch| put_salt_key(batch.db, site, &fresh), done);
    }

    fn app_passwords(&self, user: UserId, done: Done<Vec<AppPasswordRow>>) {
        self.read(move |db| list(db, user), done);
    }

    fn add_app_password(
        &self,
        user: UserId,
        new: NewAppPassword,
        by: By,
        done: Done<Result<AppPasswordRow, Refusal>>,
    ) {
        self.write(move |batch| add(batch.db, user, &new, by), done);
    }

    fn change_app_password(
        &self,
        user: UserId,
        number: u32,
        keys: StoredKeys,
        now: Timestamp,
        done: Done<Result<u32, Refusal>>,
    ) {
        self.write(move |batch| change(batch.db, user, number, &keys, now), done);
    }

    fn revoke_app_password(
        &self,
        user: UserId,
        number: u32,
        by: By,
        now: Timestamp,
        done: Done<Result<bool, Refusal>>,
    ) {
        self.write(move |batch| revoke(batch.db, user, number, by, now), done);
    }

    fn missing_app_passwords(&self, of: Vec<(UserId, u32)>, done: Done<Vec<(UserId, u32)>>) {
        self.read(move |db| missing(db, &of), done);
    }

    fn ended_app_passwords(&self) -> Result<Vec<(UserId, u32)>, StoreError> {
        self.admin(|db| ended(db))
    }
}

// ---- writes ----

fn put_salt_key(db: &Connection, site: SiteId, fresh: &[u8; 32]) -> Outcome<[u8; 32]> {
    db.prepare_cached(sql!("INSERT INTO salt_key VALUES ($1, $2) ON CONFLICT DO NOTHING"))?
        .execute(params![site.0, fresh])?;
    Ok(salt_key(db, site)?.unwrap_or(*fresh))
}

fn add(
    db: &Connection,
    id: UserId,
    new: &NewAppPassword,
    by: By,
) -> Outcome<Result<AppPasswordRow, Refusal>> {
    let Some(row) = user::by_id(db, id)? else { return Ok(Err(Refusal::NoSuchUser)) };
    let sql = sql!("SELECT count(*) FROM app_password WHERE site = $1 AND user = $2");
    let count: i64 = db.prepare_cached(sql)?.query_row([id.site.0, id.num], |row| row.get(0))?;
    let may = may_manage_app_passwords(by, id).and_then(|()| may_add_app_password(&row, count as usize));
    if let Err(refusal) = may {
        return Ok(Err(refusal));
    }
    let number = counter::next(db, id.site, Counted::AppPassword)? as u32;
    let StoredKeys { iterations, scram: ScramKeys { sha1, sha256 }, verifier } = &new.keys;
    let sql = sql!(
        "INSERT INTO app_password (site, user, number, name, created, iterations, sha1_stored, sha1_server, \
         sha256_stored, sha256_server, verifier) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    );
    db.prepare_cached(sql)?.execute(params![
        id.site.0,
        id.num,
        number,
        &*new.name,
        new.time.0 as i64,
        iterations.get(),
        sha1.stored,
        sha1.server,
        sha256.stored,
        sha256.server,
        verifier,
    ])?;
    note(db, id, "add_app_password", &new.name, by, new.time)?;
    Ok(Ok(AppPasswordRow { number, name: new.name.clone(), created: new.time, used: None }))
}

fn change(
    db: &Connection,
    id: UserId,
    number: u32,
    keys: &StoredKeys,
    now: Timestamp,
) -> Outcome<Result<u32, Refusal>> {
    let new = counter::next(db, id.site, Counted::AppPassword)? as u32;
    let StoredKeys { iterations, scram: ScramKeys { sha1, sha256 }, verifier } = keys;
    let sql = sql!(
        "UPDATE app_password SET number = $4, created = $5, iterations = $6, sha1_stored = $7, sha1_server = $8, \
         sha256_stored = $9, sha256_server = $10, verifier = $11 WHERE site = $1 AND user = $2 AND number = $3"
    );
    let changed = db.prepare_cached(sql)?.execute(params![
        id.site.0,
        id.num,
        number,
        new,
        now.0 as i64,
        iterations.get(),
        sha1.stored,
        sha1.server,
        sha256.stored,
        sha256.server,
        verifier,
    ])?;
    if changed == 0 {
        return Ok(Err(Refusal::SignedOut));
    }
    app_token::end(db, id, number)?;
    notify::end_app_pushes(db, id, number)?;
    Ok(Ok(new))
}

fn revoke(
    db: &Connection,
    id: UserId,
    number: u32,
    by: By,
    now: Timestamp,
) -> Outcome<Result<bool, Refusal>> {
    if let Err(refusal) = may_manage_app_passwords(by, id) {
        return Ok(Err(refusal));
    }
    let sql = sql!("DELETE FROM app_password WHERE site = $1 AND user = $2 AND number = $3 RETURNING name");
    let values = params![id.site.0, id.num, number];
    let name: Option<String> = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    let Some(name) = name else { return Ok(Ok(false)) };
    app_token::end(db, id, number)?;
    notify::end_app_pushes(db, id, number)?;
    note(db, id, "revoke_app_password", &name, by, now)?;
    // Of an own revocation the node knows.
    if by == By::Site {
        let old = sql!("DELETE FROM ended_app_password WHERE time < $1");
        db.prepare_cached(old)?.execute([now.0.saturating_sub(ENDED_KEPT_MS) as i64])?;
        let sql = sql!("INSERT INTO ended_app_password VALUES ($1, $2, $3, $4)");
        db.prepare_cached(sql)?.execute(params![id.site.0, id.num, number, now.0 as i64])?;
        meta::bump_revision(db)?;
    }
    Ok(Ok(true))
}

/// Records an act of the operator. Users' own passwords are no matter of moderators.
fn note(db: &Connection, id: UserId, act: &str, name: &str, by: By, time: Timestamp) -> Outcome<()> {
    if by != By::Site {
        return Ok(());
    }
    let entry =
        audit::Entry { site: id.site, by, act, user: Some(id), conversation: None, detail: name, time };
    audit::note(db, &entry)
}

/// Stores the time of a sign-in.
pub(crate) fn note_use(db: &Connection, user: UserId, number: u32, now: Timestamp) -> Outcome<()> {
    let sql = sql!("UPDATE app_password SET used = $4 WHERE site = $1 AND user = $2 AND number = $3");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, number, now.0 as i64])?;
    Ok(())
}

// ---- reads ----

/// Whether the password exists, and whether a use at `now` is to be stored.
pub(crate) fn look(db: &Connection, user: UserId, number: u32, now: Timestamp) -> Outcome<Option<bool>> {
    let sql = sql!("SELECT used FROM app_password WHERE site = $1 AND user = $2 AND number = $3");
    let values = params![user.site.0, user.num, number];
    let used: Option<Option<i64>> = db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(used.map(|used| notes_app_password_use(used.map(|at| Timestamp(at as u64)), now)))
}

fn salt_key(db: &Connection, site: SiteId) -> Outcome<Option<[u8; 32]>> {
    let sql = sql!("SELECT key FROM salt_key WHERE site = $1");
    Ok(db.prepare_cached(sql)?.query_row([site.0], |row| row.get(0)).optional()?)
}

fn credentials(db: &Connection, site: SiteId, sub: &Sub) -> Outcome<StoredCredentials> {
    // A user of the number 0 does not exist: the same statements run for an unknown id.
    let id = user::by_sub(db, site, sub)?.map_or(UserId::nobody(site), |row| row.id);
    let sql = sql!(
        "SELECT number, iterations, sha1_stored, sha1_server, sha256_stored, sha256_server, verifier \
         FROM app_password WHERE site = $1 AND user = $2 ORDER BY number"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([site.0, id.num], |row| {
        let keys = StoredKeys {
            iterations: iterations(row)?,
            scram: ScramKeys {
                sha1: ScramPair { stored: row.get(2)?, server: row.get(3)? },
                sha256: ScramPair { stored: row.get(4)?, server: row.get(5)? },
            },
            verifier: row.get(6)?,
        };
        Ok((row.get(0)?, keys))
    })?;
    Ok(StoredCredentials { salt_key: salt_key(db, site)?, passwords: rows.collect::<Result<_, _>>()? })
}

fn iterations(row: &Row<'_>) -> crate::engine::Result<NonZeroU32> {
    NonZeroU32::new(row.get(1)?)
        .ok_or_else(|| crate::engine::Error::Invalid("no iterations: the row is damaged"))
}

fn list(db: &Connection, user: UserId) -> Outcome<Vec<AppPasswordRow>> {
    let sql = sql!(
        "SELECT number, name, created, used FROM app_password WHERE site = $1 AND user = $2 \
         ORDER BY number DESC"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([user.site.0, user.num], |row| {
        let time = |at: i64| Timestamp(at as u64);
        Ok(AppPasswordRow {
            number: row.get(0)?,
            name: row.get(1)?,
            created: time(row.get(2)?),
            used: row.get::<_, Option<i64>>(3)?.map(time),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn missing(db: &Connection, of: &[(UserId, u32)]) -> Outcome<Vec<(UserId, u32)>> {
    let sql = sql!("SELECT 1 FROM app_password WHERE site = $1 AND user = $2 AND number = $3");
    let mut exists = vec![false; of.len()];
    let values = of.iter().map(|(user, number)| [user.site.0, user.num, *number]);
    db.prepare_cached(sql)?.query_each(values, |at, _| {
        exists[at] = true;
        Ok(())
    })?;
    Ok(of.iter().zip(exists).filter(|(_, exists)| !exists).map(|(one, _)| *one).collect())
}

fn ended(db: &Connection) -> Outcome<Vec<(UserId, u32)>> {
    let sql = "SELECT site, user, number FROM ended_app_password ORDER BY site, user, number";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement
        .query_map([], |row| Ok((UserId { site: SiteId(row.get(0)?), num: row.get(1)? }, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
