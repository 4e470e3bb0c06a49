//! The gateway of one worker: what arrives, and to whom it goes.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chat::{Event, Outbox, SessionHandle, SessionId};
use edge::{Accepted, Closed, Conns, Handle, Io, Mailboxes, Now, Protocol};
use web_proto::Code;

use crate::answer::{DateLine, Pending, send_piece};
use crate::config::Shared;
use crate::live::{Down, Echo, Socket};
use crate::poll::Polls;
use crate::request::{Upload, Waiting};
use crate::rest::Answer;
use crate::wire::Surroundings;

/// What stays per connection. An idle one owns nothing on the heap.
pub struct Conn {
    pub(crate) state: State,
    /// The peer's address is of this machine.
    pub(crate) is_local: bool,
}

pub(crate) enum State {
    /// Between requests; the head of the next one may be arriving (`is_late` can tell).
    Idle { head_began: bool },
    /// The body of a request is arriving.
    Upload(Box<Upload>),
    /// A request is complete and its answer is being made.
    Waiting(Box<Waiting>),
    /// The rest of a large answer follows as fast as it is read.
    Sending(Box<Sending>),
    /// A WebSocket that speaks our protocol.
    Socket(Socket),
    /// A session on an answer that does not end: stream or SSE.
    Down(Down),
    /// A WebSocket that gives everything back.
    Echo(Box<Echo>),
    /// The last words are said; what still comes is ignored.
    Closing,
}

/// A large answer on its way.
pub(crate) struct Sending {
    pending: Pending,
    rest: Bytes,
}

/// Who takes nothing of a large answer for so long is gone.
const PIECE_TIME: Duration = Duration::from_secs(30);

/// What workers are told: by the domain, by each other, and by the tokio side.
pub enum Mail {
    Event(SessionHandle, Event),
    /// The same for several sessions of this worker.
    EventForMany(Vec<SessionHandle>, Event),
    /// Commands for a session of this worker that came on the connection `from`.
    Posted {
        session: SessionId,
        commands: Vec<u8>,
        from: Handle,
    },
    /// How it went: an answer for the connection that posted them.
    PostedDone {
        to: Handle,
        outcome: Result<(), Code>,
    },
    /// The connection `from` wants the events of a poll session of this worker.
    Poll {
        session: SessionId,
        from: Handle,
    },
    /// The answer to a poll: a JSON array. `session` gets it back if the connection is gone.
    PollAnswer {
        to: Handle,
        session: SessionHandle,
        answer: Result<Vec<u8>, Code>,
    },
    PollUndelivered {
        session: SessionHandle,
        events: Vec<u8>,
    },
    /// The answer of a page or of REST.
    Rest {
        to: Handle,
        answer: Box<Answer>,
    },
}

/// The domain's way back to sessions of this gateway.
pub struct WebOutbox(Mailboxes<Mail>);

impl WebOutbox {
    pub fn new(mailboxes: Mailboxes<Mail>) -> WebOutbox {
        WebOutbox(mailboxes)
    }
}

impl Outbox for WebOutbox {
    fn deliver(&self, to: SessionHandle, event: Event) {
        self.0.send(Handle::from_bits(to.0).worker(), Mail::Event(to, event));
    }

    fn deliver_all(&self, to: &[SessionHandle], event: Event) {
        for worker in 0..self.0.workers() {
            let here: Vec<_> =
                to.iter().copied().filter(|to| Handle::from_bits(to.0).worker() == worker).collect();
            match here[..] {
                [] => {}
                [one] => self.0.send(worker, Mail::Event(one, event.clone())),
                _ => self.0.send(worker, Mail::EventForMany(here, event.clone())),
            }
        }
    }
}

/// An [`edge::Protocol`] for one worker.
pub struct Gateway {
    pub(crate) worker: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) polls: Polls,
    /// Where frames are written before they go out; empty in between.
    pub(crate) scratch: Vec<u8>,
    pub(crate) limits: web_proto::Limits,
    pub(crate) date: DateLine,
}

/// The scratch buffer keeps no more than this.
const SCRATCH_BYTES: usize = 64 * 1024;

impl Gateway {
    /// For worker number `worker` of those that `shared.mailboxes` reach.
    pub fn new(worker: usize, shared: Arc<Shared>) -> Gateway {
        let limits = shared.welcome_limits();
        Gateway {
            worker,
            shared,
            polls: Polls::new(worker),
            scratch: Vec::new(),
            limits,
            date: DateLine::default(),
        }
    }

    /// The frame of an event, in the scratch buffer; give it back with `put_back`.
    pub(crate) fn encode(&mut self, event: &Event, key: Option<&str>, now: Now) -> Vec<u8> {
        let mut json = std::mem::take(&mut self.scratch);
        let around = Surroundings { limits: self.limits, key, now: now.unix_ms };
        crate::wire::write(event, &around, &mut json);
        json
    }

    pub(crate) fn put_back(&mut self, mut scratch: Vec<u8>) {
        scratch.clear();
        scratch.shrink_to(SCRATCH_BYTES);
        self.scratch = scratch;
    }

    fn deliver(&mut self, to: SessionHandle, event: &Event, conns: &mut Conns<'_, Conn>) {
        let handle = Handle::from_bits(to.0);
        if Polls::is_poll(handle) {
            return self.tell_poll(to, event, conns);
        }
        match conns.get(handle) {
            Some((conn, mut io)) => self.tell(conn, event, &mut io),
            None => self.undeliverable(event, conns.now()),
        }
    }

    fn deliver_many(&mut self, to: &[SessionHandle], event: &Event, conns: &mut Conns<'_, Conn>) {
        // A welcome is never for many, so the frame is the same for all.
        let json = self.encode(event, None, conns.now());
        for &session in to {
            let handle = Handle::from_bits(session.0);
            if Polls::is_poll(handle) {
                self.tell_poll(session, event, conns);
            } else if let Some((conn, mut io)) = conns.get(handle) {
                self.tell_encoded(conn, event, &json, &mut io);
            }
        }
        self.put_back(json);
    }

    /// The connection has gone before its welcome came.
    pub(crate) fn undeliverable(&self, event: &Event, now: Now) {
        self.shared.counters.undeliverable.add(1);
        if let Event::Welcome(welcome) = event {
            self.shared.node.disconnected(welcome.session, false, timestamp(now));
        }
    }

    pub(crate) fn send_mail(&self, worker: usize, mail: Mail) {
        self.shared.mailboxes.send(worker, mail);
    }
}

pub(crate) fn timestamp(now: Now) -> chat::Timestamp {
    chat::Timestamp(now.unix_ms)
}

impl Protocol for Gateway {
    type Conn = Conn;
    type Mail = Mail;

    fn accept(&mut self, accepted: Accepted, io: &mut Io<'_>) -> Conn {
        io.set_timer(Some(self.shared.config.head));
        Conn { state: State::Idle { head_began: true }, is_local: accepted.peer.ip().is_loopback() }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let mut used = 0;
        loop {
            let rest = &mut input[used..];
            let step = match &mut conn.state {
                State::Idle { .. } | State::Upload(_) => self.request(conn, rest, io),
                State::Socket(_) => self.socket(&mut conn.state, rest, io),
                State::Echo(echo) => echo.input(rest, io),
                // What follows a request waits until that is answered, up to the connection layer's input limit.
                State::Waiting(_) | State::Sending(_) => Step::Wait(0),
                State::Down(_) | State::Closing => Step::Wait(rest.len()),
            };
            match step {
                Step::Wait(bytes) => return used + bytes,
                Step::Again(bytes) => used += bytes,
            }
        }
    }

    fn eof(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        // Who has closed his half may still wait for an answer (`curl` and scripts do that).
        if !matches!(conn.state, State::Waiting(_) | State::Sending(_)) {
            io.close();
        }
    }

    fn timer(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match &mut conn.state {
            State::Idle { .. } | State::Upload(_) => self.request_is_late(conn, io),
            State::Waiting(_) => self.answer_is_late(conn, io),
            State::Sending(_) => io.abort(),
            State::Socket(_) => self.socket_is_silent(&mut conn.state, io),
            State::Down(down) => down.heartbeat(&self.shared.config, io),
            State::Echo(_) | State::Closing => io.close(),
        }
    }

    fn drained(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match &mut conn.state {
            State::Socket(socket) => socket.drained(&self.shared.node, io),
            State::Down(down) => down.drained(&self.shared.node, io),
            State::Echo(_) => io.set_reading(true),
            State::Sending(_) => {
                if let State::Sending(sending) = std::mem::replace(&mut conn.state, State::Closing) {
                    let Sending { pending, rest } = *sending;
                    let rest = send_piece(rest, io);
                    after_answer(&mut conn.state, pending, rest, &self.shared.config, io);
                    read_on(io);
                }
            }
            // Requests behind a large answer were left unread.
            State::Idle { .. } => read_on(io),
            _ => {}
        }
    }

    fn closed(&mut self, conn: Conn, handle: Handle, _: Closed, now: Now) {
        let (live, transport) = match &conn.state {
            State::Socket(socket) => (socket.live(), crate::Transport::WebSocket),
            State::Down(down) => (Some(down.live()), down.framing().transport()),
            _ => return,
        };
        if let Some(live) = live {
            self.shared.counters.session_ended(transport);
            let session = SessionId { user: live.user, handle: SessionHandle(handle.to_bits()) };
            self.shared.node.disconnected(session, false, timestamp(now));
        }
    }

    fn mail(&mut self, mail: Mail, conns: &mut Conns<'_, Conn>) {
        match mail {
            Mail::Event(to, event) => self.deliver(to, &event, conns),
            Mail::EventForMany(to, event) => self.deliver_many(&to, &event, conns),
            Mail::Posted { session, commands, from } => {
                let outcome = self.posted(session, &commands, conns);
                self.send_mail(from.worker(), Mail::PostedDone { to: from, outcome });
            }
            Mail::PostedDone { to, outcome } => self.answer_posted(to, outcome, conns),
            Mail::Poll { session, from } => self.poll(session, from, conns),
            Mail::PollAnswer { to, session, answer } => self.answer_poll(to, session, answer, conns),
            Mail::PollUndelivered { session, events } => self.polls.take_back(session, events),
            Mail::Rest { to, answer } => self.answer_rest(to, &answer, conns),
        }
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.end_silent_polls(conns.now());
    }
}

/// What `input` does next, and how many bytes were consumed.
pub(crate) enum Step {
    /// More input, or something else, is needed first.
    Wait(usize),
    Again(usize),
}

/// The answer is sent: the next request may come, or the connection ends.
pub(crate) fn next_request(state: &mut State, pending: &Pending, config: &crate::WebConfig, io: &mut Io<'_>) {
    if !pending.keep_alive {
        *state = State::Closing;
        return io.close();
    }
    *state = State::Idle { head_began: false };
    io.set_timer(Some(config.keep_alive));
}

/// The same, if nothing is left to send; else that comes first.
pub(crate) fn after_answer(
    state: &mut State,
    pending: Pending,
    rest: Bytes,
    config: &crate::WebConfig,
    io: &mut Io<'_>,
) {
    if rest.is_empty() {
        return next_request(state, &pending, config, io);
    }
    *state = State::Sending(Box::new(Sending { pending, rest }));
    io.set_timer(Some(PIECE_TIME));
}

/// Has `input` called again with what has come meanwhile.
pub(crate) fn read_on(io: &mut Io<'_>) {
    io.set_reading(false);
    io.set_reading(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_stays_small() {
        assert!(size_of::<Conn>() <= 40, "{}", size_of::<Conn>());
        assert!(size_of::<Mail>() <= 128, "{}", size_of::<Mail>());
    }
}
