//! What visits have found: Siege's table, and what it does not say.

use std::collections::BTreeMap;
use std::fmt;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::tally::Tally;
use super::{Kind, VisitPlan};
use crate::conductor::Snapshot;
use crate::failures::{self, Reasons};
use crate::percentiles::Percentiles;
use crate::probe::Probe;
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::worker::histogram;

/// The outcome. Figures that could not be read are null. The names of Siege's table are Siege's.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub page: String,
    pub pages: usize,
    pub files: usize,
    pub visitors: u32,
    pub visitors_per_hour: f64,
    pub stay_seconds: f64,
    pub think_seconds: f64,
    pub connections: u32,
    pub transactions: u64,
    pub availability_percent: f64,
    pub elapsed_seconds: f64,
    pub data_transferred_bytes: u64,
    pub response_time_seconds: f64,
    pub transactions_per_second: f64,
    pub throughput_bytes_per_second: f64,
    /// Requests that were on their way at once, in the mean.
    pub concurrency: f64,
    pub successful: u64,
    pub failed: u64,
    pub longest_seconds: f64,
    pub shortest_seconds: f64,
    /// Of the successful ones: the cache asked, and had the right version.
    pub unchanged: u64,
    /// Kept connections that the server closed under a request; it was made again on another one.
    pub made_again: u64,
    pub response_ms: Percentiles,
    pub kinds: Vec<OfKind>,
    pub came: u64,
    pub left: u64,
    pub messages: u64,
    /// That reached somebody who was there.
    pub messages_received: u64,
    pub cpu_us_per_transaction: Option<f64>,
    pub cpu_ms_per_visit: Option<f64>,
    pub server_cpu_percent: Option<f64>,
    /// Growth from before anybody came until the end, per visitor, with their kept connections.
    pub user_bytes_per_visitor: Option<f64>,
    /// Both ends.
    pub kernel_bytes_per_visitor: Option<f64>,
    pub server_resident_bytes: Option<u64>,
    pub failures: BTreeMap<String, u64>,
    /// Of one core.
    pub generator_busiest_percent: f64,
    /// Of what visitors had to do by the clock.
    pub late_percent: f64,
    pub generator_threads: usize,
    pub valid: bool,
    pub invalid_because: Option<String>,
    pub change: Option<String>,
    pub interrupted: bool,
    pub series: Vec<Point>,
}

#[derive(Debug, Clone, Serialize)]
pub struct OfKind {
    pub kind: Kind,
    pub count: u64,
    pub ms: Percentiles,
}

pub(super) struct Findings {
    pub(super) interrupted: bool,
    pub(super) before: Snapshot,
    pub(super) begin: Snapshot,
    pub(super) end: Snapshot,
    pub(super) unanswered: u64,
    pub(super) tallies: Vec<Tally>,
    pub(super) pages: usize,
    pub(super) files: usize,
    pub(super) beats: u64,
    pub(super) slow_beats: u64,
    pub(super) workers: usize,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &VisitPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { before, begin, end, tallies, .. } = &findings;
        let (times, all) = merged(tallies);
        let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>();
        let mut failures = failures::joined(tallies.iter().map(|tally| &tally.failures));
        if findings.unanswered > 0 {
            failures.insert("never answered".to_owned(), findings.unanswered);
        }
        let elapsed = end.at.saturating_duration_since(begin.at).as_secs_f64().max(0.001);
        let (successful, failed) = (all.len(), sum(|tally| tally.failed) + findings.unanswered);
        let transactions = successful + failed;
        let response = all.mean() / 1e6;
        let bytes = sum(|tally| tally.bytes);
        let cpu = || Some(end.sample.cpu_seconds? - begin.sample.cpu_seconds?);
        let grown = |memory: fn(&Snapshot) -> Option<u64>| {
            Some(memory(end)?.saturating_sub(memory(before)?) as f64 / f64::from(plan.visitors))
        };
        let visits = f64::from(plan.visitors) * elapsed / plan.stay.as_secs_f64();
        let busiest = end.busiest_percent_since(begin);
        let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64 * 100.0;
        let late = share(sum(|tally| tally.late_turns), sum(|tally| tally.turns));
        let against = match probe {
            _ if busiest > 95.0 => {
                Some(("the generator was itself the limit", "more --threads, or fewer visitors"))
            }
            _ if late > 1.0 || share(findings.slow_beats, findings.beats) > 1.0 => Some((
                "the generator came late to what visitors were to do",
                "fewer visitors or a longer --think, or end what else runs on this machine",
            )),
            _ if failures::short_of_descriptors(&failures) => Some((
                "the generator had too few descriptors",
                "raise the limit of open files, or fewer --connections",
            )),
            _ if begin.active < u64::from(plan.visitors) * 99 / 100 => {
                Some(("not everybody was there when counting began", "a lower --rate; see the failures"))
            }
            Probe::Blind => Some(("nothing could be seen of the server", "--pid names its process")),
            _ if successful == 0 => Some(("nothing was fetched while it was counted", "a longer --time")),
            _ => None,
        };
        Report {
            url: plan.options.target.url(),
            page: plan.page.clone(),
            pages: findings.pages,
            files: findings.files,
            visitors: plan.visitors,
            visitors_per_hour: f64::from(plan.visitors) * 3600.0 / plan.stay.as_secs_f64(),
            stay_seconds: plan.stay.as_secs_f64(),
            think_seconds: plan.think.as_secs_f64(),
            connections: plan.connections,
            transactions,
            availability_percent: 100.0 - share(failed, transactions),
            elapsed_seconds: elapsed,
            data_transferred_bytes: bytes,
            response_time_seconds: response,
            transactions_per_second: transactions as f64 / elapsed,
            throughput_bytes_per_second: bytes as f64 / elapsed,
            concurrency: response * successful as f64 / elapsed,
            successful,
            failed,
            longest_seconds: all.max() as f64 / 1e6,
            shortest_seconds: if all.is_empty() { 0.0 } else { all.min() as f64 / 1e6 },
            unchanged: sum(|tally| tally.unchanged),
            made_again: sum(|tally| tally.again),
            response_ms: Percentiles::of(&all),
            kinds: times
                .iter()
                .filter(|(_, times)| !times.is_empty())
                .map(|(kind, times)| OfKind { kind: *kind, count: times.len(), ms: Percentiles::of(times) })
                .collect(),
            came: sum(|tally| tally.came),
            left: sum(|tally| tally.left),
            messages: sum(|tally| tally.written),
            messages_received: sum(|tally| tally.received),
            cpu_us_per_transaction: cpu().map(|cpu| cpu * 1e6 / transactions.max(1) as f64),
            cpu_ms_per_visit: cpu().map(|cpu| cpu * 1e3 / visits.max(0.001)),
            server_cpu_percent: cpu().map(|cpu| cpu / elapsed * 100.0),
            user_bytes_per_visitor: grown(|stand| stand.sample.resident_bytes),
            kernel_bytes_per_visitor: grown(|stand| stand.sample.kernel_bytes),
            server_resident_bytes: end.sample.resident_bytes,
            failures,
            generator_busiest_percent: busiest,
            late_percent: late,
            generator_threads: findings.workers,
            valid: against.is_none(),
            invalid_because: against.map(|(because, _)| because.to_owned()),
            change: against.map(|(_, change)| change.to_owned()),
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
        let against = self.invalid_because.as_deref().zip(self.change.as_deref());
        let count = |count: u64| count as f64;
        let paper = "paper, AVChat";
        let mut latencies = vec![Latency { what: "all transactions", ms: self.response_ms }];
        latencies.extend(self.kinds.iter().map(|of| Latency { what: of.kind.name(), ms: of.ms }));
        Run {
            name: name.to_owned(),
            headline: format!(
                "{} visitors at once: {} transactions/s, {} ms in the mean, {} % answered",
                grouped(f64::from(self.visitors)),
                grouped(self.transactions_per_second),
                grouped(self.response_time_seconds * 1e3),
                grouped(self.availability_percent)
            ),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: vec![
                Row::new("response time, mean", self.response_time_seconds * 1e3, "ms").beside(paper, 70.0),
                Row::new("transaction rate", self.transactions_per_second, "/s").beside(paper, 183.8),
                Row::new("longest transaction", self.longest_seconds * 1e3, "ms").beside(paper, 600.0),
                Row::new("availability", self.availability_percent, "%").beside(paper, 100.0),
                Row::new("server CPU per visit", self.cpu_ms_per_visit, "ms"),
                Row::new("server CPU per transaction", self.cpu_us_per_transaction, "µs"),
                Row::new("server CPU", self.server_cpu_percent, "% of a core"),
                Row::new("user memory per visitor", self.user_bytes_per_visitor, "B"),
                Row::new("kernel memory per visitor, both ends", self.kernel_bytes_per_visitor, "B"),
                Row::new("asked the cache, unchanged (304)", count(self.unchanged), ""),
                Row::new("made again on a new connection", count(self.made_again), ""),
                Row::new("visitors who came", count(self.came), ""),
                Row::new("visitors who left", count(self.left), ""),
                Row::new("messages written", count(self.messages), ""),
                Row::new("messages that found their addressee there", count(self.messages_received), ""),
                Row::new("generator, busiest thread", self.generator_busiest_percent, "%"),
                Row::new("generator, late", self.late_percent, "%"),
            ],
            lines: self.siege(),
            latencies,
            series: self.series.clone(),
            study: None,
        }
    }

    fn how(&self) -> String {
        let stay = match self.stay_seconds {
            seconds if seconds < 120.0 => format!("{} s", grouped(seconds)),
            seconds => format!("{} minutes", grouped(seconds / 60.0)),
        };
        format!(
            "{} visitors an hour who stay for {}, counted for {} s from the middle of it on: as many came as left. Each \
             looked at one of {} pages from {} on, every {} s in the mean, in a browser's order and with its cache: page, \
             styles, loader, avatars, the widget's shell, a token (POST), WebSocket and hello; on half of the pages \
             contacts and history, and now and then a message. At most {} connections for files each, kept until the server \
             closes them. Times count from when the browser wanted the thing, so waiting for a connection is in them. The \
             demo's token is fetched for its cost; each visitor logs in as a member of their own, with a token that the \
             generator has signed. Compressed answers are counted as they came.",
            grouped(self.visitors_per_hour),
            stay,
            grouped(self.elapsed_seconds),
            self.pages,
            self.page,
            grouped(self.think_seconds),
            self.connections
        )
    }

    /// The table as Siege prints it.
    fn siege(&self) -> Vec<String> {
        let mb = 1024.0 * 1024.0;
        let row = |what: &str, figure: String, unit: &str| {
            format!("{what:<25}{figure:>12} {unit}").trim_end().to_owned()
        };
        let mut lines = vec![
            row("Transactions:", self.transactions.to_string(), "hits"),
            row("Availability:", format!("{:.2}", self.availability_percent), "%"),
            row("Elapsed time:", format!("{:.2}", self.elapsed_seconds), "secs"),
            row("Data transferred:", format!("{:.2}", self.data_transferred_bytes as f64 / mb), "MB"),
            row("Response time:", format!("{:.4}", self.response_time_seconds), "secs"),
            row("Transaction rate:", format!("{:.2}", self.transactions_per_second), "trans/sec"),
            row("Throughput:", format!("{:.2}", self.throughput_bytes_per_second / mb), "MB/sec"),
            row("Concurrency:", format!("{:.2}", self.concurrency), ""),
            row("Successful transactions:", self.successful.to_string(), ""),
            row("Failed transactions:", self.failed.to_string(), ""),
            row("Longest transaction:", format!("{:.4}", self.longest_seconds), ""),
            row("Shortest transaction:", format!("{:.4}", self.shortest_seconds), ""),
        ];
        lines.extend(failures::lines(&self.failures, &Reasons::new()));
        lines
    }
}

/// By kind, and all together.
fn merged(tallies: &[Tally]) -> (BTreeMap<Kind, Histogram<u64>>, Histogram<u64>) {
    let (mut times, mut all) = (BTreeMap::new(), histogram());
    for (kind, of_kind) in tallies.iter().flat_map(|tally| &tally.times) {
        let sum = times.entry(*kind).or_insert_with(histogram);
        sum.add(of_kind).expect("all have the same bounds");
        all.add(of_kind).expect("all have the same bounds");
    }
    (times, all)
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("visit").text())
    }
}
