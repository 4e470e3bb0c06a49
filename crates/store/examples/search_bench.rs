//! Measures a search in a million messages, and the cost of indexing them. `cargo run --release -p store --example
//! search_bench [messages] [directory]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example reports, and ends where something is wrong"
)]

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use chat::{ConversationId, FoundPage, MessageStore, Refusal, Search, SiteId, StoreError, UserId, words};
use rand::{Rng, SeedableRng, rngs::StdRng};
use rusqlite::{Connection, params};
use store::{Options, Sqlite};

const USERS: u32 = 2_000;
/// Percent of all messages that one of the users has.
const BUSY: u32 = 5;
const VOCABULARY: u32 = 50_000;
const SEARCHES: usize = 2_000;

fn main() {
    let mut args = std::env::args().skip(1);
    let count: u64 = args.next().map_or(1_000_000, |count| count.parse().unwrap());
    let directory = args.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let path = directory.join(format!("kith-search-{}.db", std::process::id()));
    drop(Sqlite::open(&path, Options::default()).unwrap());
    fill(&path, count);
    let before = size(&path);
    let begin = Instant::now();
    let store = Sqlite::open(&path, Options::default()).unwrap();
    let db = Connection::open(&path).unwrap();
    let sql = "SELECT coalesce(max(value), 0) FROM meta WHERE name = 'search_indexed'";
    while db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() < count as i64 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let took = begin.elapsed().as_secs_f64();
    println!("{count} messages indexed in {took:.1} s by a writer that had nothing else to do");
    println!("database without and with the index: {} and {} MB", before >> 20, size(&path) >> 20);
    let of = |num| UserId { site: SiteId(1), num };
    for (name, user, query) in [
        ("a rare word", None, Query::Rare),
        ("a common word", None, Query::Common),
        ("two words", None, Query::Two),
        ("the start of a word", None, Query::Start),
        ("a rare word, busy member", Some(of(1)), Query::Rare),
        ("a common word, busy member", Some(of(1)), Query::Common),
        ("two words, busy member", Some(of(1)), Query::Two),
        ("the start of a word, busy member", Some(of(1)), Query::Start),
    ] {
        measure(&store, name, user, query);
    }
    store.close();
    for end in ["", "-wal", "-shm"] {
        _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
}

#[derive(Clone, Copy)]
enum Query {
    Rare,
    Common,
    Two,
    Start,
}

/// Like people's words: the n-th most frequent one comes about 1/n times as often as the first.
fn word(rng: &mut StdRng) -> u32 {
    let x: f64 = rng.random();
    (f64::from(VOCABULARY).powf(x) - 1.0) as u32
}

fn text(word: u32) -> String {
    // Five letters and more, no word the start of all others.
    let mut rest = word + 26 * 26 * 26;
    let mut text = String::new();
    while rest > 0 {
        text.push((b'a' + (rest % 26) as u8) as char);
        rest /= 26;
    }
    text
}

fn fill(path: &Path, count: u64) {
    let mut rng = StdRng::seed_from_u64(1);
    let db = Connection::open(path).unwrap();
    db.execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN").unwrap();
    for num in 1..=USERS {
        let sub = format!("u{num}");
        let sql = "INSERT INTO user VALUES (1, ?1, ?2, ?1, ?1, NULL, 0, 0, 0, 0, 0)";
        db.execute(sql, params![sub, num]).unwrap();
    }
    let mut insert = db
        .prepare(
            "INSERT INTO message (position, site, conversation, seq, previous, sender, mention, time, client_id, body) \
             VALUES (?1, 1, ?2, ?1, 0, ?3, 0, 0, ?4, ?5)",
        )
        .unwrap();
    for position in 1..=count {
        let a = if rng.random_range(0..100) < BUSY { 1 } else { rng.random_range(1..=USERS) };
        let b = 1 + (a + rng.random_range(0..30)) % USERS;
        let (a, b) = if a == b { (a, a % USERS + 1) } else { (a, b) };
        let user = |num| UserId { site: SiteId(1), num };
        let id = ConversationId::direct(user(a), user(b)).unwrap();
        let words: Vec<String> = (0..rng.random_range(3..20)).map(|_| text(word(&mut rng))).collect();
        insert
            .execute(params![position as i64, id.key as i64, a, position.to_string(), words.join(" ")])
            .unwrap();
    }
    drop(insert);
    db.execute("UPDATE meta SET value = ?1 WHERE name = 'position'", [count as i64]).unwrap();
    db.execute("INSERT OR REPLACE INTO meta VALUES ('sent_indexed', ?1)", [count as i64]).unwrap();
    db.execute_batch("COMMIT").unwrap();
}

fn measure(store: &Sqlite, name: &str, user: Option<UserId>, query: Query) {
    let mut rng = StdRng::seed_from_u64(2);
    let (mut times, mut hits) = (Vec::with_capacity(SEARCHES), 0);
    for _ in 0..SEARCHES {
        let user = user.unwrap_or(UserId { site: SiteId(1), num: rng.random_range(2..=USERS) });
        let mut common = || text(rng.random_range(0..20));
        let query = match query {
            Query::Common => common() + " ",
            Query::Two => format!("{} {} ", common(), common()),
            Query::Rare => text(rng.random_range(2_000..VOCABULARY)) + " ",
            Query::Start => text(rng.random_range(0..VOCABULARY))[..3].to_owned(),
        };
        let wanted = Search { user, words: words(&query), conversation: None, after: None, limit: 20 };
        let (told, answer) = channel();
        let begin = Instant::now();
        let done = move |found: Result<Result<FoundPage, Refusal>, StoreError>| told.send(found).unwrap();
        store.search(wanted, Box::new(done));
        hits += answer.recv().unwrap().unwrap().unwrap().hits.len();
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1e3;
    let mean = hits as f64 / SEARCHES as f64;
    println!(
        "{name:<34} p50 {:7.2} ms  p95 {:7.2} ms  p99 {:7.2} ms  {mean:5.1} hits",
        at(50),
        at(95),
        at(99)
    );
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
