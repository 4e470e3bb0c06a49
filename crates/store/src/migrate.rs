//! Brings a database to the schema of this version, one numbered file after the other.

use rusqlite::Connection;

use crate::dialect;
use crate::engine::{self, postgres};

/// Append new migrations and never change old ones: databases of every older version exist.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/sqlite/0001_first_conversation.sql"),
    include_str!("../migrations/sqlite/0002_contact_cards.sql"),
    include_str!("../migrations/sqlite/0003_message_changes.sql"),
    include_str!("../migrations/sqlite/0004_rooms.sql"),
    include_str!("../migrations/sqlite/0005_search.sql"),
    include_str!("../migrations/sqlite/0006_safety.sql"),
    include_str!("../migrations/sqlite/0007_marks.sql"),
    include_str!("../migrations/sqlite/0008_pins.sql"),
    include_str!("../migrations/sqlite/0009_push.sql"),
    include_str!("../migrations/sqlite/0010_mail.sql"),
    include_str!("../migrations/sqlite/0011_files.sql"),
    include_str!("../migrations/sqlite/0012_rich.sql"),
    include_str!("../migrations/sqlite/0013_profiles.sql"),
    include_str!("../migrations/sqlite/0014_merged_guests.sql"),
    include_str!("../migrations/sqlite/0015_guard.sql"),
    include_str!("../migrations/sqlite/0016_previews.sql"),
    include_str!("../migrations/sqlite/0017_stickers.sql"),
    include_str!("../migrations/sqlite/0018_room_links.sql"),
    include_str!("../migrations/sqlite/0019_push_of_device.sql"),
    include_str!("../migrations/sqlite/0020_unpublished_changes.sql"),
    include_str!("../migrations/sqlite/0021_report_former.sql"),
    include_str!("../migrations/sqlite/0022_room_requests.sql"),
    include_str!("../migrations/sqlite/0023_role_decision.sql"),
    include_str!("../migrations/sqlite/0024_site_keys.sql"),
    include_str!("../migrations/sqlite/0025_blocks.sql"),
    include_str!("../migrations/sqlite/0026_erased_evidence.sql"),
    include_str!("../migrations/sqlite/0027_voice_peaks.sql"),
    include_str!("../migrations/sqlite/0028_room_sanctions.sql"),
    include_str!("../migrations/sqlite/0029_mutes_outlast_leaving.sql"),
    include_str!("../migrations/sqlite/0030_imports.sql"),
    include_str!("../migrations/sqlite/0031_renamed_authors.sql"),
    include_str!("../migrations/sqlite/0032_unpublished_by_site.sql"),
    include_str!("../migrations/sqlite/0033_room_pictures.sql"),
    include_str!("../migrations/sqlite/0034_banned_members.sql"),
    include_str!("../migrations/sqlite/0035_blocked_authors.sql"),
    include_str!("../migrations/sqlite/0036_message_kind.sql"),
    include_str!("../migrations/sqlite/0037_counters.sql"),
    include_str!("../migrations/sqlite/0038_message_extension.sql"),
    include_str!("../migrations/sqlite/0039_app_passwords.sql"),
    include_str!("../migrations/sqlite/0040_nicknames.sql"),
    include_str!("../migrations/sqlite/0041_open_files.sql"),
    include_str!("../migrations/sqlite/0042_app_tokens.sql"),
    include_str!("../migrations/sqlite/0043_items.sql"),
    include_str!("../migrations/sqlite/0044_contact_directions.sql"),
    include_str!("../migrations/sqlite/0045_room_alias.sql"),
    include_str!("../migrations/sqlite/0046_app_push.sql"),
    include_str!("../migrations/sqlite/0047_own_pictures.sql"),
    include_str!("../migrations/sqlite/0048_late_rows.sql"),
    include_str!("../migrations/sqlite/0049_packed_contact_lists.sql"),
    include_str!("../migrations/sqlite/0050_room_nicknames.sql"),
    include_str!("../migrations/sqlite/0051_pinned_slots.sql"),
];

/// PostgreSQL's migrations: the first one makes the whole schema of version [`POSTGRES_FROM`], and each later version has one.
const POSTGRES: &[&str] = &[
    include_str!("../migrations/postgres/0050_schema.sql"),
    include_str!("../migrations/postgres/0051_pinned_slots.sql"),
];

const POSTGRES_FROM: u32 = 50;

/// The schema version that this program knows.
pub(crate) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Added to the schema version of a database that a transfer fills. So no node takes it for complete, also of an older version.
pub(crate) const UNFINISHED: u32 = 1_000_000;

/// The schema version of a database.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<u32> {
    db.query_row(dialect::SCHEMA_VERSION, [], |row| row.get(0))
}

/// Migrates the database and returns the version that it had. All steps are one transaction. If the process is killed,
/// nothing is migrated, and the next open tries again. If two processes migrate at once, the second finds it done.
///
/// Does nothing if the version is newer than [`NEWEST`]; the caller refuses such a database.
pub(crate) fn migrate(db: &mut Connection, epoch: u32) -> rusqlite::Result<u32> {
    let transaction = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    if found >= NEWEST {
        return Ok(found);
    }
    for (at, step) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        if found > 0 {
            tracing::info!(
                step = at + 1,
                of = NEWEST,
                "migrating the database; if this is interrupted, the next start begins again"
            );
        }
        transaction.execute_batch(step)?;
    }
    transaction.execute(sql!("INSERT INTO meta VALUES ('epoch', $1) ON CONFLICT DO NOTHING"), [epoch])?;
    dialect::set(&transaction, "user_version", NEWEST)?;
    transaction.commit()?;
    Ok(found)
}

/// The schema version of a slot in a PostgreSQL database; 0 if it has no tables.
pub(crate) fn postgres_version(db: &postgres::Connection) -> engine::Result<u32> {
    // With a table, because PostgreSQL learns of tables that others have made when a statement begins to use one. Without, a process that
    // has waited for the lock would not see the schema that was made meanwhile.
    let mut is_there = db.prepare(sql!("SELECT to_regclass($1) IS NOT NULL FROM pg_class LIMIT 1"));
    let mut rows = is_there.query(["meta"])?;
    let is_there = rows.next().is_some_and(|row| row.get(0));
    if !is_there {
        return Ok(0);
    }
    let mut version = db.prepare("SELECT value FROM meta WHERE name = 'schema'");
    let mut rows = version.query([])?;
    Ok(rows.next().map_or(0, |row| row.get::<_, i64>(0) as u32))
}

/// As [`migrate`], for PostgreSQL. Takes the lock of the one writer, and makes the schema of a slot.
pub(crate) fn migrate_postgres(db: &postgres::Connection, epoch: u32) -> engine::Result<u32> {
    // The first processes of a slot come at once. While one makes the schema, which may last on a busy server, the others wait.
    let begin = match postgres_version(db)? {
        0 => db.place().begin_locked_patiently(),
        _ => db.place().begin_locked(),
    };
    db.execute_batch(&begin)?;
    let migrated = migrate_locked(db, epoch);
    db.execute_batch(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

fn migrate_locked(db: &postgres::Connection, epoch: u32) -> engine::Result<u32> {
    let found = postgres_version(db)?;
    if found >= NEWEST {
        return Ok(found);
    }
    if found == 0 {
        make_schema(db)?;
    }
    let done = if found == 0 { 0 } else { (found + 1 - POSTGRES_FROM) as usize };
    for step in &POSTGRES[done..] {
        db.execute_batch(step)?;
    }
    db.execute_batch(&format!(
        "INSERT INTO meta VALUES ('epoch', {epoch}) ON CONFLICT DO NOTHING; \
         INSERT INTO meta VALUES ('schema', {NEWEST}) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    ))?;
    if found == 0 {
        db.execute_batch(&format!(
            "UPDATE meta SET value = {} WHERE name = 'next_site'; UPDATE lease SET slot = {}",
            db.place().first_site(),
            db.place().slot()
        ))?;
    }
    Ok(found)
}

/// Not with IF NOT EXISTS, which needs the right to create schemas even if an operator has made this one.
fn make_schema(db: &postgres::Connection) -> engine::Result<()> {
    let Some(schema) = db.place().schema() else { return Ok(()) };
    let found = db.ask(sql!("SELECT to_regnamespace($1) IS NOT NULL"), [schema.as_str()])?;
    let is_there = found.first().map(|row| row.try_get(0)).transpose().map_err(postgres::Error::from)?;
    match is_there {
        Some(true) => Ok(()),
        _ => Ok(db.execute_batch(&format!("CREATE SCHEMA {schema}"))?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_version_has_a_migration_for_both_engines() {
        assert_eq!(POSTGRES_FROM as usize + POSTGRES.len() - 1, MIGRATIONS.len());
    }
}
