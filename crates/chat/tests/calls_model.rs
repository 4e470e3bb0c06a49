//! Members with several devices call each other while their connections come and go. Every call ends and
//! leaves one message, and each connected participant receives its end.

use crate::scene;

use std::collections::{HashMap, HashSet};

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use scene::*;

const USERS: [&str; 3] = ["ann", "bob", "cat"];

/// The events that one session received.
#[derive(Default)]
struct Heard {
    /// Calls that ring on the session, or in which it has a place.
    open: HashSet<CallId>,
    tickets: HashMap<CallId, CallTicket>,
    outcomes: HashMap<CallId, (Outcome, u64)>,
    entries: HashSet<Box<str>>,
}

struct Model {
    scene: Scene,
    /// The connected devices, by user and number.
    devices: HashMap<(usize, usize), (Device, Heard)>,
    /// Tickets of devices, kept over their sessions.
    tickets: HashMap<(usize, usize), (CallId, CallTicket)>,
    /// The end of each call, equal for all devices.
    ended: HashMap<CallId, (Outcome, u64)>,
    known: Vec<CallId>,
    /// Calls that rang.
    begun: HashSet<CallId>,
    entries: HashMap<Box<str>, CallEntry>,
}

#[test]
fn every_call_ends_equally_for_all_devices() {
    for seed in 0..30 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut model = Model::new();
        for _ in 0..300 {
            model.act(&mut rng);
            model.listen(seed);
        }
        model.end(seed);
    }
}

impl Model {
    fn new() -> Model {
        let scene = Scene::new(Mode::Open);
        let all = USERS.map(|user| scene.sign_in(user, "first"));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            scene.befriend(&all[a], &all[b]);
        }
        all.iter().for_each(|device| scene.leave(device));
        Model {
            scene,
            devices: HashMap::new(),
            tickets: HashMap::new(),
            ended: HashMap::new(),
            known: Vec::new(),
            begun: HashSet::new(),
            entries: HashMap::new(),
        }
    }

    fn act(&mut self, rng: &mut StdRng) {
        let place = (rng.random_range(0..3), rng.random_range(0..2));
        if !self.devices.contains_key(&place) {
            return match rng.random_range(0..3) {
                0 => self.scene.wait(rng.random_range(0..8_000)),
                _ => self.connect(place),
            };
        }
        let to = sub(USERS.choose(rng).expect("three"));
        let call = self.known.last().copied().unwrap_or(CallId(1));
        let step = |step| CallAction::Of(call, step);
        let action = match rng.random_range(0..16) {
            0..4 => CallAction::Invite { user: to, media: Media::Video, offer: "o".into() },
            4..7 => step(CallStep::Accept { answer: "a".into() }),
            7 => step(CallStep::Decline { busy: rng.random_bool(0.5) }),
            8 => step(CallStep::HangUp),
            9 => step(CallStep::Candidate("c".into())),
            10 => step(CallStep::Offer("o".into())),
            11 => match self.tickets.get(&place) {
                Some((call, ticket)) => {
                    CallAction::Of(*call, CallStep::Rejoin { ticket: *ticket, offer: "o".into() })
                }
                None => return,
            },
            12 => return self.disconnect(place, rng.random_bool(0.2)),
            13 => return self.connect(place),
            _ => return self.scene.wait(rng.random_range(0..8_000)),
        };
        let device = &self.devices[&place].0;
        self.scene.command(device, Request::new(1, calls::Command::Direct { action }));
    }

    /// May replace the device's previous session.
    fn connect(&mut self, place: (usize, usize)) {
        let name = format!("device-{}", place.1);
        let handle = self.scene.hello(Some(&self.scene.token(USERS[place.0])), &name, None);
        let mut events = self.scene.inbox.take(handle);
        let event!(session::Welcome(welcome)) = events.remove(0) else { panic!("no welcome") };
        self.scene.inbox.put_back(handle, events);
        let device = Device { session: welcome.session, welcome: *welcome };
        self.devices.insert(place, (device, Heard::default()));
    }

    fn disconnect(&mut self, place: (usize, usize), on_purpose: bool) {
        let Some((device, _)) = self.devices.remove(&place) else { return };
        match on_purpose {
            true => self.scene.leave(&device),
            false => self.scene.drop_connection(&device),
        }
    }

    fn listen(&mut self, seed: u64) {
        for (place, (device, heard)) in &mut self.devices {
            for event in self.scene.take(device) {
                match event {
                    event!(calls::Call(event)) => {
                        heard.note(&event);
                        if let Some(ticket) = heard.tickets.get(&event.call) {
                            self.tickets.insert(*place, (event.call, *ticket));
                        }
                        self.known.push(event.call);
                        if matches!(event.news, CallNews::Calling { .. }) {
                            self.begun.insert(event.call);
                        }
                        if let Some(outcome) = heard.outcomes.get(&event.call) {
                            let all = *self.ended.entry(event.call).or_insert(*outcome);
                            assert_eq!(all, *outcome, "seed {seed}: {}", event.call);
                        }
                    }
                    event!(messages::Message(message)) => {
                        let entry = CallEntry::of(&message).expect("calls alone write here");
                        let id = message.client_id.clone();
                        assert!(heard.entries.insert(id.clone()), "seed {seed}: told twice");
                        self.entries.insert(id, entry);
                    }
                    event!(session::Refused(_)) | event!(session::Bye(_)) => {}
                    other => panic!("seed {seed}: {other:?}"),
                }
            }
        }
    }

    /// All devices connect and receive the end of the calls; then all leave.
    fn end(mut self, seed: u64) {
        for place in (0..3).flat_map(|user| (0..2).map(move |device| (user, device))) {
            if !self.devices.contains_key(&place) {
                self.connect(place);
            }
        }
        self.listen(seed);
        for call in self.known.clone() {
            let all: Vec<Device> = self.devices.values().map(|(device, _)| device.clone()).collect();
            for device in all {
                let action = CallAction::Of(call, CallStep::HangUp);
                self.scene.command(&device, Request::new(1, calls::Command::Direct { action }));
            }
            self.listen(seed);
        }
        self.scene.wait(RINGS_MS + AWAY_MS);
        self.listen(seed);
        assert_eq!(self.scene.node.stats().calls, 0, "seed {seed}");
        for (device, heard) in self.devices.values() {
            assert!(
                heard.open.is_empty(),
                "seed {seed}: {:?} still waits for {:?}",
                device.session,
                heard.open
            );
        }
        for entry in self.entries.values() {
            if let Some(outcome) = self.ended.get(&entry.call) {
                assert_eq!((entry.outcome, entry.ms), *outcome, "seed {seed}");
            }
        }
        let stats = self.scene.node.stats();
        assert_eq!(stats.calls_begun, self.begun.len() as u64, "seed {seed}");
        // A call to a busy user does not ring, but leaves an entry, too.
        let busy = self.ended.keys().filter(|call| !self.begun.contains(call)).count() as u64;
        assert_eq!(stats.messages, stats.calls_begun + busy, "seed {seed}");
        assert!(stats.calls_begun > 0, "seed {seed}");
    }
}

impl Heard {
    fn note(&mut self, event: &CallEvent) {
        match event.news {
            CallNews::Calling { ticket, .. } | CallNews::Joined { ticket } => {
                self.open.insert(event.call);
                self.tickets.insert(event.call, ticket);
            }
            CallNews::Ring { .. } | CallNews::Rejoined { .. } => {
                self.open.insert(event.call);
            }
            CallNews::Elsewhere => {
                self.open.remove(&event.call);
            }
            CallNews::Over { outcome, ms } => {
                self.open.remove(&event.call);
                assert!(self.outcomes.insert(event.call, (outcome, ms)).is_none(), "it ends once");
            }
            _ => {}
        }
    }
}
