//! The members of a storm: some write and watch, the others receive, lose their connection, and resume.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use web_proto::{Command, Event, Message, Presence, Welcome};

use super::StormPlan;
use crate::failures::note;
use crate::latency_stamp::{Stamp, Stamps, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::schedule::Due;
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

pub(crate) enum Order {
    Due(Due),
    /// The storm begins: from here on, a user who is shown as offline has flapped.
    Storm,
}

/// The members of one worker. Those whose connections break have the first numbers, then come the watchers.
#[derive(Default)]
pub(crate) struct Members {
    /// Each member's resume position.
    positions: HashMap<u32, Box<str>>,
    /// Received messages, with the seq of the first receipt.
    received: HashMap<u64, u64>,
    /// Unacknowledged messages of this worker's watchers, with the number of refusals of each.
    refused_times: HashMap<u64, u32>,
    /// How many users a watcher may watch, from its welcome.
    watch_most: u32,
    watch_retry: WatchRetry,
    storming: bool,
    /// Pairs whose watcher saw the other member as offline.
    flapped: HashSet<(u32, Box<str>)>,
}

tally! {
    pub(crate) struct Tally {
        times {
            /// From the due time, of watchers.
            ack,
        }
        counts {
            /// Messages with two seqs: they were stored twice.
            doubled,
            /// Messages received again with the same seq: a receiver drops them.
            repeated,
            /// Messages that came with the welcome after a reconnect.
            caught_up,
            gaps,
            /// Members who reconnected and could not resume.
            not_resumed,
            /// Pairs of watcher and watched member.
            watched,
            flapped,
        }
    }
}

impl StormPlan {
    fn is_watcher(&self, member: u32) -> bool {
        member >= self.members
    }

    /// Equal for each attempt.
    fn message(&self, number: u64, due: Instant, stamps: Stamps) -> Command<'static> {
        // All members receive messages in turn, from any watcher.
        let to = (number.wrapping_mul(7919) % u64::from(self.members)) as u32;
        token::send(stamps.write(number, due), token::user(to), "Are you still there?")
    }

    /// `most`: how many users a watcher may watch.
    fn watched(&self, watcher: u32, most: u32) -> std::ops::Range<u32> {
        let share = self.members.div_ceil(self.watchers);
        let first = (watcher - self.members) * share;
        first..first + share.min(most).min(self.members.saturating_sub(first))
    }

    fn watch(&self, watcher: u32, most: u32) -> Command<'static> {
        let users = self.watched(watcher, most).map(|member| token::user(member).into()).collect();
        Command::Watch { contacts: false, users }
    }
}

impl Members {
    fn receive(&mut self, member: u32, message: &Message<'_>, position: &str, cx: &mut Context<Members>) {
        if cx.shared.is_watcher(member) {
            return;
        }
        self.positions.insert(member, position.into());
        // Other messages are those of an earlier run.
        let Some(Stamp { number, .. }) = cx.stamps.read(&message.id) else { return };
        match self.received.insert(number, message.seq) {
            None => add(&cx.traffic.delivered, 1),
            Some(before) if before == message.seq => cx.tally.repeated += 1,
            Some(_) => cx.tally.doubled += 1,
        }
    }

    fn write(&mut self, number: u64, due: Instant, cx: &mut Context<Members>) {
        let writer = cx.shared.members + (number % u64::from(cx.shared.watchers)) as u32;
        if !cx.has(writer) {
            return;
        }
        self.refused_times.insert(number, 0);
        cx.commands.send(writer, &cx.shared.message(number, due, cx.stamps));
        add(&cx.traffic.sent, 1);
    }

    /// Repeats a refused command when the server allows it.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, cx: &mut Context<Members>) {
        note(&mut cx.tally.refused, refusal.code.word());
        let Some(Stamp { number, due }) = refusal.id.and_then(|id| cx.stamps.read(id)) else {
            let wait = self.watch_retry.refused(member, refusal, cx.now);
            if let Some(wait) = wait.filter(|_| cx.shared.is_watcher(member)) {
                cx.commands.send_after(wait, member, &cx.shared.watch(member, self.watch_most));
            }
            return;
        };
        let Some(times) = self.refused_times.get_mut(&number) else { return };
        *times += 1;
        match Delay::resend(refusal, *times) {
            Some(wait) => cx.commands.send_after(wait, member, &cx.shared.message(number, due, cx.stamps)),
            None => {
                self.refused_times.remove(&number);
                add(&cx.traffic.refused, 1);
            }
        }
    }
}

impl Script for Members {
    type Shared = StormPlan;
    type Order = Order;
    type Tally = Tally;

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, cx: &mut Context<Members>) {
        if cx.shared.is_watcher(member) {
            self.watch_most = welcome.limits.watch;
            cx.commands.send(member, &cx.shared.watch(member, self.watch_most));
            cx.tally.watched += cx.shared.watched(member, self.watch_most).len() as u64;
            return;
        }
        if self.storming {
            cx.tally.not_resumed += u64::from(!welcome.resumed);
            cx.tally.gaps += welcome.gaps.len() as u64;
            cx.tally.caught_up += welcome.messages.len() as u64;
        }
        for message in &welcome.messages {
            self.receive(member, message, &welcome.position, cx);
        }
        self.positions.insert(member, (&*welcome.position).into());
    }

    fn position(&self, member: u32) -> Option<&str> {
        self.positions.get(&member).map(|position| &**position)
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Ack { id, .. } => {
                let Some(Stamp { number, due }) = cx.stamps.read(id) else { return };
                if self.refused_times.remove(&number).is_none() {
                    return;
                }
                let waited = micros_since(due, cx.now);
                add(&cx.traffic.acknowledged, 1);
                cx.traffic.note(cx.worker, waited);
                cx.tally.ack.saturating_record(waited);
            }
            Event::Message { message, position } => self.receive(member, message, position, cx),
            Event::Presence { user, presence: Presence::Offline, .. }
                if self.storming && cx.shared.is_watcher(member) =>
            {
                self.flapped.insert((member, (&**user).into()));
            }
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    self.refused(member, refusal, cx);
                }
            }
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        match order {
            Order::Storm => self.storming = true,
            Order::Due(due) => due.each().for_each(|(number, due)| self.write(number, due, cx)),
        }
    }

    fn complete(&mut self, tally: &mut Tally) {
        tally.flapped = self.flapped.len() as u64;
    }
}
