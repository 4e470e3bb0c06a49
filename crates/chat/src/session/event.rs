//! Events about the session itself: its beginning, its end, and commands that were refused.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{Answers, Policy, WhenBehind};
use crate::privacy::Signal;
use crate::{Changes, Refusal, Timestamp, Welcome};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// The answer to `Node::sign_in`.
    Welcome(Box<Welcome>),
    /// `Node::sign_in` was refused, or the session is over. The gateway closes the connection after this event.
    Bye(Refusal),
    /// Like `Bye`, with a moderator's reason, and the end of the sanction if it has one.
    ByeWith {
        refusal: Refusal,
        until: Option<Timestamp>,
        reason: Arc<str>,
    },
    /// A command was refused. Has no request number if the command had none.
    Refused(Refusal),
    /// A message was refused.
    SendRefused {
        client_id: Box<str>,
        refusal: Refusal,
    },
    Changes(Box<Changes>),
    TokenOk {
        expires: Timestamp,
    },
    /// This session's queue was dropped; see [`Node::behind`](crate::Node::behind).
    Behind,
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Welcome(_) | Event::Bye(_) | Event::ByeWith { .. } => Policy::LIVE,
            Event::Refused(_) => Policy { answers: Answers::RequestOrNone, ..Policy::LIVE },
            Event::SendRefused { .. } => Policy { answers: Answers::Send, ..Policy::LIVE },
            Event::Changes(_) => Policy { behind: WhenBehind::End, ..Policy::ANSWER },
            Event::TokenOk { .. } => Policy::ANSWER,
            Event::Behind => Policy { behind: WhenBehind::Begin, ..Policy::LIVE },
        }
    }

    /// The reason for the end of the session, if this is its last event.
    pub fn farewell(&self) -> Option<Refusal> {
        match self {
            Event::Bye(refusal) | Event::ByeWith { refusal, .. } => Some(*refusal),
            Event::Welcome(_)
            | Event::Refused(_)
            | Event::SendRefused { .. }
            | Event::Changes(_)
            | Event::TokenOk { .. }
            | Event::Behind => None,
        }
    }

    /// The reason why a command of the session was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Event::Refused(refusal) | Event::SendRefused { refusal, .. } => Some(*refusal),
            Event::Welcome(_)
            | Event::Bye(_)
            | Event::ByeWith { .. }
            | Event::Changes(_)
            | Event::TokenOk { .. }
            | Event::Behind => None,
        }
    }

    /// The client id of the message that the event answers.
    pub(crate) fn answered_message(&self) -> Option<&str> {
        match self {
            Event::SendRefused { client_id, .. } => Some(client_id),
            Event::Welcome(_)
            | Event::Bye(_)
            | Event::ByeWith { .. }
            | Event::Refused(_)
            | Event::Changes(_)
            | Event::TokenOk { .. }
            | Event::Behind => None,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Welcome(welcome) => welcome.changes.signal(),
            Event::Changes(changes) => changes.signal(),
            Event::Bye(_)
            | Event::ByeWith { .. }
            | Event::Refused(_)
            | Event::SendRefused { .. }
            | Event::TokenOk { .. }
            | Event::Behind => None,
        }
    }
}
