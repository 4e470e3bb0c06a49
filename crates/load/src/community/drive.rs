//! The acts of a community: all come, live for a while, and some of them lose their connections at once and come back.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;
use std::time::{Duration, Instant};

use super::life::{Life, Order, World};
use super::moments::{Moment, Moments};
use super::report::{Findings, Part, Report, Storm};
use super::{CommunityPlan, Rosters};
use crate::arrivals::Arrivals;
use crate::conductor::{BEAT, Cast, Conductor, LoadError, SHORT_BEAT};
use crate::crowd::{Mail, read};
use crate::postmark::Postmarks;
use crate::probe::Probe;
use crate::traffic::Traffic;
use crate::watch::Until;

/// News of presence stop within this after the last one came, or are part of what is measured then.
const QUIET_PATIENCE: Duration = Duration::from_secs(60);
/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(10);
const RETURN_PATIENCE: Duration = Duration::from_secs(60);
/// How long they write before and after a storm.
const AROUND_STORM: Duration = Duration::from_secs(3);

type Town<'a> = Conductor<'a, Life>;

pub(super) fn run(plan: &CommunityPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    let people = plan.people;
    let traffic = Arc::new(Traffic::default());
    let cast = Cast {
        aim: &plan.aim,
        transport: plan.transport,
        members: people.members(),
        arrivals: Arrivals::Even(plan.rate),
        traffic: Arc::clone(&traffic),
    };
    let own_before = own_memory();
    let marks = Postmarks::of_a_new_run();
    let world = Arc::new(World {
        marks,
        people,
        named: plan.rosters == Rosters::Named,
        storm: plan.storm,
        traffic: Arc::clone(&traffic),
        changed: (0..people.members()).map(|_| AtomicU32::new(0)).collect(),
    });
    let of_workers = Arc::clone(&world);
    let mut town: Town<'_> = Conductor::new(cast, say, move |worker, workers| {
        Life::new(Arc::clone(&of_workers), worker, workers)
    })?;

    let ramp = town.ramp();
    let ramped = town.stand();
    town.line();
    if world.named {
        town.stage("watch", Until::ItIsDone);
        watch_all(&mut town, plan);
    }
    town.stage("settle", Until::ItIsDone);
    quiet(&mut town, &traffic, plan.quiet);
    let idle = town.stand();
    let mut pen = Pen::new(plan, marks.seed());
    let ramp_presence = read(&traffic.presence);
    let calm = live(&mut town, &mut pen, &traffic, plan)?;
    let end = town.stand();
    let own = own_memory().zip(own_before).map(|(now, before)| now.saturating_sub(before));
    let storm = (plan.storm > 0 && !town.stopped()).then(|| storm(&mut town, &mut pen, &traffic, plan));
    let storm = storm.transpose()?;
    let reports = town.reports()?;
    let findings = Findings {
        interrupted: town.stopped(),
        before: town.before,
        ramp,
        ramped,
        ramp_presence,
        idle,
        calm,
        end,
        own,
        storm,
        login: reports.login,
        again: reports.again,
        failed: read(&town.field.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: town.field.workers,
        series: town.series.take(),
    };
    Ok(Report::new(plan, town.probe, findings))
}

fn own_memory() -> Option<u64> {
    Probe::Process(std::process::id()).look().resident_bytes
}

/// Says whom all watch, at the rate at which they came.
fn watch_all(town: &mut Town<'_>, plan: &CommunityPlan) {
    let (begin, members) = (Instant::now(), plan.people.members());
    let mut said = 0;
    while said < members && !town.stopped() {
        let now = Instant::now();
        let below = (((now - begin).as_secs_f64() * plan.rate) as u32).min(members);
        if below > said {
            said = below;
            town.each(|| Mail::Order(Order::Watch(below)));
        }
        town.sample_if_due(now);
        thread::sleep(BEAT * 5);
    }
}

/// Waits until no more news come, so that what comes afterwards is of what happens afterwards.
fn quiet(town: &mut Town<'_>, traffic: &Traffic, quiet: Duration) {
    let begin = Instant::now();
    let (mut last, mut last_change) = (read(&traffic.presence), begin);
    while last_change.elapsed() < quiet && begin.elapsed() < QUIET_PATIENCE && !town.stopped() {
        thread::sleep(BEAT * 10);
        town.sample_if_due(Instant::now());
        let now = read(&traffic.presence);
        if now != last {
            (last, last_change) = (now, Instant::now());
        }
    }
}

/// The events that are due, with their times.
struct Pen {
    letters: Moments,
    changes: Moments,
}

impl Pen {
    fn new(plan: &CommunityPlan, seed: u64) -> Pen {
        let members = plan.people.members();
        let writes = plan.message_every.filter(|_| plan.people.online() > 0);
        let now = Instant::now();
        Pen {
            letters: Moments::new(members, writes, now, seed ^ 0x5bf0_3635),
            changes: Moments::new(members, plan.status_every, now, seed ^ 0x2545_f491),
        }
    }

    fn begin(&mut self) {
        let now = Instant::now();
        self.letters.skip_to(now);
        self.changes.skip_to(now);
    }

    /// Only who has something to do is woken: there may be 60 threads.
    fn tick(&mut self, town: &mut Town<'_>) {
        let now = Instant::now();
        for (moments, order) in [
            (&mut self.letters, Order::Write as fn(Vec<Moment>) -> Order),
            (&mut self.changes, Order::Change as fn(Vec<Moment>) -> Order),
        ] {
            let mut due: HashMap<usize, Vec<Moment>> = HashMap::new();
            while let Some(moment) = moments.take(now) {
                due.entry(moment.member as usize % town.field.workers).or_default().push(moment);
            }
            for of_worker in due.into_values() {
                town.send(of_worker[0].member, order(of_worker));
            }
        }
        town.sample_if_due(now);
    }
}

/// Lives for the time of the plan; then nothing is on its way any more.
fn live(
    town: &mut Town<'_>,
    pen: &mut Pen,
    traffic: &Traffic,
    plan: &CommunityPlan,
) -> Result<Part, LoadError> {
    let before = Part::now(traffic);
    town.stage("calm", Until::Time(plan.time));
    let (begin, from) = (Instant::now(), town.stand());
    pen.begin();
    while begin.elapsed() < plan.time && !town.stopped() {
        pen.tick(town);
        thread::sleep(SHORT_BEAT);
    }
    let (seconds, to) = (begin.elapsed().as_secs_f64(), town.stand());
    town.drain(DRAIN_PATIENCE)?;
    quiet(town, traffic, plan.quiet);
    Ok(Part::now(traffic).since(&before).of(seconds, from, to))
}

fn storm(
    town: &mut Town<'_>,
    pen: &mut Pen,
    traffic: &Traffic,
    plan: &CommunityPlan,
) -> Result<Storm, LoadError> {
    town.line();
    town.stage("storm", Until::Members(plan.people.members().into()));
    town.each(|| Mail::Order(Order::CalmIsOver));
    let before = Part::now(traffic);
    pen.begin();
    write(town, pen, AROUND_STORM);
    let from = town.stand();
    let begin = Instant::now();
    town.each(|| Mail::Order(Order::Storm(plan.storm)));
    town.each(|| Mail::Break { below: plan.storm, spread: plan.spread });
    let (mut last, mut last_change) = (0, begin);
    loop {
        // Not in the same turn as the break: the broken ones still hold their descriptors then.
        thread::sleep(BEAT);
        pen.tick(town);
        town.bring_back();
        let returned = read(&town.field.counts.returned);
        if returned != last {
            (last, last_change) = (returned, Instant::now());
        }
        if returned >= u64::from(plan.storm) || last_change.elapsed() > RETURN_PATIENCE || town.stopped() {
            break;
        }
    }
    let to = town.stand();
    town.line();
    write(town, pen, AROUND_STORM);
    town.drain(DRAIN_PATIENCE)?;
    let part = Part::now(traffic).since(&before).of(begin.elapsed().as_secs_f64(), from, to);
    Ok(Storm { part, returned: last, back_after: last_change - begin })
}

fn write(town: &mut Town<'_>, pen: &mut Pen, time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time && !town.stopped() {
        pen.tick(town);
        thread::sleep(SHORT_BEAT);
    }
}
