//! A flood against a small server over real sockets: all members are counted, on every transport.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::Plan;
use load::flood::FloodPlan;
use load::report::Run;
use load::target::Transport;

fn flooded(
    server: &FakeServer,
    transport: Transport,
    connections: u32,
    exchange: Option<usize>,
) -> (Run, Vec<String>) {
    let plan = FloodPlan {
        transport,
        connections,
        rate: 5000.0,
        hold: Duration::from_millis(300),
        exchange,
        settle: Some(Duration::from_millis(600)),
    };
    let mut lines = Vec::new();
    let report = plan.run(&server.options(), &mut |line| lines.push(line.to_owned())).unwrap();
    (report, lines)
}

#[test]
fn all_members_connect_exchange_a_message_and_leave() {
    std::thread::scope(|scope| {
        for transport in Transport::WEB {
            scope.spawn(move || {
                let (run, lines) = flooded(&FakeServer::start(Flaws::default()), transport, 200, Some(5000));
                let report = run.object();
                assert_eq!(counts(&report), (200, 0), "{transport:?} {report}");
                let exchange = &report["exchange"];
                assert_eq!(
                    (&exchange["acknowledged"], &exchange["received"]),
                    (&200.into(), &200.into()),
                    "{transport:?}"
                );
                assert_eq!(report["after_left"]["active"], 0);
                let p99 = report["connect_ms"]["p99"].as_f64().unwrap();
                assert!(p99 > 0.0 && p99 < 30_000.0);
                assert!(lines[0].contains("{Active: 200, Closed: 0, Chunks: "), "{lines:?}");
                assert_eq!(run.series.last().unwrap().active, 0);
                let picture = run.svg();
                assert!(picture.starts_with("<svg") && picture.contains("200 connections over"), "{picture}");
                let json: serde_json::Value = serde_json::from_str(&run.json()).unwrap();
                for key in ["user_bytes_per_connection", "kernel_bytes_per_connection", "cpu_us_per_connect"]
                {
                    assert!(json[key].is_number(), "{key}");
                }
                assert_eq!((&json["connections"], &json["failed"]), (&200.into(), &0.into()));
                assert!(json["valid"].is_boolean());
            });
        }
    });
}

fn counts(report: &serde_json::Value) -> (u64, u64) {
    (report["connections"].as_u64().unwrap(), report["failed"].as_u64().unwrap())
}

#[test]
fn refusals_are_failures_with_a_reason() {
    let refusing = || FakeServer::start(Flaws { refuse_every: Some(10), ..Flaws::default() });
    let (run, _) = flooded(&refusing(), Transport::Websocket, 100, None);
    assert_eq!(counts(&run.object()), (90, 10));
    assert_eq!(run.failures["bye: full"], 10);
    let (run, _) = flooded(&refusing(), Transport::Stream, 100, None);
    assert_eq!(counts(&run.object()), (90, 10));
    assert_eq!(run.failures["refused with 503 and the code full"], 10);
}

#[test]
fn a_deferred_login_is_repeated_at_the_given_time() {
    let server = FakeServer::start(Flaws { put_off_hellos: Some((10, 400)), ..Flaws::default() });
    let (run, _) = flooded(&server, Transport::Websocket, 100, None);
    let waits = server.waits();
    assert_eq!(counts(&run.object()), (100, 0), "{:?}", run.failures);
    assert!(waits.len() >= 10 && waits.iter().all(|wait| wait.as_millis() >= 400), "{waits:?}");
    assert_eq!(run.failures["told to come later: bye: unavailable"] as usize, waits.len());
    // Counts from the due time.
    assert!(run.object()["connect_ms"]["max"].as_f64() >= Some(400.0), "{run}");
}

#[test]
fn a_message_that_is_put_off_is_said_again_and_not_before_the_server_wants_it() {
    let server = FakeServer::start(Flaws { put_off_messages: Some((10, 400)), ..Flaws::default() });
    let (run, _) = flooded(&server, Transport::Sse, 100, Some(100));
    let waits = server.waits();
    assert!(waits.len() >= 10 && waits.iter().all(|wait| wait.as_millis() >= 400), "{waits:?}");
    let exchange = &run.object()["exchange"];
    for (count, expected) in [("acknowledged", 100), ("received", 100), ("refused", 0)] {
        assert_eq!(exchange[count], expected, "{count}");
    }
    assert_eq!(run.failures["exchange: unavailable"] as usize, waits.len());
}
