//! The cluster that a plan asks for, and the process of it that dies.

use load::Part;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::span::Span;
use crate::trouble::{Outcome, Trouble};

/// The section `cluster` of a plan file. The flags of the command line have the same names.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClusterPlan {
    /// Fronts, over which the members are spread.
    #[serde(deserialize_with = "fronts")]
    pub(super) nodes: u32,
    /// Servers.
    #[serde(default = "one", deserialize_with = "one_or_three")]
    pub(super) nats: u32,
    #[serde(default)]
    pub(super) store: StoreKind,
    #[serde(default)]
    pub(super) kill: Option<KillTarget>,
    /// After the beginning of the traffic. None: after half of it.
    #[serde(default)]
    pub(super) kill_at: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoreKind {
    Sqlite,
    /// A second home stands by.
    #[default]
    Postgres,
}

/// The process that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KillTarget {
    /// Another home takes its place; on SQLite it is started again after 2 s.
    Home,
    /// It stays dead, and its members come back through the others.
    Front,
    /// It is started again after 2 s.
    Nats,
    /// It is started again after 2 s.
    Postgres,
}

impl KillTarget {
    pub(super) fn part(self) -> Part {
        match self {
            KillTarget::Home => Part::Home,
            KillTarget::Front => Part::Front,
            KillTarget::Nats => Part::Nats,
            KillTarget::Postgres => Part::Postgres,
        }
    }
}

impl ClusterPlan {
    pub(super) fn of(nodes: u32) -> ClusterPlan {
        ClusterPlan { nodes, nats: 1, store: StoreKind::default(), kill: None, kill_at: None }
    }

    pub(super) fn check(&self) -> Outcome {
        match (self.kill, self.kill_at) {
            (Some(KillTarget::Front), _) if self.nodes == 1 => {
                Err(Trouble::new("the members of the only front could not come back")
                    .remedy("--nodes 2, or more"))
            }
            (Some(KillTarget::Postgres), _) if self.store == StoreKind::Sqlite => {
                Err(Trouble::new("a cluster on SQLite has no PostgreSQL to kill")
                    .remedy("leave out --store sqlite"))
            }
            (None, Some(_)) => {
                Err(Trouble::new("nothing is killed at that time").remedy("--kill front, or another process"))
            }
            _ => Ok(()),
        }
    }
}

fn one() -> u32 {
    1
}

fn fronts<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    let is_right = (1..=64).contains(&number);
    is_right
        .then_some(number)
        .ok_or_else(|| Error::custom(format!("a cluster has 1 to 64 fronts, not {number}")))
}

fn one_or_three<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    let is_right = [1, 3].contains(&number);
    is_right.then_some(number).ok_or_else(|| Error::custom("NATS runs alone, or with three servers"))
}
