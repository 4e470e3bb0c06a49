//! Browsers that receive notifications, the users' settings for them, and the sites' keys for push services.

use std::sync::Arc;

use crate::engine::{Connection, OptionalExtension, Row, params};
use chat::{
    AppPush, AppPushRow, ConversationId, ConversationRow, Done, MOST_APP_PUSHES, MOST_CALLS_COUNTED,
    MOST_PUSH_DEVICES, MOST_SKIPPED, MailAddress, MailDue, NotificationStore, NotifyChange, NotifyFacts,
    NotifySettings, NotifyView, PushDevice, QuietHours, Reached, SetPresence, SiteId, StoreError,
    StoredMessage, Talk, Timestamp, UserId,
};

use crate::fault::Outcome;
use crate::late::{Scope, Settled};
use crate::sqlite::Sqlite;
use crate::writer::{self, Batch};
use crate::{app_password, contact, conversation, device, mail, message, room, user};

impl NotificationStore for Sqlite {
    fn put_push_device(
        &self,
        user: UserId,
        device: Option<u64>,
        push: PushDevice,
        now: Timestamp,
        done: Done<Vec<UserId>>,
    ) {
        self.write(move |batch| put_device(batch.db, user, device, &push, now), done);
    }

    fn remove_push_device(&self, user: UserId, endpoint: Box<str>, done: Done<bool>) {
        self.write(move |batch| remove_device(batch.db, user, &endpoint), done);
    }

    fn change_notify_settings(&self, user: UserId, change: NotifyChange, done: Done<NotifyView>) {
        self.write(move |batch| change_settings(batch.db, user, &change), done);
    }

    fn notify_view(&self, user: UserId, done: Done<NotifyView>) {
        self.read(move |db| view(db, user), done);
    }

    fn notify_facts(&self, user: UserId, conversations: Vec<ConversationId>, done: Done<NotifyFacts>) {
        self.read_settled(Scope::Of(user), move |db| facts(db, user, &conversations), done);
    }

    fn push_key(&self, site: SiteId, fresh: Vec<u8>, done: Done<Vec<u8>>) {
        self.write(move |batch| key(batch.db, site, &fresh), done);
    }

    fn put_mail_address(&self, user: UserId, address: MailAddress, done: Done<bool>) {
        let put = move |batch: &mut Batch<'_>| mail::put_address(batch.db, user, &address);
        self.shared.write_patiently(writer::write(put, |outcome, _| done(outcome)));
    }

    fn schedule_mail(&self, user: UserId, now: Timestamp, minutes: u32) {
        let schedule = move |batch: &mut Batch<'_>| mail::schedule(batch.db, user, now, minutes);
        self.shared.write_patiently(writer::write(schedule, |_, _| ()));
    }

    fn mail_due(&self, now: Timestamp, limit: u32, done: Done<Vec<MailDue>>) {
        self.read_settled(Scope::All, move |db| mail::due(db, now, limit), done);
    }

    fn settle_mail(&self, user: UserId, sent: Option<Timestamp>, done: Done<()>) {
        self.write(move |batch| mail::settle(batch.db, user, sent), done);
    }

    fn mail_users(&self) -> Result<Vec<UserId>, StoreError> {
        self.admin(|db| mail::users(db))
    }

    fn push_users(&self) -> Result<Vec<UserId>, StoreError> {
        self.admin(|db| users(db, "SELECT DISTINCT site, user FROM push_device"))
    }

    fn put_app_push(&self, user: UserId, row: AppPushRow, now: Timestamp, done: Done<bool>) {
        self.write(move |batch| put_app(batch.db, user, &row, now), done);
    }

    fn remove_app_push(&self, user: UserId, service: Box<str>, node: Option<Box<str>>, done: Done<Reached>) {
        self.write(move |batch| remove_app(batch.db, user, &service, node.as_deref()), done);
    }

    fn app_push_users(&self) -> Result<Vec<UserId>, StoreError> {
        self.admin(|db| users(db, "SELECT DISTINCT site, user FROM push_app"))
    }
}

// ---- writes ----

fn put_device(
    db: &Connection,
    user: UserId,
    device: Option<u64>,
    push: &PushDevice,
    now: Timestamp,
) -> Outcome<Vec<UserId>> {
    if device.map_or(Ok(false), |device| device::is_signed_out(db, user, device))? {
        return Ok(Vec::new());
    }
    let owner = sql!("SELECT user FROM push_device WHERE site = $1 AND endpoint = $2");
    let same = params![user.site.0, &*push.endpoint];
    let before: Option<u32> = db.prepare_cached(owner)?.query_row(same, |row| row.get(0)).optional()?;
    db.prepare_cached(sql!("DELETE FROM push_device WHERE site = $1 AND endpoint = $2"))?.execute(same)?;
    let oldest = sql!(
        "DELETE FROM push_device WHERE site = $1 AND user = $2 AND endpoint IN (SELECT endpoint FROM push_device \
                  WHERE site = $1 AND user = $2 ORDER BY created DESC, endpoint LIMIT 9223372036854775807 OFFSET $3)"
    );
    db.prepare_cached(oldest)?.execute(params![user.site.0, user.num, MOST_PUSH_DEVICES as u32 - 1])?;
    db.prepare_cached(sql!("INSERT INTO push_device VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"))?.execute(
        params![
            user.site.0,
            user.num,
            &*push.endpoint,
            &*push.key,
            &*push.auth,
            &*push.language,
            now.0 as i64,
            device.map(|device| device as i64)
        ],
    )?;
    let Some(num) = before.filter(|num| *num != user.num) else { return Ok(Vec::new()) };
    let before = UserId { site: user.site, num };
    Ok(if count(db, before)? == 0 { vec![before] } else { Vec::new() })
}

fn remove_device(db: &Connection, user: UserId, endpoint: &str) -> Outcome<bool> {
    let sql = sql!("DELETE FROM push_device WHERE site = $1 AND user = $2 AND endpoint = $3");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, endpoint])?;
    Ok(count(db, user)? > 0)
}

/// Removes the browser and the app of a signed-out device, and browsers without a known device. Returns whether a browser is left.
pub(crate) fn remove_of_device(db: &Connection, user: UserId, device: u64) -> Outcome<bool> {
    let sql =
        sql!("DELETE FROM push_device WHERE site = $1 AND user = $2 AND (device = $3 OR device IS NULL)");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, device as i64])?;
    let sql = sql!("DELETE FROM push_app WHERE site = $1 AND user = $2 AND device = $3");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, device as i64])?;
    Ok(count(db, user)? > 0)
}

fn put_app(db: &Connection, user: UserId, row: &AppPushRow, now: Timestamp) -> Outcome<bool> {
    let AppPushRow { push: AppPush { service, node, options }, device, password } = row;
    if let Some(number) = password
        && app_password::look(db, user, *number, now)?.is_none()
    {
        return Ok(false);
    }
    let of_device =
        sql!("DELETE FROM push_app WHERE site = $1 AND user = $2 AND service = $3 AND device = $4");
    db.prepare_cached(of_device)?.execute(params![user.site.0, user.num, &**service, *device as i64])?;
    let same = sql!("DELETE FROM push_app WHERE site = $1 AND user = $2 AND service = $3 AND node = $4");
    db.prepare_cached(same)?.execute(params![user.site.0, user.num, &**service, &**node])?;
    let oldest = sql!(
        "DELETE FROM push_app WHERE site = $1 AND user = $2 AND (service, node) IN (SELECT service, node FROM push_app \
         WHERE site = $1 AND user = $2 ORDER BY created DESC, service, node LIMIT 9223372036854775807 OFFSET $3)"
    );
    db.prepare_cached(oldest)?.execute(params![user.site.0, user.num, MOST_APP_PUSHES as u32 - 1])?;
    db.prepare_cached(sql!("INSERT INTO push_app VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"))?.execute(
        params![
            user.site.0,
            user.num,
            &**service,
            &**node,
            &**options,
            *device as i64,
            password,
            now.0 as i64
        ],
    )?;
    Ok(true)
}

fn remove_app(db: &Connection, user: UserId, service: &str, node: Option<&str>) -> Outcome<Reached> {
    let sql = sql!(
        "DELETE FROM push_app WHERE site = $1 AND user = $2 AND service = $3 AND ($4 IS NULL OR node = $4)"
    );
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, service, node])?;
    let apps = sql!("SELECT 1 FROM push_app WHERE site = $1 AND user = $2 LIMIT 1");
    let apps = db.prepare_cached(apps)?.exists(params![user.site.0, user.num])?;
    Ok(Reached { browsers: count(db, user)? > 0, apps })
}

/// Removes the push services of apps that have signed in with this password.
pub(crate) fn end_app_pushes(db: &Connection, user: UserId, password: u32) -> Outcome<()> {
    let sql = sql!("DELETE FROM push_app WHERE site = $1 AND user = $2 AND password = $3");
    db.prepare_cached(sql)?.execute(params![user.site.0, user.num, password])?;
    Ok(())
}

fn change_settings(db: &Connection, user: UserId, change: &NotifyChange) -> Outcome<NotifyView> {
    let before = settings(db, user)?;
    let quiet = change.quiet.unwrap_or(before.quiet);
    db.prepare_cached(sql!("INSERT INTO notify_setting VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (site, user) DO UPDATE SET \
               quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to, quiet_offset = excluded.quiet_offset, \
               bodies = excluded.bodies"))?.execute(
        params![
            user.site.0,
            user.num,
            quiet.map(|quiet| quiet.from()),
            quiet.map(|quiet| quiet.to()),
            quiet.map(|quiet| quiet.offset()),
            change.bodies.unwrap_or(before.bodies)
        ],
    )?;
    if let Some(minutes) = change.mail {
        mail::set_after(db, user, minutes)?;
    }
    view(db, user)
}

fn key(db: &Connection, site: SiteId, fresh: &[u8]) -> Outcome<Vec<u8>> {
    db.prepare_cached(sql!("INSERT INTO push_key VALUES ($1, $2) ON CONFLICT DO NOTHING"))?
        .execute(params![site.0, fresh])?;
    let sql = sql!("SELECT pair FROM push_key WHERE site = $1");
    Ok(db.prepare_cached(sql)?.query_row([site.0], |row| row.get(0))?)
}

// ---- reads ----

fn view(db: &Connection, user: UserId) -> Outcome<NotifyView> {
    Ok(NotifyView { settings: settings(db, user)?, devices: count(db, user)?, mail: mail::view(db, user)? })
}

fn facts(db: &Settled<'_>, user: UserId, conversations: &[ConversationId]) -> Outcome<NotifyFacts> {
    let mut talks = Vec::with_capacity(conversations.len());
    for id in conversations {
        if let Some(row) = conversation::one(db, user, *id)? {
            talks.push(talk(db, user, row)?);
        }
    }
    Ok(NotifyFacts {
        settings: settings(db, user)?,
        presence: user::by_id(db, user)?.map_or(SetPresence::Online, |row| row.presence),
        devices: devices(db, user)?,
        apps: apps(db, user)?,
        talks,
    })
}

pub(crate) fn talk(db: &Settled<'_>, user: UserId, mut row: ConversationRow) -> Outcome<Talk> {
    if let Some(last) = &row.last
        && last.from != user
        && contact::has_blocked(db, user, last.from)?
    {
        row.last = newest_not_blocked(db, user, &row)?;
    }
    let from = row.last.as_ref().map(|last| user::by_id(db, last.from)).transpose()?.flatten();
    Ok(Talk { missed_calls: missed_calls(db, user, &row)?, row, from })
}

fn missed_calls(db: &Settled<'_>, user: UserId, row: &ConversationRow) -> Outcome<u64> {
    if row.id.is_room() || row.unread == 0 {
        return Ok(0);
    }
    let limit = row.unread.min(u64::from(MOST_CALLS_COUNTED)) as u32;
    let page = message::history(db, user, row.id, None, None, limit)?;
    Ok(Talk::missed_calls(user, &page.messages))
}

/// The newest unread message by an author whom the user has not blocked, among the last [`MOST_SKIPPED`].
fn newest_not_blocked(
    db: &Settled<'_>,
    user: UserId,
    row: &ConversationRow,
) -> Outcome<Option<StoredMessage>> {
    let newest = match row.id.is_room() {
        true => room::load(db, row.id)?.map(|room| room.newest),
        false => conversation::load(db, row.id)?.map(|direct| direct.newest()),
    };
    let Some(newest) = newest else { return Ok(None) };
    let page = message::page(db, user, row.id, newest, None, None, MOST_SKIPPED)?;
    for message in page.messages.into_iter().rev().take_while(|message| message.seq > row.read) {
        if message.from == user || !contact::has_blocked(db, user, message.from)? {
            return Ok(Some(message));
        }
    }
    Ok(None)
}

pub(crate) fn settings(db: &Connection, user: UserId) -> Outcome<NotifySettings> {
    let sql = sql!(
        "SELECT quiet_from, quiet_to, quiet_offset, bodies FROM notify_setting WHERE site = $1 AND user = $2"
    );
    let found = db.prepare_cached(sql)?.query_row(params![user.site.0, user.num], |row| {
        let quiet = |at| row.get::<_, Option<i16>>(at);
        let (from, to, offset) = (quiet(0)?, quiet(1)?, quiet(2)?);
        let minute = |minute: Option<i16>| minute.and_then(|minute| u16::try_from(minute).ok());
        let hours = minute(from).zip(minute(to)).zip(offset);
        Ok(NotifySettings {
            quiet: hours.and_then(|((from, to), offset)| QuietHours::new(from, to, offset)),
            bodies: row.get(3)?,
        })
    });
    Ok(found.optional()?.unwrap_or_default())
}

fn devices(db: &Connection, user: UserId) -> Outcome<Vec<Arc<PushDevice>>> {
    let sql = sql!(
        "SELECT endpoint, key, auth, language FROM push_device WHERE site = $1 AND user = $2 ORDER BY created, endpoint"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![user.site.0, user.num], |row| Ok(Arc::new(push_device(row)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn apps(db: &Connection, user: UserId) -> Outcome<Vec<AppPushRow>> {
    let sql = sql!(
        "SELECT service, node, options, device, password FROM push_app WHERE site = $1 AND user = $2 \
         ORDER BY created, service, node"
    );
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params![user.site.0, user.num], |row| {
        let push = AppPush {
            service: row.get_ref(0)?.as_str()?.into(),
            node: row.get_ref(1)?.as_str()?.into(),
            options: row.get_ref(2)?.as_str()?.into(),
        };
        Ok(AppPushRow { push, device: row.get::<_, i64>(3)? as u64, password: row.get(4)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn push_device(row: &Row<'_>) -> crate::engine::Result<PushDevice> {
    Ok(PushDevice {
        endpoint: row.get_ref(0)?.as_str()?.into(),
        key: row.get_ref(1)?.as_blob()?.into(),
        auth: row.get_ref(2)?.as_blob()?.into(),
        language: row.get_ref(3)?.as_str()?.into(),
    })
}

fn count(db: &Connection, user: UserId) -> Outcome<u32> {
    let sql = sql!("SELECT count(*) FROM push_device WHERE site = $1 AND user = $2");
    Ok(db.prepare_cached(sql)?.query_row(params![user.site.0, user.num], |row| row.get(0))?)
}

fn users(db: &Connection, sql: &str) -> Outcome<Vec<UserId>> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| Ok(UserId { site: SiteId(row.get(0)?), num: row.get(1)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
