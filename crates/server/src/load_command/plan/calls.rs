//! `calls`: its section of a plan file.

use load::calls::{self, CallsPlan};
use load::report::Run;
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::Deserialize;
use toml::{Table, Value};

use super::Task;
use crate::load_command::own_node::NodeWish;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Calls {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_one")]
    pairs: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    window: u32,
    candidates: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    sdp_bytes: u32,
    time: Span,
    hold: Span,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            transport: Transport::Websocket,
            pairs: 2_000,
            window: 64,
            candidates: 4,
            sdp_bytes: 2_500,
            time: Span::seconds(10),
            hold: Span::seconds(10),
        }
    }
}

impl Task for Calls {
    fn members(&self) -> u32 {
        self.pairs.saturating_mul(2)
    }

    /// The pairs are strangers, and call more often than people do.
    fn node(&self) -> NodeWish {
        let calls = Table::from_iter([
            ("from".to_owned(), Value::String("everyone".into())),
            ("burst".to_owned(), Value::Integer(0)),
            ("per_minute".to_owned(), Value::Integer(0)),
        ]);
        let settings = Table::from_iter([("calls".to_owned(), Value::Table(calls))]);
        NodeWish { settings, ..NodeWish::default() }
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let plan = CallsPlan {
            options,
            transport: self.transport,
            pairs: self.pairs,
            window: self.window,
            sdp_bytes: self.sdp_bytes as usize,
            candidates: self.candidates,
            time: self.time.into(),
            hold: self.hold.into(),
        };
        calls::run(&plan, say)
    }
}
