//! Rooms in the domain, under random interleavings of the store's threads. Seqs are gap-free, and each
//! connected member gets each message once, from the join to the leave; absent members get the rest later.

use crate::scene;

use std::collections::BTreeMap;

use chat::{
    ConversationId, Delivery, Mode, PageKey, Position, Request, Seq, SessionHandle, SessionId, To, messages,
    rooms,
};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use scene::{Scene, config, event};
use store::Sqlite;

const USERS: [&str; 5] = ["ann", "bob", "carl", "dora", "eve"];

/// A device and its received data, kept over connections as a client keeps it.
#[derive(Default)]
struct Heard {
    session: Option<SessionId>,
    position: Option<Position>,
    /// Body by seq.
    messages: BTreeMap<u64, String>,
    /// Set for members: the device must have everything from this seq on.
    since: Option<u64>,
    asked: u64,
}

struct Play {
    scene: Scene,
    rng: StdRng,
    devices: Vec<Heard>,
    handles: BTreeMap<SessionHandle, usize>,
    room: Option<ConversationId>,
    /// Acknowledged messages, by seq.
    log: BTreeMap<u64, String>,
    sent: u64,
    seed: u64,
}

#[test]
fn each_member_gets_each_message_once() {
    let mut said = 0;
    for seed in 0..30 {
        let mut play = Play::new(seed);
        for _ in 0..250 {
            play.step();
        }
        play.end();
        said += play.log.len();
    }
    assert!(said > 500, "{said}");
}

impl Play {
    fn new(seed: u64) -> Play {
        let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
        Play {
            scene,
            rng: StdRng::seed_from_u64(seed),
            devices: USERS.iter().map(|_| Heard::default()).collect(),
            handles: BTreeMap::new(),
            room: None,
            log: BTreeMap::new(),
            sent: 0,
            seed,
        }
    }

    fn step(&mut self) {
        let who = self.rng.random_range(0..USERS.len());
        match self.rng.random_range(0..20) {
            0 => self.cut(who),
            1 => self.join(who),
            2 => self.leave(who),
            3..=7 => self.post(who),
            _ => {
                let turns = self.scene.store.turns();
                if turns > 0 {
                    let turn = self.rng.random_range(0..turns);
                    self.scene.store.turn(turn);
                }
            }
        }
        self.connect(who);
        self.hear();
    }

    fn connect(&mut self, who: usize) {
        if self.devices[who].session.is_none() && !self.handles.values().any(|at| *at == who) {
            let position = self.devices[who].position;
            let token = self.scene.token(USERS[who]);
            let handle = self.scene.hello(Some(&token), "device", position);
            self.handles.insert(handle, who);
        }
    }

    fn cut(&mut self, who: usize) {
        if let Some(session) = self.devices[who].session.take() {
            self.hear();
            self.handles.remove(&session.handle);
            self.scene.node.disconnected(session, false, self.scene.now());
        }
    }

    fn to(&self) -> To {
        To::Page(PageKey::parse("/thread/42").expect("one line"))
    }

    fn command(&mut self, who: usize, command: impl Into<Request>) {
        if let Some(session) = self.devices[who].session {
            self.scene.node.command(session, command.into(), self.scene.now());
        }
    }

    fn join(&mut self, who: usize) {
        self.devices[who].asked += 1;
        let command = Request::new(self.devices[who].asked, rooms::Command::Join { to: self.to() });
        self.command(who, command);
    }

    fn leave(&mut self, who: usize) {
        let Some(conversation) = self.room else { return };
        self.devices[who].asked += 1;
        self.command(who, Request::new(self.devices[who].asked, rooms::Command::Leave { conversation }));
    }

    fn post(&mut self, who: usize) {
        self.sent += 1;
        let body = format!("{} {}", USERS[who], self.sent);
        let client_id = format!("m{}", self.sent).into();
        let command = messages::Command::Send {
            client_id,
            to: self.to(),
            body: body.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        self.command(who, command);
    }

    fn hear(&mut self) {
        let handles: Vec<_> = self.handles.iter().map(|(handle, who)| (*handle, *who)).collect();
        for (handle, who) in handles {
            for event in self.scene.inbox.take(handle) {
                self.note(who, event);
            }
        }
    }

    fn note(&mut self, who: usize, event: Delivery) {
        let seed = self.seed;
        let device = &mut self.devices[who];
        match event {
            event!(session::Welcome(welcome)) => {
                device.session = Some(welcome.session);
                device.position = Some(welcome.changes.position);
                assert!(welcome.changes.gaps.is_empty(), "the test does not say so much");
                for message in &welcome.changes.messages {
                    device.messages.insert(message.seq.0, message.body.to_string());
                }
                for row in &welcome.changes.conversations {
                    // The join or leave was on a connection that was lost before the answer.
                    let newest = row.last.as_ref().map_or(0, |last| last.seq.0);
                    device.since.get_or_insert(newest + 1);
                }
                if !welcome.changes.left.is_empty() {
                    device.since = None;
                }
            }
            event!(_, Some(position), messages::Message(message)) => {
                device.position = Some(position);
                let before = device.messages.insert(message.seq.0, message.body.to_string());
                assert_eq!(before, None, "seed {seed}: {} got {} twice", USERS[who], message.seq.0);
            }
            event!(_, Some(position), messages::Ack { conversation, seq, client_id, .. }) => {
                device.position = Some(position);
                self.room = Some(conversation);
                let body = format!("{} {}", USERS[who], &client_id[1..]);
                device.messages.insert(seq.0, body.clone());
                assert!(self.log.insert(seq.0, body).is_none(), "seed {seed}: two messages of seq {}", seq.0);
            }
            event!(_, Some(position), messages::Conversation(conversation)) => {
                device.position = Some(position);
                self.room = Some(conversation.id);
                let newest = conversation.last.as_ref().map_or(0, |last| last.seq.0);
                device.since.get_or_insert(newest + 1);
            }
            event!(_, Some(position), rooms::Left { .. }) => {
                device.position = Some(position);
                device.since = None;
            }
            _ => {}
        }
    }

    /// All reconnect and receive everything: members have all messages since they joined.
    fn end(&mut self) {
        for who in 0..USERS.len() {
            self.scene.store.run();
            self.hear();
            self.connect(who);
            self.scene.store.run();
            self.hear();
        }
        let seed = self.seed;
        let who = (0..USERS.len()).find(|who| self.devices[*who].since.is_some());
        let Some(reader) = who else { return };
        self.history(reader);
        let newest = self.log.keys().next_back().copied().unwrap_or(0);
        assert!(self.log.keys().copied().eq(1..=newest), "seed {seed}: a gap in {:?}", self.log.keys());
        for (who, device) in self.devices.iter().enumerate() {
            for (seq, body) in &device.messages {
                assert_eq!(self.log.get(seq), Some(body), "seed {seed}");
            }
            for seq in device.since.into_iter().flat_map(|since| since..=newest) {
                assert!(device.messages.contains_key(&seq), "seed {seed}: {} misses {seq}", USERS[who]);
            }
        }
    }

    /// Acknowledgements may be lost with a connection: history is the reference.
    fn history(&mut self, reader: usize) {
        let Some(session) = self.devices[reader].session else { return };
        let mut after = 0;
        loop {
            let to = self.to();
            let command = Request::new(
                9_999,
                messages::Command::History {
                    to,
                    before: None,
                    after: Some(Seq(after)),
                    thread: None,
                    limit: None,
                },
            );
            self.scene.node.command(session, command, self.scene.now());
            self.scene.store.run();
            let page = self.scene.inbox.take(session.handle);
            let Some(event!(messages::History { messages, more, .. })) = page.into_iter().next_back() else {
                panic!("no history")
            };
            for message in messages {
                after = message.seq.0;
                let known = self.log.insert(after, message.body.to_string());
                assert!(known.is_none_or(|known| *known == *message.body), "seed {}", self.seed);
            }
            if !more {
                return;
            }
        }
    }
}
