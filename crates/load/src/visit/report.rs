//! The report of a visit run: Siege's table, and figures that Siege does not have.

use hdrhistogram::Histogram;
use serde_json::json;

use super::tally::Tally;
use super::{Kind, VisitPlan};
use crate::failures;
use crate::outcome::{BUSIEST_PERCENT, Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::probe::Probe;
use crate::report::{Measure, Run, grouped};
use crate::tally::{add_times, histogram};
use crate::watch::Snapshot;

const PAPER: &str = "paper, AVChat";

pub(super) struct Phases {
    pub(super) begin: Snapshot,
    pub(super) end: Snapshot,
    pub(super) unanswered: u64,
    pub(super) pages: usize,
    pub(super) files: usize,
    pub(super) beats: u64,
    pub(super) slow_beats: u64,
}

/// The table of Siege, with its names.
struct Siege {
    transactions: u64,
    availability_percent: f64,
    elapsed_seconds: f64,
    bytes: u64,
    /// Mean.
    response_seconds: f64,
    successful: u64,
    failed: u64,
    longest_seconds: f64,
    shortest_seconds: f64,
}

impl Siege {
    fn new(all: &Histogram<u64>, failed: u64, bytes: u64, elapsed_seconds: f64) -> Siege {
        let transactions = all.len() + failed;
        Siege {
            transactions,
            availability_percent: 100.0 - share(failed, transactions),
            elapsed_seconds,
            bytes,
            response_seconds: all.mean() / 1e6,
            successful: all.len(),
            failed,
            longest_seconds: all.max() as f64 / 1e6,
            shortest_seconds: if all.is_empty() { 0.0 } else { all.min() as f64 / 1e6 },
        }
    }

    fn transactions_per_second(&self) -> f64 {
        self.transactions as f64 / self.elapsed_seconds
    }

    fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.elapsed_seconds
    }

    /// Mean number of concurrent requests.
    fn concurrency(&self) -> f64 {
        self.response_seconds * self.successful as f64 / self.elapsed_seconds
    }

    /// In Siege's format.
    fn lines(&self) -> Vec<String> {
        let mb = 1024.0 * 1024.0;
        let row = |what: &str, figure: String, unit: &str| {
            format!("{what:<25}{figure:>12} {unit}").trim_end().to_owned()
        };
        vec![
            row("Transactions:", self.transactions.to_string(), "hits"),
            row("Availability:", format!("{:.2}", self.availability_percent), "%"),
            row("Elapsed time:", format!("{:.2}", self.elapsed_seconds), "secs"),
            row("Data transferred:", format!("{:.2}", self.bytes as f64 / mb), "MB"),
            row("Response time:", format!("{:.4}", self.response_seconds), "secs"),
            row("Transaction rate:", format!("{:.2}", self.transactions_per_second()), "trans/sec"),
            row("Throughput:", format!("{:.2}", self.bytes_per_second() / mb), "MB/sec"),
            row("Concurrency:", format!("{:.2}", self.concurrency()), ""),
            row("Successful transactions:", self.successful.to_string(), ""),
            row("Failed transactions:", self.failed.to_string(), ""),
            row("Longest transaction:", format!("{:.4}", self.longest_seconds), ""),
            row("Shortest transaction:", format!("{:.4}", self.shortest_seconds), ""),
        ]
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64 * 100.0
}

pub(super) fn report(plan: &VisitPlan, mut outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { begin, end, .. } = phases;
    let (tally, before) = (&outcome.tally, outcome.before);
    let mut all = histogram();
    tally.times.values().for_each(|times| add_times(&mut all, times));
    if phases.unanswered > 0 {
        outcome.failures.insert("never answered".to_owned(), phases.unanswered);
    }
    let elapsed = end.seconds_since(begin);
    let siege = Siege::new(&all, tally.failed + phases.unanswered, tally.bytes, elapsed);
    let visitors = f64::from(plan.visitors);
    let cpu = end.cpu_since(begin);
    let each = |bytes: f64| bytes.max(0.0) / visitors;
    let visits = visitors * elapsed / plan.stay.as_secs_f64();
    let busiest = end.busiest_percent_since(begin);
    let late = share(tally.late_turns, tally.turns);
    let against = match &outcome.probe {
        _ if busiest > BUSIEST_PERCENT => {
            Some(("the generator was itself the limit", "more --threads, or fewer visitors"))
        }
        _ if late > 1.0 || share(phases.slow_beats, phases.beats) > 1.0 => Some((
            "the generator came late to what visitors were to do",
            "fewer visitors or a longer --think, or end what else runs on this machine",
        )),
        _ if failures::short_of_descriptors(&outcome.failures) => Some((
            "the generator had too few descriptors",
            "raise the limit of open files, or fewer --connections",
        )),
        _ if begin.active < u64::from(plan.visitors) * 99 / 100 => {
            Some(("not everybody was there when counting began", "a lower --rate; see the failures"))
        }
        Probe::Blind => Some(("nothing could be seen of the server", "--pid names its process")),
        _ if siege.successful == 0 => Some(("nothing was fetched while it was counted", "a longer --time")),
        _ => None,
    };
    let (rate, response_ms) = (siege.transactions_per_second(), siege.response_seconds * 1e3);
    let of_transaction = cpu.map(|cpu| cpu * 1e6 / siege.transactions.max(1) as f64);
    let user = end.sample.resident_since(&before).map(each);
    let kernel = end.sample.kernel_since(&before).map(each);
    let mut measures = vec![
        Measure::derived("response time, mean", "ms", response_ms).beside(PAPER, 70.0),
        Measure::new("transactions_per_second", "transaction rate", "/s", rate).beside(PAPER, 183.8),
        Measure::derived("longest transaction", "ms", siege.longest_seconds * 1e3).beside(PAPER, 600.0),
        Measure::new("availability_percent", "availability", "%", siege.availability_percent)
            .beside(PAPER, 100.0),
        Measure::new(
            "cpu_ms_per_visit",
            "server CPU per visit",
            "ms",
            cpu.map(|cpu| cpu * 1e3 / visits.max(0.001)),
        ),
        Measure::new("cpu_us_per_transaction", "server CPU per transaction", "µs", of_transaction),
        Measure::new("server_cpu_percent", "server CPU", "% of a core", cpu.map(|cpu| cpu / elapsed * 100.0)),
        Measure::new("user_bytes_per_visitor", "user memory per visitor", "B", user),
        Measure::new("kernel_bytes_per_visitor", "kernel memory per visitor, both ends", "B", kernel),
        Measure::new("unchanged", "asked the cache, unchanged (304)", "", tally.unchanged),
        Measure::new("made_again", "made again on a new connection", "", tally.again),
        Measure::new("came", "visitors who came", "", tally.came),
        Measure::new("left", "visitors who left", "", tally.left),
        Measure::new("messages", "messages written", "", tally.written),
        Measure::new("messages_received", "messages that found their addressee there", "", tally.received),
        generator(busiest),
        Measure::new("late_percent", "generator, late", "%", late),
        Measure::times("response_ms", "all transactions", Percentiles::of(&all)),
        Measure::json_only("transactions", siege.transactions),
        Measure::json_only("elapsed_seconds", elapsed),
        Measure::json_only("data_transferred_bytes", siege.bytes),
        Measure::json_only("response_time_seconds", siege.response_seconds),
        Measure::json_only("throughput_bytes_per_second", siege.bytes_per_second()),
        Measure::json_only("concurrency", siege.concurrency()),
        Measure::json_only("successful", siege.successful),
        Measure::json_only("failed", siege.failed),
        Measure::json_only("longest_seconds", siege.longest_seconds),
        Measure::json_only("shortest_seconds", siege.shortest_seconds),
        Measure::json_only("server_resident_bytes", end.sample.resident_bytes),
    ];
    let kinds = tally.times.iter().map(|(kind, times)| (*kind, times.len(), Percentiles::of(times)));
    let kinds: Vec<(Kind, u64, Percentiles)> = kinds.collect();
    // Shown like the others; the JSON object has them as a list.
    measures.extend(kinds.iter().map(|(kind, _, ms)| Measure::derived(kind.name(), "ms", *ms)));
    let kinds: Vec<_> =
        kinds.iter().map(|(kind, count, ms)| json!({"kind": kind, "count": count, "ms": ms})).collect();
    let findings = Findings {
        headline: format!(
            "{} visitors at once: {} transactions/s, {} ms in the mean, {} % answered",
            grouped(visitors),
            grouped(rate),
            grouped(response_ms),
            grouped(siege.availability_percent)
        ),
        how: how(plan, phases.pages, elapsed),
        against,
        measures,
        facts: vec![
            ("page", json!(plan.page)),
            ("pages", json!(phases.pages)),
            ("files", json!(phases.files)),
            ("visitors", json!(plan.visitors)),
            ("visitors_per_hour", json!(visitors * 3600.0 / plan.stay.as_secs_f64())),
            ("stay_seconds", json!(plan.stay.as_secs_f64())),
            ("think_seconds", json!(plan.think.as_secs_f64())),
            ("connections", json!(plan.connections)),
            ("kinds", json!(kinds)),
        ],
        lines: siege.lines(),
    };
    outcome.into_run("visit", findings)
}

fn how(plan: &VisitPlan, pages: usize, elapsed: f64) -> String {
    let stay = match plan.stay.as_secs_f64() {
        seconds if seconds < 120.0 => format!("{} s", grouped(seconds)),
        seconds => format!("{} minutes", grouped(seconds / 60.0)),
    };
    format!(
        "{} visitors an hour who stay for {stay}, counted for {} s from the middle of it on: as many came as left. Each \
         looked at one of {} pages from {} on, every {} s in the mean, in a browser's order and with its cache: page, \
         styles, loader, avatars, the widget's shell, a token (POST), WebSocket and hello; on half of the pages \
         contacts and history, and now and then a message. At most {} connections for files each, kept until the server \
         closes them. Times count from when the browser wanted the thing, so waiting for a connection is in them. The \
         demo's token is fetched for its cost; each visitor logs in as a member of their own, with a token that the \
         generator has signed. Compressed answers are counted as they came.",
        grouped(f64::from(plan.visitors) * 3600.0 / plan.stay.as_secs_f64()),
        grouped(elapsed),
        pages,
        plan.page,
        grouped(plan.think.as_secs_f64()),
        plan.connections
    )
}
