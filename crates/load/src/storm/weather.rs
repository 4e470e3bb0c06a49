//! What the members of a storm do: some write and watch, the others receive, are gone, and resume.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use hdrhistogram::Histogram;
use web_proto::{Command, Event, Message, Presence, SendTo, Welcome};

use crate::crowd::{Says, Script, add, histogram};
use crate::pen::Due;
use crate::token;
use crate::traffic::Traffic;

pub(crate) enum Order {
    Due(Due),
    /// Now it begins: who is seen to leave from here on has flapped.
    Storm,
}

/// The members of one worker.
pub(crate) struct Weather {
    run: u64,
    members: u32,
    watchers: u32,
    worker: u32,
    workers: u32,
    traffic: Arc<Traffic>,
    /// Up to where each member has everything.
    positions: HashMap<u32, Box<str>>,
    /// Messages that were received, with the seq of the first time.
    received: HashMap<u64, u64>,
    /// When the messages of this worker's watchers were due.
    due: HashMap<u64, Instant>,
    storming: bool,
    found: Found,
}

/// What one worker has found.
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

impl Weather {
    pub(crate) fn new(
        run: u64,
        members: u32,
        watchers: u32,
        worker: u32,
        workers: u32,
        traffic: Arc<Traffic>,
    ) -> Weather {
        Weather {
            run,
            members,
            watchers,
            worker,
            workers,
            traffic,
            positions: HashMap::new(),
            received: HashMap::new(),
            due: HashMap::new(),
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
        let Some(number) = number_of(&message.id, self.run).filter(|_| member < self.members) else { return };
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

    fn write(&mut self, number: u64, due: Instant, says: &mut Says) {
        let writer = self.members + (number % u64::from(self.watchers)) as u32;
        if writer % self.workers != self.worker {
            return;
        }
        // All take their turn, whoever writes to them.
        let to = (number.wrapping_mul(7919) % u64::from(self.members)) as u32;
        let id = format!("{:x}-{number:x}", self.run);
        let to = SendTo::User(token::user(to).into());
        says.say(
            writer,
            &Command::Send { id: id.into(), to, body: "Are you still there?".into(), reply_to: None },
        );
        self.due.insert(number, due);
        add(&self.traffic.sent, 1);
    }
}

impl Script for Weather {
    type Order = Order;
    type Result = Found;

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, _: Instant, says: &mut Says) {
        if self.is_watcher(member) {
            let share = self.members.div_ceil(self.watchers);
            let first = (member - self.members) * share;
            let watched = share.min(welcome.limits.watch).min(self.members.saturating_sub(first));
            let users = (first..first + watched).map(|member| token::user(member).into()).collect();
            says.say(member, &Command::Watch { contacts: false, users });
            self.found.watched += u64::from(watched);
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

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, _: &mut Says) {
        match event {
            Event::Ack { id, .. } => {
                let Some(due) = number_of(id, self.run).and_then(|number| self.due.remove(&number)) else {
                    return;
                };
                let waited = now.saturating_duration_since(due).as_micros() as u64;
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
            Event::Error { code, .. } => {
                add(&self.traffic.refused, 1);
                *self.found.refusals.entry(code.word().to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, _: Instant, says: &mut Says) {
        match order {
            Order::Storm => self.storming = true,
            Order::Due(due) => due.each().for_each(|(number, due)| self.write(number, due, says)),
        }
    }

    fn result(&mut self) -> Found {
        self.found.clone()
    }
}

/// The number of a message of this run.
fn number_of(id: &str, run: u64) -> Option<u64> {
    let (of_run, number) = id.split_once('-')?;
    let ours = u64::from_str_radix(of_run, 16).ok()? == run;
    if ours { u64::from_str_radix(number, 16).ok() } else { None }
}
