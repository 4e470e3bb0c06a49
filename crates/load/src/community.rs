//! The community: members with contact lists who write to their contacts and change their presence, as in Tigase's
//! test.

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
    /// Must name as many sites as `people` has.
    pub options: RunOptions,
    pub transport: Transport,
    pub people: People,
    pub rosters: Rosters,
    /// Connections begun per second.
    pub rate: f64,
    /// Mean interval at which each member writes to an online contact, at random times. None: nobody writes.
    pub message_every: Option<Duration>,
    /// Mean interval at which each member changes its presence, at random times. None: never.
    pub status_every: Option<Duration>,
    /// Duration of this traffic after the last member has connected.
    pub time: Duration,
    /// After it, this number of members lose their connections at once and reconnect. 0: none.
    pub storm: u32,
    /// Each reconnects after a random time up to this.
    pub spread: Duration,
    /// Presence is settled after this time without presence events.
    pub quiet: Duration,
}

/// While many members connect, a node collects changes of presence for up to 5 s.
pub const QUIET: Duration = Duration::from_secs(6);

/// The source of the members' contacts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rosters {
    /// Contact rows in the node's database.
    Stored(Seeded),
    /// No rows: members name the users they watch once all are connected.
    Named,
}

/// Rows that were written into the database before the node started.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Seeded {
    pub users: u64,
    /// Rows of contact lists.
    pub contacts: u64,
    pub seconds: f64,
    /// Size of the database file.
    pub bytes: u64,
}

/// Runs the plan. `say` receives a progress line now and then.
pub fn run(plan: &CommunityPlan, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
    drive::run(plan, say)
}
