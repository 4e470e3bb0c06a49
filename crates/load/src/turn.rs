//! TURN: STUN requests as fast as they are answered, then relays, then data through some relays; and the server's cost
//! of each.
//!
//! The server may be ours or another one with a known secret. It must accept credentials of the TURN REST convention.

mod drive;
mod report;
mod server;

use std::net::SocketAddr;
use std::time::Duration;

use crate::report::Run;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct TurnPlan {
    pub options: RunOptions,
    /// None: the node's server, from its API.
    pub server: Option<Server>,
    /// The secret of the node's own server.
    pub secret: Option<Vec<u8>>,
    /// Concurrent clients that send requests or allocate relays.
    pub window: u32,
    pub relays: u32,
    /// Relays that carry data.
    pub flows: u32,
    pub packet_bytes: usize,
    /// Duration of the requests, and again of the data.
    pub time: Duration,
}

/// A server of another project.
#[derive(Debug, Clone)]
pub struct Server {
    pub addr: SocketAddr,
    pub secret: Vec<u8>,
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &TurnPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    drive::run(plan, say)
}
