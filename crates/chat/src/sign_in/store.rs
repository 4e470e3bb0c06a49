//! The slice of the port to storage for sign-ins and resumes.

use crate::account::devices::DeviceStore;
use crate::account::erasure::Renamed;
use crate::contacts::store::ContactsPage;
use crate::messages::rich::ThreadCount;
use crate::messages::store::ConversationsPage;
use crate::rooms::LeftReason;
use crate::users::store::UserStore;
use crate::{
    ConversationId, Done, Position, SiteId, StoredMessage, Sub, Timestamp, TokenUser, UserId, UserRow,
};
use serde::{Deserialize, Serialize};

/// Called at most once with the row of a user who signs in; see [`SignInStore::sign_in`].
pub type Met = Box<dyn FnOnce(&UserRow) -> bool + Send>;

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait SignInStore: UserStore + DeviceStore {
    /// `put_user`, and the role in the token, for a renewed token.
    fn renew_user(&self, site: SiteId, user: TokenUser, now: Timestamp, done: Done<UserRow>);
    /// `renew_user` and `snapshot` in one call, for the login path. After a restart, 15,000 of them arrive in
    /// a second. So a known user with an unchanged profile costs only reads, and a new user no query for
    /// their empty view.
    ///
    /// A role in the token is stored and recorded in the transaction of the user. This needs the consent of
    /// [`RoleClaim::holds`], and a user who is not banned. So the row that `met` receives decides about the user's first
    /// command, too.
    ///
    /// `met` is called once with the row, after the user exists and *before* the view's position is taken. A
    /// session that it registers misses nothing after that position. If it answers false, the sign-in is
    /// abandoned and `done` is dropped uncalled.
    ///
    /// Other reads are answered first, even later ones, so that a crowd does not delay connected users.
    ///
    /// `met` and `done` may be called on any thread, without a lock or transaction that a call back into the
    /// store would need.
    fn sign_in(
        &self,
        site: SiteId,
        user: TokenUser,
        from: ResumeFrom,
        now: Timestamp,
        met: Met,
        done: Done<(UserRow, Snapshot)>,
    );
    /// [`sign_in`](Self::sign_in) of a known user with an app password, which the caller has checked. Answers None, without a
    /// call of `met`, if the user or the password does not exist.
    ///
    /// The password is looked up again in the view's snapshot, after `met`: None is the answer if it was revoked meanwhile. So a
    /// session either ends here, or it is in the table before the completion of the revocation. Stores the use, see
    /// [`notes_app_password_use`](crate::notes_app_password_use).
    fn sign_in_with_app_password(
        &self,
        user: AppPasswordUser,
        from: ResumeFrom,
        now: Timestamp,
        met: Met,
        done: Done<Option<(UserRow, Snapshot)>>,
    );
    /// All data of a user since a position, or a first page, in one snapshot.
    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>);
    /// Whether each view has changed since a position: [`snapshot`](Self::snapshot) would bring anything, or a first page. The answers, in
    /// the order of `views`, are of one commit, whose position comes with them.
    ///
    /// Rarely true for a view without changes; false only if the snapshot brings nothing. Costs one query for all views. For some
    /// hundred views, because a reader works on all of them at once.
    fn changed_views(&self, views: Vec<(UserId, Position)>, done: Done<(Vec<bool>, Position)>);
}

/// A user who signs in with an app password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppPasswordUser {
    pub site: SiteId,
    pub sub: Sub,
    pub number: u32,
}

/// The start and the size of a resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeFrom {
    /// None: a first page. It is empty if `page` is 0.
    pub position: Option<Position>,
    /// Limits: conversations; contacts; messages in total and per conversation.
    pub page: u32,
    pub contacts: u32,
    pub messages: u32,
    pub messages_per_conversation: u32,
}

/// A user's view at one position.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// This is a first page: no position was given, or it was of another epoch, in the future, or too old for
    /// a difference.
    pub reset: bool,
    pub conversations: ConversationsPage,
    /// Ascending by seq within each conversation. Empty on reset.
    pub messages: Vec<StoredMessage>,
    /// Messages that the device has and that have changed since, in the order of their changes; at most as
    /// many as `messages`. Empty on reset.
    pub updates: Vec<StoredMessage>,
    pub gaps: Vec<crate::Gap>,
    /// Rooms in which the user's membership has ended. Empty on reset.
    pub left: Vec<(ConversationId, LeftReason)>,
    /// A difference also contains removed contacts, with state `None`.
    pub contacts: ContactsPage,
    /// Threads with replies that the device does not get because of a gap. Empty on reset.
    pub threads: Vec<ThreadCount>,
    /// Users in this user's conversations whose messages are being renamed at the moment. Empty on reset.
    pub renamed: Vec<Renamed>,
    /// Only in an empty first page.
    pub waiting: Waiting,
    pub position: Position,
}

/// Whether the user of an empty first page has data of these kinds. It saves the session a read of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Waiting {
    /// Contact requests that the user has not answered.
    pub contact_requests: bool,
    /// Direct conversations and invitations in [`ConversationList::Waiting`](crate::ConversationList::Waiting).
    pub conversations: bool,
    /// Items of the user.
    pub items: bool,
}

impl Snapshot {
    /// Whether the user's view is unchanged since the given position. [`changed_views`](SignInStore::changed_views) must not answer false
    /// for any other one.
    pub fn is_empty(&self) -> bool {
        let Snapshot {
            reset,
            conversations,
            messages,
            updates,
            gaps,
            left,
            contacts,
            threads,
            renamed,
            waiting: _,
            position: _,
        } = self;
        !reset
            && conversations.rows.is_empty()
            && messages.is_empty()
            && updates.is_empty()
            && gaps.is_empty()
            && left.is_empty()
            && contacts.rows.is_empty()
            && threads.is_empty()
            && renamed.is_empty()
    }
}
