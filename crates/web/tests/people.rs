//! People and what is found of them, over the wire as clients speak it: the directory, contacts, profiles by id, search, a new token.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use edge::testing::START_UNIX_MS;
use scene::{CARRIERS, Carrier, Client, Scene};
use serde_json::{Value, json};

#[allow(clippy::needless_pass_by_value, reason = "a request is said once")]
fn ask(client: &mut Client, scene: &mut Scene, request: Value) -> Value {
    client.say(scene, &request.to_string());
    let received = client.hear(scene);
    let (number, as_answered) = if request["rid"].is_null() { ("id", "id") } else { ("rid", "re") };
    let answer = received.iter().find(|event| event[as_answered] == request[number]);
    answer.unwrap_or_else(|| panic!("no answer to {request}: {received:?}")).clone()
}

fn users(page: &Value) -> Vec<&str> {
    page.as_array().unwrap().iter().map(|one| one["user"].as_str().unwrap()).collect()
}

#[test]
fn the_directory_is_turned_page_by_page_on_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        for user in ["ben", "carla", "dora"] {
            scene.enter(Carrier::WebSocket, user);
        }
        let mut anna = scene.enter(carrier, "anna");
        let first = ask(&mut anna, &mut scene, json!({"t": "people", "rid": 1, "limit": 2}));
        assert_eq!(users(&first["people"]), ["ben"], "{carrier:?}: she herself is not in it");
        let next = first["next"].clone();
        let rest = ask(&mut anna, &mut scene, json!({"t": "people", "rid": 2, "after": next}));
        assert_eq!((users(&rest["people"]), rest.get("next")), (vec!["carla", "dora"], None));
        let named = ask(&mut anna, &mut scene, json!({"t": "people", "rid": 3, "query": "Car"}));
        assert_eq!(
            (users(&named["people"]), &named["people"][0]["name"]),
            (vec!["carla"], &json!("The carla"))
        );
        let long = json!({"t": "people", "rid": 4, "query": "x".repeat(257)});
        assert_eq!(ask(&mut anna, &mut scene, long)["code"], "bad_value");
    }
}

#[test]
fn contacts_are_listed_with_how_they_stand() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::Stream, "ben");
    scene.enter(Carrier::WebSocket, "carla");
    for (rid, user) in [(1, "ben"), (2, "carla")] {
        ask(&mut anna, &mut scene, json!({"t": "contact", "rid": rid, "action": "request", "user": user}));
    }
    ask(&mut ben, &mut scene, json!({"t": "contact", "rid": 1, "action": "accept", "user": "anna"}));
    anna.hear(&mut scene);
    let first = ask(&mut anna, &mut scene, json!({"t": "contacts", "rid": 3, "limit": 1}));
    assert_eq!((users(&first["contacts"]), &first["contacts"][0]["state"]), (vec!["ben"], &json!("contact")));
    let after = json!({"t": "contacts", "rid": 4, "after": first["next"]});
    let rest = ask(&mut anna, &mut scene, after);
    assert_eq!((users(&rest["contacts"]), rest.get("next")), (vec!["carla"], None));
    assert_eq!(rest["contacts"][0]["state"], "request_sent");
}

#[test]
fn names_are_told_by_id_and_nobody_is_left_out_silently() {
    let mut scene = Scene::new();
    scene.enter(Carrier::WebSocket, "ben");
    let mut anna = scene.enter(Carrier::Poll, "anna");
    let asked = json!({"t": "profiles", "rid": 1, "users": ["ben", "nobody", "anna"]});
    let answer = ask(&mut anna, &mut scene, asked);
    assert_eq!((&answer["t"], users(&answer["people"])), (&json!("profiles"), vec!["ben", "anna"]));
    assert_eq!(answer["people"][0]["name"], "The ben");
    let many: Vec<String> = (0..51).map(|n| format!("u{n}")).collect();
    let answer = ask(&mut anna, &mut scene, json!({"t": "profiles", "rid": 2, "users": many}));
    assert_eq!(answer["code"], "bad_value");
}

#[test]
fn what_was_written_is_found_by_those_who_may_read_it() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::Sse, "ben");
    let mut carla = scene.enter(Carrier::WebSocket, "carla");
    for (n, body) in ["The gate code is 4711", "The gate is green", "Tea?"].iter().enumerate() {
        anna.send(&mut scene, "ben", &format!("a-{n}"), body);
    }
    ben.hear(&mut scene);
    // Stores may take a moment to index what was posted.
    scene.wait(std::time::Duration::from_secs(1));
    let first = ask(&mut ben, &mut scene, json!({"t": "search", "rid": 1, "query": "gat", "limit": 1}));
    assert_eq!((&first["t"], &first["hits"][0]["body"]), (&json!("found"), &json!("The gate is green")));
    let here = first["hits"][0]["conversation"].clone();
    let more = json!({"t": "search", "rid": 2, "query": "gat", "conversation": here, "after": first["next"]});
    let more = ask(&mut ben, &mut scene, more);
    assert_eq!((more["hits"].as_array().unwrap().len(), more.get("next")), (1, None));
    assert_eq!(more["hits"][0]["body"], "The gate code is 4711");
    let none = ask(&mut carla, &mut scene, json!({"t": "search", "rid": 1, "query": "gate"}));
    assert_eq!(none["hits"], json!([]));
    let others = json!({"t": "search", "rid": 2, "query": "gate", "conversation": here});
    assert_eq!(ask(&mut carla, &mut scene, others)["code"], "no_such_conversation");
}

#[test]
fn a_new_token_is_taken_if_it_is_of_the_same_user() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut anna = scene.enter(carrier, "anna");
        let fresh = json!({"t": "token", "rid": 1, "token": scene.token("anna")});
        let answer = ask(&mut anna, &mut scene, fresh);
        assert_eq!(
            (&answer["t"], answer["expires"].as_u64().unwrap() > START_UNIX_MS),
            (&json!("token_ok"), true)
        );
        let foreign = json!({"t": "token", "rid": 2, "token": scene.token("ben")});
        assert_eq!(ask(&mut anna, &mut scene, foreign)["t"], "error", "{carrier:?}");
        let wrong = json!({"t": "token", "rid": 3, "token": "no token"});
        assert_eq!(ask(&mut anna, &mut scene, wrong)["code"], "bad_token", "{carrier:?}");
    }
}
