//! A home, two fronts and NATS as real processes: members talk across fronts, and any process may die.
//!
//! Needs `nats-server` (`scripts/nats.sh` finds or installs it).

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::client::{Client, token};
use crate::files::GIF;
use crate::running::{Running, Scratch, poll};
use crate::take_over::Http;
use crate::upload_of_app::{App, between, request};

const USER: &str = "kith";
pub(crate) const PASSWORD: &str = "only-for-this-test";

/// A NATS server with one user; killed when dropped.
pub(crate) struct Nats {
    child: Child,
    port: u16,
}

impl Nats {
    fn start() -> Nats {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Nats { child: Nats::spawn(port), port }
    }

    /// Returns when the server accepts connections. While another process has the port, it tries again.
    fn spawn(port: u16) -> Child {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/nats.sh");
        let found = Command::new(script).output().unwrap();
        assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
        let binary = String::from_utf8(found.stdout).unwrap();
        let begin = || {
            Command::new(binary.trim())
                .args(["-a", "127.0.0.1", "-p", &port.to_string(), "--user", USER, "--pass", PASSWORD])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut child = begin();
        poll("a server of NATS", || {
            if child.try_wait().unwrap().is_some() {
                child = begin();
            }
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        child
    }

    fn start_again(&mut self) {
        self.child = Nats::spawn(self.port);
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn url(&self, password: &str) -> String {
        format!("nats://{USER}:{password}@127.0.0.1:{}", self.port)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Cluster {
    pub(crate) scratch: Scratch,
    pub(crate) nats: Nats,
    pub(crate) secret: PathBuf,
}

impl Cluster {
    pub(crate) fn new(name: &str) -> Cluster {
        let scratch = Scratch::new(name);
        let secret = scratch.path().join("cluster.secret");
        std::fs::write(&secret, "a secret of the cluster, for this test only\n").unwrap();
        Cluster { nats: Nats::start(), scratch, secret }
    }

    pub(crate) fn flags(&self, password: &str) -> Vec<String> {
        let secret = self.secret.display().to_string();
        vec!["--cluster".into(), self.nats.url(password), "--cluster-secret-file".into(), secret]
    }

    pub(crate) fn home(&self) -> Running {
        let flags = self.flags(PASSWORD);
        Running::start(&self.scratch, "demo", &flags.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Returns when the front has a link.
    pub(crate) fn front(&self, name: &str) -> Running {
        let front = self.front_with(name, PASSWORD);
        linked(&front, true);
        front
    }

    pub(crate) fn front_with(&self, name: &str, password: &str) -> Running {
        self.start_front(name, password, &[])
    }

    pub(crate) fn start_front(&self, name: &str, password: &str, more: &[&str]) -> Running {
        let mut flags = self.flags(password);
        flags.extend(["--role".into(), "front".into()]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
        Running::start_at(&self.scratch, "serve", &self.data_of(name), &flags)
    }

    /// A new process takes the place of a front. Returns when the old one has ended.
    pub(crate) fn replace_front(&self, old: &mut Running, name: &str, more: &[&str]) -> Running {
        let new = self.start_front(name, PASSWORD, &[more, &["--take-over"]].concat());
        assert_eq!(old.wait().code(), Some(0), "{}", old.log());
        new
    }

    pub(crate) fn data_of(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    pub(crate) fn enter(&self, node: &Running, user: &str) -> Client {
        let token = token(&self.scratch, user);
        poll("a welcome", || Client::try_enter(node.http, &token, user, None))
    }
}

pub(crate) fn linked(front: &Running, is_linked: bool) {
    poll("the link", || {
        (front.metric("kith_cluster_linked{slot=\"0\"}") == f64::from(u8::from(is_linked))).then_some(())
    });
}

#[test]
fn members_on_two_fronts_talk_and_keep_their_connections_when_the_home_dies() {
    let cluster = Cluster::new("cluster-home");
    let mut home = cluster.home();
    let (a, b) = (cluster.front("a"), cluster.front("b"));
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&b, "tom"));
    anna.sent("m1", "tom", "over two fronts");
    assert_eq!(tom.message("over two fronts")["from"], "anna");
    tom.sent("m2", "anna", "and back");
    anna.message("and back");
    let mut here = cluster.enter(&home, "mila");
    anna.sent("m3", "mila", "to a member at the home");
    here.message("to a member at the home");

    home.signal("KILL");
    home.wait();
    linked(&a, false);
    linked(&b, false);
    // The front holds the message until a home comes.
    anna.send("m4", "tom", "while no home is there").unwrap();
    home = cluster.home();
    let acked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| anna.acked("m4")));
    assert!(acked.is_ok(), "the front: {}\nthe home: {}", a.log(), home.log());
    // His front may have found the home after the message was stored: then he is behind, and resumes.
    let event =
        tom.expect("the message or behind", |event| event["t"] == "behind" || event["t"] == "message");
    if event["t"] == "behind" {
        let position = tom.position.clone();
        tom.say(json!({ "t": "resume", "rid": 900, "position": position })).unwrap();
        let changes = tom.expect("the changes", |event| event["re"] == 900);
        assert!(changes.to_string().contains("while no home is there"), "{changes}");
    }
    tom.sent("m5", "anna", "on the same connection");
    anna.message("on the same connection");
    let bodies: Vec<String> = anna
        .history("tom")
        .iter()
        .filter_map(|message| message["body"].as_str().map(str::to_owned))
        .collect();
    for body in ["over two fronts", "and back", "while no home is there", "on the same connection"] {
        assert_eq!(bodies.iter().filter(|one| *one == body).count(), 1, "{body} in {bodies:?}");
    }
    assert!(a.metric("kith_cluster_sessions_adopted_total") >= 1.0);
    drop(home);
}

#[test]
fn stream_sse_and_poll_work_through_a_front_and_outlive_its_home() {
    let cluster = Cluster::new("cluster-http");
    let mut home = cluster.home();
    let front = cluster.front("a");
    let hello = |user: &str| {
        let token = token(&cluster.scratch, user);
        json!({ "t": "hello", "v": 1, "site": "demo", "token": token, "device": format!("d-{user}") })
            .to_string()
    };
    let mut stream = Http::post(&front, "/v1/stream", None, &hello("anna"));
    let mut sse = Http::post(&front, "/v1/sse", None, &hello("mei"));
    let mut polled = Http::post(&front, "/v1/poll", None, &hello("raj"));
    let keys = [stream.key(), sse.key(), polled.key()];
    polled.until("]");
    polled.ask("/v1/poll", Some(&keys[2]), "");
    let mut tom = cluster.enter(&front, "tom");
    for round in ["before", "after"] {
        for to in ["anna", "mei", "raj"] {
            tom.sent(&format!("{round}-{to}"), to, &format!("{round}, to {to}"));
        }
        stream.until(&format!("{round}, to anna"));
        sse.until(&format!("{round}, to mei"));
        polled.until(&format!("{round}, to raj"));
        polled.ask("/v1/poll", Some(&keys[2]), "");
        for (key, from) in keys.iter().zip(["anna", "mei", "raj"]) {
            let body = format!("{round}, from {from}");
            let send = json!({ "t": "send", "id": format!("{round}-{from}"), "to": { "user": "tom" }, "body": &body });
            Http::post(&front, "/v1/send", Some(key), &send.to_string()).until("HTTP/1.1 204");
            tom.message(&body);
        }
        polled.until("ack");
        polled.ask("/v1/poll", Some(&keys[2]), "");
        if round == "before" {
            home.signal("KILL");
            home.wait();
            linked(&front, false);
            home = cluster.home();
            linked(&front, true);
        }
    }
    assert_eq!(front.metric("kith_cluster_sessions{slot=\"0\"}"), 4.0);
}

#[test]
fn members_of_a_front_that_dies_come_back_through_another() {
    let cluster = Cluster::new("cluster-front");
    let home = cluster.home();
    let (a, mut b) = (cluster.front("a"), cluster.front("b"));
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&b, "tom"));
    tom.sent("m1", "anna", "before");
    anna.message("before");
    b.signal("KILL");
    b.wait();
    assert!(tom.next().is_none_or(|event| event["t"] != "bye"), "the connection ends without a word");
    anna.sent("m2", "tom", "meanwhile");
    let token = token(&cluster.scratch, "tom");
    let position = tom.position.clone();
    let tom = poll("a welcome", || Client::try_enter(a.http, &token, "tom", position.as_deref())).welcome;
    assert!(tom.to_string().contains("meanwhile"), "{tom}");
    // The home takes the sessions of the dead front out.
    poll("one link", || (home.metric("kith_cluster_links") == 1.0).then_some(()));
}

#[test]
fn connections_survive_a_restart_of_nats() {
    let mut cluster = Cluster::new("cluster-nats");
    let _home = cluster.home();
    let (a, b) = (cluster.front("a"), cluster.front("b"));
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&b, "tom"));
    anna.sent("m1", "tom", "before");
    tom.message("before");
    cluster.nats.kill();
    linked(&a, false);
    linked(&b, false);
    cluster.nats.start_again();
    linked(&a, true);
    linked(&b, true);
    anna.sent("m2", "tom", "after");
    tom.message("after");
}

/// Each worker once lacked the descriptor that wakes the thread of the bus.
#[test]
#[cfg(target_os = "linux")]
fn nodes_whose_workers_have_descriptors_of_their_own_serve_members() {
    let cluster = Cluster::new("cluster-tables");
    let mut flags = cluster.flags(PASSWORD);
    flags.push("--private-descriptors".into());
    let of_home: Vec<&str> = flags.iter().map(String::as_str).collect();
    let home = Running::start(&cluster.scratch, "demo", &of_home);
    flags.extend(["--role".into(), "front".into()]);
    let of_front: Vec<&str> = flags.iter().map(String::as_str).collect();
    let a = Running::start_at(&cluster.scratch, "serve", &cluster.scratch.path().join("a"), &of_front);
    linked(&a, true);
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&home, "tom"));
    anna.sent("m1", "tom", "from a front");
    tom.message("from a front");
    tom.sent("m2", "anna", "from the home");
    anna.message("from the home");
    for node in [&a, &home] {
        assert_eq!(node.metric("kith_edge_panics_total"), 0.0);
    }
}

#[test]
fn a_front_passes_requests_for_pages_and_rest_on_to_the_home() {
    let cluster = Cluster::new("cluster-rest");
    let home = cluster.home();
    let a = cluster.front("a");
    let page = a.get("/");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert_eq!(page.split("\r\n\r\n").nth(1), home.get("/").split("\r\n\r\n").nth(1), "the page of the home");
    assert!(a.get("/no/such/page").starts_with("HTTP/1.1 404"));
    let forged = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nkith-cluster-secret: guessed\r\nConnection: close\r\n\r\n",
        home.http
    );
    assert!(home.raw(forged.as_bytes()).starts_with("HTTP/1.1 403"));
    let status = cluster.scratch.say(&format!("cluster status --data {}", cluster.scratch.data().display()));
    assert!(status.contains("role            home") && status.contains("fronts          1"), "{status}");
}

#[test]
fn nats_keeps_a_node_without_the_password_out() {
    let cluster = Cluster::new("cluster-stranger");
    let home = cluster.home();
    let stranger = cluster.front_with("stranger", "guessed");
    poll("the refusal", || stranger.log().contains("cannot connect with NATS").then_some(()));
    assert_eq!(stranger.metric("kith_cluster_linked{slot=\"0\"}"), 0.0);
    assert_eq!(home.metric("kith_cluster_links"), 0.0);
    assert!(!stranger.log().contains("guessed"), "passwords stay out of logs");
    assert!(stranger.get("/").starts_with("HTTP/1.1 503"));
}

#[test]
fn an_app_on_one_front_and_the_widget_on_another_talk_and_share_a_picture() {
    let cluster = Cluster::new("cluster-xmpp");
    let settings = cluster.scratch.path().join("app.toml");
    let lines = "public_url = \"http://kith.example\"\n[xmpp]\nweb = \"on\"\nallow_plain = true\n";
    std::fs::write(&settings, lines).unwrap();
    let config = ["--config".to_owned(), settings.display().to_string()];
    let start = |command: &str, name: &str, role: &str| {
        let mut flags = cluster.flags(PASSWORD);
        flags.extend(config.clone());
        flags.extend(["--role".into(), role.into()]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        Running::start_at(&cluster.scratch, command, &cluster.scratch.path().join(name), &flags)
    };
    let _home = start("demo", "data", "home");
    let (a, b) = (start("serve", "a", "front"), start("serve", "b", "front"));
    linked(&a, true);
    linked(&b, true);
    let mut tom = cluster.enter(&b, "tom");
    let mut app = App::sign_in(&a, "anna", &token(&cluster.scratch, "anna"));
    let chat = |id: &str, body: &str| {
        format!(
            "<message xmlns='jabber:client' type='chat' to='tom@demo' id='{id}'><body>{body}</body></message>"
        )
    };
    app.say(&chat("app-1", "from the app"));
    assert_eq!(tom.message("from the app")["from"], "anna");
    app.say("<presence xmlns='jabber:client'/>");
    tom.sent("m1", "anna", "from the widget");
    app.ask(
        "<iq xmlns='jabber:client' type='get' id='p'><ping xmlns='urn:xmpp:ping'/></iq>",
        "from the widget",
    );

    // The upload and the download go through a front, too.
    let file = format!("<request xmlns='urn:xmpp:http:upload:0' filename='dot.gif' size='{}'/>", GIF.len());
    let slot =
        app.ask(&format!("<iq xmlns='jabber:client' type='get' id='u' to='demo'>{file}</iq>"), "id='u'");
    let put = between(&slot, "<put url='http://kith.example", "'");
    let authorization = between(&slot, "<header name='Authorization'>", "</header>");
    let get = between(&slot, "<get url='", "'").replace("http://kith.example", "").replace("&amp;", "&");
    let fields = format!("Authorization: {authorization}\r\n");
    let (status, answer) = request(&b, &format!("PUT {put}"), &fields, GIF);
    assert_eq!(status, 201, "{answer}");
    let (status, answer) = request(&a, &format!("GET {get}"), "", b"");
    assert!(status == 200 && answer.contains("image/png"), "{answer}");
}
