//! Protection from strangers and raids, by an operator's commands on a running node.

use serde_json::{Value, json};

use crate::client::Client;
use crate::running::{Running, Scratch, poll};

#[test]
fn a_new_site_is_safe_and_one_of_strangers_is_open() {
    let scratch = Scratch::new("guard-new");
    let _node = Running::demo(&scratch);
    let added: Value = serde_json::from_str(&scratch.say("site add garden --json")).unwrap();
    for of in ["requests", "trust"] {
        assert_eq!(added["settings"][of]["on"], true, "{of}");
    }
    let demo: Value = serde_json::from_str(&scratch.say("site show demo --json")).unwrap();
    assert_eq!(demo["settings"]["requests"]["on"], false, "it was started with --strangers");
}

#[test]
fn filters_are_set_and_tried() {
    let scratch = Scratch::new("guard-filters");
    let node = Running::demo(&scratch);
    let pattern = r#"filters.patterns=[{"pattern":"cas[i1]no","act":"hold"}]"#;
    scratch.say(&format!("site set demo {pattern} filters.words=[\"fool\"]"));
    let said = scratch.say("site test-filter demo cas1no");
    assert!(said.contains("wait for a moderator") && said.contains("cas[i1]no"), "{said}");
    let tested: Value = serde_json::from_str(&scratch.say("site test-filter demo fool --json")).unwrap();
    assert_eq!(tested, json!({"act": "reject", "hits": [{"kind": "word", "what": "fool", "act": "reject"}]}));
    assert!(scratch.say("site test-filter demo Hello").contains("would be sent"));
    assert!(
        scratch.fails("site set demo filters.patterns=[{\"pattern\":\"(\"}]").contains("filters.patterns")
    );
    Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let mut number = 0;
    poll("the filter", || {
        number += 1;
        tom.send(&format!("t-{number}"), "anna", "casino").unwrap();
        let received = tom.expect("an answer", |event| event["t"] == "held" || event["t"] == "ack");
        (received["held"]["state"] == "waiting").then_some(())
    });
}

#[test]
fn raid_mode_shadow_ban_and_level_reach_online_users() {
    let scratch = Scratch::new("guard-acts");
    let node = Running::demo(&scratch);
    Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    assert!(scratch.say("site raid demo --for 5m").contains("raid mode until"));
    let mut number = 0;
    let mut first = |tom: &mut Client| {
        number += 1;
        let to = format!("somebody-{number}");
        Client::enter(&scratch, &node, &to);
        tom.send(&format!("t-{number}"), &to, "Hello").unwrap();
        tom.expect("an answer", |event| ["ack", "error", "held"].contains(&event["t"].as_str().unwrap()))
    };
    poll("the raid mode", || (first(&mut tom)["code"] == "raid").then_some(()));
    assert!(scratch.say("site raid demo --end").contains("raid mode is off"));
    poll("its end", || (first(&mut tom)["t"] == "ack").then_some(()));

    scratch.say("user shadow-ban --site demo tom --reason Spam");
    poll("the shadow", || (first(&mut tom)["held"]["state"] == "kept").then_some(()));
    let shown: Value = serde_json::from_str(&scratch.say("user show --site demo tom --json")).unwrap();
    assert_eq!(shown["shadow_banned"], true);
    scratch.say("user lift-shadow-ban --site demo tom");
    poll("its end", || (first(&mut tom)["t"] == "ack").then_some(()));

    scratch.say("user level --site demo tom trusted");
    let shown: Value = serde_json::from_str(&scratch.say("user show --site demo tom --json")).unwrap();
    assert_eq!((&shown["level"], &shown["level_is_set"]), (&json!("trusted"), &json!(true)));
    scratch.say("user ban --site demo tom --devices");
    let bye = tom.expect("bye", |event| event["t"] == "bye");
    assert_eq!(bye["code"], "banned");
}
