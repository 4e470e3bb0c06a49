//! A member with a WebSocket, on another project's implementation.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use serde_json::{Value, json};
use tungstenite::protocol::WebSocket;
use tungstenite::{Error, Message};

use crate::running::{PATIENCE, Running, Scratch};

/// A connection, with or without TLS.
pub(crate) trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

/// A signed-in session.
pub(crate) struct Client {
    socket: WebSocket<Box<dyn Stream>>,
    pub(crate) welcome: Value,
    /// The newest received position, for the next hello.
    pub(crate) position: Option<String>,
    /// Received events that no test has taken yet.
    waiting: VecDeque<Value>,
}

impl Client {
    pub(crate) fn enter(scratch: &Scratch, node: &Running, user: &str) -> Client {
        let token = token(scratch, user);
        Client::try_enter(node.http, &token, user, None).expect("the node welcomes members")
    }

    /// None if the node is down or does not answer with a welcome.
    pub(crate) fn try_enter(
        http: SocketAddr,
        token: &str,
        device: &str,
        position: Option<&str>,
    ) -> Option<Client> {
        Client::connect(http)?.signed_in(token, device, position)
    }

    /// Says hello, and waits for the welcome.
    pub(crate) fn signed_in(self, token: &str, device: &str, position: Option<&str>) -> Option<Client> {
        self.signed_in_at("demo", token, device, position)
    }

    /// As [`signed_in`](Self::signed_in), at another site than the demo community.
    pub(crate) fn signed_in_at(
        mut self,
        site: &str,
        token: &str,
        device: &str,
        position: Option<&str>,
    ) -> Option<Client> {
        self.say(json!({
            "t": "hello", "v": 1, "site": site, "token": token,
            "device": format!("test-{device}"), "position": position,
        }))?;
        let welcome = self.next()?;
        assert_eq!(welcome["t"], "welcome", "{welcome}");
        self.welcome = welcome;
        Some(self)
    }

    /// A WebSocket that has sent nothing yet.
    pub(crate) fn connect(http: SocketAddr) -> Option<Client> {
        let stream = TcpStream::connect_timeout(&http, PATIENCE).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        Client::over(Box::new(stream), http)
    }

    /// A WebSocket over this connection.
    pub(crate) fn over(stream: Box<dyn Stream>, to: SocketAddr) -> Option<Client> {
        let (socket, _) = tungstenite::client(format!("ws://{to}/v1/websocket"), stream).ok()?;
        Some(Client { socket, welcome: Value::Null, position: None, waiting: VecDeque::new() })
    }

    /// None if the connection is broken.
    pub(crate) fn say(&mut self, frame: Value) -> Option<()> {
        self.socket.send(Message::text(frame.to_string())).ok()
    }

    pub(crate) fn send(&mut self, id: &str, to: &str, body: &str) -> Option<()> {
        self.say(json!({ "t": "send", "id": id, "to": { "user": to }, "body": body }))
    }

    /// The next event in the order of the server; None if the connection has ended.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let message = match self.socket.read() {
                Ok(message) => message,
                Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Io(_) | Error::Protocol(_)) => {
                    return None;
                }
                Err(error) => panic!("the node breaks the rules of WebSocket: {error}"),
            };
            if let Message::Text(text) = message {
                let event: Value = serde_json::from_str(&text).expect("events are JSON");
                if let Some(position) = event["position"].as_str() {
                    self.position = Some(position.to_owned());
                }
                return Some(event);
            }
        }
    }

    /// The first event that fits, received already or later; others stay queued.
    pub(crate) fn expect(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.waiting.iter().position(&fits) {
            return self.waiting.remove(index).unwrap();
        }
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let Some(event) = self.next() else {
                panic!("the connection ended before {what}, after {:?}", self.waiting.back());
            };
            if fits(&event) {
                return event;
            }
            self.waiting.push_back(event);
        }
        panic!("waited in vain for {what}");
    }

    pub(crate) fn acked(&mut self, id: &str) -> Value {
        self.expect(&format!("the ack of {id}"), |event| event["t"] == "ack" && event["id"] == id)
    }

    /// None: the connection has ended.
    pub(crate) fn try_acked(&mut self, id: &str) -> Option<Value> {
        loop {
            let event = self.next()?;
            if event["t"] == "ack" && event["id"] == id {
                return Some(event);
            }
            self.waiting.push_back(event);
        }
    }

    /// Sends and waits until it is on disk.
    pub(crate) fn sent(&mut self, id: &str, to: &str, body: &str) -> Value {
        self.send(id, to, body).expect("the connection holds");
        self.acked(id)
    }

    pub(crate) fn message(&mut self, body: &str) -> Value {
        self.expect(&format!("the message {body}"), |event| event["t"] == "message" && event["body"] == body)
    }

    /// All messages of the conversation with a user, oldest first, page by page.
    pub(crate) fn history(&mut self, with: &str) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for rid in 1.. {
            let before = all.first().map(|message| message["seq"].clone());
            self.say(json!({ "t": "history", "rid": rid, "to": { "user": with }, "before": before }))
                .unwrap();
            let page = self.expect("history", |event| event["re"] == rid);
            assert_eq!(page["t"], "history", "{page}");
            all.splice(0..0, page["messages"].as_array().unwrap().iter().cloned());
            if page["more"] != true {
                break;
            }
        }
        all
    }
}

/// Signed by the command that scripts use.
pub(crate) fn token(scratch: &Scratch, user: &str) -> String {
    scratch
        .say(&format!("token --site demo --user {user} --data {}", scratch.data().display()))
        .trim()
        .to_owned()
}
