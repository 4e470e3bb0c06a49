//! The mix of Erlang'07: inactive, idle and active members connect until memory or errors reach a limit.

mod members;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::members::{Members, Order, Shared, Tally, no_one_online};
use crate::arrivals::Arrivals;
use crate::conductor::{BEAT, Conductor, Setup, now_unix};
use crate::failures;
use crate::observer::Until;
use crate::outcome::{BUSIEST_PERCENT, Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::probe::{Probe, Sample};
use crate::report::{Measure, Run, grouped};
use crate::settings::{self, Contradiction, Plan, Size, span};
use crate::target::Transport;
use crate::watch::Snapshot;
use crate::worker::{Mail, read};
use crate::{LoadError, RunOptions};

/// After this time without events at the end, missing events are lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
/// Error shares of fewer logins and messages mean nothing.
const FEWEST: u64 = 100;
/// With fewer members, the growth of memory is mostly that of pages used for the first time.
const FEWEST_TO_EXTRAPOLATE: u64 = 1_000;
/// The memory of the paper's machine.
const PAPER_BYTES: f64 = 512.0 * 1024.0 * 1024.0;

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct MixPlan {
    /// websocket, stream, sse or poll; or xmpp, xmpp-websocket.
    #[arg(long, visible_alias = "protocol", default_value = "websocket")]
    pub transport: Transport,
    /// Most members.
    #[arg(long, default_value_t = 60_000)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub members: u32,
    /// Members who connect per second, at random times.
    #[arg(long, default_value_t = 50.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub rate: f64,
    /// Resident memory of the node at which the run ends, for example 512MB.
    #[arg(long, value_name = "SIZE", default_value = "512MB")]
    pub memory_limit: Size,
    /// Add the node's half of the kernel's growth to the memory.
    #[arg(long)]
    pub with_kernel: bool,
    /// Failed logins and messages, in percent, at which the run ends.
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub error_limit: f64,
    /// Longest duration of the run.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10m")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
    /// Active members in a group; the members of a group write to each other.
    #[arg(skip = 10_u32)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub group: u32,
    /// Mean interval between two messages of an active member.
    #[arg(skip = Duration::from_secs(10))]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub write_every: Duration,
    /// Mean interval between two changes of an idle member's presence.
    #[arg(skip = Duration::from_secs(60))]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub presence_every: Duration,
}

/// The reason why the run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    Memory,
    Errors,
    Members,
    Time,
    Interrupted,
}

/// The end of the growth.
struct Growth {
    limit: Limit,
    end: Snapshot,
    seconds: f64,
    /// Share of beats that the generator itself made late.
    late_percent: f64,
}

impl Plan for MixPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::if_peer(self.transport)?;
        Contradiction::if_any(&[(
            self.time.is_zero() || self.write_every.is_zero() || self.presence_every.is_zero(),
            "what happens every 0 s has no end",
            "time, write-every and presence-every must be above 0",
        )])
    }

    fn members(&self) -> u32 {
        self.members
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let arrivals = Arrivals::by_chance(self.members, self.rate, now_unix().as_millis() as u64);
        let setup = Setup { options, transport: self.transport, members: self.members, arrivals };
        let shared = Arc::new(Shared { plan: self.clone(), online: no_one_online(self.members) });
        let mut mix = Conductor::<Members>::new(setup, &shared, say)?;
        let growth = grow(&mut mix, self);
        mix.each(|| Mail::Order(Order::End));
        mix.drain(DRAIN_PATIENCE)?;
        mix.watch.line();
        Ok(report(self, mix.finish()?, &growth))
    }
}

/// Connects members until a limit is reached.
fn grow(mix: &mut Conductor<'_, Members>, plan: &MixPlan) -> Growth {
    mix.watch.stage("members come", Until::Members(u64::from(plan.members)));
    let (mut asked, mut beats, mut late) = (0_u32, 0_u64, 0_u64);
    let mut last = Instant::now();
    loop {
        let elapsed = mix.state.start.elapsed();
        let due = mix.state.arrivals.by(elapsed) as u32;
        if due > asked {
            asked = due;
            mix.each(|| Mail::Begin(due));
        }
        mix.each(|| Mail::Order(Order::Beat));
        mix.watch.sample_if_due(Instant::now());
        beats += 1;
        late += u64::from(last.elapsed() > BEAT * 25);
        last = Instant::now();
        // A sample of the server costs too much for every beat.
        if beats % 64 == 0 {
            let end = mix.watch.snapshot();
            if let Some(limit) = limit_met(mix, plan, &end, elapsed) {
                let seconds = end.at.saturating_duration_since(mix.state.start).as_secs_f64().max(0.001);
                return Growth { limit, end, seconds, late_percent: late as f64 / beats as f64 * 100.0 };
            }
        }
        mix.nap();
    }
}

fn limit_met(
    mix: &Conductor<'_, Members>,
    plan: &MixPlan,
    now: &Snapshot,
    elapsed: Duration,
) -> Option<Limit> {
    let (counts, traffic) = (&mix.state.counts, &mix.watch.traffic);
    let tried = read(&counts.welcomed) + read(&counts.failed) + read(&traffic.sent);
    let wrong = read(&counts.failed) + read(&traffic.refused);
    let errors = tried >= FEWEST && wrong as f64 / tried as f64 * 100.0 > plan.error_limit;
    let memory = memory(plan, now, &mix.watch.before).is_some_and(|bytes| bytes >= plan.memory_limit.0);
    let everybody = read(&counts.welcomed) + read(&counts.failed) >= u64::from(plan.members);
    match () {
        () if mix.watch.stopped() => Some(Limit::Interrupted),
        () if memory => Some(Limit::Memory),
        () if errors => Some(Limit::Errors),
        () if everybody => Some(Limit::Members),
        () if elapsed >= plan.time => Some(Limit::Time),
        () => None,
    }
}

/// The memory that counts against the limit: the server's resident memory, plus half of the kernel's growth with
/// `with_kernel`.
fn memory(plan: &MixPlan, now: &Snapshot, before: &Sample) -> Option<u64> {
    let kernel = || Some(now.sample.kernel_bytes?.saturating_sub(before.kernel_bytes?) / 2);
    let kernel = if plan.with_kernel { kernel()? } else { 0 };
    Some(now.sample.resident_bytes? + kernel)
}

/// Members in 512 MB are an extrapolation from the server's memory before the first member and this run's memory per
/// member.
fn report(plan: &MixPlan, mut outcome: Outcome<Tally>, growth: &Growth) -> Run {
    let Growth { limit, end, seconds, late_percent } = growth;
    let before = outcome.before;
    let members = end.active;
    let each = |bytes: f64| bytes.max(0.0) / members.max(1) as f64;
    let user = end.sample.resident_since(&before).map(each);
    let kernel = end.sample.kernel_since(&before).map(each);
    let fit = |bytes: f64| {
        let free = PAPER_BYTES - before.resident_bytes? as f64;
        (members >= FEWEST_TO_EXTRAPOLATE).then_some((free / bytes.max(1.0)).round())
    };
    let with_kernel = user.zip(kernel).and_then(|(user, kernel)| fit(user + kernel / 2.0));
    let busiest = end.busiest_worker_seconds / seconds * 100.0;
    let memory = memory(plan, end, &before);
    let in_paper = |measure: Measure| {
        measure.beside("paper, Erlang'07, tuned", 23_898.0).beside("paper, Erlang'07, at first", 17_855.0)
    };
    let tally = &outcome.tally;
    let measures = vec![
        Measure::new("members", "members who fitted", "", members),
        in_paper(Measure::new(
            "extrapolated_in_512_mb",
            "in 512 MB, extrapolated",
            "members",
            user.and_then(fit),
        )),
        in_paper(Measure::new(
            "extrapolated_in_512_mb_with_kernel",
            "the same with the kernel's half",
            "members",
            with_kernel,
        )),
        Measure::new("user_bytes_per_member", "user memory per member", "B", user),
        Measure::new("kernel_bytes_per_member", "kernel memory per member, both ends", "B", kernel),
        Measure::derived("memory when it ended", "MB", memory.map(|bytes| bytes as f64 / 1_048_576.0)),
        Measure::new("seconds", "until then", "s", *seconds),
        Measure::new(
            "server_cpu_percent",
            "server CPU",
            "% of a core",
            end.sample.cpu_since(&before).map(|cpu| cpu / seconds * 100.0),
        ),
        Measure::new("failed", "logins and others that failed", "", outcome.failed),
        Measure::new("sent", "sent", "messages", outcome.traffic.sent),
        Measure::new("delivered", "delivered", "messages", outcome.traffic.delivered),
        Measure::new("lost", "lost", "messages", outcome.traffic.lost()),
        Measure::new("doubled", "doubled", "messages", tally.doubled),
        Measure::new("presences", "changes of presence", "", tally.presences),
        generator(busiest),
        Measure::new("late_percent", "generator, late", "%", *late_percent),
        Measure::times("login_ms", "connect + login, from when it was due", Percentiles::of(&outcome.login)),
        Measure::times("ack_ms", "message to acknowledgement", Percentiles::of(&tally.ack)),
        Measure::times("delivery_ms", "message to delivery", Percentiles::of(&tally.delivery)),
        Measure::json_only("memory_bytes", memory),
        Measure::json_only("acknowledged", outcome.traffic.acknowledged),
    ];
    outcome.interrupted = *limit == Limit::Interrupted;
    let findings = Findings {
        headline: format!("{} members, and {}", grouped(members as f64), ended(plan, *limit)),
        how: how(plan),
        against: against(plan, &outcome, growth, busiest),
        measures,
        facts: vec![
            ("members_at_most", json!(plan.members)),
            ("rate", json!(plan.rate)),
            ("memory_limit_bytes", json!(plan.memory_limit.0)),
            ("with_kernel", json!(plan.with_kernel)),
            ("error_limit_percent", json!(plan.error_limit)),
            ("write_every_seconds", json!(plan.write_every.as_secs_f64())),
            ("presence_every_seconds", json!(plan.presence_every.as_secs_f64())),
            ("ended_by", json!(limit)),
        ],
        lines: Vec::new(),
    };
    outcome.into_run("mix", findings)
}

fn against(
    plan: &MixPlan,
    outcome: &Outcome<Tally>,
    growth: &Growth,
    busiest: f64,
) -> Option<(&'static str, &'static str)> {
    match &outcome.probe {
        Probe::Blind => Some(("nothing could be seen of the server", "--pid names its process")),
        _ if outcome.before.resident_bytes >= Some(plan.memory_limit.0) => {
            Some(("the server had more than the limit before anybody came", "a higher --memory-limit"))
        }
        _ if busiest > BUSIEST_PERCENT => {
            Some(("the generator was itself the limit", "more --threads, or a lower --rate"))
        }
        _ if growth.late_percent > 1.0 => Some((
            "the generator came late to what members were to do",
            "a lower --rate, or end what else runs on this machine",
        )),
        _ if failures::short_of_descriptors(&outcome.failures) => Some((
            "the generator had too few descriptors",
            "raise the limit of open files, or fewer --members",
        )),
        _ if outcome.traffic.refused > 0 && growth.limit != Limit::Errors => {
            Some(("the server refused messages: its limits were measured", "a node without limits"))
        }
        _ => None,
    }
}

fn ended(plan: &MixPlan, limit: Limit) -> String {
    let mb = |bytes: u64| grouped((bytes as f64 / 1_048_576.0 * 10.0).round() / 10.0);
    match limit {
        Limit::Memory => format!("the limit of {} MB of memory ended it", mb(plan.memory_limit.0)),
        Limit::Errors => format!("more than {} % of errors ended it", grouped(plan.error_limit)),
        Limit::Members => "all were there before a limit was met".to_owned(),
        Limit::Time => "its time ended it before a limit was met".to_owned(),
        Limit::Interrupted => "somebody ended it".to_owned(),
    }
}

fn how(plan: &MixPlan) -> String {
    format!(
        "Over {}, members came at {} per second at random moments (Poisson): of ten, two did nothing, six changed their \
         presence once per {} s, two wrote a message per {} s to somebody of their group; every message is on disk \
         before it is acknowledged. What counted against the limit was the server's resident memory{}. Members in \
         512 MB are an extrapolation: 512 MB less what the server had before anybody came, divided by what it had \
         grown by per member here. The paper's machine had 512 MB for everything, its kernel too, and spoke XMPP.",
        plan.transport.name(),
        grouped(plan.rate),
        grouped(plan.presence_every.as_secs_f64()),
        grouped(plan.write_every.as_secs_f64()),
        if plan.with_kernel { " and its half of the kernel's growth" } else { "" }
    )
}
