//! The commands about contacts, the directory of members, and message requests.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Policy, command_of};
use crate::contacts::Contacts;
use crate::contacts::decide::Action;
use crate::contacts::message_requests::RequestAnswer;
use crate::session::Context;
use crate::session::publication::Publication;
use crate::{ContactNote, ConversationId, PageOf, Position, Sub};

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Change {
        action: ContactAction,
        user: Sub,
    },
    /// Like `Change`, for one direction of a contact (RFC 6121 §3).
    Subscribe {
        action: SubscriptionAction,
        user: Sub,
    },
    /// Puts a user on the contact list, with the user's own name and groups, or replaces these. The other user
    /// does not learn of it.
    Keep {
        user: Sub,
        note: ContactNote,
    },
    /// Sets the user's own name of an entry of the contact list, or removes it, and keeps its groups. Refused for a user who is
    /// not on the list. The other user does not learn of it.
    Rename {
        user: Sub,
        name: Option<Box<str>>,
    },
    List {
        page: PageOf,
    },
    /// Contacts that have changed since a position, with the ones that left the list. Answers that a client must read the
    /// whole list if they are more than a page, or if the position is not of this database.
    Changed {
        since: Position,
    },
    /// The directory of the site's members.
    ListPeople {
        query: Option<String>,
        page: PageOf,
    },
    /// Names, pictures and presence of these users.
    Profiles {
        users: Vec<Sub>,
    },
    /// Answers the first message of a user who is not a contact.
    AnswerRequest {
        conversation: ConversationId,
        answer: RequestAnswer,
    },
}

command_of! { Contacts, Command: Change, Subscribe, Keep, Rename, List, Changed, ListPeople, Profiles, AnswerRequest, }

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactAction {
    Request,
    Accept,
    Decline,
    Remove,
    Block,
    Unblock,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubscriptionAction {
    /// Asks to see the other user.
    Ask,
    /// Lets the other user see this one, now or as soon as they ask.
    LetIn,
    /// Sees the other user no longer, or asks no longer.
    Leave,
    /// Lets the other user see this one no longer. Also refuses a request, without notice to its author.
    Refuse,
}

impl SubscriptionAction {
    pub(crate) fn begins(self) -> bool {
        matches!(self, SubscriptionAction::Ask | SubscriptionAction::LetIn)
    }
}

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Change { action, .. } => {
                let asks = *action == ContactAction::Request;
                Policy { is_seen_by_others: asks, is_stopped_by_raid: asks, ..Policy::PLAIN }
            }
            Command::Subscribe { action, .. } => {
                let asks = *action == SubscriptionAction::Ask;
                Policy { is_seen_by_others: asks, is_stopped_by_raid: asks, ..Policy::PLAIN }
            }
            Command::ListPeople { .. } => Policy::SEARCH,
            Command::Keep { .. } | Command::Rename { .. } | Command::Changed { .. } => Policy::PLAIN,
            Command::List { .. } | Command::Profiles { .. } | Command::AnswerRequest { .. } => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            // Only the user sees a search, and the own names and groups of contacts.
            Command::ListPeople { query: _, page: _ }
            | Command::Keep { user: _, note: _ }
            | Command::Rename { user: _, name: _ } => Publication::default(),
            Command::Change { action: _, user: _ }
            | Command::Subscribe { action: _, user: _ }
            | Command::List { page: _ }
            | Command::Changed { since: _ }
            | Command::Profiles { users: _ }
            | Command::AnswerRequest { conversation: _, answer: _ } => Publication::default(),
        }
    }
}

impl Contacts {
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, now, .. } = context;
        let re = re.unwrap_or_default();
        match command {
            Command::Change { action, user } => {
                self.change_contact(asker, re, Action::Contact(action), user, now);
            }
            Command::Subscribe { action, user } => {
                self.change_contact(asker, re, Action::Subscription(action), user, now);
            }
            Command::Keep { user, note } => self.change_contact(asker, re, Action::Keep(note), user, now),
            Command::Rename { user, name } => {
                let note = ContactNote { name, groups: Vec::new() };
                self.change_contact(asker, re, Action::Rename(note), user, now);
            }
            Command::Changed { since } => self.changed_contacts(&asker, re, since),
            Command::List { page } => self.list_contacts(asker, re, page),
            Command::ListPeople { query, page } => self.list_people(asker, re, query, page),
            Command::Profiles { users } => self.profiles(asker, re, users),
            Command::AnswerRequest { conversation, answer } => {
                self.answer_request(asker, re, conversation, answer);
            }
        }
    }
}
