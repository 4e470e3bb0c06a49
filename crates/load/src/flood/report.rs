//! What a flood has found, in figures that others can repeat.

use std::collections::BTreeMap;
use std::fmt;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::FloodPlan;
use crate::conductor::{Ramp, Snapshot};
use crate::failures::{self, Reasons};
use crate::percentiles::Percentiles;
use crate::probe::{Probe, Sample};
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;

/// The outcome. Figures that could not be read are null.
///
/// `user_bytes_per_connection`: resident memory of the server at the end of the hold, minus that before the first
/// connection, divided by the connections there.
///
/// Memory that an earlier run has left free in the process is used again and not seen: measure a node that has just
/// started. `anonymous_bytes_per_connection` is the part of the growth that is no page of a file, so without those of
/// the program, which count here when they are used for the first time.
///
/// `kernel_bytes_per_connection`: growth of the machine's Slab and TCP buffer pages over the same time. Both ends of
/// each connection live on this machine and are alike, so it is divided by twice the connections.
///
/// `cpu_us_per_connect`: user and system time of the server from before the first connection until half a second after
/// the last welcome, divided by the welcomes.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub site: String,
    pub transport: &'static str,
    pub tls: bool,
    pub asked: u32,
    /// Logged in at the end of the ramp.
    pub connections: u64,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    /// False if the generator was itself the limit, or nothing could be seen of the server.
    pub valid: bool,
    pub invalid_because: Option<String>,
    /// Ended before its time.
    pub interrupted: bool,
    /// The bottleneck of a ramp that was slower than asked: `generator`, `server` or `machine`.
    pub limited_by: Option<&'static str>,
    pub rate: f64,
    pub achieved_rate: f64,
    pub ramp_seconds: f64,
    pub user_bytes_per_connection: Option<f64>,
    pub anonymous_bytes_per_connection: Option<f64>,
    pub kernel_bytes_per_connection: Option<f64>,
    pub cpu_us_per_connect: Option<f64>,
    /// Of one core, while all are connected and nobody says anything.
    pub idle_cpu_percent: Option<f64>,
    /// From the moment the connection was due to its welcome.
    pub connect_ms: Percentiles,
    pub resident_before: Option<u64>,
    pub resident_held: Option<u64>,
    pub exchange: Option<Exchange>,
    pub after_left: AfterLeft,
    pub generator: Generator,
    pub series: Vec<Point>,
}

/// Each member has sent one message and received one.
#[derive(Debug, Clone, Serialize)]
pub struct Exchange {
    pub body_bytes: usize,
    pub sent: u64,
    pub acknowledged: u64,
    pub received: u64,
    pub refused: u64,
    /// Again, after the last one and the time to settle.
    pub user_bytes_per_connection: Option<f64>,
    /// So many seconds after the last one it was there for good, give or take 1 % of the resident memory.
    pub settled_seconds: Option<f64>,
}

/// When all members have left, after the time to settle.
#[derive(Debug, Clone, Serialize)]
pub struct AfterLeft {
    pub resident_bytes: Option<u64>,
    /// Memory growth that remains, per former connection.
    pub user_bytes_per_connection: Option<f64>,
    /// So many seconds after they left it was there for good, give or take 1 % of the resident memory.
    pub settled_seconds: Option<f64>,
    pub active: u64,
}

#[derive(Debug, Clone, Serialize)]
pub struct Generator {
    pub threads: usize,
    pub cpu_us_per_connect: Option<f64>,
    /// Of one core, during the ramp.
    pub busiest_thread_percent: f64,
    /// Parts of the ramp in which it was late for its own reasons.
    pub late_percent: f64,
}

/// Everything measured, before the arithmetic.
pub(super) struct Findings {
    pub(super) interrupted: bool,
    pub(super) before: Sample,
    pub(super) ramp: Ramp,
    pub(super) ramped: Snapshot,
    pub(super) idle_from: Snapshot,
    pub(super) held: Snapshot,
    pub(super) exchange: Option<Exchange>,
    pub(super) at_leave: Snapshot,
    pub(super) left: Snapshot,
    pub(super) left_settled: Option<f64>,
    pub(super) login: Histogram<u64>,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) series: Vec<Point>,
    pub(super) workers: usize,
    pub(super) failed: u64,
}

impl Report {
    pub(super) fn new(plan: &FloodPlan, probe: Probe, found: Findings) -> Report {
        let Findings { before, ramp, ramped, idle_from, held, at_leave, left, login, .. } = found;
        let connections = ramped.active;
        let growth = |later: &Sample| -> Option<f64> {
            Some((later.resident_bytes? as f64 - before.resident_bytes? as f64) / at_least_one(connections))
        };
        let anonymous = || -> Option<f64> {
            let grown = held.sample.anonymous_bytes? as f64 - before.anonymous_bytes? as f64;
            Some(grown / at_least_one(connections))
        };
        let kernel = || -> Option<f64> {
            let grown = held.sample.kernel_bytes? as f64 - before.kernel_bytes? as f64;
            Some(grown / 2.0 / at_least_one(connections))
        };
        let server_cpu = || Some(ramped.sample.cpu_seconds? - before.cpu_seconds?);
        let idle = || {
            let seconds = held.at.saturating_duration_since(idle_from.at).as_secs_f64();
            Some((held.sample.cpu_seconds? - idle_from.sample.cpu_seconds?) / seconds * 100.0)
        };
        let generator = Generator {
            threads: found.workers,
            cpu_us_per_connect: ramped.generator_cpu_seconds.map(|all| all * 1e6 / at_least_one(connections)),
            busiest_thread_percent: ramped.busiest_worker_seconds / ramp.seconds.max(0.001) * 100.0,
            late_percent: ramp.late_beats as f64 / at_least_one(ramp.beats) * 100.0,
        };
        let achieved_rate = connections as f64 / ramp.seconds.max(0.001);
        let server_share = server_cpu().map(|seconds| seconds / ramp.seconds.max(0.001));
        let limited_by = limit(achieved_rate / plan.rate, &generator, server_share);
        let invalid_because = match (limited_by, probe) {
            (Some("generator"), _) => {
                Some("the generator was itself the limit: give it more threads or another machine")
            }
            (_, Probe::Blind) => Some("nothing could be seen of the server: name its process id"),
            _ if connections == 0 => Some("nobody was logged in"),
            _ => None,
        };
        Report {
            url: plan.options.target.url(),
            site: plan.options.site.clone(),
            transport: plan.transport.name(),
            tls: plan.options.target.tls,
            asked: plan.connections,
            connections,
            failed: found.failed,
            failures: found.failures,
            valid: invalid_because.is_none(),
            invalid_because: invalid_because.map(str::to_owned),
            interrupted: found.interrupted,
            limited_by,
            rate: plan.rate,
            achieved_rate,
            ramp_seconds: ramp.seconds,
            user_bytes_per_connection: growth(&held.sample),
            anonymous_bytes_per_connection: anonymous(),
            kernel_bytes_per_connection: kernel(),
            cpu_us_per_connect: server_cpu().map(|seconds| seconds * 1e6 / at_least_one(connections)),
            idle_cpu_percent: idle(),
            connect_ms: Percentiles::of(&login),
            resident_before: before.resident_bytes,
            resident_held: held.sample.resident_bytes,
            exchange: found
                .exchange
                .map(|exchange| Exchange { user_bytes_per_connection: growth(&at_leave.sample), ..exchange }),
            after_left: AfterLeft {
                resident_bytes: left.sample.resident_bytes,
                user_bytes_per_connection: growth(&left.sample),
                settled_seconds: found.left_settled,
                active: left.active,
            },
            generator,
            series: found.series,
        }
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let tls = if self.tls { " with TLS" } else { "" };
        let change = match self.limited_by {
            Some("generator") => "give the generator more threads, or another machine",
            _ => "look at what failed, or name the server's process with --pid",
        };
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        Run {
            name: name.to_owned(),
            headline: format!(
                "{} connections over {}{tls}",
                grouped(self.connections as f64),
                self.transport
            ),
            how: format!(
                "{} members were asked to come, {} per second; then they stayed and were silent.",
                grouped(f64::from(self.asked)),
                grouped(self.rate)
            ),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &Reasons::new()),
            latencies: vec![Latency { what: "connect + login, from when it was due", ms: self.connect_ms }],
            series: self.series.clone(),
            study: None,
        }
    }

    fn rows(&self) -> Vec<Row> {
        let mut rate = Row::new("connect + login", self.achieved_rate, "per second");
        if self.limited_by.is_some() {
            // Only a ramp that was as fast as it could be compares with theirs.
            rate = rate
                .beside("Centrifugo 6.6", 5_700.0)
                .beside("Tinode 0.25", 943.0)
                .beside("ejabberd 23.01, XMPP", 689.0);
        }
        let mut rows = vec![
            Row::new("user memory per connection", self.user_bytes_per_connection, "B")
                .beside("Centrifugo 6.6", 41_773.0)
                .beside("paper, mochiweb part 1", 45_000.0)
                .beside("ejabberd 23.01, XMPP", 34_333.0)
                .beside("paper, AVChat IM", 4_800.0),
            Row::new("kernel memory per connection", self.kernel_bytes_per_connection, "B"),
            rate,
            Row::new("server CPU per connect + login", self.cpu_us_per_connect, "µs")
                .beside("Centrifugo 6.6", 128.0)
                .beside("Tinode 0.25", 658.0)
                .beside("ejabberd 23.01, XMPP", 1_235.0),
            Row::new("server CPU, all silent", self.idle_cpu_percent, "% of a core"),
            Row::new("connections", self.connections as f64, ""),
            Row::new("failed", self.failed as f64, ""),
            Row::new("user memory without pages of files", self.anonymous_bytes_per_connection, "B"),
            Row::new("still held when all have left", self.after_left.user_bytes_per_connection, "B"),
            Row::new("silent members in 512 MB, computed", self.members_in(512.0), "")
                .beside("paper, Erlang'07, active users, before tuning", 17_855.0)
                .beside("paper, Erlang'07, with kernel poll and more", 23_898.0),
            Row::new("generator, busiest thread", self.generator.busiest_thread_percent, "%"),
        ];
        if let Some(exchange) = &self.exchange {
            rows.push(Row::new(
                "user memory after one message each",
                exchange.user_bytes_per_connection,
                "B",
            ));
            rows.push(Row::new("messages acknowledged", exchange.acknowledged as f64, ""));
            rows.push(Row::new("messages received", exchange.received as f64, ""));
        }
        rows
    }

    /// Computed: nobody has filled that memory.
    fn members_in(&self, megabytes: f64) -> Option<f64> {
        // The kernel's memory is that of the whole machine: where others gave some back, nothing is known.
        let kernel = self.kernel_bytes_per_connection.filter(|bytes| *bytes > 0.0)?;
        let each = self.user_bytes_per_connection? + kernel;
        (each > 0.0).then(|| (megabytes * 1024.0 * 1024.0 / each).floor())
    }

    /// A picture of connections, memory and latency over the run.
    pub fn svg(&self) -> String {
        super::picture::draw(self)
    }
}

/// Below nine tenths of the rate that was asked for, somebody was the limit.
fn limit(achieved: f64, generator: &Generator, server_share: Option<f64>) -> Option<&'static str> {
    let busy = generator.busiest_thread_percent > 90.0;
    if busy && generator.late_percent > 50.0 {
        return Some("generator");
    }
    match achieved {
        0.9.. => None,
        _ if busy => Some("generator"),
        _ if server_share.is_some_and(|share| share > 0.9) => Some("server"),
        _ => Some("machine"),
    }
}

fn at_least_one(count: u64) -> f64 {
    count.max(1) as f64
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tls = if self.tls { " with TLS" } else { "" };
        writeln!(
            f,
            "{} connections of {} over {}{tls}, {} failed",
            self.connections, self.asked, self.transport, self.failed
        )?;
        for line in failures::lines(&self.failures, &Reasons::new()) {
            writeln!(f, "  {line}")?;
        }
        writeln!(
            f,
            "ramp               {:.0}/s in {:.1} s (asked {:.0}/s)",
            self.achieved_rate, self.ramp_seconds, self.rate
        )?;
        writeln!(f, "connect + login    {}", self.connect_ms)?;
        writeln!(
            f,
            "user memory        {} per connection, {} without pages of files",
            shown(self.user_bytes_per_connection, "B"),
            shown(self.anonymous_bytes_per_connection, "B")
        )?;
        writeln!(f, "kernel memory      {} per connection", shown(self.kernel_bytes_per_connection, "B"))?;
        writeln!(
            f,
            "server CPU         {} per connect, {} of a core while idle",
            shown(self.cpu_us_per_connect, "µs"),
            shown(self.idle_cpu_percent, "%")
        )?;
        if let Some(exchange) = &self.exchange {
            let Exchange { body_bytes, sent, acknowledged, received, .. } = exchange;
            writeln!(
                f,
                "after {body_bytes}-byte message {} per connection; {sent} sent, {acknowledged} acknowledged, {received} received",
                shown(exchange.user_bytes_per_connection, "B")
            )?;
        }
        writeln!(
            f,
            "after all left     {} per connection there was, after {}",
            shown(self.after_left.user_bytes_per_connection, "B"),
            shown(self.after_left.settled_seconds, "s")
        )?;
        let Generator { threads, busiest_thread_percent, .. } = &self.generator;
        writeln!(
            f,
            "generator          {threads} thread(s), {} per connect, busiest {busiest_thread_percent:.0} %",
            shown(self.generator.cpu_us_per_connect, "µs")
        )?;
        match (&self.invalid_because, self.limited_by) {
            (Some(why), _) => writeln!(f, "NOT VALID: {why}"),
            (None, Some(limit)) => writeln!(f, "valid; the ramp was held back by the {limit}"),
            (None, None) => writeln!(f, "valid"),
        }
    }
}

fn shown(figure: Option<f64>, unit: &str) -> String {
    figure.map_or_else(|| "unknown".to_owned(), |figure| format!("{figure:.0} {unit}"))
}
