//! Acknowledged writes survive and failed writes do no damage: kill -9, a full disk, another process, a panic.

use crate::asking;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{channel, sync_channel};

use asking::{Directory, add_site, ask, direct, message, put, say, seqs, site, snapshot, sub, try_ask};
use chat::{
    ChangeMessage, MessageChange, MessageStore, Reaction, Seq, SiteId, SiteStore, Store, StoreError, Sub,
    Timestamp, UserId, UserStore,
};
use store::{Options, Sqlite};

const PATH: &str = "KITH_STORE_TEST_PATH";
const ROUND: &str = "KITH_STORE_TEST_ROUND";

fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, Options::default()).expect("it opens")
}

/// Runs one test again in a process of its own, with arguments.
pub(crate) fn child(test: &str, path: &Path, round: u32) -> Child {
    Command::new(std::env::current_exe().expect("a test has a file"))
        .args(["--exact", test, "--nocapture"])
        .env(PATH, path)
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process starts")
}

/// The arguments of the parent process; None in a usual run of the tests.
pub(crate) fn wanted() -> Option<(PathBuf, u32)> {
    let path = std::env::var_os(PATH)?.into();
    Some((path, std::env::var(ROUND).ok()?.parse().ok()?))
}

fn ids() -> (UserId, UserId) {
    let user = |num| UserId { site: SiteId(1), num };
    (user(1), user(2))
}

/// Appends, with 64 in flight, and prints acknowledged messages, until it is killed.
#[test]
fn appends_until_killed() {
    let Some((path, round)) = wanted() else { return };
    let store = open(&path);
    let (ann, bob) = ids();
    let (sender, answers) = channel();
    for number in 0..u32::MAX {
        let (id, sender) = (format!("{round}-{number}"), sender.clone());
        let append = message(ann, bob, &id, "hello");
        store.append(
            append,
            Box::new(move |outcome| {
                let line = format!("ack {} {id}\n", outcome.expect("the store works").seq.0);
                std::io::stdout().write_all(line.as_bytes()).expect("somebody reads");
                sender.send(()).expect("the loop waits");
            }),
        );
        if number >= 64 {
            answers.recv().expect("the store answers");
        }
    }
}

#[test]
fn what_was_acknowledged_before_kill_9_is_there_once_and_in_order() {
    let directory = Directory::new();
    let path = directory.file();
    let (ann, bob) = ids();
    {
        let store = open(&path);
        let site = add_site(&store, "forum");
        assert_eq!((put(&store, site, "ann"), put(&store, site, "bob")), (ann, bob));
    }
    let mut acknowledged: HashMap<String, Seq> = HashMap::new();
    for round in 0..10 {
        let mut child = child("faults::appends_until_killed", &path, round);
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let before = acknowledged.len();
        let mut killed = false;
        // Lines in the pipe after the kill were acknowledged, too.
        for line in lines.map_while(Result::ok) {
            if let Some((seq, id)) = line.strip_prefix("ack ").and_then(|ack| ack.split_once(' ')) {
                acknowledged.insert(id.to_owned(), Seq(seq.parse().expect("a whole line")));
            }
            if !killed && acknowledged.len() - before >= 150 * (round as usize + 1) {
                child.kill().expect("it runs"); // SIGKILL
                killed = true;
            }
        }
        assert!(killed, "it was killed while it worked");
        child.wait().expect("it has ended");
        check_after_kill(&open(&path), &acknowledged, round);
    }
}

/// Every acknowledged message is stored. After the client repeats the others, each is stored once.
fn check_after_kill(store: &Sqlite, acknowledged: &HashMap<String, Seq>, round: u32) {
    let (ann, bob) = ids();
    let of_this_round = acknowledged.keys().filter(|id| id.starts_with(&format!("{round}-"))).count();
    for number in of_this_round..of_this_round + 100 {
        say(store, ann, bob, &format!("{round}-{number}"), "hello");
    }
    let page = ask(|done| store.history(ann, direct(ann, bob), None, None, u32::MAX, done));
    let stored: HashMap<&str, Seq> =
        page.messages.iter().map(|message| (&*message.client_id, message.seq)).collect();
    assert_eq!(stored.len(), page.messages.len(), "nothing is there twice");
    let seqs: Vec<u64> = page.messages.iter().map(|message| message.seq.0).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>(), "no gaps");
    for (id, seq) in acknowledged {
        assert_eq!(stored.get(&**id), Some(seq), "{id} was acknowledged");
    }
    let one_by_one =
        page.messages.iter().filter(|message| message.client_id.starts_with(&format!("{round}-")));
    let numbers: Vec<u32> = one_by_one
        .map(|message| message.client_id.rsplit('-').next().and_then(|n| n.parse().ok()).expect("ours"))
        .collect();
    assert!(numbers.is_sorted(), "in the order in which they were sent");
}

/// Edits and reacts in turn, with 64 in flight, and prints the answers, until it is killed.
#[test]
fn changes_until_killed() {
    let Some((path, round)) = wanted() else { return };
    let store = open(&path);
    let (sender, answers) = channel();
    for number in 0..u32::MAX {
        let (at, sender) = (u64::from(number % 8) + 1, sender.clone());
        // An hour for each edit, because a message accepts a limited number in a week.
        let hours = u64::from(round) * 10_000_000 + u64::from(number);
        let time = Timestamp(asking::NOW.0 + hours * 3_600_000);
        store.change_message(
            ChangeMessage { time, ..edit(at, &format!("{round:04}-{number:08}")) },
            Box::new(move |outcome| {
                let changed = outcome.expect("the store works").expect("it may be changed");
                let line = format!("ack {at} {}\n", changed.message.body);
                std::io::stdout().write_all(line.as_bytes()).expect("somebody reads");
                sender.send(()).expect("the loop waits");
            }),
        );
        let change = MessageChange::React { reaction: thumb(), on: number % 16 < 8 };
        store.change_message(ChangeMessage { change, ..edit(at, "") }, Box::new(drop));
        if number >= 64 {
            answers.recv().expect("the store answers");
        }
    }
}

fn edit(seq: u64, body: &str) -> ChangeMessage {
    let (ann, bob) = ids();
    ChangeMessage {
        conversation: direct(ann, bob),
        seq: Seq(seq),
        by: ann,
        change: MessageChange::edit(body),
        time: asking::NOW,
    }
}

fn thumb() -> Reaction {
    Reaction::parse("\u{1f44d}").expect("a reaction")
}

#[test]
fn changes_that_were_answered_before_kill_9_are_there_whole() {
    let directory = Directory::new();
    let path = directory.file();
    let (ann, bob) = ids();
    let mut position = {
        let store = open(&path);
        let site = add_site(&store, "forum");
        assert_eq!((put(&store, site, "ann"), put(&store, site, "bob")), (ann, bob));
        (0..8).for_each(|number| _ = say(&store, ann, bob, &number.to_string(), "first"));
        snapshot(&store, bob, None).position
    };
    for round in 1..6 {
        let mut child = child("faults::changes_until_killed", &path, round);
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut answered: HashMap<u64, String> = HashMap::new();
        let mut count = 0;
        for line in lines.map_while(Result::ok) {
            let Some((at, body)) = line.strip_prefix("ack ").and_then(|ack| ack.split_once(' ')) else {
                continue;
            };
            answered.insert(at.parse().expect("a whole line"), body.to_owned());
            count += 1;
            if count == 300 * round {
                child.kill().expect("it runs"); // SIGKILL
            }
        }
        assert!(count >= 300 * round && !child.wait().expect("it has ended").success());
        let store = open(&path);
        let page = ask(|done| store.history(bob, direct(ann, bob), None, None, 99, done)).messages;
        assert_eq!(page.len(), 8);
        // A device that was offline receives each changed message in its present form.
        let news = snapshot(&store, bob, Some(position));
        for message in &page {
            assert!(*message.body >= *answered[&message.seq.0], "{message:?} {answered:?}");
            assert!(message.reactions.len() <= 1 && message.edited.is_some());
            assert!(news.updates.contains(message), "{message:?}");
            let former = ask(|done| store.revisions(direct(ann, bob), message.seq, done));
            assert_eq!(&*former[0].body, "first");
        }
        assert!(!news.reset && news.gaps.is_empty() && news.messages.is_empty());
        position = news.position;
    }
}

/// The other process of the test below.
#[test]
fn administers_and_appends_beside_another() {
    let Some((path, _)) = wanted() else { return };
    let store = open(&path);
    let (ann, bob) = ids();
    for number in 0..200 {
        say(&store, bob, ann, &format!("bob-{number}"), "hello");
    }
    store.add_site(&site("another")).expect("the store works").expect("the key is free");
    assert!(ask(|done| store.set_banned(ann, true, done)));
}

#[test]
fn two_processes_share_a_file_and_see_each_others_changes() {
    let directory = Directory::new();
    let store = open(&directory.file());
    let forum = add_site(&store, "forum");
    let (ann, bob) = (put(&store, forum, "ann"), put(&store, forum, "bob"));
    let revision = store.revision().expect("the store works");
    let mut other = child("faults::administers_and_appends_beside_another", &directory.file(), 0);
    let mut positions = Vec::new();
    for number in 0..200 {
        positions.push(say(&store, ann, bob, &format!("ann-{number}"), "hello").position);
    }
    assert!(other.wait().expect("it has ended").success());
    assert!(positions.is_sorted());
    assert_eq!(seqs(&store, direct(ann, bob)), (1..=400).map(Seq).collect::<Vec<_>>());
    assert!(store.revision().expect("the store works") > revision);
    assert_eq!(store.sites().expect("the store works").len(), 2);
    assert!(ask(|done| store.user(forum, sub("ann"), done)).expect("it exists").banned);
    assert!(say(&store, ann, bob, "bob-7", "mine, not bob's").seq == Seq(401));
    assert!(say(&store, bob, ann, "bob-7", "again").repeated, "also what the other process has written");
}

/// A file system of 3 MB in memory, unmounted at the end.
struct SmallDisk(Directory);

impl SmallDisk {
    /// None if this user may not mount.
    fn new() -> Option<SmallDisk> {
        let directory = Directory::new();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m", "tmpfs"])
            .arg(directory.path())
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then(|| SmallDisk(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_refuses_writes_goes_on_reading_and_recovers_by_itself() {
    // Without the right to mount, SQLite's own limit of pages gives the same error.
    let disk = SmallDisk::new();
    let directory = Directory::new();
    let place = disk.as_ref().map_or(directory.path(), |disk| disk.0.path()).to_owned();
    let file = place.join("kith.db");
    let ballast = place.join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).expect("there is room at first");
    let max_pages = if disk.is_some() { None } else { std::num::NonZeroU32::new(300) };
    let store = Sqlite::open(&file, Options { max_pages, checkpoint_pages: 64, ..Options::default() })
        .expect("it opens");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let body = "x".repeat(5_000);
    let mut acknowledged = Vec::new();
    let refused = loop {
        let id = acknowledged.len().to_string();
        match try_ask(|done| store.append(message(ann, bob, &id, &body), done)) {
            Ok(appended) => acknowledged.push(appended.seq),
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 1_000, "3 MB are full before that");
    };
    assert_eq!(refused, StoreError::DiskFull);
    let many = |from: usize| {
        let (sender, answers) = channel();
        for number in from..from + 20 {
            let sender = sender.clone();
            store.append(
                message(ann, bob, &number.to_string(), &body),
                Box::new(move |outcome| {
                    sender.send(outcome).expect("the test waits");
                }),
            );
        }
        drop(sender);
        answers.iter().collect::<Vec<_>>()
    };
    let batch = many(acknowledged.len());
    assert!(batch.iter().filter(|outcome| **outcome == Err(StoreError::DiskFull)).count() >= 10);
    acknowledged.extend(batch.iter().flatten().map(|appended| appended.seq));
    assert!(store.stats().disk_full > 0);
    assert_eq!(seqs(&store, direct(ann, bob)), acknowledged, "reads go on");
    assert_eq!(snapshot(&store, bob, None).conversations.rows[0].unread, acknowledged.len() as u64);

    if disk.is_some() {
        std::fs::remove_file(&ballast).expect("it is there");
        let more = many(10_000);
        assert!(more.iter().all(Result::is_ok), "there is room again: {more:?}");
        acknowledged.extend(more.into_iter().flatten().map(|appended| appended.seq));
    }
    assert_eq!(seqs(&store, direct(ann, bob)), acknowledged);
    assert_eq!(acknowledged, (1..=acknowledged.len() as u64).map(Seq).collect::<Vec<_>>());
    store.close();
    assert_eq!(seqs(&open(&file), direct(ann, bob)), acknowledged);
}

/// Another process that was to take the data over has failed.
#[test]
fn a_paused_store_goes_on_although_its_disk_is_full() {
    let disk = SmallDisk::new();
    let directory = Directory::new();
    let place = disk.as_ref().map_or(directory.path(), |disk| disk.0.path()).to_owned();
    let file = place.join("kith.db");
    let store = open(&file);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    // Rows of conversations are late.
    let mut acknowledged = Vec::new();
    for number in 0..50 {
        acknowledged.push(say(&store, ann, bob, &number.to_string(), "hello").seq);
    }
    let ballast = place.join("ballast");
    if disk.is_some() {
        let mut filler = std::fs::File::create(&ballast).expect("it can be made");
        for size in [65_536, 4_096, 1] {
            while filler.write_all(&vec![1; size]).is_ok() {}
        }
    }
    for _ in 0..2 {
        store.pause();
        assert!(try_ask(|done| store.append(message(ann, bob, "paused", "x"), done)).is_err());
        store.resume().expect("it needs no room");
        assert_eq!(seqs(&store, direct(ann, bob)), acknowledged);
        assert_eq!(snapshot(&store, bob, None).conversations.rows[0].unread, acknowledged.len() as u64);
    }
    if disk.is_some() {
        std::fs::remove_file(&ballast).expect("it is there");
    }
    acknowledged.push(say(&store, ann, bob, "after", "there is room again").seq);
    assert_eq!(seqs(&store, direct(ann, bob)), acknowledged);
    store.close();
    assert_eq!(seqs(&open(&file), direct(ann, bob)), acknowledged);
}

/// From now on, every flush of a file fails in this process.
#[cfg(target_os = "linux")]
fn fail_flushes() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};
    let rules = [libc::SYS_fsync, libc::SYS_fdatasync].map(|call| (call, Vec::new())).into();
    let fail = SeccompAction::Errno(libc::EIO as u32);
    let arch = std::env::consts::ARCH.try_into().expect("an architecture with filters");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, fail, arch).expect("a filter");
    let program = BpfProgram::try_from(filter).expect("a program");
    apply_filter_all_threads(&program).expect("the kernel filters");
}

#[cfg(target_os = "linux")]
fn tell(line: &str) {
    std::io::stdout().write_all(format!("{line}\n").as_bytes()).expect("somebody reads");
}

/// Appends to one conversation, one message at a time. After 500 messages flushes fail, and 50 more are tried.
#[cfg(target_os = "linux")]
#[test]
fn appends_until_flushes_fail() {
    let Some((path, _)) = wanted() else { return };
    let store = open(&path);
    let (ann, bob) = ids();
    let append = |number: u64| {
        let id = format!("0-{number}");
        let outcome = try_ask(|done| store.append(message(ann, bob, &id, "hello"), done));
        tell(&match &outcome {
            Ok(appended) => format!("ack {} {id}", appended.seq.0),
            Err(_) => format!("refused {id}"),
        });
        outcome
    };
    let flushed: Vec<Seq> = (0..500).map(|number| append(number).expect("the store works").seq).collect();
    fail_flushes();
    for number in 500..550 {
        assert_eq!(append(number), Err(StoreError::DiskFull), "nothing is acknowledged that is not on disk");
    }
    assert_eq!(seqs(&store, direct(ann, bob)), flushed, "reads go on, without what was refused");
    assert_eq!(snapshot(&store, bob, None).conversations.rows[0].unread, 500);
    tell("done");
    // Without a close, as at a crash.
    std::process::abort();
}

#[cfg(target_os = "linux")]
#[test]
fn a_message_whose_flush_failed_is_refused_and_stored_once_when_it_is_repeated() {
    let directory = Directory::new();
    let path = directory.file();
    let (ann, bob) = ids();
    {
        let store = open(&path);
        let site = add_site(&store, "forum");
        assert_eq!((put(&store, site, "ann"), put(&store, site, "bob")), (ann, bob));
    }
    let mut child = child("faults::appends_until_flushes_fail", &path, 0);
    let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let lines: Vec<String> = lines.map_while(Result::ok).collect();
    child.wait().expect("it has ended");
    assert!(lines.iter().any(|line| line == "done"), "{:?}", lines.last());
    assert_eq!(lines.iter().filter(|line| line.starts_with("refused ")).count(), 50);
    let acknowledged: HashMap<String, Seq> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("ack ")?.split_once(' '))
        .map(|(seq, id)| (id.to_owned(), Seq(seq.parse().expect("a whole line"))))
        .collect();
    assert_eq!(acknowledged.len(), 500);
    check_after_kill(&open(&path), &acknowledged, 0);
}

#[test]
fn one_failing_write_does_not_fail_the_others_of_its_batch() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let forum = add_site(&store, "forum");
    let (ann, bob) = (put(&store, forum, "ann"), put(&store, forum, "bob"));
    let stranger = UserId { site: forum, num: 77 };
    let (sender, answers) = channel();
    for number in 0..200 {
        let sender = sender.clone();
        let mut append = message(ann, bob, &number.to_string(), "x");
        if number % 10 == 3 {
            append.from = stranger; // not a member
        }
        store
            .append(append, Box::new(move |outcome| sender.send((number, outcome)).expect("the test waits")));
    }
    drop(sender);
    for (number, outcome) in &answers {
        assert_eq!(matches!(outcome, Err(StoreError::Failed(_))), number % 10 == 3, "{number}: {outcome:?}");
    }
    assert_eq!(seqs(&store, direct(ann, bob)).len(), 180);
}

#[test]
fn a_full_queue_answers_at_once() {
    let directory = Directory::quick();
    let options = Options { queue: 8, queue_bytes: 1_000, ..Options::default() };
    let store = Sqlite::open(&directory.file(), options).expect("it opens");
    let forum = add_site(&store, "forum");
    let (ann, bob) = (put(&store, forum, "ann"), put(&store, forum, "bob"));
    // A completion blocks the writer, so nothing is taken from the queue.
    let hold = || {
        let (release, held) = sync_channel::<()>(0);
        let (begun, begins) = sync_channel(0);
        store.set_banned(
            bob,
            false,
            Box::new(move |_| {
                begun.send(()).expect("the test waits");
                _ = held.recv();
            }),
        );
        begins.recv().expect("the store answers");
        release
    };
    let outcomes = |bodies: &[usize]| {
        let (sender, answers) = channel();
        let release = hold();
        for (number, length) in bodies.iter().enumerate() {
            let sender = sender.clone();
            let append = message(ann, bob, &format!("{length}-{number}"), &"x".repeat(*length));
            store.append(
                append,
                Box::new(move |outcome| sender.send((number, outcome)).expect("the test waits")),
            );
        }
        drop(sender);
        let at_once: Vec<_> = answers.try_iter().collect();
        drop(release);
        let later = answers.iter().filter(|(_, outcome)| outcome.is_ok()).count();
        assert!(at_once.iter().all(|(_, outcome)| *outcome == Err(StoreError::Overloaded)));
        (at_once.into_iter().map(|(number, _)| number).collect::<Vec<_>>(), later)
    };
    assert_eq!(outcomes(&[1; 10]), (vec![8, 9], 8));
    assert_eq!(outcomes(&[600, 600, 300, 600]), (vec![1, 3], 2), "bytes are bounded too");
    assert_eq!(outcomes(&[5_000]), (vec![], 1));
    assert_eq!(store.stats().overloaded, 4);
}

#[test]
fn a_panic_in_a_completion_is_counted_and_ends_nothing() {
    let directory = Directory::quick();
    // One reader, so that the last read comes after the panics.
    let options = Options { readers: 1, ..Options::default() };
    let store = Sqlite::open(&directory.file(), options).expect("it opens");
    let forum = add_site(&store, "forum");
    let (ann, bob) = (put(&store, forum, "ann"), put(&store, forum, "bob"));
    store.append(message(ann, bob, "1", "x"), Box::new(|_| panic!("a completion of this test panics")));
    for _ in 0..4 {
        store.user(forum, sub("ann"), Box::new(|_| panic!("a completion of this test panics")));
    }
    assert_eq!(say(&store, ann, bob, "2", "x").seq, Seq(2));
    assert_eq!(seqs(&store, direct(ann, bob)).len(), 2);
    assert_eq!(store.stats().panics, 5);
}

#[test]
fn closing_writes_queued_requests_and_may_happen_in_a_completion() {
    let directory = Directory::quick();
    let store = open(&directory.file());
    let forum = add_site(&store, "forum");
    let (ann, bob) = (put(&store, forum, "ann"), put(&store, forum, "bob"));
    for number in 0..500 {
        store.append(message(ann, bob, &number.to_string(), "x"), Box::new(drop));
    }
    store.close();
    let store = Arc::new(open(&directory.file()));
    assert_eq!(seqs(&*store, direct(ann, bob)).len(), 500);
    let last = Arc::clone(&store);
    let (sender, wait) = channel();
    let (go, gone) = channel::<()>();
    store.users(
        forum,
        vec![Sub::parse("ann").expect("a sub")],
        Box::new(move |_| {
            _ = gone.recv();
            drop(last); // the last owner
            sender.send(()).expect("the test waits");
        }),
    );
    drop(store);
    drop(go);
    wait.recv().expect("it ends");
    let late = open(&directory.file());
    assert_eq!(say(&late, ann, bob, "late", "x").seq, Seq(501));
    assert!(late.flush().is_ok());
}
