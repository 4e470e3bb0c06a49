//! Calls: members in pairs call each other as fast as a window allows, then all pairs at once are in a call and stay. What
//! tokens is signalling alone: descriptions and candidates of the length that browsers write.

mod drive;
mod members;
mod report;

use std::time::Duration;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct CallsPlan {
    pub options: RunOptions,
    pub transport: Transport,
    pub pairs: u32,
    /// Calls that are being set up at a time, of all pairs together.
    pub window: u32,
    /// Bytes of an offer and of an answer.
    pub sdp_bytes: usize,
    /// Of each party.
    pub candidates: u32,
    /// How long calls are set up and hung up at once.
    pub time: Duration,
    /// How long all pairs are in a call after that.
    pub hold: Duration,
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &CallsPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
