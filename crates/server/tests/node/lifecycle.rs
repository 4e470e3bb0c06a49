//! Start, stop and restart, as members notice them.

use std::collections::BTreeSet;

use crate::client::{Client, token};
use crate::running::{Running, Scratch, poll};

#[test]
fn two_members_talk_and_the_pages_around_them_answer() {
    let scratch = Scratch::new("talk");
    let node = Running::demo(&scratch);
    assert!(node.get("/healthz").starts_with("HTTP/1.1 200"));
    let page = node.get("/as/anna/");
    assert!(
        page.starts_with("HTTP/1.1 200") && page.contains("data-token-url=\"/as/anna/kith-token\""),
        "{page}"
    );
    let mut anna = Client::enter(&scratch, &node, "anna");
    let mut tom = Client::enter(&scratch, &node, "tom");
    let ack = anna.sent("m1", "tom", "Are the tables ready?");
    let message = tom.message("Are the tables ready?");
    assert_eq!(message["seq"], ack["seq"]);
    assert_eq!(message["from"], "anna");
    tom.sent("m2", "anna", "They are.");
    anna.message("They are.");
    assert_eq!(node.metric("kith_chat_sessions"), 2.0);
    assert_eq!(node.metric("kith_chat_messages_total"), 2.0);
    assert!(node.metric("process_resident_memory_bytes") > 1e6);
}

#[test]
fn a_stop_gives_each_client_a_time_to_return() {
    let scratch = Scratch::new("stop");
    let mut node = Running::demo(&scratch);
    let mut clients: Vec<Client> =
        ["anna", "tom", "mei", "raj", "sofia"].map(|user| Client::enter(&scratch, &node, user)).into();
    node.signal("TERM");
    let moments: BTreeSet<u64> = clients
        .iter_mut()
        .map(|client| {
            let bye = client.expect("bye", |event| event["t"] == "bye");
            assert_eq!(bye["code"], "going_away");
            bye["retry_after"].as_u64().expect("a moment to come back")
        })
        .collect();
    assert!(moments.len() > 1, "everybody would come back at the same moment: {moments:?}");
    assert!(moments.iter().all(|moment| *moment <= 20_000), "{moments:?}");
    for mut client in clients {
        assert!(client.next().is_none(), "the connection is closed after bye");
    }
    assert_eq!(node.wait().code(), Some(0));
    assert!(!scratch.path().join(format!("run/kith/{}.json", node.pid())).exists(), "the run file is gone");
}

#[test]
fn a_second_signal_ends_it_at_once() {
    let scratch = Scratch::new("second-signal");
    let mut node = Running::demo(&scratch);
    // A client that never reads and never closes delays a graceful stop.
    let _silent = std::net::TcpStream::connect(node.http).unwrap();
    node.signal("INT");
    poll("the first signal to be seen", || {
        (!node.is_running() || node.log().contains("stopping")).then_some(())
    });
    if node.is_running() {
        node.signal("INT");
    }
    node.wait();
}

#[test]
fn a_restart_in_mid_conversation_loses_nothing() {
    let scratch = Scratch::new("restart");
    let mut node = Running::demo(&scratch);
    let (anna_token, tom_token) = (token(&scratch, "anna"), token(&scratch, "tom"));
    let mut anna = Client::try_enter(node.http, &anna_token, "anna", None).unwrap();
    let mut tom = Client::try_enter(node.http, &tom_token, "tom", None).unwrap();
    anna.sent("m1", "tom", "before");
    tom.message("before");
    node.signal("TERM");
    tom.expect("bye", |event| event["t"] == "bye");
    node.wait();

    node = Running::demo(&scratch);
    let mut anna = Client::try_enter(node.http, &anna_token, "anna", anna.position.as_deref()).unwrap();
    let again = anna.sent("m1", "tom", "before");
    let after = anna.sent("m2", "tom", "while tom was away");
    assert_eq!(
        after["seq"].as_u64(),
        again["seq"].as_u64().map(|seq| seq + 1),
        "a retry is not a second message"
    );
    let mut tom = Client::try_enter(node.http, &tom_token, "tom", tom.position.as_deref()).unwrap();
    assert_eq!(tom.welcome["resumed"], true);
    let missed: Vec<&str> = tom.welcome["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["body"].as_str().unwrap())
        .collect();
    assert_eq!(missed, ["while tom was away"]);
    tom.sent("m3", "anna", "back");
    anna.message("back");
}

#[test]
fn the_echo_exists_only_if_it_is_enabled() {
    let scratch = Scratch::new("echo");
    let node = Running::demo(&scratch);
    let upgrade = |node: &Running| {
        let stream = std::net::TcpStream::connect(node.http).unwrap();
        tungstenite::client(format!("ws://{}/v1/echo", node.http), stream).map(|(socket, _)| socket).ok()
    };
    assert!(upgrade(&node).is_none());
    let scratch = Scratch::new("echo-on");
    let node = Running::start(&scratch, "serve", &["--echo"]);
    let mut socket = upgrade(&node).expect("the flag opens it");
    socket.send("again".into()).unwrap();
    assert_eq!(socket.read().unwrap().into_text().unwrap(), "again");
}
