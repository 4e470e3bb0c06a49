//! Stickers as a site's server brings them, as members see and send them, and what is left of one that was removed.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chat::token::{Claims, sign};
use chat::{FileType, Picture, Timestamp};
use edge::testing::START_UNIX_MS;
use scene::{Carrier, Client, SITE, Scene, secret};
use serde_json::{Value, json};
use tower::ServiceExt;
use web::files::{Made, PictureFault, PictureQueue, Pictures, Remade};

/// Takes a file whose ninth byte is not `x` for a picture, and writes back what it was given, as a thumbnail.
struct Copier;

impl Pictures for Copier {
    fn make(&self, from: File, _: FileType, _: File, thumbnail: File) -> Made {
        Made { outcome: Copier::copy(from, thumbnail), cpu: Duration::ZERO }
    }

    fn portrait(&self, _: File, _: FileType, _: File) -> Made {
        unreachable!("no test here publishes a picture of a person")
    }
}

impl Copier {
    fn copy(mut from: File, mut thumbnail: File) -> Result<Remade, PictureFault> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(PictureFault::Failed)?;
        if bytes.get(8) == Some(&b'x') {
            return Err(PictureFault::Bad("broken".into()));
        }
        thumbnail.write_all(&bytes).map_err(PictureFault::Failed)?;
        let picture = Picture { width: 960, height: 480, blurhash: "x".into(), has_thumbnail: true };
        let thumbnail_bytes = bytes.len() as u64;
        Ok(Remade { kind: FileType::named("image/png"), picture, bytes: 0, thumbnail_bytes })
    }
}

const PNG: [u8; 9] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', 1];

/// The router alone, as the gateway calls it: status, fields, body.
fn rest(scene: &Scene, method: &str, path: &str, role: Option<&str>, body: &str) -> (u16, String, Vec<u8>) {
    let clock = || Timestamp(START_UNIX_MS);
    let pictures = Arc::new(PictureQueue::new(scene.node.clone(), Arc::new(Copier), 1, clock));
    let router = web::sticker_routes(scene.node.clone(), pictures, clock);
    let mut request = Request::builder().method(method).uri(path);
    if let Some(role) = role {
        let exp = (START_UNIX_MS / 1000 + 3600) as f64;
        let claims = Claims { sub: "server".into(), role: Some(role.into()), exp, ..Claims::default() };
        request = request.header("authorization", format!("Bearer {}", sign(&claims, &secret()).unwrap()));
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let response = router.oneshot(request).await.unwrap();
        let (status, fields) = (response.status().as_u16(), format!("{:?}", response.headers()));
        (status, fields, to_bytes(response.into_body(), 1 << 20).await.unwrap().to_vec())
    })
}

fn ask(scene: &Scene, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let (status, _, body) = rest(scene, method, path, Some("service"), &body.to_string());
    (status, serde_json::from_slice(&body).unwrap())
}

fn stickers(rest: &str) -> String {
    format!("/v1/sites/{SITE}/stickers{rest}")
}

fn brought(words: &str, bytes: &[u8]) -> Value {
    json!({ "set": "Hikers", "words": words, "picture": STANDARD.encode(bytes) })
}

fn one(events: Vec<Value>, kind: &str) -> Value {
    let mut events = events.into_iter().filter(|event| event["t"] == kind);
    let found = events.next().unwrap_or_else(|| panic!("no {kind}"));
    assert!(events.next().is_none(), "one {kind}");
    found
}

fn say(scene: &mut Scene, who: &mut Client, command: &Value) -> Vec<Value> {
    who.say(scene, &command.to_string());
    who.hear(scene)
}

#[test]
fn a_site_brings_a_sticker_and_members_send_it() {
    let mut scene = Scene::new();
    let (status, wave) = ask(&scene, "POST", &stickers(""), &brought("👋 Hello", &PNG));
    assert_eq!((status, &wave["words"], &wave["set"]), (200, &json!("👋 Hello"), &json!("Hikers")));
    assert_eq!((&wave["width"], &wave["height"]), (&json!(480), &json!(240)), "the size that is kept");
    assert_eq!(ask(&scene, "GET", &stickers(""), &Value::Null), (200, json!({ "stickers": [wave] })));

    let (status, fields, bytes) = rest(&scene, "GET", wave["url"].as_str().unwrap(), None, "");
    assert_eq!((status, bytes.as_slice()), (200, &PNG[..]), "for who knows its id");
    for field in ["image/png", "nosniff", "immutable", "sandbox"] {
        assert!(fields.contains(field), "{field}: {fields}");
    }

    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let mut ben = scene.enter(Carrier::Sse, "ben");
    let listed = one(say(&mut scene, &mut anna, &json!({"t": "stickers", "rid": 1})), "stickers");
    assert_eq!((&listed["re"], &listed["stickers"]), (&json!(1), &json!([wave])));
    let send = |id: &str| json!({"t": "sticker", "id": id, "to": {"user": "ben"}, "sticker": wave["id"]});
    assert_eq!(one(say(&mut scene, &mut anna, &send("s-1")), "ack")["seq"], 1);
    let received = one(ben.hear(&mut scene), "message");
    assert_eq!((&received["body"], &received["sticker"]), (&json!("👋 Hello"), &wave));
    let again = one(say(&mut scene, &mut anna, &send("s-1")), "ack");
    assert_eq!(again["seq"], 1, "said twice, sent once");
    assert!(ben.hear(&mut scene).is_empty());
    let reply =
        json!({"t": "sticker", "id": "b-1", "to": {"user": "anna"}, "sticker": wave["id"], "reply_to": 1});
    assert_eq!(one(say(&mut scene, &mut ben, &reply), "ack")["seq"], 2);
    assert_eq!(one(anna.hear(&mut scene), "message")["reply_to"], 1);

    let create = json!({"t": "create_room", "rid": 3, "name": "Bikers", "kind": "public"});
    let room =
        one(say(&mut scene, &mut anna, &create), "conversation")["conversation"]["conversation"].clone();
    let post = json!({"t": "send", "id": "s-3", "to": {"conversation": room}, "body": "A new lake?"});
    one(say(&mut scene, &mut anna, &post), "ack");
    let below = |id: &str, root: u64| json!({"t": "sticker", "id": id, "to": {"conversation": room}, "sticker": wave["id"], "thread": root});
    assert_eq!(one(say(&mut scene, &mut anna, &below("s-4", 1)), "ack")["seq"], 2);
    let page = json!({"t": "history", "rid": 4, "to": {"conversation": room}, "thread": 1});
    let page = one(say(&mut scene, &mut anna, &page), "history");
    assert_eq!((&page["messages"][0]["sticker"], &page["messages"][0]["number"]), (&wave, &json!(1)));
    assert_eq!(one(say(&mut scene, &mut anna, &below("s-5", 7)), "error")["code"], "no_such_message");

    let gone = stickers(&format!("/{}", wave["id"].as_str().unwrap()));
    assert_eq!(ask(&scene, "DELETE", &gone, &Value::Null).0, 200);
    assert_eq!(ask(&scene, "DELETE", &gone, &Value::Null).1["code"], "no_such_sticker");
    assert_eq!(rest(&scene, "GET", wave["url"].as_str().unwrap(), None, "").0, 404);
    assert_eq!(one(say(&mut scene, &mut anna, &send("s-2")), "error")["code"], "no_such_sticker");
    let history = json!({"t": "history", "rid": 2, "to": {"user": "anna"}});
    let page = one(say(&mut scene, &mut ben, &history), "history");
    let first = &page["messages"][0];
    assert_eq!((&first["body"], first.get("sticker")), (&json!("👋 Hello"), None), "the words stay");
}

#[test]
fn what_is_no_sticker_is_refused() {
    let mut scene = Scene::new();
    let path = stickers("");
    let good = brought("Hello", &PNG).to_string();
    assert_eq!(rest(&scene, "POST", &path, None, &good).0, 401);
    assert_eq!(rest(&scene, "POST", &path, Some("moderator"), &good).0, 403);
    assert_eq!(rest(&scene, "POST", "/v1/sites/other/stickers", Some("service"), &good).0, 404);
    let broken = [&PNG[..8], b"x"].concat();
    let large = [&PNG[..], &vec![0; chat::STICKER_BYTES]].concat();
    for (body, why) in [
        (brought("Hello", b"<svg onload=alert(1)>"), "no JPEG"),
        (brought("Hello", b""), "no JPEG"),
        (brought("Hello", &broken), "cannot be read"),
        (brought("Hello", &large), "at most 131072 bytes"),
        (brought("", &PNG), "words of 1 to"),
        (brought("a\nb", &PNG), "in one line"),
        (brought(&"x".repeat(101), &PNG), "words of 1 to"),
        (json!({"set": "", "words": "x", "picture": STANDARD.encode(PNG)}), "a set has a name"),
        (json!({"set": "x", "words": "x", "picture": "*"}), "base64"),
        (json!({"set": "x", "words": "x"}), "picture"),
        (json!([]), "expected struct"),
        (brought(&"x".repeat(2_000_000), &PNG), "700 kB"),
    ] {
        let (status, answer) = ask(&scene, "POST", &path, &body);
        let text = answer["text"].as_str().unwrap_or_default().to_owned();
        assert_eq!((status, &answer["code"]), (400, &json!("bad_value")), "{why}: {answer}");
        assert!(text.contains(why), "{why}: {text}");
    }
    assert_eq!(ask(&scene, "GET", &path, &Value::Null).1, json!({ "stickers": [] }));
    for path in ["/v1/stickers/1/00000000000000ab", "/v1/stickers/x/y", "/v1/stickers/99999999999/0"] {
        assert_eq!(rest(&scene, "GET", path, None, "").0, 404, "{path}");
    }
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    scene.enter(Carrier::WebSocket, "ben");
    for sticker in ["00000000000000ab", "", "00000000000000AB", "../../x"] {
        let command = json!({"t": "sticker", "id": "s-1", "to": {"user": "ben"}, "sticker": sticker});
        let refused = one(say(&mut scene, &mut anna, &command), "error");
        assert_eq!(
            (&refused["code"], &refused["id"]),
            (&json!("no_such_sticker"), &json!("s-1")),
            "{sticker}"
        );
    }
}
