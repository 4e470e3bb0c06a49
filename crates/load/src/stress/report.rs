//! The report of a stress, over sockets or in one process.

use std::time::Instant;

use serde_json::json;

use super::members::Tally;
use super::{Pace, StressPlan, outage_report};
use crate::kill::Kill;
use crate::outage::Outage;
use crate::outcome::{Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::report::{Measure, Run, grouped};
use crate::settings::Plan;
use crate::watch::Snapshot;

/// Messages per second at which the others' latency was measured.
const RATE_OF_OTHERS: f64 = 2_000.0;
const CHANGE: &str = "more --threads, fewer members or a lower --rate; a node without limits; --pid";

/// Snapshots, in the order of time.
pub(super) struct Phases {
    pub(super) begin: Snapshot,
    pub(super) written: Snapshot,
    pub(super) end: Snapshot,
    /// When the last message arrived.
    pub(super) drained_at: Instant,
}

/// Throughput: delivered messages, divided by the time from the first message written to the last one received. CPU:
/// the server's over the same time, per million messages.
///
/// `inside`: the name of the store, if the members call the node's core. `killed`: the process that is killed in mid-run.
pub(super) fn report(
    plan: &StressPlan,
    inside: Option<&'static str>,
    killed: Option<(&Kill, &Outage)>,
    mut outcome: Outcome<Tally>,
    phases: &Phases,
) -> Run {
    let Phases { begin, written, end, drained_at } = phases;
    if let (Some(cluster), Some(before), Some(after)) =
        (&mut outcome.cluster, begin.sample.parts, end.sample.parts)
    {
        // The CPU of each part is that of the time of the other figures.
        (cluster.before, cluster.after) = (before, after);
    }
    let seconds = (*drained_at).max(written.at).saturating_duration_since(begin.at).as_secs_f64().max(0.001);
    let cpu = end.cpu_since(begin);
    let writing = written.seconds_since(begin);
    let busiest = written.busiest_percent_since(begin);
    let (window, rate) = match plan.pace() {
        Pace::Window(window) => (Some(window), None),
        Pace::Rate(rate) => (None, Some(rate)),
        Pace::Every(every) => (None, Some(f64::from(plan.members()) / every.as_secs_f64().max(0.001))),
    };
    // Whether each message is on disk before it is acknowledged.
    let durable = is_durable(plan);
    let short = rate.is_some_and(|rate| (outcome.traffic.sent as f64) < rate * writing * 0.9);
    let unanswered = outcome.traffic.unanswered();
    let own_checks = [
        (short, "the generator could not keep the rate"),
        (killed.is_some() && unanswered > 0, "not every message was acknowledged in the end"),
        (
            killed.is_some_and(|(_, outage)| outage.killed().is_none()),
            "the run ended before the process was killed",
        ),
    ];
    let against = outcome.against(busiest, plan.members().into(), &own_checks);
    let figures = Figures {
        inside: inside.is_some(),
        rate,
        delivered_per_second: outcome.traffic.delivered as f64 / seconds,
        cpu_seconds_per_million: cpu.map(|cpu| cpu * 1e6 / outcome.traffic.delivered.max(1) as f64),
        bytes_per_member: end
            .sample
            .resident_since(&outcome.before)
            .map(|bytes| bytes.max(0.0) / outcome.members.max(1) as f64),
        delivery: Percentiles::of(&outcome.tally.delivery),
    };
    // A run at a given rate measures latency; any other run measures throughput.
    let mut measures = Vec::new();
    if rate.is_some() {
        measures.extend(figures.latency().map(Measure::leading));
        measures.extend(figures.throughput());
    } else {
        measures.extend(figures.throughput());
        measures.extend(figures.latency());
    }
    let tally = &outcome.tally;
    let cores = if inside.is_some() { "node and members" } else { "server" };
    measures.extend([
        Measure::new("lost", "lost", "", outcome.traffic.lost()),
        Measure::new("doubled", "doubled", "", tally.doubled),
        Measure::new("misordered", "misordered", "", tally.misordered),
        Measure::new("holes", "numbers of conversations that never came", "", tally.holes),
        Measure::new("strange", "events that belong to no message of this run", "", tally.strange),
        Measure::new("sent", "sent", "", outcome.traffic.sent),
        Measure::new("acknowledged", "acknowledged", "", outcome.traffic.acknowledged),
        Measure::new("delivered", "delivered in all", "", outcome.traffic.delivered),
        Measure::new("unanswered", "unanswered", "", unanswered),
        Measure::new("failed", "connections failed", "", outcome.failed),
        Measure::new("seconds", "until the last one was delivered", "s", seconds),
        Measure::new("server_cores", cores, "cores", cpu.map(|cpu| cpu / seconds)),
        Measure::times("ack_ms", "send to acknowledgement", Percentiles::of(&tally.ack)),
        Measure::times("delivery_ms", "send to delivery", figures.delivery),
        Measure::json_only("members", outcome.members),
        Measure::json_only("resident_before", outcome.before.resident_bytes),
        Measure::json_only("resident_end", end.sample.resident_bytes),
    ]);
    if let Some((kill, outage)) = killed {
        measures.extend(outage_report::measures(kill, outage, tally));
    }
    // In one process, the members' own use is unknown.
    if inside.is_none() {
        measures.push(generator(busiest));
    }
    let mut facts = vec![
        ("inside", json!(inside)),
        ("durable", json!(durable)),
        ("group", json!(plan.per_group)),
        ("body_bytes", json!(plan.body)),
        ("window", json!(window)),
        ("rate", json!(rate)),
    ];
    facts.extend(killed.map(|(kill, _)| ("kill.part", json!(kill.part))));
    let findings = Findings {
        headline: figures.headline(durable),
        how: how(plan, inside, outcome.transport, outcome.members, window, rate),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts,
        lines: chut_lines(plan, &outcome, seconds),
    };
    outcome.into_run("stress", findings)
}

fn is_durable(plan: &StressPlan) -> bool {
    !plan.memory && !plan.transport.is_of_peer()
}

fn how(
    plan: &StressPlan,
    inside: Option<&str>,
    transport: &str,
    members: u64,
    window: Option<u32>,
    rate: Option<f64>,
) -> String {
    let pace = match (window, rate) {
        (Some(window), _) => format!("each with {window} messages on their way"),
        (_, rate) => format!(
            "{} per second in all, and times count from when a message was due",
            grouped(rate.unwrap_or(0.0))
        ),
    };
    let place = inside.map_or_else(
        || format!("over {transport}"),
        |store| format!("inside of one process, without sockets, on {store}"),
    );
    let durable =
        if is_durable(plan) { "each acknowledged after it is on disk" } else { "nothing is written to disk" };
    format!(
        "{} members in groups of {} {place}, {} bytes a message, {pace}; {durable}.",
        grouped(members as f64),
        plan.per_group,
        plan.body
    )
}

/// The lines of Chut's own bench: sent and received messages, and their averages.
fn chut_lines(plan: &StressPlan, outcome: &Outcome<Tally>, seconds: f64) -> Vec<String> {
    let groups = (outcome.members as f64 / f64::from(plan.per_group.max(1))).max(1.0);
    let clients = outcome.members.max(1) as f64;
    let averages = |word: &str, all: u64| {
        let per_second = all as f64 / seconds;
        format!(
            "{word}: {}  (average per second {}, per second and group {}, per second and client {})",
            grouped(all as f64),
            grouped(per_second),
            grouped(per_second / groups),
            grouped(per_second / clients)
        )
    };
    vec![averages("Sent", outcome.traffic.sent), averages("Received", outcome.traffic.delivered)]
}

/// The figures that have others beside them.
struct Figures {
    inside: bool,
    rate: Option<f64>,
    delivered_per_second: f64,
    cpu_seconds_per_million: Option<f64>,
    bytes_per_member: Option<f64>,
    delivery: Percentiles,
}

impl Figures {
    fn throughput(&self) -> [Measure; 3] {
        let delivered =
            Measure::new("delivered_per_second", "delivered", "per second", self.delivered_per_second);
        let cpu_of = match self.inside {
            false => "server CPU per million delivered",
            true => "CPU of node and members together, per million delivered",
        };
        let cpu = Measure::new("cpu_seconds_per_million", cpu_of, "s", self.cpu_seconds_per_million);
        let bytes = self.bytes_per_member.filter(|_| !self.inside);
        let memory = Measure::derived("growth of user memory, for each member", "B", bytes);
        if self.inside {
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

    fn latency(&self) -> [Measure; 2] {
        let mut p50 = Measure::derived("delivery, p50", "ms", self.delivery.p50);
        let mut p99 = Measure::derived("delivery, p99", "ms", self.delivery.p99);
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

    fn headline(&self, durable: bool) -> String {
        let delivered = grouped(self.delivered_per_second);
        let durable = if durable { "each durable" } else { "none durable" };
        if self.rate.is_none() {
            return format!("{delivered} messages per second, {durable}");
        }
        let Percentiles { p50, p99, .. } = self.delivery;
        format!(
            "{} ms to delivery, p99 {} ms, at {delivered} messages per second, {durable}",
            grouped(p50),
            grouped(p99)
        )
    }
}
