//! Reactions and votes as sessions hear them: the counts of a message instead of the whole message, whose size has nothing
//! to do with that of the command.

use crate::{ConversationId, MessageChange, Reaction, Seq, StoredMessage, Sub};

/// How the reactions and votes of a message stand at one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub version: u64,
    /// All of the message, in the order in which they came first.
    pub reactions: Vec<(Reaction, u64)>,
    /// Where the message is a poll.
    pub poll: Option<PollCounts>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollCounts {
    /// Of each choice.
    pub votes: Vec<u64>,
    pub voters: u64,
}

/// The user whose change led to the counts, and the change. Left out where several changes are told at once, and to the others
/// where a poll is anonymous.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedBy {
    pub user: Sub,
    pub what: Counted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counted {
    Reaction {
        reaction: Reaction,
        on: bool,
    },
    /// All choices that the user has now.
    Vote(Vec<u8>),
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
            }),
        }
    }
}

impl Counted {
    /// None: the change is told with the whole message.
    pub(crate) fn of(change: &MessageChange) -> Option<Counted> {
        match change {
            MessageChange::React { reaction, on } => {
                Some(Counted::Reaction { reaction: reaction.clone(), on: *on })
            }
            MessageChange::Vote(choices) => Some(Counted::Vote(choices.clone())),
            MessageChange::Edit(_)
            | MessageChange::Delete
            | MessageChange::Pin(_)
            | MessageChange::ClosePoll
            | MessageChange::Preview(_) => None,
        }
    }

    /// Nobody but the voter may learn of it.
    pub(crate) fn is_secret(&self, message: &StoredMessage) -> bool {
        let poll = message.rich.as_ref().and_then(|rich| rich.poll.as_ref());
        matches!(self, Counted::Vote(_)) && poll.is_some_and(|poll| poll.anonymous)
    }
}
