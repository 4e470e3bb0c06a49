//! The acts of a storm: all come, are written to, lose their connections, come back, and are written to again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::StormPlan;
use super::members::{Members, Order};
use super::report::{Findings, Report};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, LoadError, Setup};
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::schedule::Schedule;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// NoObserver has come back for so long: who is missing does not come any more.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(plan: &StormPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.watchers == 0 {
        return Err(LoadError::Plan("a storm needs somebody who watches it"));
    }
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.members + plan.watchers,
        arrivals: Arrivals::Even(plan.rate),
        traffic: Arc::clone(&traffic),
    };
    let stamps = Stamps::new_run();
    let (members, watchers) = (plan.members, plan.watchers);
    let of_workers = Arc::clone(&traffic);
    let mut storm = Conductor::new(setup, say, move |worker, workers| {
        Members::new(stamps, members, watchers, worker as u32, workers as u32, Arc::clone(&of_workers))
    })?;
    storm.ramp();
    let ramped = storm.state.counts.active();
    storm.line();
    let mut schedule = Schedule::new(plan.writes);
    storm.stage("calm", Until::Time(plan.calm));
    schedule.write(&mut storm, plan.calm, Order::Due);
    let broken = storm.snapshot();
    let back_after = blow(&mut storm, &mut schedule, plan);
    let back = storm.snapshot();
    storm.line();
    storm.stage("calm", Until::Time(plan.calm));
    schedule.write(&mut storm, plan.calm, Order::Due);
    storm.drain(DRAIN_PATIENCE)?;
    storm.each(|| Mail::Leave);
    storm.hold(Duration::from_millis(300));
    let reports = storm.reports()?;
    let findings = Findings {
        interrupted: storm.stopped(),
        ramped,
        returned: read(&storm.state.counts.returned),
        back_after,
        broken,
        back,
        again: reports.again,
        sent: read(&traffic.sent),
        acknowledged: read(&traffic.acknowledged),
        refused: read(&traffic.refused),
        delivered: read(&traffic.delivered),
        failed: read(&storm.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: storm.state.workers,
        series: storm.series.take(),
    };
    Ok(Report::new(plan, storm.probe, findings))
}

/// All connections break; answers how long it took until the last member was back, as far as they came.
fn blow(storm: &mut Conductor<'_, Members>, schedule: &mut Schedule, plan: &StormPlan) -> Duration {
    let begin = Instant::now();
    storm.stage("storm", Until::Members((plan.members + plan.watchers).into()));
    storm.each(|| Mail::Order(Order::Storm));
    storm.each(|| Mail::Break { below: plan.members, spread: plan.spread });
    let (mut last, mut last_change) = (0, begin);
    loop {
        // Not in the same turn as the break: the broken ones still hold their descriptors then.
        schedule.beat(storm, Order::Due);
        storm.each(|| Mail::Return);
        let returned = read(&storm.state.counts.returned);
        if returned != last {
            (last, last_change) = (returned, Instant::now());
        }
        if returned >= u64::from(plan.members) || last_change.elapsed() > RETURN_PATIENCE || storm.stopped() {
            return last_change - begin;
        }
    }
}
