//! Rows of conversations that are written later than their messages: no read, crash or other process sees that they are
//! late.

use std::path::Path;

use crate::asking;

use asking::{Directory, add_site, ask, direct, message, put, say, seqs, snapshot};
use chat::{
    ConversationList, ConversationRow, MessageStore, Seq, SiteId, SiteStore, Snapshot, Store, UserId,
};
use rusqlite::Connection;
use store::{Options, Sqlite, Synchronous};

fn open(path: &Path) -> Sqlite {
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    Sqlite::open(path, options).expect("it opens")
}

/// The newest seq that the row of a conversation has in the file.
fn in_the_file(path: &Path, a: UserId, b: UserId) -> u64 {
    let db = Connection::open(path).expect("it opens");
    let id = direct(a, b);
    let sql = "SELECT seq FROM conversation WHERE site = ?1 AND key = ?2";
    let seq = db.query_row(sql, [i64::from(id.site.0), id.key as i64], |row| row.get::<_, i64>(0));
    seq.expect("there is a row") as u64
}

/// The files as they are now, as a killed process leaves them.
fn crash(directory: &Directory) -> Directory {
    let copy = Directory::quick();
    for end in ["", "-wal"] {
        let file = |directory: &Directory| directory.path().join(format!("kith.db{end}"));
        std::fs::copy(file(directory), file(&copy)).expect("it can be copied");
    }
    copy
}

fn rows(store: &Sqlite, user: UserId) -> Vec<ConversationRow> {
    ask(|done| store.conversations(user, ConversationList::Main, None, 1_000, done)).rows
}

/// Everything that a new device is told.
fn view(store: &Sqlite, user: UserId) -> String {
    let Snapshot { conversations, contacts, waiting, position, .. } = snapshot(store, user, None);
    format!("{conversations:?} {contacts:?} {waiting:?} {}", position.number)
}

fn three(store: &Sqlite) -> (SiteId, [UserId; 3]) {
    let site = add_site(store, "forum");
    (site, ["ann", "bob", "carl"].map(|name| put(store, site, name)))
}

#[test]
fn a_message_is_read_at_once_and_its_row_is_written_for_the_read() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let (_, [ann, bob, carl]) = three(&store);
    for n in 0..5 {
        say(&store, ann, bob, &format!("b{n}"), "x");
        say(&store, ann, carl, &format!("c{n}"), "x");
    }
    assert_eq!(in_the_file(&directory.file(), ann, bob), 1, "only the first message has made the row");
    assert_eq!(seqs(&store, direct(ann, bob)).len(), 5);
    assert_eq!(in_the_file(&directory.file(), ann, bob), 5);
    assert_eq!(in_the_file(&directory.file(), ann, carl), 1, "nobody has read this one");
    assert_eq!(rows(&store, carl)[0].unread, 5);
    assert_eq!(in_the_file(&directory.file(), ann, carl), 5);
    say(&store, ann, bob, "b5", "x");
    assert_eq!(in_the_file(&directory.file(), ann, bob), 6, "what is read is written with its messages");
}

#[test]
fn after_a_crash_the_rows_are_made_again_from_the_log() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let (_, users @ [ann, bob, carl]) = three(&store);
    for n in 0..40 {
        let (from, to) = [(ann, bob), (bob, ann), (carl, ann)][n % 3];
        say(&store, from, to, &format!("m{n}"), if n % 7 == 0 { "hello @ann" } else { "x" });
        if n == 20 {
            ask(|done| store.mark(direct(ann, bob), ann, Seq(9), Seq(7), done));
        }
    }
    assert!(in_the_file(&directory.file(), ann, carl) < 13, "the row is late");
    let copy = crash(&directory);
    let [before, after] = [&store, &open(&copy.file())].map(|store| users.map(|user| view(store, user)));
    assert_eq!(before, after);
    assert_eq!(in_the_file(&copy.file(), ann, carl), 13, "a start writes all of them");
}

#[test]
fn an_end_writes_the_rows() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let (_, [ann, bob, _]) = three(&store);
    (0..5).for_each(|n| _ = say(&store, ann, bob, &n.to_string(), "x"));
    store.close();
    assert_eq!(in_the_file(&directory.file(), ann, bob), 5);
}

#[test]
fn another_process_sees_no_late_row_and_disturbs_none() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let (_, [ann, bob, carl]) = three(&store);
    (0..5).for_each(|n| _ = say(&store, ann, bob, &n.to_string(), "x"));
    let other = open(&directory.file());
    assert_eq!(seqs(&other, direct(ann, bob)).len(), 5);
    (5..9).for_each(|n| _ = say(&store, ann, bob, &n.to_string(), "x"));
    say(&other, bob, ann, "9", "from the other");
    say(&other, bob, carl, "10", "from the other");
    other.remove_site(SiteId(77)).expect("it works");
    (11..14).for_each(|n| _ = say(&store, ann, bob, &n.to_string(), "x"));
    assert_eq!(seqs(&store, direct(ann, bob)), (1..=13).map(Seq).collect::<Vec<_>>());
    assert_eq!(rows(&store, bob).len(), 2);
}

/// More messages than one sweep, in conversations that are late again while it runs.
#[test]
fn sweeps_write_the_rows_of_a_steady_stream_and_lose_none() {
    const USERS: usize = 40;
    const MESSAGES: usize = 60_000;
    let directory = Directory::quick();
    let store = open(&directory.file());
    let site = add_site(&store, "forum");
    let users: Vec<UserId> = (0..USERS).map(|n| put(&store, site, &format!("user-{n}"))).collect();
    for n in 0..MESSAGES {
        let (from, to) = (n % USERS, (n + 1 + n / USERS % (USERS - 1)) % USERS);
        store.append(message(users[from], users[to], &n.to_string(), "x"), Box::new(|_| ()));
        if n % 500 == 0 {
            store.flush().expect("it is on disk");
        }
    }
    store.flush().expect("it is on disk");
    let db = Connection::open(directory.file()).expect("it opens");
    let viewed: i64 = db
        .query_row("SELECT value FROM meta WHERE name = 'viewed'", [], |row| row.get(0))
        .expect("it is there");
    assert!(
        (10_000..MESSAGES as i64).contains(&viewed),
        "{viewed}: sweeps have ended, and the last rows are late"
    );
    let crashed = crash(&directory);
    for store in [&store, &open(&crashed.file())] {
        let mut messages = 0;
        for user in &users {
            for row in rows(store, *user) {
                let last = row.last.expect("there are messages");
                messages += last.seq.0;
                assert_eq!(seqs(store, row.id).len() as u64, last.seq.0);
            }
        }
        assert_eq!(messages, 2 * MESSAGES as u64, "each counts in the rows of two users");
    }
}
