//! Events from the server to the client.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Audience, CallEntry, CallNews, Code, GroupNews, IceServer, QuietHours, ReportReason, ReportState, Role,
    RoomKind, SiteRole,
};

/// A frame from the server.
///
/// `re` is the `rid` of the request that the event answers. `position` is opaque. The client keeps the last
/// `position` that it received, and sends it in `hello` or `resume`. All events up to it were sent to this
/// session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Event<'a> {
    /// Answer to `hello`.
    #[serde(borrow)]
    Welcome(Box<Welcome<'a>>),
    /// The message is on disk.
    Ack {
        /// The `id` of the `send`.
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        /// Unix milliseconds at which the server accepted the message.
        time: u64,
        /// The message is part of a request that the recipient has not accepted yet.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        request: bool,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A request failed. The session goes on.
    Error {
        code: Code,
        /// For developers; clients show their own text for `code`.
        #[serde(borrow)]
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        /// The `id` of the `send` that failed.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
        /// Milliseconds after which a retry makes sense. Absent: a retry is useless.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// A new message of another user, or of this user on another device.
    Message {
        #[serde(borrow, flatten)]
        message: Message<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A message was edited, deleted, pinned or reacted to: answer to the command, or an update.
    Update {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        /// The complete message in its present form. `by` decides whether `mine` is valid.
        #[serde(borrow)]
        message: Message<'a>,
        /// Id of the user who changed the message. If it is the own id, `mine` of the reactions is valid.
        /// Otherwise `mine` is left out, and the own reactions are unchanged.
        #[serde(borrow)]
        by: Cow<'a, str>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// The parts of a message that change besides its text: reactions, votes, pin, preview, and whether its
    /// poll is closed. Answer to the command, or an update. In rooms of more than 50 members, other members
    /// get reactions and votes once per second, several changes together.
    Counts {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        /// Version of the message. Ignore counts whose version is not greater than the known one.
        version: u64,
        /// All present reactions of the message, in the order of their first use.
        #[serde(borrow)]
        reactions: Vec<ReactionCount<'a>>,
        /// The votes, if the message is a poll.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        poll: Option<PollCounts>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pinned: bool,
        /// The message has a preview of its link. Absent: it has none, or not any more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        preview: bool,
        /// Id of the user who made the change. Absent: several users, or a voter of an anonymous poll.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        by: Option<Cow<'a, str>>,
        /// The reaction that `by` added or removed.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        put: Option<PutReaction<'a>>,
        /// The present choices of `by`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chose: Option<Vec<u8>>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A user has a new id: the user was erased, or a guest became a member. Replace the id in all stored
    /// messages: as author, and in reactions, votes and quotes. These messages get new versions without other
    /// events.
    Renamed {
        #[serde(borrow)]
        renamed: Renamed<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A user has another picture, or none any more. Without presence. Sent to sessions of the user, and to those that watch the user.
    Person {
        #[serde(borrow)]
        person: Person<'a>,
    },
    /// A member's marker moved. `user` may be the own id, after a change on another device.
    Marker {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        user: Cow<'a, str>,
        received: u64,
        read: u64,
        /// The own unread count, if `user` is the own id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unread: Option<u64>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A user is typing. Expires 6 s after the last event with `on`.
    Typing {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        user: Cow<'a, str>,
        on: bool,
    },
    /// An event of a call, or the answer to `call`.
    Call {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        /// Id of the call while it lasts.
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow, flatten)]
        news: CallNews<'a>,
        /// For a new connection: the `iceServers` of `RTCPeerConnection`.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        ice: Vec<IceServer<'a>>,
    },
    /// An event of the call of a room, or the answer to `group_call`.
    GroupCall {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, flatten)]
        news: GroupNews<'a>,
        /// With `joined`: the `iceServers` of `RTCPeerConnection`.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        ice: Vec<IceServer<'a>>,
    },
    /// Presence of a user that this session watches, or the own presence as set on another device.
    Presence {
        #[serde(borrow)]
        user: Cow<'a, str>,
        presence: Presence,
        /// Unix milliseconds at which the user was last connected, if they are offline now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_seen: Option<u64>,
    },
    /// Answer to `watch` with `contacts`: the contacts that are online, away or busy now. All others are
    /// offline.
    Watching {
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        online: Vec<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        away: Vec<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        busy: Vec<Cow<'a, str>>,
        /// Not all connected contacts are listed: an unlisted contact may be connected or not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        more: bool,
    },
    /// A contact changed: answer to `contact`, or an update (a request, an acceptance, another device).
    Contact {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        contact: Contact<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// Answer to `contacts`.
    Contacts {
        re: u64,
        #[serde(borrow)]
        contacts: Vec<Contact<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `people`.
    People {
        re: u64,
        #[serde(borrow)]
        people: Vec<Person<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `profiles`; unknown ids are left out.
    Profiles {
        re: u64,
        #[serde(borrow)]
        people: Vec<Person<'a>>,
    },
    /// Answer to `profile` and `change_profile`.
    Profile {
        re: u64,
        #[serde(borrow)]
        profile: Box<Profile<'a>>,
    },
    /// Answer to `conversations`.
    Conversations {
        re: u64,
        #[serde(borrow)]
        conversations: Vec<Conversation<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// A conversation is new to this user, or has changed for this user (muted, pinned, archived, joined,
    /// another role).
    Conversation {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Box<Conversation<'a>>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A room of this user has changed. The event lacks the own role; keep the known one.
    Room {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        room: Room<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// The number of members of a room has changed. Sent within a second, in large rooms less often. Not
    /// stored.
    MemberCount {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        members: u64,
        /// New members, without presence. Only in rooms of up to 50 members, each member at most once in ten
        /// minutes.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        joined: Vec<Person<'a>>,
    },
    /// The user is no longer a member of a room.
    Left {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        reason: LeftReason,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// Answer to `member`: the present state of the user in the room.
    Member {
        re: u64,
        #[serde(borrow)]
        member: Member<'a>,
    },
    /// Answer to `nickname` and `nicknames`.
    Nicknames {
        re: u64,
        /// The requested users who have a nickname in the room.
        #[serde(borrow)]
        names: Vec<Nickname<'a>>,
    },
    /// Answer to `members`.
    Members {
        re: u64,
        #[serde(borrow)]
        members: Vec<Member<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `make_link`.
    Link {
        re: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, flatten)]
        link: Link<'a>,
    },
    /// Answer to `links` and `take_back_link`: at most 50, newest first.
    Links {
        re: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        links: Vec<Link<'a>>,
    },
    /// Answer to `open_link`.
    Invitation {
        re: u64,
        #[serde(borrow, flatten)]
        invitation: Box<Invitation<'a>>,
    },
    /// Answer to `rooms`.
    Rooms {
        re: u64,
        #[serde(borrow)]
        rooms: Vec<Listed<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `history`.
    History {
        re: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        messages: Vec<Message<'a>>,
        /// More messages exist in the requested direction.
        more: bool,
    },
    /// Answer to `pins`, newest first.
    Pins {
        re: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        messages: Vec<Message<'a>>,
    },
    /// Answer to `thread`.
    Thread {
        re: u64,
        #[serde(borrow)]
        thread: Thread<'a>,
    },
    /// Answer to `threads`: at most 50, newest reply first.
    Threads {
        re: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        threads: Vec<Thread<'a>>,
    },
    /// Answer to `stickers`, in the order of their addition.
    Stickers {
        re: u64,
        #[serde(borrow)]
        stickers: Vec<Sticker<'a>>,
    },
    /// Answer to `search`, newest first.
    Found {
        re: u64,
        #[serde(borrow)]
        hits: Vec<Message<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `devices` and `sign_out`, the last used device first.
    Devices {
        re: u64,
        #[serde(borrow)]
        devices: Vec<Device<'a>>,
    },
    /// Answer to `app_passwords` and `revoke_app_password`, the newest first.
    AppPasswords {
        re: u64,
        /// The user's XMPP address. Absent if no app can sign in: the operator has not set up XMPP, the site has disabled it,
        /// or the user is a guest.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        address: Option<Cow<'a, str>>,
        #[serde(borrow)]
        passwords: Vec<AppPassword<'a>>,
    },
    /// Answer to `create_app_password`. No later event contains the password.
    AppPassword {
        re: u64,
        #[serde(borrow)]
        created: AppPassword<'a>,
        /// To be typed as it is, with its hyphens.
        #[serde(borrow)]
        password: Cow<'a, str>,
    },
    /// Answer to `export`. Any page may be empty.
    Exported {
        re: u64,
        #[serde(borrow)]
        messages: Vec<Message<'a>>,
        /// They follow the messages.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<ExportedItem<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `report`, with the number of the report.
    Reported { re: u64, report: u64 },
    /// Answer to `reports`.
    Reports {
        re: u64,
        #[serde(borrow)]
        reports: Vec<Report<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// For connected moderators: a new report, or a report whose state changed.
    Report {
        #[serde(borrow)]
        report: Box<Report<'a>>,
    },
    /// Answer to `moderate`.
    Moderated {
        re: u64,
        /// The report in its present form, if the action was on a report.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        report: Option<Box<Report<'a>>>,
    },
    /// Answer to `audit`.
    Audit {
        re: u64,
        #[serde(borrow)]
        entries: Vec<AuditEntry<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `notices`.
    Notices {
        re: u64,
        #[serde(borrow)]
        notices: Vec<Notice<'a>>,
    },
    /// A moderator has warned, muted or banned this user, or a sanction has ended.
    Notice {
        #[serde(borrow)]
        notice: Notice<'a>,
    },
    /// An own message that is not in the conversation. Sent after `send` instead of `ack`, and after `hello`
    /// for those still held. Also sent when a moderator has refused a message. An approved message arrives as
    /// `message`, with its `id`.
    Held {
        #[serde(borrow)]
        held: Held<'a>,
    },
    /// The write access to the site has changed. Also part of `welcome`.
    Site {
        #[serde(borrow)]
        site: SiteState<'a>,
    },
    /// Answer to `settings` and `configure`: names and values.
    Settings {
        re: u64,
        #[cfg_attr(test, ts(type = "{ [name: string]: unknown }"))]
        settings: Box<Value>,
    },
    /// Answer to `test_filter`.
    FilterTested {
        re: u64,
        /// The action of the filters. Absent: the message would be delivered like any other.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        act: Option<FilterAct>,
        #[serde(borrow)]
        hits: Vec<FilterHit<'a>>,
    },
    /// Answer to `notifications`.
    Notifications {
        re: u64,
        /// `applicationServerKey` for a browser's subscription. Absent: this server sends no push notifications.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        key: Option<Cow<'a, str>>,
        /// Number of the user's browsers that get notifications.
        devices: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quiet: Option<QuietHours>,
        /// Notifications show the text of messages.
        bodies: bool,
        /// Settings of the mail digest. Absent: the site has given no address, or this server sends no mail.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        mail: Option<MailDigest<'a>>,
    },
    /// Answer to `resume`. See [`Welcome`] for the fields of the same name.
    Changes {
        re: u64,
        /// The position was not usable, and this is a first page: discard all cached data.
        reset: bool,
        #[serde(borrow)]
        conversations: Vec<Conversation<'a>>,
        #[serde(borrow)]
        messages: Vec<Message<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        updates: Vec<Message<'a>>,
        gaps: Vec<Gap<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<Left<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        threads: Vec<ThreadCount<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        renamed: Vec<Renamed<'a>>,
        #[serde(borrow)]
        contacts: Vec<Contact<'a>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        contacts_next: Option<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        conversations_next: Option<Cow<'a, str>>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// This session read too slowly, and its queued events were dropped. No more events follow until the
    /// client sends `resume` with its last position.
    Behind,
    /// Answer to `token`.
    TokenOk {
        re: u64,
        /// Unix milliseconds until which the session may last without a newer token.
        expires: u64,
    },
    /// Answer to `ping`.
    Pong {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
    },
    /// An event without content. The stream transports send it so that proxies keep the connection open.
    Heartbeat,
    /// Before `welcome`, on WebSocket: many clients sign in, and this one waits for its turn. The next frame comes within `within_ms`.
    Queued { within_ms: u64 },
    /// The last frame of a session.
    Bye {
        code: Code,
        #[serde(borrow)]
        text: Cow<'a, str>,
        /// Milliseconds after which the client may reconnect. Absent: do not reconnect automatically.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
        /// With `banned`: Unix milliseconds at which the ban expires, if it expires.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// With `banned` and `site_closed`: the explanation of the moderator or the owner, if any.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
}

/// Answer to `hello`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Welcome<'a> {
    /// For logs and support; not a secret.
    #[serde(borrow)]
    pub session: Cow<'a, str>,
    /// Secret for the header `Authorization: Kith <key>` of a POST and of the next poll. Absent on WebSocket.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// The user of this session.
    #[serde(borrow)]
    pub me: Person<'a>,
    /// The own presence, as set by the user.
    pub presence: crate::SetPresence,
    /// For guests: a token to return as the same guest.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub guest_token: Option<Cow<'a, str>>,
    /// True: all members see each other (mode *open*). False: only contacts do.
    pub open: bool,
    /// The own role on the site. Absent: member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SiteRole>,
    /// The allowed callers. Absent: contacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<crate::CallsFrom>,
    /// The write access to the site. Absent: everybody may write, and raid mode is off.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteState<'a>>,
    pub limits: Limits,
    /// Server time, Unix milliseconds.
    pub time: u64,
    /// Unix milliseconds until which the session may last without a newer token.
    pub expires: u64,
    /// True: `position` of `hello` was usable, and the fields below have the changes since then. False: this
    /// is a first page (newest activity first), and the client discards its cached data.
    pub resumed: bool,
    #[serde(borrow)]
    pub conversations: Vec<Conversation<'a>>,
    /// On resume: missed messages, ascending by `seq` inside each conversation.
    #[serde(borrow, default)]
    pub messages: Vec<Message<'a>>,
    /// On resume: older messages that have changed meanwhile, in their present form.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<Message<'a>>,
    /// On resume: conversations with more missed messages than are sent here.
    #[serde(borrow, default)]
    pub gaps: Vec<Gap<'a>>,
    /// On resume: rooms in which the user is no longer a member.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left<'a>>,
    /// On resume: threads of rooms with a gap, in their present form.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadCount<'a>>,
    /// On resume: users who have got a new id. See the event `renamed`.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Renamed<'a>>,
    /// Contacts: the changed ones (resumed), or a first page. `contacts_next` is like `next` in `contacts`.
    #[serde(borrow, default)]
    pub contacts: Vec<Contact<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub contacts_next: Option<Cow<'a, str>>,
    /// On a first page: more conversations exist. Send `conversations` with this as `after`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversations_next: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub position: Cow<'a, str>,
}

/// Address and delay of the mail digest of missed messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MailDigest<'a> {
    #[serde(borrow)]
    pub address: Cow<'a, str>,
    /// Minutes of unread messages after which the mail is sent, at most once a day. 0: never.
    pub after: u32,
}

/// A gap in the messages that a client has. To load the older ones, send `history` with `before: first`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Gap<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// The oldest `seq` that is sent. Messages between the client's newest `seq` and this one are missing.
    pub first: u64,
    /// More older messages have changed than are sent: the client drops all its messages before `first`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forget: bool,
}

/// A user with a new id, and the data that others see.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Renamed<'a> {
    /// The former id.
    #[serde(borrow)]
    pub was: Cow<'a, str>,
    #[serde(flatten, borrow)]
    pub person: Person<'a>,
    /// All messages of the user are deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// The thread below the message `seq`. The client lacks some of its replies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ThreadCount<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    pub seq: u64,
    pub replies: Replies,
}

/// A room in which the user is no longer a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Left<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    pub reason: LeftReason,
}

/// The reason why the user is no longer a member of a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LeftReason {
    /// The user has left.
    Left,
    /// Another user has removed this user, who may come back.
    Removed,
    /// Another user has banned this user.
    Banned,
    /// An owner has closed the room. It exists for nobody any more.
    Closed,
}

/// The limits of the server, so that a client can check before it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Limits {
    /// Longest message body, in bytes of UTF-8.
    pub body_bytes: u32,
    /// Longest frame or POST body, in bytes.
    pub frame_bytes: u32,
    /// Largest `limit` of a page.
    pub page: u32,
    /// Largest number of `users` in `watch`.
    pub watch: u32,
    /// Milliseconds without a frame from the client after which the server drops the session. Ping before
    /// that.
    pub idle_ms: u32,
    /// Milliseconds between heartbeats on the stream transports.
    pub heartbeat_ms: u32,
    /// Longest file, in bytes. Absent: files cannot be sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub file_bytes: u64,
}

/// A message as stored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Message<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// Gap-free number in the conversation, from 1.
    pub seq: u64,
    /// Id of the user who posted it.
    #[serde(borrow)]
    pub from: Cow<'a, str>,
    /// The `id` of the sender's `send`. The sender's devices recognise own messages by it, also after a
    /// retry. Other apps make longer ids, of any characters except control characters: at most 255 bytes.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub body: Cow<'a, str>,
    /// Unix milliseconds.
    pub time: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    /// Grows with each change. Absent: unchanged since the message was posted. Of two copies of a message,
    /// the one with the greater version is newer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Unix milliseconds of the last edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<u64>,
    /// The message was deleted; `body` is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// Another app sent the message, with content that only such apps can show. `body` is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opaque: bool,
    /// The entry of a finished call. `body` describes the call in English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallEntry>,
    /// The message is pinned above the conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Reactions, in the order of their first use.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction<'a>>,
    /// Files, in the order chosen by the sender.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File<'a>>,
    /// The poll, if the message is one. `body` is its question.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Poll<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub forwarded: Option<Forwarded<'a>>,
    /// The `seq` of the thread's root, if the message is a reply in a thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// With `thread`: the number of this reply in the thread, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The thread below this message, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Replies>,
    /// Preview of the first link.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview<'a>>,
    /// The sticker, if the message is one. `body` has the words of the sticker.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub sticker: Option<Sticker<'a>>,
}

/// A small picture that the site's owner provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sticker<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Name of a set. Stickers of one set are shown together.
    #[serde(borrow)]
    pub set: Cow<'a, str>,
    /// The words of the sticker. They are also the body of a message with this sticker.
    #[serde(borrow)]
    pub words: Cow<'a, str>,
    /// Path of the picture. It is valid as long as the site has the sticker.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    pub width: u32,
    pub height: u32,
}

/// Metadata of a page, as plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Preview<'a> {
    /// The link, as written in the message.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    #[serde(borrow)]
    pub title: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub description: Cow<'a, str>,
    /// The name of the website.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub site: Cow<'a, str>,
    /// A small picture, re-encoded by the server.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<File<'a>>,
}

/// A poll of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Poll<'a> {
    #[serde(borrow)]
    pub choices: Vec<Choice<'a>>,
    /// A user may vote for several choices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Nobody can see the votes of a user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymous: bool,
    /// Unix milliseconds at which voting ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<u64>,
    /// The author or a moderator has closed the poll.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Number of users who have voted.
    pub voters: u64,
}

/// One choice of a poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Choice<'a> {
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub votes: u64,
    /// Ids of the first users who voted for this choice, at most 20, oldest first. Empty if the poll is
    /// anonymous.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<Cow<'a, str>>,
    /// This user has voted for the choice. Only in events made for one user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mine: bool,
}

/// The origin of a forwarded message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Forwarded<'a> {
    /// Id of the original author. Absent if the readers of this message may not know the author.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Cow<'a, str>>,
}

/// The thread below a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Replies {
    pub count: u64,
    /// Unix milliseconds of the newest reply.
    pub last: u64,
}

/// A thread of a room as this user sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Thread<'a> {
    #[serde(borrow)]
    pub root: Message<'a>,
    /// The user follows the thread: by an own reply, a reply below an own message, a mention, or by choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
    /// Number of unread replies; 0 if the user does not follow the thread.
    pub unread: u64,
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "SentFile"))]
pub struct File<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// File name to display; never a path.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Media type, as detected by the server. `image/…` is a picture that the server has re-encoded.
    /// `audio/…` and `video/…` can be played. All other types are for download.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// Size in bytes.
    pub size: u64,
    /// Address of the file, absolute or from the server's root. It expires after some hours; `history` has
    /// newer ones.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// Address of the thumbnail, for a picture that is larger than its thumbnail.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thumb: Option<Cow<'a, str>>,
    /// For a picture: its size in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// For a picture: a placeholder until the picture is loaded (<https://blurha.sh>).
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub blurhash: Option<Cow<'a, str>>,
    /// For a sound or video: its milliseconds, as stated by the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u32>,
    /// Recorded with a microphone for this message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub voice: bool,
    /// Loudness of a voice message over its time, as stated by the sender: 1 to 64 digits, one for each equal
    /// part. `0` is silence, and `z` is the loudest.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Cow<'a, str>>,
}

/// One emoji or `:name:` on a message, and the users who added it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Reaction<'a> {
    #[serde(borrow)]
    pub reaction: Cow<'a, str>,
    pub count: u64,
    /// Ids of the first users who added the reaction and have not removed it, at most 20, oldest first.
    #[serde(borrow)]
    pub users: Vec<Cow<'a, str>>,
    /// This user has added the reaction. Only in events made for one user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mine: bool,
}

/// Number of users with a reaction on a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReactionCount<'a> {
    #[serde(borrow)]
    pub reaction: Cow<'a, str>,
    pub count: u64,
}

/// A reaction that a user has added or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PutReaction<'a> {
    #[serde(borrow)]
    pub reaction: Cow<'a, str>,
    pub on: bool,
}

/// The votes of a poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PollCounts {
    /// Votes of each choice, in the order of the choices.
    pub votes: Vec<u64>,
    /// Number of users who have voted.
    pub voters: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// A user, as others see them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Person<'a> {
    /// The site's id of the user (`sub` of the token).
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Address of the picture that the site gives.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Cow<'a, str>>,
    /// Path on the server of the picture that the user has set in an app. The person then has no `avatar`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Cow<'a, str>>,
    /// A guest, without an account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guest: bool,
    /// The present presence. Absent if this user may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
}

/// Presence as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Connected.
    Online,
    /// Connected, not at the keyboard.
    Away,
    /// Connected, do not disturb.
    Busy,
    /// Not connected, or invisible.
    Offline,
    /// The server cannot determine the presence now.
    Unknown,
}

/// A member as the recipient sees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Profile<'a> {
    #[serde(borrow, flatten)]
    pub person: Person<'a>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Cow<'a, str>>,
    /// Unix milliseconds at which the status expires, if it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_until: Option<u64>,
    /// Unix milliseconds. Absent while the member is connected, and if this user may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<u64>,
    /// The member's role on the whole site. Absent: member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SiteRole>,
    /// The state between this user and the member.
    pub state: ContactState,
    /// Only in the own profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnProfile>,
}

/// The part of a profile that only its owner gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OwnProfile {
    pub may_write: Audience,
    pub see_presence: Audience,
    pub see_last_seen: Audience,
    /// The site lets members choose their names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_rename: bool,
    /// The site lets members remove their account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_remove: bool,
    /// The site keeps its members' devices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub devices: bool,
    /// XMPP apps of members can sign in. Guests cannot use them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apps: bool,
}

/// A browser or app of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Device<'a> {
    #[serde(borrow)]
    pub device: Cow<'a, str>,
    /// The common name of the browser. Absent if the device has not sent one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Cow<'a, str>>,
    /// Unix milliseconds of the first sign-in (`created`) and the last one (`used`).
    pub created: u64,
    pub used: u64,
    /// The device is connected now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub here: bool,
    /// The device that sent the request.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub this: bool,
}

/// An app password of the user, without the password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AppPassword<'a> {
    pub number: u32,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Unix milliseconds.
    pub created: u64,
    /// Unix milliseconds of the last sign-in, up to an hour old. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// An app that has signed in with it is connected now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub here: bool,
}

/// A value that an app of the user has stored with the account: a setting, a bookmark, a picture, a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExportedItem<'a> {
    /// The name of the list, which apps choose: an XML namespace, as a rule.
    #[serde(borrow)]
    pub list: Cow<'a, str>,
    #[serde(borrow)]
    pub item: Cow<'a, str>,
    #[serde(borrow)]
    pub value: Cow<'a, str>,
}

/// An entry of the user's contact list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Contact<'a> {
    #[serde(flatten, borrow)]
    pub person: Person<'a>,
    pub state: ContactState,
    /// This user's own name for the contact, which nobody else sees.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub own_name: Option<Cow<'a, str>>,
    /// The groups into which this user's apps have sorted the contact. A welcome of a first page leaves them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<Cow<'a, str>>>,
}

/// The state between this user and another user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ContactState {
    /// No relation: the state after `remove`, `decline` and `unblock`.
    None,
    /// This user has sent a request.
    RequestSent,
    /// The other user has sent a request.
    RequestReceived,
    /// Both users have agreed.
    Contact,
    /// This user has blocked the other user.
    Blocked,
}

/// A conversation as this user sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Conversation<'a> {
    /// Opaque id.
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// The other user of a direct conversation. Absent in a room.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Person<'a>>,
    /// The room, if the conversation is one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub room: Option<Room<'a>>,
    /// The newest message.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Message<'a>>,
    /// The own markers.
    pub received: u64,
    pub read: u64,
    /// The other user's markers; 0 in a room.
    pub their_received: u64,
    pub their_read: u64,
    pub unread: u64,
    /// Unread messages that mention this user as `@id`, or all members as `@room`.
    pub mentions: u64,
    /// Unix milliseconds until which the conversation is muted; 0: not muted.
    pub muted_until: u64,
    pub pinned: bool,
    pub archived: bool,
    /// The state of a pending request. Absent: no request is pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestState>,
    /// The member who invites this user into the room. This user is not a member yet, and `request` is
    /// `received`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<Person<'a>>,
    /// Shown as unread, although all messages were read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked_unread: bool,
    /// The user's draft, from any device.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Cow<'a, str>>,
    /// Unix milliseconds of the last activity. The list is sorted by it.
    pub active: u64,
}

/// The direction of a pending message request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// This user has sent the request, and waits for an answer.
    Sent,
    /// This user has received the request.
    Received,
}

/// A report, as moderators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report<'a> {
    pub report: u64,
    pub state: ReportState,
    /// The conversation of the message, or the reported room.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// The `seq` of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The author of the message, or the reported user.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    /// The reporter; absent: a filter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'a, str>>,
    /// The message is held, and nobody else sees it: `approve` delivers it, `refuse` does not. It is the last
    /// of `lines`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    pub reason: ReportReason,
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub text: Cow<'a, str>,
    /// The message and its neighbours, as they were at the time of the report.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<ReportLine<'a>>,
    /// Former texts of the message, oldest first. Only texts replaced or deleted in the week before the
    /// report.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub former: Vec<FormerBody<'a>>,
    /// Unix milliseconds.
    pub time: u64,
    /// The moderator who took or closed it; absent: nobody, or the site's own server.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub moderator: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub note: Cow<'a, str>,
}

/// A message, as it was when it or a neighbour was reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReportLine<'a> {
    pub seq: u64,
    #[serde(borrow)]
    pub from: Cow<'a, str>,
    pub time: u64,
    #[serde(borrow)]
    pub body: Cow<'a, str>,
}

/// A former text of a message, before an edit or the deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FormerBody<'a> {
    #[serde(borrow)]
    pub body: Cow<'a, str>,
    /// Unix milliseconds at which the text was replaced.
    pub until: u64,
}

/// An action of a moderator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditEntry<'a> {
    pub number: u64,
    /// Unix milliseconds.
    pub time: u64,
    /// The actor. Absent: the site's own server, the operator, or an automatic expiry.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'a, str>>,
    /// Name of the action. Future versions may add names.
    #[serde(borrow)]
    pub act: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// For display: a reason, an end, a `seq`.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub detail: Cow<'a, str>,
}

/// A message that only its sender sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Held<'a> {
    /// The `id` of the `send`.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// The other user, in a direct conversation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    pub state: HeldState,
    #[serde(borrow)]
    pub body: Cow<'a, str>,
    /// As in a message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opaque: bool,
    /// Unix milliseconds.
    pub time: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    /// With `refused`: the moderator's explanation.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub reason: Cow<'a, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum HeldState {
    /// The message waits for a moderator.
    Waiting,
    Refused,
    /// The message is shown to its sender as sent.
    Kept,
}

/// Write access to a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SiteState<'a> {
    pub access: SiteAccess,
    /// The owner's explanation.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub text: Cow<'a, str>,
    /// For moderators: Unix milliseconds until which new members cannot start conversations or write in
    /// rooms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raid_until: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SiteAccess {
    Open,
    /// Only moderators may write.
    ReadOnly,
    /// Only moderators may enter.
    Closed,
}

/// The action of a filter on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FilterAct {
    /// The message is delivered, and added to the moderators' queue.
    Flag,
    /// The message is held until a moderator approves it.
    Hold,
    Reject,
}

/// A match of a filter in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FilterHit<'a> {
    pub kind: FilterKind,
    /// The word, the host of the link, or the pattern.
    #[serde(borrow)]
    pub what: Cow<'a, str>,
    pub act: FilterAct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FilterKind {
    Word,
    Link,
    Pattern,
    /// The stored filters cannot be read, so every message waits for a moderator.
    Unreadable,
}

/// A notice of a moderator to a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Notice<'a> {
    pub kind: NoticeKind,
    /// The room of the notice. Absent: the whole site.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// Unix milliseconds at which the sanction expires. Absent: it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub reason: Cow<'a, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    Warning,
    Mute,
    Ban,
    /// A mute has ended.
    Unmute,
}

fn str_is_empty(text: &str) -> bool {
    text.is_empty()
}

/// A room, without its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Room<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    pub kind: RoomKind,
    /// The own role. Absent if the user is not a member, and in the event `room`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Number of members.
    pub members: u64,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Cow<'a, str>>,
    /// Address of the room's picture, set by an admin of the site.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Cow<'a, str>>,
    /// Path of the room's uploaded picture on the server. The room then has no `avatar`.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Cow<'a, str>>,
    /// The page of the site that the room belongs to.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Cow<'a, str>>,
    /// Milliseconds between two messages of a member. 0: no slow mode.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow_ms: u64,
    /// Only the owner and moderators of the room may write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frozen: bool,
    /// Largest number of members, by the room's own limit. 0: the site's limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_members: u64,
    /// Another number after each change of a member's nickname in the room. 0: no member has had one. Clients that show
    /// the room request them by `nicknames`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nicknames: u64,
}

/// The name that a member has chosen for one room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Nickname<'a> {
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    #[serde(borrow)]
    pub nickname: Cow<'a, str>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A user in a room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Member<'a> {
    #[serde(flatten, borrow)]
    pub person: Person<'a>,
    /// The member's role. Absent: the user is not a member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The user may not come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub banned: bool,
    /// A room request is pending: the user was asked to join, and the requester sees no answer yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requested: bool,
    /// The member has received all messages up to this `seq`. Only in `members` of rooms of up to 50, and
    /// absent if the requester may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// The member has read all messages up to this `seq`. Sent under the conditions of `received`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// In the list of muted and banned users: Unix milliseconds at which the sanction expires. Absent: it
    /// does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// In the list of muted and banned users: the reason given to the member.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
}

/// A room of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Listed<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    #[serde(borrow)]
    pub room: Room<'a>,
}

/// An invitation into a room, for users who may take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Link<'a> {
    /// Code of the link, 22 characters of `[A-Za-z0-9_-]`. Everybody who knows the code can join.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// Id of the user who created the invitation.
    #[serde(borrow)]
    pub by: Cow<'a, str>,
    /// Unix milliseconds at which the invitation expires.
    pub until: u64,
    /// Number of users who may join by the invitation. Absent: the limit of the room.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u32>,
    /// Number of users who have joined by the invitation.
    pub used: u32,
}

/// The room of an invitation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Invitation<'a> {
    /// Absent: the user is not a member yet.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    pub kind: RoomKind,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Cow<'a, str>>,
    /// Path of the uploaded picture, as in a room.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Cow<'a, str>>,
    /// Number of members.
    pub members: u64,
    /// The user who created the invitation, without presence.
    #[serde(borrow)]
    pub by: Person<'a>,
    /// Unix milliseconds at which the invitation expires.
    pub until: u64,
}
