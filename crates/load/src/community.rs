//! The community: members with rosters who write to their contacts and change their presence, as Tigase's test had it.

mod drive;
mod members;
mod people;
mod poisson;
mod report;

use std::time::Duration;

pub use people::{Contact, People, TooFew};

use crate::report::Run;
use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct CommunityPlan {
    /// With as many sites as `people` has.
    pub options: RunOptions,
    pub transport: Transport,
    pub people: People,
    pub rosters: Rosters,
    /// Connections begun per second.
    pub rate: f64,
    /// Each member writes to a contact who is online so often, at moments of chance. None: nobody writes.
    pub message_every: Option<Duration>,
    /// Likewise for changes of presence.
    pub status_every: Option<Duration>,
    /// How long that goes on after the last one came.
    pub time: Duration,
    /// After it, so many members lose their connections at once and come back. 0: none.
    pub storm: u32,
    /// Each of them after a time of chance up to this.
    pub spread: Duration,
    /// No news of presence for so long: there are no more.
    pub quiet: Duration,
}

/// While a crowd comes, a node collects changes of presence for up to 5 s.
pub const QUIET: Duration = Duration::from_secs(6);

/// Where the members' contacts come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rosters {
    /// They are in the node's database.
    Stored(Seeded),
    /// They are nowhere: members name those whom they watch when all are there.
    Named,
}

/// Rows that were written into the database before the node started.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Seeded {
    pub users: u64,
    /// Rows of contact lists.
    pub contacts: u64,
    pub seconds: f64,
    /// Of the database's file.
    pub bytes: u64,
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &CommunityPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    drive::run(plan, say)
}
