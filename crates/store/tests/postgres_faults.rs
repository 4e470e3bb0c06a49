//! PostgreSQL goes away and comes back, or belongs to another node: nothing that was acknowledged is lost, nothing is stored twice.

use crate::asking;
use crate::postgres::{self, Server};

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use asking::{add_site, direct, message, put, say, try_ask};
use chat::{MessageStore, Seq, SiteStore, Slot, StoreError, Timestamp, UserStore};
use store::{Clock, Lease, Options, Sqlite, Take, name_of_holder};

const SECOND: u64 = 1_000;

#[test]
fn acknowledged_messages_survive_kill_9_of_the_server_once_and_in_order() {
    let place = Place::new();
    let server = started(&place.0);
    let store = on(&server);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let mut acknowledged = HashMap::new();
    let mut refused = Vec::new();
    let mut servers = vec![server];
    for round in 0..3 {
        let (sender, answers) = channel();
        let mut sent = 0;
        for number in 0..1_000 {
            let (id, sender) = (format!("{round}-{number}"), sender.clone());
            let append = message(ann, bob, &id, "hello");
            store.append(append, Box::new(move |outcome| _ = sender.send((id, outcome))));
            sent += 1;
            if number == 400 {
                kill_9(&place.0);
            }
        }
        drop(sender);
        // The script ends after its server has.
        servers.clear();
        servers.push(started(&place.0));
        for _ in 0..sent {
            let (id, outcome) = answers.recv_timeout(asking::PATIENCE).expect("each request has an answer");
            match outcome {
                Ok(appended) => _ = acknowledged.insert(id, appended.seq.0),
                Err(_) => refused.push(id),
            }
        }
    }
    for id in refused {
        let appended = until_it_works(|| try_ask(|done| store.append(message(ann, bob, &id, "hello"), done)));
        acknowledged.insert(id, appended.seq.0);
    }
    assert_eq!(acknowledged.len(), 3_000);
    let mut stored = HashMap::new();
    for (row, id) in rows(&servers[0], "SELECT seq || ' ' || client_id FROM message ORDER BY seq") {
        assert_eq!(row, stored.len() as u64 + 1, "numbers have no gap");
        assert_eq!(stored.insert(id, row), None, "stored twice");
    }
    assert_eq!(stored, acknowledged);
    drop(store); // before its server
}

#[test]
fn without_a_synchronous_replica_no_message_is_acknowledged_and_a_home_keeps_its_lease() {
    let place = Place::new();
    let server = started(&place.0);
    postgres::run(&format!("{}/postgres", server.url), "CREATE DATABASE kith");
    let url = format!("{}/kith", server.url);
    let home = lease(&url, "home", 1);
    term(home.take(Clock::OfDatabase, VALID).expect("it answers"));
    let store = Sqlite::open_leased(&home, Options::default()).expect("it opens");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let replicates = |names| {
        postgres::run(&url, &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
        postgres::run(&url, "SELECT pg_reload_conf()");
    };
    let waiting = |what: &str| {
        let of = format!("FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%{what}%'");
        postgres::query(&url, &format!("SELECT query {of}")).len() == 1
    };
    replicates("*");
    // The server takes the new setting a moment later.
    let mut sent = 0;
    let answer = loop {
        sent += 1;
        let (sender, answer) = channel();
        let append = message(ann, bob, &format!("{sent}"), "hello");
        store.append(append, Box::new(move |outcome| _ = sender.send(outcome)));
        match until(|| waiting("COMMIT").then_some(None).or_else(|| answer.try_recv().ok().map(Some))) {
            None => break answer,
            Some(appended) => assert_eq!(appended.expect("it is stored").seq.0, sent),
        }
    };
    assert!(home.renew(Clock::OfDatabase, VALID).expect("it answers"));
    // The message is visible after the end of its connection, and only this server has it.
    let those = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    postgres::query(&url, &format!("SELECT pg_terminate_backend(pid)::text {those}"));
    until(|| waiting("pg_logical_emit_message").then_some(()));
    assert!(answer.try_recv().is_err(), "the replica does not have it");
    replicates("");
    let appended = answer.recv_timeout(asking::PATIENCE).expect("it is answered").expect("it is stored");
    assert_eq!(appended.seq.0, sent);
    assert_eq!(asking::seqs(&store, direct(ann, bob)).len() as u64, sent);
    drop(store); // before its server
}

#[test]
fn a_store_fails_while_the_server_is_away_and_goes_on_after_its_return() {
    let place = Place::new();
    let server = started(&place.0);
    let store = on(&server);
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    say(&store, ann, bob, "1", "hello");
    drop(server);
    let begin = Instant::now();
    for _ in 0..3 {
        let sent = try_ask(|done| store.append(message(ann, bob, "2", "hello"), done));
        assert!(matches!(&sent, Err(StoreError::Failed(why)) if why.contains("away")), "{sent:?}");
        let read = try_ask(|done| store.user(site, asking::sub("ann"), done));
        assert!(matches!(read, Err(StoreError::Failed(_))), "{read:?}");
    }
    assert!(store.revision().is_err(), "administration fails, too");
    assert!(
        begin.elapsed() < Duration::from_secs(25),
        "a request waits a bounded time: {:?}",
        begin.elapsed()
    );
    let _server = started(&place.0);
    until_it_works(|| try_ask(|done| store.user(site, asking::sub("ann"), done)));
    let appended = until_it_works(|| try_ask(|done| store.append(message(ann, bob, "2", "hello"), done)));
    assert_eq!(appended.seq.0, 2);
    assert_eq!(asking::seqs(&store, direct(ann, bob)), [Seq(1), Seq(2)]);
    drop(store); // before its server
}

#[test]
fn a_statement_that_takes_longer_than_its_limit_fails_and_the_store_works_afterwards() {
    let url = postgres::database();
    let store = postgres::open(&url);
    let site = add_site(&store, "forum");
    postgres::run(&url, SLOW_USER);
    let profile = asking::profile("slow", "A slow name");
    let slow = try_ask(|done| store.put_user(site, profile, asking::NOW, done));
    let why = "statement timeout (57014)";
    assert!(matches!(&slow, Err(StoreError::Failed(error)) if error.contains(why)), "{slow:?}");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    assert_eq!(postgres::query(&url, "SELECT sub FROM \"user\" ORDER BY num"), ["ann", "bob"]);
    say(&store, ann, bob, "1", "hello");
    assert_eq!(asking::seqs(&store, direct(ann, bob)), [Seq(1)]);
}

/// The words of a name are written after the user. The first trigger shortens the limit that the store has set, until the
/// transaction ends, and the second one exceeds it.
const SLOW_USER: &str = r#"
    CREATE FUNCTION shorten() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        ASSERT current_setting('statement_timeout') = '30s', 'the store has another limit';
        PERFORM set_config('statement_timeout', '50ms', true);
        RETURN NEW;
    END $$;
    CREATE FUNCTION delay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_sleep(10);
        RETURN NEW;
    END $$;
    CREATE TRIGGER shorten BEFORE INSERT ON "user" FOR EACH ROW WHEN (NEW.sub = 'slow')
        EXECUTE FUNCTION shorten();
    CREATE TRIGGER delay BEFORE INSERT ON name_word FOR EACH ROW WHEN (NEW.sub = 'slow')
        EXECUTE FUNCTION delay();
"#;

const VALID: Duration = Duration::from_secs(10);

fn at(seconds: u64) -> Clock {
    Clock::At(Timestamp(seconds * SECOND))
}

fn lease(url: &str, name: &str, number: u64) -> Lease {
    Lease::connect(url, Slot::FIRST, name, number).expect("it connects")
}

fn is_held(taken: Result<Take, StoreError>) -> bool {
    matches!(taken.expect("it answers"), Take::Held { .. })
}

fn term(taken: Take) -> u64 {
    match taken {
        Take::Taken { term } => term,
        Take::Held { .. } => panic!("another home has it"),
    }
}

#[test]
fn a_home_with_an_older_term_stores_nothing() {
    let url = postgres::database();
    let (old, new) = (lease(&url, "old", 1), lease(&url, "new", 2));
    let first = term(old.take(at(100), VALID).expect("it answers"));
    let of_old = Sqlite::open_leased(&old, Options::default()).expect("it opens");
    let site = add_site(&of_old, "forum");
    let (ann, bob) = (put(&of_old, site, "ann"), put(&of_old, site, "bob"));
    assert!(old.renew(at(105), VALID).expect("it answers"));
    assert!(is_held(new.take(at(114), VALID)), "not ended yet");
    say(&of_old, ann, bob, "1", "hello");
    let second = term(new.take(at(115), VALID).expect("it answers"));
    assert!(second > first);
    let of_new = Sqlite::open_leased(&new, Options::default()).expect("it opens");
    let refused = try_ask(|done| of_old.append(message(ann, bob, "2", "hello"), done));
    assert!(matches!(&refused, Err(StoreError::Failed(why)) if why.contains("lease")), "{refused:?}");
    assert!(of_old.add_site(&asking::site("garden")).is_err(), "administration writes, too");
    assert_eq!(say(&of_new, ann, bob, "3", "hello").seq.0, 2, "it knows the messages of the old home");
    assert_eq!(asking::seqs(&of_new, direct(ann, bob)), [Seq(1), Seq(2)]);
    assert!(
        !old.renew(at(116), VALID).expect("it answers"),
        "the old home learns that it has lost the lease"
    );
    assert!(is_held(old.take(at(120), VALID)));
    assert!(term(old.take(at(125), VALID).expect("it answers")) > second, "a new term of its own");
    assert_eq!(say(&of_old, ann, bob, "4", "hello").seq.0, 3);
}

#[test]
fn a_lease_that_has_ended_is_renewed_if_nobody_has_taken_it() {
    let url = postgres::database();
    let (home, other) = (lease(&url, "home", 1), lease(&url, "other", 2));
    let first = term(home.take(at(100), VALID).expect("it answers"));
    assert!(home.renew(at(200), VALID).expect("it answers"), "PostgreSQL was away meanwhile");
    assert!(is_held(other.take(at(209), VALID)));
    assert_eq!(home.state(at(209)).expect("it answers").term, first, "the term stays");
}

#[test]
fn a_lease_is_taken_from_a_dead_home_after_the_clock_of_postgresql_was_set_back() {
    let url = postgres::database();
    let (home, other) = (lease(&url, "home", 1), lease(&url, "other", 2));
    let first = term(home.take(at(100_000), VALID).expect("it answers"));
    let longest = 2 * VALID;
    assert!(is_held(other.take_overlong(at(100_000), VALID, longest)), "it is as long as any");
    let Take::Held { left_ms } = other.take(at(100), VALID).expect("it answers") else { panic!("taken") };
    assert!(left_ms > longest.as_millis() as u64);
    assert!(home.renew(at(100), VALID).expect("it answers"), "a home that lives shortens it");
    assert!(is_held(other.take_overlong(at(100), VALID, longest)));
    assert!(home.renew(at(100_000), VALID).expect("it answers"));
    let second = term(other.take_overlong(at(100), VALID, longest).expect("it answers"));
    assert!(second > first);
    assert!(!home.renew(at(101), VALID).expect("it answers"));
}

#[test]
fn a_released_lease_is_free_at_once_and_one_that_is_given_belongs_to_its_new_holder() {
    let url = postgres::database();
    let [a, b, c] = [("a", 1), ("b", 2), ("c", 3)].map(|(name, number)| lease(&url, name, number));
    term(a.take(at(100), VALID).expect("it answers"));
    assert!(!b.give("", at(100), VALID).expect("it answers"), "only the holder can give it");
    assert!(a.give("", at(100), VALID).expect("it answers"));
    let of_b = term(b.take(at(100), VALID).expect("it answers"));
    assert!(b.give(c.holder(), at(101), VALID).expect("it answers"));
    assert!(is_held(a.take(at(110), VALID)), "it waits for c");
    assert!(!b.renew(at(102), VALID).expect("it answers"));
    assert!(term(c.take(at(102), VALID).expect("it answers")) > of_b);
    // The next one dies before it takes it.
    assert!(c.give(b.holder(), at(103), VALID).expect("it answers"));
    drop(b);
    assert!(term(a.take(at(113), VALID).expect("it answers")) > of_b);
}

#[test]
fn the_clock_of_postgresql_decides_and_a_renewal_does_not_wait_for_a_transaction() {
    let url = postgres::database();
    let (home, other) = (lease(&url, "home", 1), lease(&url, "other", 2));
    term(home.take(Clock::OfDatabase, VALID).expect("it answers"));
    let store = Sqlite::open_leased(&home, Options::default()).expect("it opens");
    assert!(is_held(other.take(Clock::OfDatabase, VALID)));
    let left = home.state(Clock::OfDatabase).expect("it answers").left_ms;
    assert!(left > 0 && left <= VALID.as_millis() as u64, "{left} ms by the same clock");
    // A long import or erasure has the lock of the writer.
    let blocked = postgres::holding_the_lock(&url, || home.renew(Clock::OfDatabase, VALID));
    assert!(blocked.expect("it answers"));
    // The writer's cache stays: a renewal is no write of another process.
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    say(&store, ann, bob, "1", "hello");
    let version = || postgres::query(&url, "SELECT version FROM lease");
    let before = version();
    assert!(home.renew(Clock::OfDatabase, VALID).expect("it answers"));
    say(&store, ann, bob, "2", "hello");
    assert_eq!(version(), before);
}

#[test]
fn homes_that_run_are_listed_with_their_names() {
    let url = postgres::database();
    let home = lease(&url, "kith 10.0.0.1:8080", 1);
    let other = lease(&url, "zürich, a name that is longer than a name can be", 2);
    term(home.take(Clock::OfDatabase, VALID).expect("it answers"));
    let state = other.state(Clock::OfDatabase).expect("it answers");
    assert_eq!(name_of_holder(&state.holder), "kith 10.0.0.1:8080");
    let names: Vec<&str> = state.homes.iter().map(|holder| name_of_holder(holder)).collect();
    assert_eq!(names, ["kith 10.0.0.1:8080", "z?rich, a name that is longer than a"]);
    assert!(state.homes.contains(&other.holder().to_owned()), "so a home can give its lease to it");
    drop(home);
    until_it_works(|| match other.state(Clock::OfDatabase).expect("it answers").homes.len() {
        1 => Ok(()),
        _ => Err(StoreError::Overloaded),
    });
}

#[test]
fn the_folder_of_files_is_named_once() {
    let url = postgres::database();
    let (a, b) = (lease(&url, "a", 1), lease(&url, "b", 2));
    assert_eq!(a.files_number().expect("it answers"), None);
    a.name_files(u32::MAX).expect("it answers");
    b.name_files(7).expect("it answers");
    assert_eq!(b.files_number().expect("it answers"), Some(u32::MAX));
}

#[test]
fn two_stores_that_write_in_turn_see_each_other() {
    let url = postgres::database();
    let stores = [postgres::open(&url), postgres::open(&url)];
    let site = add_site(&stores[0], "forum");
    let (ann, bob) = (put(&stores[0], site, "ann"), put(&stores[1], site, "bob"));
    for number in 1..=20 {
        // One, then the other, and sometimes one of them twice.
        let store = &stores[(number / 3 + number) % 2];
        assert_eq!(say(store, ann, bob, &number.to_string(), "hello").seq.0, number as u64);
    }
    assert_eq!(asking::seqs(&stores[0], direct(ann, bob)).len(), 20);
}

#[test]
fn an_address_that_is_none_is_refused_with_its_reason() {
    for (url, why) in [
        ("postgres://kith@localhost", "names no database"),
        ("mysql://kith@localhost/kith", "not the address"),
        ("postgres://kith@localhost/kith?sslmode=never", "not the address"),
        ("postgres://kith@localhost/kith?sslrootcert=/nowhere.pem", "/nowhere.pem"),
        ("postgres://kith:secret@%2Fnowhere/kith", "cannot be used"),
    ] {
        let error = Sqlite::open_postgres(url, Slot::FIRST, Options::default())
            .err()
            .expect("it is refused")
            .to_string();
        assert!(error.contains(why) && !error.contains("secret"), "{url}: {error}");
    }
}

/// A directory for a server, which another user may reach. Removed with everything in it.
struct Place(PathBuf);

impl Place {
    fn new() -> Place {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Short, because the path of a socket is.
        let name = format!("kith-pg-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        Place(std::env::temp_dir().join(name))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// On the disk, as in production.
fn started(place: &Path) -> Server {
    let begin = Instant::now();
    loop {
        // After kill -9, the server's other processes may need a moment to end.
        if let Some(server) = Server::start(Some(place), "") {
            return server;
        }
        assert!(begin.elapsed() < asking::PATIENCE, "the server does not start");
    }
}

fn on(server: &Server) -> Sqlite {
    postgres::run(&format!("{}/postgres", server.url), "CREATE DATABASE kith");
    postgres::open(&format!("{}/kith", server.url))
}

fn kill_9(place: &Path) {
    let pid = std::fs::read_to_string(place.join("data/postmaster.pid")).expect("it runs");
    let pid = pid.lines().next().expect("its first line");
    assert!(Command::new("kill").args(["-9", pid]).status().expect("kill").success());
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        match look() {
            Some(seen) => return seen,
            None => assert!(begin.elapsed() < asking::PATIENCE, "waited in vain"),
        }
    }
}

fn until_it_works<T>(mut request: impl FnMut() -> Result<T, StoreError>) -> T {
    let begin = Instant::now();
    loop {
        match request() {
            Ok(answer) => return answer,
            Err(error) => assert!(begin.elapsed() < asking::PATIENCE, "{error}"),
        }
    }
}

fn rows(server: &Server, sql: &str) -> Vec<(u64, String)> {
    let rows = postgres::query(&format!("{}/kith", server.url), sql);
    let pair = |row: String| {
        let (seq, id) = row.split_once(' ').expect("two columns");
        (seq.parse().expect("a number"), id.to_owned())
    };
    rows.into_iter().map(pair).collect()
}
