//! What a community has found.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::members::Found;
use super::{CommunityPlan, Rosters, Seeded};
use crate::conductor::{Ramp, Snapshot};
use crate::failures::{self, against_refusals};
use crate::percentiles::Percentiles;
use crate::probe::{Probe, Sample};
use crate::report::{Latency, Row, Run, Verdict, grouped};
use crate::series::Point;
use crate::traffic::Traffic;
use crate::worker::{read, together};

/// A generator that says things later than this after they were due, once in a hundred, measures itself.
const LATE_MS: f64 = 100.0;

/// The outcome. Figures that could not be read are null. A member's memory is the growth since before the first one came.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub url: String,
    pub transport: &'static str,
    pub tls: bool,
    pub sites: u32,
    pub members: u32,
    pub roster: u32,
    /// Of each roster.
    pub online: u32,
    pub message_every_seconds: Option<f64>,
    pub status_every_seconds: Option<f64>,
    /// None: there were no rosters, members named whom they watch.
    pub seeded: Option<Seeded>,

    /// Logged in when the last one had come, and when the calm part was over.
    pub ramped: u64,
    pub stayed: u64,
    pub ramp_seconds: f64,
    pub logins_per_second: f64,
    pub login_ms: Percentiles,
    /// User and system time of the server until the last one had come and everybody had heard of it: with the news of
    /// presence that each coming makes.
    pub cpu_us_per_login: Option<f64>,
    pub ramp_presence: u64,

    /// When all had come and no news were on their way.
    pub user_bytes_per_member: Option<f64>,
    pub kernel_bytes_per_member: Option<f64>,
    /// At the end of the calm part.
    pub user_bytes_per_member_at_end: Option<f64>,
    pub kernel_bytes_per_member_at_end: Option<f64>,
    pub generator_bytes_per_member: Option<f64>,

    pub calm: Phase,
    pub ack_ms: Percentiles,
    pub delivery_ms: Percentiles,
    /// Expected presence events: each change to each online contact.
    pub presence_expected: u64,
    pub presence_ms: Percentiles,
    /// From when something was due until the generator said it.
    pub late_ms: Percentiles,
    /// Parts of the ramp in which fewer had begun than were due: the generator was late, or the server had not answered
    /// those before. Commands nothing against what was measured after it.
    pub ramp_late_percent: f64,

    pub storm: Option<StormPhase>,
    /// Over the whole run.
    pub doubled: u64,
    pub repeated: u64,
    pub refused: BTreeMap<String, u64>,
    pub failed: u64,
    pub failures: BTreeMap<String, u64>,
    pub generator_threads: usize,
    pub valid: bool,
    pub invalid_because: Option<String>,
    pub interrupted: bool,
    pub series: Vec<Point>,
}

/// A part of the run, counted when nothing of it was on its way any more.
#[derive(Debug, Clone, Serialize)]
pub struct Phase {
    pub seconds: f64,
    pub sent: u64,
    pub acknowledged: u64,
    pub delivered: u64,
    /// Acknowledged, but not delivered.
    pub lost: u64,
    /// Neither acknowledged nor refused.
    pub unanswered: u64,
    pub changes: u64,
    pub presence: u64,
    /// Of one core.
    pub server_cpu_percent: Option<f64>,
    pub generator_cpu_percent: Option<f64>,
}

#[derive(Debug, Clone, Serialize)]
pub struct StormPhase {
    pub members: u32,
    pub spread_seconds: f64,
    pub returned: u64,
    pub back_after_seconds: f64,
    /// From the moment at which a member was to come back to its welcome; with the waits between tries.
    pub return_ms: Percentiles,
    /// Of those who stayed, from when a message was due.
    pub ack_ms: Percentiles,
    pub cpu_us_per_return: Option<f64>,
    pub caught_up: u64,
    pub gaps: u64,
    pub not_resumed: u64,
    /// News that a member is offline.
    pub flaps: u64,
    /// Messages from some seconds before the storm to some seconds after it.
    pub traffic: Phase,
}

/// Counters.
#[derive(Default)]
pub(super) struct Part {
    seconds: f64,
    stands: Option<(Snapshot, Snapshot)>,
    sent: u64,
    acknowledged: u64,
    refused: u64,
    delivered: u64,
    changes: u64,
    presence: u64,
}

impl Part {
    pub(super) fn now(traffic: &Traffic) -> Part {
        Part {
            sent: read(&traffic.sent),
            acknowledged: read(&traffic.acknowledged),
            refused: read(&traffic.refused),
            delivered: read(&traffic.delivered),
            changes: read(&traffic.changes),
            presence: read(&traffic.presence),
            ..Part::default()
        }
    }

    pub(super) fn since(self, before: &Part) -> Part {
        Part {
            sent: self.sent - before.sent,
            acknowledged: self.acknowledged - before.acknowledged,
            refused: self.refused - before.refused,
            delivered: self.delivered - before.delivered,
            changes: self.changes - before.changes,
            presence: self.presence - before.presence,
            ..self
        }
    }

    /// How long it took, and how things stood then.
    pub(super) fn of(self, seconds: f64, from: Snapshot, to: Snapshot) -> Part {
        Part { seconds, stands: Some((from, to)), ..self }
    }

    fn phase(&self) -> Phase {
        let over = |figure: fn(&Snapshot) -> Option<f64>| -> Option<f64> {
            let (from, to) = self.stands.as_ref()?;
            let seconds = to.at.saturating_duration_since(from.at).as_secs_f64().max(0.001);
            Some((figure(to)? - figure(from)?) / seconds * 100.0)
        };
        Phase {
            seconds: self.seconds,
            sent: self.sent,
            acknowledged: self.acknowledged,
            delivered: self.delivered,
            lost: self.acknowledged.saturating_sub(self.delivered),
            unanswered: self.sent.saturating_sub(self.acknowledged + self.refused),
            changes: self.changes,
            presence: self.presence,
            server_cpu_percent: over(|stand| stand.sample.cpu_seconds),
            generator_cpu_percent: over(|stand| stand.generator_cpu_seconds),
        }
    }
}

pub(super) struct Storm {
    pub(super) part: Part,
    pub(super) returned: u64,
    pub(super) back_after: Duration,
}

pub(super) struct Findings {
    pub(super) interrupted: bool,
    pub(super) before: Sample,
    pub(super) ramp: Ramp,
    pub(super) ramped: Snapshot,
    pub(super) ramp_presence: u64,
    pub(super) idle: Snapshot,
    pub(super) calm: Part,
    pub(super) end: Snapshot,
    /// Growth of the generator's own memory.
    pub(super) own: Option<u64>,
    pub(super) storm: Option<Storm>,
    pub(super) login: Histogram<u64>,
    pub(super) again: Histogram<u64>,
    pub(super) failed: u64,
    pub(super) failures: BTreeMap<String, u64>,
    pub(super) found: Vec<Found>,
    pub(super) workers: usize,
    pub(super) series: Vec<Point>,
}

impl Report {
    pub(super) fn new(plan: &CommunityPlan, probe: Probe, findings: Findings) -> Report {
        let Findings { before, ramp, ramped, idle, calm, end, found, storm, .. } = findings;
        let people = plan.people;
        let members = f64::from(people.members());
        let user = |sample: &Sample| -> Option<f64> {
            Some((sample.resident_bytes? as f64 - before.resident_bytes? as f64) / members)
        };
        // Both ends of each connection are on this machine.
        let kernel = |sample: &Sample| -> Option<f64> {
            Some((sample.kernel_bytes? as f64 - before.kernel_bytes? as f64) / 2.0 / members)
        };
        // Until all news of their coming are told.
        let cpu = || Some(idle.sample.cpu_seconds? - before.cpu_seconds?);
        let times =
            |which: fn(&Found) -> &Histogram<u64>| Percentiles::of(&together(found.iter().map(which)));
        let sum = |count: fn(&Found) -> u64| found.iter().map(count).sum::<u64>();
        let refused = failures::joined(found.iter().map(|one| &one.refusals));
        let refused_for_good = calm.refused + storm.as_ref().map_or(0, |storm| storm.part.refused);
        let storm = storm.map(|storm| {
            let cpu = storm.part.stands.as_ref();
            let cpu = cpu.and_then(|(from, to)| Some(to.sample.cpu_seconds? - from.sample.cpu_seconds?));
            StormPhase {
                members: plan.storm,
                spread_seconds: plan.spread.as_secs_f64(),
                returned: storm.returned,
                back_after_seconds: storm.back_after.as_secs_f64(),
                return_ms: Percentiles::of(&findings.again),
                ack_ms: times(|one| &one.storm_ack),
                cpu_us_per_return: cpu.map(|cpu| cpu * 1e6 / storm.returned.max(1) as f64),
                caught_up: sum(|one| one.caught_up),
                gaps: sum(|one| one.gaps),
                not_resumed: sum(|one| one.not_resumed),
                flaps: sum(|one| one.flaps),
                traffic: storm.part.phase(),
            }
        });
        let mut report = Report {
            url: plan.options.target.url(),
            transport: plan.transport.name(),
            tls: plan.options.target.tls,
            sites: people.sites(),
            members: people.members(),
            roster: people.roster(),
            online: people.online(),
            message_every_seconds: plan.message_every.map(|every| every.as_secs_f64()),
            status_every_seconds: plan.status_every.map(|every| every.as_secs_f64()),
            seeded: match plan.rosters {
                Rosters::Stored(seeded) => Some(seeded),
                Rosters::Named => None,
            },
            ramped: ramped.active,
            stayed: end.active,
            ramp_seconds: ramp.seconds,
            logins_per_second: ramped.active as f64 / ramp.seconds.max(0.001),
            login_ms: Percentiles::of(&findings.login),
            cpu_us_per_login: cpu().map(|cpu| cpu * 1e6 / ramped.active.max(1) as f64),
            ramp_presence: findings.ramp_presence,
            user_bytes_per_member: user(&idle.sample),
            kernel_bytes_per_member: kernel(&idle.sample),
            user_bytes_per_member_at_end: user(&end.sample),
            kernel_bytes_per_member_at_end: kernel(&end.sample),
            generator_bytes_per_member: findings.own.map(|own| own as f64 / members),
            calm: calm.phase(),
            ack_ms: times(|one| &one.ack),
            delivery_ms: times(|one| &one.delivery),
            presence_expected: calm.changes * u64::from(people.online()),
            presence_ms: times(|one| &one.presence),
            late_ms: times(|one| &one.late),
            ramp_late_percent: ramp.late_beats as f64 / ramp.beats.max(1) as f64 * 100.0,
            storm,
            doubled: sum(|one| one.doubled),
            repeated: sum(|one| one.repeated),
            refused,
            failed: findings.failed,
            failures: findings.failures,
            generator_threads: findings.workers,
            valid: false,
            invalid_because: None,
            interrupted: findings.interrupted,
            series: findings.series,
        };
        let because = report.against(probe, refused_for_good);
        report.valid = because.is_none() && !report.interrupted;
        report.invalid_because = because.map(str::to_owned);
        report
    }

    fn against(&self, probe: Probe, refused_for_good: u64) -> Option<&'static str> {
        let everybody = u64::from(self.members);
        let refusals = against_refusals(&self.refused, refused_for_good);
        match probe {
            _ if self.ramped < everybody => Some("not everybody was logged in"),
            _ if self.stayed < everybody => Some("members were lost while nothing happened to them"),
            _ if refusals.is_some() => refusals,
            _ if self.late_ms.p99 > LATE_MS => {
                Some("the generator was late: it or the machine was the limit")
            }
            Probe::Blind => Some("nothing could be seen of the server"),
            _ => None,
        }
    }

    /// One JSON object, on one line.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a report has string keys only")
    }

    /// In the form that all plans share.
    pub fn run(&self, name: &str) -> Run {
        let change = "fewer members or a lower rate; a node without limits; --pid";
        let against = self.invalid_because.as_deref().map(|because| (because, change));
        let mut latencies =
            vec![Latency { what: "connect + login, from when it was due", ms: self.login_ms }];
        if self.calm.sent > 0 {
            latencies.push(Latency { what: "send to acknowledgement", ms: self.ack_ms });
            latencies.push(Latency { what: "send to delivery", ms: self.delivery_ms });
        }
        if self.calm.changes > 0 {
            latencies.push(Latency { what: "change of presence to its news", ms: self.presence_ms });
        }
        if let Some(storm) = &self.storm {
            latencies.push(Latency { what: "coming back, from when it was due", ms: storm.return_ms });
            latencies.push(Latency { what: "acknowledgement in the storm, who stayed", ms: storm.ack_ms });
        }
        Run {
            name: name.to_owned(),
            headline: format!(
                "{} members of {} online, each with {} contacts of whom {} are there",
                grouped(self.stayed as f64),
                if self.sites == 1 { "one site".to_owned() } else { format!("{} sites", self.sites) },
                self.roster,
                self.online
            ),
            how: self.how(),
            verdict: Verdict::new(self.interrupted, against),
            rows: self.rows(),
            lines: failures::lines(&self.failures, &self.refused),
            latencies,
            series: self.series.clone(),
            study: None,
        }
    }

    fn how(&self) -> String {
        let every = |what: &str, seconds: Option<f64>| match seconds {
            Some(seconds) => format!("{what} per {} s", grouped(seconds)),
            None => format!("no {what}"),
        };
        let rosters = match &self.seeded {
            Some(seeded) => format!(
                "Before the node started, {} users and {} rows of contact lists were put into its database, in {} s \
                 ({} MB).",
                grouped(seeded.users as f64),
                grouped(seeded.contacts as f64),
                grouped(seeded.seconds),
                grouped(seeded.bytes as f64 / 1e6)
            ),
            None => "Rosters were not stored: members named whom they watch.".to_owned(),
        };
        format!(
            "Members came over {}{}; then, for {} s, each had on average {} and {}, at moments of chance. {rosters}",
            self.transport,
            if self.tls { " with TLS" } else { "" },
            grouped(self.calm.seconds),
            every("message", self.message_every_seconds),
            every("change of presence", self.status_every_seconds),
        )
    }

    fn rows(&self) -> Vec<Row> {
        let count = |count: u64| count as f64;
        let per_second = |count: u64| count as f64 / self.calm.seconds.max(0.001);
        let mut rows = vec![
            Row::new("members online", count(self.stayed), "")
                .beside("paper, Tigase, one of its ten nodes", 112_840.0),
            Row::new("user memory per member", self.user_bytes_per_member, "B")
                .beside("ejabberd 23.01, 30 online", 124_298.0)
                .beside("paper, Tigase, all of the machine", 99_000.0),
            Row::new("kernel memory per member, the node's end", self.kernel_bytes_per_member, "B"),
            Row::new("server CPU, calm", self.calm.server_cpu_percent, "% of a core"),
            Row::new("server CPU per login", self.cpu_us_per_login, "µs")
                .beside("ejabberd 23.01, 30 online", 5_707.0),
            Row::new("logins", self.logins_per_second, "per second")
                .beside("ejabberd 23.01, 30 online", 236.0)
                .beside("paper, Tigase", 100.0),
            Row::new("until all were there", self.ramp_seconds, "s"),
            Row::new("of that time, fewer had begun than were due", self.ramp_late_percent, "%"),
            Row::new("user memory per member at the end", self.user_bytes_per_member_at_end, "B"),
            Row::new("kernel memory per member at the end", self.kernel_bytes_per_member_at_end, "B"),
            Row::new("messages delivered", per_second(self.calm.delivered), "per second"),
            Row::new("sent", count(self.calm.sent), "messages"),
            Row::new("acknowledged", count(self.calm.acknowledged), "messages"),
            Row::new("delivered", count(self.calm.delivered), "messages"),
            Row::new("lost", count(self.lost()), "messages"),
            Row::new("without an answer", count(self.unanswered()), "messages"),
            Row::new("doubled", count(self.doubled), "messages"),
            Row::new("came again, dropped by the receiver", count(self.repeated), "messages"),
            Row::new("news of presence delivered", per_second(self.calm.presence), "per second"),
            Row::new("changes of presence", count(self.calm.changes), ""),
            Row::new("news of presence expected", count(self.presence_expected), ""),
            Row::new("news of presence received", count(self.calm.presence), ""),
            Row::new("news of presence while they came", count(self.ramp_presence), ""),
            Row::new("generator CPU, calm", self.calm.generator_cpu_percent, "% of a core"),
            Row::new("generator memory per member", self.generator_bytes_per_member, "B"),
            Row::new("generator late, p99", self.late_ms.p99, "ms"),
            Row::new("failed", count(self.failed), "members"),
        ];
        if let Some(storm) = &self.storm {
            let all_back = (storm.returned == u64::from(storm.members)).then_some(storm.back_after_seconds);
            rows.extend([
                Row::new("storm: lost their connections", f64::from(storm.members), "members"),
                Row::new("storm: until all were back", all_back, "s"),
                Row::new("storm: came back", count(storm.returned), "members"),
                Row::new("storm: had to begin anew", count(storm.not_resumed), "members"),
                Row::new("storm: gaps", count(storm.gaps), ""),
                Row::new("storm: seen to leave", count(storm.flaps), "times"),
                Row::new("storm: sent meanwhile", count(storm.traffic.sent), "messages"),
                Row::new("storm: delivered", count(storm.traffic.delivered), "messages"),
                Row::new("storm: came with the welcome", count(storm.caught_up), "messages"),
                Row::new("storm: server CPU per return", storm.cpu_us_per_return, "µs"),
            ]);
        }
        rows
    }

    /// Acknowledged, but not delivered.
    pub fn lost(&self) -> u64 {
        self.calm.lost + self.storm.as_ref().map_or(0, |storm| storm.traffic.lost)
    }

    fn unanswered(&self) -> u64 {
        self.calm.unanswered + self.storm.as_ref().map_or(0, |storm| storm.traffic.unanswered)
    }
}

/// For people.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.run("community").text())
    }
}
