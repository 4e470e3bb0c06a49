//! A new version of a whole cluster, process by process, while members write: no connection of a front ends.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::cluster::{PASSWORD, linked};
use crate::running::{PATIENCE, Running, poll};
use crate::standby::{Homes, NO_LONGER_HOME, stands_by};
use crate::take_over::{TcpApp, free_port};
use crate::tls::write_certificate;

/// Between two messages of a member.
const PACE: Duration = Duration::from_millis(20);

/// A member who writes to another one, each message after the acknowledgement of the last one.
struct Member {
    client: Client,
    user: &'static str,
    to: &'static str,
    sent: Vec<String>,
    /// By seq.
    received: BTreeMap<u64, String>,
    resumes: u64,
}

impl Member {
    fn of(mut client: Client, user: &'static str, to: &'static str) -> Member {
        client.say(json!({ "t": "watch", "users": [to] })).unwrap();
        Member { client, user, to, sent: Vec::new(), received: BTreeMap::new(), resumes: 0 }
    }

    /// Writes until it shall stop.
    fn write(mut self, stops: Arc<AtomicBool>, written: Arc<AtomicUsize>) -> JoinHandle<Member> {
        spawn(move || {
            while !stops.load(Ordering::Relaxed) {
                let number = self.sent.len();
                let (id, body) =
                    (format!("{}-{number}", self.user), format!("test of {} {number}", self.user));
                self.client.send(&id, self.to, &body).expect("the connection stays");
                self.until(|_, event| acknowledges(event, &id));
                self.sent.push(body);
                written.fetch_add(1, Ordering::Relaxed);
                sleep(PACE);
            }
            self
        })
    }

    /// Takes events until one fits. The connection must stay, and the other member, too.
    fn until(&mut self, fits: impl Fn(&Member, &Value) -> bool) {
        loop {
            let event = self.client.next().unwrap_or_else(|| panic!("the connection of {} ended", self.user));
            let is_away = event["t"] == "presence" && event["presence"] == "offline";
            assert!(!is_away && event["t"] != "bye" && event["t"] != "error", "{}: {event}", self.user);
            match event["t"].as_str().unwrap() {
                "message" => self.take(&event),
                "behind" => self.resume(),
                "changes" => event["messages"].as_array().unwrap().iter().for_each(|one| self.take(one)),
                _ => {}
            }
            if fits(self, &event) {
                return;
            }
        }
    }

    fn resume(&mut self) {
        self.resumes += 1;
        let position = self.client.position.clone();
        let resume = json!({ "t": "resume", "rid": 10_000 + self.resumes, "position": position });
        self.client.say(resume).expect("the connection stays");
    }

    fn take(&mut self, message: &Value) {
        let body = message["body"].as_str().unwrap_or_default();
        if message["from"] == self.to && body.starts_with("test of ") {
            let before = self.received.insert(message["seq"].as_u64().unwrap(), body.to_owned());
            assert!(before.is_none_or(|before| before == body), "two messages have one place: {message}");
        }
    }

    /// Waits for all messages of the other member, and compares.
    fn has_all_of(&mut self, other: &[String]) {
        let has_all = |member: &Member| member.received.len() >= other.len();
        if !has_all(self) {
            self.until(|member, _| has_all(member));
        }
        let received: Vec<&String> = self.received.values().collect();
        assert_eq!(received, other.iter().collect::<Vec<_>>(), "{} has each once, in order", self.user);
    }
}

/// A message that comes with changes is on disk: its own acknowledgement may have been dropped.
fn acknowledges(event: &Value, id: &str) -> bool {
    let is_there = |messages: &Vec<Value>| messages.iter().any(|message| message["id"] == id);
    event["t"] == "ack" && event["id"] == id
        || event["t"] == "changes" && event["messages"].as_array().is_some_and(is_there)
}

/// The settings of a front with all its transports.
struct Front {
    name: &'static str,
    flags: Vec<String>,
    xmpp: u16,
    running: Running,
}

impl Front {
    fn start(homes: &Homes, name: &'static str, cert: &Path, key: &Path) -> Front {
        let (xmpp, config) = (free_port(), homes.cluster.scratch.path().join(format!("{name}.toml")));
        let lines = format!(
            "[cluster]\nname = \"{name}\"\n[xmpp]\nlisten = \"127.0.0.1:{xmpp}\"\nallow_plain = true\n"
        );
        std::fs::write(&config, lines).unwrap();
        let [config, cert, key] = [&*config, cert, key].map(|path: &Path| path.display().to_string());
        let flags = ["--config", &config, "--https", "127.0.0.1:0", "--tls-cert", &cert, "--tls-key", &key];
        let flags = flags.map(str::to_owned).to_vec();
        let words: Vec<&str> = flags.iter().map(String::as_str).collect();
        let running = homes.cluster.start_front(name, PASSWORD, &words);
        linked(&running, true);
        Front { name, flags, xmpp, running }
    }

    fn upgrade(&mut self, homes: &Homes) {
        let flags: Vec<&str> = self.flags.iter().map(String::as_str).collect();
        self.running = homes.cluster.replace_front(&mut self.running, self.name, &flags);
        linked(&self.running, true);
    }

    fn enter_by_tls(&self, homes: &Homes, user: &str, trusted: &CertificateDer<'static>) -> Client {
        let mut roots = RootCertStore::empty();
        roots.add(trusted.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connection =
            ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
        let https = self.running.https.unwrap();
        let stream = TcpStream::connect(https).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let client = Client::over(Box::new(StreamOwned::new(connection, stream)), https).unwrap();
        client.signed_in(&token(&homes.cluster.scratch, user), user, None).unwrap()
    }
}

#[test]
fn a_cluster_is_upgraded_process_by_process_while_members_write() {
    let homes = Homes::new("rolling");
    let (mut first, mut second) = homes.both();
    let (cert, key) = ["cert.pem", "key.pem"].map(|name| homes.cluster.scratch.path().join(name)).into();
    let trusted = write_certificate(&cert, &key);
    let (mut a, mut b) = (Front::start(&homes, "a", &cert, &key), Front::start(&homes, "b", &cert, &key));
    let scratch = &homes.cluster.scratch;
    let stops = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicUsize::new(0));
    let (anna, tom) = (homes.cluster.enter(&a.running, "anna"), b.enter_by_tls(&homes, "tom", &trusted));
    let (raj, mila) = (a.enter_by_tls(&homes, "raj", &trusted), homes.cluster.enter(&b.running, "mila"));
    // All are here before anybody watches.
    let members = [(anna, "anna", "tom"), (tom, "tom", "anna"), (raj, "raj", "mila"), (mila, "mila", "raj")];
    let mut ben = homes.cluster.enter(&a.running, "ben");
    let mut mei = TcpApp::sign_in(scratch, b.xmpp, "mei");
    let writers = members.map(|(client, user, to)| {
        Member::of(client, user, to).write(Arc::clone(&stops), Arc::clone(&written))
    });
    let mut steps = 0;
    // Before the first step, and after each: all write, and the stream of the app is the same.
    let mut works = || {
        let before = written.load(Ordering::Relaxed);
        poll("more messages", || (written.load(Ordering::Relaxed) >= before + 20).then_some(()));
        steps += 1;
        let body = format!("to the app {steps}");
        ben.sent(&format!("b{steps}"), "mei", &body);
        mei.until(&body);
        mei.ask("<iq type='get' id='p' to='demo'><ping xmlns='urn:xmpp:ping'/></iq>", "id='p'");
    };
    works();
    a.upgrade(&homes);
    works();
    b.upgrade(&homes);
    works();
    assert_eq!(first.metric("kith_cluster_sessions_adopted_total"), 0.0, "the links have moved");
    assert_eq!(first.metric("kith_cluster_links_broken_total"), 0.0);
    // A home on PostgreSQL gives its role away instead.
    let data = scratch.path().join("home-first").display().to_string();
    let flags = homes.cluster.flags(PASSWORD);
    let wrong = ["serve", "--take-over", "--http", "127.0.0.1:0", "--data", &data];
    let output = scratch.run(wrong.into_iter().chain(flags.iter().map(String::as_str)));
    assert!(String::from_utf8_lossy(&output.stderr).contains("kith cluster drain"), "{output:?}");
    poll("a drain", || homes.command(&["cluster", "drain"], "first").ok());
    assert_eq!(first.wait().code(), Some(NO_LONGER_HOME), "{}", first.log());
    second.serves();
    first = homes.home("first");
    stands_by(&first);
    works();
    poll("a drain", || homes.command(&["cluster", "drain"], "second").ok());
    assert_eq!(second.wait().code(), Some(NO_LONGER_HOME), "{}", second.log());
    first.serves();
    let _second = homes.home("second");
    works();
    stops.store(true, Ordering::Relaxed);
    let [mut anna, mut tom, mut raj, mut mila] = writers.map(|writer| writer.join().expect("undisturbed"));
    anna.has_all_of(&tom.sent);
    tom.has_all_of(&anna.sent);
    raj.has_all_of(&mila.sent);
    mila.has_all_of(&raj.sent);
    for member in [&mut anna, &mut tom, &mut raj, &mut mila] {
        let history = member.client.history(member.to);
        let seqs: Vec<u64> = history.iter().map(|message| message["seq"].as_u64().unwrap()).collect();
        assert!(seqs.windows(2).all(|pair| pair[1] == pair[0] + 1), "no gap: {seqs:?}");
        let own = history.iter().filter(|message| message["from"] == member.user);
        let own: Vec<&str> = own.map(|message| message["body"].as_str().unwrap()).collect();
        let own: Vec<&str> = own.into_iter().filter(|body| body.starts_with("test of ")).collect();
        assert_eq!(own, member.sent, "what was acknowledged is there once");
    }
}
