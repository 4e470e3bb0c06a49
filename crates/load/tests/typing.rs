//! Typing against a small server over real sockets: counts are right, and missing events are noticed.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::report::Run;
use load::target::{Target, Transport};
use load::typing::{self, Pace, TypingPlan};
use load::{LoadError, RunOptions};

fn typed(members: u32, pace: Pace, flaws: Flaws) -> Result<Run, LoadError> {
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
fn all_events_are_delivered_and_answered() {
    let report = typed(40, Pace::Window(4), Flaws::default()).unwrap().object();
    assert!(report["said"].as_u64() > Some(160) && report["valid"] == true, "{report}");
    assert_eq!(report["heard"], report["said"], "{report}");
    assert_eq!((&report["dropped"], &report["strange"]), (&0.into(), &0.into()), "{report}");
    let [p50, p99] = ["p50", "p99"].map(|at| report["delivery_ms"][at].as_f64().unwrap());
    assert!(p50 > 0.0 && p99 >= p50, "{report}");
    assert!(report["heard_per_second"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_rate_is_kept_and_dropped_events_are_counted() {
    let run = typed(40, Pace::Rate(500.0), Flaws { lose_every: Some(10), ..Flaws::default() }).unwrap();
    let report = run.object();
    let said = report["said"].as_u64().unwrap();
    assert!((100..=200).contains(&said), "{report}");
    assert_eq!(report["dropped"], said / 10, "{report}");
    let names: Vec<&str> = run.figures().take(2).map(|of| of.name).collect();
    assert_eq!(names, ["heard after, p50", "heard after, p99"]);
}

#[test]
fn an_odd_number_of_members_is_refused() {
    let refused = typed(3, Pace::Window(1), Flaws::default()).unwrap_err();
    assert!(refused.to_string().contains("pairs"), "{refused}");
}
