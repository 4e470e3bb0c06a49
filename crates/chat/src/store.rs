//! The port to storage: one slice for each part of the domain, declared in that part's folder, and their sum [`Store`]. Rows that
//! several parts read are here.
//!
//! Requests with a [`Done`] never block: they are queued (the queue is bounded; when it is full, `done` gets
//! [`StoreError::Overloaded`] at once on the caller's thread) and answered later on a thread of the store.
//! Writes are applied in the order in which they were queued, in group commits; their `done` are called in
//! the order of their positions, after the commit is on disk, on one thread. That order is what makes
//! [`Position`] truthful: the domain plans deliveries inside `done`.
//!
//! After a crash: what was answered `Ok` is there; what was not may be there or not, whole in either case.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::account::store::AccountStore;
use crate::calls::store::CallStore;
use crate::contacts::message_requests::MessageRequest;
use crate::contacts::store::ContactStore;
use crate::import::ImportStore;
use crate::messages::store::MessageStore;
use crate::moderation::ModerationStore;
use crate::notifications::NotificationStore;
use crate::presence::store::PresenceStore;
use crate::privacy::Privacy;
use crate::rooms::{LeftReason, MemberRow, Role, Room, RoomStore};
use crate::sign_in::store::SignInStore;
use crate::site::store::SiteStore;
use crate::users::store::UserStore;
use crate::{
    ContactState, ConversationId, File, NewRich, Position, Reactions, Refusal, Rich, RoleClaim, Seq,
    SetPresence, SiteStanding, Sub, Timestamp, UserId,
};

/// Called exactly once with the outcome.
pub type Done<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// Why the store could not do it. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the queue of the store is full")]
    Overloaded,
    #[error("the disk is full")]
    DiskFull,
    #[error("storage failed: {0}")]
    Failed(Arc<str>),
}

/// The port to durable storage: the sum of what the parts of the domain need. One conformance suite
/// (`store/tests/conformance/main.rs`) holds every implementation to the comments of the slices.
pub trait Store:
    SiteStore
    + UserStore
    + PresenceStore
    + ContactStore
    + NotificationStore
    + ModerationStore
    + CallStore
    + RoomStore
    + MessageStore
    + AccountStore
    + ImportStore
    + SignInStore
{
    /// Waits until everything queued is on disk.
    fn flush(&self) -> Result<(), StoreError>;
}

/// The user whom a token names, with the role that it claims for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenUser {
    pub profile: Profile,
    pub role: Option<RoleClaim>,
}

impl From<Profile> for TokenUser {
    fn from(profile: Profile) -> TokenUser {
        TokenUser { profile, role: None }
    }
}

/// The user's data in a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub sub: Sub,
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    pub guest: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRow {
    pub id: UserId,
    pub profile: Profile,
    pub presence: SetPresence,
    pub banned: bool,
    pub on_site: SiteStanding,
    pub privacy: Privacy,
    /// The name is the user's own choice: what tokens say does not change it.
    pub named: bool,
    pub created: Timestamp,
    pub last_seen: Timestamp,
}

impl UserRow {
    /// The user's profile after a token with this data.
    pub fn told(&self, profile: Profile) -> Profile {
        if self.named { Profile { name: self.profile.name.clone(), ..profile } } else { profile }
    }

    /// The role that the token claims is another one than the user has.
    pub fn differs_in_role(&self, claim: Option<RoleClaim>) -> bool {
        claim.is_some_and(|claim| claim.role != self.on_site.role)
    }

    /// A token says nothing new.
    pub fn is_as(&self, profile: &Profile) -> bool {
        let of_token = |own: &Profile| {
            own.sub == profile.sub && own.avatar == profile.avatar && own.guest == profile.guest
        };
        if self.named { of_token(&self.profile) } else { self.profile == *profile }
    }
}

/// The kind of a message. The store keeps it with the message; no client chooses it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessageKind {
    /// A text of a user.
    #[default]
    Text,
    /// The entry of a call, see [`CallEntry`](crate::CallEntry).
    Call,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    pub conversation: ConversationId,
    pub from: UserId,
    pub kind: MessageKind,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    /// Parts that [`FileStore::append_with_files`] and
    /// [`RequestStore::append_request`](crate::RequestStore::append_request) store, too; [`MessageStore::append`] ignores
    /// them.
    pub rich: Option<Box<NewRich>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The conversation of the first time, where it was repeated.
    pub conversation: ConversationId,
    pub seq: Seq,
    pub time: Timestamp,
    pub position: Position,
    /// This (sender, client id) was stored before; nobody must be told again.
    pub repeated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedMessage {
    /// As it is now, and as who asked sees it.
    pub message: StoredMessage,
    /// False: it was so already, and nobody must be told.
    pub changed: bool,
    pub position: Position,
    /// In a room, whom to tell: numbers of its members. Nobody where nothing changed.
    pub members: Arc<Vec<u32>>,
    /// The others hear of it once it is published.
    pub gathered: bool,
}

/// A body that a message had.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// When another one took its place.
    pub until: Timestamp,
    pub body: Box<str>,
}

impl std::fmt::Debug for Revision {
    /// Bodies stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("Revision");
        debug.field("until", &self.until).finish_non_exhaustive()
    }
}

/// How `a` stands to `b` and `b` to `a`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Relation {
    pub of_a: ContactState,
    pub of_b: ContactState,
}

impl Relation {
    pub const NONE: Relation = Relation { of_a: ContactState::None, of_b: ContactState::None };
    pub const CONTACTS: Relation = Relation { of_a: ContactState::Contact, of_b: ContactState::Contact };
    /// Which of the two has blocked the other decides nothing.
    pub const BLOCKED: Relation = Relation { of_a: ContactState::Blocked, of_b: ContactState::None };

    /// One of the two has blocked the other.
    pub fn is_blocked(self) -> bool {
        [self.of_a, self.of_b].contains(&ContactState::Blocked)
    }
}

/// A conversation of one of its members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRow {
    pub id: ConversationId,
    pub of: ConversationOf,
    pub last: Option<StoredMessage>,
    pub received: Seq,
    pub read: Seq,
    pub their_received: Seq,
    pub their_read: Seq,
    /// Of a direct one: one of the two has blocked the other. `their_…` are as stored; [`Visibility`](crate::Visibility) decides.
    pub blocked: bool,
    pub unread: u64,
    pub mentions: u64,
    pub muted_until: Timestamp,
    pub pinned: bool,
    pub archived: bool,
    pub request: Option<MessageRequest>,
    /// The member who asks the user into this room; the user is not a member yet.
    pub requested_by: Option<Box<UserRow>>,
    pub marked_unread: bool,
    pub draft: Option<Box<str>>,
    pub active: Timestamp,
}

/// The other one's profile, or what the room is and one's own role there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationOf {
    Direct(UserRow),
    Room { room: Arc<Room>, role: Role },
}

impl ConversationOf {
    /// The other one of a direct conversation.
    pub fn other(&self) -> Option<&UserRow> {
        match self {
            ConversationOf::Direct(other) => Some(other),
            ConversationOf::Room { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub from: UserId,
    /// Read along, so that nobody must look it up.
    pub from_sub: Sub,
    pub kind: MessageKind,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    /// As in [`Message`](crate::Message), the next three too.
    pub version: u64,
    pub edited: Option<Timestamp>,
    pub deleted: bool,
    pub pinned: bool,
    pub reactions: Vec<Reactions>,
    pub files: Vec<File>,
    pub rich: Option<Box<Rich>>,
}

impl StoredMessage {
    /// As it is once it is deleted: only its place, also in threads, stays.
    pub fn take_back(&mut self) {
        (self.deleted, self.pinned) = (true, false);
        self.body = "".into();
        self.reactions.clear();
        self.files.clear();
        if let Some(rich) = self.rich.as_deref_mut() {
            *rich = Rich { thread: rich.thread, replies: rich.replies, ..Rich::default() };
        }
    }
}

#[derive(Debug, Clone)]
pub struct HistoryPage {
    pub messages: Vec<StoredMessage>,
    pub more: bool,
}

#[derive(Debug, Clone)]
pub struct ContactRow {
    pub id: UserId,
    pub profile: Profile,
    pub state: ContactState,
}

/// Storage failed: the client tries again later. What went wrong is the store's to log.
pub(crate) fn unavailable(_: StoreError) -> Refusal {
    Refusal::Unavailable
}

/// A member after a change, and the room as that user sees it.
#[derive(Debug, Clone)]
pub struct MemberChanged {
    pub member: MemberRow,
    pub position: Position,
    /// The room as the user sees it, where something is new to a member.
    pub seen: Option<ConversationRow>,
    /// The user was a member until now, or was asked to become one.
    pub left: Option<LeftReason>,
    /// A room request waits for the user's answer, or is shown as if it did.
    pub requested: bool,
}
