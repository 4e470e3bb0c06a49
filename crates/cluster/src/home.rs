//! The home: the node with the domain. It has a link with each front.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chat::{
    CallId, Command, Delivery, Event, Node, Outbox, PortAnswer, Refusal, SessionHandle, SessionId, Slot,
    Timestamp, UserId, presence,
};
use subtle::ConstantTimeEq;

use crate::bus::{Send, Subject};
use crate::counters::Counters;
use crate::envelope::{Envelope, FrontId, Kind, Term};
use crate::link::Ends;
use crate::wire::{Announced, Join, ToFront, ToHome, write};

/// Copies of events that wait for a front. At the bound, events are dropped and their sessions are behind; welcomes, ends and
/// answers to questions are never dropped.
const QUEUED: usize = 65_536;
/// Written bytes of a link that wait. Beyond that, events stay in the queue.
const WRITTEN_BYTES: usize = 2 * 1024 * 1024;
const ANNOUNCE_MS: u64 = 1_000;
/// Links at once; a further front has to wait.
const MOST_LINKS: usize = 200;
/// Users in an item with calls: some 4 MiB of JSON.
const CALLS_TOGETHER: usize = 65_536;
/// Room for changes of calls that an empty queue keeps.
const CALLS_KEPT: usize = 256;
/// Fronts without a link that are told so at once; others notice by silence.
const MOST_RESETS: usize = 64;

/// The links of a home. The domain's outbox writes into them.
pub struct Links {
    slot: Slot,
    term: Term,
    table: RwLock<HashMap<u8, Arc<Link>>>,
    /// Sessions that began for a link that is gone.
    orphans: Mutex<Vec<SessionId>>,
    wake: Box<dyn Fn() + std::marker::Send + Sync>,
    counters: Arc<Counters>,
}

struct Link {
    front: FrontId,
    link: u64,
    name: String,
    /// No thread holds the locks of the queue and of the ends at once.
    queue: Mutex<Queue>,
    ends: Mutex<Ends>,
    /// The front has sent its last item, and has all its answers.
    has_left: AtomicBool,
    /// The front has a TURN server, and gets the calls of all users.
    has_relays: AtomicBool,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Queued>,
    /// Copies in `items`.
    weight: usize,
    missed: HashSet<SessionHandle>,
    /// The last change of each user's call. One entry of `items` stands for all of them, so their number is bounded by that of the users
    /// in calls, and nothing is dropped.
    calls: HashMap<UserId, Option<CallId>>,
    /// The next item with calls begins a new list.
    calls_begin: bool,
    calls_are_queued: bool,
}

impl Queue {
    fn push_calls(&mut self) {
        if !std::mem::replace(&mut self.calls_are_queued, true) {
            self.items.push_back(Queued::Calls);
            self.weight += 1;
        }
    }

    /// Some of the changes. The others stay, with an entry of their own.
    fn next_calls(&mut self) -> ToFront {
        let some: Vec<UserId> = self.calls.keys().take(CALLS_TOGETHER).copied().collect();
        let users = some.into_iter().filter_map(|user| self.calls.remove(&user).map(|call| (user, call)));
        let users = users.collect();
        self.calls_are_queued = !self.calls.is_empty();
        if self.calls_are_queued {
            self.items.push_front(Queued::Calls);
            self.weight += 1;
        } else {
            self.calls.shrink_to(CALLS_KEPT);
        }
        ToFront::Calls { begins: std::mem::take(&mut self.calls_begin), users }
    }
}

enum Queued {
    Deliver(Vec<SessionHandle>, Delivery),
    DeliverEach(Vec<(SessionHandle, usize)>, Vec<Delivery>),
    Answer(u64, Result<PortAnswer, Refusal>),
    /// From here on, the sessions in `missed` are behind.
    Missed,
    /// The changes in `calls`, and a new list if `calls_begin` is set.
    Calls,
}

impl Queued {
    /// A front of the version before would offer a client credentials without a server, and browsers refuse that.
    fn drop_unusable_servers(&mut self) {
        let deliveries = match self {
            Queued::Deliver(_, delivery) => std::slice::from_mut(delivery),
            Queued::DeliverEach(_, deliveries) => deliveries,
            Queued::Answer(..) | Queued::Missed | Queued::Calls => return,
        };
        for delivery in deliveries {
            if let Event::Calls(event) = &mut delivery.event
                && let Some(ice) = event.ice_mut()
            {
                ice.drop_unusable();
            }
        }
    }

    fn weight(&self) -> usize {
        match self {
            Queued::Deliver(to, _) => to.len(),
            Queued::DeliverEach(to, _) => to.len(),
            Queued::Answer(..) | Queued::Missed | Queued::Calls => 1,
        }
    }
}

/// A line of `kith cluster status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkStatus {
    pub front: FrontId,
    pub name: String,
    pub number: u8,
    /// Copies of events that wait.
    pub queued: usize,
    pub waiting_bytes: usize,
}

impl Links {
    /// `wake` is called from any thread if something waits to be sent.
    pub fn new(slot: Slot, term: Term, wake: impl Fn() + std::marker::Send + Sync + 'static) -> Arc<Links> {
        Arc::new(Links {
            slot,
            term,
            table: RwLock::default(),
            orphans: Mutex::default(),
            wake: Box::new(wake),
            counters: Arc::default(),
        })
    }

    pub fn term(&self) -> Term {
        self.term
    }

    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    pub fn status(&self) -> Vec<LinkStatus> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<LinkStatus> = table
            .iter()
            .map(|(number, link)| {
                // In one expression, both locks would be held until its end.
                let queued = lock(&link.queue).weight;
                let waiting_bytes = lock(&link.ends).out.waiting_bytes();
                let (front, name) = (link.front, link.name.clone());
                LinkStatus { front, name, number: *number, queued, waiting_bytes }
            })
            .collect();
        all.sort_unstable_by_key(|link| link.number);
        all
    }

    fn link(&self, number: u8) -> Option<Arc<Link>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }

    fn all(&self) -> Vec<(u8, Arc<Link>)> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        table.iter().map(|(number, link)| (*number, link.clone())).collect()
    }

    /// The change of a user's call, for every front with a TURN server.
    fn call_changed(&self, user: UserId, call: Option<CallId>) {
        let mut is_first = false;
        for (_, link) in self.all() {
            if link.has_relays.load(Ordering::Acquire) {
                is_first |= link.note_call(user, call);
            }
        }
        if is_first {
            (self.wake)();
        }
    }

    fn enqueue(&self, front: u8, mut queued: Queued) {
        let Some(link) = self.link(front) else {
            if let Queued::Deliver(
                _,
                Delivery { event: Event::Session(chat::session::Event::Welcome(welcome)), .. },
            ) = queued
            {
                lock(&self.orphans).push(welcome.session);
                (self.wake)();
            }
            return;
        };
        if !link.has_relays.load(Ordering::Acquire) {
            queued.drop_unusable_servers();
        }
        let mut queue = lock(&link.queue);
        let was_empty = queue.items.is_empty();
        let weight = queued.weight();
        let is_dropped = queue.weight + weight > QUEUED && may_be_dropped(&queued);
        if is_dropped {
            let is_first = queue.missed.is_empty();
            let before = queue.missed.len();
            match queued {
                Queued::Deliver(to, _) => queue.missed.extend(to),
                Queued::DeliverEach(to, _) => queue.missed.extend(to.into_iter().map(|(to, _)| to)),
                Queued::Answer(..) | Queued::Missed | Queued::Calls => {}
            }
            self.counters.sessions_missed.add((queue.missed.len() - before) as u64);
            if !is_first {
                return;
            }
            queue.items.push_back(Queued::Missed);
            queue.weight += 1;
        } else {
            queue.items.push_back(queued);
            queue.weight += weight;
        }
        drop(queue);
        if was_empty {
            (self.wake)();
        }
    }
}

fn may_be_dropped(queued: &Queued) -> bool {
    match queued {
        Queued::Deliver(_, delivery) => {
            let is_welcome = matches!(delivery.event, Event::Session(chat::session::Event::Welcome(_)));
            !is_welcome && delivery.event.farewell().is_none()
        }
        Queued::DeliverEach(..) => true,
        Queued::Answer(..) | Queued::Missed | Queued::Calls => false,
    }
}

/// Delivers to the sessions of this node through `local`, and to those of fronts through their links.
pub struct HomeOutbox<L> {
    local: L,
    links: Arc<Links>,
}

impl<L: Outbox> HomeOutbox<L> {
    pub fn new(local: L, links: Arc<Links>) -> HomeOutbox<L> {
        HomeOutbox { local, links }
    }
}

/// The receivers of each front; those of this node have the number 0.
fn by_front<T: Copy>(to: &[T], front: impl Fn(&T) -> u8) -> Vec<(u8, Vec<T>)> {
    let mut fronts: Vec<(u8, Vec<T>)> = Vec::new();
    for one in to {
        let number = front(one);
        match fronts.iter_mut().find(|(known, _)| *known == number) {
            Some((_, list)) => list.push(*one),
            None => fronts.push((number, vec![*one])),
        }
    }
    fronts
}

impl<L: Outbox> Outbox for HomeOutbox<L> {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        if to.iter().all(|to| to.front() == 0) {
            return self.local.deliver(to, delivery);
        }
        for (front, to) in by_front(to, |to| to.front()) {
            match front {
                0 => self.local.deliver(&to, delivery.clone()),
                front => self.links.enqueue(front, Queued::Deliver(to, delivery.clone())),
            }
        }
    }

    fn deliver_each(&self, to: &[(SessionHandle, usize)], deliveries: Vec<Delivery>) {
        if to.iter().all(|(to, _)| to.front() == 0) {
            return self.local.deliver_each(to, deliveries);
        }
        for (front, mut to) in by_front(to, |(to, _)| to.front()) {
            if front == 0 {
                self.local.deliver_each(&to, deliveries.clone());
                continue;
            }
            // Only the events for this front travel.
            let mut used: Vec<usize> = to.iter().map(|(_, at)| *at).collect();
            used.sort_unstable();
            used.dedup();
            for (_, at) in &mut to {
                *at = used.binary_search(at).unwrap_or_default();
            }
            let deliveries = used.iter().filter_map(|at| deliveries.get(*at).cloned()).collect();
            self.links.enqueue(front, Queued::DeliverEach(to, deliveries));
        }
    }
}

/// How long a request may have waited at a front: until a link is lost, and until the next one.
const MOST_WAITED_MS: u64 = 15_000;

/// The time of a request that a front has sent at `sent` by its own clock. All fronts have the clock of the home: with the wrong clock of
/// a front, its members could outlive their tokens and mutes, and other members would have to wait. So the clock of a front
/// counts only as far as the request can have waited.
fn at_home(sent: Timestamp, now: Timestamp) -> Timestamp {
    if now.since(sent) <= MOST_WAITED_MS { sent.min(now) } else { now }
}

/// The side of the links that calls the domain. One thread at a time calls [`receive`](Home::receive), [`tick`](Home::tick) and
/// [`flush`](Home::flush).
pub struct Home {
    links: Arc<Links>,
    node: Arc<Node>,
    http: String,
    state: Mutex<State>,
    on_successor: Box<dyn Fn(Term) + std::marker::Send + Sync>,
    /// Of the secret for relays: see [`ToHome::Relays`]. None: fronts offer no relays.
    proof: Option<Box<str>>,
    /// The clock of the domain. None: that of the links.
    clock: Option<Box<dyn Fn() -> Timestamp + std::marker::Send + Sync>>,
    background: Box<dyn Fn(Work) + std::marker::Send + Sync>,
    /// Fronts whose sessions are leaving the domain in the background. They may join afterwards.
    releasing: Arc<Mutex<HashSet<FrontId>>>,
}

type Work = Box<dyn FnOnce() + std::marker::Send>;

#[derive(Default)]
struct State {
    by_front: HashMap<FrontId, u8>,
    last_number: u8,
    resets: Vec<(FrontId, u64)>,
    announced: Timestamp,
    /// The version of the sites that all links have.
    sites: u64,
    leaving: Leaving,
}

/// How far this home has given its role away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Leaving {
    #[default]
    No,
    /// The fronts send nothing new, and get the answers to what they have sent.
    Answers,
    /// Each link ends as soon as everything in it is sent.
    Ends,
}

impl Home {
    /// `http`: the address at which fronts reach this home.
    pub fn new(links: Arc<Links>, node: Arc<Node>, http: String) -> Home {
        let state = State { sites: node.sites_version(), ..State::default() };
        node.expect_adoptions();
        let of_calls = Arc::clone(&links);
        node.observe_calls(move |user, call| of_calls.call_changed(user, call));
        Home {
            links,
            node,
            http,
            state: Mutex::new(state),
            on_successor: Box::new(|_| ()),
            proof: None,
            clock: None,
            background: Box::new(|work| work()),
            releasing: Arc::default(),
        }
    }

    /// Fronts with this proof of the secret for relays get the calls of all users: see [`Front::offer_relays`](crate::Front::offer_relays).
    pub fn with_relays(mut self, proof: Box<str>) -> Home {
        self.proof = Some(proof);
        self
    }

    /// `then` is called with each announcement of a home with a greater term, which the fronts follow.
    pub fn on_successor(mut self, then: impl Fn(Term) + std::marker::Send + Sync + 'static) -> Home {
        self.on_successor = Box::new(then);
        self
    }

    /// The wall clock of the domain, if the times of the links are those of a steady clock. It may jump.
    pub fn with_clock(mut self, clock: impl Fn() -> Timestamp + std::marker::Send + Sync + 'static) -> Home {
        self.clock = Some(Box::new(clock));
        self
    }

    /// `spawn` carries out what would keep the thread of the bus for seconds. By default, it is carried out at once.
    pub fn in_background(mut self, spawn: impl Fn(Work) + std::marker::Send + Sync + 'static) -> Home {
        self.background = Box::new(spawn);
        self
    }

    /// The time of the domain. `now`: the time of the links.
    fn domain_time(&self, now: Timestamp) -> Timestamp {
        self.clock.as_ref().map_or(now, |clock| clock())
    }

    /// Begins to give the role away: no front joins any more, and each front is asked to hold what its sessions say for the next home.
    pub fn leave(&self) {
        let mut state = lock(&self.state);
        state.leaving = Leaving::Answers;
        let leaving = write(&ToFront::Leaving);
        self.links.all().iter().for_each(|(_, link)| lock(&link.ends).out.push(&leaving));
        drop(state);
        (self.links.wake)();
    }

    /// Whether every front has the answers to all that it has sent.
    pub fn has_everything(&self) -> bool {
        self.links.all().iter().all(|(_, link)| link.has_left.load(Ordering::Acquire))
    }

    /// The domain has answered everything: each link ends when its answers are sent. [`Links::status`] shows those that are left.
    pub fn end_links(&self) {
        lock(&self.state).leaving = Leaving::Ends;
        (self.links.wake)();
    }

    /// After [`leave`](Self::leave) and [`end_links`](Self::end_links): the role stays here, and fronts join again.
    pub fn stay(&self, now: Timestamp) {
        let mut state = lock(&self.state);
        state.leaving = Leaving::No;
        // The front of a link that is left still waits for another home.
        for (number, _) in self.links.all() {
            self.break_link(&mut state, number, now);
        }
        drop(state);
        (self.links.wake)();
    }

    pub fn http(&self) -> &str {
        &self.http
    }

    pub fn slot(&self) -> Slot {
        self.links.slot
    }

    pub fn links(&self) -> &Arc<Links> {
        &self.links
    }

    /// Bytes from the subject of the home.
    pub fn receive(&self, bytes: &[u8], now: Timestamp) {
        let counters = &self.links.counters;
        let Some(envelope) = counters.envelope(bytes) else { return };
        if envelope.slot != self.links.slot {
            return counters.envelopes_old.add(1);
        }
        counters.envelopes_received.add(1);
        counters.bytes_received.add(bytes.len() as u64);
        match envelope.kind {
            Kind::Join => self.join(&envelope, now),
            Kind::Data | Kind::Beat => self.receive_on_link(&envelope, now),
            Kind::Announce if envelope.term > self.links.term => {
                // A home that has given its role away expects another one.
                if lock(&self.state).leaving == Leaving::No {
                    (self.on_successor)(envelope.term);
                }
            }
            // Only homes send them.
            Kind::Announce | Kind::Reset => counters.envelopes_old.add(1),
        }
    }

    fn join(&self, envelope: &Envelope<'_>, now: Timestamp) {
        let Ok(join) = serde_json::from_slice::<Join>(envelope.payload) else {
            return self.links.counters.envelopes_unreadable.add(1);
        };
        let mut state = lock(&self.state);
        if state.leaving != Leaving::No {
            return;
        }
        if let Some(number) = state.by_front.get(&envelope.front).copied() {
            if self.links.link(number).is_some_and(|link| link.link >= envelope.link) {
                return self.links.counters.envelopes_old.add(1);
            }
            self.end_link(&mut state, number, now);
        }
        // Its former sessions would pass for newer ones than those that it brings. It asks again soon.
        if lock(&self.releasing).contains(&envelope.front) {
            return;
        }
        if state.by_front.len() >= MOST_LINKS {
            tracing::warn!(front = %join.name, "too many fronts; this one has to wait");
            return;
        }
        let Some(number) = free_number(&state) else { return };
        let mut ends = Ends::new(now);
        ends.out.push(&write(&ToFront::Joined { http: self.http.clone() }));
        ends.out.push(&self.sites());
        let name = join.name.chars().take(100).collect();
        tracing::info!(front = %name, number, "a front has joined");
        let link = Link {
            front: envelope.front,
            link: envelope.link,
            name,
            queue: Mutex::default(),
            ends: Mutex::new(ends),
            has_left: AtomicBool::new(false),
            has_relays: AtomicBool::new(false),
        };
        state.last_number = number;
        state.by_front.insert(envelope.front, number);
        self.links.table.write().unwrap_or_else(PoisonError::into_inner).insert(number, Arc::new(link));
        self.links.counters.links_begun.add(1);
        (self.links.wake)();
    }

    fn sites(&self) -> Vec<u8> {
        write(&ToFront::Sites {
            sites: self.node.published_sites(),
            logs_sign_ins: self.node.logs_sign_ins(),
        })
    }

    fn receive_on_link(&self, envelope: &Envelope<'_>, now: Timestamp) {
        let mut state = lock(&self.state);
        let number = state.by_front.get(&envelope.front).copied();
        let found = number.and_then(|number| Some((number, self.links.link(number)?)));
        let Some((number, link)) =
            found.filter(|(_, link)| link.link == envelope.link && envelope.term == self.links.term)
        else {
            self.links.counters.envelopes_old.add(1);
            if state.resets.len() < MOST_RESETS && !state.resets.contains(&(envelope.front, envelope.link)) {
                state.resets.push((envelope.front, envelope.link));
                (self.links.wake)();
            }
            return;
        };
        let received = lock(&link.ends).receive(envelope, now);
        let Ok(items) = received else {
            self.break_link(&mut state, number, now);
            return;
        };
        // The domain is called without the lock of the links' state, because its outbox may enqueue.
        drop(state);
        for item in items {
            match serde_json::from_slice::<ToHome<'_>>(&item) {
                Ok(item) => self.carry_out(item, number, &link, now),
                Err(error) => {
                    tracing::debug!(%error, front = %link.name, "an item of a front cannot be read");
                    self.links.counters.items_unreadable.add(1);
                }
            }
        }
    }

    fn carry_out(&self, item: ToHome<'_>, front: u8, link: &Link, now: Timestamp) {
        let now = self.domain_time(now);
        let here = |session: SessionId| SessionId { handle: session.handle.of_front(front), ..session };
        match item {
            ToHome::Adopt(mut records) => {
                for record in &mut records {
                    record.session = here(record.session);
                }
                self.links.counters.sessions_adopted.add(records.len() as u64);
                self.node.adopt(records, now);
            }
            ToHome::SignIn { handle, hello, now: sent } => {
                self.node.sign_in(hello, handle.of_front(front), at_home(sent, now));
            }
            ToHome::Command { session, request, again: true, .. } => {
                if let Command::Presence(presence::Command::Watch { contacts, users }) = request.command {
                    self.node.watch_again(here(session), contacts, users, now);
                }
            }
            ToHome::Command { session, request, now: sent, again: false } => {
                self.node.command(here(session), request, at_home(sent, now));
            }
            ToHome::Disconnected { session, on_purpose, now: sent } => {
                self.node.disconnected(here(session), on_purpose, at_home(sent, now));
            }
            ToHome::Behind(session) => self.node.behind(here(session)),
            ToHome::PresenceMissed(session) => self.node.presence_missed(here(session)),
            ToHome::Line { left_ms } => self.node.clients_wait_at_a_front(left_ms, now),
            ToHome::Note(mut note) => {
                note.time_mut().into_iter().for_each(|sent| *sent = at_home(*sent, now));
                self.node.note(&note);
            }
            ToHome::Ask { number, mut question } => {
                question.time_mut().into_iter().for_each(|sent| *sent = at_home(*sent, now));
                let links = Arc::clone(&self.links);
                self.node
                    .answer(question, move |answer| links.enqueue(front, Queued::Answer(number, answer)));
            }
            ToHome::Left => link.has_left.store(true, Ordering::Release),
            ToHome::Relays { proof } if self.is_proof(&proof) => self.send_calls(link),
            ToHome::Relays { .. } => tracing::error!(
                front = %link.name,
                "the relays of a front have another secret, so its members get those of the home: correct its calls.turn_secret_file"
            ),
        }
    }

    /// It takes constant time.
    fn is_proof(&self, shown: &str) -> bool {
        self.proof.as_ref().is_some_and(|proof| proof.as_bytes().ct_eq(shown.as_bytes()).into())
    }

    /// All calls, and from then on each change.
    fn send_calls(&self, link: &Link) {
        let mut queue = lock(&link.queue);
        queue.calls.clear();
        queue.calls_begin = true;
        queue.push_calls();
        drop(queue);
        link.has_relays.store(true, Ordering::Release);
        // A change meanwhile waits for the lock of the table, or its new call is among these.
        self.node.each_in_call(|user, call| _ = link.note_call(user, Some(call)));
        (self.links.wake)();
    }

    /// Ends links that are silent or have a gap. Call it every 100 ms.
    pub fn tick(&self, now: Timestamp) {
        let mut state = lock(&self.state);
        for (number, link) in self.links.all() {
            if lock(&link.ends).is_over(now) {
                tracing::warn!(front = %link.name, "the link of a front is lost");
                self.break_link(&mut state, number, now);
            }
        }
        let version = self.node.sites_version();
        if version != state.sites {
            state.sites = version;
            let sites = self.sites();
            self.links.all().iter().for_each(|(_, link)| lock(&link.ends).out.push(&sites));
        }
        drop(state);
        for session in std::mem::take(&mut *lock(&self.links.orphans)) {
            self.node.disconnected(session, false, self.domain_time(now));
        }
    }

    fn break_link(&self, state: &mut State, number: u8, now: Timestamp) {
        self.links.counters.links_broken.add(1);
        if let Some(link) = self.links.link(number) {
            state.resets.push((link.front, link.link));
        }
        if let Some(front) = self.forget_link(state, number) {
            // A dead front can have some 100,000 sessions. The other links would not outlive a pause of 3 s.
            lock(&self.releasing).insert(front);
            let (node, at) = (Arc::clone(&self.node), self.domain_time(now));
            let releasing = Arc::clone(&self.releasing);
            (self.background)(Box::new(move || {
                node.release_front(number, at);
                lock(&releasing).remove(&front);
            }));
        }
        (self.links.wake)();
    }

    /// The sessions of a front leave the domain. Their presence outlives them by the grace time, in which the front brings them
    /// back.
    fn end_link(&self, state: &mut State, number: u8, now: Timestamp) {
        if self.forget_link(state, number).is_some() {
            self.node.release_front(number, self.domain_time(now));
        }
    }

    fn forget_link(&self, state: &mut State, number: u8) -> Option<FrontId> {
        let link = self.links.table.write().unwrap_or_else(PoisonError::into_inner).remove(&number)?;
        state.by_front.remove(&link.front);
        Some(link.front)
    }

    /// Sends all envelopes that are due.
    pub fn flush(&self, now: Timestamp, send: Send<'_>) {
        let counters = &self.links.counters;
        let mut send = |subject, bytes: Vec<u8>| {
            counters.envelopes_sent.add(1);
            counters.bytes_sent.add(bytes.len() as u64);
            send(subject, bytes);
        };
        let mut state = lock(&self.state);
        let head = Envelope {
            kind: Kind::Announce,
            slot: self.links.slot,
            term: self.links.term,
            front: FrontId(0),
            link: 0,
            number: 0,
            acknowledged: 0,
            payload: &[],
        };
        let leaving = state.leaving;
        if leaving == Leaving::No && now.since(state.announced) >= ANNOUNCE_MS {
            state.announced = now;
            let payload = write(&Announced { http: self.http.clone() });
            send(Subject::Fronts(self.links.slot), Envelope { payload: &payload, ..head.clone() }.write());
        }
        for (front, link) in std::mem::take(&mut state.resets) {
            let reset = Envelope { kind: Kind::Reset, front, link, ..head.clone() };
            send(Subject::Front(front), reset.write());
        }
        drop(state);
        for (number, link) in self.links.all() {
            link.write_queue();
            let mut ends = lock(&link.ends);
            while let Some(due) = ends.due(now) {
                let envelope = Envelope {
                    kind: due.kind,
                    front: link.front,
                    link: link.link,
                    number: due.number,
                    acknowledged: due.acknowledged,
                    payload: &due.payload,
                    ..head.clone()
                };
                send(Subject::Front(link.front), envelope.write());
            }
            let is_written = ends.out.waiting_bytes() == 0;
            drop(ends);
            if leaving == Leaving::Ends && is_written && lock(&link.queue).items.is_empty() {
                let reset =
                    Envelope { kind: Kind::Reset, front: link.front, link: link.link, ..head.clone() };
                send(Subject::Front(link.front), reset.write());
                self.end_link(&mut lock(&self.state), number, now);
            }
        }
    }
}

impl Link {
    /// Returns whether nothing was queued before.
    fn note_call(&self, user: UserId, call: Option<CallId>) -> bool {
        let mut queue = lock(&self.queue);
        let was_empty = queue.items.is_empty();
        queue.calls.insert(user, call);
        queue.push_calls();
        was_empty
    }

    /// Writes queued events, as long as the front keeps up. The queue's lock is not held meanwhile.
    fn write_queue(&self) {
        loop {
            if lock(&self.ends).out.waiting_bytes() >= WRITTEN_BYTES {
                return;
            }
            let mut queue = lock(&self.queue);
            let Some(queued) = queue.items.pop_front() else { return };
            queue.weight -= queued.weight();
            let item = match queued {
                Queued::Deliver(to, delivery) => ToFront::Deliver { to, delivery },
                Queued::DeliverEach(to, deliveries) => ToFront::DeliverEach { to, deliveries },
                Queued::Answer(number, answer) => ToFront::Answer { number, answer },
                Queued::Missed => ToFront::Missed(queue.missed.drain().collect()),
                Queued::Calls => queue.next_calls(),
            };
            drop(queue);
            let bytes = write(&item);
            lock(&self.ends).out.push(&bytes);
        }
    }
}

/// Numbers are used in turns, so that late events for an ended link reach no other.
fn free_number(state: &State) -> Option<u8> {
    let next = |number: u8| if number == u8::MAX { 1 } else { number + 1 };
    let mut number = next(state.last_number);
    for _ in 0..u8::MAX {
        if !state.by_front.values().any(|taken| *taken == number) {
            return Some(number);
        }
        number = next(number);
    }
    None
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
