//! Edits and deletions through the real binary, over real sockets and across its restart, and the search for messages.

use serde_json::{Value, json};

use crate::client::Client;
use crate::running::{Running, Scratch};

#[test]
fn edits_deletions_and_reactions_reach_the_other_and_survive_a_kill() {
    let scratch = Scratch::new("changes");
    let mut node = Running::start(&scratch, "demo", &[]);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut ben = Client::enter(&scratch, &node, "ben");
    let conversation = anna.sent("a-1", "ben", "helo")["conversation"].clone();
    anna.sent("a-2", "ben", "never mind");
    ben.message("never mind");
    let position = ben.position.clone();

    let change = |who: &mut Client, rid: u64, t: &str, seq: u64, rest: Value| {
        let mut frame = json!({ "t": t, "rid": rid, "conversation": conversation, "seq": seq });
        frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        who.say(frame).unwrap();
        who.expect("the answer to a change", |event| event["re"] == rid)
    };
    let edited = change(&mut anna, 1, "edit", 1, json!({ "body": "hello" }));
    assert_eq!((&edited["t"], &edited["message"]["body"]), (&json!("update"), &json!("hello")));
    change(&mut anna, 2, "delete", 2, json!({}));
    let received = |who: &mut Client, seq: u64| {
        who.expect("an update", |event| event["t"] == "update" && event["message"]["seq"] == seq)
    };
    assert_eq!(received(&mut ben, 1)["message"], edited["message"]);
    assert_eq!(received(&mut ben, 2)["message"]["deleted"], true);
    let reacted = change(&mut ben, 3, "react", 1, json!({ "reaction": "\u{2764}\u{fe0f}", "on": true }));
    assert_eq!((&reacted["t"], &reacted["reactions"][0]["count"]), (&json!("counts"), &json!(1)));
    let counts = anna.expect("counts", |event| event["t"] == "counts" && event["seq"] == 1);
    assert_eq!((&counts["by"], &counts["put"]["on"]), (&json!("ben"), &json!(true)));
    let refused = change(&mut ben, 4, "edit", 1, json!({ "body": "mine" }));
    assert_eq!(refused["code"], "not_allowed");
    let known = anna.history("ben");

    node.signal("KILL");
    node.wait();
    let node = Running::start(&scratch, "demo", &[]);
    let mut anna = Client::enter(&scratch, &node, "anna");
    assert_eq!(anna.history("ben"), known, "what was answered is on disk");
    let token = crate::client::token(&scratch, "ben");
    let ben = Client::try_enter(node.http, &token, "ben", position.as_deref()).expect("the node is ready");
    assert_eq!(ben.welcome["resumed"], true);
    let updates = ben.welcome["updates"].as_array().unwrap();
    let news: Vec<_> = updates.iter().map(|one| (&one["seq"], &one["body"])).collect();
    assert_eq!(news, [(&json!(2), &json!("")), (&json!(1), &json!("hello"))], "in the order of the changes");
    assert_eq!(updates[1]["reactions"][0]["mine"], true);
    assert_eq!(ben.welcome["messages"], json!([]));
}

#[test]
fn in_a_room_a_moderator_deletes_a_members_message() {
    let scratch = Scratch::new("room-changes");
    let node = Running::start(&scratch, "demo", &[]);
    let [mut anna, mut ben, mut carla] =
        ["anna", "ben", "carla"].map(|user| Client::enter(&scratch, &node, user));
    let ask = |who: &mut Client, frame: Value| {
        who.say(frame.clone()).unwrap();
        who.expect("an answer", |event| event["re"] == frame["rid"])
    };
    let made = ask(&mut anna, json!({ "t": "create_room", "rid": 1, "name": "Bikers", "kind": "public" }));
    let room = made["conversation"]["conversation"].clone();
    for member in [&mut ben, &mut carla] {
        let joined = ask(member, json!({ "t": "join", "rid": 1, "to": { "conversation": room } }));
        assert_eq!(joined["t"], "conversation", "{joined}");
    }
    ben.say(json!({ "t": "send", "id": "b-1", "to": { "conversation": room }, "body": "buy now" })).unwrap();
    ben.acked("b-1");
    carla.message("buy now");
    let change = |t: &str, rid: u64, rest: Value| {
        let mut frame = json!({ "t": t, "rid": rid, "conversation": room, "seq": 1 });
        frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        frame
    };
    let thumb = json!({ "reaction": "\u{1f44e}", "on": true });
    assert_eq!(ask(&mut carla, change("react", 2, thumb))["reactions"][0]["count"], 1);
    assert_eq!(ask(&mut carla, change("delete", 3, json!({})))["code"], "not_allowed");
    assert_eq!(ask(&mut anna, change("delete", 2, json!({})))["message"]["deleted"], true);
    for member in [&mut ben, &mut carla] {
        let gone = member.expect("an update", |event| event["t"] == "update" && event["by"] == "anna");
        assert_eq!((&gone["message"]["body"], &gone["message"]["deleted"]), (&json!(""), &json!(true)));
    }
}

#[test]
fn words_are_found_over_a_websocket_and_after_a_restart() {
    let scratch = Scratch::new("search");
    let config = scratch.path().join("kith.toml");
    std::fs::write(
        &config,
        "[limits]\ncommand_burst = 0\ncommand_per_minute = 0\nrequests_per_user = 0\nrequests_per_site = 0\n",
    )
    .unwrap();
    let flags = ["--config", config.to_str().unwrap()]; // repeats until the index is complete
    let mut node = Running::start(&scratch, "demo", &flags);
    for life in 0..2 {
        let [mut anna, mut ben] = ["anna", "ben"].map(|user| Client::enter(&scratch, &node, user));
        if life == 0 {
            anna.sent("a-1", "ben", "Ärger with the gearbox");
            anna.sent("a-2", "ben", "never mind");
        }
        let begin = std::time::Instant::now();
        for rid in 1.. {
            ben.say(json!({ "t": "search", "rid": rid, "query": "arger gear" })).unwrap();
            let found = ben.expect("an answer", |event| event["re"] == rid);
            assert_eq!(found["t"], "found", "{found}");
            if let [hit] = &found["hits"].as_array().unwrap()[..] {
                assert_eq!((&hit["seq"], &hit["from"]), (&json!(1), &json!("anna")));
                break;
            }
            assert!(begin.elapsed() < crate::running::PATIENCE, "a message is found in the end");
        }
        if life == 0 {
            node.signal("KILL");
            node.wait();
            node = Running::start(&scratch, "demo", &flags);
        }
    }
}
