//! `slow`: its section of a plan file.

use load::report::Run;
use load::slow::{self, SlowPlan};
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::Deserialize;

use super::Task;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Slow {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_two")]
    members: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    slow: u32,
    body: usize,
    #[serde(deserialize_with = "setting::positive")]
    writes: f64,
    calm: Span,
    pause: Span,
}

impl Default for Slow {
    fn default() -> Slow {
        Slow {
            transport: Transport::Websocket,
            members: 200,
            slow: 10,
            body: 8_000,
            writes: 2_000.0,
            calm: Span::seconds(5),
            pause: Span::seconds(10),
        }
    }
}

impl Task for Slow {
    fn members(&self) -> u32 {
        self.members.saturating_add(self.slow)
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = SlowPlan {
            options,
            transport: self.transport,
            members: self.members,
            slow: self.slow,
            body_bytes: self.body,
            writes: self.writes,
            calm: self.calm.into(),
            pause: self.pause.into(),
        };
        slow::run(&plan, say)
    }
}
