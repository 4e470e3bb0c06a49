//! A node of two workers without sockets: clients of all transports, virtual time, mail carried by hand.
#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing;
use chat::token::{Claims, sign};
use chat::{
    CallConfig, Delivery, Event, Mode, Node, NodeConfig, Outbox, Port, Secret, SecretKind, SessionHandle,
    Site, SiteId, SiteStore, Timestamp, Turn, messages,
};
use edge::testing::{Harness, START_UNIX_MS};
use edge::{EdgeConfig, Handle, Inbox, Protocol as _};
use serde_json::{Value, json};
use store::Sqlite;
use tungstenite::protocol::{Role, WebSocket};
use web::{Assets, Counters, File, Gateway, Mail, SessionKeys, Shared, WebConfig, WebOutbox};

pub const SITE: &str = "forum";
pub const PAGE: &str = "https://forum.example";

/// How a session is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    WebSocket,
    Stream,
    Sse,
    Poll,
}

pub const CARRIERS: [Carrier; 4] = [Carrier::WebSocket, Carrier::Stream, Carrier::Sse, Carrier::Poll];

pub struct Scene {
    workers: Vec<Harness<Gateway>>,
    inboxes: Vec<Inbox<Mail>>,
    pub shared: Arc<Shared>,
    pub node: Arc<Node>,
    pub store: Arc<Sqlite>,
    runtime: tokio::runtime::Runtime,
    now_ms: u64,
    /// A worker that takes no mail.
    held: Option<usize>,
    messages_panic: Arc<AtomicBool>,
}

/// An outbox that stands for any bug in the delivery: while it is asked to, it turns each message into a mail which
/// makes the gateway panic, because it names a frame that is not there.
struct FaultyOutbox {
    outbox: WebOutbox,
    messages_panic: Arc<AtomicBool>,
}

impl FaultyOutbox {
    /// True: that was done.
    fn panics(&self, to: impl Iterator<Item = SessionHandle>, deliveries: &[Delivery]) -> bool {
        let is_message =
            |delivery: &Delivery| matches!(delivery.event, Event::Messages(messages::Event::Message(_)));
        let panics = deliveries.iter().any(is_message) && self.messages_panic.load(Ordering::Relaxed);
        if panics {
            let to: Vec<_> = to.map(|to| (to, 7)).collect();
            self.outbox.deliver_each(&to, Vec::new());
        }
        panics
    }
}

impl Outbox for FaultyOutbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        if !self.panics(to.iter().copied(), std::slice::from_ref(&delivery)) {
            self.outbox.deliver(to, delivery);
        }
    }

    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        if !self.panics(to.iter().map(|(to, _)| *to), &deliveries) {
            self.outbox.deliver_each(to, deliveries);
        }
    }
}

/// One connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    pub worker: usize,
    pub handle: Handle,
}

impl Scene {
    pub fn new() -> Scene {
        Scene::with(WebConfig::default())
    }

    pub fn with(config: WebConfig) -> Scene {
        Scene::with_limits(config, limits())
    }

    pub fn with_limits(config: WebConfig, limits: chat::Limits) -> Scene {
        Scene::with_mailboxes(config, limits, edge::MAILBOX_WEIGHT)
    }

    /// Mailboxes have room for so many deliveries.
    pub fn with_mailboxes(config: WebConfig, limits: chat::Limits, room: usize) -> Scene {
        Scene::build(config, limits, room, |node| Arc::clone(node).into())
    }

    /// The gateways of a front: they call the domain through this port.
    pub fn of_a_front(port: impl FnOnce(&Arc<Node>) -> Port) -> Scene {
        Scene::build(WebConfig::default(), limits(), edge::MAILBOX_WEIGHT, port)
    }

    fn build(
        config: WebConfig,
        limits: chat::Limits,
        room: usize,
        port: impl FnOnce(&Arc<Node>) -> Port,
    ) -> Scene {
        let store = Arc::new(Sqlite::in_memory());
        store.add_site(&site()).unwrap();
        let (mailboxes, inboxes) = edge::bounded_mailboxes(2, room);
        let clock = || Timestamp(START_UNIX_MS);
        let messages_panic = Arc::new(AtomicBool::new(false));
        let outbox = WebOutbox::new(mailboxes.clone(), &limits, &config, clock);
        let outbox = Arc::new(FaultyOutbox { outbox, messages_panic: messages_panic.clone() });
        let node_config = NodeConfig {
            limits,
            presence_grace_ms: 10_000,
            presence_coalesce_ms: 100,
            clock_skew_ms: 60_000,
            calls: calls(),
            app_passwords: true,
        };
        let node = Arc::new(Node::new(node_config, store.clone(), outbox, [7; 32]));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let shared = Arc::new(Shared {
            node: port(&node),
            mailboxes,
            config,
            assets: assets(),
            counters: Arc::new(Counters::default()),
            router: router()
                .merge(web::ice_routes(node.clone(), || Timestamp(START_UNIX_MS)))
                .merge(web::site_api(node.clone(), || Timestamp(START_UNIX_MS))),
            runtime: runtime.handle().clone(),
            keys: SessionKeys::new([9; 32]),
        });
        let workers = (0..2)
            .map(|worker| {
                Harness::with_worker(
                    EdgeConfig::default(),
                    worker,
                    2,
                    Gateway::new(worker, Arc::clone(&shared)),
                )
            })
            .collect();
        Scene {
            workers,
            inboxes,
            shared,
            node,
            store,
            runtime,
            now_ms: START_UNIX_MS,
            held: None,
            messages_panic,
        }
    }

    pub fn connect(&mut self, worker: usize) -> Line {
        Line { worker, handle: self.workers[worker].connect() }
    }

    pub fn feed(&mut self, line: Line, bytes: impl AsRef<[u8]>) {
        self.workers[line.worker].feed(line.handle, bytes.as_ref());
        self.settle();
    }

    pub fn output(&mut self, line: Line) -> Vec<u8> {
        self.workers[line.worker].output(line.handle)
    }

    pub fn text(&mut self, line: Line) -> String {
        String::from_utf8(self.output(line)).unwrap()
    }

    /// Feeds a request on a connection of its own and answers what comes.
    pub fn ask(&mut self, request: &str) -> String {
        let line = self.connect(0);
        self.feed(line, request);
        self.text(line)
    }

    pub fn end(&mut self, line: Line) {
        self.workers[line.worker].end(line.handle);
        self.settle();
    }

    pub fn reset(&mut self, line: Line) {
        self.workers[line.worker].reset(line.handle);
        self.settle();
    }

    pub fn set_room(&mut self, line: Line, bytes: Option<usize>) {
        self.workers[line.worker].set_room(line.handle, bytes);
        self.settle();
    }

    pub fn pending(&mut self, line: Line) -> usize {
        self.workers[line.worker].pending(line.handle)
    }

    /// We have closed our side.
    pub fn is_ended(&self, line: Line) -> bool {
        self.workers[line.worker].saw_end(line.handle)
    }

    /// The connection moves to another process, which has its handle.
    pub fn take_over(&mut self, line: Line) {
        self.workers[line.worker].with_conns(|gateway, conns| {
            let now = conns.now();
            let (conn, mut io) = conns.get(line.handle).unwrap();
            let mut record = Vec::new();
            assert!(gateway.export(conn, now, &mut record));
            *conn = gateway.import(&record, &mut io).unwrap();
        });
        self.settle();
    }

    /// The wall clock jumps, ahead or back. No timer notices.
    pub fn set_clock(&mut self, jump_ms: i64) {
        for worker in &mut self.workers {
            worker.set_clock(jump_ms);
        }
        self.now_ms = self.now_ms.saturating_add_signed(jump_ms);
    }

    /// Time passes in ticks, for the node too.
    pub fn wait(&mut self, time: Duration) {
        let mut left = time;
        while !left.is_zero() {
            let step = left.min(Duration::from_millis(100));
            left -= step;
            for worker in &mut self.workers {
                worker.advance(step);
            }
            self.now_ms += step.as_millis() as u64;
            self.node.tick(Timestamp(self.now_ms));
            self.settle();
        }
    }

    /// From now on the mail of a worker waits in its mailbox, until it is let go.
    pub fn hold_mail(&mut self, worker: usize) {
        self.held = Some(worker);
    }

    pub fn let_mail_go(&mut self) {
        self.held = None;
        self.settle();
    }

    /// From now on the delivery of messages panics, or no longer.
    pub fn let_messages_panic(&self, on: bool) {
        self.messages_panic.store(on, Ordering::Relaxed);
    }

    /// Carries mail and runs the router until nothing moves.
    pub fn settle(&mut self) {
        loop {
            let tasks = async {
                for _ in 0..8 {
                    tokio::task::yield_now().await;
                }
            };
            self.runtime.block_on(tasks);
            let mut moved = false;
            for (number, (worker, inbox)) in self.workers.iter_mut().zip(&self.inboxes).enumerate() {
                if self.held == Some(number) {
                    continue;
                }
                for mail in inbox.drain() {
                    moved = true;
                    worker.mail(mail);
                }
            }
            if !moved {
                return;
            }
        }
    }

    pub fn token(&self, user: &str) -> String {
        let claims = Claims {
            sub: user.into(),
            name: Some(format!("The {user}")),
            exp: (self.now_ms / 1000 + 3600) as f64,
            ..Claims::default()
        };
        sign(&claims, &secret()).unwrap()
    }

    pub fn hello(&self, user: &str, device: &str, position: Option<&str>) -> String {
        let mut hello =
            json!({"t": "hello", "v": 1, "site": SITE, "token": self.token(user), "device": device});
        if let Some(position) = position {
            hello["position"] = position.into();
        }
        hello.to_string()
    }

    /// A member comes in; the welcome has been read.
    pub fn enter(&mut self, carrier: Carrier, user: &str) -> Client {
        self.enter_from(carrier, user, None)
    }

    pub fn enter_from(&mut self, carrier: Carrier, user: &str, position: Option<&str>) -> Client {
        let hello = self.hello(user, &format!("{user}-{carrier:?}"), position);
        let mut client = Client::open(self, carrier, &hello);
        let welcome = client.hear(self).remove(0);
        assert_eq!(welcome["t"], "welcome", "{welcome}");
        client.position = welcome["position"].as_str().unwrap().into();
        client.welcome = welcome;
        client
    }
}

pub fn limits() -> chat::Limits {
    chat::Limits::without_rates()
}

fn calls() -> CallConfig {
    let turn = Turn {
        urls: [Box::from("turn:im.example:3478")].into(),
        secret: (*b"what coturn knows").into(),
        life_ms: 3_600_000,
    };
    CallConfig {
        burst: 0,
        per_minute: 0,
        stun: [Box::from("stun:im.example:3478")].into(),
        turn: Some(turn),
        ..CallConfig::default()
    }
}

fn site() -> Site {
    Site {
        id: SiteId(0),
        key: SITE.into(),
        name: "Forum".into(),
        mode: Mode::Open,
        guests: false,
        origins: vec![PAGE.into()],
        secrets: vec![secret()],
        guest_keys: vec![Secret::new(SecretKind::Hs256, vec![9; 32], Timestamp(START_UNIX_MS))],
        public_url: None,
        domain: None,
        settings: chat::Settings::default(),
        created: Timestamp(START_UNIX_MS),
    }
}

pub fn secret() -> Secret {
    Secret::new(SecretKind::Hs256, b"a secret of this site".to_vec(), Timestamp(START_UNIX_MS))
}

fn assets() -> Assets {
    let large: Bytes = (0..3_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    Assets::new([
        File {
            path: "/kith.js".into(),
            content_type: "text/javascript",
            bytes: "let kith = 'kith';\n".repeat(100).into(),
            brotli: None,
            zstd: None,
            gzip: None,
            immutable: false,
        },
        File {
            path: "/kith/large.bin".into(),
            content_type: "application/octet-stream",
            // Nothing makes it smaller, so nobody must try.
            brotli: Some(large.clone()),
            zstd: None,
            gzip: Some(large.clone()),
            bytes: large,
            immutable: true,
        },
    ])
}

fn router() -> Router {
    Router::new()
        .route("/page", routing::get(|| async { "a page" }))
        .route("/echo", routing::post(|body: Bytes| async move { body }))
        .route("/large", routing::get(|| async { vec![b'x'; 3_000_000] }))
        .route("/empty", routing::get(|| async { StatusCode::NO_CONTENT }))
        .route("/never", routing::get(std::future::pending::<&'static str>))
        .route("/panics", routing::get(panics))
}

async fn panics() -> &'static str {
    std::panic::resume_unwind(Box::new("a handler's bug"))
}

/// An HTTP response at the beginning of the bytes: status, head, body, and what follows.
pub fn response(bytes: &[u8]) -> Option<(u16, String, Vec<u8>, &[u8])> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = head[9..12].parse().unwrap();
    let length = field(&head, "content-length").map_or(0, |length| length.parse().unwrap());
    let body = bytes.get(end..end + length)?;
    Some((status, head, body.to_vec(), &bytes[end + length..]))
}

/// The value of a header field.
pub fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (known, value) = line.split_once(": ")?;
        known.eq_ignore_ascii_case(name).then_some(value)
    })
}

pub fn post(path: &str, fields: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: chat.example\r\n{fields}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A client on any transport.
pub struct Client {
    pub carrier: Carrier,
    /// Where events come down.
    pub down: Line,
    /// Where commands go up: on the other worker, but for WebSocket.
    pub up: Line,
    pub key: Option<String>,
    /// The newest that was heard.
    pub position: String,
    pub welcome: Value,
    input: Vec<u8>,
    /// Requests by their `rid`, until they are answered.
    asked: HashMap<u64, String>,
    /// The judge of our frames is another implementation.
    socket: Option<WebSocket<Pipe>>,
    upgraded: bool,
}

impl Client {
    /// Says hello; the answer has not been read.
    pub fn open(scene: &mut Scene, carrier: Carrier, hello: &str) -> Client {
        let (down, up) = (scene.connect(0), scene.connect(1));
        let mut client = Client {
            carrier,
            down,
            up,
            key: None,
            position: String::new(),
            welcome: Value::Null,
            input: Vec::new(),
            asked: HashMap::new(),
            socket: None,
            upgraded: false,
        };
        match carrier {
            Carrier::WebSocket => {
                client.upgrade(scene, "");
                client.say(scene, hello);
            }
            Carrier::Stream => scene.feed(down, post("/v1/stream", "", hello)),
            Carrier::Sse => scene.feed(down, post("/v1/sse", "", hello)),
            Carrier::Poll => scene.feed(down, post("/v1/poll", "", hello)),
        }
        client
    }

    pub fn upgrade(&mut self, scene: &mut Scene, fields: &str) {
        let request = format!(
            "GET /v1/websocket HTTP/1.1\r\nHost: chat.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: kith.v1\r\n{fields}\r\n"
        );
        scene.feed(self.down, request);
        let answer = scene.text(self.down);
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        assert_eq!(field(&answer, "sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        assert_eq!(field(&answer, "sec-websocket-protocol"), Some("kith.v1"));
        self.socket = Some(WebSocket::from_raw_socket(Pipe::default(), Role::Client, None));
    }

    /// Sends a command the way of the transport.
    pub fn say(&mut self, scene: &mut Scene, frame: &str) {
        let json: Value = serde_json::from_str(frame).unwrap_or_default();
        if let Some(rid) = json["rid"].as_u64() {
            self.asked.insert(rid, frame.to_owned());
        }
        if let Some(socket) = &mut self.socket {
            socket.send(frame.into()).unwrap();
            let bytes = std::mem::take(&mut socket.get_mut().sent);
            return scene.feed(self.down, bytes);
        }
        let fields = format!("Authorization: Kith {}\r\n", self.key.as_deref().unwrap());
        scene.feed(self.up, post("/v1/send", &fields, frame));
        let answer = scene.text(self.up);
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
    }

    pub fn send(&mut self, scene: &mut Scene, to: &str, id: &str, body: &str) {
        let frame = json!({"t": "send", "id": id, "to": {"user": to}, "body": body});
        self.say(scene, &frame.to_string());
    }

    pub fn poll(&mut self, scene: &mut Scene) {
        let fields = format!("Authorization: Kith {}\r\n", self.key.as_deref().unwrap());
        scene.feed(self.down, post("/v1/poll", &fields, ""));
    }

    /// All events that have come; a poll client polls for them.
    pub fn hear(&mut self, scene: &mut Scene) -> Vec<Value> {
        if self.carrier == Carrier::Poll && self.key.is_some() && !scene.is_ended(self.down) {
            self.poll(scene);
        }
        self.hear_waiting(scene)
    }

    /// As above, without a new poll.
    pub fn hear_waiting(&mut self, scene: &mut Scene) -> Vec<Value> {
        let output = scene.output(self.down);
        self.input.extend(output);
        let events = match self.carrier {
            Carrier::WebSocket => self.messages(),
            Carrier::Stream | Carrier::Sse => self.lines(),
            Carrier::Poll => self.arrays(),
        };
        for event in &events {
            self.check_answer(event);
            if let Some(position) = event["position"].as_str() {
                self.position = position.into();
            }
            if event["t"] == "welcome"
                && let Some(key) = event["key"].as_str()
            {
                self.key = Some(key.into());
            }
        }
        events
    }

    /// Each answer in each scene is of a kind that the protocol's table has for the command.
    fn check_answer(&mut self, event: &Value) {
        let Some(frame) = event["re"].as_u64().and_then(|re| self.asked.remove(&re)) else { return };
        let Ok(command) = web_proto::Command::parse(frame.as_bytes()) else { return };
        let kind = event["t"].as_str().unwrap();
        let is_answer = kind == "error" || command.answered_by().contains(&kind);
        assert!(is_answer, "{frame} is answered by {kind}: see Command::answered_by");
    }

    /// The kinds of what was heard.
    pub fn kinds(&mut self, scene: &mut Scene) -> Vec<String> {
        self.hear(scene).iter().map(|event| event["t"].as_str().unwrap().to_owned()).collect()
    }

    fn messages(&mut self) -> Vec<Value> {
        let Some(socket) = &mut self.socket else { return Vec::new() };
        socket.get_mut().coming.extend(self.input.drain(..));
        let mut events = Vec::new();
        loop {
            match socket.read() {
                Ok(tungstenite::Message::Text(text)) => events.push(serde_json::from_str(&text).unwrap()),
                Ok(tungstenite::Message::Close(frame)) => {
                    let code = frame.map(|frame| u16::from(frame.code));
                    events.push(json!({"t": "closed", "code": code}));
                }
                Ok(_) => {}
                Err(_) => return events,
            }
        }
    }

    fn lines(&mut self) -> Vec<Value> {
        if !self.upgraded {
            let Some(end) = self.input.windows(4).position(|window| window == b"\r\n\r\n") else {
                return Vec::new();
            };
            let head = String::from_utf8(self.input[..end + 4].to_vec()).unwrap();
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            assert_eq!(field(&head, "transfer-encoding"), Some("chunked"));
            assert_eq!(field(&head, "cache-control"), Some("no-store"));
            assert_eq!(field(&head, "x-accel-buffering"), Some("no"));
            self.input.drain(..end + 4);
            self.upgraded = true;
        }
        let mut events = Vec::new();
        while let Some(end) = self.input.windows(2).position(|window| window == b"\r\n") {
            let size = usize::from_str_radix(std::str::from_utf8(&self.input[..end]).unwrap(), 16).unwrap();
            if size == 0 {
                events.push(json!({"t": "closed"}));
                self.input.clear();
                break;
            }
            if self.input.len() < end + 2 + size + 2 {
                break;
            }
            let chunk = String::from_utf8(self.input[end + 2..end + 2 + size].to_vec()).unwrap();
            let frame = match self.carrier {
                Carrier::Sse => chunk.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap(),
                _ => chunk.strip_suffix('\n').unwrap(),
            };
            events.push(serde_json::from_str(frame).unwrap());
            self.input.drain(..end + 2 + size + 2);
        }
        events
    }

    fn arrays(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some((status, _, body, rest)) = response(&self.input) {
            let left = rest.to_vec();
            let body: Value = serde_json::from_slice(&body).unwrap();
            match body {
                Value::Array(all) => events.extend(all),
                one => events.push(one),
            }
            if status != 200 {
                events.push(json!({"t": "closed", "status": status}));
            }
            self.input = left;
        }
        events
    }
}

/// tungstenite's end of a connection.
#[derive(Debug, Default)]
pub struct Pipe {
    coming: VecDeque<u8>,
    sent: Vec<u8>,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.coming.read(into)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            read => Ok(read),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
