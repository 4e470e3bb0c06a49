//! Every transport gives the same guarantees: two members talk over each pair of them.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::time::Duration;

use scene::{CARRIERS, Carrier, Scene};
use serde_json::{Value, json};

fn of_kind<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["t"] == kind).collect()
}

#[test]
fn two_members_talk_over_any_pair_of_transports() {
    for one in CARRIERS {
        for other in CARRIERS {
            let mut scene = Scene::new();
            let mut anna = scene.enter(one, "anna");
            let mut ben = scene.enter(other, "ben");
            anna.send(&mut scene, "ben", "a-1", "Hi \u{1f44b} \"Ben\"\n");
            let acks = anna.hear(&mut scene);
            let ack = of_kind(&acks, "ack")[0];
            assert_eq!((&ack["id"], &ack["seq"]), (&json!("a-1"), &json!(1)), "{one:?} {other:?}");
            let received = ben.hear(&mut scene);
            let message = of_kind(&received, "message")[0];
            assert_eq!(message["body"], "Hi \u{1f44b} \"Ben\"\n");
            assert_eq!((&message["from"], &message["id"]), (&json!("anna"), &json!("a-1")));
            assert_eq!(message["conversation"], ack["conversation"]);
            assert_eq!(message["position"], ack["position"]);
            // And the other way, by the conversation's id.
            let conversation = ack["conversation"].as_str().unwrap();
            let read = json!({"t": "marker", "conversation": conversation, "read": 1});
            ben.say(&mut scene, &read.to_string());
            let reply = json!({"t": "send", "id": "b-1", "to": {"conversation": conversation}, "body": "Hi!",
                "reply_to": 1});
            ben.say(&mut scene, &reply.to_string());
            assert_eq!(of_kind(&ben.hear(&mut scene), "ack")[0]["seq"], 2);
            let received = anna.hear(&mut scene);
            assert_eq!(of_kind(&received, "marker")[0]["read"], 1);
            let message = of_kind(&received, "message")[0];
            assert_eq!((&message["seq"], &message["reply_to"]), (&json!(2), &json!(1)));
        }
    }
}

#[test]
fn the_same_id_is_stored_once_whatever_carries_it() {
    let mut scene = Scene::new();
    scene.enter(Carrier::WebSocket, "ben");
    let mut clients: Vec<_> = CARRIERS.map(|carrier| scene.enter(carrier, "anna")).into();
    for client in &mut clients {
        client.send(&mut scene, "ben", "a-1", "once");
        let received = client.hear(&mut scene);
        let acks = of_kind(&received, "ack");
        assert_eq!(acks.len(), 1, "{received:?}");
        assert_eq!(acks[0]["seq"], 1);
    }
}

#[test]
fn what_was_missed_comes_with_the_next_hello_on_any_transport() {
    for carrier in CARRIERS {
        for next in CARRIERS {
            let mut scene = Scene::new();
            let mut anna = scene.enter(Carrier::WebSocket, "anna");
            let mut ben = scene.enter(carrier, "ben");
            anna.send(&mut scene, "ben", "a-1", "one");
            assert_eq!(of_kind(&ben.hear(&mut scene), "message").len(), 1);
            scene.reset(ben.down);
            anna.send(&mut scene, "ben", "a-2", "two");
            anna.send(&mut scene, "ben", "a-3", "three");
            let back = scene.enter_from(next, "ben", Some(&ben.position));
            assert_eq!(back.welcome["resumed"], true, "{carrier:?} {next:?}");
            let bodies: Vec<_> =
                back.welcome["messages"].as_array().unwrap().iter().map(|it| &it["body"]).collect();
            assert_eq!(bodies, ["two", "three"]);
        }
    }
}

#[test]
fn a_position_that_was_never_given_means_a_first_page() {
    let mut scene = Scene::new();
    for position in ["nonsense", "ffffffff.1", "1.ffffffff", ""] {
        let anna = scene.enter_from(Carrier::Stream, "anna", Some(position));
        assert_eq!(anna.welcome["resumed"], false, "{position}");
    }
}

#[test]
fn several_commands_in_one_post_keep_their_order() {
    for carrier in [Carrier::Stream, Carrier::Sse, Carrier::Poll] {
        let mut scene = Scene::new();
        scene.enter(Carrier::WebSocket, "ben");
        let mut anna = scene.enter(carrier, "anna");
        let frames: Vec<String> = (1..=20)
            .map(|n| {
                json!({"t": "send", "id": format!("a-{n}"), "to": {"user": "ben"}, "body": "x"}).to_string()
            })
            .collect();
        anna.say(&mut scene, &frames.join("\n"));
        let received = anna.hear(&mut scene);
        let ids: Vec<_> =
            of_kind(&received, "ack").iter().map(|ack| ack["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids, (1..=20).map(|n| format!("a-{n}")).collect::<Vec<_>>(), "{carrier:?}");
    }
}

#[test]
fn typing_and_presence_reach_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut ben = scene.enter(Carrier::WebSocket, "ben");
        let mut anna = scene.enter(carrier, "anna");
        anna.say(&mut scene, r#"{"t":"watch","users":["ben"]}"#);
        ben.say(&mut scene, r#"{"t":"send","id":"b-1","to":{"user":"anna"},"body":"hi"}"#);
        ben.say(&mut scene, r#"{"t":"typing","to":{"user":"anna"},"on":true}"#);
        let first = anna.hear(&mut scene);
        ben.say(&mut scene, r#"{"t":"presence","set":"away"}"#);
        scene.wait(Duration::from_secs(1));
        let received = [first, anna.hear(&mut scene)].concat();
        assert_eq!(of_kind(&received, "typing")[0]["user"], "ben", "{carrier:?}");
        let presence = of_kind(&received, "presence");
        assert_eq!(presence.last().unwrap()["presence"], "away", "{carrier:?}");
    }
}

#[test]
fn contacts_are_watched_on_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut ben = scene.enter(Carrier::WebSocket, "ben");
        let mut anna = scene.enter(carrier, "anna");
        anna.say(&mut scene, r#"{"t":"contact","rid":1,"action":"request","user":"ben"}"#);
        ben.say(&mut scene, r#"{"t":"contact","rid":1,"action":"accept","user":"anna"}"#);
        scene.wait(Duration::from_secs(1));
        anna.hear(&mut scene);
        anna.say(&mut scene, r#"{"t":"watch","contacts":true}"#);
        assert_eq!(
            of_kind(&anna.hear(&mut scene), "watching"),
            [&json!({"t": "watching", "online": ["ben"]})],
            "{carrier:?}"
        );
        ben.say(&mut scene, r#"{"t":"presence","set":"busy"}"#);
        scene.wait(Duration::from_secs(1));
        let received = anna.hear(&mut scene);
        assert_eq!(of_kind(&received, "presence")[0]["presence"], "busy", "{carrier:?}");
    }
}

#[test]
fn messages_change_over_any_pair_of_transports() {
    for one in CARRIERS {
        for other in CARRIERS {
            let mut scene = Scene::new();
            let mut anna = scene.enter(one, "anna");
            let mut ben = scene.enter(other, "ben");
            anna.send(&mut scene, "ben", "a-1", "helo");
            let conversation = of_kind(&anna.hear(&mut scene), "ack")[0]["conversation"].clone();
            let received = ben.hear(&mut scene);
            assert_eq!(of_kind(&received, "message")[0].get("version"), None, "as it was posted");

            let edit =
                json!({"t": "edit", "rid": 1, "conversation": conversation, "seq": 1, "body": "hello"});
            anna.say(&mut scene, &edit.to_string());
            let answer = of_kind(&anna.hear(&mut scene), "update")[0].clone();
            let received = of_kind(&ben.hear(&mut scene), "update")[0].clone();
            assert_eq!((&answer["re"], received.get("re")), (&json!(1), None), "{one:?} {other:?}");
            for update in [&answer, &received] {
                assert_eq!((&update["message"]["body"], &update["by"]), (&json!("hello"), &json!("anna")));
                assert!(update["message"]["edited"].is_u64() && update["message"]["version"].is_u64());
            }

            let react = json!({"t": "react", "rid": 2, "conversation": conversation, "seq": 1,
                "reaction": "\u{1f44d}", "on": true});
            ben.say(&mut scene, &react.to_string());
            for (counts, re) in [(ben.hear(&mut scene), json!(2)), (anna.hear(&mut scene), Value::Null)] {
                let counts = of_kind(&counts, "counts")[0].clone();
                assert_eq!(counts["reactions"], json!([{"reaction": "\u{1f44d}", "count": 1}]));
                assert_eq!(counts["put"], json!({"reaction": "\u{1f44d}", "on": true}));
                assert_eq!((&counts["by"], &counts["re"]), (&json!("ben"), &re));
                assert_eq!(counts.get("message"), None, "its words are not sent again");
            }

            anna.say(
                &mut scene,
                &json!({"t": "delete", "rid": 3, "conversation": conversation, "seq": 1}).to_string(),
            );
            let gone = of_kind(&ben.hear(&mut scene), "update")[0]["message"].clone();
            assert_eq!((&gone["body"], &gone["deleted"]), (&json!(""), &json!(true)));
            assert_eq!(gone.get("reactions"), None);

            let position = ben.position.clone();
            let back = scene.enter_from(other, "ben", Some(&position));
            assert_eq!(back.welcome.get("updates"), None, "nothing was missed");
            let history = json!({"t": "history", "rid": 4, "to": {"user": "ben"}});
            anna.say(&mut scene, &history.to_string());
            let page = anna.hear(&mut scene);
            let page = of_kind(&page, "history")[0];
            assert_eq!(page["messages"], json!([gone]));
        }
    }
}

#[test]
fn changes_that_cannot_be_are_refused_with_their_codes() {
    let mut scene = Scene::new();
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    anna.send(&mut scene, "ben", "a-1", "hi");
    let conversation = of_kind(&anna.hear(&mut scene), "ack")[0]["conversation"].clone();
    let name = conversation.as_str().unwrap().to_owned();
    let frame = |t: &str, conversation: &str, seq: u64, rest: Value| {
        let mut frame = json!({"t": t, "rid": 9, "conversation": conversation, "seq": seq});
        frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        frame.to_string()
    };
    let react = |reaction: &str| json!({"reaction": reaction, "on": true});
    for (said, code) in [
        (frame("edit", &name, 1, json!({"body": "mine"})), "not_allowed"),
        (frame("delete", &name, 1, json!({})), "not_allowed"),
        (frame("edit", &name, 1, json!({"body": ""})), "bad_body"),
        (frame("delete", &name, 2, json!({})), "no_such_message"),
        (frame("react", &name, 9, react(":a:")), "no_such_message"),
        (frame("react", &name, 1, react("hello")), "bad_value"),
        (frame("react", &name, 1, react("<script>")), "bad_value"),
        (frame("react", &name, 1, react("\u{1f44d}\u{1f44d}")), "bad_value"),
        (frame("react", "1", 1, react(":a:")), "no_such_conversation"),
        (frame("edit", "nonsense", 1, json!({"body": "x"})), "no_such_conversation"),
    ] {
        ben.say(&mut scene, &said);
        let received = ben.hear(&mut scene);
        let error = of_kind(&received, "error").pop().unwrap_or_else(|| panic!("{said}: {received:?}"));
        assert_eq!((&error["code"], &error["re"]), (&json!(code), &json!(9)), "{said}");
        assert_eq!(error.get("retry_after"), None);
    }
    for number in 0..9 {
        let (said, expected) = (
            frame("react", &name, 1, react(&format!(":r{number}:"))),
            if number < 8 { "counts" } else { "error" },
        );
        ben.say(&mut scene, &said);
        assert_eq!(of_kind(&ben.hear(&mut scene), expected).len(), 1, "{number}");
    }
}
