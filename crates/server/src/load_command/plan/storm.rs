//! `storm`: its flags and its section of a plan file.

use clap::Args;
use load::report::Run;
use load::storm::{self, StormPlan};
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::{Deserialize, Serialize};

use super::Task;
use crate::load_command::line::LoadTarget;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct StormArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<Transport>,
    /// Number of members whose connections break [default: 5000].
    #[arg(long)]
    pub(crate) members: Option<u32>,
    /// Number of members who stay [default: 20].
    #[arg(long)]
    pub(crate) watchers: Option<u32>,
    /// Connections begun per second, before the storm [default: 2500].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Messages per second of all members who stay [default: 500].
    #[arg(long)]
    pub(crate) writes: Option<f64>,
    /// Longest random time before a member reconnects [default: 1s, as the protocol advises].
    #[arg(long, value_name = "SPAN")]
    pub(crate) spread: Option<Span>,
    /// How long members write before the storm, and after all are back [default: 2s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) calm: Option<Span>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Storm {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_one")]
    members: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    watchers: u32,
    #[serde(deserialize_with = "setting::positive")]
    rate: f64,
    #[serde(deserialize_with = "setting::positive")]
    writes: f64,
    spread: Span,
    calm: Span,
}

impl Default for Storm {
    fn default() -> Storm {
        Storm {
            transport: Transport::Websocket,
            members: 5_000,
            watchers: 20,
            rate: 2_500.0,
            writes: 500.0,
            spread: Span::seconds(1),
            calm: Span::seconds(2),
        }
    }
}

impl Task for Storm {
    fn members(&self) -> u32 {
        self.members.saturating_add(self.watchers)
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = StormPlan {
            options,
            transport: self.transport,
            members: self.members,
            watchers: self.watchers,
            rate: self.rate,
            writes: self.writes,
            spread: self.spread.into(),
            calm: self.calm.into(),
        };
        storm::run(&plan, say)
    }
}
