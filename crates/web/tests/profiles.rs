//! Profiles over the wire, as clients speak it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::{Claims, sign};
use chat::{Secret, SiteStore};
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

#[test]
fn a_profile_is_changed_and_seen_on_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut anna = scene.enter(carrier, "anna");
        let mut tom = scene.enter(Carrier::WebSocket, "tom");
        let until = START_UNIX_MS + 3_600_000;
        let change = json!({"t": "change_profile", "rid": 1, "status": "On holiday 🌴", "status_until": until,
            "may_write": "contacts", "see_last_seen": "nobody"});
        let own = ask(&mut anna, &mut scene, change);
        assert_eq!(own["t"], "profile", "{carrier:?}: {own}");
        let chosen = json!({"may_write": "contacts", "see_presence": "everybody", "see_last_seen": "nobody",
            "apps": true});
        assert_eq!(own["profile"]["own"], chosen);
        let seen = ask(&mut tom, &mut scene, json!({"t": "profile", "rid": 1, "user": "anna"}));
        let seen = &seen["profile"];
        assert_eq!((&seen["user"], &seen["name"]), (&json!("anna"), &json!("The anna")));
        assert_eq!((&seen["status"], &seen["status_until"]), (&json!("On holiday 🌴"), &json!(until)));
        assert_eq!((&seen["state"], seen.get("own"), seen.get("role")), (&json!("none"), None, None));
        let send = json!({"t": "send", "id": "t-1", "to": {"user": "anna"}, "body": "Hi"});
        assert_eq!(ask(&mut tom, &mut scene, send)["code"], "not_allowed");
    }
}

#[test]
fn what_cannot_be_says_so() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    for (request, code) in [
        (json!({"t": "profile", "rid": 1, "user": "nobody"}), "no_such_user"),
        (json!({"t": "profile", "rid": 2, "user": ""}), "no_such_user"),
        (json!({"t": "change_profile", "rid": 3, "status": "x".repeat(141)}), "bad_value"),
        (json!({"t": "change_profile", "rid": 4, "status": "x", "status_until": 5}), "bad_value"),
        (json!({"t": "change_profile", "rid": 5, "name": "Anna B."}), "not_allowed"),
        (json!({"t": "change_profile", "rid": 6, "may_write": "friends"}), "bad_frame"),
    ] {
        let answer = ask(&mut anna, &mut scene, request.clone());
        assert_eq!((&answer["t"], &answer["code"]), (&json!("error"), &json!(code)), "{request}");
    }
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("members.rename", "true").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    let answer = ask(&mut anna, &mut scene, json!({"t": "change_profile", "rid": 7, "name": "Anna B."}));
    assert_eq!(
        (&answer["profile"]["name"], &answer["profile"]["own"]["may_rename"]),
        (&json!("Anna B."), &json!(true))
    );
}

/// As the site's own server asks: its answer's status and body.
fn rest(scene: &mut Scene, path: &str, body: &str) -> (u16, Value) {
    let claims = Claims {
        sub: "site".into(),
        role: Some("service".into()),
        exp: (START_UNIX_MS / 1000 + 3600) as f64,
        ..Claims::default()
    };
    rest_as(scene, &sign(&claims, &scene::secret()).unwrap(), path, body)
}

fn rest_as(scene: &mut Scene, token: &str, path: &str, body: &str) -> (u16, Value) {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: im\r\nAuthorization: Bearer {token}\r\n");
    let answer = scene.ask(&format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")))
}

#[test]
fn a_member_removes_their_account_on_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let site = scene.store.sites().unwrap().remove(0);
        let settings = site.settings.with("members.remove", "true").unwrap();
        scene.store.set_settings(site.id, &settings).unwrap();
        scene.node.refresh_sites().unwrap();
        let mut anna = scene.enter(carrier, "anna");
        let own = ask(&mut anna, &mut scene, json!({"t": "profile", "rid": 1}));
        assert_eq!(own["profile"]["own"]["may_remove"], true);
        anna.say(&mut scene, r#"{"t":"remove_account","rid":2,"messages":true}"#);
        let received = anna.hear_waiting(&mut scene);
        let received = if received.is_empty() { anna.hear(&mut scene) } else { received };
        let bye = received.iter().find(|event| event["t"] == "bye");
        let bye = bye.unwrap_or_else(|| panic!("{carrier:?}: {received:?}"));
        assert_eq!((&bye["code"], bye.get("retry_after")), (&json!("removed"), None));
    }
}

#[test]
fn the_site_erases_a_user_once() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut tom = scene.enter(Carrier::WebSocket, "tom");
    let send = json!({"t": "send", "id": "a-1", "to": {"user": "tom"}, "body": "a secret"});
    let ack = ask(&mut anna, &mut scene, send);
    tom.hear(&mut scene);
    let path = "/v1/sites/forum/users/anna/erase";
    assert_eq!(rest(&mut scene, path, r#"{"messages":true}"#), (200, json!({"erased": true})));
    assert!(anna.hear(&mut scene).iter().any(|event| event["code"] == "removed"));
    scene.wait(std::time::Duration::from_secs(1));
    let received = tom.hear(&mut scene);
    let told = received.iter().find(|event| event["t"] == "renamed").unwrap();
    let renamed = &told["renamed"];
    assert_eq!((&renamed["was"], &renamed["erased"]), (&json!("anna"), &json!(true)));
    assert_eq!(
        received.iter().filter(|event| event["t"] == "update").count(),
        0,
        "one event for all messages"
    );
    let chat = received.iter().find(|event| event["t"] == "conversation").unwrap();
    assert_eq!(chat["conversation"]["conversation"], ack["conversation"]);
    assert_eq!(chat["conversation"]["with"]["name"], "Deleted user");
    let (status, again) = rest(&mut scene, path, "");
    assert_eq!((status, &again["code"]), (404, &json!("no_such_user")));
}

#[test]
fn who_may_not_erase_is_told() {
    let mut scene = Scene::new();
    scene.enter(Carrier::WebSocket, "anna");
    let path = "/v1/sites/forum/users/anna/erase";
    let token = scene.token("tom");
    let (status, answer) = rest_as(&mut scene, &token, path, "");
    assert_eq!((status, &answer["code"]), (403, &json!("not_allowed")));
    let (status, answer) = rest(&mut scene, path, r#"{"message":true}"#);
    assert_eq!((status, &answer["code"]), (400, &json!("bad_value")));
    let (status, _) = rest(&mut scene, "/v1/sites/other/users/anna/erase", "");
    assert_eq!(status, 404);
}

#[test]
fn a_device_is_known_by_its_browser_and_signed_out() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let answer = ask(&mut anna, &mut scene, json!({"t": "devices", "rid": 1}));
    assert_eq!(answer["code"], "not_allowed");
    let site = scene.store.sites().unwrap().remove(0);
    let settings = site.settings.with("members.devices", "true").unwrap();
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut phone = scene.enter(Carrier::Poll, "anna");
    let own = ask(&mut anna, &mut scene, json!({"t": "profile", "rid": 2}));
    assert_eq!(own["profile"]["own"]["devices"], true);
    let list = ask(&mut anna, &mut scene, json!({"t": "devices", "rid": 3}));
    let list = list["devices"].as_array().unwrap().clone();
    assert_eq!(list.len(), 2, "{list:?}");
    let other = list.iter().find(|one| one.get("this").is_none()).unwrap();
    assert_eq!(other["here"], true);
    let left =
        ask(&mut anna, &mut scene, json!({"t": "sign_out", "rid": 4, "device": other["device"].clone()}));
    assert_eq!(left["devices"].as_array().unwrap().len(), 1);
    let received = phone.hear_waiting(&mut scene);
    let received = if received.is_empty() { phone.hear(&mut scene) } else { received };
    assert!(
        received.iter().any(|event| event["t"] == "bye" && event["code"] == "signed_out"),
        "{received:?}"
    );
    for device in ["x", "ffff", ""] {
        let answer = ask(&mut anna, &mut scene, json!({"t": "sign_out", "rid": 5, "device": device}));
        assert_eq!(answer["code"], "no_such_device", "{device}");
    }
}

#[test]
fn what_was_said_is_exported_page_by_page() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut tom = scene.enter(Carrier::WebSocket, "tom");
    for n in 0..3 {
        let send =
            json!({"t": "send", "id": format!("a-{n}"), "to": {"user": "tom"}, "body": format!("hi {n}")});
        ask(&mut anna, &mut scene, send);
    }
    let (mut after, mut bodies) = (Value::Null, Vec::new());
    for rid in 1..20 {
        let mut request = json!({"t": "export", "rid": rid, "limit": 2});
        if !after.is_null() {
            request["after"] = after;
        }
        let page = ask(&mut tom, &mut scene, request);
        assert_eq!(page["t"], "exported", "{page}");
        bodies.extend(page["messages"].as_array().unwrap().iter().map(|one| one["body"].clone()));
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(bodies, ["hi 0", "hi 1", "hi 2"]);
}

/// A token as the server signs it for guests.
fn guest_token(user: &str, site: &str, key: &Secret, life_s: f64) -> String {
    let exp = (START_UNIX_MS / 1000) as f64 + life_s;
    let site = Some(site.into());
    sign(&Claims { sub: user.into(), guest: true, site, exp, ..Claims::default() }, key).unwrap()
}

/// Opens the site to guests; its key for their tokens.
fn with_guests(scene: &Scene) -> Secret {
    let mut site = scene.store.sites().unwrap().remove(0);
    site.guests = true;
    scene.store.update_site(&site).unwrap();
    scene.node.refresh_sites().unwrap();
    site.guest_keys.remove(0)
}

#[test]
fn a_guest_becomes_a_member_once() {
    let mut scene = Scene::new();
    let key = with_guests(&scene);
    let token = guest_token("guest-1", scene::SITE, &key, 3600.0);
    let hello = json!({"t": "hello", "v": 1, "site": scene::SITE, "token": token, "device": "g-1"});
    let mut guest = Client::open(&mut scene, Carrier::WebSocket, &hello.to_string());
    assert_eq!(guest.hear(&mut scene)[0]["t"], "welcome");
    scene.enter(Carrier::WebSocket, "tom");
    let send = json!({"t": "send", "id": "g-1", "to": {"user": "tom"}, "body": "Hi"});
    ask(&mut guest, &mut scene, send);
    let path = "/v1/sites/forum/merge";
    let wanted = json!({"guest_token": token, "user": "gina"}).to_string();
    for _ in 0..2 {
        assert_eq!(rest(&mut scene, path, &wanted), (200, json!({"merged": true})));
    }
    let received = guest.hear(&mut scene);
    assert!(received.iter().any(|event| event["code"] == "token_expired"), "{received:?}");
    let mut late = Client::open(&mut scene, Carrier::WebSocket, &hello.to_string());
    let received = late.hear(&mut scene);
    assert_eq!(
        (&received[0]["t"], &received[0]["code"]),
        (&json!("bye"), &json!("token_expired")),
        "{received:?}"
    );
    let gina = scene.enter(Carrier::WebSocket, "gina");
    assert_eq!(gina.welcome["conversations"][0]["with"]["user"], "tom");
    for (user, status, code) in [("gina-2", 404, "no_such_user"), ("tom", 404, "no_such_user")] {
        let body = json!({"guest_token": token, "user": user}).to_string();
        let (answered, answer) = rest(&mut scene, path, &body);
        assert_eq!((answered, &answer["code"]), (status, &json!(code)), "{body}");
    }
}

#[test]
fn a_guest_is_merged_by_their_token_only() {
    let mut scene = Scene::new();
    let key = with_guests(&scene);
    let hello = json!({"t": "hello", "v": 1, "site": scene::SITE, "token": guest_token("guest-1", scene::SITE, &key, 3600.0), "device": "g-1"});
    let mut guest = Client::open(&mut scene, Carrier::WebSocket, &hello.to_string());
    assert_eq!(guest.hear(&mut scene)[0]["t"], "welcome");
    scene.enter(Carrier::WebSocket, "tom");
    let path = "/v1/sites/forum/merge";
    let by_id = r#"{"guest":"guest-1","user":"mallory"}"#;
    assert_eq!(rest(&mut scene, path, by_id).0, 400, "a public id is no proof");
    let of_tom = sign(
        &Claims { sub: "tom".into(), exp: (START_UNIX_MS / 1000 + 60) as f64, ..Claims::default() },
        &scene::secret(),
    );
    for (token, why) in [
        ("guest-1".to_owned(), "an id"),
        (guest_token("guest-1", scene::SITE, &scene::secret(), 60.0), "signed by the site"),
        (guest_token("guest-1", "garden", &key, 60.0), "of another site"),
        (guest_token("guest-1", scene::SITE, &key, -600.0), "expired"),
        (of_tom.unwrap(), "of a member"),
    ] {
        let body = json!({"guest_token": token, "user": "mallory"}).to_string();
        let (status, answer) = rest(&mut scene, path, &body);
        assert_eq!((status, &answer["code"]), (400, &json!("bad_value")), "{why}");
        let text = answer["text"].as_str().unwrap();
        assert!(text.starts_with("guest_token: ") && !text.contains(&token), "{text}");
    }
    assert!(guest.hear(&mut scene).is_empty(), "the guest is still here");
}
