//! The members of a stress: they write to others of their group, and check the messages that they receive.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use web_proto::{Event, Welcome};

use super::recovery::Recovery;
use super::sequence::{Arrival, SequenceCheck};
use super::{Pace, StressPlan};
use crate::client::Masks;
use crate::failures::note;
use crate::latency_stamp::micros_since;
use crate::schedule::Due;
use crate::settings::Plan;
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

/// State that all workers of a run share.
pub(crate) struct Shared {
    members: u32,
    group: u32,
    pub(super) body: String,
    pace: Pace,
}

impl Shared {
    pub(super) fn new(plan: &StressPlan) -> Shared {
        let body = "x".repeat(plan.body);
        Shared { body, ..Shared::of(plan.members(), plan.per_group, plan.pace()) }
    }

    pub(super) fn of(members: u32, group: u32, pace: Pace) -> Shared {
        Shared { members, group, body: String::new(), pace }
    }
}

/// The members of one worker.
#[derive(Default)]
pub(crate) struct Members {
    /// If a process dies in this run. Only then members keep what they need for a repetition.
    recovery: Option<Recovery>,
    sequences: HashMap<(u32, Box<str>), SequenceCheck>,
    /// Numbers of received messages, if the protocol has no seq.
    received: HashSet<u64>,
    turns: Turns,
    counter: u64,
}

tally! {
    pub(crate) struct Tally {
        times {
            ack,
            delivery,
            /// From the kill until a member with a lost connection is back.
            back,
        }
        counts {
            doubled,
            misordered,
            /// Numbers of conversations that never came.
            holes,
            /// Events that belong to none of our messages.
            strange,
            /// The last numbers of all conversations, as each of their two members has seen them.
            stored_twice,
            /// Messages received again with the same seq: a receiver drops them.
            repeated,
            /// Messages that came with a welcome or with changes.
            caught_up,
            /// The number of times that the server dropped a queue, or a session has moved.
            behind,
            /// Members who reconnected and could not resume.
            not_resumed,
            /// Conversations with more missed messages than were sent at once, and messages that were fetched for them.
            gaps,
            fetched,
            /// Members whose connection ended although they waited for no acknowledgement.
            lost_idle,
            /// Pairs of a watcher and a member, those of them whose member lost its connection, and those whose watcher saw the
            /// member as offline.
            watched,
            watchers_of_lost,
            flapped,
        }
    }
}

pub(crate) enum Order {
    /// Every member fills its window.
    Fill,
    /// Members write the due messages.
    Due(Due),
    /// This time has passed since the begin.
    Passed { begin: Instant, passed: Duration },
}

impl Members {
    /// The id of a message, and its recipient. `due`: its latency counts from here.
    pub(super) fn compose(&mut self, member: u32, due: Instant, cx: &mut Context<Members>) -> (String, u32) {
        self.counter += 1;
        let id = cx.stamps.write(cx.number(self.counter), due);
        add(&cx.traffic.sent, 1);
        (id, neighbour(member, &cx.shared, &mut cx.chance))
    }

    /// This worker's members, each as often as its window is wide.
    pub(super) fn window(cx: &Context<Members>) -> Vec<u32> {
        let Pace::Window(window) = cx.shared.pace else { return Vec::new() };
        cx.of(cx.shared.members).flat_map(|member| (0..window).map(move |_| member)).collect()
    }

    /// True if the member's window has space for the next message.
    pub(super) fn acknowledged(
        &mut self,
        member: u32,
        id: &str,
        conversation: &str,
        seq: u64,
        cx: &mut Context<Members>,
    ) -> bool {
        let Some(waited) = waited(id, cx) else {
            cx.tally.strange += 1;
            return false;
        };
        if seq > 0 {
            self.check(member, conversation, seq, cx);
        }
        add(&cx.traffic.acknowledged, 1);
        cx.tally.ack.saturating_record(waited);
        has_next(cx)
    }

    pub(super) fn received(
        &mut self,
        member: u32,
        id: &str,
        conversation: &str,
        seq: u64,
        cx: &mut Context<Members>,
    ) {
        let Some(waited) = waited(id, cx) else {
            cx.tally.strange += 1;
            return;
        };
        let is_new = match seq {
            0 => self.is_first(id, cx),
            _ => self.check(member, conversation, seq, cx),
        };
        if is_new {
            cx.traffic.deliver(cx.worker, waited);
            cx.tally.delivery.saturating_record(waited);
        }
    }

    fn write(&mut self, member: u32, due: Instant, cx: &mut Context<Members>) {
        if let Some(recovery) = &mut self.recovery {
            self.counter += 1;
            add(&cx.traffic.sent, 1);
            let to = neighbour(member, &cx.shared, &mut cx.chance);
            return recovery.write(member, cx.number(self.counter), to, due, cx);
        }
        let (id, to) = self.compose(member, due, cx);
        cx.commands.send(member, &token::send(id, token::user(to), &cx.shared.body));
    }

    /// The next member whose turn has come, with its due time after the begin.
    fn turn(
        &mut self,
        every: Duration,
        passed: Duration,
        cx: &mut Context<Members>,
    ) -> Option<(u32, Duration)> {
        let turns = &mut self.turns;
        if turns.of_span.is_empty() {
            let start = every * turns.span;
            if start > passed {
                return None;
            }
            let members = cx.of(cx.shared.members);
            let moment = |member| (start + every.mul_f64(cx.chance.chance()), member);
            turns.of_span = members.map(moment).collect();
            // The last of the list is the next one.
            turns.of_span.sort_unstable_by(|a, b| b.cmp(a));
            turns.span += 1;
        }
        let (after, member) = turns.of_span.pop_if(|(after, _)| *after <= passed)?;
        Some((member, after))
    }

    /// True if no message with this number was received before.
    fn is_first(&mut self, id: &str, cx: &mut Context<Members>) -> bool {
        let is_first = cx.stamps.read(id).is_some_and(|stamp| self.received.insert(stamp.number));
        cx.tally.doubled += u64::from(!is_first);
        is_first
    }

    /// True if this seq is new to the member.
    fn check(&mut self, member: u32, conversation: &str, seq: u64, cx: &mut Context<Members>) -> bool {
        let arrival = self.sequences.entry((member, conversation.into())).or_default().add(seq);
        match arrival {
            Arrival::InOrder => {}
            Arrival::Twice => cx.tally.doubled += 1,
            Arrival::Early => cx.tally.misordered += 1,
            Arrival::Late => {}
        }
        arrival != Arrival::Twice
    }
}

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn begin(&mut self, cx: &Context<Members>) {
        self.recovery = cx.outage.as_ref().map(|_| Recovery::default());
    }

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, cx: &mut Context<Members>) {
        if let Some(recovery) = &mut self.recovery {
            recovery.welcome(member, welcome, cx);
        }
    }

    fn lost(&mut self, member: u32, cx: &mut Context<Members>) {
        if let Some(recovery) = &mut self.recovery {
            recovery.lost(member, cx);
        }
    }

    fn position(&self, member: u32) -> Option<&str> {
        self.recovery.as_ref()?.position(member)
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        if let Some(recovery) = &mut self.recovery {
            if recovery.event(member, event, cx) && has_next(cx) {
                self.write(member, cx.now, cx);
            }
            return;
        }
        match event {
            Event::Ack { id, conversation, seq, .. } => {
                let room = self.acknowledged(member, id, conversation, *seq, cx);
                if room {
                    self.write(member, cx.now, cx);
                }
            }
            Event::Message { message, .. } => {
                self.received(member, &message.id, &message.conversation, message.seq, cx);
            }
            Event::Error { code, .. } => refused(code.word(), cx),
            _ => {}
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        match (order, cx.shared.pace) {
            (Order::Fill, _) => {
                for member in Members::window(cx) {
                    self.write(member, cx.now, cx);
                }
            }
            (Order::Due(due), _) => {
                // A step that shares no factor with the members mixes the groups.
                let members = u64::from(cx.shared.members);
                for (message, due) in due.each() {
                    let member = (message.wrapping_mul(7919) % members) as u32;
                    if cx.has(member) {
                        self.write(member, due, cx);
                    }
                }
            }
            (Order::Passed { begin, passed }, Pace::Every(every)) => {
                while let Some((member, after)) = self.turn(every, passed, cx) {
                    self.write(member, begin + after, cx);
                }
            }
            (Order::Passed { .. }, _) => {}
        }
    }

    fn complete(&mut self, tally: &mut Tally) {
        match &self.recovery {
            Some(recovery) => recovery.complete(tally),
            None => tally.holes = self.sequences.values().map(SequenceCheck::holes).sum(),
        }
    }
}

/// Members who have not written in this span yet, for [`Pace::Every`].
#[derive(Default)]
struct Turns {
    /// The number of the next span.
    span: u32,
    of_span: Vec<(Duration, u32)>,
}

/// Microseconds since the due time of the message with this id; None if it belongs to another run.
fn waited(id: &str, cx: &Context<Members>) -> Option<u64> {
    cx.stamps.read(id).map(|stamp| micros_since(stamp.due, cx.now))
}

pub(super) fn refused(code: &str, cx: &mut Context<Members>) {
    add(&cx.traffic.refused, 1);
    note(&mut cx.tally.refused, code);
}

/// Whether a member whose message has its answer writes the next one.
fn has_next(cx: &Context<Members>) -> bool {
    matches!(cx.shared.pace, Pace::Window(_)) && !cx.traffic.over.load(Ordering::Relaxed)
}

/// The members of the group of a member.
pub(super) fn group_of(member: u32, shared: &Shared) -> Range<u32> {
    let first = member / shared.group * shared.group;
    first..first + shared.group.min(shared.members - first)
}

/// Another member of the group.
fn neighbour(member: u32, shared: &Shared, chance: &mut Masks) -> u32 {
    let Range { start: first, end } = group_of(member, shared);
    let size = end - first;
    let step = 1 + chance.below((size - 1).max(1));
    first + (member - first + step) % size
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::latency_stamp::Stamps;

    fn writing(members: u32, pace: Pace) -> Shared {
        Shared::of(members, 10, pace)
    }

    #[test]
    fn each_member_has_one_turn_in_each_span_at_different_times() {
        let every = Duration::from_secs(5);
        let shared = Arc::new(writing(90, Pace::Every(every)));
        let mut cx = Context::new(1, 2, Arc::default(), Stamps::new_run(), shared);
        let mut writers = Members::default();
        let mut turns = Vec::new();
        for millis in (0..14_999).step_by(2) {
            while let Some(turn) = writers.turn(every, Duration::from_millis(millis), &mut cx) {
                turns.push(turn);
            }
        }
        assert_eq!(turns.len(), 3 * 45);
        for (span, turns) in turns.chunks(45).enumerate() {
            let members: std::collections::BTreeSet<u32> = turns.iter().map(|(member, _)| *member).collect();
            assert!(members.len() == 45 && members.iter().all(|member| member % 2 == 1), "{members:?}");
            assert!(turns.iter().all(|(_, after)| after.as_secs() / 5 == span as u64), "{turns:?}");
            assert!(turns[0].1 < every * span as u32 + every / 4, "{turns:?}");
            assert!(turns[44].1 > every * span as u32 + every / 4 * 3, "{turns:?}");
        }
    }

    #[test]
    fn neighbours_are_others_of_the_group() {
        let shared = writing(25, Pace::Window(1));
        let mut chance = Masks::new(7);
        for member in 0..25 {
            let mut met = std::collections::BTreeSet::new();
            for _ in 0..200 {
                met.insert(neighbour(member, &shared, &mut chance));
            }
            let group: std::collections::BTreeSet<u32> =
                (0..25).filter(|other| other / 10 == member / 10 && *other != member).collect();
            assert_eq!(met, group, "{member}");
        }
    }
}
