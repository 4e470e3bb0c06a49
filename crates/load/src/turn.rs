//! TURN: STUN requests as fast as they are answered, then relays, then data through some relays; and the server's cost
//! of each.
//!
//! The server may be ours or another one with a known secret. It must accept credentials of the TURN REST convention.

mod drive;
mod report;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use crate::report::Run;
use crate::settings::{self, Contradiction, Plan, span};
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct TurnPlan {
    /// Another server, with the secret of its credentials. Without it: the node's server, from its API.
    #[arg(long)]
    pub server: Option<SocketAddr>,
    /// File with the secret of the server's credentials.
    #[arg(long)]
    pub turn_secret_file: Option<PathBuf>,
    /// Concurrent clients that send requests or allocate relays.
    #[arg(long, default_value_t = 64)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub window: u32,
    /// Number of relays.
    #[arg(long, default_value_t = 2_000)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub relays: u32,
    /// Relays that carry data.
    #[arg(long, default_value_t = 64)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub flows: u32,
    /// Bytes of a packet of data.
    #[arg(long, default_value_t = 1_000)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub packet_bytes: u32,
    /// Duration of the requests, and again of the data.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "5s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
}

impl Plan for TurnPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::if_any(&[
            (
                self.server.is_some() && self.turn_secret_file.is_none(),
                "server needs turn-secret-file",
                "name the file with the secret of its credentials",
            ),
            (self.packet_bytes > 60_000, "packet-bytes is above 60000", "browsers send 1200 at most"),
        ])
    }

    /// Sockets of the generator.
    fn spreads(&self) -> bool {
        false
    }

    fn members(&self) -> u32 {
        self.relays.saturating_add(self.flows)
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        drive::run(self, options, say)
    }
}
