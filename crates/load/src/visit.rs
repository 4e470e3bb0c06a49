//! Visits of a site, as in AVChat's Siege test: many browsers that arrive, view pages, and leave again.

mod browsers;
mod drive;
mod events;
mod exchange;
mod report;
mod scan;
mod site;
mod state;
mod tally;
mod visitor;

use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::report::Run;
use crate::settings::{self, Contradiction, Plan, span};
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct VisitPlan {
    /// Number of concurrent visitors.
    #[arg(long, default_value_t = 1_000)]
    #[serde(deserialize_with = "settings::at_least::<2, _>")]
    pub visitors: u32,
    /// First page of a visit, with the tag of Kith's loader; the default is of the demo.
    #[arg(long, value_name = "PATH", default_value = "/as/anna/")]
    pub page: String,
    /// Duration of each visit; as many visitors arrive as leave.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "20m")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub stay: Duration,
    /// Mean time between two pages.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "2m")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub think: Duration,
    /// Mean time between two messages of a visitor.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "5m")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub write_every: Duration,
    /// Most connections that a browser opens for files.
    #[arg(long, default_value_t = 3)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub connections: u32,
    /// Visitors per second until all have arrived.
    #[arg(long, default_value_t = 250.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub rate: f64,
    /// Duration of the measurement.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "30s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
}

/// The kinds of requests that a browser waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Page,
    Loader,
    Shell,
    /// Styles, scripts and icons of the page itself.
    File,
    Avatar,
    Token,
    Login,
    Contacts,
    History,
    Message,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::Page,
        Kind::Loader,
        Kind::Shell,
        Kind::File,
        Kind::Avatar,
        Kind::Token,
        Kind::Login,
        Kind::Contacts,
        Kind::History,
        Kind::Message,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Page => "page",
            Kind::Loader => "loader",
            Kind::Shell => "shell of the widget",
            Kind::File => "style, script or icon of the page",
            Kind::Avatar => "avatar",
            Kind::Token => "token (POST)",
            Kind::Login => "WebSocket, hello to welcome",
            Kind::Contacts => "contact list",
            Kind::History => "page of history",
            Kind::Message => "message to acknowledgement",
        }
    }
}

impl Plan for VisitPlan {
    fn check(&self) -> Result<(), Contradiction> {
        let is_path = self.page.starts_with('/') && self.page.chars().all(|c| c.is_ascii_graphic());
        Contradiction::if_any(&[
            (
                [self.stay, self.think, self.write_every, self.time].contains(&Duration::ZERO),
                "a visit of no time is none",
                "stay, think, write-every and time must be above 0",
            ),
            (!is_path, "the page is no path from the root of the node", "as in page = \"/as/anna/\""),
        ])
    }

    /// A visitor has several connections.
    fn spreads(&self) -> bool {
        false
    }

    fn members(&self) -> u32 {
        self.visitors.saturating_mul(self.connections.saturating_add(1))
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        drive::run(self, options, say)
    }
}
