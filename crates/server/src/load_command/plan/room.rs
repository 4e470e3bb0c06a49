//! `room`: its section of a plan file.

use load::report::Run;
use load::room::{self, RoomPlan};
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::Deserialize;

use super::Task;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Room {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_two")]
    members: u32,
    #[serde(deserialize_with = "setting::positive")]
    rate: f64,
    #[serde(deserialize_with = "setting::positive")]
    beside: f64,
    time: Span,
}

impl Default for Room {
    fn default() -> Room {
        Room {
            transport: Transport::Websocket,
            members: 10_000,
            rate: 10.0,
            beside: 50.0,
            time: Span::seconds(10),
        }
    }
}

impl Task for Room {
    fn members(&self) -> u32 {
        self.members + 2
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = RoomPlan {
            options,
            transport: self.transport,
            members: self.members,
            rate: self.rate,
            beside: self.beside,
            time: self.time.into(),
        };
        room::run(&plan, say)
    }
}
