//! Sessions between polls: events wait here, bounded, until the client asks for them.

use std::collections::VecDeque;
use std::time::Duration;

use chat::{Event, SessionHandle, SessionId};
use edge::{Conns, Handle, Now};
use web_proto::Code;

use crate::Transport;
use crate::answer::JSON;
use crate::gateway::{Conn, Gateway, Mail, State, next_request, read_on, timestamp};
use crate::live::{Lag, Live, Reply, lines};
use crate::request::take_waiting;

/// Handles of poll sessions have this bit in their slot; no worker has so many connections.
const POLL_BIT: u32 = 1 << 31;

/// The poll sessions that this worker keeps.
pub(crate) struct Polls {
    worker: usize,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Every session once, with the moment at which to look whether it still polls: roughly ascending, so that a
    /// session may outlive its time by the length of a poll.
    watched: VecDeque<(u64, SessionHandle)>,
}

struct Slot {
    generation: u32,
    session: Option<Box<PollSession>>,
}

struct PollSession {
    /// None until the welcome.
    live: Option<Live>,
    /// The connection that waits for events.
    waiting: Option<Handle>,
    /// Unix milliseconds at which the last poll began or was answered.
    polled: u64,
    /// Frames with commas between them.
    queue: Vec<u8>,
    /// The domain has ended it; it goes with the next poll.
    is_over: bool,
}

impl Polls {
    pub(crate) fn new(worker: usize) -> Polls {
        Polls { worker, slots: Vec::new(), free: Vec::new(), watched: VecDeque::new() }
    }

    pub(crate) fn is_poll(handle: Handle) -> bool {
        handle.slot() & POLL_BIT != 0
    }

    /// A session that has said hello on this connection.
    pub(crate) fn open(&mut self, waiting: Handle, now: Now) -> SessionHandle {
        let session = PollSession {
            live: None,
            waiting: Some(waiting),
            polled: now.unix_ms,
            queue: Vec::new(),
            is_over: false,
        };
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, session: None });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[at as usize];
        slot.session = Some(Box::new(session));
        let handle = SessionHandle(Handle::new(self.worker, at | POLL_BIT, slot.generation).to_bits());
        self.watched.push_back((now.unix_ms, handle));
        handle
    }

    pub(crate) fn close(&mut self, handle: SessionHandle) {
        let at = Handle::from_bits(handle.0).slot() & !POLL_BIT;
        if self.get(handle).is_some() {
            let slot = &mut self.slots[at as usize];
            slot.session = None;
            slot.generation = slot.generation.wrapping_add(1) & 0x00ff_ffff;
            self.free.push(at);
        }
        if self.free.len() == self.slots.len() {
            // All have left; generations go on from where no old key can meet a new session of another user.
            self.watched.shrink_to_fit();
        }
    }

    fn get(&mut self, handle: SessionHandle) -> Option<&mut PollSession> {
        let handle = Handle::from_bits(handle.0);
        let slot = self.slots.get_mut((handle.slot() & !POLL_BIT) as usize)?;
        if slot.generation != handle.generation() {
            return None;
        }
        slot.session.as_deref_mut()
    }

    /// The session that a key speaks for, if it is still its user's.
    fn of(&mut self, session: SessionId) -> Option<&mut PollSession> {
        self.get(session.handle).filter(|found| found.live.is_some_and(|live| live.user == session.user))
    }

    /// An answer found its connection gone: its events come first with the next poll.
    pub(crate) fn take_back(&mut self, session: SessionHandle, events: Vec<u8>) {
        if let Some(found) = self.get(session) {
            let later = std::mem::replace(&mut found.queue, events);
            found.push(&later);
        }
    }
}

impl PollSession {
    fn push(&mut self, frame: &[u8]) {
        if frame.is_empty() {
            return;
        }
        if !self.queue.is_empty() {
            self.queue.push(b',');
        }
        self.queue.extend_from_slice(frame);
    }

    /// What waits, as a JSON array.
    fn take(&mut self) -> Vec<u8> {
        let mut array = Vec::with_capacity(self.queue.len() + 2);
        array.push(b'[');
        array.extend_from_slice(&std::mem::take(&mut self.queue));
        array.push(b']');
        array
    }
}

impl Gateway {
    /// Something from the domain for a poll session.
    pub(crate) fn tell_poll(&mut self, to: SessionHandle, event: &Event, conns: &mut Conns<'_, Conn>) {
        let now = conns.now();
        let Some(session) = self.polls.get(to) else { return self.undeliverable(event, now) };
        let key = match event {
            Event::Welcome(welcome) => {
                let origin = session.waiting.and_then(|waiting| match &conns.get(waiting)?.0.state {
                    State::Waiting(waiting) => waiting.pending.cors.clone(),
                    _ => None,
                });
                Some(self.shared.keys.make(welcome.session, origin.as_deref()))
            }
            _ => None,
        };
        let json = self.encode(event, key.as_deref(), now);
        let hard_limit = self.shared.config.hard_limit;
        let Some(session) = self.polls.get(to) else { return self.put_back(json) };
        match event {
            Event::Welcome(welcome) => {
                session.live = Some(Live::new(welcome.session.user, now));
                session.push(&json);
                self.shared.counters.session_began(Transport::Poll);
            }
            Event::Bye(refusal) => {
                let code = crate::wire::code(*refusal);
                self.shared.counters.code(code);
                if session.live.is_none() {
                    self.put_back(json);
                    return self.refuse_hello(to, *refusal, conns);
                }
                session.is_over = true;
                session.push(&json);
                self.shared.counters.session_ended(Transport::Poll);
            }
            _ => {
                let Some(live) = &mut session.live else { return self.put_back(json) };
                let admitted = live.admits(event);
                if admitted && session.queue.len() + json.len() > hard_limit && !session.queue.is_empty() {
                    live.lag = Lag::Told;
                    let id = SessionId { user: live.user, handle: to };
                    session.queue = br#"{"t":"behind"}"#.to_vec();
                    self.shared.counters.behind.add(1);
                    self.shared.node.behind(id);
                } else if admitted {
                    if matches!(event, Event::Behind) {
                        live.lag = Lag::Told;
                    }
                    session.push(&json);
                }
            }
        }
        self.shared.counters.frames_out.add(1);
        self.put_back(json);
        self.answer_waiting(to, conns);
    }

    /// Sends what waits, if a poll does.
    fn answer_waiting(&mut self, to: SessionHandle, conns: &mut Conns<'_, Conn>) {
        let now = conns.now();
        let Some(session) = self.polls.get(to) else { return };
        if session.queue.is_empty() {
            return;
        }
        let Some(waiting) = session.waiting.take() else { return };
        session.polled = now.unix_ms;
        let answer = session.take();
        let is_over = session.is_over;
        if is_over {
            self.polls.close(to);
        }
        if waiting.worker() == self.worker {
            self.answer_poll(waiting, to, Ok(answer), conns);
        } else {
            let mail = Mail::PollAnswer { to: waiting, session: to, answer: Ok(answer) };
            self.send_mail(waiting.worker(), mail);
        }
    }

    /// The answer for a connection of this worker that polls.
    pub(crate) fn answer_poll(
        &mut self,
        to: Handle,
        session: SessionHandle,
        answer: Result<Vec<u8>, Code>,
        conns: &mut Conns<'_, Conn>,
    ) {
        let is_its_poll =
            |conn: &Conn| matches!(&conn.state, State::Waiting(waiting) if waiting.session == Some(session));
        let found = conns.get(to).filter(|(conn, _)| is_its_poll(conn));
        let Some((conn, mut io)) = found else {
            if let Ok(array) = answer {
                let events = array[1..array.len() - 1].to_vec();
                let owner = Handle::from_bits(session.0).worker();
                self.send_mail(owner, Mail::PollUndelivered { session, events });
            }
            return;
        };
        let Some(waiting) = take_waiting(&mut conn.state) else { return };
        match answer {
            Ok(array) => {
                waiting.pending.send(&mut io, 200, JSON, &array);
                next_request(&mut conn.state, &waiting.pending, &self.shared.config, &mut io);
            }
            Err(code) => {
                self.answer_code(&mut conn.state, &waiting.pending, code, code.meaning().trim(), &mut io);
            }
        }
        read_on(&mut io);
    }

    fn refuse_hello(&mut self, to: SessionHandle, refusal: chat::Refusal, conns: &mut Conns<'_, Conn>) {
        let waiting = self.polls.get(to).and_then(|session| session.waiting);
        self.polls.close(to);
        let Some((conn, mut io)) = waiting.and_then(|waiting| conns.get(waiting)) else { return };
        let Some(waiting) = take_waiting(&mut conn.state) else { return };
        waiting.pending.send_event(&mut io, crate::wire::code(refusal), &crate::wire::bye(refusal));
        next_request(&mut conn.state, &waiting.pending, &self.shared.config, &mut io);
        read_on(&mut io);
    }

    /// A connection, of this worker or another, asks for a session's events.
    pub(crate) fn poll(&mut self, session: SessionId, from: Handle, conns: &mut Conns<'_, Conn>) {
        let now = conns.now().unix_ms;
        let Some(found) = self.polls.of(session) else {
            let mail = Mail::PollAnswer { to: from, session: session.handle, answer: Err(Code::NoSession) };
            return self.send_mail(from.worker(), mail);
        };
        found.polled = now;
        // The same connection polls again after its wait has ended with nothing.
        if let Some(older) = found.waiting.replace(from).filter(|older| *older != from) {
            let mail = Mail::PollAnswer { to: older, session: session.handle, answer: Ok(b"[]".to_vec()) };
            self.send_mail(older.worker(), mail);
        }
        self.answer_waiting(session.handle, conns);
    }

    pub(crate) fn posted_for_poll(
        &mut self,
        session: SessionId,
        commands: &[u8],
        conns: &mut Conns<'_, Conn>,
    ) -> Result<(), Code> {
        let now = conns.now();
        for line in lines(commands) {
            let found = self.polls.of(session).filter(|found| !found.is_over);
            let Some(mut live) = found.and_then(|found| found.live) else { return Err(Code::NoSession) };
            self.shared.counters.frames_in.add(1);
            let reply = self.obey(session, &mut live, line, now);
            let Some(found) = self.polls.of(session) else { return Err(Code::NoSession) };
            found.live = Some(live);
            let mut json = Vec::new();
            match reply {
                Reply::Nothing => continue,
                Reply::Event(event) => event.write(&mut json),
                Reply::Bye(code) => {
                    let text = code.meaning().trim();
                    web_proto::Event::Bye { code, text: text.into(), retry_after: None }.write(&mut json);
                    found.is_over = true;
                    self.shared.counters.session_ended(Transport::Poll);
                    self.shared.node.disconnected(session, code == Code::Done, timestamp(now));
                }
            }
            if let Some(found) = self.polls.of(session)
                && found.queue.len() <= self.shared.config.hard_limit
            {
                found.push(&json);
            }
        }
        self.answer_waiting(session.handle, conns);
        Ok(())
    }

    /// Ends sessions that have not polled for too long.
    pub(crate) fn end_silent_polls(&mut self, now: Now) {
        let ms = |time: Duration| time.as_millis() as u64;
        let (wait, gap) = (ms(self.shared.config.poll_wait), ms(self.shared.config.poll_gap));
        while let Some(&(look_at, handle)) = self.polls.watched.front() {
            if look_at > now.unix_ms {
                return;
            }
            self.polls.watched.pop_front();
            let Some(session) = self.polls.get(handle) else { continue };
            let ends = session.polled + gap + if session.waiting.is_some() { wait } else { 0 };
            if ends > now.unix_ms {
                self.polls.watched.push_back((ends, handle));
                continue;
            }
            let live = session.live.filter(|_| !session.is_over);
            self.polls.close(handle);
            if let Some(live) = live {
                self.shared.counters.session_ended(Transport::Poll);
                let id = SessionId { user: live.user, handle };
                self.shared.node.disconnected(id, false, timestamp(now));
            }
        }
    }
}
