//! Sessions on a connection that stays: WebSocket, stream and SSE.

use std::time::Duration;

use chat::{Delivery, Event, Port, Refusal, SessionHandle, SessionId, UserId, WhenBehind, WhenSlow};
use edge::{Conns, Handle, Io, Now};
use http_proto::head::Head;
use http_proto::websocket::{
    CloseFrame, HandshakeError, Message, Opcode, Reader, Violation, check, write_close, write_frame,
};
use serde::{Deserialize, Serialize};
use web_proto::{Code, Command};

use crate::WebConfig;
use crate::answer::{Awaited, Pending, TEXT};
use crate::framing::Framing;
use crate::gateway::{Conn, Gateway, State, Step, timestamp};
use crate::poll::Polls;
use crate::request::{read_hello, take_waiting};
use crate::sign_in_queue::Queued;
use crate::unproven::HELLO_BYTES;
use crate::visitor::Visitor;
use crate::wire::session::{add_key, own_bye};
use crate::wire::{Asked, code, command};

/// Longest message of the echo endpoint.
pub const ECHO_BYTES: usize = 16 * 1024 * 1024;

/// A session ends after so many refused or unreadable frames in a row. The row ends after 10 s without one.
const MAX_STRIKES: u16 = 1000;
const STRIKES_END_AFTER_SECONDS: u32 = 10;

/// A WebSocket of our protocol.
pub(crate) struct Socket {
    pub(crate) reader: Reader,
    pub(crate) phase: Phase,
}

pub(crate) enum Phase {
    /// Waits for the hello. A thin pointer keeps every connection small.
    BeforeHello(Option<Box<Visitor>>),
    /// Has sent its hello, which waits for its turn.
    Queued(Box<Queued>),
    /// Its hello is with the domain. The gateway reads nothing until the answer.
    SigningIn,
    Live(Live),
}

/// A session on an answer that does not end.
pub(crate) struct Down {
    live: Live,
    framing: Framing,
}

/// State of a signed-in session.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Live {
    pub(crate) user: UserId,
    /// Second of the steady clock (low bits) at which the client was heard last.
    received: u32,
    strikes: u16,
    pub(crate) lag: Lag,
    /// It did not get all of presence while it read slowly.
    presence_missed: bool,
}

/// A session in the form in which one process hands it to its successor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiveRecord {
    user: UserId,
    received: u32,
    lag: Lag,
    presence_missed: bool,
}

/// Whether a session keeps up with its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Lag {
    None,
    /// Its queue was dropped. `behind` is not sent yet, because the client reads nothing.
    Dropped,
    /// `behind` is sent, and the client must resume. Until then it gets no event with a position.
    Behind,
}

/// The reaction to a frame.
pub(crate) enum Reply {
    Nothing,
    Event(Box<web_proto::Event<'static>>),
    /// The session is over; this is the last frame.
    Bye(Code),
}

impl Live {
    pub(crate) fn new(user: UserId, now: Now) -> Live {
        Live { user, received: seconds(now), strikes: 0, lag: Lag::None, presence_missed: false }
    }

    pub(crate) fn export(&self) -> LiveRecord {
        let Live { user, received, strikes: _, lag, presence_missed } = *self;
        LiveRecord { user, received, lag, presence_missed }
    }

    /// Whether an event is delivered now. The changes end the lag.
    pub(crate) fn admits(&mut self, event: &Event) -> bool {
        match event.when_behind() {
            WhenBehind::Deliver => true,
            WhenBehind::Drop | WhenBehind::Begin => self.lag == Lag::None,
            WhenBehind::End => {
                self.lag = Lag::None;
                true
            }
        }
    }

    /// Notes that an event goes out.
    pub(crate) fn sent(&mut self, event: &Event) {
        match event.when_behind() {
            WhenBehind::Begin => self.lag = Lag::Behind,
            WhenBehind::Deliver | WhenBehind::Drop | WhenBehind::End => {}
        }
    }

    /// Counts a refused frame. True: the session must end.
    fn strike(&mut self, now: Now) -> bool {
        if seconds(now).wrapping_sub(self.received) >= STRIKES_END_AFTER_SECONDS {
            self.strikes = 0;
        }
        self.strikes = self.strikes.saturating_add(1);
        self.strikes > MAX_STRIKES
    }

    pub(crate) fn note_refusal(&mut self, event: &Event, now: Now) -> bool {
        matches!(event.refusal(), Some(Refusal::RateLimited { .. })) && self.strike(now)
    }
}

impl LiveRecord {
    /// The client gets the whole idle time again, because the two processes may have different steady clocks.
    pub(crate) fn import(self, now: Now) -> Live {
        let LiveRecord { user, received: _, lag, presence_missed } = self;
        Live { user, received: seconds(now), strikes: 0, lag, presence_missed }
    }
}

fn seconds(now: Now) -> u32 {
    (now.steady_ms / 1000) as u32
}

impl Socket {
    /// Has sent its hello, and has no answer yet.
    pub(crate) fn is_signing_in(&self) -> bool {
        matches!(self.phase, Phase::SigningIn)
    }

    pub(crate) fn live(&self) -> Option<&Live> {
        match &self.phase {
            Phase::Live(live) => Some(live),
            _ => None,
        }
    }

    pub(crate) fn drained(&mut self, node: &Port, io: &mut Io<'_>) {
        if let Phase::Live(live) = &mut self.phase {
            caught_up(live, Framing::WebSocket, node, io);
        }
        if !matches!(self.phase, Phase::SigningIn) {
            io.set_reading(true);
        }
    }
}

impl Down {
    pub(crate) fn new(live: Live, framing: Framing) -> Down {
        Down { live, framing }
    }

    pub(crate) fn live(&self) -> &Live {
        &self.live
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    pub(crate) fn drained(&mut self, node: &Port, io: &mut Io<'_>) {
        caught_up(&mut self.live, self.framing, node, io);
    }

    pub(crate) fn heartbeat(&mut self, config: &WebConfig, io: &mut Io<'_>) {
        // TCP_USER_TIMEOUT ends a client that reads nothing; more heartbeats would only fill the queue.
        if io.outgoing() == 0
            && let Some(bytes) = self.framing.heartbeat()
        {
            io.send_shared(bytes);
        }
        io.set_timer(Some(config.heartbeat));
    }
}

/// The client has read everything: sends `behind` and the presence that was held back.
fn caught_up(live: &mut Live, framing: Framing, node: &Port, io: &mut Io<'_>) {
    if live.lag == Lag::Dropped {
        live.lag = Lag::Behind;
        framing.send(io, br#"{"t":"behind"}"#);
    }
    if std::mem::take(&mut live.presence_missed) {
        node.presence_missed(SessionId { user: live.user, handle: SessionHandle(io.handle().to_bits()) });
    }
}

impl Gateway {
    pub(crate) fn open_socket(&mut self, state: &mut State, head: &Head<'_>, io: &mut Io<'_>) {
        let protocol = if head.has_token("sec-websocket-protocol", "kith.v1") {
            "sec-websocket-protocol: kith.v1\r\n"
        } else {
            ""
        };
        if self.upgrade(state, head, protocol, io) {
            let visitor = Visitor::of(head, &self.shared, io);
            let phase = Phase::BeforeHello((!visitor.is_plain()).then(|| Box::new(visitor)));
            *state = State::Socket(Socket { reader: Reader::default(), phase });
            io.set_timer(Some(self.shared.config.hello));
        }
    }

    pub(crate) fn open_echo(&mut self, state: &mut State, head: &Head<'_>, io: &mut Io<'_>) {
        if self.upgrade(state, head, "", io) {
            *state = State::Echo(Box::default());
        }
    }

    fn upgrade(&mut self, state: &mut State, head: &Head<'_>, fields: &str, io: &mut Io<'_>) -> bool {
        match check(head) {
            Ok(accept) => {
                let accept = std::str::from_utf8(&accept).expect("base64 is ASCII");
                io.send_parts(&[
                    b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n\
                      sec-websocket-accept: ",
                    accept.as_bytes(),
                    b"\r\n",
                    fields.as_bytes(),
                    b"\r\n",
                ]);
                true
            }
            Err(error) => {
                let (status, fields) = match error {
                    HandshakeError::NotAnUpgrade => (426, "upgrade: websocket\r\n"),
                    HandshakeError::BadVersion => {
                        (426, "upgrade: websocket\r\nsec-websocket-version: 13\r\n")
                    }
                    HandshakeError::Malformed => (400, ""),
                };
                self.shared.counters.code(Code::BadTransport);
                let mut pending = Pending::of(head, Awaited::Rest);
                pending.keep_alive = false;
                pending.send(
                    io,
                    status,
                    &format!("{TEXT}{fields}"),
                    b"this path takes WebSockets (RFC 6455)\n",
                );
                *state = State::Closing;
                io.close();
                false
            }
        }
    }

    /// Reads one message of a client.
    pub(crate) fn socket(&mut self, state: &mut State, input: &mut [u8], io: &mut Io<'_>) -> Step {
        let State::Socket(socket) = state else { return Step::Wait(0) };
        if matches!(socket.phase, Phase::SigningIn) {
            return Step::Wait(0);
        }
        // A client that asks or pings without reading the answers must wait.
        if io.outgoing() > self.shared.config.soft_limit {
            io.set_reading(false);
            return Step::Wait(0);
        }
        let frame_bytes = self.shared.config.frame_bytes as usize;
        let limit = match socket.phase {
            Phase::BeforeHello(_) | Phase::Queued(_) => HELLO_BYTES.min(frame_bytes),
            Phase::SigningIn | Phase::Live(_) => frame_bytes,
        };
        let (used, message) = match socket.reader.read(input, limit) {
            Ok(read) => read,
            Err(violation) => {
                self.end_by_violation(state, violation, io);
                return Step::Wait(input.len());
            }
        };
        let Some(message) = message else { return Step::Wait(used) };
        self.shared.counters.frames_in.add(1);
        match message {
            Message::Text(payload) => self.frame(state, &payload, io),
            Message::Binary(_) => {
                let violation = Violation::protocol("frames are text");
                self.end_by_violation(state, violation, io);
            }
            Message::Ping(payload) => {
                let mut pong = Vec::with_capacity(2 + payload.len());
                write_frame(&mut pong, Opcode::Pong, payload);
                io.send(&pong);
                hear(socket, io.now());
            }
            Message::Pong => hear(socket, io.now()),
            Message::Close(CloseFrame { code }) => {
                self.end_session(state, false, io);
                close_socket(state, code.unwrap_or(1000), "", io);
            }
        }
        match state {
            State::Socket(_) => Step::Again(used),
            _ => Step::Wait(input.len()),
        }
    }

    /// A text frame of a client.
    fn frame(&mut self, state: &mut State, frame: &[u8], io: &mut Io<'_>) {
        let State::Socket(socket) = state else { return };
        match &mut socket.phase {
            Phase::SigningIn => {}
            Phase::Queued(_) => self.say_bye_because(state, Code::NotNow, "wait for welcome", io),
            Phase::BeforeHello(visitor) => match read_hello(frame) {
                Ok(hello) => {
                    let visitor = visitor.take().map(|visitor| *visitor).unwrap_or_default();
                    if self.must_queue(frame)
                        && let Ok(hello) = std::str::from_utf8(frame)
                    {
                        return self.queue_sign_in(socket, visitor, hello, io);
                    }
                    socket.phase = Phase::SigningIn;
                    io.set_reading(false);
                    self.sign_in(&hello, &visitor, SessionHandle(io.handle().to_bits()), io);
                }
                Err((code, text)) => self.say_bye_because(state, code, &text, io),
            },
            Phase::Live(live) => {
                let session = SessionId { user: live.user, handle: SessionHandle(io.handle().to_bits()) };
                let reply = self.carry_out(session, live, frame, io.now());
                live.received = seconds(io.now());
                match reply {
                    Reply::Nothing => {}
                    Reply::Event(event) => self.send_frame(&event, Framing::WebSocket, io),
                    Reply::Bye(code) => {
                        self.end_session(state, code == Code::Done, io);
                        self.say_bye(state, code, io);
                    }
                }
            }
        }
    }

    /// Carries out one frame of a session.
    pub(crate) fn carry_out(&mut self, session: SessionId, live: &mut Live, frame: &[u8], now: Now) -> Reply {
        let rejected = |code, text, re, id: Option<Box<str>>| {
            Reply::Event(Box::new(web_proto::Event::Error {
                code,
                text,
                re,
                id: id.map(|id| String::from(id).into()),
                retry_after: None,
            }))
        };
        let reply = match Command::parse(frame) {
            Err(reject) => rejected(reject.code, reject.text, reject.rid, reject.id),
            Ok(parsed) => match command(parsed, session.user) {
                Asked::Chat(request) => {
                    self.shared.node.command(session, request, timestamp(now));
                    return Reply::Nothing;
                }
                Asked::Pong(re) => return Reply::Event(Box::new(web_proto::Event::Pong { re })),
                Asked::Bye => return Reply::Bye(Code::Done),
                Asked::NotNow => rejected(Code::NotNow, "hello came twice".into(), None, None),
                Asked::Error { code, re, id } => rejected(code, code.meaning().trim().into(), re, id),
            },
        };
        if let Reply::Event(event) = &reply
            && let web_proto::Event::Error { code, .. } = **event
        {
            self.shared.counters.code(code);
        }
        if live.strike(now) { Reply::Bye(Code::BadFrame) } else { reply }
    }

    /// Commands that were posted for a session on a connection of this worker, or between polls.
    pub(crate) fn posted(
        &mut self,
        session: SessionId,
        commands: &[u8],
        conns: &mut Conns<'_, Conn>,
    ) -> Result<(), Code> {
        let handle = Handle::from_bits(session.handle.0);
        if Polls::is_poll(handle) {
            return self.posted_for_poll(session, commands, conns);
        }
        let Some((conn, mut io)) = conns.get(handle) else { return Err(Code::NoSession) };
        for line in lines(commands) {
            let State::Down(down) = &mut conn.state else { return Err(Code::NoSession) };
            if down.live.user != session.user {
                return Err(Code::NoSession);
            }
            self.shared.counters.frames_in.add(1);
            let reply = self.carry_out(session, &mut down.live, line, io.now());
            down.live.received = seconds(io.now());
            let framing = down.framing;
            match reply {
                Reply::Nothing => {}
                Reply::Event(event) => self.send_frame(&event, framing, &mut io),
                Reply::Bye(code) => {
                    self.end_session(&conn.state, code == Code::Done, &io);
                    self.say_bye(&mut conn.state, code, &mut io);
                }
            }
        }
        Ok(())
    }

    /// Delivers an event to the session on this connection.
    pub(crate) fn deliver_to(&mut self, conn: &mut Conn, delivery: &Delivery, io: &mut Io<'_>) {
        match delivery.event.farewell() {
            Some(refusal) => self.end_by_domain(conn, delivery, refusal, io),
            None => {
                let json = self.encode(delivery);
                self.deliver_encoded(conn, &delivery.event, &json, io);
                self.put_back(json);
            }
        }
    }

    /// Delivers an event whose frame is encoded already.
    pub(crate) fn deliver_encoded(&mut self, conn: &mut Conn, event: &Event, json: &[u8], io: &mut Io<'_>) {
        let (live, framing) = match &mut conn.state {
            State::Socket(Socket { phase: Phase::Live(live), .. }) => (live, Framing::WebSocket),
            State::Down(down) => (&mut down.live, down.framing),
            _ => return self.undeliverable(),
        };
        if !live.admits(event) {
            return;
        }
        let config = &self.shared.config;
        let waiting = io.outgoing();
        if waiting > config.soft_limit {
            match event.when_slow() {
                WhenSlow::Deliver => {}
                WhenSlow::Drop => return self.shared.counters.typing_dropped.add(1),
                // It is sent once, with its last value.
                WhenSlow::Coalesce => {
                    live.presence_missed = true;
                    return self.shared.counters.presence_coalesced.add(1);
                }
            }
        }
        if waiting > 0 && waiting + json.len() > config.hard_limit {
            return self.drop_queue(&mut conn.state, io);
        }
        live.sent(event);
        let enough = live.note_refusal(event, io.now());
        framing.send(io, json);
        self.shared.counters.frames_out.add(1);
        if enough {
            self.end_session(&conn.state, false, io);
            self.say_bye(&mut conn.state, Code::RateLimited, io);
        }
    }

    /// The client reads too slowly: drops its queue. `behind` follows when it reads again.
    pub(crate) fn drop_queue(&mut self, state: &mut State, io: &mut Io<'_>) {
        let live = match state {
            State::Socket(Socket { phase: Phase::Live(live), .. }) => live,
            State::Down(down) => &mut down.live,
            _ => return,
        };
        io.drop_outgoing();
        if live.lag != Lag::Dropped {
            live.lag = Lag::Dropped;
            self.shared.counters.behind.add(1);
            let session = SessionId { user: live.user, handle: SessionHandle(io.handle().to_bits()) };
            self.shared.node.behind(session);
        }
        // All of it may have been droppable; then nothing will drain.
        if io.outgoing() == 0 {
            match state {
                State::Socket(socket) => socket.drained(&self.shared.node, io),
                State::Down(down) => down.drained(&self.shared.node, io),
                _ => {}
            }
        }
    }

    /// The session begins. False: its connection has gone.
    pub(crate) fn welcome(
        &mut self,
        conn: &mut Conn,
        session: SessionId,
        mut frame: Vec<u8>,
        io: &mut Io<'_>,
    ) -> bool {
        let live = Live::new(session.user, io.now());
        match &mut conn.state {
            State::Socket(socket) if matches!(socket.phase, Phase::SigningIn) => {
                socket.phase = Phase::Live(live);
                Framing::WebSocket.send(io, &frame);
                io.set_timer(Some(self.shared.config.idle));
                io.set_reading(true);
                self.began(Framing::WebSocket);
            }
            State::Waiting(waiting) if matches!(waiting.pending.what, Awaited::Stream | Awaited::Sse) => {
                let Some(mut waiting) = take_waiting(&mut conn.state) else { return false };
                let (framing, content_type) = match waiting.pending.what {
                    Awaited::Sse => (Framing::Sse, "text/event-stream"),
                    _ => (Framing::Stream, "application/x-ndjson"),
                };
                // The answer ends with the session, and the connection with it.
                waiting.pending.keep_alive = false;
                waiting.pending.send_chunked_head(io, content_type);
                let key = self.shared.keys.make(session, waiting.pending.cors.as_deref());
                add_key(&mut frame, &key);
                framing.send(io, &frame);
                conn.state = State::Down(Down { live, framing });
                io.set_timer(Some(first_heartbeat(&self.shared.config, io.handle())));
                self.began(framing);
            }
            _ => return false,
        }
        true
    }

    fn began(&self, framing: Framing) {
        self.shared.counters.session_began(framing.transport());
        self.shared.counters.frames_out.add(1);
    }

    /// The domain has ended the session, or refused to begin it.
    fn end_by_domain(&mut self, conn: &mut Conn, last: &Delivery, refusal: Refusal, io: &mut Io<'_>) {
        let event = crate::wire::event(last, &self.shared.config.links);
        match &mut conn.state {
            State::Socket(socket) => {
                if socket.live().is_some() {
                    self.shared.counters.session_ended(crate::Transport::WebSocket);
                }
                self.send_frame(&event, Framing::WebSocket, io);
                close_socket(&mut conn.state, code(refusal).close_code(), code(refusal).word(), io);
            }
            State::Down(down) => {
                let framing = down.framing;
                self.shared.counters.session_ended(framing.transport());
                self.send_frame(&event, framing, io);
                io.send(Framing::LAST_CHUNK);
                conn.state = State::Closing;
                io.close();
            }
            State::Waiting(_) => {
                let Some(waiting) = take_waiting(&mut conn.state) else { return };
                waiting.pending.send_event(io, code(refusal), &event);
                crate::gateway::next_request(&mut conn.state, &waiting.pending, &self.shared.config, io);
                crate::gateway::read_on(io);
            }
            _ => return,
        }
        self.shared.counters.code(code(refusal));
    }

    /// The last frame of a session that the gateway ends, and the end of its connection.
    fn say_bye(&mut self, state: &mut State, code: Code, io: &mut Io<'_>) {
        self.say_bye_because(state, code, code.meaning().trim(), io);
    }

    fn say_bye_because(&mut self, state: &mut State, code: Code, text: &str, io: &mut Io<'_>) {
        self.shared.counters.code(code);
        let retry_after = (code == Code::RateLimited).then_some(10_000);
        let bye = own_bye(code, text, retry_after);
        match state {
            State::Socket(_) => {
                self.send_frame(&bye, Framing::WebSocket, io);
                close_socket(state, code.close_code(), code.word(), io);
            }
            State::Down(down) => {
                let framing = down.framing;
                self.send_frame(&bye, framing, io);
                io.send(Framing::LAST_CHUNK);
                *state = State::Closing;
                io.close();
            }
            _ => {}
        }
    }

    /// Takes the session of this connection out of the domain, if it has one.
    fn end_session(&self, state: &State, on_purpose: bool, io: &Io<'_>) {
        let (live, transport) = match state {
            State::Socket(socket) => match &socket.phase {
                Phase::Live(live) => (*live, crate::Transport::WebSocket),
                _ => return,
            },
            State::Down(down) => (down.live, down.framing.transport()),
            _ => return,
        };
        self.shared.counters.session_ended(transport);
        let session = SessionId { user: live.user, handle: SessionHandle(io.handle().to_bits()) };
        self.shared.node.disconnected(session, on_purpose, timestamp(io.now()));
    }

    /// The peer broke RFC 6455, or sent more than may be.
    fn end_by_violation(&mut self, state: &mut State, violation: Violation, io: &mut Io<'_>) {
        self.shared.counters.websocket_violations.add(1);
        let code = match violation.code {
            1007 => Code::BadUtf8,
            1009 => Code::TooLarge,
            _ => Code::BadTransport,
        };
        self.shared.counters.code(code);
        self.end_session(state, false, io);
        let bye = own_bye(code, violation.text, None);
        self.send_frame(&bye, Framing::WebSocket, io);
        close_socket(state, violation.code, violation.text, io);
    }

    /// No hello in time, or nothing heard for too long.
    pub(crate) fn socket_is_silent(&mut self, state: &mut State, io: &mut Io<'_>) {
        let State::Socket(socket) = state else { return };
        let code = match &socket.phase {
            Phase::BeforeHello(_) => Code::Slow,
            Phase::Queued(_) => return self.still_queued(io),
            Phase::SigningIn => Code::Unavailable,
            Phase::Live(live) => {
                let silent = Duration::from_secs(seconds(io.now()).wrapping_sub(live.received).into());
                match self.shared.config.idle.checked_sub(silent) {
                    Some(left) if !left.is_zero() => return io.set_timer(Some(left)),
                    _ => Code::Idle,
                }
            }
        };
        self.give_up_sign_in(state, io.handle());
        self.end_session(state, false, io);
        self.say_bye(state, code, io);
    }

    pub(crate) fn send_frame(&mut self, event: &web_proto::Event<'_>, framing: Framing, io: &mut Io<'_>) {
        let mut json = std::mem::take(&mut self.scratch);
        event.write(&mut json);
        framing.send(io, &json);
        self.put_back(json);
        self.shared.counters.frames_out.add(1);
    }
}

fn hear(socket: &mut Socket, now: Now) {
    if let Phase::Live(live) = &mut socket.phase {
        live.received = seconds(now);
    }
}

fn close_socket(state: &mut State, code: u16, reason: &str, io: &mut Io<'_>) {
    let mut frame = Vec::with_capacity(64);
    write_close(&mut frame, code, reason);
    io.send(&frame);
    *state = State::Closing;
    io.close();
}

/// Sessions that began together do not beat together: the first heartbeat comes after a part of the interval that
/// differs from connection to connection.
fn first_heartbeat(config: &WebConfig, handle: Handle) -> Duration {
    let spread = handle.slot().wrapping_mul(0x9e37_79b9) >> 16;
    config.heartbeat.mul_f64(0.5 + 0.5 * f64::from(spread) / 65_536.0)
}

/// The commands of a POST: one per line, empty lines ignored.
pub(crate) fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

/// A WebSocket that echoes its messages.
#[derive(Default)]
pub(crate) struct Echo {
    reader: Reader,
}

/// The echo stops reading while its queue is longer than this.
const ECHO_PENDING_BYTES: usize = 128 * 1024;

impl Echo {
    pub(crate) fn input(&mut self, input: &mut [u8], io: &mut Io<'_>) -> Step {
        if io.outgoing() > ECHO_PENDING_BYTES {
            io.set_reading(false);
            return Step::Wait(0);
        }
        let (used, message) = match self.reader.read(input, ECHO_BYTES) {
            Ok(read) => read,
            Err(violation) => {
                let mut frame = Vec::new();
                write_close(&mut frame, violation.code, violation.text);
                io.send(&frame);
                io.close();
                return Step::Wait(input.len());
            }
        };
        let mut frame = Vec::new();
        match message {
            None => return Step::Wait(used),
            Some(Message::Text(payload)) => write_frame(&mut frame, Opcode::Text, &payload),
            Some(Message::Binary(payload)) => write_frame(&mut frame, Opcode::Binary, &payload),
            Some(Message::Ping(payload)) => write_frame(&mut frame, Opcode::Pong, payload),
            Some(Message::Pong) => {}
            Some(Message::Close(CloseFrame { code })) => {
                write_close_echo(&mut frame, code);
                io.send(&frame);
                io.close();
                return Step::Wait(used);
            }
        }
        io.send(&frame);
        Step::Again(used)
    }
}

/// RFC 6455 §5.5.1: the same code back; a close frame without one is answered by one without.
fn write_close_echo(frame: &mut Vec<u8>, code: Option<u16>) {
    match code {
        Some(code) => write_close(frame, code, ""),
        None => write_frame(frame, Opcode::Close, b""),
    }
}
