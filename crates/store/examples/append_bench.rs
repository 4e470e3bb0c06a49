//! Measures an append and a login: `cargo run --release -p store --example append_bench [messages] [users] [directory]`.
//!
//! The stress shape: 1,000 users in groups of 10, 100-byte bodies, each sender keeps 4 messages in flight. CPU is that
//! of the store's own threads (Linux), without the thread that sends the requests. Bytes are those that the process sends
//! to the disk.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may stop where it stands")]

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use chat::{
    Append, ConversationId, MessageStore, Mode, Profile, ResumeFrom, Secret, SecretKind, Seq, SignInStore,
    Site, SiteId, SiteStore, Sub, Timestamp, UserId,
};
use store::{Options, Sqlite};

const GROUP: u32 = 10;
const WINDOW: u32 = 4;
const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn main() {
    let mut arguments = std::env::args().skip(1);
    let messages: u64 = arguments.next().map_or(300_000, |text| text.parse().unwrap());
    let senders: usize = arguments.next().map_or(1_000, |text| text.parse().unwrap());
    let directory = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = directory.join(format!("kith-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    println!("before: {}", resident());
    // A new database of PostgreSQL, e.g. of `scripts/postgres.sh run`.
    let store = match std::env::var("KITH_DATABASE") {
        Ok(url) => Sqlite::open_postgres(&url, chat::Slot::FIRST, Options::default()).unwrap(),
        Err(_) => Sqlite::open(&directory.join("kith.db"), Options::default()).unwrap(),
    };
    let site = store.add_site(&site()).unwrap().unwrap();

    println!("opened: {}", resident());
    let users = sign_ins(&store, site, "sign-in, new user", 15_000);
    sign_ins(&store, site, "sign-in, known user", 15_000);
    appends(&store, &users[..senders], "append, first half", messages / 2, 0);
    appends(&store, &users[..senders], "append, second half", messages / 2, messages / 2);
    marks(&store, &users[..senders]);
    sign_ins(&store, site, "sign-in, 1 in 15 with 9 conversations", 15_000);
    histories(&store, &users);
    paced(&store, &users[..senders], 2_000, 10_000);
    paced(&store, &users[..senders], 200, 2_000);
    one_by_one(&store, &users[..senders]);
    println!("{:?}", store.stats());
    let bytes = |end: &str| std::fs::metadata(directory.join(format!("kith.db{end}"))).map_or(0, |m| m.len());
    println!("database {} MB, log {} MB", bytes("") >> 20, bytes("-wal") >> 20);
    println!("at the end: {}", resident());
    store.close();
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Prints CPU and wall time of `work`, which performs `count` operations.
fn measure<T>(what: &str, count: u64, work: impl FnOnce() -> T) -> T {
    let (cpu, bytes, begin) = (store_cpu(), written(), Instant::now());
    let answer = work();
    let (cpu, bytes, wall) = (store_cpu().saturating_sub(cpu), written() - bytes, begin.elapsed());
    let each = |time: Duration| time.as_secs_f64() * 1e6 / count as f64;
    println!(
        "{what}: {:.2} cpu-s/1M, {:.2} s/1M, {:.0}/s, {} bytes each",
        each(cpu),
        each(wall),
        1e6 / each(wall),
        bytes / count
    );
    answer
}

/// CPU time of the threads whose name begins with `store-`.
fn store_cpu() -> Duration {
    let mut nanos = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let path = task.unwrap().path();
        let read = |file: &str| std::fs::read_to_string(path.join(file)).unwrap_or_default();
        if read("comm").starts_with("store-") {
            nanos += read("schedstat").split(' ').next().map_or(0, |time| time.parse().unwrap_or(0));
        }
    }
    Duration::from_nanos(nanos)
}

/// Bytes that this process has sent to the disk.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    io.lines().find_map(|line| line.strip_prefix("write_bytes: ")).unwrap().parse().unwrap()
}

fn resident() -> String {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).unwrap();
    status.lines().filter(|line| line.starts_with("VmHWM") || line.starts_with("VmRSS")).collect()
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

fn sign_ins(store: &Sqlite, site: SiteId, what: &str, count: u32) -> Vec<UserId> {
    let from =
        ResumeFrom { position: None, page: 50, contacts: 100, messages: 500, messages_per_conversation: 50 };
    measure(what, count.into(), || {
        let (told, answers) = channel();
        for user in 0..count {
            let profile = Profile {
                sub: Sub::parse(&format!("user-{user}")).unwrap(),
                name: format!("Member {user}").into(),
                avatar: None,
                guest: false,
            };
            let told = told.clone();
            let done = Box::new(move |outcome: Result<_, _>| {
                let (row, _): (chat::UserRow, chat::Snapshot) = outcome.unwrap();
                told.send(row.id).unwrap();
            });
            store.sign_in(site, profile.into(), from, NOW, Box::new(|_| true), done);
        }
        drop(told);
        let mut users: Vec<UserId> = answers.iter().collect();
        users.sort_unstable();
        users
    })
}

/// Each user keeps [`WINDOW`] messages in flight to others of the group.
fn appends(store: &Sqlite, users: &[UserId], what: &str, count: u64, first: u64) {
    measure(what, count, || {
        let (told, answers) = channel();
        let mut random = Random(first | 1);
        let mut sent = 0;
        let each = users.len() as u32;
        for user in 0..each * WINDOW {
            append(store, users, user % each, first + sent, &mut random, tell(&told, user % each));
            sent += 1;
        }
        for _ in 0..count {
            let user = answers.recv().unwrap();
            if sent < count {
                append(store, users, user, first + sent, &mut random, tell(&told, user));
                sent += 1;
            }
        }
    });
}

fn tell(told: &Sender<u32>, user: u32) -> impl FnOnce() + Send + 'static {
    let told = told.clone();
    move || told.send(user).unwrap()
}

fn append(
    store: &Sqlite,
    users: &[UserId],
    user: u32,
    number: u64,
    random: &mut Random,
    told: impl FnOnce() + Send + 'static,
) {
    let mut other = user / GROUP * GROUP + random.below(GROUP.into()) as u32;
    if other == user {
        other = user / GROUP * GROUP + (user + 1) % GROUP;
    }
    let time = NOW.0 + number / 20;
    let (a, b) = (random.below(0x1000), random.below(1 << 48)); // a UUIDv7
    let client_id = format!("{:08x}-{:04x}-7{a:03x}-8{:03x}-{b:012x}", time >> 16, time & 0xffff, a ^ 0x5a5);
    let from = users[user as usize];
    let done = Box::new(move |outcome: Result<chat::Appended, _>| {
        assert!(!outcome.unwrap().repeated);
        told();
    });
    let append = Append {
        kind: chat::MessageKind::Text,
        conversation: ConversationId::direct(from, users[other as usize]).unwrap(),
        from,
        client_id: client_id.into(),
        body: "x".repeat(100).into(),
        extension: None,
        time: Timestamp(time),
        reply_to: None,
        rich: None,
    };
    store.append(append, done);
}

/// Both members of each pair mark everything as read.
fn marks(store: &Sqlite, users: &[UserId]) {
    let pairs = users.len() as u64 * u64::from(GROUP - 1);
    measure("mark", pairs, || {
        let (told, answers) = channel();
        for (at, user) in users.iter().enumerate() {
            let group = at / GROUP as usize * GROUP as usize;
            for other in users[group..group + GROUP as usize].iter().filter(|other| *other != user) {
                let told = told.clone();
                let conversation = ConversationId::direct(*user, *other).unwrap();
                let done = Box::new(move |outcome: Result<chat::MarkerRow, _>| {
                    told.send(outcome.unwrap().moved).unwrap();
                });
                store.mark(conversation, *user, Seq(u64::MAX), Seq(u64::MAX), done);
            }
        }
        drop(told);
        assert_eq!(answers.iter().count() as u64, pairs);
    });
}

fn histories(store: &Sqlite, users: &[UserId]) {
    measure("newest 50 messages of a conversation", 2_000, || {
        let (told, answers) = channel();
        for at in 0..2_000 {
            let user = at % 100 / 2 * 2;
            let conversation = ConversationId::direct(users[user], users[user + 1]).unwrap();
            let told = told.clone();
            let done = Box::new(move |outcome: Result<chat::HistoryPage, _>| {
                told.send(outcome.unwrap().messages.len()).unwrap();
            });
            store.history(users[user], conversation, None, None, 50, done);
        }
        drop(told);
        assert!(answers.iter().all(|messages| messages > 0));
    });
}

/// Sends `rate` messages a second; the latency of each counts from its due time.
fn paced(store: &Sqlite, users: &[UserId], rate: u32, count: u32) {
    let (told, answers) = channel();
    let mut random = Random(5);
    let (cpu, bytes, begin) = (store_cpu(), written(), Instant::now());
    for number in 0..count {
        let due = begin + Duration::from_secs(1) * number / rate;
        while let Some(wait) = due.checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
        let told = told.clone();
        append(
            store,
            users,
            number % users.len() as u32,
            u64::from(rate) << 41 | u64::from(number),
            &mut random,
            move || {
                told.send(due.elapsed()).unwrap();
            },
        );
    }
    drop(told);
    let mut times: Vec<Duration> = answers.iter().collect();
    times.sort_unstable();
    let at = |percent: usize| times[times.len() * percent / 100];
    println!(
        "{rate} appends a second: {:.2} cpu-s/1M, {} bytes each, p50 {:?}, p99 {:?}, most {:?}",
        (store_cpu() - cpu).as_secs_f64() * 1e6 / f64::from(count),
        (written() - bytes) / u64::from(count),
        at(50),
        at(99),
        times[times.len() - 1]
    );
}

/// Sends one message at a time, to measure the latency without load.
fn one_by_one(store: &Sqlite, users: &[UserId]) {
    let (told, answers) = channel();
    let mut random = Random(7);
    let mut times: Vec<Duration> = (0..500)
        .map(|number| {
            let begin = Instant::now();
            append(
                store,
                users,
                number % users.len() as u32,
                1 << 40 | u64::from(number),
                &mut random,
                tell(&told, number),
            );
            answers.recv().unwrap();
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("a lone append: p50 {:?}, p99 {:?}", times[250], times[495]);
}

/// Marsaglia's xorshift64: equal numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
