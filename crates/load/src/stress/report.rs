//! What a stress has found.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::members::Found;
use super::{Pace, StressPlan};
use crate::conductor::Snapshot;
use crate::failures::{self, against_refusals};
use crate::percentiles::Percentiles;
use crate::probe::{Probe, Sample};
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::worker::together;

/// Messages per second at which the others' latency was measured.
const RATE_OF_OTHERS: f64 = 2_000.0;

/// The outcome. Figures that could not be read are null.
///
/// `delivered_per_second`: messages that reached the member they were written to, divided by the time from the first
/// one written to the last one that moved. `cpu_seconds_per_million`: user and system time of the server over the same
/// time, per million of them.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    /// Without sockets, inside of this process: where the messages went.
    pub inside: Option<&'static str>,
    pub durable: bool,
    pub members: u64,
    pub group: u32,
    pub body_bytes: usize,
    pub window: Option<u32>,
    pub rate: Option<f64>,
    pub seconds: f64,
    pub sent: u64,
    pub acknowledged: u64,
    pub delivered: u64,
    pub delivered_per_second: f64,
    pub cpu_seconds_per_million: Option<f64>,
    pub server_cores: Option<f64>,
    /// From `send`, or from when it was due, to `ack`.
    pub ack_ms: Percentiles,
    /// The same, to the addressee.
    pub delivery_ms: Percentiles,
    /// Acknowledged, but not delivered.
    pub lost: u64,
    pub doubled: u64,
    /// Came before their turn in their conversation.
    pub misordered: u64,
    /// Numbers of conversations that never came.
    pub holes: u64,
    /// Events that belong to no message of this run.
    pub strange: u64,
    /// By code.
    pub refused: BTreeMap<String, u64>,
    /// Written, and never answered.
    pub unanswered: u64,
    /// Connections.
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    pub generator_threads: usize,
    /// Of one core, while they wrote.
    pub generator_busiest_percent: f64,
    pub valid: bool,
    pub invalid_because: Option<String>,
    /// Ended before its time.
    pub interrupted: bool,
    /// Resident memory of the server, before anybody came and at the end.
    pub resident_before: Option<u64>,
    pub resident_end: Option<u64>,
    pub series: Vec<Point>,
}

/// The requested shape of the run.
pub(super) struct Shape {
    pub(super) url: String,
    pub(super) transport: &'static str,
    /// Members.
    pub(super) asked: u32,
    pub(super) group: u32,
    pub(super) body_bytes: usize,
    pub(super) pace: Pace,
    pub(super) inside: Option<&'static str>,
    pub(super) durable: bool,
}

impl From<&StressPlan> for Shape {
    fn from(plan: &StressPlan) -> Shape {
        Shape {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            asked: plan.members,
            group: plan.group,
            body_bytes: plan.body_bytes,
            pace: plan.pace,
            inside: None,
            durable: true,
        }
    }
}

pub(super) struct Findings {
    pub(super) members: u64,
    pub(super) begin: Snapshot,
    pub(super) written: Snapshot,
    pub(super) end: Snapshot,
    pub(super) drained_at: Instant,
    pub(super) sent: u64,
    pub(super) acknowledged: u64,
    pub(super) refused: u64,
    pub(super) delivered: u64,
    pub(super) failed: u64,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) interrupted: bool,
    pub(super) before: Sample,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(shape: Shape, probe: Probe, findings: Findings) -> Report {
        let Findings { begin, written, end, drained_at, acknowledged, delivered, .. } = findings;
        let seconds = drained_at.max(written.at).saturating_duration_since(begin.at).as_secs_f64().max(0.001);
        let all = joined(&findings.found);
        let cpu = || Some(end.sample.cpu_seconds? - begin.sample.cpu_seconds?);
        let writing = written.at.saturating_duration_since(begin.at).as_secs_f64().max(0.001);
        let busiest = written.busiest_percent_since(&begin);
        let Shape { url, transport, asked, group, body_bytes, pace, inside, durable } = shape;
        let (window, rate) = match pace {
            Pace::Window(window) => (Some(window), None),
            Pace::Rate(rate) => (None, Some(rate)),
            Pace::Every(every) => (None, Some(f64::from(asked) / every.as_secs_f64().max(0.001))),
        };
        let short = rate.is_some_and(|rate| (findings.sent as f64) < rate * writing * 0.9);
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit: give it more threads"),
            _ if short => Some("the generator could not keep the rate"),
            _ if findings.members < u64::from(asked) => Some("not everybody was logged in"),
            _ if findings.refused > 0 => against_refusals(&all.refusals, findings.refused),
            Probe::Blind => Some("nothing could be seen of the server: name its process id"),
            _ => None,
        };
        Report {
            url,
            transport,
            inside,
            durable,
            members: findings.members,
            group,
            body_bytes,
            window,
            rate,
            seconds,
            sent: findings.sent,
            acknowledged,
            delivered,
            delivered_per_second: delivered as f64 / seconds,
            cpu_seconds_per_million: cpu().map(|cpu| cpu * 1e6 / delivered.max(1) as f64),
            server_cores: cpu().map(|cpu| cpu / seconds),
            ack_ms: Percentiles::of(&all.ack),
            delivery_ms: Percentiles::of(&all.delivery),
            lost: acknowledged.saturating_sub(delivered),
            doubled: all.doubled,
            misordered: all.misordered,
            holes: all.holes,
            strange: all.strange,
            refused: all.refusals,
            unanswered: findings.sent.saturating_sub(acknowledged + findings.refused),
            failed: findings.failed,
            failures: findings.failures,
            generator_threads: findings.workers,
            generator_busiest_percent: busiest,
            valid: invalid_because.is_none(),
            invalid_because: invalid_because.map(str::to_owned),
            interrupted: findings.interrupted,
            resident_before: findings.before.resident_bytes,
            resident_end: end.sample.resident_bytes,
            series: findings.series,
        }
    }

    /// From before anybody came to the end, when all are still there; with what the program itself has grown by.
    fn bytes_per_member(&self) -> Option<f64> {
        let grown = self.resident_end?.saturating_sub(self.resident_before?);
        (self.inside.is_none() && self.members > 0).then(|| grown as f64 / self.members as f64)
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let change = "more --threads, fewer members or a lower --rate; a node without limits; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        Run {
            name: name.to_owned(),
            headline: self.headline(),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: self
                .chut_lines()
                .into_iter()
                .chain(failures::lines(&self.failures, &self.refused))
                .collect(),
            latencies: vec![
                Latency { what: "send to acknowledgement", ms: self.ack_ms },
                Latency { what: "send to delivery", ms: self.delivery_ms },
            ],
            series: self.series.clone(),
            study: None,
        }
    }

    fn how(&self) -> String {
        let pace = match (self.window, self.rate) {
            (Some(window), _) => format!("each with {window} messages on their way"),
            (_, rate) => format!(
                "{} per second in all, and times count from when a message was due",
                grouped(rate.unwrap_or(0.0))
            ),
        };
        let place = self.inside.map_or_else(
            || format!("over {}", self.transport),
            |store| format!("inside of one process, without sockets, on {store}"),
        );
        let durable =
            if self.durable { "each acknowledged after it is on disk" } else { "nothing is written to disk" };
        format!(
            "{} members in groups of {} {place}, {} bytes a message, {pace}; {durable}.",
            grouped(self.members as f64),
            self.group,
            self.body_bytes
        )
    }

    /// Where the rate is given, the latency is what is asked; else, how much tokens.
    fn rows(&self) -> Vec<Row> {
        let count = |count: u64| count as f64;
        let mut rows = Vec::new();
        if self.rate.is_some() {
            rows.extend(self.delivery_rows().map(Row::leading));
            rows.extend(self.throughput_rows());
        } else {
            rows.extend(self.throughput_rows());
            rows.extend(self.delivery_rows());
        }
        rows.extend([
            Row::new("lost", count(self.lost), ""),
            Row::new("doubled", count(self.doubled), ""),
            Row::new("misordered", count(self.misordered), ""),
            Row::new("sent", count(self.sent), ""),
            Row::new("acknowledged", count(self.acknowledged), ""),
            Row::new("delivered in all", count(self.delivered), ""),
            Row::new("unanswered", count(self.unanswered), ""),
            Row::new("connections failed", count(self.failed), ""),
            Row::new(
                if self.inside.is_some() { "node and members" } else { "server" },
                self.server_cores,
                "cores",
            ),
            Row::new(
                "generator, busiest thread",
                self.inside.is_none().then_some(self.generator_busiest_percent),
                "%",
            ),
        ]);
        rows
    }

    fn throughput_rows(&self) -> [Row; 3] {
        let delivered = Row::new("delivered", self.delivered_per_second, "per second");
        let cpu_of = match self.inside {
            None => "server CPU per million delivered",
            Some(_) => "CPU of node and members together, per million delivered",
        };
        let cpu = Row::new(cpu_of, self.cpu_seconds_per_million, "s");
        let memory = Row::new("growth of user memory, for each member", self.bytes_per_member(), "B");
        if self.inside.is_some() {
            let chut = "paper, Chut 750×10, inside of one process, not durable";
            return [delivered.beside(chut, 69_773.0), cpu, memory];
        }
        if self.rate.is_some() {
            return [delivered, cpu, memory.beside("paper, AVChat, 10,000 comet connections", 4_800.0)];
        }
        let delivered = delivered
            .beside("paper, Chut 750×10, inside of one process", 69_773.0)
            .beside("Centrifugo 6.6, no history", 30_547.0)
            .beside("ejabberd 23.01, no archive, at best", 18_000.0)
            .beside("Tinode 0.25, durable", 2_909.0);
        let cpu = cpu
            .beside("Centrifugo 6.6, no history", 22.8)
            .beside("ejabberd 23.01, no archive, at best", 52.0)
            .beside("Tinode 0.25, without its database", 240.0);
        [delivered, cpu, memory]
    }

    fn delivery_rows(&self) -> [Row; 2] {
        let mut p50 = Row::new("delivery, p50", self.delivery_ms.p50, "ms");
        let mut p99 = Row::new("delivery, p99", self.delivery_ms.p99, "ms");
        if self.rate == Some(RATE_OF_OTHERS) {
            for (who, their_p50, their_p99) in [
                ("Centrifugo 6.6, no history", 0.16, 26.0),
                ("ejabberd 23.01, no archive", 0.19, 3.4),
                ("Tinode 0.25, durable", 4.0, 256.0),
            ] {
                (p50, p99) = (p50.beside(who, their_p50), p99.beside(who, their_p99));
            }
        }
        [p50, p99]
    }

    fn headline(&self) -> String {
        let delivered = grouped(self.delivered_per_second);
        let durable = if self.durable { "each durable" } else { "none durable" };
        if self.rate.is_none() {
            return format!("{delivered} messages per second, {durable}");
        }
        let Percentiles { p50, p99, .. } = self.delivery_ms;
        format!(
            "{} ms to delivery, p99 {} ms, at {delivered} messages per second, {durable}",
            grouped(p50),
            grouped(p99)
        )
    }

    /// The lines of Chut's own bench: sent and received, and their averages.
    pub fn chut_lines(&self) -> Vec<String> {
        let groups = (self.members as f64 / f64::from(self.group.max(1))).max(1.0);
        let clients = self.members.max(1) as f64;
        let averages = |word: &str, all: u64| {
            let per_second = all as f64 / self.seconds;
            format!(
                "{word}: {}  (average per second {}, per second and group {}, per second and client {})",
                grouped(all as f64),
                grouped(per_second),
                grouped(per_second / groups),
                grouped(per_second / clients)
            )
        };
        vec![averages("Sent", self.sent), averages("Received", self.delivered)]
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }
}

fn joined(found: &[Found]) -> Found {
    let mut all = Found {
        ack: together(found.iter().map(|one| &one.ack)),
        delivery: together(found.iter().map(|one| &one.delivery)),
        doubled: 0,
        misordered: 0,
        holes: 0,
        strange: 0,
        refusals: failures::joined(found.iter().map(|one| &one.refusals)),
    };
    for one in found {
        all.doubled += one.doubled;
        all.misordered += one.misordered;
        all.holes += one.holes;
        all.strange += one.strange;
    }
    all
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { members, group, body_bytes, transport, .. } = self;
        let pace = match (self.window, self.rate) {
            (Some(window), _) => format!("{window} in flight each"),
            (_, rate) => format!("{:.0}/s in all", rate.unwrap_or(0.0)),
        };
        writeln!(f, "{members} members in groups of {group} over {transport}, {body_bytes} bytes, {pace}")?;
        writeln!(
            f,
            "delivered          {:.0}/s: {} of {} sent, {} acknowledged, in {:.1} s",
            self.delivered_per_second, self.delivered, self.sent, self.acknowledged, self.seconds
        )?;
        let cpu = self.cpu_seconds_per_million.map_or("unknown".into(), |cpu| format!("{cpu:.1} s"));
        let cores = self.server_cores.map_or("unknown".into(), |cores| format!("{cores:.2}"));
        writeln!(f, "server CPU         {cpu} per million delivered, {cores} cores")?;
        writeln!(f, "send to ack        {}", self.ack_ms)?;
        writeln!(f, "send to delivery   {}", self.delivery_ms)?;
        for line in self.chut_lines() {
            writeln!(f, "{line}")?;
        }
        writeln!(
            f,
            "lost {}, doubled {}, misordered {}, holes {}, strange {}, unanswered {}, connections failed {}",
            self.lost, self.doubled, self.misordered, self.holes, self.strange, self.unanswered, self.failed
        )?;
        for line in failures::lines(&self.failures, &self.refused) {
            writeln!(f, "  {line}")?;
        }
        let Report { generator_threads, generator_busiest_percent, .. } = self;
        if let Some(store) = self.inside {
            writeln!(
                f,
                "inside of one process, without sockets, on {store}; the CPU is that of node and members"
            )?;
        }
        writeln!(
            f,
            "generator          {generator_threads} thread(s), busiest {generator_busiest_percent:.0} %"
        )?;
        match &self.invalid_because {
            Some(why) => writeln!(f, "NOT VALID: {why}"),
            None => writeln!(f, "valid"),
        }
    }
}
