//! Slow readers: a share of the members stops reading while the others write, and must catch up afterwards.

mod members;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use self::members::{Members, Order, Tally};
use crate::conductor::{Conductor, RAMP, Setup};
use crate::observer::Until;
use crate::outcome::{Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::report::{Measure, Run, grouped};
use crate::schedule::Schedule;
use crate::settings::{self, Contradiction, Plan, span};
use crate::target::Transport;
use crate::watch::Snapshot;
use crate::worker::Mail;
use crate::{LoadError, RunOptions};

/// After this time without events at the end, missing events are lost.
const CATCH_UP_PATIENCE: Duration = Duration::from_secs(8);
const CHANGE: &str = "more --threads, fewer --writes; a node without limits; --pid";

/// The settings of a run. The slow members only receive; the others write, every second message to a slow member.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct SlowPlan {
    /// websocket, stream, sse or poll.
    #[arg(long, default_value = "websocket")]
    pub transport: Transport,
    /// Members who read all the time.
    #[arg(long, default_value_t = 200)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub members: u32,
    /// Members who stop reading.
    #[arg(long, default_value_t = 10)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub slow: u32,
    /// Bytes of a message.
    #[arg(long, default_value_t = 8_000)]
    pub body: usize,
    /// Messages per second of all members together.
    #[arg(long, default_value_t = 2_000.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub writes: f64,
    /// How long the others write before the slow members stop reading.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "5s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub calm: Duration,
    /// How long the slow members do not read. Less than the server's time-out for silent clients, 75 s.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10s")]
    #[serde(deserialize_with = "settings::span_in_file")]
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

impl Plan for SlowPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::unless_web(self.transport)
    }

    fn members(&self) -> u32 {
        self.members.saturating_add(self.slow)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let setup = Setup { options, transport: self.transport, members: self.members(), arrivals: RAMP };
        let mut slow = Conductor::<Members>::new(setup, &Arc::new(self.clone()), say)?;
        slow.ramp();
        let ramped = slow.state.counts.active();
        slow.watch.line();
        let mut schedule = Schedule::new(self.writes);
        slow.watch.stage("calm", Until::Time(self.calm));
        schedule.write(&mut slow, self.calm, Order::Due);
        let calm = slow.watch.snapshot();
        slow.each(|| Mail::Order(Order::Pause));
        slow.each(|| Mail::Reading { below: self.slow, on: false });
        slow.watch.stage("pause", Until::Time(self.pause));
        schedule.write(&mut slow, self.pause, Order::Due);
        let paused = slow.watch.snapshot();
        slow.each(|| Mail::Reading { below: self.slow, on: true });
        let resumed = Instant::now();
        let caught_up = slow.drain(CATCH_UP_PATIENCE)?.saturating_duration_since(resumed);
        let phases = Phases { ramped, calm, paused, caught_up };
        Ok(report(self, slow.finish()?, &phases))
    }
}

fn report(plan: &SlowPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { ramped, calm, paused, caught_up } = phases;
    let busiest = paused.busiest_percent_since(calm);
    let seconds = paused.seconds_since(calm);
    let ramp_failed = *ramped < u64::from(plan.members());
    let against = outcome.against(busiest, 0, &[(ramp_failed, "not everybody was logged in")]);
    let tally = &outcome.tally;
    let [before, during] = [&tally.calm, &tally.pause].map(Percentiles::of);
    let (lost, caught_up) = (outcome.traffic.lost(), caught_up.as_secs_f64());
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
        Measure::new("sent", "sent", "messages", outcome.traffic.sent),
        Measure::new("acknowledged", "acknowledged", "messages", outcome.traffic.acknowledged),
        Measure::new("delivered", "delivered in all", "messages", outcome.traffic.delivered),
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
            grouped(plan.body as f64)
        ),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts: vec![
            ("members", json!(plan.members)),
            ("slow", json!(plan.slow)),
            ("body_bytes", json!(plan.body)),
        ],
        lines: Vec::new(),
    };
    outcome.into_run("slow", findings)
}
