//! Events: what a session receives from the domain. Each part declares its own in its `event.rs`; gateways
//! translate them into their protocols.

#![deny(clippy::wildcard_enum_match_arm)]

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::Pending;
use crate::contacts::message_requests::MessageRequest;
use crate::privacy::Signal;
use crate::rooms::{LeftReason, Role, Room, Standing};
use crate::{
    ContactList, ContactNote, ConversationId, File, Limits, MessageKind, Position, Reaction, Refusal,
    Renamed, Rich, Seq, SessionId, SessionRecord, SetPresence, Side, SiteRole, StoredMessage, Sub,
    ThreadCount, Timestamp, UserId,
};
use crate::{
    SiteState, account, calls, contacts, messages, moderation, notifications, presence, rooms, session,
};

/// An event for one or several sessions, with the fields that all events have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Delivery {
    /// The number of the request that the event answers, as the gateway passed it with the command.
    pub re: Option<u64>,
    /// The commit of a stored event. Sessions receive stored events in the order of their positions.
    pub position: Option<Position>,
    pub event: Event,
}

/// A delivery from another process, not yet checked.
#[derive(Deserialize)]
struct Unchecked {
    re: Option<u64>,
    position: Option<Position>,
    event: Event,
}

impl TryFrom<Unchecked> for Delivery {
    type Error = &'static str;

    fn try_from(Unchecked { re, position, event }: Unchecked) -> Result<Delivery, &'static str> {
        let delivery = Delivery { re, position, event };
        delivery
            .is_sound()
            .then_some(delivery)
            .ok_or("a request number or a position that the event cannot have")
    }
}

/// An event of one part of the domain.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Event {
    Session(session::Event),
    Presence(presence::Event),
    Contacts(contacts::Event),
    Notifications(notifications::Event),
    Moderation(moderation::Event),
    Calls(calls::Event),
    Rooms(rooms::Event),
    Messages(messages::Event),
    Account(account::Event),
}

/// The properties of an event that delivery and gateways need. Every part has one row for each of its events, so that a new one
/// does not compile without a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    /// Stored, with a position. A session that misses the event finds it in its next changes.
    pub(crate) is_stored: bool,
    pub(crate) answers: Answers,
    pub(crate) slow: WhenSlow,
    pub(crate) behind: WhenBehind,
}

/// Whether an event answers a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    Nothing,
    /// A request with a number.
    Request,
    /// A request with a number, or no request: other sessions receive the event, too.
    RequestOrNone,
    /// A message; its client id replaces the request number.
    Send,
}

/// The delivery to a session whose connection has a long send queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenSlow {
    Deliver,
    /// Drop it: the event is useless a few seconds later.
    Drop,
    /// Send the newest state once the session has read everything.
    Coalesce,
}

/// The delivery to a session that is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenBehind {
    Deliver,
    /// Drop it: the changes will contain it.
    Drop,
    /// The session is behind from here on. Dropped if the session knows this already.
    Begin,
    /// The session has the changes: it is not behind any more.
    End,
}

impl Policy {
    /// For currently connected sessions only; not stored.
    pub(crate) const LIVE: Policy = Policy {
        is_stored: false,
        answers: Answers::Nothing,
        slow: WhenSlow::Deliver,
        behind: WhenBehind::Deliver,
    };
    /// Only for the session that sent the request.
    pub(crate) const ANSWER: Policy = Policy { answers: Answers::Request, ..Policy::LIVE };
    pub(crate) const STORED: Policy = Policy { is_stored: true, behind: WhenBehind::Drop, ..Policy::LIVE };
}

impl Delivery {
    /// An event that is not stored and answers no request.
    #[inline]
    pub(crate) fn live(event: Event) -> Delivery {
        Delivery { re: None, position: None, event }.checked()
    }

    /// The answer to request number `re`. None: the command had no number.
    #[inline]
    pub(crate) fn answer(re: Option<u64>, event: Event) -> Delivery {
        Delivery { re, position: None, event }.checked()
    }

    #[inline]
    pub(crate) fn stored(re: Option<u64>, position: Position, event: Event) -> Delivery {
        Delivery { re, position: Some(position), event }.checked()
    }

    #[inline]
    fn checked(self) -> Delivery {
        debug_assert!(self.is_sound(), "request number or position are wrong for {:?}", self.event);
        self
    }

    /// Checks that the delivery has a request number and a position exactly if its event requires them.
    fn is_sound(&self) -> bool {
        let Policy { is_stored, answers, .. } = self.event.policy();
        let has_its_number = match answers {
            Answers::Nothing | Answers::Send => self.re.is_none(),
            Answers::Request => self.re.is_some(),
            Answers::RequestOrNone => true,
        };
        has_its_number && self.position.is_some() == is_stored
    }

    /// The command that the event answers.
    pub fn answered(&self) -> Option<Pending> {
        if let Some(re) = self.re {
            return Some(Pending::Request(re));
        }
        match &self.event {
            Event::Messages(event) => event.answered_message(),
            Event::Session(event) => event.answered_message(),
            Event::Presence(_)
            | Event::Contacts(_)
            | Event::Notifications(_)
            | Event::Moderation(_)
            | Event::Calls(_)
            | Event::Rooms(_)
            | Event::Account(_) => None,
        }
        .map(|id| Pending::Message(id.into()))
    }

    /// Whether the session waits for this event.
    pub(crate) fn is_answer(&self) -> bool {
        match self.event.policy().answers {
            Answers::Send => true,
            Answers::Nothing | Answers::Request | Answers::RequestOrNone => self.re.is_some(),
        }
    }
}

impl Event {
    /// The session is in a room from now on.
    pub(crate) fn is_entry(&self) -> bool {
        matches!(self, Event::Rooms(rooms::Event::Entered { .. }))
    }

    pub(crate) fn policy(&self) -> Policy {
        match self {
            Event::Session(event) => event.policy(),
            Event::Presence(event) => event.policy(),
            Event::Contacts(event) => event.policy(),
            Event::Notifications(event) => event.policy(),
            Event::Moderation(event) => event.policy(),
            Event::Calls(event) => event.policy(),
            Event::Rooms(event) => event.policy(),
            Event::Messages(event) => event.policy(),
            Event::Account(event) => event.policy(),
        }
    }

    pub fn when_slow(&self) -> WhenSlow {
        self.policy().slow
    }

    pub fn when_behind(&self) -> WhenBehind {
        self.policy().behind
    }

    /// The reason for the end of the session, if this is its last event.
    pub fn farewell(&self) -> Option<Refusal> {
        match self {
            Event::Session(event) => event.farewell(),
            Event::Presence(_)
            | Event::Contacts(_)
            | Event::Notifications(_)
            | Event::Moderation(_)
            | Event::Calls(_)
            | Event::Rooms(_)
            | Event::Messages(_)
            | Event::Account(_) => None,
        }
    }

    /// The reason why a command of the session was refused.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Event::Session(event) => event.refusal(),
            Event::Presence(_)
            | Event::Contacts(_)
            | Event::Notifications(_)
            | Event::Moderation(_)
            | Event::Calls(_)
            | Event::Rooms(_)
            | Event::Messages(_)
            | Event::Account(_) => None,
        }
    }

    /// The signal about another user that the event reveals without that user's intent. Messages, reactions and calls
    /// are intended.
    pub fn signal(&self) -> Option<Signal> {
        match self {
            Event::Session(event) => event.signal(),
            Event::Presence(event) => event.signal(),
            Event::Contacts(event) => event.signal(),
            Event::Notifications(event) => event.signal(),
            Event::Moderation(event) => event.signal(),
            Event::Calls(event) => event.signal(),
            Event::Rooms(event) => event.signal(),
            Event::Messages(event) => event.signal(),
            Event::Account(event) => event.signal(),
        }
    }

    /// A new message. Here because calls post their entries and may not use `messages`.
    pub(crate) fn message(message: Arc<Message>) -> Event {
        Event::Messages(messages::Event::Message(message))
    }

    /// A changed conversation. Here because contacts and rooms change conversations and may not use
    /// `messages`.
    pub(crate) fn conversation(conversation: Box<Conversation>) -> Event {
        Event::Messages(messages::Event::Conversation(conversation))
    }

    /// A held message. Here because moderators decide about it and may not use `messages`.
    pub(crate) fn held(held: Box<crate::Held>) -> Event {
        Event::Messages(messages::Event::Held(held))
    }
}

/// Converts the events of each part into variants of [`Event`].
macro_rules! parts {
    ($($part:ident => $variant:ident,)*) => {
        $(impl From<$part::Event> for Event {
            #[inline]
            fn from(event: $part::Event) -> Event {
                Event::$variant(event)
            }
        })*
    };
}

parts! {
    session => Session,
    presence => Presence,
    contacts => Contacts,
    notifications => Notifications,
    moderation => Moderation,
    calls => Calls,
    rooms => Rooms,
    messages => Messages,
    account => Account,
}

/// Answer to a sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub struct Welcome {
    pub session: SessionId,
    pub me: Person,
    pub presence: SetPresence,
    pub guest_token: Option<String>,
    pub open: bool,
    /// The user's own role on the site.
    pub role: SiteRole,
    pub calls: crate::CallsFrom,
    /// Write access of the site.
    pub site: SiteState,
    pub limits: Limits,
    pub expires: Timestamp,
    pub changes: Changes,
    /// For a session with a resource, which gets no first page.
    pub waiting: crate::Waiting,
    /// For a front that lets another node adopt the session.
    pub record: SessionRecord,
}

impl fmt::Debug for Welcome {
    /// The token of a guest stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Welcome { session, me, changes, .. } = self;
        let mut welcome = f.debug_struct("Welcome");
        welcome.field("session", session).field("me", me).field("changes", changes).finish_non_exhaustive()
    }
}

/// The changes for a device: the difference since a position, or a first page (`reset`).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Changes {
    pub reset: bool,
    pub conversations: Vec<Conversation>,
    pub conversations_next: Option<String>,
    /// Ascending by seq within each conversation.
    pub messages: Vec<Arc<Message>>,
    /// Older messages that have changed, in their current state.
    pub updates: Vec<Arc<Message>>,
    pub gaps: Vec<Gap>,
    /// Rooms that the user has left or lost.
    pub left: Vec<(ConversationId, LeftReason)>,
    pub contacts: ContactList,
    pub contacts_next: Option<String>,
    /// Threads whose count the device cannot compute because of a gap.
    pub threads: Vec<ThreadCount>,
    /// Users whose ids changed since the device's position.
    pub renamed: Vec<Renamed>,
    pub position: Position,
}

impl Changes {
    pub(crate) fn signal(&self) -> Option<Signal> {
        self.conversations.iter().find_map(Conversation::signal)
    }
}

/// Messages between the device's newest one and `first` were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    pub conversation: ConversationId,
    pub first: Seq,
    /// More older messages have changed than the event contains: the device's copies before `first` are
    /// outdated.
    pub forget: bool,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub from: Sub,
    /// The other user of a direct conversation. None in rooms; in messages that a moderator released, only copies from
    /// the store have it.
    pub to: Option<Sub>,
    pub kind: MessageKind,
    pub client_id: Box<str>,
    pub body: Box<str>,
    /// See [`Command::Send`](messages::Command::Send). None: the message has only its body and its parts below.
    pub extension: Option<Box<str>>,
    pub time: Timestamp,
    /// The number of the commit that stored the message. Unlike `seq`, it orders the messages of all conversations.
    pub position: u64,
    pub reply_to: Option<Seq>,
    /// Version of the last change; 0: unchanged since it was posted. Of two copies of a message, the higher
    /// version is newer.
    pub version: u64,
    /// Time of the last edit.
    pub edited: Option<Timestamp>,
    /// The body of a deleted message is empty.
    pub deleted: bool,
    pub pinned: bool,
    /// In the order of the first use of each.
    pub reactions: Vec<Reactions>,
    pub files: Vec<File>,
    /// None: the message has no poll, thread, preview or other rich part.
    pub rich: Option<Box<Rich>>,
}

impl fmt::Debug for Message {
    /// Bodies and extensions stay out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Message { conversation, seq, from, kind, client_id, version, .. } = self;
        let mut message = f.debug_struct("Message");
        message.field("conversation", conversation).field("seq", seq).field("from", from).field("kind", kind);
        message.field("client_id", client_id).field("version", version).finish_non_exhaustive()
    }
}

impl Message {
    /// The message has only an extension: clients without its gateway can show nothing of it.
    pub fn is_opaque(&self) -> bool {
        self.extension.is_some() && self.body.is_empty() && self.files.is_empty()
    }

    /// A new message of plain text, without changes. Only the store can assign its seq and position.
    pub(crate) fn fresh(
        conversation: ConversationId,
        from: Sub,
        client_id: Box<str>,
        body: Box<str>,
        time: Timestamp,
    ) -> Message {
        Message {
            conversation,
            seq: Seq(0),
            position: 0,
            extension: None,
            from,
            to: None,
            kind: MessageKind::Text,
            client_id,
            body,
            time,
            reply_to: None,
            version: 0,
            edited: None,
            deleted: false,
            pinned: false,
            reactions: Vec::new(),
            files: Vec::new(),
            rich: None,
        }
    }
}

pub(crate) fn message(stored: StoredMessage) -> Arc<Message> {
    Arc::new(Message {
        conversation: stored.conversation,
        seq: stored.seq,
        from: stored.from_sub,
        to: stored.to_sub,
        kind: stored.kind,
        client_id: stored.client_id,
        body: stored.body,
        extension: stored.extension,
        time: stored.time,
        position: stored.position,
        reply_to: stored.reply_to,
        version: stored.version,
        edited: stored.edited,
        deleted: stored.deleted,
        pinned: stored.pinned,
        reactions: stored.reactions,
        files: stored.files,
        rich: stored.rich,
    })
}

/// One reaction to a message, and the users who added it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reactions {
    pub reaction: Reaction,
    pub count: u64,
    /// The first [`NAMED`](crate::NAMED), oldest first.
    pub users: Vec<Sub>,
    /// The user for whom this was read is among them.
    pub mine: bool,
}

/// A user as others see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub id: UserId,
    pub sub: Sub,
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    pub guest: bool,
    /// Current presence, if the receiver may see it.
    pub presence: Option<Presence>,
}

impl Person {
    pub(crate) fn signal(&self) -> Option<Signal> {
        Presence::signal(self.presence)
    }
}

/// Presence as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Presence {
    Online,
    Away,
    Busy,
    Offline,
    /// This node does not know it.
    Unknown,
}

impl Presence {
    /// Of a presence in an event.
    pub(crate) fn signal(shown: Option<Presence>) -> Option<Signal> {
        let is_here = shown.is_some_and(|presence| presence != Presence::Offline);
        is_here.then_some(Signal::Presence)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    pub person: Person,
    pub state: ContactState,
    /// The directions of the contact, from which `state` follows.
    pub side: Side,
    /// The user's own name and groups for the contact.
    pub note: Option<Box<ContactNote>>,
    /// Only in an event of a change, and never after a reconnect.
    pub change: Option<ContactChange>,
}

/// The difference that an event reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactChange {
    pub was: Side,
    /// The other user has made the change.
    pub by_other: bool,
}

impl Contact {
    /// An entry of a list.
    pub fn new(person: Person, side: Side, note: Option<Box<ContactNote>>) -> Contact {
        Contact { person, state: side.state(), side, note, change: None }
    }
}

/// The user's relation to another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ContactState {
    None,
    RequestSent,
    RequestReceived,
    Contact,
    Blocked,
}

/// The other side of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum With {
    Person(Person),
    Room(Arc<Room>, Role),
}

impl With {
    /// The other user of a direct conversation.
    pub fn person(&self) -> Option<&Person> {
        match self {
            With::Person(person) => Some(person),
            With::Room(..) => None,
        }
    }
}

/// A user in a room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub person: Person,
    pub standing: Standing,
    /// The user was invited and has not answered yet.
    pub requested: bool,
    /// How far the user has received and read; None if the receiver may not see it.
    pub markers: Option<crate::Markers>,
    /// Only in the list of muted and banned users.
    pub sanction: Option<MemberSanction>,
}

/// The end of a mute or a ban in a room, and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberSanction {
    /// [`Timestamp::MAX`]: no end.
    pub until: Timestamp,
    /// The reason that the member received; empty if none.
    pub reason: Box<str>,
}

impl MemberSanction {
    pub fn without_end() -> MemberSanction {
        MemberSanction { until: Timestamp::MAX, reason: Box::default() }
    }
}

/// A conversation as one of its members sees it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub with: With,
    pub last: Option<Arc<Message>>,
    pub received: Seq,
    pub read: Seq,
    pub their_received: Seq,
    pub their_read: Seq,
    pub unread: u64,
    pub mentions: u64,
    /// 0: not muted.
    pub muted_until: Timestamp,
    pub pinned: bool,
    pub archived: bool,
    /// The message request that waits for an answer.
    pub request: Option<MessageRequest>,
    /// The user who invites the receiver into this room.
    pub requested_by: Option<Person>,
    pub marked_unread: bool,
    pub draft: Option<Box<str>>,
    pub active: Timestamp,
}

impl fmt::Debug for Conversation {
    /// Drafts stay out of logs, as bodies do.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conversation { id, with, last, received, read, unread, request, .. } = self;
        let mut conversation = f.debug_struct("Conversation");
        conversation.field("id", id).field("with", with).field("last", last).field("received", received);
        conversation
            .field("read", read)
            .field("unread", unread)
            .field("request", request)
            .finish_non_exhaustive()
    }
}

impl Conversation {
    pub(crate) fn signal(&self) -> Option<Signal> {
        (self.their_received.0 > 0).then_some(Signal::Marker)
    }
}
