//! The stress: members of groups write to each other at full speed, or at a fixed rate, and count what they receive.

pub mod core;
mod members;
mod report;
mod sequence;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use self::members::{Members, Order, Shared};
use self::report::{Phases, Shape};
use crate::arrivals::Arrivals;
use crate::conductor::{Conductor, RAMP_RATE, Setup};
use crate::latency_stamp::Stamps;
use crate::observer::Until;
use crate::report::Run;
use crate::schedule::Schedule;
use crate::target::Transport;
use crate::traffic::Traffic;
use crate::worker::Mail;
use crate::{LoadError, RunOptions};

/// After this time without events at the end, missing events are lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);

/// The settings of a run. The papers use 1,000 members in groups of 10, 100-byte bodies, a window of 4, and 10 s.
#[derive(Debug, Clone)]
pub struct StressPlan {
    pub options: RunOptions,
    pub transport: Transport,
    pub members: u32,
    /// Members of a group write to each other, in direct conversations.
    pub group: u32,
    pub body_bytes: usize,
    pub pace: Pace,
    /// Duration of the traffic. Afterwards the run waits for pending events.
    pub time: Duration,
}

/// When the next message is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each member has this number of unacknowledged messages: the next one follows an `ack`.
    Window(u32),
    /// Messages per second of all members together, independent of responses. Latency counts from the due time of the
    /// message.
    Rate(f64),
    /// Each member writes one message in each span of this length, at a random time in the span.
    Every(Duration),
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &StressPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    if plan.group < 2 || plan.members % plan.group.max(1) == 1 {
        return Err(LoadError::Plan("every group needs two members at least"));
    }
    let traffic = Arc::new(Traffic::default());
    let setup = Setup {
        options: &plan.options,
        transport: plan.transport,
        members: plan.members,
        arrivals: Arrivals::Even(RAMP_RATE),
        traffic: Arc::clone(&traffic),
    };
    let shared = Arc::new(Shared {
        stamps: Stamps::new_run(),
        members: plan.members,
        group: plan.group,
        body: "x".repeat(plan.body_bytes),
        pace: plan.pace,
        over: AtomicBool::new(false),
        traffic,
    });
    let mut stress = Conductor::<Members>::new(setup, Arc::clone(&shared), say)?;
    stress.ramp();
    stress.line();
    let begin = stress.snapshot();
    write(&mut stress, plan.pace, plan.time);
    let written = stress.snapshot();
    shared.over.store(true, Ordering::Relaxed);
    let drained_at = stress.drain(DRAIN_PATIENCE)?;
    let end = stress.snapshot();
    let phases = Phases { begin, written, end, drained_at };
    let shape = Shape {
        asked: plan.members,
        group: plan.group,
        body_bytes: plan.body_bytes,
        pace: plan.pace,
        inside: None,
        durable: true,
    };
    Ok(report::report(&shape, stress.finish()?, &phases))
}

fn write(stress: &mut Conductor<'_, Members>, pace: Pace, time: Duration) {
    stress.stage("write", Until::Time(time));
    let begin = Instant::now();
    match pace {
        Pace::Window(_) => stress.each(|| Mail::Order(Order::Fill)),
        Pace::Rate(rate) => Schedule::new(rate).write(stress, time, Order::Due),
        Pace::Every(_) => {}
    }
    while begin.elapsed() < time && !stress.stopped() {
        stress.sample_if_due(Instant::now());
        if let Pace::Every(_) = pace {
            let passed = begin.elapsed().min(time);
            stress.each(|| Mail::Order(Order::Passed { begin, passed }));
        }
        stress.nap();
    }
}
