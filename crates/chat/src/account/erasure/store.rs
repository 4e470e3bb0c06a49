//! The slice of the port to storage for erasures. The promises of [`Store`](crate::Store) hold here too.

use std::sync::Arc;

use crate::account::erasure::{MessagesAfterErasure, Renamed};
use crate::rooms::Room;
use crate::{
    By, ChangedMessage, ConversationId, ConversationRow, Done, Position, Refusal, SiteId, Sub, Timestamp,
    UserId, UserRow,
};

/// A slice of [`Store`](crate::Store).
pub trait EraseStore: Send + Sync + 'static {
    /// Makes the user anonymous, and adds the erasure to the record. Tokens from before the erasure give no
    /// user the former role.
    ///
    /// - [`Refusal::NoSuchUser`]: the user does not exist, or the new id is taken.
    ///
    /// - [`Refusal::RateLimited`]: an earlier erasure of the user is not finished.
    ///
    /// - [`Refusal::NotAllowed`]: the caller is neither the user nor allowed
    ///   [`SiteAct::Erase`](crate::SiteAct).
    fn begin_erasure(&self, erasure: NewErasure, done: Done<Result<Erased, Refusal>>);
    /// Users of other servers from before this time, whose requests nobody on the site has answered: no contact in any direction, no
    /// message of a member to them, no block, no sanction. At most `limit`.
    fn unanswered_users(&self, site: SiteId, before: Timestamp, limit: u32, done: Done<Vec<UserId>>);
    /// Continues the unfinished erasures, for at most `limit` rows.
    fn erase_some(&self, now: Timestamp, limit: u32, done: Done<EraseSlice>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewErasure {
    pub user: UserId,
    /// The user's new id, which no user has had before.
    pub alias: Sub,
    pub name: Arc<str>,
    pub messages: MessagesAfterErasure,
    /// The user, a user who may erase others, or the site.
    pub by: By,
    pub time: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    pub before: UserRow,
    /// The row after the erasure: banned, so that others can neither find the user nor write to them.
    pub after: UserRow,
    /// Users who had the erased user on their contact list.
    pub parted: Vec<UserId>,
    pub position: Position,
}

/// The changes that others must be notified of.
#[derive(Debug, Clone, Default)]
pub struct EraseSlice {
    /// The user of this slice. None: no erasure is unfinished.
    pub renamed: Option<(SiteId, Arc<Renamed>)>,
    /// Numbers of the users who receive `renamed`, at `renamed_at`, before every other event of the slice.
    pub audience: Vec<Arc<Vec<u32>>>,
    pub renamed_at: Position,
    /// Rooms that lost the picture which the user uploaded, and numbers of their members.
    pub rooms: Vec<(ConversationId, Arc<Room>, Arc<Vec<u32>>)>,
    /// Direct conversations, as the other member now sees them.
    pub conversations: Vec<(UserId, ConversationRow)>,
    /// Messages of others that are sent whole. Messages that only name the user get a new version and are not
    /// listed.
    pub changed: Vec<ChangedMessage>,
    pub position: Position,
    /// More slices follow.
    pub more: bool,
}
