//! Invitations into rooms on the real gateway: each command as a client says it, and each refusal with its code.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::{RoomLimits, SiteStore};
use edge::testing::START_UNIX_MS;
use scene::{Carrier, Client, Scene, limits};
use serde_json::{Value, json};
use web::WebConfig;

/// Of no link, as far as anybody knows.
const NONE: &str = "AAAAAAAAAAAAAAAAAAAAAA";

/// Says a request and answers what comes back to it.
#[allow(clippy::needless_pass_by_value, reason = "a request is said once")]
fn ask(client: &mut Client, scene: &mut Scene, request: Value) -> Value {
    client.say(scene, &request.to_string());
    let received = client.hear(scene);
    let answer = received.iter().find(|event| event["re"] == request["rid"]);
    answer.unwrap_or_else(|| panic!("no answer to {request}: {received:?}")).clone()
}

fn code(answer: &Value) -> &str {
    assert_eq!(answer["t"], "error", "{answer}");
    answer["code"].as_str().unwrap()
}

fn create(client: &mut Client, scene: &mut Scene, kind: &str) -> String {
    let request =
        json!({"t": "create_room", "rid": 1, "name": "Bikers", "kind": kind, "topic": "Two wheels"});
    let made = ask(client, scene, request);
    made["conversation"]["conversation"].as_str().unwrap().to_owned()
}

fn make(client: &mut Client, scene: &mut Scene, room: &str) -> Value {
    ask(client, scene, json!({"t": "make_link", "rid": 2, "conversation": room}))
}

/// Makes one, and answers its code.
fn made(client: &mut Client, scene: &mut Scene, room: &str) -> String {
    make(client, scene, room)["code"].as_str().unwrap().to_owned()
}

fn links(client: &mut Client, scene: &mut Scene, room: &str) -> Value {
    ask(client, scene, json!({"t": "links", "rid": 3, "conversation": room}))
}

fn take_back(client: &mut Client, scene: &mut Scene, room: &str, code: &str) -> Value {
    ask(client, scene, json!({"t": "take_back_link", "rid": 4, "conversation": room, "code": code}))
}

fn open(client: &mut Client, scene: &mut Scene, code: &str) -> Value {
    ask(client, scene, json!({"t": "open_link", "rid": 5, "code": code}))
}

fn join(client: &mut Client, scene: &mut Scene, code: &str) -> Value {
    ask(client, scene, json!({"t": "join_link", "rid": 6, "code": code}))
}

fn member(client: &mut Client, scene: &mut Scene, room: &str, user: &str, action: &str) {
    let request = json!({"t": "member", "rid": 7, "conversation": room, "user": user, "action": action});
    assert_eq!(ask(client, scene, request)["t"], "member");
}

fn both(scene: &mut Scene) -> [Client; 2] {
    [scene.enter(Carrier::WebSocket, "anna"), scene.enter(Carrier::Stream, "ben")]
}

#[test]
fn who_has_the_link_sees_the_room_and_joins() {
    let mut scene = Scene::new();
    let [mut anna, mut ben] = both(&mut scene);
    let room = create(&mut anna, &mut scene, "private");
    let request = json!({"t": "make_link", "rid": 2, "conversation": room, "hours": 24, "uses": 10});
    let link = ask(&mut anna, &mut scene, request);
    let code = link["code"].as_str().unwrap();
    assert!(code.len() == 22 && code.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    let until = START_UNIX_MS + 86_400_000;
    assert_eq!(
        link,
        json!({"t": "link", "re": 2, "conversation": room, "code": code, "by": "anna", "until": until,
            "uses": 10, "used": 0})
    );
    let endless = make(&mut anna, &mut scene, &room);
    assert_ne!(endless["code"], code);
    assert_eq!((endless.get("uses"), &endless["until"]), (None, &json!(START_UNIX_MS + 7 * 86_400_000)));

    let invitation = json!({"t": "invitation", "re": 5, "name": "Bikers", "kind": "private", "topic": "Two wheels",
        "members": 1, "by": {"user": "anna", "name": "The anna"}, "until": until});
    assert_eq!(open(&mut ben, &mut scene, code), invitation);
    let joined = join(&mut ben, &mut scene, code);
    assert_eq!((&joined["t"], &joined["re"]), (&json!("conversation"), &json!(6)));
    assert_eq!(joined["conversation"]["conversation"], *room);
    assert_eq!(joined["conversation"]["room"]["role"], "member");
    assert_eq!(join(&mut ben, &mut scene, code)["t"], "conversation", "once more");
    assert_eq!(open(&mut ben, &mut scene, code)["conversation"], *room);

    let listed = links(&mut anna, &mut scene, &room);
    let listed: Vec<_> = listed["links"].as_array().unwrap().iter().map(|one| &one["used"]).collect();
    assert_eq!(listed, [0, 1], "newest first");
    let left = take_back(&mut anna, &mut scene, &room, code);
    assert_eq!((&left["t"], &left["links"][0]["code"]), (&json!("links"), &endless["code"]));
    assert_eq!(left["links"].as_array().unwrap().len(), 1);
    assert_eq!(take_back(&mut anna, &mut scene, &room, code), left, "it is gone");
    assert_eq!(links(&mut ben, &mut scene, &room)["links"], json!([]), "he has made none");
}

#[test]
fn each_refusal_has_its_code() {
    let rooms = RoomLimits { members: 2, per_user: 2, owned: 0 };
    let mut scene = Scene::with_limits(WebConfig::default(), chat::Limits { rooms, ..limits() });
    let [mut anna, mut ben] = both(&mut scene);
    let room = create(&mut anna, &mut scene, "public");
    let hidden = create(&mut anna, &mut scene, "private");
    for (field, value) in [("hours", 0), ("hours", 8_761), ("uses", 0), ("uses", 10_001)] {
        let mut request = json!({"t": "make_link", "rid": 2, "conversation": room});
        request[field] = json!(value);
        assert_eq!(code(&ask(&mut anna, &mut scene, request)), "bad_value", "{field} {value}");
    }
    for nowhere in ["8000000000000099", "100000002", "x"] {
        assert_eq!(code(&make(&mut anna, &mut scene, nowhere)), "no_such_conversation");
        assert_eq!(code(&links(&mut anna, &mut scene, nowhere)), "no_such_conversation");
        assert_eq!(code(&take_back(&mut anna, &mut scene, nowhere, NONE)), "no_such_conversation");
    }
    assert_eq!(code(&make(&mut ben, &mut scene, &room)), "not_a_member");
    assert_eq!(code(&links(&mut ben, &mut scene, &room)), "not_a_member");
    assert_eq!(code(&make(&mut ben, &mut scene, &hidden)), "no_such_conversation");
    for none in [NONE, "", "no code", "AAAAAAAAAAAAAAAAAAAAAB", &"A".repeat(400)] {
        assert_eq!(code(&open(&mut ben, &mut scene, none)), "bad_invitation");
        assert_eq!(code(&join(&mut ben, &mut scene, none)), "bad_invitation");
    }
    assert_eq!(take_back(&mut anna, &mut scene, &room, NONE)["links"], json!([]));

    let link = made(&mut anna, &mut scene, &hidden);
    member(&mut anna, &mut scene, &hidden, "ben", "ban");
    assert_eq!(code(&open(&mut ben, &mut scene, &link)), "room_banned");
    assert_eq!(code(&join(&mut ben, &mut scene, &link)), "room_banned");
    assert_eq!(code(&links(&mut ben, &mut scene, &hidden)), "room_banned");
    member(&mut anna, &mut scene, &hidden, "ben", "unban");
    let _full = [create(&mut ben, &mut scene, "public"), create(&mut ben, &mut scene, "public")];
    assert_eq!(code(&join(&mut ben, &mut scene, &link)), "too_many_rooms");
    let mut carla = scene.enter(Carrier::WebSocket, "carla");
    assert_eq!(join(&mut carla, &mut scene, &link)["t"], "conversation");
    assert_eq!(code(&make(&mut carla, &mut scene, &hidden)), "not_allowed", "members do not invite there");
    let mut dora = scene.enter(Carrier::WebSocket, "dora");
    assert_eq!(code(&join(&mut dora, &mut scene, &link)), "room_full");
    let page = json!({"t": "join", "rid": 8, "to": {"page": "/thread/42"}});
    let page = ask(&mut dora, &mut scene, page)["conversation"]["conversation"].as_str().unwrap().to_owned();
    assert_eq!(code(&make(&mut dora, &mut scene, &page)), "bad_value");
    for _ in 0..chat::MOST_LINKS {
        made(&mut anna, &mut scene, &room);
    }
    assert_eq!(code(&make(&mut anna, &mut scene, &room)), "too_many_invitations");
}

#[test]
fn a_setting_leaves_it_to_those_who_keep_order() {
    let mut scene = Scene::new();
    let [mut anna, mut ben] = both(&mut scene);
    let room = create(&mut anna, &mut scene, "public");
    member(&mut anna, &mut scene, &room, "ben", "invite");
    ben.hear(&mut scene);
    let link = made(&mut ben, &mut scene, &room);
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("invitations.moderators_only", "true").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    assert_eq!(code(&make(&mut ben, &mut scene, &room)), "not_allowed");
    assert_eq!(make(&mut anna, &mut scene, &room)["t"], "link");
    let mut carla = scene.enter(Carrier::WebSocket, "carla");
    assert_eq!(code(&open(&mut carla, &mut scene, &link)), "bad_invitation");
}
