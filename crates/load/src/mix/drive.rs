//! Members come until a limit is met; then what they wrote is waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::members::{Members, Order, nobody_here};
use super::report::{Findings, Report};
use super::{Limit, MixPlan};
use crate::arrivals::Arrivals;
use crate::conductor::{BEAT, Conductor, LoadError, Setup, Snapshot};
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
/// Shares of fewer logins and messages mean nothing.
const FEWEST: u64 = 100;

pub(super) fn run(plan: &MixPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.group < 2 || plan.write_every.is_zero() || plan.presence_every.is_zero() {
        return Err(LoadError::Plan(
            "a group has two members at least, and what is done every 0 s has no end",
        ));
    }
    let traffic = Arc::new(Traffic::default());
    let stamps = Stamps::new_run();
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.members,
        arrivals: Arrivals::by_chance(plan.members, plan.rate, stamps.seed() ^ 0x5bd1_e995),
        traffic: Arc::clone(&traffic),
    };
    let here = nobody_here(plan.members);
    let (of_workers, of_plan) = (Arc::clone(&traffic), plan.clone());
    let mut mix = Conductor::new(setup, say, move |worker, _| {
        Members::new(stamps, worker, of_plan.clone(), Arc::clone(&of_workers), Arc::clone(&here))
    })?;
    let (limit, end, late_percent) = grow(&mut mix, plan, &traffic);
    let seconds = end.at.saturating_duration_since(mix.state.start).as_secs_f64();
    mix.each(|| Mail::Order(Order::End));
    mix.drain(DRAIN_PATIENCE)?;
    mix.line();
    mix.each(|| Mail::Leave);
    mix.hold(Duration::from_millis(300));
    let reports = mix.reports()?;
    let findings = Findings {
        limit,
        before: mix.before,
        end,
        late_percent,
        login: reports.login,
        sent: read(&traffic.sent),
        acknowledged: read(&traffic.acknowledged),
        delivered: read(&traffic.delivered),
        refused: read(&traffic.refused),
        failed: read(&mix.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: mix.state.workers,
        seconds,
        series: mix.series.take(),
    };
    Ok(Report::new(plan, mix.probe, findings))
}

/// Until a limit is met; answers which, how things stood, and the share of beats in which members came late by our fault.
fn grow(mix: &mut Conductor<'_, Members>, plan: &MixPlan, traffic: &Traffic) -> (Limit, Snapshot, f64) {
    mix.stage("members come", Until::Members(u64::from(plan.members)));
    let (mut asked, mut beats, mut late) = (0_u32, 0_u64, 0_u64);
    let mut last = Instant::now();
    loop {
        let elapsed = mix.state.start.elapsed();
        let due = mix.state.arrivals.by(elapsed) as u32;
        if due > asked {
            asked = due;
            mix.each(|| Mail::Begin(due));
        }
        mix.each(|| Mail::Order(Order::Beat));
        mix.sample_if_due(Instant::now());
        beats += 1;
        late += u64::from(last.elapsed() > BEAT * 25);
        last = Instant::now();
        // A look at the server costs too much for every beat.
        if beats % 64 == 0 {
            let stand = mix.snapshot();
            if let Some(limit) = met(mix, plan, traffic, &stand, elapsed) {
                return (limit, stand, late as f64 / beats as f64 * 100.0);
            }
        }
        mix.nap();
    }
}

fn met(
    mix: &Conductor<'_, Members>,
    plan: &MixPlan,
    traffic: &Traffic,
    stand: &Snapshot,
    elapsed: Duration,
) -> Option<Limit> {
    let counts = &mix.state.counts;
    let tried = read(&counts.welcomed) + read(&counts.failed) + read(&traffic.sent);
    let wrong = read(&counts.failed) + read(&traffic.refused);
    let errors = tried >= FEWEST && wrong as f64 / tried as f64 * 100.0 > plan.error_limit_percent;
    let memory = memory(plan, stand, &mix.before).is_some_and(|bytes| bytes >= plan.memory_limit);
    let everybody = read(&counts.welcomed) + read(&counts.failed) >= u64::from(plan.members);
    match () {
        () if mix.stopped() => Some(Limit::Interrupted),
        () if memory => Some(Limit::Memory),
        () if errors => Some(Limit::Errors),
        () if everybody => Some(Limit::Members),
        () if elapsed >= plan.time => Some(Limit::Time),
        () => None,
    }
}

/// The memory that counts against the limit: the server's resident memory, and with the kernel half of its growth.
pub(super) fn memory(plan: &MixPlan, stand: &Snapshot, before: &crate::probe::Sample) -> Option<u64> {
    let kernel = || Some(stand.sample.kernel_bytes?.saturating_sub(before.kernel_bytes?) / 2);
    let kernel = if plan.with_kernel { kernel()? } else { 0 };
    Some(stand.sample.resident_bytes? + kernel)
}
