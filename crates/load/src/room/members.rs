//! The members of a room: they join, write in turn, and receive everything.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use web_proto::{Command, Event, SendTo};

use crate::failures::note;
use crate::latency_stamp::{Stamp, micros_since};
use crate::schedule::Due;
use crate::tally::tally;
use crate::token;
use crate::worker::{Context, Script, add};

/// State that all workers of a run share.
pub(crate) struct Shared {
    members: u32,
    pub(crate) joined: AtomicU64,
    /// Messages in the room.
    pub(crate) sent: AtomicU64,
}

/// The members of one worker.
#[derive(Default)]
pub(crate) struct Members {
    /// Each run has a room of its own.
    page: String,
    /// By member of this worker: the newest seq.
    newest: Vec<u64>,
}

tally! {
    pub(crate) struct Tally {
        times {
            /// From the due time of a room message to each receipt.
            room,
            /// Latency of the pair, while the room is silent and while it is not.
            alone,
            beside,
        }
        counts {
            /// Messages whose seq was not the next one for that member.
            out_of_order,
        }
    }
}

pub(crate) enum Order {
    Join,
    Room(Due),
    Alone(Due),
    Beside(Due),
}

/// The kind of a message, in two bits of the number in its id.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Room,
    Alone,
    Beside,
}

impl Shared {
    pub(crate) fn new(members: u32) -> Shared {
        Shared { members, joined: AtomicU64::new(0), sent: AtomicU64::new(0) }
    }

    /// The number of members who receive a message.
    fn receivers(&self, kind: Kind) -> u64 {
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
    fn write(&self, member: u32, to: SendTo<'_>, kind: Kind, stamp: Stamp, cx: &mut Context<Members>) {
        add(&cx.traffic.sent, cx.shared.receivers(kind));
        let id = cx.stamps.write(stamp.number << 2 | kind as u64, stamp.due);
        cx.commands.send(member, &token::send_to(id, to, BODY));
    }

    fn write_beside(&self, due: Due, kind: Kind, cx: &mut Context<Members>) {
        let (writer, reader) = (cx.shared.members, cx.shared.members + 1);
        if cx.has(writer) {
            for (number, due) in due.each() {
                let to = SendTo::User(token::user(reader).into());
                self.write(writer, to, kind, Stamp { number, due }, cx);
            }
        }
    }

    fn receive(&mut self, member: u32, id: &str, seq: u64, cx: &mut Context<Members>) {
        let Some(stamp) = cx.stamps.read(id) else { return };
        let micros = micros_since(stamp.due, cx.now);
        cx.traffic.deliver(cx.worker, micros);
        match Kind::of(stamp.number) {
            Kind::Alone => cx.tally.alone.saturating_record(micros),
            Kind::Beside => cx.tally.beside.saturating_record(micros),
            Kind::Room => {
                cx.tally.room.saturating_record(micros);
                self.in_order(member, seq, cx);
            }
        }
    }

    /// A member's own message arrives as an acknowledgement, and counts as received.
    fn in_order(&mut self, member: u32, seq: u64, cx: &mut Context<Members>) {
        let newest = &mut self.newest[cx.index(member)];
        if *newest > 0 && seq != *newest + 1 {
            cx.tally.out_of_order += 1;
        }
        *newest = seq;
    }
}

/// As long as people's messages.
const BODY: &str = "What do you say to Saturday, if the weather holds? We could meet at ten.";

impl Script for Members {
    type Shared = Shared;
    type Order = Order;
    type Tally = Tally;

    fn begin(&mut self, cx: &Context<Members>) {
        self.newest = vec![0; cx.index(cx.shared.members) + 1];
        self.page = format!("/load/{:x}", cx.stamps.seed());
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Message { message, .. } => self.receive(member, &message.id, message.seq, cx),
            Event::Ack { id, seq, .. } => {
                let Some(stamp) = cx.stamps.read(id) else { return };
                let kind = Kind::of(stamp.number);
                add(&cx.traffic.acknowledged, cx.shared.receivers(kind));
                if kind == Kind::Room {
                    self.in_order(member, *seq, cx);
                }
            }
            Event::Conversation { re: Some(_), .. } => add(&cx.shared.joined, 1),
            Event::Error { code, id, .. } => {
                note(&mut cx.tally.refused, code.word());
                let kind = id.as_deref().and_then(|id| cx.stamps.read(id));
                if let Some(stamp) = kind {
                    add(&cx.traffic.refused, cx.shared.receivers(Kind::of(stamp.number)));
                }
            }
            _ => {}
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        let shared = Arc::clone(&cx.shared);
        match order {
            Order::Join => {
                for member in cx.of(shared.members) {
                    let to = SendTo::Page(self.page.as_str().into());
                    cx.commands.send(member, &Command::Join { rid: 1, to });
                }
            }
            Order::Room(due) => {
                for (number, due) in due.each() {
                    // A step that shares no factor with most numbers of members.
                    let member = (number.wrapping_mul(7919) % u64::from(shared.members)) as u32;
                    if cx.has(member) {
                        add(&shared.sent, 1);
                        let to = SendTo::Page(self.page.as_str().into());
                        self.write(member, to, Kind::Room, Stamp { number, due }, cx);
                    }
                }
            }
            Order::Alone(due) => self.write_beside(due, Kind::Alone, cx),
            Order::Beside(due) => self.write_beside(due, Kind::Beside, cx),
        }
    }
}
