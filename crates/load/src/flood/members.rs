//! The members of a flood: silent, except for one message to the neighbour at the end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use web_proto::{Command, Event};

use super::FloodPlan;
use crate::failures::Reasons;
use crate::retry::{Delay, Refusal};
use crate::token::{send, user};
use crate::worker::{Commands, Script, Share, add};

/// The members of one worker, in pairs: 0 and 1, 2 and 3, and so on.
pub(super) struct Members {
    share: Share,
    body: String,
    /// Refusals of each member's message.
    refused: HashMap<u32, u32>,
    refusals: Reasons,
}

/// Members from..until send a message to their neighbours.
pub(super) struct Order {
    pub(super) from: u32,
    pub(super) until: u32,
}

impl Members {
    fn message(&self, member: u32) -> Command<'_> {
        let stamps = &self.share.stamps;
        // The latency from the due time is not measured.
        send(stamps.write(member.into(), stamps.zero()), user(member ^ 1), &self.body)
    }

    /// Repeats a refused command when the server allows it.
    fn refused(&mut self, member: u32, refusal: Refusal<'_>, commands: &mut Commands) {
        *self.refusals.entry(format!("exchange: {}", refusal.code.word())).or_default() += 1;
        let times = self.refused.entry(member).or_default();
        *times += 1;
        match refusal.id.and_then(|_| Delay::resend(refusal, *times)) {
            Some(delay) => commands.send_after(delay, member, &self.message(member)),
            None => add(&self.share.traffic.refused, 1),
        }
    }
}

impl Script for Members {
    type Shared = FloodPlan;
    type Order = Order;
    type Tally = Reasons;

    fn new(plan: Arc<FloodPlan>, share: Share) -> Members {
        let body = "x".repeat(plan.exchange.unwrap_or(0));
        Members { share, body, refused: HashMap::new(), refusals: Reasons::new() }
    }

    fn event(&mut self, member: u32, event: &Event<'_>, _: Instant, commands: &mut Commands) {
        match event {
            Event::Ack { .. } => add(&self.share.traffic.acknowledged, 1),
            Event::Message { .. } => add(&self.share.traffic.delivered, 1),
            event => {
                if let Some(refusal) = Refusal::of(event) {
                    self.refused(member, refusal, commands);
                }
            }
        }
    }

    fn order(&mut self, order: Order, _: Instant, commands: &mut Commands) {
        for member in (order.from..order.until).filter(|member| self.share.has(*member)) {
            add(&self.share.traffic.sent, 1);
            commands.send(member, &self.message(member));
        }
    }

    fn tally(&mut self) -> Reasons {
        std::mem::take(&mut self.refusals)
    }
}
