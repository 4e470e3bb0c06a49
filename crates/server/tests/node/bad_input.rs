//! Broken, slow and hostile peers: each loses its own connection and does not harm others.

use std::io::{Read, Write};
use std::net::TcpStream;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::running::{PATIENCE, Running, Scratch, poll, text};

#[test]
fn broken_requests_get_a_refusal_or_a_close_and_the_others_go_on() {
    let scratch = Scratch::new("broken");
    let node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let head = format!("POST /v1/stream HTTP/1.1\r\nHost: {}\r\n", node.http);
    let flood: String = (0..10_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let broken: &[(&str, String)] = &[
        (
            "both length headers",
            format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ),
        ("two lengths", format!("{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!")),
        ("bare LF", format!("GET / HTTP/1.1\nHost: {}\n\n", node.http)),
        ("obs-fold", format!("{head}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n")),
        ("space before colon", format!("{head}Content-Length : 0\r\n\r\n")),
        ("no host", "GET / HTTP/1.1\r\n\r\n".into()),
        ("header flood", format!("{head}{flood}\r\n")),
        ("long line", format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(100_000))),
        ("nonsense", "\u{1}\u{2}\u{3}\r\n\r\n".into()),
        ("another protocol", "<stream:stream to='a'>".repeat(3) + "\r\n\r\n"),
        ("too large", format!("{head}Content-Length: 99999999\r\n\r\n")),
        ("not JSON", format!("{head}Content-Length: 5\r\nConnection: close\r\n\r\nhello")),
    ];
    for (name, request) in broken {
        let answer = node.raw(request.as_bytes());
        let status = answer.get(9..12).unwrap_or("closed");
        assert!(answer.is_empty() || status.starts_with('4'), "{name}: {answer}");
    }
    anna.sent("m1", "tom", "still here");
    tom.message("still here");
    assert_eq!(node.metric("kith_edge_panics_total"), 0.0);
}

#[test]
fn invalid_tokens_are_refused_with_their_code() {
    let scratch = Scratch::new("tokens");
    let node = Running::demo(&scratch);
    let good = token(&scratch, "anna");
    let part = |json: Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let mut parts = good.split('.');
    let (header, claims, signature) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
    let other = part(json!({ "sub": "tom", "exp": 4_000_000_000_u64 }));
    let none = part(json!({ "alg": "none", "typ": "JWT" }));
    let expired = expired_token(&scratch);
    let tokens = [
        ("forged claims", format!("{header}.{other}.{signature}"), "bad_token"),
        ("no algorithm", format!("{none}.{claims}."), "bad_token"),
        ("no algorithm, old signature", format!("{none}.{claims}.{signature}"), "bad_token"),
        ("not a token", "hello".to_owned(), "bad_token"),
        ("too many parts", format!("{good}.x"), "bad_token"),
        ("expired", expired, "token_expired"),
    ];
    for (name, token, code) in tokens {
        // The new secret reaches the node a moment after the command has ended.
        let bye = poll("the code", || {
            let mut client = Client::connect(node.http)?;
            client.say(json!({ "t": "hello", "v": 1, "site": "demo", "token": token, "device": "d" }))?;
            client.next().filter(|bye| name != "expired" || bye["code"] != "bad_token")
        });
        assert_eq!((bye["t"].as_str(), bye["code"].as_str()), (Some("bye"), Some(code)), "{name}: {bye}");
        assert!(!bye.to_string().contains(&token), "{name}: the token is not repeated");
        assert!(!node.log().contains(&token), "{name}: the token is in the log");
    }
}

/// The command cannot create expired tokens, so the test signs one with the site's secret.
fn expired_token(scratch: &Scratch) -> String {
    let data = scratch.data().display().to_string();
    let rotated: Value =
        serde_json::from_str(&scratch.say(&format!("site rotate-secret demo --json --data {data}"))).unwrap();
    let secret = rotated["secret"].as_str().unwrap();
    let claims = json!({ "sub": "anna", "exp": 1_000_000_000 });
    let key = jsonwebtoken::EncodingKey::from_secret(secret.as_bytes());
    jsonwebtoken::encode(&jsonwebtoken::Header::default(), &claims, &key).unwrap()
}

#[test]
fn wrong_frames_are_answered_and_the_session_goes_on_or_ends_with_a_code() {
    let scratch = Scratch::new("frames");
    let node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let wrong = [
        (json!({ "t": "send", "id": "a", "to": { "user": "nobody" }, "body": "x" }), "no_such_user"),
        (
            json!({ "t": "send", "id": "b", "to": { "conversation": "zzzz" }, "body": "x" }),
            "no_such_conversation",
        ),
        (json!({ "t": "send", "id": "c", "to": { "user": "tom" }, "body": "" }), "bad_body"),
        (json!({ "t": "send", "id": "d", "to": { "user": "tom" }, "body": "x".repeat(9_000) }), "bad_body"),
        (json!({ "t": "dance", "rid": 1 }), "unknown_command"),
        (json!({ "t": "history", "rid": 2, "to": 5 }), "bad_frame"),
    ];
    for (frame, code) in wrong {
        anna.say(frame.clone()).unwrap();
        let error = anna.expect(code, |event| event["t"] == "error" || event["t"] == "bye");
        assert_eq!(error["code"], code, "{frame} was answered by {error}");
    }
    let mut first = Client::connect(node.http).unwrap();
    first.say(json!({ "t": "ping" })).unwrap();
    assert_eq!(first.next().unwrap()["code"], "not_now", "the first frame is hello");
}

#[test]
fn a_silent_client_is_disconnected_while_others_continue() {
    let scratch = Scratch::new("silent");
    let node = Running::demo(&scratch);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let mut silent = TcpStream::connect(node.http).unwrap();
    let mut half = TcpStream::connect(node.http).unwrap();
    half.write_all(b"GET /healthz HT").unwrap();
    let mut wordless = Client::connect(node.http).unwrap();
    anna.sent("m1", "tom", "meanwhile");
    tom.message("meanwhile");
    for peer in [&mut silent, &mut half] {
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = Vec::new();
        peer.read_to_end(&mut answer).unwrap_or_else(|error| panic!("not sent away: {error}"));
        assert!(answer.is_empty() || text(&answer).starts_with("HTTP/1.1 408"), "{}", text(&answer));
    }
    let bye = wordless.next().expect("a word before the end");
    assert_eq!((bye["t"].as_str(), bye["code"].as_str()), (Some("bye"), Some("slow")), "{bye}");
}

#[test]
fn a_client_that_stops_reading_falls_behind_and_catches_up() {
    const MESSAGES: usize = 1_500;
    let scratch = Scratch::new("behind");
    let settings = scratch.path().join("kith.toml");
    std::fs::write(&settings, "[limits]\nsend_burst = 0\nsend_per_minute = 0\nsite_sends_per_second = 0\n")
        .unwrap();
    let node = Running::start(&scratch, "demo", &["--config", settings.to_str().unwrap()]);
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let memory_before = node.metric("process_resident_memory_bytes");
    let body = "y".repeat(8_000);
    for number in 0..MESSAGES {
        anna.sent(&format!("b{number}"), "tom", &body);
    }
    let grown = node.metric("process_resident_memory_bytes") - memory_before;
    // 12 MB were sent. Tom's pending output has a far lower bound; the rest is the database's cache.
    assert!(grown < 24e6, "{grown} bytes for one who does not read");

    let mut last_seen = None;
    let mut seen = 0;
    loop {
        let event = tom.next().expect("the session lives");
        match event["t"].as_str() {
            Some("message") => {
                let seq = event["seq"].as_u64().unwrap();
                assert!(
                    last_seen.is_none_or(|last| seq == last + 1),
                    "a hole before seq {seq} that nobody told"
                );
                last_seen = Some(seq);
                seen += 1;
            }
            Some("behind") => break,
            _ => {}
        }
        assert!(seen < MESSAGES, "it never fell behind: the test sends too little");
    }
    let position = tom.position.clone();
    tom.say(json!({ "t": "resume", "rid": 1, "position": position })).unwrap();
    let changes = tom.expect("changes", |event| event["re"] == 1);
    assert_eq!(changes["t"], "changes", "{changes}");
    let archive = tom.history("anna");
    let theirs = archive.iter().filter(|message| message["body"] == body.as_str()).count();
    assert_eq!(theirs, MESSAGES, "everything is there");
    anna.sent("after", "tom", "can you hear me?");
    tom.message("can you hear me?");
}
