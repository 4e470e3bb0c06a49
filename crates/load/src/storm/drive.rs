//! The acts of a storm: all come, are written to, lose their connections, come back, and are written to again.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::StormPlan;
use super::report::{Findings, Report};
use super::weather::{Order, Weather};
use crate::conductor::{BEAT, Cast, Conductor, LoadError, now_unix};
use crate::crowd::{Mail, read};
use crate::traffic::Traffic;

/// Nobody has come back for so long: who is missing does not come any more.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(plan: &StormPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.watchers == 0 {
        return Err(LoadError::Plan("a storm needs somebody who watches it"));
    }
    let traffic = Arc::new(Traffic::default());
    let cast = Cast {
        aim: &plan.aim,
        transport: plan.transport,
        members: plan.members + plan.watchers,
        rate: plan.rate,
        traffic: Arc::clone(&traffic),
    };
    let run = now_unix().as_millis() as u64;
    let (members, watchers) = (plan.members, plan.watchers);
    let of_workers = Arc::clone(&traffic);
    let mut storm = Conductor::new(&cast, say, move |worker, workers| {
        Weather::new(run, members, watchers, worker as u32, workers as u32, Arc::clone(&of_workers))
    })?;
    storm.ramp();
    let ramped = storm.field.counts.active();
    storm.line();
    let mut pen = Pen { begin: Instant::now(), written: 0, rate: plan.writes };
    write(&mut storm, &mut pen, plan.calm);
    let broken = storm.stand();
    let back_after = blow(&mut storm, &mut pen, plan);
    let back = storm.stand();
    storm.line();
    write(&mut storm, &mut pen, plan.calm);
    storm.drain(DRAIN_PATIENCE)?;
    storm.each(|| Mail::Leave);
    storm.hold(Duration::from_millis(300));
    let reports = storm.reports()?;
    let findings = Findings {
        interrupted: storm.stopped(),
        ramped,
        returned: read(&storm.field.counts.returned),
        back_after,
        broken,
        back,
        again: reports.again,
        sent: read(&traffic.sent),
        acknowledged: read(&traffic.acknowledged),
        refused: read(&traffic.refused),
        delivered: read(&traffic.delivered),
        failed: read(&storm.field.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: storm.field.workers,
        series: std::mem::take(&mut storm.series),
    };
    Ok(Report::new(plan, storm.probe, findings))
}

/// What the watchers have written so far, at a fixed rate whatever comes back.
struct Pen {
    begin: Instant,
    written: u64,
    rate: f64,
}

fn tick(storm: &mut Conductor<'_, Weather>, pen: &mut Pen) {
    let now = Instant::now();
    storm.sample_if_due(now);
    let until = ((now - pen.begin).as_secs_f64() * pen.rate) as u64;
    if until > pen.written {
        let (from, begin, rate) = (pen.written, pen.begin, pen.rate);
        storm.each(|| Mail::Order(Order::Due { from, until, begin, rate }));
        pen.written = until;
    }
    thread::sleep(BEAT);
}

fn write(storm: &mut Conductor<'_, Weather>, pen: &mut Pen, time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time && !storm.stopped() {
        tick(storm, pen);
    }
}

/// All connections break; answers how long it took until the last member was back, as far as they came.
fn blow(storm: &mut Conductor<'_, Weather>, pen: &mut Pen, plan: &StormPlan) -> Duration {
    let begin = Instant::now();
    storm.each(|| Mail::Order(Order::Storm));
    storm.each(|| Mail::Break { below: plan.members, spread: plan.spread });
    let (mut last, mut last_change) = (0, begin);
    loop {
        // Not in the same turn as the break: the broken ones still hold their descriptors then.
        tick(storm, pen);
        storm.each(|| Mail::Return);
        let returned = read(&storm.field.counts.returned);
        if returned != last {
            (last, last_change) = (returned, Instant::now());
        }
        if returned >= u64::from(plan.members) || last_change.elapsed() > RETURN_PATIENCE || storm.stopped() {
            return last_change - begin;
        }
    }
}
