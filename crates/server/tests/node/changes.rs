//! Messages change through the real binary, over real sockets, and across its restart.

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
    let heard = |who: &mut Client, seq: u64| {
        who.expect("an update", |event| event["t"] == "update" && event["message"]["seq"] == seq)
    };
    assert_eq!(heard(&mut ben, 1)["message"], edited["message"]);
    assert_eq!(heard(&mut ben, 2)["message"]["deleted"], true);
    let reacted = change(&mut ben, 3, "react", 1, json!({ "reaction": "\u{2764}\u{fe0f}", "on": true }));
    assert_eq!(reacted["message"]["reactions"][0]["mine"], true);
    assert_eq!(heard(&mut anna, 1)["message"]["reactions"][0]["users"], json!(["ben"]));
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
