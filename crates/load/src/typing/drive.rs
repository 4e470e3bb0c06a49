//! The acts: all come, tell each other that they type, and wait for the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::pairs::{Order, Pairs, Table};
use super::report::{Findings, Report};
use super::{Pace, TypingPlan};
use crate::arrivals::Arrivals;
use crate::conductor::{Cast, Conductor, LoadError};
use crate::crowd::{Mail, read};
use crate::pen::Pen;
use crate::traffic::Traffic;
use crate::watch::Until;

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 2000.0;
/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn run(plan: &TypingPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.members % 2 == 1 {
        return Err(LoadError::Plan("members come in pairs: an even number of them is needed"));
    }
    let traffic = Arc::new(Traffic::default());
    let cast = Cast {
        aim: &plan.aim,
        transport: plan.transport,
        members: plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let table = Arc::new(Table::new(plan.members, plan.pace, traffic));
    let of_workers = Arc::clone(&table);
    let mut typing = Conductor::new(cast, say, move |worker, workers| {
        Pairs::new(Arc::clone(&of_workers), worker, workers)
    })?;
    typing.ramp();
    typing.line();
    let begin = typing.stand();
    typing.stage("type", Until::Time(plan.time));
    match plan.pace {
        Pace::Window(_) => {
            typing.each(|| Mail::Order(Order::Fill));
            typing.hold(plan.time);
        }
        Pace::Rate(rate) => Pen::new(rate).write(&mut typing, plan.time, Order::Due),
    }
    let said = typing.stand();
    table.over.store(true, Ordering::Relaxed);
    let drained_at = typing.drain(DRAIN_PATIENCE)?;
    let end = typing.stand();
    let members = typing.field.counts.active();
    typing.each(|| Mail::Leave);
    typing.hold(Duration::from_millis(300));
    let reports = typing.reports()?;
    let findings = Findings {
        members,
        begin,
        said,
        end,
        drained_at,
        sent: read(&table.traffic.sent),
        refused: read(&table.traffic.refused),
        heard: read(&table.traffic.delivered),
        failed: read(&typing.field.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: typing.field.workers,
        interrupted: typing.stopped(),
        series: typing.series.take(),
    };
    Ok(Report::new(plan, typing.probe, findings))
}
