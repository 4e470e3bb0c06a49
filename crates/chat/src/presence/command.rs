//! The commands about presence.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::command::{Answer, Policy, command_of};
use crate::presence::Presences;
use crate::session::Availability;
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
    /// The availability of this session, which must have a resource. None: unavailable.
    Announce(Option<Arc<Availability>>),
    /// Sends a stanza to one session of a contact or of the user: a request, or an answer. It is not stored. Refused as if there were no
    /// such session, unless the user sees that session's availability. A remote service gets requests of everybody, and may
    /// answer them.
    Relay {
        to: Sub,
        resource: Box<str>,
        /// At most [`RELAY_BYTES`].
        payload: Box<str>,
        /// The payload answers a request, so it goes to a session whose user sees this one. The outcome is always the same,
        /// because the user may not see that session.
        is_answer: bool,
    },
    /// Tells the apps of `to` that a message for the asker, a user of another server, was not delivered. All sessions with a resource get
    /// the payload as an [`Event::Relayed`](super::Event::Relayed), because the domain does not know which one has sent the message.
    Undelivered {
        to: Sub,
        /// At most [`RELAY_BYTES`].
        payload: Box<str>,
    },
}

/// The longest payload of a relayed stanza.
pub const RELAY_BYTES: usize = 32 * 1024;

command_of! { Presence, Command: Set, Watch, Announce, Relay, Undelivered, }

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Set(_) | Command::Watch { .. } | Command::Announce(_) | Command::Undelivered { .. } => {
                Policy { answer: Answer::None, ..Policy::PLAIN }
            }
            Command::Relay { .. } => Policy::speaks(true),
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            // An error in the words of a gateway, about what its receiver has written.
            Command::Undelivered { to: _, payload: _ }
            | Command::Set(_)
            | Command::Watch { contacts: _, users: _ }
            | Command::Announce(None) => Publication::default(),
            Command::Announce(Some(availability)) => {
                let Availability { show: _, priority: _, status, extension } = &**availability;
                Publication { texts: smallvec![&**status, &**extension], ..Publication::default() }
            }
            // Programs write it, for programs; the receiver is a contact.
            Command::Relay { to: _, resource: _, payload, is_answer: _ } => Publication::text(payload),
        }
    }
}

impl Presences {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, now, .. } = context;
        match command {
            Command::Set(set) => self.set_presence(&asker, set, now),
            Command::Watch { contacts, users } => self.watch(asker, contacts, users),
            Command::Announce(availability) => self.announce(&asker, availability, now),
            Command::Relay { to, resource, payload, is_answer } => {
                self.relay(asker, re.unwrap_or_default(), &to, resource, payload, is_answer);
            }
            Command::Undelivered { to, payload } => self.undelivered(&asker, to, payload),
        }
    }
}
