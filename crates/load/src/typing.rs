//! Typing: events that the server passes on and does not store. Members in pairs send them to each other, as fast as
//! their windows allow, or at a fixed rate.

mod members;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde_json::json;

use self::members::{Members, Order, Shared, Tally};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, RAMP_RATE, Setup, Snapshot};
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
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);
/// Messages per second at which the others' latency was measured.
const RATE_OF_OTHERS: f64 = 2_000.0;
const CHANGE: &str = "more --threads, fewer members or a lower --rate; a node without limits; --pid";

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct TypingPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// An even number.
    pub members: u32,
    pub pace: Pace,
    /// Duration of the traffic. Afterwards the run waits for pending events.
    pub time: Duration,
}

/// When the next event is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each member has this number of events in flight, and answers each one that it receives.
    Window(u32),
    /// Events per second of all members together, independent of responses. Latency counts from the due time.
    Rate(f64),
}

/// Snapshots, in the order of time.
struct Phases {
    begin: Snapshot,
    sending_ended: Snapshot,
    drained_at: Instant,
    end: Snapshot,
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &TypingPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
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
    let mut typing = Conductor::<Members>::new(setup, Arc::clone(&shared), say)?;
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
    let sending_ended = typing.snapshot();
    shared.over.store(true, Ordering::Relaxed);
    let drained_at = typing.drain(DRAIN_PATIENCE)?;
    let end = typing.snapshot();
    let phases = Phases { begin, sending_ended, drained_at, end };
    Ok(report(plan, typing.finish()?, &phases))
}

/// Throughput: delivered events, divided by the time from the first one sent to the last one received. CPU: the
/// server's over the same time, per million events.
fn report(plan: &TypingPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { begin, sending_ended, drained_at, end } = phases;
    let seconds =
        (*drained_at).max(sending_ended.at).saturating_duration_since(begin.at).as_secs_f64().max(0.001);
    let cpu = end.cpu_since(begin);
    let busiest = sending_ended.busiest_percent_since(begin);
    let (window, rate) = match plan.pace {
        Pace::Window(window) => (Some(window), None),
        Pace::Rate(rate) => (None, Some(rate)),
    };
    let short =
        rate.is_some_and(|rate| (outcome.sent as f64) < rate * sending_ended.seconds_since(begin) * 0.9);
    let against =
        outcome.against(busiest, plan.members.into(), &[(short, "the generator could not keep the rate")]);
    let delivered = outcome.delivered;
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
        Measure::new("said", "said", "", outcome.sent),
        Measure::new("heard", "heard in all", "", delivered),
        // A server may drop typing events for a slow client.
        Measure::new("dropped", "dropped", "", outcome.sent.saturating_sub(delivered + outcome.refused)),
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
