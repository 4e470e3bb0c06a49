//! The members of a community: they watch their contacts, write to them, change their presence, lose their connection and
//! resume.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use web_proto::{Command, Event, Message, Presence, SetPresence, Welcome};

use super::people::{Contact, People};
use super::poisson::Turn;
use crate::latency_stamp::{Stamp, Stamps, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::tally::tally;
use crate::token;
use crate::traffic::Traffic;
use crate::worker::{Commands, Script, Share, add};

pub(crate) enum Order {
    /// These members' turns to write have come.
    Write(Vec<Turn>),
    /// To change their presence.
    Change(Vec<Turn>),
    /// The members below this number name the users they watch, each once.
    Watch(u32),
    /// The calm part is over.
    CalmIsOver,
    /// All below this number are gone.
    Storm(u32),
}

/// State that the workers share.
pub(crate) struct Shared {
    pub(crate) stamps: Stamps,
    pub(crate) people: People,
    /// Members name whom they watch, after [`Order::Watch`]; otherwise they watch their contacts as they come.
    pub(crate) named: bool,
    /// Members below this number keep their positions.
    pub(crate) storm: u32,
    pub(crate) traffic: Arc<Traffic>,
    /// When each member's last change of presence was due, in milliseconds after the run's begin; 0: never.
    pub(crate) changed: Box<[AtomicU32]>,
}

/// The members of one worker.
pub(crate) struct Members {
    shared: Arc<Shared>,
    share: Share,
    /// How many have named the users they watch.
    watching: usize,
    /// Up to where the members who will be gone have everything.
    positions: HashMap<u32, Box<str>>,
    /// Messages without an answer yet, by their writer: they are sent again after a reconnect.
    unanswered: HashMap<u32, Vec<Letter>>,
    /// Messages that were received, with the seq of the first time.
    received: HashMap<u64, u32>,
    /// Members whose connection is gone.
    gone: HashSet<u32>,
    /// Members who were not online for others when they came: a run before has left them like this.
    began_away: HashSet<u32>,
    watch_retry: WatchRetry,
    storming: bool,
    tally: Tally,
}

#[derive(Clone, Copy)]
struct Letter {
    number: u64,
    due: Instant,
    /// So many times, since its writer is connected.
    refused: u32,
}

tally! {
    pub(crate) struct Tally {
        times {
            /// From when it was due, in the calm part.
            ack,
            delivery,
            presence,
            /// Of those who stayed, from the storm on.
            storm_ack,
            /// From when something was due until it was sent, in the calm part.
            late,
        }
        counts {
            /// One message with two seqs: it was stored twice.
            doubled,
            /// One message with one seq, again: a receiver drops it.
            repeated,
            /// Came with the welcome of those who came back.
            caught_up,
            gaps,
            /// Those who came back and had to begin anew.
            not_resumed,
            /// Events that a user is offline, from the storm on: no member is away for long enough to be shown as offline.
            flaps,
        }
    }
}

impl Members {
    fn write(&mut self, moment: Turn, now: Instant, commands: &mut Commands) {
        let letter = Letter { number: moment.number, due: moment.due, refused: 0 };
        self.unanswered.entry(moment.member).or_default().push(letter);
        add(&self.shared.traffic.sent, 1);
        if !self.gone.contains(&moment.member) {
            self.note_late(moment, now);
            commands.send(moment.member, &self.letter(moment.member, letter));
        }
    }

    fn letter(&self, member: u32, letter: Letter) -> Command<'static> {
        let Shared { stamps, people, .. } = &*self.shared;
        // Any online contact; a repeated message goes to the same one.
        let nth = (letter.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % u64::from(people.online());
        let to = Contact::Online(people.online_contact(member, nth as u32)).name();
        token::send(stamps.write(letter.number, letter.due), to, BODY)
    }

    fn change(&mut self, moment: Turn, now: Instant, commands: &mut Commands) {
        let Turn { member, number, due } = moment;
        if self.gone.contains(&member) {
            return;
        }
        self.note_late(moment, now);
        let turn = number / u64::from(self.shared.people.members());
        let away = turn.is_multiple_of(2) != self.began_away.contains(&member);
        let set = if away { SetPresence::Away } else { SetPresence::Online };
        let due = due.saturating_duration_since(self.shared.stamps.zero()).as_millis().max(1) as u32;
        self.shared.changed[member as usize].store(due, Ordering::Relaxed);
        add(&self.shared.traffic.changes, 1);
        commands.send(member, &Command::Presence { set });
    }

    fn note_late(&mut self, moment: Turn, now: Instant) {
        if !self.storming {
            self.tally.late.saturating_record(micros_since(moment.due, now));
        }
    }

    fn watch(&self, member: u32) -> Command<'static> {
        let named = self.shared.people.contacts(member).filter(|_| self.shared.named);
        let users = named.map(|contact| contact.name().into()).collect();
        Command::Watch { contacts: !self.shared.named, users }
    }

    fn receive(&mut self, member: u32, message: &Message<'_>, now: Instant) {
        let Some(Stamp { number, due }) = self.shared.stamps.read(&message.id) else { return };
        // One's own, which a welcome brings back.
        if token::number(&message.from) == Some(member) {
            return;
        }
        match self.received.insert(number, message.seq as u32) {
            None => {
                let waited = micros_since(due, now);
                self.shared.traffic.deliver(self.share.worker, waited);
                if !self.storming {
                    self.tally.delivery.saturating_record(waited);
                }
            }
            Some(before) if before == message.seq as u32 => self.tally.repeated += 1,
            Some(_) => self.tally.doubled += 1,
        }
    }

    /// Takes a message off those that wait for an answer; false where it has had one.
    fn answered(&mut self, member: u32, number: u64) -> bool {
        let Some(letters) = self.unanswered.get_mut(&member) else { return false };
        let Some(at) = letters.iter().position(|letter| letter.number == number) else { return false };
        letters.swap_remove(at);
        if letters.is_empty() {
            self.unanswered.remove(&member);
        }
        true
    }

    /// Repeats a refused command when the server allows it. A message that may not be repeated counts as answered.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, now: Instant, commands: &mut Commands) {
        self.tally.note_refusal(refusal.code.word());
        let Some(Stamp { number, .. }) = refusal.id.and_then(|id| self.shared.stamps.read(id)) else {
            let wait = self.watch_retry.refused(member, refusal, now);
            return wait.into_iter().for_each(|wait| commands.send_after(wait, member, &self.watch(member)));
        };
        let mut letters = self.unanswered.get_mut(&member).into_iter().flatten();
        let Some(letter) = letters.find(|letter| letter.number == number) else { return };
        letter.refused += 1;
        let letter = *letter;
        match Delay::resend(refusal, letter.refused) {
            Some(wait) => commands.send_after(wait, member, &self.letter(member, letter)),
            None => {
                self.answered(member, number);
                add(&self.shared.traffic.refused, 1);
            }
        }
    }

    fn acknowledged(&mut self, member: u32, id: &str, now: Instant) {
        let Some(Stamp { number, due }) = self.shared.stamps.read(id) else { return };
        if !self.answered(member, number) {
            return;
        }
        add(&self.shared.traffic.acknowledged, 1);
        if !self.storming {
            self.tally.ack.saturating_record(micros_since(due, now));
        } else if member >= self.shared.storm {
            self.tally.storm_ack.saturating_record(micros_since(due, now));
        }
    }

    fn news(&mut self, user: &str, presence: Presence, now: Instant) {
        add(&self.shared.traffic.presence, 1);
        let of_member = token::number(user).and_then(|member| self.shared.changed.get(member as usize));
        // OtherProcesses on the rosters are always offline.
        let Some(changed) = of_member.map(|changed| changed.load(Ordering::Relaxed)) else { return };
        if self.storming {
            self.tally.flaps += u64::from(presence == Presence::Offline);
        } else if changed > 0 {
            let due = self.shared.stamps.zero() + Duration::from_millis(changed.into());
            self.tally.presence.saturating_record(micros_since(due, now));
        }
    }

    fn note_position(&mut self, member: u32, position: &str) {
        if member < self.shared.storm {
            self.positions.insert(member, position.into());
        }
    }

    fn is_back(&mut self, member: u32, welcome: &Welcome<'_>, now: Instant, commands: &mut Commands) {
        self.tally.not_resumed += u64::from(!welcome.resumed);
        self.tally.gaps += welcome.gaps.len() as u64;
        self.tally.caught_up += welcome.messages.len() as u64;
        for message in &welcome.messages {
            self.receive(member, message, now);
        }
        for letter in self.unanswered.get_mut(&member).into_iter().flatten() {
            letter.refused = 0;
        }
        for letter in self.unanswered.get(&member).into_iter().flatten() {
            commands.send(member, &self.letter(member, *letter));
        }
        if self.shared.named {
            commands.send(member, &self.watch(member));
        }
    }
}

const BODY: &str = "Are you coming tonight? We meet at eight, as last time, and Tom brings his new game.";

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn new(shared: Arc<Shared>, share: Share) -> Members {
        Members {
            shared,
            share,
            watching: 0,
            positions: HashMap::new(),
            unanswered: HashMap::new(),
            received: HashMap::new(),
            gone: HashSet::new(),
            began_away: HashSet::new(),
            watch_retry: WatchRetry::default(),
            storming: false,
            tally: Tally::default(),
        }
    }

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, now: Instant, commands: &mut Commands) {
        if self.gone.remove(&member) {
            self.is_back(member, welcome, now, commands);
        } else if welcome.presence != SetPresence::Online {
            self.began_away.insert(member);
        }
        if !self.shared.named {
            commands.send(member, &self.watch(member));
        }
        self.note_position(member, &welcome.position);
    }

    fn position(&self, member: u32) -> Option<&str> {
        self.positions.get(&member).map(|position| &**position)
    }

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, commands: &mut Commands) {
        match event {
            Event::Ack { id, position, .. } => {
                self.acknowledged(member, id, now);
                self.note_position(member, position);
            }
            Event::Message { message, position } => {
                self.receive(member, message, now);
                self.note_position(member, position);
            }
            Event::Presence { user, presence, .. } => self.news(user, *presence, now),
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    self.refused(member, refusal, now, commands);
                }
            }
        }
    }

    fn order(&mut self, order: Order, now: Instant, commands: &mut Commands) {
        match order {
            Order::Write(moments) => moments.into_iter().for_each(|moment| self.write(moment, now, commands)),
            Order::Change(moments) => {
                moments.into_iter().for_each(|moment| self.change(moment, now, commands))
            }
            Order::Watch(below) => {
                for member in self.share.of(below).skip(self.watching) {
                    commands.send(member, &self.watch(member));
                    self.watching += 1;
                }
            }
            Order::CalmIsOver => self.storming = true,
            Order::Storm(below) => {
                self.gone.extend(self.share.of(below));
            }
        }
    }

    fn tally(&mut self) -> Tally {
        self.tally.clone()
    }
}
