//! The calls role of a node: its own STUN and TURN server, the addresses for clients, and the counters.

use std::fs;
use std::net::UdpSocket;

use calls::client::{Caller, Heard};
use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::running::{PATIENCE, Running, Scratch, poll};
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

    let servers = ice(&scratch, &node, "anna");
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
fn a_node_on_loopback_has_no_relays_by_default() {
    let scratch = Scratch::new("no-turn");
    let node = Running::demo(&scratch);
    assert_eq!(ice(&scratch, &node, "anna"), Value::Array(Vec::new()));
    assert!(!node.metrics("*/*").contains("kith_calls_relays"));
}

fn ice(scratch: &Scratch, node: &Running, user: &str) -> Value {
    ask_ice(scratch, node, user)["ice"].clone()
}

fn ask_ice(scratch: &Scratch, node: &Running, user: &str) -> Value {
    let token = token(scratch, user);
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
    serde_json::from_str(json).unwrap_or_else(|_| panic!("{json}"))
}

#[test]
fn a_ban_in_a_call_ends_its_relay_and_gives_out_no_more_credentials() {
    let scratch = Scratch::new("turn-ban");
    let settings = scratch.path().join("calls.toml");
    fs::write(
        &settings,
        "[calls]\nlisten = \"127.0.0.1:0\"\npeers = \"127.0.0.0/8\"\nports = \"20000-65535\"\n",
    )
    .unwrap();
    let node = Running::start(&scratch, "demo", &["--config", settings.to_str().unwrap()]);
    let (mut anna, mut tom) = (Client::enter(&scratch, &node, "anna"), Client::enter(&scratch, &node, "tom"));
    for (who, action, user) in [(&mut anna, "request", "tom"), (&mut tom, "accept", "anna")] {
        who.say(json!({"t": "contact", "rid": 1, "action": action, "user": user})).unwrap();
        who.expect("an answer", |event| event["re"] == 1);
    }
    anna.say(
        json!({"t": "call", "rid": 2, "action": "invite", "user": "tom", "media": "audio", "sdp": "v=0"}),
    )
    .unwrap();
    let calling = anna.expect("the call", |event| event["re"] == 2);
    assert_eq!(calling["news"], "calling", "{calling}");
    let call = &calling["call"];
    tom.say(json!({"t": "call", "rid": 2, "action": "accept", "call": call, "sdp": "v=0"})).unwrap();
    let joined = tom.expect("the call", |event| event["re"] == 2);
    assert_eq!(joined["news"], "joined", "{joined}");

    let servers = ice(&scratch, &node, "tom");
    let (name, password) =
        (servers[1]["username"].as_str().unwrap(), servers[1]["credential"].as_str().unwrap());
    assert!(name.ends_with(call.as_str().unwrap()), "for this call: {name}");
    let mut relay = Relay::new(servers[1]["urls"][0].as_str().unwrap(), name, password);
    assert!(matches!(relay.ask(|caller| caller.allocate(false)), Heard::Success { relayed: Some(_), .. }));
    assert_eq!(node.metric("kith_calls_relays"), 1.0);

    scratch.say(&format!("user ban --site demo tom --reason Insults --data {}", scratch.data().display()));
    let over = anna.expect("the end of the call", |event| event["news"] == "over");
    assert_eq!(&over["call"], call);
    poll("the end of the relay", || (node.metric("kith_calls_relays") == 0.0).then_some(()));
    assert_eq!(ask_ice(&scratch, &node, "tom")["code"], "banned");
    let mut again = Relay::new(servers[1]["urls"][0].as_str().unwrap(), name, password);
    assert_eq!(again.ask(|caller| caller.allocate(false)), Heard::Refused(403), "the old credentials");
}

/// A TURN client over UDP.
struct Relay {
    socket: UdpSocket,
    caller: Caller,
}

impl Relay {
    fn new(url: &str, name: &str, password: &str) -> Relay {
        let address = url.strip_prefix("turn:").unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Relay { socket, caller: Caller::new(name, password, 1) }
    }

    fn ask(&mut self, request: impl Fn(&mut Caller) -> Vec<u8>) -> Heard {
        loop {
            self.socket.send(&request(&mut self.caller)).unwrap();
            let mut buffer = [0; 2_048];
            let length = self.socket.recv(&mut buffer).expect("the server answers");
            match self.caller.hear(&buffer[..length]) {
                Some(Heard::Again) | None => {}
                Some(received) => return received,
            }
        }
    }
}
