//! What members in pairs do: say that they type, and hear it of each other.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use hdrhistogram::Histogram;
use web_proto::{Command, Event, SendTo};

use super::Pace;
use crate::crowd::{Says, Script, add, histogram};
use crate::pen::Due;
use crate::postmark::micros_since;
use crate::reasons::Reasons;
use crate::token;
use crate::traffic::Traffic;

/// State that all workers of a run share.
pub(crate) struct Table {
    pub(crate) pace: Pace,
    /// Nothing new is said.
    pub(crate) over: AtomicBool,
    pub(crate) traffic: Arc<Traffic>,
    /// By member: when each of those was due that the other one has not heard yet. They say nothing of themselves, but come
    /// in order; where one is dropped, those after it look older than they are.
    on_their_way: Box<[Mutex<VecDeque<Instant>>]>,
}

/// The members of one worker.
pub(crate) struct Pairs {
    table: Arc<Table>,
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

impl Table {
    pub(crate) fn new(members: u32, pace: Pace, traffic: Arc<Traffic>) -> Table {
        let on_their_way = (0..members).map(|_| Mutex::default()).collect();
        Table { pace, over: AtomicBool::new(false), traffic, on_their_way }
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

impl Pairs {
    pub(crate) fn new(table: Arc<Table>, worker: usize, workers: usize) -> Pairs {
        let found = Found { delivery: histogram(), late: histogram(), strange: 0, refusals: Reasons::new() };
        Pairs { table, worker: worker as u32, workers: workers as u32, found }
    }

    fn say(&self, member: u32, due: Instant, says: &mut Says) {
        self.table.said(member, due);
        add(&self.table.traffic.sent, 1);
        says.say(member, &Command::Typing { to: SendTo::User(token::user(other(member)).into()), on: true });
    }

    fn hear(&mut self, member: u32, user: &str, now: Instant, says: &mut Says) {
        let of = other(member);
        let Some(due) = self.table.heard(of).filter(|_| token::number(user) == Some(of)) else {
            self.found.strange += 1;
            return;
        };
        let micros = micros_since(due, now);
        // Nobody acknowledges it: to have been heard is all there is.
        add(&self.table.traffic.acknowledged, 1);
        self.table.traffic.deliver(self.worker, micros);
        self.found.delivery.saturating_record(micros);
        if matches!(self.table.pace, Pace::Window(_)) && !self.table.over.load(Ordering::Relaxed) {
            self.say(member, now, says);
        }
    }
}

impl Script for Pairs {
    type Order = Order;
    type Result = Found;

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, says: &mut Says) {
        match event {
            Event::Typing { user, .. } => self.hear(member, user, now, says),
            Event::Error { code, .. } => {
                add(&self.table.traffic.refused, 1);
                *self.found.refusals.entry(code.word().to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, now: Instant, says: &mut Says) {
        let members = self.table.on_their_way.len() as u32;
        match (order, self.table.pace) {
            (Order::Fill, Pace::Window(window)) => {
                for member in (self.worker..members).step_by(self.workers as usize) {
                    (0..window).for_each(|_| self.say(member, now, says));
                }
            }
            (Order::Fill, Pace::Rate(_)) => {}
            (Order::Due(due), _) => {
                for (number, due) in due.each() {
                    // A step that shares no factor with the members mixes the pairs.
                    let member = (number.wrapping_mul(7919) % u64::from(members)) as u32;
                    if member % self.workers == self.worker {
                        self.found.late.saturating_record(micros_since(due, now));
                        self.say(member, due, says);
                    }
                }
            }
        }
    }

    fn result(&mut self) -> Found {
        self.found.clone()
    }
}
