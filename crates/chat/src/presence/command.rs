//! The commands about presence.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Answer, Policy, command_of};
use crate::presence::Presences;
use crate::session::Context;
use crate::session::publication::Publication;
use crate::{SetPresence, Sub};

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Set(SetPresence),
    /// Watches the presence of these users, and optionally of all contacts. Replaces the previous watch.
    Watch {
        contacts: bool,
        users: Vec<Sub>,
    },
}

command_of! { Presence, Command: Set, Watch, }

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Set(_) | Command::Watch { .. } => Policy { answer: Answer::None, ..Policy::PLAIN },
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Set(_) | Command::Watch { contacts: _, users: _ } => Publication::default(),
        }
    }
}

impl Presences {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, now, .. } = context;
        match command {
            Command::Set(set) => self.set_presence(&asker, set, now),
            Command::Watch { contacts, users } => self.watch(asker, contacts, users),
        }
    }
}
