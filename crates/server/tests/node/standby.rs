//! Two homes on one PostgreSQL: one serves, the other stands by and takes its place.

use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::cluster::{Cluster, PASSWORD, linked};
use crate::postgres_server::Server;
use crate::postgresql::{Place, place, started, wait_for_turn};
use crate::running::{PATIENCE, Running, poll};

/// NATS, PostgreSQL, and nodes that share the settings.
pub(crate) struct Homes {
    pub(crate) cluster: Cluster,
    /// None: it is away.
    server: Option<Server>,
    place: Place,
    _turn: MutexGuard<'static, ()>,
}

/// The exit code of a process that is no longer the home.
pub(crate) const NO_LONGER_HOME: i32 = 75;

impl Homes {
    pub(crate) fn new(name: &str) -> Homes {
        let turn = wait_for_turn();
        let place = place(name);
        let server = started(&place);
        let mut cluster = Cluster::new(&format!("homes-{name}"));
        cluster.scratch.set_database(format!("{}/postgres", server.url));
        Homes { cluster, server: Some(server), place, _turn: turn }
    }

    /// The address of the database.
    pub(crate) fn url(&self) -> String {
        format!("{}/postgres", self.server.as_ref().expect("it runs").url)
    }

    /// Serves or stands by.
    pub(crate) fn home(&self, name: &str) -> Running {
        self.home_with(name, &[])
    }

    fn home_with(&self, name: &str, more: &[&str]) -> Running {
        let mut flags = self.flags_of_home(name, "shared-files");
        flags.extend(more.iter().map(|flag| (*flag).to_owned()));
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Running::begin_at(&self.cluster.scratch, "demo", &self.data(name), &flags)
    }

    fn flags_of_home(&self, name: &str, files: &str) -> Vec<String> {
        let config = self.cluster.scratch.path().join(format!("{name}.toml"));
        let folder = self.cluster.scratch.path().join(files);
        // Without limits, because these tests repeat requests.
        let lines = format!(
            "[cluster]\nname = \"{name}\"\n[files]\nfolder = \"{}\"\n[limits]\nsend_burst = 0\nsend_per_minute = 0\n\
             site_sends_per_second = 0\ncommand_burst = 0\ncommand_per_minute = 0\nsessions_per_user = 5000\n",
            folder.display()
        );
        std::fs::write(&config, lines).unwrap();
        let mut flags = self.cluster.flags(PASSWORD);
        flags.extend(["--config".into(), config.display().to_string()]);
        flags
    }

    /// A node with homes of several slots. It listens when this returns.
    pub(crate) fn node_with_homes(&self, name: &str) -> Running {
        let flags = self.flags_of_home(name, "shared-files");
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Running::begin_at(&self.cluster.scratch, "serve", &self.data(name), &flags)
    }

    pub(crate) fn data(&self, name: &str) -> std::path::PathBuf {
        self.cluster.scratch.path().join(format!("home-{name}"))
    }

    /// A home that serves, and one that stands by.
    pub(crate) fn both(&self) -> (Running, Running) {
        let home = self.home("first");
        home.serves();
        let standby = self.home("second");
        stands_by(&standby);
        (home, standby)
    }

    pub(crate) fn command(&self, words: &[&str], at: &str) -> Result<String, String> {
        let data = self.data(at).display().to_string();
        let secret = self.cluster.secret.display().to_string();
        let more = ["--data", &data, "--cluster-secret-file", &secret];
        let output = self.cluster.scratch.run(words.iter().chain(&more));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    fn status(&self, at: &str) -> String {
        self.cluster.scratch.say(&format!("cluster status --data {}", self.data(at).display()))
    }
}

/// Runs a statement, as an administrator of the server.
fn psql(place: &Place, sql: &str) {
    crate::postgresql::psql(place, sql).unwrap();
}

pub(crate) fn stands_by(node: &Running) {
    poll("a standby", || node.get("/healthz").contains("standing by").then_some(()));
    assert!(node.get("/readyz").starts_with("HTTP/1.1 503"));
}

/// The texts of the messages of this test between Anna and Tom.
fn bodies(client: &mut Client, with: &str) -> Vec<String> {
    let all = client.history(with);
    let seqs: Vec<u64> = all.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[1] == pair[0] + 1), "no gap: {seqs:?}");
    let bodies = all.iter().map(|message| message["body"].as_str().unwrap_or_default().to_owned());
    bodies.filter(|body| body.starts_with("test ")).collect()
}

/// An id of a message has no spaces.
fn id_of(body: &str) -> String {
    body.replace(' ', "-")
}

/// A member who sends each message until it is acknowledged, and comes back when the connection ends.
struct Sender<'f> {
    front: &'f Running,
    token: String,
    client: Client,
    unacknowledged: Vec<String>,
}

impl<'f> Sender<'f> {
    fn enter(homes: &Homes, front: &'f Running, user: &str) -> Sender<'f> {
        let client = homes.cluster.enter(front, user);
        let token = token(&homes.cluster.scratch, user);
        Sender { front, token, client, unacknowledged: Vec::new() }
    }

    fn send(&mut self, body: &str) {
        self.unacknowledged.push(body.to_owned());
        if self.client.send(&id_of(body), "tom", body).is_none() {
            self.come_back();
        }
    }

    fn come_back(&mut self) {
        let position = self.client.position.clone();
        self.client = poll("a welcome", || {
            Client::try_enter(self.front.http, &self.token, "anna", position.as_deref())
        });
        self.repeat();
    }

    fn repeat(&mut self) {
        for body in self.unacknowledged.clone() {
            self.client.send(&id_of(&body), "tom", &body);
        }
    }

    /// Waits until everything is acknowledged.
    fn settle(&mut self) {
        let begin = Instant::now();
        while !self.unacknowledged.is_empty() {
            assert!(begin.elapsed() < 2 * PATIENCE, "{:?} is not acknowledged", self.unacknowledged);
            match self.client.next() {
                Some(event) if event["t"] == "ack" => {
                    self.unacknowledged.retain(|body| id_of(body) != event["id"])
                }
                Some(event) if event["t"] == "error" => {
                    std::thread::sleep(Duration::from_millis(100));
                    self.repeat();
                }
                Some(event) if event["t"] == "bye" => self.come_back(),
                Some(_) => {}
                None => self.come_back(),
            }
        }
    }
}

/// The next event that says something about this connection, or the message.
fn message_or_behind(client: &mut Client, body: &str) -> Value {
    client.expect("the message or behind", |event| {
        assert_ne!(event["t"], "bye", "the connection stays");
        event["t"] == "behind" || event["t"] == "message" && event["body"] == body
    })
}

#[test]
fn a_standby_takes_the_place_of_a_home_that_dies_and_nothing_is_lost_or_doubled() {
    let homes = Homes::new("kill");
    let (mut first, second) = homes.both();
    let front = homes.cluster.front("front");
    let mut anna = Sender::enter(&homes, &front, "anna");
    let mut tom = homes.cluster.enter(&front, "tom");
    for number in 0..30 {
        anna.send(&format!("test {number}"));
        if number == 15 {
            first.signal("KILL");
            first.wait();
        }
    }
    anna.settle();
    second.serves();
    anna.send("test on the new home");
    anna.settle();
    // Tom has said nothing meanwhile, so his connection has stayed.
    if message_or_behind(&mut tom, "test on the new home")["t"] == "behind" {
        let position = tom.position.clone();
        tom.say(json!({ "t": "resume", "rid": 900, "position": position })).unwrap();
        tom.expect("the changes", |event| event["re"] == 900);
    }
    let mut wanted: Vec<String> = (0..30).map(|number| format!("test {number}")).collect();
    wanted.push("test on the new home".into());
    wanted.sort_unstable();
    let mut found = bodies(&mut tom, "anna");
    found.sort_unstable();
    assert_eq!(found, wanted, "each one once");
    assert!(front.metric("kith_cluster_sessions_adopted_total") >= 1.0);
    assert_eq!(second.metric("kith_cluster_home"), 1.0);
    // The dead one comes back, and stands by.
    let first = homes.home("first");
    stands_by(&first);
    poll("both in the table", || {
        let status = homes.status("second");
        (status.contains("standby") && status.contains("first")).then_some(())
    });
}

#[test]
fn a_frozen_home_that_wakes_up_writes_nothing_and_ends() {
    let homes = Homes::new("frozen");
    let (mut first, second) = homes.both();
    let front = homes.cluster.front("front");
    let mut tom = homes.cluster.enter(&front, "tom");
    let mut raj = homes.cluster.enter(&first, "raj");
    raj.sent("r1", "tom", "test before");
    tom.message("test before");
    first.signal("STOP");
    second.serves();
    linked(&front, true);
    raj.send("r2", "tom", "test of a frozen home").unwrap();
    first.signal("CONT");
    assert_eq!(first.wait().code(), Some(NO_LONGER_HOME), "{}", first.log());
    assert!(first.log().contains("has lost its lease"), "{}", first.log());
    assert_eq!(raj.try_acked("r2"), None, "the connection ends without an acknowledgement");
    tom.sent("t1", "raj", "test after");
    assert_eq!(bodies(&mut tom, "raj"), ["test before", "test after"]);
}

#[test]
fn a_home_that_alone_has_lost_postgresql_ends_when_another_home_is_on_the_bus() {
    let homes = Homes::new("partition");
    // The first home reaches the server by a way of its own.
    let way = homes.place.0.join("way");
    std::os::unix::fs::symlink(&homes.place.0, &way).unwrap();
    let url = format!("postgres://kith@{}/postgres", way.display().to_string().replace('/', "%2F"));
    let mut first = homes.home_with("first", &["--database", &url]);
    first.serves();
    let second = homes.home("second");
    stands_by(&second);
    let front = homes.cluster.front("front");
    let mut tom = homes.cluster.enter(&front, "tom");
    let mut raj = homes.cluster.enter(&first, "raj");
    raj.sent("r1", "tom", "test before");
    tom.message("test before");

    std::fs::remove_file(&way).unwrap();
    // A standby has no other connection than that of its lease.
    let of_first = "application_name = 'kith' OR application_name LIKE 'kith home % first'";
    psql(&homes.place, &format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {of_first}"));
    raj.send("r2", "tom", "test of a home without its database").unwrap();
    second.serves();
    assert_eq!(raj.try_acked("r2"), None, "the connection ends without an acknowledgement");
    assert_eq!(first.wait().code(), Some(NO_LONGER_HOME), "{}", first.log());
    assert!(first.log().contains("PostgreSQL does not answer"), "{}", first.log());
    linked(&front, true);
    tom.sent("t1", "raj", "test after");
    assert_eq!(bodies(&mut tom, "raj"), ["test before", "test after"]);
}

#[test]
fn a_home_that_stops_releases_its_lease_and_no_connection_of_a_front_ends() {
    let homes = Homes::new("stop");
    let (mut first, second) = homes.both();
    let front = homes.cluster.front("front");
    let (mut anna, mut tom) = (homes.cluster.enter(&front, "anna"), homes.cluster.enter(&front, "tom"));
    for number in 0..50 {
        anna.send(&format!("test-{number}"), "tom", &format!("test {number}")).unwrap();
        if number == 25 {
            first.signal("TERM");
        }
    }
    for number in 0..50 {
        anna.acked(&format!("test-{number}"));
    }
    assert_eq!(first.wait().code(), Some(0), "{}", first.log());
    assert!(first.log().contains("released the lease"), "{}", first.log());
    second.serves();
    anna.sent("test-last", "tom", "test last");
    message_or_behind(&mut tom, "test last");
    let mut wanted: Vec<String> = (0..50).map(|number| format!("test {number}")).collect();
    wanted.push("test last".into());
    assert_eq!(bodies(&mut anna, "tom"), wanted);
    assert_eq!(front.metric("kith_cluster_requests_refused_total"), 0.0, "members notice a pause at most");
}

#[test]
fn a_home_outlives_an_outage_of_postgresql_that_is_longer_than_its_lease() {
    let mut homes = Homes::new("away");
    let (mut first, mut second) = homes.both();
    let front = homes.cluster.front("front");
    let (mut anna, mut tom) = (homes.cluster.enter(&front, "anna"), homes.cluster.enter(&front, "tom"));
    anna.sent("test-1", "tom", "test 1");
    anna.say(json!({ "t": "watch", "users": ["tom"] })).unwrap();
    anna.expect("tom online", |event| event["t"] == "presence" && event["presence"] == "online");
    homes.server = None;
    poll("the end of the lease", || (first.metric("kith_cluster_lease_left_ms") == 0.0).then_some(()));
    // The home refuses requests that need the database, with a code and a time. It keeps connections and presence in memory.
    anna.send("test-2", "tom", "test 2").unwrap();
    anna.say(json!({ "t": "history", "rid": 7, "to": { "user": "tom" } })).unwrap();
    for asked in [("id", json!("test-2")), ("re", json!(7))] {
        let refused = anna.expect("the refusal", |event| event[asked.0] == asked.1);
        assert_eq!((&refused["t"], &refused["code"]), (&json!("error"), &json!("unavailable")), "{refused}");
        assert!(refused["retry_after"].is_u64(), "{refused}");
    }
    tom.say(json!({ "t": "presence", "set": "away" })).unwrap();
    anna.expect("tom away", |event| event["t"] == "presence" && event["presence"] == "away");
    homes.server = Some(started(&homes.place));
    poll("the acknowledgement of the repeated message", || {
        anna.send("test-2", "tom", "test 2").unwrap();
        let answer = anna.expect("an answer", |event| {
            event["id"] == "test-2" && (event["t"] == "ack" || event["t"] == "error")
        });
        (answer["t"] == "ack").then_some(())
    });
    poll("the lease", || (first.metric("kith_cluster_lease_left_ms") > 0.0).then_some(()));
    assert!(first.is_running() && second.is_running());
    stands_by(&second);
    assert_eq!(bodies(&mut anna, "tom"), ["test 1", "test 2"]);
}

#[test]
fn an_operator_moves_the_home_and_members_keep_their_connections() {
    let homes = Homes::new("move");
    let (mut first, mut second) = homes.both();
    let front = homes.cluster.front("front");
    let (mut anna, mut tom) = (homes.cluster.enter(&front, "anna"), homes.cluster.enter(&front, "tom"));
    let drain = |at: &str| {
        poll("a drain", || match homes.command(&["cluster", "drain"], at) {
            Ok(said) => Some(said),
            // The home learns of a standby at its next renewal.
            Err(why) if why.contains("no other home") => None,
            Err(why) => panic!("{why}"),
        })
    };
    let said = drain("first");
    assert!(said.starts_with("second becomes the home"), "{said}");
    assert_eq!(first.wait().code(), Some(NO_LONGER_HOME), "{}", first.log());
    second.serves();
    anna.sent("test-1", "tom", "test 1");
    // As a unit does.
    let first = homes.home("first");
    stands_by(&first);
    poll("a refusal", || {
        let why = homes.command(&["cluster", "move", "nobody"], "second").expect_err("there is no such node");
        why.contains("no home named nobody stands by; there is: first").then_some(())
    });
    let refused = homes.command(&["cluster", "drain"], "first").expect_err("a standby has nothing to give");
    assert!(refused.contains("stands by"), "{refused}");
    poll("the move", || homes.command(&["cluster", "move", "first"], "second").ok());
    assert_eq!(second.wait().code(), Some(NO_LONGER_HOME), "{}", second.log());
    first.serves();
    anna.sent("test-2", "tom", "test 2");
    assert_eq!(bodies(&mut tom, "anna"), ["test 1", "test 2"]);
    // A client of a front cannot give the command, although the front proves itself to the home.
    let forged = format!(
        "POST /cluster/hand-over HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        front.http
    );
    let answer = front.raw(forged.as_bytes());
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[test]
fn a_home_without_the_files_of_the_others_and_a_node_without_a_lease_do_not_start() {
    let homes = Homes::new("files");
    let first = homes.home("first");
    first.serves();
    let flags = homes.flags_of_home("second", "other-files");
    let data = homes.data("second").display().to_string();
    let start = ["demo", "--http", "127.0.0.1:0", "--data", &data];
    let output = homes.cluster.scratch.run(start.iter().copied().chain(flags.iter().map(String::as_str)));
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && why.contains("is not the folder of files of this database"), "{why}");
    let alone = homes.cluster.scratch.fails(&format!("serve --http 127.0.0.1:0 --data {data}"));
    assert!(alone.contains("the node first is the home of a cluster on it"), "{alone}");
    assert!(homes.cluster.scratch.say("site list").contains("demo"), "commands work beside the home");
}
