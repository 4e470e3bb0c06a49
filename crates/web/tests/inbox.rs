//! How a member keeps order in the list of conversations: drafts, marks, pins, and lists of a part of it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use scene::{Carrier, Client, Scene};
use serde_json::{Value, json};

/// The events of this kind that a client heard since it was asked last.
fn received(client: &mut Client, scene: &mut Scene, kind: &str) -> Vec<Value> {
    client.hear(scene).into_iter().filter(|event| event["t"] == kind).collect()
}

/// Anna has written to Ben, who is here with a phone and a laptop.
fn begun() -> (Scene, Client, Client, Client, String) {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut phone = scene.enter(Carrier::Poll, "ben");
    let mut laptop = scene.enter(Carrier::Stream, "ben");
    anna.send(&mut scene, "ben", "a-1", "Hello @ben!");
    let acks = received(&mut anna, &mut scene, "ack");
    let conversation = acks[0]["conversation"].as_str().unwrap().to_owned();
    phone.hear(&mut scene);
    laptop.hear(&mut scene);
    (scene, anna, phone, laptop, conversation)
}

#[test]
fn a_draft_and_a_mark_reach_the_other_device_and_nobody_else() {
    let (mut scene, mut anna, mut phone, mut laptop, conversation) = begun();
    let change = json!({"t": "conversation", "rid": 1, "conversation": conversation, "draft": "half a",
        "marked_unread": true});
    phone.say(&mut scene, &change.to_string());
    let answer = &received(&mut phone, &mut scene, "conversation")[0];
    assert_eq!((&answer["re"], &answer["conversation"]["draft"]), (&json!(1), &json!("half a")));
    let told = &received(&mut laptop, &mut scene, "conversation")[0];
    assert_eq!((told.get("re"), &told["conversation"]["draft"]), (None, &json!("half a")));
    assert_eq!(told["conversation"]["marked_unread"], true);
    assert!(received(&mut anna, &mut scene, "conversation").is_empty());
    let read = json!({"t": "marker", "conversation": conversation, "read": 1});
    laptop.say(&mut scene, &read.to_string());
    let page = json!({"t": "conversations", "rid": 2});
    laptop.say(&mut scene, &page.to_string());
    let list = &received(&mut laptop, &mut scene, "conversations")[0]["conversations"];
    assert_eq!((list[0].get("marked_unread"), &list[0]["draft"]), (None, &json!("half a")));
    let cleared = json!({"t": "conversation", "rid": 3, "conversation": conversation, "draft": ""});
    laptop.say(&mut scene, &cleared.to_string());
    assert_eq!(received(&mut phone, &mut scene, "conversation")[0]["conversation"].get("draft"), None);
}

#[test]
fn a_device_that_comes_back_has_the_draft() {
    let (mut scene, _, mut phone, _, conversation) = begun();
    let change = json!({"t": "conversation", "rid": 1, "conversation": conversation, "draft": "half a"});
    phone.say(&mut scene, &change.to_string());
    phone.hear(&mut scene);
    let mut tablet = scene.enter(Carrier::Sse, "ben");
    assert_eq!(tablet.welcome["conversations"][0]["draft"], "half a");
    assert!(tablet.hear(&mut scene).is_empty());
}

#[test]
fn a_draft_that_is_no_text_of_a_message_is_refused() {
    let (mut scene, _, mut phone, _, conversation) = begun();
    for draft in ["x".repeat(9_000), "a\0b".to_owned()] {
        let change = json!({"t": "conversation", "rid": 1, "conversation": conversation, "draft": draft});
        phone.say(&mut scene, &change.to_string());
        let refused = &received(&mut phone, &mut scene, "error")[0];
        assert_eq!((&refused["re"], &refused["code"]), (&json!(1), &json!("bad_body")));
    }
}

#[test]
fn lists_of_what_is_unread_and_of_mentions() {
    let (mut scene, _, mut phone, _, conversation) = begun();
    let mut ask = |command: Value| {
        phone.say(&mut scene, &command.to_string());
        let events = phone.hear(&mut scene);
        events.into_iter().find(|event| event["re"] == command["rid"]).unwrap()
    };
    let listed = |answer: Value| answer["conversations"].as_array().map_or(0, Vec::len);
    assert_eq!(listed(ask(json!({"t": "conversations", "rid": 1, "only": "unread"}))), 1);
    assert_eq!(listed(ask(json!({"t": "conversations", "rid": 2, "only": "mentions"}))), 1);
    let archive = json!({"t": "conversation", "rid": 3, "conversation": conversation, "archived": true});
    assert_eq!(ask(archive)["conversation"]["archived"], true);
    assert_eq!(listed(ask(json!({"t": "conversations", "rid": 4, "only": "unread"}))), 0);
    let both = ask(json!({"t": "conversations", "rid": 5, "only": "unread", "archived": true}));
    assert_eq!(both["code"], "bad_value");
}

#[test]
fn one_pins_only_so_many() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut refused = Vec::new();
    for number in 0..=chat::MOST_PINNED {
        let user = format!("u{number}");
        scene.enter(Carrier::Poll, &user);
        anna.send(&mut scene, &user, &format!("a-{number}"), "Hello!");
        let acks = received(&mut anna, &mut scene, "ack");
        let pin =
            json!({"t": "conversation", "rid": 1, "conversation": acks[0]["conversation"], "pinned": true});
        anna.say(&mut scene, &pin.to_string());
        refused.extend(received(&mut anna, &mut scene, "error"));
    }
    let codes: Vec<_> = refused.iter().map(|event| &event["code"]).collect();
    assert_eq!(codes, ["too_many_pinned"]);
}

#[test]
fn what_one_pins_both_have_at_hand() {
    let (mut scene, mut anna, mut phone, mut laptop, conversation) = begun();
    let pin = json!({"t": "pin", "rid": 1, "conversation": conversation, "seq": 1, "on": true});
    phone.say(&mut scene, &pin.to_string());
    let answer = &received(&mut phone, &mut scene, "update")[0];
    assert_eq!((&answer["re"], &answer["message"]["pinned"]), (&json!(1), &json!(true)));
    for client in [&mut anna, &mut laptop] {
        assert_eq!(received(client, &mut scene, "update")[0]["message"]["pinned"], true);
    }
    let pins = json!({"t": "pins", "rid": 2, "conversation": conversation});
    anna.say(&mut scene, &pins.to_string());
    let listed = &received(&mut anna, &mut scene, "pins")[0];
    assert_eq!((&listed["re"], &listed["messages"][0]["body"]), (&json!(2), &json!("Hello @ben!")));
    let mut eve = scene.enter(Carrier::WebSocket, "eve");
    eve.say(&mut scene, &pins.to_string());
    assert_eq!(received(&mut eve, &mut scene, "error")[0]["code"], "no_such_conversation");
}
