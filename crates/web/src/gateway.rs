//! The gateway of one worker: reads from connections, and hands each input to its handler.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use chat::{Delivery, Event, Outbox, Port, SessionHandle, SessionId, Timestamp, Welcome};
use edge::{Accepted, Closed, Conns, Handle, Io, Mailboxes, Moves, Now, Protocol};
use http_proto::head::Offence;
use web_proto::Code;

use crate::answer::{Awaited, DateLine, Pending, send_piece};
use crate::config::{Shared, WebConfig};
use crate::crowds::Crowds;
use crate::files::Links;
use crate::live::{Down, Echo, Socket};
use crate::missed::Missed;
use crate::pieces::{Incoming, Outgoing};
use crate::poll::Polls;
use crate::request::{Upload, Waiting, refuse_request};
use crate::rest::Answer;
use crate::sign_in_queue::SignInQueue;
use crate::unproven::{Held, Unproven};

/// State per connection. An idle one owns nothing on the heap.
pub struct Conn {
    pub(crate) state: State,
}

pub(crate) enum State {
    /// Between requests; the head of the next one may be arriving (`is_late` can tell). A long one counts against the budget.
    Idle { head_began: bool, held: Option<Held> },
    /// The body of a request is arriving.
    Upload(Box<Upload>),
    /// A request whose body is passed on as it comes.
    Incoming(Box<Incoming>),
    /// A request is complete and its answer is being made.
    Waiting(Box<Waiting>),
    /// The rest of a large answer follows as fast as it is read.
    Sending(Box<Sending>),
    /// An answer that is read as it is sent.
    Outgoing(Box<Outgoing>),
    /// A WebSocket that speaks our protocol.
    Socket(Socket),
    /// A session on an answer that does not end: stream or SSE.
    Down(Down),
    /// A WebSocket that echoes its messages.
    Echo(Box<Echo>),
    /// The last frame is sent. Further input is ignored.
    Closing,
}

impl State {
    /// An unfinished head or body of which a part counts against the budget.
    fn holds_unproven(&self) -> bool {
        match self {
            State::Upload(upload) => upload.held.is_some(),
            State::Idle { held, .. } => held.is_some(),
            _ => false,
        }
    }
}

/// A large answer on its way.
pub(crate) struct Sending {
    pending: Pending,
    rest: Bytes,
}

/// A client that takes nothing of a large answer for so long is disconnected.
pub(crate) const PIECE_TIME: Duration = Duration::from_secs(30);

/// Messages to workers: from the domain, from each other, and from the tokio side.
///
/// Events are offered to the mailbox, which refuses them when it is full; each weighs as much as the sessions that it is for.
/// All other mail is never refused. Its bound: one mail for each session that begins or ends, for each request that a
/// connection waits for, and for each piece of a body that was asked for.
pub enum Mail {
    Event(SessionHandle, Delivery),
    /// The welcome of a session, as its frame without a key: see [`WebOutbox`].
    Welcome(SessionId, Vec<u8>),
    /// An event for several sessions of this worker.
    EventForMany(Vec<SessionHandle>, Delivery),
    /// For each of these sessions of this worker one of some events, which are written already.
    Events(Vec<(SessionHandle, usize)>, Arc<[Written]>),
    /// Sessions of this worker have missed an event, because the mailbox was full.
    Missed(Arc<Missed>),
    /// Something for this connection or poll session of this worker was lost by a panic on another.
    Lost(Handle),
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
    /// The router has taken a piece of the body that comes on this connection.
    ReadOn {
        to: Handle,
    },
    /// The next piece of an answer. None: the answer breaks off.
    Piece {
        to: Handle,
        piece: Option<Bytes>,
    },
}

impl Mail {
    /// The sessions that an event is for.
    fn sessions(&self) -> impl Iterator<Item = SessionHandle> + '_ {
        let (one, many, each) = match self {
            Mail::Event(to, _) => (Some(*to), &[][..], &[][..]),
            Mail::EventForMany(to, _) => (None, &to[..], &[][..]),
            Mail::Events(to, _) => (None, &[][..], &to[..]),
            _ => (None, &[][..], &[][..]),
        };
        one.into_iter().chain(many.iter().copied()).chain(each.iter().map(|(session, _)| *session))
    }
}

/// An event and its frame.
pub struct Written {
    delivery: Delivery,
    frame: Vec<u8>,
}

/// The domain's way back to sessions of this gateway.
///
/// A welcome becomes a frame here, on the thread that has read what is in it: a contact list is some hundred small pieces of
/// memory, and where one thread takes them and another gives them back, both wait for the allocator.
pub struct WebOutbox {
    mailboxes: Mailboxes<Mail>,
    limits: web_proto::Limits,
    links: Links,
    clock: fn() -> Timestamp,
    /// Of each worker.
    missed: Vec<Arc<Missed>>,
}

impl WebOutbox {
    /// The welcome tells clients `limits`, `config` and the time.
    pub fn new(
        mailboxes: Mailboxes<Mail>,
        limits: &chat::Limits,
        config: &WebConfig,
        clock: fn() -> Timestamp,
    ) -> WebOutbox {
        let missed = (0..mailboxes.workers()).map(|_| Arc::default()).collect();
        WebOutbox {
            mailboxes,
            limits: config.limits_in_welcome(limits),
            links: config.links.clone(),
            clock,
            missed,
        }
    }

    /// Sends an event. At the bound of the mailbox it is dropped, and its sessions are behind from then on.
    fn offer(&self, worker: usize, mail: Mail) {
        let weight = mail.sessions().count();
        let Err(refused) = self.mailboxes.offer(worker, mail, weight) else { return };
        if let Some(missed) = self.missed.get(worker)
            && missed.add(refused.sessions())
        {
            self.mailboxes.send(worker, Mail::Missed(Arc::clone(missed)));
        }
    }

    fn deliver_one(&self, to: SessionHandle, delivery: Delivery) {
        let worker = Handle::from_bits(to.0).worker();
        match delivery.event {
            Event::Session(chat::session::Event::Welcome(welcome)) => self.welcome(&welcome),
            // The mailbox never refuses the end of a session, because each session ends once.
            _ if delivery.event.farewell().is_some() => {
                self.mailboxes.send(worker, Mail::Event(to, delivery));
            }
            _ => self.offer(worker, Mail::Event(to, delivery)),
        }
    }

    fn welcome(&self, welcome: &Welcome) {
        let frame = crate::wire::session::welcome(welcome, self.limits, &self.links, (self.clock)());
        let worker = Handle::from_bits(welcome.session.handle.0).worker();
        self.mailboxes.send(worker, Mail::Welcome(welcome.session, frame));
    }

    /// Hands the events for the sessions of each worker to that worker, in order. No list is empty.
    fn slices<T: Copy>(
        &self,
        to: &[T],
        session: impl Fn(&T) -> SessionHandle,
        mut send: impl FnMut(usize, Vec<T>),
    ) {
        let mut slices: Vec<Vec<T>> = vec![Vec::new(); self.mailboxes.workers()];
        for one in to {
            let worker = Handle::from_bits(session(one).0).worker();
            let Some(slice) = slices.get_mut(worker) else { continue };
            slice.push(*one);
            if slice.len() == SLICE {
                send(worker, std::mem::take(slice));
            }
        }
        for (worker, slice) in slices.into_iter().enumerate().filter(|(_, slice)| !slice.is_empty()) {
            send(worker, slice);
        }
    }
}

/// Deliveries to many sessions of a worker, as to a whole room, are cut into pieces of so many: between them the
/// worker looks at its sockets. Each piece encodes the frame anew, which costs little beside so many copies.
const SLICE: usize = 512;

/// So many copies of one frame count as one mail: a turn takes 16,000 of them, so that several messages for one room that
/// wait for a busy worker go out in one packet each.
const COPIES: usize = 16;

impl Outbox for WebOutbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        match to {
            [] => {}
            [one] => self.deliver_one(*one, delivery),
            many => self.slices(
                many,
                |to| *to,
                |worker, slice| {
                    let mail = match slice[..] {
                        [one] => Mail::Event(one, delivery.clone()),
                        _ => Mail::EventForMany(slice, delivery.clone()),
                    };
                    self.offer(worker, mail);
                },
            ),
        }
    }

    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        let written = deliveries.into_iter().map(|delivery| {
            let mut frame = Vec::new();
            crate::wire::write(&delivery, &self.links, &mut frame);
            Written { delivery, frame }
        });
        let written: Arc<[Written]> = written.collect();
        self.slices(
            to,
            |(to, _)| *to,
            |worker, slice| {
                self.offer(worker, Mail::Events(slice, Arc::clone(&written)));
            },
        );
    }
}

/// An [`edge::Protocol`] for one worker.
pub struct Gateway {
    pub(crate) worker: usize,
    pub(crate) shared: Arc<Shared>,
    pub(crate) polls: Polls,
    /// Where frames are written before they go out; empty in between.
    pub(crate) scratch: Vec<u8>,
    pub(crate) date: DateLine,
    pub(crate) unproven: Unproven,
    crowds: Crowds,
    pub(crate) queue: SignInQueue,
}

/// Ends a session whose welcome is not delivered: its connection has gone, or a worker has panicked.
struct Unwelcomed<'a> {
    node: &'a Port,
    session: SessionId,
    now: Timestamp,
}

impl Drop for Unwelcomed<'_> {
    fn drop(&mut self) {
        self.node.disconnected(self.session, false, self.now);
    }
}

/// The scratch buffer keeps no more than this.
const SCRATCH_BYTES: usize = 64 * 1024;

impl Gateway {
    /// For worker number `worker` of those that `shared.mailboxes` reach.
    pub fn new(worker: usize, shared: Arc<Shared>) -> Gateway {
        Gateway {
            worker,
            shared,
            polls: Polls::new(worker),
            scratch: Vec::new(),
            date: DateLine::default(),
            unproven: Unproven::default(),
            crowds: Crowds::default(),
            queue: SignInQueue::default(),
        }
    }

    /// The frame of an event, in the scratch buffer; give it back with `put_back`.
    pub(crate) fn encode(&mut self, delivery: &Delivery) -> Vec<u8> {
        let mut json = std::mem::take(&mut self.scratch);
        crate::wire::write(delivery, &self.shared.config.links, &mut json);
        json
    }

    pub(crate) fn put_back(&mut self, mut scratch: Vec<u8>) {
        scratch.clear();
        scratch.shrink_to(SCRATCH_BYTES);
        self.scratch = scratch;
    }

    /// These sessions have missed an event.
    fn all_missed(&mut self, missed: &Arc<Missed>, conns: &mut Conns<'_, Conn>) {
        let mut signing_in = missed.take();
        signing_in.retain(|to| !self.missed(*to, conns));
        // A session gets events after its welcome. So the welcome is in the mailbox, and this comes again behind it.
        if missed.add(signing_in) {
            self.send_mail(self.worker, Mail::Missed(Arc::clone(missed)));
        }
    }

    /// The session has missed an event. False if it has not begun yet.
    fn missed(&mut self, to: SessionHandle, conns: &mut Conns<'_, Conn>) -> bool {
        let handle = Handle::from_bits(to.0);
        if Polls::is_poll(handle) {
            return self.poll_missed(to, conns);
        }
        let Some((conn, mut io)) = conns.get(handle) else { return true };
        match &conn.state {
            State::Socket(socket) if socket.is_signing_in() => false,
            State::Waiting(waiting) if matches!(waiting.pending.what, Awaited::Stream | Awaited::Sse) => {
                false
            }
            _ => {
                self.drop_queue(&mut conn.state, &mut io);
                true
            }
        }
    }

    /// A panic has lost something for this connection or poll session, so it ends and its client comes back.
    fn lose(&mut self, handle: Handle, conns: &mut Conns<'_, Conn>) {
        if Polls::is_poll(handle) {
            self.lose_poll(SessionHandle(handle.to_bits()), conns.now());
        } else if let Some((_, mut io)) = conns.get(handle) {
            io.abort();
        }
    }

    fn deliver(&mut self, to: SessionHandle, delivery: &Delivery, conns: &mut Conns<'_, Conn>) {
        let handle = Handle::from_bits(to.0);
        if Polls::is_poll(handle) {
            return self.deliver_to_poll(to, delivery, conns);
        }
        match conns.get(handle) {
            Some((conn, mut io)) => self.deliver_to(conn, delivery, &mut io),
            None => self.undeliverable(),
        }
    }

    fn deliver_welcome(&mut self, session: SessionId, frame: Vec<u8>, conns: &mut Conns<'_, Conn>) {
        let handle = Handle::from_bits(session.handle.0);
        let shared = Arc::clone(&self.shared);
        let unwelcomed = Unwelcomed { node: &shared.node, session, now: timestamp(conns.now()) };
        let is_delivered = if Polls::is_poll(handle) {
            self.welcome_poll(session, frame, conns)
        } else if let Some((conn, mut io)) = conns.get(handle) {
            self.welcome(conn, session, frame, &mut io)
        } else {
            false
        };
        if is_delivered {
            std::mem::forget(unwelcomed);
        } else {
            self.undeliverable();
        }
    }

    fn deliver_many(&mut self, to: &[SessionHandle], delivery: &Delivery, conns: &mut Conns<'_, Conn>) {
        let json = self.encode(delivery);
        let may_wait = self.crowds.may_wait(to.len());
        for &session in to {
            let handle = Handle::from_bits(session.0);
            if Polls::is_poll(handle) {
                self.deliver_to_poll(session, delivery, conns);
            } else if let Some((conn, mut io)) = conns.get(handle) {
                if may_wait {
                    io.may_wait();
                }
                self.deliver_encoded(conn, &delivery.event, &json, &mut io);
            }
        }
        self.put_back(json);
    }

    fn deliver_each(
        &mut self,
        to: &[(SessionHandle, usize)],
        events: &[Written],
        conns: &mut Conns<'_, Conn>,
    ) {
        for &(session, at) in to {
            let Written { delivery, frame } = &events[at];
            let handle = Handle::from_bits(session.0);
            if Polls::is_poll(handle) {
                self.deliver_to_poll(session, delivery, conns);
            } else if let Some((conn, mut io)) = conns.get(handle) {
                self.deliver_encoded(conn, &delivery.event, frame, &mut io);
            } else {
                self.undeliverable();
            }
        }
    }

    fn drop_upload(&self, connection: Handle, conns: &mut Conns<'_, Conn>) {
        if let Some((conn, mut io)) = conns.get(connection)
            && conn.state.holds_unproven()
        {
            refuse_request(&self.shared, &mut conn.state, Offence::NoRoom, &mut io);
        }
    }

    pub(crate) fn undeliverable(&self) {
        self.shared.counters.undeliverable.add(1);
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

    fn accept(&mut self, _: Accepted, io: &mut Io<'_>) -> Conn {
        io.set_timer(Some(self.shared.config.head));
        Conn { state: State::Idle { head_began: true, held: None } }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> usize {
        let mut used = 0;
        loop {
            let rest = &mut input[used..];
            let step = match &mut conn.state {
                State::Idle { .. } | State::Upload(_) => self.request(conn, rest, io),
                State::Incoming(_) => self.read_pieces(&mut conn.state, rest, io),
                State::Socket(_) => self.socket(&mut conn.state, rest, io),
                State::Echo(echo) => echo.input(rest, io),
                // Bytes after a request wait until that is answered, up to the connection layer's input limit.
                State::Waiting(_) | State::Sending(_) | State::Outgoing(_) => Step::Wait(0),
                State::Down(_) | State::Closing => Step::Wait(rest.len()),
            };
            match step {
                Step::Wait(bytes) => return used + bytes,
                Step::Again(bytes) => used += bytes,
            }
        }
    }

    fn eof(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        // A client that closed its half may still wait for an answer (`curl` and scripts do that).
        if !matches!(conn.state, State::Waiting(_) | State::Sending(_) | State::Outgoing(_)) {
            io.close();
        }
    }

    fn timer(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match &mut conn.state {
            State::Idle { .. } | State::Upload(_) => self.request_is_late(conn, io),
            State::Waiting(_) => self.answer_is_late(conn, io),
            State::Incoming(_) => self.body_is_late(conn, io),
            State::Sending(_) | State::Outgoing(_) => io.abort(),
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
            State::Outgoing(outgoing) => outgoing.ask(),
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

    fn reclaim(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match &conn.state {
            State::Socket(socket) if socket.live().is_some() => self.drop_queue(&mut conn.state, io),
            State::Down(_) => self.drop_queue(&mut conn.state, io),
            // Half an answer is none.
            _ => io.abort(),
        }
    }

    fn closed(&mut self, conn: Conn, handle: Handle, _: Closed, now: Now) {
        self.give_up_sign_in(&conn.state, handle);
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

    fn moves(conn: &Conn) -> Moves {
        crate::hand_over::moves(conn)
    }

    fn rest(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        self.rest_before_move(conn, io);
    }

    fn export(&self, conn: &Conn, _: Now, into: &mut Vec<u8>) -> bool {
        Gateway::export_conn(conn, into)
    }

    fn import(&mut self, state: &[u8], io: &mut Io<'_>) -> Option<Conn> {
        self.import_conn(state, io)
    }

    fn export_state(&self, _: Now, into: &mut Vec<u8>) {
        self.export_sessions(into);
    }

    fn import_state(&mut self, state: &[u8], now: Now) -> Vec<Handle> {
        self.import_sessions(state, now)
    }

    fn work(mail: &Mail) -> usize {
        match mail {
            Mail::EventForMany(to, ..) => to.len() / COPIES,
            Mail::Events(to, ..) => to.len() / COPIES,
            _ => 1,
        }
    }

    fn recipients(mail: &Mail, into: &mut Vec<Handle>) {
        let handle = |session: &SessionHandle| Handle::from_bits(session.0);
        match mail {
            Mail::Event(to, _) => into.push(handle(to)),
            Mail::EventForMany(to, _) => into.extend(to.iter().map(handle)),
            Mail::Events(to, _) => into.extend(to.iter().map(|(to, _)| handle(to))),
            Mail::Missed(missed) => into.extend(missed.sessions().iter().map(handle)),
            Mail::Welcome(session, _) => into.push(handle(&session.handle)),
            Mail::Posted { session, from, .. } | Mail::Poll { session, from } => {
                into.extend([handle(&session.handle), *from]);
            }
            Mail::PollAnswer { to, session, .. } => into.extend([*to, handle(session)]),
            Mail::PollUndelivered { session, .. } => into.push(handle(session)),
            Mail::PostedDone { to, .. }
            | Mail::Rest { to, .. }
            | Mail::ReadOn { to }
            | Mail::Piece { to, .. }
            | Mail::Lost(to) => into.push(*to),
        }
    }

    fn lost(&mut self, recipients: &[Handle], conns: &mut Conns<'_, Conn>) {
        for handle in recipients {
            if handle.worker() == self.worker {
                self.lose(*handle, conns);
            } else {
                self.send_mail(handle.worker(), Mail::Lost(*handle));
            }
        }
    }

    fn mail(&mut self, mail: Mail, conns: &mut Conns<'_, Conn>) {
        match mail {
            Mail::Event(to, delivery) => self.deliver(to, &delivery, conns),
            Mail::EventForMany(to, delivery) => self.deliver_many(&to, &delivery, conns),
            Mail::Events(to, events) => self.deliver_each(&to, &events, conns),
            Mail::Lost(handle) => self.lose(handle, conns),
            Mail::Missed(missed) => self.all_missed(&missed, conns),
            Mail::Welcome(session, frame) => self.deliver_welcome(session, frame, conns),
            Mail::Posted { session, commands, from } => {
                let outcome = self.posted(session, &commands, conns);
                self.send_mail(from.worker(), Mail::PostedDone { to: from, outcome });
            }
            Mail::PostedDone { to, outcome } => self.answer_posted(to, outcome, conns),
            Mail::Poll { session, from } => self.poll(session, from, conns),
            Mail::PollAnswer { to, session, answer } => self.answer_poll(to, session, answer, conns),
            Mail::PollUndelivered { session, events } => self.polls.take_back(session, events),
            Mail::Rest { to, answer } => self.answer_rest(to, &answer, conns),
            Mail::ReadOn { to } => self.take_more(to, conns),
            Mail::Piece { to, piece } => self.send_next(to, piece, conns),
        }
    }

    fn turn_ends(&mut self, conns: &mut Conns<'_, Conn>) {
        while let Some(oldest) = self.unproven.next_to_drop() {
            self.drop_upload(oldest, conns);
        }
        self.serve_queue(conns);
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.unproven.forget_finished(|connection| {
            conns.get(*connection).is_some_and(|(conn, _)| conn.state.holds_unproven())
        });
        self.end_silent_polls(conns.now());
        self.crowds.tick();
    }
}

/// The next step of `input`, and the number of consumed bytes.
pub(crate) enum Step {
    /// It waits for more input or for an answer.
    Wait(usize),
    Again(usize),
}

/// The answer is sent: the next request may come, or the connection ends.
pub(crate) fn next_request(state: &mut State, pending: &Pending, config: &crate::WebConfig, io: &mut Io<'_>) {
    if !pending.keep_alive {
        *state = State::Closing;
        return io.close();
    }
    *state = State::Idle { head_began: false, held: None };
    io.set_timer(Some(config.keep_alive));
}

/// As `next_request`, but after the rest of the answer is sent.
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

/// Calls `input` again with the bytes that arrived meanwhile.
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
        assert!(size_of::<Delivery>() <= 104, "{}", size_of::<Delivery>());
        assert!(size_of::<Mail>() <= 128, "{}", size_of::<Mail>());
    }
}
