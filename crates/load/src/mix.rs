//! The mix of Erlang'07: inactive, idle and active members keep coming until memory or errors meet a limit.

mod drive;
mod members;
mod report;

use std::time::Duration;

use serde::Serialize;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct MixPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// No more than these come.
    pub members: u32,
    /// Members who come per second, at moments of chance (a Poisson process).
    pub rate: f64,
    /// Resident memory of the server at which it ends.
    pub memory_limit: u64,
    /// The server's half of what the kernel has grown by counts too.
    pub with_kernel: bool,
    /// Failed logins and messages, in percent, at which it ends.
    pub error_limit_percent: f64,
    pub time: Duration,
    /// Active members who write to each other.
    pub group: u32,
    /// Between two messages of an active member, in the mean.
    pub write_every: Duration,
    /// Between two changes of an idle member's presence, in the mean.
    pub presence_every: Duration,
}

/// The reason of the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    Memory,
    Errors,
    Members,
    Time,
    Interrupted,
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &MixPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
