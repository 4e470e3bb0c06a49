//! The acts: all come and write, some stop reading, read again, and catch up.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::SlowPlan;
use super::reading::{Members, Order};
use super::report::{Findings, Report};
use crate::conductor::{BEAT, Cast, Conductor, LoadError, now_unix};
use crate::crowd::{Mail, read};
use crate::traffic::Traffic;

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 2000.0;
/// Nothing has come for so long after the end: what is missing is lost.
const CATCH_UP_PATIENCE: Duration = Duration::from_secs(8);

pub(super) fn run(plan: &SlowPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.slow == 0 || plan.members < 2 {
        return Err(LoadError::Plan("one slow member and two others are needed at least"));
    }
    let traffic = Arc::new(Traffic::default());
    let cast = Cast {
        aim: &plan.aim,
        transport: plan.transport,
        members: plan.slow + plan.members,
        rate: RAMP_RATE,
        traffic: Arc::clone(&traffic),
    };
    let (run, slow, others) = (now_unix().as_millis() as u64, plan.slow, plan.members);
    let body = "x".repeat(plan.body_bytes);
    let of_workers = Arc::clone(&traffic);
    let mut play = Conductor::new(&cast, say, move |worker, workers| Members {
        run,
        slow,
        others,
        worker: worker as u32,
        workers: workers as u32,
        body: body.clone(),
        traffic: Arc::clone(&of_workers),
        ..Members::default()
    })?;
    play.ramp();
    let ramped = play.field.counts.active();
    play.line();
    let begin = Instant::now();
    let mut written = 0;
    write(&mut play, plan.writes, begin, &mut written, plan.calm);
    let calm = play.stand();
    play.each(|| Mail::Order(Order::Pause));
    play.each(|| Mail::Reading { below: slow, on: false });
    write(&mut play, plan.writes, begin, &mut written, plan.pause);
    let paused = play.stand();
    play.each(|| Mail::Reading { below: slow, on: true });
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
        failed: read(&play.field.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: play.field.workers,
        series: std::mem::take(&mut play.series),
    };
    Ok(Report::new(plan, play.probe, findings))
}

/// At a fixed rate, whatever comes back.
fn write(play: &mut Conductor<'_, Members>, rate: f64, begin: Instant, written: &mut u64, time: Duration) {
    let act = Instant::now();
    while act.elapsed() < time && !play.stopped() {
        let now = Instant::now();
        play.sample_if_due(now);
        let until = ((now - begin).as_secs_f64() * rate) as u64;
        if until > *written {
            let from = *written;
            play.each(|| Mail::Order(Order::Due { from, until, begin, rate }));
            *written = until;
        }
        thread::sleep(BEAT);
    }
}
