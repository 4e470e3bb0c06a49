//! Typing against a small server over real sockets: it counts right, and notices what is missing.
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
fn everything_said_is_heard_and_answered_while_there_is_time() {
    let report = typed(40, Pace::Window(4), Flaws::default()).unwrap().object();
    assert!(report["said"].as_u64() > Some(160) && report["valid"] == true, "{report}");
    assert_eq!(report["heard"], report["said"], "{report}");
    assert_eq!((&report["dropped"], &report["strange"]), (&0.into(), &0.into()), "{report}");
    let [p50, p99] = ["p50", "p99"].map(|at| report["delivery_ms"][at].as_f64().unwrap());
    assert!(p50 > 0.0 && p99 >= p50, "{report}");
    assert!(report["heard_per_second"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_rate_is_kept_and_what_is_dropped_is_counted() {
    let run = typed(40, Pace::Rate(500.0), Flaws { lose_every: Some(10), ..Flaws::default() }).unwrap();
    let report = run.object();
    let said = report["said"].as_u64().unwrap();
    assert!((100..=200).contains(&said), "{report}");
    assert_eq!(report["dropped"], said / 10, "{report}");
    let names: Vec<&str> = run.figures().take(2).map(|of| of.name).collect();
    assert_eq!(names, ["heard after, p50", "heard after, p99"]);
}

#[test]
fn one_alone_types_to_nobody() {
    let refused = typed(3, Pace::Window(1), Flaws::default()).unwrap_err();
    assert!(refused.to_string().contains("pairs"), "{refused}");
}
