//! Calls of rooms as clients of the wire see them, over any transport.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use scene::{CARRIERS, Carrier, Client, Scene};
use serde_json::{Value, json};

/// Says a request and answers what comes back to it.
fn ask(scene: &mut Scene, client: &mut Client, mut request: Value) -> Value {
    request["rid"] = 7.into();
    client.say(scene, &request.to_string());
    let received = client.hear(scene);
    received.into_iter().find(|event| event["re"] == 7).unwrap()
}

fn group(scene: &mut Scene, client: &mut Client, room: &Value, mut action: Value) -> Value {
    action["t"] = "group_call".into();
    action["conversation"] = room.clone();
    ask(scene, client, action)
}

fn hear(scene: &mut Scene, client: &mut Client) -> Vec<Value> {
    client.hear(scene).into_iter().filter(|event| event["t"] == "group_call").collect()
}

fn made(scene: &mut Scene, owner: &mut Client, others: &mut [&mut Client]) -> Value {
    let room = ask(scene, owner, json!({"t": "create_room", "name": "Bikers", "kind": "public"}));
    let room = room["conversation"]["conversation"].clone();
    for other in others {
        ask(scene, other, json!({"t": "join", "to": {"conversation": room}}));
    }
    room
}

#[test]
fn three_in_a_room_over_any_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut anna = scene.enter(carrier, "anna");
        let mut ben = scene.enter(Carrier::WebSocket, "ben");
        let mut carla = scene.enter(Carrier::Poll, "carla");
        let room = made(&mut scene, &mut anna, &mut [&mut ben, &mut carla]);
        let none = group(&mut scene, &mut carla, &room, json!({"action": "look"}));
        assert_eq!(
            none,
            json!({"t": "group_call", "re": 7, "conversation": room, "news": "standing", "most": 6})
        );
        let join = json!({"action": "join", "media": "video"});
        let first = group(&mut scene, &mut anna, &room, join.clone());
        assert_eq!((&first["news"], &first["here"]), (&json!("joined"), &json!([])), "{carrier:?}");
        assert_eq!(first["ice"][0], json!({"urls": ["stun:im.example:3478"]}));
        let standing = hear(&mut scene, &mut carla).remove(0);
        assert_eq!(standing["now"]["here"], json!(["anna"]));
        assert_eq!(standing["now"]["media"], "video");
        let second = group(&mut scene, &mut ben, &room, join);
        assert_eq!(second["here"], json!([{"user": "anna", "place": first["place"]}]));
        let came = hear(&mut scene, &mut anna).into_iter().find(|event| event["news"] == "came").unwrap();
        assert_eq!((&came["user"], &came["place"]), (&json!("ben"), &second["place"]));
        let offer = json!({"action": "offer", "to": first["place"], "sdp": "v=0"});
        assert_eq!(group(&mut scene, &mut ben, &room, offer)["news"], "done");
        let offered = hear(&mut scene, &mut anna).remove(0);
        assert_eq!((&offered["from"], &offered["sdp"]), (&second["place"], &json!("v=0")));
        let candidate = json!({"t": "group_call", "conversation": room, "action": "candidate",
            "to": second["place"], "candidate": ""});
        anna.say(&mut scene, &candidate.to_string());
        assert!(hear(&mut scene, &mut anna).is_empty(), "who gives no number waits for nothing");
        assert!(hear(&mut scene, &mut ben).iter().any(|event| event["candidate"] == ""));
        assert_eq!(group(&mut scene, &mut anna, &room, json!({"action": "leave"}))["news"], "left");
        let left = hear(&mut scene, &mut ben);
        assert!(left.iter().any(|event| event["news"] == "went" && event["place"] == first["place"]));
        ben.say(&mut scene, &json!({"t": "group_call", "conversation": room, "action": "leave"}).to_string());
        carla.hear(&mut scene);
        let history = ask(&mut scene, &mut carla, json!({"t": "history", "to": {"conversation": room}}));
        let entry = &history["messages"][0];
        assert_eq!((&entry["from"], &entry["call"]["outcome"]), (&json!("ben"), &json!("ended")));
        assert_eq!(entry["call"]["media"], "video");
    }
}

#[test]
fn a_reload_brings_one_back_into_another_place() {
    let mut scene = Scene::new();
    let (mut anna, mut ben) = (scene.enter(Carrier::WebSocket, "anna"), scene.enter(Carrier::Sse, "ben"));
    let room = made(&mut scene, &mut anna, &mut [&mut ben]);
    let join = json!({"action": "join", "media": "audio"});
    let first = group(&mut scene, &mut anna, &room, join.clone());
    group(&mut scene, &mut ben, &room, join.clone());
    scene.reset(anna.down);
    let away = hear(&mut scene, &mut ben).pop().unwrap();
    assert_eq!((&away["news"], &away["place"]), (&json!("away"), &first["place"]));
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let again = group(&mut scene, &mut anna, &room, join);
    assert_eq!(again["here"][0]["user"], "ben");
    let came = hear(&mut scene, &mut ben).pop().unwrap();
    assert_eq!(
        (&came["news"], &came["user"], &came["place"]),
        (&json!("came"), &json!("anna"), &again["place"])
    );
    assert_ne!(again["place"], first["place"]);
}

#[test]
fn what_cannot_be_is_refused_with_its_code() {
    let mut scene = Scene::new();
    let (mut anna, mut ben) =
        (scene.enter(Carrier::WebSocket, "anna"), scene.enter(Carrier::WebSocket, "ben"));
    let room = made(&mut scene, &mut anna, &mut []);
    let join = json!({"action": "join", "media": "audio"});
    for (frame, code) in [
        (join.clone(), "not_a_member"),
        (json!({"action": "leave"}), "no_such_call"),
        (json!({"action": "offer", "to": 0, "sdp": "v=0"}), "no_such_call"),
        (json!({"action": "offer", "to": -1, "sdp": "v=0"}), "bad_frame"),
        (json!({"action": "join", "media": "smell"}), "bad_frame"),
        (json!({"action": "dance"}), "bad_frame"),
    ] {
        let refused = group(&mut scene, &mut ben, &room, frame.clone());
        assert_eq!((&refused["t"], &refused["code"]), (&json!("error"), &json!(code)), "{frame}");
        assert!(!refused["text"].as_str().unwrap().is_empty());
    }
    for nowhere in ["", "nonsense"] {
        let refused = group(&mut scene, &mut anna, &nowhere.into(), join.clone());
        assert_eq!(refused["code"], "no_such_conversation", "{nowhere}");
    }
    group(&mut scene, &mut anna, &room, join.clone());
    let candidate = json!({"action": "candidate", "to": 0, "candidate": "x".repeat(1_025)});
    assert_eq!(group(&mut scene, &mut anna, &room, candidate)["code"], "bad_value");
    let other = made(&mut scene, &mut anna, &mut []);
    assert_eq!(group(&mut scene, &mut anna, &other, join)["code"], "in_call");
}
