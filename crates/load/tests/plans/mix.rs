//! A mix against a small server over real sockets: members connect until a limit is reached, and the report names it.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::mix::MixPlan;
use load::{Size, defaults};
use serde_json::Value;

fn mixed(flaws: Flaws, change: impl FnOnce(&mut MixPlan)) -> Value {
    let mut plan = MixPlan {
        members: 10_000,
        rate: 400.0,
        memory_limit: Size(u64::MAX),
        error_limit: 50.0,
        time: Duration::from_secs(2),
        group: 5,
        write_every: Duration::from_millis(300),
        presence_every: Duration::from_secs(1),
        ..defaults()
    };
    change(&mut plan);
    FakeServer::start(flaws).run(&plan).object()
}

#[test]
fn members_come_and_write_until_time_is_over() {
    let report = mixed(Flaws::default(), |_| {});
    assert_eq!((&report["ended_by"], &report["failed"]), (&"time".into(), &0.into()), "{report}");
    // 800 on average, with random spread; fewer connect on a slow machine.
    assert!((300..=950).contains(&count(&report, "members")), "{report}");
    assert!(count(&report, "sent") > 50 && count(&report, "presences") > 50, "{report}");
    for same in ["acknowledged", "delivered"] {
        assert_eq!(report[same], report["sent"], "{same} in {report}");
    }
    assert_eq!((&report["lost"], &report["doubled"]), (&0.into(), &0.into()));
}

fn count(report: &Value, key: &str) -> u64 {
    report[key].as_u64().unwrap()
}

#[test]
fn each_limit_ends_it() {
    // A time limit that even a slow machine does not reach first.
    let in_time = |plan: &mut MixPlan| plan.time = Duration::from_secs(60);
    let few = mixed(Flaws::default(), |plan| {
        in_time(plan);
        plan.members = 50;
    });
    assert_eq!((&few["ended_by"], &few["members"]), (&"members".into(), &50.into()), "{few}");
    let memory = mixed(Flaws::default(), |plan| {
        in_time(plan);
        plan.memory_limit = Size(1);
    });
    assert_eq!(memory["ended_by"], "memory", "{memory}");
    let refusing = Flaws { refuse_every: Some(2), ..Flaws::default() };
    let errors = mixed(refusing, |plan| {
        in_time(plan);
        plan.error_limit = 5.0;
    });
    assert_eq!(errors["ended_by"], "errors", "{errors}");
    assert!(errors["failures"]["bye: full"].as_u64() > Some(0));
}

#[test]
fn lost_and_doubled_messages_are_counted() {
    let flaws = Flaws { lose_every: Some(7), double_every: Some(5), ..Flaws::default() };
    let report = mixed(flaws, |plan| {
        plan.members = 400;
        plan.write_every = Duration::from_millis(50);
    });
    assert!(count(&report, "lost") > 0 && count(&report, "doubled") > 0, "{report}");
    assert_eq!(count(&report, "lost") + count(&report, "delivered"), count(&report, "acknowledged"));
}
