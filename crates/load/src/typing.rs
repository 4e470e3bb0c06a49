//! Typing: events that the server passes on and does not store. Members in pairs send them to each other, as fast as
//! their windows allow, or at a fixed rate.

mod members;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use self::members::{Members, Order, Shared, Tally};
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
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);
/// Messages per second at which the others' latency was measured.
const RATE_OF_OTHERS: f64 = 2_000.0;
const CHANGE: &str = "more --threads, fewer members or a lower --rate; a node without limits; --pid";

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct TypingPlan {
    /// websocket, stream, sse or poll.
    #[arg(long, default_value = "websocket")]
    pub transport: Transport,
    /// An even number of members.
    #[arg(long, default_value_t = 1_000)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub members: u32,
    /// Events of each member in flight; each received event is answered.
    #[arg(long, default_value_t = 4)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub window: u32,
    /// Events per second of all members together, instead of a window.
    #[arg(long)]
    #[serde(deserialize_with = "settings::positive_if_any")]
    pub rate: Option<f64>,
    /// Duration of the traffic. Afterwards the run waits for pending events.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
}

/// Snapshots, in the order of time.
struct Phases {
    begin: Snapshot,
    sending_ended: Snapshot,
    drained_at: Instant,
    end: Snapshot,
}

impl Plan for TypingPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::unless_web(self.transport)?;
        Contradiction::if_any(&[(
            self.members % 2 == 1,
            "`members` come in pairs, and one is left over",
            "make it an even number",
        )])
    }

    fn members(&self) -> u32 {
        self.members
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let setup = Setup { options, transport: self.transport, members: self.members, arrivals: RAMP };
        let mut typing = Conductor::<Members>::new(setup, &Arc::new(Shared::new(self)), say)?;
        typing.ramp();
        typing.watch.line();
        let begin = typing.watch.snapshot();
        typing.watch.stage("type", Until::Time(self.time));
        match self.rate {
            None => {
                typing.each(|| Mail::Order(Order::Fill));
                typing.watch.hold(self.time);
            }
            // Independent of responses. Latency counts from the due time.
            Some(rate) => Schedule::new(rate).write(&mut typing, self.time, Order::Due),
        }
        let sending_ended = typing.watch.snapshot();
        typing.watch.traffic.over.store(true, Ordering::Relaxed);
        let drained_at = typing.drain(DRAIN_PATIENCE)?;
        let end = typing.watch.snapshot();
        let phases = Phases { begin, sending_ended, drained_at, end };
        Ok(report(self, typing.finish()?, &phases))
    }
}

/// Throughput: delivered events, divided by the time from the first one sent to the last one received. CPU: the
/// server's over the same time, per million events.
fn report(plan: &TypingPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { begin, sending_ended, drained_at, end } = phases;
    let seconds =
        (*drained_at).max(sending_ended.at).saturating_duration_since(begin.at).as_secs_f64().max(0.001);
    let cpu = end.cpu_since(begin);
    let busiest = sending_ended.busiest_percent_since(begin);
    let rate = plan.rate;
    let window = rate.is_none().then_some(plan.window);
    let short = rate
        .is_some_and(|rate| (outcome.traffic.sent as f64) < rate * sending_ended.seconds_since(begin) * 0.9);
    let against =
        outcome.against(busiest, plan.members.into(), &[(short, "the generator could not keep the rate")]);
    let delivered = outcome.traffic.delivered;
    let per_second = delivered as f64 / seconds;
    let [delivery, late] = [&outcome.tally.delivery, &outcome.tally.late].map(Percentiles::of);
    let mut p50 = Measure::derived("heard after, p50", "ms", delivery.p50);
    let mut p99 = Measure::derived("heard after, p99", "ms", delivery.p99);
    if rate == Some(RATE_OF_OTHERS) {
        p50 = p50.beside("C line router", 0.08).beside("Centrifugo 6.6, no history", 0.16);
        p99 = p99.beside("Erlang line router", 0.56).beside("Centrifugo 6.6, no history", 26.0);
    }
    let mut throughput = Measure::new("heard_per_second", "heard", "per second", per_second);
    let mut cpu_per_million = Measure::new(
        "cpu_seconds_per_million",
        "server CPU per million heard",
        "s",
        cpu.map(|cpu| cpu * 1e6 / delivered.max(1) as f64),
    );
    if rate.is_none() {
        throughput =
            throughput.beside("C line router", 56_195.0).beside("Centrifugo 6.6, no history", 30_547.0);
        cpu_per_million =
            cpu_per_million.beside("C line router", 3.9).beside("Centrifugo 6.6, no history", 22.8);
    }
    // A run at a given rate measures latency; any other run measures throughput.
    let mut measures = match rate {
        Some(_) => vec![p50.leading(), p99.leading(), throughput, cpu_per_million],
        None => vec![throughput.leading(), cpu_per_million.leading(), p50, p99],
    };
    measures.extend([
        Measure::new("said", "said", "", outcome.traffic.sent),
        Measure::new("heard", "heard in all", "", delivered),
        // A server may drop typing events for a slow client.
        Measure::new(
            "dropped",
            "dropped",
            "",
            outcome.traffic.sent.saturating_sub(delivered + outcome.traffic.refused),
        ),
        Measure::new("failed", "connections failed", "", outcome.failed),
        Measure::new("server_cores", "server", "cores", cpu.map(|cpu| cpu / seconds)),
        generator(busiest),
        Measure::json_only("strange", outcome.tally.strange),
        Measure::json_only("members", outcome.members),
        Measure::json_only("seconds", seconds),
    ]);
    let (on_time, whole) = match rate {
        Some(_) => (Measure::times("late_ms", "due to said", late), "due to heard"),
        None => (Measure::json_only("late_ms", late), "said to heard"),
    };
    measures.extend([on_time, Measure::times("delivery_ms", whole, delivery)]);
    let (headline, pace) = match (window, rate) {
        (Some(window), _) => (
            format!("{} per second heard of typing", grouped(per_second)),
            format!("each with {window} on their way"),
        ),
        (_, rate) => (
            format!(
                "{} ms until typing is heard, p99 {} ms, at {} per second",
                grouped(delivery.p50),
                grouped(delivery.p99),
                grouped(per_second)
            ),
            format!(
                "{} per second in all, and times count from when it was due",
                grouped(rate.unwrap_or(0.0))
            ),
        ),
    };
    let findings = Findings {
        headline,
        how: format!(
            "{} members in pairs over {} tell each other that they type, {pace}; nothing is stored.",
            grouped(outcome.members as f64),
            outcome.transport
        ),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts: vec![("window", json!(window)), ("rate", json!(rate))],
        lines: Vec::new(),
    };
    outcome.into_run("typing", findings)
}
