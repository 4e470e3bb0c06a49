//! The storm: all members lose their connections at once and reconnect, while others continue to write to them.

mod members;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use self::members::{Members, Order, Tally};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, Setup};
use crate::failures;
use crate::observer::Until;
use crate::outcome::{Findings, Outcome, generator};
use crate::percentiles::Percentiles;
use crate::report::{Measure, Run, grouped};
use crate::schedule::Schedule;
use crate::settings::{self, Contradiction, Plan, span};
use crate::target::Transport;
use crate::watch::Snapshot;
use crate::worker::{Mail, read};
use crate::{LoadError, RunOptions};

/// After this time without a reconnect, missing members will not return.
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// After this time without events at the end, missing events are lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
const CHANGE: &str = "more --threads, fewer members; a node without limits; --pid";

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct StormPlan {
    /// websocket, stream, sse or poll; or xmpp, xmpp-websocket.
    #[arg(long, visible_alias = "protocol", default_value = "websocket")]
    pub transport: Transport,
    /// Number of members whose connections break.
    #[arg(long, default_value_t = 5_000)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub members: u32,
    /// Number of members who stay, watch their share of the others, and write to them.
    #[arg(long, default_value_t = 20)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub watchers: u32,
    /// Connections begun per second, before the storm.
    #[arg(long, default_value_t = 2_500.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub rate: f64,
    /// Messages per second of all members who stay.
    #[arg(long, default_value_t = 500.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub writes: f64,
    /// Longest random time before a member reconnects; the protocol advises 1s.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "1s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub spread: Duration,
    /// How long members write before the storm, and after all are back.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "2s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub calm: Duration,
}

/// Snapshots, in the order of time.
struct Phases {
    ramped: u64,
    broken: Snapshot,
    back: Snapshot,
    back_after: Duration,
    returned: u64,
}

impl Plan for StormPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::if_peer(self.transport)
    }

    fn members(&self) -> u32 {
        self.members.saturating_add(self.watchers)
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let arrivals = Arrivals::Even(self.rate);
        let setup = Setup { options, transport: self.transport, members: self.members(), arrivals };
        let mut storm = Conductor::<Members>::new(setup, &Arc::new(self.clone()), say)?;
        storm.ramp();
        let ramped = storm.state.counts.active();
        storm.watch.line();
        let mut schedule = Schedule::new(self.writes);
        storm.watch.stage("calm", Until::Time(self.calm));
        schedule.write(&mut storm, self.calm, Order::Due);
        let broken = storm.watch.snapshot();
        let back_after = break_all(&mut storm, &mut schedule, self);
        let back = storm.watch.snapshot();
        storm.watch.line();
        storm.watch.stage("calm", Until::Time(self.calm));
        schedule.write(&mut storm, self.calm, Order::Due);
        storm.drain(DRAIN_PATIENCE)?;
        let returned = read(&storm.state.counts.returned);
        let phases = Phases { ramped, broken, back, back_after, returned };
        Ok(report(self, storm.finish()?, &phases))
    }
}

/// Breaks all connections; returns the time until the last returning member was back.
fn break_all(storm: &mut Conductor<'_, Members>, schedule: &mut Schedule, plan: &StormPlan) -> Duration {
    let begin = Instant::now();
    storm.watch.stage("storm", Until::Members(plan.members().into()));
    storm.each(|| Mail::Order(Order::Storm));
    storm.each(|| Mail::Break { below: plan.members, spread: plan.spread });
    let (mut last, mut last_change) = (0, begin);
    loop {
        // Not in the same turn as the break: the broken connections still hold their descriptors then.
        schedule.beat(storm, Order::Due);
        storm.each(|| Mail::Return);
        let returned = read(&storm.state.counts.returned);
        if returned != last {
            (last, last_change) = (returned, Instant::now());
        }
        if returned >= u64::from(plan.members)
            || last_change.elapsed() > RETURN_PATIENCE
            || storm.watch.stopped()
        {
            return last_change - begin;
        }
    }
}

fn report(plan: &StormPlan, outcome: Outcome<Tally>, phases: &Phases) -> Run {
    let Phases { ramped, broken, back, back_after, returned } = phases;
    let busiest = back.busiest_percent_since(broken);
    let back_after = back_after.as_secs_f64();
    // Refused commands that were repeated count too, unless the server was only overloaded.
    let refused = failures::against_refusals(&outcome.tally.refused, outcome.traffic.refused);
    let against = outcome.against(
        busiest,
        0,
        &[
            (*ramped < u64::from(plan.members()), "not everybody was logged in before the storm"),
            (refused.is_some(), refused.unwrap_or_default()),
        ],
    );
    let all_back = (*returned == u64::from(plan.members)).then_some(back_after);
    let tally = &outcome.tally;
    let flaps = (tally.watched > 0).then(|| tally.flapped as f64 / tally.watched as f64 * 100.0);
    let cpu = back.cpu_since(broken).map(|cpu| cpu * 1e6 / (*returned).max(1) as f64);
    let measures = vec![
        Measure::derived("until all are back", "s", all_back)
            .beside("ejabberd 23.01, 15,000: until the first login", 70.0),
        Measure::new("lost", "lost", "messages", outcome.traffic.lost()),
        Measure::new("doubled", "doubled", "messages", tally.doubled),
        Measure::derived("seen to leave by who watches", "%", flaps),
        Measure::new("returned", "came back", "members", *returned),
        Measure::new("not_resumed", "had to begin anew", "members", tally.not_resumed),
        Measure::new("gaps", "gaps", "", tally.gaps),
        Measure::new("cpu_us_per_return", "server CPU per return", "µs", cpu),
        Measure::new("sent", "sent", "messages", outcome.traffic.sent),
        Measure::new("acknowledged", "acknowledged", "messages", outcome.traffic.acknowledged),
        Measure::new("delivered", "delivered in all", "messages", outcome.traffic.delivered),
        Measure::new("caught_up", "of these with the welcome", "messages", tally.caught_up),
        Measure::new("repeated", "came again, dropped by the receiver", "messages", tally.repeated),
        Measure::new("watched", "watched pairs", "", tally.watched),
        generator(busiest),
        Measure::times("return_ms", "coming back, from when it was due", Percentiles::of(&outcome.returns)),
        Measure::times("ack_ms", "send to acknowledgement, of those who stayed", Percentiles::of(&tally.ack)),
        Measure::json_only("back_after_seconds", back_after),
        Measure::json_only("flapped", tally.flapped),
        Measure::json_only("failed", outcome.failed),
    ];
    let findings = Findings {
        headline: match all_back {
            Some(seconds) => format!("{} members back in {} s", grouped(*returned as f64), grouped(seconds)),
            None => format!("{returned} of {} members came back", plan.members),
        },
        how: how(plan),
        against: against.map(|because| (because, CHANGE)),
        measures,
        facts: vec![
            ("members", json!(plan.members)),
            ("watchers", json!(plan.watchers)),
            ("spread_seconds", json!(plan.spread.as_secs_f64())),
        ],
        lines: Vec::new(),
    };
    outcome.into_run("storm", findings)
}

fn how(plan: &StormPlan) -> String {
    let after = match plan.spread.as_secs_f64() {
        seconds if seconds > 0.0 => {
            format!("a random time up to {} s, as the protocol advises", grouped(seconds))
        }
        _ => "no time at all, against the protocol's advice".to_owned(),
    };
    format!(
        "All {} connections over {} broke at once; each member came back after {after}. {} others stayed, wrote to \
         them and watched them.",
        grouped(f64::from(plan.members)),
        plan.transport.name(),
        plan.watchers
    )
}
