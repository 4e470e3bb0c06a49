//! Calls. First, members in pairs call each other as fast as a window allows; then every pair holds a call. Only
//! signalling is sent: descriptions and candidates as long as those of browsers.

mod members;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use self::members::{Members, Order, Shared, Tally};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, Setup};
use crate::observer::Until;
use crate::outcome::{Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::report::{Measure, Run, grouped};
use crate::settings::{self, Contradiction, Plan, span};
use crate::target::Transport;
use crate::watch::Snapshot;
use crate::worker::{Mail, read};
use crate::{LoadError, RunOptions};

/// The rate at which members connect; it is not measured.
const RAMP_RATE: f64 = 4000.0;
/// After this time without progress, missing events are lost.
const PATIENCE: Duration = Duration::from_secs(5);
/// The server's time to free memory and to write the last call entries, before it is measured.
const SETTLE: Duration = Duration::from_secs(3);
const CHANGE: &str = "more --threads, fewer pairs or a smaller window; a node without limits on which everyone may call; \
                      --pid";

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct CallsPlan {
    /// websocket, stream, sse or poll.
    #[arg(long, default_value = "websocket")]
    pub transport: Transport,
    /// Pairs of members.
    #[arg(long, default_value_t = 2_000)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub pairs: u32,
    /// Concurrent call set-ups of all pairs.
    #[arg(long, default_value_t = 64)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub window: u32,
    /// Candidates of each party.
    #[arg(long, default_value_t = 4)]
    pub candidates: u32,
    /// Bytes of an offer and of an answer.
    #[arg(long, default_value_t = 2_500)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub sdp_bytes: u32,
    /// Duration of the first phase: calls are hung up as soon as they are set up.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
    /// Duration of the second phase: all pairs hold a call.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub hold: Duration,
}

/// Snapshots, in the order of time.
struct Phases {
    begin: Snapshot,
    calling_ended: Snapshot,
    set_up: u64,
    unheld: Snapshot,
    /// The begin of the time in which all calls were held.
    holding: Snapshot,
    held: Snapshot,
    held_calls: u64,
    hung_up: u64,
    end: Snapshot,
}

impl Plan for CallsPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::unless_web(self.transport)
    }

    fn spreads(&self) -> bool {
        false
    }

    fn members(&self) -> u32 {
        self.pairs.saturating_mul(2)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let arrivals = Arrivals::Even(RAMP_RATE);
        let setup = Setup { options, transport: self.transport, members: self.members(), arrivals };
        let shared = Arc::new(Shared::new(self));
        let mut calls = Conductor::<Members>::new(setup, &shared, say)?;
        calls.ramp();
        calls.watch.line();
        let begin = calls.watch.snapshot();
        calls.watch.stage("call", Until::Time(self.time));
        let start = Instant::now();
        while start.elapsed() < self.time && !calls.watch.stopped() {
            fill(&mut calls, Order::CallAndHangUp);
        }
        let set_up = read(&shared.up);
        let calling_ended = calls.watch.snapshot();
        calls.each(|| Mail::Order(Order::Rest));
        calls.drain(PATIENCE)?;
        calls.watch.stage("settle", Until::Time(SETTLE));
        calls.watch.hold(SETTLE);
        let unheld = calls.watch.snapshot();

        let before = read(&shared.up);
        calls.watch.stage("call and stay", Until::ItIsDone);
        let all = before + u64::from(self.pairs);
        await_all(&mut calls, &shared.up, all, |calls| fill(calls, Order::CallAndStay));
        let held_calls = read(&shared.up) - before;
        calls.watch.stage("hold", Until::Time(self.hold));
        let holding = calls.watch.hold(self.hold);
        let held = calls.watch.snapshot();

        let before = read(&shared.over);
        calls.watch.stage("hang up", Until::ItIsDone);
        calls.each(|| Mail::Order(Order::HangUp));
        await_all(&mut calls, &shared.over, before + held_calls, |calls| {
            calls.watch.hold(Duration::from_millis(20));
        });
        let hung_up = read(&shared.over) - before;
        calls.watch.hold(SETTLE);
        let end = calls.watch.snapshot();
        let phases = Phases { begin, calling_ended, set_up, unheld, holding, held, held_calls, hung_up, end };
        Ok(report(self, calls.finish()?, &phases))
    }
}

/// Makes all workers fill their part of the window.
fn fill(calls: &mut Conductor<'_, Members>, order: Order) {
    calls.each(|| Mail::Order(order));
    calls.watch.sample_if_due(Instant::now());
    calls.nap();
}

/// Waits until this many have come, or nothing has changed for a while.
fn await_all(
    calls: &mut Conductor<'_, Members>,
    count: &AtomicU64,
    all: u64,
    beat: impl Fn(&mut Conductor<'_, Members>),
) {
    let (mut last, mut last_change) = (read(count), Instant::now());
    while last < all && last_change.elapsed() < PATIENCE && !calls.watch.stopped() {
        beat(calls);
        let now = read(count);
        if now != last {
            (last, last_change) = (now, Instant::now());
        }
    }
}

/// Set-ups: calls whose caller has received the acceptance and all candidates in the first phase, divided by its
/// duration. Ring to accept: from the callee's ring event, which it accepts at once, until the caller receives the
/// acceptance. Memory of a held call: growth of the server's resident memory between two moments, per call. At the
/// first, all members are connected and none is in a call, after the first phase; at the second, all calls are held.
/// Unknown if the process has shrunk meanwhile, which hides the memory of few calls.
fn report(plan: &CallsPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { begin, calling_ended, set_up, unheld, holding, held, held_calls, hung_up, end } = phases;
    let (set_up, held_calls, hung_up) = (*set_up, *held_calls, *hung_up);
    let seconds = calling_ended.seconds_since(begin);
    let cpu = calling_ended.cpu_since(begin);
    let busiest = calling_ended.busiest_percent_since(begin);
    let tally = &outcome.tally;
    let over = outcome.traffic.sent.saturating_sub(outcome.traffic.refused + held_calls - hung_up);
    let against = outcome.against(
        busiest,
        2 * u64::from(plan.pairs),
        &[
            (held_calls < u64::from(plan.pairs), "not every pair was in a call at the end"),
            (hung_up < held_calls, "not every call was hung up"),
            (tally.strange > 0, "something was heard of a call that could not be"),
            (tally.entries != 2 * over, "not every call has left its message with both"),
        ],
    );
    let of_call = |bytes: f64| bytes / held_calls.max(1) as f64;
    let grown = held.sample.resident_since(&unheld.sample).filter(|bytes| *bytes > 0.0).map(of_call);
    let left = end.sample.resident_since(&unheld.sample).map(of_call);
    let [ring, accept, whole] = [&tally.ring, &tally.accept, &tally.set_up].map(Percentiles::of);
    let per_second = set_up as f64 / seconds;
    let while_held = held.cpu_since(holding).map(|cpu| cpu / held.seconds_since(holding) * 100.0);
    let of_cpu = cpu.map(|cpu| cpu * 1e6 / set_up.max(1) as f64);
    let measures = vec![
        Measure::new("set_ups_per_second", "calls set up", "per second", per_second).leading(),
        Measure::derived("rings to accepted, p50", "ms", accept.p50),
        Measure::derived("rings to accepted, p99", "ms", accept.p99).leading(),
        Measure::new("cpu_micros_per_call", "server CPU per call", "µs", of_cpu).leading(),
        Measure::new("held_calls", "calls held at once", "", held_calls).leading(),
        Measure::new("user_bytes_per_held_call", "user memory per held call", "B", grown).leading(),
        Measure::new("user_bytes_left_per_call", "user memory left of each, hung up", "B", left),
        Measure::new("server_percent_held", "server while they are held", "% of a core", while_held),
        Measure::new("hung_up", "of them hung up", "", hung_up),
        Measure::new("invited", "calls in all", "", outcome.traffic.sent),
        Measure::new("entries", "messages left, heard by both", "", tally.entries),
        Measure::new("failed", "connections failed", "", outcome.failed),
        Measure::new("server_cores", "server", "cores", cpu.map(|cpu| cpu / seconds)),
        generator(busiest),
        Measure::times("ring_ms", "invited to rings", ring),
        Measure::times("ring_to_accept_ms", "rings to accepted", accept),
        Measure::times("set_up_ms", "invited to set up", whole),
        Measure::json_only("members", outcome.members),
        Measure::json_only("seconds", seconds),
        Measure::json_only("set_up", set_up),
        Measure::json_only("strange", tally.strange),
    ];
    let bytes = grown.map_or(String::new(), |bytes| format!(" with {} bytes each", grouped(bytes.round())));
    let findings = Findings {
        headline: format!(
            "{} calls set up per second, {} held{bytes}",
            grouped(per_second),
            grouped(held_calls as f64)
        ),
        how: format!(
            "{} pairs over {} call each other, {} calls being set up at a time, with descriptions of {} bytes and {} \
             candidates each way, and hang up; then all pairs are in a call at once. Every call leaves a message.",
            grouped(f64::from(plan.pairs)),
            outcome.transport,
            plan.window,
            grouped(plan.sdp_bytes.into()),
            plan.candidates
        ),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts: vec![
            ("pairs", json!(plan.pairs)),
            ("window", json!(plan.window)),
            ("sdp_bytes", json!(plan.sdp_bytes)),
            ("candidates", json!(plan.candidates)),
            ("held_seconds", json!(plan.hold.as_secs_f64())),
        ],
        lines: Vec::new(),
    };
    outcome.into_run("calls", findings)
}
