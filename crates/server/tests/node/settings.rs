//! Settings of a site, changed by the command and over REST while the node runs.

use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::running::{Running, Scratch, poll};

fn rest(node: &Running, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        node.http,
        body.len()
    );
    let answer = node.raw(request.as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), serde_json::from_str(body).unwrap_or(Value::Null))
}

#[test]
fn settings_are_set_shown_and_hold_at_once() {
    let scratch = Scratch::new("settings");
    let node = Running::demo(&scratch);
    let said = scratch.say("site set demo requests.on=true requests.messages=1");
    assert!(said.contains("requests.on=true") && said.contains("requests.messages=1"), "{said}");
    assert!(scratch.say("site show demo").contains("setting  requests.on=true"));
    let shown: Value = serde_json::from_str(&scratch.say("site show demo --json")).unwrap();
    assert_eq!(shown["settings"]["requests"], json!({"on": true, "messages": 1, "per_day": 20}));
    let mut eve = Client::enter(&scratch, &node, "eve");
    let mut number = 0;
    poll("the setting", || {
        number += 1;
        let to = format!("somebody-{number}");
        Client::enter(&scratch, &node, &to);
        let ack = eve.sent(&format!("e-{number}"), &to, "Hello");
        (ack["request"] == true).then_some(())
    });
    for (wrong, why) in [
        ("requests.off=true", "there is no setting `requests.off`"),
        ("requests.on", "NAME=VALUE"),
        ("requests.messages=many", "invalid"),
    ] {
        let said = scratch.fails(&format!("site set demo {wrong}"));
        assert!(said.contains(why) && said.contains("kith site show demo"), "{said}");
    }
    scratch.say("site set demo requests=null");
    let shown: Value = serde_json::from_str(&scratch.say("site show demo --json")).unwrap();
    assert_eq!(shown["settings"]["requests"]["on"], false);
}

#[test]
fn an_admin_changes_settings_over_rest_and_a_member_does_not() {
    let scratch = Scratch::new("settings-rest");
    let node = Running::demo(&scratch);
    let path = "/v1/sites/demo/settings";
    let admin = scratch.say("token --site demo --user ada --role admin").trim().to_owned();
    assert_eq!(rest(&node, "GET", path, &admin, "").0, 403, "nobody knows her yet");
    scratch.say("user role --site demo anna admin");
    let admin = scratch.say("token --site demo --user anna --role admin").trim().to_owned();
    let (status, settings) = rest(&node, "PATCH", path, &admin, r#"{"access":"read_only"}"#);
    assert_eq!((status, &settings["access"]), (200, &json!("read_only")));
    let mut tom = Client::enter(&scratch, &node, "tom");
    tom.send("t-1", "anna", "Hello").unwrap();
    let refused = tom.expect("a refusal", |event| event["t"] == "error");
    assert_eq!(refused["code"], "site_read_only");
    let member = token(&scratch, "tom");
    assert_eq!(rest(&node, "GET", path, &member, "").0, 403);
    assert_eq!(rest(&node, "GET", path, "nonsense", "").0, 401);
    assert_eq!(rest(&node, "PATCH", path, &admin, "{").0, 400);
}

#[test]
fn roles_and_bans_of_the_operator_reach_online_users() {
    let scratch = Scratch::new("roles");
    let node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    scratch.say("user role --site demo anna moderator");
    assert!(scratch.say("user show --site demo anna").contains("moderator"));
    let mut rid = 0;
    poll("the role", || {
        rid += 1;
        anna.say(json!({ "t": "reports", "rid": rid })).unwrap();
        let answer = anna.expect("an answer", |event| event["re"] == rid);
        (answer["t"] == "reports").then_some(())
    });
    let output =
        scratch.run(["user", "ban", "--site", "demo", "tom", "--for", "7d", "--reason", "Too many insults"]);
    assert!(output.status.success());
    let bye = tom.expect("bye", |event| event["t"] == "bye");
    assert_eq!((&bye["code"], &bye["reason"]), (&json!("banned"), &json!("Too many insults")));
    assert!(bye["until"].is_u64(), "{bye}");
    anna.say(json!({ "t": "audit", "rid": 900 })).unwrap();
    let audit = anna.expect("the record", |event| event["re"] == 900);
    assert_eq!(
        (&audit["entries"][0]["act"], audit["entries"][0].get("by")),
        (&json!("ban"), None),
        "{audit}"
    );
}
