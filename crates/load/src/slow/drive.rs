//! The acts: all come and write, some stop reading, read again, and catch up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SlowPlan;
use super::members::{Members, Order, Shared};
use super::report::{Findings, Report};
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
const CATCH_UP_PATIENCE: Duration = Duration::from_secs(8);

pub(super) fn run(plan: &SlowPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.slow == 0 || plan.members < 2 {
        return Err(LoadError::Plan("one slow member and two others are needed at least"));
    }
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.slow + plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let of_workers = Arc::new(Shared {
        stamps: Stamps::new_run(),
        slow: plan.slow,
        others: plan.members,
        body: "x".repeat(plan.body_bytes),
        traffic: Arc::clone(&traffic),
    });
    let mut play = Conductor::new(setup, say, move |worker, workers| {
        Members::new(Arc::clone(&of_workers), worker, workers)
    })?;
    play.ramp();
    let ramped = play.state.counts.active();
    play.line();
    let mut schedule = Schedule::new(plan.writes);
    play.stage("calm", Until::Time(plan.calm));
    schedule.write(&mut play, plan.calm, Order::Due);
    let calm = play.snapshot();
    play.each(|| Mail::Order(Order::Pause));
    play.each(|| Mail::Reading { below: plan.slow, on: false });
    play.stage("pause", Until::Time(plan.pause));
    schedule.write(&mut play, plan.pause, Order::Due);
    let paused = play.snapshot();
    play.each(|| Mail::Reading { below: plan.slow, on: true });
    let resumed = Instant::now();
    let caught_up = play.drain(CATCH_UP_PATIENCE)?.saturating_duration_since(resumed);
    play.each(|| Mail::Leave);
    play.hold(Duration::from_millis(300));
    let reports = play.reports()?;
    let findings = Findings {
        interrupted: play.stopped(),
        ramped,
        calm,
        paused,
        caught_up,
        sent: read(&traffic.sent),
        acknowledged: read(&traffic.acknowledged),
        refused: read(&traffic.refused),
        delivered: read(&traffic.delivered),
        failed: read(&play.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: play.state.workers,
        series: play.series.take(),
    };
    Ok(Report::new(plan, play.probe, findings))
}
