//! The part of the port to storage that is about erasing users. What [`Store`](crate::Store) promises holds here too.

use std::sync::Arc;

use super::Messages;
use crate::moderation::By;
use crate::{ChangedMessage, ConversationRow, Done, Position, Sub, Timestamp, UserId, UserRow};

/// See [`Store`](crate::Store), of which it is a part.
pub trait EraseStore: Send + Sync + 'static {
    /// The user is nobody from now on, and it is written into the record. None: no such user, or somebody has the new id.
    fn begin_erasure(&self, erasure: NewErasure, done: Done<Option<Erased>>);
    /// Goes on with what is left of all users who were erased, for at most `limit` rows.
    fn erase_some(&self, now: Timestamp, limit: u32, done: Done<EraseSlice>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewErasure {
    pub user: UserId,
    /// By what they are called from now on. Nobody has had this id.
    pub alias: Sub,
    pub name: Arc<str>,
    pub messages: Messages,
    pub by: By,
    pub time: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    pub before: UserRow,
    /// As they are now: banned, so that nobody writes to them or finds them.
    pub after: UserRow,
    /// On whose list they were.
    pub parted: Vec<UserId>,
    pub position: Position,
}

/// What others must be told of.
#[derive(Debug, Clone, Default)]
pub struct EraseSlice {
    /// Direct conversations as the other one sees them now.
    pub conversations: Vec<(UserId, ConversationRow)>,
    pub changed: Vec<ChangedMessage>,
    pub position: Position,
    /// There is more to do.
    pub more: bool,
}
