//! Site-wide acts of a moderator: settings, and bans of devices.

use crate::engine::{Connection, OptionalExtension, params};
use chat::{DeviceBan, ModeratorAct, Refusal, Settings, SiteId, Timestamp, UserId};

use crate::fault::Outcome;
use crate::meta;

/// Changes the stored settings in the transaction, so that two concurrent changes of different settings both succeed.
pub(super) fn configure(
    db: &Connection,
    site: SiteId,
    act: &ModeratorAct,
) -> Outcome<Result<Option<Box<Settings>>, Refusal>> {
    let sql = sql!("SELECT settings FROM site WHERE id = $1");
    let before: Option<String> = db.prepare_cached(sql)?.query_row([site.0], |row| row.get(0)).optional()?;
    let Some(before) = before else { return Ok(Err(Refusal::NoSuchSite)) };
    let Some(after) = act.configured(&Settings::parse(&before)) else { return Ok(Ok(None)) };
    let Ok(settings) = after else { return Ok(Err(Refusal::BadValue)) };
    crate::site::put_settings(db, site, &settings)?;
    Ok(Ok(Some(Box::new(settings))))
}

pub(super) fn ban_devices(db: &Connection, user: UserId, devices: &[u64], until: Timestamp) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO device_ban (site, device, user, until) VALUES ($1, $2, $3, $4) \
               ON CONFLICT (site, device, user) DO UPDATE SET until = excluded.until"
    );
    for device in devices {
        db.prepare_cached(sql)?.execute(params![user.site.0, *device as i64, user.num, until.0 as i64])?;
    }
    meta::bump_revision(db)
}

pub(super) fn lift_devices(db: &Connection, user: UserId) -> Outcome<()> {
    let sql = sql!("DELETE FROM device_ban WHERE site = $1 AND user = $2");
    db.prepare_cached(sql)?.execute([user.site.0, user.num])?;
    Ok(())
}

pub(super) fn device_bans(db: &Connection) -> Outcome<Vec<DeviceBan>> {
    let mut statement = db.prepare_cached("SELECT site, device, user, until FROM device_ban")?;
    let rows = statement.query_map([], |row| {
        let site = SiteId(row.get(0)?);
        Ok(DeviceBan {
            site,
            device: row.get::<_, i64>(1)? as u64,
            user: UserId { site, num: row.get(2)? },
            until: Timestamp(row.get::<_, i64>(3)? as u64),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
