//! The slice of the port to storage for calls.

use std::sync::Arc;

use crate::call_entry::CallEntry;
use crate::users::store::UserStore;
use crate::{Append, Appended, ConversationId, Done, MessageKind, Refusal, RoomLimits, Timestamp, UserId};

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait CallStore: UserStore {
    /// Stores the entry of a direct call, like [`MessageStore::append`](crate::MessageStore::append).
    fn append_call(&self, entry: NewCallEntry, done: Done<Appended>);
    /// Stores the entry of a room's call, like [`MessageStore::post`](crate::MessageStore::post), for any
    /// member, muted or not. It moves neither the member's markers nor their slow mode.
    fn post_call(&self, entry: NewCallEntry, limits: RoomLimits, done: Done<Result<PostedCall, Refusal>>);
}

/// The entry of a finished call. A second entry of the same call changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewCallEntry {
    pub conversation: ConversationId,
    pub from: UserId,
    pub entry: CallEntry,
    pub time: Timestamp,
}

impl NewCallEntry {
    /// The entry as a message. For stores.
    pub fn message(self) -> Append {
        let NewCallEntry { conversation, from, entry, time } = self;
        Append {
            conversation,
            from,
            kind: MessageKind::Call,
            client_id: entry.client_id(),
            body: entry.body(),
            extension: None,
            time,
            reply_to: None,
            rich: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedCall {
    pub appended: Appended,
    /// The members at that commit, by number. Empty if the entry was a repetition.
    pub members: Arc<Vec<u32>>,
}
