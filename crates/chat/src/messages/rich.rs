//! The optional parts of a message besides body and files. Most messages have none: these cost one null
//! pointer, and no row.

use serde::{Deserialize, Serialize};

use crate::{
    ConversationId, Forwarded, NewForward, NewPoll, Poll, Preview, Refusal, Seq, Sticker, Timestamp,
};

/// The parts as a reader sees them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rich {
    /// The message is a poll; the body is its question.
    pub poll: Option<Poll>,
    pub forwarded: Option<Forwarded>,
    /// The message is a reply in a thread.
    pub thread: Option<InThread>,
    /// The message is the root of a thread.
    pub replies: Option<Replies>,
    /// The preview of the first link.
    pub preview: Option<Preview>,
    /// The message is this sticker; the body is its words.
    pub sticker: Option<Sticker>,
}

/// The place of a message in a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InThread {
    pub root: Seq,
    /// Position among the replies, from 1.
    pub number: u64,
}

/// The thread below a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replies {
    pub count: u64,
    pub last: Timestamp,
}

/// The thread below a message, for a device that has not seen all its replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCount {
    pub conversation: ConversationId,
    pub root: Seq,
    pub replies: Replies,
}

/// The rich parts of a new message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NewRich {
    pub poll: Option<NewPoll>,
    pub forwarded: Option<NewForward>,
    /// The root of the thread, if the message is a reply.
    pub thread: Option<Seq>,
    pub sticker: Option<Sticker>,
}

impl NewRich {
    /// None if the message has no rich part, so that it costs no allocation.
    pub fn boxed(self) -> Option<Box<NewRich>> {
        (self != NewRich::default()).then(|| Box::new(self))
    }

    /// Whether the message is plain text or a plain reply in a thread.
    pub(crate) fn is_reply(&self) -> bool {
        self.poll.is_none() && self.forwarded.is_none() && self.sticker.is_none()
    }

    /// Checks that need no store. `is_room`: the message goes to a room.
    pub(crate) fn check(&self, is_room: bool, now: Timestamp) -> Result<(), Refusal> {
        if self.thread.is_some() && !is_room {
            return Err(Refusal::BadValue);
        }
        self.poll.as_ref().map_or(Ok(()), |poll| poll.check(now))
    }

    /// The number of parts that a first message to a stranger may not have.
    pub fn attachments(&self) -> usize {
        usize::from(self.poll.is_some()) + self.files()
    }

    /// Files of the forwarded message.
    pub fn files(&self) -> usize {
        self.forwarded.as_ref().map_or(0, |forward| forward.files.len())
    }

    /// The parts of a message that was just posted. `thread`: its place in the thread, assigned by the store.
    pub(crate) fn published(self, thread: Option<InThread>) -> Option<Box<Rich>> {
        let rich = Rich {
            poll: self.poll.map(NewPoll::begun),
            forwarded: self.forwarded.map(|forward| Forwarded { from: forward.author }),
            thread,
            sticker: self.sticker,
            ..Rich::default()
        };
        Some(Box::new(rich))
    }
}
