//! A storm against a small server over real sockets: reconnects and refused messages wait for the server's delay.

use std::time::Duration;

use crate::fake_server::{FakeServer, Flaws};
use load::report::Run;
use load::storm::StormPlan;
use load::target::Transport;

const ADVICE: Duration = Duration::from_millis(700);

/// The report, and the delays of deferred logins and messages.
fn stormed(transport: Transport, writes: f64, flaws: Flaws) -> (Run, Vec<Duration>) {
    let server = FakeServer::start(flaws);
    let plan = StormPlan {
        transport,
        members: 40,
        watchers: 2,
        rate: 1_000.0,
        writes,
        spread: Duration::from_millis(50),
        calm: Duration::from_millis(300),
    };
    (server.run(&plan), server.waits())
}

#[test]
fn a_deferred_login_or_reconnect_waits_for_the_time_that_the_server_names() {
    let flaws = Flaws { put_off_hellos: Some((2, ADVICE.as_millis() as u64)), ..Flaws::default() };
    std::thread::scope(|scope| {
        for transport in Transport::WEB {
            scope.spawn(move || {
                let (run, waits) = stormed(transport, 0.001, flaws);
                let report = run.object();
                assert_eq!(
                    (&report["returned"], &report["failed"]),
                    (&40.into(), &0.into()),
                    "{transport:?} {run}"
                );
                assert!(waits.len() >= 40, "{transport:?} {waits:?}");
                assert!(waits.iter().all(|wait| *wait >= ADVICE), "{transport:?} {waits:?}");
                assert!(report["back_after_seconds"].as_f64() > Some(ADVICE.as_secs_f64()), "{run}");
                let refused: u64 = run.failures.values().sum();
                assert_eq!(refused as usize, waits.len(), "{transport:?} {run}");
            });
        }
    });
}

#[test]
fn a_message_that_is_put_off_is_said_again_and_not_before_the_server_wants_it() {
    let flaws = Flaws { put_off_messages: Some((5, ADVICE.as_millis() as u64)), ..Flaws::default() };
    let (run, waits) = stormed(Transport::Websocket, 100.0, flaws);
    let report = run.object();
    assert!(waits.len() >= 5 && waits.iter().all(|wait| *wait >= ADVICE), "{waits:?}");
    assert!(report["sent"].is_u64() && report["acknowledged"] == report["sent"], "{run}");
    assert_eq!(run.refused["unavailable"] as usize, waits.len(), "{run}");
    // Counts from the due time.
    assert!(report["ack_ms"]["max"].as_f64() >= Some(ADVICE.as_secs_f64() * 1_000.0), "{run}");
}
