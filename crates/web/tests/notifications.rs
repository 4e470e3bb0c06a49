//! The command `notifications`, said as a client would on every transport.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::sync::Arc;

use chat::{Done, Notifier, Push, PushDevice, SiteId};
use scene::{CARRIERS, Carrier, Client, Scene};
use serde_json::{Value, json};

const KEY: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";
const ENDPOINT: &str = "https://push.example/p/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV";

/// Carries nothing.
struct Silent;

impl Notifier for Silent {
    fn public_key(&self, _: SiteId, done: Done<Arc<str>>) {
        done(Ok(KEY.into()));
    }

    fn accepts(&self, device: &PushDevice) -> bool {
        &*device.endpoint == ENDPOINT
    }

    fn push(&self, _: Push) {}
}

fn ask(scene: &mut Scene, client: &mut Client, rid: u64, fields: &Value) -> Value {
    let mut frame = json!({ "t": "notifications", "rid": rid });
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.say(scene, &frame.to_string());
    let mut events = client.hear(scene);
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

#[test]
fn a_browser_subscribes_and_a_member_chooses() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        scene.node.notify_by(Arc::new(Silent)).unwrap();
        let mut anna = scene.enter(carrier, "anna");
        let nothing = ask(&mut scene, &mut anna, 1, &json!({}));
        assert_eq!(
            nothing,
            json!({ "t": "notifications", "re": 1, "key": KEY, "devices": 0, "bodies": true })
        );

        let subscribe = json!({ "endpoint": ENDPOINT, "p256dh": KEY, "auth": AUTH, "lang": "de" });
        assert_eq!(ask(&mut scene, &mut anna, 2, &json!({ "subscribe": subscribe }))["devices"], 1);
        let quiet = json!({ "from": 1320, "to": 420, "offset": -300 });
        let chosen = ask(&mut scene, &mut anna, 3, &json!({ "quiet": quiet, "bodies": false }));
        assert_eq!(
            (&chosen["quiet"], &chosen["bodies"], &chosen["devices"]),
            (&quiet, &false.into(), &1.into())
        );
        let ended = ask(&mut scene, &mut anna, 4, &json!({ "quiet": { "from": 0, "to": 0, "offset": 0 } }));
        assert_eq!((&ended["quiet"], &ended["bodies"]), (&Value::Null, &false.into()));
        assert_eq!(ask(&mut scene, &mut anna, 5, &json!({ "unsubscribe": ENDPOINT }))["devices"], 0);
    }
}

#[test]
fn what_cannot_be_is_refused_with_the_number_of_the_request() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let subscribe = |endpoint: &str, key: &str, auth: &str| json!({ "subscribe": { "endpoint": endpoint, "p256dh": key, "auth": auth } });
    let off = ask(&mut scene, &mut anna, 1, &subscribe(ENDPOINT, KEY, AUTH));
    assert_eq!((&off["code"], &off["re"]), (&"no_push".into(), &1.into()));
    assert_eq!(off["text"], "this server sends no push notifications");
    scene.node.notify_by(Arc::new(Silent)).unwrap();
    for (rid, wrong) in [
        subscribe("https://127.0.0.1/x", KEY, AUTH),
        subscribe("http://push.example/x", KEY, AUTH),
        subscribe(ENDPOINT, &KEY[1..], AUTH),
        subscribe(ENDPOINT, KEY, ""),
        json!({ "quiet": { "from": 1440, "to": 0, "offset": 0 } }),
        json!({ "quiet": { "from": 0, "to": 1, "offset": 900 } }),
    ]
    .into_iter()
    .enumerate()
    {
        let rid = rid as u64 + 2;
        let refused = ask(&mut scene, &mut anna, rid, &wrong);
        assert_eq!((&refused["code"], &refused["re"]), (&"bad_value".into(), &rid.into()), "{wrong}");
    }
    assert_eq!(ask(&mut scene, &mut anna, 99, &json!({}))["devices"], 0);
}
