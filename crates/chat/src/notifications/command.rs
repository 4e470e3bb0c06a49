//! The command about notifications.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Answer, Policy, command_of};
use crate::notifications::{AppPush, Notifications, NotifyChange};
use crate::session::Context;
use crate::session::publication::Publication;

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    /// Changes the user's settings, and answers them.
    Change(Box<NotifyChange>),
    /// Wakes the app of this session by its push service, when a message would notify the user. Once for each device and service.
    PushApp(Box<AppPush>),
    /// Ends that, for one node of a service or for all.
    EndAppPush { service: Box<str>, node: Option<Box<str>> },
    /// The app shows nothing to its user now, or does again. Not answered.
    SetIdle(bool),
}

command_of! { Notifications, Command: Change, PushApp, EndAppPush, SetIdle, }

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Change(_) | Command::PushApp(_) | Command::EndAppPush { .. } => Policy::PLAIN,
            Command::SetIdle(_) => Policy { answer: Answer::Dropped, ..Policy::PLAIN },
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            // Only the user sees their settings.
            Command::Change(change) => {
                let NotifyChange { subscribe: _, unsubscribe: _, quiet: _, bodies: _, mail: _ } = &**change;
                Publication::default()
            }
            // Only the service that the user has chosen sees it.
            Command::PushApp(_) | Command::EndAppPush { .. } | Command::SetIdle(_) => Publication::default(),
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
            Command::PushApp(push) => self.push_app(&asker, re.unwrap_or_default(), *push, now),
            Command::EndAppPush { service, node } => {
                self.end_app_push(&asker, re.unwrap_or_default(), service, node);
            }
            Command::SetIdle(is_idle) => self.set_idle(&asker, is_idle),
        }
    }
}
