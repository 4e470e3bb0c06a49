//! One client on one connection: bytes in, events and bytes out. It speaks the web protocol, or another one in its place.

mod centrifugo;
pub(crate) mod http;
mod line;
mod websocket;
mod xmpp;

use std::fmt::Debug;

use serde_json::value::RawValue;
use web_proto::{Code, Command, Event, Hello, Message, VERSION};

use crate::target::{Target, Transport};
use http::{Content, Head};
use websocket::Control;

/// Longest accepted message in several frames or lines. A longer one is a fault of the server.
const MAX_FRAME_BYTES: usize = 16 * 1024 * 1024;

/// A protocol violation by the server, or a permitted refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Fault {
    #[error("HTTP: {0}")]
    Http(&'static str),
    #[error("WebSocket: {0}")]
    Websocket(&'static str),
    #[error("XMPP: {0}")]
    Xmpp(&'static str),
    #[error("Centrifugo: {0}")]
    Centrifugo(&'static str),
    #[error("Centrifugo ends the connection with the code {0}")]
    Disconnected(u16),
    #[error("line router: {0}")]
    Line(&'static str),
    #[error("the status {0} without a reason")]
    Status(u16),
    #[error("refused with {status} and the code {code}", code = .code.word())]
    Refused {
        status: u16,
        code: Code,
        /// Milliseconds.
        retry_after: Option<u64>,
    },
    #[error("a status that does not go with the code {code}", code = .0.word())]
    WrongStatus(Code),
    #[error("a frame that is no event")]
    NoEvent,
    #[error("an event after the end")]
    AfterEnd,
    #[error("the stream has ended")]
    Ended,
}

impl Fault {
    /// Milliseconds after which the server asks the client to return.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        match self {
            Fault::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// The credentials of a member.
#[derive(Debug, Clone, Copy)]
pub struct Login<'a> {
    pub site: &'a str,
    /// The member's id, for protocols that need it beside the token.
    pub user: &'a str,
    pub token: &'a str,
    /// Where the member's last session ended, to resume it.
    pub position: Option<&'a str>,
}

impl Login<'_> {
    fn hello(self) -> Vec<u8> {
        let mut frame = Vec::with_capacity(512);
        let hello = Hello {
            v: VERSION,
            site: self.site.into(),
            token: Some(self.token.into()),
            device: "load".into(),
            position: self.position.map(Into::into),
            client: Some("kith-load".into()),
        };
        Command::Hello(Box::new(hello)).write(&mut frame);
        frame
    }
}

/// A client from its first byte to its last. An idle client owns only its key, and no buffer.
#[derive(Debug)]
pub struct Client {
    state: State,
    /// The session's key, from `welcome`.
    key: Option<Box<str>>,
}

#[derive(Debug)]
enum State {
    New(Transport),
    /// Waits for the answer to the handshake, then sends this hello.
    Upgrading(Vec<u8>),
    /// Has the received part of a message in several frames.
    Websocket(Option<Vec<u8>>),
    /// Waits for the head of a stream's response.
    Opening(Transport),
    /// Has the received part of a line. Server-Sent Events, or bare lines.
    Lines {
        sse: bool,
        line: Vec<u8>,
    },
    /// Waits for the response to a poll.
    Polling,
    /// Waits for the answer to the handshake of a WebSocket that carries another protocol.
    UpgradingOther(Box<dyn OtherProtocol>),
    Other(Box<dyn OtherProtocol>),
    Over,
}

/// A protocol in the place of the web protocol: it translates commands to its bytes, and its bytes to events.
trait OtherProtocol: Debug + Send {
    /// Begins the session, on an open connection or WebSocket.
    fn open(&mut self, masks: &mut Masks, out: &mut Vec<u8>);

    /// Appends a command. Those without a counterpart are left out.
    fn say(&mut self, command: &[u8], masks: &mut Masks, out: &mut Vec<u8>);

    /// Reads the message at the start of `input`. Returns its length (0: more bytes are needed), and whether the session has
    /// ended.
    fn input(
        &mut self,
        input: &[u8],
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<(usize, bool), Fault>;
}

impl Client {
    pub fn new(transport: Transport) -> Client {
        Client { state: State::New(transport), key: None }
    }

    /// The connection is open: appends the first request.
    pub fn start(&mut self, target: &Target, login: Login<'_>, masks: &mut Masks, out: &mut Vec<u8>) {
        let State::New(transport) = self.state else { return };
        match transport {
            Transport::Websocket => {
                websocket::open(target, "/v1/websocket", "kith.v1", out);
                self.state = State::Upgrading(login.hello());
                return;
            }
            Transport::XmppWebsocket => {
                websocket::open(target, "/xmpp-websocket", "xmpp", out);
                self.state =
                    State::UpgradingOther(Box::new(xmpp::Stream::new(xmpp::Framing::Websocket, login)));
                return;
            }
            Transport::Centrifugo | Transport::CentrifugoJson => {
                let connection = centrifugo::Connection::new(centrifugo::Encoding::of(transport), login);
                websocket::open(target, "/connection/websocket", connection.subprotocol(), out);
                self.state = State::UpgradingOther(Box::new(connection));
                return;
            }
            Transport::Xmpp => {
                return self.open(Box::new(xmpp::Stream::new(xmpp::Framing::Stream, login)), masks, out);
            }
            Transport::Line => return self.open(Box::new(line::Line::new(login)), masks, out),
            Transport::Stream | Transport::Sse | Transport::Poll => {}
        }
        http::post(target, &format!("/v1/{}", transport.name()), None, &login.hello(), out);
        self.state = if transport == Transport::Poll { State::Polling } else { State::Opening(transport) };
    }

    fn open(&mut self, mut protocol: Box<dyn OtherProtocol>, masks: &mut Masks, out: &mut Vec<u8>) {
        protocol.open(masks, out);
        self.state = State::Other(protocol);
    }

    /// Reads input and returns the number of bytes it consumed. Appends bytes to send to `out`, and passes each event
    /// on.
    pub fn input(
        &mut self,
        target: &Target,
        input: &[u8],
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<usize, Fault> {
        let mut taken = 0;
        loop {
            let step = self.step(target, &input[taken..], masks, out, take)?;
            taken += step;
            if step == 0 || taken == input.len() {
                return Ok(taken);
            }
        }
    }

    /// Appends a command, if the transport carries commands on the same connection; see [`post_commands`].
    pub fn say(&mut self, command: &[u8], masks: &mut Masks, out: &mut Vec<u8>) {
        match &mut self.state {
            State::Websocket(_) => websocket::write(websocket::TEXT, command, masks.next(), out),
            State::Other(protocol) => protocol.say(command, masks, out),
            _ => {}
        }
    }

    /// Appends the close frame of a browser that leaves the page (RFC 6455 §7.4.1: going away).
    pub(crate) fn go_away(&self, masks: &mut Masks, out: &mut Vec<u8>) {
        if let State::Websocket(_) = self.state {
            websocket::write(websocket::CLOSE, &1001_u16.to_be_bytes(), masks.next(), out);
        }
    }

    /// The value for `Authorization` in a POST.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    fn step(
        &mut self,
        target: &Target,
        input: &[u8],
        masks: &mut Masks,
        out: &mut Vec<u8>,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<usize, Fault> {
        let mut sink = |frame: &[u8]| read_event(&mut self.key, frame, take);
        match &mut self.state {
            State::New(_) => Err(Fault::Http("an answer before the question")),
            State::Upgrading(hello) => {
                let Some(head) = http::head(input, &target.websocket_accept)? else { return Ok(0) };
                if !head.upgraded {
                    return refusal(&head, input);
                }
                websocket::write(websocket::TEXT, hello, masks.next(), out);
                self.state = State::Websocket(None);
                Ok(head.bytes)
            }
            State::Websocket(partial) => {
                let Some(frame) = websocket::read(input)? else { return Ok(0) };
                let payload = &input[frame.payload.clone()];
                match websocket::control(frame.opcode, payload, masks, out) {
                    Control::Data => message(partial, frame.fin, frame.opcode, payload, &mut sink)?,
                    Control::Answered => {}
                    Control::Closed => self.state = State::Over,
                }
                Ok(frame.bytes)
            }
            State::UpgradingOther(_) => {
                let Some(head) = http::head(input, &target.websocket_accept)? else { return Ok(0) };
                if !head.upgraded {
                    return refusal(&head, input);
                }
                if let State::UpgradingOther(protocol) = std::mem::replace(&mut self.state, State::Over) {
                    self.open(protocol, masks, out);
                }
                Ok(head.bytes)
            }
            State::Other(protocol) => {
                let (bytes, is_over) = protocol.input(input, masks, out, take)?;
                if is_over {
                    self.state = State::Over;
                }
                Ok(bytes)
            }
            State::Opening(transport) => {
                let Some(head) = http::head(input, "")? else { return Ok(0) };
                let sse = *transport == Transport::Sse;
                if head.status != 200 {
                    return refusal(&head, input);
                }
                if head.content != if sse { Content::EventStream } else { Content::Ndjson } {
                    return Err(Fault::Http("a stream of another Content-Type"));
                }
                if head.body != http::Body::Chunked {
                    return Err(Fault::Http("a stream that is not chunked"));
                }
                self.state = State::Lines { sse, line: Vec::new() };
                Ok(head.bytes)
            }
            State::Lines { sse, line } => {
                let Some((data, bytes)) = http::chunk(input)? else { return Ok(0) };
                if data.is_empty() {
                    self.state = State::Over;
                } else {
                    lines(*sse, line, &input[data], &mut sink)?;
                }
                Ok(bytes)
            }
            State::Polling => {
                let Some(head) = http::head(input, "")? else { return Ok(0) };
                if head.status != 200 {
                    return refusal(&head, input);
                }
                let Some((body, bytes)) = http::whole_body(head.body, &input[head.bytes..])? else {
                    return Ok(0);
                };
                let frames = serde_json::from_slice::<Vec<&RawValue>>(&body).map_err(|_| Fault::NoEvent)?;
                let mut over = false;
                for frame in frames {
                    over |= sink(frame.get().as_bytes())?;
                }
                if over {
                    self.state = State::Over;
                    return Ok(head.bytes + bytes);
                }
                let Some(key) = &self.key else { return Err(Fault::Http("a poll without a key")) };
                http::post(target, "/v1/poll", Some(key), b"", out);
                Ok(head.bytes + bytes)
            }
            State::Over => Err(Fault::AfterEnd),
        }
    }
}

/// Appends `POST /v1/send` with commands, one per line, for the session of `key`. It uses another connection than the
/// events; [`posted`] reads the response.
pub fn post_commands(target: &Target, key: &str, commands: &[u8], out: &mut Vec<u8>) {
    http::post(target, "/v1/send", Some(key), commands, out);
}

/// Reads the response to [`post_commands`] at the start of `input` and returns its length; None: more bytes are needed.
pub fn posted(input: &[u8]) -> Result<Option<usize>, Fault> {
    let Some(head) = http::head(input, "")? else { return Ok(None) };
    match (head.status, head.closes) {
        (204, false) => Ok(Some(head.bytes)),
        (204, true) => Err(Fault::Http("a connection that is not kept")),
        _ => refusal(&head, input).map(|_| None),
    }
}

/// Masks of frames. They need not be secret here, only different.
#[derive(Debug)]
pub struct Masks(u64);

impl Masks {
    pub fn new(seed: u64) -> Masks {
        Masks(seed | 1)
    }

    /// A pseudo-random number from 0 to 1, which need not be secret either.
    pub(crate) fn chance(&mut self) -> f64 {
        f64::from(u32::from_le_bytes(self.next())) / f64::from(u32::MAX)
    }

    /// A number below `limit`, which is above 0.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        ((self.chance() * f64::from(limit)) as u32).min(limit - 1)
    }

    fn next(&mut self) -> [u8; 4] {
        // xorshift64 (Marsaglia 2003).
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) as u32).to_le_bytes()
    }
}

/// A welcome of a server without one, with the fields that plans read; the others are empty.
const WELCOME: &str = r#"{"t":"welcome","session":"other","me":{"user":"me","name":"me"},"presence":"online","open":true,
"limits":{"body_bytes":8192,"frame_bytes":65536,"page":100,"watch":100,"idle_ms":120000,"heartbeat_ms":10000},
"time":0,"expires":0,"resumed":false,"conversations":[],"position":""}"#;

/// Passes [`WELCOME`] on.
fn welcome(take: &mut dyn FnMut(&Event<'_>)) -> Result<(), Fault> {
    take(&Event::parse(WELCOME.as_bytes()).map_err(|_| Fault::NoEvent)?);
    Ok(())
}

/// The acknowledgement of a server whose conversations have no numbers.
fn ack(id: &str) -> Event<'_> {
    Event::Ack {
        id: id.into(),
        conversation: "".into(),
        seq: 0,
        time: 0,
        position: "".into(),
        request: false,
    }
}

/// A message from a server whose conversations have no numbers.
fn message_of<'a>(user: &'a str, id: &'a str, body: &'a str) -> Event<'a> {
    let message = Message {
        conversation: user.into(),
        from: user.into(),
        id: id.into(),
        body: body.into(),
        ..Message::default()
    };
    Event::Message { message, position: "".into() }
}

/// Receives a frame; returns true for the last one.
type FrameSink<'a> = dyn FnMut(&[u8]) -> Result<bool, Fault> + 'a;

/// Reads an event, and takes the key out of `welcome`. Returns whether it was the last event.
fn read_event(
    key: &mut Option<Box<str>>,
    frame: &[u8],
    take: &mut dyn FnMut(&Event<'_>),
) -> Result<bool, Fault> {
    let event = Event::parse(frame).map_err(|_| Fault::NoEvent)?;
    if let Event::Welcome(welcome) = &event {
        *key = welcome.key.as_deref().map(Box::from);
    }
    take(&event);
    Ok(matches!(event, Event::Bye { .. }))
}

/// A data frame of WebSocket: a whole message, or a part of it.
fn message(
    partial: &mut Option<Vec<u8>>,
    fin: bool,
    opcode: u8,
    payload: &[u8],
    sink: &mut FrameSink<'_>,
) -> Result<(), Fault> {
    if opcode == websocket::BINARY {
        return Err(Fault::Websocket("a binary message"));
    }
    match (partial.as_mut(), opcode == websocket::TEXT) {
        (Some(_), true) => Err(Fault::Websocket("a new message inside of another")),
        (None, false) => Err(Fault::Websocket("a continuation of nothing")),
        (None, true) if fin => sink(payload).map(drop),
        (None, true) => {
            *partial = Some(payload.to_vec());
            Ok(())
        }
        (Some(joined), false) if joined.len() + payload.len() <= MAX_FRAME_BYTES => {
            joined.extend_from_slice(payload);
            if !fin {
                return Ok(());
            }
            let whole = partial.take().unwrap_or_default();
            sink(&whole).map(drop)
        }
        (Some(_), false) => Err(Fault::Websocket("an endless message")),
    }
}

/// Reads lines of a stream. A line that is cut by the end of a chunk waits in `line` for its rest.
fn lines(sse: bool, line: &mut Vec<u8>, mut data: &[u8], sink: &mut FrameSink<'_>) -> Result<(), Fault> {
    while let Some(end) = data.iter().position(|byte| *byte == b'\n') {
        let (now, rest) = (&data[..end], &data[end + 1..]);
        data = rest;
        if line.is_empty() {
            one_line(sse, now, sink)?;
        } else {
            line.extend_from_slice(now);
            one_line(sse, &std::mem::take(line), sink)?;
        }
    }
    if line.len() + data.len() > MAX_FRAME_BYTES {
        return Err(Fault::Http("an endless line"));
    }
    line.extend_from_slice(data);
    Ok(())
}

/// Our server sends only `data:` lines, comments and empty lines as Server-Sent Events, with each event on one line.
fn one_line(sse: bool, line: &[u8], sink: &mut FrameSink<'_>) -> Result<(), Fault> {
    if !sse {
        return sink(line).map(drop);
    }
    match line.strip_prefix(b"data: ") {
        Some(frame) => sink(frame).map(drop),
        None if line.is_empty() || line.starts_with(b":") => Ok(()),
        None => Err(Fault::Http("an unexpected field in an event stream")),
    }
}

/// Reads an unexpected response: returns its reason once the whole body has arrived.
fn refusal(head: &Head, input: &[u8]) -> Result<usize, Fault> {
    let Some((body, _)) = http::whole_body(head.body, &input[head.bytes..])? else { return Ok(0) };
    match Event::parse(&body) {
        Ok(Event::Bye { code, retry_after, .. } | Event::Error { code, retry_after, .. })
            if code.http_status() == head.status =>
        {
            Err(Fault::Refused { status: head.status, code, retry_after })
        }
        Ok(Event::Bye { code, .. } | Event::Error { code, .. }) => Err(Fault::WrongStatus(code)),
        _ => Err(Fault::Status(head.status)),
    }
}

#[cfg(test)]
mod tests;
