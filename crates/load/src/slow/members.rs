//! The members: the others write and read, the slow ones read late. A member who falls behind resumes, fetches missing
//! messages, and repeats unacknowledged ones.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use web_proto::{Command, Event, Message, SendTo, Welcome};

use super::SlowPlan;
use crate::failures::note;
use crate::latency_stamp::{Stamp, micros_since};
use crate::schedule::Due;
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

/// Messages of one history request.
const PAGE: u32 = 20;

pub(crate) enum Order {
    Due(Due),
    /// The slow members stop reading now.
    Pause,
}

/// The members of one worker. The slow ones have the first numbers, then come the others.
#[derive(Default)]
pub(crate) struct Members {
    body: String,
    /// Each member's resume position, and its newest seq in each conversation. On a busy machine every member may fall
    /// behind.
    positions: HashMap<u32, Box<str>>,
    newest: HashMap<(u32, Box<str>), u64>,
    /// By member: unacknowledged messages, which are repeated. The acknowledgement may have been in a dropped queue.
    unanswered: HashMap<u32, BTreeMap<Box<str>, u32>>,
    /// By member and conversation: the seq after which messages must still be fetched.
    holes: HashMap<u32, BTreeMap<Box<str>, u64>>,
    /// By number of the message: its seq, to detect a duplicate.
    received: HashMap<u64, u64>,
    paused: bool,
}

tally! {
    pub(crate) struct Tally {
        times {
            /// Latency to members who read all the time: before the slow members pause, and during the pause.
            calm,
            pause,
        }
        counts {
            doubled,
            repeated,
            /// The number of times that the server dropped a queue and reported it.
            behind,
            /// Conversations with more missed messages than `changes` contains.
            gaps,
            /// Messages that were fetched from the history to fill the gaps.
            fetched,
        }
    }
}

impl Members {
    fn receive(&mut self, member: u32, message: &Message<'_>, cx: &mut Context<Members>) {
        let newest = self.newest.entry((member, (&*message.conversation).into())).or_default();
        *newest = message.seq.max(*newest);
        let Some(Stamp { number, due }) = cx.stamps.read(&message.id) else { return };
        match self.received.insert(number, message.seq) {
            None => add(&cx.traffic.delivered, 1),
            Some(before) if before == message.seq => return cx.tally.repeated += 1,
            Some(_) => return cx.tally.doubled += 1,
        }
        if member >= cx.shared.slow {
            let waited = micros_since(due, cx.now);
            cx.traffic.note(cx.worker, waited);
            let times = if self.paused { &mut cx.tally.pause } else { &mut cx.tally.calm };
            times.saturating_record(waited);
        }
    }

    fn note_position(&mut self, member: u32, position: &str) {
        self.positions.insert(member, position.into());
    }

    /// Requests missing messages, one page at a time. If the response is in a dropped queue, the request is repeated
    /// then.
    fn fetch(&self, member: u32, cx: &mut Context<Members>) {
        let hole = self.holes.get(&member).and_then(BTreeMap::first_key_value);
        if let Some((conversation, after)) = hole {
            let to = SendTo::Conversation((&**conversation).into());
            let (before, after, limit) = (None, Some(*after), Some(PAGE));
            cx.commands.send(
                member,
                &Command::History { rid: 1, to, before, after, since: None, thread: None, limit },
            );
        }
    }

    /// Handles a page of missing messages.
    fn fill(&mut self, member: u32, conversation: &str, last: Option<u64>) {
        let Some(holes) = self.holes.get_mut(&member) else { return };
        match (holes.get_mut(conversation), last) {
            (Some(after), Some(last)) => *after = last,
            _ => drop(holes.remove(conversation)),
        }
    }

    fn write(&mut self, number: u64, due: Instant, cx: &mut Context<Members>) {
        let SlowPlan { slow, members, .. } = *cx.shared;
        let others = u64::from(members);
        // Two steps that share no factor with the numbers mix authors and recipients.
        let writer = (number.wrapping_mul(7919) % others) as u32;
        if !cx.has(slow + writer) {
            return;
        }
        let to = if number.is_multiple_of(2) {
            ((number / 2).wrapping_mul(104_729) % u64::from(slow)) as u32
        } else {
            slow + (writer + 1 + (number.wrapping_mul(31) % (others - 1)) as u32) % members
        };
        let id: Box<str> = cx.stamps.write(number, due).into();
        cx.commands.send(slow + writer, &token::send(id.to_string(), token::user(to), &self.body));
        self.unanswered.entry(slow + writer).or_default().insert(id, to);
        add(&cx.traffic.sent, 1);
    }

    /// True the first time.
    fn is_answered(&mut self, member: u32, id: &str) -> bool {
        self.unanswered.get_mut(&member).is_some_and(|waiting| waiting.remove(id).is_some())
    }

    fn say_again(&self, member: u32, cx: &mut Context<Members>) {
        for (id, to) in self.unanswered.get(&member).into_iter().flatten() {
            cx.commands.send(member, &token::send(id.to_string(), token::user(*to), &self.body));
        }
    }
}

impl Script for Members {
    type Shared = SlowPlan;
    type Order = Order;
    type Tally = Tally;

    fn begin(&mut self, cx: &Context<Members>) {
        self.body = "x".repeat(cx.shared.body);
    }

    fn welcome(&mut self, member: u32, welcome: &Welcome<'_>, _: &mut Context<Members>) {
        self.note_position(member, &welcome.position);
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Ack { id, .. } if self.is_answered(member, id) => {
                add(&cx.traffic.acknowledged, 1);
            }
            Event::Message { message, position } => {
                self.receive(member, message, cx);
                self.note_position(member, position);
            }
            Event::Behind => {
                cx.tally.behind += 1;
                let position = self.positions.get(&member).map_or("", |position| position).into();
                cx.commands.send(member, &Command::Resume { rid: 1, position });
            }
            Event::Changes { messages, gaps, position, .. } => {
                // A gap begins after the newest known message, so record it before these messages.
                for gap in gaps {
                    cx.tally.gaps += 1;
                    let conversation: Box<str> = (&*gap.conversation).into();
                    let newest = self.newest.get(&(member, conversation.clone())).copied().unwrap_or(0);
                    self.holes.entry(member).or_default().entry(conversation).or_insert(newest);
                }
                messages.iter().for_each(|message| self.receive(member, message, cx));
                self.note_position(member, position);
                self.say_again(member, cx);
                self.fetch(member, cx);
            }
            Event::History { conversation, messages, more, .. } => {
                cx.tally.fetched += messages.len() as u64;
                messages.iter().for_each(|message| self.receive(member, message, cx));
                self.fill(member, conversation, messages.last().filter(|_| *more).map(|last| last.seq));
                self.fetch(member, cx);
            }
            Event::Error { code, id, .. } => {
                if let Some(id) = id {
                    self.is_answered(member, id);
                }
                add(&cx.traffic.refused, 1);
                note(&mut cx.tally.refused, code.word());
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        match order {
            Order::Pause => self.paused = true,
            Order::Due(due) => due.each().for_each(|(number, due)| self.write(number, due, cx)),
        }
    }
}
