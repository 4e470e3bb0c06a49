//! The acts: all come, call and hang up at once, call and stay, and hang up.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use super::CallsPlan;
use super::members::{Members, Order, Shared};
use super::report::{Findings, Report};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, LoadError, Setup};
use crate::observer::Until;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 4000.0;
/// Nothing has moved for so long: what is missing is lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// The server gives memory back and writes what is left of the calls, before it is looked at.
const SETTLE: Duration = Duration::from_secs(3);

pub(super) fn run(plan: &CallsPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.pairs.saturating_mul(2),
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let shared = Arc::new(Shared::new(plan, traffic));
    let of_workers = Arc::clone(&shared);
    let mut calls = Conductor::new(setup, say, move |worker, workers| {
        Members::new(Arc::clone(&of_workers), worker, workers)
    })?;
    calls.ramp();
    calls.line();
    let members = calls.state.counts.active();
    let begin = calls.snapshot();
    calls.stage("call", Until::Time(plan.time));
    let start = Instant::now();
    while start.elapsed() < plan.time && !calls.stopped() {
        fill(&mut calls, Order::CallAndHangUp);
    }
    let set_up = read(&shared.up);
    let said = calls.snapshot();
    calls.each(|| Mail::Order(Order::Rest));
    calls.drain(PATIENCE)?;
    calls.stage("settle", Until::Time(SETTLE));
    calls.hold(SETTLE);
    let unheld = calls.snapshot();

    let before = read(&shared.up);
    calls.stage("call and stay", Until::ItIsDone);
    let all = before + u64::from(plan.pairs);
    await_all(&mut calls, &shared.up, all, |calls| fill(calls, Order::CallAndStay));
    let held_calls = read(&shared.up) - before;
    calls.stage("hold", Until::Time(plan.hold));
    let holding = calls.hold(plan.hold);
    let held = calls.snapshot();

    let before = read(&shared.over);
    calls.stage("hang up", Until::ItIsDone);
    calls.each(|| Mail::Order(Order::HangUp));
    await_all(&mut calls, &shared.over, before + held_calls, |calls| {
        calls.hold(Duration::from_millis(20));
    });
    let hung_up = read(&shared.over) - before;
    calls.hold(SETTLE);
    let end = calls.snapshot();
    calls.each(|| Mail::Leave);
    calls.hold(Duration::from_millis(300));
    let reports = calls.reports()?;
    let findings = Findings {
        members,
        begin,
        said,
        set_up,
        unheld,
        holding,
        held,
        held_calls,
        hung_up,
        end,
        traffic: [&shared.traffic.sent, &shared.traffic.refused].map(read),
        failed: read(&calls.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: calls.state.workers,
        interrupted: calls.stopped(),
        series: calls.series.take(),
    };
    Ok(Report::new(plan, calls.probe, findings))
}

/// All workers fill their part of the window.
fn fill(calls: &mut Conductor<'_, Members>, order: Order) {
    calls.each(|| Mail::Order(order));
    calls.sample_if_due(Instant::now());
    calls.nap();
}

/// Until so many have come, or nothing has for a while.
fn await_all(
    calls: &mut Conductor<'_, Members>,
    count: &AtomicU64,
    all: u64,
    beat: impl Fn(&mut Conductor<'_, Members>),
) {
    let (mut last, mut last_change) = (read(count), Instant::now());
    while last < all && last_change.elapsed() < PATIENCE && !calls.stopped() {
        beat(calls);
        let now = read(count);
        if now != last {
            (last, last_change) = (now, Instant::now());
        }
    }
}
