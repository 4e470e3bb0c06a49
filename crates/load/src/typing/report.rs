//! What a run of typing has found.

use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::members::Found;
use super::{Pace, TypingPlan};
use crate::conductor::Snapshot;
use crate::failures::{self, Reasons, against_refusals};
use crate::percentiles::Percentiles;
use crate::probe::Probe;
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::worker::together;

/// Messages per second at which the others' latency was measured.
const RATE_OF_OTHERS: f64 = 2_000.0;

/// The outcome. Figures that could not be read are null.
///
/// `heard_per_second`: those that reached the other one of their pair, divided by the time from the first one said to the
/// last one heard. `cpu_seconds_per_million`: user and system time of the server over the same time, per million of them.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    pub members: u64,
    pub window: Option<u32>,
    pub rate: Option<f64>,
    pub seconds: f64,
    pub said: u64,
    pub heard: u64,
    pub heard_per_second: f64,
    pub cpu_seconds_per_million: Option<f64>,
    pub server_cores: Option<f64>,
    /// From when it was said, or due, until the other heard it.
    pub delivery_ms: Percentiles,
    /// Of that, until the generator said what was due: its own lateness.
    pub late_ms: Percentiles,
    /// Said and not heard: a server may drop what nobody misses, where a client reads slowly.
    pub dropped: u64,
    pub strange: u64,
    /// By code.
    pub refused: Reasons,
    /// Connections.
    pub failed: u64,
    pub failures: Reasons,
    pub generator_threads: usize,
    /// Of one core, while they typed.
    pub generator_busiest_percent: f64,
    pub valid: bool,
    pub invalid_because: Option<String>,
    /// Ended before its time.
    pub interrupted: bool,
    pub series: Vec<Point>,
}

pub(super) struct Findings {
    pub(super) members: u64,
    pub(super) begin: Snapshot,
    pub(super) said: Snapshot,
    pub(super) end: Snapshot,
    pub(super) drained_at: Instant,
    pub(super) sent: u64,
    pub(super) refused: u64,
    pub(super) heard: u64,
    pub(super) failed: u64,
    pub(super) failures: Reasons,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) interrupted: bool,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &TypingPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { begin, said, end, heard, found, .. } = findings;
        let between =
            |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64().max(0.001);
        let seconds = between(begin.at, findings.drained_at.max(said.at));
        let typing = between(begin.at, said.at);
        let cpu = || Some(end.sample.cpu_seconds? - begin.sample.cpu_seconds?);
        let busiest = said.busiest_percent_since(&begin);
        let (window, rate) = match plan.pace {
            Pace::Window(window) => (Some(window), None),
            Pace::Rate(rate) => (None, Some(rate)),
        };
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let short = rate.is_some_and(|rate| (findings.sent as f64) < rate * typing * 0.9);
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit: give it more threads"),
            _ if short => Some("the generator could not keep the rate"),
            _ if findings.members < u64::from(plan.members) => Some("not everybody was logged in"),
            _ if findings.refused > 0 => against_refusals(&refused, findings.refused),
            Probe::Blind => Some("nothing could be seen of the server: name its process id"),
            _ => None,
        };
        Report {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            members: findings.members,
            window,
            rate,
            seconds,
            said: findings.sent,
            heard,
            heard_per_second: heard as f64 / seconds,
            cpu_seconds_per_million: cpu().map(|cpu| cpu * 1e6 / heard.max(1) as f64),
            server_cores: cpu().map(|cpu| cpu / seconds),
            delivery_ms: Percentiles::of(&together(found.iter().map(|one| &one.delivery))),
            late_ms: Percentiles::of(&together(found.iter().map(|one| &one.late))),
            dropped: findings.sent.saturating_sub(heard + findings.refused),
            strange: found.iter().map(|one| one.strange).sum(),
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
        let change = "more --threads, fewer members or a lower --rate; a node without limits; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        Run {
            name: name.to_owned(),
            headline: self.headline(),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &self.refused),
            latencies: self.latencies(),
            series: self.series.clone(),
            study: None,
        }
    }

    fn how(&self) -> String {
        let pace = match (self.window, self.rate) {
            (Some(window), _) => format!("each with {window} on their way"),
            (_, rate) => {
                format!(
                    "{} per second in all, and times count from when it was due",
                    grouped(rate.unwrap_or(0.0))
                )
            }
        };
        let members = grouped(self.members as f64);
        format!(
            "{members} members in pairs over {} tell each other that they type, {pace}; nothing is stored.",
            self.transport
        )
    }

    fn headline(&self) -> String {
        let heard = grouped(self.heard_per_second);
        if self.rate.is_none() {
            return format!("{heard} per second heard of typing");
        }
        let Percentiles { p50, p99, .. } = self.delivery_ms;
        format!("{} ms until typing is heard, p99 {} ms, at {heard} per second", grouped(p50), grouped(p99))
    }

    fn latencies(&self) -> Vec<Latency> {
        let ms = self.delivery_ms;
        match self.rate {
            Some(_) => {
                vec![Latency { what: "due to said", ms: self.late_ms }, Latency { what: "due to heard", ms }]
            }
            None => vec![Latency { what: "said to heard", ms }],
        }
    }

    /// Where the rate is given, the latency is what is asked; else, how much tokens.
    fn rows(&self) -> Vec<Row> {
        let mut p50 = Row::new("heard after, p50", self.delivery_ms.p50, "ms");
        let mut p99 = Row::new("heard after, p99", self.delivery_ms.p99, "ms");
        if self.rate == Some(RATE_OF_OTHERS) {
            p50 = p50.beside("C line router", 0.08).beside("Centrifugo 6.6, no history", 0.16);
            p99 = p99.beside("Erlang line router", 0.56).beside("Centrifugo 6.6, no history", 26.0);
        }
        let mut heard = Row::new("heard", self.heard_per_second, "per second");
        let mut cpu = Row::new("server CPU per million heard", self.cpu_seconds_per_million, "s");
        if self.rate.is_none() {
            heard = heard.beside("C line router", 56_195.0).beside("Centrifugo 6.6, no history", 30_547.0);
            cpu = cpu.beside("C line router", 3.9).beside("Centrifugo 6.6, no history", 22.8);
        }
        let mut rows = match self.rate {
            Some(_) => vec![p50.leading(), p99.leading(), heard, cpu],
            None => vec![heard.leading(), cpu.leading(), p50, p99],
        };
        rows.extend([
            Row::new("said", self.said as f64, ""),
            Row::new("heard in all", self.heard as f64, ""),
            Row::new("dropped", self.dropped as f64, ""),
            Row::new("connections failed", self.failed as f64, ""),
            Row::new("server", self.server_cores, "cores"),
            Row::new("generator, busiest thread", self.generator_busiest_percent, "%"),
        ]);
        rows
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("typing").text())
    }
}
