//! Typing against a small server over real sockets: counts are right, and missing events are noticed.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::report::Run;
use load::typing::TypingPlan;
use load::{Plan, defaults};

/// `rate`: events per second; None: as fast as a window of four allows.
fn typed(rate: Option<f64>, flaws: Flaws) -> Run {
    let plan = TypingPlan { members: 40, rate, time: Duration::from_millis(400), ..defaults() };
    FakeServer::start(flaws).run(&plan)
}

#[test]
fn all_events_are_delivered_and_answered() {
    let report = typed(None, Flaws::default()).object();
    assert!(report["said"].as_u64() > Some(160) && report["valid"] == true, "{report}");
    assert_eq!(report["heard"], report["said"], "{report}");
    assert_eq!((&report["dropped"], &report["strange"]), (&0.into(), &0.into()), "{report}");
    let [p50, p99] = ["p50", "p99"].map(|at| report["delivery_ms"][at].as_f64().unwrap());
    assert!(p50 > 0.0 && p99 >= p50, "{report}");
    assert!(report["heard_per_second"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_rate_is_kept_and_dropped_events_are_counted() {
    let run = typed(Some(500.0), Flaws { lose_every: Some(10), ..Flaws::default() });
    let report = run.object();
    let said = report["said"].as_u64().unwrap();
    assert!((100..=200).contains(&said), "{report}");
    assert_eq!(report["dropped"], said / 10, "{report}");
    let names: Vec<&str> = run.figures().take(2).map(|of| of.name).collect();
    assert_eq!(names, ["heard after, p50", "heard after, p99"]);
}

#[test]
fn an_odd_number_of_members_is_refused() {
    let refused = TypingPlan { members: 3, ..defaults() }.check().unwrap_err();
    assert!(refused.says.contains("pairs"), "{refused:?}");
}
