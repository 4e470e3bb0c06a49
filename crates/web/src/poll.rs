//! Sessions between polls: events wait here, bounded, until the client asks for them.

use std::mem;
use std::time::Duration;

use chat::{Delivery, SessionHandle, SessionId, UserId};
use edge::{Conns, Handle, Now, Slab};
use serde::{Deserialize, Serialize};
use web_proto::Code;

use crate::Transport;
use crate::answer::JSON;
use crate::gateway::{Conn, Gateway, Mail, State, next_request, read_on, timestamp};
use crate::live::{Lag, Live, LiveRecord, Reply, lines};
use crate::request::take_waiting;

/// Handles of poll sessions have this bit in their slot; no worker has so many connections.
const POLL_BIT: u32 = 1 << 31;

/// The poll sessions that this worker keeps.
pub(crate) struct Polls {
    worker: usize,
    sessions: Slab<PollSession>,
    /// The next tick checks the sessions from here on for clients that no longer poll.
    look_from: u32,
}

/// 40 bytes, while no event is pending.
struct PollSession {
    phase: Phase,
    /// The connection that waits for events.
    waiting: Waiter,
    /// When the last poll began or was answered: Unix milliseconds, low bits.
    polled: u32,
    /// Events for the next poll. A thin pointer: most sessions have none.
    queue: Option<Box<Queue>>,
}

enum Phase {
    /// No welcome yet.
    BeforeHello,
    Live(Live),
    /// The domain has ended it; it goes with the next poll.
    Over(UserId),
}

/// A session in the form in which one process hands it to its successor.
#[derive(Serialize, Deserialize)]
pub(crate) struct PollRecord {
    slot: u32,
    generation: u32,
    phase: PhaseRecord,
    queue: Option<Vec<u8>>,
}

#[derive(Serialize, Deserialize)]
enum PhaseRecord {
    Live(LiveRecord),
    Over(UserId),
}

impl PollRecord {
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.phase, PhaseRecord::Live(_))
    }
}

/// A connection, or none, in eight bytes.
#[derive(Clone, Copy)]
struct Waiter(u64);

/// Frames with commas between them.
struct Queue(Vec<u8>);

/// A whole check of all sessions takes so many ticks. A session may outlive its time by about 6 s.
const TICKS_PER_LOOK: u32 = 64;

impl Polls {
    pub(crate) fn new(worker: usize) -> Polls {
        Polls { worker, sessions: Slab::new(), look_from: 0 }
    }

    pub(crate) fn is_poll(handle: Handle) -> bool {
        handle.slot() & POLL_BIT != 0
    }

    /// A session whose hello came on this connection.
    pub(crate) fn open(&mut self, waiting: Handle, now: Now) -> SessionHandle {
        let session = PollSession {
            phase: Phase::BeforeHello,
            waiting: Waiter::of(waiting),
            polled: now.steady_ms as u32,
            queue: None,
        };
        let (slot, generation) = self.sessions.insert(session);
        self.handle(slot, generation)
    }

    pub(crate) fn close(&mut self, session: SessionHandle) {
        if self.get(session).is_some() {
            self.sessions.remove(Handle::from_bits(session.0).slot() & !POLL_BIT);
        }
    }

    /// The newest generation of a slot, and all sessions but those whose hello has no answer.
    pub(crate) fn export(&self) -> (u32, Vec<PollRecord>) {
        let record = |(slot, generation, session): (u32, u32, &PollSession)| {
            let phase = match session.phase {
                Phase::BeforeHello => return None,
                Phase::Live(live) => PhaseRecord::Live(live.export()),
                Phase::Over(user) => PhaseRecord::Over(user),
            };
            let queue = session.queue.as_ref().map(|queue| queue.0.clone());
            Some(PollRecord { slot, generation, phase, queue })
        };
        (self.sessions.newest_generation(), self.sessions.iter().filter_map(record).collect())
    }

    /// Returns the handles of the sessions. None waits for events: their polls were answered before the move.
    pub(crate) fn import(&mut self, records: Vec<PollRecord>, newest: u32, now: Now) -> Vec<SessionHandle> {
        let mut handles = Vec::with_capacity(records.len());
        for PollRecord { slot, generation, phase, queue } in records {
            let phase = match phase {
                PhaseRecord::Live(live) => Phase::Live(live.import(now)),
                PhaseRecord::Over(user) => Phase::Over(user),
            };
            let queue = queue.map(|queue| Box::new(Queue(queue)));
            // Nobody could poll during the move.
            let polled = now.steady_ms as u32;
            let session = PollSession { phase, waiting: Waiter::NOBODY, polled, queue };
            if self.sessions.place(slot, generation, session) {
                handles.push(self.handle(slot, generation));
            }
        }
        self.sessions.places_end(newest);
        handles
    }

    fn handle(&self, slot: u32, generation: u32) -> SessionHandle {
        SessionHandle(Handle::new(self.worker, slot | POLL_BIT, generation).to_bits())
    }

    fn get(&mut self, session: SessionHandle) -> Option<&mut PollSession> {
        let handle = Handle::from_bits(session.0);
        self.sessions.get_mut(handle.slot() & !POLL_BIT, handle.generation())
    }

    /// The session that a key speaks for, if it is still its user's.
    fn of(&mut self, session: SessionId) -> Option<&mut PollSession> {
        self.get(session.handle).filter(|found| found.user() == Some(session.user))
    }

    /// An answer found its connection gone: its events come first with the next poll.
    pub(crate) fn take_back(&mut self, session: SessionHandle, events: Vec<u8>) {
        if let Some(found) = self.get(session) {
            let later = found.queue.replace(Box::new(Queue(events)));
            later.into_iter().for_each(|later| found.push(&later.0));
        }
    }

    /// Some sessions whose clients have not polled for too long; all of them in [`TICKS_PER_LOOK`] calls.
    fn silent(&mut self, wait: u32, gap: u32, now: Now) -> Vec<SessionHandle> {
        let bound = self.sessions.bound();
        let from = if self.look_from < bound { self.look_from } else { 0 };
        self.look_from = bound.min(from + bound.div_ceil(TICKS_PER_LOOK));
        let mut silent = Vec::new();
        for slot in from..self.look_from {
            let Some((generation, session)) = self.sessions.at(slot) else { continue };
            let may_last = gap.saturating_add(if session.waiting.get().is_some() { wait } else { 0 });
            if (now.steady_ms as u32).wrapping_sub(session.polled) >= may_last {
                silent.push(self.handle(slot, generation));
            }
        }
        silent
    }
}

impl PollSession {
    fn user(&self) -> Option<UserId> {
        match self.phase {
            Phase::BeforeHello => None,
            Phase::Live(live) => Some(live.user),
            Phase::Over(user) => Some(user),
        }
    }

    fn waiting_bytes(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.0.len())
    }

    fn push(&mut self, frame: &[u8]) {
        if frame.is_empty() {
            return;
        }
        let Queue(queue) = &mut **self.queue.get_or_insert_with(|| Box::new(Queue(Vec::new())));
        if !queue.is_empty() {
            queue.push(b',');
        }
        queue.extend_from_slice(frame);
    }

    /// Takes the pending events, as a JSON array.
    fn take(&mut self) -> Vec<u8> {
        let queue = self.queue.take().map(|queue| queue.0).unwrap_or_default();
        let mut array = Vec::with_capacity(queue.len() + 2);
        array.push(b'[');
        array.extend_from_slice(&queue);
        array.push(b']');
        array
    }
}

impl Waiter {
    /// No handle is this: a worker 255 does not exist.
    const NOBODY: Waiter = Waiter(u64::MAX);

    fn of(connection: Handle) -> Waiter {
        Waiter(connection.to_bits())
    }

    fn get(self) -> Option<Handle> {
        (self.0 != Self::NOBODY.0).then(|| Handle::from_bits(self.0))
    }

    fn take(&mut self) -> Option<Handle> {
        mem::replace(self, Self::NOBODY).get()
    }
}

impl Gateway {
    /// The session begins. False: its connection has gone.
    pub(crate) fn welcome_poll(
        &mut self,
        session: SessionId,
        mut frame: Vec<u8>,
        conns: &mut Conns<'_, Conn>,
    ) -> bool {
        let now = conns.now();
        let Some(found) = self.polls.get(session.handle) else { return false };
        let origin = found.waiting.get().and_then(|waiting| match &conns.get(waiting)?.0.state {
            State::Waiting(waiting) => waiting.pending.cors.clone(),
            _ => None,
        });
        crate::wire::session::add_key(&mut frame, &self.shared.keys.make(session, origin.as_deref()));
        found.phase = Phase::Live(Live::new(session.user, now));
        found.push(&frame);
        self.shared.counters.session_began(Transport::Poll);
        self.shared.counters.frames_out.add(1);
        self.answer_waiting(session.handle, conns);
        true
    }

    /// The session has missed an event: drops its pending events and sends `behind`. False: the session has not begun yet.
    pub(crate) fn poll_missed(&mut self, to: SessionHandle, conns: &mut Conns<'_, Conn>) -> bool {
        let Some(session) = self.polls.get(to) else { return true };
        let live = match &mut session.phase {
            Phase::BeforeHello => return false,
            Phase::Over(_) => return true,
            Phase::Live(live) => live,
        };
        if live.lag == Lag::Dropped {
            return true;
        }
        live.lag = Lag::Behind;
        let id = SessionId { user: live.user, handle: to };
        session.queue = None;
        session.push(br#"{"t":"behind"}"#);
        self.shared.counters.behind.add(1);
        self.shared.node.behind(id);
        self.answer_waiting(to, conns);
        true
    }

    /// Delivers an event to a poll session.
    pub(crate) fn deliver_to_poll(
        &mut self,
        to: SessionHandle,
        delivery: &Delivery,
        conns: &mut Conns<'_, Conn>,
    ) {
        if self.polls.get(to).is_none() {
            return self.undeliverable();
        }
        let json = self.encode(delivery);
        let event = &delivery.event;
        let hard_limit = self.shared.config.hard_limit;
        let Some(session) = self.polls.get(to) else { return self.put_back(json) };
        match event.farewell() {
            Some(refusal) => {
                self.shared.counters.code(crate::wire::code(refusal));
                let Some(user) = session.user() else {
                    self.put_back(json);
                    return self.refuse_hello(to, delivery, refusal, conns);
                };
                session.phase = Phase::Over(user);
                session.push(&json);
                self.shared.counters.session_ended(Transport::Poll);
            }
            None => {
                let waiting_bytes = session.waiting_bytes();
                let Phase::Live(live) = &mut session.phase else { return self.put_back(json) };
                let admitted = live.admits(event);
                if admitted && waiting_bytes > 0 && waiting_bytes + json.len() > hard_limit {
                    self.put_back(json);
                    self.poll_missed(to, conns);
                    return;
                } else if admitted {
                    live.sent(event);
                    session.push(&json);
                }
            }
        }
        self.shared.counters.frames_out.add(1);
        self.put_back(json);
        self.answer_waiting(to, conns);
    }

    /// Sends the pending events, if a poll is waiting.
    fn answer_waiting(&mut self, to: SessionHandle, conns: &mut Conns<'_, Conn>) {
        let now = conns.now();
        let Some(session) = self.polls.get(to) else { return };
        if session.queue.is_none() {
            return;
        }
        let Some(waiting) = session.waiting.take() else { return };
        session.polled = now.steady_ms as u32;
        let answer = session.take();
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

    fn refuse_hello(
        &mut self,
        to: SessionHandle,
        last: &Delivery,
        refusal: chat::Refusal,
        conns: &mut Conns<'_, Conn>,
    ) {
        let waiting = self.polls.get(to).and_then(|session| session.waiting.get());
        self.polls.close(to);
        let Some((conn, mut io)) = waiting.and_then(|waiting| conns.get(waiting)) else { return };
        let Some(waiting) = take_waiting(&mut conn.state) else { return };
        let bye = crate::wire::event(last, &self.shared.config.links);
        waiting.pending.send_event(&mut io, crate::wire::code(refusal), &bye);
        next_request(&mut conn.state, &waiting.pending, &self.shared.config, &mut io);
        read_on(&mut io);
    }

    /// A connection, of this worker or another, asks for a session's events.
    pub(crate) fn poll(&mut self, session: SessionId, from: Handle, conns: &mut Conns<'_, Conn>) {
        let now = conns.now().steady_ms;
        let Some(found) = self.polls.of(session) else {
            let mail = Mail::PollAnswer { to: from, session: session.handle, answer: Err(Code::NoSession) };
            return self.send_mail(from.worker(), mail);
        };
        // Its last words have been sent. Not closed with them: if they are lost, they come back here and wait.
        if matches!(found.phase, Phase::Over(_)) && found.queue.is_none() {
            self.polls.close(session.handle);
            let mail = Mail::PollAnswer { to: from, session: session.handle, answer: Err(Code::NoSession) };
            return self.send_mail(from.worker(), mail);
        }
        found.polled = now as u32;
        // The connection polls again after its wait ended without events.
        if let Some(older) =
            mem::replace(&mut found.waiting, Waiter::of(from)).get().filter(|older| *older != from)
        {
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
            let Some(PollSession { phase: Phase::Live(live), .. }) = self.polls.of(session) else {
                return Err(Code::NoSession);
            };
            let mut live = *live;
            self.shared.counters.frames_in.add(1);
            let reply = self.carry_out(session, &mut live, line, now);
            let Some(found) = self.polls.of(session) else { return Err(Code::NoSession) };
            found.phase = Phase::Live(live);
            let mut json = Vec::new();
            match reply {
                Reply::Nothing => continue,
                Reply::Event(event) => event.write(&mut json),
                Reply::Bye(code) => {
                    let text = code.meaning().trim();
                    crate::wire::session::own_bye(code, text, None).write(&mut json);
                    found.phase = Phase::Over(session.user);
                    self.shared.counters.session_ended(Transport::Poll);
                    self.shared.node.disconnected(session, code == Code::Done, timestamp(now));
                }
            }
            let is_over = matches!(found.phase, Phase::Over(_));
            if let Some(found) = self.polls.of(session)
                && found.waiting_bytes() <= self.shared.config.hard_limit
            {
                found.push(&json);
            }
            if is_over {
                break;
            }
        }
        self.answer_waiting(session.handle, conns);
        Ok(())
    }

    /// Ends sessions that have not polled for too long.
    pub(crate) fn end_silent_polls(&mut self, now: Now) {
        let ms = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        let (wait, gap) = (ms(self.shared.config.poll_wait), ms(self.shared.config.poll_gap));
        for session in self.polls.silent(wait, gap, now) {
            self.end_poll(session, now);
        }
    }

    fn end_poll(&mut self, session: SessionHandle, now: Now) {
        let live = match self.polls.get(session) {
            Some(PollSession { phase: Phase::Live(live), .. }) => Some(*live),
            _ => None,
        };
        self.polls.close(session);
        if let Some(live) = live {
            self.shared.counters.session_ended(Transport::Poll);
            let id = SessionId { user: live.user, handle: session };
            self.shared.node.disconnected(id, false, timestamp(now));
        }
    }

    /// A panic has lost data of a session: ends the session, and answers the poll that waits for its events.
    pub(crate) fn lose_poll(&mut self, session: SessionHandle, now: Now) {
        let waiting = self.polls.get(session).and_then(|found| found.waiting.take());
        self.end_poll(session, now);
        if let Some(to) = waiting {
            self.send_mail(to.worker(), Mail::PollAnswer { to, session, answer: Err(Code::NoSession) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_session_stays_small() {
        assert_eq!(size_of::<PollSession>(), 40);
        assert_eq!(size_of::<Option<PollSession>>(), 40, "an empty slot is told by a niche");
    }

    #[test]
    fn who_polls_stays_and_who_is_silent_is_found() {
        let now = |steady_ms| Now { instant: Instant::now(), unix_ms: 0, steady_ms };
        let mut polls = Polls::new(3);
        // The low bits of the time run over in between.
        let begin = (1 << 40) - 20_000;
        let connection = Handle::new(0, 0, 0);
        let sessions: Vec<_> = (0..3_000).map(|_| polls.open(connection, now(begin))).collect();
        let mut found = 0;
        for tick in 1..=1_000 {
            let at = begin + tick * 100;
            for busy in &sessions[..1_000] {
                polls.get(*busy).expect("it polls").polled = at as u32;
            }
            for silent in polls.silent(25_000, 30_000, now(at)) {
                assert!((55_000..63_000).contains(&(at - begin)), "{}", at - begin);
                polls.close(silent);
                found += 1;
            }
        }
        assert_eq!(found, 2_000);
        assert_eq!(polls.sessions.len(), 1_000);
        assert!(Polls::is_poll(Handle::from_bits(sessions[0].0)));
    }
}
