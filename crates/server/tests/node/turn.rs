//! The calls role of a node: its own STUN and TURN server, from what clients are told of it to what is counted.

use std::fs;

use serde_json::Value;

use crate::running::{Running, Scratch};
use crate::tls::write_certificate;

const SETTINGS: &str = "[calls]\nlisten = \"127.0.0.1:0\"\nlisten_tls = \"127.0.0.1:0\"\npeers = \"127.0.0.0/8\"\nports = \"20000-65535\"\n\
                        kbit_per_user = 0\nkbit_per_address = 0\nkbit_per_site = 0\n";

#[test]
fn a_node_hands_out_its_own_servers_and_they_relay() {
    let scratch = Scratch::new("turn");
    let (cert, key) = (scratch.path().join("cert.pem"), scratch.path().join("key.pem"));
    write_certificate(&cert, &key);
    let settings = scratch.path().join("calls.toml");
    let secret = scratch.path().join("turn.secret");
    fs::write(&secret, "a secret of 16 bytes and more").unwrap();
    fs::write(&settings, format!("{SETTINGS}turn_secret_file = {secret:?}\n")).unwrap();
    let [cert, key, settings] = [&cert, &key, &settings].map(|path| path.to_str().unwrap());
    let flags = ["--config", settings, "--https", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key];
    let node = Running::start(&scratch, "demo", &flags);

    let servers = ice(&scratch, &node);
    let urls = |index: usize| -> Vec<String> {
        let urls = servers[index]["urls"].as_array().unwrap().iter();
        urls.map(|url| url.as_str().unwrap().to_owned()).collect()
    };
    let without_port = |url: &String| url.replace(|it: char| it.is_ascii_digit(), "");
    assert_eq!(urls(0).iter().map(without_port).collect::<Vec<_>>(), ["stun:...:"]);
    let turn: Vec<String> = urls(1).iter().map(without_port).collect();
    assert_eq!(turn, ["turn:...:", "turn:...:?transport=tcp", "turns:...:?transport=tcp"]);
    assert!(servers[1]["username"].as_str().unwrap().ends_with("-check"), "outside of a call");
    assert!(servers[1]["credential"].is_string());

    fs::write(
        scratch.path().join("turn.toml"),
        format!(
            "[turn]\nrelays = 20\nflows = 4\nwindow = 8\ntime = \"300ms\"\nturn-secret-file = {secret:?}\n"
        ),
    )
    .unwrap();
    let line =
        format!("load run turn.toml --json --url http://{} --data {}", node.http, scratch.data().display());
    let report: Value = serde_json::from_str(&scratch.say(&line)).unwrap();
    assert_eq!(
        (&report["relays"], &report["refused"], &report["lost"]),
        (&20.into(), &0.into(), &0.into()),
        "{report}"
    );
    let packets = |key: &str| report[key].as_u64().unwrap();
    assert!(packets("answered") > 0 && packets("to_peers") > 0 && packets("to_clients") > 0, "{report}");
    assert_eq!(node.metric("kith_calls_allocations_total"), 20.0);
    assert_eq!(node.metric("kith_calls_relays"), 0.0);
    let metrics = node.metrics("*/*");
    let relayed =
        metrics.lines().find(|line| line.starts_with("kith_calls_bytes_to_peers_total{site=")).unwrap();
    assert!(relayed.ends_with(&(packets("to_peers") * 1_000).to_string()), "{relayed} {report}");
}

#[test]
fn a_node_on_loopback_has_none_unless_it_is_told_to() {
    let scratch = Scratch::new("no-turn");
    let node = Running::demo(&scratch);
    assert_eq!(ice(&scratch, &node), Value::Array(Vec::new()));
    assert!(!node.metrics("*/*").contains("kith_calls_relays"));
}

fn ice(scratch: &Scratch, node: &Running) -> Value {
    let token = scratch.say(&format!("token --site demo --user anna --data {}", scratch.data().display()));
    let body = r#"{"site":"demo"}"#;
    let answer = node.raw(
        format!(
            "POST /v1/ice HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            token.trim(),
            body.len()
        )
        .as_bytes(),
    );
    let json = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}")).1;
    let answer: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("{json}"));
    answer["ice"].clone()
}
