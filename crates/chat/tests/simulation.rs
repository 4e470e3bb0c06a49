//! Members of a community send, edit, delete, react, mark, drop, reconnect, retry and fall behind at random.
//! The interleaving of the store is random, and the node is killed now and then; all results are compared
//! with the invariants. A failure prints its seed; `SEED=n cargo test -p chat --test all simulation` runs it
//! alone.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use scene::*;
use store::Sqlite;

const USERS: [&str; 5] = ["ann", "bob", "cat", "dan", "eve"];
const DEVICES: [&str; 2] = ["phone", "laptop"];
const STEPS: usize = 500;

#[test]
fn acknowledged_messages_are_kept_once_and_in_order() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..250).collect(),
    };
    for seed in seeds {
        let run = std::panic::catch_unwind(|| Simulation::new(seed, Faults::Network).run());
        assert!(run.is_ok(), "SEED={seed}");
    }
}

#[test]
fn messages_are_kept_once_with_a_full_disk() {
    for seed in 1000..1100 {
        let run = std::panic::catch_unwind(|| Simulation::new(seed, Faults::NetworkAndDisk).run());
        assert!(run.is_ok(), "seed {seed}");
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Faults {
    Network,
    NetworkAndDisk,
}

struct Simulation {
    scene: Scene,
    rng: StdRng,
    faults: Faults,
    clients: Vec<Client>,
    /// By id: every message that a member ever wrote, and whether it was acknowledged.
    written: BTreeMap<String, Written>,
    /// Every state of a message that a client received, by version: equal for all.
    shown: BTreeMap<(ConversationId, u64, u64), Line>,
}

struct Written {
    body: String,
    from: usize,
    acknowledged: Option<(ConversationId, u64)>,
}

/// A widget; its data survives its connections.
struct Client {
    user: usize,
    device: &'static str,
    link: Option<Link>,
    position: Option<Position>,
    logs: BTreeMap<ConversationId, Log>,
    /// Sent and not acknowledged: (id, to, body).
    outbox: Vec<(String, usize, String)>,
    written: usize,
}

/// A connection, with the gateway's part.
struct Link {
    handle: SessionHandle,
    session: Option<SessionId>,
    /// The record that a front keeps in case its node dies.
    record: Option<SessionRecord>,
    /// Events on their way to the client.
    queue: VecDeque<Delivery>,
    /// The gateway dropped the queue, and drops everything with a position before `changes`.
    dropping: bool,
    asked_to_resume: bool,
    closed: bool,
}

/// A conversation in a client: everything from `from` to `newest`.
#[derive(Default, Debug)]
struct Log {
    messages: BTreeMap<u64, Line>,
    newest: u64,
    read: u64,
}

/// A message as a client shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    id: String,
    body: String,
    version: u64,
    is_edited: bool,
    is_deleted: bool,
    /// The users of each reaction.
    reactions: Vec<(String, Vec<String>)>,
    mine: BTreeSet<String>,
}

impl Line {
    fn of(message: &Message) -> Line {
        let names = |users: &[Sub]| users.iter().map(Sub::to_string).collect();
        let reactions = message.reactions.iter().map(|put| (put.reaction.as_str().into(), names(&put.users)));
        let mine = message.reactions.iter().filter(|put| put.mine);
        assert!(message.reactions.iter().all(|put| put.count == put.users.len() as u64));
        assert!(!message.deleted || message.body.is_empty() && message.reactions.is_empty());
        Line {
            id: message.client_id.to_string(),
            body: message.body.to_string(),
            version: message.version,
            is_edited: message.edited.is_some(),
            is_deleted: message.deleted,
            reactions: reactions.collect(),
            mine: mine.map(|put| put.reaction.as_str().into()).collect(),
        }
    }

    /// The fields that are equal for all readers.
    fn public(&self) -> Line {
        Line { mine: BTreeSet::new(), ..self.clone() }
    }
}

impl Simulation {
    fn new(seed: u64, faults: Faults) -> Simulation {
        let mut config = config();
        // Small pages, so that gaps and fresh starts happen.
        config.limits.page = 6;
        let mode = if seed.is_multiple_of(3) { Mode::Contacts } else { Mode::Open };
        let scene = Scene::with(mode, config, Sqlite::by_turns());
        let clients = (0..USERS.len() * DEVICES.len())
            .map(|n| Client {
                user: n / DEVICES.len(),
                device: DEVICES[n % DEVICES.len()],
                link: None,
                position: None,
                logs: BTreeMap::new(),
                outbox: Vec::new(),
                written: 0,
            })
            .collect();
        let rng = StdRng::seed_from_u64(seed);
        Simulation { scene, rng, faults, clients, written: BTreeMap::new(), shown: BTreeMap::new() }
    }

    fn run(mut self) {
        self.meet();
        for _ in 0..STEPS {
            self.step();
        }
        self.calm_down();
        self.check();
    }

    /// All users exist; in mode *contacts* all are contacts.
    fn meet(&mut self) {
        let devices: Vec<Device> = USERS
            .iter()
            .map(|user| {
                let handle = self.scene.hello(Some(&self.scene.token(user)), "first", None);
                self.scene.store.run();
                self.scene.welcomed(handle)
            })
            .collect();
        for (n, device) in devices.iter().enumerate() {
            for other in &USERS[n + 1..] {
                let user = sub(other);
                self.scene.command(
                    device,
                    Request::new(1, contacts::Command::Change { action: ContactAction::Request, user }),
                );
            }
            self.scene.store.run();
            for other in &USERS[..n] {
                let user = sub(other);
                self.scene.command(
                    device,
                    Request::new(1, contacts::Command::Change { action: ContactAction::Accept, user }),
                );
            }
            self.scene.store.run();
        }
        devices.iter().for_each(|device| self.scene.leave(device));
    }

    fn step(&mut self) {
        let who = self.rng.random_range(0..self.clients.len());
        match self.rng.random_range(0..100) {
            0..40 => self.store_turn(),
            40..52 => self.receive(who),
            52..60 => self.connect(who),
            60..66 => self.disconnect(who),
            66..78 => self.write(who),
            78..84 => self.change(who),
            84..88 => self.mark(who),
            88..91 => self.fall_behind(who),
            91..94 => self.retry(who),
            94..96 => self.resume_unasked(who),
            96..99 => {
                let ms = self.rng.random_range(1..3000);
                self.scene.wait(ms);
            }
            _ if self.rng.random_bool(0.5) => match self.rng.random_range(0..3) {
                0 => self.kill(),
                1 => self.move_to_a_new_node(),
                _ => self.lose_the_node(),
            },
            _ if self.faults == Faults::NetworkAndDisk => {
                let full = self.rng.random_bool(0.3).then_some(StoreError::DiskFull);
                self.scene.store.fail_writes(full);
            }
            _ => {}
        }
    }

    fn kill(&mut self) {
        self.scene.restart();
        for client in &mut self.clients {
            client.link = None;
        }
    }

    /// Another node takes over. Links stay, and clients notice nothing.
    fn move_to_a_new_node(&mut self) {
        self.scene.store.run();
        let records = self.scene.node.release(self.scene.now());
        for who in 0..self.clients.len() {
            self.gateway(who);
        }
        self.scene.replace_node();
        self.adopt(&records);
    }

    /// The node dies. The links stay, because another process holds them. That process knows the delivered
    /// positions, and refuses commands without an answer.
    fn lose_the_node(&mut self) {
        self.scene.store.crash();
        let mut records = Vec::new();
        for who in 0..self.clients.len() {
            self.gateway(who);
            let client = &mut self.clients[who];
            let is_sending = !client.outbox.is_empty();
            let Some(link) = client.link.as_mut().filter(|link| !link.closed) else { continue };
            // A hello stays unanswered. Messages keep their order only if the client resends them before new
            // ones.
            let Some(record) = link.record.as_ref().filter(|_| !is_sending) else {
                client.link = None;
                continue;
            };
            records.push(SessionRecord { is_behind: link.dropping, ..record.clone() });
            if link.asked_to_resume {
                link.queue.push_back(from_session(Some(1), session::Event::Refused(Refusal::Unavailable)));
            }
        }
        self.scene.replace_node();
        self.adopt(&records);
    }

    /// Another process has serialized the records. Commands of clients wait meanwhile.
    fn adopt(&mut self, records: &[SessionRecord]) {
        let written = serde_json::to_string(records).unwrap();
        let read: Vec<SessionRecord> = serde_json::from_str(&written).unwrap();
        assert_eq!(read, records);
        self.scene.node.adopt(read, self.scene.now());
    }

    fn store_turn(&mut self) {
        match self.scene.store.turns() {
            0 => {}
            turns => self.scene.store.turn(self.rng.random_range(0..turns)),
        }
    }

    fn connect(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if client.link.as_ref().is_some_and(|link| !link.closed) {
            return;
        }
        let token = self.scene.token(USERS[client.user]);
        let handle = self.scene.hello(Some(&token), client.device, client.position);
        client.link = Some(Link {
            handle,
            session: None,
            record: None,
            queue: VecDeque::new(),
            dropping: false,
            asked_to_resume: false,
            closed: false,
        });
    }

    fn disconnect(&mut self, who: usize) {
        self.gateway(who);
        let on_purpose = self.rng.random_bool(0.3);
        let client = &mut self.clients[who];
        // Before its welcome the gateway does not know the session.
        if let Some(session) = client.link.as_ref().and_then(|link| link.session) {
            self.scene.node.disconnected(session, on_purpose, self.scene.now());
            client.link = None;
        }
    }

    fn write(&mut self, who: usize) {
        let to = self.rng.random_range(0..USERS.len());
        let client = &mut self.clients[who];
        if to == client.user {
            return;
        }
        client.written += 1;
        let id = format!("{}-{}-{:04}", USERS[client.user], client.device, client.written);
        let body = format!("body of {id}");
        client.outbox.push((id.clone(), to, body.clone()));
        let from = client.user;
        self.written.insert(id, Written { body, from, acknowledged: None });
        let last = self.clients[who].outbox.len() - 1;
        self.post(who, last);
    }

    fn retry(&mut self, who: usize) {
        for at in 0..self.clients[who].outbox.len() {
            self.post(who, at);
        }
    }

    fn post(&mut self, who: usize, at: usize) {
        let client = &self.clients[who];
        let (id, to_user, body) = client.outbox[at].clone();
        let Some(session) = client.ready() else { return };
        let command = messages::Command::Send {
            client_id: id.into(),
            to: to(USERS[to_user]),
            body: body.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        self.scene.node.command(session, command.into(), self.scene.now());
    }

    fn mark(&mut self, who: usize) {
        let client = &mut self.clients[who];
        let Some(session) = client.ready() else { return };
        let ids: Vec<ConversationId> = client.logs.keys().copied().collect();
        let Some(conversation) = ids.choose(&mut self.rng).copied() else { return };
        let log = client.logs.get_mut(&conversation).unwrap();
        let read = self.rng.random_range(0..=log.newest);
        log.read = log.read.max(read);
        let command = messages::Command::Mark { conversation, set: MarkerSet::Read(Seq(read)) };
        self.scene.node.command(session, command.into(), self.scene.now());
    }

    /// Changes a message that the client shows. A lost change is not repeated.
    fn change(&mut self, who: usize) {
        let client = &self.clients[who];
        let Some(session) = client.ready() else { return };
        let known = client.logs.iter().flat_map(|(id, log)| log.messages.iter().map(move |line| (*id, line)));
        let known: Vec<(ConversationId, u64, bool)> =
            known.map(|(id, (seq, line))| (id, *seq, self.written[&line.id].from == client.user)).collect();
        // Mostly recent ones, as people do, so that changes of one message meet.
        let known = &known[known.len().saturating_sub(6)..];
        let Some((conversation, seq, is_own)) = known.choose(&mut self.rng).copied() else { return };
        let reaction = Reaction::parse(["👍", ":party:", "❤️"].choose(&mut self.rng).unwrap()).unwrap();
        let change = match self.rng.random_range(0..10) {
            0..3 if is_own => MessageChange::edit(format!("edit {}", self.rng.random::<u16>())),
            3 if is_own => MessageChange::Delete,
            4 => MessageChange::Pin(self.rng.random_bool(0.7)),
            _ => MessageChange::React { reaction, on: self.rng.random_bool(0.7) },
        };
        let command = Request::new(4, messages::Command::Change { conversation, seq: Seq(seq), change });
        self.scene.node.command(session, command, self.scene.now());
    }

    /// The gateway drops its queue for the client, and notifies both sides.
    fn fall_behind(&mut self, who: usize) {
        self.gateway(who);
        let client = &mut self.clients[who];
        let Some(session) = client.ready() else { return };
        let link = client.link.as_mut().unwrap();
        link.queue.clear();
        link.queue.push_back(from_session(None, session::Event::Behind));
        link.dropping = true;
        link.asked_to_resume = false;
        self.scene.node.behind(session);
    }

    fn resume_unasked(&mut self, who: usize) {
        if self.clients[who].ready().is_some() {
            self.resume(who);
        }
    }

    fn resume(&mut self, who: usize) {
        let client = &mut self.clients[who];
        let Some(link) = client.link.as_mut() else { return };
        if link.asked_to_resume {
            return;
        }
        link.asked_to_resume = true;
        let command = Request::new(1, sign_in::Command::Resume { position: client.position });
        self.scene.node.command(link.session.unwrap(), command, self.scene.now());
    }

    /// Moves events of the node into the link's queue, like a gateway.
    fn gateway(&mut self, who: usize) {
        let Some(link) = self.clients[who].link.as_mut() else { return };
        for event in self.scene.inbox.take(link.handle) {
            match &event {
                event!(session::Welcome(welcome)) => {
                    link.session = Some(welcome.session);
                    link.record = Some(welcome.record.clone());
                }
                event!(session::Changes(_)) => link.dropping = false,
                event!(session::Behind) => link.dropping = true,
                event!(messages::Ack { .. })
                | event!(messages::Message(_))
                | event!(messages::Update { .. })
                | event!(messages::Counts { .. })
                | event!(messages::Marker { .. })
                    if link.dropping =>
                {
                    continue;
                }
                _ => {}
            }
            if let Some(record) = &mut link.record {
                record.delivered(&event);
            }
            link.queue.push_back(event);
        }
    }

    /// The client reads some of the queued events.
    fn receive(&mut self, who: usize) {
        self.gateway(who);
        let some = self.rng.random_range(1..8);
        for _ in 0..some {
            let Some(event) = self.clients[who].link.as_mut().and_then(|link| link.queue.pop_front()) else {
                return;
            };
            self.hear(who, event);
        }
    }

    fn hear(&mut self, who: usize, event: Delivery) {
        self.note(&event);
        let client = &mut self.clients[who];
        match event {
            event!(session::Welcome(welcome)) => {
                client.take_changes(&welcome.changes);
                self.retry(who);
            }
            event!(session::Changes(changes)) => {
                client.link.as_mut().unwrap().asked_to_resume = false;
                client.take_changes(&changes);
                self.retry(who);
            }
            event!(_, Some(position), messages::Message(message)) => {
                client.move_on(position);
                client.take_message(&message, Nearness::Next);
            }
            event!(_, Some(position), messages::Ack { client_id, conversation, seq, .. }) => {
                self.acknowledged(who, &client_id, conversation, seq.0, position);
            }
            event!(_, Some(position), messages::Update { message, by, .. }) => {
                client.move_on(position);
                client.take_update(&message, by.as_str() == USERS[client.user]);
            }
            event!(_, Some(position), messages::Counts { counts, by, .. }) => {
                client.move_on(position);
                client.take_counts(&counts, by.as_deref());
            }
            event!(Some(4), session::Refused(refusal)) => {
                use Refusal::{NoSuchMessage, RateLimited, Unavailable};
                assert!(matches!(refusal, NoSuchMessage | RateLimited { .. } | Unavailable), "{refusal}");
            }
            event!(session::SendRefused { client_id, refusal }) => match refusal {
                Refusal::Unavailable | Refusal::RateLimited { .. } => {}
                other => panic!("{client_id} refused: {other}"),
            },
            event!(_, Some(position), messages::Marker { conversation, user, read, unread, .. }) => {
                client.move_on(position);
                if user.as_str() == USERS[client.user] {
                    let log = client.logs.entry(conversation).or_default();
                    log.read = log.read.max(read.0);
                    assert!(unread.is_some());
                } else {
                    assert_eq!(unread, None, "nobody learns another's unread count");
                }
            }
            event!(session::Behind) => self.resume(who),
            event!(Some(1), session::Refused(_)) => {
                // A resume failed, or another one was pending.
                client.link.as_mut().unwrap().asked_to_resume = false;
                self.resume(who);
            }
            event!(None, session::Refused(Refusal::Unavailable)) => {}
            event!(session::Bye(refusal)) => {
                assert!(matches!(refusal, Refusal::Replaced | Refusal::Unavailable), "{refusal}");
                client.link.as_mut().unwrap().closed = true;
            }
            other => panic!("nobody asked for {other:?}"),
        }
    }

    /// All readers of a version of a message see equal fields.
    fn note(&mut self, event: &Delivery) {
        let messages: Vec<Arc<Message>> = match event {
            event!(messages::Update { message, .. }) | event!(messages::Message(message)) => {
                vec![message.clone()]
            }
            event!(session::Welcome(welcome)) => all_of(&welcome.changes),
            event!(session::Changes(changes)) => all_of(changes),
            event!(messages::History { messages, .. }) => messages.clone(),
            _ => return,
        };
        for message in messages {
            let line = Line::of(&message).public();
            let key = (message.conversation, message.seq.0, message.version);
            assert_eq!(self.shown.entry(key).or_insert(line.clone()), &line);
        }
    }

    fn acknowledged(&mut self, who: usize, id: &str, conversation: ConversationId, seq: u64, at: Position) {
        let client = &mut self.clients[who];
        let written = self.written.get_mut(id).expect("only what was written is acknowledged");
        match written.acknowledged {
            Some(before) => assert_eq!(before, (conversation, seq), "the same answer as then"),
            None => written.acknowledged = Some((conversation, seq)),
        }
        if let Some(index) = client.outbox.iter().position(|(unacknowledged, ..)| unacknowledged == id) {
            client.outbox.remove(index);
        }
        client.move_on(at);
        let log = client.logs.entry(conversation).or_default();
        // A repeated send gets the first seq; the answer to a first send is a new message.
        if seq > log.newest {
            let message = Message {
                conversation,
                seq: Seq(seq),
                from: sub(USERS[written.from]),
                to: None,
                kind: MessageKind::Text,
                client_id: id.into(),
                body: written.body.as_str().into(),
                extension: None,
                position: 0,
                time: Timestamp(0),
                reply_to: None,
                version: 0,
                edited: None,
                deleted: false,
                pinned: false,
                reactions: vec![],
                files: vec![],
                rich: None,
            };
            client.take_message(&message, Nearness::Next);
        }
    }

    /// Faults end: every client connects, retries and reads everything.
    fn calm_down(&mut self) {
        self.scene.store.fail_writes(None);
        for _ in 0..20 {
            self.scene.store.run();
            for who in 0..self.clients.len() {
                self.receive_all(who);
                self.connect(who);
                self.scene.store.run();
                self.receive_all(who);
                self.retry(who);
                self.mark_again(who);
                self.scene.store.run();
                self.receive_all(who);
            }
        }
    }

    /// A marker may have been sent in a session that had ended: markers get no answer.
    fn mark_again(&mut self, who: usize) {
        let client = &self.clients[who];
        let Some(session) = client.ready() else { return };
        for (&conversation, log) in &client.logs {
            let command = messages::Command::Mark { conversation, set: MarkerSet::Read(Seq(log.read)) };
            self.scene.node.command(session, command.into(), self.scene.now());
        }
    }

    fn receive_all(&mut self, who: usize) {
        self.gateway(who);
        while self.clients[who].link.as_ref().is_some_and(|link| !link.queue.is_empty()) {
            self.receive(who);
        }
    }

    fn check(&mut self) {
        let truth = self.truth();
        let mut stored = BTreeSet::new();
        for (conversation, log) in &truth {
            assert!(log.messages.keys().copied().eq(1..=log.newest), "no gap in {conversation:?}");
            for (seq, line) in &log.messages {
                let id = &line.id;
                assert!(stored.insert(id.clone()), "{id} is there twice");
                let written = &self.written[id];
                if !line.is_edited && !line.is_deleted {
                    assert_eq!(line.body, written.body);
                }
                let shown = self.shown.range((*conversation, *seq, 0)..=(*conversation, *seq, u64::MAX));
                let newest = shown.last().map_or(0, |((.., version), _)| *version);
                assert_eq!(line.version, newest, "{id}: a change that was told is stored");
                if let Some(acknowledged) = written.acknowledged {
                    assert_eq!(acknowledged, (*conversation, *seq), "{id}");
                }
            }
            self.check_order(log);
        }
        for (id, written) in &self.written {
            assert!(written.acknowledged.is_none() || stored.contains(id), "{id} was lost");
            assert!(written.acknowledged.is_some(), "{id} was never acknowledged, although all calmed down");
        }
        for client in &self.clients {
            client.check(&truth);
        }
        self.check_unread();
    }

    /// Both devices of a user and the server have the same counts, and every list is complete.
    fn check_unread(&self) {
        for client in &self.clients {
            let link = client.link.as_ref().expect("all are connected");
            let command = Request::new(
                3,
                messages::Command::ListConversations {
                    list: ConversationList::Main,
                    page: PageOf::default(),
                },
            );
            self.scene.node.command(link.session.unwrap(), command, self.scene.now());
            self.scene.store.run();
            let list = self.scene.inbox.take(link.handle);
            let [event!(messages::Conversations { conversations, next: None, .. })] = &list[..] else {
                panic!("{list:?}")
            };
            for conversation in conversations {
                let log = &client.logs[&conversation.id];
                assert_eq!(
                    conversation.unread,
                    log.newest - log.read,
                    "{} {}",
                    USERS[client.user],
                    client.device
                );
            }
            assert_eq!(conversations.len(), client.logs.len());
        }
    }

    /// The messages of one device in a conversation keep their order, unless the disk refused some.
    fn check_order(&self, log: &Log) {
        if self.faults == Faults::NetworkAndDisk {
            return;
        }
        let mut last_by_device: BTreeMap<&str, &str> = BTreeMap::new();
        for line in log.messages.values() {
            let (device, number) = line.id.rsplit_once('-').unwrap();
            if let Some(before) = last_by_device.insert(device, number) {
                assert!(before < number, "{device}: {before} comes after {number}");
            }
        }
    }

    /// The stored messages, read page by page through the node.
    fn truth(&mut self) -> BTreeMap<ConversationId, Log> {
        let mut truth: BTreeMap<ConversationId, Log> = BTreeMap::new();
        for who in 0..self.clients.len() {
            let link = self.clients[who].link.as_ref().expect("all are connected");
            let (session, handle) = (link.session.unwrap(), link.handle);
            let me = USERS[self.clients[who].user];
            for other in USERS.into_iter().filter(|other| *other != me) {
                let mut after = 0;
                loop {
                    let command = Request::new(
                        2,
                        messages::Command::History {
                            to: to(other),
                            before: None,
                            after: Some(Seq(after)),
                            thread: None,
                            limit: None,
                        },
                    );
                    self.scene.node.command(session, command, self.scene.now());
                    self.scene.store.run();
                    let page = self.scene.inbox.take(handle);
                    page.iter().for_each(|event| self.note(event));
                    let [event!(messages::History { conversation: Some(conversation), messages, more, .. })] =
                        &page[..]
                    else {
                        panic!("{page:?}")
                    };
                    for message in messages {
                        let log = truth.entry(*conversation).or_default();
                        log.newest = log.newest.max(message.seq.0);
                        after = message.seq.0;
                        let line = Line::of(message).public();
                        assert_eq!(log.messages.entry(after).or_insert(line.clone()), &line);
                    }
                    if !more {
                        break;
                    }
                }
            }
        }
        truth
    }
}

fn all_of(changes: &Changes) -> Vec<Arc<Message>> {
    let last = changes.conversations.iter().filter_map(|conversation| conversation.last.clone());
    changes.messages.iter().chain(&changes.updates).cloned().chain(last).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Nearness {
    /// No message may be missing between the known ones and this one.
    Next,
    /// The server has announced a gap, or a first page.
    AfterGap,
}

impl Client {
    /// The session, once the client has read its welcome.
    fn ready(&self) -> Option<SessionId> {
        let link = self.link.as_ref().filter(|link| !link.closed)?;
        let unread_welcome = link.queue.iter().any(|event| matches!(event, event!(session::Welcome(_))));
        link.session.filter(|_| !unread_welcome)
    }

    fn move_on(&mut self, position: Position) {
        let before = self.position.expect("a welcome came first");
        assert!(position >= before, "{}: {position:?} after {before:?}", USERS[self.user]);
        self.position = Some(position);
    }

    fn take_changes(&mut self, changes: &Changes) {
        if changes.reset {
            self.logs.clear();
        } else if let Some(before) = self.position {
            assert!(changes.position >= before);
        }
        self.position = Some(changes.position);
        let gaps: BTreeSet<ConversationId> = changes.gaps.iter().map(|gap| gap.conversation).collect();
        for gap in changes.gaps.iter().filter(|gap| gap.forget) {
            self.logs.entry(gap.conversation).or_default().messages.clear();
        }
        for message in &changes.messages {
            let first = gaps.contains(&message.conversation)
                && changes
                    .gaps
                    .iter()
                    .any(|gap| (gap.conversation, gap.first) == (message.conversation, message.seq));
            self.take_message(message, if first { Nearness::AfterGap } else { Nearness::Next });
        }
        for message in &changes.updates {
            self.take_update(message, true);
        }
        for conversation in &changes.conversations {
            if let Some(last) = &conversation.last {
                let fresh = changes.reset || gaps.contains(&conversation.id);
                self.take_message(last, if fresh { Nearness::AfterGap } else { Nearness::Next });
            }
            let log = self.logs.entry(conversation.id).or_default();
            log.read = log.read.max(conversation.read.0);
            assert_eq!(conversation.unread, log.newest - conversation.read.0);
        }
    }

    fn take_message(&mut self, message: &Message, nearness: Nearness) {
        let me = sub(USERS[self.user]);
        let log = self.logs.entry(message.conversation).or_default();
        let seq = message.seq.0;
        let line = Line::of(message);
        assert!(
            nearness == Nearness::AfterGap || seq <= log.newest + 1,
            "{}: {seq} of {:?} after {}",
            USERS[self.user],
            message.conversation,
            log.newest
        );
        let known = log.messages.entry(seq).or_insert(line.clone());
        assert_eq!(known.id, line.id, "one place, one message");
        if line.version > known.version {
            *known = line;
        }
        log.newest = log.newest.max(seq);
        if message.from == me {
            log.read = log.read.max(seq);
        }
    }

    /// Replaces the known message. Changes of others do not contain one's own reactions.
    fn take_update(&mut self, message: &Message, mine_is_right: bool) {
        let log = self.logs.get_mut(&message.conversation);
        let Some(known) = log.and_then(|log| log.messages.get_mut(&message.seq.0)) else { return };
        if message.version > known.version {
            let mut line = Line::of(message);
            if !mine_is_right {
                assert!(line.mine.is_empty(), "nobody is told what is another's");
                let left = |reaction: &&String| line.reactions.iter().any(|(one, _)| one == *reaction);
                line.mine = known.mine.iter().filter(left).cloned().collect();
            }
            *known = line;
        }
    }

    fn take_counts(&mut self, counts: &Counts, by: Option<&CountedBy>) {
        let log = self.logs.get_mut(&counts.conversation);
        let Some(known) = log.and_then(|log| log.messages.get_mut(&counts.seq.0)) else { return };
        if counts.version <= known.version {
            return;
        }
        let by = by.expect("two members hear each reaction");
        let (put, on, all) = match &by.what {
            Counted::Reaction { reaction, on, all } => (reaction, on, all),
            // The model has no pins.
            Counted::Unpin => {
                known.version = counts.version;
                return;
            }
            other => panic!("nobody votes: {other:?}"),
        };
        assert_eq!(all.contains(put), *on, "all reactions of the user have the change");
        let mut reactions = Vec::new();
        for (reaction, count) in &counts.reactions {
            let old = known.reactions.iter().find(|(one, _)| one == reaction.as_str());
            let mut users = old.map(|(_, users)| users.clone()).unwrap_or_default();
            if reaction == put {
                users.retain(|user| user != by.user.as_str());
                users.extend(on.then(|| by.user.to_string()));
            }
            assert_eq!(*count, users.len() as u64, "{counts:?} after {known:?}");
            reactions.push((reaction.as_str().to_owned(), users));
        }
        known.reactions = reactions;
        known.version = counts.version;
        if by.user.as_str() == USERS[self.user] {
            match on {
                true => known.mine.insert(put.as_str().into()),
                false => known.mine.remove(put.as_str()),
            };
        }
    }

    fn check(&self, truth: &BTreeMap<ConversationId, Log>) {
        let name = format!("{} {}", USERS[self.user], self.device);
        for (conversation, log) in &self.logs {
            let known = &truth[conversation];
            assert_eq!(log.newest, known.newest, "{name} is up to date in {conversation:?}");
            for (seq, line) in &log.messages {
                assert_eq!(line.public(), known.messages[seq], "{name}");
                let mine = line
                    .reactions
                    .iter()
                    .filter(|(_, users)| users.iter().any(|user| user == USERS[self.user]));
                let mine: BTreeSet<String> = mine.map(|(reaction, _)| reaction.clone()).collect();
                assert_eq!(mine, line.mine, "{name}: {line:?}");
            }
        }
        assert!(self.outbox.is_empty(), "{name} has nothing left to send: {:?}", self.outbox);
    }
}

fn from_session(re: Option<u64>, event: session::Event) -> Delivery {
    Delivery { re, position: None, event: Event::Session(event) }
}
