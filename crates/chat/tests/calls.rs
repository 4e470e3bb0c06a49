//! Calls, as two members and their devices see them: from the invitation to the entry in the conversation.

use std::sync::{Arc, Mutex};

use crate::scene;

use chat::*;
use scene::*;
use store::Sqlite;

/// Ann and Bob, who are contacts.
fn friends() -> (Scene, Device, Device) {
    let scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.befriend(&ann, &bob);
    (scene, ann, bob)
}

fn invite(scene: &Scene, from: &Device, to: &str) -> Vec<Delivery> {
    let action = CallAction::Invite { user: sub(to), media: Media::Audio, offer: "offer".into() };
    scene.ask(from, Request::new(1, calls::Command::Direct { action }))
}

/// Calls a user: the call, and the caller's ticket.
fn call(scene: &Scene, from: &Device, to: &str) -> (CallId, CallTicket) {
    match &invite(scene, from, to)[..] {
        [event!(calls::Call(event))] => match event.news {
            CallNews::Calling { ticket, .. } => (event.call, ticket),
            ref other => panic!("it does not ring: {other:?}"),
        },
        other => panic!("no answer to a call: {other:?}"),
    }
}

fn step(scene: &Scene, device: &Device, call: CallId, step: CallStep) -> Vec<String> {
    scene.command(device, Request::new(2, calls::Command::Direct { action: CallAction::Of(call, step) }));
    news(scene, device)
}

fn accept(scene: &Scene, device: &Device, call: CallId) -> CallTicket {
    scene.take(device);
    let action = CallAction::Of(call, CallStep::Accept { answer: "answer".into() });
    match &scene.ask(device, Request::new(3, calls::Command::Direct { action }))[0] {
        event!(calls::Call(event)) => match event.news {
            CallNews::Joined { ticket } => ticket,
            ref other => panic!("not joined: {other:?}"),
        },
        other => panic!("not joined: {other:?}"),
    }
}

/// The events of a device, in words.
fn news(scene: &Scene, device: &Device) -> Vec<String> {
    let said = |event: Delivery| match event {
        event!(re, calls::Call(event)) => match (re, &event.news) {
            (Some(re), news) => format!("{re}: {news:?}"),
            (None, news) => format!("{news:?}"),
        },
        event!(messages::Message(message)) => {
            let entry = CallEntry::of(&message).expect("nobody writes but calls");
            format!("{} {:?} {}", message.from, entry.outcome, message.body)
        }
        event!(re, session::Refused(refusal)) => format!("{}: {refusal:?}", re.unwrap_or(0)),
        other => panic!("{other:?}"),
    };
    scene.take(device).into_iter().map(said).collect()
}

#[test]
fn a_call_from_its_ring_to_its_entry() {
    let (mut scene, ann, bob) = friends();
    let tablet = scene.sign_in("bob", "tablet");
    let (call, _) = call(&scene, &ann, "bob");
    for device in [&bob, &tablet] {
        let received = scene.take(device);
        let [event!(None, calls::Call(event))] = &received[..] else {
            panic!("it rings once everywhere: {received:?}")
        };
        let CallNews::Ring { from, media: Media::Audio, offer, glare: false } = &event.news else {
            panic!("{event:?}")
        };
        assert_eq!((event.call, from, &**offer), (call, &sub("ann"), "offer"));
        assert!(event.ice.is_some());
    }
    accept(&scene, &bob, call);
    assert_eq!(news(&scene, &tablet), ["Elsewhere"]);
    assert_eq!(news(&scene, &ann), ["Accepted"]);
    assert_eq!(step(&scene, &ann, call, CallStep::Candidate("c".into())), ["2: Done"]);
    assert_eq!(step(&scene, &bob, call, CallStep::Hold(true)), ["Candidate", "2: Done"]);
    assert_eq!((scene.node.stats().calls, scene.node.stats().calls_accepted), (1, 1));
    scene.wait(73_000);
    assert_eq!(news(&scene, &ann), ["Hold"]);
    let entry = "ann Ended Audio call, 1:13";
    assert_eq!(step(&scene, &bob, call, CallStep::HangUp), ["2: Over Ended 73000 ms", entry]);
    assert_eq!(news(&scene, &ann), ["Over Ended 73000 ms", entry]);
    assert_eq!(news(&scene, &tablet), [entry], "it is in the conversation, on all devices");
    assert_eq!(scene.node.stats().calls, 0);
}

#[test]
fn the_entry_is_a_message_in_history_resume_and_unread() {
    let (mut scene, ann, bob) = friends();
    let position = bob.welcome.changes.position;
    call(&scene, &ann, "bob");
    scene.drop_connection(&bob);
    scene.wait(RINGS_MS);
    assert_eq!(news(&scene, &ann), ["Over Missed 0 ms", "ann Missed Audio call, missed"]);
    let back = scene.sign_in_from("bob", "b", Some(position));
    let changes = &back.welcome.changes;
    assert!(!changes.reset);
    let entry = CallEntry::of(&changes.messages[0]).expect("it is one");
    assert_eq!((entry.media, entry.outcome, entry.ms), (Media::Audio, Outcome::Missed, 0));
    assert_eq!(changes.conversations[0].unread, 1);
    let history = Request::new(
        4,
        messages::Command::History { to: to("ann"), before: None, after: None, thread: None, limit: None },
    );
    let [event!(messages::History { messages, .. })] = &scene.ask(&back, history)[..] else {
        panic!("a page")
    };
    assert_eq!((messages.len(), messages[0].seq), (1, Seq(1)));
    let conversation = messages[0].conversation;
    let edit = MessageChange::edit("I never called");
    let change = |change| Request::new(5, messages::Command::Change { conversation, seq: Seq(1), change });
    let refused = scene.ask(&ann, change(edit));
    assert!(matches!(refused[..], [event!(Some(5), session::Refused(Refusal::NotAllowed))]), "{refused:?}");
    let deleted = scene.ask(&ann, change(MessageChange::Delete));
    assert!(
        matches!(&deleted[..], [event!(messages::Update { message, .. })] if message.deleted),
        "{deleted:?}"
    );
}

#[test]
fn clients_cannot_write_entries() {
    let (scene, ann, _) = friends();
    let forged = "call:000000000000feed:audio:ended:5";
    assert_eq!(scene.post(&ann, to("bob"), forged, "x"), Err(Refusal::BadValue));
}

#[test]
fn declined_busy_cancelled() {
    let (scene, ann, bob) = friends();
    let cat = scene.sign_in("cat", "c");
    scene.befriend(&cat, &bob);
    let (first, _) = call(&scene, &ann, "bob");
    assert_eq!(news(&scene, &bob), ["Ring"]);
    scene.take(&cat);
    invite(&scene, &cat, "bob");
    let busy = invite(&scene, &cat, "bob");
    assert!(
        matches!(&busy[0], event!(calls::Call(event)) if matches!(event.news, CallNews::Over { outcome: Outcome::Busy, .. }))
    );
    assert_eq!(news(&scene, &bob), ["cat Busy Audio call, busy", "cat Busy Audio call, busy"]);
    let declined = ["2: Over Declined 0 ms", "ann Declined Audio call, declined"];
    assert_eq!(step(&scene, &bob, first, CallStep::Decline { busy: false }), declined);
    assert_eq!(news(&scene, &ann), ["Over Declined 0 ms", "ann Declined Audio call, declined"]);

    let (second, _) = call(&scene, &ann, "bob");
    scene.take(&bob);
    let cancelled = ["2: Over Cancelled 0 ms", "ann Cancelled Audio call, missed"];
    assert_eq!(step(&scene, &ann, second, CallStep::HangUp), cancelled);
    assert_eq!(news(&scene, &bob), ["Over Cancelled 0 ms", "ann Cancelled Audio call, missed"]);
    assert_eq!(step(&scene, &ann, second, CallStep::HangUp), ["2: NoSuchCall"]);
}

#[test]
fn both_call_at_once() {
    let (scene, ann, bob) = friends();
    let (call, _) = call(&scene, &ann, "bob");
    invite(&scene, &bob, "ann");
    // The answer to his own invitation is her incoming call.
    let glare = invite(&scene, &bob, "ann");
    let [event!(Some(1), calls::Call(event))] = &glare[..] else { panic!("{glare:?}") };
    assert!(matches!(event.news, CallNews::Ring { glare: true, .. }), "{event:?}");
    assert_eq!(event.call, call);
    assert!(news(&scene, &ann).is_empty(), "she waits, as before");
    accept(&scene, &bob, call);
    assert_eq!(news(&scene, &ann), ["Accepted"]);
}

#[test]
fn a_reload_during_a_call() {
    let (mut scene, ann, bob) = friends();
    let (call, ticket) = call(&scene, &ann, "bob");
    accept(&scene, &bob, call);
    scene.wait(1_000);
    scene.drop_connection(&ann);
    assert_eq!(news(&scene, &bob), ["Away"]);
    scene.wait(AWAY_MS - 100);
    let ann = scene.sign_in("ann", "a");
    assert!(news(&scene, &ann).is_empty());
    let rejoin = |ticket| CallStep::Rejoin { ticket, offer: "again".into() };
    assert_eq!(step(&scene, &ann, call, rejoin(CallTicket::of(ticket.number() ^ 1))), ["2: NoSuchCall"]);
    assert_eq!(step(&scene, &ann, call, rejoin(ticket)), ["2: Rejoined after 20900 ms"]);
    assert_eq!(news(&scene, &bob), ["Back"]);
    assert_eq!(step(&scene, &bob, call, CallStep::Answer("a".into())), ["2: Done"]);
    assert_eq!(news(&scene, &ann), ["Answer"]);
    // The device signs in again before the end of its old session is noticed, and replaces that session.
    let ann = scene.sign_in("ann", "a");
    assert_eq!(news(&scene, &bob), ["Away"]);
    assert_eq!(step(&scene, &ann, call, rejoin(ticket)), ["2: Rejoined after 20900 ms"]);
    assert_eq!(news(&scene, &bob), ["Back"]);

    scene.drop_connection(&ann);
    scene.wait(AWAY_MS);
    assert_eq!(news(&scene, &bob), ["Away", "Over Lost 40900 ms", "ann Lost Audio call, 0:40"]);
}

#[test]
fn a_later_device_rings_too() {
    let (scene, ann, bob) = friends();
    scene.leave(&bob);
    let (call, _) = call(&scene, &ann, "bob");
    let handle = scene.hello(Some(&scene.token("bob")), "b", None);
    let mut received = scene.inbox.take(handle);
    let event!(session::Welcome(welcome)) = received.remove(0) else { panic!("a welcome comes first") };
    let bob = Device { session: welcome.session, welcome: *welcome };
    scene.inbox.put_back(handle, received);
    assert_eq!(news(&scene, &bob), ["Ring"]);
    accept(&scene, &bob, call);
    let tablet = scene.sign_in("bob", "tablet");
    assert!(news(&scene, &tablet).is_empty(), "it rings no more");
    assert_eq!(news(&scene, &ann), ["Accepted"]);
}

#[test]
fn users_who_cannot_be_called() {
    let (scene, ann, bob) = friends();
    scene.sign_in("eve", "e");
    let refused = |to: &str| match &invite(&scene, &ann, to)[..] {
        [event!(Some(1), session::Refused(refusal))] => *refusal,
        other => panic!("{to}: {other:?}"),
    };
    assert_eq!(refused("zoe"), Refusal::NoSuchUser);
    assert_eq!(refused("ann"), Refusal::NotAllowed);
    assert_eq!(refused("eve"), Refusal::NotAllowed, "a stranger");
    scene.contact(&bob, ContactAction::Block, "ann").expect("he may");
    assert_eq!(refused("bob"), Refusal::NotAllowed);
    let long = CallAction::Invite { user: sub("bob"), media: Media::Audio, offer: "x".repeat(65_537).into() };
    let refused = scene.ask(&ann, Request::new(1, calls::Command::Direct { action: long }));
    assert!(matches!(refused[..], [event!(Some(1), session::Refused(Refusal::BadValue))]));
}

#[test]
fn everyone_may_call_except_blocked_users() {
    let calls = CallConfig { from: CallsFrom::Everyone, burst: 2, per_minute: 6, ..CallConfig::default() };
    let scene = Scene::with(Mode::Open, NodeConfig { calls, ..config() }, Sqlite::in_memory());
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let (first, _) = call(&scene, &ann, "bob");
    step(&scene, &ann, first, CallStep::HangUp);
    scene.contact(&bob, ContactAction::Block, "ann").expect("he may");
    let blocked = invite(&scene, &ann, "bob");
    assert!(matches!(blocked[..], [event!(session::Refused(Refusal::NotAllowed))]), "{blocked:?}");
    scene.contact(&bob, ContactAction::Unblock, "ann").expect("he may");
    let (second, _) = call(&scene, &ann, "bob");
    step(&scene, &ann, second, CallStep::HangUp);
    let too_fast = invite(&scene, &ann, "bob");
    assert!(matches!(too_fast[..], [event!(session::Refused(Refusal::RateLimited { .. }))]), "{too_fast:?}");
}

#[test]
fn the_site_decides_who_may_call() {
    let (scene, ann, _bob) = friends();
    let set = |from| {
        let mut site = scene.store.sites().expect("memory does not fail").remove(0);
        site.settings = site.settings.with("calls.from", from).expect("it is sound");
        scene.store.update_site(&site).expect("memory does not fail");
        scene.node.refresh_sites().expect("memory does not fail");
    };
    set("nobody");
    let refused = invite(&scene, &ann, "bob");
    assert!(matches!(refused[..], [event!(session::Refused(Refusal::NotAllowed))]), "{refused:?}");
    set("null");
    call(&scene, &ann, "bob");
}

#[test]
fn a_ban_a_goodbye_and_a_lost_node_leave_no_call() {
    let (mut scene, ann, bob) = friends();
    let (call_of_ann, ticket) = call(&scene, &ann, "bob");
    accept(&scene, &bob, call_of_ann);
    scene.take(&ann);
    scene.store.set_banned(bob.session.user, true, Box::new(|_| {}));
    scene.node.refresh_sites().expect("memory does not fail");
    assert!(news(&scene, &ann)[0].starts_with("Over Ended"));
    assert_eq!(scene.node.stats().calls, 0);

    scene.restart();
    let ann = scene.sign_in("ann", "a");
    let rejoin = CallStep::Rejoin { ticket, offer: "again".into() };
    assert_eq!(step(&scene, &ann, call_of_ann, rejoin), ["2: NoSuchCall"]);
}

#[test]
fn the_servers_of_a_token() {
    let turn = Turn { urls: [Box::from("turn:t:1")].into(), secret: (*b"secret").into(), life_ms: 60_000 };
    let calls = CallConfig { turn: Some(turn), ..CallConfig::default() };
    let scene = Scene::with(Mode::Open, NodeConfig { calls, ..config() }, Sqlite::in_memory());
    let ask = |site: &str, token: &str| {
        let (sender, answer) = std::sync::mpsc::channel();
        scene.node.ice(site, token, None, scene.now(), move |outcome| {
            sender.send(outcome).expect("it is waited for")
        });
        answer.recv().expect("it is answered")
    };
    let token = scene.token("ann");
    assert_eq!(ask(SITE, &token).err(), Some(Refusal::NoSuchUser), "she has never been here");
    let ann = scene.sign_in("ann", "a");
    let turn = ask(SITE, &token).ok().and_then(|ice| ice.turn).expect("there is one");
    let name = |turn: &IceTurn, what_for: &str| {
        format!("{}:1-{:x}-{what_for}", turn.expires.0 / 1000, ann.session.user.num)
    };
    assert_eq!(turn.expires.0, scene.now + 20_000, "outside of a call only for a check");
    assert_eq!(*turn.username, *name(&turn, "check"));
    // During a call, the credentials are for that call, and expire with it.
    let bob = scene.sign_in("bob", "b");
    scene.befriend(&ann, &bob);
    let (call, _) = call(&scene, &ann, "bob");
    let turn = ask(SITE, &token).ok().and_then(|ice| ice.turn).expect("there is one");
    assert_eq!((turn.expires.0, &*turn.username), (scene.now + 60_000, &*name(&turn, &call.to_string())));
    let are_in = |scene: &Scene| [&ann, &bob].map(|who| scene.node.is_in_call(who.session.user, Some(call)));
    assert_eq!(are_in(&scene), [true, true]);
    assert!(!scene.node.is_in_call(ann.session.user, Some(CallId(call.0 ^ 1))));
    assert!(scene.node.is_in_call(ann.session.user, None));
    scene.ask(
        &ann,
        Request::new(9, calls::Command::Direct { action: CallAction::Of(call, CallStep::HangUp) }),
    );
    assert_eq!(are_in(&scene), [false, false]);
    let turn = ask(SITE, &token).ok().and_then(|ice| ice.turn).expect("there is one");
    assert_eq!(*turn.username, *name(&turn, "check"));
    // A session may ask before a call: its credentials are of use once the member is in one.
    let answer = scene.ask(&ann, Request::new(10, calls::Command::Servers));
    let [event!(Some(10), calls::Servers(ice))] = &answer[..] else { panic!("no servers: {answer:?}") };
    let turn = ice.turn.as_ref().expect("there is one");
    assert_eq!((turn.expires.0, &*turn.username), (scene.now + 60_000, &*name(turn, "calls")));
    assert!(!scene.node.is_in_call(ann.session.user, None));
    assert_eq!(ask("elsewhere", &token).err(), Some(Refusal::NoSuchSite));
    assert_eq!(ask(SITE, "a.b.c").err(), Some(Refusal::BadToken));
    scene.store.set_banned(ann.session.user, true, Box::new(|_| {}));
    assert_eq!(ask(SITE, &token).err(), Some(Refusal::Banned));
}

#[test]
fn an_observer_learns_who_is_in_which_call() {
    let (scene, ann, bob) = friends();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let changes = Arc::clone(&seen);
    scene.node.observe_calls(move |user, call| changes.lock().expect("no panic").push((user, call)));
    let take = || {
        let mut seen = std::mem::take(&mut *seen.lock().expect("no panic"));
        seen.sort_unstable_by_key(|(user, _)| *user);
        seen
    };
    let (first, _) = call(&scene, &ann, "bob");
    let (of_ann, of_bob) = (ann.session.user, bob.session.user);
    assert_eq!(take(), [(of_ann, Some(first)), (of_bob, Some(first))]);
    let mut each = Vec::new();
    scene.node.each_in_call(|user, call| each.push((user, call)));
    each.sort_unstable_by_key(|(user, _)| *user);
    assert_eq!(each, [(of_ann, first), (of_bob, first)]);
    scene.ask(
        &ann,
        Request::new(9, calls::Command::Direct { action: CallAction::Of(first, CallStep::HangUp) }),
    );
    assert_eq!(take(), [(of_ann, None), (of_bob, None)]);
    scene.node.each_in_call(|user, call| panic!("{user:?} is still in {call:?}"));
}
