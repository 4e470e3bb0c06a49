//! Peers that break the rules: a front that lies, a slow front, a former home, and strangers on the bus.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use chat::session::Event as SessionEvent;
use chat::token::{Claims, sign};
use chat::*;
use proptest::prelude::*;
use store::Sqlite;

use crate::envelope::{Envelope, FrontId, Kind, Term};
use crate::wire::{Join, ToHome, write};
use crate::{Front, Home, HomeOutbox, Links, Subject};

pub(crate) const START: u64 = 1_800_000_000_000;
/// Of the secret for relays.
pub(crate) const PROOF: &str = "proof of the secret";

#[derive(Default, Clone)]
pub(crate) struct Inbox(pub(crate) Arc<Mutex<VecDeque<(SessionHandle, Delivery)>>>);

impl Outbox for Inbox {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        self.0.lock().unwrap().extend(to.iter().map(|to| (*to, delivery.clone())));
    }
}

impl Inbox {
    pub(crate) fn take(&self) -> Vec<(SessionHandle, Delivery)> {
        self.0.lock().unwrap().drain(..).collect()
    }
}

pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) node: Arc<Node>,
    store: Arc<Sqlite>,
    pub(crate) fronts: Vec<(Front, Inbox)>,
    pub(crate) now: u64,
    next_handle: u64,
    /// Fronts that take no envelopes.
    pub(crate) stopped: Vec<usize>,
}

pub(crate) fn secret() -> Secret {
    Secret::new(SecretKind::Hs256, b"a secret of this site".to_vec(), Timestamp(START))
}

pub(crate) fn site() -> Site {
    Site {
        id: SiteId(0),
        key: "forum".into(),
        name: "Forum".into(),
        mode: Mode::Open,
        guests: false,
        origins: vec!["https://forum.example".into()],
        secrets: vec![secret()],
        guest_keys: vec![],
        public_url: None,
        domain: Some("forum.example".into()),
        settings: Settings::default(),
        created: Timestamp(START),
    }
}

impl Scene {
    pub(crate) fn new(fronts: u64) -> Scene {
        let store = Sqlite::in_memory();
        store.add_site(&site()).unwrap();
        let store = Arc::new(store);
        let links = Links::new(Slot::FIRST, Term(5), || ());
        let outbox = HomeOutbox::new(Inbox::default(), Arc::clone(&links));
        let node = Arc::new(Node::new(config(), store.clone(), Arc::new(outbox), [7; 32]));
        let home = Home::new(links, Arc::clone(&node), "10.0.0.1:80".into()).with_relays(PROOF.into());
        let fronts = (1..=fronts).map(|id| {
            let inbox = Inbox::default();
            let name = format!("front {id}");
            (Front::new(FrontId(id), Slot::FIRST, name, inbox.clone(), Timestamp(START), || ()), inbox)
        });
        let mut scene = Scene {
            home,
            node,
            store,
            fronts: fronts.collect(),
            now: START,
            next_handle: 1,
            stopped: Vec::new(),
        };
        scene.settle();
        scene
    }

    /// All envelopes arrive, until nothing is due any more.
    pub(crate) fn settle(&mut self) {
        for _ in 0..20 {
            self.now += 60;
            let now = Timestamp(self.now);
            self.home.tick(now);
            let mut sent = Vec::new();
            self.home.flush(now, &mut |to, bytes| sent.push((to, bytes)));
            let running = self.fronts.iter().enumerate().filter(|(at, _)| !self.stopped.contains(at));
            for (_, (front, _)) in running {
                front.tick(now);
                for (to, bytes) in &sent {
                    if *to == Subject::Front(front.id()) || matches!(to, Subject::Fronts(_)) {
                        front.receive(bytes, now);
                    }
                }
                front.flush(now, &mut |_, bytes| self.home.receive(&bytes, now));
            }
        }
    }

    /// The answer comes later.
    pub(crate) fn begin_sign_in(&self, front: usize, user: &str, handle: SessionHandle) {
        let hello = self.hello(user, self.now / 1000 + 3600);
        self.fronts[front].0.sign_in(&hello, handle, Timestamp(self.now));
    }

    /// `expires`: the end of the token, in seconds.
    pub(crate) fn hello(&self, user: &str, expires: u64) -> Hello<'static> {
        let exp = expires as f64;
        let claims = Claims { sub: user.into(), name: Some(user.into()), exp, ..Claims::default() };
        Hello {
            site_key: "forum".into(),
            credential: Credential::Token(sign(&claims, &secret()).unwrap().into()),
            device: DeviceId::parse(user).unwrap(),
            position: None,
            origin: None,
            address: None,
            agent: Agent::default(),
            announced: None,
        }
    }

    pub(crate) fn sign_in(&mut self, front: usize, user: &str) -> SessionId {
        let handle = SessionHandle(self.next_handle);
        self.next_handle += 1;
        self.begin_sign_in(front, user, handle);
        self.settle();
        let events = self.fronts[front].1.take();
        let welcome = events.into_iter().find_map(|(_, delivery)| match delivery.event {
            Event::Session(SessionEvent::Welcome(welcome)) => Some(welcome.session),
            _ => None,
        });
        welcome.unwrap()
    }

    pub(crate) fn send(&mut self, front: usize, session: SessionId, to: &str, id: &str) {
        self.fronts[front].0.command(session, message(to, id), Timestamp(self.now));
    }

    pub(crate) fn bodies(&self, front: usize) -> Vec<String> {
        let events = self.fronts[front].1.take();
        events.iter().filter_map(|(_, delivery)| body(delivery)).map(str::to_owned).collect()
    }

    /// Sends the session more events than the queue for its front holds, while nothing is flushed.
    fn fill_queue(&self, session: SessionId, front: u8) {
        let outbox = HomeOutbox::new(Inbox::default(), Arc::clone(self.home.links()));
        for number in 0..70_000 {
            let typing = messages::Event::Typing {
                conversation: ConversationId { site: session.user.site, key: 7 },
                user: Sub::parse("anybody").unwrap(),
                on: number % 2 == 0,
            };
            let delivery = Delivery { re: None, position: None, event: typing.into() };
            outbox.deliver(&[session.handle.of_front(front)], delivery);
        }
    }

    /// Another process is the home, on the same store.
    pub(crate) fn next_home(&mut self, term: Term) {
        let links = Links::new(Slot::FIRST, term, || ());
        let outbox = HomeOutbox::new(Inbox::default(), Arc::clone(&links));
        self.node = Arc::new(Node::new(config(), self.store.clone(), Arc::new(outbox), [8; 32]));
        let home = Home::new(links, Arc::clone(&self.node), "10.0.0.2:80".into());
        self.home = home.with_relays(PROOF.into());
    }
}

pub(crate) fn body(delivery: &Delivery) -> Option<&str> {
    match &delivery.event {
        Event::Messages(messages::Event::Message(message)) => Some(&message.body),
        _ => None,
    }
}

pub(crate) fn config() -> NodeConfig {
    // The home has no relays. Some fronts do.
    let turn = Turn { urls: [].into(), secret: (*b"a secret of relays").into(), life_ms: 60_000 };
    NodeConfig {
        limits: Limits::without_rates(),
        presence_grace_ms: 10_000,
        presence_coalesce_ms: 500,
        clock_skew_ms: 60_000,
        calls: CallConfig {
            from: CallsFrom::Everyone,
            per_minute: 0,
            turn: Some(turn),
            ..CallConfig::default()
        },
        app_passwords: true,
    }
}

pub(crate) fn message(to: &str, id: &str) -> Request {
    Command::from(messages::Command::Send {
        client_id: id.into(),
        to: To::User(Sub::parse(to).unwrap()),
        body: id.into(),
        extension: None,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    })
    .into()
}

pub(crate) fn envelope(
    kind: Kind,
    term: Term,
    front: u64,
    link: u64,
    number: u64,
    payload: &[u8],
) -> Vec<u8> {
    let (slot, front) = (Slot::FIRST, FrontId(front));
    Envelope { kind, slot, term, front, link, number, acknowledged: 0, payload }.write()
}

fn item(item: &ToHome<'_>) -> Vec<u8> {
    let item = write(item);
    [&u32::try_from(item.len()).unwrap().to_be_bytes()[..], &item].concat()
}

#[test]
fn a_front_that_lies_reaches_no_session_of_another_front() {
    let mut scene = Scene::new(2);
    let anna = scene.sign_in(0, "anna");
    let tom = scene.sign_in(1, "tom");
    let now = Timestamp(scene.now);
    // The liar joins, and speaks for the connections of all other fronts, with any number in the handle.
    scene.home.receive(&envelope(Kind::Join, Term(0), 66, 1, 0, &write(&Join { name: "liar".into() })), now);
    let mut lies = Vec::new();
    for front in 0..=u8::MAX {
        let session = SessionId { handle: anna.handle.of_front(front), ..anna };
        lies.extend(item(&ToHome::Command { session, request: message("tom", "forged"), now, again: false }));
        lies.extend(item(&ToHome::Disconnected { session, on_purpose: true, now }));
        lies.extend(item(&ToHome::Behind(session)));
    }
    scene.home.receive(&envelope(Kind::Data, Term(5), 66, 1, 1, &lies), now);
    scene.settle();
    assert!(scene.bodies(1).is_empty(), "nobody gets a forged message");
    scene.send(0, anna, "tom", "true");
    scene.settle();
    assert_eq!(scene.bodies(1), ["true"], "the session is where it was");
    scene.send(1, tom, "anna", "back");
    scene.settle();
    assert_eq!(scene.bodies(0), ["back"]);
}

#[test]
fn a_front_that_takes_nothing_slows_no_other_and_its_sessions_are_behind_afterwards() {
    let mut scene = Scene::new(2);
    let anna = scene.sign_in(0, "anna");
    let tom = scene.sign_in(1, "tom");
    let eve = scene.sign_in(0, "eve");
    scene.stopped.push(1);
    let now = Timestamp(scene.now);
    scene.fill_queue(tom, 2);
    assert!(scene.home.links().counters().sessions_missed.read() == 1, "one session has missed something");
    assert!(scene.home.links().status().iter().all(|link| link.queued <= 65_537));
    scene.fronts[0].0.command(anna, message("eve", "fast"), now);
    scene.settle();
    assert_eq!(scene.bodies(0), ["fast"], "the other front is as fast as ever");
    let _ = eve;
}

/// The home once stood still for ever when somebody read `/metrics` while it flushed: each thread held the lock that the other
/// one waited for.
#[test]
fn the_state_of_the_links_is_read_while_the_home_flushes() {
    let Scene { home, now, .. } = Scene::new(2);
    assert_eq!(home.links().status().len(), 2);
    let (home, is_over) = (Arc::new(home), Arc::new(AtomicBool::new(false)));
    let (done, ends) = mpsc::channel();
    let threads: [Box<dyn FnOnce() + Send>; 2] = [
        Box::new({
            let (home, is_over, done) = (Arc::clone(&home), Arc::clone(&is_over), done.clone());
            move || {
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(home.links().status().len(), 2);
                }
                let _ = done.send(());
            }
        }),
        Box::new(move || {
            (0..50_000).for_each(|_| home.flush(Timestamp(now), &mut |_, _| ()));
            is_over.store(true, Ordering::Relaxed);
            let _ = done.send(());
        }),
    ];
    threads.into_iter().for_each(|thread| drop(std::thread::spawn(thread)));
    for _ in 0..2 {
        ends.recv_timeout(Duration::from_secs(60)).expect("both threads end");
    }
}

#[test]
fn a_session_that_has_missed_something_is_told_so_when_its_front_reads_again() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    scene.fill_queue(anna, 1);
    for _ in 0..30 {
        scene.settle();
    }
    let events = scene.fronts[0].1.take();
    let is_behind = |(to, delivery): &(SessionHandle, Delivery)| {
        *to == anna.handle && matches!(delivery.event, Event::Session(SessionEvent::Behind))
    };
    assert_eq!(events.iter().filter(|event| is_behind(event)).count(), 1);
    assert!(events.len() > 60_000, "what was queued before arrives: {}", events.len());
}

/// The client once waited for ever, and got no event: the answer to its resume was among the dropped events.
#[test]
fn a_resume_whose_answer_may_be_dropped_is_refused_so_that_its_client_asks_again() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    scene.fill_queue(anna, 1);
    // The queue for the front is full when the home answers.
    let resume = || Request::new(1, sign_in::Command::Resume { position: None });
    let now = Timestamp(scene.now);
    scene.fronts[0].0.command(anna, resume(), now);
    scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    let answers = |scene: &mut Scene| {
        for _ in 0..30 {
            scene.settle();
        }
        let events = scene.fronts[0].1.take();
        let answers = events.into_iter().filter(|(_, delivery)| delivery.re == Some(1));
        answers.map(|(_, delivery)| delivery.event).collect::<Vec<Event>>()
    };
    let first = answers(&mut scene);
    let [Event::Session(SessionEvent::Refused(Refusal::Unavailable)), ..] = &first[..] else {
        panic!("{first:?}")
    };
    let now = Timestamp(scene.now);
    scene.fronts[0].0.command(anna, resume(), now);
    let second = answers(&mut scene);
    let [.., Event::Session(SessionEvent::Changes(_))] = &second[..] else { panic!("{second:?}") };
}

/// Its front once did not know the session when it read of the missed event, so its client kept a gap for ever.
#[test]
fn a_session_whose_welcome_waits_in_a_full_queue_is_told_of_what_it_misses_meanwhile() {
    const TOM: SessionHandle = SessionHandle(901);
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    // The queue is full, and already has the entry that names the sessions which miss an event.
    scene.fill_queue(anna, 1);
    scene.begin_sign_in(0, "tom", TOM);
    let now = Timestamp(scene.now);
    scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    scene.fronts[0].0.command(anna, message("tom", "missed"), now);
    scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
    for _ in 0..30 {
        scene.settle();
    }
    let events = scene.fronts[0].1.take();
    let of_tom = events.iter().filter(|(to, _)| *to == TOM).map(|(_, delivery)| &delivery.event);
    let of_tom: Vec<&Event> = of_tom.collect();
    let [Event::Session(SessionEvent::Welcome(_)), Event::Session(SessionEvent::Behind)] = &of_tom[..] else {
        panic!("{of_tom:?}")
    };
    // The home keeps events from it until it has resumed.
    scene.fronts[0].0.command(anna, message("tom", "later"), Timestamp(scene.now));
    scene.settle();
    let events = scene.fronts[0].1.take();
    assert!(!events.iter().any(|(to, delivery)| *to == TOM && body(delivery) == Some("later")), "{events:?}");
}

/// Each of its resumes was once taken for one from before, so the home read its changes again and again.
#[test]
fn a_client_that_uses_one_number_for_each_resume_is_told_once_that_its_resume_was_from_before() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    let resume = || Request::new(1, sign_in::Command::Resume { position: None });
    let told = |scene: &mut Scene| {
        scene.settle();
        let events = scene.fronts[0].1.take();
        let is_behind = |event: &Event| matches!(event, Event::Session(SessionEvent::Behind));
        let is_changes = |event: &Event| matches!(event, Event::Session(SessionEvent::Changes(_)));
        let count = |is: &dyn Fn(&Event) -> bool| events.iter().filter(|(_, it)| is(&it.event)).count();
        (count(&is_behind), count(&is_changes))
    };
    let now = Timestamp(scene.now);
    scene.fronts[0].0.command(anna, resume(), now);
    scene.fronts[0].0.behind(anna);
    let (behind, changes) = told(&mut scene);
    assert!(behind > 0 && changes == 1, "the changes are from before: {behind}, {changes}");
    for _ in 0..3 {
        let now = Timestamp(scene.now);
        scene.fronts[0].0.command(anna, resume(), now);
        assert_eq!(told(&mut scene), (0, 1));
    }
}

#[test]
fn envelopes_of_a_former_home_are_ignored() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    let (front, inbox) = &scene.fronts[0];
    let before = front.counters().envelopes_old.read();
    let now = Timestamp(scene.now);
    for kind in [Kind::Announce, Kind::Reset, Kind::Data, Kind::Beat] {
        front.receive(&envelope(kind, Term(4), 1, 1, 99, b"{\"http\":\"10.6.6.6:80\"}"), now);
    }
    assert_eq!(front.counters().envelopes_old.read(), before + 4);
    assert!(front.status().is_linked);
    assert_eq!(front.home().as_deref(), Some("10.0.0.1:80"));
    assert!(inbox.take().is_empty());
    scene.send(0, anna, "anna", "x");
    scene.settle();
    assert!(scene.fronts[0].0.status().is_linked);
}

#[test]
fn the_sessions_of_a_silent_front_end_in_the_background_and_it_joins_again_after_that() {
    let mut scene = Scene::new(2);
    let (later, works) = mpsc::channel();
    let links = Links::new(Slot::FIRST, Term(5), || ());
    let outbox = HomeOutbox::new(Inbox::default(), Arc::clone(&links));
    scene.node = Arc::new(Node::new(config(), scene.store.clone(), Arc::new(outbox), [7; 32]));
    scene.home = Home::new(links, Arc::clone(&scene.node), "10.0.0.1:80".into())
        .in_background(move |work| later.send(work).unwrap());
    scene.settle();
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    scene.stopped.push(0);
    for _ in 0..4 {
        scene.settle();
    }
    assert_eq!(scene.home.links().status().len(), 1, "its link is lost");
    assert_eq!(scene.node.stats().sessions, 2, "and nobody has waited for the end of its sessions");
    scene.send(1, tom, "anna", "meanwhile");
    scene.settle();
    scene.stopped.clear();
    scene.settle();
    assert!(!scene.fronts[0].0.status().is_linked, "its former sessions would pass for newer ones");
    works.recv().unwrap()();
    assert_eq!(scene.node.stats().sessions, 1);
    scene.fronts[0].1.take();
    for _ in 0..4 {
        scene.settle();
    }
    assert!(scene.fronts[0].0.status().is_linked);
    assert_eq!(scene.node.stats().sessions, 2, "it has brought them back");
    let events = scene.fronts[0].1.take();
    assert!(events.iter().all(|(to, delivery)| *to == anna.handle && delivery.event.farewell().is_none()));
}

#[test]
fn a_new_home_with_a_greater_term_is_joined_at_once() {
    let scene = Scene::new(1);
    let (front, _) = &scene.fronts[0];
    front.receive(
        &envelope(Kind::Announce, Term(6), 0, 0, 0, b"{\"http\":\"10.0.0.2:80\"}"),
        Timestamp(scene.now),
    );
    assert!(!front.status().is_linked);
    assert_eq!((front.status().term, front.home().as_deref()), (Term(6), Some("10.0.0.2:80")));
    let mut sent = Vec::new();
    front.flush(Timestamp(scene.now), &mut |to, bytes| sent.push((to, bytes)));
    let [(Subject::Home(_), join)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!(Envelope::read(join).unwrap().kind, Kind::Join);
}

#[test]
fn a_front_that_missed_the_announcement_of_a_new_home_joins_it_once() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    let links = Links::new(Slot::FIRST, Term(9), || ());
    scene.home = Home::new(links, Arc::clone(&scene.node), "10.0.0.9:80".into());
    let now = Timestamp(scene.now + 5_000);
    scene.fronts[0].0.tick(now);
    let mut join = Vec::new();
    scene.fronts[0].0.flush(now, &mut |_, bytes| join.push(bytes));
    join.iter().for_each(|bytes| scene.home.receive(bytes, now));
    // Only the first item of the link arrives, and no announcement.
    let mut sent = Vec::new();
    scene.home.flush(now, &mut |to, bytes| sent.push((to, bytes)));
    for (_, bytes) in sent.iter().filter(|(to, _)| matches!(to, Subject::Front(_))) {
        scene.fronts[0].0.receive(bytes, now);
    }
    let before = scene.fronts[0].0.counters().links_begun.read();
    scene.now += 5_000;
    scene.settle();
    assert_eq!(scene.fronts[0].0.counters().links_begun.read(), before);
    assert_eq!(scene.fronts[0].0.status().term, Term(9));
    assert!(scene.fronts[0].0.status().is_linked, "{anna:?}");
}

#[test]
fn the_copy_of_the_sites_follows_the_home() {
    let mut scene = Scene::new(1);
    let port = |scene: &Scene| scene.fronts[0].0.sites();
    assert_eq!(port(&scene).by_domain("forum.example").map(|site| &*site.key), Some("forum"));
    let site = port(&scene).by_key("forum").unwrap().id;
    assert_eq!(port(&scene).count(), 1);
    let mut settings = Settings::default();
    settings.members.devices = true;
    scene.store.set_settings(site, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    scene.settle();
    assert!(port(&scene).by_id(site).unwrap().keeps_devices);
}

#[test]
fn commands_beyond_the_bound_are_refused_while_no_home_is_there() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    let (front, inbox) = &scene.fronts[0];
    // The home is gone: the front notices by silence.
    front.tick(Timestamp(scene.now + 10_000));
    assert!(!front.status().is_linked);
    inbox.take();
    let now = Timestamp(scene.now + 10_000);
    for number in 0..100 {
        front.command(anna, message("tom", &format!("m{number}")), now);
    }
    let refused = inbox.take().len();
    assert_eq!((refused, front.status().held), (36, 64));
    front.tick(Timestamp(now.0 + 10_000));
    assert_eq!((inbox.take().len(), front.status().held), (64, 0), "nothing waits for ever");
}

#[test]
fn a_message_on_its_way_waits_for_the_next_home_and_its_session_stays() {
    for reaches_the_old_home in [false, true] {
        let mut scene = Scene::new(2);
        let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
        let now = Timestamp(scene.now);
        for id in ["first", "second"] {
            scene.send(0, anna, "tom", id);
        }
        if reaches_the_old_home {
            // It stores them. Its answers do not arrive.
            scene.fronts[0].0.flush(now, &mut |_, bytes| scene.home.receive(&bytes, now));
        }
        scene.now += 9_000;
        scene.fronts[0].0.tick(Timestamp(scene.now));
        assert!(!scene.fronts[0].0.status().is_linked);
        assert_eq!(scene.fronts[0].0.status().held, 2);
        // This one comes later, and stays behind them.
        scene.send(0, anna, "tom", "third");
        scene.next_home(Term(6));
        scene.settle();
        scene.settle();
        let events = scene.fronts[0].1.take();
        let ended = events.iter().find(|(_, delivery)| delivery.event.farewell().is_some());
        assert!(ended.is_none(), "{ended:?}");
        assert_eq!(scene.fronts[0].0.counters().requests_refused.read(), 0);
        assert_eq!(history(&mut scene, tom, "anna"), ["first", "second", "third"]);
    }
}

#[test]
fn a_message_that_may_be_stored_is_not_refused_when_no_home_comes() {
    let mut scene = Scene::new(1);
    let anna = scene.sign_in(0, "anna");
    scene.send(0, anna, "tom", "on its way");
    let (front, inbox) = &scene.fronts[0];
    front.tick(Timestamp(scene.now + 9_000));
    front.command(anna, message("tom", "not sent"), Timestamp(scene.now + 9_000));
    inbox.take();
    front.tick(Timestamp(scene.now + 20_000));
    let events = inbox.take();
    let farewells = events.iter().filter_map(|(_, delivery)| delivery.event.farewell()).count();
    let refused = events.iter().filter(|(_, delivery)| delivery.answered().is_some()).count();
    assert_eq!((farewells, refused), (1, 0), "{events:?}");
    assert_eq!((front.status().sessions, front.status().held), (0, 0));
}

/// The bodies of the messages between the user of a session on front 1 and another one, oldest first.
fn history(scene: &mut Scene, session: SessionId, with: &str) -> Vec<String> {
    let to = To::User(Sub::parse(with).unwrap());
    let command = messages::Command::History { to, before: None, after: None, thread: None, limit: None };
    scene.fronts[1].0.command(session, Request::new(77, command), Timestamp(scene.now));
    scene.settle();
    let page = scene.fronts[1].1.take().into_iter().find_map(|(_, delivery)| match delivery.event {
        Event::Messages(messages::Event::History { messages, .. }) => Some(messages),
        _ => None,
    });
    page.unwrap().iter().map(|message| message.body.to_string()).collect()
}

#[test]
fn questions_are_answered_or_refused() {
    let mut scene = Scene::new(1);
    let answers = Arc::new(Mutex::new(Vec::new()));
    let ask = |scene: &Scene, token: String| {
        let answers = Arc::clone(&answers);
        let question = PortQuestion::TokenUser {
            site_key: "forum".into(),
            token: token.into(),
            now: Timestamp(scene.now),
        };
        scene.fronts[0].0.ask(
            question,
            Box::new(move |answer| {
                answers.lock().unwrap().push(answer.map(|answer| match answer {
                    PortAnswer::TokenUser(sub) => sub.to_string(),
                    _ => panic!("another answer"),
                }));
            }),
        );
    };
    let claims = Claims { sub: "anna".into(), exp: (START / 1000 + 3600) as f64, ..Claims::default() };
    ask(&scene, sign(&claims, &secret()).unwrap());
    ask(&scene, "forged".into());
    scene.settle();
    assert_eq!(
        answers.lock().unwrap().drain(..).collect::<Vec<_>>(),
        [Ok("anna".into()), Err(Refusal::BadToken)]
    );
    ask(&scene, "pending".into());
    scene.fronts[0].0.tick(Timestamp(scene.now + 10_000));
    ask(&scene, "without a link".into());
    let refused = answers.lock().unwrap().drain(..).collect::<Vec<_>>();
    assert_eq!(refused, [Err(Refusal::Unavailable), Err(Refusal::Unavailable)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_from_the_bus_panic(
        kinds in proptest::collection::vec((0u8..5, 0u64..7, 0u64..3, 0u64..4, proptest::collection::vec(any::<u8>(), 0..60)), 0..12),
    ) {
        let scene = Scene::new(1);
        for (kind, term, link, number, payload) in kinds {
            let mut bytes = envelope(Kind::Data, Term(term), 1, link, number, &payload);
            bytes[3] = kind;
            scene.home.receive(&bytes, Timestamp(scene.now));
            scene.fronts[0].0.receive(&bytes, Timestamp(scene.now));
        }
        scene.home.flush(Timestamp(scene.now), &mut |_, _| ());
        scene.fronts[0].0.flush(Timestamp(scene.now), &mut |_, _| ());
    }
}

#[test]
fn a_home_that_gives_its_role_away_ends_no_session_and_refuses_no_command() {
    let mut scene = Scene::new(2);
    let (anna, tom) = (scene.sign_in(0, "anna"), scene.sign_in(1, "tom"));
    scene.send(0, anna, "tom", "before");
    scene.settle();
    assert_eq!(scene.bodies(1), ["before"]);
    scene.bodies(0);
    // This one is on its way when the home asks the fronts to hold what follows.
    scene.send(0, anna, "tom", "on its way");
    scene.home.leave();
    assert!(!scene.home.has_everything());
    scene.settle();
    assert!(scene.home.has_everything());
    scene.send(0, anna, "tom", "for the next home");
    scene.home.end_links();
    scene.settle();
    assert!(scene.home.links().status().is_empty());
    assert_eq!(scene.bodies(1), ["on its way"], "the answers come before the end of the link");
    for (front, _) in &scene.fronts {
        assert!(!front.status().is_linked);
        assert_eq!(front.counters().requests_refused.read(), 0);
    }
    scene.next_home(Term(6));
    scene.settle();
    scene.settle();
    let events = [0, 1].map(|front| scene.fronts[front].1.take());
    for (_, delivery) in events.iter().flatten() {
        assert!(delivery.event.farewell().is_none(), "no session ends: {delivery:?}");
    }
    let waited = Some(Pending::Message("for the next home".into()));
    assert!(events[0].iter().any(|(_, delivery)| delivery.answered() == waited), "{:?}", events[0]);
    scene.send(1, tom, "anna", "on the same connection");
    scene.settle();
    assert_eq!(scene.bodies(0), ["on the same connection"]);
}

#[test]
fn a_home_that_gives_its_role_away_lets_no_front_join_again() {
    let mut scene = Scene::new(1);
    scene.home.leave();
    scene.settle();
    scene.home.end_links();
    scene.settle();
    let now = Timestamp(scene.now);
    scene.home.receive(&envelope(Kind::Join, Term(5), 66, 9, 0, &write(&Join { name: "late".into() })), now);
    scene.settle();
    assert!(scene.home.links().status().is_empty());
    let mut sent = Vec::new();
    scene.home.flush(Timestamp(scene.now + 5_000), &mut |to, bytes| sent.push((to, bytes)));
    assert!(sent.is_empty(), "it announces itself no more: {sent:?}");
}

#[test]
fn a_home_learns_of_a_greater_term_and_of_no_other() {
    let scene = Scene::new(0);
    let heard = Arc::<Mutex<Vec<Term>>>::default();
    let (links, terms) = (Links::new(Slot::FIRST, Term(5), || ()), Arc::clone(&heard));
    let home = Home::new(links, Arc::clone(&scene.node), "10.0.0.1:80".into())
        .on_successor(move |term| terms.lock().unwrap().push(term));
    for term in [4, 5, 6, u64::MAX] {
        home.receive(&envelope(Kind::Announce, Term(term), 0, 0, 0, b"{}"), Timestamp(scene.now));
    }
    assert_eq!(*heard.lock().unwrap(), [Term(6), Term(u64::MAX)]);
}
