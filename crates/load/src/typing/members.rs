//! What members in pairs do: say that they type, and hear it of each other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use hdrhistogram::Histogram;
use web_proto::{Command, Event, SendTo};

use super::Pace;
use crate::failures::Reasons;
use crate::latency_stamp::micros_since;
use crate::schedule::Due;
use crate::token;
use crate::traffic::Traffic;
use crate::worker::{Commands, Script, add, histogram};

/// State that all workers of a run share.
pub(crate) struct Shared {
    pub(crate) pace: Pace,
    /// Nothing new is said.
    pub(crate) over: AtomicBool,
    pub(crate) traffic: Arc<Traffic>,
    /// By member: when each of those was due that the other one has not heard yet. They say nothing of themselves, but come
    /// in order; where one is dropped, those after it look older than they are.
    on_their_way: Box<[Mutex<VecDeque<Instant>>]>,
}

/// The members of one worker.
pub(crate) struct Members {
    shared: Arc<Shared>,
    worker: u32,
    workers: u32,
    found: Found,
}

/// The results of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) delivery: Histogram<u64>,
    /// How long after they were due they were said, where they are due at moments of their own.
    pub(crate) late: Histogram<u64>,
    /// Came of somebody else than the other of the pair, or were not said.
    pub(crate) strange: u64,
    pub(crate) refusals: Reasons,
}

pub(crate) enum Order {
    /// Every member fills its window.
    Fill,
    /// All members take their turn.
    Due(Due),
}

impl Shared {
    pub(crate) fn new(members: u32, pace: Pace, traffic: Arc<Traffic>) -> Shared {
        let on_their_way = (0..members).map(|_| Mutex::default()).collect();
        Shared { pace, over: AtomicBool::new(false), traffic, on_their_way }
    }

    fn said(&self, member: u32, due: Instant) {
        self.with(member, |queue| queue.push_back(due));
    }

    fn heard(&self, of: u32) -> Option<Instant> {
        self.with(of, VecDeque::pop_front)
    }

    fn with<T>(&self, member: u32, act: impl FnOnce(&mut VecDeque<Instant>) -> T) -> T {
        act(&mut self.on_their_way[member as usize].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn other(member: u32) -> u32 {
    member ^ 1
}

impl Members {
    pub(crate) fn new(shared: Arc<Shared>, worker: usize, workers: usize) -> Members {
        let found = Found { delivery: histogram(), late: histogram(), strange: 0, refusals: Reasons::new() };
        Members { shared, worker: worker as u32, workers: workers as u32, found }
    }

    fn say(&self, member: u32, due: Instant, commands: &mut Commands) {
        self.shared.said(member, due);
        add(&self.shared.traffic.sent, 1);
        commands
            .send(member, &Command::Typing { to: SendTo::User(token::user(other(member)).into()), on: true });
    }

    fn hear(&mut self, member: u32, user: &str, now: Instant, commands: &mut Commands) {
        let of = other(member);
        let Some(due) = self.shared.heard(of).filter(|_| token::number(user) == Some(of)) else {
            self.found.strange += 1;
            return;
        };
        let micros = micros_since(due, now);
        // NoObserver acknowledges it: to have been heard is all there is.
        add(&self.shared.traffic.acknowledged, 1);
        self.shared.traffic.deliver(self.worker, micros);
        self.found.delivery.saturating_record(micros);
        if matches!(self.shared.pace, Pace::Window(_)) && !self.shared.over.load(Ordering::Relaxed) {
            self.say(member, now, commands);
        }
    }
}

impl Script for Members {
    type Order = Order;
    type Result = Found;

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, commands: &mut Commands) {
        match event {
            Event::Typing { user, .. } => self.hear(member, user, now, commands),
            Event::Error { code, .. } => {
                add(&self.shared.traffic.refused, 1);
                *self.found.refusals.entry(code.word().to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, now: Instant, commands: &mut Commands) {
        let members = self.shared.on_their_way.len() as u32;
        match (order, self.shared.pace) {
            (Order::Fill, Pace::Window(window)) => {
                for member in (self.worker..members).step_by(self.workers as usize) {
                    (0..window).for_each(|_| self.say(member, now, commands));
                }
            }
            (Order::Fill, Pace::Rate(_)) => {}
            (Order::Due(due), _) => {
                for (number, due) in due.each() {
                    // A step that shares no factor with the members mixes the pairs.
                    let member = (number.wrapping_mul(7919) % u64::from(members)) as u32;
                    if member % self.workers == self.worker {
                        self.found.late.saturating_record(micros_since(due, now));
                        self.say(member, due, commands);
                    }
                }
            }
        }
    }

    fn result(&mut self) -> Found {
        self.found.clone()
    }
}
