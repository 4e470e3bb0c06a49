//! HTTP on the wire: order, framing, attacks, CORS, files, and what the router answers.
#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use std::time::Duration;

use proptest::prelude::*;
use scene::{Carrier, PAGE, Scene, field, post, response};

const SECOND: Duration = Duration::from_secs(1);

fn get(path: &str, fields: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: chat.example\r\n{fields}\r\n")
}

/// All responses in the bytes: status and body.
fn responses(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some((status, _, body, rest)) = response(bytes) {
        all.push((status, body));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "{:?}", String::from_utf8_lossy(bytes));
    all
}

#[test]
fn pipelined_requests_are_answered_in_order_whoever_answers() {
    let mut scene = Scene::new();
    let line = scene.connect(0);
    let requests = [
        get("/page", ""),
        post("/echo", "", "one"),
        get("/kith.js", ""),
        get("/nowhere", ""),
        post("/v1/send", "Authorization: Kith nonsense\r\n", "{}"),
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n".into(),
        get("/empty", ""),
        get("/page", "Connection: close\r\n"),
        get("/page", ""),
    ];
    scene.feed(line, requests.concat());
    let all = responses(&scene.output(line));
    let statuses: Vec<u16> = all.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 200, 404, 404, 200, 204, 200]);
    assert_eq!((&all[0].1[..], &all[1].1[..], &all[5].1[..]), (&b"a page"[..], &b"one"[..], &b"two"[..]));
    assert!(scene.is_ended(line), "nothing is answered after a close");
}

#[test]
fn an_offence_is_answered_once_and_ends_the_connection() {
    let table = [
        ("GET / HTTP/1.1\nHost: x\n\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\na: b\r\n c\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        ("GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\na\r\n", 400),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 413),
        // A sender without a session gets `no_session`, however much it announces.
        ("POST /v1/send HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n", 404),
        ("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n", 417),
        ("\x16\x03\x01\x02\x00\x01\x00", 400),
    ];
    for (attack, status) in table {
        let mut scene = Scene::new();
        let line = scene.connect(0);
        // A smuggled request behind it must not be answered.
        scene.feed(line, format!("{attack}{}", get("/page", "")));
        let all = responses(&scene.output(line));
        assert_eq!((all.len(), all[0].0), (1, status), "{attack:?}");
        assert!(scene.is_ended(line), "{attack:?}");
        assert_eq!(scene.shared.counters.offences().map(|(_, count)| count).sum::<u64>(), 1, "{attack:?}");
    }
}

#[test]
fn a_body_of_a_request_that_has_none_is_no_request() {
    // The body of a GET, in front of the next request, must be read as a body.
    let mut scene = Scene::new();
    for path in ["/kith.js", "/page", "/v1/websocket", "/healthz"] {
        let line = scene.connect(0);
        let inner = get("/page", "");
        let outer =
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{inner}", inner.len());
        scene.feed(line, outer);
        let output = scene.output(line);
        assert!(responses(&output).len() <= 1, "{path}");
    }
}

#[test]
fn who_is_slow_is_sent_away() {
    let mut scene = Scene::new();
    let head = scene.connect(0);
    scene.feed(head, "GET / HTTP/1.1\r\nHos");
    let body = scene.connect(0);
    scene.feed(body, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nab");
    let idle = scene.connect(0);
    scene.feed(idle, get("/page", ""));
    scene.output(idle);
    for _ in 0..3 {
        scene.wait(3 * SECOND);
        scene.feed(head, "t");
        scene.feed(body, "c");
    }
    scene.wait(2 * SECOND);
    assert!(scene.text(head).starts_with("HTTP/1.1 408 "));
    assert!(scene.is_ended(head));
    assert_eq!(scene.text(body), "");
    scene.wait(20 * SECOND);
    assert!(scene.text(body).starts_with("HTTP/1.1 408 "));
    assert!(!scene.is_ended(idle));
    scene.wait(40 * SECOND);
    assert_eq!((scene.text(idle), scene.is_ended(idle)), (String::new(), true));
}

#[test]
fn a_router_that_fails_or_hangs_costs_its_request_only() {
    let mut scene = Scene::new();
    assert!(scene.ask(&get("/panics", "")).starts_with("HTTP/1.1 500 "));
    let line = scene.connect(0);
    scene.feed(line, get("/never", ""));
    assert_eq!(scene.text(line), "");
    scene.wait(31 * SECOND);
    assert!(scene.text(line).starts_with("HTTP/1.1 504 "));
    assert!(scene.is_ended(line));
    assert!(scene.ask(&get("/page", "")).ends_with("a page"));
}

#[test]
fn expectations_are_met_before_the_body() {
    let mut scene = Scene::new();
    let line = scene.connect(0);
    scene.feed(line, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    assert_eq!(scene.text(line), "HTTP/1.1 100 Continue\r\n\r\n");
    scene.feed(line, "ok");
    assert!(scene.text(line).ends_with("ok"));
}

#[test]
fn heads_are_answered_without_a_body() {
    let mut scene = Scene::new();
    for (path, length) in [("/page", "6"), ("/kith.js", "1900")] {
        let line = scene.connect(0);
        scene.feed(line, get(path, "").replacen("GET", "HEAD", 1));
        let head = scene.text(line);
        assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
        assert_eq!(field(&head, "content-length"), Some(length), "{path}");
    }
}

#[test]
fn old_clients_get_what_they_understand() {
    let mut scene = Scene::new();
    let line = scene.connect(0);
    scene.feed(line, "GET /page HTTP/1.0\r\n\r\n");
    assert!(scene.text(line).ends_with("a page"));
    assert!(scene.is_ended(line));
    let line = scene.connect(0);
    scene.feed(line, "GET /page HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(field(&scene.text(line), "connection"), Some("keep-alive"));
    assert!(!scene.is_ended(line));
}

#[test]
fn large_answers_arrive_whole_at_the_readers_pace() {
    let mut scene = Scene::new();
    for (path, first) in [("/large", b'x'), ("/kith/large.bin", 0)] {
        let line = scene.connect(0);
        scene.set_room(line, Some(1000));
        scene.feed(line, get(path, ""));
        let mut output = scene.output(line);
        assert_eq!(output.len(), 1000, "{path}");
        for _ in 0..40 {
            scene.set_room(line, Some(100_000));
            output.extend(scene.output(line));
        }
        let (status, _, body, rest) = response(&output).unwrap();
        assert_eq!((status, body.len(), body[0], rest.len()), (200, 3_000_000, first, 0), "{path}");
    }
}

#[test]
fn pipelined_requests_wait_while_their_answers_are_not_read() {
    let mut scene = Scene::new();
    let line = scene.connect(0);
    scene.set_room(line, Some(0));
    for _ in 0..200 {
        scene.feed(line, get("/kith.js", "").repeat(5));
        assert!(scene.pending(line) < 70_000);
    }
    scene.set_room(line, None);
    assert_eq!(responses(&scene.output(line)).len(), 1000);
}

#[test]
fn files_have_validators_and_compressed_forms() {
    let mut scene = Scene::new();
    let fresh = scene.ask(&get("/kith.js", ""));
    let etag = field(&fresh, "etag").unwrap();
    let known = scene.ask(&get("/kith.js", &format!("If-None-Match: {etag}\r\n")));
    assert!(known.starts_with("HTTP/1.1 304 ") && known.ends_with("\r\n\r\n"), "{known}");
    assert_eq!(field(&fresh, "access-control-allow-origin"), Some("*"));
    let line = scene.connect(0);
    scene.feed(line, get("/kith.js", "Accept-Encoding: br, gzip\r\n"));
    let output = scene.output(line);
    let (_, head, body, _) = response(&output).unwrap();
    assert_eq!(field(&head, "content-encoding"), Some("br"));
    assert!(body.len() < 100);
}

#[test]
fn an_answer_that_was_made_ready_fits_whoever_asks() {
    let mut scene = Scene::new();
    let old = scene.ask("GET /kith.js HTTP/1.0\r\n\r\n");
    assert_eq!((field(&old, "connection"), old.ends_with("kith';\n")), (Some("close"), true), "{old}");
    let line = scene.connect(0);
    scene.feed(line, "GET /kith.js HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(field(&scene.text(line), "connection"), Some("keep-alive"));

    // Different answers behind each other on one connection.
    let line = scene.connect(0);
    let part = get("/kith.js", "Range: bytes=0-3\r\n");
    let beyond = get("/kith.js", "Range: bytes=1900-\r\n");
    scene.feed(line, [part, beyond, get("/kith.js", ""), get("/kith.js", "Connection: close\r\n")].concat());
    let output = scene.output(line);
    let answers = responses(&output);
    assert_eq!(answers.iter().map(|(status, _)| *status).collect::<Vec<_>>(), [206, 416, 200, 200]);
    assert_eq!((&answers[0].1[..], answers[2].1.len()), (&b"let "[..], 1900));
    assert_eq!(String::from_utf8(output).unwrap().matches("connection: close\r\n").count(), 1, "the last");
    assert!(scene.is_ended(line));

    // The Date goes on.
    let date = |answer: &str| field(answer, "date").unwrap().to_owned();
    let before = date(&scene.ask(&get("/kith.js", "")));
    assert_eq!(before, date(&scene.ask(&get("/page", ""))));
    scene.wait(Duration::from_secs(2));
    let after = date(&scene.ask(&get("/kith.js", "")));
    assert_eq!(after, date(&scene.ask(&get("/page", ""))));
    assert_ne!(before, after);

    let wrong = scene.ask("DELETE /kith.js HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(wrong.starts_with("HTTP/1.1 405 "), "{wrong}");
    assert_eq!(field(&wrong, "allow"), Some("GET, HEAD"));
}

#[test]
fn cors_lets_pages_of_a_site_read_and_nobody_else() {
    let mut scene = Scene::new();
    let preflight = |path: &str, origin: &str| {
        format!(
            "OPTIONS {path} HTTP/1.1\r\nHost: chat.example\r\nOrigin: {origin}\r\n\
                 Access-Control-Request-Method: POST\r\n\r\n"
        )
    };
    for path in ["/v1/stream", "/v1/sse", "/v1/poll", "/v1/send", "/v1/ice"] {
        let answer = scene.ask(&preflight(path, PAGE));
        assert_eq!(field(&answer, "access-control-allow-origin"), Some(PAGE), "{path}");
        assert_eq!(field(&answer, "access-control-allow-headers"), Some("authorization, content-type"));
        assert_eq!(field(&answer, "vary"), Some("origin"));
        let answer = scene.ask(&preflight(path, "https://evil.example"));
        assert_eq!(field(&answer, "access-control-allow-origin"), None, "{path}");
    }
    let hello = scene.hello("anna", "d", None);
    let line = scene.connect(0);
    scene.feed(line, post("/v1/poll", &format!("Origin: {PAGE}\r\n"), &hello));
    let welcome = scene.text(line);
    assert_eq!(field(&welcome, "access-control-allow-origin"), Some(PAGE));
    assert_eq!(field(&welcome, "access-control-allow-credentials"), None);
    // The key is of no use to another page, nor without one.
    let key = welcome.split("\"key\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    for (origin, status) in [
        (format!("Origin: {PAGE}\r\n"), "204"),
        ("Origin: https://evil.example\r\n".into(), "404"),
        (String::new(), "404"),
    ] {
        let fields = format!("{origin}Authorization: Kith {key}\r\n");
        let answer = scene.ask(&post("/v1/send", &fields, r#"{"t":"ping"}"#));
        assert_eq!(&answer[9..12], status, "{origin}");
        assert_eq!(field(&answer, "access-control-allow-origin").is_some(), origin.contains(PAGE));
    }
}

#[test]
fn methods_that_a_path_does_not_take_are_told_which_it_does() {
    let mut scene = Scene::new();
    let answer = scene.ask(&get("/v1/stream", ""));
    assert!(answer.starts_with("HTTP/1.1 405 ") && field(&answer, "allow").unwrap().contains("POST"));
    let answer = scene.ask(&get("/v1/websocket", ""));
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
    assert!(scene.ask(&get("/v1/echo", "")).starts_with("HTTP/1.1 404 "), "the echo is off by default");
}

#[test]
fn realtime_frames_over_the_limit_are_refused() {
    let mut scene = Scene::new();
    let mut anna = scene.enter(Carrier::WebSocket, "anna");
    anna.say(&mut scene, &format!(r#"{{"t":"ping","x":"{}"}}"#, "x".repeat(70_000)));
    let received = anna.hear(&mut scene);
    assert_eq!((received[0]["code"].as_str(), received[1]["code"].as_u64()), (Some("too_large"), Some(1009)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn requests_mean_the_same_however_they_are_cut(mut cuts in prop::collection::vec(0..900_usize, 0..20)) {
        let all = [
            get("/page", "Accept: */*\r\n"),
            post("/echo", "", "some body"),
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\none\r\n3\r\ntwo\r\n0\r\nt: r\r\n\r\n".into(),
            get("/kith.js", "Accept-Encoding: identity\r\n"),
            post("/v1/send", "Authorization: Kith x\r\n", "{}"),
            post("/v1/stream", "", "{}"),
            get("/page", "Connection: close\r\n"),
        ]
        .concat();
        let mut scene = Scene::new();
        let whole = scene.connect(0);
        scene.feed(whole, &all);
        let expected = scene.output(whole);
        prop_assert_eq!(responses(&expected).len(), 7);
        let line = scene.connect(0);
        cuts.push(all.len());
        cuts.sort_unstable();
        let mut at = 0;
        for cut in cuts.into_iter().map(|cut| cut.min(all.len())) {
            scene.feed(line, &all[at..cut]);
            at = cut;
        }
        prop_assert_eq!(scene.output(line), expected);
    }
}
