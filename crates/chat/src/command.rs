//! A client's request: a command of one part of the domain, and the number that the answer repeats.
//!
//! Each part declares its commands in its `command.rs`: their data, their policy, the texts that others will
//! see, and their execution.

#![deny(clippy::wildcard_enum_match_arm)]

use serde::{Deserialize, Serialize};

use crate::contacts::message_requests::RequestAnswer;
use crate::rooms::{PageKey, RoomName};
use crate::session::publication::Publication;
use crate::session::request_limits::RequestKind;
use crate::{
    ConversationId, SiteId, Sub, account, calls, contacts, messages, moderation, notifications, presence,
    rooms, sign_in,
};

/// A command without its answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pending {
    /// The number of the request.
    Request(u64),
    /// The client id of the message.
    Message(Box<str>),
}

/// A command of a signed-in session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// Made by the client, and repeated in the answer. Commands with [`Answer::Number`] are refused without
    /// it.
    pub re: Option<u64>,
    pub command: Command,
}

/// A command, by the part of the domain that carries it out.
#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Account(account::Command),
    Calls(calls::Command),
    Contacts(contacts::Command),
    Messages(messages::Command),
    Moderation(moderation::Command),
    Notifications(notifications::Command),
    Presence(presence::Command),
    Rooms(rooms::Command),
    SignIn(sign_in::Command),
}

impl Request {
    pub fn new(re: u64, command: impl Into<Command>) -> Request {
        Request { re: Some(re), command: command.into() }
    }

    /// The answer that the session waits for. None: it waits for none.
    pub fn pending(&self) -> Option<Pending> {
        match self.answer_to() {
            AnswerTo::Message(id) => Some(Pending::Message(id)),
            AnswerTo::Request(re) => Some(Pending::Request(re)),
            AnswerTo::Session | AnswerTo::Nobody => None,
        }
    }

    /// The command changes nothing, so it can be carried out twice. False for some that change nothing.
    pub fn only_reads(&self) -> bool {
        use {account::Command as Account, contacts::Command as Contacts};
        use {messages::Command as Messages, rooms::Command as Rooms};
        matches!(
            self.command,
            Command::Messages(
                Messages::ListConversations { .. }
                    | Messages::History { .. }
                    | Messages::HistorySince { .. }
                    | Messages::Archive(_)
                    | Messages::AtPositions { .. }
                    | Messages::Find { .. }
                    | Messages::Search { .. }
                    | Messages::ListPins { .. }
                    | Messages::ListThreads { .. }
                    | Messages::ListStickers
            ) | Command::Contacts(
                Contacts::List { .. }
                    | Contacts::Changed { .. }
                    | Contacts::ListPeople { .. }
                    | Contacts::Profiles { .. }
            ) | Command::Rooms(
                Rooms::List { .. }
                    | Rooms::ListOccupants { .. }
                    | Rooms::ListNames { .. }
                    | Rooms::ListMembers { .. }
                    | Rooms::ListLinks { .. }
                    | Rooms::Show { .. }
                    | Rooms::Find { .. }
                    | Rooms::OpenLink { .. }
            ) | Command::Account(Account::Profile { .. } | Account::ListDevices | Account::ListAppPasswords)
        )
    }

    /// The session waits for no answer, but a refusal reaches it, without a number: of a marker, for example.
    pub fn is_unanswered(&self) -> bool {
        matches!(self.answer_to(), AnswerTo::Session)
    }

    /// The destination of the answer or refusal.
    pub(crate) fn answer_to(&self) -> AnswerTo {
        match self.command.policy().answer {
            Answer::Number | Answer::NumberOrNone => self.re.map_or(AnswerTo::Session, AnswerTo::Request),
            Answer::ClientId => {
                self.command.client_id().map_or(AnswerTo::Session, |id| AnswerTo::Message(id.into()))
            }
            Answer::None => AnswerTo::Session,
            Answer::Dropped => AnswerTo::Nobody,
        }
    }
}

/// A request without a number.
impl<C: Into<Command>> From<C> for Request {
    fn from(command: C) -> Request {
        Request { re: None, command: command.into() }
    }
}

impl Command {
    /// Answers a message request, or an invitation into a room.
    pub fn answer_request(conversation: ConversationId, answer: RequestAnswer) -> Command {
        match conversation.is_room() {
            true => rooms::Command::AnswerRequest { conversation, answer }.into(),
            false => contacts::Command::AnswerRequest { conversation, answer }.into(),
        }
    }

    #[inline]
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Account(command) => command.policy(),
            Command::Calls(command) => command.policy(),
            Command::Contacts(command) => command.policy(),
            Command::Messages(command) => command.policy(),
            Command::Moderation(command) => command.policy(),
            Command::Notifications(command) => command.policy(),
            Command::Presence(command) => command.policy(),
            Command::Rooms(command) => command.policy(),
            Command::SignIn(command) => command.policy(),
        }
    }

    /// The texts and addresses of the command that others will see.
    #[inline]
    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Account(command) => command.publication(),
            Command::Calls(command) => command.publication(),
            Command::Contacts(command) => command.publication(),
            Command::Messages(command) => command.publication(),
            Command::Moderation(command) => command.publication(),
            Command::Notifications(command) => command.publication(),
            Command::Presence(command) => command.publication(),
            Command::Rooms(command) => command.publication(),
            Command::SignIn(command) => command.publication(),
        }
    }

    fn client_id(&self) -> Option<&str> {
        match self {
            Command::Messages(command) => command.client_id(),
            Command::Account(_)
            | Command::Calls(_)
            | Command::Contacts(_)
            | Command::Moderation(_)
            | Command::Notifications(_)
            | Command::Presence(_)
            | Command::Rooms(_)
            | Command::SignIn(_) => None,
        }
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Command::Account(command) => command.fmt(f),
            Command::Calls(command) => command.fmt(f),
            Command::Contacts(command) => command.fmt(f),
            Command::Messages(command) => command.fmt(f),
            Command::Moderation(command) => command.fmt(f),
            Command::Notifications(command) => command.fmt(f),
            Command::Presence(command) => command.fmt(f),
            Command::Rooms(command) => command.fmt(f),
            Command::SignIn(command) => command.fmt(f),
        }
    }
}

/// Converts a part's command into [`Command`]. Logs show only its name: bodies and tokens stay out of them.
macro_rules! command_of {
    ($part:ident, $command:ident: $($name:ident,)*) => {
        impl From<$command> for crate::Command {
            fn from(command: $command) -> crate::Command {
                crate::Command::$part(command)
            }
        }

        impl std::fmt::Debug for $command {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $($command::$name { .. } => concat!(stringify!($part), "::", stringify!($name)),)*
                })
            }
        }
    };
}
pub(crate) use command_of;

/// The properties of a command that admission checks.
#[derive(Clone, Copy)]
pub(crate) struct Policy {
    /// Sends a text to others, and counts against the message rate.
    pub(crate) is_send: bool,
    /// Publishes something new: refused to users who are muted on the site.
    pub(crate) speaks: bool,
    /// Others would notice the command, and not by a message: refused to shadow-banned users.
    pub(crate) is_seen_by_others: bool,
    /// Raid mode refuses it to new members. A message to a user is checked later: only the first one is
    /// refused.
    pub(crate) is_stopped_by_raid: bool,
    /// The second rate that the command counts against, besides that of all commands.
    pub(crate) counts_as: Option<RequestKind>,
    pub(crate) answer: Answer,
}

/// How a command is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// With the number of its request, which is required.
    Number,
    /// With the number of its request, if the request has one.
    NumberOrNone,
    /// With the client id of the message.
    ClientId,
    /// Only refusals are sent, without a number.
    None,
    /// Never answered: the command may be dropped silently.
    Dropped,
}

impl Policy {
    pub(crate) const PLAIN: Policy = Policy {
        is_send: false,
        speaks: false,
        is_seen_by_others: false,
        is_stopped_by_raid: false,
        counts_as: None,
        answer: Answer::Number,
    };
    /// May add a row to the record, which is kept forever.
    pub(crate) const RECORDED: Policy = Policy { counts_as: Some(RequestKind::Recorded), ..Policy::PLAIN };
    /// Reads large parts of the stored data.
    pub(crate) const SEARCH: Policy = Policy { counts_as: Some(RequestKind::Search), ..Policy::PLAIN };

    pub(crate) const fn speaks(speaks: bool) -> Policy {
        Policy { speaks, is_seen_by_others: speaks, ..Policy::PLAIN }
    }
}

/// The addressee of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum To {
    User(Sub),
    Conversation(ConversationId),
    /// The room of a page of the session's site.
    Page(PageKey),
}

impl To {
    pub(crate) fn is_room(&self) -> bool {
        match self {
            To::Conversation(id) => id.is_room(),
            To::Page(_) => true,
            To::User(_) => false,
        }
    }

    /// The room, or the other kind of addressee as the error.
    pub(crate) fn room(self, site: SiteId) -> Result<RoomName, To> {
        match self {
            To::Conversation(id) if id.is_room() => Ok(RoomName::Id(id)),
            To::Page(page) => Ok(RoomName::Page(site, page)),
            other @ (To::User(_) | To::Conversation(_)) => Err(other),
        }
    }
}

/// One page of a list: it starts after the `next` of the previous page.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageOf {
    pub after: Option<String>,
    pub limit: Option<u32>,
}

/// The destination of a command's answer or refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerTo {
    Message(Box<str>),
    Request(u64),
    /// For commands without a request number: the refusal has none, either.
    Session,
    /// No answer: the command may be dropped silently.
    Nobody,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each message moves a request several times.
    #[test]
    fn a_request_stays_small() {
        assert!(size_of::<Request>() <= 136, "{}", size_of::<Request>());
    }
}
