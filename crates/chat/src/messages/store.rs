//! The slice of the port to storage for messages and conversations.

use std::sync::Arc;

use super::archive::{ArchiveEnd, MessageName};
use crate::config::RoomLimits;
use crate::contacts::message_requests::RequestStore;
use crate::messages::files::FileStore;
use crate::messages::gather::UnpublishedPage;
use crate::messages::held::HeldStore;
use crate::messages::retention::RetentionStore;
use crate::messages::rich::{InThread, NewRich};
use crate::messages::search::Word;
use crate::messages::stickers::StickerStore;
use crate::messages::threads::ThreadStore;
use crate::rooms::{Joined, Occupant, RoomName};
use crate::users::store::UserStore;
use crate::{
    Append, Appended, ChangedMessage, ConversationChange, ConversationId, ConversationList, ConversationRow,
    Done, File, FileId, HistoryPage, MessageChange, MessageKind, Position, Refusal, Revision, Seq,
    StoredMessage, Timestamp, UserId,
};

/// A slice of [`Store`](crate::Store), whose promises about queues, order and crashes hold here too.
pub trait MessageStore:
    UserStore + RequestStore + FileStore + HeldStore + RetentionStore + StickerStore + ThreadStore
{
    /// Stores a message. Assigns the next gap-free seq and a position, creates the conversation on its first
    /// message, and un-archives it for both. Moves the sender's markers up to the message. Counts a mention
    /// if the body contains `@sub` of the other member (followed by no letter, digit, `_` or `-`). Drops a
    /// `reply_to` that is no earlier seq of the conversation. A (sender, client id) seen before changes
    /// nothing, and gets the first answer with `repeated`.
    fn append(&self, append: Append, done: Done<Appended>);
    /// Stores a message in a room, like [`MessageStore::append`](crate::MessageStore::append) in a direct
    /// conversation. Creates a page's room if it does not exist, and makes the sender a member of it. Counts
    /// a mention for each member in the body (see [`mentioned`](crate::mentioned)). If the body mentions the
    /// room and the sender may do that, counts it for all members. The entry of a call
    /// ([`MessageKind::Call`](crate::MessageKind::Call)) is stored for any member, muted or not, and moves
    /// neither their markers nor their slow mode.
    fn post(&self, post: Post, limits: RoomLimits, done: Done<Result<Posted, Refusal>>);
    /// Edits, deletes, pins or reacts to a message, if [`may_change`](crate::may_change), in a room
    /// [`may_change_in_room`](crate::may_change_in_room), and [`room_for`](crate::room_for) allow it. A
    /// missing seq is [`Refusal::NoSuchMessage`].
    ///
    /// The change takes a position, which becomes the message's version. It changes both members' views, but
    /// no seq, no marker and no activity. One pin more than [`MOST_PINNED`](crate::MOST_PINNED) is
    /// [`Refusal::TooManyPinned`]; a deleted message is no longer pinned. The new body decides whether an
    /// unread mention counts. The replaced body is kept as a [`Revision`]; reactions to a deleted message are
    /// removed.
    ///
    /// [`Poll::may_vote`](crate::Poll::may_vote) decides about votes; a vote without a poll is
    /// [`Refusal::BadValue`].
    ///
    /// A change without effect is answered with `changed` false. If [`is_gathered`](crate::is_gathered)
    /// applies, the message is marked as unpublished in the same transaction.
    fn change_message(&self, change: ChangeMessage, done: Done<Result<ChangedMessage, Refusal>>);
    /// Gives an unpublished message a new version and removes its mark, in one transaction. Answers the
    /// message without any reader's `mine`; None if the message is not unpublished.
    fn publish_gathered(&self, conversation: ConversationId, seq: Seq, done: Done<Option<ChangedMessage>>);
    /// Unpublished messages, site by site; within a site, the earliest change first.
    fn unpublished(&self, page: UnpublishedPage, done: Done<Vec<(ConversationId, Seq)>>);
    /// Moves a member's markers forward (never back; limited to the newest seq; read implies received).
    /// Answers the new markers; `moved`: whether one changed.
    fn mark(
        &self,
        conversation: ConversationId,
        user: UserId,
        received: Seq,
        read: Seq,
        done: Done<MarkerRow>,
    );
    /// Changes a member's settings of a conversation. A pin beyond [`MOST_PINNED`](crate::MOST_PINNED) is
    /// [`Refusal::TooManyPinned`]. A later read marker removes the "marked unread" flag.
    fn change_conversation(
        &self,
        conversation: ConversationId,
        user: UserId,
        change: ConversationChange,
        done: Done<Result<(ConversationRow, Position), Refusal>>,
    );
    /// Newest activity first, pinned before all others.
    fn conversations(
        &self,
        user: UserId,
        list: ConversationList,
        after: Option<String>,
        limit: u32,
        done: Done<ConversationsPage>,
    );
    /// At most `limit` messages next to `before` or `after` (both None: the newest), ascending, as `reader`
    /// sees them.
    fn history(
        &self,
        reader: UserId,
        conversation: ConversationId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<HistoryPage>,
    );
    /// Like [`MessageStore::history`](crate::MessageStore::history), for users who may read the room. A None
    /// id: the page has no room yet.
    fn room_history(
        &self,
        room: RoomName,
        asker: UserId,
        before: Option<Seq>,
        after: Option<Seq>,
        limit: u32,
        done: Done<Result<(Option<ConversationId>, HistoryPage), Refusal>>,
    );
    /// At most `limit` messages of `time` or later, ascending, for users who may read the conversation. Times
    /// grow with the seqs of a conversation. If a clock was set back, the page begins at one of the messages
    /// around that time.
    fn history_since(
        &self,
        reader: UserId,
        conversation: ConversationId,
        time: Timestamp,
        limit: u32,
        done: Done<Result<HistoryPage, Refusal>>,
    );
    /// A page of a user's archive, ascending by position. Pages are complete: a message is left out only if the user
    /// may not read it, or it is not kept any more. Times grow with the seqs of a conversation; where a clock was set
    /// back, a page by time ends at one of the messages around that time.
    fn archive(&self, read: ArchiveRead, done: Done<Result<ArchivePage, Refusal>>);
    /// Messages by position, in the given order. [`Refusal::NoSuchMessage`] if the user may not read one of them.
    fn messages_at(
        &self,
        reader: UserId,
        positions: Vec<u64>,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    );
    /// One message by a name, for users who may read the conversation. Sees all earlier writes.
    fn find_message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        name: MessageName,
        done: Done<Result<StoredMessage, Refusal>>,
    );
    /// One message, for users who may read the conversation.
    fn message(
        &self,
        reader: UserId,
        conversation: ConversationId,
        seq: Seq,
        done: Done<Result<StoredMessage, Refusal>>,
    );
    /// The pinned messages, newest first, for users who may read the conversation.
    fn pins(
        &self,
        reader: UserId,
        conversation: ConversationId,
        done: Done<Result<Vec<StoredMessage>, Refusal>>,
    );
    /// Messages that contain all the words, newest first: of the user's conversations (of rooms a bounded
    /// number), or of one that the user may read. New messages may become searchable with a delay; deleted
    /// ones are never found.
    fn search(&self, wanted: Search, done: Done<Result<FoundPage, Refusal>>);
    /// Earlier bodies of a message, oldest first: the first one, those of the last
    /// [`EVIDENCE_MS`](crate::EVIDENCE_MS), and as many other ones as fit, see
    /// [`drops_revision`](crate::drops_revision).
    fn revisions(&self, conversation: ConversationId, seq: Seq, done: Done<Vec<Revision>>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    pub room: RoomName,
    pub from: UserId,
    pub kind: MessageKind,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub extension: Option<Box<str>>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    /// See [`append_with_files`](crate::FileStore::append_with_files).
    pub files: Vec<FileId>,
    pub rich: Option<Box<NewRich>>,
    /// The answer names the author.
    pub names_author: bool,
}

#[derive(Debug, Clone)]
pub struct Posted {
    pub appended: crate::Appended,
    /// Set if the message made the sender a member of the page's room.
    pub joined: Option<Joined>,
    /// The members at that commit, by number, including the sender. Empty if the message was a repetition.
    pub members: Arc<Vec<u32>>,
    pub files: Vec<File>,
    /// The place of the message in its thread.
    pub thread: Option<InThread>,
    /// The author as an occupant of the room, if the request asked for it and the message was no repetition.
    pub author: Option<Occupant>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeMessage {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub by: UserId,
    pub change: MessageChange,
    pub time: Timestamp,
}

/// See [`ArchiveQuery`](crate::messages::ArchiveQuery).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveRead {
    pub reader: UserId,
    pub of: ReadFrom,
    pub start: Option<Timestamp>,
    pub end: Option<Timestamp>,
    pub after: Option<u64>,
    pub before: Option<u64>,
    pub from: ArchiveEnd,
    pub limit: u32,
}

/// See [`ArchiveOf`](crate::messages::ArchiveOf).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    Direct,
    All,
    One(ConversationId),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivePage {
    pub messages: Vec<StoredMessage>,
    /// The range has further messages, after the page or (from the newest end) before it.
    pub more: bool,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkerRow {
    pub received: Seq,
    pub read: Seq,
    pub unread: u64,
    pub moved: bool,
    /// The other member is notified, too. False for message requests: their sender does not learn whether
    /// they were read.
    pub notifies_other: bool,
    pub position: Position,
}

#[derive(Debug, Clone)]
pub struct ConversationsPage {
    pub rows: Vec<ConversationRow>,
    pub next: Option<String>,
}
