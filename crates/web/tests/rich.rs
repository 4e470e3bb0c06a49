//! Polls, forwarded messages and threads as a client says and hears them.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "a test")]

use crate::scene;

use scene::{Carrier, Client, Scene};
use serde_json::{Value, json};

fn say(scene: &mut Scene, client: &mut Client, frame: Value) -> Vec<Value> {
    client.say(scene, &frame.to_string());
    client.hear(scene)
}

fn one(events: Vec<Value>, t: &str) -> Value {
    let found: Vec<Value> = events.iter().filter(|event| event["t"] == t).cloned().collect();
    assert_eq!(found.len(), 1, "one {t} in {events:?}");
    found.into_iter().next().unwrap()
}

#[test]
fn a_poll_from_the_question_to_its_end() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::Stream, "ben");
    let poll = json!({"t": "poll", "id": "p-1", "to": {"user": "ben"}, "body": "Where?", "choices": ["Lake", "Town"],
        "multiple": true});
    let ack = one(say(&mut scene, &mut anna, poll.clone()), "ack");
    assert_eq!((&ack["id"], &ack["seq"]), (&json!("p-1"), &json!(1)));
    assert_eq!(one(say(&mut scene, &mut anna, poll), "ack")["seq"], 1, "stored once");
    let message = one(ben.hear(&mut scene), "message");
    let choices = json!([{"text": "Lake", "votes": 0}, {"text": "Town", "votes": 0}]);
    assert_eq!(message["poll"], json!({"choices": choices, "multiple": true, "voters": 0}));
    let conversation = ack["conversation"].clone();
    let vote = |choices: Value| json!({"t": "vote", "rid": 1, "conversation": conversation, "seq": 1, "choices": choices});
    let counts = one(say(&mut scene, &mut ben, vote(json!([0, 1]))), "counts");
    assert_eq!(counts["re"], 1);
    let received = one(anna.hear(&mut scene), "counts");
    assert_eq!(received.get("re"), None);
    for counts in [counts, received] {
        assert_eq!(counts["poll"], json!({"votes": [1, 1], "voters": 1}));
        assert_eq!((&counts["by"], &counts["chose"]), (&json!("ben"), &json!([0, 1])));
    }
    assert_eq!(one(say(&mut scene, &mut ben, vote(json!([2]))), "error")["code"], "bad_value");
    let close = json!({"t": "close_poll", "rid": 2, "conversation": conversation, "seq": 1});
    assert_eq!(one(say(&mut scene, &mut ben, close.clone()), "error")["code"], "not_allowed");
    assert_eq!(one(say(&mut scene, &mut anna, close), "counts")["poll"]["closed"], true);
    ben.hear(&mut scene);
    let late = one(say(&mut scene, &mut ben, vote(json!([]))), "error");
    assert_eq!((&late["code"], &late["re"]), (&json!("poll_closed"), &json!(1)));
    let bad = json!({"t": "poll", "id": "p-2", "to": {"user": "ben"}, "body": "?", "choices": ["one"]});
    let refused = one(say(&mut scene, &mut anna, bad), "error");
    assert_eq!((&refused["code"], &refused["id"]), (&json!("bad_value"), &json!("p-2")));
}

#[test]
fn a_message_is_forwarded() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    let mut carla = scene.enter(Carrier::Poll, "carla");
    anna.send(&mut scene, "ben", "a-1", "Look at this");
    anna.hear(&mut scene);
    let message = one(ben.hear(&mut scene), "message");
    let forward = |id: &str, to: Value| json!({"t": "forward", "id": id, "to": to, "conversation": message["conversation"], "seq": 1});
    let ack = one(say(&mut scene, &mut ben, forward("f-1", json!({"user": "carla"}))), "ack");
    assert_eq!(ack["id"], "f-1");
    let received = one(carla.hear(&mut scene), "message");
    assert_eq!((&received["body"], &received["from"]), (&json!("Look at this"), &json!("ben")));
    assert_eq!(received["forwarded"], json!({"from": "anna"}));
    let eve = json!({"t": "forward", "id": "f-2", "to": {"user": "ben"}, "conversation": message["conversation"], "seq": 1});
    assert_eq!(one(say(&mut scene, &mut carla, eve), "error")["code"], "no_such_conversation");
    let nowhere = json!({"t": "forward", "id": "f-3", "to": {"user": "ben"}, "conversation": "?", "seq": 1});
    let refused = one(say(&mut scene, &mut ben, nowhere), "error");
    assert_eq!((&refused["code"], &refused["id"]), (&json!("no_such_conversation"), &json!("f-3")));
}

#[test]
fn a_thread_in_a_room() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    let create = json!({"t": "create_room", "rid": 1, "name": "Bikers", "kind": "public"});
    let room =
        one(say(&mut scene, &mut anna, create), "conversation")["conversation"]["conversation"].clone();
    let to = json!({"conversation": room});
    one(say(&mut scene, &mut ben, json!({"t": "join", "rid": 1, "to": to})), "conversation");
    one(
        say(&mut scene, &mut anna, json!({"t": "send", "id": "a-1", "to": to, "body": "A new lake?"})),
        "ack",
    );
    ben.hear(&mut scene);
    let reply = json!({"t": "send", "id": "b-1", "to": to, "body": "Where?", "thread": 1});
    assert_eq!(one(say(&mut scene, &mut ben, reply), "ack")["seq"], 2);
    let received = one(anna.hear(&mut scene), "message");
    assert_eq!((&received["thread"], &received["number"]), (&json!(1), &json!(1)));
    let threads =
        one(say(&mut scene, &mut anna, json!({"t": "threads", "rid": 2, "conversation": room})), "threads");
    let thread = &threads["threads"][0];
    assert_eq!((&thread["follows"], &thread["unread"]), (&json!(true), &json!(1)));
    assert_eq!(thread["root"]["replies"]["count"], 1);
    let read = json!({"t": "thread", "rid": 3, "conversation": room, "seq": 1, "read": 1});
    assert_eq!(one(say(&mut scene, &mut anna, read), "thread")["thread"]["unread"], 0);
    let page = json!({"t": "history", "rid": 4, "to": to, "thread": 1});
    let page = one(say(&mut scene, &mut anna, page), "history");
    assert_eq!(page["messages"].as_array().unwrap().len(), 1);
    assert_eq!(page["messages"][0]["body"], "Where?");
    let lost = json!({"t": "send", "id": "b-2", "to": to, "body": "?", "thread": 2});
    assert_eq!(one(say(&mut scene, &mut ben, lost), "error")["code"], "no_such_message");
}

#[test]
fn what_has_no_preview_loses_none() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    anna.send(&mut scene, "ben", "a-1", "https://example.org");
    let conversation = one(anna.hear(&mut scene), "ack")["conversation"].clone();
    ben.hear(&mut scene);
    let drop = json!({"t": "drop_preview", "rid": 1, "conversation": conversation, "seq": 1});
    assert_eq!(one(say(&mut scene, &mut anna, drop.clone()), "counts")["re"], 1, "it is so already");
    assert_eq!(one(say(&mut scene, &mut ben, drop), "error")["code"], "not_allowed");
}
