//! Events about a user's own account, and about users who changed theirs.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::app_passwords::{AppPasswordShown, KnownAppPassword};
use super::devices::KnownDevice;
use super::erasure::Renamed;
use super::export::Exported;
use super::items;
use super::profile::ProfileCard;
use crate::Person;
use crate::event::Policy;
use crate::privacy::Signal;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// A user's id has changed in all messages that a device has.
    Renamed(Arc<Renamed>),
    Profile(Box<ProfileCard>),
    Devices(Vec<KnownDevice>),
    /// The user's app passwords, newest first, and the user's address for apps if they can sign in now.
    AppPasswords {
        address: Option<Box<str>>,
        passwords: Vec<KnownAppPassword>,
    },
    AppPassword(Box<AppPasswordShown>),
    Exported(Box<Exported>),
    Items(items::Event),
    /// Whether the picture of an item is wanted as the user's own.
    Picture {
        wanted: bool,
    },
    /// A user whom the session shows has another picture. The presence is not part of it.
    Card(Arc<Person>),
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Renamed(_) => Policy::STORED,
            Event::Profile(_)
            | Event::Devices(_)
            | Event::AppPasswords { .. }
            | Event::AppPassword(_)
            | Event::Exported(_)
            | Event::Picture { .. } => Policy::ANSWER,
            Event::Items(event) => event.policy(),
            Event::Card(_) => Policy::LIVE,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Profile(card) => card.last_seen.map(|_| Signal::LastSeen),
            Event::Renamed(_)
            | Event::Devices(_)
            | Event::AppPasswords { .. }
            | Event::AppPassword(_)
            | Event::Exported(_)
            | Event::Picture { .. }
            // Profiles show the picture of an invisible user, too.
            | Event::Card(_)
            // A change of an item is published to its readers, and not sent while the user is invisible.
            | Event::Items(_) => None,
        }
    }
}
