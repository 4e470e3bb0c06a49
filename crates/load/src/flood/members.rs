//! The members of a flood: silent, except for one message to the neighbour at the end.

use std::collections::HashMap;

use web_proto::{Command, Event};

use super::FloodPlan;
use crate::failures::{Reasons, note};
use crate::latency_stamp::Stamps;
use crate::retry::{Delay, Refusal};
use crate::token::{send, user};
use crate::worker::{Context, Script, add};

/// The members of one worker, in pairs: 0 and 1, 2 and 3, and so on.
#[derive(Default)]
pub(super) struct Members {
    body: String,
    /// Refusals of each member's message.
    refused: HashMap<u32, u32>,
}

/// Members from..until send a message to their neighbours.
pub(super) struct Order {
    pub(super) from: u32,
    pub(super) until: u32,
}

impl Members {
    fn message(&self, member: u32, stamps: Stamps) -> Command<'_> {
        // The latency from the due time is not measured.
        send(stamps.write(member.into(), stamps.zero()), user(member ^ 1), &self.body)
    }

    /// Repeats a refused command when the server allows it.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, cx: &mut Context<Members>) {
        note(&mut cx.tally, format!("exchange: {}", refusal.code.word()));
        let times = self.refused.entry(member).or_default();
        *times += 1;
        match refusal.id.and_then(|_| Delay::resend(refusal, *times)) {
            Some(delay) => cx.commands.send_after(delay, member, &self.message(member, cx.stamps)),
            None => add(&cx.traffic.refused, 1),
        }
    }
}

impl Script for Members {
    type Shared = FloodPlan;
    type Order = Order;
    type Tally = Reasons;

    fn begin(&mut self, cx: &Context<Members>) {
        self.body = "x".repeat(cx.shared.exchange.unwrap_or(0));
    }

    fn event(&mut self, member: u32, event: &Event<'_>, cx: &mut Context<Members>) {
        match event {
            Event::Ack { .. } => add(&cx.traffic.acknowledged, 1),
            Event::Message { .. } => add(&cx.traffic.delivered, 1),
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    self.refused(member, refusal, cx);
                }
            }
        }
    }

    fn order(&mut self, order: Order, cx: &mut Context<Members>) {
        for member in order.from..order.until {
            if cx.has(member) {
                add(&cx.traffic.sent, 1);
                cx.commands.send(member, &self.message(member, cx.stamps));
            }
        }
    }
}
