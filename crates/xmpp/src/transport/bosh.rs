//! A stream over BOSH (XEP-0124, XEP-0206): HTTP requests carry the elements of a client, and their answers the server's.
//!
//! A session lives on the worker where it began, and its `sid` names that worker. Requests may come on connections of any
//! worker: they go to the session by mail, and its answers come back by mail. A session outlives its connections, so it has bounds
//! of its own.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{SessionHandle, SessionId, UserId};
use edge::{Handle, Now, Slab};
use rand::Rng;
use xmpp_proto::bosh::{Condition, Created, Request, write, write_end};
use xmpp_proto::stream::{Content, StreamCondition, StreamError, StreamHeader, Version};
use xmpp_proto::xml::{Limits, Tree, document};

use super::http::Visitor;
use super::websocket::declared;
use super::{Io, Receiver};
use crate::config::timestamp;
use crate::extensions::{Extension, Spec};
use crate::gateway::{Gateway, Mail, State};
use crate::session::{SOFT_LIMIT, Turn};
use crate::stream::{Opening, UNAUTHENTICATED};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(124),
    name: "Bidirectional-streams Over Synchronous HTTP (BOSH)",
    version: "1.11.2",
    scenario: "bosh",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

pub(crate) const XMPP_OVER_BOSH: Extension =
    Extension { spec: Spec::Xep(206), name: "XMPP Over BOSH", version: "1.4.1", ..EXTENSION };

/// The longest wait of a request. Longer ones meet the timeouts of proxies.
const MOST_WAIT_SECONDS: u16 = 60;
/// Requests that wait at the same time. One is enough for a client to be reached at any time (XEP-0124 §7.1).
/// COMPAT(stanza, 2026): it asks for two, and has only two connections, so it could send nothing while both wait.
const MOST_HOLD: u8 = 1;
/// A session ends after this time without a request.
const INACTIVITY_SECONDS: u16 = 60;
/// A session that asks for a pause ends after this time without a request (XEP-0124 §11).
const MOST_PAUSE_SECONDS: u16 = 120;
/// What the attributes of a body may add to its stanzas.
pub(super) const ATTRIBUTE_BYTES: usize = 1024;
/// Elements that wait for a request; a session with more has a client that reads too slowly.
const QUEUE_BYTES: usize = 1024 * 1024;

/// Sessions of a worker.
const MOST_SESSIONS: usize = 50_000;
/// Of them, those that have not signed in: of all clients, and of one address or IPv6 /64.
const MOST_OPENING: usize = 4_096;
const MOST_OPENING_OF_ADDRESS: u16 = 64;
/// Elements and answers that the sessions of a worker keep. Beyond that, the sessions with the most end.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Handles of sessions have this bit in their slot; no connection has it.
const OWN_BIT: u32 = 1 << 31;

pub(crate) fn is_session(handle: Handle) -> bool {
    handle.slot() & OWN_BIT != 0 && !crate::s2s::is_session(handle)
}

/// The sessions that live on this worker.
#[derive(Default)]
pub(crate) struct Sessions {
    sessions: Slab<Entry>,
    /// When a session must be looked at next: Unix milliseconds. An entry may be outdated.
    due: BinaryHeap<Reverse<(u64, Handle)>>,
    opening: usize,
    opening_by_address: HashMap<IpAddr, u16>,
    bytes: usize,
}

struct Entry {
    handle: Handle,
    /// None while the session is handled.
    session: Option<Box<Session>>,
    /// For the end of the session, if a panic has lost it.
    user: Option<UserId>,
    /// The address that counts it as not signed in.
    counted: Option<IpAddr>,
    /// Of [`Sessions::bytes`].
    bytes: usize,
    /// The earliest entry in [`Sessions::due`].
    due: u64,
}

struct Session {
    state: State,
    flow: Flow,
}

/// Requests and answers of one session.
pub(crate) struct Flow {
    sid: Box<str>,
    /// The client's address at the first request.
    address: Option<IpAddr>,
    wait: u16,
    hold: u8,
    wants_ack: bool,
    /// The answer that creates the session is sent.
    is_created: bool,
    /// The last request whose elements were taken; all before it were, too.
    rid: u64,
    /// Requests that came before their turn.
    early: Vec<(Waiter, Tree)>,
    /// Bodies with elements that are not handled yet, and the index of the first such element.
    unread: VecDeque<(Tree, usize)>,
    /// Connections that wait for an answer, the oldest first.
    waiting: VecDeque<Waiter>,
    /// The last answers, for a client that has lost one.
    answers: VecDeque<(u64, Arc<[u8]>)>,
    /// Elements that wait for a request.
    queue: Vec<u8>,
    /// More was queued than the session should have; presence was dropped.
    is_slow: bool,
    timer: Option<u64>,
    /// Unix milliseconds of the last request or answer.
    last: u64,
    inactivity: u16,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    None,
    /// The next answer is the last one.
    Due(Option<Condition>),
    /// It is sent, or nobody waits for it.
    Done,
}

#[derive(Clone, Copy)]
struct Waiter {
    rid: u64,
    to: Handle,
    /// Unix milliseconds.
    since: u64,
}

impl Flow {
    /// Requests that may be on their way.
    fn requests(&self) -> u8 {
        self.hold + 1
    }

    fn bytes(&self) -> usize {
        self.queue.len() + self.answers.iter().map(|(_, answer)| answer.len()).sum::<usize>()
    }

    /// When the session must be looked at next.
    fn due(&self) -> u64 {
        let waits = |waiter: &Waiter| waiter.since + u64::from(self.wait) * 1000;
        let oldest = self.waiting.front().map(waits);
        let early = self.early.iter().map(|(waiter, _)| waits(waiter)).min();
        let silence = self.is_silent().then(|| self.last + u64::from(self.inactivity) * 1000);
        [self.timer, oldest, early, silence].into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    fn is_silent(&self) -> bool {
        self.waiting.is_empty() && self.early.is_empty()
    }

    /// The next answer, and the connection that gets it. None: no answer is due.
    fn next_answer(&mut self, site: &str, now: u64) -> Option<(Handle, Arc<[u8]>)> {
        let is_over = matches!(self.end, End::Due(_));
        if is_over {
            self.waiting.extend(self.early.drain(..).map(|(waiter, _)| waiter));
        }
        let oldest = self.waiting.front()?;
        let is_late = now >= oldest.since + u64::from(self.wait) * 1000;
        let are_many = self.waiting.len() > usize::from(self.hold);
        if !is_over && !is_late && !are_many && self.queue.is_empty() && self.is_created {
            return None;
        }
        let Waiter { rid, to, .. } = self.waiting.pop_front()?;
        let elements = std::mem::take(&mut self.queue);
        let mut out = Vec::with_capacity(elements.len() + 128);
        match self.end {
            End::Due(condition) => {
                write_end(&mut out, condition, &elements);
                // The others get the same, without elements.
                if self.waiting.is_empty() {
                    self.end = End::Done;
                }
            }
            End::None | End::Done => {
                let ack = (self.wants_ack && (self.rid != rid || !self.is_created)).then_some(self.rid);
                let created = Created {
                    sid: &self.sid,
                    from: site,
                    wait: self.wait,
                    inactivity: INACTIVITY_SECONDS,
                    max_pause: MOST_PAUSE_SECONDS,
                    hold: self.hold,
                    requests: self.requests(),
                };
                let is_first = !std::mem::replace(&mut self.is_created, true);
                write(&mut out, ack, is_first.then_some(&created), &elements);
            }
        }
        self.last = now;
        let answer: Arc<[u8]> = out.into();
        self.answers.push_back((rid, Arc::clone(&answer)));
        if self.answers.len() > usize::from(self.requests()) {
            self.answers.pop_front();
        }
        Some((to, answer))
    }
}

/// The side of a session that a stream sees.
pub(crate) struct Outlet<'a> {
    flow: &'a mut Flow,
    handle: Handle,
    now: Now,
}

impl Outlet<'_> {
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    pub(super) fn now(&self) -> Now {
        self.now
    }

    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.flow.address
    }

    pub(super) fn outgoing(&self) -> usize {
        self.flow.queue.len()
    }

    pub(super) fn send(&mut self, element: &[u8]) {
        if element.is_empty() || self.flow.end != End::None {
            return;
        }
        let (start, declaration, rest) = declared(element);
        for part in [start, declaration, rest] {
            self.flow.queue.extend_from_slice(part);
        }
        self.flow.is_slow |= self.flow.queue.len() > SOFT_LIMIT;
    }

    pub(super) fn set_timer(&mut self, after: Option<Duration>) {
        self.flow.timer =
            after.map(|after| self.now.steady_ms + u64::try_from(after.as_millis()).unwrap_or(u64::MAX / 2));
    }

    /// The condition of the last answer.
    pub(super) fn fail(&mut self, error: &StreamError) {
        if self.flow.end == End::None {
            let condition = condition(error.condition);
            if condition == Condition::RemoteStreamError {
                let mut element = Vec::new();
                error.write(&mut element);
                self.send(&element);
            }
            self.flow.end = End::Due(Some(condition));
        }
    }

    pub(super) fn close(&mut self) {
        if self.flow.end == End::None {
            self.flow.end = End::Due(None);
        }
    }

    pub(super) fn abort(&mut self) {
        self.flow.end = End::Due(Some(Condition::ItemNotFound));
    }
}

fn condition(stream: StreamCondition) -> Condition {
    match stream {
        StreamCondition::HostUnknown => Condition::HostUnknown,
        StreamCondition::ImproperAddressing => Condition::ImproperAddressing,
        StreamCondition::SystemShutdown => Condition::SystemShutdown,
        _ => Condition::RemoteStreamError,
    }
}

impl Sessions {
    /// False: too many clients are signing in.
    fn has_room(&self, address: Option<IpAddr>) -> bool {
        let of_address = address.and_then(|address| self.opening_by_address.get(&counted(address)));
        self.sessions.len() < MOST_SESSIONS
            && self.opening < MOST_OPENING
            && of_address.is_none_or(|count| *count < MOST_OPENING_OF_ADDRESS)
    }

    fn entry(&mut self, handle: Handle) -> Option<&mut Entry> {
        self.sessions.get_mut(handle.slot() & !OWN_BIT, handle.generation())
    }

    fn remove(&mut self, handle: Handle) -> Option<Entry> {
        self.entry(handle)?;
        let entry = self.sessions.remove(handle.slot() & !OWN_BIT)?;
        self.bytes -= entry.bytes;
        self.signed_in(entry.counted);
        Some(entry)
    }

    fn count(&mut self, address: Option<IpAddr>) -> Option<IpAddr> {
        let address = address.map(counted)?;
        self.opening += 1;
        *self.opening_by_address.entry(address).or_default() += 1;
        Some(address)
    }

    fn signed_in(&mut self, counted: Option<IpAddr>) {
        let Some(address) = counted else { return };
        self.opening -= 1;
        if let Some(count) = self.opening_by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                self.opening_by_address.remove(&address);
            }
        }
    }

    /// Notes when to look at the session next.
    fn schedule(&mut self, handle: Handle, due: u64) {
        if let Some(entry) = self.entry(handle)
            && due < entry.due
        {
            entry.due = due;
            self.due.push(Reverse((due, handle)));
        }
    }

    /// The next session whose time has come.
    fn next_due(&mut self, now: u64) -> Option<Handle> {
        loop {
            let Reverse((due, handle)) = *self.due.peek().filter(|Reverse((due, _))| *due <= now)?;
            self.due.pop();
            if let Some(entry) = self.entry(handle)
                && entry.due == due
            {
                entry.due = u64::MAX;
                return Some(handle);
            }
        }
    }

    /// The session that keeps the most, if all of them keep too much.
    fn largest_of_too_much(&mut self) -> Option<Handle> {
        if self.bytes <= MOST_BYTES {
            return None;
        }
        let slots = 0..self.sessions.bound();
        let sizes = slots.filter_map(|slot| {
            let (_, entry) = self.sessions.at(slot)?;
            Some((entry.bytes, entry.handle))
        });
        sizes.max().map(|(_, handle)| handle)
    }
}

/// An IPv6 client usually has a whole /64.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address => address,
    }
}

/// A request on its way to its session.
pub struct Posted {
    session: Handle,
    from: Handle,
    body: Vec<u8>,
}

impl Posted {
    pub(crate) fn session(&self) -> Handle {
        self.session
    }
}

/// The session that a `sid` names, if its worker exists.
pub(super) fn session_of(sid: &str, workers: usize, gateway: usize) -> Option<Handle> {
    let bits = u64::from_str_radix(sid.get(..16)?, 16).ok()?;
    let handle = Handle::from_bits(bits);
    (bits >> 56 == 0 && handle.worker() < workers && handle.gateway() == gateway && is_session(handle))
        .then_some(handle)
}

impl Gateway {
    /// A request with its whole body. The answer comes by mail.
    pub(super) fn bosh_request(&mut self, body: Vec<u8>, visitor: Visitor, from: Handle, now: Now) {
        match xmpp_proto::bosh::peek_sid(&body) {
            Some(sid) => match session_of(sid, self.shared.mailboxes.workers(), from.gateway()) {
                Some(session) => {
                    let posted = Posted { session, from, body };
                    self.shared.mailboxes.send(session.worker(), Mail::Bosh(Box::new(posted)));
                }
                None => self.refuse_bosh(from, Condition::ItemNotFound),
            },
            None => {
                if let Err(condition) = self.create_bosh(&body, visitor, from, now) {
                    self.refuse_bosh(from, condition);
                }
            }
        }
    }

    fn refuse_bosh(&self, to: Handle, condition: Condition) {
        let mut out = Vec::new();
        write_end(&mut out, Some(condition), b"");
        self.answer_bosh(to, out.into());
    }

    fn answer_bosh(&self, to: Handle, answer: Arc<[u8]>) {
        self.shared.mailboxes.send(to.worker(), Mail::BoshAnswer { to, answer });
    }

    /// XEP-0124 §7.1.
    fn create_bosh(
        &mut self,
        body: &[u8],
        visitor: Visitor,
        from: Handle,
        now: Now,
    ) -> Result<(), Condition> {
        let limits = Limits { stanza_bytes: UNAUTHENTICATED.stanza_bytes, ..self.shared.config.limits };
        let tree = document(body, &limits).map_err(|_| Condition::BadRequest)?;
        let request = Request::of(tree.root())?;
        if request.sid.is_some() {
            return Err(Condition::BadRequest);
        }
        if request.to.is_none() {
            return Err(Condition::ImproperAddressing);
        }
        let address = visitor.address;
        if !self.bosh.has_room(address) {
            return Err(Condition::PolicyViolation);
        }
        let opening = Opening::on_web(Receiver::Bosh, visitor);
        let flow = Flow {
            sid: Box::default(),
            address,
            wait: request.wait.unwrap_or(MOST_WAIT_SECONDS).min(MOST_WAIT_SECONDS),
            hold: request.hold.unwrap_or(1).min(MOST_HOLD),
            wants_ack: request.wants_ack,
            is_created: false,
            rid: request.rid,
            early: Vec::new(),
            unread: VecDeque::new(),
            waiting: VecDeque::from([Waiter { rid: request.rid, to: from, since: now.steady_ms }]),
            answers: VecDeque::new(),
            queue: Vec::new(),
            is_slow: false,
            timer: Some(now.steady_ms + self.shared.config.negotiation.as_millis() as u64),
            last: now.steady_ms,
            inactivity: INACTIVITY_SECONDS,
            end: End::None,
        };
        let counted = self.bosh.count(address);
        let session = Box::new(Session { state: State::Opening(Box::new(opening)), flow });
        let entry =
            Entry { handle: from, session: Some(session), user: None, counted, bytes: 0, due: u64::MAX };
        let (slot, generation) = self.bosh.sessions.insert(entry);
        let handle = Handle::of_gateway(from.worker(), from.gateway(), slot | OWN_BIT, generation);
        if let Some(entry) = self.bosh.entry(handle) {
            entry.handle = handle;
        }
        let secret = URL_SAFE_NO_PAD.encode(self.rng.random::<[u8; 18]>());
        self.with_flow(handle, now, |gateway, state, outlet| {
            outlet.flow.sid = format!("{:016x}{secret}", handle.to_bits()).into();
            let header = header_of(&request);
            let mut io = Io::on_bosh(outlet);
            if let Err(error) = gateway.header(state, &header, &mut io) {
                gateway.end_stream(state, &error, &mut io);
            }
        });
        Ok(())
    }

    /// A request for a session of this worker.
    pub(crate) fn bosh_posted(&mut self, posted: Posted, now: Now) {
        let Posted { session: handle, from, body } = posted;
        let mut taken = Err(Condition::ItemNotFound);
        self.with_flow(handle, now, |gateway, state, io| {
            taken = gateway.take_request(state, io, &body, from);
        });
        if let Err(condition) = taken {
            self.refuse_bosh(from, condition);
        }
    }

    /// An error refuses the request alone, or ends the session, if it is its client's.
    fn take_request(
        &mut self,
        state: &mut State,
        io: Outlet<'_>,
        body: &[u8],
        from: Handle,
    ) -> Result<(), Condition> {
        let Outlet { flow, now, .. } = &io;
        // A sid is a secret of 18 random bytes, so its comparison need not take constant time.
        if xmpp_proto::bosh::peek_sid(body) != Some(&*flow.sid) {
            return Err(Condition::ItemNotFound);
        }
        let (since, flow) = (now.steady_ms, io.flow);
        let limits = match state {
            State::Live(session) => {
                session.hear(io.now);
                self.shared.config.limits
            }
            _ => UNAUTHENTICATED,
        };
        // The body is one element more than its stanzas.
        let limits =
            Limits { stanza_bytes: limits.stanza_bytes + ATTRIBUTE_BYTES, depth: limits.depth + 1, ..limits };
        let read = document(body, &limits)
            .map_err(|error| match error.condition {
                StreamCondition::PolicyViolation => Condition::PolicyViolation,
                _ => Condition::BadRequest,
            })
            .and_then(|tree| Request::of(tree.root()).map(|request| request.rid).map(|rid| (rid, tree)));
        let (rid, tree) = match read {
            Ok(read) => read,
            // XEP-0124 §17.2: the session ends with a request that cannot be read.
            Err(condition) => {
                flow.waiting.push_back(Waiter { rid: flow.rid, to: from, since });
                self.end_bosh(state, flow, condition, io.handle, io.now);
                return Ok(());
            }
        };
        let waiter = Waiter { rid, to: from, since };
        if rid <= flow.rid {
            return self.repeated(flow, waiter);
        }
        // XEP-0124 §14.2: requests may overtake each other within the window.
        if rid > flow.rid + u64::from(flow.requests()) {
            flow.waiting.push_back(waiter);
            self.end_bosh(state, flow, Condition::ItemNotFound, io.handle, io.now);
            return Ok(());
        }
        match flow.early.iter_mut().find(|(early, _)| early.rid == rid) {
            Some((early, _)) => {
                let old = std::mem::replace(early, waiter);
                self.refuse_bosh(old.to, Condition::ItemNotFound);
            }
            None => flow.early.push((waiter, tree)),
        }
        while let Some(at) = flow.early.iter().position(|(early, _)| early.rid == flow.rid + 1) {
            let (waiter, tree) = flow.early.swap_remove(at);
            flow.rid = waiter.rid;
            flow.last = since;
            flow.waiting.push_back(waiter);
            flow.unread.push_back((tree, 0));
        }
        Ok(())
    }

    /// XEP-0124 §14.3: the client has not received the answer.
    fn repeated(&self, flow: &mut Flow, waiter: Waiter) -> Result<(), Condition> {
        if let Some((_, answer)) = flow.answers.iter().find(|(rid, _)| *rid == waiter.rid) {
            flow.last = waiter.since;
            self.answer_bosh(waiter.to, Arc::clone(answer));
            return Ok(());
        }
        let Some(old) = flow.waiting.iter_mut().find(|old| old.rid == waiter.rid) else {
            return Err(Condition::ItemNotFound);
        };
        // The new connection takes the place of the old one, whose client no longer reads.
        let lost = std::mem::replace(old, Waiter { since: old.since, ..waiter });
        let mut out = Vec::new();
        write(&mut out, None, None, b"");
        self.answer_bosh(lost.to, out.into());
        Ok(())
    }

    /// Ends a session for a fault of its requests. Its stream can be resumed.
    fn end_bosh(
        &mut self,
        state: &mut State,
        flow: &mut Flow,
        condition: Condition,
        handle: Handle,
        now: Now,
    ) {
        let ended = std::mem::replace(state, State::Closing);
        self.give_up_sign_in(&ended, handle);
        if let State::Live(session) = ended {
            self.stream_is_lost(*session, handle, now);
        }
        if flow.end == End::None {
            flow.end = End::Due(Some(condition));
        }
    }

    /// Calls `act` with the stream of a session. False: the session has ended.
    pub(crate) fn with_bosh(
        &mut self,
        handle: Handle,
        now: Now,
        act: impl FnOnce(&mut Gateway, &mut State, &mut Io<'_>),
    ) -> bool {
        self.with_flow(handle, now, |gateway, state, outlet| act(gateway, state, &mut Io::on_bosh(outlet)))
    }

    /// Takes the session out while it is handled, and sends the answers that are due then.
    fn with_flow(
        &mut self,
        handle: Handle,
        now: Now,
        act: impl FnOnce(&mut Gateway, &mut State, Outlet<'_>),
    ) -> bool {
        let Some(mut session) = self.bosh.entry(handle).and_then(|entry| entry.session.take()) else {
            return false;
        };
        let Session { state, flow } = &mut *session;
        act(self, state, Outlet { flow, handle, now });
        while self.go_on(&mut session, handle, now) {}
        if session.flow.end == End::Done || session.flow.queue.len() > QUEUE_BYTES {
            if session.flow.queue.len() > QUEUE_BYTES {
                self.shared.counters.too_slow.add(1);
            }
            self.end_bosh(&mut session.state, &mut session.flow, Condition::PolicyViolation, handle, now);
            self.bosh.remove(handle);
            return true;
        }
        let (bytes, due) = (session.flow.bytes(), session.flow.due());
        let user = match &session.state {
            State::Live(session) => Some(session.user),
            _ => None,
        };
        let is_opening = matches!(session.state, State::Opening(_));
        if let Some(entry) = self.bosh.entry(handle) {
            let before = std::mem::replace(&mut entry.bytes, bytes);
            (entry.session, entry.user) = (Some(session), user);
            let counted = if is_opening { None } else { entry.counted.take() };
            self.bosh.bytes = self.bosh.bytes - before + bytes;
            self.bosh.signed_in(counted);
            self.bosh.schedule(handle, due);
        }
        true
    }

    /// Handles unread elements, and answers. True: the stream has written more.
    fn go_on(&mut self, session: &mut Session, handle: Handle, now: Now) -> bool {
        let Session { state, flow } = session;
        self.read_bosh(state, flow, handle, now);
        let domain: Box<str> = match state {
            State::Opening(opening) if !flow.is_created => opening.domain().into(),
            _ => Box::default(),
        };
        let mut answered = false;
        while let Some((to, answer)) = flow.next_answer(&domain, now.steady_ms) {
            self.answer_bosh(to, answer);
            answered = true;
        }
        if answered
            && std::mem::take(&mut flow.is_slow)
            && let State::Live(session) = state
        {
            let mut io = Io::on_bosh(Outlet { flow, handle, now });
            Turn { gateway: self, session, io: &mut io }.catch_up_presence();
            return true;
        }
        answered && !flow.unread.is_empty() && !must_wait(state, flow)
    }

    /// Handles the elements of bodies, as far as the stream takes them now.
    fn read_bosh(&mut self, state: &mut State, flow: &mut Flow, handle: Handle, now: Now) {
        while let Some((tree, from)) = flow.unread.pop_front() {
            let Ok(request) = Request::of(tree.root()) else { continue };
            let mut handled = from;
            for element in tree.root().children().skip(from) {
                if must_wait(state, flow) {
                    flow.unread.push_front((tree, handled));
                    return;
                }
                handled += 1;
                let mut io = Io::on_bosh(Outlet { flow, handle, now });
                if let Err(error) = self.element(state, element, false, &mut io) {
                    self.end_stream(state, &error, &mut io);
                }
            }
            if must_wait(state, flow) && (request.is_restart || request.is_end) {
                flow.unread.push_front((tree, handled));
                return;
            }
            let pause = request.pause.map(|pause| pause.min(MOST_PAUSE_SECONDS));
            flow.inactivity = pause.unwrap_or(INACTIVITY_SECONDS);
            let mut io = Io::on_bosh(Outlet { flow, handle, now });
            if request.is_restart
                && let Err(error) = self.restart(state, &request, &mut io)
            {
                self.end_stream(state, &error, &mut io);
            }
            if request.is_end {
                self.close(state, &mut io);
            }
            if pause.is_some() {
                // XEP-0124 §11: a pause answers all requests.
                flow.waiting.iter_mut().for_each(|waiter| waiter.since = 0);
            }
        }
    }

    /// XEP-0206 §5. Without an address it is that of the session.
    fn restart(
        &mut self,
        state: &mut State,
        request: &Request<'_>,
        io: &mut Io<'_>,
    ) -> Result<(), StreamError> {
        let mut header = header_of(request);
        if let State::Opening(opening) = state
            && header.to.is_none()
        {
            header.to = Some(opening.domain().into());
        }
        self.header(state, &header, io)
    }

    /// Looks at the sessions whose time has come.
    pub(crate) fn tick_bosh(&mut self, now: Now) {
        while let Some(handle) = self.bosh.next_due(now.steady_ms) {
            self.with_flow(handle, now, |gateway, state, io| gateway.bosh_is_due(state, io));
        }
        while let Some(handle) = self.bosh.largest_of_too_much() {
            self.shared.counters.too_slow.add(1);
            self.with_flow(handle, now, |gateway, state, Outlet { flow, handle, now }| {
                flow.queue = Vec::new();
                gateway.end_bosh(state, flow, Condition::PolicyViolation, handle, now);
                flow.end = End::Done;
            });
        }
    }

    fn bosh_is_due(&mut self, state: &mut State, outlet: Outlet<'_>) {
        let Outlet { flow, handle, now } = outlet;
        let seconds = |seconds: u16| u64::from(seconds) * 1000;
        let wait = seconds(flow.wait);
        if flow.is_silent() && now.steady_ms >= flow.last + seconds(flow.inactivity) {
            self.end_bosh(state, flow, Condition::ItemNotFound, handle, now);
            flow.end = End::Done;
            return;
        }
        // The request before it is lost, and its client no longer repeats it.
        if flow.early.iter().any(|(early, _)| now.steady_ms >= early.since + wait) {
            let early: Vec<Waiter> = flow.early.drain(..).map(|(waiter, _)| waiter).collect();
            flow.waiting.extend(early);
            return self.end_bosh(state, flow, Condition::ItemNotFound, handle, now);
        }
        if flow.timer.is_some_and(|timer| now.steady_ms >= timer) {
            flow.timer = None;
            self.stream_timer(state, &mut Io::on_bosh(Outlet { flow, handle, now }));
        }
    }

    /// A panic has lost the session of this handle.
    pub(crate) fn lose_bosh(&mut self, handle: Handle, now: Now) {
        if let Some(Entry { user: Some(user), .. }) = self.bosh.remove(handle) {
            self.shared.counters.sessions.take(1);
            let session = SessionId { user, handle: SessionHandle(handle.to_bits()) };
            self.shared.node.disconnected(session, false, timestamp(now));
        }
    }
}

fn must_wait(state: &State, flow: &Flow) -> bool {
    match state {
        State::Opening(opening) => opening.is_waiting(),
        State::Live(session) => flow.queue.len() > SOFT_LIMIT || session.is_paused(),
        _ => false,
    }
}

/// The header of a TCP stream that would say the same.
fn header_of(request: &Request<'_>) -> StreamHeader {
    StreamHeader {
        content: Content::Client,
        to: request.to.map(Into::into),
        from: None,
        id: None,
        version: Some(Version::V1),
        lang: request.lang.map(Into::into),
    }
}
