//! Measures what a new home reads to adopt sessions: `cargo run --release -p store --example adoption_bench [sessions] [directory]`,
//! with `KITH_DATABASE` for a new database of PostgreSQL.
//!
//! Each user has four conversations and is in one of some rooms. One in 50 has missed a message. A snapshot for each session is what
//! a new home read before, and is what each client reads that resumes.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may stop where it stands")]

use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use chat::{
    Append, ConversationId, Done, MessageStore, Mode, NewRoom, Position, Profile, ResumeFrom, RoomKind,
    RoomLimits, RoomName, RoomStore, Secret, SecretKind, SignInStore, Site, SiteId, SiteStore, Snapshot, Sub,
    Timestamp, UserId, UserRow, UserStore,
};
use store::{Options, Sqlite};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// As many as a home adopts together.
const TOGETHER: usize = 256;
const ROOM: usize = 100;
/// One user in so many has missed a message.
const MISSED: usize = 50;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let sessions: usize = arguments.next().map_or(20_000, |text| text.parse().unwrap());
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = directory.join(format!("kith-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let store = match std::env::var("KITH_DATABASE") {
        Ok(url) => Sqlite::open_postgres(&url, chat::Slot::FIRST, Options::default()).unwrap(),
        Err(_) => Sqlite::open(&directory.join("kith.db"), Options::default()).unwrap(),
    };
    let site = store.add_site(&site()).unwrap().unwrap();
    let mut users = all(0..sessions, |number, done| store.put_user(site, profile(number), NOW, done));
    users.sort_unstable_by_key(|row: &UserRow| row.id);
    let users: Vec<UserId> = users.iter().map(|row| row.id).collect();
    for step in [1, 7] {
        all(0..sessions, |at, done| say(&store, users[at], users[(at + step) % sessions], done));
    }
    let room = |name: &str| NewRoom { name: name.into(), kind: RoomKind::Public, topic: None, alias: None };
    let limits = RoomLimits { members: 0, per_user: 0, owned: 0 };
    let rooms = all(0..sessions / ROOM, |at, done| {
        store.create_room(users[at * ROOM], room("Room"), limits, NOW, done)
    });
    let rooms: Vec<ConversationId> = rooms.into_iter().map(|made| made.unwrap().row.id).collect();
    all(0..sessions, |at, done| {
        let name = RoomName::Id(rooms[at / ROOM % rooms.len().max(1)]);
        store.join_room(name, users[at], limits, NOW, done);
    });
    let seen = all(0..1, |_, done| store.changed_views(Vec::new(), done))[0].1;
    all(0..sessions / MISSED / 2, |at, done| {
        say(&store, users[at * MISSED * 2], users[at * MISSED * 2 + 1], done);
    });

    for round in 1..=3 {
        let from = resume_from(seen);
        let views = measured("a snapshot for each session", sessions, || {
            all(0..sessions, |at, done| store.snapshot(users[at], from, done))
        });
        let rows = measured("the users, 256 together", sessions, || {
            all(0..sessions.div_ceil(TOGETHER), |group, done| {
                store.users_by_id(part(&users, group).to_vec(), done)
            })
        });
        let changed = measured("their changed views, 256 together", sessions, || {
            all(0..sessions.div_ceil(TOGETHER), |group, done| {
                store.changed_views(part(&users, group).iter().map(|user| (*user, seen)).collect(), done);
            })
        });
        assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), sessions);
        let missed = views.iter().filter(|view: &&Snapshot| !view.is_empty()).count();
        let changed = changed.iter().flat_map(|(changed, _)| changed).filter(|one| **one).count();
        println!("round {round}: {missed} and {changed} have missed something");
        assert_eq!(missed, changed);
    }
    store.close();
    std::fs::remove_dir_all(&directory).unwrap();
}

fn part(users: &[UserId], group: usize) -> &[UserId] {
    &users[group * TOGETHER..users.len().min((group + 1) * TOGETHER)]
}

/// Sends all requests, at most some thousand at once, and waits for the answers. They come in any order.
fn all<T: Send + 'static>(numbers: std::ops::Range<usize>, request: impl Fn(usize, Done<T>)) -> Vec<T> {
    let (sender, answers) = channel();
    let mut found = Vec::with_capacity(numbers.len());
    let done = |sender: &Sender<T>| {
        let sender = sender.clone();
        Box::new(move |outcome: Result<T, _>| sender.send(outcome.unwrap()).unwrap())
    };
    let mut open = 0;
    for number in numbers {
        request(number, done(&sender));
        open += 1;
        if open == 4_096 {
            found.push(answers.recv().unwrap());
            open -= 1;
        }
    }
    drop(sender);
    found.extend(answers);
    found
}

fn measured<T>(what: &str, sessions: usize, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let answer = work();
    let took = begin.elapsed();
    let each = took.as_secs_f64() * 1e6 / sessions as f64;
    println!("{what}: {:.2} s, {each:.1} µs for each session", took.as_secs_f64());
    answer
}

fn resume_from(seen: Position) -> ResumeFrom {
    ResumeFrom { position: Some(seen), page: 50, contacts: 100, messages: 200, messages_per_conversation: 50 }
}

fn say(store: &Sqlite, from: UserId, to: UserId, done: Done<chat::Appended>) {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let client_id = format!("m{:012}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
    let append = Append {
        kind: chat::MessageKind::Text,
        conversation: ConversationId::direct(from, to).unwrap(),
        from,
        client_id: client_id.into(),
        body: "x".repeat(100).into(),
        extension: None,
        time: NOW,
        reply_to: None,
        rich: None,
    };
    store.append(append, done);
}

fn profile(number: usize) -> Profile {
    let sub = Sub::parse(&format!("user-{number}")).unwrap();
    Profile { sub, name: format!("Member {number}").into(), avatar: None, guest: false }
}

fn site() -> Site {
    Site {
        id: SiteId(0),
        key: "bench".into(),
        name: "Bench".into(),
        mode: Mode::Open,
        guests: false,
        origins: Vec::new(),
        secrets: vec![Secret::new(SecretKind::Hs256, vec![1], NOW)],
        guest_keys: vec![],
        public_url: None,
        domain: None,
        settings: chat::Settings::default(),
        created: NOW,
    }
}
