//! The calls role of a node: its own STUN and TURN server, the addresses for clients, and the counters.

use std::fs;
use std::net::UdpSocket;

use calls::client::{Caller, Heard};
use serde_json::{Value, json};

use crate::client::{Client, token};
use crate::cluster::{Cluster, PASSWORD, linked};
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
    let call = begin_call(&mut anna, &mut tom);

    let servers = ice(&scratch, &node, "tom");
    let (name, password) =
        (servers[1]["username"].as_str().unwrap(), servers[1]["credential"].as_str().unwrap());
    assert!(name.ends_with(&call), "for this call: {name}");
    let mut relay = Relay::new(servers[1]["urls"][0].as_str().unwrap(), name, password);
    assert!(matches!(relay.ask(|caller| caller.allocate(false)), Heard::Success { relayed: Some(_), .. }));
    assert_eq!(node.metric("kith_calls_relays"), 1.0);

    scratch.say(&format!("user ban --site demo tom --reason Insults --data {}", scratch.data().display()));
    let over = anna.expect("the end of the call", |event| event["news"] == "over");
    assert_eq!(over["call"], *call);
    poll("the end of the relay", || (node.metric("kith_calls_relays") == 0.0).then_some(()));
    assert_eq!(ask_ice(&scratch, &node, "tom")["code"], "banned");
    let mut again = Relay::new(servers[1]["urls"][0].as_str().unwrap(), name, password);
    assert_eq!(again.ask(|caller| caller.allocate(false)), Heard::Refused(403), "the old credentials");
}

/// Two contacts in a call: its id.
fn begin_call(anna: &mut Client, tom: &mut Client) -> String {
    for (who, action, user) in [(&mut *anna, "request", "tom"), (&mut *tom, "accept", "anna")] {
        who.say(json!({"t": "contact", "rid": 1, "action": action, "user": user})).unwrap();
        who.expect("an answer", |event| event["re"] == 1);
    }
    anna.say(
        json!({"t": "call", "rid": 2, "action": "invite", "user": "tom", "media": "audio", "sdp": "v=0"}),
    )
    .unwrap();
    let calling = anna.expect("the call", |event| event["re"] == 2);
    assert_eq!(calling["news"], "calling", "{calling}");
    let call = calling["call"].as_str().unwrap().to_owned();
    tom.say(json!({"t": "call", "rid": 2, "action": "accept", "call": call, "sdp": "v=0"})).unwrap();
    let joined = tom.expect("the call", |event| event["re"] == 2);
    assert_eq!(joined["news"], "joined", "{joined}");
    call
}

/// The first TURN address over UDP, the name, and the password.
fn turn_of(servers: &Value) -> [&str; 3] {
    [&servers[1]["urls"][0], &servers[1]["username"], &servers[1]["credential"]]
        .map(|text| text.as_str().unwrap_or_else(|| panic!("no TURN server in {servers}")))
}

#[test]
fn a_front_relays_for_its_members_as_long_as_the_call_at_the_home_lasts() {
    let cluster = Cluster::new("turn-front");
    let settings = cluster.scratch.path().join("calls.toml");
    let lines = "[calls]\nlisten = \"127.0.0.1:0\"\npeers = \"127.0.0.0/8\"\nports = \"20000-65535\"\n";
    fs::write(&settings, lines).unwrap();
    let with_relays = ["--config", settings.to_str().unwrap()];
    // The home has no relays, and front b neither.
    let mut home = cluster.home();
    let mut a = cluster.start_front("a", PASSWORD, &with_relays);
    let b = cluster.front("b");
    linked(&a, true);
    poll("the relays of the front", || {
        (!ice(&cluster.scratch, &a, "anna").as_array()?.is_empty()).then_some(())
    });
    let (mut anna, mut tom) = (cluster.enter(&a, "anna"), cluster.enter(&b, "tom"));
    assert_eq!(ice(&cluster.scratch, &home, "anna"), json!([]));
    assert_eq!(ice(&cluster.scratch, &b, "anna"), json!([]));
    let before = ice(&cluster.scratch, &a, "anna");
    let [url, name, password] = turn_of(&before);
    assert!(name.ends_with("-check"), "{name}");
    // Before a call, the credentials give a check alone.
    let mut check = Relay::new(url, name, password);
    assert!(matches!(check.ask(|caller| caller.allocate(false)), Heard::Success { .. }));
    let peer = "127.0.0.1:20000".parse().unwrap();
    assert_eq!(check.ask(|caller| caller.permit(&[peer])), Heard::Refused(403));
    assert!(matches!(check.ask(|caller| caller.refresh(0)), Heard::Success { .. }));
    let mut forged = Relay::new(url, name, "guessed");
    assert_eq!(forged.ask(|caller| caller.allocate(false)), Heard::Refused(401));

    let call = begin_call(&mut anna, &mut tom);
    let servers = ice(&cluster.scratch, &a, "anna");
    let [url, name, password] = turn_of(&servers);
    assert!(name.ends_with(&call), "for this call: {name}");
    let mut relay = Relay::new(url, name, password);
    assert!(matches!(relay.ask(|caller| caller.allocate(false)), Heard::Success { relayed: Some(_), .. }));
    assert!(matches!(relay.ask(|caller| caller.permit(&[peer])), Heard::Success { .. }));
    assert_eq!(a.metric("kith_calls_relays"), 1.0);

    // A new process takes the place of the front. The client asks it for a relay with the same credentials.
    a = cluster.replace_front(&mut a, "a", &with_relays);
    let again = poll("a relay of the new process", || {
        let heard = Relay::new(url, name, password).ask(|caller| caller.allocate(false));
        matches!(heard, Heard::Success { .. }).then_some(heard)
    });
    assert!(matches!(again, Heard::Success { relayed: Some(_), .. }));

    cluster.scratch.say(&format!(
        "user ban --site demo tom --reason Insults --data {}",
        cluster.scratch.data().display()
    ));
    let over = anna.expect("the end of the call", |event| event["news"] == "over");
    assert_eq!(over["call"], *call);
    poll("the end of the relays", || (a.metric("kith_calls_relays") == 0.0).then_some(()));
    let mut old = Relay::new(url, name, password);
    assert_eq!(old.ask(|caller| caller.allocate(false)), Heard::Refused(403), "the old credentials");

    home.signal("KILL");
    home.wait();
    linked(&a, false);
    assert!(!a.metrics("*/*").is_empty(), "the front goes on");
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
