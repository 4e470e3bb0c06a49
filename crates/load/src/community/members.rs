//! The members of a community: they watch their contacts, write to them, change their presence, lose their connections
//! and resume.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use web_proto::{Command, Event, Message, Presence, SetPresence, Welcome};

use super::people::{Contact, People};
use super::poisson::Turn;
use crate::latency_stamp::{Stamp, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::tally::tally;
use crate::token;
use crate::worker::{Commands, Script, Share, add};

pub(crate) enum Order {
    /// These members write a message now.
    Write(Vec<Turn>),
    /// These members change their presence now.
    Change(Vec<Turn>),
    /// The members below this number name the users they watch, each once.
    Watch(u32),
    /// The phase before the storm is over.
    CalmIsOver,
    /// All members below this number lose their connections.
    Storm(u32),
}

/// State that the workers share.
pub(crate) struct Shared {
    pub(crate) people: People,
    /// Members name the users they watch after [`Order::Watch`]; otherwise they watch their contacts when they connect.
    pub(crate) named: bool,
    /// Members below this number keep their positions.
    pub(crate) storm: u32,
    /// When each member's last change of presence was due, in milliseconds after the run's begin; 0: never.
    pub(crate) changed: Box<[AtomicU32]>,
}

/// The members of one worker.
pub(crate) struct Members {
    shared: Arc<Shared>,
    share: Share,
    /// The number of members that have named the users they watch.
    watching: usize,
    /// Resume positions of members who will lose their connections.
    positions: HashMap<u32, Box<str>>,
    /// Unacknowledged messages by author: they are sent again after a reconnect.
    unanswered: HashMap<u32, Vec<Letter>>,
    /// Received messages, with the seq of the first receipt.
    received: HashMap<u64, u32>,
    /// Members who have lost their connections.
    gone: HashSet<u32>,
    /// Members who were away when they connected, because an earlier run left them like this.
    began_away: HashSet<u32>,
    watch_retry: WatchRetry,
    storming: bool,
    tally: Tally,
}

#[derive(Clone, Copy)]
struct Letter {
    number: u64,
    due: Instant,
    /// The number of refusals since its author connected.
    refused: u32,
}

tally! {
    pub(crate) struct Tally {
        times {
            /// From the due time, before the storm.
            ack,
            delivery,
            presence,
            /// From the due time, for members who stayed, from the storm on.
            storm_ack,
            /// From the due time until it was sent, before the storm.
            late,
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
            /// Offline events from the storm on. No member is away long enough to be shown as offline.
            flaps,
        }
    }
}

impl Members {
    fn write(&mut self, moment: Turn, now: Instant, commands: &mut Commands) {
        let letter = Letter { number: moment.number, due: moment.due, refused: 0 };
        self.unanswered.entry(moment.member).or_default().push(letter);
        add(&self.share.traffic.sent, 1);
        if !self.gone.contains(&moment.member) {
            self.note_late(moment, now);
            commands.send(moment.member, &self.letter(moment.member, letter));
        }
    }

    fn letter(&self, member: u32, letter: Letter) -> Command<'static> {
        let people = &self.shared.people;
        // Any online contact; a repeated message goes to the same one.
        let nth = (letter.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % u64::from(people.online());
        let to = Contact::Online(people.online_contact(member, nth as u32)).name();
        token::send(self.share.stamps.write(letter.number, letter.due), to, BODY)
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
        let due = due.saturating_duration_since(self.share.stamps.zero()).as_millis().max(1) as u32;
        self.shared.changed[member as usize].store(due, Ordering::Relaxed);
        add(&self.share.traffic.changes, 1);
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
        let Some(Stamp { number, due }) = self.share.stamps.read(&message.id) else { return };
        // The member's own message, which a welcome repeats.
        if token::number(&message.from) == Some(member) {
            return;
        }
        match self.received.insert(number, message.seq as u32) {
            None => {
                let waited = micros_since(due, now);
                self.share.traffic.deliver(self.share.worker, waited);
                if !self.storming {
                    self.tally.delivery.saturating_record(waited);
                }
            }
            Some(before) if before == message.seq as u32 => self.tally.repeated += 1,
            Some(_) => self.tally.doubled += 1,
        }
    }

    /// Removes a message that waits for its acknowledgement; false if it does not wait.
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
        let Some(Stamp { number, .. }) = refusal.id.and_then(|id| self.share.stamps.read(id)) else {
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
                add(&self.share.traffic.refused, 1);
            }
        }
    }

    fn acknowledged(&mut self, member: u32, id: &str, now: Instant) {
        let Some(Stamp { number, due }) = self.share.stamps.read(id) else { return };
        if !self.answered(member, number) {
            return;
        }
        add(&self.share.traffic.acknowledged, 1);
        if !self.storming {
            self.tally.ack.saturating_record(micros_since(due, now));
        } else if member >= self.shared.storm {
            self.tally.storm_ack.saturating_record(micros_since(due, now));
        }
    }

    fn news(&mut self, user: &str, presence: Presence, now: Instant) {
        add(&self.share.traffic.presence, 1);
        let of_member = token::number(user).and_then(|member| self.shared.changed.get(member as usize));
        // Other users on the contact lists are always offline.
        let Some(changed) = of_member.map(|changed| changed.load(Ordering::Relaxed)) else { return };
        if self.storming {
            self.tally.flaps += u64::from(presence == Presence::Offline);
        } else if changed > 0 {
            let due = self.share.stamps.zero() + Duration::from_millis(changed.into());
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
