//! `community`: its flags and its section of a plan file.

mod seed;

use std::sync::{Arc, OnceLock};

use clap::Args;
use load::community::{self, CommunityPlan, People, Rosters};
use load::report::Run;
use load::target::Transport;
use load::{LoadError, RunOptions};
use serde::{Deserialize, Serialize};

use self::seed::Filled;
use super::{Contradiction, Task};
use crate::load_command::line::LoadTarget;
use crate::load_command::own_node::{NodeWish, Seed};
use crate::load_command::setting;
use crate::span::Span;

#[derive(Debug, Args, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct CommunityArgs {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) target: LoadTarget,
    /// websocket, stream, sse or poll [default: websocket].
    #[arg(long)]
    pub(crate) transport: Option<Transport>,
    /// Number of online members [default: 5000].
    #[arg(long)]
    pub(crate) members: Option<u32>,
    /// Number of sites among which the members are divided [default: 1].
    #[arg(long)]
    pub(crate) sites: Option<u32>,
    /// Number of contacts of each member [default: 150].
    #[arg(long)]
    pub(crate) roster: Option<u32>,
    /// Number of these contacts who are online [default: 30].
    #[arg(long)]
    pub(crate) online: Option<u32>,
    /// Connections begun per second [default: 500].
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Mean time between two messages of a member to online contacts; 0s: no messages [default: 100s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) message_every: Option<Span>,
    /// Mean time between two changes of a member's presence; 0s: no changes [default: 700s].
    #[arg(long, value_name = "SPAN")]
    pub(crate) status_every: Option<Span>,
    /// Duration of the traffic after the last member connected [default: 1m].
    #[arg(long, value_name = "SPAN")]
    pub(crate) time: Option<Span>,
    /// Number of members that lose their connections at the end and reconnect [default: 0].
    #[arg(long)]
    pub(crate) storm: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Community {
    transport: Transport,
    #[serde(deserialize_with = "setting::at_least_one")]
    members: u32,
    #[serde(deserialize_with = "setting::at_least_one")]
    sites: u32,
    roster: u32,
    online: u32,
    #[serde(deserialize_with = "setting::positive")]
    rate: f64,
    message_every: Span,
    status_every: Span,
    time: Span,
    storm: u32,
    spread: Span,
    /// Set once the database of our own node is filled.
    #[serde(skip)]
    filled: Arc<OnceLock<Filled>>,
}

impl Default for Community {
    fn default() -> Community {
        Community {
            transport: Transport::Websocket,
            members: 5_000,
            sites: 1,
            roster: 150,
            online: 30,
            rate: 500.0,
            message_every: Span::seconds(100),
            status_every: Span::seconds(700),
            time: Span::seconds(60),
            storm: 0,
            spread: Span::seconds(1),
            filled: Arc::default(),
        }
    }
}

impl Task for Community {
    fn check(&self) -> Result<(), Contradiction> {
        if self.online > self.roster {
            return Err(Contradiction {
                says: "more contacts are online than a roster has",
                remedy: "`online` is a part of `roster`, as in roster = 150 and online = 30",
            });
        }
        if self.storm > self.members {
            return Err(Contradiction {
                says: "the storm has more members than there are",
                remedy: "`storm` is a part of `members`; 0 is none",
            });
        }
        let few = |_| Contradiction {
            says: "a site has too few members for their rosters",
            remedy: "each site needs two members more than `online`: more `members`, fewer `sites`, or less `online`",
        };
        People::new(self.members, self.sites, self.roster, self.online).map(drop).map_err(few)
    }

    fn members(&self) -> u32 {
        self.members
    }

    fn node(&self) -> NodeWish {
        let filled = Arc::clone(&self.filled);
        let people = People::new(self.members, self.sites, self.roster, self.online);
        let seed = people.ok().map(|people| {
            Seed(Arc::new(move |folder| {
                let done = seed::fill(folder, people)?;
                // A seed fills one node.
                let _ = filled.set(done);
                Ok(())
            }))
        });
        NodeWish { seed, ..NodeWish::default() }
    }

    fn carry_out(&self, options: RunOptions, say: &mut dyn FnMut(&str)) -> Result<Run, LoadError> {
        let few = |_| LoadError::Plan("a site has too few members for their rosters");
        let (options, people, rosters) = match self.filled.get() {
            Some(filled) => {
                let people = People::new(self.members, self.sites, self.roster, self.online).map_err(few)?;
                (filled.options(options), people, Rosters::Stored(filled.seeded))
            }
            // A node that we did not start: one site, and no known contact lists.
            None => {
                say("members name whom they watch: the node that --url names has no rosters of ours");
                (
                    options,
                    People::new(self.members, 1, self.online, self.online).map_err(few)?,
                    Rosters::Named,
                )
            }
        };
        let every = |span: Span| Some(span.into()).filter(|span: &std::time::Duration| !span.is_zero());
        let plan = CommunityPlan {
            options,
            transport: self.transport,
            people,
            rosters,
            rate: self.rate,
            message_every: every(self.message_every),
            status_every: every(self.status_every),
            time: self.time.into(),
            storm: self.storm,
            spread: self.spread.into(),
            quiet: community::QUIET,
        };
        community::run(&plan, say)
    }
}
