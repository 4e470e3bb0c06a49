//! Calls as clients of the wire see them, over any transport, and the REST call for their servers.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::time::Duration;

use scene::{CARRIERS, Carrier, Client, PAGE, SITE, Scene, post, response};
use serde_json::{Value, json};

fn befriend(scene: &mut Scene, anna: &mut Client, ben: &mut Client) {
    anna.say(scene, r#"{"t":"contact","rid":90,"action":"request","user":"ben"}"#);
    ben.say(scene, r#"{"t":"contact","rid":90,"action":"accept","user":"anna"}"#);
    anna.hear(scene);
    ben.hear(scene);
}

/// Says something of calls and answers what comes of it.
fn call(scene: &mut Scene, client: &mut Client, mut frame: Value) -> Value {
    frame["t"] = "call".into();
    frame["rid"] = 7.into();
    client.say(scene, &frame.to_string());
    let received = client.hear(scene);
    received.into_iter().find(|event| event["re"] == 7).unwrap()
}

fn hear(scene: &mut Scene, client: &mut Client) -> Vec<Value> {
    client.hear(scene).into_iter().filter(|event| event["t"] == "call").collect()
}

#[test]
fn a_call_over_any_pair_of_transports() {
    for one in CARRIERS {
        for other in [Carrier::WebSocket, Carrier::Poll] {
            let mut scene = Scene::new();
            let (mut anna, mut ben) = (scene.enter(one, "anna"), scene.enter(other, "ben"));
            befriend(&mut scene, &mut anna, &mut ben);
            let offer = "v=0\r\no=- 1 2 IN IP4 192.0.2.1\r\n";
            let calling = call(
                &mut scene,
                &mut anna,
                json!({"action": "invite", "user": "ben", "media": "video", "sdp": offer}),
            );
            assert_eq!(
                (&calling["news"], &calling["user"]),
                (&json!("calling"), &json!("ben")),
                "{one:?} {other:?}"
            );
            assert_eq!(calling["ice"][0], json!({"urls": ["stun:im.example:3478"]}));
            assert_eq!(calling["ice"][1]["urls"], json!(["turn:im.example:3478"]));
            let username = calling["ice"][1]["username"].as_str().unwrap();
            assert!(username.ends_with(calling["call"].as_str().unwrap()), "{username}");
            let id = &calling["call"];
            let ring = hear(&mut scene, &mut ben).remove(0);
            assert_eq!((&ring["news"], &ring["call"], &ring["sdp"]), (&json!("ring"), id, &json!(offer)));
            assert_eq!((&ring["user"], &ring["media"]), (&json!("anna"), &json!("video")));
            let joined = call(&mut scene, &mut ben, json!({"action": "accept", "call": id, "sdp": "answer"}));
            assert_eq!((&joined["news"], joined["ticket"].as_str().unwrap().len()), (&json!("joined"), 32));
            assert_eq!(
                hear(&mut scene, &mut anna)[0],
                json!({"t": "call", "call": id, "news": "accepted", "sdp": "answer"})
            );
            let candidate = json!({"t": "call", "action": "candidate", "call": id, "candidate": "c"});
            anna.say(&mut scene, &candidate.to_string());
            assert!(hear(&mut scene, &mut anna).is_empty(), "who gives no number waits for nothing");
            assert_eq!(hear(&mut scene, &mut ben)[0]["candidate"], "c");
            let over = call(&mut scene, &mut ben, json!({"action": "hang_up", "call": id}));
            assert_eq!((&over["news"], &over["outcome"]), (&json!("over"), &json!("ended")));
            let received = anna.hear(&mut scene);
            assert_eq!(received[0]["outcome"], "ended");
            let entry = received.iter().find(|event| event["t"] == "message").unwrap();
            assert_eq!((&entry["from"], &entry["call"]["outcome"]), (&json!("anna"), &json!("ended")));
            assert_eq!(entry["call"]["media"], "video");
        }
    }
}

#[test]
fn a_ticket_brings_one_back_after_a_reload() {
    let mut scene = Scene::new();
    let (mut anna, mut ben) = (scene.enter(Carrier::WebSocket, "anna"), scene.enter(Carrier::Sse, "ben"));
    befriend(&mut scene, &mut anna, &mut ben);
    let calling =
        call(&mut scene, &mut anna, json!({"action": "invite", "user": "ben", "media": "audio", "sdp": "o"}));
    let id = calling["call"].clone();
    call(&mut scene, &mut ben, json!({"action": "accept", "call": id, "sdp": "a"}));
    scene.wait(Duration::from_secs(61));
    scene.reset(anna.down);
    assert_eq!(hear(&mut scene, &mut ben).pop().unwrap()["news"], "away");
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let rejoin = json!({"action": "rejoin", "call": id, "ticket": calling["ticket"], "sdp": "o2"});
    let rejoined = call(&mut scene, &mut anna, rejoin);
    assert_eq!(rejoined["news"], "rejoined");
    assert!(rejoined["ms"].as_u64().unwrap() >= 61_000, "the time since the call was accepted: {rejoined}");
    assert_eq!(hear(&mut scene, &mut ben)[0], json!({"t": "call", "call": id, "news": "back", "sdp": "o2"}));
}

#[test]
fn what_cannot_be_is_refused_with_its_code() {
    let mut scene = Scene::new();
    let (mut anna, mut ben) =
        (scene.enter(Carrier::WebSocket, "anna"), scene.enter(Carrier::WebSocket, "ben"));
    scene.enter(Carrier::WebSocket, "carla");
    befriend(&mut scene, &mut anna, &mut ben);
    let invite =
        |user: &str, sdp: &str| json!({"action": "invite", "user": user, "media": "audio", "sdp": sdp});
    let there = "0000000000000001";
    let long = "x".repeat(1_025);
    for (frame, code) in [
        (invite("nobody", "o"), "no_such_user"),
        (invite("", "o"), "no_such_user"),
        (invite("carla", "o"), "not_allowed"),
        (json!({"action": "hang_up", "call": there}), "no_such_call"),
        (json!({"action": "hang_up", "call": "nonsense"}), "no_such_call"),
        (json!({"action": "rejoin", "call": there, "ticket": "x", "sdp": "o"}), "no_such_call"),
        (json!({"action": "candidate", "call": there, "candidate": long}), "no_such_call"),
        (json!({"action": "dance", "call": there}), "bad_frame"),
    ] {
        let refused = call(&mut scene, &mut anna, frame.clone());
        assert_eq!((&refused["t"], &refused["code"]), (&json!("error"), &json!(code)), "{frame}");
        assert!(!refused["text"].as_str().unwrap().is_empty());
    }
    let calling = call(&mut scene, &mut anna, invite("ben", "o"));
    assert_eq!(call(&mut scene, &mut anna, invite("ben", "o"))["code"], "in_call");
    let candidate = json!({"action": "candidate", "call": calling["call"], "candidate": long});
    assert_eq!(call(&mut scene, &mut anna, candidate)["code"], "bad_value");
    // Nobody reads a megabyte: the frame is too large before it is one of a call.
    let huge = json!({"t": "call", "rid": 1, "action": "invite", "user": "ben", "media": "audio", "sdp": "x".repeat(1 << 20)});
    anna.say(&mut scene, &huge.to_string());
    let bye = anna.hear(&mut scene).into_iter().find(|event| event["t"] == "bye").unwrap();
    assert_eq!(bye["code"], "too_large");
}

#[test]
fn an_offer_may_follow_the_acceptance() {
    let mut scene = Scene::new();
    let (mut anna, mut ben) =
        (scene.enter(Carrier::WebSocket, "anna"), scene.enter(Carrier::WebSocket, "ben"));
    befriend(&mut scene, &mut anna, &mut ben);
    let calling =
        call(&mut scene, &mut anna, json!({"action": "invite", "user": "ben", "media": "audio", "sdp": ""}));
    let id = &calling["call"];
    let accept = |sdp: &str| json!({"action": "accept", "call": id, "sdp": sdp});
    assert_eq!(call(&mut scene, &mut ben, accept("an answer to nothing"))["code"], "bad_value");
    assert_eq!(call(&mut scene, &mut ben, accept(""))["news"], "joined");
    let offer = json!({"action": "offer", "call": id, "sdp": "the offer"});
    assert_eq!(call(&mut scene, &mut anna, offer)["news"], "done");
    let heard = ben.hear(&mut scene);
    assert!(heard.iter().any(|event| event["news"] == "offer" && event["sdp"] == "the offer"), "{heard:?}");
}

#[test]
fn servers_by_rest() {
    let mut scene = Scene::new();
    scene.enter(Carrier::WebSocket, "anna");
    let ask = |scene: &mut Scene, token: Option<&str>, body: &str| {
        let fields = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let answer = scene.ask(&post("/v1/ice", &fields, body));
        let (status, head, body, _) = response(answer.as_bytes()).unwrap();
        assert!(head.contains("no-store"), "{head}");
        (status, serde_json::from_slice::<Value>(&body).unwrap())
    };
    let question = json!({"site": SITE}).to_string();
    let token = scene.token("anna");
    let (status, answer) = ask(&mut scene, Some(&token), &question);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["ice"][0]["urls"][0], "stun:im.example:3478");
    let username = answer["ice"][1]["username"].as_str().unwrap();
    assert!(username.starts_with(&format!("{}:", answer["expires"].as_u64().unwrap() / 1000)), "{answer}");
    assert!(username.ends_with("-check"), "outside of a call: {username}");
    for (origin, may) in [(PAGE, true), ("https://evil.example", false)] {
        let fields = format!("Authorization: Bearer {token}\r\nOrigin: {origin}\r\n");
        let answer = scene.ask(&post("/v1/ice", &fields, &question));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        let (_, head, ..) = response(answer.as_bytes()).unwrap();
        assert_eq!(head.to_lowercase().contains("access-control-allow-origin"), may, "{head}");
    }
    let stranger = scene.token("nobody");
    for (token, body, status, code) in [
        (None, question.as_str(), 401, "bad_token"),
        (Some("a.b.c"), &question, 401, "bad_token"),
        (Some(&*stranger), &question, 404, "no_such_user"),
        (Some(&*token), r#"{"site":"elsewhere"}"#, 404, "no_such_site"),
        (Some(&*token), "[]", 400, "bad_frame"),
        (Some(&*token), "", 400, "bad_frame"),
    ] {
        let (is, answer) = ask(&mut scene, token, body);
        assert_eq!((is, &answer["code"]), (status, &json!(code)), "{body}");
    }
}
