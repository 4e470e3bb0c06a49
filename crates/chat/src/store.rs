//! The port to storage.
//!
//! Requests with a [`Done`] never block: they are queued (the queue is bounded; when it is full, `done` gets
//! [`StoreError::Overloaded`] at once on the caller's thread) and answered later on a thread of the store.
//! Writes are applied in the order in which they were queued, in group commits; their `done` are called in
//! the order of their positions, after the commit is on disk, on one thread. That order is what makes
//! [`Position`] truthful: the domain plans deliveries inside `done`.
//!
//! After a crash: what was answered `Ok` is there; what was not may be there or not, whole in either case.

use std::sync::Arc;

use crate::account::devices::DeviceStore;
use crate::account::erasure::{EraseStore, Renamed};
use crate::account::export::ExportStore;
use crate::account::guest_merge::MergeStore;
use crate::account::profile::ProfileStore;
use crate::contacts::message_requests::{Request, RequestStore};
use crate::import::ImportStore;
use crate::messages::held::HeldStore;
use crate::messages::retention::RetentionStore;
use crate::moderation::ModerationStore;
use crate::notifications::NotifyStore;
use crate::privacy::Privacy;
use crate::rooms::{LeftReason, LinkStore, Role, Room, RoomRequestStore, RoomStore};
use crate::{
    ContactState, ConversationChange, ConversationId, ConversationList, File, FileStore, MessageChange,
    NewRich, Position, Reactions, Refusal, Rich, RoleClaim, Secret, Seq, SetPresence, Site, SiteId,
    SiteStanding, StickerStore, Sub, ThreadCount, ThreadStore, Timestamp, UnpublishedPage, UserId, Word,
};

/// Called exactly once with the outcome.
pub type Done<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

/// Called at most once with the row of a user who signs in; see [`Store::sign_in`].
pub type Met = Box<dyn FnOnce(&UserRow) -> bool + Send>;

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

/// The port to durable storage. One conformance suite (`store/tests/conformance/main.rs`) holds every implementation
/// to these comments.
pub trait Store:
    RoomStore
    + LinkStore
    + RoomRequestStore
    + RequestStore
    + HeldStore
    + ModerationStore
    + FileStore
    + NotifyStore
    + ThreadStore
    + ProfileStore
    + DeviceStore
    + EraseStore
    + ExportStore
    + ImportStore
    + MergeStore
    + RetentionStore
    + StickerStore
{
    // ---- writes ----

    /// Creates the user on first sight, or updates name, avatar where the profile differs. Answers the row
    /// and whether it is new. Does not bump the position where nothing changed.
    fn put_user(&self, site: SiteId, profile: Profile, now: Timestamp, done: Done<UserRow>);
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
    /// Stores a message: assigns the next gap-free seq and a position, creates the conversation on its first
    /// message, un-archives it for both, moves the sender's markers up to it, counts a mention where the
    /// body names the other member as `@sub` (followed by no letter, digit, `_` or `-`). A `reply_to` that is
    /// no earlier seq of the conversation is dropped.
    /// A (sender, client id) seen before changes nothing and answers as then, with `repeated`.
    fn append(&self, append: Append, done: Done<Appended>);
    /// Edits, deletes, pins or reacts to a message, where [`may_change`](crate::may_change), in a room
    /// [`may_change_in_room`](crate::may_change_in_room), and [`room_for`](crate::room_for) allow it; a seq that is not there is [`Refusal::NoSuchMessage`]. It takes a
    /// position, which is the message's version from then on, and changes both members' views, but no seq, no marker
    /// and no activity. One pin more than [`MOST_PINNED`](crate::MOST_PINNED) is [`Refusal::TooManyPinned`], and what is deleted is
    /// pinned no more. An unread mention is counted or not by the body as it is now. The body that was there is kept
    /// as a [`Revision`]; reactions to a deleted message are not.
    ///
    /// Votes go by [`Poll::may_vote`](crate::Poll::may_vote); what has no poll is [`Refusal::BadValue`].
    ///
    /// A change without effect is answered with `changed` false.
    /// Where [`is_gathered`](crate::is_gathered) holds, the message is marked as unpublished in the same transaction.
    fn change_message(&self, change: ChangeMessage, done: Done<Result<ChangedMessage, Refusal>>);
    /// Gives an unpublished message a new version and removes its mark, in one transaction. Answers the message as nobody
    /// in particular sees it; None where it is not unpublished.
    fn publish_gathered(&self, conversation: ConversationId, seq: Seq, done: Done<Option<ChangedMessage>>);
    /// Messages that are unpublished, site by site; of one site, those that changed first at the front.
    fn unpublished(&self, page: UnpublishedPage, done: Done<Vec<(ConversationId, Seq)>>);
    /// Moves a member's markers forward (never back; clipped to the newest seq; read implies received).
    /// Answers the markers after it; `moved` says whether anything changed.
    fn mark(
        &self,
        conversation: ConversationId,
        user: UserId,
        received: Seq,
        read: Seq,
        done: Done<MarkerRow>,
    );
    /// Changes how a member sees a conversation. One more than [`MOST_PINNED`](crate::MOST_PINNED) is
    /// [`Refusal::TooManyPinned`]. Reading on takes away that it was marked unread.
    fn change_conversation(
        &self,
        conversation: ConversationId,
        user: UserId,
        change: ConversationChange,
        done: Done<Result<(ConversationRow, Position), Refusal>>,
    );
    /// Sets how `a` and `b` stand to each other, both sides in one transaction. `None` on a side takes it off
    /// the list; a difference since before then still tells it once, as `None`.
    /// `limit`: most contact rows of one user; answers None (and changes nothing) where it would be passed.
    fn put_relation(
        &self,
        a: UserId,
        b: UserId,
        relation: Relation,
        limit: u32,
        now: Timestamp,
        done: Done<Option<Position>>,
    );
    /// Remembers the chosen presence and when the user was last here.
    fn put_presence(&self, user: UserId, presence: SetPresence, last_seen: Timestamp);
    /// Notes a one-time token until it expires. Answers false if it was there.
    fn use_token(&self, site: SiteId, jti: &str, expires: Timestamp, now: Timestamp, done: Done<bool>);
    fn set_banned(&self, user: UserId, banned: bool, done: Done<bool>);
    /// The user has reached this level; one that is set, or higher, stays. Answers the user as they are then.
    fn keep_level(&self, user: UserId, level: crate::Level, done: Done<Option<UserRow>>);

    // ---- reads ----

    fn user(&self, site: SiteId, sub: Sub, done: Done<Option<UserRow>>);
    /// How many messages the user has written, counted up to `most`; the newest ones may be missing.
    fn written(&self, user: UserId, most: u32, done: Done<u32>);
    /// How many rooms that the user owns were made since then.
    fn rooms_made(&self, user: UserId, since: Timestamp, done: Done<u32>);
    fn users(&self, site: SiteId, subs: Vec<Sub>, done: Done<Vec<UserRow>>);
    fn users_by_id(&self, ids: Vec<UserId>, done: Done<Vec<UserRow>>);
    /// The asking user is about to write, so the pages for a message of `a` to `b` are read along, and the writer
    /// finds them in memory.
    fn relation(&self, a: UserId, b: UserId, done: Done<Relation>);
    /// The relations of one user to many, in the order of `others`: for the presence of everyone on a page.
    fn relations(&self, user: UserId, others: Vec<UserId>, done: Done<Vec<Relation>>);
    /// Everything for a user since a position, or a first page, all of one snapshot.
    fn snapshot(&self, user: UserId, from: ResumeFrom, done: Done<Snapshot>);
    /// Newest activity first, pinned before all others.
    fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<String>,
        limit: u32,
        done: Done<ConversationsPage>,
    );
    fn conversation(&self, user: UserId, conversation: ConversationId, done: Done<Option<ConversationRow>>);
    /// At most `limit` messages next to `before` or `after` (both None: the newest), ascending, as `reader` sees them.
    fn history(
        &self,
        reader: UserId,
        conversation: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<HistoryPage>,
    );
    /// At most `limit` messages from the first of `time` or later on, ascending, for who may read the conversation. Times of a
    /// conversation grow with its seqs; where a clock went back, the page begins at one of the messages around it.
    fn history_since(
        &self,
        reader: UserId,
        conversation: ConversationId,
        time: Timestamp,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    );
    /// One message, for who may read the conversation.
    fn message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        seq: Seq,
        done: Done<Result<StoredMessage, Refusal>>,
    );
    /// The pinned messages, newest first, for who may read the conversation.
    fn pins(
        &self,
        reader: UserId,
        conversation: ConversationId,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    );
    /// Messages that have all the words, newest first: of the user's conversations (of rooms a bounded number), or of one that
    /// the user may read. A message may be found some time after it was stored; one that was deleted is not found.
    fn search(&self, wanted: Search, done: Done<Result<FoundPage, Refusal>>);
    /// The bodies that a message had before, oldest first: the first one, those of the last [`EVIDENCE_MS`](crate::EVIDENCE_MS), and
    /// earlier ones as far as there is room for them, see [`drops_revision`](crate::drops_revision).
    fn revisions(&self, conversation: ConversationId, seq: Seq, done: Done<Vec<Revision>>);
    /// Of each user those with whom it has agreed to be contacts, in the order of `users`: one range each. For telling
    /// presence: answered after other reads, as [`sign_in`](Self::sign_in) is.
    fn contacts_of(&self, users: Vec<UserId>, done: Done<Vec<Vec<UserId>>>);
    /// By name, then sub. The first page, also that of a [`Snapshot`], ends with the blocked ones of all other pages, at most
    /// [`MOST_BLOCKED_FIRST`]: a client must know them to collapse their messages.
    fn contacts(&self, user: UserId, after: Option<String>, limit: u32, done: Done<ContactsPage>);
    /// The directory: by name, then sub; `query` is a case-insensitive start of a word of the name.
    fn people(
        &self,
        site: SiteId,
        query: Option<String>,
        after: Option<String>,
        limit: u32,
        done: Done<PeoplePage>,
    );

    // ---- administration: may block, never called on a worker ----

    fn sites(&self) -> Result<Vec<Site>, StoreError>;
    /// All banned users of all sites: few. The default looks at everyone.
    fn banned(&self) -> Result<Vec<UserId>, StoreError> {
        let mut banned = Vec::new();
        for site in self.sites()? {
            let mut after = None;
            loop {
                let rows = self.list_users(site.id, after, 1000)?;
                let Some(last) = rows.last() else { break };
                after = Some(last.profile.sub.clone());
                banned.extend(rows.iter().filter(|row| row.banned).map(|row| row.id));
            }
        }
        Ok(banned)
    }
    /// All users of whom something on the site is not as of others: few. The default looks at everyone.
    fn standings(&self) -> Result<Vec<UserRow>, StoreError> {
        let mut rows = Vec::new();
        for site in self.sites()? {
            let mut after = None;
            loop {
                let page = self.list_users(site.id, after, 1000)?;
                let Some(last) = page.last() else { break };
                after = Some(last.profile.sub.clone());
                rows.extend(page.into_iter().filter(|row| row.on_site != SiteStanding::default()));
            }
        }
        Ok(rows)
    }
    /// When the next sanction ends that has an end.
    fn next_sanction_end(&self) -> Result<Option<Timestamp>, StoreError>;
    /// Changes whenever another process may have changed sites or bans; cheap.
    fn revision(&self) -> Result<u64, StoreError>;
    /// Adds a site (its `id` is ignored) and answers its id; None if the key is taken.
    fn add_site(&self, site: &Site) -> Result<Option<SiteId>, StoreError>;
    /// Replaces settings and secrets of a site.
    fn update_site(&self, site: &Site) -> Result<(), StoreError>;
    /// Applies [`SiteChange::apply`](crate::SiteChange::apply) to the site as it is stored, records it, and answers the site as it is then. A user
    /// must be allowed to configure the site.
    fn change_site(
        &self,
        site: SiteId,
        change: crate::SiteChange,
        author: crate::SiteAuthor,
        now: Timestamp,
    ) -> Result<Result<Site, crate::SiteNotChanged>, StoreError>;
    /// Replaces the site's [`Settings`](crate::Settings) and nothing else; false where there is no such site.
    fn set_settings(&self, site: SiteId, settings: &crate::Settings) -> Result<bool, StoreError>;
    /// Removes the site with everything of it.
    fn remove_site(&self, site: SiteId) -> Result<bool, StoreError>;
    fn add_secret(&self, site: SiteId, secret: &Secret) -> Result<(), StoreError>;
    fn list_users(&self, site: SiteId, after: Option<Sub>, limit: u32) -> Result<Vec<UserRow>, StoreError>;
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
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
    /// [`RequestStore::append_request`](crate::RequestStore::append_request) store, too; [`Store::append`] ignores
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
pub struct ChangeMessage {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub by: UserId,
    pub change: MessageChange,
    pub time: Timestamp,
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub user: UserId,
    pub words: Vec<Word>,
    pub conversation: Option<ConversationId>,
    pub after: Option<String>,
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPage {
    pub hits: Vec<StoredMessage>,
    pub next: Option<String>,
}

/// A body that a message had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// When another one took its place.
    pub until: Timestamp,
    pub body: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkerRow {
    pub received: Seq,
    pub read: Seq,
    pub unread: u64,
    pub moved: bool,
    /// The other one is told too. Who has asked is not told whether it was read.
    pub told: bool,
    pub position: Position,
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

#[derive(Debug, Clone)]
pub struct ConversationsPage {
    pub rows: Vec<ConversationRow>,
    pub next: Option<String>,
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
    pub request: Option<Request>,
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

/// Blocked users of later pages that come with the first page of contacts.
pub const MOST_BLOCKED_FIRST: u32 = 1_000;

#[derive(Debug, Clone)]
pub struct ContactsPage {
    pub rows: Vec<ContactRow>,
    pub next: Option<String>,
}

#[derive(Debug, Clone)]
pub struct PeoplePage {
    pub rows: Vec<UserRow>,
    pub next: Option<String>,
}

/// Storage failed: the client tries again later. What went wrong is the store's to log.
pub(crate) fn unavailable(_: StoreError) -> Refusal {
    Refusal::Unavailable
}
