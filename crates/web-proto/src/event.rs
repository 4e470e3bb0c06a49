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
/// `re` is the `rid` of the request that an event answers. `position` is opaque: the client keeps the last
/// one that it saw and says it in `hello` or `resume`; everything up to it has been sent to this session.
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
        /// Unix milliseconds at which the server took it.
        time: u64,
        /// It waits for the other one to accept it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        request: bool,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A request failed. The session goes on.
    Error {
        code: Code,
        /// For people who debug; clients show their own text for `code`.
        #[serde(borrow)]
        text: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        /// The `id` of the `send` that failed.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        id: Option<Cow<'a, str>>,
        /// Trying again makes sense after so many milliseconds; absent: trying again is useless.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
    /// Somebody, or this user on another device, has posted.
    Message {
        #[serde(borrow, flatten)]
        message: Message<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A message was edited, deleted, pinned or reacted to: answer to the command, or news.
    Update {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        /// The whole message as it is now. `by` says for whom `mine` is right.
        #[serde(borrow)]
        message: Message<'a>,
        /// The author of the change. If it is oneself, `mine` of the reactions is right; otherwise `mine` is left
        /// out, and one's own reactions are as before.
        #[serde(borrow)]
        by: Cow<'a, str>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// The parts of a message that change beside its text: reactions, votes, pin, preview, and whether its poll is
    /// closed. Answer to the command, or an update. In rooms of more than 50 members others get reactions and votes
    /// once per second, several changes together.
    Counts {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        /// As in a message: ignore counts of a version that is not greater than the one that is known.
        version: u64,
        /// All that the message has now, in the order in which they came first.
        #[serde(borrow)]
        reactions: Vec<ReactionCount<'a>>,
        /// Where the message is a poll.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        poll: Option<PollCounts>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pinned: bool,
        /// The message has a preview of its link; absent: none, or no longer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        preview: bool,
        /// The author of the change; absent: several users, or a voter of an anonymous poll.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        by: Option<Cow<'a, str>>,
        /// The reaction that `by` put on or took off.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        put: Option<PutReaction<'a>>,
        /// The choices that `by` votes for now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chose: Option<Vec<u8>>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A user has another id now: an erased one, or a guest who became a member. It holds for all messages that the client
    /// has: their authors, and who reacted, voted or is quoted in them. Such messages get new versions without other events.
    Renamed {
        #[serde(borrow)]
        renamed: Renamed<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A member's marker moved; `user` may be oneself, on another device.
    Marker {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        user: Cow<'a, str>,
        received: u64,
        read: u64,
        /// One's own unread count, where `user` is oneself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unread: Option<u64>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// Lapses 6 s after the last one with `on`.
    Typing {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        user: Cow<'a, str>,
        on: bool,
    },
    /// Of a call: answer to `call`, or news.
    Call {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        /// Names the call while it lasts.
        #[serde(borrow)]
        call: Cow<'a, str>,
        #[serde(borrow, flatten)]
        news: CallNews<'a>,
        /// For a connection that begins now: what browsers call `iceServers`.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        ice: Vec<IceServer<'a>>,
    },
    /// Of the call of a room: answer to `group_call`, or news.
    GroupCall {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, flatten)]
        news: GroupNews<'a>,
        /// With `joined`: what browsers call `iceServers`.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        ice: Vec<IceServer<'a>>,
    },
    /// Presence of a user that this session watches, or one's own as set on another device.
    Presence {
        #[serde(borrow)]
        user: Cow<'a, str>,
        presence: Presence,
        /// Unix milliseconds of when they were last here, where they are not now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_seen: Option<u64>,
    },
    /// Answer to `watch` with `contacts`: which of them are here now. All others are offline.
    Watching {
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        online: Vec<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        away: Vec<Cow<'a, str>>,
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        busy: Vec<Cow<'a, str>>,
        /// More are here than are named: those who are not may be here or not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        more: bool,
    },
    /// A contact changed: answer to `contact`, or news (a request, an acceptance, another device).
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
    /// A conversation as this user sees it changed (muted, pinned, archived, joined, another role) or is new to it.
    Conversation {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Box<Conversation<'a>>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A room of which one is a member changed. One's own role is not in it; keep what you know of it.
    Room {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        room: Room<'a>,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// A room has another number of members now. Told within a second, in large rooms less often; nothing of it is stored.
    MemberCount {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        members: u64,
        /// New members without a presence: only in rooms of up to 50 members, each at most once in ten minutes.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        joined: Vec<Person<'a>>,
    },
    /// One is no member of a room any more.
    Left {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        re: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        reason: LeftReason,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// Answer to `member`: the user as they are in the room now.
    Member {
        re: u64,
        #[serde(borrow)]
        member: Member<'a>,
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
        /// More messages exist in the asked direction.
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
    /// Answer to `stickers`, in the order in which they came.
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
    /// Answer to `devices` and `sign_out`, the one used last first.
    Devices {
        re: u64,
        #[serde(borrow)]
        devices: Vec<Device<'a>>,
    },
    /// Answer to `export`. A page may be empty with more to come.
    Exported {
        re: u64,
        #[serde(borrow)]
        messages: Vec<Message<'a>>,
        /// Absent on the last page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        next: Option<Cow<'a, str>>,
    },
    /// Answer to `report`: it is kept under this number.
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
    /// For moderators who are here: a report is new, or something was done about it.
    Report {
        #[serde(borrow)]
        report: Box<Report<'a>>,
    },
    /// Answer to `moderate`.
    Moderated {
        re: u64,
        /// As it is now, where it was about one.
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
    /// A moderator has warned one, has muted or banned one, or it is over.
    Notice {
        #[serde(borrow)]
        notice: Notice<'a>,
    },
    /// A message of one's own that stands beside the log: after `send` in the place of `ack`, after `hello` for those that are left, and
    /// when a moderator has refused one. One that is approved comes as `message`, with its id.
    Held {
        #[serde(borrow)]
        held: Held<'a>,
    },
    /// The write access of the site has changed; also in `welcome`.
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
        /// Absent: it would be sent as any other.
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
        /// How many of one's browsers take them.
        devices: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quiet: Option<QuietHours>,
        /// They show what was written.
        bodies: bool,
        /// Settings of the mail digest. Absent: the site has given no address, or this server sends no mail.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        mail: Option<MailDigest<'a>>,
    },
    /// Answer to `resume`: see [`Welcome`] for the same fields.
    Changes {
        re: u64,
        /// The position was not usable: forget what is cached, this is a first page.
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
    /// This session read too slowly and what was queued for it was dropped. Nothing more comes until the
    /// client says `resume` with its last position.
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
    /// Nothing to tell; the stream transports send it so that proxies keep the connection.
    Heartbeat,
    /// The last frame of a session.
    Bye {
        code: Code,
        #[serde(borrow)]
        text: Cow<'a, str>,
        /// Come back after so many milliseconds; absent: do not come back by yourself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
        /// With `banned`: Unix milliseconds of the end, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// With `banned` and `site_closed`: what a moderator or the owner says about it, if anything.
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
    /// Secret that a POST and the next poll carry in `Authorization: Kith <key>`; absent on WebSocket.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Cow<'a, str>>,
    /// Oneself.
    #[serde(borrow)]
    pub me: Person<'a>,
    /// One's own presence as chosen.
    pub presence: crate::SetPresence,
    /// A guest gets a token to come back as the same guest.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub guest_token: Option<Cow<'a, str>>,
    /// All members see each other (mode *open*), or only contacts do.
    pub open: bool,
    /// One's own on the site; absent: member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SiteRole>,
    /// The users whose calls ring here; absent: contacts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<crate::CallsFrom>,
    /// The write access of the site; absent: everybody may write, and there is no raid.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub site: Option<SiteState<'a>>,
    pub limits: Limits,
    /// Server time, Unix milliseconds.
    pub time: u64,
    /// Unix milliseconds until which the session may last without a newer token.
    pub expires: u64,
    /// `position` of `hello` was usable and what follows is the difference since then. Otherwise it is a
    /// first page (newest activity first), and the client forgets what it has cached.
    pub resumed: bool,
    #[serde(borrow)]
    pub conversations: Vec<Conversation<'a>>,
    /// On resume: messages missed, ascending by `seq` inside each conversation.
    #[serde(borrow, default)]
    pub messages: Vec<Message<'a>>,
    /// On resume: older messages that have changed meanwhile, as they are now.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub updates: Vec<Message<'a>>,
    /// On resume: conversations of which more was missed than is sent here.
    #[serde(borrow, default)]
    pub gaps: Vec<Gap<'a>>,
    /// On resume: rooms of which one is no member any more.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Left<'a>>,
    /// On resume: threads of rooms with a gap, as they are now.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadCount<'a>>,
    /// On resume: users who have another id since a moment ago; see the event.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Renamed<'a>>,
    /// Contacts: those that changed (resumed) or a first page. `contacts_next` as `next` in `contacts`.
    #[serde(borrow, default)]
    pub contacts: Vec<Contact<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub contacts_next: Option<Cow<'a, str>>,
    /// On a first page: there are more conversations (`conversations` with this as `after`).
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversations_next: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub position: Cow<'a, str>,
}

/// Where what was missed is mailed to, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MailDigest<'a> {
    #[serde(borrow)]
    pub address: Cow<'a, str>,
    /// After so many minutes of unread messages, and at most once a day; 0: never.
    pub after: u32,
}

/// A hole in what a client has: it must ask `history` with `before: first` if it wants what lies before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Gap<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// The oldest `seq` that is sent; between the client's newest and this one something is missing.
    pub first: u64,
    /// More older messages have changed than are sent: the client drops all that it has before `first`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forget: bool,
}

/// A user who has another id now, and what others see of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Renamed<'a> {
    /// The former id.
    #[serde(borrow)]
    pub was: Cow<'a, str>,
    #[serde(flatten, borrow)]
    pub person: Person<'a>,
    /// All their messages are deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// The thread below the message `seq`, some replies of which a client has not seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ThreadCount<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    pub seq: u64,
    pub replies: Replies,
}

/// A room of which one was a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Left<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    pub reason: LeftReason,
}

/// Why one is no member of a room any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LeftReason {
    /// One has left.
    Left,
    /// Somebody has removed one; one may come back.
    Removed,
    /// Somebody has banned one.
    Banned,
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
    /// Most `users` in `watch`.
    pub watch: u32,
    /// Milliseconds of silence after which the server drops the session; ping before that.
    pub idle_ms: u32,
    /// Milliseconds between heartbeats on the stream transports.
    pub heartbeat_ms: u32,
    /// Longest file, in bytes; absent: no files can be sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub file_bytes: u64,
}

/// A message as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Message<'a> {
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// Gap-free number in the conversation, from 1.
    pub seq: u64,
    /// Id of the user who posted it.
    #[serde(borrow)]
    pub from: Cow<'a, str>,
    /// The client's `id`: on one's own other devices, and to recognise one's own after a retry.
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub body: Cow<'a, str>,
    /// Unix milliseconds.
    pub time: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    /// Grows with each change; absent: it is as it was posted. Of two pictures of a message the greater is newer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Unix milliseconds of the last edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<u64>,
    /// It was taken back; `body` is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// It is what has stayed of a call; `body` says the same in English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallEntry>,
    /// It is kept at hand above the conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// In the order in which they came first.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub reactions: Vec<Reaction<'a>>,
    /// In the order in which the sender put them.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<File<'a>>,
    /// `body` is its question.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Poll<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub forwarded: Option<Forwarded<'a>>,
    /// It is a reply in the thread below this `seq`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<u64>,
    /// With `thread`: its number among the replies, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// A thread hangs below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies: Option<Replies>,
    /// Preview of the first link.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview<'a>>,
    /// It is this sticker; the body is its words.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub sticker: Option<Sticker<'a>>,
}

/// A small picture of the site's owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sticker<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// Those of one name are shown together.
    #[serde(borrow)]
    pub set: Cow<'a, str>,
    /// The words of the sticker; also the body of a message that is this sticker.
    #[serde(borrow)]
    pub words: Cow<'a, str>,
    /// Path of the picture. It holds for as long as the site has the sticker.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    pub width: u32,
    pub height: u32,
}

/// Metadata of a page, as plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Preview<'a> {
    /// As it stands in the message.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    #[serde(borrow)]
    pub title: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub description: Cow<'a, str>,
    /// The name of the whole website of the page.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub site: Cow<'a, str>,
    /// Small, and made anew by the server.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<File<'a>>,
}

/// A poll of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Poll<'a> {
    #[serde(borrow)]
    pub choices: Vec<Choice<'a>>,
    /// One may vote for several.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub multiple: bool,
    /// Nobody learns who has voted for what.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anonymous: bool,
    /// Unix milliseconds; from then on nobody votes any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<u64>,
    /// Its author or a moderator has ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// How many users have voted.
    pub voters: u64,
}

/// One choice of a poll.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Choice<'a> {
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub votes: u64,
    /// Ids of the first who voted for it, at most 20, oldest first; nobody where the poll is anonymous.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<Cow<'a, str>>,
    /// Oneself has; only in what is made for one user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mine: bool,
}

/// Where a forwarded message comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Forwarded<'a> {
    /// Id of the user who has said it first; absent where those who read it here may not know them.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Cow<'a, str>>,
}

/// The thread below a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Replies {
    pub count: u64,
    /// Unix milliseconds of the newest.
    pub last: u64,
}

/// A thread of a room as this user sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Thread<'a> {
    #[serde(borrow)]
    pub root: Message<'a>,
    /// One has written in it, or below one's own message, or was named there, or wants to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub follows: bool,
    /// Replies that one has not read; 0 where one does not follow it.
    pub unread: u64,
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "SentFile"))]
pub struct File<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    /// For people; never a path.
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    /// Media type, as the server has found it. `image/…` is a picture that was made anew, `audio/…` and `video/…` can be played, all
    /// else is for download.
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    /// Bytes.
    pub size: u64,
    /// Where it is, from the server's root or absolute. It opens for some hours; `history` has newer ones.
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// Of a picture that is larger than its thumbnail: where that is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub thumb: Option<Cow<'a, str>>,
    /// Of a picture, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Of a picture: what to show until it is there (<https://blurha.sh>).
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub blurhash: Option<Cow<'a, str>>,
    /// Of a sound or video, in milliseconds, as its sender says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<u32>,
    /// Said into a microphone for this message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub voice: bool,
    /// How loud a voice message is over its time, as its sender says: 1 to 64 digits, from `0` for silence to `z` for the loudest,
    /// one for each of that many equal parts.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Cow<'a, str>>,
}

/// One emoji or `:name:` on a message, and who put it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Reaction<'a> {
    #[serde(borrow)]
    pub reaction: Cow<'a, str>,
    pub count: u64,
    /// Ids of the first who put it there and left it, at most 20, oldest first.
    #[serde(borrow)]
    pub users: Vec<Cow<'a, str>>,
    /// Oneself is among them; only in what is made for one user.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub mine: bool,
}

/// How many users have put a reaction on a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ReactionCount<'a> {
    #[serde(borrow)]
    pub reaction: Cow<'a, str>,
    pub count: u64,
}

/// A reaction that a user has put on a message, or taken off.
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
    /// Of each choice, in the order of the choices.
    pub votes: Vec<u64>,
    /// How many users have voted.
    pub voters: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

/// A user as others see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Person<'a> {
    /// The site's id of the user (`sub` of the token).
    #[serde(borrow)]
    pub user: Cow<'a, str>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Cow<'a, str>>,
    /// No account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guest: bool,
    /// As of now; absent where it may not be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presence: Option<Presence>,
}

/// Presence as others see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// Here.
    Online,
    /// Here, not at the keyboard.
    Away,
    /// Here, not to be disturbed.
    Busy,
    /// Not here, or invisible.
    Offline,
    /// The server itself cannot tell now.
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
    /// Unix milliseconds of its end, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_until: Option<u64>,
    /// Unix milliseconds; absent while they are here, and where one may not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<u64>,
    /// On the whole site; absent: member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SiteRole>,
    /// How one stands to them.
    pub state: ContactState,
    /// Of oneself.
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
}

/// A browser or app of one's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Device<'a> {
    #[serde(borrow)]
    pub device: Cow<'a, str>,
    /// As people call it; absent where it has not said so.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub system: Option<Cow<'a, str>>,
    /// Unix milliseconds: when it has signed in first, and last.
    pub created: u64,
    pub used: u64,
    /// It is connected now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub here: bool,
    /// It is the one that asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub this: bool,
}

/// An entry of one's contact list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Contact<'a> {
    #[serde(flatten, borrow)]
    pub person: Person<'a>,
    pub state: ContactState,
}

/// How one stands to a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ContactState {
    /// Nothing between the two: what `remove`, `decline` and `unblock` lead to.
    None,
    /// One has asked.
    RequestSent,
    /// They have asked.
    RequestReceived,
    /// Both have agreed.
    Contact,
    /// Blocked by oneself.
    Blocked,
}

/// A conversation as this user sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Conversation<'a> {
    /// Opaque id.
    #[serde(borrow)]
    pub conversation: Cow<'a, str>,
    /// The other one of a direct conversation; absent in a room.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub with: Option<Person<'a>>,
    /// The room, if the conversation is one.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub room: Option<Room<'a>>,
    /// The newest message.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Message<'a>>,
    /// One's own markers.
    pub received: u64,
    pub read: u64,
    /// The other's markers; 0 in a room.
    pub their_received: u64,
    pub their_read: u64,
    pub unread: u64,
    /// Unread messages that name this user as `@id`, or all as `@room`.
    pub mentions: u64,
    /// Unix milliseconds; 0: not muted.
    pub muted_until: u64,
    pub pinned: bool,
    pub archived: bool,
    /// It waits for an answer; absent: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestState>,
    /// The member who asks this user into the room; the user is no member of it yet. `request` is `received` then.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub requested_by: Option<Person<'a>>,
    /// Shown as unread, although all of it was read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub marked_unread: bool,
    /// The unfinished text of the user, from any device.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Cow<'a, str>>,
    /// Unix milliseconds of the last activity; the list is sorted by it.
    pub active: u64,
}

/// The side whose answer a message request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RequestState {
    /// One has asked, and waits.
    Sent,
    /// One was asked.
    Received,
}

/// A report, as moderators see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Report<'a> {
    pub report: u64,
    pub state: ReportState,
    /// Where the message is, or the room that is reported.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// Of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The author of the message, or the reported user.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    /// The reporter; absent: a filter.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'a, str>>,
    /// A message that nobody else sees: `approve` sends it, `refuse` does not. It is the last of `lines`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    pub reason: ReportReason,
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub text: Cow<'a, str>,
    /// The message and those around it, as they were when it was reported.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<ReportLine<'a>>,
    /// Former texts of the message, oldest first: those replaced or deleted in the week before the report.
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

/// A message as it was when it, or one near it, was reported.
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
    /// When another one took its place. Unix milliseconds.
    pub until: u64,
}

/// An act of a moderator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AuditEntry<'a> {
    pub number: u64,
    /// Unix milliseconds.
    pub time: u64,
    /// Absent: the site's own server, the operator, or an end that came by itself.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Cow<'a, str>>,
    /// A word; there may be new ones.
    #[serde(borrow)]
    pub act: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// For people: a reason, an end, a seq.
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
    /// The other one, in a direct conversation.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    pub state: HeldState,
    #[serde(borrow)]
    pub body: Cow<'a, str>,
    /// Unix milliseconds.
    pub time: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    /// With `refused`: what a moderator says about it.
    #[serde(borrow, default, skip_serializing_if = "str_is_empty")]
    pub reason: Cow<'a, str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum HeldState {
    /// For a moderator.
    Waiting,
    Refused,
    /// Shown as sent.
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
    /// For moderators: until when new members cannot write first or in rooms. Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raid_until: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SiteAccess {
    Open,
    /// Only moderators write.
    ReadOnly,
    /// Only moderators are let in.
    Closed,
}

/// The action of a filter on a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum FilterAct {
    /// Delivered, and put into the moderators' queue.
    Flag,
    /// Kept until a moderator has approved it.
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
    /// The room in which it holds; absent: on the whole site.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// Unix milliseconds; absent: there is no end.
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
    /// A mute is over.
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
    /// One's own; absent where one is no member, and in the event `room`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// How many members it has.
    pub members: u64,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Cow<'a, str>>,
    /// The address of its picture, which an admin of the site has set.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Cow<'a, str>>,
    /// The path of its uploaded picture on the server. A room has no `avatar` then.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Cow<'a, str>>,
    /// The page whose room it is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Cow<'a, str>>,
    /// Milliseconds between two messages of a member; 0: no slow mode.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slow_ms: u64,
    /// Nobody but its owner and moderators may write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub frozen: bool,
    /// Members that it takes at most, by its own limit; 0: as many as the site lets it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub max_members: u64,
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
    /// Absent: no member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// May not come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub banned: bool,
    /// A pending room request: the user was asked to join, and the asker knows of no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub requested: bool,
    /// How far the member has received; in `members` of rooms of up to 50 only, and absent where the asker may not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<u64>,
    /// How far the member has read; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
    /// Unix milliseconds of the end of the mute or the ban, in the list of those; absent: it has no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// The reason that the member was given; likewise.
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

/// An invitation into a room, as those see it who may take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Link<'a> {
    /// Code of the link, 22 characters of `[A-Za-z0-9_-]`. Everybody who knows it can join.
    #[serde(borrow)]
    pub code: Cow<'a, str>,
    /// Id of the user who has made it.
    #[serde(borrow)]
    pub by: Cow<'a, str>,
    /// Unix milliseconds of its end.
    pub until: u64,
    /// So many may come by it; absent: as many as the room takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses: Option<u32>,
    /// So many have come.
    pub used: u32,
}

/// The room of an invitation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Invitation<'a> {
    /// Absent: one is no member yet.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    pub kind: RoomKind,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub avatar: Option<Cow<'a, str>>,
    /// As of a room.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub picture: Option<Cow<'a, str>>,
    /// How many members the room has.
    pub members: u64,
    /// The inviting user, without a presence.
    #[serde(borrow)]
    pub by: Person<'a>,
    /// Unix milliseconds of its end.
    pub until: u64,
}
