//! Everything in statements that differs on PostgreSQL, each with its counterpart. See `docs/design/two-engines.md`.
//!
//! Statements have numbered parameters, `$1`: PostgreSQL's form. In SQLite `$1` is a *name*, and SQLite numbers names
//! in the order of their first appearance. So [`sql!`] replaces `$1` with SQLite's `?1` at compile time, and a call
//! costs nothing more.
//!
//! All other statements use only features of both engines: `ON CONFLICT (…) DO UPDATE` or `DO NOTHING`, `RETURNING`,
//! `FILTER (WHERE …)`, row values, `coalesce`. Booleans are integers. `tests/two_engines.rs` finds words in other files
//! that only SQLite knows.

use rusqlite::Connection;

/// A statement for SQLite. Does not compile if a parameter has another form than `$1`.
macro_rules! sql {
    ($text:expr) => {{
        const TEXT: &str = $text;
        const BYTES: [u8; TEXT.len()] = $crate::dialect::numbered(TEXT);
        const SQL: &str = $crate::dialect::text(&BYTES);
        SQL
    }};
}

/// Chooses the index of a table. PostgreSQL: nothing; its planner has statistics.
macro_rules! indexed_by {
    ($index:literal) => {
        concat!(" INDEXED BY ", $index)
    };
}

/// Joins tables in the order of their names in the statement. PostgreSQL: ` JOIN `.
macro_rules! join_in_order {
    () => {
        " CROSS JOIN "
    };
}

/// Replaces `$1` by `?1`.
pub(crate) const fn numbered<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let text = text.as_bytes();
    let mut bytes = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        assert!(text[at] != b'?', "parameters are $1, $2, …");
        bytes[at] = text[at];
        if text[at] == b'$' {
            assert!(at + 1 < LENGTH && text[at + 1].is_ascii_digit(), "parameters are $1, $2, …");
            bytes[at] = b'?';
        }
        at += 1;
    }
    bytes
}

pub(crate) const fn text(bytes: &[u8]) -> &str {
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("one ASCII character was replaced by another"),
    }
}

// ---- transactions and the file ----

/// Begins a write transaction. PostgreSQL: `BEGIN`.
pub(crate) const BEGIN_WRITE: &str = "BEGIN IMMEDIATE";

/// The result changes after another connection has committed. PostgreSQL: other writers notify.
pub(crate) const DATA_VERSION: &str = "PRAGMA data_version";

/// Frees the page cache of a connection. PostgreSQL: nothing.
pub(crate) const SHRINK_MEMORY: &str = "PRAGMA shrink_memory";

/// Copies the log into the database and truncates it. PostgreSQL: nothing.
pub(crate) const EMPTY_LOG: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// Overwrites deleted bytes, also in pages that become free. PostgreSQL: `VACUUM` after an erasure.
pub(crate) const SECURE_DELETE: &str = "PRAGMA secure_delete = ON";

/// Changes how the file is written; returns the mode. PostgreSQL: nothing.
pub(crate) const JOURNAL_WAL: &str = "PRAGMA journal_mode = WAL";
pub(crate) const JOURNAL_DELETE: &str = "PRAGMA journal_mode = DELETE";

/// Returns `ok` if the file is sound. PostgreSQL: nothing.
pub(crate) const QUICK_CHECK: &str = "PRAGMA quick_check(1)";

/// The application that a file belongs to; 0 if none has set it. PostgreSQL: the name of the database.
pub(crate) const APPLICATION_ID: &str = "PRAGMA application_id";

/// PostgreSQL: a row of `meta`.
pub(crate) const SCHEMA_VERSION: &str = "PRAGMA user_version";

/// PostgreSQL: `information_schema.tables`.
pub(crate) const COUNT_TABLES: &str = "SELECT count(*) FROM sqlite_schema";

/// Sets a property of the connection or of the file. PostgreSQL: `SET` or nothing.
pub(crate) fn set(db: &Connection, name: &str, value: impl rusqlite::ToSql) -> rusqlite::Result<()> {
    db.pragma_update(None, name, value)
}

/// Limits the size of the file. PostgreSQL: nothing.
pub(crate) fn limit_pages(db: &Connection, pages: std::num::NonZero<u32>) -> rusqlite::Result<()> {
    db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
}

/// Runs one of the statements above and ignores the row that it returns.
pub(crate) fn run(db: &Connection, statement: &str) -> rusqlite::Result<()> {
    db.query_row(statement, [], |_| Ok(()))
}

// ---- the index of words ----
//
// FTS5 here; its `rowid` is the position of a message. PostgreSQL: a table (position, body tsvector, who tsvector) with a GIN index.

pub(crate) const PUT_WORDS: &str = sql!("INSERT INTO message_text (rowid, body, who) VALUES ($1, $2, $3)");
pub(crate) const FORGET_WORDS: &str = sql!("DELETE FROM message_text WHERE rowid = $1");
/// Deletes the words of a site's messages from a position on. These messages are not in `sent` yet.
pub(crate) const FORGET_WORDS_AFTER: &str = sql!(
    "DELETE FROM message_text WHERE rowid IN (SELECT position FROM message WHERE site = $1 AND position > $2)"
);
/// Deletes the words of some messages of a site that are in `sent`.
pub(crate) const FORGET_WORDS_OF_SENT: &str =
    sql!("DELETE FROM message_text WHERE rowid IN (SELECT position FROM sent WHERE site = $1 LIMIT $2)");
/// Positions before a given one, newest first.
pub(crate) const FIND_WORDS: &str = sql!(
    "SELECT rowid FROM message_text WHERE message_text MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3"
);

/// Rewrites some pages of the index, so that words of deleted messages leave it. A negative number begins to merge all
/// segments; positive ones continue. Returns whether the merge is complete. See
/// <https://www.sqlite.org/fts5.html#the_merge_command>.
pub(crate) fn merge_words(db: &Connection, pages: i64) -> rusqlite::Result<bool> {
    let changes = || db.query_row("SELECT total_changes()", [], |row| row.get::<_, i64>(0));
    let before = changes()?;
    let merge = sql!("INSERT INTO message_text (message_text, rank) VALUES ('merge', $1)");
    db.prepare_cached(merge)?.execute([pages])?;
    Ok(changes()? - before < 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Params, Row};

    fn answer<T: rusqlite::types::FromSql>(statement: &str, values: impl Params) -> Vec<T> {
        let db = Connection::open_in_memory().expect("a database in memory");
        let mut statement = db.prepare_cached(statement).expect("it is a statement");
        let count = statement.column_count();
        let row = |row: &Row<'_>| (0..count).map(|at| row.get(at)).collect();
        statement.query_row(values, row).expect("it answers a row")
    }

    #[test]
    fn parameters_are_bound_by_their_numbers() {
        assert_eq!(sql!("SELECT $2, $1, $10"), "SELECT ?2, ?1, ?10");
        assert_eq!(answer::<String>(sql!("SELECT $2, $1"), ["one", "two"]), ["two", "one"], "out of order");
        assert_eq!(answer::<i64>(sql!("SELECT $1 + $1, $2, $1"), [3, 5]), [6, 5, 3], "used again");
        assert_eq!(answer::<i64>(sql!("SELECT $3, $1 FROM (SELECT $2)"), [1, 2, 3]), [3, 1], "a gap");
        let ten: Vec<i64> = (1..=10).collect();
        let values = rusqlite::params_from_iter(&ten);
        assert_eq!(
            answer::<i64>(sql!("SELECT $10, $1, $9 FROM (SELECT $2, $3, $4, $5, $6, $7, $8)"), values),
            [10, 1, 9]
        );
    }

    /// This behaviour of SQLite is the reason for [`sql!`].
    #[test]
    fn sqlite_numbers_names_in_the_order_of_their_appearance() {
        assert_eq!(answer::<String>("SELECT $2, $1", ["one", "two"]), ["one", "two"]);
    }

    #[test]
    fn the_text_stays_apart_from_its_parameters() {
        assert_eq!(sql!(concat!("SELECT 'ä€', $", "1")), "SELECT 'ä€', ?1");
    }
}
