//! Events about the notification settings of a user.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::NotifySettings;
use crate::event::Policy;
use crate::privacy::Signal;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// The notification settings and the channels.
    Settings {
        /// The key that browsers need to subscribe. None: this node sends no notifications, or cannot at the
        /// moment.
        key: Option<Arc<str>>,
        settings: NotifySettings,
        devices: u32,
        /// The address of digests, and the delay in minutes; 0: never. None: the site sends no digests.
        mail: Option<(Box<str>, u32)>,
    },
    /// The push service of the app is stored, or removed.
    AppPush,
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Settings { .. } | Event::AppPush => Policy::ANSWER,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Settings { .. } | Event::AppPush => None,
        }
    }
}
