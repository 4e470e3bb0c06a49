//! TURN: questions of STUN as fast as they are answered, then relays, then data through some of them; and what each costs the server.
//!
//! Any server will do that takes the credentials of the TURN REST convention: ours, or another of which the secret is known.

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
    /// None: that of the node, which is asked for it.
    pub server: Option<Server>,
    /// Of the node's own server.
    pub secret: Option<Vec<u8>>,
    /// Clients at a time that ask, or allocate.
    pub window: u32,
    pub relays: u32,
    /// Relays through which data tokens.
    pub flows: u32,
    pub packet_bytes: usize,
    /// How long questions are asked, and as long data tokens.
    pub time: Duration,
}

/// A server of others.
#[derive(Debug, Clone)]
pub struct Server {
    pub addr: SocketAddr,
    pub secret: Vec<u8>,
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &TurnPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    drive::run(plan, say)
}
