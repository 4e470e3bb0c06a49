//! A community against a small server over real sockets: what it counts is right, and what is wrong is noticed.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::RunOptions;
use load::community::{self, CommunityPlan, People, Report, Rosters};
use load::target::{Target, Transport};

fn lived(transport: Transport, flaws: Flaws) -> Report {
    lived_with(&FakeServer::start(flaws), transport)
}

fn lived_with(server: &FakeServer, transport: Transport) -> Report {
    let plan = CommunityPlan {
        options: RunOptions::new(Target::parse(&server.url()).unwrap(), "demo", b"secret"),
        transport,
        people: People::new(30, 1, 6, 6).unwrap(),
        rosters: Rosters::Named,
        rate: 1_000.0,
        message_every: Some(Duration::from_millis(100)),
        status_every: Some(Duration::from_millis(200)),
        time: Duration::from_millis(500),
        storm: 0,
        spread: Duration::ZERO,
        quiet: Duration::from_secs(1),
    };
    community::run(&plan, &mut |_| {}).unwrap()
}

#[test]
fn every_message_and_every_change_of_presence_is_counted_once() {
    for transport in [Transport::Websocket, Transport::Sse] {
        let report = lived(transport, Flaws::default());
        // 150 and 75 are expected of chance.
        assert!(report.calm.sent > 80 && report.calm.changes > 30, "{report}");
        let Phase { sent, acknowledged, delivered, lost, unanswered } = phase(&report);
        assert_eq!((acknowledged, delivered, lost, unanswered), (sent, sent, 0, 0), "{report}");
        assert_eq!(report.presence_expected, report.calm.changes * 6, "{report}");
        assert_eq!(report.calm.presence, report.presence_expected, "{report}");
        assert_eq!((report.doubled, report.repeated, report.failed), (0, 0, 0), "{report}");
        assert!(report.delivery_ms.p50 > 0.0 && report.presence_ms.p99 >= report.presence_ms.p50, "{report}");
        assert!(report.refused.is_empty() && report.stayed == 30, "{report}");
    }
}

struct Phase {
    sent: u64,
    acknowledged: u64,
    delivered: u64,
    lost: u64,
    unanswered: u64,
}

fn phase(report: &Report) -> Phase {
    let calm = &report.calm;
    Phase {
        sent: calm.sent,
        acknowledged: calm.acknowledged,
        delivered: calm.delivered,
        lost: calm.lost,
        unanswered: calm.unanswered,
    }
}

#[test]
fn what_is_wrong_is_noticed() {
    let flaws = Flaws { lose_every: Some(10), keep_quiet_every: Some(5), ..Flaws::default() };
    let report = lived(Transport::Websocket, flaws);
    assert_eq!(report.lost(), report.calm.sent / 10, "{report}");
    let told = report.calm.changes - report.calm.changes / 5;
    assert_eq!(report.calm.presence, told * 6, "{report}");
    assert!(report.presence_expected > report.calm.presence, "{report}");
    let twice = lived(Transport::Websocket, Flaws { double_every: Some(10), ..Flaws::default() });
    assert_eq!(twice.repeated, twice.calm.sent / 10, "{twice}");
    let refused = lived(Transport::Websocket, Flaws { refuse_every: Some(10), ..Flaws::default() });
    assert!(!refused.valid && refused.invalid_because.unwrap().contains("logged in"));
}

#[test]
fn what_is_put_off_is_said_again_and_not_before_the_server_wants_it() {
    let server = FakeServer::start(Flaws { put_off_messages: Some((10, 400)), ..Flaws::default() });
    let report = lived_with(&server, Transport::Websocket);
    let waits = server.waits();
    assert!(waits.len() >= 8 && waits.iter().all(|wait| wait.as_millis() >= 400), "{waits:?}");
    assert_eq!(report.refused["unavailable"] as usize, waits.len(), "{report}");
    let Phase { sent, acknowledged, delivered, lost, unanswered } = phase(&report);
    assert_eq!((acknowledged, delivered, lost, unanswered), (sent, sent, 0, 0), "{report}");
}
