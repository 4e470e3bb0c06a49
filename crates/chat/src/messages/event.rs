//! Events about messages and their conversations.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::counts::{CountedBy, Counts};
use super::stickers::Sticker;
use super::threads::Thread;
use crate::event::{Answers, Policy, WhenSlow};
use crate::moderation::Held;
use crate::privacy::Signal;
use crate::{Conversation, ConversationId, FileId, Message, Seq, Sub, Timestamp};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    /// The message is on disk. A repeated send gets the seq and time of the first one.
    Ack {
        client_id: Box<str>,
        conversation: ConversationId,
        seq: Seq,
        time: Timestamp,
        /// The message waits until the other user accepts the request.
        request: bool,
    },
    /// One allocation for all sessions that receive it.
    Message(Arc<Message>),
    /// A further message of a request that waits for an answer of this user.
    Requested(Arc<Message>),
    /// A message after a change. The author of the change gets their own `mine`; others get it without.
    Update {
        message: Arc<Message>,
        by: Sub,
    },
    /// The reactions and votes of a message after one or several changes.
    Counts {
        counts: Arc<Counts>,
        by: Option<Box<CountedBy>>,
    },
    Marker {
        conversation: ConversationId,
        user: Sub,
        received: Seq,
        read: Seq,
        /// The unread count, if `user` is the user of this session.
        unread: Option<u64>,
    },
    Typing {
        conversation: ConversationId,
        user: Sub,
        on: bool,
    },
    Conversations {
        conversations: Vec<Conversation>,
        next: Option<String>,
    },
    Conversation(Box<Conversation>),
    History {
        /// None: the conversation does not exist yet; it gets an id with its first message.
        conversation: Option<ConversationId>,
        messages: Vec<Arc<Message>>,
        more: bool,
    },
    /// Newest first.
    Pins {
        conversation: ConversationId,
        messages: Vec<Arc<Message>>,
    },
    /// A thread as this user sees it.
    Thread(Box<Thread>),
    /// The threads that the user follows, newest reply first.
    Threads {
        conversation: ConversationId,
        threads: Vec<Thread>,
    },
    /// The site's stickers, oldest first.
    Stickers(Vec<Sticker>),
    /// The messages of a search, newest first; of a page of the archive, in the order of their positions; or of a look-up.
    Found {
        hits: Vec<Arc<Message>>,
        next: Option<String>,
    },
    /// A message of this user that others cannot see, or not yet.
    Held(Box<Held>),
    /// A file of this user that is in no message: the answer to [`ReserveFile`](super::Command::ReserveFile) and
    /// [`FindFile`](super::Command::FindFile).
    File {
        id: FileId,
        /// The part of the name that is safe to show.
        name: Box<str>,
    },
}

impl Event {
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Message(_) | Event::Requested(_) | Event::Marker { .. } => Policy::STORED,
            Event::Ack { .. } => Policy { answers: Answers::Send, ..Policy::STORED },
            Event::Update { .. } | Event::Counts { .. } | Event::Conversation(_) => {
                Policy { answers: Answers::RequestOrNone, ..Policy::STORED }
            }
            Event::Typing { .. } => Policy { slow: WhenSlow::Drop, ..Policy::LIVE },
            Event::Held(_) => Policy::LIVE,
            Event::Conversations { .. }
            | Event::History { .. }
            | Event::Pins { .. }
            | Event::Thread(_)
            | Event::Threads { .. }
            | Event::Stickers(_)
            | Event::Found { .. }
            | Event::File { .. } => Policy::ANSWER,
        }
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        match self {
            Event::Typing { conversation, .. } if conversation.is_room() => Some(Signal::RoomTyping),
            Event::Typing { .. } => Some(Signal::Typing),
            Event::Marker { conversation, unread: None, .. } if conversation.is_room() => {
                Some(Signal::RoomMarker)
            }
            Event::Marker { unread: None, .. } => Some(Signal::Marker),
            // The user's own marker.
            Event::Marker { unread: Some(_), .. } => None,
            Event::Conversation(conversation) => conversation.signal(),
            Event::Conversations { conversations, .. } => conversations.iter().find_map(Conversation::signal),
            Event::Ack { .. }
            | Event::Message(_)
            | Event::Requested(_)
            | Event::Update { .. }
            | Event::Counts { .. }
            | Event::History { .. }
            | Event::Pins { .. }
            | Event::Thread(_)
            | Event::Threads { .. }
            | Event::Stickers(_)
            | Event::Found { .. }
            | Event::File { .. }
            | Event::Held(_) => None,
        }
    }

    /// The client id of the message that the event answers.
    pub(crate) fn answered_message(&self) -> Option<&str> {
        match self {
            Event::Ack { client_id, .. } => Some(client_id),
            Event::Held(held) => Some(&held.client_id),
            Event::Message(_)
            | Event::Requested(_)
            | Event::Update { .. }
            | Event::Counts { .. }
            | Event::Marker { .. }
            | Event::Typing { .. }
            | Event::Conversations { .. }
            | Event::Conversation(_)
            | Event::History { .. }
            | Event::Pins { .. }
            | Event::Thread(_)
            | Event::Threads { .. }
            | Event::Stickers(_)
            | Event::Found { .. }
            | Event::File { .. } => None,
        }
    }
}
