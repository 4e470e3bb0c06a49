//! What a run of a room has found.

use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::RoomPlan;
use super::members::Found;
use crate::conductor::Snapshot;
use crate::failures::{self, Reasons, against_refusals};
use crate::percentiles::Percentiles;
use crate::probe::Probe;
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::worker::together;

/// The outcome. Figures that could not be read are null.
///
/// `deliveries_per_second`: messages of the room that reached a member, each counted at each, divided by the time from the first one
/// due to the last one heard. `cpu_seconds_per_million`: user and system time of the server over the same time, per million of them.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    pub members: u64,
    pub joined: u64,
    pub rate: f64,
    pub seconds: f64,
    pub messages: u64,
    pub deliveries: u64,
    pub deliveries_per_second: f64,
    pub cpu_seconds_per_million: Option<f64>,
    pub server_cores: Option<f64>,
    /// From when a message was due until each member had it.
    pub delivery_ms: Percentiles,
    /// Of two members beside the room: before anybody wrote there, and while they did.
    pub alone_ms: Percentiles,
    pub beside_ms: Percentiles,
    /// Messages that did not reach a member, each counted at each.
    pub missing: u64,
    pub out_of_order: u64,
    /// By code.
    pub refused: Reasons,
    /// Connections.
    pub failed: u64,
    pub failures: Reasons,
    pub generator_threads: usize,
    /// Of one core, while they wrote.
    pub generator_busiest_percent: f64,
    pub valid: bool,
    pub invalid_because: Option<String>,
    /// Ended before its time.
    pub interrupted: bool,
    pub series: Vec<Point>,
}

pub(super) struct Findings {
    pub(super) members: u64,
    pub(super) joined: u64,
    pub(super) begin: Snapshot,
    pub(super) said: Snapshot,
    pub(super) end: Snapshot,
    pub(super) drained_at: Instant,
    pub(super) sent: u64,
    pub(super) failed: u64,
    pub(super) failures: Reasons,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) interrupted: bool,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &RoomPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { begin, said, end, found, .. } = findings;
        let until = findings.drained_at.max(said.at);
        let seconds = until.saturating_duration_since(begin.at).as_secs_f64().max(0.001);
        let cpu = || Some(end.sample.cpu_seconds? - begin.sample.cpu_seconds?);
        let busiest = said.busiest_percent_since(&begin);
        let room = together(found.iter().map(|one| &one.room));
        let (deliveries, hearers) = (room.len(), u64::from(plan.members) - 1);
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let refusals: u64 = refused.values().sum();
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit: give it more threads"),
            _ if findings.members < u64::from(plan.members) + 2 => Some("not everybody was logged in"),
            _ if findings.joined < u64::from(plan.members) => Some("not everybody could join"),
            _ if refusals > 0 => against_refusals(&refused, refusals),
            Probe::Blind => Some("nothing could be seen of the server: name its process id"),
            _ => None,
        };
        Report {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            members: u64::from(plan.members),
            joined: findings.joined,
            rate: plan.rate,
            seconds,
            messages: findings.sent,
            deliveries,
            deliveries_per_second: deliveries as f64 / seconds,
            cpu_seconds_per_million: cpu().map(|cpu| cpu * 1e6 / deliveries.max(1) as f64),
            server_cores: cpu().map(|cpu| cpu / seconds),
            delivery_ms: Percentiles::of(&room),
            alone_ms: Percentiles::of(&together(found.iter().map(|one| &one.alone))),
            beside_ms: Percentiles::of(&together(found.iter().map(|one| &one.beside))),
            missing: (findings.sent * hearers).saturating_sub(deliveries),
            out_of_order: found.iter().map(|one| one.out_of_order).sum(),
            refused,
            failed: findings.failed,
            failures: findings.failures,
            generator_threads: findings.workers,
            generator_busiest_percent: busiest,
            valid: invalid_because.is_none(),
            invalid_because: invalid_because.map(str::to_owned),
            interrupted: findings.interrupted,
            series: findings.series,
        }
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let change = "more --threads, fewer members or a lower rate; a node without limits; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        let latency = |what, ms| Latency { what, ms };
        Run {
            name: name.to_owned(),
            headline: self.headline(),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &self.refused),
            latencies: vec![
                latency("due to heard, in the room", self.delivery_ms),
                latency("of a pair beside it, while it was silent", self.alone_ms),
                latency("of the same, while the room was told", self.beside_ms),
            ],
            series: self.series.clone(),
            study: None,
        }
    }

    fn headline(&self) -> String {
        let deliveries = grouped(self.deliveries_per_second);
        format!("{deliveries} deliveries per second in one room of {}", grouped(self.members as f64))
    }

    fn how(&self) -> String {
        let (members, rate) = (grouped(self.members as f64), grouped(self.rate));
        format!(
            "{members} members of one room, all online over {}; they write {rate} messages per second in turn, each stored and \
             told to all. Two others write to each other beside it. Times count from when a message was due.",
            self.transport
        )
    }

    fn rows(&self) -> Vec<Row> {
        vec![
            Row::new("deliveries", self.deliveries_per_second, "per second").leading(),
            Row::new("server CPU per million deliveries", self.cpu_seconds_per_million, "s").leading(),
            Row::new("heard after, p50", self.delivery_ms.p50, "ms"),
            Row::new("heard after, p99", self.delivery_ms.p99, "ms"),
            Row::new("a pair beside it, p99, room silent", self.alone_ms.p99, "ms"),
            Row::new("a pair beside it, p99, room told", self.beside_ms.p99, "ms"),
            Row::new("messages", self.messages as f64, ""),
            Row::new("deliveries in all", self.deliveries as f64, ""),
            Row::new("missing", self.missing as f64, ""),
            Row::new("out of order", self.out_of_order as f64, ""),
            Row::new("joined", self.joined as f64, ""),
            Row::new("connections failed", self.failed as f64, ""),
            Row::new("server", self.server_cores, "cores"),
            Row::new("generator, busiest thread", self.generator_busiest_percent, "%"),
        ]
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("room").text())
    }
}
