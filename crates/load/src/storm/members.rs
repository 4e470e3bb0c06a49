//! What the members of a storm do: some write and watch, the others receive, are gone, and resume.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use hdrhistogram::Histogram;
use web_proto::{Command, Event, Message, Presence, SendTo, Welcome};

use crate::latency_stamp::{Stamp, Stamps, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::schedule::Due;
use crate::token;
use crate::traffic::Traffic;
use crate::worker::{Commands, Script, add, histogram};

pub(crate) enum Order {
    Due(Due),
    /// Now it begins: who is seen to leave from here on has flapped.
    Storm,
}

/// The members of one worker.
pub(crate) struct Members {
    stamps: Stamps,
    members: u32,
    watchers: u32,
    worker: u32,
    workers: u32,
    traffic: Arc<Traffic>,
    /// Up to where each member has everything.
    positions: HashMap<u32, Box<str>>,
    /// Messages that were received, with the seq of the first time.
    received: HashMap<u64, u64>,
    /// Messages of this worker's watchers that have no answer yet, and how many times each was refused.
    refused_times: HashMap<u64, u32>,
    /// Whom a watcher may watch, as its welcome says.
    watch_most: u32,
    watch_retry: WatchRetry,
    storming: bool,
    found: Found,
}

/// The results of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// From when it was due, of those who stayed.
    pub(crate) ack: Histogram<u64>,
    /// One message with two seqs: it was stored twice.
    pub(crate) doubled: u64,
    /// One message with one seq, again: a receiver drops it.
    pub(crate) repeated: u64,
    /// Came with the welcome of those who came back.
    pub(crate) caught_up: u64,
    pub(crate) gaps: u64,
    /// Those who came back and had to begin anew.
    pub(crate) not_resumed: u64,
    /// Pairs of watcher and watched.
    pub(crate) watched: u64,
    /// Of those pairs, where the watcher saw the other one leave.
    pub(crate) flapped: HashSet<(u32, Box<str>)>,
    pub(crate) refusals: BTreeMap<String, u64>,
}

impl Members {
    pub(crate) fn new(
        stamps: Stamps,
        members: u32,
        watchers: u32,
        worker: u32,
        workers: u32,
        traffic: Arc<Traffic>,
    ) -> Members {
        Members {
            stamps,
            members,
            watchers,
            worker,
            workers,
            traffic,
            positions: HashMap::new(),
            received: HashMap::new(),
            refused_times: HashMap::new(),
            watch_most: 0,
            watch_retry: WatchRetry::default(),
            storming: false,
            found: Found {
                ack: histogram(),
                doubled: 0,
                repeated: 0,
                caught_up: 0,
                gaps: 0,
                not_resumed: 0,
                watched: 0,
                flapped: HashSet::new(),
                refusals: BTreeMap::new(),
            },
        }
    }

    fn receive(&mut self, member: u32, message: &Message<'_>) {
        // A watcher's own message on another device, or one of an earlier run.
        let Some(Stamp { number, .. }) = self.stamps.read(&message.id).filter(|_| member < self.members)
        else {
            return;
        };
        match self.received.insert(number, message.seq) {
            None => add(&self.traffic.delivered, 1),
            Some(before) if before == message.seq => self.found.repeated += 1,
            Some(_) => self.found.doubled += 1,
        }
    }

    fn is_watcher(&self, member: u32) -> bool {
        member >= self.members
    }

    fn note_position(&mut self, member: u32, position: &str) {
        if !self.is_watcher(member) {
            self.positions.insert(member, position.into());
        }
    }

    fn write(&mut self, number: u64, due: Instant, commands: &mut Commands) {
        let writer = self.members + (number % u64::from(self.watchers)) as u32;
        if writer % self.workers != self.worker {
            return;
        }
        self.refused_times.insert(number, 0);
        commands.send(writer, &self.letter(number, due));
        add(&self.traffic.sent, 1);
    }

    /// Equal for each attempt.
    fn letter(&self, number: u64, due: Instant) -> Command<'static> {
        // All take their turn, whoever writes to them.
        let to = (number.wrapping_mul(7919) % u64::from(self.members)) as u32;
        let id = self.stamps.write(number, due);
        let to = SendTo::User(token::user(to).into());
        Command::Send {
            id: id.into(),
            to,
            body: "Are you still there?".into(),
            reply_to: None,
            files: Vec::new(),
            thread: None,
        }
    }

    fn watched(&self, watcher: u32) -> std::ops::Range<u32> {
        let share = self.members.div_ceil(self.watchers);
        let first = (watcher - self.members) * share;
        first..first + share.min(self.watch_most).min(self.members.saturating_sub(first))
    }

    fn watch(&self, watcher: u32) -> Command<'static> {
        let users = self.watched(watcher).map(|member| token::user(member).into()).collect();
        Command::Watch { contacts: false, users }
    }

    /// Repeats a refused command when the server allows it.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, now: Instant, commands: &mut Commands) {
        *self.found.refusals.entry(refusal.code.word().to_owned()).or_default() += 1;
        let Some(Stamp { number, due }) = refusal.id.and_then(|id| self.stamps.read(id)) else {
            let wait = self.watch_retry.refused(member, refusal, now).filter(|_| self.is_watcher(member));
            return wait.into_iter().for_each(|wait| commands.send_after(wait, member, &self.watch(member)));
        };
        let Some(times) = self.refused_times.get_mut(&number) else { return };
        *times += 1;
        match Delay::resend(refusal, *times) {
            Some(wait) => commands.send_after(wait, member, &self.letter(number, due)),
            None => {
                self.refused_times.remove(&number);
                add(&self.traffic.refused, 1);
            }
        }
    }
}

impl Script for Members {
    type Order = Order;
    type Result = Found;

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, _: Instant, commands: &mut Commands) {
        if self.is_watcher(member) {
            self.watch_most = welcome.limits.watch;
            commands.send(member, &self.watch(member));
            self.found.watched += self.watched(member).len() as u64;
            return;
        }
        if self.storming {
            self.found.not_resumed += u64::from(!welcome.resumed);
            self.found.gaps += welcome.gaps.len() as u64;
            self.found.caught_up += welcome.messages.len() as u64;
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
                let Some(Stamp { number, due }) = self.stamps.read(id) else { return };
                if self.refused_times.remove(&number).is_none() {
                    return;
                }
                let waited = micros_since(due, now);
                add(&self.traffic.acknowledged, 1);
                self.traffic.note(self.worker, waited);
                self.found.ack.saturating_record(waited);
            }
            Event::Message { message, position } => {
                self.receive(member, message);
                self.note_position(member, position);
            }
            Event::Presence { user, presence: Presence::Offline, .. }
                if self.storming && self.is_watcher(member) =>
            {
                self.found.flapped.insert((member, (&**user).into()));
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

    fn result(&mut self) -> Found {
        self.found.clone()
    }
}
