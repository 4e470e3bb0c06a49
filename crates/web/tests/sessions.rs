//! A session from hello to bye, on every transport: who is let in, what a slow or silent client meets, and its end.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::time::Duration;

use scene::{CARRIERS, Carrier, Client, PAGE, Scene, field, post, response};
use serde_json::{Value, json};
use web::WebConfig;

const SECOND: Duration = Duration::from_secs(1);

/// The answer to a refused hello: the code, and the status or close code beside it.
fn refused(scene: &mut Scene, carrier: Carrier, hello: &str) -> (String, Option<u64>) {
    let mut client = Client::open(scene, carrier, hello);
    if carrier == Carrier::WebSocket {
        let received = client.hear(scene);
        assert_eq!((&received[0]["t"], &received[1]["t"]), (&json!("bye"), &json!("closed")), "{received:?}");
        return (received[0]["code"].as_str().unwrap().into(), received[1]["code"].as_u64());
    }
    let output = scene.output(client.down);
    let (status, head, body, _) = response(&output).unwrap();
    assert_eq!(field(&head, "content-type"), Some("application/json"));
    let bye: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(bye["t"], "bye", "{carrier:?} {bye}");
    (bye["code"].as_str().unwrap().into(), Some(status.into()))
}

#[test]
fn a_hello_is_refused_with_its_code() {
    let mut scene = Scene::new();
    let token = scene.token("anna");
    let hello = |site: &str, token: &str, device: &str| {
        json!({"t": "hello", "v": 1, "site": site, "token": token, "device": device}).to_string()
    };
    let table = [
        ("not json".into(), "bad_frame", 400, 4000),
        ("[1]".into(), "bad_frame", 400, 4000),
        (json!({"t": "hello", "v": 1}).to_string(), "bad_frame", 400, 4000),
        (json!({"t": "hello", "v": 2, "site": "x", "device": "d"}).to_string(), "bad_version", 400, 4002),
        (json!({"t": "ping"}).to_string(), "not_now", 400, 4003),
        (json!({"t": "dance"}).to_string(), "unknown_command", 400, 4001),
        (hello("forum", &token, "not a device!"), "bad_value", 400, 4022),
        (hello("nowhere", &token, "d"), "no_such_site", 404, 4004),
        (hello("forum", "x.y.z", "d"), "bad_token", 401, 4006),
        (hello("forum", &format!("{token}x"), "d"), "bad_token", 401, 4006),
        (json!({"t": "hello", "v": 1, "site": "forum", "device": "d"}).to_string(), "no_guests", 401, 4009),
    ];
    for carrier in CARRIERS {
        for (hello, code, status, close) in &table {
            let expected = if carrier == Carrier::WebSocket { *close } else { *status };
            let received = refused(&mut scene, carrier, hello);
            assert_eq!(received, ((*code).to_owned(), Some(expected)), "{carrier:?} {hello}");
        }
    }
}

#[test]
fn a_page_of_a_stranger_is_refused_and_one_of_the_site_or_our_own_is_not() {
    let mut scene = Scene::new();
    let hello = scene.hello("anna", "d", None);
    for (origin, allowed) in [
        (PAGE, true),
        ("https://chat.example", true),
        ("https://evil.example", false),
        ("https://forum.example.evil", false),
        ("null", false),
    ] {
        let mut client = Client::open(&mut scene, Carrier::Poll, "{}");
        scene.output(client.down);
        client.carrier = Carrier::WebSocket;
        client.upgrade(&mut scene, &format!("Origin: {origin}\r\n"));
        client.say(&mut scene, &hello);
        let received = client.hear(&mut scene);
        let expected = if allowed { "welcome" } else { "bye" };
        assert_eq!(received[0]["t"], expected, "WebSocket {origin}");

        let line = scene.connect(0);
        scene.feed(line, post("/v1/poll", &format!("Origin: {origin}\r\n"), &hello));
        let answer = scene.text(line);
        let status = if allowed { "200" } else { "403" };
        assert_eq!(&answer[9..12], status, "poll {origin}");
    }
}

#[test]
fn a_second_hello_does_not_change_who_one_is() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let hello = scene.hello("ben", "d", None);
    anna.say(&mut scene, &hello);
    assert_eq!(anna.hear(&mut scene)[0]["code"], "not_now");
}

#[test]
fn frames_that_cannot_be_read_are_answered_and_the_session_goes_on() {
    let table = [
        ("nonsense", "bad_frame", None, None),
        (r#"{"t":"dance","rid":7}"#, "unknown_command", Some(7), None),
        (r#"{"t":"history","rid":8}"#, "bad_frame", Some(8), None),
        (r#"{"t":"send","id":"a-1","to":{"user":"ben"}}"#, "bad_frame", None, Some("a-1")),
        (
            r#"{"t":"send","id":"not an id","to":{"user":"ben"},"body":"x"}"#,
            "bad_value",
            None,
            Some("not an id"),
        ),
        (r#"{"t":"history","rid":9,"to":{"conversation":"zz"}}"#, "no_such_conversation", Some(9), None),
        (r#"{"t":"send","id":"a-2","to":{"user":"nobody"},"body":"x"}"#, "no_such_user", None, Some("a-2")),
        (r#"{"t":"send","id":"a-3","to":{"user":"ben"},"body":""}"#, "bad_body", None, Some("a-3")),
    ];
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        scene.enter(Carrier::WebSocket, "ben");
        let mut anna = scene.enter(carrier, "anna");
        for (frame, code, re, id) in &table {
            anna.say(&mut scene, frame);
            let received = anna.hear(&mut scene);
            let error = &received[0];
            assert_eq!((&error["t"], &error["code"]), (&json!("error"), &json!(code)), "{carrier:?} {frame}");
            assert_eq!((error["re"].as_u64(), error["id"].as_str()), (*re, *id), "{carrier:?} {frame}");
        }
        anna.say(&mut scene, r#"{"t":"ping","rid":3}"#);
        assert_eq!(anna.hear(&mut scene), [json!({"t": "pong", "re": 3})], "{carrier:?}");
    }
}

#[test]
fn bye_ends_the_session_at_once() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut anna = scene.enter(carrier, "anna");
        anna.say(&mut scene, r#"{"t":"bye"}"#);
        let received = anna.hear(&mut scene);
        assert_eq!((&received[0]["t"], &received[0]["code"]), (&json!("bye"), &json!("done")), "{carrier:?}");
        if carrier == Carrier::Poll {
            let over = anna.hear(&mut scene);
            assert_eq!(over[1]["status"], 404, "{over:?}");
        } else {
            assert!(scene.is_ended(anna.down), "{carrier:?}");
        }
    }
}

#[test]
fn a_newer_session_of_the_device_replaces_the_older() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut older = scene.enter(carrier, "anna");
        scene.enter(carrier, "anna");
        let received = older.hear(&mut scene);
        assert_eq!(
            (&received[0]["t"], &received[0]["code"]),
            (&json!("bye"), &json!("replaced")),
            "{carrier:?}"
        );
    }
}

#[test]
fn a_newcomer_that_says_nothing_is_sent_away() {
    let mut scene = Scene::new();
    let mut client = Client::open(&mut scene, Carrier::Poll, "{}");
    scene.output(client.down);
    client.carrier = Carrier::WebSocket;
    client.upgrade(&mut scene, "");
    scene.wait(9 * SECOND);
    assert!(client.hear(&mut scene).is_empty());
    scene.wait(2 * SECOND);
    let received = client.hear(&mut scene);
    assert_eq!((&received[0]["code"], &received[1]["code"]), (&json!("slow"), &json!(4014)));
}

#[test]
fn a_silent_socket_ends_and_one_that_pings_stays() {
    let config = WebConfig { idle: 30 * SECOND, ..WebConfig::default() };
    let mut scene = Scene::with(config);
    let mut silent = scene.enter(Carrier::WebSocket, "anna");
    let mut lively = scene.enter(Carrier::WebSocket, "ben");
    for _ in 0..4 {
        scene.wait(10 * SECOND);
        lively.say(&mut scene, r#"{"t":"ping"}"#);
    }
    let received = silent.hear(&mut scene);
    assert_eq!((&received[0]["code"], &received[1]["code"]), (&json!("idle"), &json!(4013)));
    assert_eq!(lively.kinds(&mut scene), ["pong"; 4]);
}

#[test]
fn a_jump_of_the_clock_ends_no_session() {
    let config = WebConfig { idle: 30 * SECOND, ..WebConfig::default() };
    let mut scene = Scene::with(config);
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    let (minutes, days) = (20 * 60_000, 2 * 86_400_000);
    // The time-out of a silent socket fires in each of these intervals.
    for jump_ms in [minutes, -minutes, -days, days] {
        scene.set_clock(jump_ms);
        scene.wait(25 * SECOND);
        anna.say(&mut scene, r#"{"t":"ping"}"#);
        assert_eq!(anna.kinds(&mut scene), ["pong"], "{jump_ms}");
    }
}

#[test]
fn streams_have_a_heartbeat_and_not_all_at_once() {
    for carrier in [Carrier::Stream, Carrier::Sse] {
        let mut scene = Scene::new();
        let mut clients: Vec<_> = (0..20).map(|n| scene.enter(carrier, &format!("user-{n}"))).collect();
        scene.wait(Duration::from_millis(7_500));
        let early = clients.iter_mut().filter_map(|it| it.kinds(&mut scene).pop()).count();
        assert!((1..20).contains(&early), "{carrier:?} {early}");
        scene.wait(20 * SECOND);
        for client in &mut clients {
            let kinds = client.kinds(&mut scene);
            assert!(
                (2..=3).contains(&kinds.len()) && kinds.iter().all(|kind| kind == "heartbeat"),
                "{kinds:?}"
            );
        }
    }
}

#[test]
fn a_poll_waits_and_ends_empty() {
    let mut scene = Scene::new();
    let anna = scene.enter(Carrier::Poll, "anna");
    let mut poller = anna;
    poller.poll(&mut scene);
    scene.wait(24 * SECOND);
    assert_eq!(scene.output(poller.down), b"");
    scene.wait(2 * SECOND);
    let output = scene.output(poller.down);
    let (status, _, body, _) = response(&output).unwrap();
    assert_eq!((status, &body[..]), (200, &b"[]"[..]));
    // It goes on as before.
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    ben.send(&mut scene, "anna", "b-1", "Hi");
    assert_eq!(poller.kinds(&mut scene), ["message"]);
}

#[test]
fn the_operator_says_how_long_things_wait() {
    let config = WebConfig {
        poll_wait: 5 * SECOND,
        poll_gap: 20 * SECOND,
        heartbeat: 3 * SECOND,
        keep_alive: 7 * SECOND,
        ..WebConfig::default()
    };
    let mut scene = Scene::with(config);
    let mut anna = scene.enter(Carrier::Poll, "anna");
    anna.poll(&mut scene);
    scene.wait(6 * SECOND);
    let output = scene.output(anna.down);
    assert_eq!(response(&output).unwrap().2, b"[]");
    assert!(!scene.is_ended(anna.down));
    scene.wait(8 * SECOND);
    assert!(scene.is_ended(anna.down), "a connection without a request");
    assert_eq!(scene.shared.counters.sessions(web::Transport::Poll), 1);
    scene.wait(12 * SECOND);
    assert_eq!(scene.shared.counters.sessions(web::Transport::Poll), 0, "a session without a poll");

    let mut ben = scene.enter(Carrier::Sse, "ben");
    scene.wait(10 * SECOND);
    assert!((3..=4).contains(&ben.kinds(&mut scene).iter().filter(|kind| *kind == "heartbeat").count()));
}

#[test]
fn an_event_answers_the_poll_that_waits() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Poll, "anna");
    anna.poll(&mut scene);
    let mut ben = scene.enter(Carrier::Stream, "ben");
    ben.send(&mut scene, "anna", "b-1", "Hi");
    let received = anna.hear_waiting(&mut scene);
    assert_eq!(received[0]["body"], "Hi");
}

#[test]
fn a_newer_poll_ends_the_older_and_gets_what_comes() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Poll, "anna");
    anna.poll(&mut scene);
    let older = anna.down;
    for worker in [1, 0, 1] {
        let before = anna.down;
        anna.down = scene.connect(worker);
        anna.poll(&mut scene);
        let output = scene.output(before);
        assert_eq!(response(&output).unwrap().2, b"[]", "worker {worker}");
    }
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    ben.send(&mut scene, "anna", "b-1", "Hi");
    assert_eq!(scene.output(older), b"");
    assert_eq!(anna.hear_waiting(&mut scene)[0]["body"], "Hi");
}

#[test]
fn events_for_a_poll_that_broke_come_with_the_next() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Poll, "anna");
    anna.poll(&mut scene);
    scene.reset(anna.down);
    let mut ben = scene.enter(Carrier::WebSocket, "ben");
    ben.send(&mut scene, "anna", "b-1", "Hi");
    anna.down = scene.connect(1);
    assert_eq!(anna.hear(&mut scene)[0]["body"], "Hi");
}

#[test]
fn a_session_that_nobody_polls_is_over() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Poll, "anna");
    anna.hear_waiting(&mut scene);
    scene.wait(70 * SECOND);
    anna.down = scene.connect(0);
    let received = anna.hear(&mut scene);
    assert_eq!((&received[0]["code"], &received[1]["status"]), (&json!("no_session"), &json!(404)));
    assert_eq!(scene.shared.counters.sessions(web::Transport::Poll), 0);
}

#[test]
fn a_key_is_for_one_session_and_dies_with_it() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::Stream, "anna");
    let key = anna.key.clone().unwrap();
    let ping = |key: &str| post("/v1/send", &format!("Authorization: Kith {key}\r\n"), r#"{"t":"ping"}"#);
    let mut guess = key.clone().into_bytes();
    for at in 0..guess.len() {
        let good = guess[at];
        guess[at] = if good == b'A' { b'B' } else { b'A' };
        let answer = scene.ask(&ping(std::str::from_utf8(&guess).unwrap()));
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
        guess[at] = good;
    }
    assert!(scene.ask(&post("/v1/send", "", r#"{"t":"ping"}"#)).starts_with("HTTP/1.1 404 "));
    assert!(anna.hear(&mut scene).is_empty());
    assert!(scene.ask(&ping(&key)).starts_with("HTTP/1.1 204 "));
    assert_eq!(anna.kinds(&mut scene), ["pong"]);
    scene.reset(anna.down);
    assert!(scene.ask(&ping(&key)).starts_with("HTTP/1.1 404 "));
}

#[test]
fn a_session_whose_message_was_lost_by_a_panic_ends_and_resumes() {
    for carrier in CARRIERS {
        let mut scene = Scene::new();
        let mut anna = scene.enter(Carrier::WebSocket, "anna");
        let mut ben = scene.enter(carrier, "ben");
        let mut cleo = scene.enter(Carrier::WebSocket, "cleo");
        if carrier == Carrier::Poll {
            ben.poll(&mut scene);
        }
        scene.let_messages_panic(true);
        anna.send(&mut scene, "ben", "a-1", "lost at first");
        scene.let_messages_panic(false);
        if carrier == Carrier::Poll {
            assert_eq!(ben.hear_waiting(&mut scene)[0]["code"], "no_session", "the poll that waited");
        } else {
            assert!(ben.hear(&mut scene).is_empty(), "{carrier:?}");
            assert!(scene.is_ended(ben.down), "{carrier:?}");
        }
        assert_eq!(scene.node.stats().sessions, 2, "{carrier:?}");
        // The others go on, on the same worker.
        assert_eq!(anna.kinds(&mut scene), ["ack"], "{carrier:?}");
        anna.send(&mut scene, "cleo", "a-2", "hello");
        assert_eq!(cleo.hear(&mut scene)[0]["body"], "hello", "{carrier:?}");
        let again = scene.enter_from(carrier, "ben", Some(&ben.position));
        assert_eq!(again.welcome["messages"][0]["body"], "lost at first", "{carrier:?} {}", again.welcome);
    }
}

#[test]
fn a_slow_reader_costs_bounded_memory_and_catches_up() {
    for carrier in [Carrier::WebSocket, Carrier::Stream, Carrier::Sse, Carrier::Poll] {
        let mut scene = Scene::new();
        let mut anna = scene.enter(Carrier::WebSocket, "anna");
        let mut ben = scene.enter(carrier, "ben");
        scene.set_room(ben.down, Some(0));
        let body = "x".repeat(8000);
        for n in 0..100 {
            anna.send(&mut scene, "ben", &format!("a-{n}"), &body);
            assert!(scene.pending(ben.down) <= 300_000, "{carrier:?} {n}");
        }
        assert_eq!(anna.hear(&mut scene).len(), 100, "the sender never waits");
        assert_eq!(scene.shared.counters.behind.read(), 1, "{carrier:?}");
        scene.set_room(ben.down, None);
        let received = ben.hear(&mut scene);
        assert_eq!(received.last().unwrap(), &json!({"t": "behind"}), "{carrier:?}");
        // Nothing new comes before the client says where it is.
        anna.send(&mut scene, "ben", "a-100", "the newest");
        assert!(ben.hear(&mut scene).is_empty(), "{carrier:?}");
        let resume = json!({"t": "resume", "rid": 1, "position": ben.position});
        ben.say(&mut scene, &resume.to_string());
        let changes = ben.hear(&mut scene).remove(0);
        assert_eq!((&changes["t"], &changes["re"]), (&json!("changes"), &json!(1)), "{carrier:?}");
        let last = changes["messages"].as_array().unwrap().last().unwrap()["body"].clone();
        assert_eq!(last, "the newest", "{carrier:?}");
        anna.send(&mut scene, "ben", "a-101", "and on");
        assert_eq!(ben.hear(&mut scene)[0]["body"], "and on", "{carrier:?}");
    }
}

#[test]
fn presence_waits_for_a_slow_reader_and_is_told_once_as_it_is_then() {
    for carrier in [Carrier::WebSocket, Carrier::Stream, Carrier::Sse] {
        let mut scene = Scene::new();
        let mut anna = scene.enter(Carrier::WebSocket, "anna");
        let mut ben = scene.enter(carrier, "ben");
        ben.say(&mut scene, r#"{"t":"watch","users":["anna"]}"#);
        scene.wait(SECOND);
        assert_eq!(ben.hear(&mut scene).last().unwrap()["presence"], "online", "{carrier:?}");
        scene.set_room(ben.down, Some(0));
        let body = "x".repeat(8000);
        (0..10).for_each(|n| anna.send(&mut scene, "ben", &format!("a-{n}"), &body));
        let full = scene.pending(ben.down);
        for set in ["away", "online", "busy", "away", "online", "busy"] {
            anna.say(&mut scene, &json!({"t": "presence", "set": set}).to_string());
            scene.wait(SECOND);
        }
        assert_eq!(scene.pending(ben.down), full, "{carrier:?}");
        assert_eq!(scene.shared.counters.presence_coalesced.read(), 6, "{carrier:?}");
        scene.set_room(ben.down, None);
        let received = ben.hear(&mut scene);
        let seen: Vec<&Value> = received.iter().filter(|event| event["t"] == "presence").collect();
        assert_eq!(seen.len(), 1, "{carrier:?} {seen:?}");
        assert_eq!(seen[0]["presence"], "busy", "{carrier:?}");
        assert_eq!(received.iter().filter(|event| event["t"] == "message").count(), 10, "{carrier:?}");
    }
}

#[test]
fn a_client_that_pings_without_reading_is_not_read_either() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    scene.set_room(anna.down, Some(0));
    let flood = r#"{"t":"ping","rid":123456789}"#;
    for _ in 0..20_000 {
        anna.say(&mut scene, flood);
        if scene.pending(anna.down) > 60_000 {
            break;
        }
    }
    for _ in 0..2_000 {
        anna.say(&mut scene, flood);
    }
    assert!(scene.pending(anna.down) < 70_000);
    scene.set_room(anna.down, None);
    assert!(anna.kinds(&mut scene).len() > 2_000);
}

#[test]
fn a_goodbye_reaches_everybody_with_a_moment_to_come_back() {
    let mut scene = Scene::new();
    let mut clients: Vec<_> = CARRIERS.map(|carrier| scene.enter(carrier, "anna")).into();
    scene.node.goodbye(5_000);
    scene.settle();
    for client in &mut clients {
        let received = client.hear(&mut scene);
        assert_eq!(received[0]["code"], "going_away", "{:?}", client.carrier);
        assert!(received[0]["retry_after"].as_u64().unwrap() <= 5_000);
    }
    let hello = scene.hello("ben", "d", None);
    assert_eq!(refused(&mut scene, Carrier::Stream, &hello), ("going_away".into(), Some(503)));
}

#[test]
fn sessions_are_counted_until_they_end() {
    let mut scene = Scene::new();
    let clients: Vec<_> = CARRIERS.map(|carrier| scene.enter(carrier, "anna")).into();
    let count = |scene: &Scene| web::Transport::ALL.map(|it| scene.shared.counters.sessions(it));
    assert_eq!(count(&scene), [1; 4]);
    for client in &clients {
        scene.reset(client.down);
    }
    scene.wait(90 * SECOND);
    assert_eq!(count(&scene), [0; 4]);
    assert_eq!(scene.node.stats().sessions, 0);
}
