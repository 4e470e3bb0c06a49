//! A message held outside the conversation: for a moderator, or because its sender is shadow-banned.

use serde::{Deserialize, Serialize};

use crate::{ConversationId, FileId, Seq, Sub, Timestamp, UserId};

/// A held message.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub from: UserId,
    pub conversation: ConversationId,
    /// The other member, in a direct conversation.
    pub other: Option<Sub>,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub extension: Option<Box<str>>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    pub files: Vec<FileId>,
    pub thread: Option<Seq>,
    pub state: HeldState,
    /// The moderator's reason for the refusal.
    pub reason: Box<str>,
}

impl Held {
    /// See [`Message::is_opaque`](crate::Message::is_opaque).
    pub fn is_opaque(&self) -> bool {
        self.extension.is_some() && self.body.is_empty() && self.files.is_empty()
    }
}

impl std::fmt::Debug for Held {
    /// Bodies and extensions stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Held { from, conversation, client_id, state, .. } = self;
        let mut held = f.debug_struct("Held");
        held.field("from", from).field("conversation", conversation).field("client_id", client_id);
        held.field("state", state).finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HeldState {
    /// Waiting for a moderator.
    Waiting,
    /// Refused. Shown to its author until they have seen it.
    Refused,
    /// Shadow-banned: its author sees it as sent.
    Shadow,
}
