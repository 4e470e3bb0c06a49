//! What a run of TURN has found.

use std::fmt;
use std::net::SocketAddr;

use serde::Serialize;

use super::TurnPlan;
use super::drive::Snapshot;
use crate::probe::Sample;
use crate::report::{Row, Run, Verdict, grouped};

/// The outcome. Figures that could not be read are null.
///
/// `user_bytes_per_relay`: growth of the server's resident memory while the relays were made. `kernel_bytes_per_relay`: that of the
/// machine's Slab in the same time, in which the clients' sockets are already there.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub server: String,
    pub window: u32,
    pub answered: u64,
    pub answered_per_second: f64,
    pub cpu_micros_per_answer: Option<f64>,
    pub relays: u64,
    /// Refused, or without an answer.
    pub refused: u64,
    /// Two requests each: the first is told to bring credentials.
    pub allocations_per_second: f64,
    pub cpu_micros_per_allocation: Option<f64>,
    pub user_bytes_per_relay: Option<f64>,
    pub kernel_bytes_per_relay: Option<f64>,
    pub flows: u64,
    pub packet_bytes: u64,
    pub seconds: f64,
    pub to_peers: u64,
    pub to_clients: u64,
    pub lost: u64,
    pub packets_per_second: f64,
    pub megabits_per_second: f64,
    pub cpu_micros_per_packet: Option<f64>,
    pub cpu_millis_per_megabit: Option<f64>,
    /// While data passed, in cores.
    pub server_cores: Option<f64>,
    pub generator_cores: Option<f64>,
    pub valid: bool,
    pub invalid_because: Option<String>,
    pub interrupted: bool,
}

pub(super) struct Findings {
    pub(super) server: SocketAddr,
    pub(super) questions: [Snapshot; 2],
    pub(super) answered: u64,
    pub(super) allocating: [Snapshot; 2],
    pub(super) relays: u64,
    pub(super) refused: u64,
    pub(super) passing: [Snapshot; 2],
    pub(super) flows: u64,
    pub(super) passed: Passed,
    pub(super) interrupted: bool,
}

/// Packets, once each server is counted once.
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

impl Report {
    pub(super) fn new(plan: &TurnPlan, findings: &Findings) -> Report {
        let Findings { questions, allocating, passing, passed, .. } = findings;
        let seconds =
            |[from, to]: &[Snapshot; 2]| to.at.saturating_duration_since(from.at).as_secs_f64().max(0.001);
        let cpu = |[from, to]: &[Snapshot; 2]| Some(to.sample.cpu_seconds? - from.sample.cpu_seconds?);
        let each =
            |total: Option<f64>, of: u64| total.filter(|_| of > 0).map(|total| total * 1e6 / of as f64);
        let [before, after] = allocating;
        let grown = |bytes: fn(&Sample) -> Option<u64>| {
            let grown = bytes(&after.sample)? as f64 - bytes(&before.sample)? as f64;
            (findings.relays > 0).then(|| grown / findings.relays as f64)
        };
        let megabits = passed.all() as f64 * plan.packet_bytes as f64 * 8.0 / 1e6;
        let generator = || Some(passing[1].generator? - passing[0].generator?);
        let invalid_because = match findings {
            _ if findings.answered == 0 => Some("no question was answered"),
            _ if findings.refused > 0 => Some("not every relay was made"),
            _ if findings.flows < u64::from(plan.flows.min(plan.relays)) => {
                Some("not every flow had its channel")
            }
            _ if passed.lost * 100 > passed.all() => Some("more than one in a hundred packets was lost"),
            _ if cpu(passing).is_none() => Some("nothing could be seen of the server: name its process id"),
            _ => None,
        };
        Report {
            server: findings.server.to_string(),
            window: plan.window,
            answered: findings.answered,
            answered_per_second: findings.answered as f64 / seconds(questions),
            cpu_micros_per_answer: each(cpu(questions), findings.answered),
            relays: findings.relays,
            refused: findings.refused,
            allocations_per_second: findings.relays as f64 / seconds(allocating),
            cpu_micros_per_allocation: each(cpu(allocating), findings.relays),
            user_bytes_per_relay: grown(|sample| sample.resident_bytes),
            kernel_bytes_per_relay: grown(|sample| sample.kernel_bytes),
            flows: findings.flows,
            packet_bytes: plan.packet_bytes as u64,
            seconds: seconds(passing),
            to_peers: passed.to_peers,
            to_clients: passed.to_clients,
            lost: passed.lost,
            packets_per_second: passed.all() as f64 / seconds(passing),
            megabits_per_second: megabits / seconds(passing),
            cpu_micros_per_packet: each(cpu(passing), passed.all()),
            cpu_millis_per_megabit: cpu(passing).filter(|_| megabits > 0.0).map(|cpu| cpu * 1e3 / megabits),
            server_cores: cpu(passing).map(|cpu| cpu / seconds(passing)),
            generator_cores: generator().map(|cpu| cpu / seconds(passing)),
            valid: invalid_because.is_none(),
            invalid_because: invalid_because.map(str::to_owned),
            interrupted: findings.interrupted,
        }
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let change = "fewer relays or flows; a server without quotas that relays to loopback; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        Run {
            name: name.to_owned(),
            headline: format!(
                "{} answers and {} allocations per second, {} packets relayed per second",
                grouped(self.answered_per_second),
                grouped(self.allocations_per_second),
                grouped(self.packets_per_second)
            ),
            how: format!(
                "{} questions of STUN at a time at {}, for {:.0} s; then {} relays, each with a refusal for its nonce; then \
                 data of {} bytes through channels of {} of them to a peer, and back.",
                self.window,
                self.server,
                self.seconds,
                grouped(self.relays as f64),
                self.packet_bytes,
                self.flows
            ),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: Vec::new(),
            latencies: Vec::new(),
            series: Vec::new(),
            study: None,
        }
    }

    fn rows(&self) -> Vec<Row> {
        vec![
            Row::new("questions of STUN answered", self.answered_per_second, "per second").leading(),
            Row::new("server CPU per answer", self.cpu_micros_per_answer, "µs").leading(),
            Row::new("allocations", self.allocations_per_second, "per second").leading(),
            Row::new("server CPU per allocation", self.cpu_micros_per_allocation, "µs").leading(),
            Row::new("user memory per relay", self.user_bytes_per_relay, "B").leading(),
            Row::new("kernel memory per relay", self.kernel_bytes_per_relay, "B"),
            Row::new("relays held", self.relays as f64, ""),
            Row::new("packets relayed", self.packets_per_second, "per second").leading(),
            Row::new("data relayed", self.megabits_per_second, "Mbit/s"),
            Row::new("server CPU per packet", self.cpu_micros_per_packet, "µs").leading(),
            Row::new("server CPU per megabit", self.cpu_millis_per_megabit, "ms").leading(),
            Row::new("packets lost", self.lost as f64, ""),
            Row::new("server", self.server_cores, "cores"),
            Row::new("generator", self.generator_cores, "cores"),
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
        f.write_str(&self.run("turn").text())
    }
}
