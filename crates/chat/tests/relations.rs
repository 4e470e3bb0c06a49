//! Contacts and presence under random interleavings: at the end every device shows the stored contact list
//! and the true presence.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::BTreeMap;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use scene::*;
use store::Sqlite;

const USERS: [&str; 4] = ["ann", "bob", "cat", "dan"];
const ACTIONS: [ContactAction; 6] = [
    ContactAction::Request,
    ContactAction::Accept,
    ContactAction::Decline,
    ContactAction::Remove,
    ContactAction::Block,
    ContactAction::Unblock,
];
const DIRECTIONS: [SubscriptionAction; 4] = [
    SubscriptionAction::Ask,
    SubscriptionAction::LetIn,
    SubscriptionAction::Leave,
    SubscriptionAction::Refuse,
];
const CHOICES: [SetPresence; 4] =
    [SetPresence::Online, SetPresence::Away, SetPresence::Busy, SetPresence::Invisible];

#[test]
fn every_device_ends_with_the_stored_state() {
    for seed in 0..200 {
        let run = std::panic::catch_unwind(|| {
            let mode = if seed % 2 == 0 { Mode::Open } else { Mode::Contacts };
            Community::new(seed, mode).run();
        });
        assert!(run.is_ok(), "seed {seed}");
    }
}

struct Community {
    scene: Scene,
    rng: StdRng,
    mode: Mode,
    screens: Vec<Screen>,
    chosen: BTreeMap<&'static str, SetPresence>,
}

/// The display of a device.
struct Screen {
    user: &'static str,
    device: String,
    handle: Option<SessionHandle>,
    session: Option<SessionId>,
    position: Option<Position>,
    contacts: BTreeMap<String, Side>,
    watches_contacts: bool,
    /// Presence of contacts; entries end with the contact.
    roster: BTreeMap<String, Presence>,
    watched: Vec<&'static str>,
    presence: BTreeMap<String, Presence>,
}

impl Community {
    fn new(seed: u64, mode: Mode) -> Community {
        let scene = Scene::with(mode, config(), Sqlite::by_turns());
        let screens = (0..USERS.len() * 2)
            .map(|n| Screen {
                user: USERS[n / 2],
                device: format!("d{n}"),
                handle: None,
                session: None,
                position: None,
                contacts: BTreeMap::new(),
                watches_contacts: false,
                roster: BTreeMap::new(),
                watched: Vec::new(),
                presence: BTreeMap::new(),
            })
            .collect();
        let chosen = USERS.iter().map(|user| (*user, SetPresence::Online)).collect();
        Community { scene, rng: StdRng::seed_from_u64(seed), mode, screens, chosen }
    }

    fn run(mut self) {
        for who in 0..self.screens.len() {
            self.connect(who);
            self.scene.store.run();
            self.look(who);
        }
        for _ in 0..300 {
            self.step();
        }
        self.settle();
        for who in 0..self.screens.len() {
            self.check(who);
        }
    }

    fn step(&mut self) {
        let who = self.rng.random_range(0..self.screens.len());
        match self.rng.random_range(0..100) {
            0..45 => {
                let turns = self.scene.store.turns();
                if turns > 0 {
                    self.scene.store.turn(self.rng.random_range(0..turns));
                }
            }
            45..60 => self.look(who),
            60..75 => {
                let other = USERS.choose(&mut self.rng).unwrap();
                let user = sub(other);
                let command = match self.rng.random_range(0..10) {
                    0..6 => {
                        let action = *ACTIONS.choose(&mut self.rng).unwrap();
                        contacts::Command::Change { action, user }
                    }
                    6..9 => {
                        let action = *DIRECTIONS.choose(&mut self.rng).unwrap();
                        contacts::Command::Subscribe { action, user }
                    }
                    _ => contacts::Command::Keep { user, note: ContactNote::default() },
                };
                self.say(who, Request::new(1, command));
            }
            75..80 => {
                let watched: Vec<&str> =
                    USERS.iter().copied().filter(|_| self.rng.random_bool(0.6)).collect();
                if self.screens[who].session.is_some() {
                    // Answers to the former watch may still arrive; only those to the new one count.
                    self.scene.store.run();
                    self.look(who);
                    let contacts = self.rng.random_bool(0.5);
                    self.screens[who].presence.clear();
                    self.screens[who].roster.clear();
                    self.screens[who].watches_contacts = contacts;
                    self.screens[who].watched = watched.clone();
                    self.say(
                        who,
                        presence::Command::Watch { contacts, users: watched.into_iter().map(sub).collect() },
                    );
                }
            }
            80..85 => {
                let set = *CHOICES.choose(&mut self.rng).unwrap();
                if self.screens[who].session.is_some() {
                    self.chosen.insert(self.screens[who].user, set);
                    self.say(who, presence::Command::Set(set));
                    // A device that reconnects before the choice is stored gets the former one.
                    self.scene.store.run();
                }
            }
            85..90 => self.disconnect(who),
            90..95 => self.connect(who),
            _ => {
                let ms = self.rng.random_range(50..4000);
                self.scene.wait(ms);
            }
        }
    }

    fn connect(&mut self, who: usize) {
        let screen = &mut self.screens[who];
        if screen.handle.is_none() {
            let token = self.scene.token(screen.user);
            screen.handle = Some(self.scene.hello(Some(&token), &screen.device, screen.position));
            screen.watched.clear();
            screen.watches_contacts = false;
            screen.roster.clear();
            screen.presence.clear();
        }
    }

    fn disconnect(&mut self, who: usize) {
        self.look(who);
        let on_purpose = self.rng.random_bool(0.5);
        let screen = &mut self.screens[who];
        if let Some(session) = screen.session.take() {
            screen.handle = None;
            self.scene.node.disconnected(session, on_purpose, self.scene.now());
        }
    }

    fn say(&mut self, who: usize, command: impl Into<Request>) {
        if let Some(session) = self.screens[who].session {
            self.scene.node.command(session, command.into(), self.scene.now());
        }
    }

    fn look(&mut self, who: usize) {
        let screen = &mut self.screens[who];
        let Some(handle) = screen.handle else { return };
        for event in self.scene.inbox.take(handle) {
            match event {
                event!(session::Welcome(welcome)) => {
                    screen.session = Some(welcome.session);
                    screen.position = Some(welcome.changes.position);
                    if welcome.changes.reset {
                        screen.contacts.clear();
                    }
                    for contact in welcome.changes.contacts.iter() {
                        screen.contacts.insert(contact.sub.to_owned(), contact.side);
                    }
                }
                event!(_, Some(position), contacts::Contact(contact)) => {
                    assert!(Some(position) >= screen.position, "contacts come in order");
                    screen.position = Some(position);
                    if !contact.side.sees() {
                        screen.roster.remove(contact.person.sub.as_str());
                    }
                    screen.contacts.insert(contact.person.sub.to_string(), contact.side);
                }
                event!(presence::Watching { here, more }) => {
                    assert!(!more);
                    // Users who are not listed are offline.
                    screen.roster = here.into_iter().map(|(user, seen)| (user.to_string(), seen)).collect();
                }
                event!(presence::Presence { user, presence, .. }) => {
                    screen.roster.insert(user.to_string(), presence);
                    screen.presence.insert(user.to_string(), presence);
                }
                event!(Some(1), session::Refused(refusal)) => {
                    assert!(
                        matches!(
                            refusal,
                            Refusal::BadValue | Refusal::NotAllowed | Refusal::RateLimited { .. }
                        ),
                        "{refusal}"
                    );
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn settle(&mut self) {
        self.scene.store.run();
        self.scene.wait(15_000);
        self.scene.store.run();
        self.scene.wait(1_000);
        self.scene.store.run();
        for who in 0..self.screens.len() {
            self.look(who);
        }
    }

    fn check(&mut self, who: usize) {
        let Some(session) = self.screens[who].session else { return };
        let stored = self.stored_contacts(session);
        let screen = &self.screens[who];
        let shown: BTreeMap<String, Side> = screen
            .contacts
            .iter()
            .filter(|(_, state)| **state != Side::NONE)
            .map(|(user, state)| (user.clone(), *state))
            .collect();
        assert_eq!(shown, stored, "{}'s contacts", screen.user);
        self.check_roster(who, session.user, &stored);
        let screen = &self.screens[who];
        for other in screen.watched.iter().filter(|other| **other != screen.user) {
            let expected = self.true_presence(session.user, other);
            let shown = screen.presence.get(*other).copied();
            match (self.mode, expected) {
                // An invisible user is not listed, or became offline when the invisibility began.
                (Mode::Contacts, None) => assert!(matches!(shown, None | Some(Presence::Offline)), "{other}"),
                (_, expected) => assert_eq!(shown, expected, "{} sees {other}", screen.user),
            }
        }
    }

    /// A device that watches contacts knows the presence of each, without a list.
    fn check_roster(&self, who: usize, user: UserId, stored: &BTreeMap<String, Side>) {
        let screen = &self.screens[who];
        let is_seen = |user: &&str| stored.get(*user).is_some_and(|side| side.sees());
        for other in USERS.into_iter().filter(|_| screen.watches_contacts).filter(is_seen) {
            let shown = screen.roster.get(other).copied().unwrap_or(Presence::Offline);
            let expected = self.true_presence(user, other);
            assert_eq!(Some(shown), expected, "{}, who watches contacts, sees {other}", screen.user);
        }
        for (other, shown) in &screen.roster {
            let relation = self.relation(user, USERS.iter().find(|user| *user == other).unwrap());
            let blocked = relation.is_blocked();
            assert!(!blocked || *shown == Presence::Offline, "{} sees {other} after a block", screen.user);
        }
    }

    fn stored_contacts(&mut self, session: SessionId) -> BTreeMap<String, Side> {
        self.scene.node.command(
            session,
            Request::new(2, contacts::Command::List { page: PageOf::default() }),
            self.scene.now(),
        );
        self.scene.store.run();
        match self.scene.inbox.take(session.handle).pop() {
            Some(event!(contacts::Contacts { contacts, .. })) => {
                contacts.iter().map(|contact| (contact.sub.to_owned(), contact.side)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    /// None: `user` may not see it, in mode *contacts*.
    fn true_presence(&self, user: UserId, other: &'static str) -> Option<Presence> {
        let relation = self.relation(user, other);
        match self.mode {
            Mode::Open if relation.is_blocked() => return Some(Presence::Offline),
            Mode::Contacts if !relation.a_views_b().sees => return None,
            _ => {}
        }
        let is_here = self.screens.iter().any(|screen| screen.user == other && screen.session.is_some());
        Some(match (is_here, self.chosen[other]) {
            (false, _) | (_, SetPresence::Invisible) => Presence::Offline,
            (_, SetPresence::Online) => Presence::Online,
            (_, SetPresence::Away) => Presence::Away,
            (_, SetPresence::Busy) => Presence::Busy,
        })
    }

    fn relation(&self, user: UserId, other: &str) -> Relation {
        let answer = std::sync::Arc::new(std::sync::Mutex::new(None));
        let put = answer.clone();
        let store = self.scene.store.clone();
        let found = move |row: Result<Option<UserRow>, StoreError>| {
            let id = row.unwrap().unwrap().id;
            let done = move |relation: Result<Relation, StoreError>| {
                *put.lock().unwrap() = relation.ok();
            };
            store.relation(user, id, Box::new(done));
        };
        self.scene.store.user(user.site, sub(other), Box::new(found));
        self.scene.store.run();
        let relation = answer.lock().unwrap().take();
        relation.unwrap()
    }
}
