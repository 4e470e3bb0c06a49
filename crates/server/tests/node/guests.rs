//! Guests: limits per address, and returning guests.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::running::{Running, Scratch};

/// A demo node with these settings.
fn node(scratch: &Scratch, settings: &str) -> Running {
    let file = scratch.path().join("kith.toml");
    fs::write(&file, settings).unwrap();
    Running::start(scratch, "demo", &["--config", file.to_str().unwrap()])
}

/// Sends a hello by long poll, as a proxy forwards it. Returns the status and the first event.
pub(crate) fn hello(node: &Running, fields: &str, token: Option<&str>) -> (String, Value) {
    let body = json!({ "t": "hello", "v": 1, "site": "demo", "token": token, "device": "d" }).to_string();
    let answer = node.raw(
        format!(
            "POST /v1/poll HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{fields}Content-Length: {}\r\n\r\n{body}",
            node.http,
            body.len()
        )
        .as_bytes(),
    );
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let event = body.get(0).cloned().unwrap_or(body);
    (head.split(' ').nth(1).unwrap().to_owned(), event)
}

#[test]
fn one_address_has_a_limit_of_guests_for_any_forwarded_header() {
    let scratch = Scratch::new("guests");
    let node = node(&scratch, "[limits]\nguest_burst = 2\nguest_per_minute = 1\n");
    let (status, first) = hello(&node, "", None);
    assert_eq!((status.as_str(), &first["t"]), ("200", &json!("welcome")));
    assert_eq!(hello(&node, "X-Forwarded-For: 192.0.2.1\r\n", None).0, "200");

    let (status, refused) = hello(&node, "X-Forwarded-For: 192.0.2.2\r\n", None);
    assert_eq!((status.as_str(), &refused["code"]), ("429", &json!("rate_limited")));
    assert!((1..=60_000).contains(&refused["retry_after"].as_u64().unwrap()), "{refused}");

    let mut socket = Client::connect(node.http).unwrap();
    socket.say(json!({ "t": "hello", "v": 1, "site": "demo", "device": "d" })).unwrap();
    let bye = socket.next().unwrap();
    assert_eq!((&bye["t"], &bye["code"]), (&json!("bye"), &json!("rate_limited")));

    // A returning guest keeps the identity.
    let (_, again) = hello(&node, "", first["guest_token"].as_str());
    assert_eq!(again["me"], first["me"]);
    assert_eq!(node.metric("kith_chat_new_guests_total"), 2.0);
    assert_eq!(node.metric("kith_chat_guests_refused_total"), 2.0);

    // The log has one warning, without the header's content.
    assert_eq!(node.metric("kith_web_untrusted_forwarded_total"), 2.0);
    let log = node.log();
    assert_eq!(log.matches("not in web.trusted_proxies").count(), 1, "{log}");
    assert!(log.contains("WARN") && log.contains("127.0.0.1") && !log.contains("192.0.2."), "{log}");
    let told = scratch.run(["doctor", "--json"]);
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let finding = told["findings"].as_array().unwrap().iter().find(|finding| finding["topic"] == "proxies");
    assert_eq!(finding.unwrap()["state"], "warn");
}

#[test]
fn a_trusted_proxy_gives_the_addresses_of_guests() {
    let scratch = Scratch::new("guests-by-proxy");
    let settings =
        "[web]\ntrusted_proxies = \"127.0.0.0/8\"\n[limits]\nguest_burst = 1\nguest_per_minute = 1\n";
    let node = node(&scratch, settings);
    let status = |list: &str| hello(&node, &format!("X-Forwarded-For: {list}\r\n"), None).0;
    assert_eq!(status("192.0.2.1"), "200");
    assert_eq!(status("192.0.2.2"), "200");
    assert_eq!(status("192.0.2.1"), "429");
    assert_eq!(status("198.51.100.1, 192.0.2.2"), "429", "what the client itself has written does not count");
    assert_eq!(status("2001:db8::1"), "200");
    assert_eq!(status("2001:db8::2"), "429");
    // Without the header, the proxy itself is the client.
    assert_eq!(hello(&node, "", None).0, "200");
    assert_eq!(status("nonsense"), "429");
    assert_eq!(node.metric("kith_web_untrusted_forwarded_total"), 0.0);
}

#[test]
fn a_guest_becomes_a_member_by_command_and_only_with_their_own_token() {
    let scratch = Scratch::new("guest-merge");
    let node = Running::demo(&scratch);
    let mut guest = Client::connect(node.http).unwrap();
    guest.say(json!({ "t": "hello", "v": 1, "site": "demo", "device": "d" })).unwrap();
    let welcome = guest.expect("welcome", |event| event["t"] == "welcome");
    let token = scratch.path().join("token");
    let name = token.to_str().unwrap();

    let merge = |token: &str, account: &str| {
        fs::write(scratch.path().join("token"), token).unwrap();
        scratch.run(["user", "merge", "--site", "demo", "--guest-token-file", name, account])
    };
    let of_a_member = scratch.say("token --site demo --user tom");
    for wrong in [welcome["me"]["user"].as_str().unwrap(), &of_a_member, ""] {
        let answer = merge(wrong, "newcomer");
        assert!(!answer.status.success(), "{wrong}");
    }
    let merged = merge(welcome["guest_token"].as_str().unwrap(), "newcomer");
    assert!(merged.status.success(), "{}", String::from_utf8_lossy(&merged.stderr));
    let bye = guest.expect("bye", |event| event["t"] == "bye");
    assert_eq!(bye["code"], "token_expired");
    let shown: Value = serde_json::from_str(&scratch.say("user show --site demo newcomer --json")).unwrap();
    assert_eq!(shown["user"], "newcomer", "{shown}");
    let elsewhere = merge(welcome["guest_token"].as_str().unwrap(), "somebody-else");
    assert!(!elsewhere.status.success(), "a guest becomes one member");
}
