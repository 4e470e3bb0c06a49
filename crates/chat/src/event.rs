//! What a session hears from the domain. Gateways translate each variant into their own words.

#![deny(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use serde_json::Value;

use crate::contacts::message_requests::MessageRequest;
use crate::messages::held::Held;
use crate::moderation::{AuditEntry, FilterTest, Notice, ReportRow, SiteState};
use crate::rooms::{Invitation, LeftReason, Role, Room, RoomLink, Standing};
use crate::{
    CallEvent, ConversationId, CountedBy, Counts, File, GroupEvent, KnownDevice, Limits, MessageKind,
    NotifySettings, Position, ProfileCard, Reaction, Refusal, Renamed, Rich, Seq, SessionId, SessionRecord,
    SetPresence, SiteRole, Sticker, StoredMessage, Sub, Thread, ThreadCount, Timestamp, UserId,
};

/// Something for one session. `re` is the request number that a gateway passed in with the command.
#[derive(Debug, Clone)]
pub enum Event {
    /// Answer to `Node::sign_in`.
    Welcome(Box<Welcome>),
    /// `Node::sign_in` was refused, or the session is over. The gateway closes after telling the client.
    Bye(Refusal),
    /// As `Bye`, with what somebody has to say about it, and the end where it has one.
    ByeWith {
        refusal: Refusal,
        until: Option<Timestamp>,
        reason: Arc<str>,
    },
    /// The message is on disk. A repeated send is answered with the place and time of the first one.
    Ack {
        client_id: Box<str>,
        conversation: ConversationId,
        seq: Seq,
        time: Timestamp,
        /// It waits for the other one to accept it.
        request: bool,
        position: Position,
    },
    SendRefused {
        client_id: Box<str>,
        refusal: Refusal,
    },
    Refused {
        re: Option<u64>,
        refusal: Refusal,
    },
    /// Shared by all sessions that receive it.
    Message(Arc<Message>, Position),
    /// A message as it is now, after a change. The author of the change gets their own `mine`; others get it without.
    Update {
        re: Option<u64>,
        message: Arc<Message>,
        by: Sub,
        position: Position,
    },
    /// A user has another id now, in all messages that a device has.
    Renamed {
        renamed: Arc<Renamed>,
        position: Position,
    },
    /// The reactions and votes of a message as they stand after one or several changes.
    Counts {
        re: Option<u64>,
        counts: Arc<Counts>,
        by: Option<Box<CountedBy>>,
        position: Position,
    },
    Marker {
        conversation: ConversationId,
        user: Sub,
        received: Seq,
        read: Seq,
        /// One's own unread count, where `user` is oneself.
        unread: Option<u64>,
        position: Position,
    },
    Typing {
        conversation: ConversationId,
        user: Sub,
        on: bool,
    },
    Call(Arc<CallEvent>),
    GroupCall(Arc<GroupEvent>),
    Presence {
        user: Sub,
        presence: Presence,
        last_seen: Option<Timestamp>,
    },
    /// Of the contacts those who are here; all others are not, unless there are `more`.
    Watching {
        here: Vec<(Sub, Presence)>,
        more: bool,
    },
    Contact {
        re: Option<u64>,
        contact: Contact,
        position: Position,
    },
    Contacts {
        re: u64,
        contacts: Vec<Contact>,
        next: Option<String>,
    },
    People {
        re: u64,
        people: Vec<Person>,
        next: Option<String>,
    },
    Profiles {
        re: u64,
        people: Vec<Person>,
    },
    Profile {
        re: u64,
        card: Box<ProfileCard>,
    },
    Conversations {
        re: u64,
        conversations: Vec<Conversation>,
        next: Option<String>,
    },
    Conversation {
        re: Option<u64>,
        conversation: Box<Conversation>,
        position: Position,
    },
    /// A room of which one is a member changed.
    Room {
        conversation: ConversationId,
        room: Arc<Room>,
        position: Position,
    },
    /// How many members a room has now, and in a small one who joined. Nothing of it is stored.
    MemberCount {
        conversation: ConversationId,
        members: u32,
        joined: Arc<[Person]>,
    },
    /// One is no member of a room any more.
    Left {
        re: Option<u64>,
        conversation: ConversationId,
        reason: LeftReason,
        position: Position,
    },
    Member {
        re: u64,
        member: Box<Member>,
    },
    Members {
        re: u64,
        members: Vec<Member>,
        next: Option<String>,
    },
    /// It was made.
    Link {
        re: u64,
        conversation: ConversationId,
        link: RoomLink,
    },
    /// Those that stand, newest first.
    Links {
        re: u64,
        conversation: ConversationId,
        links: Vec<RoomLink>,
    },
    Invitation {
        re: u64,
        invitation: Box<Invitation>,
    },
    Rooms {
        re: u64,
        rooms: Vec<(ConversationId, Room)>,
        next: Option<String>,
    },
    History {
        re: u64,
        /// None: nobody has begun it yet, and it will get its id with the first message.
        conversation: Option<ConversationId>,
        messages: Vec<Arc<Message>>,
        more: bool,
    },
    /// Newest first.
    Pins {
        re: u64,
        conversation: ConversationId,
        messages: Vec<Arc<Message>>,
    },
    /// How one stands to a thread.
    Thread {
        re: u64,
        thread: Thread,
    },
    /// The threads that one follows, newest reply first.
    Threads {
        re: u64,
        conversation: ConversationId,
        threads: Vec<Thread>,
    },
    /// Those of the site, in the order in which they came.
    Stickers {
        re: u64,
        stickers: Vec<Sticker>,
    },
    Found {
        re: u64,
        hits: Vec<Arc<Message>>,
        next: Option<String>,
    },
    Devices {
        re: u64,
        devices: Vec<KnownDevice>,
    },
    Exported {
        re: u64,
        messages: Vec<Arc<Message>>,
        next: Option<String>,
    },
    /// It is kept under this number.
    Reported {
        re: u64,
        report: u64,
    },
    Reports {
        re: u64,
        reports: Vec<ReportRow>,
        next: Option<String>,
    },
    /// For moderators: a report is new, or something was done about it.
    Report(Box<ReportRow>),
    Moderated {
        re: u64,
        /// As it is now, where it was about one.
        report: Option<Box<ReportRow>>,
    },
    Audit {
        re: u64,
        entries: Vec<AuditEntry>,
        next: Option<String>,
    },
    Notices {
        re: u64,
        notices: Vec<Notice>,
    },
    /// About oneself: a warning, a sanction, or its end.
    Notice(Box<Notice>),
    /// A message of one's own that nobody else sees, or not yet.
    Held(Box<Held>),
    /// The write access of the site has changed.
    Site(Arc<SiteState>),
    /// Of the site, as they are: names and values.
    Settings {
        re: u64,
        settings: Box<Value>,
    },
    /// A setting cannot be so; in words for who wanted it.
    NotSet {
        re: u64,
        why: Box<str>,
    },
    FilterTested {
        re: u64,
        test: Box<FilterTest>,
    },
    /// The notification settings and the channels.
    Notifications {
        re: u64,
        /// The key that browsers need to subscribe. None: this node sends no notifications, or cannot now.
        key: Option<Arc<str>>,
        settings: NotifySettings,
        devices: u32,
        /// Where digests go, and after how many minutes; 0: never. None: there are none.
        mail: Option<(Box<str>, u32)>,
    },
    Changes {
        re: u64,
        changes: Box<Changes>,
    },
    TokenOk {
        re: u64,
        expires: Timestamp,
    },
    /// This session's queue was dropped; see `Node` on *behind*.
    Behind,
}

/// The position of an event that is delivered in the order of commits, by reference or by mutable reference. A new event does not
/// compile until somebody has decided.
macro_rules! position_of {
    ($event:expr) => {
        match $event {
            Event::Message(_, position)
            | Event::Ack { position, .. }
            | Event::Update { position, .. }
            | Event::Counts { position, .. }
            | Event::Renamed { position, .. }
            | Event::Marker { position, .. }
            | Event::Contact { position, .. }
            | Event::Conversation { position, .. }
            | Event::Room { position, .. }
            | Event::Left { position, .. } => Some(position),
            Event::Welcome(_)
            | Event::Bye(_)
            | Event::ByeWith { .. }
            | Event::Reported { .. }
            | Event::Reports { .. }
            | Event::Report(_)
            | Event::Moderated { .. }
            | Event::Audit { .. }
            | Event::Notices { .. }
            | Event::Notice(_)
            | Event::Held(_)
            | Event::Site(_)
            | Event::Settings { .. }
            | Event::NotSet { .. }
            | Event::FilterTested { .. }
            | Event::SendRefused { .. }
            | Event::Refused { .. }
            | Event::Typing { .. }
            | Event::Call(_)
            | Event::GroupCall(_)
            | Event::Presence { .. }
            | Event::Watching { .. }
            | Event::Contacts { .. }
            | Event::People { .. }
            | Event::Profiles { .. }
            | Event::Profile { .. }
            | Event::Conversations { .. }
            | Event::Member { .. }
            | Event::MemberCount { .. }
            | Event::Members { .. }
            | Event::Link { .. }
            | Event::Links { .. }
            | Event::Invitation { .. }
            | Event::Rooms { .. }
            | Event::History { .. }
            | Event::Pins { .. }
            | Event::Thread { .. }
            | Event::Threads { .. }
            | Event::Stickers { .. }
            | Event::Found { .. }
            | Event::Devices { .. }
            | Event::Exported { .. }
            | Event::Notifications { .. }
            | Event::Changes { .. }
            | Event::TokenOk { .. }
            | Event::Behind => None,
        }
    };
}

impl Event {
    /// It answers a command of the session, and has a position.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(
            self,
            Event::Ack { .. }
                | Event::Update { re: Some(_), .. }
                | Event::Counts { re: Some(_), .. }
                | Event::Contact { re: Some(_), .. }
                | Event::Conversation { re: Some(_), .. }
                | Event::Left { re: Some(_), .. }
        )
    }

    /// It is the last one of its session: why that is over.
    pub fn farewell(&self) -> Option<Refusal> {
        if let Event::Bye(refusal) | Event::ByeWith { refusal, .. } = self { Some(*refusal) } else { None }
    }

    /// The position of an event that is delivered in the order of commits. A gateway that has dropped a session's queue
    /// drops all events with one until `Event::Changes`.
    pub fn position(&self) -> Option<Position> {
        position_of!(self).copied()
    }

    pub(crate) fn position_mut(&mut self) -> Option<&mut Position> {
        position_of!(self)
    }
}

/// Answer to a sign-in.
#[derive(Debug, Clone)]
pub struct Welcome {
    pub session: SessionId,
    pub me: Person,
    pub presence: SetPresence,
    pub guest_token: Option<String>,
    pub open: bool,
    /// One's own on the site.
    pub role: SiteRole,
    pub calls: crate::CallsFrom,
    /// Write access of the site.
    pub site: SiteState,
    pub limits: Limits,
    pub expires: Timestamp,
    pub changes: Changes,
    /// For a front that lets another node adopt the session.
    pub record: SessionRecord,
}

/// The changes for a device: the difference since a position, or a first page (`reset`).
#[derive(Debug, Clone)]
pub struct Changes {
    pub reset: bool,
    pub conversations: Vec<Conversation>,
    pub conversations_next: Option<String>,
    /// Ascending by seq inside each conversation.
    pub messages: Vec<Arc<Message>>,
    /// Older ones that have changed, as they are now.
    pub updates: Vec<Arc<Message>>,
    pub gaps: Vec<Gap>,
    /// Rooms of which one is no member any more.
    pub left: Vec<(ConversationId, LeftReason)>,
    pub contacts: Vec<Contact>,
    pub contacts_next: Option<String>,
    /// Threads whose count the device cannot know because of a gap.
    pub threads: Vec<ThreadCount>,
    /// Users who have another id since a moment ago.
    pub renamed: Vec<Renamed>,
    pub position: Position,
}

/// Between what the device had and `first`, messages were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    pub conversation: ConversationId,
    pub first: Seq,
    /// More older messages have changed than the event contains: the device's copies before `first` are outdated.
    pub forget: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub conversation: ConversationId,
    pub seq: Seq,
    pub from: Sub,
    pub kind: MessageKind,
    pub client_id: Box<str>,
    pub body: Box<str>,
    pub time: Timestamp,
    pub reply_to: Option<Seq>,
    /// Of the last change; 0: it is as it was posted. Of two pictures of a message the greater is newer.
    pub version: u64,
    /// When it was edited last.
    pub edited: Option<Timestamp>,
    /// Then the body is empty.
    pub deleted: bool,
    pub pinned: bool,
    /// In the order in which they came first.
    pub reactions: Vec<Reactions>,
    pub files: Vec<File>,
    /// None: nothing.
    pub rich: Option<Box<Rich>>,
}

impl Message {
    /// Words and nothing else, as nobody has changed them yet. Its seq is the store's to give.
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
            from,
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
        kind: stored.kind,
        client_id: stored.client_id,
        body: stored.body,
        time: stored.time,
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

/// One reaction to a message, and who put it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reactions {
    pub reaction: Reaction,
    pub count: u64,
    /// The first [`NAMED`](crate::NAMED), oldest first.
    pub users: Vec<Sub>,
    /// The user for whom this was read is among them.
    pub mine: bool,
}

/// A user as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    pub id: UserId,
    pub sub: Sub,
    pub name: Arc<str>,
    pub avatar: Option<Arc<str>>,
    pub guest: bool,
    /// As of now, where the asker may see it.
    pub presence: Option<Presence>,
}

/// Presence as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Presence {
    Online,
    Away,
    Busy,
    Offline,
    /// This node cannot tell.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contact {
    pub person: Person,
    pub state: ContactState,
}

/// How one stands to another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ContactState {
    None,
    RequestSent,
    RequestReceived,
    Contact,
    Blocked,
}

/// With whom one talks in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum With {
    Person(Person),
    Room(Arc<Room>, Role),
}

impl With {
    /// The other one of a direct conversation.
    pub fn person(&self) -> Option<&Person> {
        match self {
            With::Person(person) => Some(person),
            With::Room(..) => None,
        }
    }
}

/// A user in a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub person: Person,
    pub standing: Standing,
    /// The user was asked to become one.
    pub requested: bool,
    /// How far the user has received and read; None where the asker may not see it.
    pub markers: Option<crate::Markers>,
    /// In the list of those who are muted or banned.
    pub sanction: Option<MemberSanction>,
}

/// The end of a mute or a ban in a room, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberSanction {
    /// [`Timestamp::MAX`]: no end.
    pub until: Timestamp,
    /// As the member was shown it; empty where there is none.
    pub reason: Box<str>,
}

impl MemberSanction {
    pub fn without_end() -> MemberSanction {
        MemberSanction { until: Timestamp::MAX, reason: Box::default() }
    }
}

/// A conversation as one of its members sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// It waits for an answer.
    pub request: Option<MessageRequest>,
    /// The user who asks one to become a member of this room.
    pub requested_by: Option<Person>,
    pub marked_unread: bool,
    pub draft: Option<Box<str>>,
    pub active: Timestamp,
}
