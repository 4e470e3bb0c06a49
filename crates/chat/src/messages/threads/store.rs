//! The slice of the port to storage for threads. The promises of [`Store`](crate::Store) about queues, order
//! and crashes hold here too. Users who may read the room may read its threads; only members can follow them.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, Done, HistoryPage, Refusal, Seq, StoredMessage, UserId};

/// A slice of [`Store`](crate::Store). One conformance suite tests this contract against every
/// implementation.
///
/// [`MessageStore::post`](crate::MessageStore::post) with a thread appends the message to the thread below
/// that root, with the next number there. The sender, the author of the root, and members whom the message
/// mentions then follow the thread; the sender has read all of it. A root that does not exist, was deleted,
/// or is itself a reply is [`Refusal::NoSuchMessage`].
pub trait ThreadStore: Send + Sync + 'static {
    /// The replies below `root`, like [`MessageStore::history`](crate::MessageStore::history).
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
    /// Changes the reader's state of a thread, and answers the new state. It takes no position, because it
    /// concerns no other user. Only members can follow a thread; others get [`Refusal::NotAMember`].
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

/// A change of a reader's state of a thread. Fields that are None stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ThreadChange {
    pub follow: Option<bool>,
    /// Marks replies up to this number as read; never moves back.
    pub read: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRow {
    pub root: StoredMessage,
    /// The last reply that the reader has read; None: the reader does not follow the thread.
    pub read: Option<u64>,
    /// Later replies of authors whom the reader has blocked, among the newest
    /// [`MOST_BLOCKED_LOOKED_AT`](crate::MOST_BLOCKED_LOOKED_AT).
    pub blocked: u64,
}
