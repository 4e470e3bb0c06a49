//! The command about notifications.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Policy, command_of};
use crate::notifications::{Notifications, NotifyChange};
use crate::session::Context;
use crate::session::publication::Publication;

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    /// Changes the user's settings, and answers them.
    Change(Box<NotifyChange>),
}

command_of! { Notifications, Command: Change, }

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Change(_) => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            // Only the user sees their settings.
            Command::Change(change) => {
                let NotifyChange { subscribe: _, unsubscribe: _, quiet: _, bodies: _, mail: _ } = &**change;
                Publication::default()
            }
        }
    }
}

impl Notifications {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, now, .. } = context;
        match command {
            Command::Change(change) => {
                self.notifications(&asker, re.unwrap_or_default(), *change, now);
            }
        }
    }
}
