//! What a storm has found.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::StormPlan;
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
    pub url: String,
    pub transport: &'static str,
    pub members: u32,
    pub watchers: u32,
    pub spread_seconds: f64,
    /// Members that were logged in again at the end.
    pub returned: u64,
    /// From the break until the last one was welcome.
    pub back_after_seconds: f64,
    /// From the moment at which a member was to come back to its welcome; with the waits between tries.
    pub return_ms: Percentiles,
    /// Of those who stayed: from when a message was due to its acknowledgement.
    pub ack_ms: Percentiles,
    pub cpu_us_per_return: Option<f64>,
    pub sent: u64,
    pub acknowledged: u64,
    pub delivered: u64,
    /// Acknowledged, but not delivered.
    pub lost: u64,
    /// Stored twice.
    pub doubled: u64,
    /// Came again with the same seq, which receivers drop.
    pub repeated: u64,
    /// Came with the welcome.
    pub caught_up: u64,
    pub gaps: u64,
    pub not_resumed: u64,
    /// Pairs of one who watches and one who is watched, and those among them in which the other one was seen to leave.
    pub watched: u64,
    pub flapped: u64,
    pub refused: BTreeMap<String, u64>,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    /// Of one core, from the break until all were back.
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
    pub(super) returned: u64,
    pub(super) back_after: Duration,
    pub(super) broken: Snapshot,
    pub(super) back: Snapshot,
    pub(super) again: Histogram<u64>,
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
    pub(super) fn new(plan: &StormPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { broken, back, back_after, found, returned, .. } = findings;
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let sum = |count: fn(&Found) -> u64| found.iter().map(count).sum::<u64>();
        let cpu = || Some(back.sample.cpu_seconds? - broken.sample.cpu_seconds?);
        let busiest = back.busiest_percent_since(&broken);
        let everybody = u64::from(plan.members + plan.watchers);
        let refusals = against_refusals(&refused, findings.refused);
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit"),
            _ if failures::short_of_descriptors(&findings.failures) => {
                Some("the generator had too few descriptors for the old and the new connections")
            }
            _ if findings.ramped < everybody => Some("not everybody was logged in before the storm"),
            _ if refusals.is_some() => refusals,
            Probe::Blind => Some("nothing could be seen of the server"),
            _ => None,
        };
        Report {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            members: plan.members,
            watchers: plan.watchers,
            spread_seconds: plan.spread.as_secs_f64(),
            returned,
            back_after_seconds: back_after.as_secs_f64(),
            return_ms: Percentiles::of(&findings.again),
            ack_ms: Percentiles::of(&together(found.iter().map(|one| &one.ack))),
            cpu_us_per_return: cpu().map(|cpu| cpu * 1e6 / returned.max(1) as f64),
            sent: findings.sent,
            acknowledged: findings.acknowledged,
            delivered: findings.delivered,
            lost: findings.acknowledged.saturating_sub(findings.delivered),
            doubled: sum(|found| found.doubled),
            repeated: sum(|found| found.repeated),
            caught_up: sum(|found| found.caught_up),
            gaps: sum(|found| found.gaps),
            not_resumed: sum(|found| found.not_resumed),
            watched: sum(|found| found.watched),
            flapped: sum(|found| found.flapped.len() as u64),
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
        let change = "more --threads, fewer members; a node without limits; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        Run {
            name: name.to_owned(),
            headline: self.headline(),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &self.refused),
            latencies: vec![
                Latency { what: "coming back, from when it was due", ms: self.return_ms },
                Latency { what: "send to acknowledgement, of those who stayed", ms: self.ack_ms },
            ],
            series: self.series.clone(),
            study: None,
        }
    }

    /// Seconds; None: not all came.
    fn all_back(&self) -> Option<f64> {
        (self.returned == u64::from(self.members)).then_some(self.back_after_seconds)
    }

    fn headline(&self) -> String {
        match self.all_back() {
            Some(seconds) => {
                format!("{} members back in {} s", grouped(self.returned as f64), grouped(seconds))
            }
            None => format!("{} of {} members came back", self.returned, self.members),
        }
    }

    fn how(&self) -> String {
        format!(
            "All {} connections over {} broke at once; each member came back after {}. {} others stayed, wrote to \
                 them and watched them.",
            grouped(f64::from(self.members)),
            self.transport,
            if self.spread_seconds > 0.0 {
                format!("a time of chance up to {} s, as the protocol advises", grouped(self.spread_seconds))
            } else {
                "no time at all, against the protocol's advice".to_owned()
            },
            self.watchers
        )
    }

    fn rows(&self) -> Vec<Row> {
        let count = |count: u64| count as f64;
        let flaps = (self.watched > 0).then(|| count(self.flapped) / count(self.watched) * 100.0);
        vec![
            Row::new("until all are back", self.all_back(), "s")
                .beside("ejabberd 23.01, 15,000: until the first login", 70.0),
            Row::new("lost", count(self.lost), "messages"),
            Row::new("doubled", count(self.doubled), "messages"),
            Row::new("seen to leave by who watches", flaps, "%"),
            Row::new("came back", count(self.returned), "members"),
            Row::new("had to begin anew", count(self.not_resumed), "members"),
            Row::new("gaps", count(self.gaps), ""),
            Row::new("server CPU per return", self.cpu_us_per_return, "µs"),
            Row::new("sent", count(self.sent), "messages"),
            Row::new("acknowledged", count(self.acknowledged), "messages"),
            Row::new("delivered in all", count(self.delivered), "messages"),
            Row::new("of these with the welcome", count(self.caught_up), "messages"),
            Row::new("came again, dropped by the receiver", count(self.repeated), "messages"),
            Row::new("watched pairs", count(self.watched), ""),
            Row::new("generator, busiest thread", self.generator_busiest_percent, "%"),
        ]
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("storm").text())
    }
}
