//! Events about the presence of users.

#![deny(clippy::wildcard_enum_match_arm)]

use serde::{Deserialize, Serialize};

use crate::event::{Policy, WhenSlow};
use crate::privacy::Signal;
use crate::{Presence, Sub, Timestamp};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    Presence {
        user: Sub,
        presence: Presence,
        last_seen: Option<Timestamp>,
    },
    /// The contacts who are online. All others are offline, unless there are `more`.
    Watching {
        here: Vec<(Sub, Presence)>,
        more: bool,
    },
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Presence { .. } | Event::Watching { .. } => {
                Policy { slow: WhenSlow::Coalesce, ..Policy::LIVE }
            }
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Presence { presence: Presence::Offline, last_seen, .. } => {
                last_seen.map(|_| Signal::LastSeen)
            }
            Event::Presence { .. } => Some(Signal::Presence),
            Event::Watching { here, .. } => (!here.is_empty()).then_some(Signal::Presence),
        }
    }
}
