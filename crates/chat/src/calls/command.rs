//! The commands about calls. Without a request number, *done* is not sent; every other answer is.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ConversationId;
use crate::calls::{CallAction, Calls, CredentialFor, Event, GroupAction};
use crate::command::{Answer, Policy, command_of};
use crate::session::Context;
use crate::session::publication::Publication;
use crate::session::request_limits::RequestKind;

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    /// An action in a call of two users.
    Direct { action: CallAction },
    /// An action in the call of a room.
    Group { conversation: ConversationId, action: GroupAction },
    /// STUN and TURN servers. The credentials are of use only while the user is in a call.
    Servers,
}

command_of! { Calls, Command: Direct, Group, Servers, }

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        let speaks = match self {
            Command::Direct { action: CallAction::Invite { .. } } => true,
            Command::Direct { action: CallAction::Of(..) } => false,
            Command::Group { action, .. } => action.is_join(),
            Command::Servers => return Policy { counts_as: Some(RequestKind::Ice), ..Policy::PLAIN },
        };
        Policy { answer: Answer::NumberOrNone, ..Policy::speaks(speaks) }
    }

    /// Only programs read descriptions of a connection, so no filter applies to them.
    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Direct {
                action: CallAction::Invite { user: _, media: _, offer: _ } | CallAction::Of(_, _),
            }
            | Command::Group { conversation: _, action: _ }
            | Command::Servers => Publication::default(),
        }
    }
}

impl Calls {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, is_waiting, now, .. } = context;
        match command {
            Command::Direct { action } => self.call(asker, is_waiting, re, action, now),
            Command::Group { conversation, action } => {
                self.group_call(asker, re, conversation, action, now);
            }
            Command::Servers => {
                let session = asker.session;
                let ice = self.config.calls.ice(session.user, CredentialFor::AnyCall, now);
                self.sessions.answer_if_asked(session.handle, re, Event::Servers(Arc::new(ice)));
            }
        }
    }
}
