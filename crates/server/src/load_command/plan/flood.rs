//! `flood`: its flags and its section of a plan file.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use load::flood::{self, FloodPlan};
use load::report::Run;
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::{Deserialize, Serialize};

use super::Task;
use crate::load_command::line::LoadTarget;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct FloodArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll; or all, one after the other, plain and with TLS [default: websocket].
    #[arg(long)]
    #[serde(skip_serializing_if = "is_no_setting")]
    pub(crate) transport: Option<Transports>,
    /// Number of members [default: 1000].
    #[arg(long)]
    pub(crate) connections: Option<u32>,
    /// Connections begun per second [default: 1000].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// How long all members stay [default: 15s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) hold: Option<Span>,
    /// After the hold, let each member send and receive one message of this many bytes, and measure memory again.
    #[arg(long, value_name = "BYTES")]
    pub(crate) exchange: Option<u32>,
    /// Write a picture of the run. With --transport all, the report has the pictures.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum Transports {
    One(Transport),
    All,
}

/// The preset for all transports varies the transport itself.
fn is_no_setting(transport: &Option<Transports>) -> bool {
    !matches!(transport, Some(Transports::One(_)))
}

impl FromStr for Transports {
    type Err = String;

    fn from_str(text: &str) -> Result<Transports, String> {
        let one = |text: &str| text.parse().map(Transports::One).map_err(|why| format!("{why}, or all"));
        if text == "all" { Ok(Transports::All) } else { one(text) }
    }
}

impl FloodArgs {
    pub(crate) fn preset(&self) -> &'static str {
        match self.transport {
            Some(Transports::All) => "flood-transports",
            _ => "flood",
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Flood {
    pub(crate) transport: Transport,
    #[serde(deserialize_with = "setting::at_least_one")]
    pub(crate) connections: u32,
    #[serde(deserialize_with = "setting::positive")]
    pub(crate) rate: f64,
    pub(crate) hold: Span,
    pub(crate) exchange: Option<usize>,
    /// Time for the node to free memory before it is measured again. The default is 15 s, and 3 s below 1,000 members,
    /// where the difference is too small to see.
    pub(crate) settle: Option<Span>,
}

impl Default for Flood {
    fn default() -> Flood {
        Flood {
            transport: Transport::Websocket,
            connections: 1_000,
            rate: 1_000.0,
            hold: Span::seconds(15),
            exchange: None,
            settle: None,
        }
    }
}

impl Task for Flood {
    fn members(&self) -> u32 {
        self.connections
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = FloodPlan {
            options,
            transport: self.transport,
            connections: self.connections,
            rate: self.rate,
            hold: self.hold.into(),
            exchange: self.exchange,
            settle: self.settle.map_or_else(|| settle(self.connections), Duration::from),
        };
        flood::run(&plan, say)
    }
}

fn settle(members: u32) -> Duration {
    Duration::from_secs(if members < 1_000 { 3 } else { 15 })
}
