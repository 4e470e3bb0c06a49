//! A worker that falls behind: its mailbox fills, its sessions are behind, and they catch up from the archive.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use scene::{CARRIERS, Carrier, Client, Scene};
use serde_json::{Value, json};
use web::WebConfig;

/// All sessions receive events on this worker.
const WORKER: usize = 0;
const ROOM: usize = 16;
const MESSAGES: usize = 20;

fn scene() -> Scene {
    Scene::with_mailboxes(WebConfig::default(), scene::limits(), ROOM)
}

#[test]
fn every_session_of_a_full_mailbox_is_behind_and_catches_up_without_loss() {
    let mut scene = scene();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut receivers = [(0, "ben"), (1, "cleo"), (2, "dora"), (3, "emil")]
        .map(|(carrier, user)| (scene.enter(CARRIERS[carrier], user), user));
    scene.hold_mail(WORKER);
    let mut expected = Vec::new();
    for n in 0..MESSAGES {
        for (_, user) in &receivers {
            anna.send(&mut scene, user, &format!("{user}-{n}"), &n.to_string());
        }
        expected.push(n.to_string());
    }
    assert_eq!(scene.shared.counters.behind.read(), 0, "the worker has not looked yet");
    scene.let_mail_go();
    assert_eq!(scene.shared.counters.behind.read(), 5, "anna missed that her messages were sent");
    assert_eq!(anna.hear(&mut scene).last().unwrap()["t"], "behind");
    for (client, user) in &mut receivers {
        let received = client.hear(&mut scene);
        assert_eq!(received.last().unwrap(), &json!({"t": "behind"}), "{user} {received:?}");
        let mut bodies = bodies(received.iter());
        assert!(bodies.len() < MESSAGES, "{user} {received:?}");
        bodies.extend(missed_bodies(&mut scene, client));
        assert_eq!(bodies, expected, "{user}");
    }
    for (client, user) in &mut receivers {
        anna.send(&mut scene, user, &format!("{user}-last"), "and on");
        assert_eq!(client.hear(&mut scene)[0]["body"], "and on", "{user}");
    }
}

/// Its welcome is never refused. The note of the sessions that missed something was in the mailbox before it.
#[test]
fn a_session_that_signs_in_at_a_full_mailbox_is_welcomed_and_then_behind() {
    for carrier in CARRIERS {
        let mut scene = scene();
        let mut anna = scene.enter(Carrier::WebSocket, "anna");
        let _ben = scene.enter(Carrier::WebSocket, "ben");
        scene.hold_mail(WORKER);
        for n in 0..ROOM {
            anna.send(&mut scene, "ben", &format!("ben-{n}"), "hello");
        }
        let hello = scene.hello("cleo", "phone", None);
        let mut cleo = Client::open(&mut scene, carrier, &hello);
        anna.send(&mut scene, "cleo", "cleo-1", "welcome, cleo");
        scene.let_mail_go();
        let mut kinds = cleo.kinds(&mut scene);
        // The first poll was answered with the welcome alone.
        kinds.extend(cleo.kinds(&mut scene));
        assert_eq!((kinds[0].as_str(), kinds.last().unwrap().as_str()), ("welcome", "behind"), "{carrier:?}");
        assert!(!kinds.contains(&"message".to_owned()), "{carrier:?} {kinds:?}");
        assert_eq!(missed_bodies(&mut scene, &mut cleo), ["welcome, cleo"], "{carrier:?}");
    }
}

#[test]
fn the_end_of_a_session_is_not_refused() {
    for carrier in CARRIERS {
        let mut scene = scene();
        let mut anna = scene.enter(Carrier::WebSocket, "anna");
        let mut ben = scene.enter(carrier, "ben");
        scene.hold_mail(WORKER);
        for n in 0..ROOM {
            anna.send(&mut scene, "ben", &format!("ben-{n}"), "hello");
        }
        scene.node.goodbye(5_000);
        scene.let_mail_go();
        let received = ben.hear(&mut scene);
        assert!(received.iter().any(|event| event["code"] == "going_away"), "{carrier:?} {received:?}");
    }
}

/// The texts of the messages that came since the client's position.
fn missed_bodies(scene: &mut Scene, client: &mut Client) -> Vec<String> {
    let resume = json!({"t": "resume", "rid": 1, "position": client.position});
    client.say(scene, &resume.to_string());
    let changes = client.hear(scene).remove(0);
    assert_eq!(changes["t"], "changes", "{changes}");
    bodies(changes["messages"].as_array().unwrap())
}

fn bodies<'a>(events: impl IntoIterator<Item = &'a Value>) -> Vec<String> {
    events.into_iter().filter_map(|event| event["body"].as_str()).map(str::to_owned).collect()
}
