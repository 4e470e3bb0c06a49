//! A community against a small server over real sockets: counts are right, and faults are noticed.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::community::CommunityPlan;
use load::defaults;
use load::target::Transport;
use serde_json::Value;

fn lived(transport: Transport, flaws: Flaws) -> Value {
    lived_with(&FakeServer::start(flaws), transport)
}

fn lived_with(server: &FakeServer, transport: Transport) -> Value {
    let plan = CommunityPlan {
        transport,
        members: 30,
        roster: 6,
        online: 6,
        rate: 1_000.0,
        message_every: Duration::from_millis(100),
        status_every: Duration::from_millis(200),
        time: Duration::from_millis(500),
        quiet: Duration::from_secs(1),
        ..defaults()
    };
    server.run(&plan).object()
}

#[test]
fn every_message_and_every_change_of_presence_is_counted_once() {
    for transport in [Transport::Websocket, Transport::Sse] {
        let report = lived(transport, Flaws::default());
        // Expected values are 150 and 75.
        let calm = &report["calm"];
        assert!(count(calm, "sent") > 80 && count(calm, "changes") > 30, "{report}");
        every_message_arrived(&report);
        assert_eq!(count(&report, "presence_expected"), count(calm, "changes") * 6, "{report}");
        assert_eq!(calm["presence"], report["presence_expected"], "{report}");
        for none in ["doubled", "repeated", "failed"] {
            assert_eq!(report[none], 0, "{none} in {report}");
        }
        let ms = |of: &str, at: &str| report[of][at].as_f64().unwrap();
        assert!(ms("delivery_ms", "p50") > 0.0, "{report}");
        assert!(ms("presence_ms", "p99") >= ms("presence_ms", "p50"), "{report}");
        assert!(report["refused"].as_object().unwrap().is_empty() && report["stayed"] == 30, "{report}");
    }
}

fn count(report: &Value, key: &str) -> u64 {
    report[key].as_u64().unwrap()
}

fn every_message_arrived(report: &Value) {
    let calm = &report["calm"];
    let sent = count(calm, "sent");
    let counts = ["acknowledged", "delivered", "lost", "unanswered"].map(|key| count(calm, key));
    assert_eq!(counts, [sent, sent, 0, 0], "{report}");
}

#[test]
fn faults_of_the_server_are_counted() {
    let flaws = Flaws { lose_every: Some(10), keep_quiet_every: Some(5), ..Flaws::default() };
    let report = lived(Transport::Websocket, flaws);
    let calm = &report["calm"];
    assert_eq!(count(calm, "lost"), count(calm, "sent") / 10, "{report}");
    let told = count(calm, "changes") - count(calm, "changes") / 5;
    assert_eq!(count(calm, "presence"), told * 6, "{report}");
    assert!(count(&report, "presence_expected") > count(calm, "presence"), "{report}");
    let twice = lived(Transport::Websocket, Flaws { double_every: Some(10), ..Flaws::default() });
    assert_eq!(count(&twice, "repeated"), count(&twice["calm"], "sent") / 10, "{twice}");
    let refused = lived(Transport::Websocket, Flaws { refuse_every: Some(10), ..Flaws::default() });
    assert_eq!(refused["valid"], false);
    assert!(refused["invalid_because"].as_str().unwrap().contains("logged in"));
}

#[test]
fn a_deferred_command_is_repeated_after_the_delay_of_the_server() {
    let server = FakeServer::start(Flaws { put_off_messages: Some((10, 400)), ..Flaws::default() });
    let report = lived_with(&server, Transport::Websocket);
    let waits = server.waits();
    assert!(waits.len() >= 8 && waits.iter().all(|wait| wait.as_millis() >= 400), "{waits:?}");
    assert_eq!(count(&report["refused"], "unavailable") as usize, waits.len(), "{report}");
    every_message_arrived(&report);
}
