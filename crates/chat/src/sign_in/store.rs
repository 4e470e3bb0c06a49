//! The slice of the port to storage for sign-ins and resumes.

use crate::account::devices::DeviceStore;
use crate::account::erasure::Renamed;
use crate::contacts::store::ContactsPage;
use crate::messages::rich::ThreadCount;
use crate::messages::store::ConversationsPage;
use crate::rooms::LeftReason;
use crate::users::store::UserStore;
use crate::{ConversationId, Done, Position, SiteId, StoredMessage, Timestamp, TokenUser, UserId, UserRow};

/// Called at most once with the row of a user who signs in; see [`SignInStore::sign_in`].
pub type Met = Box<dyn FnOnce(&UserRow) -> bool + Send>;

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait SignInStore: UserStore + DeviceStore {
    /// `put_user`, and the role that the token names, for a token that is renewed.
    fn renew_user(&self, site: SiteId, user: TokenUser, now: Timestamp, done: Done<UserRow>);
    /// `renew_user` and `snapshot` in one go, for the login path: 15,000 of them come in a second after a restart,
    /// so a known user with an unchanged profile must cost reads only, and a new user no query for a view
    /// that is empty anyway.
    ///
    /// A role that the token names is stored and recorded in the same transaction as the user, where [`RoleClaim::holds`] says so and
    /// the user is not banned. So the row that `met` sees decides about the user's first command, too.
    ///
    /// `met` is called once with the row, after the user exists and *before* the view's position is taken
    /// (so whoever registers the session in it misses nothing after that position). Where it answers
    /// false, nobody is interested any more and `done` is dropped uncalled.
    ///
    /// Other reads are answered first, those that come later too, so that a crowd holds nobody up who is here.
    ///
    /// `met` and `done` may come on any thread, with no lock or transaction held that a call back into the
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
    /// Everything for a user since a position, or a first page, all of one snapshot.
    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>);
}

/// Where a resume begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResumeFrom {
    /// None: a first page.
    pub position: Option<Position>,
    /// Most conversations, and contacts; and most messages in all and per conversation.
    pub page: u32,
    pub contacts: u32,
    pub messages: u32,
    pub messages_per_conversation: u32,
}

/// A user's view at one position.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// No position was asked for, or it was of another epoch, from the future, or too long ago to be worth a
    /// difference: this is a first page.
    pub reset: bool,
    pub conversations: ConversationsPage,
    /// Ascending by seq inside each conversation. Nothing on reset.
    pub messages: Vec<StoredMessage>,
    /// Messages that the device has and that have changed since, in the order of their changes; as many at most as of
    /// `messages`. Nothing on reset.
    pub updates: Vec<StoredMessage>,
    pub gaps: Vec<crate::Gap>,
    /// Rooms of which the user ceased to be a member. Nothing on reset.
    pub left: Vec<(ConversationId, LeftReason)>,
    /// A difference also has those who were taken off, with state `None`.
    pub contacts: ContactsPage,
    /// Threads with replies that the device does not get because of a gap. Nothing on reset.
    pub threads: Vec<ThreadCount>,
    /// Users in conversations with this one whose messages are getting new versions just now. Nothing on reset.
    pub renamed: Vec<Renamed>,
    pub position: Position,
}

impl Snapshot {
    /// The user's view has not changed since the position that was asked for.
    pub(crate) fn is_empty(&self) -> bool {
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
