//! What members of a room do: join, write when it is their turn, and hear everything.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use hdrhistogram::Histogram;
use web_proto::{Command, Event, SendTo};

use super::RoomPlan;
use crate::crowd::{Says, Script, add, histogram};
use crate::pen::Due;
use crate::postmark::{Postmarks, micros_since};
use crate::reasons::Reasons;
use crate::token;
use crate::traffic::Traffic;

/// State that all workers of a run share.
pub(crate) struct Table {
    members: u32,
    /// Each run has a room of its own.
    page: String,
    marks: Postmarks,
    traffic: Arc<Traffic>,
    pub(crate) joined: AtomicU64,
    /// Messages in the room.
    pub(crate) sent: AtomicU64,
}

/// The members of one worker.
pub(crate) struct Members {
    table: Arc<Table>,
    worker: u32,
    workers: u32,
    found: Found,
}

/// The results of one worker.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    /// Of each message at each member.
    pub(crate) room: Histogram<u64>,
    /// Of the pair, while the room is silent and while it is not.
    pub(crate) alone: Histogram<u64>,
    pub(crate) beside: Histogram<u64>,
    /// Messages whose seq was not the next one of that member.
    pub(crate) out_of_order: u64,
    /// By member of this worker: the newest seq.
    newest: Vec<u64>,
    pub(crate) refusals: Reasons,
}

pub(crate) enum Order {
    Join,
    Room(Due),
    Alone(Due),
    Beside(Due),
}

/// The kind of a message, in two bits of the number of its postmark.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Room,
    Alone,
    Beside,
}

impl Table {
    pub(crate) fn new(plan: &RoomPlan, traffic: Arc<Traffic>) -> Table {
        let marks = Postmarks::of_a_new_run();
        Table {
            members: plan.members,
            page: format!("/load/{:x}", marks.seed()),
            marks,
            traffic,
            joined: AtomicU64::new(0),
            sent: AtomicU64::new(0),
        }
    }

    /// How many hear a message.
    fn hearers(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Room => u64::from(self.members) - 1,
            Kind::Alone | Kind::Beside => 1,
        }
    }
}

impl Kind {
    fn of(number: u64) -> Kind {
        match number & 3 {
            0 => Kind::Room,
            1 => Kind::Alone,
            _ => Kind::Beside,
        }
    }
}

impl Members {
    pub(crate) fn new(table: Arc<Table>, worker: usize, workers: usize) -> Members {
        let newest = vec![0; table.members as usize / workers + 1];
        let found = Found {
            room: histogram(),
            alone: histogram(),
            beside: histogram(),
            out_of_order: 0,
            newest,
            refusals: Reasons::new(),
        };
        Members { table, worker: worker as u32, workers: workers as u32, found }
    }

    fn is_here(&self, member: u32) -> bool {
        member % self.workers == self.worker
    }

    fn write(&self, member: u32, to: SendTo<'_>, kind: Kind, number: u64, due: Instant, says: &mut Says) {
        add(&self.table.traffic.sent, self.table.hearers(kind));
        let id = self.table.marks.write(number << 2 | kind as u64, due);
        says.say(
            member,
            &Command::Send {
                id: id.into(),
                to,
                body: BODY.into(),
                reply_to: None,
                files: Vec::new(),
                thread: None,
            },
        );
    }

    fn write_beside(&self, due: Due, kind: Kind, says: &mut Says) {
        let (writer, reader) = (self.table.members, self.table.members + 1);
        if self.is_here(writer) {
            for (number, due) in due.each() {
                self.write(writer, SendTo::User(token::user(reader).into()), kind, number, due, says);
            }
        }
    }

    fn hear(&mut self, member: u32, id: &str, seq: u64, now: Instant) {
        let Some(mark) = self.table.marks.read(id) else { return };
        let micros = micros_since(mark.due, now);
        self.table.traffic.deliver(self.worker, micros);
        match Kind::of(mark.number) {
            Kind::Alone => self.found.alone.saturating_record(micros),
            Kind::Beside => self.found.beside.saturating_record(micros),
            Kind::Room => {
                self.found.room.saturating_record(micros);
                self.in_order(member, seq);
            }
        }
    }

    /// One's own messages come as an acknowledgement, and count as heard.
    fn in_order(&mut self, member: u32, seq: u64) {
        let newest = &mut self.found.newest[(member / self.workers) as usize];
        if *newest > 0 && seq != *newest + 1 {
            self.found.out_of_order += 1;
        }
        *newest = seq;
    }
}

/// As long as people's messages are.
const BODY: &str = "What do you say to Saturday, if the weather holds? We could meet at ten.";

impl Script for Members {
    type Order = Order;
    type Result = Found;

    fn event(&mut self, member: u32, event: &Event<'_>, now: Instant, says: &mut Says) {
        let _ = says;
        match event {
            Event::Message { message, .. } => self.hear(member, &message.id, message.seq, now),
            Event::Ack { id, seq, .. } => {
                let Some(mark) = self.table.marks.read(id) else { return };
                let kind = Kind::of(mark.number);
                add(&self.table.traffic.acknowledged, self.table.hearers(kind));
                if kind == Kind::Room {
                    self.in_order(member, *seq);
                }
            }
            Event::Conversation { re: Some(_), .. } => add(&self.table.joined, 1),
            Event::Error { code, id, .. } => {
                *self.found.refusals.entry(code.word().to_owned()).or_default() += 1;
                let kind = id.as_deref().and_then(|id| self.table.marks.read(id));
                if let Some(mark) = kind {
                    add(&self.table.traffic.refused, self.table.hearers(Kind::of(mark.number)));
                }
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, _: Instant, says: &mut Says) {
        let table = Arc::clone(&self.table);
        match order {
            Order::Join => {
                for member in (self.worker..table.members).step_by(self.workers as usize) {
                    let to = SendTo::Page(table.page.as_str().into());
                    says.say(member, &Command::Join { rid: 1, to });
                }
            }
            Order::Room(due) => {
                for (number, due) in due.each() {
                    // A step that shares no factor with most numbers of members.
                    let member = (number.wrapping_mul(7919) % u64::from(table.members)) as u32;
                    if self.is_here(member) {
                        add(&table.sent, 1);
                        let to = SendTo::Page(table.page.as_str().into());
                        self.write(member, to, Kind::Room, number, due, says);
                    }
                }
            }
            Order::Alone(due) => self.write_beside(due, Kind::Alone, says),
            Order::Beside(due) => self.write_beside(due, Kind::Beside, says),
        }
    }

    fn result(&mut self) -> Found {
        self.found.clone()
    }
}
