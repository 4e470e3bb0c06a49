//! The acts: all come, tell each other that they type, and wait for the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::members::{Members, Order, Shared};
use super::report::{Findings, Report};
use super::{Pace, TypingPlan};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, LoadError, Setup};
use crate::observer::Until;
use crate::schedule::Schedule;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 2000.0;
/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn run(plan: &TypingPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.members % 2 == 1 {
        return Err(LoadError::Plan("members come in pairs: an even number of them is needed"));
    }
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let shared = Arc::new(Shared::new(plan.members, plan.pace, traffic));
    let of_workers = Arc::clone(&shared);
    let mut typing = Conductor::new(setup, say, move |worker, workers| {
        Members::new(Arc::clone(&of_workers), worker, workers)
    })?;
    typing.ramp();
    typing.line();
    let begin = typing.snapshot();
    typing.stage("type", Until::Time(plan.time));
    match plan.pace {
        Pace::Window(_) => {
            typing.each(|| Mail::Order(Order::Fill));
            typing.hold(plan.time);
        }
        Pace::Rate(rate) => Schedule::new(rate).write(&mut typing, plan.time, Order::Due),
    }
    let said = typing.snapshot();
    shared.over.store(true, Ordering::Relaxed);
    let drained_at = typing.drain(DRAIN_PATIENCE)?;
    let end = typing.snapshot();
    let members = typing.state.counts.active();
    typing.each(|| Mail::Leave);
    typing.hold(Duration::from_millis(300));
    let reports = typing.reports()?;
    let findings = Findings {
        members,
        begin,
        said,
        end,
        drained_at,
        sent: read(&shared.traffic.sent),
        refused: read(&shared.traffic.refused),
        heard: read(&shared.traffic.delivered),
        failed: read(&typing.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: typing.state.workers,
        interrupted: typing.stopped(),
        series: typing.series.take(),
    };
    Ok(Report::new(plan, typing.probe, findings))
}
