//! A user gets another id in thousands of messages, under seeded faults. Connected, returning and new devices
//! end with the same state of each message. `SEED=n cargo test -p chat --test all renaming` runs one seed.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::BTreeMap;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use scene::*;

const CLIENTS: usize = 4;
const STEPS: usize = 160;
/// Messages of the renamed user: several slices.
const WRITTEN: u64 = 130;

/// The displayed state of one message in a client.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shown {
    from: String,
    body: String,
    deleted: bool,
    reacted: Vec<String>,
}

#[derive(Default)]
struct Client {
    name: String,
    device: Option<Device>,
    position: Option<Position>,
    shown: BTreeMap<u64, (u64, Shown)>,
    renamed: usize,
}

struct Room {
    scene: Scene,
    id: ConversationId,
    clients: Vec<Client>,
    written: usize,
}

impl Shown {
    fn of(message: &Message) -> Shown {
        let users = message.reactions.iter().flat_map(|one| &one.users);
        Shown {
            from: message.from.to_string(),
            body: message.body.to_string(),
            deleted: message.deleted,
            reacted: users.map(Sub::to_string).collect(),
        }
    }

    fn rename(&mut self, Renamed { former, now, erased }: &Renamed) {
        let (former, now) = (former.as_str(), now.sub.as_str());
        self.reacted.iter_mut().filter(|user| *user == former).for_each(|user| *user = now.into());
        if self.from == former {
            self.from = now.into();
            if *erased {
                self.body.clear();
                self.reacted.clear();
                self.deleted = true;
            }
        }
    }
}

impl Client {
    fn hear(&mut self, event: Delivery) {
        match event {
            event!(_, Some(position), messages::Message(message))
            | event!(_, Some(position), messages::Update { message, .. }) => {
                self.position = Some(position);
                self.take(&message);
            }
            event!(_, Some(position), account::Renamed(renamed)) => {
                assert!(Some(position) > self.position, "{position:?} after {:?}", self.position);
                self.position = Some(position);
                self.rename(&renamed);
            }
            event!(_, Some(position), messages::Ack { .. })
            | event!(_, Some(position), messages::Counts { .. }) => self.position = Some(position),
            event!(messages::History { messages, .. }) => {
                messages.iter().for_each(|message| self.take(message))
            }
            event!(session::Refused(_))
            | event!(session::SendRefused { .. })
            | event!(rooms::MemberCount { .. }) => {}
            other => panic!("nobody asked for {other:?}"),
        }
    }

    fn rename(&mut self, renamed: &Renamed) {
        self.renamed += 1;
        self.shown.values_mut().for_each(|(_, shown)| shown.rename(renamed));
    }

    fn take_changes(&mut self, changes: &Changes) {
        if changes.reset {
            self.shown.clear();
        }
        for gap in changes.gaps.iter().filter(|gap| gap.forget) {
            self.shown.retain(|seq, _| *seq >= gap.first.0);
        }
        changes.renamed.iter().for_each(|renamed| self.rename(renamed));
        let last = changes.conversations.iter().filter_map(|one| one.last.as_ref());
        changes.messages.iter().chain(&changes.updates).chain(last).for_each(|message| self.take(message));
        self.position = Some(changes.position);
    }

    fn take(&mut self, message: &Message) {
        let known = self.shown.get(&message.seq.0);
        if known.is_none_or(|(version, _)| message.version > *version) {
            self.shown.insert(message.seq.0, (message.version, Shown::of(message)));
        }
    }
}

impl Room {
    /// `tom` and others write, and he reacts to their messages; then every device loads pages.
    fn new(written: u64) -> Room {
        let scene = Scene::new(Mode::Open);
        let tom = scene.sign_in("tom", "d");
        let command = Request::new(
            1,
            rooms::Command::Create { name: "R".into(), kind: RoomKind::Public, topic: None, alias: None },
        );
        let id = match scene.ask(&tom, command).as_slice() {
            [event!(messages::Conversation(conversation))] => conversation.id,
            other => panic!("no room: {other:?}"),
        };
        let client = |number| Client { name: format!("m{number}"), ..Client::default() };
        let mut room = Room { scene, id, clients: (0..CLIENTS).map(client).collect(), written: 0 };
        for who in 0..CLIENTS {
            room.connect(who);
            let device = room.clients[who].device.clone().unwrap();
            room.scene.command(&device, Request::new(2, rooms::Command::Join { to: To::Conversation(id) }));
            room.scene.take(&device);
        }
        for number in 0..written {
            room.scene.send(&tom, To::Conversation(id), &format!("t{number}"), "words of tom");
        }
        for who in 0..CLIENTS {
            room.send(who);
            let change = MessageChange::React { reaction: Reaction::parse("👍").unwrap(), on: true };
            let seq = Seq(written + who as u64 + 1);
            room.scene
                .command(&tom, Request::new(4, messages::Command::Change { conversation: id, seq, change }));
        }
        (0..CLIENTS).for_each(|who| {
            room.receive(who);
            // An acknowledgement does not contain one's own message.
            room.clients[who].shown.clear();
            for page in 0..4 {
                room.load(who, Seq(page * 50));
            }
        });
        room.scene.leave(&tom);
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

    fn send(&mut self, who: usize) {
        let Some(device) = &self.clients[who].device else { return };
        self.written += 1;
        self.scene.send(device, To::Conversation(self.id), &format!("w{}", self.written), "other words");
    }

    fn load(&mut self, who: usize, after: Seq) {
        let Some(device) = &self.clients[who].device else { return };
        let to = To::Conversation(self.id);
        let command = Request::new(
            8,
            messages::Command::History {
                to,
                before: None,
                after: Some(after),
                thread: None,
                limit: Some(50),
            },
        );
        self.scene.command(device, command);
        self.receive(who);
    }

    fn receive(&mut self, who: usize) {
        let client = &mut self.clients[who];
        if let Some(device) = &client.device {
            self.scene.take(device).into_iter().for_each(|event| client.hear(event));
        }
    }

    fn erase(&self, messages: MessagesAfterErasure) {
        let done = |outcome: Result<(), Refusal>| outcome.unwrap();
        self.scene.node.erase(
            &Caller::Site(SiteId(1)),
            sub("tom"),
            messages,
            self.scene.now(),
            Box::new(done),
        );
    }

    fn kill(&mut self) {
        (0..CLIENTS).for_each(|who| self.receive(who));
        self.scene.restart();
        self.clients.iter_mut().for_each(|client| client.device = None);
    }

    fn calm_down(&mut self) {
        for _ in 0..6 {
            for who in 0..CLIENTS {
                self.connect(who);
                self.receive(who);
            }
            self.scene.wait(1_100);
        }
        (0..CLIENTS).for_each(|who| self.receive(who));
    }

    fn stored(&mut self) -> BTreeMap<u64, Shown> {
        let mut fresh = Client { name: "m0".into(), ..Client::default() };
        let device = self.scene.sign_in("m0", "fresh");
        fresh.device = Some(device);
        self.clients.push(fresh);
        let last = self.clients.len() - 1;
        for page in 0..6 {
            self.load(last, Seq(page * 50));
        }
        let fresh = self.clients.pop().unwrap();
        fresh.shown.into_iter().map(|(seq, (_, shown))| (seq, shown)).collect()
    }

    fn check(&mut self, seed: u64) {
        let stored = self.stored();
        assert!(stored.values().all(|shown| shown.from != "tom" && !shown.reacted.contains(&"tom".into())));
        for client in &self.clients {
            assert!(!client.shown.is_empty(), "SEED={seed}: {} shows nothing", client.name);
            for (seq, (_, shown)) in &client.shown {
                assert_eq!(Some(shown), stored.get(seq), "SEED={seed}: {} shows {seq} so", client.name);
            }
        }
    }
}

#[test]
fn clients_converge_despite_crashes() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (0..40).collect(),
    };
    for seed in seeds {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut room = Room::new(WRITTEN);
        let messages = if seed % 2 == 0 { MessagesAfterErasure::Erased } else { MessagesAfterErasure::Kept };
        let begins = rng.random_range(0..STEPS / 2);
        for step in 0..STEPS {
            if step == begins {
                room.erase(messages);
            }
            let who = rng.random_range(0..CLIENTS);
            match rng.random_range(0..100) {
                0..20 => room.send(who),
                20..35 => room.receive(who),
                35..50 => {
                    room.receive(who);
                    if let Some(device) = room.clients[who].device.take() {
                        room.scene.drop_connection(&device);
                    }
                }
                50..68 => room.connect(who),
                68..78 => room.load(who, Seq(rng.random_range(0..200))),
                78..97 => room.scene.wait(100),
                _ => room.kill(),
            }
        }
        room.calm_down();
        room.check(seed);
    }
}

#[test]
fn a_device_that_was_away_gets_the_new_author_by_version() {
    for messages in [MessagesAfterErasure::Kept, MessagesAfterErasure::Erased] {
        let mut room = Room::new(20);
        let device = room.clients[1].device.take().unwrap();
        room.scene.drop_connection(&device);
        room.erase(messages);
        room.scene.wait(3_000);
        room.connect(1);
        let changes = &room.clients[1].device.as_ref().unwrap().welcome.changes;
        assert!(changes.renamed.is_empty() && !changes.reset, "all versions are there: {changes:?}");
        assert!(changes.updates.len() >= 20 && changes.updates.iter().all(|one| one.version > 0));
        (0..CLIENTS).for_each(|who| room.receive(who));
        room.check(0);
    }
}

#[test]
fn a_member_with_many_messages_costs_each_device_one_event() {
    let mut room = Room::new(1_000);
    room.erase(MessagesAfterErasure::Erased);
    room.scene.wait(20_000);
    for who in 0..CLIENTS {
        let device = room.clients[who].device.clone().unwrap();
        let mut received = room.scene.take(&device);
        received.retain(|event| !matches!(event, event!(rooms::MemberCount { .. })));
        assert!(matches!(received[..], [event!(account::Renamed(_))]), "{received:?}");
    }
}
