//! Events about the presence of users.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{Policy, WhenSlow};
use crate::privacy::Signal;
use crate::session::UserSessions;
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
    /// For sessions with a resource, in the place of the other events: the sessions of these users.
    Sessions(Vec<UserSessions>),
    /// A stanza of another session, for this one: see [`Command::Relay`](super::Command::Relay).
    Relayed {
        from: Sub,
        resource: Arc<str>,
        payload: Box<str>,
    },
    /// The stanza was delivered.
    RelayDone,
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Presence { .. } | Event::Watching { .. } | Event::Sessions(_) => {
                Policy { slow: WhenSlow::Coalesce, ..Policy::LIVE }
            }
            Event::Relayed { .. } => Policy::LIVE,
            Event::RelayDone => Policy::ANSWER,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Presence { presence: Presence::Offline, last_seen, .. } => {
                last_seen.map(|_| Signal::LastSeen)
            }
            Event::Presence { .. } => Some(Signal::Presence),
            Event::Watching { here, .. } => (!here.is_empty()).then_some(Signal::Presence),
            Event::Sessions(users) => users
                .iter()
                .any(|user| user.sessions.iter().any(|session| session.availability.is_some()))
                .then_some(Signal::Presence),
            Event::Relayed { .. } | Event::RelayDone => None,
        }
    }
}
