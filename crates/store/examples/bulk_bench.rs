//! Measures an import, and then the read of a contact list: `cargo run --release -p store --example bulk_bench [users]
//! [owners] [contacts of each] [directory]`.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may stop where it stands")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chat::{ContactStore, Mode, Profile, Site, SiteId, SiteStore, Sub, Timestamp, UserId, UserStore};
use store::bulk::Import;
use store::{Options, Sqlite};

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn main() {
    let numbers: Vec<u32> = std::env::args().skip(1).take(3).map(|text| text.parse().unwrap()).collect();
    let number = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let (users, owners, each) = (number(0, 1_000_000), number(1, 50_000), number(2, 150));
    let directory = std::env::args().nth(4).map_or_else(std::env::temp_dir, PathBuf::from);
    let directory = directory.join(format!("kith-bulk-{}", std::process::id()));
    let path = directory.join("kith.db");
    let store = Sqlite::open(&path, Options::default()).unwrap();
    let site = store.add_site(&site()).unwrap().unwrap();
    store.close();

    let mut import = Import::open(&path).unwrap();
    let ids = measure("users", users.into(), || import.users(site, (0..users).map(profile), NOW).unwrap());
    let before = size(&path);
    measure("contact rows", u64::from(owners) * u64::from(each), || {
        for owner in 0..owners {
            let others = (0..each).map(|n| ids[other(owner, n, users) as usize]);
            import.contacts(ids[owner as usize], others).unwrap();
        }
    });
    let counts = measure("to the end", 1, || import.finish().unwrap());
    println!("{counts:?}");
    println!("{} bytes per user", before / u64::from(users));
    println!(
        "{:.1} bytes per contact row",
        (size(&path) - before) as f64 / counts.contacts_new.max(1) as f64
    );
    lists(&path, site, &ids[..owners as usize]);
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Pages of contacts as in a welcome, one after the other.
fn lists(path: &Path, site: SiteId, owners: &[UserId]) {
    let store = Sqlite::open(path, Options::default()).unwrap();
    let many = owners.len().min(5_000);
    let some = |at: usize| owners[at * 7_919 % owners.len()];
    for limit in [100, 200] {
        each(&format!("a page of {limit}, by name"), many, || {
            (0..many).map(|at| ask(|done| store.contacts(some(at), None, limit, done)).rows.len()).sum()
        });
    }
    for together in [1, 64] {
        each(&format!("numbers, {together} users together"), many, || {
            let users = |first: usize| (first..many.min(first + together)).map(some).collect();
            let of = |first| {
                ask(|done| store.contacts_of(users(first), done))
                    .iter()
                    .map(|list| list.seen().len())
                    .sum::<usize>()
            };
            (0..many).step_by(together).map(of).sum()
        });
    }
    println!("site {}: looked at {many} of {} owners", site.0, owners.len());
}

/// Wall and CPU time of the store for each of `many`, and the number of rows.
fn each(what: &str, many: usize, work: impl FnOnce() -> usize) {
    let (begin, cpu) = (Instant::now(), store_cpu());
    let rows = work() / many;
    let [wall, cpu] = [begin.elapsed(), store_cpu() - cpu].map(|time| time.as_secs_f64() * 1e6 / many as f64);
    println!("{what}: {rows} rows, {wall:.1} µs there and back, {cpu:.1} µs CPU of the store");
}

fn ask<T: Send + 'static>(request: impl FnOnce(chat::Done<T>)) -> T {
    let (told, wait) = std::sync::mpsc::channel();
    request(Box::new(move |outcome| told.send(outcome).unwrap()));
    wait.recv().unwrap().unwrap()
}

/// CPU time of the threads whose name begins with `store-` (Linux).
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

fn measure<T>(what: &str, count: u64, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let answer = work();
    let wall: Duration = begin.elapsed();
    println!("{what}: {count} in {:.1} s, {:.0}/s", wall.as_secs_f64(), count as f64 / wall.as_secs_f64());
    answer
}

fn profile(number: u32) -> Profile {
    Profile {
        sub: Sub::parse(&format!("m{number:07}")).unwrap(),
        name: format!("Member {number}").into(),
        avatar: None,
        guest: false,
    }
}

/// A pseudo-random user, the same one in each run.
fn other(owner: u32, n: u32, users: u32) -> u32 {
    let mixed = (u64::from(owner) << 32 | u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let other = ((mixed >> 24) % u64::from(users)) as u32;
    if other == owner { (other + 1) % users } else { other }
}

fn size(path: &Path) -> u64 {
    let with = |end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        std::fs::metadata(name).map_or(0, |file| file.len())
    };
    with("") + with("-wal")
}

fn site() -> Site {
    Site {
        id: SiteId(0),
        key: "bench".into(),
        name: "Bench".into(),
        mode: Mode::Open,
        guests: false,
        origins: vec![],
        secrets: vec![],
        guest_keys: vec![],
        public_url: None,
        domain: None,
        settings: chat::Settings::default(),
        created: NOW,
    }
}
