//! Reactions and votes in large rooms under seeded faults. Processes die at random, and every device ends
//! with the stored counts. `SEED=n cargo test -p chat --test all gathering` runs one seed.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::BTreeMap;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use scene::*;
use store::Sqlite;

/// Members without clients: enough for changes to be gathered.
const CROWD: usize = 52;
const CLIENTS: usize = 4;
const STEPS: usize = 120;
const POLLS: u64 = 6;

/// The displayed state of one message in a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Shown {
    version: u64,
    reactions: Vec<(Reaction, u64)>,
    votes: Vec<u64>,
}

/// The state of a device survives its connections.
struct Client {
    name: String,
    device: Option<Device>,
    position: Option<Position>,
    shown: BTreeMap<u64, Shown>,
}

struct Room {
    scene: Scene,
    id: ConversationId,
    clients: Vec<Client>,
    written: usize,
}

impl Shown {
    fn of(message: &Message) -> Shown {
        let poll = message.rich.as_ref().and_then(|rich| rich.poll.as_ref());
        Shown {
            version: message.version,
            reactions: message.reactions.iter().map(|one| (one.reaction.clone(), one.count)).collect(),
            votes: poll
                .map(|poll| poll.choices.iter().map(|choice| choice.votes).collect())
                .unwrap_or_default(),
        }
    }
}

impl Client {
    fn hear(&mut self, event: Delivery) {
        match event {
            event!(_, Some(position), messages::Message(message)) => {
                self.position = Some(position);
                self.take(&message);
            }
            event!(_, Some(position), messages::Ack { .. }) => self.position = Some(position),
            event!(_, Some(position), messages::Update { message, .. }) => {
                self.position = Some(position);
                self.take(&message);
            }
            event!(_, Some(position), messages::Counts { counts, .. }) => {
                assert!(Some(position) >= self.position);
                self.position = Some(position);
                let Some(known) = self.shown.get_mut(&counts.seq.0) else { return };
                if counts.version > known.version {
                    known.version = counts.version;
                    known.reactions.clone_from(&counts.reactions);
                    known.votes = counts.poll.as_ref().map(|poll| poll.votes.clone()).unwrap_or_default();
                }
            }
            event!(session::Refused(_))
            | event!(session::SendRefused { .. })
            | event!(rooms::MemberCount { .. }) => {}
            other => panic!("nobody asked for {other:?}"),
        }
    }

    fn take_changes(&mut self, changes: &Changes) {
        if changes.reset {
            self.shown.clear();
        }
        for gap in changes.gaps.iter().filter(|gap| gap.forget) {
            self.shown.retain(|seq, _| *seq >= gap.first.0);
        }
        let last = changes.conversations.iter().filter_map(|one| one.last.as_ref());
        changes.messages.iter().chain(&changes.updates).chain(last).for_each(|message| self.take(message));
        self.position = Some(changes.position);
    }

    fn take(&mut self, message: &Message) {
        let known = self.shown.entry(message.seq.0).or_default();
        if known.votes.is_empty() || message.version > known.version {
            *known = Shown::of(message);
        }
    }
}

impl Room {
    fn new() -> Room {
        let mut config = config();
        config.limits.rooms = RoomLimits { members: 0, per_user: 0, owned: 0 };
        let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
        let owner = scene.sign_in("owner", "d");
        let command = Request::new(
            1,
            rooms::Command::Create { name: "R".into(), kind: RoomKind::Public, topic: None, alias: None },
        );
        let id = match scene.ask(&owner, command).as_slice() {
            [event!(messages::Conversation(conversation))] => conversation.id,
            other => panic!("no room: {other:?}"),
        };
        for number in 0..CROWD + CLIENTS {
            let member = scene.sign_in(&format!("m{number}"), "d");
            scene.command(&member, Request::new(2, rooms::Command::Join { to: To::Conversation(id) }));
            scene.leave(&member);
        }
        scene.leave(&owner);
        let client = |number| Client {
            name: format!("m{number}"),
            device: None,
            position: None,
            shown: BTreeMap::new(),
        };
        let mut room = Room { scene, id, clients: (0..CLIENTS).map(client).collect(), written: 0 };
        (0..CLIENTS).for_each(|who| room.connect(who));
        (0..POLLS).for_each(|_| room.ask_poll());
        (0..CLIENTS).for_each(|who| room.receive(who));
        // An acknowledgement does not contain one's own message; a client has it.
        room.clients[0].shown = room.clients[1].shown.clone();
        room
    }

    fn connect(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if client.device.is_none() {
            let device = self.scene.sign_in_from(&client.name, "d", client.position);
            client.take_changes(&device.welcome.changes);
            client.device = Some(device);
        }
    }

    fn ask_poll(&mut self) {
        self.written += 1;
        let choices = vec!["lake".into(), "town".into()];
        let poll = NewPoll { choices, multiple: false, anonymous: false, ends: None };
        let rich = NewRich { poll: Some(poll), ..NewRich::default() }.boxed();
        self.send(0, rich);
    }

    fn send(&mut self, who: usize, rich: Option<Box<NewRich>>) {
        let Some(device) = &self.clients[who].device else { return };
        self.written += 1;
        let (client_id, body) = (format!("w{}", self.written).into(), "words".into());
        let to = To::Conversation(self.id);
        let command = messages::Command::Send {
            client_id,
            to,
            body,
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich,
        };
        self.scene.command(device, command);
    }

    fn change(&mut self, who: usize, seq: u64, change: MessageChange) {
        let Some(device) = &self.clients[who].device else { return };
        let command =
            Request::new(4, messages::Command::Change { conversation: self.id, seq: Seq(seq), change });
        self.scene.command(device, command);
    }

    fn receive(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if let Some(device) = &client.device {
            let events = self.scene.take(device);
            events.into_iter().for_each(|event| client.hear(event));
        }
    }

    fn kill(&mut self) {
        (0..CLIENTS).for_each(|who| self.receive(who));
        self.scene.restart();
        self.clients.iter_mut().for_each(|client| client.device = None);
    }

    /// Repairs all connections and the disk, and waits a few intervals.
    fn calm_down(&mut self) {
        self.scene.store.fail_writes(None);
        for _ in 0..8 {
            for who in 0..CLIENTS {
                self.connect(who);
                self.receive(who);
            }
            self.scene.wait(1_100);
        }
        (0..CLIENTS).for_each(|who| self.receive(who));
    }

    /// Every client shows the stored counts of the polls.
    fn check(&mut self, seed: u64) {
        let shown: usize = self.clients.iter().map(|client| client.shown.len()).sum();
        assert!(shown >= CLIENTS, "SEED={seed}: nobody shows anything");
        let reader = self.clients[0].device.clone().unwrap();
        for seq in 1..=POLLS {
            let to = To::Conversation(self.id);
            let after = Some(Seq(seq - 1));
            let command = Request::new(
                8,
                messages::Command::History { to, before: None, after, thread: None, limit: Some(1) },
            );
            let page = self.scene.ask(&reader, command);
            let [event!(messages::History { messages, .. })] = &page[..] else { panic!("no page: {page:?}") };
            let stored = Shown::of(&messages[0]);
            for client in &self.clients {
                if let Some(shown) = client.shown.get(&seq) {
                    assert_eq!(*shown, stored, "SEED={seed}: {} shows {seq} so", client.name);
                }
            }
        }
    }
}

#[test]
fn counts_converge_despite_crashes() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..60).collect(),
    };
    for seed in seeds {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut room = Room::new();
        for _ in 0..STEPS {
            let who = rng.random_range(0..CLIENTS);
            let seq = rng.random_range(1..=POLLS);
            let reaction = Reaction::parse(["👍", "🎉"][rng.random_range(0..2)]).unwrap();
            match rng.random_range(0..100) {
                0..35 => {
                    let on = rng.random_bool(0.7);
                    room.change(who, seq, MessageChange::React { reaction, on });
                }
                35..55 => room.change(who, seq, MessageChange::Vote(vec![rng.random_range(0..2)])),
                55..65 => room.send(who, None),
                65..75 => room.receive(who),
                75..80 => {
                    room.receive(who);
                    if let Some(device) = room.clients[who].device.take() {
                        room.scene.drop_connection(&device);
                    }
                }
                80..88 => room.connect(who),
                88..94 => room.scene.wait(rng.random_range(1..1_500)),
                94..97 => room.kill(),
                _ => room.scene.store.fail_writes(rng.random_bool(0.3).then_some(StoreError::DiskFull)),
            }
        }
        room.calm_down();
        room.check(seed);
    }
}

#[test]
fn a_vote_survives_a_crash_with_later_positions() {
    let mut room = Room::new();
    room.change(1, 1, MessageChange::Vote(vec![0]));
    room.send(2, None);
    (0..CLIENTS).for_each(|who| room.receive(who));
    assert_eq!(room.clients[3].shown[&1].votes, [0, 0], "it is gathered");
    room.kill();
    room.calm_down();
    for client in &room.clients {
        assert_eq!(client.shown[&1].votes, [1, 0], "{}", client.name);
    }
}

#[test]
fn a_vote_is_published_after_its_voter_has_left() {
    let mut room = Room::new();
    room.change(1, 1, MessageChange::Vote(vec![0]));
    let device = room.clients[1].device.take().unwrap();
    room.scene.command(&device, Request::new(5, rooms::Command::Leave { conversation: room.id }));
    room.scene.wait(1_200);
    room.receive(2);
    assert_eq!(room.clients[2].shown[&1].votes, [1, 0]);
}

#[test]
fn reactions_on_many_messages_cost_a_room_a_few_events_per_second() {
    let mut room = Room::new();
    for seq in 1..=POLLS {
        for on in [true, false, true] {
            let reaction = Reaction::parse("👍").unwrap();
            room.change(1, seq, MessageChange::React { reaction, on });
        }
    }
    let listener = room.clients[2].device.clone().unwrap();
    let mut received = Vec::new();
    for _ in 0..3 {
        room.scene.wait(1_000);
        let counts = |event: &Delivery| matches!(event, event!(messages::Counts { .. }));
        received.push(room.scene.take(&listener).iter().filter(|event| counts(event)).count());
    }
    assert_eq!(received, [4, 2, 0]);
}
