//! Visits of a small site over real sockets: everything is fetched in order, cached as it may be, and counted.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

mod fake_server;

use std::time::Duration;

use fake_server::{FakeServer, Flaws};
use load::target::Target;
use load::visit::{self, Kind, Report, VisitPlan};
use load::{LoadError, RunOptions};

/// 30 visitors who click every second, so that a short test sees all of it.
fn visited(page: &str, flaws: Flaws) -> Result<Report, LoadError> {
    let server = FakeServer::start(flaws);
    let target = Target::parse(&server.url()).unwrap();
    let plan = VisitPlan {
        // The server is in this process.
        options: RunOptions {
            server: Some(std::process::id()),
            ..RunOptions::new(target, "demo", b"secret")
        },
        page: page.to_owned(),
        visitors: 30,
        stay: Duration::from_secs(6),
        think: Duration::from_secs(1),
        write_every: Duration::from_secs(1),
        connections: 2,
        rate: 500.0,
        time: Duration::from_secs(3),
    };
    visit::run(&plan, &mut |_| {})
}

fn count(report: &Report, kind: Kind) -> u64 {
    report.kinds.iter().find(|of| of.kind == kind).map_or(0, |of| of.count)
}

#[test]
fn visitors_come_browse_write_and_leave() {
    let report = visited("/page", Flaws::default()).unwrap();
    assert_eq!(report.failures, [].into(), "{}", report.json());
    assert_eq!((report.pages, report.files, report.availability_percent), (1, 4, 100.0));
    let (pages, tokens, logins) =
        (count(&report, Kind::Page), count(&report, Kind::Token), count(&report, Kind::Login));
    // 30 visitors with about a view per second each; each view has its token and its session.
    assert!(pages > 60 && pages == tokens && tokens == logins, "{pages} {tokens} {logins}");
    assert_eq!(count(&report, Kind::Avatar), pages, "what may not be kept is fetched each time");
    assert_eq!(count(&report, Kind::Loader), pages);
    let news = report.came;
    assert!(news > 0 && report.left > 0, "{}", report.json());
    assert_eq!(report.unchanged, pages - news, "who has been there asks whether it is still right");
    assert_eq!(
        (count(&report, Kind::Shell), count(&report, Kind::File)),
        (news, news),
        "only newcomers fetch it"
    );
    assert!(report.messages > 5 && count(&report, Kind::Message) == report.messages, "{}", report.json());
    assert_eq!(report.transactions, report.successful);
    let sum: u64 = report.kinds.iter().map(|of| of.count).sum();
    assert_eq!(sum, report.transactions);
    let table = report.to_string();
    assert!(table.contains("Availability:") && table.contains("100.00 %"), "{table}");
}

#[test]
fn what_fails_is_counted_with_its_reason() {
    let report = visited("/page", Flaws { no_token_every: Some(4), ..Flaws::default() }).unwrap();
    let failed = report.failures["token (POST): the status 503"];
    // On a busy machine, a message may have no answer either before its page is left.
    let all: u64 = report.failures.values().sum();
    assert!(failed > 5 && all >= report.failed && report.failed > 5, "{}", report.json());
    assert_eq!(count(&report, Kind::Login), count(&report, Kind::Token), "without a token nobody logs in");
    assert!((50.0..99.9).contains(&report.availability_percent), "{}", report.availability_percent);
}

#[test]
fn a_page_that_is_none_is_said_before_anybody_comes() {
    let missing = visited("/nowhere", Flaws::default()).unwrap_err().to_string();
    assert!(missing.contains("/nowhere answers with the status 404; name another --page"), "{missing}");
    let foreign = visited("/style.css", Flaws::default()).unwrap_err().to_string();
    assert!(foreign.contains("no tag of Kith's loader"), "{foreign}");
}
