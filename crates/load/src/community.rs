//! The community: members with contact lists who write to their contacts and change their presence, as in Tigase's
//! test.

mod drive;
mod members;
mod people;
mod poisson;
mod report;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

pub use people::{Contact, People, TooFew};

use crate::report::Run;
use crate::settings::{self, Contradiction, Plan, span};
use crate::target::Transport;
use crate::{LoadError, RunOptions};

/// The settings of a run.
#[derive(Debug, Clone, Args, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default = "settings::defaults")]
pub struct CommunityPlan {
    /// websocket, stream, sse or poll; or xmpp, xmpp-websocket.
    #[arg(long, visible_alias = "protocol", default_value = "websocket")]
    pub transport: Transport,
    /// Number of online members.
    #[arg(long, default_value_t = 5_000)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub members: u32,
    /// Number of sites among which the members are divided.
    #[arg(long, default_value_t = 1)]
    #[serde(deserialize_with = "settings::at_least::<1, _>")]
    pub sites: u32,
    /// Number of contacts of each member.
    #[arg(long, default_value_t = 150)]
    pub roster: u32,
    /// Number of these contacts who are online.
    #[arg(long, default_value_t = 30)]
    pub online: u32,
    /// Connections begun per second.
    #[arg(long, default_value_t = 500.0)]
    #[serde(deserialize_with = "settings::positive")]
    pub rate: f64,
    /// Mean time between two messages of a member to online contacts; 0s: no messages.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "100s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub message_every: Duration,
    /// Mean time between two changes of a member's presence; 0s: no changes.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "700s")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub status_every: Duration,
    /// Duration of the traffic after the last member connected.
    #[arg(long, value_parser = span, value_name = "SPAN", default_value = "1m")]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub time: Duration,
    /// Number of members that lose their connections at the end and reconnect.
    #[arg(long, default_value_t = 0)]
    pub storm: u32,
    /// Each of them reconnects after a random time up to this, and so does each member of a front that dies.
    #[arg(skip = Duration::from_secs(1))]
    #[serde(deserialize_with = "settings::span_in_file")]
    pub spread: Duration,
    /// Presence is settled after this time without presence events. While many members connect, a node collects changes
    /// of presence for up to 5 s.
    #[arg(skip = Duration::from_secs(6))]
    #[serde(skip)]
    pub quiet: Duration,
    /// Set if the node's database was filled with the members' contact lists before it started. Otherwise members name
    /// the users they watch once all are connected.
    #[arg(skip)]
    #[serde(skip)]
    pub stored: Arc<OnceLock<Stored>>,
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

/// Sites with their members and contact lists, in the database of a node that starts afterwards.
#[derive(Debug)]
pub struct Stored {
    pub sites: Vec<String>,
    /// The HS256 secret of all of them.
    pub secret: Vec<u8>,
    pub seeded: Seeded,
}

impl CommunityPlan {
    pub fn people(&self) -> Result<People, TooFew> {
        People::new(self.members, self.sites, self.roster, self.online)
    }
}

impl Plan for CommunityPlan {
    fn check(&self) -> Result<(), Contradiction> {
        Contradiction::if_peer(self.transport)?;
        Contradiction::if_any(&[
            (
                self.online > self.roster,
                "more contacts are online than a roster has",
                "`online` is a part of `roster`, as in roster = 150 and online = 30",
            ),
            (
                self.storm > self.members,
                "the storm has more members than there are",
                "`storm` is a part of `members`; 0 is none",
            ),
            (
                self.people().is_err(),
                "a site has too few members for their rosters",
                "each site needs two members more than `online`: more `members`, fewer `sites`, or less `online`",
            ),
        ])
    }

    fn members(&self) -> u32 {
        self.members
    }

    fn transport(&self) -> Option<Transport> {
        Some(self.transport)
    }

    fn recovers(&self) -> bool {
        self.transport == Transport::Websocket
    }

    fn run(&self, options: &RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let few = |_| LoadError::Plan("a site has too few members for their rosters");
        let Some(stored) = self.stored.get() else {
            say("members name whom they watch: the node that --url names has no rosters of ours");
            let plan = CommunityPlan { sites: 1, roster: self.online, ..self.clone() };
            return drive::run(&plan, plan.people().map_err(few)?, options, say);
        };
        let mut sites = stored.sites.iter().map(|site| (site.clone(), stored.secret.clone()));
        let (site, secret) = sites.next().unwrap_or_default();
        let options = RunOptions { site, secret, more_sites: sites.collect(), ..options.clone() };
        drive::run(self, self.people().map_err(few)?, &options, say)
    }
}
