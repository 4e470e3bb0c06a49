//! What a sender may make the server hold before it has said who it is, and how too much is refused.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use scene::{CARRIERS, Carrier, Client, Scene, field, post, response};
use serde_json::{Value, json};

fn answer(scene: &mut Scene, line: scene::Line) -> (u16, String, Value) {
    let output = scene.output(line);
    let (status, head, body, _) = response(&output).unwrap();
    (status, head, serde_json::from_slice(&body).unwrap_or_default())
}

#[test]
fn half_sent_bodies_share_a_budget_and_the_oldest_makes_room() {
    let mut scene = Scene::new();
    let begin = post("/echo", "", &"x".repeat(64_000));
    let half = &begin[..begin.len() - 2_000];
    let slow: Vec<_> = (0..400)
        .map(|_| {
            let line = scene.connect(0);
            scene.feed(line, half);
            line
        })
        .collect();
    let held = slow.iter().filter(|line| !scene.is_ended(**line)).count();
    // 4 MiB of at most 64 KiB each, of which 8 KiB are free.
    assert!((60..=90).contains(&held), "{held} of 400 bodies are held");
    assert!(scene.text(slow[0]).starts_with("HTTP/1.1 503 "), "the oldest was refused");
    assert!(!scene.is_ended(slow[399]), "the newest was not");
    // An honest request of that size is complete before it is the oldest.
    let line = scene.connect(0);
    scene.feed(line, half);
    scene.feed(line, &begin[half.len()..]);
    assert!(scene.text(line).starts_with("HTTP/1.1 200 "));
    // Small ones never count.
    let small = post("/echo", "", &"x".repeat(8_000));
    let line = scene.connect(0);
    scene.feed(line, &small[..small.len() - 1]);
    for _ in 0..100 {
        let line = scene.connect(0);
        scene.feed(line, half);
    }
    scene.feed(line, "x");
    assert!(scene.text(line).starts_with("HTTP/1.1 200 "));
}

#[test]
fn half_sent_heads_share_the_budget_and_short_ones_never_count() {
    let mut scene = Scene::new();
    let head = |bytes: usize| {
        format!("GET /v1/websocket HTTP/1.1\r\nHost: chat.example\r\nx: {}", "y".repeat(bytes))
    };
    let honest = scene.connect(0);
    scene.feed(honest, head(1_000));
    let slow: Vec<_> = (0..1_000)
        .map(|_| {
            let line = scene.connect(0);
            // In two parts, as an attacker's trickle.
            scene.feed(line, &head(15_000)[..9_000]);
            scene.feed(line, &head(15_000)[9_000..]);
            line
        })
        .collect();
    let held = slow.iter().filter(|line| !scene.is_ended(**line)).count();
    // 4 MiB of some 15 KiB each, of which 2 KiB are free.
    assert!((280..=340).contains(&held), "{held} of 1,000 heads are held");
    assert!(scene.text(slow[0]).starts_with("HTTP/1.1 503 "), "the oldest was refused");
    assert!(!scene.is_ended(slow[999]), "the newest was not");
    scene.feed(honest, "\r\n\r\n");
    assert!(scene.text(honest).starts_with("HTTP/1.1 "), "a short head is answered");
    assert!(!scene.text(honest).starts_with("HTTP/1.1 503 "));
    // A complete request returns its bytes: the budget serves others again.
    for line in slow.iter().filter(|line| !scene.is_ended(**line)).copied().collect::<Vec<_>>() {
        scene.feed(line, "\r\n\r\n");
    }
    let later: Vec<_> = (0..250)
        .map(|_| {
            let line = scene.connect(0);
            scene.feed(line, head(15_000));
            line
        })
        .collect();
    assert!(later.iter().all(|line| !scene.is_ended(*line)));
}

#[test]
fn a_hello_is_at_most_10_kib_on_every_transport() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let hello =
            json!({"t": "hello", "v": 1, "site": "forum", "token": "x".repeat(10_240), "device": "d"});
        let mut client = Client::open(&mut scene, carrier, &hello.to_string());
        if carrier == Carrier::WebSocket {
            let received = client.hear(&mut scene);
            assert_eq!((&received[0]["code"], &received[1]["code"]), (&json!("too_large"), &json!(1009)));
        } else {
            let (status, _, bye) = answer(&mut scene, client.down);
            assert_eq!((status, &bye["t"], &bye["code"]), (413, &json!("bye"), &json!("too_large")));
            assert!(scene.is_ended(client.down));
        }
        // The largest token that is looked at fits.
        let hello =
            json!({"t": "hello", "v": 1, "site": "forum", "token": "x".repeat(8 * 1024), "device": "d"});
        let mut client = Client::open(&mut scene, carrier, &hello.to_string());
        let code = match carrier {
            Carrier::WebSocket => client.hear(&mut scene)[0]["code"].clone(),
            _ => answer(&mut scene, client.down).2["code"].clone(),
        };
        assert_eq!(code, "bad_token", "{carrier:?}");
    }
}

#[test]
fn too_large_a_post_is_refused_by_the_event_and_the_session_goes_on() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Stream, "anna");
    let key = format!("Authorization: Kith {}\r\n", anna.key.clone().unwrap());
    let chunked = format!(
        "POST /v1/send HTTP/1.1\r\nHost: chat.example\r\n{key}Transfer-Encoding: chunked\r\n\r\n11170\r\n"
    );
    for request in [post("/v1/send", &key, &"x".repeat(70_000)), chunked] {
        let line = scene.connect(1);
        scene.feed(line, request);
        let (status, head, error) = answer(&mut scene, line);
        assert_eq!((status, field(&head, "content-type")), (413, Some("application/json")));
        assert_eq!((&error["t"], &error["code"]), (&json!("error"), &json!("too_large")));
        assert!(scene.is_ended(line), "nobody knows where the next request would begin");
    }
    anna.say(&mut scene, r#"{"t":"ping","rid":1}"#);
    assert_eq!(anna.kinds(&mut scene), ["pong"]);
    // Without a key of ours nothing of that size is read at all.
    let line = scene.connect(1);
    scene.feed(line, post("/v1/send", "Authorization: Kith x\r\n", &"x".repeat(70_000)));
    let (status, _, error) = answer(&mut scene, line);
    assert_eq!((status, &error["code"]), (404, &json!("no_session")));
}

#[test]
fn a_first_frame_that_cannot_be_read_is_told_why() {
    for (hello, text) in [
        (
            r#"{"t":"hello","v":1,"site":7,"device":"d"}"#,
            "a field has a wrong type, or a number is out of its range",
        ),
        (r#"{"t":"hello","v":1,"device":"d"}"#, "missing field `site`"),
        (r#"{"t":"hello""#, "not JSON, cut off, or nested too deeply"),
    ] {
        for carrier in CARRIERS {
            let mut scene = Scene::new();
            let mut client = Client::open(&mut scene, carrier, hello);
            let bye = match carrier {
                Carrier::WebSocket => client.hear(&mut scene).remove(0),
                _ => answer(&mut scene, client.down).2,
            };
            assert_eq!((&bye["code"], &bye["text"]), (&json!("bad_frame"), &json!(text)), "{carrier:?}");
        }
    }
}

#[test]
fn an_answer_401_names_a_scheme() {
    let mut scene = Scene::new();
    let hello = json!({"t": "hello", "v": 1, "site": "forum", "token": "x", "device": "d"}).to_string();
    for path in ["/v1/stream", "/v1/sse", "/v1/poll"] {
        let line = scene.connect(0);
        scene.feed(line, post(path, "", &hello));
        let (status, head, _) = answer(&mut scene, line);
        assert_eq!(
            (status, field(&head, "www-authenticate")),
            (401, Some("Bearer realm=\"kith\"")),
            "{path}"
        );
    }
    let refused = scene.ask("GET /v1/sites/forum HTTP/1.1\r\nHost: chat.example\r\n\r\n");
    if refused.starts_with("HTTP/1.1 401 ") {
        assert_eq!(field(&refused, "www-authenticate"), Some("Bearer realm=\"kith\""));
    }
}

#[test]
fn the_bye_of_a_poll_session_comes_with_the_poll_after_it() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Poll, "anna");
    // A poll that ends with nothing, and then none is open.
    anna.poll(&mut scene);
    scene.wait(std::time::Duration::from_secs(26));
    assert!(anna.hear_waiting(&mut scene).is_empty());
    anna.up = scene.connect(1);
    anna.say(&mut scene, r#"{"t":"bye"}"#);
    let received = anna.hear(&mut scene);
    assert_eq!((&received[0]["t"], &received[0]["code"]), (&json!("bye"), &json!("done")), "{received:?}");
    let after = anna.hear(&mut scene);
    assert_eq!(after[0]["code"], "no_session", "{after:?}");
    assert_eq!(scene.shared.counters.sessions(web::Transport::Poll), 0);
}
