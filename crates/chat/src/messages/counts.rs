//! Changes of a message without its text: its counts and flags. Sent instead of the whole message, because a small
//! command must not send a large message to everybody.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, MessageChange, Reaction, Seq, StoredMessage, Sub};

/// Everything of a message at one version except its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub version: u64,
    /// All reactions of the message, in the order of the first use of each.
    pub reactions: Vec<(Reaction, u64)>,
    /// Only of polls.
    pub poll: Option<PollCounts>,
    pub pinned: bool,
    /// The message has a preview.
    pub preview: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollCounts {
    /// Votes for each choice.
    pub votes: Vec<u64>,
    pub voters: u64,
    pub closed: bool,
}

/// The author of the change, and the change. Absent if several changes were combined; in anonymous polls
/// absent for other users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedBy {
    pub user: Sub,
    pub what: Counted,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counted {
    Reaction {
        reaction: Reaction,
        on: bool,
        /// All reactions of the user to the message, after the change.
        all: Vec<Reaction>,
    },
    /// All current choices of the user.
    Vote(Vec<u8>),
    Unpin,
    PollEnd,
    NoPreview,
}

impl Counts {
    pub fn of(message: &StoredMessage) -> Counts {
        let poll = message.rich.as_ref().and_then(|rich| rich.poll.as_ref());
        Counts {
            conversation: message.conversation,
            seq: message.seq,
            version: message.version,
            reactions: message.reactions.iter().map(|one| (one.reaction.clone(), one.count)).collect(),
            poll: poll.map(|poll| PollCounts {
                votes: poll.choices.iter().map(|choice| choice.votes).collect(),
                voters: poll.voters,
                closed: poll.closed,
            }),
            pinned: message.pinned,
            preview: message.rich.as_ref().is_some_and(|rich| rich.preview.is_some()),
        }
    }
}

impl Counted {
    /// None: the change is published with the whole message.
    pub(crate) fn of(change: &MessageChange) -> Option<Counted> {
        match change {
            MessageChange::React { reaction, on } => {
                Some(Counted::Reaction { reaction: reaction.clone(), on: *on, all: Vec::new() })
            }
            MessageChange::Vote(choices) => Some(Counted::Vote(choices.clone())),
            MessageChange::Pin(false) => Some(Counted::Unpin),
            MessageChange::ClosePoll => Some(Counted::PollEnd),
            MessageChange::Preview(None) => Some(Counted::NoPreview),
            // Pinned messages are shown above the others, also to clients that have not loaded the message.
            MessageChange::Edit { .. }
            | MessageChange::Delete
            | MessageChange::Pin(true)
            | MessageChange::Preview(Some(_)) => None,
        }
    }

    /// With all reactions of the user. `message`: after the change, as the user sees it.
    pub(crate) fn completed(self, message: &StoredMessage) -> Counted {
        match self {
            Counted::Reaction { reaction, on, .. } => {
                let mine = message.reactions.iter().filter(|one| one.mine);
                Counted::Reaction { reaction, on, all: mine.map(|one| one.reaction.clone()).collect() }
            }
            Counted::Vote(_) | Counted::Unpin | Counted::PollEnd | Counted::NoPreview => self,
        }
    }

    /// Whether only the voter may receive the change.
    pub(crate) fn is_secret(&self, message: &StoredMessage) -> bool {
        let poll = message.rich.as_ref().and_then(|rich| rich.poll.as_ref());
        matches!(self, Counted::Vote(_)) && poll.is_some_and(|poll| poll.anonymous)
    }
}
