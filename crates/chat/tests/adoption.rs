//! Sessions move from one node to another on the same store, while their connections stay.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use scene::{Device, Scene, event, to};
use store::Sqlite;

fn scene() -> Scene {
    Scene::new(Mode::Open)
}

/// Moves the sessions of the scene's node to a new one.
fn move_all(scene: &mut Scene) -> Vec<SessionRecord> {
    let records = scene.node.release(scene.now());
    scene.replace_node();
    scene.node.adopt(records.clone(), scene.now());
    records
}

fn bodies_of(events: &[Delivery]) -> Vec<&str> {
    let mut bodies = Vec::new();
    for event in events {
        if let event!(messages::Message(message)) = event {
            bodies.push(&*message.body);
        }
    }
    bodies
}

/// The client of the session signs in again, if it is there.
const COME_AGAIN: Refusal = Refusal::GoingAway { retry_after_ms: 0 };

fn bye(scene: &Scene, device: &Device) -> Refusal {
    match &scene.take(device)[..] {
        [event!(session::Bye(refusal)) | event!(session::ByeWith { refusal, .. })] => *refusal,
        other => panic!("{other:?}"),
    }
}

fn refresh(scene: &Scene, change: impl FnOnce(&mut Site)) {
    let mut site = scene.store.sites().unwrap().remove(0);
    change(&mut site);
    scene.store.set_settings(site.id, &site.settings).unwrap();
}

#[test]
fn a_session_in_a_room_is_behind_after_a_move() {
    let mut scene = scene();
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, &format!("{user}-1")));
    let kind = RoomKind::Public;
    let create = rooms::Command::Create { name: "Bikers".into(), kind, topic: None, alias: None };
    let made = scene.ask(&ann, Request::new(1, create));
    let [event!(messages::Conversation(room)), ..] = &made[..] else { panic!("{made:?}") };
    let enter = rooms::Command::Enter { conversation: room.id, nickname: None };
    scene.ask(&ann, Request::new(2, enter));
    scene.wait(1_000);
    [&ann, &bob].into_iter().for_each(|device| drop(scene.take(device)));
    move_all(&mut scene);
    // The new node does not know that she is in the room: her client enters again.
    assert!(matches!(scene.take(&ann)[..], [event!(session::Behind)]));
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn a_front_keeps_in_its_record_that_a_session_has_entered_a_room() {
    let scene = scene();
    let ann = scene.sign_in("ann", "ann-1");
    let kind = RoomKind::Public;
    let create = rooms::Command::Create { name: "Bikers".into(), kind, topic: None, alias: None };
    let made = scene.ask(&ann, Request::new(1, create));
    let [event!(messages::Conversation(room)), ..] = &made[..] else { panic!("{made:?}") };
    let enter = rooms::Command::Enter { conversation: room.id, nickname: None };
    let entered = scene.ask(&ann, Request::new(2, enter));
    let mut record = scene.node.release(scene.now()).remove(0);
    record.has_entered = false;
    entered.iter().for_each(|delivery| record.delivered(delivery));
    assert!(record.has_entered);
}

#[test]
fn clients_do_not_notice_a_move() {
    let mut scene = scene();
    let users = ["ann", "bob", "cat", "dan"];
    let devices = users.map(|user| scene.sign_in(user, &format!("{user}-1")));
    let [ann, bob, cat, dan] = &devices;
    scene.befriend(ann, bob);
    scene.watch_contacts(ann);
    scene.watch(cat, &["dan"]);
    scene.wait(1_000);
    devices.iter().for_each(|device| drop(scene.take(device)));

    for round in 0..20 {
        let (from, other) = (&devices[round % 4], users[(round + 1) % 4]);
        scene.post(from, to(other), &format!("before-{round}"), "one more").unwrap();
        let reader = &devices[(round + 1) % 4];
        assert_eq!(bodies_of(&scene.take(reader)), ["one more"]);
        assert_eq!(move_all(&mut scene).len(), 4);
        for device in &devices {
            assert!(scene.take(device).is_empty(), "a session that has missed nothing hears nothing");
        }
        scene.post(from, to(other), &format!("after-{round}"), "and another").unwrap();
        assert_eq!(bodies_of(&scene.take(reader)), ["and another"]);
    }
    let stats = scene.node.stats();
    assert_eq!((stats.sessions, stats.users_online, stats.behind), (4, 4, 0));

    // Presence did not change, and is still watched: by contacts, and by name.
    scene.wait(5_000);
    let heard = [ann, cat].map(|device| scene::presences(&scene.take(device)));
    assert_eq!(heard, [vec![], vec![]]);
    for device in [bob, dan] {
        scene.command(device, presence::Command::Set(SetPresence::Busy));
    }
    scene.wait(1_000);
    let heard = [ann, cat].map(|device| scene::presences(&scene.take(device)));
    assert_eq!(heard, [vec![("bob".to_owned(), Presence::Busy)], vec![("dan".to_owned(), Presence::Busy)]]);
    // After the grace time presence is sent once more, because the new node does not know the last events of
    // the old one.
    scene.wait(5_000);
    let again = scene.take(ann);
    let [event!(presence::Watching { here, more: false })] = &again[..] else { panic!("{again:?}") };
    assert_eq!(here[..], [(scene::sub("bob"), Presence::Busy)]);
    assert_eq!(scene::presences(&scene.take(cat)), [("dan".to_owned(), Presence::Busy)]);
}

#[test]
fn a_watch_from_an_earlier_home_shows_nobody_as_gone_who_is_adopted_later() {
    let mut scene = scene();
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|user| scene.sign_in(user, &format!("{user}-1")));
    scene.befriend(&ann, &bob);
    scene.watch_contacts(&ann);
    scene.watch(&ann, &["cat"]);
    scene.wait(1_000);
    scene.take(&ann);
    let mut records = scene.node.release(scene.now());
    scene.replace_node();
    // A front knows the command, and not the users.
    for record in &mut records {
        record.watches_contacts = false;
        record.watched.clear();
    }
    let (of_ann, of_others): (Vec<_>, _) = records.into_iter().partition(|one| one.session == ann.session);
    scene.node.adopt(of_ann, scene.now());
    scene.node.watch_again(ann.session, true, vec![scene::sub("cat")], scene.now());
    assert!(scene.take(&ann).is_empty(), "nobody else is adopted yet");
    scene.node.adopt(of_others, scene.now());
    scene.wait(5_000);
    assert!(scene.take(&ann).is_empty());
    scene.command(&cat, presence::Command::Set(SetPresence::Away));
    scene.command(&bob, presence::Command::Set(SetPresence::Busy));
    scene.wait(1_000);
    let mut heard = scene::presences(&scene.take(&ann));
    heard.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(heard, [("bob".to_owned(), Presence::Busy), ("cat".to_owned(), Presence::Away)]);
    scene.wait(5_000);
    let again = scene.take(&ann);
    let [event!(presence::Watching { here, more: false }), ..] = &again[..] else { panic!("{again:?}") };
    assert_eq!(here[..], [(scene::sub("bob"), Presence::Busy)]);
    assert_eq!(scene::presences(&again), [("cat".to_owned(), Presence::Away)]);

    let too_many = (0..=scene::config().limits.watch).map(|at| scene::sub(&format!("user-{at}")));
    scene.node.watch_again(ann.session, false, too_many.collect(), scene.now());
    scene.command(&bob, presence::Command::Set(SetPresence::Online));
    scene.wait(1_000);
    assert_eq!(scene::presences(&scene.take(&ann)), [("bob".to_owned(), Presence::Online)], "as before");
}

/// A front brings the watches of all its sessions at once.
#[test]
fn the_watches_of_a_crowd_are_looked_up_many_together_and_some_look_ups_at_a_time() {
    let mut scene = Scene::with(Mode::Open, scene::config(), Sqlite::by_turns());
    let devices: Vec<Device> = (0..700)
        .map(|number| {
            let user = format!("user-{number}");
            let handle = scene.hello(Some(&scene.token(&user)), &user, None);
            scene.store.run();
            scene.welcomed(handle)
        })
        .collect();
    let records = devices.iter().map(|device| device.welcome.record.clone()).collect();
    scene.replace_node();
    scene.node.expect_adoptions();
    scene.node.adopt(records, scene.now());
    scene.store.run();
    for (number, device) in devices.iter().enumerate() {
        let watched = scene::sub(&format!("user-{}", (number + 1) % devices.len()));
        scene.node.watch_again(device.session, false, vec![watched], scene.now());
    }
    let (mut most, mut reads) = (scene.store.turns(), 0);
    while scene.store.turns() > 0 {
        scene.store.turn(0);
        reads += 1;
        most = most.max(scene.store.turns());
    }
    assert!((2..=4).contains(&most), "{most} reads were queued at once");
    assert!(reads <= 40, "{reads} reads for 700 watches");
    devices.iter().for_each(|device| drop(scene.take(device)));
    let busy = [5, 300, 699];
    for number in busy {
        scene.command(&devices[number], presence::Command::Set(SetPresence::Busy));
    }
    scene.store.run();
    scene.wait(1_000);
    scene.store.run();
    let told: Vec<usize> = (0..devices.len())
        .filter(|number| {
            let watched = format!("user-{}", (number + 1) % devices.len());
            scene::presences(&scene.take(&devices[*number])).contains(&(watched, Presence::Busy))
        })
        .collect();
    assert_eq!(told, busy.map(|number| number - 1));
    assert_eq!(scene.node.stats().sessions, devices.len() as u64);
}

#[test]
fn a_watch_of_the_client_counts_although_an_earlier_one_is_looked_up_after_it() {
    let mut scene = Scene::with(Mode::Open, scene::config(), Sqlite::by_turns());
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|user| {
        let handle = scene.hello(Some(&scene.token(user)), user, None);
        scene.store.run();
        scene.welcomed(handle)
    });
    let records = [&ann, &bob, &cat].map(|device| device.welcome.record.clone());
    scene.replace_node();
    scene.node.adopt(records.to_vec(), scene.now());
    scene.store.run();
    scene.node.watch_again(ann.session, false, vec![scene::sub("bob")], scene.now());
    let watch = presence::Command::Watch { contacts: false, users: vec![scene::sub("cat")] };
    scene.command(&ann, watch);
    while scene.store.turns() > 0 {
        scene.store.turn(scene.store.turns() - 1); // the newest first
    }
    scene.wait(1_000);
    scene.take(&ann);
    for device in [&bob, &cat] {
        scene.command(device, presence::Command::Set(SetPresence::Busy));
    }
    scene.store.run();
    scene.wait(1_000);
    assert_eq!(scene::presences(&scene.take(&ann)), [("cat".to_owned(), Presence::Busy)]);
}

#[test]
fn a_watch_at_a_new_home_sees_those_who_are_adopted_after_it() {
    let mut scene = scene();
    let bob = scene.sign_in("bob", "bob-1");
    let records = scene.node.release(scene.now());
    scene.replace_node();
    scene.node.expect_adoptions();
    scene.wait(1_000);
    let ann = scene.sign_in("ann", "ann-1");
    assert_eq!(scene.watch(&ann, &["bob"]), [("bob".to_owned(), Presence::Offline)]);
    scene.node.adopt(records, scene.now());
    scene.take(&bob);
    scene.wait(10_500);
    assert_eq!(scene::presences(&scene.take(&ann)), [("bob".to_owned(), Presence::Online)]);
}

#[test]
fn a_user_who_is_adopted_after_the_grace_time_comes_back_for_others() {
    let mut scene = scene();
    let [ann, bob] = ["ann", "bob"].map(|user| scene.sign_in(user, &format!("{user}-1")));
    scene.watch(&ann, &["bob"]);
    scene.wait(1_000);
    scene.take(&ann);
    // The front of both has lost its link, and brings only her back in time.
    let records = scene.node.release_front(0, scene.now());
    let (of_ann, of_bob): (Vec<_>, _) = records.into_iter().partition(|one| one.session == ann.session);
    scene.node.adopt(of_ann, scene.now());
    scene.wait(10_500);
    assert_eq!(scene::presences(&scene.take(&ann)).last(), Some(&("bob".to_owned(), Presence::Offline)));
    scene.node.adopt(of_bob, scene.now());
    scene.wait(1_000);
    assert_eq!(scene::presences(&scene.take(&ann)), [("bob".to_owned(), Presence::Online)]);
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn a_session_with_missed_events_resumes() {
    let mut scene = scene();
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    let seen = bob.welcome.changes.position;
    let mut of_ann = ann.welcome.record.clone();
    scene.send(&ann, to("bob"), "m1", "seen");
    scene.take(&ann).iter().for_each(|event| of_ann.delivered(event));

    // The node has stored a message, and died before Bob's front received it.
    scene.take(&bob);
    scene.replace_node();
    scene.node.adopt(vec![bob.welcome.record.clone(), of_ann], scene.now());
    assert!(matches!(scene.take(&bob)[..], [event!(session::Behind)]));
    assert!(scene.take(&ann).is_empty(), "her front had the acknowledgement");
    let events = scene.ask(&bob, Request::new(1, sign_in::Command::Resume { position: Some(seen) }));
    let [event!(session::Changes(changes))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(changes.messages.iter().map(|message| &*message.body).collect::<Vec<_>>(), ["seen"]);
    scene.post(&ann, to("bob"), "m2", "live again").unwrap();
    assert_eq!(bodies_of(&scene.take(&bob)), ["live again"]);
}

struct Party {
    ann: Device,
    laptop: Device,
    bob: Device,
    pair: ConversationId,
    room: ConversationId,
}

/// The node has committed the change, and died before a front received its event.
#[test]
fn a_session_that_missed_one_change_of_any_kind_is_behind() {
    type Change = fn(&Scene, &Party);
    let changes: [(&str, Change); 13] = [
        ("a message", |scene, it| scene.send(&it.bob, to("ann"), "m2", "hello")),
        ("a marker", |scene, it| {
            let set = MarkerSet::Read(Seq(2));
            scene.command(&it.bob, messages::Command::Mark { conversation: it.pair, set });
        }),
        ("an edit", |scene, it| {
            let change = MessageChange::edit("hallo");
            change_message(scene, it, change);
        }),
        ("a reaction", |scene, it| {
            let change = MessageChange::React { reaction: Reaction::parse("👍").unwrap(), on: true };
            change_message(scene, it, change);
        }),
        ("a draft on another device", |scene, it| {
            let change = ConversationChange { draft: Some("half".into()), ..Default::default() };
            let change = messages::Command::ChangeConversation { conversation: it.pair, change };
            scene.command(&it.laptop, Request::new(1, change));
        }),
        ("the end of a contact", |scene, it| {
            scene.contact(&it.bob, ContactAction::Remove, "ann").unwrap();
        }),
        ("an own name on another device", |scene, it| {
            let name = Some("Bobby".into());
            scene.command(
                &it.laptop,
                Request::new(1, contacts::Command::Rename { user: scene::sub("bob"), name }),
            );
        }),
        ("a message in a room", |scene, it| scene.send(&it.bob, To::Conversation(it.room), "r2", "hello")),
        ("a new name of a room", |scene, it| {
            let change = Box::new(RoomChange { name: Some("Cyclists".into()), ..Default::default() });
            scene.command(&it.bob, Request::new(1, rooms::Command::Change { conversation: it.room, change }));
        }),
        ("a removal from a room", |scene, it| change_member(scene, &it.bob, it.room, MemberAction::Remove)),
        ("a role in a room", |scene, it| {
            change_member(scene, &it.bob, it.room, MemberAction::SetRole(Role::Moderator));
        }),
        ("a room of another device", |scene, it| {
            let kind = RoomKind::Public;
            let create = rooms::Command::Create { name: "Walkers".into(), kind, topic: None, alias: None };
            scene.command(&it.laptop, Request::new(1, create));
        }),
        ("the end of a room", |scene, it| {
            let closing = Box::default();
            scene.command(&it.bob, Request::new(1, rooms::Command::Close { conversation: it.room, closing }));
        }),
    ];
    for (what, change) in changes {
        let mut scene = scene();
        let [ann, laptop, bob, cat] = [("ann", "phone"), ("ann", "laptop"), ("bob", "b"), ("cat", "c")]
            .map(|(user, device)| scene.sign_in(user, device));
        let (pair, _) = scene.post(&bob, to("ann"), "m1", "hello").unwrap();
        scene.post(&ann, to("bob"), "a1", "hello, Bob").unwrap();
        scene.befriend(&ann, &bob);
        let kind = RoomKind::Public;
        let create = rooms::Command::Create { name: "Bikers".into(), kind, topic: None, alias: None };
        let made = scene.ask(&bob, Request::new(1, create));
        let [event!(messages::Conversation(room)), ..] = &made[..] else { panic!("{made:?}") };
        let room = room.id;
        scene.ask(&ann, Request::new(1, rooms::Command::Join { to: To::Conversation(room) }));
        let it = Party { ann, laptop, bob, pair, room };
        scene.wait(2_000);
        let records = scene.node.write_down();
        scene.replace_node();
        scene.node.adopt(records.clone(), scene.now());
        let all = [&it.ann, &it.laptop, &it.bob, &cat];
        all.into_iter().for_each(|device| drop(scene.take(device)));
        assert_eq!(scene.node.stats().behind, 0, "nobody has missed anything before {what}");

        change(&scene, &it);
        let events: Vec<Delivery> = [&it.laptop, &it.bob].into_iter().flat_map(|by| scene.take(by)).collect();
        all.into_iter().for_each(|device| drop(scene.take(device)));
        scene.replace_node();
        scene.node.adopt(records, scene.now());
        assert!(matches!(scene.take(&it.ann)[..], [event!(session::Behind)]), "{what}: {events:?}");
        assert!(scene.take(&cat).is_empty(), "{what}");
    }
}

fn change_message(scene: &Scene, it: &Party, change: MessageChange) {
    let change = messages::Command::Change { conversation: it.pair, seq: Seq(1), change };
    scene.command(&it.bob, Request::new(1, change));
}

fn change_member(scene: &Scene, by: &Device, conversation: ConversationId, action: MemberAction) {
    let change = rooms::Command::ChangeMember { conversation, user: scene::sub("ann"), action };
    scene.command(by, Request::new(1, change));
}

/// More than are read together, and one of them has missed something.
#[test]
fn of_many_sessions_those_that_missed_something_are_behind() {
    let mut scene = scene();
    let devices: Vec<Device> =
        (0..600).map(|n| scene.sign_in(&format!("user-{n}"), &format!("d{n}"))).collect();
    let records: Vec<SessionRecord> = devices.iter().map(|device| device.welcome.record.clone()).collect();
    for (from, to_user) in [(3, 255), (256, 599)] {
        scene.send(&devices[from], to(&format!("user-{to_user}")), "m", "hello");
    }
    devices.iter().for_each(|device| drop(scene.take(device)));
    scene.replace_node();
    scene.node.adopt(records, scene.now());
    let is_behind = |device: &Device| match &scene.take(device)[..] {
        [] => false,
        [event!(session::Behind)] => true,
        other => panic!("{other:?}"),
    };
    let behind: Vec<usize> = (0..600).filter(|at| is_behind(&devices[*at])).collect();
    assert_eq!(behind, [3, 255, 256, 599], "the welcomes of the senders are from before, too");
    assert_eq!(scene.node.stats().behind, 4);
}

/// The first front did not hear that the session had ended, because its link was lost. Then the node dies.
#[test]
fn no_client_that_moved_to_another_front_is_told_that_it_was_replaced() {
    for newest_first in [false, true] {
        let mut scene = scene();
        let bob = scene.sign_in("bob", "b");
        let old = scene.sign_in("ann", "phone");
        let new = scene.sign_in("ann", "phone");
        let of = |device: &Device| device.welcome.record.clone();
        scene.take(&old);
        scene.replace_node();
        scene.node.adopt(vec![of(&bob)], scene.now());
        let records = if newest_first { [of(&new), of(&old)] } else { [of(&old), of(&new)] };
        for record in records {
            scene.node.adopt(vec![record], scene.now());
        }
        let reader = match newest_first {
            true => {
                assert_eq!(bye(&scene, &old), COME_AGAIN);
                assert!(scene.take(&new).is_empty());
                new
            }
            false => {
                assert_eq!(bye(&scene, &new), COME_AGAIN);
                let again = scene.sign_in_from("ann", "phone", Some(new.welcome.changes.position));
                assert_eq!(bye(&scene, &old), Refusal::Replaced);
                again
            }
        };
        assert_eq!(scene.node.stats().sessions, 2);
        scene.post(&bob, to("ann"), "m1", "hello").unwrap();
        assert_eq!(bodies_of(&scene.take(&reader)), ["hello"]);
    }
}

/// A front that was away brings its sessions after their users have signed in elsewhere.
#[test]
fn a_session_that_comes_late_ends_no_other() {
    let mut config = scene::config();
    (config.limits.sessions_per_user, config.limits.sessions_per_site) = (2, 3);
    let mut scene = Scene::with(Mode::Open, config, Sqlite::in_memory());
    let late = ["a", "b"].map(|device| scene.sign_in("ann", device));
    let records = scene.node.release(scene.now());
    scene.replace_node();
    let here = ["c", "d"].map(|device| scene.sign_in("ann", device));
    scene.node.adopt(records, scene.now());
    late.iter().for_each(|device| assert_eq!(bye(&scene, device), Refusal::Replaced));
    here.iter().for_each(|device| assert!(scene.take(device).is_empty()));
    assert_eq!(scene.node.stats().sessions, 2);
    let bob = scene.sign_in("bob", "b");
    assert!(scene.take(&bob).is_empty(), "those who were refused hold no place of the site");
}

/// Whatever the store answers first, the newer connection of the device stays.
#[test]
fn a_sign_in_during_the_adoption_of_the_same_device_is_welcomed_and_stays() {
    for seed in 0..60 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut scene = Scene::with(Mode::Open, scene::config(), Sqlite::by_turns());
        let handle = scene.hello(Some(&scene.token("ann")), "phone", None);
        scene.store.run();
        let old = scene.welcomed(handle);
        scene.replace_node();
        scene.node.adopt(vec![old.welcome.record.clone()], scene.now());
        for _ in 0..rng.random_range(0..4) {
            let turns = scene.store.turns();
            scene.store.turn(rng.random_range(0..turns.max(1)));
        }
        let handle = scene.hello(Some(&scene.token("ann")), "phone", None);
        while scene.store.turns() > 0 {
            scene.store.turn(rng.random_range(0..scene.store.turns()));
        }
        let new = scene.welcomed(handle);
        assert!(scene.take(&new).is_empty(), "seed {seed}");
        assert!([COME_AGAIN, Refusal::Replaced].contains(&bye(&scene, &old)), "seed {seed}");
        assert_eq!(scene.node.stats().sessions, 1, "seed {seed}");
    }
}

#[test]
fn a_session_that_was_behind_stays_behind() {
    let mut scene = scene();
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.node.behind(bob.session);
    move_all(&mut scene);
    assert!(matches!(scene.take(&bob)[..], [event!(session::Behind)]));
    scene.post(&ann, to("bob"), "m1", "while behind").unwrap();
    assert!(scene.take(&bob).is_empty());
}

#[test]
fn commands_wait_until_their_session_is_adopted_and_keep_their_order() {
    let mut scene = Scene::with(Mode::Open, scene::config(), Sqlite::by_turns());
    let sign_in = |scene: &Scene, user: &str| {
        let handle = scene.hello(Some(&scene.token(user)), user, None);
        scene.store.run();
        scene.welcomed(handle)
    };
    let (ann, bob) = (sign_in(&scene, "ann"), sign_in(&scene, "bob"));
    scene.send(&ann, to("bob"), "m0", "m0");
    scene.store.run();
    let records = scene.node.release(scene.now());
    scene.replace_node();
    scene.take(&bob);
    scene.take(&ann);
    scene.node.adopt(records, scene.now());
    for id in ["m1", "m2", "m3"] {
        scene.send(&ann, to("bob"), id, id);
    }
    assert!(scene.take(&ann).is_empty(), "nothing is refused");
    scene.store.run();
    scene.send(&ann, to("bob"), "m4", "m4");
    scene.store.run();
    assert_eq!(bodies_of(&scene.take(&bob)), ["m1", "m2", "m3", "m4"]);

    // More than the bound is refused.
    let records = scene.node.release(scene.now());
    scene.replace_node();
    scene.take(&ann);
    scene.node.adopt(records, scene.now());
    for number in 0..70 {
        scene.send(&ann, to("bob"), &format!("x{number}"), "x");
    }
    let refused = scene.take(&ann).len();
    assert_eq!(refused, 70 - 64);
    scene.store.run();
    assert_eq!(bodies_of(&scene.take(&bob)).len(), 64);
}

/// They are more than one read of the store brings.
#[test]
fn a_new_process_learns_when_all_sessions_are_here_and_no_event_misses_one() {
    let mut scene = Scene::with(Mode::Open, scene::config(), Sqlite::by_turns());
    let count = 600;
    let devices: Vec<Device> = (0..count)
        .map(|number| {
            let user = format!("user-{number}");
            let handle = scene.hello(Some(&scene.token(&user)), &user, None);
            scene.store.run();
            scene.welcomed(handle)
        })
        .collect();
    let records = scene.node.write_down();
    assert_eq!(records.len(), count);
    scene.replace_node();
    let last = records[count - 1].session.handle;
    let (told, all_are_here) = std::sync::mpsc::channel();
    scene.node.continue_sessions(records, scene.now(), move || told.send(()).unwrap());
    assert!(all_are_here.try_recv().is_err(), "the users are not read yet");
    scene.store.run();
    assert_eq!(all_are_here.try_recv(), Ok(()));
    assert_eq!(scene.node.stats().sessions, count as u64);
    let (at, other) = match devices.iter().position(|device| device.session.handle == last).unwrap() {
        0 => (0, 1),
        at => (at, 0),
    };
    devices.iter().for_each(|device| drop(scene.take(device)));
    scene.send(&devices[other], to(&format!("user-{at}")), "m", "for the last one");
    scene.store.run();
    assert_eq!(bodies_of(&scene.take(&devices[at])), ["for the last one"]);
}

#[test]
fn a_connection_that_ends_during_the_move_leaves_no_session() {
    let mut scene = Scene::with(Mode::Open, scene::config(), Sqlite::by_turns());
    let handle = scene.hello(Some(&scene.token("ann")), "a", None);
    scene.store.run();
    let ann = scene.welcomed(handle);
    let records = scene.node.release(scene.now());
    scene.replace_node();
    scene.node.adopt(records, scene.now());
    scene.leave(&ann);
    scene.store.run();
    let stats = scene.node.stats();
    assert_eq!((stats.sessions, stats.users_online), (0, 0));
}

#[test]
fn only_sessions_that_may_continue_are_adopted() {
    // The site was closed.
    let mut closed = scene();
    let ann = closed.sign_in("ann", "a");
    let records = closed.node.release(closed.now());
    refresh(&closed, |site| site.settings = site.settings.clone().with("access", "\"closed\"").unwrap());
    closed.replace_node();
    closed.node.adopt(records, closed.now());
    assert_eq!(bye(&closed, &ann), Refusal::SiteClosed);

    // The key of its token was removed.
    let mut ended = scene();
    let ann = ended.sign_in("ann", "a");
    let mut records = ended.node.release(ended.now());
    records[0].key = "a key that the site had once".into();
    ended.replace_node();
    ended.node.adopt(records, ended.now());
    assert_eq!(bye(&ended, &ann), Refusal::KeyEnded);

    // The user does not exist.
    let mut unknown = scene();
    let ann = unknown.sign_in("ann", "a");
    let mut records = unknown.node.release(unknown.now());
    records[0].session.user.num = 99;
    unknown.replace_node();
    unknown.node.adopt(records, unknown.now());
    assert_eq!(bye(&unknown, &ann), Refusal::NoSession);

    // The device has connected to the new node on its own.
    let mut twice = scene();
    let ann = twice.sign_in("ann", "a");
    let records = twice.node.release(twice.now());
    twice.replace_node();
    let again = twice.sign_in("ann", "a");
    twice.node.adopt(records, twice.now());
    assert_eq!(bye(&twice, &ann), COME_AGAIN);
    assert!(twice.take(&again).is_empty());
    assert_eq!(twice.node.stats().sessions, 1);
}

#[test]
fn a_token_expires_on_the_new_node_at_the_same_time() {
    let mut scene = scene();
    let ann = scene.sign_in("ann", "a");
    let [record] = &move_all(&mut scene)[..] else { panic!("one session") };
    assert_eq!(record.ends, ann.welcome.record.ends);
    assert_eq!(record.key, ann.welcome.record.key);
    scene.wait(3_600_000 + 60_000 + 6_000);
    assert!(matches!(scene.take(&ann)[..], [event!(session::Bye(Refusal::TokenExpired))]));
}

#[test]
fn a_user_who_left_during_the_move_is_offline_after_the_grace_time() {
    let mut scene = scene();
    let (ann, bob) = (scene.sign_in("ann", "a"), scene.sign_in("bob", "b"));
    scene.befriend(&ann, &bob);
    scene.watch(&ann, &["bob"]);
    scene.wait(1_000);
    scene.drop_connection(&bob);
    scene.take(&ann);
    move_all(&mut scene);
    assert_eq!(scene::presences(&scene.take(&ann)), []);
    scene.wait(11_000);
    assert_eq!(scene::presences(&scene.take(&ann)), [("bob".to_owned(), Presence::Offline)]);
}

#[test]
fn sign_ins_are_refused_after_a_release() {
    let scene = scene();
    scene.sign_in("ann", "a");
    assert_eq!(scene.node.release(scene.now()).len(), 1);
    assert!(matches!(scene.refused_hello(Some(&scene.token("bob"))), Refusal::GoingAway { .. }));
    assert_eq!(scene.node.stats().sessions, 0);
}
