//! The report of a community run.

use std::time::Duration;

use serde_json::json;

use super::members::Tally;
use super::{CommunityPlan, People};
use crate::conductor::Ramp;
use crate::failures;
use crate::kill::Kill;
use crate::outage;
use crate::outcome::{Findings, Outcome};
use crate::percentiles::Percentiles;
use crate::probe::Sample;
use crate::processes;
use crate::report::{Measure, Run, grouped};
use crate::traffic::Counted;
use crate::watch::Snapshot;

/// If one command in a hundred is sent later than this after its due time, the generator measures itself.
const LATE_MS: f64 = 100.0;
const CHANGE: &str = "fewer members or a lower rate; a node without limits; --pid";

/// Snapshots, in the order of time.
pub(super) struct Phases {
    pub(super) ramp: Ramp,
    pub(super) ramped: Snapshot,
    pub(super) ramp_presence: u64,
    /// When all members had connected and no presence events were pending.
    pub(super) idle: Snapshot,
    pub(super) calm: Part,
    pub(super) end: Snapshot,
    /// Growth of the generator's own memory.
    pub(super) own: Option<u64>,
    pub(super) storm: Option<Storm>,
    pub(super) outage: Option<Outage>,
}

pub(super) struct Storm {
    /// From some seconds before the storm to some seconds after it.
    pub(super) part: Part,
    pub(super) returned: u64,
    pub(super) back_after: Duration,
}

/// The death of a process.
pub(super) struct Outage {
    /// From the kill until all were back, or could not be awaited any longer. Its traffic also has some seconds before.
    pub(super) part: Part,
    /// Members who were online at its end.
    pub(super) online: u64,
}

/// A part of the run. Its traffic is counted when no event of the part is pending.
pub(super) struct Part {
    pub(super) seconds: f64,
    pub(super) from: Snapshot,
    pub(super) to: Snapshot,
    pub(super) traffic: Counted,
}

impl Part {
    /// The server's use of one core.
    fn server_percent(&self) -> Option<f64> {
        Some(self.to.cpu_since(&self.from)? / self.to.seconds_since(&self.from) * 100.0)
    }

    fn generator_percent(&self) -> Option<f64> {
        let used = self.to.generator_cpu_seconds? - self.from.generator_cpu_seconds?;
        Some(used / self.to.seconds_since(&self.from) * 100.0)
    }
}

/// Memory per member: growth since before the first one connected. CPU per login: the server's, until the last member
/// had connected and all presence events had arrived, so it includes the presence events of each login.
///
/// `killed`: the process that dies in mid-run.
pub(super) fn report(
    plan: &CommunityPlan,
    people: People,
    outcome: Outcome<Tally>,
    phases: Phases,
    killed: Option<(&Kill, &outage::Outage)>,
) -> Run {
    let Phases { ramp, ramped, ramp_presence, idle, calm, end, own, storm, outage } = phases;
    let before = outcome.before;
    let members = f64::from(people.members());
    let user = |sample: &Sample| sample.resident_since(&before).map(|bytes| bytes / members);
    // Both ends of each connection are on this machine.
    let kernel = |sample: &Sample| sample.kernel_since(&before).map(|bytes| bytes / 2.0 / members);
    let tally = &outcome.tally;
    let late = Percentiles::of(&tally.late);
    let presence_expected = calm.traffic.changes * u64::from(people.online());
    let later = || storm.iter().map(|storm| &storm.part).chain(outage.iter().map(|outage| &outage.part));
    let later_lost: u64 = later().map(|part| part.traffic.lost()).sum();
    let later_unanswered: u64 = later().map(|part| part.traffic.unanswered()).sum();
    let per_second = |count: u64| count as f64 / calm.seconds.max(0.001);
    let login_cpu = idle.sample.cpu_since(&before).map(|cpu| cpu * 1e6 / ramped.active.max(1) as f64);
    let logins = ramped.active as f64 / ramp.seconds.max(0.001);
    let mut measures = vec![
        Measure::new("stayed", "members online", "", end.active)
            .beside("paper, Tigase, one of its ten nodes", 112_840.0),
        Measure::new("user_bytes_per_member", "user memory per member", "B", user(&idle.sample))
            .beside("ejabberd 23.01, 30 online", 124_298.0)
            .beside("paper, Tigase, all of the machine", 99_000.0),
        Measure::new(
            "kernel_bytes_per_member",
            "kernel memory per member, the node's end",
            "B",
            kernel(&idle.sample),
        ),
        Measure::new("calm.server_cpu_percent", "server CPU, calm", "% of a core", calm.server_percent()),
        Measure::new("cpu_us_per_login", "server CPU per login", "µs", login_cpu)
            .beside("ejabberd 23.01, 30 online", 5_707.0),
        Measure::new("logins_per_second", "logins", "per second", logins)
            .beside("ejabberd 23.01, 30 online", 236.0)
            .beside("paper, Tigase", 100.0),
        Measure::new("ramp_seconds", "until all were there", "s", ramp.seconds),
        // The reason may be a late generator, or unanswered logins at the server. It does not make the other figures
        // invalid.
        Measure::new(
            "ramp_late_percent",
            "of that time, fewer had begun than were due",
            "%",
            ramp.late_percent(),
        ),
        Measure::new(
            "user_bytes_per_member_at_end",
            "user memory per member at the end",
            "B",
            user(&end.sample),
        ),
        Measure::new(
            "kernel_bytes_per_member_at_end",
            "kernel memory per member at the end",
            "B",
            kernel(&end.sample),
        ),
        Measure::derived("messages delivered", "per second", per_second(calm.traffic.delivered)),
        Measure::new("calm.sent", "sent", "messages", calm.traffic.sent),
        Measure::new("calm.acknowledged", "acknowledged", "messages", calm.traffic.acknowledged),
        Measure::new("calm.delivered", "delivered", "messages", calm.traffic.delivered),
        Measure::new("lost", "lost", "messages", calm.traffic.lost() + later_lost),
        Measure::new(
            "unanswered",
            "without an answer",
            "messages",
            calm.traffic.unanswered() + later_unanswered,
        ),
        Measure::new("doubled", "doubled", "messages", tally.doubled),
        Measure::new("repeated", "came again, dropped by the receiver", "messages", tally.repeated),
        Measure::derived("news of presence delivered", "per second", per_second(calm.traffic.presence)),
        Measure::new("calm.changes", "changes of presence", "", calm.traffic.changes),
        Measure::new("presence_expected", "news of presence expected", "", presence_expected),
        Measure::new("calm.presence", "news of presence received", "", calm.traffic.presence),
        Measure::new("ramp_presence", "news of presence while they came", "", ramp_presence),
        Measure::new(
            "calm.generator_cpu_percent",
            "generator CPU, calm",
            "% of a core",
            calm.generator_percent(),
        ),
        Measure::new(
            "generator_bytes_per_member",
            "generator memory per member",
            "B",
            own.map(|own| own as f64 / members),
        ),
        Measure::derived("generator late, p99", "ms", late.p99),
        Measure::new("failed", "failed", "members", outcome.failed),
        Measure::json_only("ramped", ramped.active),
        Measure::json_only("calm.seconds", calm.seconds),
        Measure::json_only("calm.lost", calm.traffic.lost()),
        Measure::json_only("calm.unanswered", calm.traffic.unanswered()),
        Measure::json_only("late_ms", late),
    ];
    measures.extend(of_parts(members, &before, &idle.sample));
    if let Some(storm) = &storm {
        measures.extend(of_storm(plan, storm, tally));
    }
    if let (Some(outage), Some((kill, times))) = (&outage, killed) {
        measures.extend(of_outage(outage, kill, times, end.active, tally));
    }
    measures.extend(distributions(&outcome, &calm, storm.as_ref()));
    let refused = calm.traffic.refused + later().map(|part| part.traffic.refused).sum::<u64>();
    let refused = failures::against_refusals(&tally.refused, refused);
    let everybody = u64::from(people.members());
    let against = outcome.against(
        // With up to 60 threads, lateness shows better whether the generator was the limit.
        0.0,
        0,
        &[
            (ramped.active < everybody, "not everybody was logged in"),
            (end.active < everybody, "members were lost while nothing happened to them"),
            (refused.is_some(), refused.unwrap_or_default()),
            (late.p99 > LATE_MS, "the generator was late: it or the machine was the limit"),
            (
                outage.as_ref().is_some_and(|outage| outage.online < end.active),
                "not everybody came back after the kill",
            ),
            (killed.is_some() && outage.is_none(), "the run ended before the process was killed"),
        ],
    );
    let sites = match people.sites() {
        1 => "one site".to_owned(),
        sites => format!("{sites} sites"),
    };
    let seconds = |every: Duration| Some(every.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    let mut facts = vec![
        ("sites", json!(people.sites())),
        ("members", json!(people.members())),
        ("roster", json!(people.roster())),
        ("online", json!(people.online())),
        ("message_every_seconds", json!(seconds(plan.message_every))),
        ("status_every_seconds", json!(seconds(plan.status_every))),
        ("seeded", json!(plan.stored.get().map(|stored| stored.seeded))),
    ];
    if let Some((kill, _)) = killed {
        facts.extend([
            ("kill.part", json!(kill.part)),
            ("kill.spread_seconds", json!(plan.spread.as_secs_f64())),
        ]);
    }
    let findings = Findings {
        headline: format!(
            "{} members of {sites} online, each with {} contacts of whom {} are there",
            grouped(end.active as f64),
            people.roster(),
            people.online()
        ),
        how: how(plan, outcome.tls, calm.seconds, killed.map(|(kill, _)| kill)),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts,
        lines: Vec::new(),
    };
    outcome.into_run("community", findings)
}

fn of_storm(plan: &CommunityPlan, storm: &Storm, tally: &Tally) -> Vec<Measure> {
    let Storm { part, returned, back_after } = storm;
    let back_after = back_after.as_secs_f64();
    let all_back = (*returned == u64::from(plan.storm)).then_some(back_after);
    let cpu = part.to.cpu_since(&part.from).map(|cpu| cpu * 1e6 / (*returned).max(1) as f64);
    vec![
        Measure::new("storm.members", "storm: lost their connections", "members", plan.storm),
        Measure::derived("storm: until all were back", "s", all_back),
        Measure::new("storm.returned", "storm: came back", "members", *returned),
        Measure::new("storm.not_resumed", "storm: had to begin anew", "members", tally.not_resumed),
        Measure::new("storm.gaps", "storm: gaps", "", tally.gaps),
        Measure::new("storm.flaps", "storm: seen to leave", "times", tally.flaps),
        Measure::new("storm.traffic.sent", "storm: sent meanwhile", "messages", part.traffic.sent),
        Measure::new("storm.traffic.delivered", "storm: delivered", "messages", part.traffic.delivered),
        Measure::new("storm.caught_up", "storm: came with the welcome", "messages", tally.caught_up),
        Measure::new("storm.cpu_us_per_return", "storm: server CPU per return", "µs", cpu),
        Measure::json_only("storm.spread_seconds", plan.spread.as_secs_f64()),
        Measure::json_only("storm.back_after_seconds", back_after),
        Measure::json_only("storm.traffic.seconds", part.seconds),
        Measure::json_only("storm.traffic.acknowledged", part.traffic.acknowledged),
        Measure::json_only("storm.traffic.lost", part.traffic.lost()),
        Measure::json_only("storm.traffic.unanswered", part.traffic.unanswered()),
        Measure::json_only("storm.traffic.changes", part.traffic.changes),
        Measure::json_only("storm.traffic.presence", part.traffic.presence),
        Measure::json_only("storm.traffic.server_cpu_percent", part.server_percent()),
        Measure::json_only("storm.traffic.generator_cpu_percent", part.generator_percent()),
    ]
}

/// The memory of each part of a cluster, for each member.
fn of_parts(members: f64, before: &Sample, idle: &Sample) -> Vec<Measure> {
    let Some((before, idle)) = before.parts.zip(idle.parts) else { return Vec::new() };
    let each = |part| {
        let grown = idle.of(part).resident_bytes as f64 - before.of(part).resident_bytes as f64;
        grown / members
    };
    vec![
        Measure::new(
            "cluster.front.bytes_per_member",
            "of that in fronts",
            "B",
            each(processes::Part::Front),
        ),
        Measure::new(
            "cluster.home.bytes_per_member",
            "of that in the home",
            "B",
            each(processes::Part::Home),
        ),
        Measure::new("cluster.nats.bytes_per_member", "of that in NATS", "B", each(processes::Part::Nats)),
    ]
}

fn of_outage(
    outage: &Outage,
    kill: &Kill,
    times: &outage::Outage,
    members: u64,
    tally: &Tally,
) -> Vec<Measure> {
    let Outage { part, online } = outage;
    let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e3);
    let (on_dead, elsewhere) = times.closed_on(kill.front);
    let back = Percentiles::of(&tally.back);
    let all_back = (*online >= members && !tally.back.is_empty()).then_some(back.max / 1e3);
    let pairs = tally.watchers_of_lost;
    let flaps = (pairs > 0).then(|| tally.flapped as f64 / pairs as f64 * 100.0);
    let cpu = part.to.cpu_since(&part.from).map(|cpu| cpu * 1e6 / tally.back.len().max(1) as f64);
    let mut measures = vec![
        Measure::new(
            "kill.closed_on_dead",
            "outage: lost their connections with the front",
            "members",
            on_dead,
        ),
        Measure::new(
            "kill.closed_elsewhere",
            "outage: connections that ended on other fronts",
            "",
            elsewhere,
        ),
        Measure::new("kill.back", "outage: came back", "members", tally.back.len()),
        Measure::new("kill.back_seconds", "outage: until all were back", "s", all_back),
        Measure::new("kill.not_resumed", "outage: had to begin anew", "members", tally.not_resumed),
        Measure::new("kill.gaps", "outage: gaps", "", tally.gaps),
        Measure::new("kill.pairs", "outage: contacts of members who lost their connections", "pairs", pairs),
        Measure::new("kill.flapped", "outage: contacts who saw a member leave", "pairs", tally.flapped),
        Measure::new("kill.flaps_percent", "outage: share of contacts who saw a member leave", "%", flaps),
        Measure::new("kill.sent", "outage: sent meanwhile", "messages", part.traffic.sent),
        Measure::new("kill.acknowledged", "outage: acknowledged", "messages", part.traffic.acknowledged),
        Measure::new("kill.delivered", "outage: delivered", "messages", part.traffic.delivered),
        Measure::new("kill.caught_up", "outage: came with a welcome", "messages", tally.caught_up),
        Measure::new(
            "kill.pause_ms",
            "outage: longest time without a delivery",
            "ms",
            ms(times.longest_pause()),
        ),
        Measure::new(
            "kill.first_ack_ms",
            "outage: until the first acknowledgement",
            "ms",
            ms(times.first_ack()),
        ),
        Measure::new("kill.server_cpu_percent", "outage: server CPU", "% of a core", part.server_percent()),
        Measure::new("kill.cpu_us_per_return", "outage: server CPU per return", "µs", cpu),
        Measure::new("kill.behind", "sessions that had to read what they missed", "times", tally.behind),
        Measure::new(
            "kill.refusals",
            "refused commands, which were repeated",
            "",
            tally.refused.values().sum::<u64>(),
        ),
        Measure::json_only("kill.closed_idle", tally.lost_idle),
        Measure::json_only("kill.offline_events", tally.flaps),
        Measure::json_only("kill.seconds", part.seconds),
        Measure::json_only("kill.lost", part.traffic.lost()),
        Measure::json_only("kill.generator_cpu_percent", part.generator_percent()),
    ];
    if !tally.back.is_empty() {
        measures.push(Measure::times("kill.back_ms", "from the kill until a client is back", back));
    }
    measures.push(Measure::times(
        "kill.ack_ms",
        "acknowledgement during the outage, all members",
        Percentiles::of(&tally.storm_ack),
    ));
    measures
}

fn distributions(outcome: &Outcome<Tally>, calm: &Part, storm: Option<&Storm>) -> Vec<Measure> {
    let tally = &outcome.tally;
    let login = Percentiles::of(&outcome.login);
    let mut all = vec![Measure::times("login_ms", "connect + login, from when it was due", login)];
    let [ack, delivery, presence] = [&tally.ack, &tally.delivery, &tally.presence].map(Percentiles::of);
    let named = |shown: bool, key, name, ms| match shown {
        true => Measure::times(key, name, ms),
        false => Measure::json_only(key, ms),
    };
    all.extend([
        named(calm.traffic.sent > 0, "ack_ms", "send to acknowledgement", ack),
        named(calm.traffic.sent > 0, "delivery_ms", "send to delivery", delivery),
        named(calm.traffic.changes > 0, "presence_ms", "change of presence to its news", presence),
    ]);
    if storm.is_some() {
        let (back, ack) = (Percentiles::of(&outcome.returns), Percentiles::of(&tally.storm_ack));
        all.extend([
            Measure::times("storm.return_ms", "coming back, from when it was due", back),
            Measure::times("storm.ack_ms", "acknowledgement in the storm, who stayed", ack),
        ]);
    }
    all
}

fn how(plan: &CommunityPlan, tls: bool, seconds: f64, kill: Option<&Kill>) -> String {
    let every = |what: &str, every: Duration| match every.as_secs_f64() {
        seconds if seconds > 0.0 => format!("{what} per {} s", grouped(seconds)),
        _ => format!("no {what}"),
    };
    let rosters = match plan.stored.get().map(|stored| stored.seeded) {
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
    let kill = kill.map_or_else(String::new, |kill| {
        format!(
            " Then a {} was killed while the traffic went on; its members came back through the others, each after a \
             random time up to {} s.",
            kill.part.name(),
            grouped(plan.spread.as_secs_f64())
        )
    });
    format!(
        "Members came over {}{}; then, for {} s, each had on average {} and {}, at random moments.{kill} {rosters}",
        plan.transport.name(),
        if tls { " with TLS" } else { "" },
        grouped(seconds),
        every("message", plan.message_every),
        every("change of presence", plan.status_every),
    )
}
