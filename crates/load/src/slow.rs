//! Slow readers: a share of the members stops reading while the others write, and must catch up afterwards.

mod members;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use self::members::{Members, Order, Shared, Tally};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, RAMP_RATE, Setup, Snapshot};
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::outcome::{Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::report::{Measure, Run, grouped};
use crate::schedule::Schedule;
use crate::target::Transport;
use crate::traffic::Traffic;
use crate::worker::Mail;
use crate::{LoadError, RunOptions};

/// After this time without events at the end, missing events are lost.
const CATCH_UP_PATIENCE: Duration = Duration::from_secs(8);
const CHANGE: &str = "more --threads, fewer --writes; a node without limits; --pid";

/// The settings of a run. The slow members only receive; the others write, every second message to a slow member.
#[derive(Debug, Clone)]
pub struct SlowPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// Members who read all the time.
    pub members: u32,
    /// Members who stop reading.
    pub slow: u32,
    pub body_bytes: usize,
    /// Messages per second of all members together.
    pub writes: f64,
    /// How long the others write before the slow members stop reading.
    pub calm: Duration,
    /// How long the slow members do not read. Less than the server's time-out for silent clients, 75 s.
    pub pause: Duration,
}

/// Snapshots, in the order of time.
struct Phases {
    ramped: u64,
    /// When the slow members stopped reading, and when they continued.
    calm: Snapshot,
    paused: Snapshot,
    caught_up: Duration,
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &SlowPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    if plan.slow == 0 || plan.members < 2 {
        return Err(LoadError::Plan("one slow member and two others are needed at least"));
    }
    let traffic = Arc::new(Traffic::default());
    let shared = Arc::new(Shared {
        stamps: Stamps::new_run(),
        slow: plan.slow,
        others: plan.members,
        body: "x".repeat(plan.body_bytes),
        traffic: Arc::clone(&traffic),
    });
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.slow + plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic,
    };
    let mut slow = Conductor::<Members>::new(setup, shared, say)?;
    slow.ramp();
    let ramped = slow.state.counts.active();
    slow.line();
    let mut schedule = Schedule::new(plan.writes);
    slow.stage("calm", Until::Time(plan.calm));
    schedule.write(&mut slow, plan.calm, Order::Due);
    let calm = slow.snapshot();
    slow.each(|| Mail::Order(Order::Pause));
    slow.each(|| Mail::Reading { below: plan.slow, on: false });
    slow.stage("pause", Until::Time(plan.pause));
    schedule.write(&mut slow, plan.pause, Order::Due);
    let paused = slow.snapshot();
    slow.each(|| Mail::Reading { below: plan.slow, on: true });
    let resumed = Instant::now();
    let caught_up = slow.drain(CATCH_UP_PATIENCE)?.saturating_duration_since(resumed);
    let phases = Phases { ramped, calm, paused, caught_up };
    Ok(report(plan, slow.finish()?, &phases))
}

fn report(plan: &SlowPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { ramped, calm, paused, caught_up } = phases;
    let busiest = paused.busiest_percent_since(calm);
    let seconds = paused.seconds_since(calm);
    let ramp_failed = *ramped < u64::from(plan.members + plan.slow);
    let against = outcome.against(busiest, 0, &[(ramp_failed, "not everybody was logged in")]);
    let tally = &outcome.tally;
    let [before, during] = [&tally.calm, &tally.pause].map(Percentiles::of);
    let (lost, caught_up) = (outcome.lost(), caught_up.as_secs_f64());
    let bytes = paused.sample.resident_since(&calm.sample).map(|bytes| bytes / f64::from(plan.slow.max(1)));
    let measures = vec![
        Measure::derived("others' p99, while the slow do not read", "ms", during.p99)
            .beside("before", before.p99),
        Measure::derived("until the slow have everything", "s", (lost == 0).then_some(caught_up)),
        Measure::new("user_bytes_per_slow", "growth of user memory meanwhile, per slow member", "B", bytes),
        Measure::new("lost", "lost", "messages", lost),
        Measure::new("doubled", "doubled", "messages", tally.doubled),
        Measure::new("behind", "queues that were dropped", "", tally.behind),
        Measure::new("gaps", "gaps", "", tally.gaps),
        Measure::new("fetched", "fetched from the history", "messages", tally.fetched),
        Measure::new("repeated", "came again, dropped by the receiver", "messages", tally.repeated),
        Measure::new("sent", "sent", "messages", outcome.sent),
        Measure::new("acknowledged", "acknowledged", "messages", outcome.acknowledged),
        Measure::new("delivered", "delivered in all", "messages", outcome.delivered),
        Measure::new("failed", "connections failed", "", outcome.failed),
        generator(busiest),
        Measure::times("calm_ms", "others, before", before),
        Measure::times("pause_ms", "others, while the slow do not read", during),
        Measure::json_only("pause_seconds", seconds),
        Measure::json_only("catch_up_seconds", caught_up),
    ];
    let findings = Findings {
        headline: format!("{} members stopped reading for {} s", plan.slow, grouped(seconds.round())),
        how: format!(
            "{} others over {} wrote messages of {} bytes at a fixed rate, every second one to one of the slow, and \
             went on while these did not read.",
            grouped(f64::from(plan.members)),
            outcome.transport,
            grouped(plan.body_bytes as f64)
        ),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts: vec![
            ("members", json!(plan.members)),
            ("slow", json!(plan.slow)),
            ("body_bytes", json!(plan.body_bytes)),
        ],
        lines: Vec::new(),
    };
    outcome.into_run("slow", findings)
}
