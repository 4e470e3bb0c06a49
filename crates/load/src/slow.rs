//! The slow ones: a share of the members stops reading while everybody writes, and has to catch up afterwards.

mod drive;
mod members;
mod report;

use std::time::Duration;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run. The slow members only receive; the others write, every second message to one of the slow.
#[derive(Debug, Clone)]
pub struct SlowPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// Members who read all the time.
    pub members: u32,
    /// Members who stop reading.
    pub slow: u32,
    pub body_bytes: usize,
    /// Messages per second of all together.
    pub writes: f64,
    /// How long they write before the slow ones stop reading.
    pub calm: Duration,
    /// How long these do not read. Below the server's patience with silence, which is 75 s.
    pub pause: Duration,
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &SlowPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
