//! The commands about messages and conversations.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::command::{Answer, AnswerTo, Policy, command_of};
use crate::messages::Messages;
use crate::messages::archive::{ArchiveOf, ArchiveQuery, FindJob, MessageName};
use crate::messages::changes::ChangeMessageJob;
use crate::messages::conversations::{ChangeViewJob, HistoryJob, HistorySinceJob};
use crate::messages::files::Reserve;
use crate::messages::markers::MarkJob;
use crate::messages::polls::NewPoll;
use crate::messages::send::{Draft, SendJob};
use crate::messages::stickers::SendSticker;
use crate::messages::typing::TypingJob;
use crate::session::Context;
use crate::session::publication::Publication;
use crate::session::request_limits::RequestKind;
use crate::{
    ConversationId, FileId, NewPreview, NewRich, PageOf, Reaction, Refusal, RoomName, Seq, SessionId,
    ThreadChange, Timestamp, To,
};

#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Send {
        /// 1 to 255 bytes without control characters. Ids that begin like those of the server are refused.
        client_id: Box<str>,
        to: To,
        /// A message with files or an extension may have an empty body.
        body: Box<str>,
        /// Text that the sender's gateway stores with the body. Other gateways receive it unchanged; only they
        /// know its format. The filters read it like a body. So a gateway must not write names of formats, such as
        /// namespaces, in the form of addresses.
        extension: Option<Box<str>>,
        reply_to: Option<Seq>,
        files: Vec<FileId>,
        rich: Option<Box<NewRich>>,
    },
    /// Sends a message that the user can read to another conversation, as the user's own.
    Forward {
        client_id: Box<str>,
        to: To,
        conversation: ConversationId,
        seq: Seq,
    },
    SendSticker(SendSticker),
    /// Lists all stickers of the site.
    ListStickers,
    Mark {
        conversation: ConversationId,
        set: MarkerSet,
    },
    Typing {
        to: To,
        on: bool,
    },
    ListConversations {
        list: ConversationList,
        page: PageOf,
    },
    /// Changes the user's own view of a conversation.
    ChangeConversation {
        conversation: ConversationId,
        change: ConversationChange,
    },
    Search {
        query: String,
        conversation: Option<ConversationId>,
        page: PageOf,
    },
    Change {
        conversation: ConversationId,
        seq: Seq,
        change: MessageChange,
    },
    /// Lists the pinned messages of a conversation.
    ListPins {
        conversation: ConversationId,
    },
    History {
        to: To,
        before: Option<Seq>,
        after: Option<Seq>,
        /// Only the replies below this message.
        thread: Option<Seq>,
        limit: Option<u32>,
    },
    /// A page that begins with the first message of this time or later.
    HistorySince {
        to: To,
        time: Timestamp,
        limit: Option<u32>,
    },
    /// A page of the user's archive, answered with [`Event::Found`](super::Event::Found). Its messages are in the order of
    /// their positions; `next` is the position with which a further query continues. Costs some microseconds for
    /// each conversation of the query, and counts as a search if these are all.
    Archive(ArchiveQuery),
    /// Messages of the user's archive by their positions, in the given order. At most
    /// [`MOST_POSITIONS`](super::MOST_POSITIONS). If one is missing, the answer is [`Refusal::NoSuchMessage`].
    AtPositions {
        positions: Vec<u64>,
    },
    /// One message of a conversation, answered with [`Event::Found`](super::Event::Found).
    Find {
        to: To,
        name: MessageName,
    },
    /// Creates a file in [`FilePlace::Open`](crate::FilePlace::Open), answered with [`Event::File`](super::Event::File). The
    /// gateway receives its bytes. Counts as a request about files.
    ReserveFile(Reserve),
    /// Looks up a complete file that a message of the user can have, because it was reserved and is in no message.
    /// Answered with [`Event::File`](super::Event::File). Other files, and those of others, are
    /// [`Refusal::NoSuchFile`].
    FindFile {
        id: FileId,
    },
    /// Follows a thread of a room, or marks its replies as read.
    ChangeThread {
        conversation: ConversationId,
        root: Seq,
        change: ThreadChange,
    },
    /// Lists the threads of a room that the user follows.
    ListThreads {
        conversation: ConversationId,
    },
}

command_of! {
    Messages, Command:
    Send, Forward, SendSticker, ListStickers, Mark, Typing, ListConversations, ChangeConversation, Search, Change, ListPins,
    History, HistorySince, Archive, AtPositions, Find, ReserveFile, FindFile, ChangeThread, ListThreads,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkerSet {
    Received(Seq),
    Read(Seq),
}

impl MarkerSet {
    /// The received and read markers; 0 leaves a marker unchanged.
    pub(crate) fn both(self) -> (Seq, Seq) {
        match self {
            MarkerSet::Received(seq) => (seq.min(Seq::MAX), Seq(0)),
            MarkerSet::Read(seq) => (seq.min(Seq::MAX), seq.min(Seq::MAX)),
        }
    }
}

/// A change of an existing message.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageChange {
    /// Replaces the body and the extension. A message without files needs one of the two.
    Edit {
        body: Box<str>,
        extension: Option<Box<str>>,
    },
    /// Deletes the message for everybody.
    Delete,
    React {
        reaction: Reaction,
        on: bool,
    },
    /// Pins the message above the conversation, or unpins it.
    Pin(bool),
    /// Votes in a poll for these choices, instead of earlier ones. An empty list removes the vote.
    Vote(Vec<u8>),
    /// Ends a poll.
    ClosePoll,
    /// Sets the preview of the message's link; None removes it.
    Preview(Option<Box<NewPreview>>),
}

impl MessageChange {
    /// An edit without an extension.
    pub fn edit(body: impl Into<Box<str>>) -> MessageChange {
        MessageChange::Edit { body: body.into(), extension: None }
    }
}

impl std::fmt::Debug for MessageChange {
    /// Bodies stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MessageChange::Edit { .. } => "Edit",
            MessageChange::Delete => "Delete",
            MessageChange::React { on: true, .. } => "React",
            MessageChange::React { on: false, .. } => "React off",
            MessageChange::Pin(true) => "Pin",
            MessageChange::Pin(false) => "Unpin",
            MessageChange::Vote(_) => "Vote",
            MessageChange::ClosePoll => "ClosePoll",
            MessageChange::Preview(Some(_)) => "Preview",
            MessageChange::Preview(None) => "Drop preview",
        })
    }
}

/// A change of a user's settings of a conversation. Fields that are None stay.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConversationChange {
    pub muted_until: Option<Timestamp>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// Shown as unread, although the user has read all of it.
    pub marked_unread: Option<bool>,
    /// The unfinished text; empty removes it.
    pub draft: Option<Box<str>>,
}

impl std::fmt::Debug for ConversationChange {
    /// Drafts stay out of logs, as bodies do.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConversationChange")
            .field("muted_until", &self.muted_until)
            .field("pinned", &self.pinned)
            .field("archived", &self.archived)
            .field("marked_unread", &self.marked_unread)
            .finish_non_exhaustive()
    }
}

/// The user's conversations that a list contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ConversationList {
    /// All conversations that are not archived.
    #[default]
    Main,
    Archived,
    /// Conversations of `Main` with unread messages, or marked as unread.
    Unread,
    /// `Unread`, and pending requests for rooms.
    Waiting,
    /// Conversations of `Main` with an unread mention.
    Mentions,
}

/// A held message is visible only to its author, so a shadow-banned author may send one.
const MESSAGE: Policy = Policy { is_send: true, speaks: true, answer: Answer::ClientId, ..Policy::PLAIN };

impl Command {
    #[inline]
    pub(crate) fn policy(&self) -> Policy {
        match self {
            Command::Send { to, .. }
            | Command::Forward { to, .. }
            | Command::SendSticker(SendSticker { to, .. }) => {
                Policy { is_stopped_by_raid: to.is_room(), ..MESSAGE }
            }
            Command::Change { change, .. } => match change {
                MessageChange::Edit { .. } => Policy { is_send: true, ..Policy::speaks(true) },
                // A pin sends the whole message to all.
                MessageChange::Pin(true) => {
                    Policy { is_send: true, speaks: true, is_seen_by_others: true, ..Policy::RECORDED }
                }
                MessageChange::Pin(false) | MessageChange::ClosePoll | MessageChange::Preview(_) => {
                    Policy::RECORDED
                }
                MessageChange::React { on, .. } => Policy::speaks(*on),
                MessageChange::Vote(choices) => Policy::speaks(!choices.is_empty()),
                // Each message has at most one recorded deletion, so the message rate bounds them.
                MessageChange::Delete => Policy::PLAIN,
            },
            Command::Typing { on, .. } => {
                Policy { is_seen_by_others: *on, answer: Answer::Dropped, ..Policy::PLAIN }
            }
            Command::Mark { .. } => Policy { answer: Answer::None, ..Policy::PLAIN },
            Command::Search { .. } => Policy::SEARCH,
            Command::Archive(ArchiveQuery { of: ArchiveOf::Direct | ArchiveOf::All, .. }) => Policy::SEARCH,
            Command::Archive(ArchiveQuery { of: ArchiveOf::One(_), .. })
            | Command::AtPositions { .. }
            | Command::Find { .. }
            | Command::FindFile { .. } => Policy::PLAIN,
            // Nobody sees the file before a message has it, so a shadow-banned user may upload.
            Command::ReserveFile(_) => {
                Policy { speaks: true, counts_as: Some(RequestKind::Files), ..Policy::PLAIN }
            }
            Command::ListStickers
            | Command::ListConversations { .. }
            | Command::ChangeConversation { .. }
            | Command::ListPins { .. }
            | Command::History { .. }
            | Command::HistorySince { .. }
            | Command::ChangeThread { .. }
            | Command::ListThreads { .. } => Policy::PLAIN,
        }
    }

    #[inline]
    pub(crate) fn publication(&self) -> Publication<'_> {
        match self {
            Command::Send { client_id: _, to: _, body, extension, reply_to: _, files: _, rich } => {
                let mut texts: SmallVec<[&str; 2]> = smallvec![&**body];
                texts.extend(extension.as_deref());
                let mut can_wait = true;
                if let Some(rich) = rich {
                    // The forwarded message is read from the store and filtered there; the site writes the
                    // words of stickers.
                    let NewRich { poll, forwarded: _, thread: _, sticker: _ } = &**rich;
                    if let Some(NewPoll { choices, multiple: _, anonymous: _, ends: _ }) = poll {
                        texts.extend(choices.iter().map(|choice| &**choice));
                    }
                    can_wait = rich.is_reply();
                }
                Publication { texts, addresses: Vec::new(), can_wait }
            }
            Command::Change { conversation: _, seq: _, change } => match change {
                MessageChange::Edit { body, extension } => {
                    let mut edited = Publication::text(body);
                    edited.texts.extend(extension.as_deref());
                    edited
                }
                // A reaction is one emoji or one of the site's own names.
                MessageChange::Delete
                | MessageChange::React { reaction: _, on: _ }
                | MessageChange::Pin(_)
                | MessageChange::Vote(_)
                | MessageChange::ClosePoll
                | MessageChange::Preview(_) => Publication::default(),
            },
            // The filters check the message after it was read, see `messages/forward.rs`.
            Command::Forward { client_id: _, to: _, conversation: _, seq: _ } => Publication::default(),
            Command::SendSticker(SendSticker { client_id: _, to: _, number: _, reply_to: _, thread: _ }) => {
                Publication::default()
            }
            Command::ReserveFile(Reserve { name, bytes: _, limits: _ }) => Publication::text(name),
            // Only the user sees drafts and searches.
            Command::ChangeConversation { conversation: _, change } => {
                let ConversationChange { muted_until: _, pinned: _, archived: _, marked_unread: _, draft: _ } =
                    change;
                Publication::default()
            }
            Command::Search { query: _, conversation: _, page: _ } => Publication::default(),
            Command::Archive(_)
            | Command::AtPositions { positions: _ }
            | Command::Find { to: _, name: _ }
            | Command::FindFile { id: _ }
            | Command::ListStickers
            | Command::Mark { conversation: _, set: _ }
            | Command::Typing { to: _, on: _ }
            | Command::ListConversations { list: _, page: _ }
            | Command::ListPins { conversation: _ }
            | Command::History { to: _, before: _, after: _, thread: _, limit: _ }
            | Command::HistorySince { to: _, time: _, limit: _ }
            | Command::ChangeThread { conversation: _, root: _, change: _ }
            | Command::ListThreads { conversation: _ } => Publication::default(),
        }
    }

    /// The client id of the message to send, which the answer repeats.
    pub(crate) fn client_id(&self) -> Option<&str> {
        match self {
            Command::Send { client_id, .. }
            | Command::Forward { client_id, .. }
            | Command::SendSticker(SendSticker { client_id, .. }) => Some(client_id),
            Command::ListStickers
            | Command::Mark { .. }
            | Command::Typing { .. }
            | Command::ListConversations { .. }
            | Command::ChangeConversation { .. }
            | Command::Search { .. }
            | Command::Change { .. }
            | Command::ListPins { .. }
            | Command::History { .. }
            | Command::HistorySince { .. }
            | Command::Archive(_)
            | Command::AtPositions { .. }
            | Command::Find { .. }
            | Command::ReserveFile(_)
            | Command::FindFile { .. }
            | Command::ChangeThread { .. }
            | Command::ListThreads { .. } => None,
        }
    }
}

impl Messages {
    #[inline]
    pub(crate) fn carry_out(self: &Arc<Self>, context: Context, command: Command) {
        let Context { asker, re, is_waiting, verdict, now, .. } = context;
        let (session, site, re) = (asker.session, asker.session.user.site, re.unwrap_or_default());
        match command {
            Command::Send { client_id, to, body, extension, reply_to, files, rich } => {
                let under_way = match self.enter(now) {
                    Ok(under_way) => under_way,
                    Err(refusal) => return self.refuse_message(session, client_id, refusal),
                };
                let draft = Draft { client_id, body, extension, reply_to, files, rich, under_way, verdict };
                match to.room(site) {
                    Ok(room) => self.post(&asker, room, draft, now),
                    Err(to) => {
                        let job = SendJob { messages: self.clone(), draft };
                        self.users.for_peer(asker, is_waiting, to, job, now);
                    }
                }
            }
            Command::Forward { client_id, to, conversation, seq } => match self.enter(now) {
                Ok(under_way) => self.forward(asker, client_id, to, (conversation, seq), under_way, now),
                Err(refusal) => self.refuse_message(session, client_id, refusal),
            },
            Command::SendSticker(wanted) => match self.enter(now) {
                Ok(under_way) => self.send_sticker(asker, wanted, under_way, now),
                Err(refusal) => self.refuse_message(session, wanted.client_id, refusal),
            },
            Command::ListStickers => self.list_stickers(&asker, re),
            Command::Mark { conversation, set } if conversation.is_room() => {
                self.mark_room(&asker, conversation, set);
            }
            Command::Mark { conversation, set } => {
                let job = MarkJob { messages: self.clone(), set };
                self.users.for_peer(asker, is_waiting, To::Conversation(conversation), job, now);
            }
            Command::Typing { to: To::Conversation(room), on } if room.is_room() => {
                self.typing_in_room(&asker, room, on);
            }
            Command::Typing { to, on } => {
                let job = TypingJob { messages: self.clone(), on };
                self.users.for_peer(asker, is_waiting, to, job, now);
            }
            Command::ListConversations { list, page } => {
                self.list_conversations(asker, re, list, page);
            }
            Command::ChangeConversation { conversation, change } if conversation.is_room() => {
                self.change_view(session, re, conversation, None, change);
            }
            Command::ChangeConversation { conversation, change } => {
                let job = ChangeViewJob { messages: self.clone(), re, change };
                self.users.for_peer(asker, is_waiting, To::Conversation(conversation), job, now);
            }
            Command::Search { query, conversation, page } => {
                self.search(&asker, re, &query, conversation, page);
            }
            Command::Change { conversation, seq, change } if conversation.is_room() => {
                self.change_message_in_room(&asker, re, conversation, seq, change, now);
            }
            Command::Change { conversation, seq, change } => {
                let job = ChangeMessageJob { messages: self.clone(), re, seq, change };
                self.users.for_peer(asker, is_waiting, To::Conversation(conversation), job, now);
            }
            Command::ListPins { conversation } => self.pins(&asker, re, conversation),
            Command::History { to, before, after, thread: Some(root), limit } => match to {
                To::Conversation(room) if room.is_room() => {
                    self.thread_history(&asker, re, room, root, before, after, limit);
                }
                To::Conversation(_) | To::User(_) | To::Page(_) => {
                    self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
                }
            },
            Command::History { to, before, after, thread: None, limit } => match to.room(site) {
                Ok(room) => self.room_history(&asker, re, room, [before, after], limit),
                Err(to) => {
                    let job = HistoryJob { messages: self.clone(), re, before, after, limit };
                    self.users.for_peer(asker, is_waiting, to, job, now);
                }
            },
            Command::HistorySince { to, time, limit } => match to.room(site) {
                Ok(RoomName::Id(room)) => self.history_since(session, re, room, time, limit),
                Ok(RoomName::Page(..)) => {
                    self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
                }
                Err(to) => {
                    let job = HistorySinceJob { messages: self.clone(), re, time, limit };
                    self.users.for_peer(asker, is_waiting, to, job, now);
                }
            },
            Command::Archive(query) => self.archive(asker, is_waiting, re, query, now),
            Command::AtPositions { positions } => self.messages_at(&asker, re, positions),
            Command::Find { to, name } => match to.room(site) {
                Ok(RoomName::Id(room)) => self.find(&asker, re, room, name),
                Ok(RoomName::Page(..)) => {
                    self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
                }
                Err(to) => {
                    let job = FindJob { messages: self.clone(), re, name };
                    self.users.for_peer(asker, is_waiting, to, job, now);
                }
            },
            Command::ReserveFile(reserve) => self.reserve_file(&asker, re, reserve, now),
            Command::FindFile { id } => self.find_open_file(&asker, re, id),
            Command::ChangeThread { conversation, root, change } => {
                self.thread(&asker, re, conversation, root, change);
            }
            Command::ListThreads { conversation } => self.threads(&asker, re, conversation),
        }
    }

    fn refuse_message(&self, session: SessionId, client_id: Box<str>, refusal: Refusal) {
        self.sessions.refuse(session.handle, AnswerTo::Message(client_id), refusal);
    }
}
