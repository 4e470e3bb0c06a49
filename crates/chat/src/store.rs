//! The port to storage: one slice for each part of the domain, declared in that part's folder, and their sum
//! [`Store`]. Rows that several parts read are here.
//!
//! Requests with a [`Done`] never block. They are queued and answered later on a thread of the store. The
//! queue is bounded; if it is full, `done` gets [`StoreError::Overloaded`] at once on the caller's thread.
//!
//! Writes are applied in the order of the queue, in group commits. Their `done` are called on one thread, in
//! the order of their positions, after the commit is on disk. [`Position`] relies on that order: the domain
//! plans deliveries inside `done`.
//!
//! After a crash, every write that was answered `Ok` exists. A write without an answer may exist or not, but
//! never in part.

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
    ConversationId, File, NewRich, Position, Reactions, Refusal, Rich, RoleClaim, Seq, SetPresence,
    SiteStanding, Sub, Timestamp, UserId,
};

/// Called exactly once with the outcome.
pub type Done<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// The reason of a failed request, which has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the queue of the store is full")]
    Overloaded,
    #[error("the disk is full")]
    DiskFull,
    #[error("storage failed: {0}")]
    Failed(Arc<str>),
}

/// The port to durable storage: the sum of the slices of all parts. One conformance suite
/// (`store/tests/conformance/main.rs`) tests every implementation against the comments of the slices.
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

/// The user of a token, with the role that the token claims.
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
    /// The user has chosen the name: tokens do not change it.
    pub named: bool,
    pub created: Timestamp,
    pub last_seen: Timestamp,
}

impl UserRow {
    /// The user's profile after a token with this data.
    pub fn profile_after(&self, profile: Profile) -> Profile {
        if self.named { Profile { name: self.profile.name.clone(), ..profile } } else { profile }
    }

    /// Whether the claimed role differs from the user's.
    pub fn differs_in_role(&self, claim: Option<RoleClaim>) -> bool {
        claim.is_some_and(|claim| claim.role != self.on_site.role)
    }

    /// Whether a token's profile changes nothing.
    pub fn is_as(&self, profile: &Profile) -> bool {
        let of_token = |own: &Profile| {
            own.sub == profile.sub && own.avatar == profile.avatar && own.guest == profile.guest
        };
        if self.named { of_token(&self.profile) } else { self.profile == *profile }
    }
}

/// The kind of a message. Stored with the message; clients cannot choose it.
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
    /// Empty only if there is an extension, or a file.
    pub body: Box<str>,
    pub extension: Option<Box<str>>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    /// Parts that [`FileStore::append_with_files`] and
    /// [`RequestStore::append_request`](crate::RequestStore::append_request) store, too; [`MessageStore::append`] ignores
    /// them.
    pub rich: Option<Box<NewRich>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// For a repetition, the conversation of the first send.
    pub conversation: ConversationId,
    pub seq: Seq,
    pub time: Timestamp,
    pub position: Position,
    /// This (sender, client id) was stored before; no further notification is needed.
    pub repeated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedMessage {
    /// The message after the change, as its author sees it.
    pub message: StoredMessage,
    /// False: the change had no effect, and needs no notification.
    pub changed: bool,
    pub position: Position,
    /// In a room, the numbers of the members to notify. Empty if nothing changed.
    pub members: Arc<Vec<u32>>,
    /// Other members get the change once it is published.
    pub gathered: bool,
}

/// An earlier body of a message.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// When the next body replaced it.
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

/// A conversation, as one of its members sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRow {
    pub id: ConversationId,
    pub of: ConversationOf,
    pub last: Option<StoredMessage>,
    pub received: Seq,
    pub read: Seq,
    pub their_received: Seq,
    pub their_read: Seq,
    /// In a direct conversation: one of the two has blocked the other. The fields `their_…` are the stored
    /// ones; [`Visibility`](crate::Visibility) decides what the user sees.
    pub blocked: bool,
    pub unread: u64,
    pub mentions: u64,
    pub muted_until: Timestamp,
    pub pinned: bool,
    pub archived: bool,
    pub request: Option<MessageRequest>,
    /// The member who invites the user into this room; the user is not a member yet.
    pub requested_by: Option<Box<UserRow>>,
    pub marked_unread: bool,
    pub draft: Option<Box<str>>,
    pub active: Timestamp,
}

/// The other user's row, or the room and the user's role there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversationOf {
    Direct(UserRow),
    Room { room: Arc<Room>, role: Role },
}

impl ConversationOf {
    /// The other user of a direct conversation.
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
    /// Read together with the message, to save a look-up.
    pub from_sub: Sub,
    /// The other user of a direct conversation. None in rooms, and if the user does not exist any more.
    pub to_sub: Option<Sub>,
    pub kind: MessageKind,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub extension: Option<Box<str>>,
    pub time: Timestamp,
    /// See [`Message`](crate::Message).
    pub position: u64,
    pub reply_to: Option<Seq>,
    /// This and the next three fields: see [`Message`](crate::Message).
    pub version: u64,
    pub edited: Option<Timestamp>,
    pub deleted: bool,
    pub pinned: bool,
    pub reactions: Vec<Reactions>,
    pub files: Vec<File>,
    pub rich: Option<Box<Rich>>,
}

impl StoredMessage {
    /// See [`Message::is_opaque`](crate::Message::is_opaque).
    pub fn is_opaque(&self) -> bool {
        self.extension.is_some() && self.body.is_empty() && self.files.is_empty()
    }

    /// Turns the message into a deleted one: only its place stays, also in threads.
    pub fn take_back(&mut self) {
        (self.deleted, self.pinned) = (true, false);
        self.body = "".into();
        self.extension = None;
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

/// Storage failed: the client retries later. The store logs the cause.
pub(crate) fn unavailable(_: StoreError) -> Refusal {
    Refusal::Unavailable
}

/// A member after a change, and the room as that user sees it.
#[derive(Debug, Clone)]
pub struct MemberChanged {
    pub member: MemberRow,
    pub position: Position,
    /// The room as the user sees it, if its view has changed for a member.
    pub seen: Option<ConversationRow>,
    /// The user was a member until now, or had a pending invitation.
    pub left: Option<LeftReason>,
    /// An invitation waits for the user's answer, or looks to others as if it did.
    pub requested: bool,
}
