//! A stress against a small server over real sockets: counts are right, and faults are noticed.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::defaults;
use load::report::Run;
use load::stress::StressPlan;

/// `rate`: messages per second; None: as fast as a window of four allows.
fn stressed(rate: Option<f64>, flaws: Flaws) -> Run {
    let plan = StressPlan { groups: 4, rate, time: Duration::from_millis(400), ..defaults() };
    FakeServer::start(flaws).run(&plan)
}

#[test]
fn everything_sent_arrives_once_and_in_order() {
    let report = stressed(None, Flaws::default()).object();
    let sent = &report["sent"];
    assert!(sent.as_u64() > Some(160), "{report}");
    assert_eq!((&report["acknowledged"], &report["delivered"]), (sent, sent), "{report}");
    for wrong in ["lost", "doubled", "misordered", "holes", "strange"] {
        assert_eq!(report[wrong], 0, "{wrong} in {report}");
    }
    let ms = |of: &str, at: &str| report[of][at].as_f64().unwrap();
    assert!(ms("ack_ms", "p50") > 0.0, "{report}");
    assert!(ms("delivery_ms", "p99") >= ms("delivery_ms", "p50"), "{report}");
    assert!(report["delivered_per_second"].as_f64().unwrap() > 100.0);
}

#[test]
fn a_rate_is_kept() {
    let run = stressed(Some(500.0), Flaws::default());
    let report = run.object();
    assert!((100..=200).contains(&report["sent"].as_u64().unwrap()), "{report}");
    assert_eq!(report["delivered"], report["sent"], "{report}");
    let names: Vec<&str> = run.figures().take(2).map(|of| of.name).collect();
    assert_eq!(names, ["delivery, p50", "delivery, p99"]);
    assert!(run.headline.starts_with(|digit: char| digit.is_ascii_digit()), "{}", run.headline);
}

#[test]
fn faults_of_the_server_are_counted() {
    let counts = |flaws: Flaws| {
        let report = stressed(Some(500.0), flaws).object();
        move |key: &str| report[key].as_u64().unwrap()
    };
    let losing = counts(Flaws { lose_every: Some(10), ..Flaws::default() });
    assert_eq!(losing("lost"), losing("sent") / 10);
    let doubling = counts(Flaws { double_every: Some(10), ..Flaws::default() });
    assert_eq!((doubling("doubled"), doubling("lost")), (doubling("sent") / 10, 0));
    let jumping = counts(Flaws { misorder_every: Some(10), ..Flaws::default() });
    assert!(jumping("misordered") > 0 && jumping("holes") > 0);
}
