//! The counts that all plans share, and their part of the report.

use hdrhistogram::Histogram;
use serde_json::{Value as Json, json};

use crate::failures::{self, Reasons};
use crate::probe::{Probe, Sample};
use crate::processes::{self, Part, Usages};
use crate::report::{Measure, Run, Verdict, grouped};
use crate::series::Point;
use crate::tally::Tally;
use crate::traffic::Counted;

/// If a worker of the generator is busier than this, the generator was the limit.
pub(crate) const BUSIEST_PERCENT: f64 = 95.0;

pub(crate) struct Outcome<T> {
    pub(crate) url: String,
    pub(crate) transport: &'static str,
    pub(crate) tls: bool,
    pub(crate) probe: Probe,
    /// The server, before the first member connected.
    pub(crate) before: Sample,
    pub(crate) interrupted: bool,
    /// Logged in at the end.
    pub(crate) members: u64,
    pub(crate) traffic: Counted,
    pub(crate) login: Histogram<u64>,
    /// From a member's due time for a reconnect to its welcome.
    pub(crate) returns: Histogram<u64>,
    pub(crate) failed: u64,
    pub(crate) failures: Reasons,
    pub(crate) tally: T,
    pub(crate) workers: usize,
    pub(crate) series: Vec<Point>,
    /// The processes of the run's own cluster, with their CPU from before the first member connected until now.
    pub(crate) cluster: Option<Cluster>,
}

pub(crate) struct Cluster {
    pub(crate) processes: Vec<processes::Figures>,
    pub(crate) before: Usages,
    pub(crate) after: Usages,
}

impl Cluster {
    /// None: the server is no cluster of this run.
    pub(crate) fn of(probe: &Probe, before: &Sample) -> Option<Cluster> {
        let Probe::Cluster(processes) = probe else { return None };
        let after = processes.look();
        Some(Cluster { processes: processes.each(), before: before.parts?, after })
    }

    /// CPU of each part, and for each million of delivered messages.
    fn measures(&self, delivered: u64) -> Vec<Measure> {
        let cpu = |part| self.after.of(part).cpu_seconds - self.before.of(part).cpu_seconds;
        let each = |cpu: f64| (delivered > 0).then(|| cpu * 1e6 / delivered as f64);
        let named = |key, name, part, key_each, name_each| {
            let million = Measure::new(key_each, name_each, "s", each(cpu(part)));
            [Measure::new(key, name, "s", cpu(part)), million]
        };
        [
            named(
                "cluster.home.cpu_seconds",
                "CPU of homes, whole run",
                Part::Home,
                "cluster.home.cpu_seconds_per_million",
                "CPU of homes, per million delivered",
            ),
            named(
                "cluster.front.cpu_seconds",
                "CPU of fronts, whole run",
                Part::Front,
                "cluster.front.cpu_seconds_per_million",
                "CPU of fronts, per million delivered",
            ),
            named(
                "cluster.nats.cpu_seconds",
                "CPU of NATS, whole run",
                Part::Nats,
                "cluster.nats.cpu_seconds_per_million",
                "CPU of NATS, per million delivered",
            ),
            named(
                "cluster.postgres.cpu_seconds",
                "CPU of PostgreSQL, whole run, not in the server's",
                Part::Postgres,
                "cluster.postgres.cpu_seconds_per_million",
                "CPU of PostgreSQL, per million delivered",
            ),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// For people: one line for each process.
    fn lines(&self) -> impl Iterator<Item = String> {
        self.processes.iter().map(|process| {
            let memory = grouped((process.resident_bytes as f64 / 1e6).round());
            format!(
                "{}: {} s of CPU since its start, at most {memory} MB of memory",
                process.name,
                grouped(process.cpu_seconds)
            )
        })
    }
}

/// The plan's part of a report.
pub(crate) struct Findings<'a> {
    pub(crate) headline: String,
    pub(crate) how: String,
    /// The reason why the figures are invalid, and advice for another run.
    pub(crate) against: Option<(&'a str, &'a str)>,
    pub(crate) measures: Vec<Measure>,
    pub(crate) facts: Vec<(&'static str, Json)>,
    pub(crate) lines: Vec<String>,
}

impl<T: Tally> Outcome<T> {
    /// The first reason that makes a run invalid. In this order: the generator was the limit, members are missing,
    /// commands were refused, a check of the plan failed, the server could not be observed.
    pub(crate) fn against(
        &self,
        busiest_percent: f64,
        everybody: u64,
        own_checks: &[(bool, &'static str)],
    ) -> Option<&'static str> {
        let refused = || failures::against_refusals(self.tally.refused(), self.traffic.refused);
        if busiest_percent > BUSIEST_PERCENT {
            return Some("the generator was itself the limit: give it more threads");
        }
        if failures::short_of_descriptors(&self.failures) {
            return Some("the generator had too few file descriptors: raise the limit of open files");
        }
        if self.members < everybody {
            return Some("not everybody was logged in");
        }
        let refusals = if self.traffic.refused > 0 { refused() } else { None };
        refusals.or_else(|| own_checks.iter().find(|(fails, _)| *fails).map(|(_, because)| *because)).or_else(
            || {
                (self.probe == Probe::Blind)
                    .then_some("nothing could be seen of the server: name its process id")
            },
        )
    }

    pub(crate) fn into_run(self, name: &str, findings: Findings<'_>) -> Run {
        let Findings { headline, how, against, mut measures, mut facts, mut lines } = findings;
        if let Some(cluster) = &self.cluster {
            measures.extend(cluster.measures(self.traffic.delivered));
            lines.extend(cluster.lines());
            facts.push(("cluster.processes", json!(cluster.processes)));
        }
        facts.extend([
            ("url", json!(self.url)),
            ("transport", json!(self.transport)),
            ("tls", json!(self.tls)),
            ("generator_threads", json!(self.workers)),
        ]);
        Run {
            name: name.to_owned(),
            headline,
            how,
            verdict: Verdict::new(self.interrupted, against),
            facts,
            measures,
            refused: self.tally.refused().clone(),
            failures: self.failures,
            lines,
            series: self.series,
            study: None,
        }
    }
}

/// The use of one core by the generator's busiest thread.
pub(crate) fn generator(busiest_percent: f64) -> Measure {
    Measure::new("generator_busiest_percent", "generator, busiest thread", "%", busiest_percent)
}
