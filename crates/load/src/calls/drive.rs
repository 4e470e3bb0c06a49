//! The acts: all come, call and hang up at once, call and stay, and hang up.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use super::CallsPlan;
use super::parties::{Order, Parties, Table};
use super::report::{Findings, Report};
use crate::arrivals::Arrivals;
use crate::conductor::{Cast, Conductor, LoadError};
use crate::crowd::{Mail, read};
use crate::traffic::Traffic;
use crate::watch::Until;

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 4000.0;
/// Nothing has moved for so long: what is missing is lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// The server gives memory back and writes what is left of the calls, before it is looked at.
const SETTLE: Duration = Duration::from_secs(3);

pub(super) fn run(plan: &CallsPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    let traffic = Arc::new(Traffic::default());
    let cast = Cast {
        aim: &plan.aim,
        transport: plan.transport,
        members: plan.pairs.saturating_mul(2),
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let table = Arc::new(Table::new(plan, traffic));
    let of_workers = Arc::clone(&table);
    let mut calls = Conductor::new(cast, say, move |worker, workers| {
        Parties::new(Arc::clone(&of_workers), worker, workers)
    })?;
    calls.ramp();
    calls.line();
    let members = calls.field.counts.active();
    let begin = calls.stand();
    calls.stage("call", Until::Time(plan.time));
    let start = Instant::now();
    while start.elapsed() < plan.time && !calls.stopped() {
        fill(&mut calls, Order::CallAndHangUp);
    }
    let set_up = read(&table.up);
    let said = calls.stand();
    calls.each(|| Mail::Order(Order::Rest));
    calls.drain(PATIENCE)?;
    calls.stage("settle", Until::Time(SETTLE));
    calls.hold(SETTLE);
    let unheld = calls.stand();

    let before = read(&table.up);
    calls.stage("call and stay", Until::ItIsDone);
    let all = before + u64::from(plan.pairs);
    await_all(&mut calls, &table.up, all, |calls| fill(calls, Order::CallAndStay));
    let held_calls = read(&table.up) - before;
    calls.stage("hold", Until::Time(plan.hold));
    let holding = calls.hold(plan.hold);
    let held = calls.stand();

    let before = read(&table.over);
    calls.stage("hang up", Until::ItIsDone);
    calls.each(|| Mail::Order(Order::HangUp));
    await_all(&mut calls, &table.over, before + held_calls, |calls| {
        calls.hold(Duration::from_millis(20));
    });
    let hung_up = read(&table.over) - before;
    calls.hold(SETTLE);
    let end = calls.stand();
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
        traffic: [&table.traffic.sent, &table.traffic.refused].map(read),
        failed: read(&calls.field.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: calls.field.workers,
        interrupted: calls.stopped(),
        series: calls.series.take(),
    };
    Ok(Report::new(plan, calls.probe, findings))
}

/// All workers fill their part of the window.
fn fill(calls: &mut Conductor<'_, Parties>, order: Order) {
    calls.each(|| Mail::Order(order));
    calls.sample_if_due(Instant::now());
    calls.nap();
}

/// Until so many have come, or nothing has for a while.
fn await_all(
    calls: &mut Conductor<'_, Parties>,
    count: &AtomicU64,
    all: u64,
    beat: impl Fn(&mut Conductor<'_, Parties>),
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
