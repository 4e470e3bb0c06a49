//! `typing`: its section of a plan file.

use load::report::Run;
use load::target::Transport;
use load::typing::{self, Pace, TypingPlan};
use load::{LoadError, RunOptions};
use serde::Deserialize;

use super::{Contradiction, Task};
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Typing {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_two")]
    members: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    window: u32,
    #[serde(deserialize_with = "setting::positive_if_any")]
    rate: Option<f64>,
    time: Span,
}

impl Default for Typing {
    fn default() -> Typing {
        Typing {
            transport: Transport::Websocket,
            members: 1_000,
            window: 4,
            rate: None,
            time: Span::seconds(10),
        }
    }
}

impl Task for Typing {
    fn check(&self) -> Result<(), Contradiction> {
        match self.members % 2 {
            0 => Ok(()),
            _ => Err(Contradiction {
                says: "`members` come in pairs, and one is left over",
                remedy: "make it an even number",
            }),
        }
    }

    fn members(&self) -> u32 {
        self.members
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = TypingPlan {
            options,
            transport: self.transport,
            members: self.members,
            pace: self.rate.map_or(Pace::Window(self.window), Pace::Rate),
            time: self.time.into(),
        };
        typing::run(&plan, say)
    }
}
