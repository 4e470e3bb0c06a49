//! What a run of calls has found.

use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::CallsPlan;
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
/// `set_ups_per_second`: calls of which the caller has heard the acceptance and all candidates, while calls are set up and hung
/// up at once, divided by that time. `ring_to_accept_ms`: from when the callee heard it ring, who accepts at once, until
/// the caller heard that. `user_bytes_per_held_call`: growth of the server's resident memory from when all were connected
/// and nobody called (after the calls of before) until so many calls were held, per call; null where the process has
/// shrunk meanwhile, which of few calls hides what they take.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    pub members: u64,
    pub pairs: u64,
    pub window: u32,
    pub sdp_bytes: u64,
    pub candidates: u32,
    pub seconds: f64,
    pub set_up: u64,
    pub set_ups_per_second: f64,
    /// Of the server: an invitation, an acceptance, the candidates, the hang-up and the message that is left.
    pub cpu_micros_per_call: Option<f64>,
    pub server_cores: Option<f64>,
    pub ring_ms: Percentiles,
    pub ring_to_accept_ms: Percentiles,
    pub set_up_ms: Percentiles,
    pub held_calls: u64,
    pub held_seconds: f64,
    pub user_bytes_per_held_call: Option<f64>,
    /// Bytes that remain per call after all have hung up.
    pub user_bytes_left_per_call: Option<f64>,
    /// Of one core, while they were held.
    pub server_percent_held: Option<f64>,
    /// Of the held calls, those that both sides have ended.
    pub hung_up: u64,
    pub invited: u64,
    /// Messages left of calls, as heard by both.
    pub entries: u64,
    pub strange: u64,
    /// By code.
    pub refused: Reasons,
    /// Connections.
    pub failed: u64,
    pub failures: Reasons,
    pub generator_threads: usize,
    /// Of one core, while calls were set up and hung up.
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
    pub(super) set_up: u64,
    pub(super) unheld: Snapshot,
    /// From when all were held.
    pub(super) holding: Snapshot,
    pub(super) held: Snapshot,
    pub(super) held_calls: u64,
    pub(super) hung_up: u64,
    pub(super) end: Snapshot,
    /// Sent and refused.
    pub(super) traffic: [u64; 2],
    pub(super) failed: u64,
    pub(super) failures: Reasons,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) interrupted: bool,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &CallsPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { begin, said, unheld, held, found, held_calls, hung_up, .. } = findings;
        let between =
            |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64().max(0.001);
        let seconds = between(begin.at, said.at);
        let cpu = |from: &Snapshot, to: &Snapshot| Some(to.sample.cpu_seconds? - from.sample.cpu_seconds?);
        let grown = |from: &Snapshot, to: &Snapshot| {
            Some(to.sample.resident_bytes? as f64 - from.sample.resident_bytes? as f64)
        };
        let busiest = said.busiest_percent_since(&begin);
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let [invited, refusals] = findings.traffic;
        let strange = found.iter().map(|one| one.strange).sum();
        let entries = found.iter().map(|one| one.entries).sum();
        let over = invited.saturating_sub(refusals + held_calls - hung_up);
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit: give it more threads"),
            _ if findings.members < 2 * u64::from(plan.pairs) => Some("not everybody was logged in"),
            _ if refusals > 0 => against_refusals(&refused, refusals),
            _ if held_calls < u64::from(plan.pairs) => Some("not every pair was in a call at the end"),
            _ if hung_up < held_calls => Some("not every call was hung up"),
            _ if strange > 0 => Some("something was heard of a call that could not be"),
            _ if entries != 2 * over => Some("not every call has left its message with both"),
            Probe::Blind => Some("nothing could be seen of the server: name its process id"),
            _ => None,
        };
        let all = |which: fn(&Found) -> &hdrhistogram::Histogram<u64>| {
            Percentiles::of(&together(found.iter().map(which)))
        };
        let hold = between(findings.holding.at, held.at);
        Report {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            members: findings.members,
            pairs: plan.pairs.into(),
            window: plan.window,
            sdp_bytes: plan.sdp_bytes as u64,
            candidates: plan.candidates,
            seconds,
            set_up: findings.set_up,
            set_ups_per_second: findings.set_up as f64 / seconds,
            cpu_micros_per_call: cpu(&begin, &said).map(|cpu| cpu * 1e6 / findings.set_up.max(1) as f64),
            server_cores: cpu(&begin, &said).map(|cpu| cpu / seconds),
            ring_ms: all(|found| &found.ring),
            ring_to_accept_ms: all(|found| &found.accept),
            set_up_ms: all(|found| &found.set_up),
            held_calls,
            held_seconds: plan.hold.as_secs_f64(),
            user_bytes_per_held_call: grown(&unheld, &held)
                .filter(|bytes| *bytes > 0.0)
                .map(|bytes| bytes / held_calls.max(1) as f64),
            user_bytes_left_per_call: grown(&unheld, &findings.end)
                .map(|bytes| bytes / held_calls.max(1) as f64),
            server_percent_held: cpu(&findings.holding, &held).map(|cpu| cpu / hold * 100.0),
            hung_up,
            invited,
            entries,
            strange,
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
        let change = "more --threads, fewer pairs or a smaller window; a node without limits on which everyone may call; \
                      --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        Run {
            name: name.to_owned(),
            headline: self.headline(),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &self.refused),
            latencies: vec![
                Latency { what: "invited to rings", ms: self.ring_ms },
                Latency { what: "rings to accepted", ms: self.ring_to_accept_ms },
                Latency { what: "invited to set up", ms: self.set_up_ms },
            ],
            series: self.series.clone(),
            study: None,
        }
    }

    fn how(&self) -> String {
        format!(
            "{} pairs over {} call each other, {} calls being set up at a time, with descriptions of {} bytes and {} \
             candidates each way, and hang up; then all pairs are in a call at once. Every call leaves a message.",
            grouped(self.pairs as f64),
            self.transport,
            self.window,
            grouped(self.sdp_bytes as f64),
            self.candidates
        )
    }

    fn headline(&self) -> String {
        let held = grouped(self.held_calls as f64);
        let bytes = self
            .user_bytes_per_held_call
            .map_or(String::new(), |bytes| format!(" with {} bytes each", grouped(bytes.round())));
        format!("{} calls set up per second, {held} held{bytes}", grouped(self.set_ups_per_second))
    }

    fn rows(&self) -> Vec<Row> {
        vec![
            Row::new("calls set up", self.set_ups_per_second, "per second").leading(),
            Row::new("rings to accepted, p50", self.ring_to_accept_ms.p50, "ms"),
            Row::new("rings to accepted, p99", self.ring_to_accept_ms.p99, "ms").leading(),
            Row::new("server CPU per call", self.cpu_micros_per_call, "µs").leading(),
            Row::new("calls held at once", self.held_calls as f64, "").leading(),
            Row::new("user memory per held call", self.user_bytes_per_held_call, "B").leading(),
            Row::new("user memory left of each, hung up", self.user_bytes_left_per_call, "B"),
            Row::new("server while they are held", self.server_percent_held, "% of a core"),
            Row::new("of them hung up", self.hung_up as f64, ""),
            Row::new("calls in all", self.invited as f64, ""),
            Row::new("messages left, heard by both", self.entries as f64, ""),
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
        f.write_str(&self.run("calls").text())
    }
}
