//! One room: all its members are online, some write, and all receive. Two more members write to each other beside it,
//! to measure the room's cost for users outside it.

mod members;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use self::members::{Members, Order, Shared, Tally};
use crate::conductor::{Conductor, RAMP, Setup};
use crate::failures;
use crate::observer::Until;
use crate::outcome::{Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::report::{Measure, Run, grouped};
use crate::schedule::Schedule;
use crate::settings::{self, Contradiction, Plan, span};
use crate::target::Transport;
use crate::watch::Snapshot;
use crate::worker::{Mail, read};
use crate::{LoadError, RunOptions};

/// How long the pair writes while the room is silent.
const ALONE: Duration = Duration::from_secs(3);
/// After this time without a join, missing members will not join.
const JOIN_PATIENCE: Duration = Duration::from_secs(10);
/// After this time without events at the end, missing events are lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
const CHANGE: &str = "more --threads, fewer members or a lower rate; a node without limits; --pid";

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct RoomPlan {
    /// websocket, stream, sse or poll.
    #[arg(long, default_value = "websocket")]
    pub transport: Transport,
    /// Members of the room.
    #[arg(long, default_value_t = 10_000)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub members: u32,
    /// Messages per second in the room, of all members in turn.
    #[arg(long, default_value_t = 10.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub rate: f64,
    /// Messages per second of the pair beside it.
    #[arg(long, default_value_t = 50.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub beside: f64,
    /// Duration of the traffic. Afterwards the run waits for pending events.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
}

/// Snapshots, in the order of time.
struct Phases {
    joined: u64,
    begin: Snapshot,
    written: Snapshot,
    drained_at: Instant,
    end: Snapshot,
    /// Messages in the room.
    sent: u64,
}

impl Plan for RoomPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::unless_web(self.transport)
    }

    fn members(&self) -> u32 {
        self.members.saturating_add(2)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let setup = Setup { options, transport: self.transport, members: self.members(), arrivals: RAMP };
        let shared = Arc::new(Shared::new(self.members));
        let mut room = Conductor::<Members>::new(setup, &shared, say)?;
        room.ramp();
        room.watch.line();
        join(&mut room, &shared, self.members);
        room.watch.stage("alone", Until::Time(ALONE));
        Schedule::new(self.beside).write(&mut room, ALONE, Order::Alone);
        let begin = room.watch.snapshot();
        room.watch.stage("write", Until::Time(self.time));
        write(&mut room, self);
        let written = room.watch.snapshot();
        let drained_at = room.drain(DRAIN_PATIENCE)?;
        let end = room.watch.snapshot();
        let (joined, sent) = (read(&shared.joined), read(&shared.sent));
        let phases = Phases { joined, begin, written, drained_at, end, sent };
        Ok(report(self, room.finish()?, &phases))
    }
}

fn join(room: &mut Conductor<'_, Members>, shared: &Shared, members: u32) {
    room.watch.stage("join", Until::ItIsDone);
    room.each(|| Mail::Order(Order::Join));
    let (mut joined, mut last_change) = (0, Instant::now());
    while joined < u64::from(members) && last_change.elapsed() < JOIN_PATIENCE && !room.watch.stopped() {
        room.watch.hold(Duration::from_millis(50));
        let now = read(&shared.joined);
        if now != joined {
            (joined, last_change) = (now, Instant::now());
        }
    }
}

/// The room and the pair write, each at its own rate.
fn write(conductor: &mut Conductor<'_, Members>, plan: &RoomPlan) {
    let begin = Instant::now();
    let (mut room, mut beside) = (Schedule::new(plan.rate), Schedule::new(plan.beside));
    while begin.elapsed() < plan.time && !conductor.watch.stopped() {
        room.beat(conductor, Order::Room);
        beside.beat(conductor, Order::Beside);
    }
}

/// Deliveries: receipts of the room's messages, counted at each member, divided by the time from the first due time to
/// the last receipt. CPU: the server's over the same time, per million deliveries.
fn report(plan: &RoomPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { joined, begin, written, drained_at, end, sent } = phases;
    let seconds = (*drained_at).max(written.at).saturating_duration_since(begin.at).as_secs_f64().max(0.001);
    let cpu = end.cpu_since(begin);
    let busiest = written.busiest_percent_since(begin);
    let tally = &outcome.tally;
    let (deliveries, receivers) = (tally.room.len(), u64::from(plan.members) - 1);
    let per_second = deliveries as f64 / seconds;
    let refused = failures::against_refusals(&tally.refused, tally.refused.values().sum());
    let against = outcome.against(
        busiest,
        plan.members().into(),
        &[
            (*joined < u64::from(plan.members), "not everybody could join"),
            (refused.is_some(), refused.unwrap_or_default()),
        ],
    );
    let [delivery, alone, beside] = [&tally.room, &tally.alone, &tally.beside].map(Percentiles::of);
    let measures = vec![
        Measure::new("deliveries_per_second", "deliveries", "per second", per_second).leading(),
        Measure::new(
            "cpu_seconds_per_million",
            "server CPU per million deliveries",
            "s",
            cpu.map(|cpu| cpu * 1e6 / deliveries.max(1) as f64),
        )
        .leading(),
        Measure::derived("heard after, p50", "ms", delivery.p50),
        Measure::derived("heard after, p99", "ms", delivery.p99),
        Measure::derived("a pair beside it, p99, room silent", "ms", alone.p99),
        Measure::derived("a pair beside it, p99, room told", "ms", beside.p99),
        Measure::new("messages", "messages", "", *sent),
        Measure::new("deliveries", "deliveries in all", "", deliveries),
        Measure::new("missing", "missing", "", (sent * receivers).saturating_sub(deliveries)),
        Measure::new("out_of_order", "out of order", "", tally.out_of_order),
        Measure::new("joined", "joined", "", *joined),
        Measure::new("failed", "connections failed", "", outcome.failed),
        Measure::new("server_cores", "server", "cores", cpu.map(|cpu| cpu / seconds)),
        generator(busiest),
        Measure::times("delivery_ms", "due to heard, in the room", delivery),
        Measure::times("alone_ms", "of a pair beside it, while it was silent", alone),
        Measure::times("beside_ms", "of the same, while the room was told", beside),
        Measure::json_only("seconds", seconds),
    ];
    let (members, rate) = (grouped(f64::from(plan.members)), grouped(plan.rate));
    let findings = Findings {
        headline: format!("{} deliveries per second in one room of {members}", grouped(per_second)),
        how: format!(
            "{members} members of one room, all online over {}; they write {rate} messages per second in turn, each stored and \
             told to all. Two others write to each other beside it. Times count from when a message was due.",
            plan.transport.name()
        ),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts: vec![("members", json!(plan.members)), ("rate", json!(plan.rate))],
        lines: Vec::new(),
    };
    outcome.into_run("room", findings)
}
