//! The commands about contacts, the directory of members, and message requests.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::{Policy, command_of};
use crate::contacts::Contacts;
use crate::contacts::message_requests::RequestAnswer;
use crate::session::Context;
use crate::session::publication::Publication;
use crate::{ConversationId, PageOf, Sub};

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Change {
        action: ContactAction,
        user: Sub,
    },
    List {
        page: PageOf,
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

command_of! { Contacts, Command: Change, List, ListPeople, Profiles, AnswerRequest, }

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactAction {
    Request,
    Accept,
    Decline,
    Remove,
    Block,
    Unblock,
}

impl Command {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Change { action, .. } => {
                let asks = *action == ContactAction::Request;
                Policy { is_seen_by_others: asks, is_stopped_by_raid: asks, ..Policy::PLAIN }
            }
            Command::ListPeople { .. } => Policy::SEARCH,
            Command::List { .. } | Command::Profiles { .. } | Command::AnswerRequest { .. } => Policy::PLAIN,
        }
    }

    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            // Only the user sees a search.
            Command::ListPeople { query: _, page: _ } => Publication::default(),
            Command::Change { action: _, user: _ }
            | Command::List { page: _ }
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
            Command::Change { action, user } => self.change_contact(asker, re, action, user, now),
            Command::List { page } => self.list_contacts(asker, re, page),
            Command::ListPeople { query, page } => self.list_people(asker, re, query, page),
            Command::Profiles { users } => self.profiles(asker, re, users),
            Command::AnswerRequest { conversation, answer } => {
                self.answer_request(asker, re, conversation, answer);
            }
        }
    }
}
