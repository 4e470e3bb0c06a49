//! Presence in virtual time: grace, collected changes, invisibility, watches.

use crate::scene;

use chat::*;
use scene::*;
use store::Sqlite;

fn presences_of(scene: &Scene, device: &Device) -> Vec<(String, Presence)> {
    presences(&scene.take(device))
}

fn of(user: &str, presence: Presence) -> Vec<(String, Presence)> {
    vec![(user.into(), presence)]
}

#[test]
fn watchers_receive_arrivals_and_departures() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let bob = scene.sign_in("bob", "b");
    scene.leave(&bob);
    scene.wait(600);
    assert_eq!(scene.watch(&ann, &["bob", "nobody", "ann"]), of("bob", Presence::Offline));

    let bob = scene.sign_in("bob", "b");
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Online));
    // On purpose: no grace time, only the wait for the next round.
    let left = scene.now();
    scene.leave(&bob);
    scene.wait(600);
    let events = scene.take(&ann);
    let [event!(presence::Presence { presence: Presence::Offline, last_seen: Some(last_seen), .. })] =
        events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(last_seen, left);
    assert_eq!(scene.watch(&ann, &["bob"]), of("bob", Presence::Offline));
}

#[test]
fn a_short_disconnect_is_not_published() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.wait(600);
    scene.watch(&ann, &["bob"]);

    scene.drop_connection(&bob);
    scene.wait(9_900);
    let bob = scene.sign_in("bob", "b");
    // A second disconnect: the grace time of the first must not end that of the second.
    scene.drop_connection(&bob);
    let dropped = scene.now();
    scene.wait(9_900);
    assert_eq!(presences_of(&scene, &ann), []);
    scene.wait(700);
    let events = scene.take(&ann);
    let [event!(presence::Presence { presence: Presence::Offline, last_seen: Some(last_seen), .. })] =
        events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(last_seen, dropped, "when he was here, not when the grace ended");
    assert_eq!(scene.node.stats().users_online, 1);
}

#[test]
fn rounds_with_many_receivers_take_longer() {
    let mut scene = Scene::new(Mode::Open);
    let names: Vec<String> = (0..200).map(|n| format!("u{n}")).collect();
    let devices: Vec<Device> = names.iter().map(|name| scene.sign_in(name, "d")).collect();
    scene.wait(600);
    let watched: Vec<&str> = names[..100].iter().map(String::as_str).collect();
    devices.iter().for_each(|device| drop(scene.watch(device, &watched)));
    let all = |scene: &Scene, set| {
        devices[..100].iter().for_each(|device| scene.command(device, presence::Command::Set(set)));
    };
    let last = |scene: &Scene| presences_of(scene, &devices[150]);
    scene.wait(500);
    all(&scene, SetPresence::Away);
    scene.wait(500);
    assert_eq!(last(&scene).len(), 100, "19,900 in one telling");
    all(&scene, SetPresence::Busy);
    scene.wait(900);
    assert_eq!(last(&scene), [], "these take a second to be worked off");
    all(&scene, SetPresence::Online);
    scene.wait(100);
    let heard = last(&scene);
    assert!(heard.len() == 100 && heard.iter().all(|(_, presence)| *presence == Presence::Online));
    // The next round is for one session; later rounds are on time again.
    scene.wait(1_000);
    scene.command(&devices[0], presence::Command::Set(SetPresence::Away));
    scene.wait(500);
    assert_eq!(last(&scene), of("u0", Presence::Away));
    scene.command(&devices[0], presence::Command::Set(SetPresence::Busy));
    scene.wait(500);
    assert_eq!(last(&scene), of("u0", Presence::Busy));
}

#[test]
fn a_mass_reconnect_publishes_nothing() {
    let mut scene = Scene::new(Mode::Open);
    let names: Vec<String> = (0..300).map(|n| format!("u{n}")).collect();
    let mut devices: Vec<Device> = names.iter().map(|name| scene.sign_in(name, "d")).collect();
    let ann = scene.sign_in("ann", "a");
    scene.wait(600);
    let watched: Vec<&str> = names.iter().take(100).map(String::as_str).collect();
    assert_eq!(scene.watch(&ann, &watched).len(), 100);

    devices.iter().for_each(|device| scene.drop_connection(device));
    scene.wait(3_000);
    devices = names.iter().map(|name| scene.sign_in(name, "d")).collect();
    scene.wait(30_000);
    assert_eq!(presences_of(&scene, &ann), []);
    devices.iter().for_each(|device| scene.leave(device));
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann).len(), 100, "when they do leave, each is told once");
}

#[test]
fn deferred_users_of_a_crowd_stay_present() {
    let mut scene = Scene::with(Mode::Open, config(), Sqlite::by_turns());
    let enter = |scene: &Scene, user: &str| {
        let handle = scene.hello(Some(&scene.token(user)), "d", None);
        scene.store.run();
        scene.welcomed(handle)
    };
    let [ann, bob, zoe] = ["ann", "bob", "zoe"].map(|user| enter(&scene, user));
    scene.command(&ann, presence::Command::Watch { contacts: false, users: vec![sub("bob"), sub("zoe")] });
    scene.store.run();
    scene.wait(600);
    scene.take(&ann);
    [&bob, &zoe].into_iter().for_each(|device| scene.drop_connection(device));
    let heard = |scene: &Scene| {
        scene.store.run();
        presences_of(scene, &ann)
    };

    // All of these sign in at once, and the last get a time for a retry.
    let crowd: Vec<String> = (0..4_100).map(|n| scene.token(&format!("u{n}"))).collect();
    let crowd: Vec<_> = crowd.iter().map(|token| scene.hello(Some(token), "d", None)).collect();
    let refused = scene.inbox.take(*crowd.last().unwrap());
    assert!(matches!(refused[..], [event!(session::Bye(Refusal::Overloaded { .. }))]), "{refused:?}");
    scene.store.run();
    scene.wait(10_500);
    assert_eq!(heard(&scene), [], "their grace time is over, but it is not their fault");
    enter(&scene, "bob");
    // The others of the crowd are expected for 30 s, and a grace time has passed since.
    scene.wait(30_000);
    assert_eq!(heard(&scene), of("zoe", Presence::Offline));
}

#[test]
fn quick_changes_are_published_once() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.wait(600);
    scene.watch(&ann, &["bob"]);
    scene.wait(500);
    for set in [SetPresence::Away, SetPresence::Online, SetPresence::Busy, SetPresence::Away] {
        scene.command(&bob, presence::Command::Set(set));
    }
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Away));
    for set in [SetPresence::Busy, SetPresence::Away] {
        scene.command(&bob, presence::Command::Set(set));
    }
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), [], "back to where it was");
    scene.leave(&bob);
    scene.sign_in("bob", "b");
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), [], "a reload of the page");
}

#[test]
fn the_chosen_presence_belongs_to_the_user_and_is_stored() {
    let mut scene = Scene::new(Mode::Open);
    let [phone, laptop] = ["p", "l"].map(|device| scene.sign_in("bob", device));
    scene.command(&phone, presence::Command::Set(SetPresence::Busy));
    assert_eq!(presences_of(&scene, &laptop), of("bob", Presence::Busy), "the other device, at once");
    assert_eq!(presences_of(&scene, &phone), []);
    for device in [&phone, &laptop] {
        scene.leave(device);
    }
    scene.wait(60_000);
    assert_eq!(scene.sign_in("bob", "p").welcome.presence, SetPresence::Busy);
    let ann = scene.sign_in("ann", "a");
    scene.wait(600);
    assert_eq!(scene.watch(&ann, &["bob"]), of("bob", Presence::Busy));
}

#[test]
fn invisible_users_appear_offline_everywhere() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.wait(600);
    scene.watch(&ann, &["bob"]);
    let vanished = scene.now();
    scene.command(&bob, presence::Command::Set(SetPresence::Invisible));
    scene.wait(600);
    let last_seen = |events: Vec<Delivery>| match events[..] {
        [event!(presence::Presence { presence: Presence::Offline, last_seen, .. })] => last_seen,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(last_seen(scene.take(&ann)), Some(vanished));

    scene.wait(60_000);
    scene.drop_connection(&bob);
    scene.wait(60_000);
    let bob = scene.sign_in("bob", "b");
    assert_eq!(bob.welcome.presence, SetPresence::Invisible);
    scene.wait(60_000);
    scene.leave(&bob);
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), []);
    let watch = presence::Command::Watch { contacts: false, users: vec![sub("bob")] };
    assert_eq!(last_seen(scene.ask(&ann, watch)), Some(vanished), "comings and goings leave no trace");
    // He still gets his messages.
    let bob = scene.sign_in("bob", "b");
    scene.post(&ann, to("bob"), "m", "I know you are there").unwrap();
    assert_eq!(scene.bodies(&bob).len(), 1);
}

#[test]
fn a_watch_replaces_the_one_before_and_ends_with_the_session() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    let [bob, cat] = ["bob", "cat"].map(|user| scene.sign_in(user, "d"));
    scene.wait(600);
    scene.watch(&ann, &["bob"]);
    assert_eq!(scene.watch(&ann, &["cat", "cat"]), of("cat", Presence::Online));
    scene.leave(&bob);
    scene.leave(&cat);
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), of("cat", Presence::Offline));
    assert_eq!(scene.watch(&ann, &[]), []);

    let many: Vec<Sub> = (0..101).map(|n| sub(&n.to_string())).collect();
    let answer = scene.ask(&ann, presence::Command::Watch { contacts: false, users: many });
    assert!(matches!(answer[..], [event!(None, session::Refused(Refusal::BadValue))]));

    scene.watch(&ann, &["bob"]);
    scene.leave(&ann);
    scene.sign_in("bob", "d");
    scene.wait(600);
    assert!(scene.take(&ann).is_empty());
}

#[test]
fn contacts_are_watched_without_a_list() {
    for mode in [Mode::Open, Mode::Contacts] {
        let mut scene = Scene::new(mode);
        let [ann, bob, cat, dan] = ["ann", "bob", "cat", "dan"].map(|user| scene.sign_in(user, "d"));
        scene.befriend(&ann, &bob);
        scene.befriend(&ann, &cat);
        scene.leave(&cat);
        scene.wait(600);
        assert_eq!(scene.watch_contacts(&ann), of("bob", Presence::Online), "cat is gone, dan a stranger");

        let _cat = scene.sign_in("cat", "d");
        scene.command(&bob, presence::Command::Set(SetPresence::Busy));
        scene.command(&dan, presence::Command::Set(SetPresence::Busy));
        scene.wait(600);
        let mut heard = presences_of(&scene, &ann);
        heard.sort_by(|(a, _), (b, _)| a.cmp(b));
        assert_eq!(heard, [of("bob", Presence::Busy), of("cat", Presence::Online)].concat());
        assert_eq!(presences_of(&scene, &bob), [], "who did not ask hears nothing");
        let left = scene.now();
        scene.leave(&bob);
        scene.wait(600);
        let events = scene.take(&ann);
        let [event!(presence::Presence { presence: Presence::Offline, last_seen, .. })] = events[..] else {
            panic!("{events:?}")
        };
        assert_eq!(last_seen, Some(left));

        scene.watch(&ann, &[]);
        scene.sign_in("bob", "d");
        scene.wait(600);
        assert_eq!(presences_of(&scene, &ann), [], "the watch is over");
    }
}

#[test]
fn new_contacts_are_watched_and_blocked_ones_are_not() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    scene.wait(600);
    assert_eq!(scene.watch_contacts(&ann), []);
    scene.contact(&ann, ContactAction::Request, "bob").unwrap();
    scene.contact(&bob, ContactAction::Accept, "ann").unwrap();
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Online));
    scene.command(&bob, presence::Command::Set(SetPresence::Away));
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Away));

    scene.contact(&bob, ContactAction::Block, "ann").unwrap();
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Offline));
    scene.command(&bob, presence::Command::Set(SetPresence::Busy));
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), []);
    assert_eq!(scene.watch_contacts(&ann), []);
}

#[test]
fn a_contact_watched_by_name_too_is_published_once() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, "d"));
    scene.befriend(&ann, &bob);
    scene.wait(600);
    scene.ask(&ann, presence::Command::Watch { contacts: true, users: vec![sub("bob")] });
    scene.command(&bob, presence::Command::Set(SetPresence::Away));
    scene.wait(600);
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Away));
}

#[test]
fn changes_wait_while_the_store_fails() {
    let mut scene = Scene::with(Mode::Open, config(), store::Sqlite::by_turns());
    let handles = ["ann", "bob"].map(|user| scene.hello(Some(&scene.token(user)), "d", None));
    scene.store.run();
    let [ann, bob] = handles.map(|handle| scene.welcomed(handle));
    for (device, action, user) in
        [(&ann, ContactAction::Request, "bob"), (&bob, ContactAction::Accept, "ann")]
    {
        scene.command(device, Request::new(1, contacts::Command::Change { action, user: sub(user) }));
        scene.store.run();
    }
    scene.wait(600);
    scene.command(&ann, presence::Command::Watch { contacts: true, users: vec![] });
    scene.store.run();
    scene.take(&ann);
    scene.command(&bob, presence::Command::Set(SetPresence::Away));
    scene.store.fail_reads(Some(StoreError::Overloaded));
    scene.wait(600);
    scene.store.run();
    assert_eq!(presences_of(&scene, &ann), []);
    scene.store.fail_reads(None);
    scene.wait(600);
    scene.store.run();
    assert_eq!(presences_of(&scene, &ann), of("bob", Presence::Away));
}

#[test]
fn an_earlier_watch_with_a_late_look_up_is_dropped() {
    let mut scene = Scene::with(Mode::Open, config(), store::Sqlite::by_turns());
    let handles = ["ann", "bob", "cat"].map(|user| scene.hello(Some(&scene.token(user)), "d", None));
    scene.store.run();
    let [ann, ..] = handles.map(|handle| scene.welcomed(handle));
    scene.wait(600);
    scene.command(&ann, presence::Command::Watch { contacts: false, users: vec![sub("bob")] });
    scene.command(&ann, presence::Command::Watch { contacts: false, users: vec![sub("cat")] });
    while scene.store.turns() > 0 {
        scene.store.turn(scene.store.turns() - 1);
    }
    assert_eq!(presences_of(&scene, &ann), of("cat", Presence::Online));
}

#[test]
fn conversations_and_welcomes_carry_presence() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.post(&bob, to("ann"), "m", "x").unwrap();
    scene.wait(600);
    let with = |device: &Device| device.welcome.changes.conversations[0].with.person().unwrap().presence;
    assert_eq!(with(&scene.sign_in("ann", "a2")), Some(Presence::Online));
    scene.leave(&bob);
    scene.wait(600);
    assert_eq!(with(&scene.sign_in("ann", "a2")), Some(Presence::Offline));
    scene.leave(&ann);
}

#[test]
fn a_login_sees_a_recent_arrival_as_online() {
    let mut scene = Scene::new(Mode::Contacts);
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.befriend(&ann, &bob);
    scene.leave(&ann);
    scene.leave(&bob);
    scene.wait(60_000);
    for comes_back in [true, false] {
        let ann = scene.sign_in("ann", "a");
        // No time has passed: no round was published yet.
        let bob = scene.sign_in("bob", "b");
        let contact = bob.welcome.changes.contacts.get(0).unwrap().contact();
        assert_eq!(contact.person.presence, Some(Presence::Online));
        assert_eq!(scene.watch_contacts(&bob), of("ann", Presence::Online));
        assert_eq!(scene.watch(&bob, &["ann"]), of("ann", Presence::Online));
        scene.watch_contacts(&bob);
        if comes_back {
            scene.wait(600);
            assert!(presences_of(&scene, &bob).iter().all(|(_, presence)| *presence == Presence::Online));
        }
        // A device that has received her arrival gets her *offline*, although no round has published her
        // *online*.
        scene.leave(&ann);
        scene.wait(600);
        assert_eq!(presences_of(&scene, &bob).last(), of("ann", Presence::Offline).last());
        scene.leave(&bob);
        scene.wait(60_000);
    }
}

#[test]
fn an_arrival_seen_before_its_round_is_published_to_others() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob, cat) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"), scene.sign_in("cat", "c"));
    scene.leave(&ann);
    scene.wait(60_000);
    assert_eq!(scene.watch(&cat, &["ann"]), of("ann", Presence::Offline));
    scene.sign_in("ann", "a");
    assert_eq!(scene.watch(&bob, &["ann"]), of("ann", Presence::Online));
    scene.wait(600);
    assert_eq!(presences_of(&scene, &cat), of("ann", Presence::Online));
}
