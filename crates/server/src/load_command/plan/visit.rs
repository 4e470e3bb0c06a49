//! `visit`: its flags and its section of a plan file.

use clap::Args;
use load::report::Run;
use load::visit::{self, VisitPlan};
use load::{LoadError, RunOptions};
use serde::{Deserialize, Serialize};

use super::{Contradiction, Task};
use crate::load_command::line::LoadTarget;
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct VisitArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) target: LoadTarget,
    /// Number of concurrent visitors [default: 1000].
    #[arg(long)]
    pub(crate) visitors: Option<u32>,
    /// First page of a visit, with the tag of Kith's loader [default: /as/anna/, of the demo].
    #[arg(long, value_name = "PATH")]
    pub(crate) page: Option<String>,
    /// Duration of each visit; as many visitors arrive as leave [default: 20m].
    #[arg(long, value_name = "SPAN")]
    pub(crate) stay: Option<Span>,
    /// Mean time between two pages [default: 2m].
    #[arg(long, value_name = "SPAN")]
    pub(crate) think: Option<Span>,
    /// Mean time between two messages of a visitor [default: 5m].
    #[arg(long, value_name = "SPAN")]
    pub(crate) write_every: Option<Span>,
    /// Most connections that a browser opens for files [default: 3].
    #[arg(long)]
    pub(crate) connections: Option<u32>,
    /// Visitors per second until all have arrived [default: 250].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Duration of the measurement [default: 30s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) time: Option<Span>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Visit {
    page: String,
    #[serde(deserialize_with = "setting::at_least_two")]
    visitors: u32,
    stay: Span,
    think: Span,
    write_every: Span,
    #[serde(deserialize_with = "setting::at_least_one")]
    connections: u32,
    #[serde(deserialize_with = "setting::positive")]
    rate: f64,
    time: Span,
}

impl Default for Visit {
    fn default() -> Visit {
        Visit {
            page: "/as/anna/".to_owned(),
            visitors: 1_000,
            stay: Span::seconds(20 * 60),
            think: Span::seconds(120),
            write_every: Span::seconds(300),
            connections: 3,
            rate: 250.0,
            time: Span::seconds(30),
        }
    }
}

impl Visit {
    fn plan(&self, options: RunOptions) -> VisitPlan {
        VisitPlan {
            options,
            page: self.page.clone(),
            visitors: self.visitors,
            stay: self.stay.into(),
            think: self.think.into(),
            write_every: self.write_every.into(),
            connections: self.connections,
            rate: self.rate,
            time: self.time.into(),
        }
    }
}

impl Task for Visit {
    fn check(&self) -> Result<(), Contradiction> {
        let none = Span::seconds(0);
        if [self.stay, self.think, self.write_every, self.time].contains(&none) {
            return Err(Contradiction {
                says: "a visit of no time is none",
                remedy: "stay, think, write-every and time must be above 0",
            });
        }
        if !self.page.starts_with('/') || !self.page.chars().all(|c| c.is_ascii_graphic()) {
            return Err(Contradiction {
                says: "the page is no path from the root of the node",
                remedy: "as in page = \"/as/anna/\"",
            });
        }
        Ok(())
    }

    /// A visitor has several connections.
    fn members(&self) -> u32 {
        self.visitors.saturating_mul(self.connections.saturating_add(1))
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        visit::run(&self.plan(options), say)
    }
}
