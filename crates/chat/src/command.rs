//! What gateways ask of the domain on behalf of a client.

#![deny(clippy::wildcard_enum_match_arm)]

use std::borrow::Cow;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::account::erasure::MessagesAfterErasure;
use crate::account::profile::ProfileChange;
use crate::contacts::message_requests::RequestAnswer;
use crate::moderation::{Moderate, ReportOf, ReportReason, ReportState};
use crate::notifications::NotifyChange;
use crate::rooms::{LinkCode, MemberAction, PageKey, RoomChange, RoomKind, RoomName, RoomSanction};
use crate::{
    Agent, CallAction, ConversationId, DeviceId, FileId, GroupAction, NewPreview, NewRich, Position,
    Reaction, SendSticker, Seq, SiteId, Sub, ThreadChange, Timestamp,
};

/// The first command of a client.
#[derive(Clone, Serialize, Deserialize)]
pub struct Hello<'a> {
    #[serde(borrow)]
    pub site_key: Cow<'a, str>,
    /// None: as a guest.
    pub token: Option<Cow<'a, str>>,
    pub device: DeviceId,
    pub position: Option<Position>,
    /// Origin header of the request, where there was one.
    pub origin: Option<Cow<'a, str>>,
    /// Of the client: for the limit of new guests per address, and for the log of sign-ins. None: not known, no limit.
    pub address: Option<IpAddr>,
    /// The client's description of itself, if the node [keeps devices](crate::Node::keeps_devices).
    pub agent: Agent,
}

/// A command of a signed-in session.
#[derive(Clone, Serialize, Deserialize)]
pub enum Command {
    Send {
        client_id: Box<str>,
        to: To,
        body: Box<str>,
        reply_to: Option<Seq>,
        /// With some the body may be empty.
        files: Vec<FileId>,
        /// None: nothing.
        rich: Option<Box<NewRich>>,
    },
    /// A message that one can read, as one of one's own in another conversation.
    Forward {
        client_id: Box<str>,
        to: To,
        conversation: ConversationId,
        seq: Seq,
    },
    Marker {
        conversation: ConversationId,
        set: MarkerSet,
    },
    Typing {
        to: To,
        on: bool,
    },
    /// Something of a call. Without `re`, only what is more than *done* is answered.
    Call {
        re: Option<u64>,
        action: CallAction,
    },
    /// Something of the call of a room. Without `re`, only what is more than *done* is answered.
    GroupCall {
        re: Option<u64>,
        conversation: ConversationId,
        action: GroupAction,
    },
    SetPresence(SetPresence),
    /// Replaces the watch of before: all contacts or not, and these users.
    Watch {
        contacts: bool,
        users: Vec<Sub>,
    },
    Contact {
        re: u64,
        action: ContactAction,
        user: Sub,
    },
    Contacts {
        re: u64,
        page: PageOf,
    },
    People {
        re: u64,
        query: Option<String>,
        page: PageOf,
    },
    Profiles {
        re: u64,
        users: Vec<Sub>,
    },
    /// One's own, where nobody is named.
    Profile {
        re: u64,
        user: Option<Sub>,
    },
    ChangeProfile {
        re: u64,
        change: Box<ProfileChange>,
    },
    Conversations {
        re: u64,
        list: ConversationList,
        page: PageOf,
    },
    Conversation {
        re: u64,
        conversation: ConversationId,
        change: ConversationChange,
    },
    Search {
        re: u64,
        query: String,
        conversation: Option<ConversationId>,
        page: PageOf,
    },
    ChangeMessage {
        re: u64,
        conversation: ConversationId,
        seq: Seq,
        change: MessageChange,
    },
    /// The pinned messages of a conversation.
    Pins {
        re: u64,
        conversation: ConversationId,
    },
    History {
        re: u64,
        to: To,
        before: Option<Seq>,
        after: Option<Seq>,
        /// Only the replies below this message.
        thread: Option<Seq>,
        limit: Option<u32>,
    },
    /// A page that begins with the first message of this time or later.
    HistorySince {
        re: u64,
        to: To,
        time: Timestamp,
        limit: Option<u32>,
    },
    /// How one stands to a thread of a room.
    Thread {
        re: u64,
        conversation: ConversationId,
        root: Seq,
        change: ThreadChange,
    },
    /// The threads of a room that one follows.
    Threads {
        re: u64,
        conversation: ConversationId,
    },
    /// One of the site's stickers.
    Sticker(SendSticker),
    /// All of them.
    Stickers {
        re: u64,
    },
    CreateRoom {
        re: u64,
        name: String,
        kind: RoomKind,
        topic: Option<String>,
    },
    ChangeRoom {
        re: u64,
        conversation: ConversationId,
        change: RoomChange,
    },
    Join {
        re: u64,
        to: To,
    },
    Leave {
        re: u64,
        conversation: ConversationId,
    },
    Member {
        re: u64,
        conversation: ConversationId,
        user: Sub,
        action: MemberAction,
    },
    /// Mutes or bans a user in a room until a time, with a reason.
    SanctionMember {
        re: u64,
        conversation: ConversationId,
        user: Sub,
        sanction: RoomSanction,
    },
    Members {
        re: u64,
        conversation: ConversationId,
        list: MemberList,
        query: Option<String>,
        page: PageOf,
    },
    /// An invitation into a room, for whoever has its code.
    MakeLink {
        re: u64,
        conversation: ConversationId,
        hours: Option<u32>,
        uses: Option<u32>,
    },
    /// Those that stand.
    Links {
        re: u64,
        conversation: ConversationId,
    },
    TakeBackLink {
        re: u64,
        conversation: ConversationId,
        code: LinkCode,
    },
    /// Shows the room of an invitation link.
    OpenLink {
        re: u64,
        code: LinkCode,
    },
    JoinLink {
        re: u64,
        code: LinkCode,
    },
    Rooms {
        re: u64,
        query: Option<String>,
        page: PageOf,
    },
    AnswerRequest {
        re: u64,
        conversation: ConversationId,
        answer: RequestAnswer,
    },
    Report {
        re: u64,
        of: ReportOf,
        reason: ReportReason,
        text: String,
    },
    Reports {
        re: u64,
        state: Option<ReportState>,
        page: PageOf,
    },
    Moderate {
        re: u64,
        act: Moderate,
    },
    Audit {
        re: u64,
        page: PageOf,
    },
    /// `seen`: the user has read the warnings, and they go.
    Notices {
        re: u64,
        seen: bool,
    },
    /// The site's settings, for admins.
    Settings {
        re: u64,
    },
    /// Changes them by a merge patch (RFC 7396).
    Configure {
        re: u64,
        #[serde(with = "crate::serialize::json_text")]
        patch: Box<Value>,
    },
    /// Tests the filters on a text, for moderators.
    TestFilter {
        re: u64,
        body: String,
    },
    Notifications {
        re: u64,
        change: Box<NotifyChange>,
    },
    /// One's own that are signed in.
    Devices {
        re: u64,
    },
    SignOut {
        re: u64,
        device: u64,
    },
    /// A page of all that was said to one or by one.
    Export {
        re: u64,
        page: PageOf,
    },
    /// One's own, for good.
    RemoveAccount {
        re: u64,
        messages: MessagesAfterErasure,
    },
    Resume {
        re: u64,
        position: Option<Position>,
    },
    Token {
        re: u64,
        token: String,
    },
}

/// Whom a command is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum To {
    User(Sub),
    Conversation(ConversationId),
    /// The room of a page of the session's site.
    Page(PageKey),
}

impl To {
    fn is_room(&self) -> bool {
        match self {
            To::Conversation(id) => id.is_room(),
            To::Page(_) => true,
            To::User(_) => false,
        }
    }

    /// The room that is meant, or what else it is.
    pub(crate) fn room(self, site: SiteId) -> Result<RoomName, To> {
        match self {
            To::Conversation(id) if id.is_room() => Ok(RoomName::Id(id)),
            To::Page(page) => Ok(RoomName::Page(site, page)),
            other @ (To::User(_) | To::Conversation(_)) => Err(other),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MarkerSet {
    Received(Seq),
    Read(Seq),
}

impl MarkerSet {
    /// Received, and read: 0 leaves a marker where it is.
    pub(crate) fn both(self) -> (Seq, Seq) {
        match self {
            MarkerSet::Received(seq) => (seq.min(Seq::MAX), Seq(0)),
            MarkerSet::Read(seq) => (seq.min(Seq::MAX), seq.min(Seq::MAX)),
        }
    }
}

/// The presence that a user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum SetPresence {
    #[default]
    Online,
    Away,
    Busy,
    Invisible,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContactAction {
    Request,
    Accept,
    Decline,
    Remove,
    Block,
    Unblock,
}

/// A change of an existing message.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageChange {
    /// Another body.
    Edit(Box<str>),
    /// Taken back for everybody.
    Delete,
    React {
        reaction: Reaction,
        on: bool,
    },
    /// Kept at hand above the conversation, or not any more.
    Pin(bool),
    /// In a poll, for these choices instead of those of before; none: for nothing any more.
    Vote(Vec<u8>),
    /// A poll ends.
    ClosePoll,
    /// The preview of its link; None removes it.
    Preview(Option<Box<NewPreview>>),
}

impl std::fmt::Debug for MessageChange {
    /// Bodies stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MessageChange::Edit(_) => "Edit",
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

/// Fields that are None stay.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConversationChange {
    pub muted_until: Option<Timestamp>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    /// Shown as unread, although all of it was read.
    pub marked_unread: Option<bool>,
    /// The unfinished text; empty: none.
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

/// Which of one's conversations a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum ConversationList {
    /// All that are not archived.
    #[default]
    Main,
    Archived,
    /// Of `Main` those with something unread, or marked so.
    Unread,
    /// Of `Main` those with an unread mention.
    Mentions,
}

/// Which users of a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemberList {
    Members,
    /// Muted members, and users who are banned from the room.
    Sanctioned,
}

/// One page of a list: after the `next` of the page before.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageOf {
    pub after: Option<String>,
    pub limit: Option<u32>,
}

/// Where the answer to a command goes, also when it is a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AnswerTo {
    Message(Box<str>),
    Request(u64),
    /// Commands without a number: a refusal is told without one.
    Session,
    /// No answer: the command may be dropped silently.
    Nobody,
}

/// The properties of a command that admission checks. `node/published.rs` lists its texts and addresses.
struct Policy {
    is_send: bool,
    speaks: bool,
    is_seen_by_others: bool,
    is_recorded: bool,
    /// Raid mode stops it where a new member gives it.
    is_stopped_by_raid: bool,
}

impl Command {
    /// One row for each command: a new one does not compile until somebody has decided.
    fn policy(&self) -> Policy {
        const NONE: Policy = Policy {
            is_send: false,
            speaks: false,
            is_seen_by_others: false,
            is_recorded: false,
            is_stopped_by_raid: false,
        };
        const RECORDED: Policy = Policy { is_recorded: true, ..NONE };
        /// A message can be held where only its author sees it, so an author in the shadow may send one.
        const MESSAGE: Policy = Policy { is_send: true, speaks: true, ..NONE };
        let speaks = |speaks: bool| Policy { speaks, is_seen_by_others: speaks, ..NONE };
        match self {
            Command::Send { to, .. }
            | Command::Forward { to, .. }
            | Command::Sticker(SendSticker { to, .. }) => {
                Policy { is_stopped_by_raid: to.is_room(), ..MESSAGE }
            }
            Command::ChangeMessage { change, .. } => match change {
                MessageChange::Edit(_) => Policy { is_send: true, ..speaks(true) },
                // A pin sends the whole message to all.
                MessageChange::Pin(true) => Policy { is_send: true, is_recorded: true, ..speaks(true) },
                MessageChange::Pin(false) | MessageChange::ClosePoll | MessageChange::Preview(_) => RECORDED,
                MessageChange::React { on, .. } => speaks(*on),
                MessageChange::Vote(choices) => speaks(!choices.is_empty()),
                // A deletion is recorded once for each message, which took a message to write.
                MessageChange::Delete => NONE,
            },
            Command::Typing { on, .. } => Policy { is_seen_by_others: *on, ..NONE },
            Command::Contact { action, .. } => {
                let asks = *action == ContactAction::Request;
                Policy { is_seen_by_others: asks, is_stopped_by_raid: asks, ..NONE }
            }
            Command::Call { action, .. } => speaks(matches!(action, CallAction::Invite { .. })),
            Command::GroupCall { action, .. } => speaks(action.is_join()),
            Command::CreateRoom { .. } => Policy { is_stopped_by_raid: true, ..speaks(true) },
            Command::ChangeRoom { .. } => Policy { is_recorded: true, ..speaks(true) },
            // An invitation is recorded, too, but a room has a size, and a removal comes before the next one.
            Command::Member { action, .. } => {
                let invites = *action == MemberAction::Invite;
                Policy { is_recorded: !invites, ..speaks(invites) }
            }
            Command::SanctionMember { sanction, .. } => {
                Policy { is_recorded: true, ..speaks(!sanction.reason.is_empty()) }
            }
            Command::TakeBackLink { .. } | Command::Moderate { .. } | Command::Configure { .. } => RECORDED,
            Command::Marker { .. }
            | Command::SetPresence(_)
            | Command::Watch { .. }
            | Command::Contacts { .. }
            | Command::People { .. }
            | Command::Profiles { .. }
            | Command::Profile { .. }
            | Command::ChangeProfile { .. }
            | Command::Conversations { .. }
            | Command::Conversation { .. }
            | Command::Search { .. }
            | Command::Pins { .. }
            | Command::History { .. }
            | Command::HistorySince { .. }
            | Command::Thread { .. }
            | Command::Threads { .. }
            | Command::Stickers { .. }
            | Command::Join { .. }
            | Command::Leave { .. }
            | Command::Members { .. }
            | Command::MakeLink { .. }
            | Command::Links { .. }
            | Command::OpenLink { .. }
            | Command::JoinLink { .. }
            | Command::Rooms { .. }
            | Command::AnswerRequest { .. }
            | Command::Report { .. }
            | Command::Reports { .. }
            | Command::Audit { .. }
            | Command::Notices { .. }
            | Command::Settings { .. }
            | Command::TestFilter { .. }
            | Command::Notifications { .. }
            | Command::Devices { .. }
            | Command::SignOut { .. }
            | Command::Export { .. }
            | Command::RemoveAccount { .. }
            | Command::Resume { .. }
            | Command::Token { .. } => NONE,
        }
    }

    /// It sends a text to others, and takes from the rate of messages.
    pub(crate) fn is_send(&self) -> bool {
        self.policy().is_send
    }

    /// It puts something new before others: a user who is muted on the site may not.
    pub(crate) fn speaks(&self) -> bool {
        self.policy().speaks
    }

    /// Others would notice it, beside a message: a user in the shadow may not.
    pub(crate) fn is_seen_by_others(&self) -> bool {
        self.policy().is_seen_by_others
    }

    /// Raid mode stops it where a new member gives it. A message to a user is stopped later, where it would be the first one.
    pub(crate) fn is_stopped_by_raid(&self) -> bool {
        self.policy().is_stopped_by_raid
    }

    /// It may add a row to the record, which is kept for good.
    pub(crate) fn is_recorded(&self) -> bool {
        self.policy().is_recorded
    }

    pub(crate) fn answer_to(&self) -> AnswerTo {
        match self {
            Command::Send { client_id, .. } | Command::Forward { client_id, .. } => {
                AnswerTo::Message(client_id.clone())
            }
            Command::Sticker(wanted) => AnswerTo::Message(wanted.client_id.clone()),
            Command::Typing { .. } => AnswerTo::Nobody,
            Command::Call { re, .. } | Command::GroupCall { re, .. } => {
                re.map_or(AnswerTo::Session, AnswerTo::Request)
            }
            Command::Marker { .. } | Command::SetPresence(_) | Command::Watch { .. } => AnswerTo::Session,
            Command::Contact { re, .. }
            | Command::Contacts { re, .. }
            | Command::People { re, .. }
            | Command::Profiles { re, .. }
            | Command::Profile { re, .. }
            | Command::ChangeProfile { re, .. }
            | Command::Conversations { re, .. }
            | Command::Conversation { re, .. }
            | Command::ChangeMessage { re, .. }
            | Command::Search { re, .. }
            | Command::Pins { re, .. }
            | Command::History { re, .. }
            | Command::HistorySince { re, .. }
            | Command::Thread { re, .. }
            | Command::Threads { re, .. }
            | Command::Stickers { re }
            | Command::CreateRoom { re, .. }
            | Command::ChangeRoom { re, .. }
            | Command::Join { re, .. }
            | Command::Leave { re, .. }
            | Command::Member { re, .. }
            | Command::SanctionMember { re, .. }
            | Command::Members { re, .. }
            | Command::MakeLink { re, .. }
            | Command::Links { re, .. }
            | Command::TakeBackLink { re, .. }
            | Command::OpenLink { re, .. }
            | Command::JoinLink { re, .. }
            | Command::Rooms { re, .. }
            | Command::AnswerRequest { re, .. }
            | Command::Report { re, .. }
            | Command::Reports { re, .. }
            | Command::Moderate { re, .. }
            | Command::Audit { re, .. }
            | Command::Notices { re, .. }
            | Command::Settings { re }
            | Command::Configure { re, .. }
            | Command::TestFilter { re, .. }
            | Command::Notifications { re, .. }
            | Command::Devices { re, .. }
            | Command::SignOut { re, .. }
            | Command::Export { re, .. }
            | Command::RemoveAccount { re, .. }
            | Command::Resume { re, .. }
            | Command::Token { re, .. } => AnswerTo::Request(*re),
        }
    }
}

impl std::fmt::Debug for Command {
    /// Names the command and nothing of what is in it: bodies and tokens stay out of logs.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Command::Send { .. } => "Send",
            Command::Forward { .. } => "Forward",
            Command::Marker { .. } => "Marker",
            Command::Typing { .. } => "Typing",
            Command::Call { .. } => "Call",
            Command::GroupCall { .. } => "GroupCall",
            Command::SetPresence(_) => "SetPresence",
            Command::Watch { .. } => "Watch",
            Command::Contact { .. } => "Contact",
            Command::Contacts { .. } => "Contacts",
            Command::People { .. } => "People",
            Command::Profiles { .. } => "Profiles",
            Command::Profile { .. } => "Profile",
            Command::ChangeProfile { .. } => "ChangeProfile",
            Command::Conversations { .. } => "Conversations",
            Command::Conversation { .. } => "Conversation",
            Command::ChangeMessage { .. } => "ChangeMessage",
            Command::Search { .. } => "Search",
            Command::Pins { .. } => "Pins",
            Command::History { .. } => "History",
            Command::HistorySince { .. } => "HistorySince",
            Command::Thread { .. } => "Thread",
            Command::Threads { .. } => "Threads",
            Command::Sticker(_) => "Sticker",
            Command::Stickers { .. } => "Stickers",
            Command::CreateRoom { .. } => "CreateRoom",
            Command::ChangeRoom { .. } => "ChangeRoom",
            Command::Join { .. } => "Join",
            Command::Leave { .. } => "Leave",
            Command::Member { .. } => "Member",
            Command::SanctionMember { .. } => "SanctionMember",
            Command::Members { .. } => "Members",
            Command::MakeLink { .. } => "MakeLink",
            Command::Links { .. } => "Links",
            Command::TakeBackLink { .. } => "TakeBackLink",
            Command::OpenLink { .. } => "OpenLink",
            Command::JoinLink { .. } => "JoinLink",
            Command::Rooms { .. } => "Rooms",
            Command::AnswerRequest { .. } => "AnswerRequest",
            Command::Report { .. } => "Report",
            Command::Reports { .. } => "Reports",
            Command::Moderate { .. } => "Moderate",
            Command::Audit { .. } => "Audit",
            Command::Notices { .. } => "Notices",
            Command::Settings { .. } => "Settings",
            Command::Configure { .. } => "Configure",
            Command::TestFilter { .. } => "TestFilter",
            Command::Notifications { .. } => "Notifications",
            Command::Devices { .. } => "Devices",
            Command::SignOut { .. } => "SignOut",
            Command::Export { .. } => "Export",
            Command::RemoveAccount { .. } => "RemoveAccount",
            Command::Resume { .. } => "Resume",
            Command::Token { .. } => "Token",
        })
    }
}
