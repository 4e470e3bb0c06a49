//! What a message may bear besides its body and its files. Nearly none bears anything: that is one empty pointer, and no row.

use serde::{Deserialize, Serialize};

use crate::{
    ConversationId, Forwarded, NewForward, NewPoll, Poll, Preview, Refusal, Seq, Sticker, Timestamp,
};

/// As a reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rich {
    /// The body is its question.
    pub poll: Option<Poll>,
    pub forwarded: Option<Forwarded>,
    /// It is a reply in a thread.
    pub thread: Option<InThread>,
    /// A thread hangs below it.
    pub replies: Option<Replies>,
    /// Of its first link.
    pub preview: Option<Preview>,
    /// It is this sticker; the body is its words.
    pub sticker: Option<Sticker>,
}

/// The place of a message in a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InThread {
    pub root: Seq,
    /// Among the replies, from 1.
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
    /// The root of the thread in which it is a reply.
    pub thread: Option<Seq>,
    pub sticker: Option<Sticker>,
}

impl NewRich {
    /// Nothing is nothing, and costs what nothing costs.
    pub fn boxed(self) -> Option<Box<NewRich>> {
        (self != NewRich::default()).then(|| Box::new(self))
    }

    /// A message as any other, but for where it stands.
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

    /// Files that come along with what is forwarded.
    pub fn files(&self) -> usize {
        self.forwarded.as_ref().map_or(0, |forward| forward.files.len())
    }

    /// As it is told when it has just been posted. `thread`: where in it the store has put it.
    pub(crate) fn told(self, thread: Option<InThread>) -> Option<Box<Rich>> {
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
