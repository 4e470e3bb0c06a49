//! Members in pairs: they send typing events to each other.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use web_proto::{Command, Event, SendTo};

use super::TypingPlan;
use crate::failures::note;
use crate::latency_stamp::micros_since;
use crate::schedule::Due;
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

/// State that all workers of a run share.
pub(crate) struct Shared {
    plan: TypingPlan,
    /// By member: due times of events that the other member has not received yet. Events have no id, but come in order.
    /// After a dropped one, later ones look older than they are.
    on_their_way: Box<[Mutex<VecDeque<Instant>>]>,
}

/// The members of one worker.
#[derive(Default)]
pub(crate) struct Members;

tally! {
    pub(crate) struct Tally {
        times {
            delivery,
            /// The delay after the due time at which they were sent, for events with due times of their own.
            late,
        }
        counts {
            /// Events from outside of the pair, or that were not sent.
            strange,
        }
    }
}

pub(crate) enum Order {
    /// Every member fills its window.
    Fill,
    /// Members send the due events.
    Due(Due),
}

impl Shared {
    pub(crate) fn new(plan: &TypingPlan) -> Shared {
        let on_their_way = (0..plan.members).map(|_| Mutex::default()).collect();
        Shared { plan: plan.clone(), on_their_way }
    }

    fn note_sent(&self, member: u32, due: Instant) {
        self.with(member, |queue| queue.push_back(due));
    }

    fn take_due(&self, of: u32) -> Option<Instant> {
        self.with(of, VecDeque::pop_front)
    }

    fn with<T>(&self, member: u32, act: impl FnOnce(&mut VecDeque<Instant>) -> T) -> T {
        act(&mut self.on_their_way[member as usize].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn other(member: u32) -> u32 {
    member ^ 1
}

fn say(member: u32, due: Instant, cx: &mut Context<Members>) {
    cx.shared.note_sent(member, due);
    add(&cx.traffic.sent, 1);
    let to = SendTo::User(token::user(other(member)).into());
    cx.commands.send(member, &Command::Typing { to, on: true });
}

fn receive(member: u32, user: &str, cx: &mut Context<Members>) {
    let of = other(member);
    let Some(due) = cx.shared.take_due(of).filter(|_| token::number(user) == Some(of)) else {
        cx.tally.strange += 1;
        return;
    };
    let micros = micros_since(due, cx.now);
    // The server sends no acknowledgement for typing: the receipt counts as one.
    add(&cx.traffic.acknowledged, 1);
    cx.traffic.deliver(cx.worker, micros);
    cx.tally.delivery.saturating_record(micros);
    if cx.shared.plan.rate.is_none() && !cx.traffic.over.load(Ordering::Relaxed) {
        say(member, cx.now, cx);
    }
}

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Typing { user, .. } => receive(member, user, cx),
            Event::Error { code, .. } => {
                add(&cx.traffic.refused, 1);
                note(&mut cx.tally.refused, code.word());
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        let TypingPlan { members, window, .. } = cx.shared.plan;
        match order {
            Order::Fill => {
                for member in cx.of(members) {
                    (0..window).for_each(|_| say(member, cx.now, cx));
                }
            }
            Order::Due(due) => {
                for (number, due) in due.each() {
                    // A step that shares no factor with the members mixes the pairs.
                    let member = (number.wrapping_mul(7919) % u64::from(members)) as u32;
                    if cx.has(member) {
                        cx.tally.late.saturating_record(micros_since(due, cx.now));
                        say(member, due, cx);
                    }
                }
            }
        }
    }
}
