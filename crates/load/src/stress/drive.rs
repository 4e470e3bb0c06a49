//! The acts of a stress: all come, write, and wait for the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::report::{Findings, Report, Shape};
use super::writing::{Order, Writers, Writing};
use super::{Pace, StressPlan};
use crate::arrivals::Arrivals;
use crate::conductor::{Cast, Conductor, LoadError};
use crate::crowd::{Mail, read};
use crate::pen::Pen;
use crate::postmark::Postmarks;
use crate::traffic::Traffic;
use crate::watch::Until;

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 2000.0;
/// Nothing has come for so long after the end: what is missing is lost.
pub(super) const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(plan: &StressPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.group < 2 || plan.members % plan.group.max(1) == 1 {
        return Err(LoadError::Plan("every group needs two members at least"));
    }
    let traffic = Arc::new(Traffic::default());
    let cast = Cast {
        aim: &plan.aim,
        transport: plan.transport,
        members: plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let writing = Arc::new(Writing {
        marks: Postmarks::of_a_new_run(),
        members: plan.members,
        group: plan.group,
        body: "x".repeat(plan.body_bytes),
        pace: plan.pace,
        over: AtomicBool::new(false),
        traffic,
    });
    let of_workers = Arc::clone(&writing);
    let mut stress = Conductor::new(cast, say, move |worker, workers| {
        Writers::new(Arc::clone(&of_workers), worker, workers)
    })?;
    stress.ramp();
    stress.line();
    let begin = stress.stand();
    write(&mut stress, plan.pace, plan.time);
    let written = stress.stand();
    writing.over.store(true, Ordering::Relaxed);
    let drained_at = stress.drain(DRAIN_PATIENCE)?;
    let end = stress.stand();
    let members = stress.field.counts.active();
    stress.each(|| Mail::Leave);
    stress.hold(Duration::from_millis(300));
    let reports = stress.reports()?;
    let findings = Findings {
        members,
        begin,
        written,
        end,
        drained_at,
        sent: read(&writing.traffic.sent),
        acknowledged: read(&writing.traffic.acknowledged),
        refused: read(&writing.traffic.refused),
        delivered: read(&writing.traffic.delivered),
        failed: read(&stress.field.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: stress.field.workers,
        interrupted: stress.stopped(),
        before: stress.before,
        series: stress.series.take(),
    };
    Ok(Report::new(Shape::from(plan), stress.probe, findings))
}

fn write(stress: &mut Conductor<'_, Writers>, pace: Pace, time: Duration) {
    stress.stage("write", Until::Time(time));
    let begin = Instant::now();
    match pace {
        Pace::Window(_) => stress.each(|| Mail::Order(Order::Fill)),
        Pace::Rate(rate) => Pen::new(rate).write(stress, time, Order::Due),
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
