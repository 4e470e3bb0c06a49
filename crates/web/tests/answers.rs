//! The server answers each command by an event of the kind that `Command::answered_by` says.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::collections::BTreeSet;

use chat::SiteStore;
use chat::token::{Claims, sign};
use edge::testing::START_UNIX_MS;
use scene::{Carrier, Client, SITE, Scene};
use serde_json::{Value, json};
use web_proto::Command;

/// Members of a site, and the commands that they have said.
struct Said {
    scene: Scene,
    commands: BTreeSet<String>,
}

impl Said {
    /// The answer, which is no refusal and of one of the right kinds.
    #[allow(clippy::needless_pass_by_value, reason = "a request is said once")]
    fn ask(&mut self, client: &mut Client, request: Value) -> Value {
        let frame = request.to_string();
        let kinds = Command::parse(frame.as_bytes()).unwrap().answered_by();
        client.say(&mut self.scene, &frame);
        let received = client.hear(&mut self.scene);
        let answers = |event: &&Value| match &request {
            request if request.get("rid").is_some() => event["re"] == request["rid"],
            request if request.get("id").is_some() => event["id"] == request["id"],
            _ => true,
        };
        let answer =
            received.iter().find(answers).unwrap_or_else(|| panic!("no answer to {frame}: {received:?}"));
        assert!(kinds.contains(&answer["t"].as_str().unwrap()), "{frame} is answered by {answer}");
        self.commands.insert(request["t"].as_str().unwrap().to_owned());
        answer.clone()
    }

    fn admin(&mut self, user: &str) -> Client {
        let claims = Claims {
            sub: user.into(),
            role: Some("admin".into()),
            exp: (START_UNIX_MS / 1000 + 3600) as f64,
            ..Claims::default()
        };
        let token = sign(&claims, &scene::secret()).unwrap();
        let hello = json!({"t": "hello", "v": 1, "site": SITE, "token": token, "device": "ada-1"});
        let mut client = Client::open(&mut self.scene, Carrier::WebSocket, &hello.to_string());
        let welcome = client.hear(&mut self.scene).remove(0);
        assert_eq!((&welcome["t"], &welcome["role"]), (&json!("welcome"), &json!("admin")));
        client.position = welcome["position"].as_str().unwrap().into();
        self.commands.insert("hello".to_owned());
        client
    }
}

#[test]
fn every_command_is_answered_by_its_kind_of_event() {
    let mut said = Said { scene: Scene::new(), commands: BTreeSet::new() };
    let mut ada = said.admin("ada");
    let mut tom = said.scene.enter(Carrier::WebSocket, "tom");
    let in_direct = a_conversation(&mut said, &mut ada);
    people(&mut said, &mut ada, &mut tom);
    a_room(&mut said, &mut ada, &mut tom);
    order(&mut said, &mut ada, &mut tom, &in_direct);
    an_account(&mut said, &mut ada);

    let vectors: Vec<Value> =
        serde_json::from_str(include_str!("../../web-proto/vectors/commands.json")).unwrap();
    let answered = vectors.iter().filter_map(|vector| {
        let frame = vector["json"].to_string();
        let is_answered = !Command::parse(frame.as_bytes()).unwrap().answered_by().is_empty();
        is_answered.then(|| vector["json"]["t"].as_str().unwrap().to_owned())
    });
    // A sticker needs a picture, which `stickers.rs` has.
    let expected: BTreeSet<String> = answered.filter(|command| command != "sticker").collect();
    assert_eq!(said.commands, expected);
}

fn a_conversation(said: &mut Said, ada: &mut Client) -> String {
    let tom = json!({"user": "tom"});
    let ack = said.ask(ada, json!({"t": "send", "id": "a-1", "to": tom, "body": "hi"}));
    let id = ack["conversation"].as_str().unwrap().to_owned();
    let poll = json!({"t": "poll", "id": "a-2", "to": tom, "body": "Now?", "choices": ["yes", "no"]});
    let poll = said.ask(ada, poll)["seq"].clone();
    said.ask(ada, json!({"t": "vote", "rid": 1, "conversation": id, "seq": poll, "choices": [0]}));
    said.ask(ada, json!({"t": "close_poll", "rid": 2, "conversation": id, "seq": poll}));
    said.ask(ada, json!({"t": "drop_preview", "rid": 3, "conversation": id, "seq": 1}));
    said.ask(ada, json!({"t": "stickers", "rid": 4}));
    said.ask(ada, json!({"t": "forward", "id": "a-3", "to": tom, "conversation": id, "seq": 1}));
    let react = json!({"t": "react", "rid": 5, "conversation": id, "seq": 1, "reaction": "👍", "on": true});
    said.ask(ada, react);
    said.ask(ada, json!({"t": "pin", "rid": 6, "conversation": id, "seq": 1, "on": true}));
    said.ask(ada, json!({"t": "pin", "rid": 15, "conversation": id, "seq": 1, "on": false}));
    said.ask(ada, json!({"t": "pins", "rid": 7, "conversation": id}));
    said.ask(ada, json!({"t": "edit", "rid": 8, "conversation": id, "seq": 1, "body": "hello"}));
    said.ask(ada, json!({"t": "delete", "rid": 9, "conversation": id, "seq": 3}));
    said.ask(ada, json!({"t": "conversations", "rid": 10}));
    said.ask(ada, json!({"t": "conversation", "rid": 11, "conversation": id, "pinned": true}));
    said.ask(ada, json!({"t": "history", "rid": 12, "to": tom}));
    said.ask(ada, json!({"t": "search", "rid": 13, "query": "hello"}));
    id
}

fn people(said: &mut Said, ada: &mut Client, tom: &mut Client) {
    said.ask(ada, json!({"t": "watch", "contacts": true}));
    said.ask(ada, json!({"t": "contact", "rid": 20, "action": "request", "user": "tom"}));
    said.ask(tom, json!({"t": "contact", "rid": 26, "action": "accept", "user": "ada"}));
    let call =
        json!({"t": "call", "rid": 27, "action": "invite", "user": "tom", "media": "audio", "sdp": "v=0"});
    said.ask(ada, call);
    said.ask(ada, json!({"t": "contact_name", "rid": 27, "user": "tom", "name": "Tommy"}));
    said.ask(ada, json!({"t": "contacts", "rid": 21}));
    said.ask(ada, json!({"t": "people", "rid": 22}));
    said.ask(ada, json!({"t": "profiles", "rid": 23, "users": ["tom"]}));
    said.ask(ada, json!({"t": "profile", "rid": 24}));
    said.ask(ada, json!({"t": "change_profile", "rid": 25, "status": "On holiday"}));
}

fn a_room(said: &mut Said, ada: &mut Client, tom: &mut Client) {
    let made = said.ask(ada, json!({"t": "create_room", "rid": 30, "name": "Bikers", "kind": "public"}));
    let room = made["conversation"]["conversation"].as_str().unwrap().to_owned();
    said.ask(ada, json!({"t": "send", "id": "a-4", "to": {"conversation": room}, "body": "hi all"}));
    said.ask(ada, json!({"t": "change_room", "rid": 31, "conversation": room, "topic": "Bikes"}));
    said.ask(ada, json!({"t": "thread", "rid": 32, "conversation": room, "seq": 1}));
    said.ask(ada, json!({"t": "threads", "rid": 33, "conversation": room}));
    said.ask(ada, json!({"t": "group_call", "rid": 34, "conversation": room, "action": "look"}));
    said.ask(ada, json!({"t": "member", "rid": 35, "conversation": room, "user": "tom", "action": "ban"}));
    said.ask(ada, json!({"t": "member", "rid": 36, "conversation": room, "user": "tom", "action": "unban"}));
    said.ask(ada, json!({"t": "members", "rid": 37, "conversation": room}));
    said.ask(ada, json!({"t": "nickname", "rid": 80, "conversation": room, "nickname": "Boss"}));
    said.ask(ada, json!({"t": "nicknames", "rid": 81, "conversation": room, "users": ["ada", "tom"]}));
    said.ask(ada, json!({"t": "rooms", "rid": 38}));
    let link = said.ask(ada, json!({"t": "make_link", "rid": 39, "conversation": room}));
    let code = link["code"].as_str().unwrap().to_owned();
    said.ask(ada, json!({"t": "links", "rid": 40, "conversation": room}));
    said.ask(tom, json!({"t": "open_link", "rid": 41, "code": code}));
    said.ask(tom, json!({"t": "join_link", "rid": 42, "code": code}));
    said.ask(ada, json!({"t": "take_back_link", "rid": 43, "conversation": room, "code": code}));
    said.ask(tom, json!({"t": "leave", "rid": 44, "conversation": room}));
    said.ask(tom, json!({"t": "join", "rid": 45, "to": {"conversation": room}}));
    let made = said.ask(ada, json!({"t": "create_room", "rid": 46, "name": "Old", "kind": "public"}));
    let old = &made["conversation"]["conversation"];
    said.ask(ada, json!({"t": "close_room", "rid": 47, "conversation": old}));
}

fn order(said: &mut Said, ada: &mut Client, tom: &mut Client, in_direct: &str) {
    said.ask(ada, json!({"t": "settings", "rid": 50}));
    said.ask(ada, json!({"t": "configure", "rid": 51, "patch": {"requests": {"on": true}}}));
    let mut eve = said.scene.enter(Carrier::WebSocket, "eve");
    let ack = said.ask(&mut eve, json!({"t": "send", "id": "e-1", "to": {"user": "tom"}, "body": "psst"}));
    tom.hear(&mut said.scene);
    let request = json!({"t": "request", "rid": 52, "conversation": ack["conversation"], "answer": "accept"});
    said.ask(tom, request);
    said.ask(tom, json!({"t": "report", "rid": 53, "conversation": in_direct, "seq": 1, "reason": "spam"}));
    said.ask(ada, json!({"t": "reports", "rid": 54}));
    said.ask(
        ada,
        json!({"t": "moderate", "rid": 55, "act": "warn", "user": "tom", "reason": "Please be kind"}),
    );
    said.ask(ada, json!({"t": "audit", "rid": 56}));
    said.ask(tom, json!({"t": "notices", "rid": 57}));
    said.ask(ada, json!({"t": "test_filter", "rid": 58, "body": "hello"}));
}

fn an_account(said: &mut Said, ada: &mut Client) {
    said.ask(ada, json!({"t": "notifications", "rid": 60}));
    let site = said.scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("members.devices", "true").unwrap();
    said.scene.store.set_settings(site.id, &settings).unwrap();
    said.scene.node.refresh_sites().unwrap();
    // Devices are written as they sign in.
    let mut tim = said.scene.enter(Carrier::WebSocket, "tim");
    let _other = said.scene.enter(Carrier::Stream, "tim");
    let list = said.ask(&mut tim, json!({"t": "devices", "rid": 61}));
    let devices = list["devices"].as_array().unwrap();
    let other = devices.iter().find(|one| one.get("this").is_none()).unwrap()["device"].clone();
    said.ask(&mut tim, json!({"t": "sign_out", "rid": 62, "device": other}));
    said.ask(&mut tim, json!({"t": "export", "rid": 63}));
    let made = said.ask(&mut tim, json!({"t": "create_app_password", "rid": 65, "name": "Phone"}));
    assert_eq!((&made["created"]["name"], made["password"].as_str().unwrap().len()), (&json!("Phone"), 29));
    let list = said.ask(&mut tim, json!({"t": "app_passwords", "rid": 66}));
    assert_eq!(list["passwords"], json!([made["created"]]));
    assert!(list["address"].as_str().unwrap().starts_with("tim@"), "{list}");
    let profile = said.ask(&mut tim, json!({"t": "profile", "rid": 68}));
    assert_eq!(profile["profile"]["own"]["apps"], true);
    let number = &made["created"]["number"];
    let left = said.ask(&mut tim, json!({"t": "revoke_app_password", "rid": 67, "number": number}));
    assert_eq!(left["passwords"], json!([]));
    let token = said.scene.token("tim");
    said.ask(&mut tim, json!({"t": "token", "rid": 64, "token": token}));
    let position = ada.position.clone();
    said.ask(ada, json!({"t": "resume", "rid": 65, "position": position}));
    said.ask(ada, json!({"t": "ping", "rid": 66}));
}
