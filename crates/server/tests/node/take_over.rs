//! A new version in place: members do not notice it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::files::{acquainted, answer, base64, bytes_in, member, send};
use crate::running::{PATIENCE, Running, Scratch, poll, text};
use crate::upload_of_app::{App, between};

/// The texts of all messages with Tom, without those of the demo community.
fn new_bodies(anna: &mut Client) -> Vec<String> {
    let all = anna.history("tom");
    let bodies = all.iter().map(|message| message["body"].as_str().unwrap().to_owned());
    bodies.skip_while(|body| body != "before 0" && body != "round 0").collect()
}

fn successor(scratch: &Scratch) -> Running {
    Running::start(scratch, "serve", &["--take-over"])
}

#[test]
fn members_talk_through_several_take_overs_and_no_connection_ends() {
    let scratch = Scratch::new("take-over");
    let mut node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let http = node.http;
    for round in 0..3 {
        anna.sent(&format!("a{round}"), "tom", &format!("before {round}"));
        tom.message(&format!("before {round}"));
        // On its way during the take-over.
        anna.say(json!({ "t": "typing", "to": { "user": "tom" } })).unwrap();
        tom.send(&format!("t{round}"), "anna", &format!("meanwhile {round}")).unwrap();
        let new = successor(&scratch);
        assert_eq!(new.http, http, "the address is the same");
        assert_eq!(node.wait().code(), Some(0), "{}", node.log());
        node = new;
        tom.acked(&format!("t{round}"));
        anna.message(&format!("meanwhile {round}"));
        anna.sent(&format!("b{round}"), "tom", &format!("after {round}"));
        tom.message(&format!("after {round}"));
    }
    let expected: Vec<String> = (0..3)
        .flat_map(|round| ["before", "meanwhile", "after"].map(|when| format!("{when} {round}")))
        .collect();
    assert_eq!(new_bodies(&mut anna), expected);
    assert_eq!(node.metric("kith_chat_sessions"), 2.0);
    // Neither was told to resume.
    for client in [&mut anna, &mut tom] {
        client.say(json!({ "t": "ping", "rid": 99 })).unwrap();
        let pong = client.expect("pong", |event| event["t"] == "pong" || event["t"] == "behind");
        assert_eq!(pong["t"], "pong");
    }
    // Newcomers are welcome, and nobody takes over what has ended.
    let mut raj = Client::enter(&scratch, &node, "raj");
    raj.sent("r1", "anna", "hello");
    anna.message("hello");
}

#[test]
fn watchers_see_no_change_of_presence() {
    let scratch = Scratch::new("take-over-presence");
    let mut node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let tom_token = token(&scratch, "tom");
    let mut tom = Client::try_enter(node.http, &tom_token, "tom", None).unwrap();
    anna.say(json!({ "t": "watch", "users": ["tom"] })).unwrap();
    anna.expect("tom is here", |event| {
        event["t"] == "presence" && event["user"] == "tom" && event["presence"] == "online"
    });
    let new = successor(&scratch);
    node.wait();
    tom.sent("m1", "anna", "still here");
    loop {
        let event = anna.next().expect("the connection holds");
        assert!(event["t"] != "presence" || event["presence"] != "offline", "{event}");
        if event["t"] == "message" {
            break;
        }
    }
    drop(tom);
    anna.expect("tom left", |event| {
        event["t"] == "presence" && event["user"] == "tom" && event["presence"] == "offline"
    });
    drop(new);
}

/// An app with XMPP over TCP.
pub(crate) struct TcpApp {
    pub(crate) stream: TcpStream,
    received: String,
}

impl TcpApp {
    fn authenticated(scratch: &Scratch, port: u16, user: &str) -> TcpApp {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut app = TcpApp { stream, received: String::new() };
        let open = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' to='demo' version='1.0'>";
        app.ask(open, "</stream:features>");
        let plain = base64(&format!("\0{user}\0{}", token(scratch, user)));
        app.ask(
            &format!("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{plain}</auth>"),
            "<success",
        );
        app.ask(open, "</stream:features>");
        app
    }

    pub(crate) fn sign_in(scratch: &Scratch, port: u16, user: &str) -> TcpApp {
        TcpApp::sign_in_to_resume(scratch, port, user).0
    }

    /// With the id of the stream.
    fn sign_in_to_resume(scratch: &Scratch, port: u16, user: &str) -> (TcpApp, String) {
        let mut app = TcpApp::authenticated(scratch, port, user);
        let bind = "<bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>";
        app.ask(&format!("<iq type='set' id='bind'>{bind}</iq>"), "</iq>");
        let enabled = app.ask("<enable xmlns='urn:xmpp:sm:3' resume='true'/>", "max=");
        app.ask("<presence/>", "");
        let id = between(&enabled, " id='", "'").to_owned();
        (app, id)
    }

    /// Sends this, and returns what comes until these words.
    pub(crate) fn ask(&mut self, xml: &str, words: &str) -> String {
        self.stream.write_all(xml.as_bytes()).unwrap();
        self.until(words)
    }

    pub(crate) fn until(&mut self, words: &str) -> String {
        while !self.received.contains(words) {
            let mut bytes = [0; 4096];
            let read = self.stream.read(&mut bytes).unwrap();
            assert!(read > 0, "the stream ended before {words}: {}", self.received);
            self.received.push_str(&text(&bytes[..read]));
        }
        std::mem::take(&mut self.received)
    }
}

#[test]
fn apps_stay_in_their_rooms_and_resume_streams_that_they_had_lost() {
    let scratch = Scratch::new("take-over-rooms");
    let (settings, port) = with_xmpp(&scratch);
    let flags = ["--config", &settings];
    let mut node = Running::start(&scratch, "demo", &flags);
    let mut anna = Client::enter(&scratch, &node, "anna");
    anna.say(json!({ "t": "create_room", "rid": 1, "name": "Climbers", "kind": "public" })).unwrap();
    let made = anna.expect("the room", |event| event["t"] == "conversation" && event["re"] == 1);
    let room = made["conversation"]["conversation"].as_str().unwrap().to_owned();
    let number = u64::from_str_radix(&room, 16).unwrap() & !(1 << 63);
    let enters = |nick: &str| {
        let muc = "<x xmlns='http://jabber.org/protocol/muc'/>";
        format!("<presence to='{number}@rooms.demo/{nick}'>{muc}</presence>")
    };
    let mut tom = TcpApp::sign_in(&scratch, port, "tom");
    tom.ask(&enters("Tommy"), "<subject");
    let (mei, stream) = TcpApp::sign_in_to_resume(&scratch, port, "mei");
    drop(mei);
    poll("her connection has ended", || (node.metric("kith_chat_sessions") == 2.0).then_some(()));
    anna.sent("m1", "mei", "while you were away");
    let new = Running::start(&scratch, "serve", &[&flags[..], &["--take-over"]].concat());
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    node = new;
    anna.say(json!({ "t": "send", "id": "r1", "to": { "conversation": room }, "body": "to all" })).unwrap();
    tom.until("to all");
    let body = "<body>from the room</body>";
    let message = format!(
        "<message type='groupchat' to='{number}@rooms.demo' id='of-the-app-of-tom-0001'>{body}</message>"
    );
    tom.stream.write_all(message.as_bytes()).unwrap();
    anna.message("from the room");
    // Others see him there.
    let mut raj = TcpApp::sign_in(&scratch, port, "raj");
    raj.ask(&enters("Raj"), "/Tommy'");
    tom.until("/Raj'");
    let mut mei = TcpApp::authenticated(&scratch, port, "mei");
    let resumed =
        mei.ask(&format!("<resume xmlns='urn:xmpp:sm:3' previd='{stream}' h='0'/>"), "while you were away");
    assert!(resumed.contains("<resumed"), "{resumed}");
    drop(node);
}

#[test]
fn apps_go_on_over_tcp_and_websocket_with_their_stream_management() {
    let scratch = Scratch::new("take-over-xmpp");
    let (settings, port) = with_xmpp(&scratch);
    let flags = ["--config", &settings];
    let mut node = Running::start(&scratch, "demo", &flags);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tcp = TcpApp::sign_in(&scratch, port, "tom");
    let mut web = App::sign_in(&node, "mei", &token(&scratch, "mei"));
    web.say("<presence xmlns='jabber:client'/>");
    for round in 0..2 {
        let new = Running::start(&scratch, "serve", &[&flags[..], &["--take-over"]].concat());
        assert_eq!(node.wait().code(), Some(0), "{}", node.log());
        node = new;
        anna.sent(&format!("t{round}"), "tom", &format!("to tom {round}"));
        anna.sent(&format!("m{round}"), "mei", &format!("to mei {round}"));
        tcp.until(&format!("to tom {round}"));
        // A ping, and the count of stanzas that the stream has had since its beginning.
        tcp.ask("<iq type='get' id='p' to='demo'><ping xmlns='urn:xmpp:ping'/></iq>", "id='p'");
        tcp.ask("<r xmlns='urn:xmpp:sm:3'/>", &format!("h='{}'", 2 + 3 * round));
        let ping = "<iq xmlns='jabber:client' type='get' id='p' to='demo'><ping xmlns='urn:xmpp:ping'/></iq>";
        web.ask(ping, "id='p'");
        for (from, xml) in [("tom", None), ("mei", Some(()))] {
            let body = format!("from {from} {round}");
            let id = format!("{from}-{round}-of-an-app-1");
            let message = format!(
                "<message xmlns='jabber:client' type='chat' to='anna@demo' id='{id}'><body>{body}</body></message>"
            );
            match xml {
                Some(()) => web.say(&message),
                None => tcp.stream.write_all(message.as_bytes()).unwrap(),
            }
            anna.message(&body);
        }
        tcp.stream.write_all(b"<presence/>").unwrap();
    }
}

/// A file of settings with XMPP without TLS, and its port.
fn with_xmpp(scratch: &Scratch) -> (String, u16) {
    let settings = scratch.path().join("app.toml");
    let port = free_port();
    fs::write(&settings, format!("[xmpp]\nlisten = \"127.0.0.1:{port}\"\nallow_plain = true\n")).unwrap();
    (settings.display().to_string(), port)
}

/// Below the ports that the system gives to outgoing connections, so that it stays free until the node listens.
pub(crate) fn free_port() -> u16 {
    loop {
        let port = rand::random_range(20_000..30_000);
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A request over HTTP whose connection stays.
pub(crate) struct Http {
    stream: TcpStream,
    received: String,
}

impl Http {
    pub(crate) fn post(node: &Running, path: &str, key: Option<&str>, body: &str) -> Http {
        let stream = TcpStream::connect(node.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut http = Http { stream, received: String::new() };
        http.ask(path, key, body);
        http
    }

    pub(crate) fn ask(&mut self, path: &str, key: Option<&str>, body: &str) {
        let key = key.map(|key| format!("authorization: Kith {key}\r\n")).unwrap_or_default();
        let length = body.len();
        let request =
            format!("POST {path} HTTP/1.1\r\nhost: x\r\n{key}content-length: {length}\r\n\r\n{body}");
        self.stream.write_all(request.as_bytes()).unwrap();
    }

    /// The key in the welcome.
    pub(crate) fn key(&mut self) -> String {
        self.until(r#""key":""#);
        self.until("\"").trim_end_matches('"').to_owned()
    }

    /// Reads until this text has come, and returns everything up to its end.
    pub(crate) fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = self.received.find(end) {
                let rest = self.received.split_off(at + end.len());
                return std::mem::replace(&mut self.received, rest);
            }
            let mut bytes = [0; 4096];
            let read = self.stream.read(&mut bytes).unwrap();
            assert!(read > 0, "the connection ended before {end}; it had {}", self.received);
            self.received.push_str(&text(&bytes[..read]));
        }
    }
}

#[test]
fn stream_sse_and_poll_go_on_with_their_keys() {
    let scratch = Scratch::new("take-over-http");
    let mut node = Running::demo(&scratch);
    let hello = |user: &str| {
        let token = token(&scratch, user);
        json!({ "t": "hello", "v": 1, "site": "demo", "token": token, "device": format!("d-{user}") })
            .to_string()
    };
    let mut stream = Http::post(&node, "/v1/stream", None, &hello("anna"));
    let stream_key = stream.key();
    let mut sse = Http::post(&node, "/v1/sse", None, &hello("mei"));
    let sse_key = sse.key();
    let mut poll = Http::post(&node, "/v1/poll", None, &hello("raj"));
    let poll_key = poll.key();
    poll.until("]");
    // It waits for events.
    poll.ask("/v1/poll", Some(&poll_key), "");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let new = successor(&scratch);
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    for (number, to) in ["anna", "mei", "raj"].into_iter().enumerate() {
        tom.sent(&format!("m{number}"), to, &format!("to {to}"));
    }
    stream.until("to anna");
    sse.until("to mei");
    // Its poll was answered, and the next one brings the message.
    poll.until("[]");
    poll.ask("/v1/poll", Some(&poll_key), "");
    poll.until("to raj");
    for (key, from) in [(&stream_key, "anna"), (&sse_key, "mei"), (&poll_key, "raj")] {
        let send =
            json!({ "t": "send", "id": "x1", "to": { "user": "tom" }, "body": format!("from {from}") });
        let mut posted = Http::post(&new, "/v1/send", Some(key), &send.to_string());
        posted.until("HTTP/1.1 204");
        tom.message(&format!("from {from}"));
    }
}

#[test]
fn the_old_process_waits_for_an_upload_and_answers_it() {
    let scratch = Scratch::new("take-over-upload");
    let mut node = Running::demo(&scratch);
    let [mut anna, mut ben] = acquainted(&scratch, &node);
    let bytes = bytes_of_file();
    let (location, mut upload) = half_sent(&scratch, &node, &bytes);
    let new = thread::scope(|scope| {
        let starting = scope.spawn(|| successor(&scratch));
        poll("a successor", || node.log().contains("a successor takes over").then_some(()));
        // Members do not wait.
        anna.sent("a-meanwhile", "u-ben", "The file is on its way");
        ben.message("The file is on its way");
        assert!(!node.log().contains("the successor serves"), "the upload is not complete: {}", node.log());
        upload.write_all(&bytes[HALF..]).unwrap();
        let done = answer(upload);
        assert_eq!((done.status, done.field("upload-offset")), (204, Some(&*bytes.len().to_string())));
        starting.join().unwrap()
    });
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    assert!(posted(&scratch, &new, &location, &mut anna, &mut ben) == bytes, "every byte is at its place");
}

#[test]
fn the_deadline_ends_an_upload_that_stalls_and_the_client_resumes_it() {
    let scratch = Scratch::new("take-over-stalled");
    let mut node = Running::demo(&scratch);
    let [mut anna, mut ben] = acquainted(&scratch, &node);
    let bytes = bytes_of_file();
    let (location, mut upload) = half_sent(&scratch, &node, &bytes);
    let begin = Instant::now();
    let new = successor(&scratch);
    assert!(begin.elapsed() >= DRAIN, "the old process waits for it: {:?}", begin.elapsed());
    let mut received = Vec::new();
    upload.read_to_end(&mut received).unwrap();
    assert_eq!(text(&received), "", "the connection ends without an answer");
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    let sender = member(&scratch, &new, "u-anna");
    assert_eq!(sender.offset(&location), HALF, "received bytes are kept");
    let done = sender.piece(&location, HALF, &bytes[HALF..]);
    assert_eq!((done.status, done.field("upload-offset")), (204, Some(&*bytes.len().to_string())));
    assert!(posted(&scratch, &new, &location, &mut anna, &mut ben) == bytes, "every byte is at its place");
}

/// The time for uploads and downloads to end: `DRAIN` of the server.
const DRAIN: Duration = Duration::from_secs(10);

/// Half of the bytes of a file.
const HALF: usize = 100_000;

fn bytes_of_file() -> Vec<u8> {
    (0..2 * HALF as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Anna begins to upload a file for Ben in one request, and the node has stored half of it. Returns the address of the upload, and the
/// connection of the request.
fn half_sent(scratch: &Scratch, node: &Running, bytes: &[u8]) -> (String, TcpStream) {
    let sender = member(scratch, node, "u-anna");
    let location = sender.begin("u-ben", "notes.bin", bytes.len());
    let fields = [("Upload-Offset", "0"), ("Content-Type", "application/offset+octet-stream")];
    let mut upload = TcpStream::connect(node.http).unwrap();
    upload.set_read_timeout(Some(PATIENCE)).unwrap();
    upload.write_all(sender.head("PATCH", &location, &fields, bytes.len()).as_bytes()).unwrap();
    upload.write_all(&bytes[..HALF]).unwrap();
    let folder = scratch.data().join("files");
    poll("the first half", || (bytes_in(&folder) == HALF as u64).then_some(()));
    (location, upload)
}

/// Anna sends the uploaded file to Ben over her open connection. Returns the bytes that he downloads.
fn posted(scratch: &Scratch, node: &Running, location: &str, anna: &mut Client, ben: &mut Client) -> Vec<u8> {
    let described = member(scratch, node, "u-anna").get(location, &[]);
    assert_eq!(described.status, 200, "{}", text(&described.body));
    let file: Value = serde_json::from_slice(&described.body).unwrap();
    assert_eq!(send(anna, "a-file", "u-ben", &[&file])["t"], "ack");
    let message = ben.expect("the file", |event| event["t"] == "message" && event["id"] == "a-file");
    let got = member(scratch, node, "u-ben").get(message["files"][0]["url"].as_str().unwrap(), &[]);
    assert_eq!(got.status, 200, "{}", text(&got.body));
    got.body
}

/// As `systemctl reload` does by the unit file.
#[test]
fn sigusr2_starts_the_program_anew_and_the_service_manager_learns_of_it() {
    let mut scratch = Scratch::new("take-over-reload");
    drop(Running::demo(&scratch));
    let socket = scratch.path().join("notify");
    let mut manager = ServiceManager::listen(&socket);
    scratch.set_variable("NOTIFY_SOCKET", socket.display().to_string());
    let mut node = Running::start(&scratch, "serve", &[]);
    manager.until("READY=1");
    let (mut anna, mut tom) = (Client::enter(&scratch, &node, "anna"), Client::enter(&scratch, &node, "tom"));
    node.signal("USR2");
    manager.until("RELOADING=1\nMONOTONIC_USEC=");
    manager.heard.clear();
    let _new = Orphan(manager.until("MAINPID=").trim_start_matches("MAINPID=").to_owned());
    manager.until("READY=1");
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    anna.sent("m1", "tom", "after the reload");
    tom.message("after the reload");
}

/// The end of systemd for sd_notify(3).
struct ServiceManager {
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl ServiceManager {
    fn listen(path: &Path) -> ServiceManager {
        let socket = UnixDatagram::bind(path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        ServiceManager { socket, heard: Vec::new() }
    }

    /// The first report that begins so.
    fn until(&mut self, begin: &str) -> String {
        loop {
            if let Some(found) = self.heard.iter().find(|report| report.starts_with(begin)) {
                return found.clone();
            }
            let mut bytes = [0; 4_096];
            let length = self.socket.recv(&mut bytes).unwrap_or_else(|error| panic!("no {begin}: {error}"));
            self.heard.push(text(&bytes[..length]));
        }
    }
}

/// A process that is no child of this one, by its id; killed when dropped.
struct Orphan(String);

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", &self.0]).status();
    }
}

#[test]
fn a_successor_that_cannot_start_leaves_the_node_as_it_was() {
    let scratch = Scratch::new("take-over-refused");
    let mut node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    // A check before the old process stops anything: another server has the port.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let data = scratch.data().display().to_string();
    let address = taken.local_addr().unwrap().to_string();
    let output = scratch.run(["serve", "--take-over", "--data", &data, "--http", &address]);
    assert!(!output.status.success() && text(&output.stderr).contains("cannot listen"), "{output:?}");
    anna.sent("m1", "tom", "as before");
    tom.message("as before");
    // A mistake that is found after the old process has closed the database.
    let mut late = scratch.kith();
    late.args(["serve", "--take-over", "--data", &data, "--http", "127.0.0.1:0"]);
    let output = late.env("KITH_PUSH_AUTHORITY", "/nowhere/authority.pem").output().unwrap();
    assert!(!output.status.success() && text(&output.stderr).contains("push.authority"), "{output:?}");
    tom.sent("m2", "anna", "and it goes on");
    anna.message("and it goes on");
    assert!(node.log().contains("this process serves again"), "{}", node.log());
    assert!(node.is_running());
    // A third one works.
    let new = successor(&scratch);
    assert_eq!(node.wait().code(), Some(0), "{}", node.log());
    anna.sent("m3", "tom", "at last");
    tom.message("at last");
    assert_eq!(new.metric("kith_chat_sessions"), 2.0);
}

#[test]
fn a_successor_killed_at_any_moment_loses_no_message() {
    let scratch = Scratch::new("take-over-killed");
    let mut node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let data = scratch.data().display().to_string();
    // Later and later, until one has taken over before its time.
    for (round, after) in (0..).map(|round| (round, Duration::from_millis(15 * round))) {
        let mut new = scratch
            .kith()
            .args(["serve", "--take-over", "--data", &data, "--http", "127.0.0.1:0"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        poll("its time", || (begin.elapsed() >= after || !node.is_running()).then_some(()));
        new.kill().unwrap();
        new.wait().unwrap();
        if poll("the outcome", || has_ended(&mut node, &mut anna, &mut tom, round)) {
            break;
        }
    }
    let node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let bodies = new_bodies(&mut anna);
    let expected: Vec<String> = (0..bodies.len()).map(|round| format!("round {round}")).collect();
    assert_eq!(bodies, expected, "each once, and in order");
}

/// A message goes through the old process, or that has ended, because the killed one had everything.
fn has_ended(node: &mut Running, anna: &mut Client, tom: &mut Client, round: u64) -> Option<bool> {
    let body = format!("round {round}");
    let is_sent = anna.send(&format!("k{round}"), "tom", &body).is_some();
    if !is_sent || anna.try_acked(&format!("k{round}")).is_none() {
        node.wait();
        return Some(true);
    }
    tom.message(&body);
    Some(false)
}

#[test]
fn the_socket_is_for_this_user_only_and_takes_no_nonsense() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new("take-over-socket");
    let node = Running::demo(&scratch);
    let path = scratch.data().join("take-over.sock");
    poll("the socket", || path.exists().then_some(()));
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for bytes in [&b""[..], b"\xff\xff\xff\xff", b"\x02\x00\x00\x00{}", b"\x05\x00\x00\x00hello"] {
        let mut socket = UnixStream::connect(&path).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.write_all(bytes).unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(socket.read(&mut [0; 8]).unwrap_or(0), 0, "no answer");
    }
    let refusal =
        scratch.fails(&format!("serve --take-over --data {}", scratch.path().join("none").display()));
    assert!(refusal.contains("cannot take over") && refusal.contains("without --take-over"), "{refusal}");
    assert!(node.get("/healthz").starts_with("HTTP/1.1 200"));
}
