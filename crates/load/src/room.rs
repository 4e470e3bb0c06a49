//! One room: all its members are online, some write, and everybody hears everything. Two more members write to each other
//! beside it, to see what the room costs those who are not in it.

mod drive;
mod members;
mod report;

use std::time::Duration;

pub use report::Report;

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct RoomPlan {
    pub options: RunOptions,
    pub transport: Transport,
    /// Of the room.
    pub members: u32,
    /// Messages per second in the room, of all members in turn.
    pub rate: f64,
    /// Messages per second of the pair beside it.
    pub beside: f64,
    /// How long they write. Then everything still on its way is waited for.
    pub time: Duration,
}

/// Runs the plan. `say` gets a line now and then, for people.
pub fn run(plan: &RoomPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
