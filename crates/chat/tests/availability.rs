//! Availability of single sessions in virtual time, and stanzas between them.

use crate::scene;

use chat::presence::{Availability, Show, UserSessions};
use chat::*;
use scene::*;

fn online() -> Availability {
    Availability::default()
}

fn with_status(show: Show, status: &str) -> Availability {
    Availability { show, status: status.into(), ..Availability::default() }
}

/// `user/resource show status`, as the device was told.
fn told(scene: &Scene, device: &Device) -> Vec<String> {
    let mut told = Vec::new();
    for event in scene.take(device) {
        let event!(presence::Sessions(users)) = event else { continue };
        for UserSessions { user, sessions } in users {
            for session in sessions {
                let resource = session.resource.as_deref().unwrap_or("*");
                let state = session
                    .availability
                    .map_or("gone".into(), |one| format!("{:?} {}", one.show, one.status));
                told.push(format!("{}/{resource} {}", user.as_str(), state.trim()));
            }
        }
    }
    told.sort();
    told
}

fn announce(scene: &Scene, device: &Device, availability: Option<Availability>) {
    scene.command(device, presence::Command::Announce(availability.map(Into::into)));
}

fn watch(scene: &Scene, device: &Device) {
    scene.command(device, presence::Command::Watch { contacts: true, users: Vec::new() });
}

/// Ann has an app, which watches her contact Bob.
fn ann_and_bob(scene: &mut Scene) -> (Device, Device) {
    let ann = scene.sign_in_announced("ann", "desk", Some(online()));
    let bob = scene.sign_in("bob", "b");
    scene.befriend(&ann, &bob);
    watch(scene, &ann);
    scene.wait(600);
    scene.take(&ann);
    (ann, bob)
}

#[test]
fn an_app_sees_each_session_of_a_contact() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = ann_and_bob(&mut scene);
    let phone = scene.sign_in_announced("bob", "phone", None);
    scene.wait(600);
    assert_eq!(told(&scene, &ann), [""; 0], "it is not available yet");
    announce(&scene, &phone, Some(with_status(Show::Busy, "in a meeting")));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/phone Busy in a meeting"]);
    announce(&scene, &phone, Some(with_status(Show::Busy, "still")));
    announce(&scene, &phone, Some(with_status(Show::Away, "lunch")));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/phone Away lunch"], "changes of a round are combined");

    let desk = scene.sign_in_announced("ann", "second", Some(online()));
    watch(&scene, &desk);
    let first = ["ann/desk Online", "bob/* Online", "bob/phone Away lunch"];
    assert_eq!(told(&scene, &desk), first, "a watch begins with all of them, and the user's own");
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["ann/second Online"]);

    scene.leave(&bob);
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/* gone"]);
    scene.leave(&phone);
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/phone gone"]);
}

#[test]
fn the_widget_sees_the_best_presence() {
    let mut scene = Scene::new(Mode::Open);
    let web = scene.sign_in("ann", "a");
    let phone = scene.sign_in_announced("bob", "phone", None);
    scene.befriend(&web, &phone);
    scene.watch_contacts(&web);
    let heard = |scene: &mut Scene| {
        scene.wait(600);
        presences(&scene.take(&web)).into_iter().map(|(_, presence)| presence).collect::<Vec<_>>()
    };
    assert_eq!(heard(&mut scene), [], "a session without presence is not online");
    announce(&scene, &phone, Some(with_status(Show::ExtendedAway, "")));
    assert_eq!(heard(&mut scene), [Presence::Away]);
    let desk = scene.sign_in_announced("bob", "desk", Some(with_status(Show::Busy, "")));
    assert_eq!(heard(&mut scene), [Presence::Busy]);
    announce(&scene, &desk, Some(with_status(Show::Busy, "really")));
    assert_eq!(heard(&mut scene), [], "a status is no change of presence");
    let tab = scene.sign_in("bob", "tab");
    assert_eq!(heard(&mut scene), [Presence::Online]);
    scene.leave(&tab);
    assert_eq!(heard(&mut scene), [Presence::Busy]);
    announce(&scene, &desk, None);
    assert_eq!(heard(&mut scene), [Presence::Away]);
    scene.leave(&desk);
    announce(&scene, &phone, None);
    assert_eq!(heard(&mut scene), [Presence::Offline]);
}

#[test]
fn a_short_disconnect_of_the_last_session_is_not_published() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = ann_and_bob(&mut scene);
    scene.leave(&bob);
    let phone = scene.sign_in_announced("bob", "phone", Some(online()));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/* gone", "bob/phone Online"]);
    scene.drop_connection(&phone);
    scene.wait(5_000);
    let phone = scene.sign_in_announced("bob", "phone", Some(online()));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), [""; 0]);
    scene.drop_connection(&phone);
    scene.wait(11_000);
    assert_eq!(told(&scene, &ann), ["bob/phone gone"]);
    scene.drop_connection(&ann);
    scene.wait(11_000);
    assert_eq!(scene.node.stats().users_online, 0);
}

#[test]
fn invisible_and_former_contacts_show_no_session() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = ann_and_bob(&mut scene);
    let phone = scene.sign_in_announced("bob", "phone", Some(online()));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/phone Online"]);
    scene.command(&bob, presence::Command::Set(SetPresence::Invisible));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/* gone", "bob/phone gone"]);
    announce(&scene, &phone, Some(with_status(Show::Away, "secret")));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), [""; 0]);
    scene.command(&bob, presence::Command::Set(SetPresence::Online));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/* Online", "bob/phone Away secret"]);

    scene.contact(&bob, ContactAction::Block, "ann").unwrap();
    assert_eq!(told(&scene, &ann), ["bob/* gone", "bob/phone gone"]);
    announce(&scene, &phone, Some(online()));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), [""; 0]);
    watch(&scene, &ann);
    assert_eq!(told(&scene, &ann), ["ann/desk Online"]);
}

#[test]
fn availability_is_bounded_and_filtered() {
    let scene = Scene::new(Mode::Open);
    let refusal = |device: &Device, availability: Availability| {
        scene.take(device);
        announce(&scene, device, Some(availability));
        scene.take(device).into_iter().find_map(|event| match event {
            event!(session::Refused(refusal)) => Some(refusal),
            _ => None,
        })
    };
    let phone = scene.sign_in_announced("bob", "phone", Some(online()));
    let long = Availability { status: "x".repeat(1_025).into(), ..online() };
    assert_eq!(refusal(&phone, long), Some(Refusal::BadValue));
    let long = Availability { extension: "x".repeat(4_097).into(), ..online() };
    assert_eq!(refusal(&phone, long), Some(Refusal::BadValue));
    assert_eq!(refusal(&phone, online()), None);
    let tab = scene.sign_in("bob", "tab");
    assert_eq!(refusal(&tab, online()), Some(Refusal::NotAllowed), "it has no resource");
}

fn relay(scene: &Scene, from: &Device, to: &str, resource: &str) -> Result<(), Refusal> {
    let (to, resource, payload) = (sub(to), resource.into(), "<ping/>".into());
    let asked = Request::new(4, presence::Command::Relay { to, resource, payload, is_answer: false });
    match scene.ask(from, asked).as_slice() {
        [.., event!(Some(4), presence::RelayDone)] => Ok(()),
        [event!(Some(4), session::Refused(refusal))] => Err(*refusal),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stanza_reaches_one_session_of_a_contact_who_is_seen() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = ann_and_bob(&mut scene);
    let _phone = scene.sign_in_announced("bob", "phone", None);
    let desk = scene.sign_in_announced("bob", "desk", Some(online()));
    scene.wait(600);
    let nobody = Err(Refusal::NoSuchUser);
    assert_eq!(relay(&scene, &ann, "bob", "phone"), nobody, "it is not available");
    assert_eq!(relay(&scene, &ann, "bob", "desk"), Ok(()));
    let received = scene.take(&desk);
    let [.., event!(presence::Relayed { from, resource, payload })] = &received[..] else {
        panic!("{received:?}")
    };
    assert_eq!((from, &**resource, &**payload), (&sub("ann"), "desk", "<ping/>"));
    assert_eq!(relay(&scene, &desk, "bob", "phone"), Ok(()), "one's own sessions need no presence");
    assert_eq!(relay(&scene, &desk, "ann", "desk"), Ok(()));
    assert_eq!(relay(&scene, &ann, "bob", "other"), nobody);
    assert_eq!(relay(&scene, &ann, "somebody", "desk"), nobody);
    assert_eq!(relay(&scene, &bob, "ann", "desk"), Err(Refusal::NotAllowed), "a session without a resource");
    let carl = scene.sign_in_announced("carl", "phone", Some(online()));
    assert_eq!(relay(&scene, &carl, "bob", "desk"), nobody, "a stranger");
    scene.command(&bob, presence::Command::Set(SetPresence::Invisible));
    scene.wait(600);
    assert_eq!(relay(&scene, &ann, "bob", "desk"), nobody, "he is invisible");
    let payload = "x".repeat(presence::RELAY_BYTES + 1).into();
    let asked = Request::new(
        4,
        presence::Command::Relay { to: sub("ann"), resource: "desk".into(), payload, is_answer: false },
    );
    assert!(matches!(scene.ask(&desk, asked)[..], [event!(Some(4), session::Refused(Refusal::BadValue))]));
}

#[test]
fn a_session_keeps_its_resource_on_another_node() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, _bob) = ann_and_bob(&mut scene);
    let phone = scene.sign_in_announced("bob", "phone", Some(with_status(Show::Away, "lunch")));
    scene.wait(600);
    scene.take(&ann);
    let records = scene.node.release(scene.now());
    scene.replace_node();
    scene.node.adopt(records, scene.now());
    scene.wait(600);
    assert_eq!(told(&scene, &ann), [""; 0], "nothing has changed");
    announce(&scene, &phone, Some(online()));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/phone Online"]);
}

/// One member with many contacts could cost each of them 5 KB in each round.
#[test]
fn large_changes_wait_until_the_member_may_publish_them() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, _bob) = ann_and_bob(&mut scene);
    let phone = scene.sign_in_announced("bob", "phone", None);
    let long = |at: u32| Availability {
        extension: format!("{at:04096}").into(),
        ..with_status(Show::Online, &format!("{at:01024}"))
    };
    let mut received = 0;
    for at in 0..60 {
        announce(&scene, &phone, Some(long(at)));
        scene.wait(1_000);
        received += told(&scene, &ann).len();
    }
    assert!(
        (6..=10).contains(&received),
        "{received} changes of 5 KB in a minute: 16 KB at once, and 16 KB more"
    );

    // The others stay, and the newest arrives.
    let state = |scene: &Scene| told(scene, &ann).pop();
    announce(&scene, &phone, Some(with_status(Show::Busy, "the last one")));
    scene.wait(60_000);
    assert_eq!(state(&scene).as_deref(), Some("bob/phone Busy the last one"));

    // Small changes are as fast as before, and an end never waits.
    for at in 0..20 {
        announce(&scene, &phone, Some(with_status(Show::Away, &at.to_string())));
        scene.wait(600);
        assert_eq!(state(&scene), Some(format!("bob/phone Away {at}")));
    }
    for at in 0..10 {
        announce(&scene, &phone, Some(long(at)));
        scene.wait(600);
    }
    scene.take(&ann);
    scene.leave(&phone);
    scene.wait(600);
    assert_eq!(state(&scene).as_deref(), Some("bob/phone gone"));
}

#[test]
fn who_comes_back_may_publish_no_more() {
    let mut scene = Scene::new(Mode::Open);
    let (ann, bob) = ann_and_bob(&mut scene);
    scene.leave(&bob);
    scene.wait(600);
    scene.take(&ann);
    let long = Availability { extension: "x".repeat(4096).into(), ..online() };
    let mut received = 0;
    for _ in 0..30 {
        let phone = scene.sign_in_announced("bob", "phone", Some(long.clone()));
        scene.wait(1_000);
        received += told(&scene, &ann).iter().filter(|one| one.ends_with("Online")).count();
        scene.leave(&phone);
        scene.wait(1_000);
        scene.take(&ann);
    }
    assert!((6..=12).contains(&received), "{received}");
    // And later everything again.
    scene.wait(130_000);
    scene.sign_in_announced("bob", "phone", Some(long));
    scene.wait(600);
    assert_eq!(told(&scene, &ann), ["bob/phone Online"]);
}
