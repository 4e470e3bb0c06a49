//! The part of the port to storage that is about erasing users. What [`Store`](crate::Store) promises holds here too.

use std::sync::Arc;

use crate::account::erasure::{MessagesAfterErasure, Renamed};
use crate::rooms::Room;
use crate::{
    By, ChangedMessage, ConversationId, ConversationRow, Done, Position, Refusal, SiteId, Sub, Timestamp,
    UserId, UserRow,
};

/// See [`Store`](crate::Store), of which it is a part.
pub trait EraseStore: Send + Sync + 'static {
    /// The user is nobody from now on, and it is written into the record. [`Refusal::NoSuchUser`]: no such user, or somebody has the new
    /// id. [`Refusal::RateLimited`]: what is left of an earlier one is not done yet. [`Refusal::NotAllowed`]: another user asks for it than the user and those whom [`SiteAct::Erase`](crate::SiteAct) allows it.
    /// Tokens from before give nobody the role of a user who had one.
    fn begin_erasure(&self, erasure: NewErasure, done: Done<Result<Erased, Refusal>>);
    /// Goes on with what is left of all users who were erased, for at most `limit` rows.
    fn erase_some(&self, now: Timestamp, limit: u32, done: Done<EraseSlice>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewErasure {
    pub user: UserId,
    /// By what they are called from now on. Nobody has had this id.
    pub alias: Sub,
    pub name: Arc<str>,
    pub messages: MessagesAfterErasure,
    /// The user themselves, somebody who may erase others, or the site.
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

/// The changes that others must be notified of.
#[derive(Debug, Clone, Default)]
pub struct EraseSlice {
    /// The user of this slice. None: nothing was left to do.
    pub renamed: Option<(SiteId, Arc<Renamed>)>,
    /// Numbers of users who hear of `renamed`, at `renamed_at`, before everything else of the slice.
    pub audience: Vec<Arc<Vec<u32>>>,
    pub renamed_at: Position,
    /// Rooms that lost the picture which the user uploaded, and numbers of their members.
    pub rooms: Vec<(ConversationId, Arc<Room>, Arc<Vec<u32>>)>,
    /// Direct conversations as the other one sees them now.
    pub conversations: Vec<(UserId, ConversationRow)>,
    /// Messages of others that are told whole. Those that only name the user get a new version and are not here.
    pub changed: Vec<ChangedMessage>,
    pub position: Position,
    /// There is more to do.
    pub more: bool,
}
