//! The archive of a user: messages of one conversation, or of all of them in the order of their positions; and single
//! messages by a name that their author gave them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::event::message;
use crate::messages::Event;
use crate::messages::Messages;
use crate::messages::store::{ArchivePage, ArchiveRead, ReadFrom};
use crate::session::{Asker, Completion};
use crate::users::peer::{Peer, PeerJob};
use crate::{ConversationId, Done, Refusal, Seq, SessionHandle, StoredMessage, Timestamp, To};

/// A page of the archive. It has the messages within all bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveQuery {
    pub of: ArchiveOf,
    /// Messages of this time or later.
    pub start: Option<Timestamp>,
    /// Messages of this time or earlier.
    pub end: Option<Timestamp>,
    /// Messages after this position. A position that the store has not reached is [`Refusal::NoSuchMessage`].
    pub after: Option<u64>,
    /// Messages before this position; refused like `after`.
    pub before: Option<u64>,
    pub from: ArchiveEnd,
    pub limit: Option<u32>,
}

/// The conversations of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchiveOf {
    /// All direct conversations. Pending requests of other users are left out: their messages wait until the user
    /// accepts them.
    Direct,
    /// These, and the rooms of which the user is a member.
    All,
    One(To),
}

/// The end of the range at which the page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArchiveEnd {
    Oldest,
    Newest,
}

/// A message of a conversation, by one of its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageName {
    Seq(Seq),
    Position(u64),
    /// The client id of a message that the user has sent.
    Mine(Box<str>),
    /// The client id of a message that the other user of a direct conversation has sent.
    Theirs(Box<str>),
}

/// Most messages that are read by their positions at once.
pub const MOST_POSITIONS: usize = 100;

/// A page of a direct conversation.
pub(crate) struct ArchiveJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) re: u64,
    pub(crate) read: ArchiveRead,
}

impl PeerJob for ArchiveJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Request(self.re)
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        let ArchiveJob { messages, re, read } = self;
        let handle = asker.session.handle;
        match ConversationId::direct(asker.session.user, peer.id) {
            Some(id) => messages.read_archive(handle, re, ArchiveRead { of: ReadFrom::One(id), ..read }),
            None => messages.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue),
        }
    }
}

/// One message of a direct conversation.
pub(crate) struct FindJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) re: u64,
    pub(crate) name: MessageName,
}

impl PeerJob for FindJob {
    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Request(self.re)
    }

    fn run(self, asker: &Asker, peer: &Peer, _now: Timestamp) {
        let FindJob { messages, re, name } = self;
        match ConversationId::direct(asker.session.user, peer.id) {
            Some(id) => messages.find(asker, re, id, name),
            None => {
                messages.sessions.refuse(asker.session.handle, AnswerTo::Request(re), Refusal::BadValue);
            }
        }
    }
}

impl Messages {
    pub(crate) fn archive(
        self: &Arc<Self>,
        asker: Asker,
        is_waiting: bool,
        re: u64,
        query: ArchiveQuery,
        now: Timestamp,
    ) {
        let ArchiveQuery { of, start, end, after, before, from, limit } = query;
        let (session, limit) = (asker.session, self.sessions.page_limit(limit));
        let read = ArchiveRead {
            reader: session.user,
            of: ReadFrom::Direct,
            start,
            end,
            after,
            before,
            from,
            limit,
        };
        let of = match of {
            ArchiveOf::Direct => ReadFrom::Direct,
            ArchiveOf::All => ReadFrom::All,
            ArchiveOf::One(To::Conversation(room)) if room.is_room() => ReadFrom::One(room),
            ArchiveOf::One(To::Page(_)) => {
                return self.sessions.refuse(session.handle, AnswerTo::Request(re), Refusal::BadValue);
            }
            ArchiveOf::One(to @ (To::User(_) | To::Conversation(_))) => {
                let job = ArchiveJob { messages: self.clone(), re, read };
                return self.users.for_peer(asker, is_waiting, to, job, now);
            }
        };
        self.read_archive(session.handle, re, ArchiveRead { of, ..read });
    }

    fn read_archive(self: &Arc<Self>, to: SessionHandle, re: u64, read: ArchiveRead) {
        let from = read.from;
        let done = self.on_accepted(to, AnswerTo::Request(re), move |this, page: ArchivePage| {
            let ArchivePage { messages, more } = page;
            let last = match from {
                ArchiveEnd::Oldest => messages.last(),
                ArchiveEnd::Newest => messages.first(),
            };
            let next = last.filter(|_| more).map(|last| last.position.to_string());
            let hits = messages.into_iter().map(message).collect();
            this.sessions.answer(to, re, Event::Found { hits, next });
        });
        self.store.archive(read, done);
    }

    pub(crate) fn messages_at(self: &Arc<Self>, asker: &Asker, re: u64, positions: Vec<u64>) {
        let handle = asker.session.handle;
        if positions.len() > MOST_POSITIONS {
            return self.sessions.refuse(handle, AnswerTo::Request(re), Refusal::BadValue);
        }
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, found: Vec<StoredMessage>| {
            let hits = found.into_iter().map(message).collect();
            this.sessions.answer(handle, re, Event::Found { hits, next: None });
        });
        self.store.messages_at(asker.session.user, positions, done);
    }

    /// The store reads it in the order of its writes: a client that sends a message can name it in its next command.
    pub(crate) fn find(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
        name: MessageName,
    ) {
        let handle = asker.session.handle;
        let done: Done<Result<StoredMessage, Refusal>> =
            self.on_accepted(handle, AnswerTo::Request(re), move |this, found: StoredMessage| {
                this.sessions.answer(handle, re, Event::Found { hits: vec![message(found)], next: None });
            });
        self.store.find_message(asker.session.user, conversation, name, done);
    }
}
