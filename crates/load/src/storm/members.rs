//! The members of a storm: some write and watch, the others receive, lose their connection, and resume.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use web_proto::{Command, Event, Message, Presence, Welcome};

use super::StormPlan;
use crate::latency_stamp::{Stamp, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::schedule::Due;
use crate::tally::tally;
use crate::token;
use crate::worker::{Commands, Script, Share, add};

pub(crate) enum Order {
    Due(Due),
    /// The storm begins: from here on, a user who is shown as offline has flapped.
    Storm,
}

/// The members of one worker. Those whose connections break have the first numbers, then come the watchers.
pub(crate) struct Members {
    plan: Arc<StormPlan>,
    share: Share,
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
    tally: Tally,
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

impl Members {
    fn receive(&mut self, member: u32, message: &Message<'_>) {
        // A watcher's own message on another device, or one of an earlier run.
        let Some(Stamp { number, .. }) =
            self.share.stamps.read(&message.id).filter(|_| member < self.plan.members)
        else {
            return;
        };
        match self.received.insert(number, message.seq) {
            None => add(&self.share.traffic.delivered, 1),
            Some(before) if before == message.seq => self.tally.repeated += 1,
            Some(_) => self.tally.doubled += 1,
        }
    }

    fn is_watcher(&self, member: u32) -> bool {
        member >= self.plan.members
    }

    fn note_position(&mut self, member: u32, position: &str) {
        if !self.is_watcher(member) {
            self.positions.insert(member, position.into());
        }
    }

    fn write(&mut self, number: u64, due: Instant, commands: &mut Commands) {
        let writer = self.plan.members + (number % u64::from(self.plan.watchers)) as u32;
        if !self.share.has(writer) {
            return;
        }
        self.refused_times.insert(number, 0);
        commands.send(writer, &self.message(number, due));
        add(&self.share.traffic.sent, 1);
    }

    /// Equal for each attempt.
    fn message(&self, number: u64, due: Instant) -> Command<'static> {
        // All members receive messages in turn, from any watcher.
        let to = (number.wrapping_mul(7919) % u64::from(self.plan.members)) as u32;
        token::send(self.share.stamps.write(number, due), token::user(to), "Are you still there?")
    }

    fn watched(&self, watcher: u32) -> std::ops::Range<u32> {
        let share = self.plan.members.div_ceil(self.plan.watchers);
        let first = (watcher - self.plan.members) * share;
        first..first + share.min(self.watch_most).min(self.plan.members.saturating_sub(first))
    }

    fn watch(&self, watcher: u32) -> Command<'static> {
        let users = self.watched(watcher).map(|member| token::user(member).into()).collect();
        Command::Watch { contacts: false, users }
    }

    /// Repeats a refused command when the server allows it.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, now: Instant, commands: &mut Commands) {
        self.tally.note_refusal(refusal.code.word());
        let Some(Stamp { number, due }) = refusal.id.and_then(|id| self.share.stamps.read(id)) else {
            let wait = self.watch_retry.refused(member, refusal, now).filter(|_| self.is_watcher(member));
            return wait.into_iter().for_each(|wait| commands.send_after(wait, member, &self.watch(member)));
        };
        let Some(times) = self.refused_times.get_mut(&number) else { return };
        *times += 1;
        match Delay::resend(refusal, *times) {
            Some(wait) => commands.send_after(wait, member, &self.message(number, due)),
            None => {
                self.refused_times.remove(&number);
                add(&self.share.traffic.refused, 1);
            }
        }
    }
}

impl Script for Members {
    type Shared = StormPlan;
    type Order = Order;
    type Tally = Tally;

    fn new(plan: Arc<StormPlan>, share: Share) -> Members {
        Members {
            plan,
            share,
            positions: HashMap::new(),
            received: HashMap::new(),
            refused_times: HashMap::new(),
            watch_most: 0,
            watch_retry: WatchRetry::default(),
            storming: false,
            flapped: HashSet::new(),
            tally: Tally::default(),
        }
    }

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, _: Instant, commands: &mut Commands) {
        if self.is_watcher(member) {
            self.watch_most = welcome.limits.watch;
            commands.send(member, &self.watch(member));
            self.tally.watched += self.watched(member).len() as u64;
            return;
        }
        if self.storming {
            self.tally.not_resumed += u64::from(!welcome.resumed);
            self.tally.gaps += welcome.gaps.len() as u64;
            self.tally.caught_up += welcome.messages.len() as u64;
        }
        for message in &welcome.messages {
            self.receive(member, message);
        }
        self.note_position(member, &welcome.position);
    }

    fn position(&self, member: u32) -> Option<&str> {
        self.positions.get(&member).map(|position| &**position)
    }

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, commands: &mut Commands) {
        match event {
            Event::Ack { id, .. } => {
                let Some(Stamp { number, due }) = self.share.stamps.read(id) else { return };
                if self.refused_times.remove(&number).is_none() {
                    return;
                }
                let waited = micros_since(due, now);
                add(&self.share.traffic.acknowledged, 1);
                self.share.traffic.note(self.share.worker, waited);
                self.tally.ack.saturating_record(waited);
            }
            Event::Message { message, position } => {
                self.receive(member, message);
                self.note_position(member, position);
            }
            Event::Presence { user, presence: Presence::Offline, .. }
                if self.storming && self.is_watcher(member) =>
            {
                self.flapped.insert((member, (&**user).into()));
            }
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    self.refused(member, refusal, now, commands);
                }
            }
        }
    }

    fn order(&mut self, order: Order, _: Instant, commands: &mut Commands) {
        match order {
            Order::Storm => self.storming = true,
            Order::Due(due) => due.each().for_each(|(number, due)| self.write(number, due, commands)),
        }
    }

    fn tally(&mut self) -> Tally {
        self.tally.flapped = self.flapped.len() as u64;
        self.tally.clone()
    }
}
