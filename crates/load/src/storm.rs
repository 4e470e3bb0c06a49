//! The storm: all members lose their connections at once and come back, while others go on writing to them.

mod drive;
mod members;
mod report;

use std::time::Duration;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct StormPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// Members whose connections break.
    pub members: u32,
    /// Members who stay: each watches the presence of its share of the others, as far as the server allows, and writes
    /// to them.
    pub watchers: u32,
    /// Connections begun per second, before the storm.
    pub rate: f64,
    /// Messages per second of all watchers together, before, during and after.
    pub writes: f64,
    /// Each comes back after a time of chance up to this. The protocol's advice is 1 s; zero is what it prevents.
    pub spread: Duration,
    /// How long they write before the storm, and again after everybody is back.
    pub calm: Duration,
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &StormPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
