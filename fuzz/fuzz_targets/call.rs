//! Calls: whatever members say of them from several devices, in whatever order, while connections come and go, nobody hears of
//! another's call, each call ends once and for all alike, and nothing of it stays.
#![no_main]

#[path = "../../crates/chat/tests/scene/mod.rs"]
mod scene;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chat::*;
use libfuzzer_sys::fuzz_target;
use scene::{Device, Scene, sub};

const USERS: [&str; 3] = ["ann", "bob", "cat"];
const DEVICES: usize = 2;

/// The input is a list of acts: who, what, how long, and the bytes for it.
fuzz_target!(|input: &[u8]| {
    let mut model = Model::new();
    let mut rest = input;
    while let [who, what, length, behind @ ..] = rest {
        let (bytes, next) = behind.split_at(behind.len().min(usize::from(*length)));
        rest = next;
        model.act(usize::from(*who), *what, bytes);
        model.listen();
    }
    model.end();
});

/// A user's device.
type Place = (usize, usize);

struct Model {
    scene: Scene,
    here: BTreeMap<Place, Device>,
    /// Calls that ring there, or in which it has its place.
    open: BTreeMap<Place, HashSet<CallId>>,
    tickets: Vec<(CallId, CallTicket)>,
    parties: HashMap<CallId, [usize; 2]>,
    known: Vec<CallId>,
    outcomes: HashMap<CallId, (Outcome, u64)>,
}

impl Model {
    fn new() -> Model {
        let scene = Scene::new(Mode::Open);
        let all = USERS.map(|user| scene.sign_in(user, "first"));
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            scene.befriend(&all[a], &all[b]);
        }
        all.iter().for_each(|device| scene.leave(device));
        let mut model = Model {
            scene,
            here: BTreeMap::new(),
            open: BTreeMap::new(),
            tickets: Vec::new(),
            parties: HashMap::new(),
            known: Vec::new(),
            outcomes: HashMap::new(),
        };
        (0..USERS.len()).for_each(|user| model.connect((user, 0)));
        model
    }

    fn act(&mut self, who: usize, what: u8, bytes: &[u8]) {
        let place = (who % USERS.len(), who / USERS.len() % DEVICES);
        let byte = |index: usize| bytes.get(index).copied().unwrap_or(0);
        if !self.here.contains_key(&place) {
            return self.connect(place);
        }
        let call = match byte(0) {
            255 => CallId(u64::from(byte(1))),
            back => self.known.iter().rev().nth(usize::from(back)).copied().unwrap_or(CallId(1)),
        };
        let text = text(bytes);
        let step = match what % 14 {
            0 | 1 => {
                let user = sub(USERS[usize::from(byte(1)) % USERS.len()]);
                let media = if byte(2) % 2 == 0 { Media::Audio } else { Media::Video };
                return self.say(place, CallAction::Invite { user, media, offer: text });
            }
            2 | 3 => CallStep::Accept { answer: text },
            4 => CallStep::Decline { busy: byte(1) % 2 == 0 },
            5 => CallStep::HangUp,
            6 => CallStep::Offer(text),
            7 => CallStep::Answer(text),
            8 => CallStep::Candidate(text),
            9 => CallStep::Hold(byte(1) % 2 == 0),
            10 => {
                let shown = self.tickets.iter().rev().nth(usize::from(byte(1))).copied();
                let (of, ticket) = shown.unwrap_or((call, CallTicket::of(u128::from(byte(2)))));
                // Another's, too.
                let call = if byte(3) % 4 == 0 { call } else { of };
                return self.say(place, CallAction::Of(call, CallStep::Rejoin { ticket, offer: text }));
            }
            11 => return self.disconnect(place, byte(1) % 2 == 0),
            12 => return self.connect(place),
            _ => return self.scene.wait(u64::from(byte(1)) * 100),
        };
        self.say(place, CallAction::Of(call, step));
    }

    fn say(&mut self, place: Place, action: CallAction) {
        self.scene.command(&self.here[&place], Command::Call { re: Some(1), action });
    }

    /// Also while the session of before is there: then it is replaced.
    fn connect(&mut self, place: Place) {
        let name = format!("device-{}", place.1);
        let handle = self.scene.hello(Some(&self.scene.token(USERS[place.0])), &name, None);
        let mut events = self.scene.inbox.take(handle);
        let Event::Welcome(welcome) = events.remove(0) else { panic!("no welcome") };
        self.scene.inbox.put_back(handle, events);
        self.here.insert(place, Device { session: welcome.session, welcome: *welcome });
        self.open.insert(place, HashSet::new());
    }

    fn disconnect(&mut self, place: Place, on_purpose: bool) {
        let Some(device) = self.here.remove(&place) else { return };
        self.open.remove(&place);
        match on_purpose {
            true => self.scene.leave(&device),
            false => self.scene.drop_connection(&device),
        }
    }

    fn listen(&mut self) {
        let heard: Vec<(Place, Arc<CallEvent>)> = self
            .here
            .iter()
            .flat_map(|(place, device)| self.scene.take(device).into_iter().map(|event| (*place, event)))
            .filter_map(|(place, event)| match event {
                Event::Call(event) => Some((place, event)),
                _ => None,
            })
            .collect();
        for (place, event) in &heard {
            if let CallNews::Calling { user, .. } = &event.news {
                let callee = USERS.iter().position(|name| sub(name) == *user).expect("one of them");
                self.parties.insert(event.call, [place.0, callee]);
                self.known.push(event.call);
            }
        }
        for (place, event) in heard {
            let parties = self.parties.get(&event.call);
            assert!(parties.is_none_or(|parties| parties.contains(&place.0)), "a stranger hears {:?}", event.news);
            self.note(place, &event);
        }
    }

    fn note(&mut self, place: Place, event: &CallEvent) {
        let open = self.open.entry(place).or_default();
        match event.news {
            CallNews::Calling { ticket, .. } | CallNews::Joined { ticket } => {
                open.insert(event.call);
                self.tickets.push((event.call, ticket));
            }
            CallNews::Ring { .. } | CallNews::Rejoined { .. } => {
                open.insert(event.call);
            }
            CallNews::Elsewhere => {
                open.remove(&event.call);
            }
            CallNews::Over { outcome, ms } => {
                open.remove(&event.call);
                let all = *self.outcomes.entry(event.call).or_insert((outcome, ms));
                assert_eq!(all, (outcome, ms), "it ended otherwise for another");
            }
            _ => {}
        }
    }

    fn end(mut self) {
        for call in self.known.clone() {
            for place in self.here.keys().copied().collect::<Vec<Place>>() {
                self.say(place, CallAction::Of(call, CallStep::HangUp));
            }
            self.listen();
        }
        self.scene.wait(RINGS_MS + AWAY_MS);
        self.listen();
        assert_eq!(self.scene.node.stats().calls, 0, "calls stay");
        for (place, open) in &self.open {
            assert!(open.is_empty(), "{place:?} still waits for {open:?}");
        }
    }
}

/// As it is, or longer than anything may be.
fn text(bytes: &[u8]) -> Arc<str> {
    match bytes.get(4) {
        Some(255) => "x".repeat(DESCRIPTION_BYTES + 1).into(),
        Some(254) => "x".repeat(CANDIDATE_BYTES + 1).into(),
        _ => String::from_utf8_lossy(bytes.get(4..).unwrap_or_default()).into(),
    }
}
