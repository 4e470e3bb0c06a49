//! Rows of conversations that are written later than their messages: no read, crash or other process sees that they are
//! late.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::mpsc::channel;

use crate::{asking, faults};

use asking::{Directory, add_site, ask, direct, message, put, say, seqs, snapshot};
use chat::{
    ConversationId, ConversationList, ConversationRow, MessageStore, Seq, SiteId, SiteStore, Snapshot, Store,
    UserId,
};
use rusqlite::Connection;
use store::{Options, Sqlite, Synchronous};

fn open(path: &Path) -> Sqlite {
    let options = Options { synchronous: Synchronous::Normal, ..Options::default() };
    Sqlite::open(path, options).expect("it opens")
}

/// The newest seq that the row of a conversation has in the file.
fn in_the_file(path: &Path, a: UserId, b: UserId) -> u64 {
    in_the_file_at(path, direct(a, b))
}

fn in_the_file_at(path: &Path, id: ConversationId) -> u64 {
    let db = Connection::open(path).expect("it opens");
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
fn a_question_about_many_views_waits_for_the_late_rows_of_all_of_them() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let (site, [ann, bob, carl]) = three(&store);
    let [dora, eve] = ["dora", "eve"].map(|name| put(&store, site, name));
    for n in 0..2 {
        say(&store, ann, bob, &format!("b{n}"), "x");
        say(&store, carl, dora, &format!("d{n}"), "x");
    }
    let before = snapshot(&store, eve, None).position;
    say(&store, ann, bob, "b2", "x");
    say(&store, carl, dora, "d2", "x");
    assert_eq!(in_the_file(&directory.file(), ann, bob), 1, "the row is late");
    let (changed, now) = asking::changed_views(&store, &[(eve, before), (bob, before), (eve, before)]);
    assert_eq!((changed, now.number), (vec![false, true, false], before.number + 2));
    assert_eq!(in_the_file(&directory.file(), ann, bob), 3);
    assert_eq!(in_the_file(&directory.file(), carl, dora), 1, "nobody has asked for this one");
    say(&store, ann, bob, "b3", "x");
    assert_eq!(in_the_file(&directory.file(), ann, bob), 4, "what is read is written with its messages");
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

/// A killed process leaves a beginning of what it has written. The log is cut after each of its pages, and in some.
#[test]
fn wherever_the_log_is_cut_rows_agree_with_messages_and_acknowledged_ones_are_there() {
    const FRAME: usize = 24 + 4096;
    let directory = Directory::quick();
    let store = Sqlite::open(&directory.file(), Options { checkpoint_pages: 1 << 20, ..Options::default() })
        .expect("it opens");
    let (_, users @ [ann, bob, carl]) = three(&store);
    let log = directory.path().join("kith.db-wal");
    let mut acknowledged = Vec::new();
    for n in 0..12 {
        let (from, to) = [(ann, bob), (bob, ann), (carl, ann), (ann, bob)][n % 4];
        let seq = say(&store, from, to, &format!("m{n}"), "x").seq;
        acknowledged.push((std::fs::metadata(&log).expect("a log").len() as usize, direct(from, to), seq));
        match n % 6 {
            3 => _ = view(&store, ann), // writes late rows
            5 => _ = ask(|done| store.mark(direct(ann, bob), ann, seq, seq, done)),
            _ => {}
        }
    }
    let bytes = std::fs::read(&log).expect("a log");
    assert!(bytes.len() > 30 * FRAME, "{} pages", bytes.len() / FRAME);
    let mut most = 0;
    let ends = (32..=bytes.len()).step_by(FRAME);
    for cut in ends.clone().chain(ends.map(|end| end + FRAME / 2).step_by(5)) {
        let copy = crash(&directory);
        let whole = cut.min(bytes.len());
        std::fs::write(copy.path().join("kith.db-wal"), &bytes[..whole]).expect("a file");
        let store = open(&copy.file());
        let mut count = 0;
        for user in users {
            for row in rows(&store, user) {
                let newest = row.last.as_ref().expect("there is a message").seq;
                assert_eq!(seqs(&store, row.id), (1..=newest.0).map(Seq).collect::<Vec<_>>(), "cut at {cut}");
                assert_eq!(in_the_file_at(&copy.file(), row.id), newest.0, "cut at {cut}");
                count += newest.0;
            }
        }
        for (_, id, seq) in acknowledged.iter().filter(|(length, ..)| *length <= whole) {
            assert!(seqs(&store, *id).contains(seq), "cut at {cut}: {seq:?} was acknowledged");
        }
        most = most.max(count);
    }
    assert_eq!(most, 2 * 12, "each is in the list of two users");
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
    const MESSAGES: usize = 60_000;
    let directory = Directory::quick();
    let store = open(&directory.file());
    let site = add_site(&store, "forum");
    let users: Vec<UserId> = (0..USERS).map(|n| put(&store, site, &format!("user-{n}"))).collect();
    for n in 0..MESSAGES {
        let (from, to) = pair(n);
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

/// Users of the tests with many conversations. Each writes to each.
const USERS: usize = 40;

/// Sender and receiver of the message with this number.
fn pair(n: usize) -> (usize, usize) {
    (n % USERS, (n + 1 + n / USERS % (USERS - 1)) % USERS)
}

/// Appends to 780 conversations, with 256 messages in flight, and prints acknowledged messages, until it is killed.
#[test]
fn writes_to_many_until_killed() {
    let Some((path, round)) = faults::wanted() else { return };
    let store = open(&path);
    let user = |at: usize| UserId { site: SiteId(1), num: at as u32 + 1 };
    let (sender, answers) = channel();
    for n in 0.. {
        let ((from, to), sender) = (pair(n), sender.clone());
        store.append(
            message(user(from), user(to), &format!("{round}-{n}"), "x"),
            Box::new(move |outcome| {
                let line = format!("ack {} {n}\n", outcome.expect("the store works").seq.0);
                std::io::stdout().write_all(line.as_bytes()).expect("somebody reads");
                sender.send(()).expect("the loop waits");
            }),
        );
        if n >= 256 {
            answers.recv().expect("the store answers");
        }
    }
}

/// The kills come before, in and after sweeps: each process begins with the late rows that the killed one has left.
#[test]
fn rows_agree_with_the_log_however_often_the_process_is_killed() {
    let directory = Directory::quick();
    let path = directory.file();
    {
        let store = open(&path);
        let site = add_site(&store, "forum");
        let users: Vec<UserId> = (0..USERS).map(|n| put(&store, site, &format!("user-{n}"))).collect();
        assert_eq!(users[USERS - 1], UserId { site: SiteId(1), num: USERS as u32 });
    }
    let mut acknowledged: HashMap<String, (usize, u64)> = HashMap::new();
    let mut begun_with_late_rows = 0;
    for (round, acks) in [9_000, 500, 7_700, 2_500, 5_000, 8_300].into_iter().enumerate() {
        let mut child = faults::child("late_rows::writes_to_many_until_killed", &path, round as u32);
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let before = acknowledged.len();
        let mut killed = false;
        // Lines in the pipe after the kill were acknowledged, too.
        for line in lines.map_while(Result::ok) {
            if let Some((seq, n)) = line.strip_prefix("ack ").and_then(|ack| ack.split_once(' ')) {
                let n: usize = n.parse().expect("a whole line");
                acknowledged.insert(format!("{round}-{n}"), (n, seq.parse().expect("a seq")));
            }
            if !killed && acknowledged.len() - before >= acks {
                child.kill().expect("it runs"); // SIGKILL
                killed = true;
            }
        }
        assert!(killed, "it was killed while it worked");
        child.wait().expect("it has ended");
        begun_with_late_rows += usize::from(late_rows_in(&crash(&directory).file()) > 0);
        check(&open(&crash(&directory).file()), &acknowledged);
    }
    assert!(begun_with_late_rows >= 3, "{begun_with_late_rows} kills left late rows behind");
}

/// Conversations whose row does not name the newest message of the log.
fn late_rows_in(path: &Path) -> u64 {
    let db = Connection::open(path).expect("it opens");
    let sql = "SELECT count(*) FROM (SELECT max(seq) AS newest, conversation FROM message GROUP BY conversation) AS log \
               JOIN conversation ON conversation.key = log.conversation WHERE conversation.seq < log.newest";
    db.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("it can be read") as u64
}

/// Each row names the newest message of its conversation, which has no gaps; each acknowledged message is there once.
fn check(store: &Sqlite, acknowledged: &HashMap<String, (usize, u64)>) {
    let user = |at: usize| UserId { site: SiteId(1), num: at as u32 + 1 };
    let mut stored: HashMap<String, u64> = HashMap::new();
    for at in 0..USERS {
        for row in rows(store, user(at)) {
            let page = ask(|done| store.history(user(at), row.id, None, None, u32::MAX, done));
            let seqs: Vec<u64> = page.messages.iter().map(|message| message.seq.0).collect();
            assert_eq!(seqs, (1..=row.last.as_ref().expect("there are messages").seq.0).collect::<Vec<_>>());
            let theirs = page.messages.iter().rev().take_while(|message| message.from != user(at)).count();
            assert_eq!(row.unread, theirs as u64, "unread are those after the last own one");
            for message in page.messages.iter().filter(|message| message.from == user(at)) {
                let before = stored.insert(message.client_id.to_string(), message.seq.0);
                assert_eq!(before, None, "{} is there twice", message.client_id);
            }
        }
    }
    for (id, (_, seq)) in acknowledged {
        assert_eq!(stored.get(id), Some(seq), "{id} was acknowledged");
    }
}
