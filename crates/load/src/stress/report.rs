//! What a stress has found.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use serde::Serialize;

use super::writing::Found;
use super::{Pace, StressPlan};
use crate::conductor::Stand;
use crate::crowd::histogram;
use crate::percentiles::Percentiles;
use crate::probe::Probe;

/// The outcome. Figures that could not be read are null.
///
/// `delivered_per_second`: messages that reached the member they were written to, divided by the time from the first
/// one written to the last one that moved. `cpu_seconds_per_million`: user and system time of the server over the same
/// time, per million of them.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    pub members: u64,
    pub group: u32,
    pub body_bytes: usize,
    pub window: Option<u32>,
    pub rate: Option<f64>,
    pub seconds: f64,
    pub sent: u64,
    pub acknowledged: u64,
    pub delivered: u64,
    pub delivered_per_second: f64,
    pub cpu_seconds_per_million: Option<f64>,
    pub server_cores: Option<f64>,
    /// From `send`, or from when it was due, to `ack`.
    pub ack_ms: Percentiles,
    /// The same, to the addressee.
    pub delivery_ms: Percentiles,
    /// Acknowledged, but not delivered.
    pub lost: u64,
    pub doubled: u64,
    /// Came before their turn in their conversation.
    pub misordered: u64,
    /// Numbers of conversations that never came.
    pub holes: u64,
    /// Events that belong to no message of this run.
    pub strange: u64,
    /// By code.
    pub refused: BTreeMap<String, u64>,
    /// Written, and never answered.
    pub unanswered: u64,
    /// Connections.
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    pub generator_threads: usize,
    /// Of one core, while they wrote.
    pub generator_busiest_percent: f64,
    pub valid: bool,
    pub invalid_because: Option<String>,
}

pub(super) struct Findings {
    pub(super) members: u64,
    pub(super) begin: Stand,
    pub(super) written: Stand,
    pub(super) end: Stand,
    pub(super) drained_at: Instant,
    pub(super) sent: u64,
    pub(super) acknowledged: u64,
    pub(super) refused: u64,
    pub(super) delivered: u64,
    pub(super) failed: u64,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
}

impl Report {
    pub(super) fn new(plan: &StressPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { begin, written, end, drained_at, acknowledged, delivered, .. } = findings;
        let seconds = drained_at.max(written.at).saturating_duration_since(begin.at).as_secs_f64().max(0.001);
        let all = joined(&findings.found);
        let cpu = || Some(end.sample.cpu_seconds? - begin.sample.cpu_seconds?);
        let writing = written.at.saturating_duration_since(begin.at).as_secs_f64().max(0.001);
        let busiest = (written.busiest_worker_seconds - begin.busiest_worker_seconds) / writing * 100.0;
        let (window, rate) = match plan.pace {
            Pace::Window(window) => (Some(window), None),
            Pace::Rate(rate) => (None, Some(rate)),
        };
        let short = rate.is_some_and(|rate| (findings.sent as f64) < rate * writing * 0.9);
        let invalid_because = match probe {
            _ if busiest > 95.0 => Some("the generator was itself the limit: give it more threads"),
            _ if short => Some("the generator could not keep the rate"),
            _ if findings.members < u64::from(plan.members) => Some("not everybody was logged in"),
            _ if !all.refusals.is_empty() => Some("the server refused messages: its limits were measured"),
            Probe::Blind => Some("nothing could be seen of the server: name its process id"),
            _ => None,
        };
        Report {
            url: format!("{}://{}", if plan.target.tls { "https" } else { "http" }, plan.target.host),
            transport: plan.transport.name(),
            members: findings.members,
            group: plan.group,
            body_bytes: plan.body_bytes,
            window,
            rate,
            seconds,
            sent: findings.sent,
            acknowledged,
            delivered,
            delivered_per_second: delivered as f64 / seconds,
            cpu_seconds_per_million: cpu().map(|cpu| cpu * 1e6 / delivered.max(1) as f64),
            server_cores: cpu().map(|cpu| cpu / seconds),
            ack_ms: Percentiles::of(&all.ack),
            delivery_ms: Percentiles::of(&all.delivery),
            lost: acknowledged.saturating_sub(delivered),
            doubled: all.doubled,
            misordered: all.misordered,
            holes: all.holes,
            strange: all.strange,
            refused: all.refusals,
            unanswered: findings.sent.saturating_sub(acknowledged + findings.refused),
            failed: findings.failed,
            failures: findings.failures,
            generator_threads: findings.workers,
            generator_busiest_percent: busiest,
            valid: invalid_because.is_none(),
            invalid_because: invalid_because.map(str::to_owned),
        }
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }
}

fn joined(found: &[Found]) -> Found {
    let mut all = Found {
        ack: histogram(),
        delivery: histogram(),
        doubled: 0,
        misordered: 0,
        holes: 0,
        strange: 0,
        refusals: BTreeMap::new(),
    };
    for one in found {
        all.ack.add(&one.ack).expect("all have the same bounds");
        all.delivery.add(&one.delivery).expect("all have the same bounds");
        all.doubled += one.doubled;
        all.misordered += one.misordered;
        all.holes += one.holes;
        all.strange += one.strange;
        for (code, count) in &one.refusals {
            *all.refusals.entry(code.clone()).or_default() += count;
        }
    }
    all
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { members, group, body_bytes, transport, .. } = self;
        let pace = match (self.window, self.rate) {
            (Some(window), _) => format!("{window} in flight each"),
            (_, rate) => format!("{:.0}/s in all", rate.unwrap_or(0.0)),
        };
        writeln!(f, "{members} members in groups of {group} over {transport}, {body_bytes} bytes, {pace}")?;
        writeln!(
            f,
            "delivered          {:.0}/s: {} of {} sent, {} acknowledged, in {:.1} s",
            self.delivered_per_second, self.delivered, self.sent, self.acknowledged, self.seconds
        )?;
        let cpu = self.cpu_seconds_per_million.map_or("unknown".into(), |cpu| format!("{cpu:.1} s"));
        let cores = self.server_cores.map_or("unknown".into(), |cores| format!("{cores:.2}"));
        writeln!(f, "server CPU         {cpu} per million delivered, {cores} cores")?;
        writeln!(f, "send to ack        {}", self.ack_ms)?;
        writeln!(f, "send to delivery   {}", self.delivery_ms)?;
        writeln!(
            f,
            "lost {}, doubled {}, misordered {}, holes {}, strange {}, unanswered {}, connections failed {}",
            self.lost, self.doubled, self.misordered, self.holes, self.strange, self.unanswered, self.failed
        )?;
        for (code, count) in &self.refused {
            writeln!(f, "  {count:>8} × refused: {code}")?;
        }
        for (reason, count) in &self.failures {
            writeln!(f, "  {count:>8} × {reason}")?;
        }
        let Report { generator_threads, generator_busiest_percent, .. } = self;
        writeln!(
            f,
            "generator          {generator_threads} thread(s), busiest {generator_busiest_percent:.0} %"
        )?;
        match &self.invalid_because {
            Some(why) => writeln!(f, "NOT VALID: {why}"),
            None => writeln!(f, "valid"),
        }
    }
}
