//! Clients on several fronts, homes of two slots that die and move by themselves, a bus that drops, repeats, delays and splits, and stores whose commits fail,
//! against a simple model: no acknowledged message is lost, none is there twice, and each client ends with what the store has: messages, markers,
//! and the presence of the others.
//!
//! `SEED=7 cargo test --workspace --test simulation` repeats one run; `SEEDS=10000` makes more of them.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use chat::session::Event as SessionEvent;
use chat::token::{Claims, sign};
use chat::*;
use cluster::{FrontId, Fronts, Home, HomeOutbox, Links, Subject, Term};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::Sqlite;

const START: u64 = 1_800_000_000_000;
/// The key of the site of each slot.
const SITES: [&str; 2] = ["forum", "club"];
const USERS: [&str; 4] = ["ann", "bob", "cat", "dan"];
const FRONTS: usize = 3;
const SEEDS: u64 = 1_000;

#[test]
fn no_message_is_lost_or_doubled_whatever_the_bus_and_the_nodes_do() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..std::env::var("SEEDS").map_or(SEEDS, |seeds| seeds.parse().unwrap())).collect(),
    };
    let totals = on_all_processors(&seeds);
    eprintln!("{totals:?}");
    if std::env::var("SEED").is_err() {
        assert!(totals.acknowledged > 1_000, "the runs send messages: {totals:?}");
        assert!(totals.adopted > 50, "sessions survive the end of links: {totals:?}");
        assert!(totals.broken > 50, "links end: {totals:?}");
        assert!(totals.answered > 10 * totals.refused, "the end of a link refuses no question: {totals:?}");
        assert!(totals.markers > 100, "members read: {totals:?}");
        assert!(totals.given_away > 20, "homes give their role away: {totals:?}");
        assert!(totals.failures > 20 && totals.unsaved > 20, "commits fail: {totals:?}");
        assert!(totals.moved > 20 && totals.stayed > 10, "fronts move to another process: {totals:?}");
    }
}

/// Each run has one thread, so a seed repeats it.
fn on_all_processors(seeds: &[u64]) -> Totals {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut totals = Totals::default();
        while let Some(seed) = seeds.get(next.fetch_add(1, Relaxed)) {
            match std::panic::catch_unwind(|| World::new(*seed).run()) {
                Ok(run) => totals.add(&run),
                Err(panic) => {
                    eprintln!("the run with SEED={seed} has failed");
                    std::panic::resume_unwind(panic);
                }
            }
        }
        totals
    };
    let mut totals = Totals::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        threads.into_iter().for_each(|thread| totals.add(&thread.join().expect("all runs succeed")));
    });
    totals
}

#[derive(Debug, Default)]
struct Totals {
    acknowledged: usize,
    adopted: u64,
    broken: u64,
    given_away: usize,
    /// Times in which no commit succeeded, and messages that were refused for that.
    failures: usize,
    unsaved: usize,
    /// Fronts that moved to another process, and those whose new process failed.
    moved: usize,
    stayed: usize,
    sign_ins: usize,
    markers: usize,
    /// Questions.
    answered: usize,
    refused: usize,
}

impl Totals {
    fn add(&mut self, other: &Totals) {
        self.acknowledged += other.acknowledged;
        self.adopted += other.adopted;
        self.broken += other.broken;
        self.given_away += other.given_away;
        self.failures += other.failures;
        self.unsaved += other.unsaved;
        self.moved += other.moved;
        self.stayed += other.stayed;
        self.sign_ins += other.sign_ins;
        self.markers += other.markers;
        self.answered += other.answered;
        self.refused += other.refused;
    }
}

/// The events of all sessions of one front, in their order.
#[derive(Default, Clone)]
struct Inbox(Arc<Mutex<VecDeque<(SessionHandle, Delivery)>>>);

impl Outbox for Inbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        let mut events = self.0.lock().unwrap();
        events.extend(to.iter().map(|to| (*to, delivery.clone())));
    }
}

struct FrontNode {
    front: Arc<Fronts>,
    inbox: Inbox,
    /// The bus loses everything from and to this front until then.
    apart_until: u64,
    /// Another process of this front, which is to take its place.
    next: Option<(Arc<Fronts>, Inbox)>,
}

/// An envelope on the bus, which arrives at this time.
struct Flying {
    at: u64,
    to: Subject,
    bytes: Vec<u8>,
}

/// The home of a slot.
struct HomeNode {
    slot: usize,
    store: Arc<Sqlite>,
    home: Home,
    node: Arc<Node>,
    /// It takes nothing until then: it is being restarted.
    until: u64,
    /// No commit succeeds until then.
    fails_until: u64,
    term: u64,
}

struct World {
    rng: StdRng,
    now: u64,
    homes: Vec<HomeNode>,
    fronts: Vec<FrontNode>,
    bus: Vec<Flying>,
    clients: Vec<Client>,
    next_handle: u64,
    next_front: u64,
    next_message: u64,
    /// In parts of 100.
    loss: u32,
    totals: Totals,
}

#[derive(Default)]
struct Log {
    by_seq: BTreeMap<u64, Box<str>>,
}

struct Client {
    /// Of its site.
    slot: usize,
    user: usize,
    device: String,
    /// The front and the handle of its connection.
    link: Option<(usize, SessionHandle)>,
    session: Option<SessionId>,
    position: Option<Position>,
    /// Not acknowledged, in the order of sending.
    unacknowledged: Vec<(Box<str>, usize)>,
    acknowledged: Vec<(Box<str>, ConversationId, u64)>,
    logs: HashMap<ConversationId, Log>,
    /// How far it has read. It sends the markers again after a sign-in and after a refusal without a number.
    read: HashMap<ConversationId, u64>,
    /// How far the user had read when this client has signed in.
    stored_read: HashMap<ConversationId, u64>,
    /// The number of a question without an answer.
    asked: Option<u64>,
    answered: usize,
    refused: usize,
    unsaved: usize,
    tells_markers: bool,
    watches: bool,
    /// The users whom it shows as present.
    present: BTreeSet<String>,
    /// The client waits for changes; events with positions are dropped by its gateway.
    is_behind: bool,
    resumes: bool,
    retry_at: u64,
    next_re: u64,
}

fn node(store: &Arc<Sqlite>, links: &Arc<Links>, seed: u8) -> Arc<Node> {
    let config = NodeConfig {
        limits: Limits::without_rates(),
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 500,
        clock_skew_ms: 60_000,
        calls: CallConfig::default(),
        app_passwords: true,
    };
    let outbox = HomeOutbox::new(Inbox::default(), Arc::clone(links));
    Arc::new(Node::new(config, store.clone(), Arc::new(outbox), [seed; 32]))
}

fn home(slot: usize, store: &Arc<Sqlite>, term: u64) -> (Home, Arc<Node>) {
    let links = Links::new(Slot(slot as u8), Term(term), || ());
    let node = node(store, &links, term as u8);
    (Home::new(links, Arc::clone(&node), "127.0.0.1:1".into()), node)
}

impl HomeNode {
    fn new(slot: usize) -> HomeNode {
        let store = Sqlite::in_memory();
        store.number_sites_in(Slot(slot as u8)).unwrap();
        store.add_site(&site(SITES[slot])).unwrap();
        let store = Arc::new(store);
        let (home, node) = home(slot, &store, 1);
        HomeNode { slot, store, home, node, until: 0, fails_until: 0, term: 1 }
    }

    /// The store can be read meanwhile.
    fn fail_commits_until(&mut self, until: u64, error: StoreError) {
        self.store.fail_writes(Some(error));
        self.fails_until = until;
    }

    /// The next one takes nothing until then.
    fn replace(&mut self, until: u64) {
        self.term += 1;
        (self.home, self.node) = home(self.slot, &self.store, self.term);
        self.until = until;
    }
}

fn secret() -> Secret {
    Secret::new(SecretKind::Hs256, b"a secret of this site".to_vec(), Timestamp(START))
}

fn site(key: &str) -> Site {
    Site {
        id: SiteId(0),
        key: key.into(),
        name: "Forum".into(),
        mode: Mode::Open,
        guests: true,
        origins: vec![],
        secrets: vec![secret()],
        guest_keys: vec![Secret::new(SecretKind::Hs256, b"the key for guests".to_vec(), Timestamp(START))],
        public_url: None,
        domain: None,
        settings: Settings::default(),
        created: Timestamp(START),
    }
}

impl World {
    fn new(seed: u64) -> World {
        let mut rng = StdRng::seed_from_u64(seed);
        let loss = [0, 1, 5, 20][rng.random_range(0..4)];
        let mut world = World {
            homes: (0..SITES.len()).map(HomeNode::new).collect(),
            now: START,
            fronts: Vec::new(),
            bus: Vec::new(),
            clients: Vec::new(),
            next_handle: 1,
            next_front: 1,
            next_message: 1,
            loss,
            totals: Totals::default(),
            rng,
        };
        for _ in 0..FRONTS {
            let front = world.new_front();
            world.fronts.push(front);
        }
        for slot in 0..SITES.len() {
            for (user, name) in USERS.iter().enumerate() {
                for device in 0..=usize::from(user == 0) {
                    world.clients.push(Client::new(slot, user, format!("{name}-{device}")));
                }
            }
        }
        world
    }

    fn new_front(&mut self) -> FrontNode {
        let id = FrontId(self.next_front);
        self.next_front += 1;
        let inbox = Inbox::default();
        let (slots, now) = (SITES.len() as u8, Timestamp(self.now));
        let front = Fronts::new(id, slots, format!("front {}", id.0), inbox.clone(), now, || ());
        FrontNode { front: Arc::new(front), inbox, apart_until: 0, next: None }
    }

    fn run(mut self) -> Totals {
        for _ in 0..300 {
            self.step();
        }
        // The bus and all nodes are well again: everything settles.
        self.loss = 0;
        self.homes.iter_mut().for_each(|home| (home.until, home.fails_until) = (0, 0));
        self.fronts.iter_mut().for_each(|front| front.apart_until = 0);
        for _ in 0..600 {
            self.pass(100);
            if self.is_settled() {
                break;
            }
        }
        // The grace time of presence, and a round.
        for _ in 0..30 {
            self.pass(500);
        }
        self.judge();
        self.judge_markers();
        self.totals
    }

    /// Fresh clients see how far each user has read.
    fn judge_markers(&mut self) {
        let count = self.clients.len();
        for slot in 0..SITES.len() {
            for (user, name) in USERS.iter().enumerate() {
                self.clients.push(Client::new(slot, user, format!("{name}-fresh")));
            }
        }
        for _ in 0..20 {
            self.pass(250);
        }
        let (clients, fresh) = self.clients.split_at(count);
        for fresh in fresh {
            let is_same = |client: &&Client| (client.slot, client.user) == (fresh.slot, fresh.user);
            for client in clients.iter().filter(is_same) {
                for (conversation, read) in &client.read {
                    let stored = fresh.stored_read.get(conversation).copied().unwrap_or_default();
                    assert!(
                        stored >= *read,
                        "{}: {read} in {conversation:?}, stored {stored}",
                        client.device
                    );
                    self.totals.markers += 1;
                }
            }
        }
    }

    fn step(&mut self) {
        match self.rng.random_range(0..100) {
            0..30 => self.send_some(),
            30..32 => self.drop_a_connection(),
            32..34 => self.fall_behind(),
            38..46 => self.read_some(),
            46..52 => self.ask_some(),
            34 if self.rng.random() => self.kill_a_home(),
            34 => self.replace_a_home(),
            35 if self.rng.random() => self.kill_a_front(),
            35 => self.move_a_front(),
            36 if self.rng.random() => {
                let (slot, ms) = (self.rng.random_range(0..SITES.len()), self.rng.random_range(10..4_000));
                let error = match self.rng.random() {
                    true => StoreError::DiskFull,
                    false => StoreError::Failed("the other server is away".into()),
                };
                self.homes[slot].fail_commits_until(self.now + ms, error);
                self.totals.failures += 1;
            }
            36..38 => {
                let (front, ms) = (self.rng.random_range(0..FRONTS), self.rng.random_range(100..8_000));
                self.fronts[front].apart_until = self.now + ms;
            }
            _ => {
                let ms = [5, 20, 100, 400][self.rng.random_range(0..4)];
                self.pass(ms);
            }
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now += ms;
        self.deliver();
        let now = Timestamp(self.now);
        self.homes
            .iter()
            .filter(|home| self.now >= home.fails_until)
            .for_each(|home| home.store.fail_writes(None));
        for place in self.homes.iter().filter(|home| self.now >= home.until) {
            place.home.tick(now);
            place.node.tick(now);
        }
        for node in &self.fronts {
            node.front.tick(now);
            node.next.iter().for_each(|(front, _)| front.tick(now));
        }
        self.flush();
        self.deliver();
        self.flush();
        self.read();
        self.watch_and_mark();
        self.reconnect();
        self.flush();
    }

    fn flush(&mut self) {
        let now = Timestamp(self.now);
        let mut sent: Vec<(Option<usize>, Subject, Vec<u8>)> = Vec::new();
        for place in self.homes.iter().filter(|home| self.now >= home.until) {
            place.home.flush(now, &mut |subject, bytes| sent.push((None, subject, bytes)));
        }
        for (number, node) in self.fronts.iter().enumerate() {
            let both = std::iter::once(&node.front).chain(node.next.iter().map(|(front, _)| front));
            for front in both {
                front.flush(now, &mut |subject, bytes| sent.push((Some(number), subject, bytes)));
            }
        }
        for (from, to, bytes) in sent {
            if from.is_some_and(|from| self.fronts[from].apart_until > self.now) || self.loses() {
                continue;
            }
            let copies = if self.rng.random_range(0..100) < self.loss { 2 } else { 1 };
            for _ in 0..copies {
                // Most keep their order; some are late.
                let late = self.rng.random_range(0..100) < self.loss;
                let delay = if late { self.rng.random_range(0..1_500) } else { 1 };
                self.bus.push(Flying { at: self.now + delay, to, bytes: bytes.clone() });
            }
        }
    }

    fn loses(&mut self) -> bool {
        self.rng.random_range(0..100) < self.loss
    }

    fn deliver(&mut self) {
        let (mut due, later): (Vec<Flying>, Vec<Flying>) =
            std::mem::take(&mut self.bus).into_iter().partition(|flying| flying.at <= self.now);
        self.bus = later;
        due.sort_by_key(|flying| flying.at);
        let now = Timestamp(self.now);
        for Flying { to, bytes, .. } in due {
            match to {
                Subject::Home(slot) => {
                    let place = &self.homes[usize::from(slot.0)];
                    if self.now >= place.until {
                        place.home.receive(&bytes, now);
                    }
                }
                Subject::Fronts(_) | Subject::Front(_) => {
                    for node in &self.fronts {
                        let is_for =
                            matches!(to, Subject::Fronts(_)) || to == Subject::Front(node.front.id());
                        if is_for && node.apart_until <= self.now {
                            node.front.receive(&bytes, now);
                            node.next.iter().for_each(|(front, _)| front.receive(&bytes, now));
                        }
                    }
                }
            }
        }
    }

    fn send_some(&mut self) {
        let from = self.rng.random_range(0..self.clients.len());
        for _ in 0..self.rng.random_range(1..4) {
            let to = self.rng.random_range(0..USERS.len());
            if to == self.clients[from].user {
                continue;
            }
            let id: Box<str> = format!("m{}", self.next_message).into();
            self.next_message += 1;
            self.clients[from].unacknowledged.push((id.clone(), to));
            self.post(from, &id, to);
        }
    }

    fn post(&mut self, from: usize, id: &str, to: usize) {
        let client = &self.clients[from];
        let (Some((front, _)), Some(session)) = (client.link, client.session) else { return };
        let command = messages::Command::Send {
            client_id: id.into(),
            to: To::User(Sub::parse(USERS[to]).unwrap()),
            body: id.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        self.fronts[front].front.command(session, Command::from(command).into(), Timestamp(self.now));
    }

    /// A member reads a conversation to its end.
    fn read_some(&mut self) {
        let who = self.rng.random_range(0..self.clients.len());
        let client = &mut self.clients[who];
        let mut known: Vec<ConversationId> = client.logs.keys().copied().collect();
        if known.is_empty() {
            return;
        }
        known.sort_unstable_by_key(|conversation| conversation.key);
        let conversation = known[self.rng.random_range(0..known.len())];
        let Some(newest) = client.logs[&conversation].by_seq.keys().next_back().copied() else { return };
        client.read.insert(conversation, newest);
        self.tell_marker(who, conversation, newest);
    }

    /// A client asks for a page of the history, one at a time.
    fn ask_some(&mut self) {
        let who = self.rng.random_range(0..self.clients.len());
        let to = To::User(Sub::parse(USERS[(self.clients[who].user + 1) % USERS.len()]).unwrap());
        let client = &mut self.clients[who];
        let (Some((front, _)), Some(session), None) = (client.link, client.session, client.asked) else {
            return;
        };
        client.next_re += 1;
        client.asked = Some(client.next_re);
        let command =
            messages::Command::History { to, before: None, after: None, thread: None, limit: Some(10) };
        let request = Request::new(client.next_re, command);
        self.fronts[front].front.command(session, request, Timestamp(self.now));
    }

    fn tell_marker(&self, who: usize, conversation: ConversationId, read: u64) {
        let client = &self.clients[who];
        let (Some((front, _)), Some(session)) = (client.link, client.session) else { return };
        let command = messages::Command::Mark { conversation, set: MarkerSet::Read(Seq(read)) };
        self.fronts[front].front.command(session, Command::from(command).into(), Timestamp(self.now));
    }

    /// After a sign-in a client watches all others. Nobody can watch a user who has never signed in.
    fn watch_and_mark(&mut self) {
        let all_exist: Vec<bool> =
            (0..SITES.len()).map(|slot| self.of_slot(slot).all(|client| client.position.is_some())).collect();
        for who in 0..self.clients.len() {
            let client = &mut self.clients[who];
            let (Some((front, _)), Some(session)) = (client.link, client.session) else { continue };
            if self.fronts[front].next.is_some() {
                continue;
            }
            if all_exist[client.slot] && !std::mem::replace(&mut client.watches, true) {
                let others = USERS.iter().enumerate().filter(|(user, _)| *user != client.user);
                let users = others.map(|(_, name)| Sub::parse(name).unwrap()).collect();
                let watch = Command::from(presence::Command::Watch { contacts: false, users });
                self.fronts[front].front.command(session, watch.into(), Timestamp(self.now));
            }
            if std::mem::replace(&mut self.clients[who].tells_markers, false) {
                for (conversation, read) in self.clients[who].read.clone() {
                    self.tell_marker(who, conversation, read);
                }
            }
        }
    }

    fn drop_a_connection(&mut self) {
        let who = self.rng.random_range(0..self.clients.len());
        let now = Timestamp(self.now);
        let client = &mut self.clients[who];
        if let (Some((front, _)), Some(session)) = (client.link, client.session) {
            self.fronts[front].front.disconnected(session, false, now);
        }
        client.lose(self.now + 50);
    }

    /// The client reads too slowly, and its gateway drops its queue.
    fn fall_behind(&mut self) {
        let who = self.rng.random_range(0..self.clients.len());
        let client = &mut self.clients[who];
        let (Some((front, handle)), Some(session)) = (client.link, client.session) else { return };
        let node = &self.fronts[front];
        node.inbox.0.lock().unwrap().retain(|(to, delivery)| {
            let is_changes = delivery.event.when_behind() == WhenBehind::End;
            let is_kept = delivery.event.farewell().is_some() || delivery.answered().is_some() && !is_changes;
            *to != handle || is_kept
        });
        client.is_behind = true;
        client.resumes = false;
        node.front.behind(session);
    }

    fn of_slot(&self, slot: usize) -> impl Iterator<Item = &Client> {
        self.clients.iter().filter(move |client| client.slot == slot)
    }

    fn kill_a_home(&mut self) {
        let slot = self.rng.random_range(0..SITES.len());
        self.count_home(slot);
        self.homes[slot].store.crash();
        let until = self.now + self.rng.random_range(0..6_000);
        self.homes[slot].replace(until);
    }

    /// A home gives its role away.
    fn replace_a_home(&mut self) {
        let slot = self.rng.random_range(0..SITES.len());
        self.homes[slot].home.leave();
        for _ in 0..4 {
            self.pass(50);
        }
        self.homes[slot].home.end_links();
        for _ in 0..3 {
            self.pass(20);
        }
        self.count_home(slot);
        self.totals.given_away += 1;
        let until = self.now + self.rng.random_range(0..1_000);
        self.homes[slot].replace(until);
    }

    fn count_home(&mut self, slot: usize) {
        for (name, value) in self.homes[slot].home.links().counters().all() {
            match name {
                "sessions_adopted" => self.totals.adopted += value,
                "links_broken" => self.totals.broken += value,
                _ => {}
            }
        }
    }

    fn kill_a_front(&mut self) {
        let number = self.rng.random_range(0..FRONTS);
        self.fronts[number] = self.new_front();
        for client in &mut self.clients {
            if client.link.is_some_and(|(front, _)| front == number) {
                client.lose(self.now + 200);
            }
        }
    }

    /// A new process takes the connections and the link over, or fails, and then the old one goes on. Meanwhile no client is read.
    fn move_a_front(&mut self) {
        let number = self.rng.random_range(0..FRONTS);
        let node = &mut self.fronts[number];
        let inbox = Inbox::default();
        let now = Timestamp(self.now);
        let slots = SITES.len() as u8;
        let next = Arc::new(Fronts::new(node.front.id(), slots, "next".into(), inbox.clone(), now, || ()));
        next.stand_still(now);
        node.next = Some((Arc::clone(&next), inbox));
        let prepares = self.rng.random_range(1..500);
        self.pass(prepares);
        let now = Timestamp(self.now);
        self.fronts[number].front.stand_still(now);
        self.read();
        let record = serde_json::to_vec(&self.fronts[number].front.write_down()).unwrap();
        let still = [1, 50, 500, 2_000, 4_000][self.rng.random_range(0..5)];
        for _ in 0..10 {
            self.pass(still / 10 + 1);
        }
        let now = Timestamp(self.now);
        let fails = self.rng.random_range(0..3) == 0;
        let node = &mut self.fronts[number];
        let (next, inbox) = node.next.take().unwrap();
        if fails {
            node.front.go_on(now);
            self.totals.stayed += 1;
            return;
        }
        let here = |handle| {
            let of = |client: &&Client| client.link == Some((number, handle)) && client.session.is_some();
            self.clients.iter().find(of).is_some()
        };
        next.resume(serde_json::from_slice(&record).unwrap(), here, now);
        (node.front, node.inbox) = (next, inbox);
        node.front.go_on(now);
        self.totals.moved += 1;
        // Connections that are signing in do not move.
        for client in &mut self.clients {
            if client.session.is_none() && client.link.is_some_and(|(front, _)| front == number) {
                client.lose(self.now + 100);
            }
        }
    }

    fn reconnect(&mut self) {
        for who in 0..self.clients.len() {
            let client = &self.clients[who];
            if client.link.is_some() || client.retry_at > self.now {
                continue;
            }
            let front = self.rng.random_range(0..FRONTS);
            if self.fronts[front].next.is_some() {
                continue;
            }
            let handle = SessionHandle(self.next_handle);
            self.next_handle += 1;
            let client = &mut self.clients[who];
            client.link = Some((front, handle));
            // A connection without an answer ends.
            client.retry_at = self.now + 15_000;
            let claims = Claims {
                sub: USERS[client.user].into(),
                name: Some(USERS[client.user].into()),
                exp: (self.now / 1000 + 3600) as f64,
                ..Claims::default()
            };
            let hello = Hello {
                site_key: SITES[client.slot].into(),
                credential: Credential::Token(sign(&claims, &secret()).unwrap().into()),
                device: DeviceId::parse(&client.device).unwrap(),
                position: client.position,
                origin: None,
                address: None,
                agent: Agent::default(),
                announced: None,
            };
            self.fronts[front].front.sign_in(&hello, handle, Timestamp(self.now));
            self.totals.sign_ins += 1;
        }
        for who in 0..self.clients.len() {
            let client = &mut self.clients[who];
            if client.link.is_some() && client.session.is_none() && client.retry_at <= self.now {
                client.lose(self.now + 100);
            }
        }
    }

    /// The gateways hand all events to their clients.
    fn read(&mut self) {
        for front in 0..FRONTS {
            let events = std::mem::take(&mut *self.fronts[front].inbox.0.lock().unwrap());
            for (handle, delivery) in events {
                let now = Timestamp(self.now);
                let Some(who) = self.clients.iter().position(|client| client.link == Some((front, handle)))
                else {
                    if let Event::Session(SessionEvent::Welcome(welcome)) = delivery.event {
                        self.fronts[front].front.disconnected(welcome.session, false, now);
                    }
                    continue;
                };
                let again = self.clients[who].take(delivery, self.now);
                for (id, to) in again {
                    self.post(who, &id, to);
                }
            }
        }
        for who in 0..self.clients.len() {
            let client = &mut self.clients[who];
            if let (true, false, Some((front, _)), Some(session)) =
                (client.is_behind, client.resumes, client.link, client.session)
            {
                client.resumes = true;
                client.next_re += 1;
                let resume = sign_in::Command::Resume { position: client.position };
                let request = Request::new(client.next_re, resume);
                self.fronts[front].front.command(session, request, Timestamp(self.now));
            }
        }
    }

    fn is_settled(&self) -> bool {
        self.clients
            .iter()
            .all(|client| client.session.is_some() && !client.is_behind && client.unacknowledged.is_empty())
    }

    fn judge(&mut self) {
        (0..SITES.len()).for_each(|slot| self.count_home(slot));
        for client in &self.clients {
            let who = &client.device;
            assert!(client.session.is_some(), "{who} is signed in");
            assert!(client.unacknowledged.is_empty(), "{who} waits: {:?}", client.unacknowledged);
            assert!(!client.is_behind, "{who} is behind");
            assert_eq!(client.asked, None, "{who} has the answer to each question");
            self.totals.answered += client.answered;
            self.totals.refused += client.refused;
            self.totals.unsaved += client.unsaved;
            let others: BTreeSet<String> = USERS.iter().map(|&name| name.to_owned()).collect();
            let others = &others - &BTreeSet::from([USERS[client.user].to_owned()]);
            assert_eq!(client.present, others, "{who} sees everybody");
        }
        let mut truth: BTreeMap<(u32, u64), BTreeMap<u64, Box<str>>> = BTreeMap::new();
        for client in &self.clients {
            for (id, conversation, seq) in &client.acknowledged {
                let log = truth.entry((conversation.site.0, conversation.key)).or_default();
                let before = log.insert(*seq, id.clone());
                assert!(before.is_none_or(|before| before == *id), "two messages have one place");
            }
        }
        for log in truth.values() {
            let ids: BTreeSet<&str> = log.values().map(|id| &**id).collect();
            assert_eq!(ids.len(), log.len(), "no message is there twice");
            assert_eq!(log.len() as u64, *log.keys().next_back().unwrap(), "every seq belongs to a message");
        }
        for client in &self.clients {
            for ((site, key), log) in &truth {
                let id = ConversationId { site: SiteId(*site), key: *key };
                let is_member = id.pair().unwrap().contains(&client.session.unwrap().user);
                let known = client.logs.get(&id).map(|log| &log.by_seq);
                if is_member {
                    let first = known.and_then(|known| known.keys().next().copied()).unwrap_or_default();
                    let log = log.range(first..).map(|(seq, id)| (*seq, id.clone())).collect();
                    assert_eq!(known, Some(&log), "{} has all of {id:?}", client.device);
                } else {
                    assert!(known.is_none(), "{} has nothing of others", client.device);
                }
            }
        }
        self.totals.acknowledged = truth.values().map(BTreeMap::len).sum();
    }
}

impl Client {
    fn new(slot: usize, user: usize, device: String) -> Client {
        Client {
            slot,
            user,
            device,
            link: None,
            session: None,
            position: None,
            unacknowledged: Vec::new(),
            acknowledged: Vec::new(),
            logs: HashMap::new(),
            read: HashMap::new(),
            stored_read: HashMap::new(),
            asked: None,
            answered: 0,
            refused: 0,
            unsaved: 0,
            tells_markers: false,
            watches: false,
            present: BTreeSet::new(),
            is_behind: false,
            resumes: false,
            retry_at: 0,
            next_re: 0,
        }
    }

    fn lose(&mut self, retry_at: u64) {
        (self.link, self.session, self.is_behind, self.resumes) = (None, None, false, false);
        (self.watches, self.tells_markers, self.asked) = (false, true, None);
        self.present.clear();
        self.retry_at = retry_at;
    }

    /// Takes an event. Answers the messages that are sent again.
    fn take(&mut self, delivery: Delivery, now: u64) -> Vec<(Box<str>, usize)> {
        if delivery.event.farewell().is_some() {
            self.lose(now + 100);
            return Vec::new();
        }
        if self.is_behind && delivery.event.when_behind() == WhenBehind::Drop && delivery.answered().is_none()
        {
            return Vec::new();
        }
        if self.asked.is_some() && self.asked == delivery.re {
            self.asked = None;
            match &delivery.event {
                Event::Session(SessionEvent::Refused(_)) => self.refused += 1,
                _ => self.answered += 1,
            }
            return Vec::new();
        }
        match delivery.event {
            Event::Session(SessionEvent::Welcome(welcome)) => {
                self.session = Some(welcome.session);
                assert_eq!(welcome.session.user.site, SiteId((self.slot as u32) << 24 | 1));
                assert_eq!(welcome.session.handle.front(), 0, "handles are the front's own");
                self.take_changes(&welcome.changes);
                let read = welcome.changes.conversations.iter().map(|one| (one.id, one.read.0));
                self.stored_read = read.collect();
                return self.unacknowledged.clone();
            }
            Event::Session(SessionEvent::Changes(changes)) => {
                (self.is_behind, self.resumes) = (false, false);
                self.take_changes(&changes);
            }
            Event::Session(SessionEvent::Behind) => (self.is_behind, self.resumes) = (true, false),
            // A resume that failed is tried again; a message is sent again after the next welcome.
            Event::Session(SessionEvent::Refused(_)) if delivery.re.is_some() => self.resumes = false,
            Event::Session(SessionEvent::Refused(_)) => self.tells_markers = true,
            Event::Presence(presence::Event::Presence { user, presence, .. }) => {
                match presence {
                    Presence::Offline => self.present.remove(user.as_str()),
                    _ => self.present.insert(user.to_string()),
                };
            }
            Event::Session(SessionEvent::SendRefused { .. }) => {
                self.unsaved += 1;
                self.lose(now + 100);
            }
            Event::Messages(messages::Event::Ack { client_id, conversation, seq, .. }) => {
                let Some(at) = self.unacknowledged.iter().position(|(id, _)| *id == client_id) else {
                    let known = (client_id, conversation, seq.0);
                    assert!(self.acknowledged.contains(&known), "an acknowledgement of nothing: {known:?}");
                    if !self.is_behind {
                        self.move_on(delivery.position);
                    }
                    return Vec::new();
                };
                self.unacknowledged.remove(at);
                self.acknowledged.push((client_id.clone(), conversation, seq.0));
                self.note(conversation, seq.0, &client_id);
                if !self.is_behind {
                    self.move_on(delivery.position);
                }
            }
            Event::Messages(messages::Event::Message(message)) => {
                self.move_on(delivery.position);
                let log = self.logs.entry(message.conversation).or_default();
                let newest = log.by_seq.keys().next_back().copied().unwrap_or_default();
                assert!(message.seq.0 <= newest + 1, "{}: {} after {newest}", self.device, message.seq.0);
                self.note(message.conversation, message.seq.0, &message.client_id);
            }
            _ => self.move_on(delivery.position),
        }
        Vec::new()
    }

    fn move_on(&mut self, position: Option<Position>) {
        if let Some(position) = position {
            assert!(self.position.is_none_or(|before| before <= position), "positions never go back");
            self.position = Some(position);
        }
    }

    fn take_changes(&mut self, changes: &Changes) {
        assert!(changes.gaps.is_empty(), "the page is large enough for all");
        if changes.reset {
            self.logs.clear();
            // The client loads what is before the last messages when somebody looks at it.
            for conversation in &changes.conversations {
                if let Some(last) = &conversation.last {
                    self.note(conversation.id, last.seq.0, &last.client_id);
                }
            }
        }
        self.position = Some(changes.position);
        for message in &changes.messages {
            self.note(message.conversation, message.seq.0, &message.client_id);
        }
    }

    /// A message of one's own that comes with others is acknowledged, too.
    fn note(&mut self, conversation: ConversationId, seq: u64, id: &str) {
        if let Some(at) = self.unacknowledged.iter().position(|(one, _)| **one == *id) {
            self.unacknowledged.remove(at);
            self.acknowledged.push((id.into(), conversation, seq));
        }
        let before = self.logs.entry(conversation).or_default().by_seq.insert(seq, id.into());
        assert!(before.is_none_or(|before| *before == *id), "one place, one message");
    }
}
