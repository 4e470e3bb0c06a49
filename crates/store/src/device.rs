//! Devices of members, on sites that keep them.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{
    Agent, DeviceRow, DeviceStore, Done, MOST_DEVICES, NewDevice, SignedOut, SiteId, Sub, Timestamp, UserId,
};

use crate::fault::Outcome;
use crate::notify;
use crate::sqlite::Sqlite;
use crate::user;
use crate::writer::{self, Batch};

impl DeviceStore for Sqlite {
    fn put_device(&self, user: UserId, device: NewDevice) {
        let put = move |batch: &mut Batch<'_>| put(batch.db, user, &device);
        self.shared.write_patiently(writer::write(put, |_, _| ()));
    }

    fn devices(&self, user: UserId, done: Done<Vec<DeviceRow>>) {
        self.read(move |db| list(db, user), done);
    }

    fn sign_out(
        &self,
        user: UserId,
        device: u64,
        expires: Timestamp,
        now: Timestamp,
        done: Done<Option<bool>>,
    ) {
        self.write(move |batch| sign_out(batch.db, user, device, expires, now), done);
    }

    fn signed_out(&self, site: SiteId, user: Sub, device: u64, done: Done<Option<SignedOut>>) {
        self.read(move |db| signed_out(db, site, &user, device), done);
    }
}

fn put(db: &Connection, user: UserId, device: &NewDevice) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO device (site, user, id, agent, created, used, expires) VALUES ($1, $2, $3, $4, $5, $5, $6) \
               ON CONFLICT (site, user, id) DO UPDATE SET agent = $4, used = $5, expires = $6, signed_out = NULL"
    );
    db.prepare_cached(sql)?.execute(params![
        user.site.0,
        user.num,
        device.id as i64,
        device.agent.code(),
        device.time.0 as i64,
        device.expires.0 as i64
    ])?;
    let beyond = sql!(
        "DELETE FROM device WHERE site = $1 AND user = $2 AND id IN (SELECT id FROM device \
                  WHERE site = $1 AND user = $2 ORDER BY used DESC, id DESC LIMIT 9223372036854775807 OFFSET $3)"
    );
    db.prepare_cached(beyond)?.execute([user.site.0, user.num, MOST_DEVICES as u32])?;
    Ok(())
}

fn sign_out(
    db: &Connection,
    user: UserId,
    device: u64,
    expires: Timestamp,
    now: Timestamp,
) -> Outcome<Option<bool>> {
    let sql = sql!(
        "UPDATE device SET signed_out = $4, expires = CASE WHEN expires > $5 THEN expires ELSE $5 END \
               WHERE site = $1 AND user = $2 AND id = $3 AND signed_out IS NULL"
    );
    let values = params![user.site.0, user.num, device as i64, now.0 as i64, expires.0 as i64];
    if db.prepare_cached(sql)?.execute(values)? == 0 {
        return Ok(None);
    }
    Ok(Some(notify::remove_of_device(db, user, device)?))
}

pub(crate) fn is_signed_out(db: &Connection, user: UserId, device: u64) -> Outcome<bool> {
    let sql = sql!("SELECT signed_out IS NOT NULL FROM device WHERE site = $1 AND user = $2 AND id = $3");
    let values = params![user.site.0, user.num, device as i64];
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?.unwrap_or(false))
}

fn list(db: &Connection, user: UserId) -> Outcome<Vec<DeviceRow>> {
    let sql = sql!(
        "SELECT id, agent, created, used FROM device WHERE site = $1 AND user = $2 AND signed_out IS NULL \
               ORDER BY used DESC, id DESC"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([user.site.0, user.num], |row| {
        Ok(DeviceRow {
            id: row.get::<_, i64>(0)? as u64,
            agent: Agent::of_code(row.get(1)?),
            created: Timestamp(row.get::<_, i64>(2)? as u64),
            used: Timestamp(row.get::<_, i64>(3)? as u64),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn signed_out(db: &Connection, site: SiteId, sub: &Sub, device: u64) -> Outcome<Option<SignedOut>> {
    let Some(user) = user::by_sub(db, site, sub)? else { return Ok(None) };
    let sql = sql!("SELECT signed_out, expires FROM device WHERE site = $1 AND user = $2 AND id = $3");
    let values = params![site.0, user.id.num, device as i64];
    let found = db.prepare_cached(sql)?.query_row(values, |row| {
        let at: Option<i64> = row.get(0)?;
        let expires = Timestamp(row.get::<_, i64>(1)? as u64);
        Ok(at.map(|at| SignedOut { at: Timestamp(at as u64), expires }))
    });
    Ok(found.optional()?.flatten())
}
