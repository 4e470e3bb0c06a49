//! The members of a mix: of ten, two do nothing, six sometimes change their presence, two write to each other.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use web_proto::{Command, Event, SetPresence, Welcome};

use super::MixPlan;
use crate::agenda::Agenda;
use crate::client::Masks;
use crate::latency_stamp::{Stamp, micros_since};
use crate::tally::tally;
use crate::token;
use crate::worker::{Commands, Script, Share, add};

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
pub(super) struct Members {
    shared: Arc<Shared>,
    share: Share,
    due: Agenda<u32>,
    next: u64,
    received: HashSet<u64>,
    chance: Masks,
    ended: bool,
    tally: Tally,
}

/// An entry for each active member among `members`, for [`Shared::online`].
pub(super) fn no_one_online(members: u32) -> Vec<AtomicBool> {
    (0..=place(members) + 2).map(|_| AtomicBool::new(false)).collect()
}

impl Members {
    fn every(&self, member: u32) -> Duration {
        match role(member) {
            Role::Active => self.shared.plan.write_every,
            _ => self.shared.plan.presence_every,
        }
    }

    fn act(&mut self, member: u32, due: Instant, commands: &mut Commands) {
        if role(member) == Role::Active {
            return self.write(member, due, commands);
        }
        self.tally.presences += 1;
        let set = if self.chance.chance() < 0.5 { SetPresence::Away } else { SetPresence::Online };
        commands.send(member, &Command::Presence { set });
    }

    /// Writes to an online member of the group; without one, the member waits.
    fn write(&mut self, member: u32, due: Instant, commands: &mut Commands) {
        let (own, group) = (place(member), self.shared.plan.group);
        let first = own / group * group;
        let begin = self.chance.below(group);
        let there = |place: u32| {
            place != own
                && self.shared.online.get(place as usize).is_some_and(|online| online.load(Ordering::Relaxed))
        };
        let found = (0..group).map(|step| first + (begin + step) % group).find(|place| there(*place));
        let Some(to) = found else { return };
        self.next += 1;
        let number = self.next << 8 | u64::from(self.share.worker);
        let id = self.share.stamps.write(number, due);
        let body = "Shall we meet at seven, or is that too early for you?";
        commands.send(member, &token::send(id, token::user(member_at(to)), body));
        add(&self.share.traffic.sent, 1);
    }
}

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn new(shared: Arc<Shared>, share: Share) -> Members {
        Members {
            chance: Masks::new(share.stamps.seed() ^ ((u64::from(share.worker) + 1) << 40)),
            shared,
            share,
            due: Agenda::default(),
            next: 0,
            received: HashSet::new(),
            ended: false,
            tally: Tally::default(),
        }
    }

    fn welcome(&mut self, member: u32, _: &Welcome<'_>, now: Instant, _: &mut Commands) {
        if role(member) == Role::Inactive {
            return;
        }
        if role(member) == Role::Active {
            self.shared.online[place(member) as usize].store(true, Ordering::Relaxed);
        }
        self.due.push(now + self.every(member).mul_f64(self.chance.chance()), member);
    }

    fn event(&mut self, _: u32, event: &Event<'_>, now: Instant, _: &mut Commands) {
        match event {
            Event::Ack { id, .. } => {
                let Some(Stamp { due, .. }) = self.share.stamps.read(id) else { return };
                self.tally.ack.saturating_record(micros_since(due, now));
                add(&self.share.traffic.acknowledged, 1);
            }
            Event::Message { message, .. } => {
                let Some(Stamp { number, due }) = self.share.stamps.read(&message.id) else { return };
                if self.received.insert(number) {
                    let late = micros_since(due, now);
                    self.tally.delivery.saturating_record(late);
                    self.share.traffic.deliver(self.share.worker, late);
                } else {
                    self.tally.doubled += 1;
                }
            }
            Event::Error { code, .. } => {
                add(&self.share.traffic.refused, 1);
                self.tally.note_refusal(code.word());
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, now: Instant, commands: &mut Commands) {
        match order {
            Order::End => self.ended = true,
            Order::Beat if self.ended => {}
            Order::Beat => {
                while let Some((due, member)) = self.due.pop(now) {
                    self.act(member, due, commands);
                    let wait = self.every(member).mul_f64(0.5 + self.chance.chance());
                    self.due.push(due + wait, member);
                }
            }
        }
    }

    fn tally(&mut self) -> Tally {
        self.tally.clone()
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
