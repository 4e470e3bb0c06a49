//! The members of a mix: of ten, two do nothing, six sometimes change their presence, two write to each other.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use web_proto::{Command, Event, SetPresence, Welcome};

use super::MixPlan;
use crate::agenda::Agenda;
use crate::failures::note;
use crate::latency_stamp::{Stamp, micros_since};
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

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

/// Converts the number of an active member to its index among the active ones, and back.
fn place(member: u32) -> u32 {
    member / 10 * 2 + member % 10 % 2
}

fn member_at(place: u32) -> u32 {
    place / 2 * 10 + 8 + place % 2
}

pub(super) enum Order {
    /// Carry out due actions.
    Beat,
    /// Begin no new actions.
    End,
}

tally! {
    pub(super) struct Tally {
        times {
            /// From a message's due time.
            ack,
            delivery,
        }
        counts { doubled, presences, }
    }
}

/// State that all workers of a run share.
pub(super) struct Shared {
    pub(super) plan: MixPlan,
    /// By index of an active member: whether it is logged in.
    pub(super) online: Vec<AtomicBool>,
}

/// The members of one worker.
#[derive(Default)]
pub(super) struct Members {
    due: Agenda<u32>,
    next: u64,
    received: HashSet<u64>,
    ended: bool,
}

/// An entry for each active member among `members`, for [`Shared::online`].
pub(super) fn no_one_online(members: u32) -> Vec<AtomicBool> {
    (0..=place(members) + 2).map(|_| AtomicBool::new(false)).collect()
}

fn every(member: u32, plan: &MixPlan) -> Duration {
    if role(member) == Role::Active { plan.write_every } else { plan.presence_every }
}

impl Members {
    fn act(&mut self, member: u32, due: Instant, cx: &mut Context<Members>) {
        if role(member) == Role::Active {
            return self.write(member, due, cx);
        }
        cx.tally.presences += 1;
        let set = if cx.chance.chance() < 0.5 { SetPresence::Away } else { SetPresence::Online };
        cx.commands.send(member, &Command::Presence { set });
    }

    /// Writes to an online member of the group; without one, the member waits.
    fn write(&mut self, member: u32, due: Instant, cx: &mut Context<Members>) {
        let (own, group) = (place(member), cx.shared.plan.group);
        let first = own / group * group;
        let begin = cx.chance.below(group);
        let there = |place: u32| {
            place != own
                && cx.shared.online.get(place as usize).is_some_and(|online| online.load(Ordering::Relaxed))
        };
        let found = (0..group).map(|step| first + (begin + step) % group).find(|place| there(*place));
        let Some(to) = found else { return };
        self.next += 1;
        let number = self.next << 8 | u64::from(cx.worker);
        let id = cx.stamps.write(number, due);
        let body = "Shall we meet at seven, or is that too early for you?";
        cx.commands.send(member, &token::send(id, token::user(member_at(to)), body));
        add(&cx.traffic.sent, 1);
    }
}

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn welcome(&mut self, member: u32, _: &Welcome<'_>, cx: &mut Context<Members>) {
        if role(member) == Role::Inactive {
            return;
        }
        if role(member) == Role::Active {
            cx.shared.online[place(member) as usize].store(true, Ordering::Relaxed);
        }
        let wait = every(member, &cx.shared.plan).mul_f64(cx.chance.chance());
        self.due.push(cx.now + wait, member);
    }

    fn event(&mut self, _: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Ack { id, .. } => {
                let Some(Stamp { due, .. }) = cx.stamps.read(id) else { return };
                cx.tally.ack.saturating_record(micros_since(due, cx.now));
                add(&cx.traffic.acknowledged, 1);
            }
            Event::Message { message, .. } => {
                let Some(Stamp { number, due }) = cx.stamps.read(&message.id) else { return };
                if self.received.insert(number) {
                    let late = micros_since(due, cx.now);
                    cx.tally.delivery.saturating_record(late);
                    cx.traffic.deliver(cx.worker, late);
                } else {
                    cx.tally.doubled += 1;
                }
            }
            Event::Error { code, .. } => {
                add(&cx.traffic.refused, 1);
                note(&mut cx.tally.refused, code.word());
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        match order {
            Order::End => self.ended = true,
            Order::Beat if self.ended => {}
            Order::Beat => {
                while let Some((due, member)) = self.due.pop(cx.now) {
                    self.act(member, due, cx);
                    let wait = every(member, &cx.shared.plan).mul_f64(0.5 + cx.chance.chance());
                    self.due.push(due + wait, member);
                }
            }
        }
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
        assert!(no_one_online(1_000).len() > 200);
    }
}
