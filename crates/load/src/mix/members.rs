//! What members of a mix do: of ten, two nothing, six change their presence now and then, two write to each other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use web_proto::{Command, Event, SendTo, SetPresence, Welcome};

use super::MixPlan;
use crate::client::Masks;
use crate::latency_stamp::{Stamp, Stamps, micros_since};
use crate::token;
use crate::traffic::Traffic;
use crate::worker::{Commands, Script, add, histogram};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Inactive,
    Idle,
    Active,
}

fn role(member: u32) -> Role {
    match member % 10 {
        0 | 1 => Role::Inactive,
        8 | 9 => Role::Active,
        _ => Role::Idle,
    }
}

/// Number of an active member among the active ones, and back.
fn place(member: u32) -> u32 {
    member / 10 * 2 + member % 10 % 2
}

fn member_at(place: u32) -> u32 {
    place / 2 * 10 + 8 + place % 2
}

pub(super) enum Order {
    /// Do what is due.
    Beat,
    /// Begin nothing more.
    End,
}

/// The results of one worker.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// From when a message was due.
    pub(super) ack: Histogram<u64>,
    pub(super) delivery: Histogram<u64>,
    pub(super) doubled: u64,
    pub(super) presences: u64,
    pub(super) refusals: BTreeMap<String, u64>,
}

/// The members of one worker.
pub(super) struct Members {
    stamps: Stamps,
    worker: u32,
    plan: MixPlan,
    traffic: Arc<Traffic>,
    /// Of all workers, by place: which of the active ones are logged in.
    here: Arc<Vec<AtomicBool>>,
    due: BinaryHeap<Reverse<(Instant, u32)>>,
    next: u64,
    received: HashSet<u64>,
    chance: Masks,
    ended: bool,
    found: Found,
}

/// The active ones among so many members, as [`Members::new`] wants them.
pub(super) fn nobody_here(members: u32) -> Arc<Vec<AtomicBool>> {
    Arc::new((0..=place(members) + 2).map(|_| AtomicBool::new(false)).collect())
}

impl Members {
    pub(super) fn new(
        stamps: Stamps,
        worker: usize,
        plan: MixPlan,
        traffic: Arc<Traffic>,
        here: Arc<Vec<AtomicBool>>,
    ) -> Members {
        let found = Found {
            ack: histogram(),
            delivery: histogram(),
            doubled: 0,
            presences: 0,
            refusals: BTreeMap::new(),
        };
        Members {
            stamps,
            worker: worker as u32,
            plan,
            traffic,
            here,
            due: BinaryHeap::new(),
            next: 0,
            received: HashSet::new(),
            chance: Masks::new(stamps.seed() ^ ((worker as u64 + 1) << 40)),
            ended: false,
            found,
        }
    }

    fn every(&self, member: u32) -> Duration {
        match role(member) {
            Role::Active => self.plan.write_every,
            _ => self.plan.presence_every,
        }
    }

    fn act(&mut self, member: u32, due: Instant, commands: &mut Commands) {
        if role(member) == Role::Active {
            return self.write(member, due, commands);
        }
        self.found.presences += 1;
        let set = if self.chance.chance() < 0.5 { SetPresence::Away } else { SetPresence::Online };
        commands.send(member, &Command::Presence { set });
    }

    /// To somebody of the group who is there; alone, a member waits.
    fn write(&mut self, member: u32, due: Instant, commands: &mut Commands) {
        let (own, group) = (place(member), self.plan.group);
        let first = own / group * group;
        let begin = (self.chance.chance() * f64::from(group)) as u32;
        let there = |place: u32| {
            place != own && self.here.get(place as usize).is_some_and(|here| here.load(Ordering::Relaxed))
        };
        let found = (0..group).map(|step| first + (begin + step) % group).find(|place| there(*place));
        let Some(to) = found else { return };
        self.next += 1;
        let number = self.next << 8 | u64::from(self.worker);
        let command = Command::Send {
            id: self.stamps.write(number, due).into(),
            to: SendTo::User(token::user(member_at(to)).into()),
            body: "Shall we meet at seven, or is that too early for you?".into(),
            reply_to: None,
            files: Vec::new(),
            thread: None,
        };
        commands.send(member, &command);
        add(&self.traffic.sent, 1);
    }
}

impl Script for Members {
    type Order = Order;
    type Result = Found;

    fn welcome(&mut self, member: u32, _: &Welcome<'_>, now: Instant, _: &mut Commands) {
        if role(member) == Role::Inactive {
            return;
        }
        if role(member) == Role::Active {
            self.here[place(member) as usize].store(true, Ordering::Relaxed);
        }
        self.due.push(Reverse((now + self.every(member).mul_f64(self.chance.chance()), member)));
    }

    fn event(&mut self, _: u32, event: &Event<'_>, now: Instant, _: &mut Commands) {
        match event {
            Event::Ack { id, .. } => {
                let Some(Stamp { due, .. }) = self.stamps.read(id) else { return };
                self.found.ack.saturating_record(micros_since(due, now));
                add(&self.traffic.acknowledged, 1);
            }
            Event::Message { message, .. } => {
                let Some(Stamp { number, due }) = self.stamps.read(&message.id) else { return };
                if self.received.insert(number) {
                    let late = micros_since(due, now);
                    self.found.delivery.saturating_record(late);
                    self.traffic.deliver(self.worker, late);
                } else {
                    self.found.doubled += 1;
                }
            }
            Event::Error { code, .. } => {
                add(&self.traffic.refused, 1);
                *self.found.refusals.entry(code.word().to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, now: Instant, commands: &mut Commands) {
        match order {
            Order::End => self.ended = true,
            Order::Beat if self.ended => {}
            Order::Beat => {
                while let Some(Reverse((due, member))) = self.due.peek().copied()
                    && due <= now
                {
                    self.due.pop();
                    self.act(member, due, commands);
                    let wait = self.every(member).mul_f64(0.5 + self.chance.chance());
                    self.due.push(Reverse((due + wait, member)));
                }
            }
        }
    }

    fn result(&mut self) -> Found {
        self.found.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ten_two_are_inactive_six_idle_and_two_active() {
        let count = |wanted| (0..1_000).filter(|member| role(*member) == wanted).count();
        assert_eq!((count(Role::Inactive), count(Role::Idle), count(Role::Active)), (200, 600, 200));
    }

    #[test]
    fn active_members_have_places_without_gaps() {
        let active: Vec<u32> = (0..1_000).filter(|member| role(*member) == Role::Active).collect();
        for (expected, member) in active.into_iter().enumerate() {
            assert_eq!(place(member) as usize, expected);
            assert_eq!(member_at(place(member)), member);
        }
        assert!(nobody_here(1_000).len() > 200);
    }
}
