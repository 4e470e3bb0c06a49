//! Rooms on the real gateway: members on two workers and all transports, over the wire as clients speak it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use scene::{Carrier, Client, Scene};
use serde_json::{Value, json};

/// Says a request and answers what comes back to it.
#[allow(clippy::needless_pass_by_value, reason = "a request is said once")]
fn ask(client: &mut Client, scene: &mut Scene, request: Value) -> Value {
    client.say(scene, &request.to_string());
    let received = client.hear(scene);
    let (number, as_answered) = if request["rid"].is_null() { ("id", "id") } else { ("rid", "re") };
    let answer = received.iter().find(|event| event[as_answered] == request[number]);
    answer.unwrap_or_else(|| panic!("no answer to {request}: {received:?}")).clone()
}

fn code(answer: &Value) -> &str {
    assert_eq!(answer["t"], "error", "{answer}");
    answer["code"].as_str().unwrap()
}

fn create(client: &mut Client, scene: &mut Scene, kind: &str) -> String {
    let made = ask(client, scene, json!({"t": "create_room", "rid": 1, "name": "Bikers", "kind": kind}));
    assert_eq!(
        (&made["t"], &made["conversation"]["room"]["role"]),
        (&json!("conversation"), &json!("owner"))
    );
    made["conversation"]["conversation"].as_str().unwrap().to_owned()
}

fn join(client: &mut Client, scene: &mut Scene, room: &str) -> Value {
    ask(client, scene, json!({"t": "join", "rid": 2, "to": {"conversation": room}}))
}

fn send(client: &mut Client, scene: &mut Scene, room: &str, id: &str, body: &str) -> Value {
    ask(client, scene, json!({"t": "send", "id": id, "to": {"conversation": room}, "body": body}))
}

fn member(client: &mut Client, scene: &mut Scene, room: &str, user: &str, action: &str) -> Value {
    let request = json!({"t": "member", "rid": 3, "conversation": room, "user": user, "action": action});
    ask(client, scene, request)
}

fn set_role(client: &mut Client, scene: &mut Scene, room: &str, user: &str, role: &str) -> Value {
    let request = json!({"t": "member", "rid": 4, "conversation": room, "user": user, "action": "set_role",
        "role": role});
    ask(client, scene, request)
}

fn of_kind(events: &[Value], kind: &str) -> Vec<Value> {
    events.iter().filter(|event| event["t"] == kind).cloned().collect()
}

fn bodies(messages: &Value) -> Vec<String> {
    messages.as_array().unwrap().iter().map(|message| message["body"].as_str().unwrap().to_owned()).collect()
}

fn three(scene: &mut Scene) -> [Client; 3] {
    [
        scene.enter(Carrier::WebSocket, "anna"),
        scene.enter(Carrier::Stream, "ben"),
        scene.enter(Carrier::WebSocket, "carla"),
    ]
}

#[test]
fn three_members_live_through_a_room() {
    let mut scene = Scene::new();
    let [mut anna, mut ben, mut carla] = three(&mut scene);
    let room = create(&mut anna, &mut scene, "public");
    let listed = ask(&mut ben, &mut scene, json!({"t": "rooms", "rid": 7}));
    assert_eq!(listed["rooms"][0]["conversation"], *room);
    assert_eq!(listed["rooms"][0]["room"], json!({"name": "Bikers", "kind": "public", "members": 1}));
    assert_eq!(code(&send(&mut ben, &mut scene, &room, "b-0", "hi")), "not_a_member");
    for client in [&mut ben, &mut carla] {
        let joined = join(client, &mut scene, &room);
        assert_eq!(joined["conversation"]["room"]["role"], "member", "{joined}");
        assert!(joined["conversation"].get("with").is_none());
    }
    assert!(anna.hear(&mut scene).is_empty(), "nobody is told who comes");
    let ack = send(&mut anna, &mut scene, &room, "a-1", "Hello @ben");
    assert_eq!((&ack["t"], &ack["seq"]), (&json!("ack"), &json!(1)));
    for client in [&mut ben, &mut carla] {
        let received = client.hear(&mut scene);
        let [message] = &received[..] else { panic!("{received:?}") };
        assert_eq!((&message["body"], &message["from"]), (&json!("Hello @ben"), &json!("anna")));
        assert_eq!(message["position"], ack["position"]);
    }
    let page = ask(&mut carla, &mut scene, json!({"t": "history", "rid": 9, "to": {"conversation": room}}));
    assert_eq!(bodies(&page["messages"]), ["Hello @ben"]);

    // Ben loses his connection, and comes back.
    scene.reset(ben.down);
    send(&mut anna, &mut scene, &room, "a-2", "@room two");
    send(&mut carla, &mut scene, &room, "c-1", "three");
    assert_eq!(of_kind(&anna.hear(&mut scene), "message").len(), 1);
    assert_eq!(of_kind(&carla.hear(&mut scene), "message").len(), 0, "read before her ack");
    let mut ben = scene.enter_from(Carrier::Poll, "ben", Some(&ben.position));
    assert_eq!(ben.welcome["resumed"], true);
    assert_eq!(bodies(&ben.welcome["messages"]), ["@room two", "three"]);
    let row = &ben.welcome["conversations"][0];
    assert_eq!(
        (&row["unread"], &row["mentions"], &row["room"]["members"]),
        (&json!(3), &json!(2), &json!(3))
    );

    // He reads; his other device hears of it, nobody else does.
    let mut phone = scene.enter(Carrier::Sse, "ben");
    ben.say(&mut scene, &json!({"t": "marker", "conversation": room, "read": 3}).to_string());
    let received = phone.hear(&mut scene);
    assert_eq!((&received[0]["t"], &received[0]["unread"]), (&json!("marker"), &json!(0)));
    assert!(anna.hear(&mut scene).is_empty());

    let left = ask(&mut carla, &mut scene, json!({"t": "leave", "rid": 5, "conversation": room}));
    assert_eq!((&left["t"], &left["reason"]), (&json!("left"), &json!("left")));
    send(&mut anna, &mut scene, &room, "a-3", "four");
    assert!(carla.hear(&mut scene).is_empty());
    assert_eq!(of_kind(&phone.hear(&mut scene), "message").len(), 1);
    let mine = ask(&mut anna, &mut scene, json!({"t": "leave", "rid": 6, "conversation": room}));
    assert_eq!(code(&mine), "last_owner");

    // Only she closes it, for all.
    let close = |conversation: &str, reason: &str| json!({"t": "close_room", "rid": 7, "conversation": conversation, "reason": reason});
    assert_eq!(code(&ask(&mut ben, &mut scene, close(&room, "Mine"))), "not_allowed");
    assert_eq!(code(&ask(&mut anna, &mut scene, close("100000002", "Old"))), "no_such_conversation");
    let closed = ask(&mut anna, &mut scene, close(&room, "We moved"));
    assert_eq!((&closed["t"], &closed["reason"]), (&json!("left"), &json!("closed")));
    assert_eq!(of_kind(&phone.hear(&mut scene), "left").len(), 1);
    let again = ask(&mut ben, &mut scene, json!({"t": "join", "rid": 8, "to": {"conversation": room}}));
    assert_eq!(code(&again), "no_such_conversation");
}

#[test]
fn who_keeps_order_is_obeyed_at_once() {
    let mut scene = Scene::new();
    let [mut anna, mut ben, mut carla] = three(&mut scene);
    let room = create(&mut anna, &mut scene, "public");
    join(&mut ben, &mut scene, &room);
    join(&mut carla, &mut scene, &room);

    assert_eq!(code(&set_role(&mut ben, &mut scene, &room, "carla", "muted")), "not_allowed");
    assert_eq!(set_role(&mut anna, &mut scene, &room, "ben", "moderator")["member"]["role"], "moderator");
    let received = ben.hear(&mut scene);
    assert_eq!(received[0]["conversation"]["room"]["role"], "moderator", "{received:?}");
    assert_eq!(set_role(&mut ben, &mut scene, &room, "carla", "muted")["member"]["role"], "muted");
    assert_eq!(code(&send(&mut carla, &mut scene, &room, "c-1", "x")), "muted");
    set_role(&mut ben, &mut scene, &room, "carla", "member");

    let change = |fields: Value| {
        let mut change = json!({"t": "change_room", "rid": 8, "conversation": room});
        change.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        change
    };
    let slow = ask(&mut ben, &mut scene, change(json!({"slow_ms": 60_000})));
    assert_eq!(slow["conversation"]["room"]["slow_ms"], 60_000);
    carla.hear(&mut scene);
    assert_eq!(send(&mut carla, &mut scene, &room, "c-2", "x")["t"], "ack");
    let refused = send(&mut carla, &mut scene, &room, "c-3", "x");
    assert_eq!((code(&refused), &refused["retry_after"]), ("slow_mode", &json!(60_000)));
    ask(&mut ben, &mut scene, change(json!({"slow_ms": 0, "frozen": true})));
    let received = carla.hear(&mut scene);
    let told = of_kind(&received, "room");
    assert_eq!(told[0]["room"], json!({"name": "Bikers", "kind": "public", "members": 3, "frozen": true}));
    assert_eq!(code(&send(&mut carla, &mut scene, &room, "c-3", "x")), "frozen");
    assert_eq!(code(&ask(&mut ben, &mut scene, change(json!({"name": "Mine"})))), "not_allowed");
    ask(&mut anna, &mut scene, change(json!({"frozen": false, "kind": "announcement"})));
    assert_eq!(code(&send(&mut carla, &mut scene, &room, "c-3", "x")), "read_only");
    assert_eq!(send(&mut ben, &mut scene, &room, "b-1", "news")["t"], "ack");
    carla.hear(&mut scene);

    assert_eq!(member(&mut ben, &mut scene, &room, "carla", "remove")["t"], "member");
    let received = carla.hear(&mut scene);
    assert_eq!((&received[0]["t"], &received[0]["reason"]), (&json!("left"), &json!("removed")));
    assert_eq!(join(&mut carla, &mut scene, &room)["t"], "conversation");
    scene.reset(carla.down);
    assert_eq!(member(&mut anna, &mut scene, &room, "carla", "ban")["member"]["banned"], true);
    let mut carla = scene.enter_from(Carrier::WebSocket, "carla", Some(&carla.position));
    assert_eq!(carla.welcome["left"], json!([{"conversation": room, "reason": "banned"}]));
    assert_eq!(code(&join(&mut carla, &mut scene, &room)), "room_banned");
    assert_eq!(code(&send(&mut carla, &mut scene, &room, "c-4", "x")), "room_banned");
    send(&mut anna, &mut scene, &room, "a-9", "without her");
    assert!(carla.hear(&mut scene).is_empty());
    assert_eq!(code(&member(&mut ben, &mut scene, &room, "anna", "ban")), "not_allowed");
    let members = ask(&mut ben, &mut scene, json!({"t": "members", "rid": 10, "conversation": room}));
    let roles: Vec<_> = members["members"].as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, ["owner", "moderator"]);
}

#[test]
fn a_private_room_is_seen_by_its_members_only() {
    let mut scene = Scene::new();
    let [mut anna, mut ben, mut carla] = three(&mut scene);
    let room = create(&mut anna, &mut scene, "private");
    assert_eq!(ask(&mut ben, &mut scene, json!({"t": "rooms", "rid": 7}))["rooms"], json!([]));
    assert_eq!(code(&join(&mut ben, &mut scene, &room)), "no_such_conversation");
    let history = json!({"t": "history", "rid": 9, "to": {"conversation": room}});
    assert_eq!(code(&ask(&mut ben, &mut scene, history.clone())), "no_such_conversation");
    assert_eq!(member(&mut anna, &mut scene, &room, "ben", "invite")["member"]["role"], "member");
    let received = ben.hear(&mut scene);
    assert_eq!(received[0]["conversation"]["conversation"], *room, "he is told");
    assert_eq!(code(&member(&mut ben, &mut scene, &room, "carla", "invite")), "not_allowed");
    assert_eq!(ask(&mut ben, &mut scene, history)["messages"], json!([]));
    // A user who blocked somebody is not added to a room by them.
    carla.say(&mut scene, &json!({"t": "contact", "rid": 1, "action": "block", "user": "anna"}).to_string());
    carla.hear(&mut scene);
    assert_eq!(code(&member(&mut anna, &mut scene, &room, "carla", "invite")), "not_allowed");
    assert!(carla.hear(&mut scene).is_empty());
    assert_eq!(code(&member(&mut anna, &mut scene, &room, "nobody", "invite")), "no_such_user");
}

#[test]
fn a_page_has_a_room_once_somebody_writes() {
    let mut scene = Scene::new();
    let [mut anna, mut ben, mut carla] = three(&mut scene);
    let page = json!({"page": "/thread/42"});
    let looked = ask(&mut carla, &mut scene, json!({"t": "history", "rid": 1, "to": page}));
    assert_eq!((&looked["conversation"], &looked["messages"]), (&json!(""), &json!([])));
    // Two at once, on two workers.
    anna.say(&mut scene, &json!({"t": "send", "id": "a-1", "to": page, "body": "one"}).to_string());
    ben.say(&mut scene, &json!({"t": "send", "id": "b-1", "to": page, "body": "two"}).to_string());
    let (annas, bens) = (anna.hear(&mut scene), ben.hear(&mut scene));
    let ack = |received: &[Value]| of_kind(received, "ack")[0].clone();
    assert_eq!(ack(&annas)["conversation"], ack(&bens)["conversation"]);
    assert_eq!((&ack(&annas)["seq"], &ack(&bens)["seq"]), (&json!(1), &json!(2)));
    let kinds: Vec<_> = annas.iter().map(|event| event["t"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["conversation", "ack", "message"], "she is a member, and hears the next one");
    assert_eq!(annas[0]["conversation"]["room"]["page"], "/thread/42");
    let looked = ask(&mut carla, &mut scene, json!({"t": "history", "rid": 1, "to": page}));
    assert_eq!(bodies(&looked["messages"]), ["one", "two"]);
    let joined = ask(&mut carla, &mut scene, json!({"t": "join", "rid": 2, "to": page}));
    assert_eq!(joined["conversation"]["room"]["members"], 3);
    assert_eq!(joined["conversation"]["unread"], 0);
    let bad = json!({"t": "history", "rid": 1, "to": {"page": "a\tb"}});
    assert_eq!(code(&ask(&mut carla, &mut scene, bad)), "bad_value");
}

#[test]
fn typing_is_told_in_a_small_room() {
    let mut scene = Scene::new();
    let [mut anna, mut ben, mut carla] = three(&mut scene);
    let room = create(&mut anna, &mut scene, "public");
    join(&mut ben, &mut scene, &room);
    let typing = json!({"t": "typing", "to": {"conversation": room}, "on": true}).to_string();
    ben.say(&mut scene, &typing);
    let received = anna.hear(&mut scene);
    assert_eq!((&received[0]["t"], &received[0]["user"]), (&json!("typing"), &json!("ben")));
    carla.say(&mut scene, &typing);
    assert!(anna.hear(&mut scene).is_empty() && ben.hear(&mut scene).is_empty(), "she is no member");
}

#[test]
fn what_cannot_be_is_refused_with_its_number() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let room = create(&mut anna, &mut scene, "public");
    for (request, expected) in [
        (json!({"t": "create_room", "rid": 1, "name": " ", "kind": "public"}), "bad_value"),
        (json!({"t": "create_room", "rid": 1, "name": "a\nb", "kind": "public"}), "bad_value"),
        (json!({"t": "change_room", "rid": 1, "conversation": room, "slow_ms": 86_400_001}), "bad_value"),
        (
            json!({"t": "change_room", "rid": 1, "conversation": room, "avatar": "javascript:x"}),
            "not_allowed",
        ),
        (json!({"t": "change_room", "rid": 1, "conversation": "1"}), "no_such_conversation"),
        (json!({"t": "join", "rid": 1, "to": {"user": "ben"}}), "no_such_conversation"),
        (json!({"t": "join", "rid": 1, "to": {"conversation": "8000000000000099"}}), "no_such_conversation"),
        (json!({"t": "leave", "rid": 1, "conversation": "100000002"}), "no_such_conversation"),
        (json!({"t": "members", "rid": 1, "conversation": "ffffffffffffffff"}), "no_such_conversation"),
        (
            json!({"t": "member", "rid": 1, "conversation": room, "user": "anna", "action": "set_role"}),
            "bad_value",
        ),
        (
            json!({"t": "member", "rid": 1, "conversation": room, "user": "anna", "action": "set_role",
                "role": "member"}),
            "last_owner",
        ),
    ] {
        let answer = ask(&mut anna, &mut scene, request.clone());
        assert_eq!(code(&answer), expected, "{request}");
    }
}
