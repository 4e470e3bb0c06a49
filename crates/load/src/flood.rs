//! The flood: N members connect at a rate and stay connected; the run measures the server's cost.

mod members;

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use self::members::{Members, Order};
use crate::arrivals::Arrivals;
use crate::conductor::{BEAT, Conductor, Ramp, Setup};
use crate::failures::Reasons;
use crate::observer::Until;
use crate::outcome::{Findings, Outcome};
use crate::percentiles::Percentiles;
use crate::probe::Probe;
use crate::report::{Measure, Run, grouped};
use crate::series::Point;
use crate::settings::{self, Plan, span};
use crate::tally::Tally;
use crate::target::Transport;
use crate::watch::Snapshot;
use crate::worker::{Mail, read};
use crate::{LoadError, RunOptions};

const EXCHANGES_PER_SECOND: f64 = 2000.0;

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct FloodPlan {
    /// websocket, stream, sse or poll; or xmpp, xmpp-websocket. Other servers with --url: centrifugo, centrifugo-json, line.
    #[arg(long, visible_alias = "protocol", default_value = "websocket")]
    pub transport: Transport,
    /// Number of members.
    #[arg(long, default_value_t = 1_000)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub connections: u32,
    /// Connections begun per second.
    #[arg(long, default_value_t = 1_000.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub rate: f64,
    /// How long all members stay.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "15s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub hold: Duration,
    /// After the hold, let each member send and receive one message of this many bytes, and measure memory again.
    #[arg(long, value_name = "BYTES")]
    pub exchange: Option<usize>,
    /// Time for the node to free memory before it is measured again. The default is 15 s, and 3 s below 1,000 members,
    /// where the difference is too small to see. A node drops its caches within 10 s, then frees memory.
    #[arg(skip)]
    #[serde(deserialize_with = "settings::span_if_any")]
    pub settle: Option<Duration>,
}

/// Snapshots, in the order of time.
struct Phases {
    ramp: Ramp,
    ramped: Snapshot,
    idle_from: Snapshot,
    held: Snapshot,
    exchange: Option<Exchange>,
    left: Snapshot,
    left_settled: Option<f64>,
}

/// The measurements after each member has sent and received one message.
struct Exchange {
    sent: u64,
    after: Snapshot,
    /// Seconds after the last message at which the resident memory reached its final value, within 1 %.
    settled_seconds: Option<f64>,
}

impl FloodPlan {
    fn settle(&self) -> Duration {
        self.settle.unwrap_or(Duration::from_secs(if self.connections < 1_000 { 3 } else { 15 }))
    }
}

impl Plan for FloodPlan {
    fn members(&self) -> u32 {
        self.connections
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let arrivals = Arrivals::Even(self.rate);
        let setup = Setup { options, transport: self.transport, members: self.connections, arrivals };
        let mut flood = Conductor::<Members>::new(setup, &Arc::new(self.clone()), say)?;
        let ramp = flood.ramp();
        let ramped = flood.watch.snapshot();
        flood.watch.line();
        flood.watch.stage("hold", Until::Time(self.hold));
        let idle_from = flood.watch.hold(self.hold / 3);
        flood.watch.hold(self.hold - self.hold / 3);
        let held = flood.watch.snapshot();
        let exchange = self.exchange.is_some() && !flood.watch.stopped();
        let exchange = exchange.then(|| exchange_all(&mut flood, self));
        let members = flood.state.counts.active();
        flood.each(|| Mail::Leave);
        let (left, left_settled) = settle(&mut flood, self.settle());
        let phases = Phases { ramp, ramped, idle_from, held, exchange, left, left_settled };
        Ok(report(self, &options.site, flood.outcome(members)?, phases))
    }
}

/// Every member sends one message to its neighbour.
fn exchange_all(flood: &mut Conductor<'_, Members>, plan: &FloodPlan) -> Exchange {
    let pairs = plan.connections / 2 * 2;
    let expected = u64::from(pairs).min(flood.state.counts.active());
    flood.watch.stage("exchange", Until::ItIsDone);
    let traffic = Arc::clone(&flood.watch.traffic);
    let start = Instant::now();
    let (mut asked, mut last, mut last_change) = (0, 0, start);
    loop {
        let now = Instant::now();
        let until = (((now - start).as_secs_f64() * EXCHANGES_PER_SECOND) as u32 + 1).min(pairs);
        if until > asked {
            flood.each(|| Mail::Order(Order { from: asked, until }));
            asked = until;
        }
        flood.watch.sample_if_due(now);
        let settled = read(&traffic.acknowledged).min(read(&traffic.delivered)) + read(&traffic.refused);
        if settled != last {
            (last, last_change) = (settled, now);
        }
        if settled >= expected || now - last_change > Duration::from_secs(10) || flood.watch.stopped() {
            break;
        }
        thread::sleep(BEAT);
    }
    let (after, settled_seconds) = settle(flood, plan.settle());
    Exchange { sent: expected, after, settled_seconds }
}

/// Gives the server time to free memory. Returns the snapshot after it, and the seconds until the memory had its final
/// value, within 1 %.
fn settle(flood: &mut Conductor<'_, Members>, time: Duration) -> (Snapshot, Option<f64>) {
    let from = flood.watch.series.points().len();
    flood.watch.stage("settle", Until::Time(time));
    let begin = flood.watch.hold(time);
    let end = flood.watch.snapshot();
    let started = begin.at.saturating_duration_since(flood.state.start).as_secs_f64();
    let settled = end
        .sample
        .resident_bytes
        .map(|last| settled_after(&flood.watch.series.points()[from..], started, last));
    (end, settled)
}

fn settled_after(series: &[Point], started: f64, last: u64) -> f64 {
    let is_other = |point: &&Point| point.resident_bytes.is_some_and(|now| now.abs_diff(last) > last / 100);
    series.iter().rfind(is_other).map_or(0.0, |point| (point.seconds - started).max(0.0))
}

/// User memory: growth of the server's resident memory since before the first connection, per connection. Memory that
/// an earlier run has left free in the process is reused and not seen: measure a node that has just started. The figure
/// without pages of files excludes those of the program, which count when they are used for the first time.
///
/// Kernel memory: growth of the machine's Slab and TCP buffer pages over the same time. Both ends of each connection
/// are on this machine and alike, so it is divided by twice the connections.
///
/// CPU per connect: the server's, from before the first connection until half a second after the last welcome.
fn report(plan: &FloodPlan, site: &str, mut outcome: Outcome<Reasons>, phases: Phases) -> Run {
    let Phases { ramp, ramped, idle_from, held, exchange, left, left_settled } = phases;
    let before = outcome.before;
    let connections = ramped.active;
    let each = |total: f64| total / connections.max(1) as f64;
    let seconds = ramp.seconds.max(0.001);
    let achieved_rate = connections as f64 / seconds;
    let server_cpu = ramped.sample.cpu_since(&before);
    let busiest = ramped.busiest_worker_seconds / seconds * 100.0;
    let late = ramp.late_percent();
    let limited_by = limit(achieved_rate / plan.rate, busiest, late, server_cpu.map(|cpu| cpu / seconds));
    let against = match (limited_by, &outcome.probe) {
        (Some("generator"), _) => Some((
            "the generator was itself the limit: give it more threads or another machine",
            "give the generator more threads, or another machine",
        )),
        (_, Probe::Blind) => Some((
            "nothing could be seen of the server: name its process id",
            "name the server's process with --pid",
        )),
        _ if connections == 0 => Some(("nobody was logged in", "look at what failed")),
        _ => None,
    };
    let user = held.sample.resident_since(&before).map(each);
    let kernel = held.sample.kernel_since(&before).map(|bytes| each(bytes / 2.0));
    let mut rate = Measure::new("achieved_rate", "connect + login", "per second", achieved_rate);
    if limited_by.is_some() {
        // Only a ramp at full speed can be compared with theirs.
        rate = rate
            .beside("Centrifugo 6.6", 5_700.0)
            .beside("Tinode 0.25", 943.0)
            .beside("ejabberd 23.01, XMPP", 689.0);
    }
    let idle = held.cpu_since(&idle_from).map(|cpu| cpu / held.seconds_since(&idle_from) * 100.0);
    let left_bytes = left.sample.resident_since(&before).map(each);
    let mut measures = vec![
        Measure::new("user_bytes_per_connection", "user memory per connection", "B", user)
            .beside("Centrifugo 6.6", 41_773.0)
            .beside("paper, mochiweb part 1", 45_000.0)
            .beside("ejabberd 23.01, XMPP", 34_333.0)
            .beside("paper, AVChat IM", 4_800.0),
        Measure::new("kernel_bytes_per_connection", "kernel memory per connection", "B", kernel),
        rate,
        Measure::new(
            "cpu_us_per_connect",
            "server CPU per connect + login",
            "µs",
            server_cpu.map(|cpu| each(cpu * 1e6)),
        )
        .beside("Centrifugo 6.6", 128.0)
        .beside("Tinode 0.25", 658.0)
        .beside("ejabberd 23.01, XMPP", 1_235.0),
        Measure::new("idle_cpu_percent", "server CPU, all silent", "% of a core", idle),
        Measure::new("connections", "connections", "", connections),
        Measure::new("failed", "failed", "", outcome.failed),
        Measure::new("ramp_seconds", "until all were connected", "s", ramp.seconds),
        Measure::new(
            "anonymous_bytes_per_connection",
            "user memory without pages of files",
            "B",
            held.sample.anonymous_since(&before).map(each),
        ),
        Measure::new(
            "after_left.user_bytes_per_connection",
            "still held when all have left",
            "B",
            left_bytes,
        ),
        Measure::new("after_left.settled_seconds", "until that was so", "s", left_settled),
        Measure::derived("silent members in 512 MB, computed", "", members_in(512.0, user, kernel))
            .beside("paper, Erlang'07, active users, before tuning", 17_855.0)
            .beside("paper, Erlang'07, with kernel poll and more", 23_898.0),
        Measure::new("generator.busiest_thread_percent", "generator, busiest thread", "%", busiest),
        Measure::new("generator.late_percent", "generator, late", "%", late),
        Measure::times(
            "connect_ms",
            "connect + login, from when it was due",
            Percentiles::of(&outcome.login),
        ),
        Measure::json_only(
            "generator.cpu_us_per_connect",
            ramped.generator_cpu_seconds.map(|cpu| each(cpu * 1e6)),
        ),
        Measure::json_only("resident_before", before.resident_bytes),
        Measure::json_only("resident_held", held.sample.resident_bytes),
        Measure::json_only("after_left.resident_bytes", left.sample.resident_bytes),
        Measure::json_only("after_left.active", left.active),
    ];
    if let Some(Exchange { sent, after, settled_seconds }) = exchange {
        let user = after.sample.resident_since(&before).map(each);
        measures.extend([
            Measure::new(
                "exchange.user_bytes_per_connection",
                "user memory after one message each",
                "B",
                user,
            ),
            Measure::new("exchange.acknowledged", "messages acknowledged", "", outcome.traffic.acknowledged),
            Measure::new("exchange.received", "messages received", "", outcome.traffic.delivered),
            Measure::json_only("exchange.sent", sent),
            Measure::json_only("exchange.refused", outcome.traffic.refused),
            Measure::json_only("exchange.settled_seconds", settled_seconds),
        ]);
    }
    // This report counts refused messages as failures with a reason.
    let refused = std::mem::take(&mut outcome.tally);
    outcome.failures.add(&refused);
    let mut facts = vec![
        ("site", json!(site)),
        ("asked", json!(plan.connections)),
        ("rate", json!(plan.rate)),
        ("limited_by", json!(limited_by)),
        ("generator.threads", json!(outcome.workers)),
    ];
    facts.extend(plan.exchange.map(|bytes| ("exchange.body_bytes", json!(bytes))));
    let tls = if outcome.tls { " with TLS" } else { "" };
    let findings = Findings {
        headline: format!("{} connections over {}{tls}", grouped(connections as f64), outcome.transport),
        how: format!(
            "{} members were asked to come, {} per second; then they stayed and were silent.",
            grouped(f64::from(plan.connections)),
            grouped(plan.rate)
        ),
        against,
        measures,
        facts,
        lines: Vec::new(),
    };
    outcome.into_run("flood", findings)
}

/// An extrapolation: no run has filled that memory.
fn members_in(megabytes: f64, user: Option<f64>, kernel: Option<f64>) -> Option<f64> {
    // The kernel's memory is that of the whole machine. If other programs freed some, the figure is unknown.
    let each = user? + kernel.filter(|bytes| *bytes > 0.0)?;
    (each > 0.0).then(|| (megabytes * 1024.0 * 1024.0 / each).floor())
}

/// The bottleneck of a ramp that was slower than nine tenths of the requested rate.
fn limit(achieved: f64, busiest: f64, late: f64, server_share: Option<f64>) -> Option<&'static str> {
    let busy = busiest > 90.0;
    if busy && late > 50.0 {
        return Some("generator");
    }
    match achieved {
        0.9.. => None,
        _ if busy => Some("generator"),
        _ if server_share.is_some_and(|share| share > 0.9) => Some("server"),
        _ => Some("machine"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_settled_when_it_no_longer_differs_from_the_end() {
        let series = [(1.0, 2_000), (1.5, 1_000), (2.0, 1_500), (2.5, 1_009), (3.0, 995), (3.5, 1_000)];
        let point = |(seconds, bytes)| Point { seconds, resident_bytes: Some(bytes), ..Point::default() };
        let series = series.map(point);
        assert_eq!(settled_after(&series, 0.5, 1_000), 1.5);
        assert_eq!(settled_after(&series[3..], 0.5, 1_000), 0.0);
        assert_eq!(settled_after(&[], 0.5, 1_000), 0.0);
    }
}
