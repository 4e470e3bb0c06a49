//! The flood: N members connect at a rate, stay, and the server's price for them is measured.

mod drive;
mod picture;
mod report;

use std::time::Duration;

pub use report::{AfterLeft, Exchange, Generator, Report};

use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct FloodPlan {
    pub options: RunOptions,
    pub transport: Transport,
    pub connections: u32,
    /// Connections begun per second.
    pub rate: f64,
    /// How long all of them stay.
    pub hold: Duration,
    /// After the hold, each member sends and receives one message of so many bytes, and memory is measured again.
    pub exchange: Option<usize>,
    /// The server's time to tidy up after the exchange and after all have left, before it is measured: 15 s are
    /// good, since a node forgets what it has cached within 10 s, and then gives memory back.
    pub settle: Duration,
}

/// Runs the plan; takes the ramp, the hold and some seconds. `say` gets a line every 10 s, for people.
pub fn run(plan: &FloodPlan, say: &mut dyn FnMut(&str)) -> Result<Report, LoadError> {
    drive::run(plan, say)
}
