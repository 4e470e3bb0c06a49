//! The stress: groups of members who write to each other as fast as they may, or at a fixed rate, and count what comes.

pub mod core;
mod drive;
mod members;
mod report;
mod sequence;

use std::time::Duration;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run. The shape of the papers: 1,000 members in groups of 10, 100-byte bodies, a window of 4, 10
/// s.
#[derive(Debug, Clone)]
pub struct StressPlan {
    pub options: RunOptions,
    pub transport: Transport,
    pub members: u32,
    /// Members of a group write to each other, in direct conversations.
    pub group: u32,
    pub body_bytes: usize,
    pub pace: Pace,
    /// How long they write. Then everything still on its way is waited for.
    pub time: Duration,
}

/// When the next message is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each member has so many messages without `ack`: the next one follows an `ack`.
    Window(u32),
    /// So many messages per second of all members together, whatever comes back. Latency counts from the moment at
    /// which the message was due.
    Rate(f64),
    /// Each member writes one message in each span of this length, at a moment of chance inside of it.
    Every(Duration),
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &StressPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
