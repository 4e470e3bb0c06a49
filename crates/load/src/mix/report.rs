//! What a mix has found: how many members fitted, and what ended it.

use std::collections::BTreeMap;
use std::fmt;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::members::Found;
use super::{Limit, MixPlan, drive};
use crate::conductor::Snapshot;
use crate::failures;
use crate::percentiles::Percentiles;
use crate::probe::{Probe, Sample};
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::worker::together;

const FEWEST_TO_EXTRAPOLATE: u64 = 1_000;
/// Of the paper's machine.
const PAPER_BYTES: f64 = 512.0 * 1024.0 * 1024.0;

/// The outcome. Figures that could not be read are null.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    pub members_at_most: u32,
    pub rate: f64,
    pub memory_limit_bytes: u64,
    pub with_kernel: bool,
    pub error_limit_percent: f64,
    pub write_every_seconds: f64,
    pub presence_every_seconds: f64,
    /// Logged in when the limit was met.
    pub members: u64,
    pub ended_by: Limit,
    pub seconds: f64,
    /// The memory that counted against the limit at the end.
    pub memory_bytes: Option<u64>,
    pub user_bytes_per_member: Option<f64>,
    /// Both ends.
    pub kernel_bytes_per_member: Option<f64>,
    /// An extrapolation: the server's memory before the first member, and this run's memory for each, in 512 MB. No
    /// run did it.
    pub extrapolated_in_512_mb: Option<f64>,
    /// The extrapolation with the server's half of the kernel's memory.
    pub extrapolated_in_512_mb_with_kernel: Option<f64>,
    pub server_cpu_percent: Option<f64>,
    pub login_ms: Percentiles,
    pub ack_ms: Percentiles,
    pub delivery_ms: Percentiles,
    pub sent: u64,
    pub acknowledged: u64,
    pub delivered: u64,
    /// Acknowledged, but not delivered.
    pub lost: u64,
    pub doubled: u64,
    pub presences: u64,
    pub refused: BTreeMap<String, u64>,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    /// Of one core.
    pub generator_busiest_percent: f64,
    pub late_percent: f64,
    pub generator_threads: usize,
    pub valid: bool,
    pub invalid_because: Option<String>,
    pub change: Option<String>,
    pub interrupted: bool,
    pub series: Vec<Point>,
}

pub(super) struct Findings {
    pub(super) limit: Limit,
    pub(super) before: Sample,
    pub(super) end: Snapshot,
    pub(super) late_percent: f64,
    pub(super) login: Histogram<u64>,
    pub(super) sent: u64,
    pub(super) acknowledged: u64,
    pub(super) delivered: u64,
    pub(super) refused: u64,
    pub(super) failed: u64,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) seconds: f64,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &MixPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { before, end, found, seconds, .. } = findings;
        let times =
            |which: fn(&Found) -> &Histogram<u64>| Percentiles::of(&together(found.iter().map(which)));
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let members = end.active;
        let each = |grown: u64| grown as f64 / members.max(1) as f64;
        let user = || Some(each(end.sample.resident_bytes?.saturating_sub(before.resident_bytes?)));
        let kernel = || Some(each(end.sample.kernel_bytes?.saturating_sub(before.kernel_bytes?)));
        // Of a few, growth says more of the pages that are touched first than of members.
        let enough = members >= FEWEST_TO_EXTRAPOLATE;
        let fit = |bytes: f64| {
            let free = PAPER_BYTES - before.resident_bytes? as f64;
            enough.then_some(free / bytes.max(1.0))
        };
        let busiest = end.busiest_worker_seconds / seconds.max(0.001) * 100.0;
        let against = match probe {
            Probe::Blind => Some(("nothing could be seen of the server", "--pid names its process")),
            _ if before.resident_bytes >= Some(plan.memory_limit) => {
                Some(("the server had more than the limit before anybody came", "a higher --memory-limit"))
            }
            _ if busiest > 95.0 => {
                Some(("the generator was itself the limit", "more --threads, or a lower --rate"))
            }
            _ if findings.late_percent > 1.0 => Some((
                "the generator came late to what members were to do",
                "a lower --rate, or end what else runs on this machine",
            )),
            _ if failures::short_of_descriptors(&findings.failures) => Some((
                "the generator had too few descriptors",
                "raise the limit of open files, or fewer --members",
            )),
            _ if findings.refused > 0 && findings.limit != Limit::Errors => {
                Some(("the server refused messages: its limits were measured", "a node without limits"))
            }
            _ => None,
        };
        Report {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            members_at_most: plan.members,
            rate: plan.rate,
            memory_limit_bytes: plan.memory_limit,
            with_kernel: plan.with_kernel,
            error_limit_percent: plan.error_limit_percent,
            write_every_seconds: plan.write_every.as_secs_f64(),
            presence_every_seconds: plan.presence_every.as_secs_f64(),
            members,
            ended_by: findings.limit,
            seconds,
            memory_bytes: drive::memory(plan, &end, &before),
            user_bytes_per_member: user(),
            kernel_bytes_per_member: kernel(),
            extrapolated_in_512_mb: user().and_then(fit),
            extrapolated_in_512_mb_with_kernel: user()
                .zip(kernel())
                .and_then(|(user, kernel)| fit(user + kernel / 2.0)),
            server_cpu_percent: (|| {
                Some((end.sample.cpu_seconds? - before.cpu_seconds?) / seconds.max(0.001) * 100.0)
            })(),
            login_ms: Percentiles::of(&findings.login),
            ack_ms: times(|one| &one.ack),
            delivery_ms: times(|one| &one.delivery),
            sent: findings.sent,
            acknowledged: findings.acknowledged,
            delivered: findings.delivered,
            lost: findings.acknowledged.saturating_sub(findings.delivered),
            doubled: found.iter().map(|found| found.doubled).sum(),
            presences: found.iter().map(|found| found.presences).sum(),
            refused,
            failed: findings.failed,
            failures: findings.failures,
            generator_busiest_percent: busiest,
            late_percent: findings.late_percent,
            generator_threads: findings.workers,
            valid: against.is_none(),
            invalid_because: against.map(|(because, _)| because.to_owned()),
            change: against.map(|(_, change)| change.to_owned()),
            interrupted: findings.limit == Limit::Interrupted,
            series: findings.series,
        }
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let against = self.invalid_because.as_deref().zip(self.change.as_deref());
        Run {
            name: name.to_owned(),
            headline: format!("{} members, and {}", grouped(self.members as f64), self.ended()),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &self.refused),
            latencies: vec![
                Latency { what: "connect + login, from when it was due", ms: self.login_ms },
                Latency { what: "message to acknowledgement", ms: self.ack_ms },
                Latency { what: "message to delivery", ms: self.delivery_ms },
            ],
            series: self.series.clone(),
            study: None,
        }
    }

    fn ended(&self) -> String {
        let mb = |bytes: u64| grouped((bytes as f64 / 1_048_576.0 * 10.0).round() / 10.0);
        match self.ended_by {
            Limit::Memory => format!("the limit of {} MB of memory ended it", mb(self.memory_limit_bytes)),
            Limit::Errors => format!("more than {} % of errors ended it", grouped(self.error_limit_percent)),
            Limit::Members => "all were there before a limit was met".to_owned(),
            Limit::Time => "its time ended it before a limit was met".to_owned(),
            Limit::Interrupted => "somebody ended it".to_owned(),
        }
    }

    fn how(&self) -> String {
        format!(
            "Over {}, members came at {} per second by chance (Poisson): of ten, two did nothing, six changed their \
                 presence once per {} s, two wrote a message per {} s to somebody of their group; every message is on disk \
                 before it is acknowledged. What counted against the limit was the server's resident memory{}. Members in \
                 512 MB are an extrapolation: 512 MB less what the server had before anybody came, divided by what it had \
                 grown by per member here. The paper's machine had 512 MB for everything, its kernel too, and spoke XMPP.",
            self.transport,
            grouped(self.rate),
            grouped(self.presence_every_seconds),
            grouped(self.write_every_seconds),
            if self.with_kernel { " and its half of the kernel's growth" } else { "" }
        )
    }

    fn rows(&self) -> Vec<Row> {
        let count = |count: u64| count as f64;
        let in_paper = |row: Row| {
            row.beside("paper, Erlang'07, tuned", 23_898.0).beside("paper, Erlang'07, at first", 17_855.0)
        };
        vec![
            Row::new("members who fitted", count(self.members), ""),
            in_paper(Row::new(
                "in 512 MB, extrapolated",
                self.extrapolated_in_512_mb.map(f64::round),
                "members",
            )),
            in_paper(Row::new(
                "the same with the kernel's half",
                self.extrapolated_in_512_mb_with_kernel.map(f64::round),
                "members",
            )),
            Row::new("user memory per member", self.user_bytes_per_member, "B"),
            Row::new("kernel memory per member, both ends", self.kernel_bytes_per_member, "B"),
            Row::new("memory when it ended", self.memory_bytes.map(|bytes| bytes as f64 / 1_048_576.0), "MB"),
            Row::new("until then", self.seconds, "s"),
            Row::new("server CPU", self.server_cpu_percent, "% of a core"),
            Row::new("logins and others that failed", count(self.failed), ""),
            Row::new("sent", count(self.sent), "messages"),
            Row::new("delivered", count(self.delivered), "messages"),
            Row::new("lost", count(self.lost), "messages"),
            Row::new("doubled", count(self.doubled), "messages"),
            Row::new("changes of presence", count(self.presences), ""),
            Row::new("generator, busiest thread", self.generator_busiest_percent, "%"),
            Row::new("generator, late", self.late_percent, "%"),
        ]
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("mix").text())
    }
}
