//! The gateway of one worker: reads from connections, and hands each item of a stream to its handler.

use std::sync::Arc;

use chat::{Delivery, Event, SessionHandle, SessionId};
use edge::{Accepted, Closed, Conns, Handle, Moves, Now, Protocol};
use rand::SeedableRng;
use rand::rngs::StdRng;
use xmpp_proto::stream::{StreamCondition, StreamError, StreamHeader};
use xmpp_proto::xml::Element;

use crate::config::{Peers, Shared, timestamp};
use crate::hand_over;
use crate::missed::Missed;
use crate::s2s;
use crate::session::{Availabilities, SOFT_LIMIT, Session, Turn};
use crate::stream::{Checked, Next, Opening, UNAUTHENTICATED};
use crate::transport::bosh::{self, Posted};
use crate::transport::http::{Exchange, LargeBodies};
use crate::transport::{Arrived, Framing, Io};
use crate::xep::caps;
use crate::xep::muc::Nicks;
use crate::xep::stream_management::StreamId;

/// State per connection: one pointer. An idle session owns neither parser nor buffer.
pub struct Conn {
    pub(crate) state: State,
}

pub(crate) enum State {
    /// A connection of the web: the head of a request is arriving.
    Request {
        tls: bool,
    },
    /// A request of BOSH, until its answer.
    Exchange(Box<Exchange>),
    /// The stream is being negotiated; no session exists in the domain.
    Opening(Box<Opening>),
    Live(Box<Session>),
    /// A stream between servers.
    Server(Box<s2s::Stream>),
    /// The last bytes are sent. Further input is ignored.
    Closing,
}

impl State {
    fn io<'a>(&self, io: edge::Io<'a>) -> Io<'a> {
        let framing = match self {
            State::Opening(opening) => opening.receiver.framing(),
            State::Live(session) => session.receiver.framing(),
            State::Request { .. } | State::Exchange(_) | State::Server(_) | State::Closing => Framing::Tcp,
        };
        framing.on(io)
    }
}

/// Messages to workers, from the domain and from threads of the store.
///
/// Events are offered to the mailbox, which refuses them when it is full. All other mail is bounded by the number of
/// connections that wait for it.
pub enum Mail {
    Event(Vec<SessionHandle>, Delivery),
    /// Sessions of this worker have missed an event, because the mailbox was full. Their streams end: XMPP has no notice of a
    /// gap, and a client that reconnects asks the archive for what it has missed.
    Missed(Arc<Missed>),
    /// Credentials of the connection `to` were checked.
    Checked {
        to: Handle,
        checked: Checked,
    },
    /// The connection `by`, of the user with this bare JID, wants to resume a stream. If the connection `to` has it, that ends.
    Detach {
        to: Handle,
        by: Handle,
        id: StreamId,
        bare: Box<str>,
    },
    /// That was done, or `to` does not have the stream.
    Detached {
        to: Handle,
    },
    /// A request for a session of BOSH on this worker.
    Bosh(Box<Posted>),
    /// Its answer.
    BoshAnswer {
        to: Handle,
        answer: Arc<[u8]>,
    },
    /// About other servers and their users.
    Servers(Box<s2s::Letter>),
}

/// An [`edge::Protocol`] for one worker.
pub struct Gateway {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rng: StdRng,
    /// Where stanzas are written before they go out; empty in between.
    pub(crate) scratch: Vec<u8>,
    pub(crate) bosh: bosh::Sessions,
    pub(crate) large_bodies: LargeBodies,
    /// Of the rooms in which sessions of this worker are.
    pub(crate) nicks: Nicks,
    pub(crate) availabilities: Availabilities,
    /// What clients of this worker want, by their capabilities.
    pub(crate) caps: caps::Cache,
    pub(crate) federation: s2s::Federation,
}

/// The scratch buffer keeps no more than this.
const SCRATCH_BYTES: usize = 64 * 1024;

impl Gateway {
    /// `seed`: of stream ids and nonces; a secret, and different for each worker.
    pub fn new(shared: Arc<Shared>, seed: [u8; 32]) -> Gateway {
        Gateway {
            shared,
            rng: StdRng::from_seed(seed),
            scratch: Vec::new(),
            bosh: bosh::Sessions::default(),
            large_bodies: LargeBodies::default(),
            nicks: Nicks::default(),
            availabilities: Availabilities::default(),
            caps: caps::Cache::default(),
            federation: s2s::Federation::default(),
        }
    }

    /// Sends the element that `write` writes, in the form of TCP.
    pub(crate) fn send(&mut self, io: &mut Io<'_>, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = std::mem::take(&mut self.scratch);
        write(&mut out);
        io.send(&out);
        out.clear();
        out.shrink_to(SCRATCH_BYTES);
        self.scratch = out;
    }

    /// Ends a stream with an error (RFC 6120 §4.9.1.1).
    pub(crate) fn end_stream(&mut self, state: &mut State, error: &StreamError, io: &mut Io<'_>) {
        tracing::debug!(%error, "ending a stream");
        self.shared.counters.stream_errors.add(1);
        if let State::Opening(opening) = state {
            self.open_if_needed(opening, io);
        }
        io.fail(error);
        self.close(state, io);
    }

    /// Ends the domain's session, closes our side of the stream, and then the connection.
    pub(crate) fn close(&mut self, state: &mut State, io: &mut Io<'_>) {
        let ended = std::mem::replace(state, State::Closing);
        let was_open = !matches!(ended, State::Closing);
        let framing = io.framing();
        self.give_up_sign_in(&ended, io.handle());
        if let State::Live(mut session) = ended {
            if let Some(id) = session.management().and_then(|counters| counters.id()) {
                self.shared.streams.end(id);
            }
            self.disconnected(&session, io.handle(), io.now());
        }
        if was_open {
            self.send(io, |out| framing.write_end(out));
            io.close();
        }
    }

    /// The connection is lost. The client may resume its stream.
    pub(crate) fn stream_is_lost(&self, session: Session, handle: Handle, now: Now) {
        self.disconnected(&session, handle, now);
        if let Some(detached) = session.detached(timestamp(now)) {
            self.shared.streams.detach(detached);
        }
    }

    /// The connection has ended without the end of its stream.
    fn lose(&self, state: &mut State, io: &Io<'_>) {
        let lost = std::mem::replace(state, State::Closing);
        self.give_up_sign_in(&lost, io.handle());
        if let State::Live(session) = lost {
            self.stream_is_lost(*session, io.handle(), io.now());
        }
    }

    /// The connection does not wait for its welcome any longer.
    pub(crate) fn give_up_sign_in(&self, state: &State, handle: Handle) {
        if let State::Opening(opening) = state
            && opening.is_signing_in()
        {
            self.shared.node.gave_up(SessionHandle(handle.to_bits()));
        }
    }

    fn disconnected(&self, session: &Session, handle: Handle, now: Now) {
        self.shared.counters.sessions.take(1);
        let id = SessionId { user: session.user, handle: SessionHandle(handle.to_bits()) };
        self.shared.node.disconnected(id, session.is_unavailable(), timestamp(now));
    }

    fn deliver(&mut self, to: SessionHandle, delivery: &Delivery, conns: &mut Conns<'_, Conn>) {
        let now = conns.now();
        let handle = Handle::from_bits(to.0);
        if s2s::is_session(handle) {
            self.federation_turn(conns);
            return self.deliver_to_remote(handle, delivery, now);
        }
        let is_taken = self.with_stream(handle, conns, |gateway, state, io| match state {
            State::Live(_) => gateway.deliver_to_session(state, delivery, io),
            State::Opening(_) => gateway.deliver_to_opening(state, delivery, io),
            State::Request { .. } | State::Exchange(_) | State::Server(_) | State::Closing => {
                gateway.nobody_takes(delivery, now);
            }
        });
        if !is_taken {
            self.nobody_takes(delivery, now);
        }
    }

    /// A session whose connection has gone before its welcome ends at once.
    pub(crate) fn nobody_takes(&self, delivery: &Delivery, now: Now) {
        if let Event::Session(chat::session::Event::Welcome(welcome)) = &delivery.event {
            self.shared.node.disconnected(welcome.session, false, timestamp(now));
        }
    }

    fn end_missed(&mut self, missed: &Missed, conns: &mut Conns<'_, Conn>) {
        for to in missed.take() {
            if s2s::is_session(Handle::from_bits(to.0)) {
                self.federation_turn(conns);
                self.begin_again(Handle::from_bits(to.0), conns.now());
                continue;
            }
            self.with_stream(Handle::from_bits(to.0), conns, |gateway, state, io| {
                gateway.shared.counters.too_slow.add(1);
                gateway.end_stream(state, &StreamError::new(StreamCondition::ResourceConstraint), io);
            });
        }
    }

    /// Calls `act` with the stream of this handle. False: it has ended.
    pub(crate) fn with_stream(
        &mut self,
        handle: Handle,
        conns: &mut Conns<'_, Conn>,
        act: impl FnOnce(&mut Gateway, &mut State, &mut Io<'_>),
    ) -> bool {
        if bosh::is_session(handle) {
            return self.with_bosh(handle, conns.now(), act);
        }
        let Some((conn, io)) = conns.get(handle) else { return false };
        let mut io = conn.state.io(io);
        act(self, &mut conn.state, &mut io);
        true
    }

    /// Nothing has come in time.
    pub(crate) fn stream_timer(&mut self, state: &mut State, io: &mut Io<'_>) {
        match state {
            State::Opening(_) => {
                self.end_stream(state, &StreamError::new(StreamCondition::ConnectionTimeout), io);
            }
            State::Live(_) => self.session_is_silent(state, io),
            State::Request { .. } | State::Exchange(_) | State::Server(_) | State::Closing => {}
        }
    }
}

impl Protocol for Gateway {
    type Conn = Conn;
    type Mail = Mail;

    fn accept(&mut self, accepted: Accepted, io: &mut edge::Io<'_>) -> Conn {
        let config = &self.shared.config;
        if accepted.listener == Accepted::HANDED_OVER {
            io.set_timer(Some(config.keep_alive));
            return Conn { state: State::Request { tls: accepted.tls } };
        }
        io.set_timer(Some(config.negotiation));
        let stream = match config.role(accepted.listener).peers {
            Peers::Clients => return Conn { state: State::Opening(Box::new(Opening::new(accepted))) },
            Peers::Servers => s2s::Stream::accepted(accepted.tls, accepted.listener),
            Peers::Components => s2s::Stream::of_component(),
        };
        Conn { state: State::Server(Box::new(stream)) }
    }

    /// STARTTLS has finished its handshake, or a connection to another server is established.
    fn connected(&mut self, conn: &mut Conn, io: &mut edge::Io<'_>) {
        if let State::Server(stream) = &mut conn.state {
            return self.server_connected(stream, io);
        }
        if let State::Opening(opening) = &mut conn.state {
            opening.tls_is_on();
            io.set_timer(Some(self.shared.config.negotiation));
        }
    }

    fn input(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut edge::Io<'_>) -> usize {
        let mut used = 0;
        loop {
            let rest = &mut input[used..];
            if rest.is_empty() {
                return used;
            }
            let step = match &conn.state {
                State::Request { .. } => self.read_request(&mut conn.state, rest, io),
                State::Exchange(_) => self.read_body(&mut conn.state, rest, io),
                State::Server(_) => self.read_server(&mut conn.state, rest, io),
                State::Opening(_) | State::Live(_) => {
                    let mut io = conn.state.io(io.reborrow());
                    self.read(&mut conn.state, rest, &mut io)
                }
                State::Closing => Step::Wait(rest.len()),
            };
            match step {
                Step::Wait(bytes) => return used + bytes,
                Step::Again(bytes) => used += bytes,
            }
        }
    }

    /// A client that leaves without ending its stream may resume it.
    fn eof(&mut self, conn: &mut Conn, io: &mut edge::Io<'_>) {
        if matches!(conn.state, State::Server(_)) {
            return self.close_server(&mut conn.state, io);
        }
        let mut io = conn.state.io(io.reborrow());
        if matches!(conn.state, State::Live(_)) {
            let framing = io.framing();
            self.lose(&mut conn.state, &io);
            self.send(&mut io, |out| framing.write_end(out));
            return io.close();
        }
        if matches!(conn.state, State::Request { .. } | State::Exchange(_)) {
            return io.close();
        }
        self.close(&mut conn.state, &mut io);
    }

    fn timer(&mut self, conn: &mut Conn, io: &mut edge::Io<'_>) {
        match &mut conn.state {
            // No complete request, so there is no answer.
            State::Request { .. } => io.close(),
            State::Exchange(_) => Gateway::exchange_is_late(&mut conn.state, io),
            State::Server(_) => self.server_timer(&mut conn.state, io),
            State::Opening(_) | State::Live(_) => {
                let mut io = conn.state.io(io.reborrow());
                self.stream_timer(&mut conn.state, &mut io);
            }
            State::Closing => io.abort(),
        }
    }

    fn drained(&mut self, conn: &mut Conn, io: &mut edge::Io<'_>) {
        if let State::Server(stream) = &conn.state {
            let now = io.now();
            return Gateway::server_rests(stream, io, now);
        }
        let mut io = conn.state.io(io.reborrow());
        if let State::Live(session) = &mut conn.state {
            Turn { gateway: self, session, io: &mut io }.catch_up_presence();
        }
        io.set_reading(true);
    }

    /// XMPP cannot say that stanzas were dropped, so a client that reads too slowly has to reconnect.
    fn reclaim(&mut self, conn: &mut Conn, io: &mut edge::Io<'_>) {
        let _ = conn;
        self.shared.counters.too_slow.add(1);
        io.abort();
    }

    fn closed(&mut self, conn: Conn, handle: Handle, _: Closed, now: Now) {
        self.give_up_sign_in(&conn.state, handle);
        match conn.state {
            State::Live(session) => self.stream_is_lost(*session, handle, now),
            State::Server(stream) => self.server_closed(*stream, handle),
            State::Request { .. } | State::Exchange(_) | State::Opening(_) | State::Closing => {}
        }
    }

    fn moves(conn: &Conn) -> Moves {
        hand_over::moves(conn)
    }

    fn export(&self, conn: &Conn, _: Now, into: &mut Vec<u8>) -> bool {
        hand_over::export(conn, into)
    }

    fn import(&mut self, state: &[u8], io: &mut edge::Io<'_>) -> Option<Conn> {
        self.import_conn(state, io)
    }

    fn work(mail: &Mail) -> usize {
        match mail {
            Mail::Event(to, _) => to.len(),
            Mail::Missed(_)
            | Mail::Checked { .. }
            | Mail::Detach { .. }
            | Mail::Detached { .. }
            | Mail::Bosh(_)
            | Mail::BoshAnswer { .. }
            | Mail::Servers(_) => 1,
        }
    }

    fn recipients(mail: &Mail, into: &mut Vec<Handle>) {
        match mail {
            Mail::Event(to, _) => into.extend(to.iter().map(|to| Handle::from_bits(to.0))),
            Mail::Checked { to, .. }
            | Mail::Detach { to, .. }
            | Mail::Detached { to }
            | Mail::BoshAnswer { to, .. } => into.push(*to),
            Mail::Bosh(posted) => into.push(posted.session()),
            Mail::Servers(letter) => into.extend(letter.recipient()),
            Mail::Missed(_) => {}
        }
    }

    fn mail(&mut self, mail: Mail, conns: &mut Conns<'_, Conn>) {
        match mail {
            Mail::Event(to, delivery) => {
                for session in to {
                    self.deliver(session, &delivery, conns);
                }
            }
            Mail::Missed(missed) => self.end_missed(&missed, conns),
            Mail::Checked { to, checked } => {
                self.with_stream(to, conns, |gateway, state, io| gateway.checked(state, checked, io));
            }
            Mail::Detach { to, by, id, bare } => {
                self.with_stream(to, conns, |gateway, state, io| {
                    if let State::Live(session) = state
                        && session.is_stream(id, &bare)
                    {
                        gateway.lose(state, io);
                        io.abort();
                    }
                });
                self.shared.mailboxes.send(by.worker(), Mail::Detached { to: by });
            }
            Mail::Detached { to } => {
                self.with_stream(to, conns, |gateway, state, io| gateway.resume_detached(state, io));
            }
            Mail::Bosh(posted) => self.bosh_posted(*posted, conns.now()),
            Mail::BoshAnswer { to, answer } => {
                if let Some((conn, mut io)) = conns.get(to) {
                    self.answer_exchange(&mut conn.state, &answer, &mut io);
                }
            }
            Mail::Servers(letter) => self.server_mail(*letter, conns),
        }
    }

    fn lost(&mut self, recipients: &[Handle], conns: &mut Conns<'_, Conn>) {
        for handle in recipients {
            match *handle {
                handle if s2s::is_session(handle) => self.lose_remote(handle),
                handle if bosh::is_session(handle) => self.lose_bosh(handle, conns.now()),
                _ => {}
            }
        }
    }

    fn tick(&mut self, conns: &mut Conns<'_, Conn>) {
        self.shared.streams.expire(timestamp(conns.now()));
        self.tick_bosh(conns.now());
        self.tick_federation(conns);
    }

    /// Stanzas for other servers go out together.
    fn turn_ends(&mut self, conns: &mut Conns<'_, Conn>) {
        self.dial_again(conns);
        self.flush_links(conns);
    }
}

impl Gateway {
    /// Reads one part of a stream.
    fn read(&mut self, state: &mut State, input: &mut [u8], io: &mut Io<'_>) -> Step {
        let (receiver, limits) = match state {
            // The answer decides how the next bytes are read.
            State::Opening(opening) if opening.is_waiting() => return Step::Wait(0),
            State::Opening(opening) => (&mut opening.receiver, &UNAUTHENTICATED),
            // A client that asks without reading the answers must wait.
            State::Live(session) if io.outgoing() > SOFT_LIMIT || session.is_paused() => {
                io.set_reading(false);
                return Step::Wait(0);
            }
            State::Live(session) => {
                session.hear(io.now());
                (&mut session.receiver, &self.shared.config.limits)
            }
            State::Request { .. } | State::Exchange(_) | State::Server(_) | State::Closing => {
                return Step::Wait(0);
            }
        };
        let (used, arrived) = match receiver.read(input, limits, io) {
            Ok(read) => read,
            Err(error) => {
                self.end_stream(state, &error, io);
                return Step::Wait(input.len());
            }
        };
        let Some(arrived) = arrived else { return Step::Wait(used) };
        let outcome = match arrived {
            Arrived::Header(header) => self.header(state, &header, io),
            Arrived::Element(tree) => match self.element(state, tree.root(), used == input.len(), io) {
                Ok(Next::TlsHandshake) => return Step::Wait(input.len()),
                Ok(Next::Continue) => Ok(()),
                Err(error) => Err(error),
            },
            Arrived::Alive => Ok(()),
            Arrived::End => {
                self.close(state, io);
                return Step::Wait(input.len());
            }
            Arrived::Lost => {
                self.lose(state, io);
                io.close();
                return Step::Wait(input.len());
            }
        };
        match outcome {
            Ok(()) => Step::Again(used),
            Err(error) => {
                self.end_stream(state, &error, io);
                Step::Wait(input.len())
            }
        }
    }

    pub(crate) fn header(
        &mut self,
        state: &mut State,
        header: &StreamHeader,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        match state {
            State::Opening(opening) => self.open(opening, header, io),
            // The stream was not restarted.
            _ => Err(StreamError::new(StreamCondition::BadFormat)),
        }
    }

    /// `is_last`: no input follows.
    pub(crate) fn element(
        &mut self,
        state: &mut State,
        element: Element<'_>,
        is_last: bool,
        io: &mut Io<'_>,
    ) -> Result<Next, StreamError> {
        match state {
            State::Opening(opening) => self.negotiate(opening, element, is_last, io),
            State::Live(session) => {
                self.shared.counters.stanzas_in.add(1);
                Turn { gateway: self, session, io }.stanza(element).map(|()| Next::Continue)
            }
            State::Request { .. } | State::Exchange(_) | State::Server(_) | State::Closing => {
                Ok(Next::Continue)
            }
        }
    }
}

/// The next step of `input`, and the number of consumed bytes.
pub(crate) enum Step {
    /// It waits for more input or for an answer.
    Wait(usize),
    Again(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_one_pointer() {
        assert_eq!(size_of::<Conn>(), 16);
        assert!(size_of::<Session>() <= 104, "{}", size_of::<Session>());
    }
}
