//! The members of a community: they watch their contacts, write to them, change their presence, lose their connections
//! and resume.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use web_proto::{Command, Event, Message, Presence, SetPresence, Welcome};

use super::people::{Contact, People};
use super::poisson::Turn;
use crate::failures::note;
use crate::latency_stamp::{Stamp, Stamps, micros_since};
use crate::retry::{Delay, Refusal, WatchRetry};
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

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
#[derive(Default)]
pub(crate) struct Members {
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
    /// Pairs of a watcher and a member whom it saw as offline after the death of a process.
    flapped: HashSet<(u32, u32)>,
    watch_retry: WatchRetry,
    storming: bool,
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
            /// From the death of a process until a member with a lost connection is online again.
            back,
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
            /// The number of times that a member had to read what it missed, because a queue was dropped.
            behind,
            /// Members whose connection ended although they waited for no acknowledgement.
            lost_idle,
            /// Pairs of a watcher and a member: those whose member lost its connection, and those whose watcher saw the member as
            /// offline.
            watchers_of_lost,
            flapped,
        }
    }
}

/// The number of a request.
const RESUME: u64 = 1;

impl Shared {
    fn letter(&self, member: u32, letter: Letter, stamps: Stamps) -> Command<'static> {
        // Any online contact; a repeated message goes to the same one.
        let nth = (letter.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % u64::from(self.people.online());
        let to = Contact::Online(self.people.online_contact(member, nth as u32)).name();
        token::send(stamps.write(letter.number, letter.due), to, BODY)
    }

    fn watch(&self, member: u32) -> Command<'static> {
        let named = self.people.contacts(member).filter(|_| self.named);
        let users = named.map(|contact| contact.name().into()).collect();
        Command::Watch { contacts: !self.named, users }
    }
}

impl Members {
    fn write(&mut self, moment: Turn, cx: &mut Context<Members>) {
        let letter = Letter { number: moment.number, due: moment.due, refused: 0 };
        self.unanswered.entry(moment.member).or_default().push(letter);
        add(&cx.traffic.sent, 1);
        if !self.gone.contains(&moment.member) {
            self.note_late(moment, cx);
            cx.commands.send(moment.member, &cx.shared.letter(moment.member, letter, cx.stamps));
        }
    }

    fn change(&mut self, moment: Turn, cx: &mut Context<Members>) {
        let Turn { member, number, due } = moment;
        if self.gone.contains(&member) {
            return;
        }
        self.note_late(moment, cx);
        let turn = number / u64::from(cx.shared.people.members());
        let away = turn.is_multiple_of(2) != self.began_away.contains(&member);
        let set = if away { SetPresence::Away } else { SetPresence::Online };
        let due = due.saturating_duration_since(cx.stamps.zero()).as_millis().max(1) as u32;
        cx.shared.changed[member as usize].store(due, Ordering::Relaxed);
        add(&cx.traffic.changes, 1);
        cx.commands.send(member, &Command::Presence { set });
    }

    fn note_late(&mut self, moment: Turn, cx: &mut Context<Members>) {
        if !self.storming {
            cx.tally.late.saturating_record(micros_since(moment.due, cx.now));
        }
    }

    fn receive(&mut self, member: u32, message: &Message<'_>, cx: &mut Context<Members>) {
        let Some(Stamp { number, due }) = cx.stamps.read(&message.id) else { return };
        // The member's own message, which a welcome repeats.
        if token::number(&message.from) == Some(member) {
            return;
        }
        match self.received.insert(number, message.seq as u32) {
            None => {
                let waited = micros_since(due, cx.now);
                cx.traffic.deliver(cx.worker, waited);
                if !self.storming {
                    cx.tally.delivery.saturating_record(waited);
                }
                if let Some(outage) = &cx.outage {
                    outage.delivered(cx.now);
                }
            }
            Some(before) if before == message.seq as u32 => cx.tally.repeated += 1,
            Some(_) => cx.tally.doubled += 1,
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
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, cx: &mut Context<Members>) {
        note(&mut cx.tally.refused, refusal.code.word());
        let Some(Stamp { number, .. }) = refusal.id.and_then(|id| cx.stamps.read(id)) else {
            let wait = self.watch_retry.refused(member, refusal, cx.now);
            return wait
                .into_iter()
                .for_each(|wait| cx.commands.send_after(wait, member, &cx.shared.watch(member)));
        };
        let mut letters = self.unanswered.get_mut(&member).into_iter().flatten();
        let Some(letter) = letters.find(|letter| letter.number == number) else { return };
        letter.refused += 1;
        let letter = *letter;
        match Delay::resend(refusal, letter.refused) {
            Some(wait) => cx.commands.send_after(wait, member, &cx.shared.letter(member, letter, cx.stamps)),
            None => {
                self.answered(member, number);
                add(&cx.traffic.refused, 1);
            }
        }
    }

    fn acknowledged(&mut self, member: u32, id: &str, cx: &mut Context<Members>) {
        let Some(Stamp { number, due }) = cx.stamps.read(id) else { return };
        if !self.answered(member, number) {
            return;
        }
        add(&cx.traffic.acknowledged, 1);
        if let Some(outage) = cx.outage.as_ref().filter(|outage| outage.has_begun()) {
            // A message that was due after the end of the process was sent after it.
            outage.acknowledged(due, cx.now);
        }
        if !self.storming {
            cx.tally.ack.saturating_record(micros_since(due, cx.now));
        } else if member >= cx.shared.storm {
            cx.tally.storm_ack.saturating_record(micros_since(due, cx.now));
        }
    }

    fn news(&mut self, watcher: u32, user: &str, presence: Presence, cx: &mut Context<Members>) {
        add(&cx.traffic.presence, 1);
        // Other users on the contact lists are always offline.
        let Some(member) = token::number(user) else { return };
        let Some(changed) = cx.shared.changed.get(member as usize) else { return };
        let changed = changed.load(Ordering::Relaxed);
        if self.storming {
            cx.tally.flaps += u64::from(presence == Presence::Offline);
            if presence == Presence::Offline && cx.outage.as_ref().is_some_and(|outage| outage.is_on()) {
                self.flapped.insert((watcher, member));
            }
        } else if changed > 0 {
            let due = cx.stamps.zero() + Duration::from_millis(changed.into());
            cx.tally.presence.saturating_record(micros_since(due, cx.now));
        }
    }

    fn note_position(&mut self, member: u32, position: &str, cx: &Context<Members>) {
        if member >= cx.shared.storm && cx.outage.is_none() {
            return;
        }
        match self.positions.get_mut(&member) {
            Some(known) if **known == *position => {}
            Some(known) => *known = position.into(),
            None => drop(self.positions.insert(member, position.into())),
        }
    }

    fn resume(&self, member: u32) -> Command<'static> {
        let position = self.positions.get(&member).map(|position| position.to_string());
        Command::Resume { rid: RESUME, position: position.unwrap_or_default().into() }
    }

    /// The messages that come with a welcome or with changes.
    fn catch_up(&mut self, member: u32, messages: &[Message<'_>], gaps: usize, cx: &mut Context<Members>) {
        cx.tally.gaps += gaps as u64;
        cx.tally.caught_up += messages.len() as u64;
        messages.iter().for_each(|message| self.receive(member, message, cx));
    }

    fn repeat(&mut self, member: u32, cx: &mut Context<Members>) {
        for letter in self.unanswered.get(&member).into_iter().flatten() {
            cx.commands.send(member, &cx.shared.letter(member, *letter, cx.stamps));
        }
    }

    fn is_back(&mut self, member: u32, welcome: &Welcome<'_>, cx: &mut Context<Members>) {
        if let Some(killed) = cx.outage.as_ref().and_then(|outage| outage.killed()) {
            cx.tally.back.saturating_record(micros_since(killed, cx.now));
        }
        cx.tally.not_resumed += u64::from(!welcome.resumed);
        self.catch_up(member, &welcome.messages, welcome.gaps.len(), cx);
        for letter in self.unanswered.get_mut(&member).into_iter().flatten() {
            letter.refused = 0;
        }
        self.repeat(member, cx);
        if cx.shared.named {
            cx.commands.send(member, &cx.shared.watch(member));
        }
    }
}

const BODY: &str = "Are you coming tonight? We meet at eight, as last time, and Tom brings his new game.";

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, cx: &mut Context<Members>) {
        if self.gone.remove(&member) {
            self.is_back(member, welcome, cx);
        } else if welcome.presence != SetPresence::Online {
            self.began_away.insert(member);
        }
        if !cx.shared.named {
            cx.commands.send(member, &cx.shared.watch(member));
        }
        self.note_position(member, &welcome.position, cx);
    }

    fn lost(&mut self, member: u32, cx: &mut Context<Members>) {
        self.gone.insert(member);
        if cx.outage.as_ref().is_some_and(|outage| outage.is_on()) {
            cx.tally.watchers_of_lost += u64::from(cx.shared.people.online());
            cx.tally.lost_idle += u64::from(!self.unanswered.contains_key(&member));
        }
    }

    fn complete(&mut self, tally: &mut Tally) {
        tally.flapped = self.flapped.len() as u64;
    }

    fn position(&self, member: u32) -> Option<&str> {
        self.positions.get(&member).map(|position| &**position)
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Ack { id, position, .. } => {
                self.acknowledged(member, id, cx);
                self.note_position(member, position, cx);
            }
            Event::Message { message, position } => {
                self.receive(member, message, cx);
                self.note_position(member, position, cx);
            }
            Event::Presence { user, presence, .. } => self.news(member, user, *presence, cx),
            Event::Behind => {
                cx.tally.behind += 1;
                cx.commands.send(member, &self.resume(member));
            }
            Event::Changes { messages, gaps, position, .. } => {
                self.catch_up(member, messages, gaps.len(), cx);
                self.note_position(member, position, cx);
                // The acknowledgement may have been in the dropped queue.
                self.repeat(member, cx);
            }
            Event::Error { re: Some(RESUME), retry_after, .. } => {
                let wait = Delay::reconnect(*retry_after, 0);
                cx.commands.send_after(wait, member, &self.resume(member));
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
            Order::Write(moments) => moments.into_iter().for_each(|moment| self.write(moment, cx)),
            Order::Change(moments) => moments.into_iter().for_each(|moment| self.change(moment, cx)),
            Order::Watch(below) => {
                for member in cx.of(below).skip(self.watching) {
                    cx.commands.send(member, &cx.shared.watch(member));
                    self.watching += 1;
                }
            }
            Order::CalmIsOver => self.storming = true,
            Order::Storm(below) => {
                self.gone.extend(cx.of(below));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::latency_stamp::Stamps;
    use crate::outage::Outage;
    use crate::worker::read;

    /// Twelve members who watch two others each, in a run in which a process dies.
    fn context() -> Context<Members> {
        let shared = Shared {
            people: People::new(12, 1, 2, 2).expect("enough members"),
            named: false,
            storm: 0,
            changed: (0..12).map(|_| AtomicU32::new(0)).collect(),
        };
        let mut cx = Context::new(0, 1, Arc::default(), Stamps::new_run(), Arc::new(shared));
        cx.outage = Some(Arc::new(Outage::new(2)));
        cx
    }

    fn presence(member: u32, presence: Presence) -> Event<'static> {
        Event::Presence { user: token::user(member).into(), presence, last_seen: None }
    }

    const WELCOME: &str = r#"{"session":"s","me":{"user":"u","name":"U"},"presence":"online","open":true,
        "limits":{"body_bytes":1,"frame_bytes":1,"page":1,"watch":1,"idle_ms":1,"heartbeat_ms":1},"time":1,"expires":1,
        "resumed":false,"conversations":[],"position":""}"#;

    fn welcome(position: &'static str, resumed: bool) -> Welcome<'static> {
        let welcome: Welcome<'static> = serde_json::from_str(WELCOME).expect("a welcome");
        Welcome { position: position.into(), resumed, ..welcome }
    }

    fn kill(cx: &Context<Members>) {
        let outage = cx.outage.as_ref().expect("a run with a kill");
        outage.begin(Instant::now() + Duration::from_millis(1), Instant::now());
    }

    #[test]
    fn contacts_who_see_a_member_leave_after_the_kill_are_pairs_and_count_once() {
        let (mut cx, mut all) = (context(), Members::default());
        all.order(Order::CalmIsOver, &mut cx);
        all.event(3, &presence(4, Presence::Offline), &mut cx);
        assert_eq!((all.flapped.len(), cx.tally.flaps), (0, 1), "before the kill");
        kill(&cx);
        for (watcher, of) in [(3, 4), (3, 4), (5, 4)] {
            all.event(watcher, &presence(of, Presence::Offline), &mut cx);
            all.event(watcher, &presence(of, Presence::Online), &mut cx);
        }
        let mut tally = Tally::default();
        all.complete(&mut tally);
        assert_eq!((tally.flapped, cx.tally.flaps), (2, 4));
    }

    #[test]
    fn a_member_who_lost_the_connection_writes_when_it_is_back_and_resumes() {
        let (mut cx, mut all) = (context(), Members::default());
        all.welcome(7, &welcome("p1", false), &mut cx);
        assert_eq!(all.position(7), Some("p1"), "any front may die");
        kill(&cx);
        all.lost(7, &mut cx);
        assert_eq!((cx.tally.watchers_of_lost, cx.tally.lost_idle), (2, 1));
        let due = cx.now;
        all.order(Order::Write(vec![Turn { due, member: 7, number: 1 }]), &mut cx);
        assert_eq!((read(&cx.traffic.sent), all.unanswered[&7].len()), (1, 1));
        all.welcome(7, &welcome("p2", true), &mut cx);
        assert_eq!((cx.tally.back.len(), cx.tally.not_resumed), (1, 0));
        let id = cx.stamps.write(1, due);
        all.acknowledged(7, &id, &mut cx);
        assert_eq!((read(&cx.traffic.acknowledged), all.unanswered.len()), (1, 0));
    }

    #[test]
    fn a_member_who_is_behind_resumes_from_its_position() {
        let (mut cx, mut all) = (context(), Members::default());
        all.positions.insert(2, "p9".into());
        all.event(2, &Event::Behind, &mut cx);
        assert_eq!(cx.tally.behind, 1);
        let Command::Resume { rid: RESUME, position } = all.resume(2) else { panic!("a resume") };
        assert_eq!(position, "p9");
    }
}
