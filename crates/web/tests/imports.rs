//! Imports over REST: only by the site's own server, in bounds, and members who are online load anew once.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use chat::token::{Claims, sign};
use chat::{RequestRates, Secret, SecretKind, Timestamp};
use edge::testing::START_UNIX_MS;
use scene::{Carrier, SITE, Scene, limits};
use serde_json::{Value, json};
use tower::ServiceExt;
use web::WebConfig;

const THEN: u64 = 1_500_000_000_000;

/// The site's own server, with a router that all its requests share.
struct Server {
    router: Router,
    runtime: tokio::runtime::Runtime,
}

impl Server {
    fn new(scene: &Scene) -> Server {
        let router = web::site_api(scene.node.clone(), || Timestamp(START_UNIX_MS));
        // The rests between jobs take no time: the clock of a paused runtime goes on by itself.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        Server { router, runtime: runtime.unwrap() }
    }

    fn post(&self, site: &str, query: &str, token: Option<&str>, body: String) -> (u16, Value) {
        let mut request = Request::builder().method("POST").uri(format!("/v1/sites/{site}/import{query}"));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Body::from(body)).unwrap();
        let router = self.router.clone();
        self.runtime.block_on(async move {
            let response = router.oneshot(request).await.unwrap();
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
            (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
        })
    }

    fn import(&self, lines: &[Value]) -> Value {
        let (status, said) = self.post(SITE, "", Some(&token("service")), text(lines));
        assert_eq!(status, 200, "{said}");
        said
    }
}

fn token(role: &str) -> String {
    signed(role, &scene::secret())
}

fn signed(role: &str, secret: &Secret) -> String {
    let exp = (START_UNIX_MS / 1000 + 3600) as f64;
    let claims = Claims { sub: "server".into(), role: Some(role.into()), exp, ..Claims::default() };
    sign(&claims, secret).unwrap()
}

fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn user(id: &str) -> Value {
    json!({"type": "user", "id": id})
}

fn message(id: &str, from: &str, to: &str, time: u64) -> Value {
    json!({"type": "message", "id": id, "from": from, "to": to, "time": THEN + time, "body": format!("body {id}")})
}

#[test]
fn only_the_sites_own_server_imports_and_only_into_its_site() {
    let mut scene = Scene::new();
    let server = Server::new(&scene);
    scene.enter(Carrier::WebSocket, "anna");
    let lines = text(&[user("new-1")]);
    let ask = |site: &str, token: Option<&str>| server.post(site, "", token, lines.clone()).0;
    assert_eq!(ask(SITE, None), 401);
    assert_eq!(ask(SITE, Some(&scene.token("anna"))), 403);
    assert_eq!(ask(SITE, Some(&token("admin"))), 403, "an admin is a person");
    let foreign = Secret::new(SecretKind::Hs256, b"the secret of another".to_vec(), Timestamp(START_UNIX_MS));
    assert_eq!(ask(SITE, Some(&signed("service", &foreign))), 401);
    assert_eq!(ask("other", Some(&token("service"))), 404);
    assert_eq!(ask(SITE, Some(&token("service"))), 200);
}

#[test]
fn counts_and_errors_by_line_are_answered() {
    let scene = Scene::new();
    let server = Server::new(&scene);
    let lines = format!(
        "{}\n\nnonsense\n{}\n{}\n",
        user("ann"),
        message("1", "ann", "nobody", 1),
        json!({"type": "room", "id": "7", "name": "Bees"})
    );
    let (status, said) = server.post(SITE, "", Some(&token("service")), lines.clone());
    assert_eq!((status, &said["added"], &said["refused"]), (200, &json!(2), &json!(2)), "{said}");
    assert_eq!((&said["errors"][0]["line"], &said["errors"][1]["line"]), (&json!(3), &json!(4)));
    assert!(said["errors"][1]["text"].as_str().unwrap().contains("no such user"), "{said}");
    let (_, again) = server.post(SITE, "", Some(&token("service")), lines);
    assert_eq!((&again["added"], &again["known"]), (&json!(0), &json!(2)), "{again}");
    let old = [user("ben"), message("2", "ann", "ben", 2), message("1", "ann", "ben", 1)];
    let said = server.import(&old);
    assert!(said["errors"][0]["text"].as_str().unwrap().contains("late=append"), "{said}");
    let late = |query| server.post(SITE, query, Some(&token("service")), text(&old));
    assert_eq!(late("?late=append").1["added"], 1);
    assert_eq!(late("?late=perhaps").0, 400);
}

#[test]
fn a_request_and_a_day_are_bounded() {
    let requests = RequestRates { import_bytes_per_day: 64 << 10, ..RequestRates::UNLIMITED };
    let scene = Scene::with_limits(WebConfig::default(), chat::Limits { requests, ..limits() });
    let server = Server::new(&scene);
    let post = |body: String| server.post(SITE, "", Some(&token("service")), body);
    let many: Vec<Value> = (0..1_001).map(|number| user(&format!("u{number}"))).collect();
    assert_eq!(post(text(&many)).1["code"], "too_large");
    assert_eq!(post("\n".repeat((1 << 20) + 1)).0, 413);
    assert_eq!(post(text(&many[..1_000])).1["added"], 1_000);
    let (status, said) = post(" ".repeat(100 << 10) + &text(&many[1_000..]));
    assert_eq!((status, &said["added"]), (200, &json!(1)), "the last request may pass the bound once");
    let (status, refused) = post(text(&many[..1]));
    assert_eq!((status, &refused["code"]), (429, &json!("rate_limited")));
    assert!(refused["retry_after"].as_u64().unwrap() > 60_000, "{refused}");
    let wrong: Vec<String> = (0..500).map(|number| format!("wrong {number}\n")).collect();
    let scene = Scene::new();
    let said = Server::new(&scene).post(SITE, "", Some(&token("service")), wrong.concat()).1;
    assert_eq!((&said["refused"], said["errors"].as_array().unwrap().len()), (&json!(500), 100));
}

#[test]
fn members_who_are_online_load_anew_once_and_others_stay() {
    let mut scene = Scene::new();
    let server = Server::new(&scene);
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut tom = scene.enter(Carrier::WebSocket, "tom");
    server.import(&[user("anna"), user("ben"), message("1", "ben", "anna", 1)]);
    // A message between takes her position beyond the import.
    tom.send(&mut scene, "anna", "t-1", "Hello");
    assert!(anna.kinds(&mut scene).contains(&"message".to_owned()));
    tom.hear(&mut scene);
    let during = anna.position.clone();
    server.import(&[message("2", "anna", "ben", 2)]);
    scene.wait(Duration::from_millis(2_500));
    assert!(anna.hear(&mut scene).is_empty(), "it may go on");
    scene.wait(Duration::from_secs(1));
    assert_eq!(anna.kinds(&mut scene), ["behind"], "once, and no message by itself");
    assert!(tom.hear(&mut scene).is_empty(), "nothing of his changed");

    let resume = json!({"t": "resume", "rid": 1, "position": anna.position});
    anna.say(&mut scene, &resume.to_string());
    let changes = anna.hear(&mut scene).remove(0);
    assert_eq!((&changes["t"], &changes["reset"]), (&json!("changes"), &json!(true)));
    let conversations = changes["conversations"].as_array().unwrap();
    let of_ben = conversations.iter().find(|one| one["with"]["user"] == "ben").unwrap();
    assert_eq!((&of_ben["unread"], &of_ben["last"]["seq"]), (&json!(0), &json!(2)), "{of_ben}");
    assert_eq!(of_ben["last"]["time"], THEN + 2);
    scene.wait(Duration::from_secs(70));
    assert!(!anna.kinds(&mut scene).contains(&"behind".to_owned()));

    // Her other device was away, and its position is beyond the first import, too.
    let back = scene.enter_from(Carrier::Sse, "anna", Some(&during));
    assert_eq!(back.welcome["resumed"], false);
    let fresh = back.welcome["position"].as_str().unwrap().to_owned();
    let again = scene.enter_from(Carrier::Stream, "anna", Some(&fresh));
    assert_eq!(again.welcome["resumed"], true, "the import is behind it");
}
