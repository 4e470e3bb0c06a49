//! The report of a TURN run.

use std::net::SocketAddr;

use serde_json::json;

use super::TurnPlan;
use crate::report::{Measure, Run, Verdict, grouped};
use crate::watch::Snapshot;

const CHANGE: &str = "fewer relays or flows; a server without quotas that relays to loopback; --pid";

pub(super) struct Findings {
    pub(super) server: SocketAddr,
    pub(super) questions: [Snapshot; 2],
    pub(super) answered: u64,
    pub(super) allocating: [Snapshot; 2],
    pub(super) relays: u64,
    /// Refused, or without a response.
    pub(super) refused: u64,
    pub(super) passing: [Snapshot; 2],
    pub(super) flows: u64,
    pub(super) passed: Passed,
    pub(super) interrupted: bool,
}

/// Packets, each direction counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) to_peers: u64,
    pub(super) to_clients: u64,
    pub(super) lost: u64,
}

impl Passed {
    pub(super) fn and(self, other: Passed) -> Passed {
        Passed {
            to_peers: self.to_peers + other.to_peers,
            to_clients: self.to_clients + other.to_clients,
            lost: self.lost + other.lost,
        }
    }

    fn all(self) -> u64 {
        self.to_peers + self.to_clients
    }
}

/// User memory of a relay: growth of the server's resident memory while the relays were made. Kernel memory: growth of
/// the machine's Slab in the same time, when the clients' sockets exist already. An allocation takes two requests: the
/// server refuses the first one, which has no credentials.
pub(super) fn report(plan: &TurnPlan, findings: &Findings) -> Run {
    let Findings { questions, answered, allocating, relays, refused, passing, flows, passed, .. } = findings;
    let (answered, relays) = (*answered, *relays);
    let seconds = |[from, to]: &[Snapshot; 2]| to.seconds_since(from);
    let cpu = |[from, to]: &[Snapshot; 2]| to.cpu_since(from);
    let each = |total: Option<f64>, of: u64| total.filter(|_| of > 0).map(|total| total / of as f64);
    let micros = |phase: &[Snapshot; 2], of: u64| each(cpu(phase).map(|cpu| cpu * 1e6), of);
    let [before, after] = allocating;
    let user = each(after.sample.resident_since(&before.sample), relays);
    let kernel = each(after.sample.kernel_since(&before.sample), relays);
    let megabits = passed.all() as f64 * f64::from(plan.packet_bytes) * 8.0 / 1e6;
    let generator = || Some(passing[1].generator_cpu_seconds? - passing[0].generator_cpu_seconds?);
    let against = match () {
        () if answered == 0 => Some("no question was answered"),
        () if *refused > 0 => Some("not every relay was made"),
        () if *flows < u64::from(plan.flows.min(plan.relays)) => Some("not every flow had its channel"),
        () if passed.lost * 100 > passed.all() => Some("more than one in a hundred packets was lost"),
        () if cpu(passing).is_none() => Some("nothing could be seen of the server: name its process id"),
        () => None,
    };
    let passing_seconds = seconds(passing);
    let [answers, allocations, packets] = [
        answered as f64 / seconds(questions),
        relays as f64 / seconds(allocating),
        passed.all() as f64 / passing_seconds,
    ];
    let cores = |cpu: Option<f64>| cpu.map(|cpu| cpu / passing_seconds);
    let of_megabit = cpu(passing).filter(|_| megabits > 0.0).map(|cpu| cpu * 1e3 / megabits);
    let data = megabits / passing_seconds;
    let measures = vec![
        Measure::new("answered_per_second", "questions of STUN answered", "per second", answers).leading(),
        Measure::new("cpu_micros_per_answer", "server CPU per answer", "µs", micros(questions, answered))
            .leading(),
        Measure::new("allocations_per_second", "allocations", "per second", allocations).leading(),
        Measure::new(
            "cpu_micros_per_allocation",
            "server CPU per allocation",
            "µs",
            micros(allocating, relays),
        )
        .leading(),
        Measure::new("user_bytes_per_relay", "user memory per relay", "B", user).leading(),
        Measure::new("kernel_bytes_per_relay", "kernel memory per relay", "B", kernel),
        Measure::new("relays", "relays held", "", relays),
        Measure::new("packets_per_second", "packets relayed", "per second", packets).leading(),
        Measure::new("megabits_per_second", "data relayed", "Mbit/s", data),
        Measure::new("cpu_micros_per_packet", "server CPU per packet", "µs", micros(passing, passed.all()))
            .leading(),
        Measure::new("cpu_millis_per_megabit", "server CPU per megabit", "ms", of_megabit).leading(),
        Measure::new("lost", "packets lost", "", passed.lost),
        Measure::new("server_cores", "server", "cores", cores(cpu(passing))),
        Measure::new("generator_cores", "generator", "cores", cores(generator())),
        Measure::json_only("answered", answered),
        Measure::json_only("refused", *refused),
        Measure::json_only("flows", *flows),
        Measure::json_only("seconds", passing_seconds),
        Measure::json_only("to_peers", passed.to_peers),
        Measure::json_only("to_clients", passed.to_clients),
    ];
    Run {
        name: "turn".to_owned(),
        headline: format!(
            "{} answers and {} allocations per second, {} packets relayed per second",
            grouped(answers),
            grouped(allocations),
            grouped(packets)
        ),
        how: format!(
            "{} questions of STUN at a time at {}, for {passing_seconds:.0} s; then {} relays, each with a refusal for its \
             nonce; then data of {} bytes through channels of {flows} of them to a peer, and back.",
            plan.window,
            findings.server,
            grouped(relays as f64),
            plan.packet_bytes,
        ),
        verdict: Verdict::new(findings.interrupted, against.map(|because| (because, CHANGE))),
        facts: vec![
            ("server", json!(findings.server.to_string())),
            ("window", json!(plan.window)),
            ("packet_bytes", json!(plan.packet_bytes)),
        ],
        measures,
        ..Run::default()
    }
}
