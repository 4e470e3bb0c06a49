//! Files on the wire: a `send` that names them, and what all others hear, on every transport.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::mpsc;

use chat::{
    Done, FileFound, FileId, FileLimits, FilePlace, FileStore, FileType, NewFile, Picture, Timestamp, UserId,
    UserStore,
};
use scene::{CARRIERS, Carrier, Client, Scene};
use serde_json::{Value, json};
use web::WebConfig;
use web::files::Links;

fn ask<T: Send + 'static>(request: impl FnOnce(Done<T>)) -> T {
    let (told, wait) = mpsc::channel();
    request(Box::new(move |outcome| told.send(outcome.unwrap()).unwrap()));
    wait.recv().unwrap()
}

fn scene() -> Scene {
    let clock = || Timestamp(edge::testing::START_UNIX_MS);
    let links = Links::new([3; 32], "https://files.example", 12 * 3_600_000, clock);
    Scene::with(WebConfig { links, file_bytes: 1_000, ..WebConfig::default() })
}

fn user(scene: &Scene, sub: &str) -> UserId {
    let site = scene.node.site_id(scene::SITE).unwrap();
    ask(|done| scene.store.user(site, chat::Sub::parse(sub).unwrap(), done)).unwrap().id
}

/// A complete picture of anna's for ben, as if it had been uploaded.
fn picture(scene: &Scene, number: u64) -> FileId {
    let (anna, ben) = (user(scene, "anna"), user(scene, "ben"));
    let id = FileId { site: anna.site, number };
    let file = NewFile {
        id,
        owner: anna,
        place: FilePlace::Direct(chat::ConversationId::direct(anna, ben).unwrap()),
        name: "a cat.png".into(),
        bytes: 9,
        voice: false,
        duration_ms: None,
        peaks: None,
        time: Timestamp(1),
    };
    let limits = FileLimits { file_bytes: 10, user_bytes: 0, guest_bytes: 0, site_bytes: 0 };
    ask(|done| scene.store.create_file(file, limits, done)).unwrap();
    let picture = Picture { width: 640, height: 480, blurhash: "LEHV6n".into(), has_thumbnail: true };
    let found =
        FileFound { kind: FileType::named("image/png"), bytes: 7, kept_bytes: 9, picture: Some(picture) };
    ask(|done| scene.store.complete_file(id, found, done)).unwrap();
    id
}

fn say(client: &mut Client, scene: &mut Scene, id: &str, files: &Value) -> Value {
    let frame = json!({"t": "send", "id": id, "to": {"user": "ben"}, "body": "", "files": files});
    client.say(scene, &frame.to_string());
    client.hear(scene).into_iter().find(|event| event["id"] == id).expect("an answer")
}

#[test]
fn files_are_heard_with_their_links_on_every_transport() {
    let mut scene = scene();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    assert_eq!(anna.welcome["limits"]["file_bytes"], 1_000);
    scene.enter(Carrier::WebSocket, "ben").send(&mut scene, "anna", "b-1", "hello");
    let file = picture(&scene, 0x1f);
    let mut listeners = CARRIERS.map(|carrier| scene.enter(carrier, "ben"));
    assert_eq!(say(&mut anna, &mut scene, "a-1", &json!(["000000000000001f"]))["t"], "ack");
    for ben in &mut listeners {
        let received = ben.hear(&mut scene);
        let message =
            received.iter().find(|event| event["t"] == "message").unwrap_or_else(|| panic!("{received:?}"));
        let shown = &message["files"][0];
        let url = shown["url"].as_str().unwrap();
        assert!(url.starts_with("https://files.example/v1/files/1/000000000000001f/a%20cat.png?e="), "{url}");
        assert_eq!(shown["thumb"], format!("{url}&t=1"));
        let mut rest = shown.clone();
        for signed in ["url", "thumb"] {
            rest.as_object_mut().unwrap().remove(signed);
        }
        let expected = json!({"id": "000000000000001f", "name": "a cat.png", "type": "image/png", "size": 7,
            "width": 640, "height": 480, "blurhash": "LEHV6n"});
        assert_eq!(rest, expected);
    }
    let again = scene.enter_from(Carrier::Poll, "ben", None);
    assert_eq!(again.welcome["conversations"][0]["last"]["files"][0]["id"], "000000000000001f");
    assert!(ask(|done| scene.store.file(file, done)).unwrap().is_posted);
}

#[test]
fn ids_that_are_none_are_refused_with_the_id_of_the_send() {
    let mut scene = scene();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    scene.enter(Carrier::WebSocket, "ben").send(&mut scene, "anna", "b-1", "hello");
    for files in [
        json!(["000000000000001f"]),
        json!(["1f"]),
        json!(["000000000000001F"]),
        json!(["../../etc/passwd"]),
        json!([""]),
        json!(["000000000000001f", "x"]),
    ] {
        let refused = say(&mut anna, &mut scene, "a-1", &files);
        assert_eq!((&refused["t"], &refused["code"]), (&json!("error"), &json!("no_such_file")), "{files}");
    }
    let many: Vec<&str> = vec!["000000000000001f"; 11];
    assert_eq!(say(&mut anna, &mut scene, "a-1", &json!(many))["code"], "too_many_files");
    assert_eq!(say(&mut anna, &mut scene, "a-1", &json!([]))["code"], "bad_body");
    for files in ["7", "[7]", r#""000000000000001f""#] {
        let frame = format!(r#"{{"t":"send","id":"a-1","to":{{"user":"ben"}},"body":"x","files":{files}}}"#);
        anna.say(&mut scene, &frame);
        assert_eq!(anna.hear(&mut scene)[0]["code"], "bad_frame", "{files}");
    }
}

/// A node without files says nothing of them.
#[test]
fn where_files_are_off_the_welcome_has_no_room_for_them() {
    let mut scene = Scene::new();
    let anna = scene.enter(Carrier::WebSocket, "anna");
    assert!(anna.welcome["limits"].get("file_bytes").is_none());
}
