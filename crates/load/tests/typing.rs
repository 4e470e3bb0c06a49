//! Typing against a small server over real sockets: it counts right, and notices what is missing.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::target::{Target, Transport};
use load::typing::{self, Pace, Report, TypingPlan};
use load::{LoadError, RunOptions};

fn typed(members: u32, pace: Pace, flaws: Flaws) -> Result<Report, LoadError> {
    let server = FakeServer::start(flaws);
    let target = Target::parse(&server.url()).unwrap();
    let options = RunOptions {
        server: Some(std::process::id()),
        threads: 2,
        ..RunOptions::new(target, "demo", b"secret")
    };
    let plan = TypingPlan {
        options,
        transport: Transport::Websocket,
        members,
        pace,
        time: Duration::from_millis(400),
    };
    typing::run(&plan, &mut |_| {})
}

#[test]
fn everything_said_is_heard_and_answered_while_there_is_time() {
    let report = typed(40, Pace::Window(4), Flaws::default()).unwrap();
    assert!(report.said > 160 && report.valid, "{report}");
    assert_eq!((report.heard, report.dropped, report.strange), (report.said, 0, 0), "{report}");
    assert!(report.delivery_ms.p50 > 0.0 && report.delivery_ms.p99 >= report.delivery_ms.p50, "{report}");
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    assert!(json["heard_per_second"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_rate_is_kept_and_what_is_dropped_is_counted() {
    let report = typed(40, Pace::Rate(500.0), Flaws { lose_every: Some(10), ..Flaws::default() }).unwrap();
    assert!((100..=200).contains(&report.said), "{report}");
    assert_eq!(report.dropped, report.said / 10, "{report}");
    let run = report.run("typing");
    assert_eq!([run.rows[0].what, run.rows[1].what], ["heard after, p50", "heard after, p99"]);
}

#[test]
fn one_alone_types_to_nobody() {
    let refused = typed(3, Pace::Window(1), Flaws::default()).unwrap_err();
    assert!(refused.to_string().contains("pairs"), "{refused}");
}
