//! What the slow ones have cost, and whom.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::SlowPlan;
use super::members::Found;
use crate::conductor::Snapshot;
use crate::failures::{self, against_refusals};
use crate::percentiles::Percentiles;
use crate::probe::Probe;
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::worker::together;

/// The outcome. Figures that could not be read are null.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub transport: &'static str,
    pub members: u32,
    pub slow: u32,
    pub body_bytes: usize,
    pub pause_seconds: f64,
    /// Messages to those who read all the time, from when they were due: before, and while the slow ones do not read.
    pub calm_ms: Percentiles,
    pub pause_ms: Percentiles,
    /// From the moment at which the slow ones read again until each had everything.
    pub catch_up_seconds: f64,
    /// Growth of the server's resident memory during the pause.
    pub user_bytes_per_slow: Option<f64>,
    pub sent: u64,
    pub acknowledged: u64,
    pub delivered: u64,
    pub lost: u64,
    pub doubled: u64,
    pub repeated: u64,
    /// Times that the server dropped a queue and said so.
    pub behind: u64,
    pub gaps: u64,
    /// Messages that were fetched from the history to fill the gaps.
    pub fetched: u64,
    pub refused: BTreeMap<String, u64>,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    pub generator_busiest_percent: f64,
    pub generator_threads: usize,
    pub valid: bool,
    pub invalid_because: Option<String>,
    pub interrupted: bool,
    pub series: Vec<Point>,
}

pub(super) struct Findings {
    pub(super) interrupted: bool,
    pub(super) ramped: u64,
    /// When the slow ones stopped reading, and when they began again.
    pub(super) calm: Snapshot,
    pub(super) paused: Snapshot,
    pub(super) caught_up: Duration,
    pub(super) sent: u64,
    pub(super) acknowledged: u64,
    pub(super) refused: u64,
    pub(super) delivered: u64,
    pub(super) failed: u64,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &SlowPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { calm, paused, found, .. } = findings;
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let times =
            |which: fn(&Found) -> &Histogram<u64>| Percentiles::of(&together(found.iter().map(which)));
        let sum = |count: fn(&Found) -> u64| found.iter().map(count).sum::<u64>();
        let grown = |before: Option<u64>, after: Option<u64>| {
            Some((after? as f64 - before? as f64) / f64::from(plan.slow.max(1)))
        };
        let pause = paused.at.saturating_duration_since(calm.at).as_secs_f64().max(0.001);
        let busiest = paused.busiest_percent_since(&calm);
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit"),
            _ if findings.ramped < u64::from(plan.members + plan.slow) => Some("not everybody was logged in"),
            _ if findings.refused > 0 => against_refusals(&refused, findings.refused),
            Probe::Blind => Some("nothing could be seen of the server"),
            _ => None,
        };
        Report {
            transport: plan.transport.name(),
            members: plan.members,
            slow: plan.slow,
            body_bytes: plan.body_bytes,
            pause_seconds: pause,
            calm_ms: times(|one| &one.calm),
            pause_ms: times(|one| &one.pause),
            catch_up_seconds: findings.caught_up.as_secs_f64(),
            user_bytes_per_slow: grown(calm.sample.resident_bytes, paused.sample.resident_bytes),
            sent: findings.sent,
            acknowledged: findings.acknowledged,
            delivered: findings.delivered,
            lost: findings.acknowledged.saturating_sub(findings.delivered),
            doubled: sum(|found| found.doubled),
            repeated: sum(|found| found.repeated),
            behind: sum(|found| found.behind),
            gaps: sum(|found| found.gaps),
            fetched: sum(|found| found.fetched),
            refused,
            failed: findings.failed,
            failures: findings.failures,
            generator_busiest_percent: busiest,
            generator_threads: findings.workers,
            valid: invalid_because.is_none(),
            invalid_because: invalid_because.map(str::to_owned),
            interrupted: findings.interrupted,
            series: findings.series,
        }
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let change = "more --threads, fewer --writes; a node without limits; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        let count = |count: u64| count as f64;
        let caught_up = (self.lost == 0).then_some(self.catch_up_seconds);
        Run {
            name: name.to_owned(),
            headline: format!(
                "{} members stopped reading for {} s",
                self.slow,
                grouped(self.pause_seconds.round())
            ),
            how: format!(
                "{} others over {} wrote messages of {} bytes at a fixed rate, every second one to one of the slow, and \
                 went on while these did not read.",
                grouped(f64::from(self.members)),
                self.transport,
                grouped(self.body_bytes as f64)
            ),
            verdict: Verdict::new(self.interrupted, against),
            rows: vec![
                Row::new("others' p99, while the slow do not read", self.pause_ms.p99, "ms")
                    .beside("before", self.calm_ms.p99),
                Row::new("until the slow have everything", caught_up, "s"),
                Row::new("growth of user memory meanwhile, per slow member", self.user_bytes_per_slow, "B"),
                Row::new("lost", count(self.lost), "messages"),
                Row::new("doubled", count(self.doubled), "messages"),
                Row::new("queues that were dropped", count(self.behind), ""),
                Row::new("gaps", count(self.gaps), ""),
                Row::new("fetched from the history", count(self.fetched), "messages"),
                Row::new("came again, dropped by the receiver", count(self.repeated), "messages"),
                Row::new("sent", count(self.sent), "messages"),
                Row::new("acknowledged", count(self.acknowledged), "messages"),
                Row::new("delivered in all", count(self.delivered), "messages"),
                Row::new("connections failed", count(self.failed), ""),
                Row::new("generator, busiest thread", self.generator_busiest_percent, "%"),
            ],
            lines: failures::lines(&self.failures, &self.refused),
            latencies: vec![
                Latency { what: "others, before", ms: self.calm_ms },
                Latency { what: "others, while the slow do not read", ms: self.pause_ms },
            ],
            series: self.series.clone(),
            study: None,
        }
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("slow").text())
    }
}
