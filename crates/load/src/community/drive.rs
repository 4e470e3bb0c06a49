//! The phases of a community run: all members connect and write for a while; then some lose their connections and
//! reconnect.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::{Duration, Instant};

use super::members::{Members, Order, Shared};
use super::poisson::{PoissonSchedule, Turn};
use super::report::{Outage, Part, Phases, Storm, report};
use super::{CommunityPlan, People};
use crate::RunOptions;
use crate::arrivals::Arrivals;
use crate::conductor::{BEAT, Conductor, LoadError, SHORT_BEAT, Setup};
use crate::observer::Until;
use crate::probe::Probe;
use crate::report::Run;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// Presence events should end within this time after the last member came; otherwise they are measured with the next
/// phase.
const QUIET_PATIENCE: Duration = Duration::from_secs(60);
/// After this time without events at the end, missing events are lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(10);
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// The members of a front that dies have lost their connections so long after its end.
const LOSS_PATIENCE: Duration = Duration::from_secs(15);
/// The wait for missing events after the death of a process: members try again after up to 30 s.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(60);
/// Duration of the traffic before and after a storm.
const AROUND_STORM: Duration = Duration::from_secs(3);

type Crowd<'a> = Conductor<'a, Members>;

pub(super) fn run(
    plan: &CommunityPlan,
    people: People,
    options: &RunOptions,
    say: &mut dyn FnMut(&str),
) -> Result<Run, LoadError> {
    let arrivals = Arrivals::Even(plan.rate);
    let setup = Setup { options, transport: plan.transport, members: people.members(), arrivals };
    let own_before = own_memory();
    let shared = Arc::new(Shared {
        people,
        named: plan.stored.get().is_none(),
        storm: plan.storm,
        changed: (0..people.members()).map(|_| AtomicU32::new(0)).collect(),
    });
    let mut crowd: Crowd<'_> = Conductor::new(setup, &shared, say)?;
    let calm_time = calm_time(&mut crowd, plan, options);
    let traffic = Arc::clone(&crowd.watch.traffic);
    let ramp = crowd.ramp();
    let ramped = crowd.watch.snapshot();
    crowd.watch.line();
    if shared.named {
        crowd.watch.stage("watch", Until::ItIsDone);
        watch_all(&mut crowd, plan);
    }
    crowd.watch.stage("settle", Until::ItIsDone);
    quiet(&mut crowd, &traffic, plan.quiet);
    let idle = crowd.watch.snapshot();
    let mut schedules = Schedules::new(plan, people, crowd.stamps.seed());
    let ramp_presence = read(&traffic.presence);
    let calm = live(&mut crowd, &mut schedules, &traffic, plan, calm_time)?;
    let end = crowd.watch.snapshot();
    let own = own_memory().zip(own_before).map(|(now, before)| now.saturating_sub(before));
    let storm =
        (plan.storm > 0 && !crowd.watch.stopped()).then(|| storm(&mut crowd, &mut schedules, &traffic, plan));
    let storm = storm.transpose()?;
    let time = plan.time.saturating_sub(calm_time);
    let outage = (options.kill.is_some() && !crowd.watch.stopped())
        .then(|| outage(&mut crowd, &mut schedules, &traffic, end.active, time));
    let outage = outage.transpose()?;
    let phases = Phases { ramp, ramped, ramp_presence, idle, calm, end, own, storm, outage };
    let members = crowd.state.counts.active();
    let times = crowd.state.outage.clone();
    let killed = options.kill.as_ref().zip(times.as_deref());
    Ok(report(plan, people, crowd.outcome(members)?, phases, killed))
}

/// How long the traffic is without a disturbance. A process of the run dies after that.
fn calm_time(crowd: &mut Crowd<'_>, plan: &CommunityPlan, options: &RunOptions) -> Duration {
    if options.kill.is_none() {
        return plan.time;
    }
    if let Some(outage) = &crowd.state.outage {
        outage.spread_returns(plan.spread);
    }
    crowd.watch.kill_by_order().unwrap_or(plan.time / 2)
}

fn own_memory() -> Option<u64> {
    Probe::Process(std::process::id()).look().resident_bytes
}

/// Makes members name the users they watch, at the rate at which they connected.
fn watch_all(crowd: &mut Crowd<'_>, plan: &CommunityPlan) {
    let (begin, members) = (Instant::now(), plan.members);
    let mut ordered = 0;
    while ordered < members && !crowd.watch.stopped() {
        let now = Instant::now();
        let below = (((now - begin).as_secs_f64() * plan.rate) as u32).min(members);
        if below > ordered {
            ordered = below;
            crowd.each(|| Mail::Order(Order::Watch(below)));
        }
        crowd.watch.sample_if_due(now);
        thread::sleep(BEAT * 5);
    }
}

/// Waits until presence events end, so that later events belong to later actions.
fn quiet(crowd: &mut Crowd<'_>, traffic: &Traffic, quiet: Duration) {
    let begin = Instant::now();
    let (mut last, mut last_change) = (read(&traffic.presence), begin);
    while last_change.elapsed() < quiet && begin.elapsed() < QUIET_PATIENCE && !crowd.watch.stopped() {
        thread::sleep(BEAT * 10);
        crowd.watch.sample_if_due(Instant::now());
        let now = read(&traffic.presence);
        if now != last {
            (last, last_change) = (now, Instant::now());
        }
    }
}

/// The schedules of messages and presence changes.
struct Schedules {
    messages: PoissonSchedule,
    changes: PoissonSchedule,
}

impl Schedules {
    fn new(plan: &CommunityPlan, people: People, seed: u64) -> Schedules {
        let (members, now) = (people.members(), Instant::now());
        let every = |every: Duration, is_on: bool| Some(every).filter(|every| is_on && !every.is_zero());
        let messages = every(plan.message_every, people.online() > 0);
        Schedules {
            messages: PoissonSchedule::new(members, messages, now, seed ^ 0x5bf0_3635),
            changes: PoissonSchedule::new(members, every(plan.status_every, true), now, seed ^ 0x2545_f491),
        }
    }

    fn begin(&mut self) {
        let now = Instant::now();
        self.messages.skip_to(now);
        self.changes.skip_to(now);
    }

    /// Wakes only workers with due events: there may be 60 threads.
    fn tick(&mut self, crowd: &mut Crowd<'_>) {
        let now = Instant::now();
        for (moments, order) in [
            (&mut self.messages, Order::Write as fn(Vec<Turn>) -> Order),
            (&mut self.changes, Order::Change as fn(Vec<Turn>) -> Order),
        ] {
            let mut due: HashMap<usize, Vec<Turn>> = HashMap::new();
            while let Some(moment) = moments.take(now) {
                due.entry(moment.member as usize % crowd.state.workers).or_default().push(moment);
            }
            for of_worker in due.into_values() {
                crowd.send(of_worker[0].member, order(of_worker));
            }
        }
        crowd.watch.sample_if_due(now);
    }
}

/// Runs the traffic for this time, then waits until no event is pending.
fn live(
    crowd: &mut Crowd<'_>,
    schedules: &mut Schedules,
    traffic: &Traffic,
    plan: &CommunityPlan,
    time: Duration,
) -> Result<Part, LoadError> {
    let before = traffic.counted();
    crowd.watch.stage("calm", Until::Time(time));
    let (begin, from) = (Instant::now(), crowd.watch.snapshot());
    schedules.begin();
    while begin.elapsed() < time && !crowd.watch.stopped() {
        schedules.tick(crowd);
        thread::sleep(SHORT_BEAT);
    }
    let (seconds, to) = (begin.elapsed().as_secs_f64(), crowd.watch.snapshot());
    crowd.drain(DRAIN_PATIENCE)?;
    quiet(crowd, traffic, plan.quiet);
    Ok(Part { seconds, from, to, traffic: traffic.counted().since(before) })
}

fn storm(
    crowd: &mut Crowd<'_>,
    schedules: &mut Schedules,
    traffic: &Traffic,
    plan: &CommunityPlan,
) -> Result<Storm, LoadError> {
    crowd.watch.line();
    crowd.watch.stage("storm", Until::Members(plan.members.into()));
    crowd.each(|| Mail::Order(Order::CalmIsOver));
    let before = traffic.counted();
    schedules.begin();
    write(crowd, schedules, AROUND_STORM);
    let from = crowd.watch.snapshot();
    let begin = Instant::now();
    crowd.each(|| Mail::Order(Order::Storm(plan.storm)));
    crowd.each(|| Mail::Break { below: plan.storm, spread: plan.spread });
    let (mut last, mut last_change) = (0, begin);
    loop {
        // Not in the same turn as the break: the broken connections still hold their descriptors then.
        thread::sleep(BEAT);
        schedules.tick(crowd);
        crowd.bring_back();
        let returned = read(&crowd.state.counts.returned);
        if returned != last {
            (last, last_change) = (returned, Instant::now());
        }
        if returned >= u64::from(plan.storm)
            || last_change.elapsed() > RETURN_PATIENCE
            || crowd.watch.stopped()
        {
            break;
        }
    }
    let to = crowd.watch.snapshot();
    crowd.watch.line();
    write(crowd, schedules, AROUND_STORM);
    crowd.drain(DRAIN_PATIENCE)?;
    let traffic = traffic.counted().since(before);
    let part = Part { seconds: begin.elapsed().as_secs_f64(), from, to, traffic };
    Ok(Storm { part, returned: last, back_after: last_change - begin })
}

/// A process dies during the traffic, which goes on for at least `time`, and until all `members` are online again.
fn outage(
    crowd: &mut Crowd<'_>,
    schedules: &mut Schedules,
    traffic: &Traffic,
    members: u64,
    time: Duration,
) -> Result<Outage, LoadError> {
    crowd.watch.line();
    crowd.watch.stage("outage", Until::Members(members));
    crowd.each(|| Mail::Order(Order::CalmIsOver));
    let before = traffic.counted();
    schedules.begin();
    write(crowd, schedules, AROUND_STORM);
    let (begin, from) = (Instant::now(), crowd.watch.snapshot());
    crowd.watch.kill_now();
    let outage = crowd.state.outage.clone();
    let mut dead_since = None;
    let (mut last, mut last_change) = (0, begin);
    while !crowd.watch.stopped() {
        schedules.tick(crowd);
        thread::sleep(SHORT_BEAT);
        let now = Instant::now();
        let (online, returned) = (crowd.state.counts.active(), read(&crowd.state.counts.returned));
        if returned != last {
            (last, last_change) = (returned, now);
        }
        if dead_since.is_none() && outage.as_ref().is_some_and(|outage| outage.has_begun()) {
            dead_since = Some(now);
        }
        let is_noticed = dead_since.is_some_and(|since| now - since > LOSS_PATIENCE);
        let is_over = online >= members || now - last_change > RETURN_PATIENCE;
        if is_noticed && is_over && begin.elapsed() >= time {
            break;
        }
    }
    let (to, online) = (crowd.watch.snapshot(), crowd.state.counts.active());
    crowd.watch.line();
    crowd.drain(RECOVERY_PATIENCE)?;
    outage.iter().for_each(|outage| outage.end());
    let traffic = traffic.counted().since(before);
    let part = Part { seconds: begin.elapsed().as_secs_f64(), from, to, traffic };
    Ok(Outage { part, online })
}

fn write(crowd: &mut Crowd<'_>, schedules: &mut Schedules, time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time && !crowd.watch.stopped() {
        schedules.tick(crowd);
        thread::sleep(SHORT_BEAT);
    }
}
