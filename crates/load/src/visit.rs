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

use serde::Serialize;

use crate::report::Run;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct VisitPlan {
    pub options: RunOptions,
    /// The first page of a visit, with the tag of Kith's loader.
    pub page: String,
    /// Concurrent visitors; as many arrive as leave.
    pub visitors: u32,
    /// Duration of a visit. Visitors at the beginning are somewhere in the middle of theirs.
    pub stay: Duration,
    /// Mean time between two pages: random, from half to one and a half of it.
    pub think: Duration,
    /// Mean time between two messages of a visitor.
    pub write_every: Duration,
    /// Most connections that a browser opens for files.
    pub connections: u32,
    /// Visitors per second until all have arrived; nothing is counted before.
    pub rate: f64,
    /// Duration of the measurement.
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

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &VisitPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    drive::run(plan, say)
}
