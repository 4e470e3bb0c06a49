//! A stress against a small server over real sockets: it counts right, and notices what is wrong.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::RunOptions;
use load::stress::{self, Pace, Report, StressPlan};
use load::target::{Target, Transport};

fn stressed(pace: Pace, flaws: Flaws) -> Report {
    let server = FakeServer::start(flaws);
    let plan = StressPlan {
        options: options(&server),
        transport: Transport::Websocket,
        members: 40,
        group: 10,
        body_bytes: 100,
        pace,
        time: Duration::from_millis(400),
    };
    stress::run(&plan, &mut |_| {}).unwrap()
}

#[test]
fn everything_sent_arrives_once_and_in_order() {
    let report = stressed(Pace::Window(4), Flaws::default());
    assert!(report.sent > 160, "{report}");
    assert_eq!((report.acknowledged, report.delivered), (report.sent, report.sent), "{report}");
    let wrong = [report.lost, report.doubled, report.misordered, report.holes, report.strange];
    assert_eq!(wrong, [0; 5], "{report}");
    assert!(report.ack_ms.p50 > 0.0 && report.delivery_ms.p99 >= report.delivery_ms.p50, "{report}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert!(json["delivered_per_second"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_rate_is_kept() {
    let report = stressed(Pace::Rate(500.0), Flaws::default());
    assert!((100..=200).contains(&report.sent), "{report}");
    assert_eq!(report.delivered, report.sent, "{report}");
    let run = report.run("stress");
    assert_eq!([run.rows[0].what, run.rows[1].what], ["delivery, p50", "delivery, p99"]);
    assert!(run.headline.starts_with(|digit: char| digit.is_ascii_digit()), "{}", run.headline);
}

#[test]
fn what_is_wrong_is_noticed() {
    let losing = stressed(Pace::Rate(500.0), Flaws { lose_every: Some(10), ..Flaws::default() });
    assert_eq!(losing.lost, losing.sent / 10, "{losing}");
    let doubling = stressed(Pace::Rate(500.0), Flaws { double_every: Some(10), ..Flaws::default() });
    assert_eq!((doubling.doubled, doubling.lost), (doubling.sent / 10, 0), "{doubling}");
    let jumping = stressed(Pace::Rate(500.0), Flaws { misorder_every: Some(10), ..Flaws::default() });
    assert!(jumping.misordered > 0 && jumping.holes > 0, "{jumping}");
}

/// The server is in this process.
fn options(server: &FakeServer) -> RunOptions {
    let target = Target::parse(&server.url()).unwrap();
    RunOptions { server: Some(std::process::id()), threads: 2, ..RunOptions::new(target, "demo", b"secret") }
}
