//! Everything in statements that differs on PostgreSQL, each with its counterpart. See `docs/design/two-engines.md`.
//!
//! Statements have numbered parameters, `$1`: PostgreSQL's form. In SQLite `$1` is a *name*, and SQLite numbers names
//! in the order of their first appearance. So [`sql!`] replaces `$1` with SQLite's `?1` at compile time, and a call
//! costs nothing more.
//!
//! All other statements use only features of both engines: `ON CONFLICT (…) DO UPDATE` or `DO NOTHING`, `RETURNING`,
//! `FILTER (WHERE …)`, row values, `coalesce`. Booleans are integers. `tests/two_engines.rs` finds words in other files
//! that only SQLite knows.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::engine::{Connection, Result, params};

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

/// All tables except those of SQLite and of the index of words, by name.
pub(crate) const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' \
                                 AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'message_text%' ORDER BY name";

/// The columns of a table in their order: name, type, and place in the primary key (from 1; 0: not a part).
pub(crate) const COLUMNS: &str = sql!("SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid");

/// The parameter with this number, from 1.
pub(crate) fn parameter(number: usize) -> String {
    format!("?{number}")
}

/// Sets a property of the connection or of the file. PostgreSQL: `SET` or nothing.
pub(crate) fn set(
    db: &rusqlite::Connection,
    name: &str,
    value: impl rusqlite::ToSql,
) -> rusqlite::Result<()> {
    db.pragma_update(None, name, value)
}

/// Limits the size of the file. PostgreSQL: nothing.
pub(crate) fn limit_pages(db: &rusqlite::Connection, pages: std::num::NonZero<u32>) -> rusqlite::Result<()> {
    db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))
}

/// Runs one of the statements above and ignores the row that it returns.
pub(crate) fn run(db: &rusqlite::Connection, statement: &str) -> rusqlite::Result<()> {
    db.query_row(statement, [], |_| Ok(()))
}

// ---- the index of words ----
//
// FTS5 here; its `rowid` is the position of a message. PostgreSQL: a table (position, body tsvector, who tsvector) with a GIN index.

/// A statement on the index in both spellings.
pub(crate) struct Words {
    sqlite: &'static str,
    postgres: &'static str,
}

impl Words {
    pub(crate) fn of(&self, db: &Connection) -> &'static str {
        if db.is_postgres() { self.postgres } else { self.sqlite }
    }
}

const PUT_WORDS: Words = Words {
    sqlite: sql!("INSERT INTO message_text (rowid, body, who) VALUES ($1, $2, $3)"),
    postgres: sql!("INSERT INTO message_text (position, words) VALUES ($1, $2::tsvector)"),
};
pub(crate) const FORGET_WORDS: Words = Words {
    sqlite: sql!("DELETE FROM message_text WHERE rowid = $1"),
    postgres: sql!("DELETE FROM message_text WHERE position = $1"),
};
/// Deletes the words of a site's messages from a position on. These messages are not in `sent` yet.
pub(crate) const FORGET_WORDS_AFTER: Words = Words {
    sqlite: sql!(
        "DELETE FROM message_text WHERE rowid IN (SELECT position FROM message WHERE site = $1 AND position > $2)"
    ),
    postgres: sql!(
        "DELETE FROM message_text WHERE position IN (SELECT position FROM message WHERE site = $1 AND position > $2)"
    ),
};
/// Deletes the words of some messages of a site that are in `sent`.
pub(crate) const FORGET_WORDS_OF_SENT: Words = Words {
    sqlite: sql!(
        "DELETE FROM message_text WHERE rowid IN (SELECT position FROM sent WHERE site = $1 LIMIT $2)"
    ),
    postgres: sql!(
        "DELETE FROM message_text WHERE position IN (SELECT position FROM sent WHERE site = $1 LIMIT $2)"
    ),
};
/// Positions before a given one, newest first.
pub(crate) const FIND_WORDS: Words = Words {
    sqlite: sql!(
        "SELECT rowid FROM message_text WHERE message_text MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3"
    ),
    postgres: sql!(
        "SELECT position FROM message_text WHERE words @@ $1::tsquery AND position < $2 ORDER BY position DESC LIMIT $3"
    ),
};

/// Puts a message into the index. `who`: words for its readers.
pub(crate) fn put_words(db: &Connection, at: i64, body: &str, who: &[String]) -> Result<()> {
    let mut statement = db.prepare_cached(PUT_WORDS.of(db))?;
    if db.is_postgres() {
        return statement.put(params![at, vector(body, who)]);
    }
    statement.put(params![at, body, who.join(" ")])
}

/// A query for messages with all `words` that one of `who` may read. The second value of a word: its start suffices.
pub(crate) fn words_query(db: &Connection, words: &[(&str, bool)], who: &[String]) -> String {
    if db.is_postgres() { tsquery(words, who) } else { fts5_query(words, who) }
}

/// FTS5's language. Words are letters and digits in quotes, so no part of the query is an operator.
fn fts5_query(words: &[(&str, bool)], who: &[String]) -> String {
    let words =
        words.iter().map(|(text, is_start)| format!("\"{text}\"{}", if *is_start { " *" } else { "" }));
    let words: Vec<String> = words.collect();
    format!("{{who}} : ({}) AND {{body}} : ({})", who.join(" OR "), words.join(" AND "))
}

/// PostgreSQL's language. Words of the body have the weight A, those of the readers D, so a body cannot name readers.
fn tsquery(words: &[(&str, bool)], who: &[String]) -> String {
    let mut parts = Vec::new();
    for (text, is_start) in words {
        let lexemes = lexemes(text);
        let last = lexemes.len().saturating_sub(1);
        parts.extend(
            lexemes.iter().enumerate().map(|(at, lexeme)| {
                format!("'{lexeme}':{}A", if *is_start && at == last { "*" } else { "" })
            }),
        );
    }
    let who: Vec<String> = who.iter().map(|name| format!("'{name}':D")).collect();
    parts.push(format!("({})", who.join(" | ")));
    parts.join(" & ")
}

/// The words of a message as a `tsvector`.
fn vector(body: &str, who: &[String]) -> String {
    let mut words = lexemes(body);
    words.sort_unstable();
    words.dedup();
    let words = words.iter().map(|word| format!("'{word}':1A"));
    let words: Vec<String> = words.chain(who.iter().map(|name| format!("'{name}':1"))).collect();
    words.join(" ")
}

/// Splits like FTS5's `unicode61 remove_diacritics 2`: runs of letters and digits, in lower case, without diacritics.
fn lexemes(text: &str) -> Vec<String> {
    let plain: String = text
        .nfd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .filter(|c| !is_combining_mark(*c))
        .collect();
    plain
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| word.chars().take(LONGEST_LEXEME).collect())
        .collect()
}

/// PostgreSQL takes 2,046 bytes.
const LONGEST_LEXEME: usize = 500;

/// Rewrites some pages of the index, so that words of deleted messages leave it. A negative number begins to merge all
/// segments; positive ones continue. Returns whether the merge is complete. See
/// <https://www.sqlite.org/fts5.html#the_merge_command>. PostgreSQL: `VACUUM` does it.
pub(crate) fn merge_words(db: &Connection, pages: i64) -> Result<bool> {
    if db.is_postgres() {
        return Ok(true);
    }
    let changes = || db.prepare_cached("SELECT total_changes()")?.query_row([], |row| row.get::<_, i64>(0));
    let before = changes()?;
    let merge = sql!("INSERT INTO message_text (message_text, rank) VALUES ('merge', $1)");
    db.prepare_cached(merge)?.execute([pages])?;
    Ok(changes()? - before < 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::{Connection, Params, Row};

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

    #[test]
    fn nothing_of_a_query_is_an_operator() {
        let words = chat::words("NOT who:u1x1 mot");
        let words: Vec<(&str, bool)> = words.iter().map(|word| (&*word.text, word.is_start)).collect();
        let who = ["u1x2".to_owned(), "c1x5".to_owned()];
        let expected = r#"{who} : (u1x2 OR c1x5) AND {body} : ("NOT" AND "who" AND "u1x1" AND "mot" *)"#;
        assert_eq!(fts5_query(&words, &who), expected);
        let expected = "'not':A & 'who':A & 'u1x1':A & 'mot':*A & ('u1x2':D | 'c1x5':D)";
        assert_eq!(tsquery(&words, &who), expected);
    }

    #[test]
    fn words_are_letters_and_digits_without_their_diacritics() {
        assert_eq!(
            lexemes("Ärger, naïve_Öl; it's 5 C++ 東京 O\u{308}l"),
            ["arger", "naive", "ol", "it", "s", "5", "c", "東京", "ol"]
        );
        assert_eq!(vector("b a b", &["u1x2".to_owned()]), "'a':1A 'b':1A 'u1x2':1");
    }
}
