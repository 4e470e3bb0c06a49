//! The stress: members of groups write to each other at full speed, or at a fixed rate, and count what they receive.

pub mod core;
mod members;
mod outage_report;
mod recovery;
mod report;
mod sequence;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use clap::Args;
use serde::Deserialize;

use self::members::{Members, Order, Shared};
use self::report::Phases;
use crate::conductor::{Conductor, RAMP, Setup};
use crate::observer::Until;
use crate::report::Run;
use crate::schedule::Schedule;
use crate::settings::{self, Contradiction, Plan, span};
use crate::target::Transport;
use crate::worker::Mail;
use crate::{LoadError, RunOptions};

/// After this time without events at the end, missing events are lost.
const DRAIN_PATIENCE: Duration = Duration::from_secs(5);
/// The wait for missing events after the kill of a process: a lease must end, and members try again after up to 30 s.
const RECOVERY_PATIENCE: Duration = Duration::from_secs(60);

/// The settings of a run. The papers use 1,000 members in groups of 10, 100-byte bodies, a window of 4, and 10 s.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct StressPlan {
    /// websocket, stream, sse or poll; or xmpp, xmpp-websocket. Other servers with --url: centrifugo, centrifugo-json, line.
    #[arg(long, visible_alias = "protocol", default_value = "websocket")]
    pub transport: Transport,
    /// Run inside this process, without sockets, on durable SQLite: Chut's first bench.
    #[arg(long, conflicts_with_all = ["transport", "rate", "every"])]
    pub core: bool,
    /// With --core: store messages in memory, like Chut's own bench, instead of on disk.
    #[arg(long, requires = "core")]
    pub memory: bool,
    /// Groups of members.
    #[arg(long, conflicts_with = "members", default_value_t = 100)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub groups: u32,
    /// Members of each group; they write to each other.
    #[arg(long, visible_alias = "group", default_value_t = 10)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub per_group: u32,
    /// Number of all members, instead of --groups.
    #[arg(long)]
    #[serde(deserialize_with = "settings::two_if_any")]
    pub members: Option<u32>,
    /// Bytes of a message.
    #[arg(long, default_value_t = 100)]
    pub body: usize,
    /// Unacknowledged messages of each member.
    #[arg(long, default_value_t = 4)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub window: u32,
    /// Messages per second of all members together, instead of a window.
    #[arg(long)]
    #[serde(deserialize_with = "settings::positive_if_any")]
    pub rate: Option<f64>,
    /// Time span in which each member sends one message at a random time, instead of a window.
    #[arg(long, conflicts_with = "rate", value_parser = span, value_name = "SPAN")]
    #[serde(deserialize_with = "settings::span_if_any")]
    pub every: Option<Duration>,
    /// How long members write.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "10s")]
    #[serde(deserialize_with = "settings::span_in_file")]
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

impl StressPlan {
    pub fn pace(&self) -> Pace {
        let every = self.every.map(Pace::Every);
        every.or(self.rate.map(Pace::Rate)).unwrap_or(Pace::Window(self.window))
    }
}

impl Plan for StressPlan {
    fn check(&self) -> Result<(), Contradiction> {
        let (rate, every) = (self.rate.is_some(), self.every.is_some());
        Contradiction::if_any(&[
            (
                self.memory && !self.core,
                "`memory` is for runs inside of this process",
                "add core = true: a node's store is always durable",
            ),
            (
                self.core && (rate || every),
                "`core` writes as fast as the window allows",
                "leave out `rate` and `every`",
            ),
            (rate && every, "`rate` and `every` contradict each other", "leave one of them out"),
            (
                self.members() % self.per_group == 1,
                "a group has one member only",
                "`members` are a multiple of `per-group`, or leave two at least for the last group",
            ),
        ])
    }

    fn members(&self) -> u32 {
        self.members.unwrap_or_else(|| self.groups.saturating_mul(self.per_group))
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn recovers(&self) -> bool {
        !self.core && self.transport == Transport::Websocket
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let setup = Setup { options, transport: self.transport, members: self.members(), arrivals: RAMP };
        let mut stress = Conductor::<Members>::new(setup, &Arc::new(Shared::new(self)), say)?;
        stress.ramp();
        stress.watch.line();
        let active = stress.state.counts.active();
        if options.kill.is_some() && active < u64::from(self.members()) && !stress.watch.stopped() {
            let few = format!("only {active} of {} members could log in before the kill", self.members());
            return Err(LoadError::Login(few));
        }
        let begin = stress.watch.snapshot();
        write(&mut stress, self.pace(), self.time);
        let written = stress.watch.snapshot();
        stress.watch.traffic.over.store(true, Ordering::Relaxed);
        let patience = if options.kill.is_some() && !stress.watch.stopped() {
            RECOVERY_PATIENCE
        } else {
            DRAIN_PATIENCE
        };
        let drained_at = stress.drain(patience)?;
        let end = stress.watch.snapshot();
        let phases = Phases { begin, written, end, drained_at };
        let outage = stress.state.outage.clone();
        outage.iter().for_each(|outage| outage.end());
        let killed = options.kill.as_ref().zip(outage.as_deref());
        Ok(report::report(self, None, killed, stress.finish()?, &phases))
    }
}

fn write(stress: &mut Conductor<'_, Members>, pace: Pace, time: Duration) {
    stress.watch.stage("write", Until::Time(time));
    let begin = Instant::now();
    match pace {
        Pace::Window(_) => stress.each(|| Mail::Order(Order::Fill)),
        Pace::Rate(rate) => Schedule::new(rate).write(stress, time, Order::Due),
        Pace::Every(_) => {}
    }
    while begin.elapsed() < time && !stress.watch.stopped() {
        stress.watch.sample_if_due(Instant::now());
        if let Pace::Every(_) = pace {
            let passed = begin.elapsed().min(time);
            stress.each(|| Mail::Order(Order::Passed { begin, passed }));
        }
        stress.nap();
    }
}
