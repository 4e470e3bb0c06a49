//! A small server for the load's tests: it welcomes every member, passes messages on, and stores nothing.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use edge::{
    Accepted, Closed, Conns, Edge, EdgeConfig, Handle, Io, Listener, Mailboxes, Now, Protocol, mailboxes,
};
use load::report::Run;
use load::target::Target;
use load::{Plan, RunOptions};
use serde_json::json;
use web_proto::{Code, Command, Event, Presence, SendTo, SetPresence};

/// The faults of the server.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Flaws {
    /// Refuses every n-th hello.
    pub(crate) refuse_every: Option<u64>,
    /// Does not deliver every n-th message.
    pub(crate) lose_every: Option<u64>,
    /// Delivers every n-th message twice.
    pub(crate) double_every: Option<u64>,
    /// Does not publish every n-th change of presence.
    pub(crate) keep_quiet_every: Option<u64>,
    /// Gives every n-th message a seq that is not the next one.
    pub(crate) misorder_every: Option<u64>,
    /// Refuses every n-th hello as `unavailable`, and below every n-th message, with this delay in milliseconds.
    pub(crate) put_off_hellos: Option<(u64, u64)>,
    pub(crate) put_off_messages: Option<(u64, u64)>,
    /// Refuses every n-th request for a token.
    pub(crate) no_token_every: Option<u64>,
}

pub(crate) struct FakeServer {
    edge: Edge,
    waits: Waits,
}

/// The time from a deferral to the retry.
type Waits = Arc<Mutex<Vec<Duration>>>;

impl FakeServer {
    pub(crate) fn start(flaws: Flaws) -> FakeServer {
        let (mail, inboxes) = mailboxes(1);
        let listener = Listener::plain(SocketAddr::from(([127, 0, 0, 1], 0)));
        let config = EdgeConfig { listeners: vec![listener], ..EdgeConfig::default() };
        let waits = Waits::default();
        let of_server = Arc::clone(&waits);
        let edge = Edge::start(config, inboxes, move |_| Server {
            flaws,
            waits: Arc::clone(&of_server),
            put_off: HashMap::new(),
            tries: 0,
            mail: mail.clone(),
            users: HashMap::new(),
            watchers: HashMap::new(),
            changes: 0,
            seqs: HashMap::new(),
            hellos: 0,
            tokens: 0,
            messages: 0,
        });
        FakeServer { edge: edge.unwrap(), waits }
    }

    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }

    /// The server is in this process.
    pub(crate) fn options(&self) -> RunOptions {
        let target = Target::parse(&format!("http://{}", self.edge.local_addrs()[0])).unwrap();
        let options = RunOptions::new(target, "demo", b"secret");
        RunOptions { server: Some(std::process::id()), threads: 2, ..options }
    }

    pub(crate) fn run(&self, plan: &impl Plan) -> Run {
        plan.run(&self.options(), &mut |_| {}).unwrap()
    }
}

struct Server {
    flaws: Flaws,
    waits: Waits,
    /// By user, or by id of the message.
    put_off: HashMap<String, Instant>,
    tries: u64,
    mail: Mailboxes<Deliver>,
    users: HashMap<String, Handle>,
    /// By watched user.
    watchers: HashMap<String, Vec<String>>,
    changes: u64,
    seqs: HashMap<String, u64>,
    hellos: u64,
    tokens: u64,
    messages: u64,
}

struct Deliver(Handle, String);

enum Conn {
    New,
    Websocket(Option<String>),
    Lines { sse: bool },
    Poll { waits: bool, queue: Vec<String> },
    Lane,
}

impl Protocol for Server {
    type Conn = Conn;
    type Mail = Deliver;

    fn accept(&mut self, _: Accepted, _: &mut Io<'_>) -> Conn {
        Conn::New
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let mut taken = 0;
        loop {
            let step = match conn {
                Conn::Websocket(_) => self.frame(conn, &mut input[taken..], io),
                _ => self.request(conn, &input[taken..], io),
            };
            taken += step;
            if step == 0 || taken == input.len() {
                return taken;
            }
        }
    }

    fn eof(&mut self, _: &mut Conn, io: &mut Io<'_>) {
        io.close();
    }

    fn timer(&mut self, _: &mut Conn, _: &mut Io<'_>) {}

    fn drained(&mut self, _: &mut Conn, _: &mut Io<'_>) {}

    fn closed(&mut self, _: Conn, _: Handle, _: Closed, _: Now) {}

    fn mail(&mut self, Deliver(to, event): Deliver, conns: &mut Conns<'_, Conn>) {
        if let Some((conn, mut io)) = conns.get(to) {
            deliver(conn, &event, &mut io);
        }
    }

    fn tick(&mut self, _: &mut Conns<'_, Conn>) {}
}

impl Server {
    fn request(&mut self, conn: &mut Conn, input: &[u8], io: &mut Io<'_>) -> usize {
        let mut fields = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut fields);
        let Ok(httparse::Status::Complete(head)) = request.parse(input) else { return 0 };
        let field = |name: &str| {
            let found = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name));
            found.map(|field| std::str::from_utf8(field.value).unwrap().to_owned())
        };
        let length = field("content-length").map_or(0, |text| text.parse().unwrap());
        let Some(body) = input.get(head..head + length) else { return 0 };
        let key = field("authorization").map(|text| text.strip_prefix("Kith ").unwrap().to_owned());
        match (request.path.unwrap(), key) {
            ("/v1/websocket", _) => {
                let joined = field("sec-websocket-key").unwrap() + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
                let sha1 = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, joined.as_bytes());
                let accept = STANDARD.encode(sha1);
                io.send(format!("HTTP/1.1 101 S\r\nSec-WebSocket-Accept: {accept}\r\n\r\n").as_bytes());
                *conn = Conn::Websocket(None);
            }
            ("/v1/send", Some(user)) => {
                for line in body.split(|byte| *byte == b'\n') {
                    let (to, ack) = self.command(&user, Command::parse(line).unwrap());
                    if let Some(event) = ack {
                        self.mail.send(0, Deliver(to, event));
                    }
                }
                *conn = Conn::Lane;
                io.send(b"HTTP/1.1 204 No Content\r\n\r\n");
            }
            ("/v1/poll", Some(_)) => {
                let Conn::Poll { waits, .. } = conn else { panic!("a poll before hello") };
                *waits = true;
                deliver_waiting(conn, io);
            }
            (path, None) if !path.starts_with("/v1/") => {
                let status = self.file_status(path, field("if-none-match").as_deref());
                io.send(file(path, status).as_bytes());
                *conn = Conn::Lane;
            }
            (path, None) => match self.hello(body, io) {
                Ok((_, welcome)) => {
                    *conn = match path {
                        "/v1/poll" => Conn::Poll { waits: true, queue: Vec::new() },
                        _ => Conn::Lines { sse: path == "/v1/sse" },
                    };
                    let content =
                        if path == "/v1/sse" { "text/event-stream" } else { "application/x-ndjson" };
                    if path != "/v1/poll" {
                        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: ";
                        io.send(format!("{head}{content}\r\n\r\n").as_bytes());
                    }
                    deliver(conn, &welcome, io);
                }
                Err(bye) => {
                    let head = "HTTP/1.1 503 S\r\nContent-Type: application/json\r\nContent-Length: ";
                    io.send(format!("{head}{}\r\n\r\n{bye}", bye.len()).as_bytes());
                    io.close();
                }
            },
            (path, _) => panic!("no route {path}"),
        }
        head + length
    }

    fn file_status(&mut self, path: &str, tag: Option<&str>) -> u16 {
        self.tokens += u64::from(path == "/token");
        let refused = self.flaws.no_token_every.is_some_and(|every| self.tokens.is_multiple_of(every));
        match path {
            "/token" if refused => 503,
            "/kith.js" if tag == Some("\"tag\"") => 304,
            _ if FILES.iter().any(|(known, ..)| *known == path) => 200,
            _ => 404,
        }
    }

    fn frame(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let Some((opcode, text, bytes)) = unmasked(input) else { return 0 };
        let Conn::Websocket(user) = conn else { unreachable!("only a WebSocket has frames") };
        if opcode == 8 {
            io.close();
            return bytes;
        }
        match (Command::parse(&text).unwrap(), user) {
            (Command::Bye, _) => {
                io.send(&text_frame(r#"{"t":"bye","code":"done","text":""}"#));
                io.send(b"\x88\x02\x03\xe8");
            }
            (command, Some(user)) => {
                let user = user.clone();
                // By mail, like messages, so that no seq overtakes another.
                if let (own, Some(event)) = self.command(&user, command) {
                    self.mail.send(0, Deliver(own, event));
                }
            }
            (_, user @ None) => match self.hello(&text, io) {
                Ok((name, welcome)) => {
                    *user = Some(name);
                    io.send(&text_frame(&welcome));
                }
                Err(bye) => {
                    io.send(&text_frame(&bye));
                    io.close();
                }
            },
        }
        bytes
    }

    fn hello(&mut self, frame: &[u8], io: &mut Io<'_>) -> Result<(String, String), String> {
        let Ok(Command::Hello(hello)) = Command::parse(frame) else { panic!("hello comes first") };
        let claims = hello.token.as_ref().unwrap().split('.').nth(1).unwrap().to_owned();
        let claims: serde_json::Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        let user = claims["sub"].as_str().unwrap().to_owned();
        self.hellos += 1;
        if self.flaws.refuse_every.is_some_and(|every| self.hellos.is_multiple_of(every)) {
            return Err(r#"{"t":"bye","code":"full","text":"no room"}"#.to_owned());
        }
        if let Some(retry_after) = self.put_off(self.flaws.put_off_hellos, self.hellos, &user) {
            let (code, text) = (Code::Unavailable, "".into());
            return Err(written(&Event::Bye {
                code,
                text,
                retry_after: Some(retry_after),
                until: None,
                reason: None,
            }));
        }
        self.users.insert(user.clone(), io.handle());
        let limits = json!({"body_bytes": 1, "frame_bytes": 1, "page": 1, "watch": 1, "idle_ms": 75_000, "heartbeat_ms": 1});
        let welcome = json!({
            "t": "welcome", "session": "s", "key": user, "me": {"user": user, "name": ""}, "presence": "online",
            "open": true, "limits": limits, "time": 0, "expires": 0, "resumed": false, "conversations": [],
            "position": "p",
        });
        Ok((user, welcome.to_string()))
    }

    /// Returns the sender's handle and answer; sends messages as mail.
    fn command(&mut self, from: &str, command: Command<'_>) -> (Handle, Option<String>) {
        let own = self.users[from];
        if let Command::Bye = command {
            return (own, Some(r#"{"t":"bye","code":"done","text":""}"#.to_owned()));
        }
        if let Command::Contacts { rid, .. } = command {
            return (own, Some(written(&Event::Contacts { re: rid, contacts: vec![], next: None })));
        }
        if let Command::History { rid, .. } = command {
            let page = Event::History { re: rid, conversation: "c".into(), messages: vec![], more: false };
            return (own, Some(written(&page)));
        }
        if let Command::Watch { users, .. } = &command {
            for user in users {
                self.watchers.entry(user.to_string()).or_default().push(from.to_owned());
            }
        }
        if let Command::Presence { set } = command {
            self.publish_presence(from, set);
        }
        if let Command::Typing { to: SendTo::User(to), on } = &command {
            self.publish_typing(from, to, *on);
        }
        let Command::Send { id, to: SendTo::User(to), body, .. } = command else {
            return (own, matches!(command, Command::Ping { .. }).then(|| r#"{"t":"pong"}"#.to_owned()));
        };
        self.tries += 1;
        if let Some(retry_after) = self.put_off(self.flaws.put_off_messages, self.tries, &id) {
            let (code, text, retry_after) = (Code::Unavailable, "".into(), Some(retry_after));
            return (own, Some(written(&Event::Error { code, text, re: None, id: Some(id), retry_after })));
        }
        let mut pair = [from, &to];
        pair.sort_unstable();
        let conversation = pair.join("+");
        self.messages += 1;
        let now = |every: Option<u64>| every.is_some_and(|every| self.messages.is_multiple_of(every));
        let (lose, double, misorder) =
            (now(self.flaws.lose_every), now(self.flaws.double_every), now(self.flaws.misorder_every));
        let seq = self.seqs.entry(conversation.clone()).or_default();
        *seq += if misorder { 2 } else { 1 };
        let seq = *seq;
        let body = serde_json::to_string(&body).unwrap();
        let message = format!(
            r#"{{"t":"message","conversation":"{conversation}","seq":{seq},"from":"{from}","id":"{id}","body":{body},"time":0,"position":"p"}}"#
        );
        for _ in 0..if lose { 0 } else { 1 + u8::from(double) } {
            if let Some(to) = self.users.get(&*to) {
                self.mail.send(0, Deliver(*to, message.clone()));
            }
        }
        let ack = format!(
            r#"{{"t":"ack","id":"{id}","conversation":"{conversation}","seq":{seq},"time":0,"position":"p"}}"#
        );
        (own, Some(ack))
    }

    /// The delay in milliseconds, if this one is deferred. Records the delay of an earlier deferral.
    fn put_off(&mut self, flaw: Option<(u64, u64)>, number: u64, what: &str) -> Option<u64> {
        if let Some(since) = self.put_off.remove(what) {
            self.waits.lock().unwrap().push(since.elapsed());
        }
        let (_, millis) = flaw.filter(|(every, _)| number.is_multiple_of(*every))?;
        self.put_off.insert(what.to_owned(), Instant::now());
        Some(millis)
    }

    fn publish_typing(&mut self, of: &str, to: &str, on: bool) {
        self.messages += 1;
        if self.flaws.lose_every.is_none_or(|every| !self.messages.is_multiple_of(every)) {
            let event = written(&Event::Typing { conversation: "c".into(), user: of.into(), on });
            self.mail.send(0, Deliver(self.users[to], event));
        }
    }

    fn publish_presence(&mut self, of: &str, set: SetPresence) {
        self.changes += 1;
        if self.flaws.keep_quiet_every.is_some_and(|every| self.changes.is_multiple_of(every)) {
            return;
        }
        let presence = if set == SetPresence::Away { Presence::Away } else { Presence::Online };
        let event = written(&Event::Presence { user: of.into(), presence, last_seen: None });
        for watcher in self.watchers.get(of).into_iter().flatten() {
            self.mail.send(0, Deliver(self.users[watcher], event.clone()));
        }
    }
}

/// A site of one page: path, cache lifetime, content.
const FILES: [(&str, &str, &str); 6] = [
    (
        "/page",
        "no-store",
        "<link rel=\"stylesheet\" href=\"/style.css\"><script src=\"/kith.js\" data-token-url=\"/token\"></script>\
         <img src=\"/me.svg\">",
    ),
    ("/style.css", "max-age=300", "p{}"),
    ("/me.svg", "no-store", "<svg/>"),
    ("/kith.js", "max-age=0", "import(`${server}/kith/app-1.js`)"),
    ("/kith/app-1.js", "max-age=31536000, immutable", "let app;"),
    ("/token", "no-store", "{\"token\":\"x\"}"),
];

fn file(path: &str, status: u16) -> String {
    let (_, control, text) = FILES.into_iter().find(|(known, ..)| *known == path).unwrap_or(("", "", ""));
    let head =
        format!("HTTP/1.1 {status} S\r\nContent-Type: application/json\r\nCache-Control: {control}\r\n");
    let length = text.len();
    match status {
        304 => format!("{head}ETag: \"tag\"\r\n\r\n"),
        // In two ways, as servers do.
        200 if path == "/page" => {
            format!("{head}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{text}\r\n0\r\n\r\n")
        }
        _ => format!("{head}ETag: \"tag\"\r\nContent-Length: {length}\r\n\r\n{text}"),
    }
}

fn deliver(conn: &mut Conn, event: &str, io: &mut Io<'_>) {
    match conn {
        Conn::Websocket(_) => io.send(&text_frame(event)),
        Conn::Lines { sse, .. } => {
            let line = if *sse { format!("data: {event}\n\n") } else { format!("{event}\n") };
            io.send(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes());
        }
        Conn::Poll { queue, .. } => {
            queue.push(event.to_owned());
            deliver_waiting(conn, io);
        }
        Conn::New | Conn::Lane => {}
    }
}

fn deliver_waiting(conn: &mut Conn, io: &mut Io<'_>) {
    let Conn::Poll { waits, queue, .. } = conn else { return };
    if *waits && !queue.is_empty() {
        let body = format!("[{}]", std::mem::take(queue).join(","));
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ";
        io.send(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes());
        *waits = false;
    }
}

fn written(event: &Event<'_>) -> String {
    let mut out = Vec::new();
    event.write(&mut out);
    String::from_utf8(out).unwrap()
}

fn text_frame(text: &str) -> Vec<u8> {
    let length = text.len();
    let head = if length < 126 {
        vec![0x81, length as u8]
    } else {
        [&[0x81, 126][..], &u16::try_from(length).unwrap().to_be_bytes()].concat()
    };
    [&head, text.as_bytes()].concat()
}

/// Opcode, payload and size of the client's frame at the start of `input`.
fn unmasked(input: &[u8]) -> Option<(u8, Vec<u8>, usize)> {
    let second = *input.get(1)?;
    assert!(second & 0x80 != 0, "frames of clients are masked");
    let (length, start) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes([*input.get(2)?, *input.get(3)?])), 4),
        short => (usize::from(short), 2),
    };
    let mask = input.get(start..start + 4)?;
    let payload = input.get(start + 4..start + 4 + length)?;
    let text = payload.iter().zip(mask.iter().cycle()).map(|(a, b)| a ^ b).collect();
    Some((input[0] & 0x0f, text, start + 4 + length))
}
