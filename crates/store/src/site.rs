//! Sites and their secrets, and the removal of all data of a site.

mod store;

use std::collections::BTreeMap;

use crate::engine::{Connection, OptionalExtension, Transaction, params};
use chat::{
    Mode, Secret, SecretKind, Settings, Site, SiteAct, SiteAuthor, SiteChange, SiteId, SiteNotChanged,
    SiteRole, Timestamp, may_be_named,
};

use crate::counter::{self, Counted};
use crate::dialect;
use crate::fault::Outcome;
use crate::moderation::{self, audit};
use crate::room::link;
use crate::{meta, user};

// ---- writes ----

pub(crate) fn add(db: &mut Connection, site: &Site) -> Outcome<Option<SiteId>> {
    let transaction = begin(db)?;
    if may_be_named(site, &read_all(&transaction)?).is_err() {
        return Ok(None);
    }
    let id = SiteId(meta::take_site_number(&transaction)?);
    transaction.execute(
        sql!(
            "INSERT INTO site (id, key, name, mode, guests, origins, created, settings, public_url, domain) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        ),
        params![
            id.0,
            &*site.key,
            site.name,
            mode_code(site.mode),
            site.guests,
            site.origins.join("\n"),
            site.created.0 as i64,
            site.settings.stored_document(),
            site.public_url,
            site.domain.as_deref(),
        ],
    )?;
    put_keys(&transaction, id, site)?;
    meta::bump_revision(&transaction)?;
    transaction.commit()?;
    Ok(Some(id))
}

pub(crate) fn update(db: &mut Connection, site: &Site) -> Outcome<()> {
    let transaction = begin(db)?;
    let sql = sql!("UPDATE site SET settings = $2 WHERE id = $1");
    transaction.execute(sql, params![site.id.0, site.settings.stored_document()])?;
    put(&transaction, site)?;
    transaction.commit()?;
    Ok(())
}

/// Everything but the settings.
fn put(db: &Connection, site: &Site) -> Outcome<()> {
    let sql = sql!(
        "UPDATE site SET key = $2, name = $3, mode = $4, guests = $5, origins = $6, created = $7, public_url = $8, \
               domain = $9 WHERE id = $1"
    );
    let values = params![
        site.id.0,
        &*site.key,
        site.name,
        mode_code(site.mode),
        site.guests,
        site.origins.join("\n"),
        site.created.0 as i64,
        site.public_url,
        site.domain.as_deref(),
    ];
    if db.execute(sql, values)? > 0 {
        db.execute(sql!("DELETE FROM secret WHERE site = $1"), [site.id.0])?;
        put_keys(db, site.id, site)?;
        meta::bump_revision(db)?;
    }
    Ok(())
}

pub(crate) fn change(
    db: &mut Connection,
    id: SiteId,
    change: &SiteChange,
    author: SiteAuthor,
    now: Timestamp,
) -> Outcome<Result<Site, SiteNotChanged>> {
    let transaction = begin(db)?;
    let by = author.by();
    if moderation::may(&transaction, id, by, SiteAct::Configure, SiteRole::Member)?.is_err() {
        return Ok(Err(SiteNotChanged::NotAllowed));
    }
    let sites = read_all(&transaction)?;
    let Some(before) = sites.iter().find(|site| site.id == id) else {
        return Ok(Err(SiteNotChanged::NoSuchSite));
    };
    let after = change.apply(author, before, now);
    let after = match after.and_then(|after| may_be_named(&after, &sites).map(|()| after)) {
        Ok(after) => after,
        Err(why) => return Ok(Err(why)),
    };
    put(&transaction, &after)?;
    let (act, detail) = change.recorded();
    let entry =
        audit::Entry { site: id, by, act, user: None, conversation: None, detail: &detail, time: now };
    audit::note(&transaction, &entry)?;
    transaction.commit()?;
    Ok(Ok(after))
}

/// False if the site does not exist.
pub(crate) fn set_settings(db: &mut Connection, site: SiteId, settings: &Settings) -> Outcome<bool> {
    let transaction = begin(db)?;
    let found = put_settings(&transaction, site, settings)?;
    transaction.commit()?;
    Ok(found)
}

/// Stores the settings, and ends names and links that they do not allow.
pub(crate) fn put_settings(db: &Connection, site: SiteId, settings: &Settings) -> Outcome<bool> {
    let sql = sql!("UPDATE site SET settings = $2 WHERE id = $1");
    if db.prepare_cached(sql)?.execute(params![site.0, settings.stored_document()])? == 0 {
        return Ok(false);
    }
    // Unreadable settings are strict until they are repaired, so they must end nothing for good.
    if !settings.members.rename && !settings.is_unreadable("members") {
        user::unname_all(db, site)?;
    }
    if !settings.is_unreadable("invitations") {
        link::end_on_site(db, site, settings.invitations)?;
    }
    meta::bump_revision(db)?;
    Ok(true)
}

pub(crate) fn add_secret(db: &mut Connection, site: SiteId, secret: &Secret) -> Outcome<()> {
    let transaction = begin(db)?;
    let known = sql!("SELECT 1 FROM site WHERE id = $1");
    if transaction.prepare_cached(known)?.query_row([site.0], |_| Ok(())).optional()?.is_some() {
        put_secrets(&transaction, site, std::slice::from_ref(secret), false)?;
        meta::bump_revision(&transaction)?;
    }
    transaction.commit()?;
    Ok(())
}

fn put_keys(db: &Connection, id: SiteId, site: &Site) -> Outcome<()> {
    put_secrets(db, id, &site.guest_keys, true)?;
    put_secrets(db, id, &site.secrets, false)
}

/// Stores secrets before the existing ones; the first of `secrets` becomes the newest.
fn put_secrets(db: &Connection, site: SiteId, secrets: &[Secret], of_guests: bool) -> Outcome<()> {
    let sql = sql!(
        "INSERT INTO secret (site, number, kind, bytes, created, expires, kid, not_before, of_guests) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    );
    for secret in secrets.iter().rev() {
        let kind = match secret.kind {
            SecretKind::Hs256 => 0,
            SecretKind::Es256 => 1,
            SecretKind::EdDsa => 2,
        };
        let [expires, not_before] = [secret.expires, secret.not_before].map(|at| at.map(|at| at.0 as i64));
        db.prepare_cached(sql)?.execute(params![
            site.0,
            counter::next(db, site, Counted::Secret)?,
            kind,
            secret.bytes,
            secret.created.0 as i64,
            expires,
            &*secret.kid,
            not_before,
            of_guests,
        ])?;
    }
    Ok(())
}

/// Removes the site in the first transaction, and its rows in small ones, so that writes of other sites get in between.
/// After a crash the next [`sweep`] removes the rest.
pub(crate) fn remove(db: &mut Connection, site: SiteId) -> Outcome<bool> {
    let transaction = begin(db)?;
    let found = transaction.execute(sql!("DELETE FROM site WHERE id = $1"), [site.0])? > 0;
    transaction.execute(sql!("DELETE FROM secret WHERE site = $1"), [site.0])?;
    if found {
        transaction.execute(sql!("INSERT INTO removed_site VALUES ($1) ON CONFLICT DO NOTHING"), [site.0])?;
        meta::bump_revision(&transaction)?;
    }
    transaction.commit()?;
    if found {
        remove_rows(db, site)?;
    }
    Ok(found)
}

/// Removes the rest of removed sites.
pub(crate) fn sweep(db: &mut Connection) -> Outcome<()> {
    let sites: Vec<u32> = db
        .prepare_cached("SELECT site FROM removed_site")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    sites.into_iter().try_for_each(|site| remove_rows(db, SiteId(site)))
}

/// Rows removed in one transaction.
const CHUNK: u32 = 2_000;

macro_rules! rows_of {
    ($table:literal, $key:literal) => {
        (
            $table,
            sql!(concat!(
                "DELETE FROM ",
                $table,
                " WHERE site = $1 AND (",
                $key,
                ") IN (SELECT ",
                $key,
                " FROM ",
                $table,
                " WHERE site = $1 LIMIT $2)"
            )),
        )
    };
}

/// Statements that remove some rows of a site from a table, by its key.
const ROWS: [(&str, &str); 61] = [
    rows_of!("sent", "user, client_id"),
    rows_of!("milestone", "conversation, seq"),
    rows_of!("message_change", "conversation, position"),
    rows_of!("message_revision", "message, number"),
    rows_of!("reaction", "message, user, reaction"),
    rows_of!("reaction_count", "message, first"),
    rows_of!("file", "id"),
    rows_of!("file_bytes", "user"),
    rows_of!("file_copy", "file, message"),
    rows_of!("forward", "message"),
    rows_of!("preview", "message"),
    rows_of!("message_sticker", "message"),
    rows_of!("sticker", "id"),
    rows_of!("vote", "message, user, choice"),
    rows_of!("poll_choice", "message, number"),
    rows_of!("poll", "message"),
    rows_of!("thread_follow", "user, room, root"),
    rows_of!("thread_reply", "room, root, seq"),
    rows_of!("thread", "room, root"),
    rows_of!("draft", "user, conversation"),
    rows_of!("status", "user"),
    rows_of!("item", "user, list, id"),
    rows_of!("item_list", "user, list"),
    rows_of!("item_bytes", "user"),
    rows_of!("own_picture", "user"),
    rows_of!("device", "user, id"),
    rows_of!("app_password", "user, number"),
    rows_of!("app_token", "user, device"),
    rows_of!("ended_app_password", "user, number"),
    rows_of!("salt_key", "site"),
    rows_of!("erasure", "user"),
    rows_of!("merged_guest", "sub"),
    rows_of!("imported", "key"),
    rows_of!("import_floor", "site"),
    rows_of!("conversation", "key"),
    rows_of!("room_link", "code"),
    rows_of!("room_request", "user, room, asker"),
    rows_of!("mention", "room, user, seq"),
    rows_of!("membership", "user, room"),
    rows_of!("room", "key"),
    rows_of!("contact_list", "user"),
    rows_of!("contact", "user, other"),
    rows_of!("used_token", "jti"),
    rows_of!("request_day", "user"),
    rows_of!("sanction", "user, room, kind"),
    rows_of!("held_message", "user, number"),
    rows_of!("device_ban", "device, user"),
    rows_of!("report_line", "report, seq"),
    rows_of!("report_former", "report, number"),
    rows_of!("report", "number"),
    rows_of!("audit", "number"),
    rows_of!("role_decision", "sub"),
    rows_of!("erased_sanction", "sub, room, kind"),
    rows_of!("push_device", "user, endpoint"),
    rows_of!("push_app", "user, service, node"),
    rows_of!("notify_setting", "user"),
    rows_of!("push_key", "site"),
    rows_of!("mail", "user"),
    rows_of!("name_word", "rest, sub"),
    rows_of!("user", "sub"),
    rows_of!("counter", "kind"),
];

fn remove_rows(db: &mut Connection, site: SiteId) -> Outcome<()> {
    // `sent` has one row for each message, except the newest, and leads to them; the newest are found in the log. A
    // running node notices these transactions and forgets the entries that it would have put into `sent`.
    let newest = sql!("DELETE FROM message WHERE site = $1 AND position > $2");
    let indexed = meta::sent_indexed(db)? as i64;
    let transaction = begin(db)?;
    meta::name_position(&transaction)?;
    transaction.execute(dialect::FORGET_WORDS_AFTER.of(&transaction), [i64::from(site.0), indexed])?;
    transaction.execute(newest, [i64::from(site.0), indexed])?;
    transaction.commit()?;
    let words = dialect::FORGET_WORDS_OF_SENT.of(db);
    let messages =
        sql!("DELETE FROM message WHERE position IN (SELECT position FROM sent WHERE site = $1 LIMIT $2)");
    for (table, rows) in ROWS {
        loop {
            let transaction = begin(db)?;
            if table == "sent" {
                transaction.prepare_cached(words)?.execute([site.0, CHUNK])?;
                transaction.prepare_cached(messages)?.execute([site.0, CHUNK])?;
            }
            let removed = transaction.prepare_cached(rows)?.execute([site.0, CHUNK])?;
            transaction.commit()?;
            if removed == 0 {
                break;
            }
        }
    }
    Ok(())
}

fn begin(db: &mut Connection) -> crate::engine::Result<Transaction<'_>> {
    db.transaction()
}

// ---- reads ----

pub(crate) fn all(db: &mut Connection) -> Outcome<Vec<Site>> {
    db.begin_read()?;
    let sites = read_all(db);
    db.rollback()?;
    sites
}

fn read_all(db: &Connection) -> Outcome<Vec<Site>> {
    let [mut secrets, mut guest_keys] = [all_secrets(db, false)?, all_secrets(db, true)?];
    let sql = "SELECT id, key, name, mode, guests, origins, created, settings, public_url, domain FROM site ORDER BY id";
    let mut statement = db.prepare_cached(sql)?;
    let sites = statement.query_map([], |row| {
        let id = SiteId(row.get(0)?);
        Ok(Site {
            id,
            key: row.get_ref(1)?.as_str()?.into(),
            name: row.get(2)?,
            mode: if row.get::<_, i64>(3)? == 1 { Mode::Contacts } else { Mode::Open },
            guests: row.get(4)?,
            origins: row.get_ref(5)?.as_str()?.lines().map(str::to_owned).collect(),
            secrets: secrets.remove(&id).unwrap_or_default(),
            guest_keys: guest_keys.remove(&id).unwrap_or_default(),
            public_url: row.get(8)?,
            domain: row.get::<_, Option<String>>(9)?.map(Into::into),
            created: Timestamp(row.get::<_, i64>(6)? as u64),
            settings: Settings::parse(row.get_ref(7)?.as_str()?),
        })
    })?;
    Ok(sites.collect::<Result<_, _>>()?)
}

fn all_secrets(db: &Connection, of_guests: bool) -> Outcome<BTreeMap<SiteId, Vec<Secret>>> {
    let sql = sql!(
        "SELECT site, kind, bytes, created, expires, kid, not_before FROM secret WHERE of_guests = $1 \
               ORDER BY site, number DESC"
    );
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([of_guests])?;
    let mut secrets: BTreeMap<SiteId, Vec<Secret>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let kind = match row.get::<_, i64>(1)? {
            1 => SecretKind::Es256,
            2 => SecretKind::EdDsa,
            _ => SecretKind::Hs256,
        };
        let time = |at: Option<i64>| at.map(|at| Timestamp(at as u64));
        let secret = Secret::new(kind, row.get(2)?, Timestamp(row.get::<_, i64>(3)? as u64));
        secrets.entry(SiteId(row.get(0)?)).or_default().push(Secret {
            kid: row.get::<_, Option<Box<str>>>(5)?.unwrap_or_else(|| secret.kid.clone()),
            expires: time(row.get(4)?),
            not_before: time(row.get(6)?),
            ..secret
        });
    }
    Ok(secrets)
}

fn mode_code(mode: Mode) -> i64 {
    match mode {
        Mode::Open => 0,
        Mode::Contacts => 1,
    }
}
