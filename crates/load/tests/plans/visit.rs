//! Visits of a small site over real sockets: files are fetched in order, cached by their lifetimes, and counted.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::report::Run;
use load::visit::VisitPlan;
use load::{LoadError, Plan};
use serde_json::Value;

/// 30 visitors who click every second, so that a short test covers all phases.
fn visited(page: &str, flaws: Flaws) -> Result<Run, LoadError> {
    let plan = VisitPlan {
        page: page.to_owned(),
        visitors: 30,
        stay: Duration::from_secs(6),
        think: Duration::from_secs(1),
        write_every: Duration::from_secs(1),
        connections: 2,
        rate: 500.0,
        time: Duration::from_secs(3),
    };
    plan.run(&FakeServer::start(flaws).options(), &mut |_| {})
}

fn count(report: &Value, key: &str) -> u64 {
    report[key].as_u64().unwrap()
}

fn of_kind(report: &Value, kind: &str) -> u64 {
    let kinds = report["kinds"].as_array().unwrap();
    kinds.iter().find(|of| of["kind"] == kind).map_or(0, |of| count(of, "count"))
}

#[test]
fn visitors_come_browse_write_and_leave() {
    let run = visited("/page", Flaws::default()).unwrap();
    let report = run.object();
    assert_eq!(run.failures, [].into(), "{report}");
    assert_eq!((count(&report, "pages"), count(&report, "files")), (1, 4));
    assert_eq!(report["availability_percent"], 100.0);
    let [pages, tokens, logins] = ["page", "token", "login"].map(|kind| of_kind(&report, kind));
    // 30 visitors with about a view per second each; each view has its token and its session.
    assert!(pages > 60 && pages == tokens && tokens == logins, "{pages} {tokens} {logins}");
    assert_eq!(of_kind(&report, "avatar"), pages, "what may not be kept is fetched each time");
    assert_eq!(of_kind(&report, "loader"), pages);
    let new = count(&report, "came");
    assert!(new > 0 && count(&report, "left") > 0, "{report}");
    assert_eq!(count(&report, "unchanged"), pages - new, "a returning visitor revalidates the cache");
    assert_eq!((of_kind(&report, "shell"), of_kind(&report, "file")), (new, new), "only newcomers fetch it");
    let messages = count(&report, "messages");
    assert!(messages > 5 && of_kind(&report, "message") == messages, "{report}");
    assert_eq!(report["transactions"], report["successful"]);
    let sum: u64 = report["kinds"].as_array().unwrap().iter().map(|of| count(of, "count")).sum();
    assert_eq!(sum, count(&report, "transactions"));
    let table = run.to_string();
    assert!(table.contains("Availability:") && table.contains("100.00 %"), "{table}");
}

#[test]
fn failures_are_counted_with_their_reasons() {
    let run = visited("/page", Flaws { no_token_every: Some(4), ..Flaws::default() }).unwrap();
    let report = run.object();
    let failed = run.failures["token (POST): the status 503"];
    // On a busy machine, a message may have no answer either before its page is left.
    let all: u64 = run.failures.values().sum();
    let counted = count(&report, "failed");
    assert!(failed > 5 && all >= counted && counted > 5, "{report}");
    assert_eq!(of_kind(&report, "login"), of_kind(&report, "token"), "without a token nobody logs in");
    assert!((50.0..99.9).contains(&report["availability_percent"].as_f64().unwrap()), "{report}");
}

#[test]
fn a_missing_page_is_reported_before_the_first_visitor() {
    let missing = visited("/nowhere", Flaws::default()).unwrap_err().to_string();
    assert!(missing.contains("/nowhere answers with the status 404; name another --page"), "{missing}");
    let foreign = visited("/style.css", Flaws::default()).unwrap_err().to_string();
    assert!(foreign.contains("no tag of Kith's loader"), "{foreign}");
}
