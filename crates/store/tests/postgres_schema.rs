//! Both engines have the same tables and columns.

use crate::asking::Directory;
use crate::postgres;

use std::collections::BTreeSet;

use rusqlite::Connection;
use store::{Options, Sqlite};

#[test]
fn both_engines_have_the_same_columns() {
    let directory = Directory::quick();
    drop(Sqlite::open(&directory.file(), Options::default()).expect("it opens"));
    let db = Connection::open(directory.file()).expect("a file");
    let sql = "SELECT t.name || '.' || c.name || ' ' || c.type || CASE WHEN c.\"notnull\" OR c.pk THEN ' NOT NULL' ELSE '' END \
               FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'message_text%'";
    let mut statement = db.prepare(sql).expect("it is a statement");
    let columns = statement.query_map([], |row| row.get::<_, String>(0)).expect("it answers");
    let sqlite: BTreeSet<String> = columns.map(|column| column.expect("a text")).collect();
    let sql = "SELECT table_name || '.' || column_name || CASE data_type WHEN 'bigint' THEN ' INTEGER' WHEN 'text' THEN ' TEXT' \
               WHEN 'bytea' THEN ' BLOB' ELSE ' ' || data_type END || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END \
               FROM information_schema.columns \
               WHERE table_schema = 'public' AND table_name NOT IN ('message_text', 'lease')";
    let postgres: BTreeSet<String> = postgres::query(&postgres::database(), sql).into_iter().collect();
    assert!(sqlite.len() > 300, "{} columns", sqlite.len());
    let differences: Vec<&String> = sqlite.symmetric_difference(&postgres).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    let sql = "SELECT count(*) FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text' \
               AND collation_name IS DISTINCT FROM 'C'";
    assert_eq!(postgres::query(&postgres::database(), sql), ["0"], "texts are compared by their bytes");
}
