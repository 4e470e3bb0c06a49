//! Sessions: start, replacement, resume, falling behind, and end.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::{Arc, Mutex, OnceLock};

use chat::*;
use scene::*;
use store::Sqlite;

#[test]
fn a_first_welcome_and_a_later_one() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let welcome = &ann.welcome;
    assert_eq!((welcome.me.sub.as_str(), &*welcome.me.name), ("ann", "The ann"));
    assert_eq!((welcome.presence, welcome.open, &welcome.guest_token), (SetPresence::Online, true, &None));
    assert!(welcome.changes.reset && welcome.changes.conversations.is_empty());

    let bob = scene.sign_in("bob", "b");
    scene.post(&ann, to("bob"), "m1", "one").unwrap();
    let seen = position(&scene.take(&bob));
    scene.drop_connection(&bob);
    scene.post(&ann, to("bob"), "m2", "two").unwrap();
    scene.contact(&ann, ContactAction::Request, "bob").unwrap();

    let changes = scene.sign_in_from("bob", "b", Some(seen)).welcome.changes;
    assert!(!changes.reset);
    assert_eq!(changes.messages.iter().map(|message| &*message.body).collect::<Vec<_>>(), ["two"]);
    assert_eq!((changes.conversations.len(), changes.conversations[0].unread), (1, 2));
    assert_eq!(
        changes.conversations[0].with.person().unwrap().presence,
        Some(Presence::Online),
        "although no round has published it yet"
    );
    assert_eq!(changes.contacts.get(0).unwrap().state(), ContactState::RequestReceived);
    assert!(changes.gaps.is_empty());

    // Positions of another database, or from the future, lead to a first page.
    for position in [Position { epoch: 9, ..seen }, Position { number: 1 << 40, ..seen }] {
        let changes = scene.sign_in_from("bob", "b", Some(position)).welcome.changes;
        assert!(changes.reset && changes.messages.is_empty() && changes.conversations.len() == 1);
    }
}

#[test]
fn a_long_absence_leaves_a_listed_gap() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&ann, to("bob"), "m0", "0").unwrap();
    let seen = position(&scene.take(&bob));
    scene.drop_connection(&bob);
    for number in 1..=80 {
        scene.post(&ann, to("bob"), &format!("m{number}"), "x").unwrap();
    }
    let changes = scene.sign_in_from("bob", "b", Some(seen)).welcome.changes;
    assert_eq!(changes.messages.len(), 50);
    let [Gap { first, .. }] = changes.gaps[..] else { panic!("one gap") };
    assert_eq!((first, changes.messages[0].seq), (Seq(32), Seq(32)));
}

#[test]
fn refused_sign_ins() {
    let scene = Scene::new(Mode::Open);
    let device = || DeviceId::parse("d").unwrap();
    let token = scene.token("ann");
    let said = |site_key: &str, origin: Option<&str>| {
        let handle = scene.handle();
        let hello = Hello {
            site_key: site_key.into(),
            credential: chat::Credential::Token((&token).into()),
            device: device(),
            position: None,
            origin: origin.map(Into::into),
            address: None,
            agent: Agent::default(),
            announced: None,
        };
        scene.node.sign_in(hello, handle, scene.now());
        match scene.inbox.take(handle).remove(0) {
            event!(session::Welcome(_)) => None,
            event!(session::Bye(refusal)) => Some(refusal),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(said("forum", Some("https://forum.example")), None);
    assert_eq!(said("forum", None), None, "no browser");
    assert_eq!(said("forum", Some("https://evil.example")), Some(Refusal::BadOrigin));
    assert_eq!(said("", None), Some(Refusal::NoSuchSite));
    assert_eq!(said("Forum", None), Some(Refusal::NoSuchSite));
    assert_eq!(scene.node.origin_allowed("forum", "https://forum.example"), Ok(true));
    assert_eq!(scene.node.origin_allowed("forum", "https://evil.example"), Ok(false));
    assert_eq!(scene.node.origin_allowed("other", "https://forum.example"), Err(Refusal::NoSuchSite));

    scene.store.fail_writes(Some(StoreError::DiskFull));
    assert_eq!(scene.refused_hello(Some(&scene.token("new"))), Refusal::Unavailable);
    assert_eq!(scene.node.stats().sessions, 1, "ann's newest");
}

#[test]
fn the_same_device_again_replaces_itself() {
    let scene = Scene::new(Mode::Open);
    let (old, laptop) = (scene.sign_in("ann", "phone"), scene.sign_in("ann", "laptop"));
    let new = scene.sign_in("ann", "phone");
    assert!(matches!(scene.take(&old)[..], [event!(session::Bye(Refusal::Replaced))]));
    assert!(scene.take(&laptop).is_empty() && scene.take(&new).is_empty());
    // The gateway closes the old connection, which does not affect the new session.
    scene.drop_connection(&old);
    scene.command(&old, presence::Command::Set(SetPresence::Busy));
    assert!(matches!(scene.take(&old)[..], [event!(session::Bye(Refusal::NoSession))]));
    let bob = scene.sign_in("bob", "phone");
    scene.post(&bob, to("ann"), "m", "x").unwrap();
    assert_eq!((scene.bodies(&new).len(), scene.bodies(&laptop).len(), scene.bodies(&old).len()), (1, 1, 0));
    assert_eq!((scene.node.stats().sessions, scene.node.stats().users_online), (3, 2));
}

#[test]
fn limits_of_sessions() {
    let mut config = config();
    config.limits.sessions_per_user = 2;
    config.limits.sessions_per_site = 4;
    let scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let devices = ["1", "2", "3"].map(|device| scene.sign_in("ann", device));
    assert!(
        matches!(scene.take(&devices[0])[..], [event!(session::Bye(Refusal::Replaced))]),
        "the oldest goes"
    );
    let bob = scene.sign_in("bob", "b");
    scene.sign_in("cat", "c");
    assert_eq!(scene.refused_hello(Some(&scene.token("dan"))), Refusal::Full);
    scene.leave(&bob);
    scene.sign_in("dan", "d");
    assert_eq!(scene.refused_hello(Some(&scene.token("eve"))), Refusal::Full);
    assert_eq!(scene.node.stats().sessions, 4);
}

#[test]
fn the_welcome_comes_first_and_no_event_is_lost() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let run = |hello: SessionHandle| {
        scene.store.run();
        scene.welcomed(hello)
    };
    let ann = run(scene.hello(Some(&scene.token("ann")), "a", None));
    let bob = run(scene.hello(Some(&scene.token("bob")), "b", None));
    scene.send(&ann, to("bob"), "m0", "0");
    scene.store.run();
    let seen = position(&scene.take(&bob));
    scene.drop_connection(&bob);

    // A message is committed and published at every moment of Bob's sign-in, which takes four turns of the
    // store.
    for moment in 0..5 {
        let id = format!("m{}", moment + 1);
        let handle = scene.hello(Some(&scene.token("bob")), "b", Some(seen));
        for _ in 0..moment {
            let last = scene.store.turns() - 1;
            scene.store.turn(last);
        }
        scene.send(&ann, to("bob"), &id, &id);
        // Writes first, so that the message overtakes the sign-in, which waits for a read.
        while scene.store.turns() > 0 {
            scene.store.turn(0);
        }
        let events = scene.inbox.take(handle);
        let Some(event!(session::Welcome(welcome))) = events.first() else {
            panic!("moment {moment}: {events:?}")
        };
        let in_welcome = welcome.changes.messages.iter().filter(|message| *message.client_id == *id).count();
        let after = events
            .iter()
            .filter(|e| matches!(e, event!(messages::Message(m)) if *m.client_id == *id))
            .count();
        assert_eq!(in_welcome + after, 1, "moment {moment}: once, in the welcome or after it");
        scene.node.disconnected(welcome.session, false, scene.now());
    }
}

/// A client that answers its welcome during its delivery, as a client on the same machine can.
#[derive(Default)]
struct Eager {
    node: OnceLock<Arc<Node>>,
    received: Mutex<Vec<Delivery>>,
}

impl Outbox for Eager {
    fn deliver(&self, _: &[SessionHandle], event: Delivery) {
        let answers = match &event {
            event!(session::Welcome(welcome)) => Some(welcome.session),
            _ => None,
        };
        self.received.lock().unwrap().push(event);
        if let (Some(session), Some(node)) = (answers, self.node.get()) {
            let command = Request::new(1, contacts::Command::Profiles { users: vec![] });
            node.command(session, command, Timestamp(START));
        }
    }
}

#[test]
fn commands_are_accepted_as_soon_as_the_welcome_is_sent() {
    let scene = Scene::new(Mode::Open);
    let eager = Arc::new(Eager::default());
    let node = Arc::new(Node::new(config(), scene.store.clone(), eager.clone(), [3; 32]));
    assert!(eager.node.set(node.clone()).is_ok());
    let device = DeviceId::parse("d").unwrap();
    let token = scene.token("ann");
    let hello = Hello {
        site_key: SITE.into(),
        credential: chat::Credential::Token((&token).into()),
        device,
        position: None,
        origin: None,
        address: None,
        agent: Agent::default(),
        announced: None,
    };
    node.sign_in(hello, SessionHandle(1), scene.now());
    let received = eager.received.lock().unwrap();
    assert!(
        matches!(received[..], [event!(session::Welcome(_)), event!(Some(1), contacts::Profiles(_))]),
        "{received:?}"
    );
}

#[test]
fn too_many_events_before_the_welcome_make_a_session_behind() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let ann = scene.hello(Some(&scene.token("ann")), "a", None);
    scene.hello(Some(&scene.token("bob")), "b0", None);
    scene.store.run();
    let ann = scene.welcomed(ann);
    scene.send(&ann, to("bob"), "known", "so that no look-up comes between");
    scene.store.run();

    let bob = scene.hello(Some(&scene.token("bob")), "b", None);
    // The row is read and the session registered; the snapshot is taken but not delivered.
    for _ in 0..3 {
        scene.store.turn(0);
    }
    assert_eq!(scene.store.turns(), 1, "the snapshot's answer");
    for number in 0..100 {
        scene.send(&ann, to("bob"), &format!("m{number}"), "x");
        scene.store.turn(1); // commit
        scene.store.turn(0); // publish
    }
    scene.store.run();
    let events = scene.inbox.take(bob);
    let [event!(session::Welcome(welcome)), event!(session::Behind)] = &events[..] else {
        panic!("{} events", events.len())
    };
    let session = welcome.session;
    let position = Some(welcome.changes.position);
    scene.node.command(session, Request::new(1, sign_in::Command::Resume { position }), scene.now());
    scene.store.run();
    let events = scene.inbox.take(bob);
    let [event!(Some(1), session::Changes(changes))] = &events[..] else { panic!("{events:?}") };
    assert_eq!((changes.messages.len(), changes.gaps.len()), (50, 1));
}

#[test]
fn a_session_behind_receives_nothing_until_it_resumes() {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.watch(&bob, &["ann"]);
    scene.post(&ann, to("bob"), "m0", "0").unwrap();
    let seen = position(&scene.take(&bob));

    scene.node.behind(bob.session);
    scene.post(&ann, to("bob"), "m1", "1").unwrap();
    scene.command(&ann, messages::Command::Typing { to: to("bob"), on: true });
    // Own messages are stored; an acknowledgement would move the position beyond m1.
    scene.send(&bob, to("ann"), "b1", "mine");
    assert!(scene.take(&bob).is_empty());

    let events = scene.ask(&bob, Request::new(7, sign_in::Command::Resume { position: Some(seen) }));
    let event!(Some(7), session::Changes(changes)) = &events[0] else { panic!("{events:?}") };
    let ids: Vec<&str> = changes.messages.iter().map(|message| &*message.client_id).collect();
    assert_eq!(ids, ["m1", "b1"]);
    assert_eq!(presences(&events), [("ann".into(), Presence::Online)], "what it watches, anew");
    scene.post(&ann, to("bob"), "m2", "2").unwrap();
    assert_eq!(scene.bodies(&bob), ["2"]);
    assert_eq!(scene.node.stats().behind, 1);
}

#[test]
fn resumes_are_exclusive_and_can_be_retried() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let handle = scene.hello(Some(&scene.token("ann")), "a", None);
    scene.store.run();
    let ann = scene.welcomed(handle);
    let resume = |re| scene.command(&ann, Request::new(re, sign_in::Command::Resume { position: None }));
    resume(1);
    resume(2);
    assert!(matches!(scene.take(&ann)[..], [event!(Some(2), session::Refused(Refusal::RateLimited { .. }))]));
    // Behind again while the answer is pending: that answer is late, even after the next request.
    scene.node.behind(ann.session);
    scene.store.run();
    assert!(scene.take(&ann).is_empty());
    resume(3);
    scene.store.turn(0); // the snapshot is taken, and delivered later
    scene.node.behind(ann.session);
    resume(4);
    scene.store.run();
    assert!(matches!(scene.take(&ann)[..], [event!(Some(4), session::Changes(_))]));
}

#[test]
fn bans_and_removed_sites_end_sessions() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    scene.store.set_banned(bob.session.user, true, Box::new(|_| ()));
    scene.node.refresh_sites().unwrap();
    assert!(matches!(scene.take(&bob)[..], [event!(session::Bye(Refusal::Banned))]));
    assert_eq!(scene.refused_hello(Some(&scene.token("bob"))), Refusal::Banned);
    assert_eq!(scene.post(&ann, to("bob"), "m", "x"), Err(Refusal::NotAllowed));

    scene.store.set_banned(bob.session.user, false, Box::new(|_| ()));
    scene.node.refresh_sites().unwrap();
    scene.sign_in("bob", "d");
    assert!(scene.post(&ann, to("bob"), "m", "x").is_ok());

    scene.store.remove_site(SiteId(1)).unwrap();
    scene.node.refresh_sites().unwrap();
    assert!(matches!(scene.take(&ann)[..], [event!(session::Bye(Refusal::NoSuchSite))]));
    assert_eq!(scene.refused_hello(Some(&scene.token("ann"))), Refusal::NoSuchSite);
    assert_eq!((scene.node.stats().sessions, scene.node.stats().sites), (0, 0));
}

#[test]
fn goodbye_spreads_the_reconnects() {
    let mut scene = Scene::new(Mode::Open);
    let devices: Vec<Device> = (0..200).map(|n| scene.sign_in(&format!("u{n}"), "d")).collect();
    scene.wait(5_000);
    scene.node.goodbye(10_000);
    let moments: std::collections::BTreeSet<u32> = devices
        .iter()
        .map(|device| match scene.take(device)[..] {
            [event!(session::Bye(Refusal::GoingAway { retry_after_ms }))] => retry_after_ms,
            ref other => panic!("{other:?}"),
        })
        .collect();
    assert!(moments.len() > 150 && *moments.first().unwrap() < 1000 && *moments.last().unwrap() > 9000);
    assert!(moments.iter().all(|moment| *moment <= 10_000));
    assert!(matches!(scene.refused_hello(Some(&scene.token("late"))), Refusal::GoingAway { .. }));
    let rows = scene.store.list_users(SiteId(1), None, 1000).unwrap();
    assert!(rows.iter().all(|row| row.last_seen == scene.now()), "when all were here is remembered");
    assert_eq!(scene.node.stats().sessions, 0);
}

#[test]
fn a_crowd_is_admitted_at_the_rate_of_the_store() {
    let scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let token = scene.token("ann");
    let under_way: Vec<_> = (0..4_000).map(|_| scene.hello(Some(&token), "d", None)).collect();
    let first = under_way[0];
    let moments: Vec<u32> = (0..100)
        .map(|_| match scene.refused_hello(Some("a token that nobody looks at")) {
            Refusal::Overloaded { retry_after_ms } => retry_after_ms,
            other => panic!("{other}"),
        })
        .collect();
    assert!(moments.is_sorted() && moments[0] >= 1_000, "{moments:?}");
    assert!(moments[99] > moments[0] + 40, "not all in one moment: {moments:?}");
    assert!(scene.inbox.take(first).is_empty(), "under way");
    scene.store.run();
    // All had the same device, and each replaced the one before.
    assert!(matches!(scene.inbox.take(first).last(), Some(event!(session::Bye(Refusal::Replaced)))));
    assert_eq!(scene.refused_hello(Some("not a token")), Refusal::BadToken, "there is room again");
}

#[test]
fn refusals_are_counted_by_kind() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    scene.refused_hello(Some("x"));
    scene.refused_hello(Some("y"));
    scene.post(&ann, to("zoe"), "m", "x").unwrap_err();
    let refusals = scene.node.stats().refusals;
    let count = |word| refusals.iter().find(|(known, _)| *known == word).unwrap().1;
    assert_eq!((count("bad_token"), count("no_such_user"), count("banned")), (2, 1, 0));
    assert_eq!(Refusal::GoingAway { retry_after_ms: 5 }.word(), "going_away");
    assert_eq!(Refusal::NoSuchSite.word(), "no_such_site");
}

/// The last position of these events.
fn position(events: &[Delivery]) -> Position {
    let position = |event: &Delivery| match event {
        event!(_, Some(position), messages::Message(_))
        | event!(_, Some(position), messages::Ack { .. })
        | event!(_, Some(position), messages::Marker { .. }) => Some(*position),
        _ => None,
    };
    events.iter().rev().find_map(position).expect("one of them has a position")
}

#[test]
fn a_client_ahead_of_the_store_gets_a_first_page_and_is_counted() {
    let scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let known = ann.welcome.changes.position;
    let ahead = Position { number: known.number + 100, ..known };
    let elsewhere = Position { epoch: known.epoch + 1, ..ahead };
    assert!(!scene.sign_in_from("ann", "b", Some(known)).welcome.changes.reset);
    assert!(scene.sign_in_from("ann", "c", Some(elsewhere)).welcome.changes.reset);
    assert_eq!(scene.node.stats().positions_ahead, 0);
    assert!(scene.sign_in_from("ann", "d", Some(ahead)).welcome.changes.reset);
    assert_eq!(scene.node.stats().positions_ahead, 1);
    let resumed = scene.ask(&ann, Request::new(1, sign_in::Command::Resume { position: Some(ahead) }));
    assert!(matches!(&resumed[..], [event!(session::Changes(changes)), ..] if changes.reset), "{resumed:?}");
    assert_eq!(scene.node.stats().positions_ahead, 2);
}
