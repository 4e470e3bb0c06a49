//! `stress` and `realistic`: their flags and their section of a plan file.

use std::num::ParseIntError;
use std::ops::Not;

use clap::Args;
use load::report::Run;
use load::stress::{self, Pace, StressPlan};
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::{Deserialize, Serialize};

use super::{Contradiction, Inside, Task};
use crate::load_command::line::LoadTarget;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct StressArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<Transport>,
    /// Run inside this process, without sockets, on durable SQLite: Chut's first bench.
    #[arg(long, conflicts_with_all = ["transport", "rate", "every"])]
    #[serde(skip_serializing_if = "Not::not")]
    pub(crate) core: bool,
    /// With --core: store messages in memory, like Chut's own bench, instead of on disk.
    #[arg(long, requires = "core")]
    #[serde(skip_serializing_if = "Not::not")]
    pub(crate) memory: bool,
    /// Groups of members [default: 100].
    #[arg(long, conflicts_with = "members")]
    pub(crate) groups: Option<u32>,
    /// Members of each group; they write to each other [default: 10].
    #[arg(long, visible_alias = "group")]
    pub(crate) per_group: Option<u32>,
    /// Number of all members, instead of --groups.
    #[arg(long)]
    pub(crate) members: Option<u32>,
    /// Bytes of a message [default: 100].
    #[arg(long)]
    pub(crate) body: Option<u32>,
    /// Unacknowledged messages of each member [default: 4].
    #[arg(long)]
    pub(crate) window: Option<u32>,
    /// Messages per second of all members together, instead of a window.
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Time span in which each member sends one message at a random time, instead of a window.
    #[arg(long, value_name = "SPAN", conflicts_with = "rate")]
    pub(crate) every: Option<Span>,
    /// How long members write [default: 10s].
    #[arg(long, value_name = "SPAN", conflicts_with = "seconds")]
    pub(crate) time: Option<Span>,
    /// Duration in seconds.
    #[arg(long, value_parser = seconds)]
    #[serde(rename = "time")]
    pub(crate) seconds: Option<Span>,
}

fn seconds(text: &str) -> Result<Span, ParseIntError> {
    text.parse::<u32>().map(|seconds| Span::seconds(seconds.into()))
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Stress {
    pub(crate) transport: Transport,
    #[serde(deserialize_with = "setting::at_least_one")]
    pub(crate) groups: u32,
    #[serde(deserialize_with = "setting::at_least_two")]
    pub(crate) per_group: u32,
    /// Instead of the groups.
    #[serde(deserialize_with = "setting::two_if_any")]
    pub(crate) members: Option<u32>,
    pub(crate) body: usize,
    #[serde(deserialize_with = "setting::at_least_one")]
    pub(crate) window: u32,
    #[serde(deserialize_with = "setting::positive_if_any")]
    pub(crate) rate: Option<f64>,
    pub(crate) every: Option<Span>,
    pub(crate) time: Span,
    pub(crate) core: bool,
    pub(crate) memory: bool,
}

impl Default for Stress {
    fn default() -> Stress {
        Stress {
            transport: Transport::Websocket,
            groups: 100,
            per_group: 10,
            members: None,
            body: 100,
            window: 4,
            rate: None,
            every: None,
            time: Span::seconds(10),
            core: false,
            memory: false,
        }
    }
}

impl Task for Stress {
    fn check(&self) -> Result<(), Contradiction> {
        if self.memory && !self.core {
            return Err(Contradiction {
                says: "`memory` is for runs inside of this process",
                remedy: "add core = true: a node's store is always durable",
            });
        }
        if self.core && (self.rate.is_some() || self.every.is_some()) {
            return Err(Contradiction {
                says: "`core` writes as fast as the window allows",
                remedy: "leave out `rate` and `every`",
            });
        }
        match (self.rate, self.every) {
            (Some(_), Some(_)) => Err(Contradiction {
                says: "`rate` and `every` contradict each other",
                remedy: "leave one of them out",
            }),
            _ => Ok(()),
        }
    }

    fn members(&self) -> u32 {
        self.members.unwrap_or_else(|| self.groups.saturating_mul(self.per_group))
    }

    fn inside(&self) -> Option<Inside> {
        self.core.then(|| Inside {
            members: self.members(),
            group: self.per_group,
            body_bytes: self.body,
            window: self.window,
            time: self.time.into(),
            memory: self.memory,
        })
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let every = self.every.map(|every| Pace::Every(every.into()));
        let plan = StressPlan {
            options,
            transport: self.transport,
            members: self.members(),
            group: self.per_group,
            body_bytes: self.body,
            pace: every.or(self.rate.map(Pace::Rate)).unwrap_or(Pace::Window(self.window)),
            time: self.time.into(),
        };
        stress::run(&plan, say)
    }
}
