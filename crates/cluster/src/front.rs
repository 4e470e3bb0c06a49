//! A front: a node with sessions and without a domain. This is its part for one slot, with the link to the home of the slot.
//!
//! The front keeps a record of each session, so that it can bring the sessions to another home, or to the same one after a
//! gap. While it has no link, commands and sign-ins wait for a short time, because a new home comes soon.

mod calls;
mod directory;
mod repeats;
mod room;
mod take_over;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chat::session::Event as SessionEvent;
use chat::{
    Admission, Command, Delivery, Event, Hello, Outbox, Pending, PortAnswer, PortNote, PortQuestion,
    PublishedSite, PublishedSites, Refusal, RemoteNode, Request, SessionHandle, SessionId, SessionRecord,
    Slot, Timestamp, UnderWay, WhenBehind, presence,
};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::bus::{Send, Subject};
use crate::counters::Counters;
use crate::envelope::{Envelope, FrontId, Kind, Term};
use crate::link::Ends;
use crate::wire::{Announced, Join, ToFront, ToHome, write};

pub(crate) use directory::Directory;
pub(crate) use room::{Room, Share};
pub use take_over::FrontRecord;

use calls::{Calls, Relays};
use repeats::Repeats;
use take_over::Still;

/// Written bytes that wait for the home. At the bound, commands and sign-ins are refused.
const WRITTEN_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of commands and sign-ins of a front that wait for a link. At the bound, further ones are refused.
const HELD_BYTES: usize = 16 * 1024 * 1024;
/// Commands of one session that wait for a link.
const HELD_OF_SESSION: u8 = 64;
/// Commands and sign-ins wait for a link for so long after the last one was lost.
pub(crate) const HOLD_MS: u64 = 10_000;
/// Unanswered commands of one session that the front remembers. The oldest ones are forgotten: after the end of the link their
/// client waits until its own time is up.
const MOST_PENDING: usize = 256;
/// An [unanswered](Request::is_unanswered) command may be lost with the link for so long after it was sent. It is far more than the
/// time of a commit, because a repeated one does no harm.
const UNANSWERED_MS: u64 = 10_000;
/// Questions without an answer; more are refused.
const MOST_QUESTIONS: usize = 10_000;
const ADOPTED_TOGETHER: usize = 256;
/// Between two attempts to get a link; each attempt doubles it, up to the second value.
const JOIN_MS: [u64; 2] = [500, 4_000];
/// For sign-ins beyond a bound.
pub(crate) const OVERLOADED: Refusal = Refusal::Overloaded { retry_after_ms: 2_000 };
/// For clients whose sign-in or unacknowledged message was on its way when the link ended.
const AGAIN: Refusal = Refusal::GoingAway { retry_after_ms: 500 };

pub(crate) type Then = Box<dyn FnOnce(Result<PortAnswer, Refusal>) + std::marker::Send>;

/// The parts of a front that all its slots share.
pub(crate) struct Shared {
    pub(crate) id: FrontId,
    pub(crate) name: String,
    pub(crate) local: Box<dyn Outbox>,
    pub(crate) directory: Directory,
    pub(crate) wake: Box<dyn Fn() + std::marker::Send + Sync>,
    pub(crate) counters: Arc<Counters>,
    /// For commands and sign-ins that wait for a link.
    pub(crate) held: Arc<Room>,
    /// For commands that are sent again on the next link.
    repeated: Arc<Room>,
}

impl Shared {
    /// `slots`: in their order.
    pub(crate) fn new(
        id: FrontId,
        name: String,
        slots: impl IntoIterator<Item = Slot>,
        local: impl Outbox,
        wake: impl Fn() + std::marker::Send + Sync + 'static,
    ) -> Arc<Shared> {
        Arc::new(Shared {
            id,
            name,
            local: Box::new(local),
            directory: Directory::new(slots),
            wake: Box::new(wake),
            counters: Arc::default(),
            held: Room::new(HELD_BYTES),
            repeated: Room::new(repeats::MOST_BYTES),
        })
    }

    pub(crate) fn bye(&self, to: SessionHandle, refusal: Refusal) {
        let event = Event::Session(SessionEvent::Bye(refusal));
        self.local.deliver(&[to], Delivery { re: None, position: None, event });
    }
}

/// A front for one slot; [`Fronts`](crate::Fronts) has one of each slot. Worker threads call it as a [`RemoteNode`]; one thread at a time
/// calls [`receive`](Front::receive), [`tick`](Front::tick) and [`flush`](Front::flush).
pub struct Front {
    slot: Slot,
    shared: Arc<Shared>,
    state: Mutex<State>,
    /// Held from an envelope to the end of its deliveries.
    turn: Mutex<()>,
    /// Its lock is taken after that of the state, and alone by a TURN server.
    calls: RwLock<Calls>,
    /// Of sign-ins that the home answers. A crowd is refused here, so that it costs the home and the link nothing.
    admission: Arc<Admission>,
}

struct State {
    /// The time of the links.
    now: Timestamp,
    /// The highest term of a home that was seen.
    term: Term,
    link: Link,
    last_link: u64,
    /// The time of the last end of a link, or of the start.
    without_link_since: Timestamp,
    /// The internal address of the home.
    http: Option<Arc<str>>,
    /// Boxed: a table is up to half empty.
    sessions: HashMap<SessionHandle, Box<Kept>>,
    /// Sign-ins that were sent on this link.
    signing_in: HashMap<SessionHandle, SigningIn>,
    repeats: Repeats,
    questions: HashMap<u64, Then>,
    last_question: u64,
    held: VecDeque<Held>,
    held_bytes: Share,
    /// The sign-ins among them whose connection still waits. A sign-in does not move to another process.
    held_sign_ins: HashSet<SessionHandle>,
    /// None: the front is in operation.
    still: Option<Still>,
    /// None: it has no TURN server.
    relays: Option<Relays>,
}

enum Link {
    None,
    Joining {
        link: u64,
        asked: Timestamp,
        wait: u64,
    },
    Up {
        link: u64,
        ends: Box<Ends>,
        since: Timestamp,
        /// The home has sent its first item, and the front all sessions.
        is_joined: bool,
        /// The home takes nothing any more.
        is_leaving: bool,
        /// This front has said that it has all answers.
        has_left: bool,
    },
}

#[derive(Default)]
struct SigningIn {
    /// Its session has missed an event already: the queue of the home was full when it took the welcome.
    has_missed: bool,
    /// None: it has waited for the link.
    under_way: Option<UnderWay>,
}

/// A session of this front.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    record: SessionRecord,
    pending: SmallVec<[Pending; 1]>,
    /// The client's last watch, for a home that does not know it.
    watch: Option<Box<presence::Command>>,
    /// Requests from before the session fell behind that are still pending. If one of them is a resume, its changes are from before.
    before_behind: Box<[u64]>,
    /// The time of its last unanswered command on this link, except for those that the front repeats. 0: none.
    unanswered: Timestamp,
    /// Its commands that wait for a link.
    held: u8,
}

// A size of the allocator; the next one is 224 bytes.
const _: () = assert!(size_of::<Kept>() <= 192);

/// A command or sign-in that waits for a link.
#[derive(Clone, Serialize, Deserialize)]
struct Held {
    handle: SessionHandle,
    kind: HeldKind,
    /// It is sent again on the next link, too.
    #[serde(rename = "is_read")]
    may_repeat: bool,
    /// It was sent on an earlier link.
    #[serde(default)]
    was_sent: bool,
    bytes: Vec<u8>,
}

#[derive(Clone, Serialize, Deserialize)]
enum HeldKind {
    Command(Awaited),
    SignIn,
}

/// How the sender of a command learns of a refusal.
#[derive(Clone, Serialize, Deserialize)]
enum Awaited {
    Answer(Pending),
    /// A refusal without a number.
    Refusal,
    Nothing,
}

/// An action that waits until the lock is released.
enum Effect {
    Deliver(Vec<SessionHandle>, Delivery),
    DeliverEach(Vec<(SessionHandle, usize)>, Vec<Delivery>),
    Answer(Then, Result<PortAnswer, Refusal>),
    Sites(Vec<PublishedSite>, bool),
}

/// The state of a front and one slot, for `kith cluster status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrontStatus {
    pub slot: Slot,
    pub is_linked: bool,
    pub term: Term,
    pub http: Option<Arc<str>>,
    pub sessions: usize,
    pub held: usize,
    pub waiting_bytes: usize,
}

impl Front {
    /// A front that knows one slot alone. `id`: random. `name`: for people. `local` delivers to the sessions of this process. `wake` is
    /// called from any thread if something waits to be sent.
    pub fn new(
        id: FrontId,
        slot: Slot,
        name: String,
        local: impl Outbox,
        now: Timestamp,
        wake: impl Fn() + std::marker::Send + Sync + 'static,
    ) -> Front {
        Front::of(Shared::new(id, name, [slot], local, wake), slot, now)
    }

    pub(crate) fn of(shared: Arc<Shared>, slot: Slot, now: Timestamp) -> Front {
        let state = State {
            now,
            term: Term(0),
            link: Link::None,
            last_link: 0,
            without_link_since: now,
            http: None,
            sessions: HashMap::new(),
            signing_in: HashMap::new(),
            repeats: Repeats::new(Share::of(&shared.repeated)),
            questions: HashMap::new(),
            last_question: 0,
            held: VecDeque::new(),
            held_bytes: Share::of(&shared.held),
            held_sign_ins: HashSet::new(),
            still: None,
            relays: None,
        };
        Front {
            slot,
            shared,
            state: Mutex::new(state),
            turn: Mutex::default(),
            calls: RwLock::default(),
            admission: Arc::new(Admission::of_logins()),
        }
    }

    pub fn id(&self) -> FrontId {
        self.shared.id
    }

    pub fn slot(&self) -> Slot {
        self.slot
    }

    pub fn counters(&self) -> &Arc<Counters> {
        &self.shared.counters
    }

    /// The internal address of the home. None: no home has announced itself yet.
    pub fn home(&self) -> Option<Arc<str>> {
        self.lock().http.clone()
    }

    pub fn status(&self) -> FrontStatus {
        let state = self.lock();
        let (is_linked, waiting_bytes) = match &state.link {
            Link::Up { ends, .. } => (state.is_linked(), ends.out.waiting_bytes()),
            Link::None | Link::Joining { .. } => (false, 0),
        };
        FrontStatus {
            slot: self.slot,
            is_linked,
            term: state.term,
            http: state.http.clone(),
            sessions: state.sessions.len(),
            held: state.held.len(),
            waiting_bytes,
        }
    }

    /// Bytes from the subjects of this front and of all fronts.
    pub fn receive(&self, bytes: &[u8], now: Timestamp) {
        if let Some(envelope) = self.shared.counters.envelope(bytes) {
            self.receive_read(&envelope, bytes, now);
        }
    }

    /// `envelope`: as it was read from `bytes`.
    pub(crate) fn receive_read(&self, envelope: &Envelope<'_>, bytes: &[u8], now: Timestamp) {
        if envelope.slot != self.slot {
            return self.shared.counters.envelopes_old.add(1);
        }
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.lock().keep(bytes) {
            self.receive_in_turn(envelope, bytes.len(), now);
        }
    }

    fn receive_in_turn(&self, envelope: &Envelope<'_>, length: usize, now: Timestamp) {
        self.shared.counters.envelopes_received.add(1);
        self.shared.counters.bytes_received.add(length as u64);
        let mut effects = Vec::new();
        let mut state = self.lock();
        state.now = state.now.max(now);
        if envelope.term < state.term {
            return self.shared.counters.envelopes_old.add(1);
        }
        match envelope.kind {
            Kind::Announce => self.announced(&mut state, envelope, &mut effects),
            Kind::Reset if envelope.front == self.shared.id => match state.link {
                Link::Up { link, .. } if link == envelope.link => self.break_link(&mut state, &mut effects),
                _ => self.shared.counters.envelopes_old.add(1),
            },
            Kind::Data | Kind::Beat if envelope.front == self.shared.id => {
                self.receive_on_link(&mut state, envelope, &mut effects);
            }
            _ => self.shared.counters.envelopes_old.add(1),
        }
        drop(state);
        self.carry_out(effects);
    }

    fn announced(&self, state: &mut State, envelope: &Envelope<'_>, effects: &mut Vec<Effect>) {
        let Ok(announced) = serde_json::from_slice::<Announced>(envelope.payload) else {
            return self.shared.counters.envelopes_unreadable.add(1);
        };
        if envelope.term > state.term {
            tracing::info!(slot = self.slot.0, term = envelope.term.0, "a new home");
            state.term = envelope.term;
            if !matches!(state.link, Link::None) {
                self.break_link(state, effects);
            }
        }
        state.http = Some(announced.http.into());
        if matches!(state.link, Link::None) {
            state.last_link += 1;
            // The time of the first attempt is long ago, so that it is made at once.
            state.link = Link::Joining { link: state.last_link, asked: Timestamp(0), wait: JOIN_MS[0] };
            (self.shared.wake)();
        }
    }

    fn receive_on_link(&self, state: &mut State, envelope: &Envelope<'_>, effects: &mut Vec<Effect>) {
        if let Link::Joining { link, .. } = state.link
            && link == envelope.link
        {
            // Its announcement may come later, or be lost.
            state.term = envelope.term;
            let (ends, since) = (Box::new(Ends::new(state.now)), state.now);
            state.link = Link::Up { link, ends, since, is_joined: false, is_leaving: false, has_left: false };
            self.shared.counters.links_begun.add(1);
        }
        let now = state.now;
        let Link::Up { link, ends, .. } = &mut state.link else {
            return self.shared.counters.envelopes_old.add(1);
        };
        if *link != envelope.link {
            return self.shared.counters.envelopes_old.add(1);
        }
        let Ok(items) = ends.receive(envelope, now) else { return self.break_link(state, effects) };
        for item in items {
            match serde_json::from_slice::<ToFront>(&item) {
                Ok(item) => self.take(state, item, effects),
                Err(error) => {
                    // Sessions may have missed an event. After an adoption each knows.
                    tracing::warn!(%error, slot = self.slot.0, "an item of the home cannot be read");
                    self.shared.counters.items_unreadable.add(1);
                    return self.break_link(state, effects);
                }
            }
        }
        self.say_left(state);
    }

    /// The last item for a home that leaves, once every request that it has got is answered.
    fn say_left(&self, state: &mut State) {
        if !matches!(state.link, Link::Up { is_leaving: true, has_left: false, .. }) || !state.is_answered() {
            return;
        }
        if let Link::Up { ends, has_left, .. } = &mut state.link {
            *has_left = true;
            ends.out.push(&write(&ToHome::Left));
            (self.shared.wake)();
        }
    }

    fn take(&self, state: &mut State, item: ToFront, effects: &mut Vec<Effect>) {
        match item {
            ToFront::Joined { http } => {
                state.http = Some(http.into());
                self.joined(state);
            }
            ToFront::Sites { sites, logs_sign_ins } => {
                effects.push(Effect::Sites(sites, logs_sign_ins));
            }
            ToFront::Deliver { mut to, mut delivery } => {
                self.offer_own_servers(state, &mut delivery.event);
                to.iter_mut().for_each(|to| *to = to.of_front(0));
                self.deliver(state, to, delivery, effects);
            }
            ToFront::DeliverEach { mut to, mut deliveries } => {
                deliveries.iter_mut().for_each(|delivery| self.offer_own_servers(state, &mut delivery.event));
                to.iter_mut().for_each(|(to, _)| *to = to.of_front(0));
                to.retain(|(to, at)| {
                    deliveries.get(*at).is_some_and(|delivery| state.note_delivery(*to, delivery))
                });
                if !to.is_empty() {
                    effects.push(Effect::DeliverEach(to, deliveries));
                }
            }
            ToFront::Missed(mut to) => {
                to.iter_mut().for_each(|to| *to = to.of_front(0));
                let behind =
                    Delivery { re: None, position: None, event: Event::Session(SessionEvent::Behind) };
                for handle in &to {
                    if let Some(kept) = state.sessions.get_mut(handle) {
                        kept.fall_behind();
                        let session = kept.record.session;
                        state.push(&ToHome::Behind(session));
                        state.ask_again(*handle, effects);
                    } else if let Some(signing_in) = state.signing_in.get_mut(handle) {
                        signing_in.has_missed = true;
                    }
                }
                self.deliver(state, to, behind, effects);
            }
            ToFront::Answer { number, answer } => {
                if let Some(then) = state.questions.remove(&number) {
                    effects.push(Effect::Answer(then, answer));
                }
            }
            ToFront::Calls { begins, users } => self.calls_mut().take(begins, users, state.now),
            ToFront::Leaving => {
                if let Link::Up { is_leaving, .. } = &mut state.link {
                    *is_leaving = true;
                    state.without_link_since = state.now;
                }
            }
        }
    }

    fn deliver(
        &self,
        state: &mut State,
        mut to: Vec<SessionHandle>,
        mut delivery: Delivery,
        effects: &mut Vec<Effect>,
    ) {
        let mut behind = Vec::new();
        if let Event::Session(SessionEvent::Welcome(welcome)) = &mut delivery.event {
            welcome.session.handle = welcome.session.handle.of_front(0);
            welcome.record.session = welcome.session;
            let (handle, record) = (welcome.session.handle, welcome.record.clone());
            let is_of_this_slot = welcome.session.user.site.slot() == self.slot;
            let waits = if to == [handle] { state.signing_in.remove(&handle) } else { None };
            let waited = waits.is_some();
            let Some(SigningIn { has_missed, under_way }) = waits.filter(|_| is_of_this_slot) else {
                let (session, now) = (welcome.session, state.now);
                state.push(&ToHome::Disconnected { session, on_purpose: false, now });
                if waited {
                    // Its commands would go to another home.
                    tracing::error!(
                        slot = self.slot.0,
                        "a home has begun a session on a site of another slot"
                    );
                    effects.push(bye(handle, Refusal::Unavailable));
                }
                return;
            };
            under_way.iter().for_each(UnderWay::is_done);
            let mut kept = Box::new(Kept {
                record,
                pending: SmallVec::new(),
                watch: None,
                before_behind: Box::default(),
                unanswered: Timestamp(0),
                held: 0,
            });
            if has_missed {
                kept.fall_behind();
                state.push(&ToHome::Behind(welcome.session));
                behind.push(handle);
            }
            state.sessions.insert(handle, kept);
        } else {
            to.retain(|to| state.note_delivery(*to, &delivery));
        }
        let is_changes = delivery.event.when_behind() == WhenBehind::End;
        let mut is_outdated = |to: &SessionHandle| {
            let answered = delivery.re.zip(state.sessions.get_mut(to));
            answered.is_some_and(|(re, kept)| kept.took_answer(re, is_changes))
        };
        behind.extend(to.iter().copied().filter(|to| is_outdated(to)));
        if !to.is_empty() {
            effects.push(Effect::Deliver(to, delivery));
        }
        effects.extend(self::behind(behind));
    }

    /// The home knows the link: it gets all sessions, and then everything that has waited.
    fn joined(&self, state: &mut State) {
        let Link::Up { is_joined, .. } = &mut state.link else { return };
        if std::mem::replace(is_joined, true) {
            return;
        }
        tracing::info!(slot = self.slot.0, sessions = state.sessions.len(), "linked with the home");
        self.calls_mut().link_begins(state.now);
        let records: Vec<SessionRecord> = state.sessions.values().map(|kept| kept.record.clone()).collect();
        self.shared.counters.sessions_adopted.add(records.len() as u64);
        for some in records.chunks(ADOPTED_TOGETHER) {
            state.push(&ToHome::Adopt(some.to_vec()));
        }
        state.ask_for_calls();
        let now = state.now;
        let watches: Vec<(SessionId, presence::Command)> = state
            .sessions
            .values()
            .filter_map(|kept| Some((kept.record.session, kept.watch.as_deref()?.clone())))
            .collect();
        for (session, watch) in watches {
            let request = Command::from(watch).into();
            state.push(&ToHome::Command { session, request, now, again: true });
        }
        let sign_ins = std::mem::take(&mut state.held_sign_ins);
        for held in std::mem::take(&mut state.held) {
            match held.kind {
                HeldKind::SignIn if sign_ins.contains(&held.handle) => {
                    state.signing_in.insert(held.handle, SigningIn::default());
                }
                // The client may have signed in through another front meanwhile.
                HeldKind::SignIn => continue,
                HeldKind::Command(awaited) => match state.sessions.get_mut(&held.handle) {
                    Some(kept) => {
                        kept.held = 0;
                        if held.may_repeat {
                            state.repeats.keep(held.handle, &awaited, &held.bytes);
                        }
                        kept.wait_for(awaited, now);
                    }
                    None => continue,
                },
            }
            if let Link::Up { ends, .. } = &mut state.link {
                ends.out.push(&held.bytes);
            }
        }
        state.held_bytes.clear();
        (self.shared.wake)();
    }

    /// The link has ended. Answers that were on their way are lost. So commands that may be carried out twice wait for the next link,
    /// and all other requests are refused. A session whose messages cannot wait ends: after its next sign-in the client sends them
    /// again in their order.
    fn break_link(&self, state: &mut State, effects: &mut Vec<Effect>) {
        let old = std::mem::replace(&mut state.link, Link::None);
        let is_short = matches!(old, Link::Up { since, .. } if state.now.since(since) < JOIN_MS[0]);
        if matches!(old, Link::Up { .. }) {
            let (slot, sessions) = (self.slot.0, state.sessions.len());
            tracing::warn!(slot, sessions, "the link with the home has ended");
            self.shared.counters.links_broken.add(1);
            state.without_link_since = state.now;
        }
        let mut refused = 0;
        // Before commands that wait already: those came later.
        let mut held = VecDeque::new();
        let State { sessions, repeats, now, .. } = &mut *state;
        sessions.retain(|handle, kept| {
            let mut lost = Vec::new();
            for pending in std::mem::take(&mut kept.pending) {
                // One session must not take the room of others.
                let may_wait = kept.held < HELD_OF_SESSION;
                let Some(bytes) = repeats.take(*handle, &pending).filter(|_| may_wait) else {
                    lost.push(pending);
                    continue;
                };
                kept.held += 1;
                held.push_back(Held {
                    handle: *handle,
                    kind: HeldKind::Command(Awaited::Answer(pending)),
                    may_repeat: true,
                    was_sent: true,
                    bytes: bytes.into_vec(),
                });
            }
            refused += lost.len() as u64;
            if lost.iter().any(|one| matches!(one, Pending::Message(_))) {
                effects.push(bye(*handle, AGAIN));
                return false;
            }
            let lost = lost.into_iter().map(Awaited::Answer);
            let may_be_lost = now.since(kept.unanswered) < UNANSWERED_MS;
            let all = lost.chain(may_be_lost.then_some(Awaited::Refusal));
            effects.extend(all.filter_map(|one| refusal_of(*handle, one, Refusal::Unavailable)));
            kept.unanswered = Timestamp(0);
            // Their answers cannot come any more.
            kept.before_behind = Box::default();
            true
        });
        repeats.clear();
        state.held_bytes.add(held.iter().map(|held| held.bytes.len()).sum());
        held.append(&mut state.held);
        state.held = held;
        let signing_in = std::mem::take(&mut state.signing_in);
        effects.extend(signing_in.into_keys().map(|handle| bye(handle, AGAIN)));
        let questions = std::mem::take(&mut state.questions);
        effects.extend(questions.into_values().map(|then| Effect::Answer(then, Err(Refusal::Unavailable))));
        self.shared.counters.requests_refused.add(refused);
        state.last_link += 1;
        // After a link that ended at once the front waits, so that two nodes that do not agree do not keep each other busy.
        let asked = if is_short { state.now } else { Timestamp(0) };
        state.link = Link::Joining { link: state.last_link, asked, wait: JOIN_MS[0] };
        (self.shared.wake)();
    }

    /// Notices a silent home and refuses commands that have waited for too long. Call it every 100 ms.
    pub fn tick(&self, now: Timestamp) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut effects = Vec::new();
        let mut state = self.lock();
        state.now = state.now.max(now);
        if state.still.is_some() {
            return;
        }
        let now = state.now;
        if let Link::Up { ends, .. } = &state.link
            && ends.is_over(now)
        {
            self.break_link(&mut state, &mut effects);
        }
        let without_link = (!state.is_linked()).then(|| now.since(state.without_link_since));
        self.calls_mut().tick(without_link, now);
        if !state.is_holding() && !state.is_linked() {
            for held in std::mem::take(&mut state.held) {
                self.shared.counters.requests_refused.add(1);
                if held.may_be_stored() {
                    // A refusal would say that it is not.
                    let ended = state.sessions.remove(&held.handle);
                    effects.extend(ended.map(|_| bye(held.handle, AGAIN)));
                    continue;
                }
                match state.sessions.get_mut(&held.handle) {
                    Some(kept) => kept.held = 0,
                    None if held.is_sign_in() => {}
                    None => continue,
                }
                effects.extend(held.refused(Refusal::Unavailable));
            }
            state.held_bytes.clear();
            state.held_sign_ins.clear();
        }
        if state.is_linked()
            && let Some(left_ms) = self.admission.take_awaited(now)
        {
            state.push(&ToHome::Line { left_ms });
        }
        drop(state);
        self.carry_out(effects);
    }

    /// Ends all sessions, because this front stops. `retry_after_ms` is drawn for each.
    pub fn goodbye(&self, mut retry_after_ms: impl FnMut() -> u32, now: Timestamp) {
        let mut state = self.lock();
        let sessions: Vec<SessionId> = state.sessions.drain().map(|(_, kept)| kept.record.session).collect();
        let mut effects = Vec::new();
        for session in sessions {
            state.push(&ToHome::Disconnected { session, on_purpose: false, now });
            effects.push(bye(session.handle, Refusal::GoingAway { retry_after_ms: retry_after_ms() }));
        }
        drop(state);
        (self.shared.wake)();
        self.carry_out(effects);
    }

    /// Sends all envelopes that are due.
    pub fn flush(&self, now: Timestamp, send: Send<'_>) {
        let mut send = |bytes: Vec<u8>| {
            self.shared.counters.envelopes_sent.add(1);
            self.shared.counters.bytes_sent.add(bytes.len() as u64);
            send(Subject::Home(self.slot), bytes);
        };
        let mut state = self.lock();
        state.now = state.now.max(now);
        let (now, term) = (state.now, state.term);
        let head = |kind, link| Envelope {
            kind,
            slot: self.slot,
            term,
            front: self.shared.id,
            link,
            number: 0,
            acknowledged: 0,
            payload: &[],
        };
        let is_still = state.still.is_some();
        match &mut state.link {
            Link::None => {}
            Link::Joining { .. } if is_still => {}
            Link::Joining { link, asked, wait } => {
                let is_first = asked.0 == 0;
                if !is_first && now.since(*asked) < *wait {
                    return;
                }
                if !is_first {
                    // An answer to the attempt before may be lost.
                    *link += 1;
                    *wait = (*wait * 2).min(JOIN_MS[1]);
                }
                *asked = now;
                let payload = write(&Join { name: self.shared.name.clone() });
                let number = *link;
                send(Envelope { payload: &payload, ..head(Kind::Join, number) }.write());
                state.last_link = number;
            }
            Link::Up { link, ends, .. } => {
                while let Some(due) = if is_still { ends.beat(now) } else { ends.due(now) } {
                    let envelope = Envelope {
                        number: due.number,
                        acknowledged: due.acknowledged,
                        payload: &due.payload,
                        ..head(due.kind, *link)
                    };
                    send(envelope.write());
                }
            }
        }
    }

    /// A place among the sign-ins that the home answers soon. Refusals take no lock of the link.
    fn admit(&self, now: Timestamp) -> Result<UnderWay, Refusal> {
        let admitted = self.admission.enter(now);
        if admitted.is_err() {
            self.shared.counters.requests_refused.add(1);
        }
        admitted
    }

    /// `bytes`: a [`ToHome::SignIn`]. `under_way`: None if it has waited. False: it is refused.
    pub(crate) fn take_sign_in(
        &self,
        handle: SessionHandle,
        bytes: Vec<u8>,
        under_way: Option<UnderWay>,
    ) -> bool {
        let mut state = self.lock();
        if !state.has_room() {
            self.shared.counters.requests_refused.add(1);
            return false;
        }
        match &mut state.link {
            Link::Up { ends, is_joined: true, is_leaving: false, .. } => {
                ends.out.push(&bytes);
                state.signing_in.insert(handle, SigningIn { has_missed: false, under_way });
            }
            _ => {
                let kind = HeldKind::SignIn;
                state.held_sign_ins.insert(handle);
                state.hold(Held { handle, kind, may_repeat: false, was_sent: false, bytes });
            }
        }
        drop(state);
        (self.shared.wake)();
        true
    }

    fn carry_out(&self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Deliver(to, delivery) => self.shared.local.deliver(&to, delivery),
                Effect::DeliverEach(to, deliveries) => self.shared.local.deliver_each(&to, deliveries),
                Effect::Answer(then, answer) => then(answer),
                Effect::Sites(sites, logs_sign_ins) => {
                    self.shared.directory.publish(self.slot, sites, logs_sign_ins);
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn calls(&self) -> RwLockReadGuard<'_, Calls> {
        self.calls.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn calls_mut(&self) -> RwLockWriteGuard<'_, Calls> {
        self.calls.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether the home takes commands.
    fn is_linked(&self) -> bool {
        matches!(self.link, Link::Up { is_joined: true, is_leaving: false, .. })
    }

    /// Whether everything that was sent to the home has its answer.
    fn is_answered(&self) -> bool {
        let has_all = self.sessions.values().all(|kept| kept.pending.is_empty());
        has_all && self.signing_in.is_empty() && self.questions.is_empty()
    }

    /// Whether commands may wait for a link.
    fn is_holding(&self) -> bool {
        self.now.since(self.without_link_since) < HOLD_MS
    }

    /// Writes an item for the home. Without a link it is dropped.
    fn push(&mut self, item: &ToHome<'_>) {
        if let Link::Up { ends, is_joined: true, is_leaving: false, .. } = &mut self.link {
            ends.out.push(&write(item));
        }
    }

    /// Whether the link takes more commands.
    fn has_room(&self) -> bool {
        match &self.link {
            Link::Up { ends, is_joined: true, is_leaving: false, .. } => {
                ends.out.waiting_bytes() < WRITTEN_BYTES
            }
            Link::Up { .. } | Link::Joining { .. } | Link::None => {
                self.is_holding() && self.held_bytes.fits(1)
            }
        }
    }

    fn hold(&mut self, held: Held) {
        self.held_bytes.add(held.bytes.len());
        self.held.push_back(held);
    }

    /// Answers that the session awaits may have been dropped, and a home gives up the snapshot for a resume of a session that falls
    /// behind. So what may be carried out twice is sent again, and other requests are refused, as at the end of a link.
    fn ask_again(&mut self, session: SessionHandle, effects: &mut Vec<Effect>) {
        let State { sessions, repeats, link, .. } = self;
        let Link::Up { ends, is_joined: true, is_leaving: false, .. } = link else { return };
        let Some(kept) = sessions.get_mut(&session) else { return };
        kept.pending.retain(|pending| match (repeats.get(session, pending), &*pending) {
            (Some(command), _) => {
                ends.out.push(command);
                true
            }
            (None, Pending::Message(_)) => true,
            (None, Pending::Request(_)) => {
                let awaited = Awaited::Answer(pending.clone());
                effects.extend(refusal_of(session, awaited, Refusal::Unavailable));
                false
            }
        });
    }

    /// The session has ended.
    fn forget_repeats(&mut self, of: &Kept) {
        for pending in &of.pending {
            self.repeats.take(of.record.session.handle, pending);
        }
    }

    /// Notes the delivery of an event to a session of this front. False: the session must not get it.
    fn note_delivery(&mut self, to: SessionHandle, delivery: &Delivery) -> bool {
        if delivery.event.farewell().is_some() {
            let kept = self.sessions.remove(&to);
            kept.iter().for_each(|kept| self.forget_repeats(kept));
            return kept.is_some() | self.signing_in.remove(&to).is_some();
        }
        let Some(kept) = self.sessions.get_mut(&to) else { return false };
        if kept.record.is_behind && delivery.event.when_behind() == WhenBehind::Drop && delivery.re.is_none()
        {
            let answered = delivery.answered();
            // The client waits for the acknowledgement of its message, and is behind all the same.
            if answered.is_none() {
                return false;
            }
        }
        kept.record.delivered(delivery);
        if let Event::Session(SessionEvent::Changes(changes)) = &delivery.event {
            // A message that comes with the changes is on disk: its acknowledgement may have been dropped.
            let is_there = |id: &str| changes.messages.iter().any(|message| *message.client_id == *id);
            kept.pending.retain(|pending| {
                let has_come = matches!(pending, Pending::Message(id) if is_there(id));
                if has_come {
                    self.repeats.take(to, pending);
                }
                !has_come
            });
        }
        if let Some(answered) = delivery.answered() {
            self.repeats.take(to, &answered);
            kept.pending.retain(|pending| *pending != answered);
            if kept.pending.is_empty() {
                kept.pending.shrink_to_fit();
            }
        }
        true
    }
}

impl Kept {
    fn fall_behind(&mut self) {
        self.record.is_behind = true;
        let numbers = self.pending.iter().filter_map(|pending| match pending {
            Pending::Request(re) => Some(*re),
            Pending::Message(_) => None,
        });
        self.before_behind = numbers.collect();
    }

    /// Whether this answer brings changes for a resume from before the session fell behind: then it is behind all the same. A client
    /// may use the number again.
    fn took_answer(&mut self, re: u64, is_changes: bool) -> bool {
        let Some(at) = self.before_behind.iter().position(|before| *before == re) else { return false };
        let mut before = std::mem::take(&mut self.before_behind).into_vec();
        before.swap_remove(at);
        self.before_behind = before.into();
        self.record.is_behind |= is_changes;
        is_changes
    }

    fn wait_for(&mut self, awaited: Awaited, now: Timestamp) {
        match awaited {
            Awaited::Answer(pending) => {
                if self.pending.len() >= MOST_PENDING {
                    self.pending.remove(0);
                }
                self.pending.push(pending);
            }
            Awaited::Refusal => self.unanswered = now,
            Awaited::Nothing => {}
        }
    }

    /// Keeps what a new home must know of the session, and learns only from its commands. Returns whether the front repeats this
    /// one for a new home.
    fn note_command(&mut self, command: &Command) -> bool {
        let Command::Presence(command) = command else { return false };
        match command {
            presence::Command::Watch { .. } => self.watch = Some(Box::new(command.clone())),
            presence::Command::Announce(availability) => {
                if let Some(announced) = &mut self.record.announced {
                    announced.availability = availability.clone();
                }
            }
            presence::Command::Set(_)
            | presence::Command::Relay { .. }
            | presence::Command::Undelivered { .. } => return false,
        }
        true
    }
}

impl Held {
    fn is_sign_in(&self) -> bool {
        matches!(self.kind, HeldKind::SignIn)
    }

    /// A message, and the home of an earlier link may have stored it.
    fn may_be_stored(&self) -> bool {
        self.was_sent && matches!(self.kind, HeldKind::Command(Awaited::Answer(Pending::Message(_))))
    }

    fn refused(self, refusal: Refusal) -> Option<Effect> {
        match self.kind {
            HeldKind::SignIn => Some(bye(self.handle, refusal)),
            HeldKind::Command(awaited) => refusal_of(self.handle, awaited, refusal),
        }
    }
}

/// None: it concerns nobody.
fn behind(to: Vec<SessionHandle>) -> Option<Effect> {
    let event = Event::Session(SessionEvent::Behind);
    (!to.is_empty()).then(|| Effect::Deliver(to, Delivery { re: None, position: None, event }))
}

fn bye(to: SessionHandle, refusal: Refusal) -> Effect {
    let event = Event::Session(SessionEvent::Bye(refusal));
    Effect::Deliver(vec![to], Delivery { re: None, position: None, event })
}

fn refusal_of(to: SessionHandle, awaited: Awaited, refusal: Refusal) -> Option<Effect> {
    let (re, event) = match awaited {
        Awaited::Answer(Pending::Request(re)) => (Some(re), SessionEvent::Refused(refusal)),
        Awaited::Answer(Pending::Message(client_id)) => {
            (None, SessionEvent::SendRefused { client_id, refusal })
        }
        Awaited::Refusal => (None, SessionEvent::Refused(refusal)),
        Awaited::Nothing => return None,
    };
    Some(Effect::Deliver(vec![to], Delivery { re, position: None, event: Event::Session(event) }))
}

impl RemoteNode for Front {
    fn sites(&self) -> Arc<PublishedSites> {
        self.shared.directory.all()
    }

    fn is_crowded(&self) -> bool {
        self.admission.is_crowded()
    }

    fn sign_in(&self, hello: &Hello<'_>, handle: SessionHandle, now: Timestamp) {
        let under_way = match self.admit(now) {
            Ok(under_way) => under_way,
            Err(refusal) => return self.shared.bye(handle, refusal),
        };
        let bytes = write(&ToHome::SignIn { handle, hello: hello.clone(), now });
        if !self.take_sign_in(handle, bytes, Some(under_way)) {
            self.shared.bye(handle, OVERLOADED);
        }
    }

    fn gave_up(&self, handle: SessionHandle) {
        let mut state = self.lock();
        // Its bytes stay until the link begins, so that this costs the same however many wait.
        if !state.held_sign_ins.remove(&handle) {
            // Nobody waits for the welcome, so it is answered with the end of the session.
            state.signing_in.remove(&handle);
        }
    }

    fn command(&self, session: SessionId, request: Request, now: Timestamp) {
        let handle = session.handle;
        let awaited = match request.pending() {
            Some(pending) => Awaited::Answer(pending),
            None if request.is_unanswered() => Awaited::Refusal,
            None => Awaited::Nothing,
        };
        let may_repeat = Repeats::may_repeat(&request);
        let item = ToHome::Command { session, request, now, again: false };
        // Written before the lock is taken.
        let bytes = write(&item);
        let mut state = self.lock();
        let has_room = state.has_room();
        let is_linked = state.is_linked();
        let State { sessions, repeats, link, held, held_bytes, now: of_links, .. } = &mut *state;
        let kept = match sessions.entry(handle) {
            Entry::Occupied(kept) if kept.get().record.session == session => kept.into_mut(),
            _ => {
                drop(state);
                return self.carry_out(vec![bye(handle, Refusal::NoSession)]);
            }
        };
        if !has_room || !is_linked && kept.held >= HELD_OF_SESSION {
            drop(state);
            self.shared.counters.requests_refused.add(1);
            let refused = refusal_of(handle, awaited, Refusal::Unavailable);
            return self.carry_out(refused.into_iter().collect());
        }
        let is_repeated =
            matches!(&item, ToHome::Command { request, .. } if kept.note_command(&request.command));
        let awaited = if is_repeated { Awaited::Nothing } else { awaited };
        match link {
            Link::Up { ends, is_joined: true, is_leaving: false, .. } => {
                if may_repeat {
                    repeats.keep(handle, &awaited, &bytes);
                }
                // The wall clock may jump.
                kept.wait_for(awaited, *of_links);
                ends.out.push(&bytes);
            }
            _ => {
                kept.held += 1;
                held_bytes.add(bytes.len());
                let kind = HeldKind::Command(awaited);
                held.push_back(Held { handle, kind, may_repeat, was_sent: false, bytes });
            }
        }
        drop(state);
        (self.shared.wake)();
    }

    fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        let mut state = self.lock();
        if let Entry::Occupied(kept) = state.sessions.entry(session.handle)
            && kept.get().record.session == session
        {
            let kept = kept.remove();
            state.forget_repeats(&kept);
            state.push(&ToHome::Disconnected { session, on_purpose, now });
            drop(state);
            (self.shared.wake)();
        }
    }

    fn behind(&self, session: SessionId) {
        let mut state = self.lock();
        if let Some(kept) =
            state.sessions.get_mut(&session.handle).filter(|kept| kept.record.session == session)
        {
            kept.fall_behind();
            state.push(&ToHome::Behind(session));
            drop(state);
            (self.shared.wake)();
        }
    }

    fn presence_missed(&self, session: SessionId) {
        self.lock().push(&ToHome::PresenceMissed(session));
        (self.shared.wake)();
    }

    fn note(&self, note: PortNote) {
        self.lock().push(&ToHome::Note(note));
        (self.shared.wake)();
    }

    fn ask(&self, question: PortQuestion, then: Then) {
        let mut state = self.lock();
        if !state.is_linked() || state.questions.len() >= MOST_QUESTIONS {
            drop(state);
            return then(Err(Refusal::Unavailable));
        }
        state.last_question += 1;
        let number = state.last_question;
        state.questions.insert(number, then);
        state.push(&ToHome::Ask { number, question });
        drop(state);
        (self.shared.wake)();
    }
}
