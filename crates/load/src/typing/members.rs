//! Members in pairs: they send typing events to each other.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use web_proto::{Command, Event, SendTo};

use super::TypingPlan;
use crate::latency_stamp::micros_since;
use crate::schedule::Due;
use crate::tally::tally;
use crate::token;
use crate::worker::{Commands, Script, Share, add};

/// State that all workers of a run share.
pub(crate) struct Shared {
    plan: TypingPlan,
    /// By member: due times of events that the other member has not received yet. Events have no id, but come in order.
    /// After a dropped one, later ones look older than they are.
    on_their_way: Box<[Mutex<VecDeque<Instant>>]>,
}

/// The members of one worker.
pub(crate) struct Members {
    shared: Arc<Shared>,
    share: Share,
    tally: Tally,
}

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

impl Members {
    fn say(&self, member: u32, due: Instant, commands: &mut Commands) {
        self.shared.note_sent(member, due);
        add(&self.share.traffic.sent, 1);
        commands
            .send(member, &Command::Typing { to: SendTo::User(token::user(other(member)).into()), on: true });
    }

    fn receive(&mut self, member: u32, user: &str, now: Instant, commands: &mut Commands) {
        let of = other(member);
        let Some(due) = self.shared.take_due(of).filter(|_| token::number(user) == Some(of)) else {
            self.tally.strange += 1;
            return;
        };
        let micros = micros_since(due, now);
        // The server sends no acknowledgement for typing: the receipt counts as one.
        add(&self.share.traffic.acknowledged, 1);
        self.share.traffic.deliver(self.share.worker, micros);
        self.tally.delivery.saturating_record(micros);
        if self.shared.plan.rate.is_none() && !self.share.traffic.over.load(Ordering::Relaxed) {
            self.say(member, now, commands);
        }
    }
}

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn new(shared: Arc<Shared>, share: Share) -> Members {
        Members { shared, share, tally: Tally::default() }
    }

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, commands: &mut Commands) {
        match event {
            Event::Typing { user, .. } => self.receive(member, user, now, commands),
            Event::Error { code, .. } => {
                add(&self.share.traffic.refused, 1);
                self.tally.note_refusal(code.word());
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, now: Instant, commands: &mut Commands) {
        let TypingPlan { members, window, .. } = self.shared.plan;
        match order {
            Order::Fill => {
                for member in self.share.of(members) {
                    (0..window).for_each(|_| self.say(member, now, commands));
                }
            }
            Order::Due(due) => {
                for (number, due) in due.each() {
                    // A step that shares no factor with the members mixes the pairs.
                    let member = (number.wrapping_mul(7919) % u64::from(members)) as u32;
                    if self.share.has(member) {
                        self.tally.late.saturating_record(micros_since(due, now));
                        self.say(member, due, commands);
                    }
                }
            }
        }
    }

    fn tally(&mut self) -> Tally {
        self.tally.clone()
    }
}
