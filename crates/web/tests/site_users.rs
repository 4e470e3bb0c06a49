//! The list of a site's users, as the site's own server asks for it.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::token::{Claims, sign};
use edge::testing::START_UNIX_MS;
use scene::{Carrier, Scene};
use serde_json::{Value, json};

fn get(scene: &mut Scene, role: Option<&str>, path: &str) -> (u16, Value) {
    let token = token(role);
    let answer = scene.ask(&format!(
        "GET {path} HTTP/1.1\r\nHost: im\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    ));
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")))
}

/// As a URL has it.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn all_of_them_page_by_page_with_what_only_the_site_may_know() {
    let mut scene = Scene::new();
    for user in ["carla", "anna", "ben"] {
        scene.enter(Carrier::WebSocket, user);
    }
    for act in [
        json!({"act": "ban", "user": "ben"}),
        json!({"act": "shadow_ban", "user": "carla"}),
        json!({"act": "set_role", "user": "anna", "role": "moderator"}),
    ] {
        let fields = format!("Authorization: Bearer {}\r\nConnection: close\r\n", token(Some("service")));
        let answer = scene.ask(&scene::post("/v1/sites/forum/moderate", &fields, &act.to_string()));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    let path = "/v1/sites/forum/users";
    let (mut users, mut after) = (Vec::new(), String::new());
    loop {
        let (status, answer) = get(&mut scene, Some("service"), &format!("{path}?limit=1&after={after}"));
        assert_eq!(status, 200, "{answer}");
        users.extend(answer["users"].as_array().unwrap().iter().cloned());
        match answer["next"].as_str() {
            Some(next) => after = escaped(next),
            None => break,
        }
    }
    for user in &mut users {
        let user = user.as_object_mut().unwrap();
        assert_eq!(user.remove("created"), Some(START_UNIX_MS.into()));
        assert!(user.remove("last_seen").unwrap().is_u64());
    }
    assert_eq!(
        users,
        [
            json!({"user": "anna", "name": "The anna", "role": "moderator"}),
            json!({"user": "ben", "name": "The ben", "banned": true}),
            json!({"user": "carla", "name": "The carla", "shadow_banned": true}),
        ]
    );
    let (_, found) = get(&mut scene, Some("service"), &format!("{path}?query=CAR"));
    assert_eq!(found["users"].as_array().unwrap().len(), 1);
    let (_, none) = get(&mut scene, Some("service"), &format!("{path}?query=The+anna+b"));
    assert_eq!((&none["users"], &none["next"]), (&json!([]), &Value::Null));
}

#[test]
fn members_moderators_and_other_sites_may_not_ask_and_nonsense_is_told() {
    let mut scene = Scene::new();
    let path = "/v1/sites/forum/users";
    for role in [None, Some("moderator")] {
        let (status, answer) = get(&mut scene, role, path);
        assert_eq!((status, &answer["code"]), (403, &json!("not_allowed")), "{role:?}");
    }
    assert_eq!(get(&mut scene, Some("service"), "/v1/sites/other/users").0, 404);
    let long = format!("{path}?query={}", "x".repeat(257));
    for path in [format!("{path}?limit=many"), format!("{path}?limit=-1"), long] {
        let (status, answer) = get(&mut scene, Some("service"), &path);
        assert_eq!((status, &answer["code"]), (400, &json!("bad_value")), "{path}");
        assert!(!answer["text"].as_str().unwrap().is_empty());
    }
    for path in [format!("{path}?after=%00%FF&limit=0"), format!("{path}?after=&query=")] {
        assert_eq!(get(&mut scene, Some("service"), &path).0, 200, "{path}");
    }
}

fn token(role: Option<&str>) -> String {
    let exp = (START_UNIX_MS / 1000 + 3600) as f64;
    let claims = Claims { sub: "site".into(), role: role.map(str::to_owned), exp, ..Claims::default() };
    sign(&claims, &scene::secret()).unwrap()
}
