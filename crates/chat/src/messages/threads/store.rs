//! The part of the port to storage that is about threads. What [`Store`](crate::Store) promises of queues, order and crashes holds
//! here too. Who may read the room may read its threads; who is no member follows none.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, Done, HistoryPage, Refusal, Seq, StoredMessage, UserId};

/// See [`Store`](crate::Store), of which it is a part. One conformance suite holds every implementation to what is written here.
///
/// [`MessageStore::post`](crate::MessageStore::post) with a thread puts the message into the thread below that root, gives it the next number there, and lets its
/// sender, the root's, and members whom it names follow the thread; the sender has read all of it. A root that is not there, was deleted,
/// or is a reply in a thread itself is [`Refusal::NoSuchMessage`].
pub trait ThreadStore: Send + Sync + 'static {
    /// As [`MessageStore::history`](crate::MessageStore::history), of the replies below `root`.
    #[allow(clippy::too_many_arguments, reason = "the command")]
    fn thread_history(
        &self,
        reader: UserId,
        room: ConversationId,
        root: Seq,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    );
    /// How a reader stands to the thread below a message, after the change. It takes no position: it concerns nobody else. Who is no
    /// member cannot follow: [`Refusal::NotAMember`].
    fn change_thread(
        &self,
        reader: UserId,
        room: ConversationId,
        root: Seq,
        change: ThreadChange,
        done: Done<Result<ThreadRow, Refusal>>,
    );
    /// The threads of a room that a member follows, newest reply first.
    fn threads(
        &self,
        reader: UserId,
        room: ConversationId,
        limit: u32,
        done: Done<Result<Vec<ThreadRow>, Refusal>>,
    );
}

/// Fields that are None stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadChange {
    pub follow: Option<bool>,
    /// All replies up to this number are read; never back.
    pub read: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    pub root: StoredMessage,
    /// Up to which number the reader has read it; None: does not follow it.
    pub read: Option<u64>,
    /// Replies after that whose authors the reader has blocked, of the newest
    /// [`MOST_BLOCKED_LOOKED_AT`](crate::MOST_BLOCKED_LOOKED_AT).
    pub blocked: u64,
}
