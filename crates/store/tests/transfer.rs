//! A database moves between SQLite and PostgreSQL without a change, also if it is killed on the way.

use crate::asking::{self, Directory, NOW, ask};
use crate::model::{Step, Subject, Tested, all, same, step};
use crate::postgres;

use std::path::Path;
use std::time::{Duration, Instant};

use chat::{Search, SiteId, Slot, Store, Timestamp, words};
use proptest::prelude::*;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use store::{
    Clock, Database, Lease, Moved, OpenError, Options, Progress, Sqlite, Step as Stage, Take, TransferError,
    TransferOptions, transfer,
};

// ---- a history of operations ----

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_store_answers_as_before_after_each_move_and_goes_on(
        on_file in proptest::collection::vec(step(), 1..120),
        on_server in proptest::collection::vec(step(), 0..60),
        on_file_again in proptest::collection::vec(step(), 0..60),
    ) {
        moves_and_goes_on(&on_file, &on_server, &on_file_again);
    }
}

fn moves_and_goes_on(on_file: &[Step], on_server: &[Step], on_file_again: &[Step]) {
    let (first, last) = (Directory::quick(), Directory::quick());
    let server = postgres::database();
    let mut plain = Subject::new(Tested::Plain(Box::default()));
    let mut store = Subject::new(Tested::Store(Box::new(open(&first.file()))));
    let mut removed = Vec::new();
    let mut go_on = |plain: &mut Subject, store: &mut Subject, steps: &[Step]| {
        for step in steps {
            if let Step::RemoveSite { site } = step {
                removed.push(SiteId(*site));
            }
            // Writes for a site that does not exist have no effect.
            if !step.site().is_some_and(|site| removed.contains(&site)) {
                assert_eq!(store.take(step), plain.take(step), "{step:?}");
            }
        }
        same(&all(store), &all(plain));
    };
    go_on(&mut plain, &mut store, on_file);
    store.tested = Tested::Plain(Box::default()); // closes it
    moved(&file(&first), &Database::Server(server.clone()));
    store.tested = Tested::Store(Box::new(postgres::open(&server)));
    go_on(&mut plain, &mut store, on_server);
    store.tested = Tested::Plain(Box::default());
    moved(&Database::Server(server), &file(&last));
    store.tested = Tested::Store(Box::new(open(&last.file())));
    go_on(&mut plain, &mut store, on_file_again);
}

#[test]
fn clients_go_on_with_their_positions_and_ids() {
    let (directory, server) = (Directory::quick(), postgres::database());
    let store = open(&directory.file());
    let site = asking::add_site(&store, "one");
    let [a, b] = ["a", "b"].map(|id| asking::put(&store, site, id));
    let before = asking::say(&store, a, b, "id 1", "the gearbox").position;
    asking::say(&store, a, b, "id 2", "an engine");
    let epoch = store.epoch().expect("it reads");
    drop(store);
    let result = moved(&file(&directory), &Database::Server(server.clone()));
    assert!(result.rows > 8 && result.tables > 60 && !result.was_finished, "{result:?}");
    assert!(result.place.starts_with("postgres://") && !result.place.contains('@'), "{}", result.place);

    let store = postgres::open(&server);
    assert_eq!(store.epoch().expect("it reads"), epoch);
    let missed = asking::snapshot(&store, b, Some(before));
    assert!(
        format!("{missed:?}").contains("an engine") && !format!("{missed:?}").contains("the gearbox"),
        "{missed:?}"
    );
    let again = asking::say(&store, a, b, "id 1", "the gearbox");
    assert_eq!((again.seq.0, again.position.epoch), (1, epoch), "a message that is sent again is known");
    assert_eq!(asking::say(&store, a, b, "id 3", "a wheel").seq.0, 3);
    assert_eq!(asking::put(&store, site, "c").num, 3, "no number of a user is given twice");
    assert_eq!(asking::add_site(&store, "two"), SiteId(2));
    let begin = Instant::now();
    while found(&store, a, "gearbox") == 0 {
        assert!(begin.elapsed() < asking::PATIENCE, "the index of words is made anew");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(store);
    let source = open(&directory.file());
    assert_ne!(source.epoch().expect("it reads"), epoch, "clients of the source must load anew");
}

fn found(store: &dyn Store, user: chat::UserId, text: &str) -> usize {
    let wanted = Search { user, words: words(text), conversation: None, after: None, limit: 9 };
    ask(|done| store.search(wanted, done)).expect("allowed").hits.len()
}

// ---- every value ----

#[test]
fn every_value_of_every_table_is_the_same_after_both_moves() {
    let first = Directory::quick();
    fill(&first.file(), 40);
    let wanted = dump(&first.file());
    assert!(wanted.len() > 60, "{} tables", wanted.len());
    assert!(wanted.iter().all(|(_, rows)| rows.len() == 40));
    for rows in [3, 1_000] {
        let (source, target) = (copy_of(&first), Directory::quick());
        let server = Database::Server(postgres::database());
        let options = TransferOptions { rows, ..TransferOptions::new(NOW) };
        transfer(&file(&source), &server, &options, &mut |_| {}).expect("it moves");
        transfer(&server, &file(&target), &options, &mut |_| {}).expect("it moves back");
        assert!(dump(&target.file()) == wanted, "{rows} rows in a transaction");
    }
}

#[test]
fn a_text_that_postgresql_cannot_store_is_named() {
    let directory = Directory::quick();
    fill(&directory.file(), 3);
    let db = Connection::open(directory.file()).expect("a file");
    db.execute("UPDATE room SET topic = 'a' || char(0) WHERE key = 0", []).expect("a row");
    drop(db);
    let error = refused(&file(&directory), &Database::Server(postgres::database()));
    assert_eq!(
        error.to_string(),
        "room (site = 1, key = 0): the column topic has a text with the character U+0000, which cannot be moved"
    );
}

// ---- interruptions ----

#[test]
fn a_transfer_that_is_killed_after_each_transaction_goes_on() {
    let (first, last) = (Directory::quick(), Directory::quick());
    let server = postgres::database();
    fill(&first.file(), 3);
    let wanted = dump(&first.file());
    // Of another program.
    let other = "CREATE TABLE other (a BIGINT); CREATE TRIGGER other AFTER INSERT ON other \
                 FOR EACH STATEMENT EXECUTE FUNCTION kith_forget_contact_list()";
    postgres::run(&server, other);
    let unfinished = |error: OpenError| assert!(matches!(error, OpenError::Unfinished { .. }), "{error}");
    let attempts = killed_each_time(&file(&first), &Database::Server(server.clone()), &mut || {
        let disabled = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'D'";
        assert_eq!(postgres::query(&server, disabled), ["contact_changed_list"]);
        unfinished(refusal(Sqlite::open_postgres(&server, Slot::FIRST, Options::default())));
        unfinished(refusal(Lease::connect(&server, Slot::FIRST, "n", 1)));
    });
    assert!(attempts > 120, "{attempts}");
    let attempts = killed_each_time(&Database::Server(server.clone()), &file(&last), &mut || {
        unfinished(refusal(Sqlite::open(&last.file(), Options::default())));
        unfinished(refusal(store::backup(&last.file(), &first.path().join("copy.db"))));
    });
    assert!(attempts > 120, "{attempts}");
    assert!(dump(&last.file()) == wanted);
    let triggers = "SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'O'";
    assert_eq!(postgres::query(&server, triggers), ["0"], "the triggers work again");
    assert_eq!(
        postgres::query(&server, "SELECT count(*) FROM pg_tables WHERE tablename = 'transfer'"),
        ["0"]
    );
}

/// Ends it at its first transaction, again and again, until nothing is left to copy.
fn killed_each_time(from: &Database, to: &Database, between: &mut dyn FnMut()) -> u32 {
    let options = TransferOptions { rows: 2, ..TransferOptions::new(NOW) };
    let mut attempts = 0;
    loop {
        attempts += 1;
        let mut dies = |progress: Progress<'_>| {
            if progress.step == Stage::Copy {
                std::panic::resume_unwind(Box::new("killed"));
            }
        };
        let attempt = std::panic::AssertUnwindSafe(|| transfer(from, to, &options, &mut dies));
        match std::panic::catch_unwind(attempt) {
            Ok(moved) => {
                moved.expect("nothing is left to copy");
                return attempts;
            }
            Err(_) if attempts % 40 == 1 => between(),
            Err(_) => {}
        }
    }
}

#[test]
fn a_finished_transfer_is_known_and_completed() {
    let directory = Directory::quick();
    let url = postgres::database();
    let server = Database::Server(url.clone());
    fill(&directory.file(), 2);
    let epoch = epoch_of(&directory.file());
    moved(&file(&directory), &server);
    assert!(matches!(refused(&file(&directory), &server), TransferError::Finished { .. }));
    // As after a death before the source has got its new epoch.
    let db = Connection::open(directory.file()).expect("a file");
    db.execute("UPDATE meta SET value = ?1 WHERE name = 'epoch'", [epoch]).expect("it is there");
    drop(db);
    assert!(moved(&file(&directory), &server).was_finished);
    assert_ne!(epoch_of(&directory.file()), epoch);
    assert_eq!(postgres::query(&url, "SELECT value FROM meta WHERE name = 'epoch'"), [epoch.to_string()]);
    assert_eq!(postgres::query(&url, "SELECT value FROM meta WHERE name = 'moved'"), [NOW.0.to_string()]);
}

// ---- differences ----

#[test]
fn a_changed_a_missing_and_an_added_row_are_found_and_named() {
    for (change, wanted) in [
        (
            "UPDATE draft SET body = 'other' WHERE conversation = 4",
            "draft differs at site = 1, user = 4, conversation = 4: the column body has another value",
        ),
        (
            "DELETE FROM draft WHERE conversation = 4",
            "draft differs at site = 1, user = 4, conversation = 4: only {source} has this row",
        ),
        (
            "INSERT INTO draft VALUES (1, 7, 7, '')",
            "draft differs at site = 1, user = 7, conversation = 7: only {target} has this row",
        ),
        (
            "INSERT INTO draft VALUES (9, 9, 9, '')",
            "draft differs at site = 9, user = 9, conversation = 9: only {target} has this row",
        ),
        (
            "UPDATE meta SET value = value + 1 WHERE name = 'revision'",
            "meta differs at name = revision: the source has 0",
        ),
    ] {
        for back in [false, true] {
            let (first, last) = (Directory::quick(), Directory::quick());
            let url = postgres::database();
            fill(&first.file(), 6);
            if back {
                moved(&file(&first), &Database::Server(url.clone()));
                let (from, to) = (Database::Server(url.clone()), file(&last));
                stop_before_the_comparison(&from, &to);
                Connection::open(last.file()).expect("a file").execute(change, []).expect("it is made");
                check(&from, &to, wanted);
            } else {
                let (from, to) = (file(&first), Database::Server(url.clone()));
                stop_before_the_comparison(&from, &to);
                postgres::run(&url, &change.replace(" user ", " \"user\" "));
                check(&from, &to, wanted);
            }
        }
    }
}

/// Everything is copied, and the target is unfinished.
fn stop_before_the_comparison(from: &Database, to: &Database) {
    let mut dies = |progress: Progress<'_>| {
        if progress.step == Stage::Compare {
            std::panic::resume_unwind(Box::new("killed"));
        }
    };
    let options = TransferOptions::new(NOW);
    let attempt = std::panic::AssertUnwindSafe(|| transfer(from, to, &options, &mut dies));
    assert!(std::panic::catch_unwind(attempt).is_err());
}

fn check(from: &Database, to: &Database, wanted: &str) {
    let place = |database: &Database| match database {
        Database::File(path) => path.display().to_string(),
        Database::Server(url) => url.replace("kith@", ""),
    };
    let wanted = wanted.replace("{source}", &place(from)).replace("{target}", &place(to));
    // The row of `meta` is checked when the transfer goes on.
    let error = refused(from, to);
    match &error {
        TransferError::OtherSource { .. } => assert!(wanted.starts_with("meta"), "{error}"),
        error => assert_eq!(error.to_string(), wanted),
    }
}

// ---- refusals ----

#[test]
fn only_an_empty_target_or_its_own_unfinished_one_is_filled() {
    let (first, other) = (Directory::quick(), Directory::quick());
    fill(&first.file(), 3);
    let server = Database::Server(postgres::database());
    stop_before_the_comparison(&file(&first), &server);
    fill(&other.file(), 3);
    assert!(matches!(refused(&file(&other), &server), TransferError::OtherSource { .. }), "another source");
    let db = Connection::open(first.file()).expect("a file");
    db.execute("UPDATE meta SET value = value + 1 WHERE name = 'revision'", []).expect("it is there");
    drop(db);
    assert!(
        matches!(refused(&file(&first), &server), TransferError::OtherSource { .. }),
        "the source has changed"
    );

    let full = Database::Server(postgres::database());
    moved(&file(&other), &full);
    let error = refused(&full, &file(&first));
    assert!(matches!(&error, TransferError::NotEmpty { table, .. } if table == "app_password"), "{error}");
    assert!(matches!(refused(&file(&first), &file(&other)), TransferError::OneEngine));
    let missing = Database::File(first.path().join("nothing.db"));
    assert!(matches!(refused(&missing, &server), TransferError::Open(OpenError::Missing { .. })));
    assert!(!first.path().join("nothing.db").exists());
    let no_address = Database::Server("postgres://host".into());
    assert!(matches!(refused(&file(&first), &no_address), TransferError::Address { .. }));
}

#[test]
fn databases_in_use_and_of_other_schemas_are_refused() {
    let (directory, url) = (Directory::quick(), postgres::database());
    let (source, server) = (file(&directory), Database::Server(url.clone()));
    fill(&directory.file(), 2);
    let node = postgres::open(&url);
    let error = refused(&source, &server);
    assert!(matches!(&error, TransferError::InUse { by, .. } if by.contains("connections")), "{error}");
    drop(node);
    let lease = Lease::connect(&url, Slot::FIRST, "garden", 1).expect("it connects");
    let taken = lease.take(Clock::OfDatabase, Duration::from_secs(600)).expect("it answers");
    assert!(matches!(taken, Take::Taken { .. }));
    let error = refused(&server, &source);
    assert!(matches!(&error, TransferError::InUse { by, .. } if by == "the node garden"), "{error}");
    assert!(lease.give("", Clock::OfDatabase, Duration::ZERO).expect("it answers"));
    drop(lease);

    let db = Connection::open(directory.file()).expect("a file");
    db.pragma_update(None, "user_version", 49).expect("it is a number");
    drop(db);
    assert!(matches!(refused(&source, &server), TransferError::OtherSchema { found: 49, .. }));
    let held = Directory::quick();
    let node = open(&held.file());
    let error = refused(&server, &file(&held));
    assert!(matches!(&error, TransferError::InUse { .. }), "{error}");
    drop(node);
}

// ---- helpers ----

fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, Options::default()).expect("it opens")
}

fn file(directory: &Directory) -> Database {
    Database::File(directory.file())
}

fn moved(from: &Database, to: &Database) -> Moved {
    transfer(from, to, &TransferOptions::new(NOW), &mut |_| {}).expect("it moves")
}

fn refused(from: &Database, to: &Database) -> TransferError {
    transfer(from, to, &TransferOptions::new(Timestamp(1)), &mut |_| {}).expect_err("it must not move")
}

fn refusal<T>(opened: Result<T, OpenError>) -> OpenError {
    opened.err().expect("it must not open")
}

fn epoch_of(path: &Path) -> i64 {
    let db = Connection::open(path).expect("a file");
    db.query_row("SELECT value FROM meta WHERE name = 'epoch'", [], |row| row.get(0)).expect("it has one")
}

fn copy_of(directory: &Directory) -> Directory {
    let copy = Directory::quick();
    std::fs::copy(directory.file(), copy.file()).expect("it is closed");
    copy
}

/// Each table with the names, types and places in the key of its columns.
fn tables(db: &Connection) -> Vec<(String, Vec<Column>)> {
    let names: Vec<String> = db
        .prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'message_text%' \
             AND name NOT IN ('meta', 'removed_site')",
        )
        .and_then(|mut names| names.query_map([], |row| row.get(0))?.collect())
        .expect("it answers");
    let columns = |name: &String| {
        let mut columns = db.prepare(
            "SELECT name, type, \"notnull\" OR pk, pk, pk AND sum(pk) OVER () = 1 FROM pragma_table_info(?1) ORDER BY cid",
        )?;
        let read = |row: &rusqlite::Row<'_>| {
            let (name, kind) = (row.get(0)?, row.get(1)?);
            Ok(Column { name, kind, is_needed: row.get(2)?, key: row.get(3)?, is_alone: row.get(4)? })
        };
        columns.query_map([name], read)?.collect::<rusqlite::Result<Vec<Column>>>()
    };
    names.into_iter().map(|name| (name.clone(), columns(&name).expect("it answers"))).collect()
}

struct Column {
    name: String,
    kind: String,
    is_needed: bool,
    /// The place in the primary key, from 1.
    key: i64,
    /// It is the whole key.
    is_alone: bool,
}

const TEXTS: [&str; 13] =
    ["", "a", "A", "Z", "_", "ä", "e\u{301}", "\u{ffff}", "😀", "a b", "';--", "\\x00", "two\nlines"];

/// Rows with values at their limits in all tables of a new database.
fn fill(path: &Path, rows: i64) {
    open(path).close();
    let db = Connection::open(path).expect("a file");
    db.execute_batch("BEGIN").expect("it begins");
    let tables = tables(&db);
    // Those whose rows a trigger would remove last.
    let (others, lists): (Vec<_>, Vec<_>) = tables.iter().partition(|(name, _)| name != "contact_list");
    for (name, columns) in others.into_iter().chain(lists) {
        let places: Vec<String> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
        let mut insert = db
            .prepare(&format!("INSERT INTO {name} VALUES ({})", places.join(", ")))
            .expect("it is a statement");
        for row in 0..rows {
            let values = columns.iter().enumerate().map(|(at, column)| value(column, row, at as i64));
            insert.execute(params_from_iter(values)).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
    // No message is late, because these rows belong to no conversation.
    db.execute("INSERT INTO meta VALUES ('sent_indexed', 9223372036854775807)", []).expect("there was none");
    db.execute("UPDATE meta SET value = 9223372036854775807 WHERE name = 'viewed'", []).expect("it is there");
    db.execute_batch("COMMIT").expect("it ends");
}

/// Another one in each row.
fn value(column: &Column, row: i64, at: i64) -> Value {
    if !column.is_needed && (row + at) % 3 == 0 {
        return Value::Null;
    }
    match (column.kind.as_str(), row % 4) {
        ("INTEGER", _) if column.name == "site" => {
            Value::Integer(if column.is_alone { row } else { 1 + row / 20 })
        }
        ("INTEGER", 0) => Value::Integer(row),
        ("INTEGER", 1) => Value::Integer(-row),
        ("INTEGER", 2) => Value::Integer(i64::MAX - row),
        ("INTEGER", _) => Value::Integer(i64::MIN + row),
        ("TEXT", _) if row == 0 => Value::Text(String::new()),
        ("TEXT", _) => Value::Text(format!("{}{row}", TEXTS[(row + at) as usize % TEXTS.len()])),
        ("BLOB", _) if row == 0 => Value::Blob(Vec::new()),
        ("BLOB", _) => Value::Blob(vec![0, 255, row as u8, 0]),
        (kind, _) => panic!("{kind}"),
    }
}

/// All rows of all tables, in the order of their keys.
fn dump(path: &Path) -> Vec<(String, Vec<Vec<Value>>)> {
    let db = Connection::open(path).expect("a file");
    let tables = tables(&db);
    let rows = tables.into_iter().map(|(name, columns)| {
        let mut key: Vec<&Column> = columns.iter().filter(|column| column.key > 0).collect();
        key.sort_by_key(|column| column.key);
        let key: Vec<&str> = key.iter().map(|column| column.name.as_str()).collect();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let sql = format!("SELECT {} FROM {name} ORDER BY {}", names.join(", "), key.join(", "));
        let mut statement = db.prepare(&sql).expect("it is a statement");
        let read = |row: &rusqlite::Row<'_>| (0..names.len()).map(|at| row.get(at)).collect();
        let rows = statement.query_map([], read).and_then(Iterator::collect).expect("it answers");
        (name, rows)
    });
    rows.collect()
}
