//! The slice of the port to storage for users and their relations.

use crate::users::contact_ids::ContactIds;
use crate::{
    ConversationId, ConversationRow, Done, Profile, Refusal, Relation, SiteId, StoreError, Sub, Timestamp,
    UserId, UserRow,
};

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
///
/// Requests without a [`Done`] are administration: they may block, and no worker calls them.
pub trait UserStore: Send + Sync + 'static {
    /// Creates the user on first sight, or updates name and avatar if the profile differs. Answers the row
    /// and whether it is new. The position changes only with the row.
    fn put_user(&self, site: SiteId, profile: Profile, now: Timestamp, done: Done<UserRow>);
    fn set_banned(&self, user: UserId, banned: bool, done: Done<bool>);
    fn user(&self, site: SiteId, sub: Sub, done: Done<Option<UserRow>>);
    fn users(&self, site: SiteId, subs: Vec<Sub>, done: Done<Vec<UserRow>>);
    fn users_by_id(&self, ids: Vec<UserId>, done: Done<Vec<UserRow>>);
    /// The user is about to write. So the store also loads the pages for a message of `a` to `b`, and the
    /// writer finds them in memory.
    fn relation(&self, a: UserId, b: UserId, done: Done<Relation>);
    /// The relation of each of these pairs of users, in their order: for the presence of everyone on a page.
    fn relations(&self, pairs: Vec<[UserId; 2]>, done: Done<Vec<Relation>>);
    /// The contacts of each user by direction, in the order of `users`: one range each. For publishing presence:
    /// answered after other reads, like sign-ins.
    fn contacts_of(&self, users: Vec<UserId>, done: Done<Vec<ContactIds>>);
    fn conversation(&self, user: UserId, conversation: ConversationId, done: Done<Option<ConversationRow>>);
    /// The numbers of a room's members, if `asker` may write there, without slow mode.
    /// [`Refusal::RoomTooLarge`]: the room has more than `most` members.
    fn few_members(
        &self,
        room: ConversationId,
        asker: UserId,
        most: u32,
        done: Done<Result<Vec<UserId>, Refusal>>,
    );
    /// All banned users of all sites: few.
    fn banned(&self) -> Result<Vec<UserId>, StoreError>;
    fn list_users(&self, site: SiteId, after: Option<Sub>, limit: u32) -> Result<Vec<UserRow>, StoreError>;
}
