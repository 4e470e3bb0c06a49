//! A node on PostgreSQL: the product works, and the death of the database loses nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::client::Client;
use crate::files;
use crate::postgres_server::Server;
use crate::running::{Running, Scratch, poll};

/// A directory that the server's user may reach, with a short path, because that of a socket is.
pub(crate) struct Place(pub(crate) PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

/// At most three servers run at the same time: each is large, and its test starts some nodes besides.
pub(crate) fn wait_for_turn() -> MutexGuard<'static, ()> {
    static TURNS: [Mutex<()>; 3] = [const { Mutex::new(()) }; 3];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let turn = &TURNS[NEXT.fetch_add(1, Ordering::Relaxed) % TURNS.len()];
    turn.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn place(name: &str) -> Place {
    Place(std::env::temp_dir().join(format!("kith-pgn-{}-{name}", std::process::id())))
}

pub(crate) fn started(place: &Place) -> Server {
    poll("PostgreSQL", || Server::start(Some(&place.0), ""))
}

/// Runs a statement, as an administrator of the server. Returns the values, a row on each line, or the error.
pub(crate) fn psql(place: &Place, sql: &str) -> Result<String, String> {
    let done = psql_command(place, sql).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if done.status.success() { Ok(text(&done.stdout)) } else { Err(text(&done.stderr)) }
}

pub(crate) fn psql_command(place: &Place, sql: &str) -> Command {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres.sh");
    let programs = String::from_utf8(Command::new(script).output().unwrap().stdout).unwrap();
    let beside = Path::new(programs.trim()).join("psql");
    let mut psql = Command::new(if beside.exists() { beside.as_path() } else { Path::new("psql") });
    psql.arg("-h").arg(&place.0).args(["-U", "kith", "-d", "postgres", "-qAt", "-c", sql]);
    psql
}

fn on(server: &Server, name: &str) -> Scratch {
    let mut scratch = Scratch::new(name);
    scratch.set_database(format!("{}/postgres", server.url));
    scratch
}

/// Without limits, because these tests repeat requests.
fn demo(scratch: &Scratch) -> Running {
    let config = scratch.path().join("kith.toml");
    let limits = "[limits]\nsend_burst = 0\nsend_per_minute = 0\nsite_sends_per_second = 0\ncommand_burst = 0\n\
                  command_per_minute = 0\nrequests_per_user = 0\nrequests_per_site = 0\n";
    std::fs::write(&config, limits).unwrap();
    Running::start(scratch, "demo", &["--config", config.to_str().unwrap()])
}

#[test]
fn members_write_search_and_send_files_on_postgresql() {
    let _turn = wait_for_turn();
    let place = place("use");
    let server = started(&place);
    let scratch = on(&server, "postgresql");
    let node = demo(&scratch);
    let [mut anna, mut ben] = files::acquainted(&scratch, &node);
    let file = files::member(&scratch, &node, "u-anna").bring("u-ben", "note.txt", b"Greetings");
    assert_eq!(files::send(&mut anna, "a-1", "u-ben", &[&file])["t"], "ack");
    ben.expect("the file", |event| event["t"] == "message" && event["id"] == "a-1");
    anna.sent("a-2", "u-ben", "Ärger with the gearbox");
    let bodies = |history: &[Value]| -> Vec<String> {
        history.iter().map(|message| message["body"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let wanted = ["Hi Ben", "Hi Anna", "", "Ärger with the gearbox"];
    assert_eq!(bodies(&ben.history("u-anna")), wanted);
    let mut rid = 100;
    poll("the index of words", || {
        rid += 1;
        ben.say(json!({ "t": "search", "rid": rid, "query": "arger gear" })).unwrap();
        let found = ben.expect("hits", |event| event["re"] == rid);
        (found["hits"].as_array().is_some_and(|hits| hits.len() == 1)).then_some(())
    });
    ben.say(json!({ "t": "rooms", "rid": 900 })).unwrap();
    let rooms = ben.expect("the directory", |event| event["re"] == 900);
    assert_ne!(rooms["t"], "error", "{rooms}");
    assert!(!scratch.data().join("kith.db").exists(), "SQLite has nothing of it");
    assert!(scratch.say("site list").contains("demo"), "a command sees the same database");
    let refused = scratch.fails("backup copy.db");
    assert!(refused.contains("pg_dump"), "{refused}");
    drop(node);
    let node = demo(&scratch);
    let mut ben = Client::enter(&scratch, &node, "u-ben");
    assert_eq!(bodies(&ben.history("u-anna")), wanted, "after a restart of the node");
}

#[test]
fn a_new_version_takes_a_node_on_postgresql_over_and_no_connection_ends() {
    let _turn = wait_for_turn();
    let place = place("take-over");
    let server = started(&place);
    let scratch = on(&server, "postgresql-take-over");
    let mut node = demo(&scratch);
    let [mut anna, mut ben] = files::acquainted(&scratch, &node);
    for round in 0..2 {
        // On its way during the take-over.
        anna.send(&format!("m{round}"), "u-ben", &format!("round {round}")).unwrap();
        let config = scratch.path().join("kith.toml");
        let new = Running::start(&scratch, "serve", &["--config", config.to_str().unwrap(), "--take-over"]);
        assert_eq!(node.wait().code(), Some(0), "{}", node.log());
        node = new;
        anna.acked(&format!("m{round}"));
        ben.message(&format!("round {round}"));
        ben.sent(&format!("b{round}"), "u-anna", &format!("answer {round}"));
        anna.message(&format!("answer {round}"));
    }
    assert_eq!(ben.history("u-anna").len(), 6, "each message once");
}

#[test]
fn a_node_outlives_kill_9_of_its_database() {
    let _turn = wait_for_turn();
    let place = place("kill");
    let server = started(&place);
    let scratch = on(&server, "postgresql-dies");
    let mut node = demo(&scratch);
    let [mut anna, mut ben] = files::acquainted(&scratch, &node);
    let pid = std::fs::read_to_string(place.0.join("data/postmaster.pid")).unwrap();
    let pid = pid.lines().next().unwrap().to_owned();
    for number in 0..20 {
        anna.send(&format!("m{number}"), "u-ben", &format!("{number}")).unwrap();
        if number == 10 {
            assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        }
    }
    drop(server);
    let _server = started(&place);
    for number in 0..20 {
        let id = format!("m{number}");
        poll("the acknowledgement of a repeated message", || {
            anna.send(&id, "u-ben", &format!("{number}")).unwrap();
            let answer = anna.expect("an answer", |event| {
                event["id"] == *id && (event["t"] == "ack" || event["t"] == "error")
            });
            (answer["t"] == "ack").then_some(())
        });
    }
    assert!(node.is_running());
    let history = ben.history("u-anna");
    let mut bodies: Vec<&str> = history.iter().map(|message| message["body"].as_str().unwrap()).collect();
    let seqs: Vec<u64> = history.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=22).collect::<Vec<u64>>(), "no gap, and nothing twice");
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies.len(), 22);
}
