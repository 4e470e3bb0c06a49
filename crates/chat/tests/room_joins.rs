//! Events of joins and leaves in rooms.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::*;
use scene::*;

fn page() -> To {
    To::Page(PageKey::parse("/thread/42").unwrap())
}

/// Writes in the page's room, which makes the sender a member.
fn write(scene: &Scene, from: &Device, id: &str) -> ConversationId {
    scene.take(from);
    scene.send(from, page(), id, "hello");
    let events = scene.take(from);
    let acknowledged = events.iter().find_map(|event| match event {
        event!(messages::Ack { conversation, .. }) => Some(*conversation),
        _ => None,
    });
    acknowledged.unwrap_or_else(|| panic!("not sent: {events:?}"))
}

fn counts(events: &[Delivery]) -> Vec<(u32, Vec<String>)> {
    let count = |event: &Delivery| match event {
        event!(rooms::MemberCount { members, joined, .. }) => {
            Some((*members, joined.iter().map(|person| person.sub.to_string()).collect()))
        }
        _ => None,
    };
    events.iter().filter_map(count).collect()
}

fn joined(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_join_is_seen_by_the_others_within_a_second() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| scene.sign_in(name, name));
    scene.wait(100);
    let room = write(&scene, &ann, "1");
    scene.wait(2_000);
    scene.take(&ann);
    // Writing in a page's room is joining, like the command to join.
    write(&scene, &bob, "1");
    scene.ask(&carl, Request::new(1, rooms::Command::Join { to: page() }));
    scene.wait(1_000);
    assert_eq!(counts(&scene.take(&ann)), [(3, joined(&["bob", "carl"]))]);
    assert_eq!(counts(&scene.take(&bob)), [(3, joined(&["bob", "carl"]))]);
    scene.ask(&carl, Request::new(2, rooms::Command::Leave { conversation: room }));
    scene.wait(1_000);
    assert_eq!(counts(&scene.take(&ann)), [(2, vec![])]);
    assert_eq!(counts(&scene.take(&carl)), [], "a user who left hears nothing");
    // The author of a second message has joined before.
    write(&scene, &bob, "2");
    scene.wait(2_000);
    assert_eq!(counts(&scene.take(&ann)), []);
}

#[test]
fn repeated_joins_and_leaves_become_one_event() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, name));
    let room = write(&scene, &ann, "1");
    scene.wait(2_000);
    scene.take(&ann);
    for _ in 0..100 {
        scene.ask(&bob, Request::new(1, rooms::Command::Join { to: page() }));
        scene.wait(300);
        scene.ask(&bob, Request::new(2, rooms::Command::Leave { conversation: room }));
        scene.wait(300);
    }
    let received = counts(&scene.take(&ann));
    assert!(received.len() <= 61, "one event per second of a minute: {}", received.len());
    let lines: usize = received.iter().map(|(_, joined)| joined.len()).sum();
    assert!(lines <= 1, "{received:?}");
}

#[test]
fn large_rooms_receive_only_the_number() {
    let mut scene = Scene::new(Mode::Open);
    let ann = scene.sign_in("ann", "a");
    write(&scene, &ann, "1");
    for number in 0..50 {
        let name = format!("u{number}");
        let device = scene.sign_in(&name, &name);
        scene.ask(&device, Request::new(1, rooms::Command::Join { to: page() }));
    }
    scene.wait(1_000);
    assert_eq!(counts(&scene.take(&ann)).last(), Some(&(51, vec![])));
}

/// An added contact is listed; a user with a pending invitation is not.
#[test]
fn added_users_are_listed_and_invited_ones_are_not() {
    let mut scene = Scene::new(Mode::Open);
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| scene.sign_in(name, name));
    scene.befriend(&ann, &bob);
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("requests.on", "true").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    let create = Request::new(
        1,
        rooms::Command::Create { name: "Bikers".into(), kind: RoomKind::Private, topic: None, alias: None },
    );
    let room = match scene.ask(&ann, create).as_slice() {
        [event!(messages::Conversation(conversation))] => conversation.id,
        other => panic!("no room: {other:?}"),
    };
    scene.wait(2_000);
    scene.take(&ann);
    for user in ["bob", "carl"] {
        let action = MemberAction::Invite;
        scene.ask(
            &ann,
            Request::new(2, rooms::Command::ChangeMember { conversation: room, user: sub(user), action }),
        );
    }
    scene.wait(1_000);
    assert_eq!(counts(&scene.take(&ann)), [(2, joined(&["bob"]))]);
    assert_eq!(counts(&scene.take(&carl)), []);
}
