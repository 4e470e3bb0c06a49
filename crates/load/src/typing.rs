//! Typing: what is told in passing and stored nowhere. Members in pairs tell each other that they type, as fast as their windows
//! allow, or at a fixed rate.

mod drive;
mod members;
mod report;

use std::time::Duration;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct TypingPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// An even number.
    pub members: u32,
    pub pace: Pace,
    /// How long they type. Then everything still on its way is waited for.
    pub time: Duration,
}

/// When the next one is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each member has so many on their way: whoever hears one says one back.
    Window(u32),
    /// So many per second of all members together, whatever comes back. Latency counts from the moment at which it was
    /// due.
    Rate(f64),
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &TypingPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
