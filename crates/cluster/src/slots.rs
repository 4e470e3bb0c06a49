//! Fronts with several slots: which home a session, a question and a key belong to, and what one home cannot do to the others.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::{Arc, Mutex};

use chat::session::Event as SessionEvent;
use chat::token::{Claims, sign};
use chat::*;
use serde_json::{Value, json};
use store::Sqlite;

use crate::attacks::{Inbox, PROOF, START, body, config, message, secret, site};
use crate::envelope::{Envelope, FrontId, Kind, Term};
use crate::wire::{ToFront, write};
use crate::{FrontRecord, Fronts, FrontsRecord, Home, HomeOutbox, Links, Subject};

/// A home of one slot.
struct Place {
    home: Home,
    node: Arc<Node>,
    /// It neither takes nor sends envelopes.
    is_away: bool,
}

/// One front, and a home of each slot.
struct Spread {
    places: Vec<Place>,
    fronts: Fronts,
    inbox: Inbox,
    now: u64,
    next_handle: u64,
}

fn with_key(key: &str, domain: Option<&str>) -> Site {
    Site { key: key.into(), domain: domain.map(Into::into), ..site() }
}

impl Place {
    fn new(slot: u8, sites: &[Site]) -> Place {
        let store = Sqlite::in_memory();
        store.number_sites_in(Slot(slot)).unwrap();
        sites.iter().for_each(|site| _ = store.add_site(site).unwrap());
        let store = Arc::new(store);
        let links = Links::new(Slot(slot), Term(5), || ());
        let outbox = HomeOutbox::new(Inbox::default(), Arc::clone(&links));
        let node = Arc::new(Node::new(config(), store, Arc::new(outbox), [slot; 32]));
        let http = format!("10.0.0.{slot}:80");
        let home = Home::new(links, Arc::clone(&node), http).with_relays(PROOF.into());
        Place { home, node, is_away: false }
    }
}

impl Spread {
    /// The sites of each slot.
    fn new(slots: &[&[Site]]) -> Spread {
        let mut spread = Spread::before_the_homes(slots);
        spread.settle();
        spread
    }

    /// No envelope has come yet.
    fn before_the_homes(slots: &[&[Site]]) -> Spread {
        let inbox = Inbox::default();
        let count = slots.len() as u8;
        let fronts = Fronts::new(FrontId(1), count, "front".into(), inbox.clone(), Timestamp(START), || ());
        let places = (0..count).zip(slots).map(|(slot, sites)| Place::new(slot, sites)).collect();
        Spread { places, fronts, inbox, now: START, next_handle: 1 }
    }

    fn settle(&mut self) {
        for _ in 0..20 {
            self.pass(60);
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now += ms;
        let now = Timestamp(self.now);
        for place in self.places.iter().filter(|place| !place.is_away) {
            place.home.tick(now);
            place.home.flush(now, &mut |to, bytes| match to {
                Subject::Fronts(_) | Subject::Front(_) => self.fronts.receive(&bytes, now),
                Subject::Home(_) => {}
            });
        }
        self.fronts.tick(now);
        self.fronts.flush(now, &mut |to, bytes| {
            let is_there = |place: &&Place| to == Subject::Home(place.home.slot()) && !place.is_away;
            self.places.iter().find(is_there).into_iter().for_each(|place| place.home.receive(&bytes, now));
        });
    }

    fn begin_sign_in(&mut self, key: &str, user: &str) -> SessionHandle {
        let handle = SessionHandle(self.next_handle);
        self.next_handle += 1;
        self.fronts.sign_in(&hello(key, user), handle, Timestamp(self.now));
        handle
    }

    fn sign_in(&mut self, key: &str, user: &str) -> SessionId {
        let handle = self.begin_sign_in(key, user);
        self.settle();
        self.welcomed(handle).unwrap()
    }

    /// The outcome of a sign-in; None: it has none yet.
    fn outcome(&self, handle: SessionHandle) -> Option<Result<SessionId, Refusal>> {
        self.inbox.take().into_iter().filter(|(to, _)| *to == handle).find_map(|(_, delivery)| match delivery
            .event
        {
            Event::Session(SessionEvent::Welcome(welcome)) => Some(Ok(welcome.session)),
            Event::Session(SessionEvent::Bye(refusal)) => Some(Err(refusal)),
            _ => None,
        })
    }

    fn welcomed(&self, handle: SessionHandle) -> Option<SessionId> {
        self.outcome(handle)?.ok()
    }

    fn send(&self, from: SessionId, to: &str, id: &str) {
        self.fronts.command(from, message(to, id), Timestamp(self.now));
    }

    /// The messages that each session gets.
    fn bodies(&self) -> Vec<(SessionHandle, String)> {
        let events = self.inbox.take();
        events.iter().filter_map(|(to, delivery)| Some((*to, body(delivery)?.to_owned()))).collect()
    }

    /// Of the home of a slot to the front, with its true term, on any link.
    fn forge(&self, slot: u8, number: u64, item: &ToFront) {
        let item = write(item);
        let payload = [&u32::try_from(item.len()).unwrap().to_be_bytes()[..], &item].concat();
        let envelope = Envelope {
            kind: Kind::Data,
            slot: Slot(slot),
            term: Term(5),
            front: FrontId(1),
            link: 1,
            number,
            acknowledged: 0,
            payload: &payload,
        };
        self.fronts.receive(&envelope.write(), Timestamp(self.now));
    }

    /// The next number of the stream of a home, which sends nothing meanwhile.
    fn next_number(&self, slot: u8) -> u64 {
        let mut last = 0;
        let now = Timestamp(self.now + 1_000);
        self.places[usize::from(slot)].home.flush(now, &mut |to, bytes| {
            if matches!(to, Subject::Front(_)) {
                last = Envelope::read(&bytes).unwrap().number;
                self.fronts.receive(&bytes, Timestamp(self.now));
            }
        });
        last + 1
    }

    fn linked(&self) -> Vec<bool> {
        self.fronts.status().iter().map(|of_slot| of_slot.is_linked).collect()
    }
}

fn hello(key: &str, user: &str) -> Hello<'static> {
    let exp = (START / 1000 + 3600) as f64;
    let claims = Claims { sub: user.into(), name: Some(user.into()), exp, ..Claims::default() };
    Hello {
        site_key: key.to_owned().into(),
        credential: Credential::Token(sign(&claims, &secret()).unwrap().into()),
        device: DeviceId::parse(user).unwrap(),
        position: None,
        origin: None,
        address: None,
        agent: Agent::default(),
        announced: None,
    }
}

fn two_slots() -> Spread {
    Spread::new(&[&[with_key("forum", Some("forum.example"))], &[with_key("club", Some("club.example"))]])
}

#[test]
fn each_session_is_at_the_home_of_its_site() {
    let mut spread = two_slots();
    let (anna, tom) = (spread.sign_in("forum", "anna"), spread.sign_in("forum", "tom"));
    let (anna_too, tom_too) = (spread.sign_in("club", "anna"), spread.sign_in("club", "tom"));
    assert_eq!([anna, anna_too].map(|one| one.user.site), [1, 0x0100_0001].map(SiteId));
    assert_eq!(anna.user.num, anna_too.user.num, "the numbers of users are those of a site");
    spread.send(anna, "tom", "of the forum");
    spread.send(anna_too, "tom", "of the club");
    spread.settle();
    let got = [(tom.handle, "of the forum".into()), (tom_too.handle, "of the club".into())];
    assert_eq!(spread.bodies(), got);
    let sites = spread.fronts.sites();
    assert_eq!(sites.by_domain("club.example").map(|site| site.id), Some(SiteId(0x0100_0001)));
    assert_eq!((sites.count(), sites.is_complete()), (2, true));
    spread.fronts.disconnected(anna_too, true, Timestamp(spread.now));
    spread.settle();
    assert_eq!(spread.places.iter().map(|place| place.node.write_down().len()).collect::<Vec<_>>(), [2, 1]);
}

#[test]
fn the_end_of_one_home_leaves_the_sessions_of_the_others_alone() {
    let mut spread = two_slots();
    let (anna, tom) = (spread.sign_in("forum", "anna"), spread.sign_in("forum", "tom"));
    let (mila, _) = (spread.sign_in("club", "mila"), spread.sign_in("club", "eve"));
    spread.places[1].is_away = true;
    spread.send(mila, "eve", "lost with its home");
    for _ in 0..3 {
        spread.send(anna, "tom", "meanwhile");
        spread.settle();
    }
    assert_eq!(spread.linked(), [true, false]);
    let got = spread.bodies();
    assert!(!got.is_empty() && got.iter().all(|(to, _)| *to == tom.handle), "{got:?}");
    let late = spread.begin_sign_in("club", "late");
    spread.settle();
    assert_eq!(spread.outcome(late), None, "it waits for the home of its slot");
    spread.places[1].is_away = false;
    // It asks for a link every four seconds by now.
    (0..4).for_each(|_| spread.settle());
    assert!(spread.welcomed(late).is_some());
    assert_eq!(spread.linked(), [true, true]);
}

#[test]
fn an_unknown_key_waits_for_the_slots_that_have_not_published_and_is_then_refused() {
    let sites: [&[Site]; 2] = [&[with_key("forum", None)], &[with_key("club", None)]];
    let mut spread = Spread::before_the_homes(&sites);
    spread.places[1].is_away = true;
    let [forum, club, nowhere] = ["forum", "club", "nowhere"].map(|key| spread.begin_sign_in(key, "anna"));
    spread.settle();
    assert!(!spread.fronts.sites().is_complete());
    assert_eq!(spread.fronts.sites().refusal_of_unknown(), Refusal::Unavailable);
    assert_eq!(spread.fronts.of_slot(Slot(0)).unwrap().status().sessions, 1, "a known key waits for nobody");
    let events = spread.inbox.take();
    assert!(events.iter().all(|(to, _)| *to == forum), "{events:?}");
    let answers = Arc::<Mutex<Vec<Refusal>>>::default();
    let ask = |spread: &Spread| {
        let answers = Arc::clone(&answers);
        let question = PortQuestion::TokenUser {
            site_key: "nowhere".into(),
            token: "token".into(),
            now: Timestamp(spread.now),
        };
        let note = move |answer: Result<PortAnswer, Refusal>| answers.lock().unwrap().extend(answer.err());
        spread.fronts.ask(question, Box::new(note));
    };
    ask(&spread);
    spread.places[1].is_away = false;
    spread.settle();
    let mut ends: Vec<(SessionHandle, Option<Refusal>)> = spread
        .inbox
        .take()
        .into_iter()
        .filter_map(|(to, delivery)| match delivery.event {
            Event::Session(SessionEvent::Welcome(_)) => Some((to, None)),
            Event::Session(SessionEvent::Bye(refusal)) => Some((to, Some(refusal))),
            _ => None,
        })
        .collect();
    ends.sort_by_key(|(to, _)| *to);
    assert_eq!(ends, [(club, None), (nowhere, Some(Refusal::NoSuchSite))]);
    ask(&spread);
    spread.settle();
    assert_eq!(*answers.lock().unwrap(), [Refusal::Unavailable, Refusal::NoSuchSite]);
    assert_eq!(spread.fronts.sites().refusal_of_unknown(), Refusal::NoSuchSite);
}

#[test]
fn a_sign_in_to_an_unknown_site_waits_for_ten_seconds_at_most() {
    let mut spread = Spread::before_the_homes(&[&[with_key("forum", None)], &[with_key("club", None)]]);
    spread.places[1].is_away = true;
    let club = spread.begin_sign_in("club", "anna");
    for _ in 0..8 {
        spread.settle();
    }
    assert_eq!(spread.outcome(club), None, "9.6 s");
    spread.settle();
    assert_eq!(spread.outcome(club), Some(Err(Refusal::Unavailable)), "its client comes back");
}

#[test]
fn a_sign_in_that_was_given_up_reaches_no_home() {
    let mut spread = Spread::before_the_homes(&[&[with_key("forum", None)], &[with_key("club", None)]]);
    spread.places[1].is_away = true;
    spread.settle();
    spread.places[0].is_away = true;
    (0..3).for_each(|_| spread.settle());
    // The front of one slot holds it, because the home has published its key. The slot of the others is not known.
    let forum = spread.begin_sign_in("forum", "anna");
    let [first, stays, given_up] = ["anna", "tom", "tom"].map(|user| spread.begin_sign_in("club", user));
    [forum, given_up].into_iter().for_each(|handle| spread.fronts.gave_up(handle));
    spread.places.iter_mut().for_each(|place| place.is_away = false);
    (0..4).for_each(|_| spread.settle());
    assert_eq!(spread.linked(), [true, true]);
    assert!(spread.places[0].node.write_down().is_empty());
    let here = spread.places[1].node.write_down();
    let mut here: Vec<SessionHandle> = here.iter().map(|record| record.session.handle.of_front(0)).collect();
    here.sort_unstable();
    assert_eq!(here, [first, stays]);
}

#[test]
fn sign_ins_to_unknown_sites_are_bounded_and_leave_a_reserve_to_each_slot() {
    let mut spread = Spread::before_the_homes(&[&[with_key("forum", None)], &[with_key("club", None)]]);
    spread.places[0].is_away = true;
    spread.settle();
    let key = "k".repeat(1 << 20);
    let handles: Vec<SessionHandle> = (0..20).map(|_| spread.begin_sign_in(&key, "anna")).collect();
    let refused = handles.iter().filter(|handle| {
        let is_of = |(to, _): &(SessionHandle, Delivery)| to == *handle;
        spread.inbox.0.lock().unwrap().iter().any(is_of)
    });
    assert_eq!(refused.count(), 5, "16 MiB, less the heads of the others");
    spread.inbox.take();
    let anna = spread.begin_sign_in("club", "anna");
    spread.settle();
    assert!(spread.welcomed(anna).is_some(), "the home of its slot is there");
}

#[test]
fn the_lower_slot_has_a_key_and_no_home_publishes_sites_of_another_slot() {
    let mut spread = Spread::new(&[
        &[with_key("forum", Some("forum.example"))],
        &[with_key("forum", Some("second.example")), with_key("club", None)],
    ]);
    let anna = spread.sign_in("forum", "anna");
    assert_eq!(anna.user.site, SiteId(1));
    let sites = spread.fronts.sites();
    assert_eq!(sites.outdone(), [SiteId(0x0100_0001)]);
    assert!(sites.by_domain("second.example").is_none());
    // The home of slot 1 claims a site of slot 0, under its own key and under another.
    let mut own = spread.places[1].node.published_sites();
    let stolen = [("forum", 1), ("club", 1), ("new", 7)];
    own.extend(stolen.map(|(key, id)| PublishedSite { id: SiteId(id), key: key.into(), ..own[0].clone() }));
    let number = spread.next_number(1);
    spread.forge(1, number, &ToFront::Sites { sites: own, logs_sign_ins: false });
    let sites = spread.fronts.sites();
    assert_eq!(sites.count(), 3);
    assert!(sites.by_key("new").is_none() && sites.by_id(SiteId(7)).is_none());
    assert_eq!(sites.by_id(SiteId(1)).map(|site| &*site.key), Some("forum"));
    assert_eq!(sites.by_key("club").map(|site| site.id), Some(SiteId(0x0100_0002)));
}

#[test]
fn a_home_that_lies_reaches_no_session_of_another_slot() {
    let mut spread = two_slots();
    let anna = spread.begin_sign_in("forum", "anna");
    spread.settle();
    let mut welcome = spread.inbox.take().into_iter().find(|(to, _)| *to == anna).unwrap().1;
    // The home of slot 1 speaks to a session of slot 0, and ends it.
    let number = spread.next_number(1);
    let bye = Event::Session(SessionEvent::Bye(Refusal::Banned));
    let delivery = Delivery { re: None, position: None, event: bye };
    spread.forge(1, number, &ToFront::Deliver { to: vec![anna], delivery });
    spread.forge(1, number + 1, &ToFront::Missed(vec![anna]));
    assert!(spread.inbox.take().is_empty());
    let sessions =
        |spread: &Spread| spread.fronts.status().iter().map(|one| one.sessions).collect::<Vec<_>>();
    assert_eq!(sessions(&spread), [1, 0]);
    // It begins a session on a site of slot 0, whose commands would reach the other home.
    let tom = spread.begin_sign_in("club", "tom");
    let Event::Session(SessionEvent::Welcome(forged)) = &mut welcome.event else { panic!("{welcome:?}") };
    forged.session.handle = tom;
    spread.forge(1, number + 2, &ToFront::Deliver { to: vec![tom], delivery: welcome });
    assert_eq!(spread.outcome(tom), Some(Err(Refusal::Unavailable)));
    assert_eq!(sessions(&spread), [1, 0]);
}

#[test]
fn envelopes_of_slots_that_a_front_or_a_home_does_not_have_are_ignored() {
    let spread = two_slots();
    let before = spread.fronts.counters().envelopes_old.read();
    let now = Timestamp(spread.now);
    let mut envelope = Envelope {
        kind: Kind::Announce,
        slot: Slot(2),
        term: Term(9),
        front: FrontId(0),
        link: 0,
        number: 0,
        acknowledged: 0,
        payload: br#"{"http":"10.6.6.6:80"}"#,
    };
    spread.fronts.receive(&envelope.write(), now);
    let mut beyond = envelope.write();
    beyond[4] = 1;
    spread.fronts.receive(&beyond, now);
    assert_eq!(spread.fronts.counters().envelopes_old.read(), before + 2);
    assert_eq!(spread.linked(), [true, true]);
    envelope.slot = Slot(1);
    let home = &spread.places[0].home;
    home.receive(&envelope.write(), now);
    home.receive(&beyond, now);
    assert_eq!(home.links().counters().envelopes_old.read(), 2);
    assert_eq!(home.links().counters().envelopes_unreadable.read(), 0);
}

#[test]
fn relays_know_the_calls_of_all_slots() {
    let mut spread = two_slots();
    let servers = CallServers { stun: [].into(), turn: ["turn:front:3478".into()].into() };
    spread.fronts.offer_relays(&servers, PROOF);
    let (anna, _) = (spread.sign_in("forum", "anna"), spread.sign_in("forum", "tom"));
    let (mila, _) = (spread.sign_in("club", "mila"), spread.sign_in("club", "eve"));
    let (user, offer) = (Sub::parse("eve").unwrap(), "offer".into());
    let action = CallAction::Invite { user, media: Media::Audio, offer };
    let request = Request::new(1, calls::Command::Direct { action });
    spread.fronts.command(mila, request, Timestamp(spread.now));
    spread.settle();
    assert_eq!(anna.user.num, mila.user.num);
    assert!(spread.fronts.is_in_call(mila.user, None) && !spread.fronts.is_in_call(anna.user, None));
    assert!(!spread.fronts.is_in_call(UserId { site: SiteId(0x0700_0001), num: 1 }, None));
    assert_eq!([0, 1, 2].map(|slot| spread.fronts.call_servers(Slot(slot)).is_some()), [true, true, false]);
}

impl Spread {
    fn take_over(
        &mut self,
        slots: u8,
        record: FrontsRecord,
        here: impl Fn(SessionHandle) -> bool,
    ) -> (usize, usize) {
        let (inbox, now) = (Inbox::default(), Timestamp(self.now));
        let next = Fronts::new(FrontId(1), slots, "next".into(), inbox.clone(), now, || ());
        next.stand_still(now);
        let counts = next.resume(record, here, now);
        (self.fronts, self.inbox) = (next, inbox);
        self.fronts.go_on(now);
        counts
    }
}

#[test]
fn a_front_moves_with_the_links_of_all_slots() {
    let mut spread = two_slots();
    let (anna, tom) = (spread.sign_in("forum", "anna"), spread.sign_in("forum", "tom"));
    let (mila, eve) = (spread.sign_in("club", "mila"), spread.sign_in("club", "eve"));
    let now = Timestamp(spread.now);
    spread.fronts.stand_still(now);
    spread.send(mila, "eve", "not sent yet");
    let record = serde_json::to_value(spread.fronts.write_down()).unwrap();
    let counts = spread.take_over(2, serde_json::from_value(record).unwrap(), |handle| handle != tom.handle);
    assert_eq!(counts, (3, 1));
    assert!(spread.fronts.sites().is_complete());
    spread.send(anna, "anna", "to nobody");
    spread.settle();
    assert_eq!(spread.bodies(), [(eve.handle, "not sent yet".into())]);
    for place in &spread.places {
        assert_eq!(place.home.links().counters().links_begun.read(), 1, "the links have moved");
    }
    assert_eq!(spread.linked(), [true, true]);
}

#[test]
fn a_record_is_read_by_and_from_a_version_before_slots() {
    let mut spread = two_slots();
    let (anna, mila) = (spread.sign_in("forum", "anna"), spread.sign_in("club", "mila"));
    spread.fronts.stand_still(Timestamp(spread.now));
    let both: Value = serde_json::to_value(spread.fronts.write_down()).unwrap();
    // A version before slots knows neither of these fields.
    let of_first = serde_json::from_value::<FrontRecord>(both.clone()).unwrap();
    assert_eq!(of_first.handles().collect::<Vec<_>>(), [anna.handle]);
    let mut before = both;
    let fields = before.as_object_mut().unwrap();
    assert_eq!(fields.remove("other_slots").unwrap().as_array().unwrap().len(), 1);
    assert_eq!(fields.remove("knows_sites"), Some(json!(true)));
    let record: FrontsRecord = serde_json::from_value(before).unwrap();
    assert_eq!(spread.take_over(2, record, |_| true), (1, 0));
    assert_eq!(spread.linked(), [true, false]);
    assert!(spread.fronts.sites().by_key("forum").is_some());
    assert!(!spread.fronts.sites().is_complete());
    spread.settle();
    spread.settle();
    // The connection of a session that the record lacks is told at its next command.
    spread.send(mila, "mila", "lost");
    assert_eq!(spread.outcome(mila.handle), Some(Err(Refusal::NoSession)));
    assert_eq!(spread.linked(), [true, true]);
}

#[test]
fn a_process_with_fewer_slots_ends_the_sessions_of_the_others() {
    let mut spread = two_slots();
    let (anna, mila) = (spread.sign_in("forum", "anna"), spread.sign_in("club", "mila"));
    spread.fronts.stand_still(Timestamp(spread.now));
    let record = spread.fronts.write_down();
    assert_eq!(spread.take_over(1, record, |_| true), (1, 1));
    assert_eq!(spread.outcome(mila.handle), Some(Err(Refusal::Unavailable)));
    assert_eq!(spread.fronts.of_slot(Slot(0)).unwrap().status().sessions, 1);
    let _ = anna;
}
