//! Sites and their secrets, and the removal of everything that a site has.

use std::collections::BTreeMap;

use chat::{Mode, Secret, SecretKind, Settings, Site, SiteId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::fault::Outcome;
use crate::room::link;
use crate::{meta, user};

// ---- writes ----

pub(crate) fn add(db: &mut Connection, site: &Site) -> Outcome<Option<SiteId>> {
    let transaction = begin(db)?;
    let taken = "SELECT 1 FROM site WHERE key = ?1";
    if transaction.query_row(taken, [&*site.key], |_| Ok(())).optional()?.is_some() {
        return Ok(None);
    }
    let id = SiteId(meta::take_site_number(&transaction)?);
    transaction.execute(
        "INSERT INTO site (id, key, name, mode, guests, origins, created, settings) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            id.0,
            &*site.key,
            site.name,
            mode_code(site.mode),
            site.guests,
            site.origins.join("\n"),
            site.created.0 as i64,
            site.settings.stored_document()
        ],
    )?;
    put_secrets(&transaction, id, &site.secrets)?;
    meta::bump_revision(&transaction)?;
    transaction.commit()?;
    Ok(Some(id))
}

pub(crate) fn update(db: &mut Connection, site: &Site) -> Outcome<()> {
    let transaction = begin(db)?;
    let found = transaction.execute(
        "UPDATE site SET key = ?2, name = ?3, mode = ?4, guests = ?5, origins = ?6, created = ?7, settings = ?8 \
         WHERE id = ?1",
        params![
            site.id.0,
            &*site.key,
            site.name,
            mode_code(site.mode),
            site.guests,
            site.origins.join("\n"),
            site.created.0 as i64,
            site.settings.stored_document()
        ],
    )?;
    if found > 0 {
        transaction.execute("DELETE FROM secret WHERE site = ?1", [site.id.0])?;
        put_secrets(&transaction, site.id, &site.secrets)?;
        meta::bump_revision(&transaction)?;
    }
    transaction.commit()?;
    Ok(())
}

/// False where there is no such site.
pub(crate) fn set_settings(db: &mut Connection, site: SiteId, settings: &Settings) -> Outcome<bool> {
    let transaction = begin(db)?;
    let found = put_settings(&transaction, site, settings)?;
    transaction.commit()?;
    Ok(found)
}

/// The same, with what they end.
pub(crate) fn put_settings(db: &Connection, site: SiteId, settings: &Settings) -> Outcome<bool> {
    let sql = "UPDATE site SET settings = ?2 WHERE id = ?1";
    if db.prepare_cached(sql)?.execute(params![site.0, settings.stored_document()])? == 0 {
        return Ok(false);
    }
    // A part that cannot be read is strict for the time being, and ends nothing for good.
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
    let known = "SELECT 1 FROM site WHERE id = ?1";
    if transaction.query_row(known, [site.0], |_| Ok(())).optional()?.is_some() {
        put_secrets(&transaction, site, std::slice::from_ref(secret))?;
        meta::bump_revision(&transaction)?;
    }
    transaction.commit()?;
    Ok(())
}

/// Before those that are there; the first of `secrets` becomes the newest.
fn put_secrets(db: &Connection, site: SiteId, secrets: &[Secret]) -> Outcome<()> {
    let sql = "INSERT INTO secret (site, number, kind, bytes, created, expires) \
               SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3, ?4, ?5 FROM secret WHERE site = ?1";
    for secret in secrets.iter().rev() {
        let kind = match secret.kind {
            SecretKind::Hs256 => 0,
            SecretKind::Es256 => 1,
            SecretKind::EdDsa => 2,
        };
        let expires = secret.expires.map(|at| at.0 as i64);
        db.prepare_cached(sql)?.execute(params![
            site.0,
            kind,
            secret.bytes,
            secret.created.0 as i64,
            expires
        ])?;
    }
    Ok(())
}

/// The site is gone with the first transaction. Its rows follow in small ones, so that other sites' writes
/// get in between; what a crash leaves is removed at the next [`sweep`].
pub(crate) fn remove(db: &mut Connection, site: SiteId) -> Outcome<bool> {
    let transaction = begin(db)?;
    let found = transaction.execute("DELETE FROM site WHERE id = ?1", [site.0])? > 0;
    transaction.execute("DELETE FROM secret WHERE site = ?1", [site.0])?;
    if found {
        transaction.execute("INSERT OR IGNORE INTO removed_site VALUES (?1)", [site.0])?;
        meta::bump_revision(&transaction)?;
    }
    transaction.commit()?;
    if found {
        remove_rows(db, site)?;
    }
    Ok(found)
}

/// Removes what is left of removed sites.
pub(crate) fn sweep(db: &mut Connection) -> Outcome<()> {
    let sites: Vec<u32> = db
        .prepare("SELECT site FROM removed_site")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    sites.into_iter().try_for_each(|site| remove_rows(db, SiteId(site)))
}

/// Rows removed in one transaction.
const CHUNK: u32 = 2_000;

fn remove_rows(db: &mut Connection, site: SiteId) -> Outcome<()> {
    // Messages are found through `sent`, which has one row for each, the newest in the log itself. A node
    // that runs sees these transactions and forgets what it meant to put into `sent`.
    let newest = "DELETE FROM message WHERE site = ?1 AND position > \
                  coalesce((SELECT value FROM meta WHERE name = 'sent_indexed'), 0)";
    let newest_words = "DELETE FROM message_text WHERE rowid IN (SELECT position FROM message WHERE site = ?1 \
                        AND position > coalesce((SELECT value FROM meta WHERE name = 'sent_indexed'), 0))";
    db.execute(newest_words, [site.0])?;
    db.execute(newest, [site.0])?;
    let words =
        "DELETE FROM message_text WHERE rowid IN (SELECT position FROM sent WHERE site = ?1 LIMIT ?2)";
    let messages =
        "DELETE FROM message WHERE position IN (SELECT position FROM sent WHERE site = ?1 LIMIT ?2)";
    for (table, key) in [
        ("sent", "user, client_id"),
        ("milestone", "conversation, seq"),
        ("message_change", "conversation, position"),
        ("message_revision", "message, number"),
        ("reaction", "message, user, reaction"),
        ("reaction_count", "message, first"),
        ("file", "id"),
        ("file_bytes", "user"),
        ("file_copy", "file, message"),
        ("forward", "message"),
        ("preview", "message"),
        ("message_sticker", "message"),
        ("sticker", "id"),
        ("vote", "message, user, choice"),
        ("poll_choice", "message, number"),
        ("poll", "message"),
        ("thread_follow", "user, room, root"),
        ("thread_reply", "room, root, seq"),
        ("thread", "room, root"),
        ("draft", "user, conversation"),
        ("status", "user"),
        ("device", "user, id"),
        ("erasure", "user"),
        ("merged_guest", "sub"),
        ("conversation", "key"),
        ("room_link", "code"),
        ("room_request", "user, room, asker"),
        ("mention", "room, user, seq"),
        ("membership", "user, room"),
        ("room", "key"),
        ("contact", "user, other"),
        ("used_token", "jti"),
        ("request_day", "user"),
        ("sanction", "user, room, kind"),
        ("held_message", "user, number"),
        ("device_ban", "device, user"),
        ("report_line", "report, seq"),
        ("report_former", "report, number"),
        ("report", "number"),
        ("audit", "number"),
        ("push_device", "user, endpoint"),
        ("notify_setting", "user"),
        ("push_key", "site"),
        ("mail", "user"),
        ("name_word", "rest, sub"),
        ("user", "sub"),
    ] {
        let rows = format!(
            "DELETE FROM {table} WHERE site = ?1 AND ({key}) IN (SELECT {key} FROM {table} WHERE site = ?1 LIMIT ?2)"
        );
        loop {
            let transaction = begin(db)?;
            if table == "sent" {
                transaction.prepare_cached(words)?.execute([site.0, CHUNK])?;
                transaction.prepare_cached(messages)?.execute([site.0, CHUNK])?;
            }
            let removed = transaction.prepare_cached(&rows)?.execute([site.0, CHUNK])?;
            transaction.commit()?;
            if removed == 0 {
                break;
            }
        }
    }
    Ok(())
}

fn begin(db: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    db.transaction_with_behavior(TransactionBehavior::Immediate)
}

// ---- reads ----

pub(crate) fn all(db: &mut Connection) -> Outcome<Vec<Site>> {
    let snapshot = db.transaction()?;
    let mut secrets = all_secrets(&snapshot)?;
    let sql = "SELECT id, key, name, mode, guests, origins, created, settings FROM site ORDER BY id";
    let mut statement = snapshot.prepare_cached(sql)?;
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
            created: Timestamp(row.get::<_, i64>(6)? as u64),
            settings: Settings::parse(row.get_ref(7)?.as_str()?),
        })
    })?;
    Ok(sites.collect::<Result<_, _>>()?)
}

fn all_secrets(db: &Connection) -> Outcome<BTreeMap<SiteId, Vec<Secret>>> {
    let sql = "SELECT site, kind, bytes, created, expires FROM secret ORDER BY site, number DESC";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut secrets: BTreeMap<SiteId, Vec<Secret>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        secrets.entry(SiteId(row.get(0)?)).or_default().push(Secret {
            kind: match row.get::<_, i64>(1)? {
                1 => SecretKind::Es256,
                2 => SecretKind::EdDsa,
                _ => SecretKind::Hs256,
            },
            bytes: row.get(2)?,
            created: Timestamp(row.get::<_, i64>(3)? as u64),
            expires: row.get::<_, Option<i64>>(4)?.map(|at| Timestamp(at as u64)),
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
