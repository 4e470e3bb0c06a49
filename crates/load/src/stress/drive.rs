//! The acts of a stress: all come, write, and wait for the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::members::{Members, Order, Shared};
use super::report::{Findings, Report, Shape};
use super::{Pace, StressPlan};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, LoadError, Setup};
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::schedule::Schedule;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 2000.0;
/// Nothing has come for so long after the end: what is missing is lost.
pub(super) const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(plan: &StressPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.group < 2 || plan.members % plan.group.max(1) == 1 {
        return Err(LoadError::Plan("every group needs two members at least"));
    }
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let shared = Arc::new(Shared {
        stamps: Stamps::new_run(),
        members: plan.members,
        group: plan.group,
        body: "x".repeat(plan.body_bytes),
        pace: plan.pace,
        over: AtomicBool::new(false),
        traffic,
    });
    let of_workers = Arc::clone(&shared);
    let mut stress = Conductor::new(setup, say, move |worker, workers| {
        Members::new(Arc::clone(&of_workers), worker, workers)
    })?;
    stress.ramp();
    stress.line();
    let begin = stress.snapshot();
    write(&mut stress, plan.pace, plan.time);
    let written = stress.snapshot();
    shared.over.store(true, Ordering::Relaxed);
    let drained_at = stress.drain(DRAIN_PATIENCE)?;
    let end = stress.snapshot();
    let members = stress.state.counts.active();
    stress.each(|| Mail::Leave);
    stress.hold(Duration::from_millis(300));
    let reports = stress.reports()?;
    let findings = Findings {
        members,
        begin,
        written,
        end,
        drained_at,
        sent: read(&shared.traffic.sent),
        acknowledged: read(&shared.traffic.acknowledged),
        refused: read(&shared.traffic.refused),
        delivered: read(&shared.traffic.delivered),
        failed: read(&stress.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: stress.state.workers,
        interrupted: stress.stopped(),
        before: stress.before,
        series: stress.series.take(),
    };
    Ok(Report::new(Shape::from(plan), stress.probe, findings))
}

fn write(stress: &mut Conductor<'_, Members>, pace: Pace, time: Duration) {
    stress.stage("write", Until::Time(time));
    let begin = Instant::now();
    match pace {
        Pace::Window(_) => stress.each(|| Mail::Order(Order::Fill)),
        Pace::Rate(rate) => Schedule::new(rate).write(stress, time, Order::Due),
        Pace::Every(_) => {}
    }
    while begin.elapsed() < time && !stress.stopped() {
        stress.sample_if_due(Instant::now());
        if let Pace::Every(_) = pace {
            let passed = begin.elapsed().min(time);
            stress.each(|| Mail::Order(Order::Passed { begin, passed }));
        }
        stress.nap();
    }
}
