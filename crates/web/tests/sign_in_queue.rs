//! WebSockets that wait for their sign-in, because many clients sign in at once.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::mem;
use std::time::Duration;

use chat::SessionHandle;
use serde_json::Value;
use web::WebConfig;

use crate::given_up_sign_ins::Silent;
use crate::scene::{Carrier, Client, Scene};

fn open(scene: &mut Scene, carrier: Carrier, user: &str) -> Client {
    let hello = scene.hello(user, "phone", None);
    Client::open(scene, carrier, &hello)
}

/// The domain takes so many sign-ins from now on.
fn let_in(domain: &Silent, scene: &mut Scene, count: usize) -> Vec<SessionHandle> {
    mem::take(&mut *domain.signing_in.lock().unwrap());
    *domain.crowd.lock().unwrap() = Some(count);
    scene.wait(Duration::from_millis(200));
    domain.signing_in.lock().unwrap().clone()
}

#[test]
fn they_wait_on_their_connections_and_sign_in_in_the_order_of_arrival() {
    let (domain, mut scene) = Silent::scene();
    let handles: Vec<_> = ["anna", "ben", "cleo", "dora"]
        .map(|user| {
            open(&mut scene, Carrier::WebSocket, user);
            mem::take(&mut *domain.signing_in.lock().unwrap())[0]
        })
        .into();
    assert_eq!(handles.len(), 4, "without a crowd, nobody waits");

    let_in(&domain, &mut scene, 0);
    let mut clients = ["eve", "finn", "gus", "hana"].map(|user| open(&mut scene, Carrier::WebSocket, user));
    for client in &mut clients {
        let heard = client.hear(&mut scene);
        assert_eq!(heard.len(), 1, "{heard:?}");
        assert_eq!(
            (&heard[0]["t"], heard[0]["within_ms"].as_u64().unwrap()),
            (&Value::from("queued"), 40_000)
        );
    }
    scene.reset(clients[1].down);
    let first = let_in(&domain, &mut scene, 1);
    assert_eq!(first.len(), 1);
    // There is room for one more, but a client that comes now is behind those who wait.
    let mut late = open(&mut scene, Carrier::WebSocket, "late");
    let second = let_in(&domain, &mut scene, 1);
    let third = let_in(&domain, &mut scene, 1);
    assert_eq!(late.kinds(&mut scene), ["queued"]);
    let fourth = let_in(&domain, &mut scene, 1);
    assert!(let_in(&domain, &mut scene, 1).is_empty(), "the one that left is not signed in");
    let order = [first, second, third, fourth].concat();
    let slots: Vec<u32> = order.iter().map(|handle| edge::Handle::from_bits(handle.0).slot()).collect();
    assert_eq!(order.len(), 4);
    assert!(slots[..3].is_sorted(), "{slots:?}");
}

#[test]
fn they_are_told_that_they_still_wait_and_are_not_ended() {
    let (domain, mut scene) = Silent::scene();
    let_in(&domain, &mut scene, 0);
    let mut client = open(&mut scene, Carrier::WebSocket, "anna");
    for _ in 0..4 {
        assert_eq!(client.kinds(&mut scene), ["queued"]);
        scene.wait(Duration::from_secs(26));
    }
    assert!(!scene.is_ended(client.down));
    assert_eq!(let_in(&domain, &mut scene, 1).len(), 1);
    client.kinds(&mut scene);
    scene.wait(WebConfig::default().hello + Duration::from_secs(1));
    let kinds = client.kinds(&mut scene);
    assert_eq!(kinds, ["bye", "closed"], "from then on, the domain must answer in time");
}

#[test]
fn they_wait_on_after_a_take_over() {
    let (domain, mut scene) = Silent::scene();
    let_in(&domain, &mut scene, 0);
    let client = open(&mut scene, Carrier::WebSocket, "anna");
    scene.take_over(client.down);
    let signed_in = let_in(&domain, &mut scene, 1);
    assert_eq!(signed_in, [SessionHandle(client.down.handle.to_bits())]);
    assert!(let_in(&domain, &mut scene, 1).is_empty(), "once");
}

#[test]
fn who_speaks_before_the_welcome_is_ended() {
    let (domain, mut scene) = Silent::scene();
    let_in(&domain, &mut scene, 0);
    let mut client = open(&mut scene, Carrier::WebSocket, "anna");
    client.kinds(&mut scene);
    let hello = scene.hello("anna", "phone", None);
    client.say(&mut scene, &hello);
    let heard = client.hear(&mut scene);
    assert_eq!((heard[0]["t"].as_str(), heard[0]["code"].as_str()), (Some("bye"), Some("not_now")));
    assert!(let_in(&domain, &mut scene, 1).is_empty());
}

#[test]
fn other_transports_leave_the_crowd_to_the_domain() {
    let (domain, mut scene) = Silent::scene();
    let_in(&domain, &mut scene, 0);
    open(&mut scene, Carrier::Stream, "anna");
    assert_eq!(domain.signing_in.lock().unwrap().len(), 1);
}
