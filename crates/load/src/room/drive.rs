//! The acts: all come, the pair writes alone, all join, all write, and what is on its way is waited for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::RoomPlan;
use super::members::{Members, Order, Shared};
use super::report::{Findings, Report};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, LoadError, Setup};
use crate::observer::Until;
use crate::schedule::Schedule;
use crate::traffic::Traffic;
use crate::worker::{Mail, read};

/// Members come at this rate; it is not what is measured.
const RAMP_RATE: f64 = 2000.0;
/// So long the pair writes while the room is silent.
const ALONE: Duration = Duration::from_secs(3);
/// NoObserver has joined for so long: the others will not.
const JOIN_PATIENCE: Duration = Duration::from_secs(10);
/// Nothing has come for so long after the end: what is missing is lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(plan: &RoomPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    if plan.members < 2 {
        return Err(LoadError::Plan("a room needs at least two members"));
    }
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.members + 2,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let shared = Arc::new(Shared::new(plan, traffic));
    let of_workers = Arc::clone(&shared);
    let mut room = Conductor::new(setup, say, move |worker, workers| {
        Members::new(Arc::clone(&of_workers), worker, workers)
    })?;
    room.ramp();
    room.line();
    join(&mut room, &shared, plan.members);
    room.stage("alone", Until::Time(ALONE));
    Schedule::new(plan.beside).write(&mut room, ALONE, Order::Alone);
    let begin = room.snapshot();
    room.stage("write", Until::Time(plan.time));
    write(&mut room, plan);
    let said = room.snapshot();
    let drained_at = room.drain(DRAIN_PATIENCE)?;
    let end = room.snapshot();
    let members = room.state.counts.active();
    room.each(|| Mail::Leave);
    room.hold(Duration::from_millis(300));
    let reports = room.reports()?;
    let findings = Findings {
        members,
        joined: read(&shared.joined),
        begin,
        said,
        end,
        drained_at,
        sent: read(&shared.sent),
        failed: read(&room.state.counts.failed),
        failures: reports.failures,
        found: reports.results,
        workers: room.state.workers,
        interrupted: room.stopped(),
        series: room.series.take(),
    };
    Ok(Report::new(plan, room.probe, findings))
}

fn join(room: &mut Conductor<'_, Members>, shared: &Shared, members: u32) {
    room.stage("join", Until::ItIsDone);
    room.each(|| Mail::Order(Order::Join));
    let (mut joined, mut last_change) = (0, Instant::now());
    while joined < u64::from(members) && last_change.elapsed() < JOIN_PATIENCE && !room.stopped() {
        room.hold(Duration::from_millis(50));
        let now = read(&shared.joined);
        if now != joined {
            (joined, last_change) = (now, Instant::now());
        }
    }
}

/// The room and the pair, each at its own rate.
fn write(play: &mut Conductor<'_, Members>, plan: &RoomPlan) {
    let begin = Instant::now();
    let (mut room, mut beside) = (Schedule::new(plan.rate), Schedule::new(plan.beside));
    while begin.elapsed() < plan.time && !play.stopped() {
        room.beat(play, Order::Room);
        beside.beat(play, Order::Beside);
    }
}
