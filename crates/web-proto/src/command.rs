//! Commands from the client to the server.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallAction, GroupAction};

/// A frame from the client.
///
/// `rid` (request id) is the client's number for this request. The answer or the error carries it back as
/// `re`. Leave `rid` out if no reply is wanted (`marker`, `typing`, `watch`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Command<'a> {
    /// First frame of a session. No other command may be first.
    #[serde(borrow)]
    Hello(Box<Hello<'a>>),
    /// Post a message. Answered by `ack` after the message is on disk, or by `error` with `id`. Sending the
    /// same `id` again, from any device of the user, returns the `seq` of the first time.
    Send {
        /// Client-made idempotency key, 1 to 64 bytes of `[A-Za-z0-9_-]`; a UUIDv7 is the best choice.
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        #[serde(borrow)]
        body: Cow<'a, str>,
        /// The `seq` of the message in the same conversation that this one answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<u64>,
        /// Ids of own files, uploaded completely for this conversation, at most 10. With files, `body` may be
        /// `""`.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<Cow<'a, str>>,
        /// In a room: the `seq` of a thread's root. The message becomes a reply in this thread.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u64>,
    },
    /// Post a poll: a message with the question as its `body`. Answered like `send`, with which it shares the
    /// idempotency keys (`id`).
    Poll {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        #[serde(borrow)]
        body: Cow<'a, str>,
        /// 2 to 10 different choices of 1 to 200 bytes each, without control characters.
        #[serde(borrow)]
        choices: Vec<Cow<'a, str>>,
        /// A user may vote for several choices.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        multiple: bool,
        /// Nobody can see the votes of a user.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anonymous: bool,
        /// Unix milliseconds at which voting ends, at most a year ahead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<u64>,
    },
    /// Vote in a poll. The vote replaces the user's earlier vote. Answered by `counts`.
    Vote {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        /// Numbers of choices, from 0. Empty: withdraw the vote.
        choices: Vec<u8>,
    },
    /// End the user's own poll. A moderator may end any poll. Answered by `counts`.
    ClosePoll {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Remove the preview of a link from the user's own message. A moderator may remove any preview. Answered
    /// by `counts`.
    DropPreview {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Send one of the site's stickers as a message. Answered like `send`.
    Sticker {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        /// Id of the sticker.
        #[serde(borrow)]
        sticker: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<u64>,
        /// The `seq` of a thread's root, as in `send`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u64>,
    },
    /// All stickers of the site. Answered by `stickers`.
    Stickers { rid: u64 },
    /// Forward a message that the user can read, with its files, into another conversation. The user is its
    /// sender there. Answered like `send`.
    Forward {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Set how far this user has received or read a conversation. Markers only move forward.
    Marker {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(flatten)]
        set: MarkerSet,
    },
    /// This user is typing. Not stored. Repeat it at least every 5 s; it expires after 6 s.
    Typing {
        #[serde(borrow)]
        to: SendTo<'a>,
        on: bool,
    },
    /// An action in a call. Answered by `call`. Without `rid`, `done` is not sent.
    Call {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rid: Option<u64>,
        #[serde(borrow, flatten)]
        action: CallAction<'a>,
    },
    /// An action in the call of a room. Answered by `group_call`. Without `rid`, `done` is not sent.
    GroupCall {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rid: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, flatten)]
        action: GroupAction<'a>,
    },
    /// Set the user's own presence, for all their devices.
    Presence { set: SetPresence },
    /// Replace this session's presence subscriptions: all contacts, and the users now on the screen.
    Watch {
        /// Subscribe to all users in state `contact`, also after changes of the contact list. Answered by
        /// `watching`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        contacts: bool,
        /// Ids of users. Each one is answered by `presence`.
        #[serde(borrow, default)]
        users: Vec<Cow<'a, str>>,
    },
    /// Change a contact. Answered by a `contact` event with `re`.
    Contact {
        rid: u64,
        action: ContactAction,
        #[serde(borrow)]
        user: Cow<'a, str>,
    },
    /// Set the user's own name of a contact, which nobody else sees. Answered by a `contact` event with `re`, which all
    /// devices of the user get. `not_allowed`: the other user is not on the contact list.
    ContactName {
        rid: u64,
        #[serde(borrow)]
        user: Cow<'a, str>,
        /// At most 64 characters. Without it, or if nothing visible is left of it, the own name ends.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
    },
    /// A page of the user's contacts, requests and blocked users, sorted by name.
    Contacts {
        rid: u64,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// A page of the site's directory. Sites of mode *contacts* refuse it unless `query` is a complete user
    /// id.
    People {
        rid: u64,
        /// Case-insensitive start of a word of the name.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        query: Option<Cow<'a, str>>,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Names and avatars of some users, by id.
    Profiles {
        rid: u64,
        #[serde(borrow)]
        users: Vec<Cow<'a, str>>,
    },
    /// The profile of a member. Without `user`: the own profile. Answered by `profile`.
    Profile {
        rid: u64,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        user: Option<Cow<'a, str>>,
    },
    /// Change the own profile. Fields left out stay unchanged. Answered by `profile`.
    #[serde(borrow)]
    ChangeProfile(Box<ChangeProfile<'a>>),
    /// A page of the conversation list, newest activity first.
    Conversations {
        rid: u64,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// True: only archived conversations. Otherwise: only conversations that are not archived.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        archived: bool,
        /// Filter for the conversations that are not archived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Only>,
    },
    /// Change the user's settings of a conversation. Fields left out stay unchanged. Answered by a
    /// `conversation` event with `re`.
    Conversation {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// Unix milliseconds until which the conversation is muted. 0 unmutes; 253402300799999 mutes
        /// permanently.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        muted_until: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
        /// Shown as unread, until the user next reads the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        marked_unread: Option<bool>,
        /// Draft text, at most `limits.body_bytes`. Empty: remove the draft.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        draft: Option<Cow<'a, str>>,
    },
    /// A page of a conversation's messages, ascending by `seq`. Without `before` and `after`: the newest page.
    History {
        rid: u64,
        #[serde(borrow)]
        to: SendTo<'a>,
        /// Only messages with a smaller `seq`. The page has the nearest ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// Only messages with a larger `seq`. The page has the nearest ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// The page begins with the first message at or after this time, in Unix milliseconds. Not together
        /// with `before`, `after` and `thread`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<u64>,
        /// Only the replies in the thread below this `seq` of a room.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Get or change the user's state in the thread below a message of a room. Answered by `thread`.
    Thread {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        follow: Option<bool>,
        /// Number of the last reply that the user has read. It never decreases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read: Option<u64>,
    },
    /// The threads of a room that the user follows. Answered by `threads`.
    Threads {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
    },
    /// Replace the body of an own message. Answered by `update`.
    Edit {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        #[serde(borrow)]
        body: Cow<'a, str>,
    },
    /// Delete an own message, for everybody. Answered by `update`.
    Delete {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Add a reaction to a message, or remove an own reaction. Answered by `counts`.
    React {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        /// One emoji, or `:name:`.
        #[serde(borrow)]
        reaction: Cow<'a, str>,
        on: bool,
    },
    /// Pin a message above its conversation, or unpin it. Answered by `update` after pinning, by `counts`
    /// after unpinning.
    Pin {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        on: bool,
    },
    /// The pinned messages of a conversation. Answered by `pins`.
    Pins {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
    },
    /// Create a room. The user becomes its owner. Answered by `conversation`.
    CreateRoom {
        rid: u64,
        /// 1 to 200 bytes, no control characters.
        #[serde(borrow)]
        name: Cow<'a, str>,
        kind: RoomKind,
        /// At most 1,000 bytes.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        topic: Option<Cow<'a, str>>,
    },
    /// Change a room. Fields left out stay unchanged. Answered by `conversation`; all other members get
    /// `room`.
    ChangeRoom {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        /// Empty: remove the topic.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        topic: Option<Cow<'a, str>>,
        /// Address of a picture, as in a token. Only an admin of the site may set an address. Empty: remove
        /// the room's picture, uploaded or not.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        avatar: Option<Cow<'a, str>>,
        /// Id of a complete file, a picture, that the user has uploaded for this room. Not together with
        /// `avatar`.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        picture: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<RoomKind>,
        /// Milliseconds between two messages of a member, at most a day. 0 ends slow mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slow_ms: Option<u64>,
        /// Only the owner and moderators of the room may write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frozen: Option<bool>,
        /// Largest number of members, up to the site's limit. 0: the site's limit. A lower limit removes no
        /// members.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_members: Option<u64>,
    },
    /// Become a member of a public room. Answered by `conversation`, even if the user is a member already.
    Join {
        rid: u64,
        #[serde(borrow)]
        to: SendTo<'a>,
    },
    /// Leave a room. Answered by `left`.
    Leave {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
    },
    /// Close an own room for good: all members leave it, and nobody can find, enter or read it. Answered by `left`.
    CloseRoom {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// For the record, and for members who are in the room with an XMPP app: at most 1,000 bytes.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    /// Invite, remove, ban or unban a user of a room, or set the user's role. Answered by `member`.
    Member {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        user: Cow<'a, str>,
        action: MemberAction,
        /// With `set_role`: the new role.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<Role>,
        /// With `ban`, or with `set_role` and the role `muted`: Unix milliseconds at which the sanction
        /// expires. Left out: it does not expire.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// With `ban`, or with `set_role` and the role `muted`: the reason, at most 1,000 bytes. The reason
        /// is recorded, and shown to this user if they are a member.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    /// Set the own nickname in a room, which all its members see in place of the display name. Answered by `nicknames`.
    /// `user_exists`: another member has this nickname, or this display name and no nickname.
    Nickname {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// One line of at most 100 bytes. Absent or empty: the display name again.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        nickname: Option<Cow<'a, str>>,
    },
    /// The nicknames of some users in a room that has any.
    Nicknames {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// At most 100.
        #[serde(borrow)]
        users: Vec<Cow<'a, str>>,
    },
    /// A page of a room's members: owners, moderators, members, muted members, each group sorted by name.
    Members {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// Case-insensitive start of a word of the name.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        query: Option<Cow<'a, str>>,
        /// True: muted members and banned users instead, without `query`. Only for users who may moderate the
        /// room.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sanctioned: bool,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Create an invitation into a room. Everybody with its code may join. Answered by `link`.
    MakeLink {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// Hours until the invitation expires, 1 to 8,760. Left out: a week.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hours: Option<u32>,
        /// Number of users who may join by the invitation, 1 to 10,000. Left out: the limit of the room.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uses: Option<u32>,
    },
    /// The valid invitations into a room. Users who may moderate the room get all of them, other members
    /// their own. Answered by `links`.
    Links {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
    },
    /// End an invitation. Answered by `links`, even if the invitation has ended already.
    TakeBackLink {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// `code` from the list of `links`.
        #[serde(borrow)]
        code: Cow<'a, str>,
    },
    /// Show the room and the author of an invitation link. Answered by `invitation`.
    OpenLink {
        rid: u64,
        #[serde(borrow)]
        code: Cow<'a, str>,
    },
    /// Become a member by an invitation. Answered by `conversation`, even if the user is a member already:
    /// then no use is counted.
    JoinLink {
        rid: u64,
        #[serde(borrow)]
        code: Cow<'a, str>,
    },
    /// A page of the directory: the site's public and announcement rooms, sorted by name.
    Rooms {
        rid: u64,
        /// Case-insensitive start of the name.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        query: Option<Cow<'a, str>>,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Find messages of the user's conversations that have all these words, newest first. Answered by
    /// `found`.
    Search {
        rid: u64,
        /// Words. The last one may be the start of a word.
        #[serde(borrow)]
        query: Cow<'a, str>,
        /// Only messages of this conversation.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        conversation: Option<Cow<'a, str>>,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Answer a message request. Answered by `conversation`. The sender of the request gets an event for
    /// `accept` only.
    Request {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        answer: RequestAnswer,
    },
    /// Report a message, a user or a room to the site's moderators. Set exactly one of: `seq` (with
    /// `conversation`), `user`, and `conversation` of a room alone. Answered by `reported`.
    Report {
        rid: u64,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        conversation: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        user: Option<Cow<'a, str>>,
        reason: ReportReason,
        /// At most 1,000 bytes.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        text: Option<Cow<'a, str>>,
    },
    /// For moderators: a page of the reports, newest first.
    Reports {
        rid: u64,
        /// Only reports in this state. Left out: all reports.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<ReportState>,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// For moderators: act on a user, a message, a report or the site. Answered by `moderated`.
    #[serde(borrow)]
    Moderate(Box<Moderate<'a>>),
    /// For moderators: a page of the audit log, newest first.
    Audit {
        rid: u64,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// The user's own sanctions and warnings. Answered by `notices`.
    Notices {
        rid: u64,
        /// The user has read the warnings. The server removes them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        seen: bool,
    },
    /// For admins: all settings of the site. Answered by `settings`.
    Settings { rid: u64 },
    /// For admins: change settings by a merge patch (RFC 7396). Answered by `settings`, or by an error with
    /// an explanation in `text`.
    Configure {
        rid: u64,
        #[cfg_attr(test, ts(type = "object"))]
        patch: Box<Value>,
    },
    /// For moderators: test the site's filters on this text. Answered by `filter_tested`.
    TestFilter {
        rid: u64,
        #[serde(borrow)]
        body: Cow<'a, str>,
    },
    /// Read and change the user's notifications for the time of absence. Fields left out stay unchanged.
    /// Answered by `notifications`.
    Notifications {
        rid: u64,
        /// Subscribe this browser to notifications.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        subscribe: Option<PushSubscription<'a>>,
        /// Unsubscribe the browser with this endpoint.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        unsubscribe: Option<Cow<'a, str>>,
        /// Quiet hours. Equal minutes: no quiet hours.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quiet: Option<QuietHours>,
        /// Whether notifications show the text of messages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bodies: Option<bool>,
        /// Minutes after which missed messages are mailed, at most a week. 0: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mail: Option<u32>,
    },
    /// The user's signed-in browsers and apps, if the site keeps them. Answered by `devices`.
    Devices { rid: u64 },
    /// Sign a device of the user out: its session ends with `signed_out`. Answered by `devices`.
    SignOut {
        rid: u64,
        /// `device` from the list of `devices`.
        #[serde(borrow)]
        device: Cow<'a, str>,
    },
    /// The user's app passwords, for apps that sign in without a token. Answered by `app_passwords`.
    AppPasswords { rid: u64 },
    /// Make an app password. Answered by `app_password`, the only event that contains it.
    CreateAppPassword {
        rid: u64,
        /// 1 to 64 bytes.
        #[serde(borrow)]
        name: Cow<'a, str>,
    },
    /// Revoke an app password: its sessions end with `signed_out`. Answered by `app_passwords`.
    RevokeAppPassword {
        rid: u64,
        /// `number` from the list of `app_passwords`.
        number: u32,
    },
    /// A page of the user's messages, for a file: complete direct conversations, and own messages in rooms.
    Export {
        rid: u64,
        /// The `next` of the previous page.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Remove the own account permanently, if the site permits it. The session ends with `removed`.
    RemoveAccount {
        rid: u64,
        /// Also delete the user's messages. Left out: the messages stay, without their author.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        messages: bool,
    },
    /// Request all changes since a position, after `behind`. Answered by `changes`.
    Resume {
        rid: u64,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// Send a new token of the same user before the old one expires. Answered by `token_ok`.
    Token {
        rid: u64,
        #[serde(borrow)]
        token: Cow<'a, str>,
    },
    /// Answered by `pong`.
    Ping {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rid: Option<u64>,
    },
    /// The client ends the session on purpose. Presence ends without the grace time.
    Bye,
}

impl<'a> Command<'a> {
    /// The address of the answer or the error: `rid` of the request, or `id` of the message. The client has
    /// chosen both.
    pub fn answer_address(&self) -> (Option<u64>, Option<&Cow<'a, str>>) {
        macro_rules! address {
            ($($numbered:ident)+) => {
                match self {
                    Command::Send { id, .. }
                    | Command::Poll { id, .. }
                    | Command::Sticker { id, .. }
                    | Command::Forward { id, .. } => (None, Some(id)),
                    $(Command::$numbered { rid, .. })|+ => (Some(*rid), None),
                    Command::ChangeProfile(change) => (Some(change.rid), None),
                    Command::Moderate(moderate) => (Some(moderate.rid), None),
                    Command::Call { rid, .. } | Command::GroupCall { rid, .. } | Command::Ping { rid } => (*rid, None),
                    Command::Hello(_)
                    | Command::Marker { .. }
                    | Command::Typing { .. }
                    | Command::Presence { .. }
                    | Command::Watch { .. }
                    | Command::Bye => (None, None),
                }
            };
        }
        address! {
            Vote ClosePoll DropPreview Stickers Contact ContactName Contacts People Profiles Profile Conversations Conversation
            History Thread Threads Edit Delete React Pin Pins CreateRoom ChangeRoom Join Leave CloseRoom Member
            Members Nickname Nicknames MakeLink Links TakeBackLink OpenLink JoinLink Rooms Search Request Report Reports Audit Notices Settings
            Configure TestFilter Notifications Devices SignOut AppPasswords CreateAppPassword RevokeAppPassword Export
            RemoveAccount Resume Token
        }
    }

    /// The kinds (`t`) of the events that answer this command if it is not refused. An answer has the `rid`
    /// as `re`, or the `id`. Answers to `hello` and `watch` have neither. Empty: no event answers it.
    pub fn answered_by(&self) -> &'static [&'static str] {
        match self {
            Command::Hello(_) => &["welcome"],
            Command::Send { .. }
            | Command::Poll { .. }
            | Command::Sticker { .. }
            | Command::Forward { .. } => &["ack", "held"],
            Command::Vote { .. }
            | Command::ClosePoll { .. }
            | Command::DropPreview { .. }
            | Command::React { .. } => &["counts"],
            Command::Pin { .. } => &["update", "counts"],
            Command::Edit { .. } | Command::Delete { .. } => &["update"],
            Command::Stickers { .. } => &["stickers"],
            Command::Call { .. } => &["call"],
            Command::GroupCall { .. } => &["group_call"],
            Command::Watch { .. } => &["watching", "presence"],
            Command::Contact { .. } | Command::ContactName { .. } => &["contact"],
            Command::Contacts { .. } => &["contacts"],
            Command::People { .. } => &["people"],
            Command::Profiles { .. } => &["profiles"],
            Command::Profile { .. } | Command::ChangeProfile(_) => &["profile"],
            Command::Conversations { .. } => &["conversations"],
            Command::Conversation { .. }
            | Command::CreateRoom { .. }
            | Command::ChangeRoom { .. }
            | Command::Join { .. }
            | Command::JoinLink { .. }
            | Command::Request { .. } => &["conversation"],
            Command::History { .. } => &["history"],
            Command::Thread { .. } => &["thread"],
            Command::Threads { .. } => &["threads"],
            Command::Pins { .. } => &["pins"],
            Command::Leave { .. } | Command::CloseRoom { .. } => &["left"],
            Command::Member { .. } => &["member"],
            Command::Nickname { .. } | Command::Nicknames { .. } => &["nicknames"],
            Command::Members { .. } => &["members"],
            Command::MakeLink { .. } => &["link"],
            Command::Links { .. } | Command::TakeBackLink { .. } => &["links"],
            Command::OpenLink { .. } => &["invitation"],
            Command::Rooms { .. } => &["rooms"],
            Command::Search { .. } => &["found"],
            Command::Report { .. } => &["reported"],
            Command::Reports { .. } => &["reports"],
            Command::Moderate(_) => &["moderated"],
            Command::Audit { .. } => &["audit"],
            Command::Notices { .. } => &["notices"],
            Command::Settings { .. } | Command::Configure { .. } => &["settings"],
            Command::TestFilter { .. } => &["filter_tested"],
            Command::Notifications { .. } => &["notifications"],
            Command::Devices { .. } | Command::SignOut { .. } => &["devices"],
            Command::AppPasswords { .. } | Command::RevokeAppPassword { .. } => &["app_passwords"],
            Command::CreateAppPassword { .. } => &["app_password"],
            Command::Export { .. } => &["exported"],
            Command::Resume { .. } => &["changes"],
            Command::Token { .. } => &["token_ok"],
            Command::Ping { .. } => &["pong"],
            // The session ends with `bye`.
            Command::RemoveAccount { .. }
            | Command::Bye
            | Command::Marker { .. }
            | Command::Typing { .. }
            | Command::Presence { .. } => &[],
        }
    }
}

/// The first frame of a session.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hello<'a> {
    /// Protocol version, 1.
    pub v: u8,
    /// Key of the site.
    #[serde(borrow)]
    pub site: Cow<'a, str>,
    /// JWT signed by the site. Left out: enter as a guest, if the site allows guests.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Cow<'a, str>>,
    /// Id of this browser or app, created once by the client: 1 to 64 bytes of `[A-Za-z0-9_-]`.
    #[serde(borrow)]
    pub device: Cow<'a, str>,
    /// The last `position` that the client received. Left out: request a first page.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Cow<'a, str>>,
    /// Software and version, for the operator's metrics: at most 64 bytes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Cow<'a, str>>,
}

impl std::fmt::Debug for Hello<'_> {
    /// Omits the token, because frames may be logged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hello")
            .field("v", &self.v)
            .field("site", &self.site)
            .field("device", &self.device)
            .field("position", &self.position)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// The recipient of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SendTo<'a> {
    /// The direct conversation with this user. It need not exist yet.
    #[serde(borrow)]
    User(Cow<'a, str>),
    /// A conversation, by id.
    #[serde(borrow)]
    Conversation(Cow<'a, str>),
    /// The room of a page of the site, 1 to 200 bytes. It need not exist yet: a message or `join` creates it.
    #[serde(borrow)]
    Page(Cow<'a, str>),
}

/// Changes of the own profile and its privacy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangeProfile<'a> {
    pub rid: u64,
    /// At most 140 characters. Empty: remove the status.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Cow<'a, str>>,
    /// With `status`: Unix milliseconds at which the status expires. Left out: it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_until: Option<u64>,
    /// At most 200 characters, if the site permits own names. Empty: the site's name, from the next `hello`
    /// on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
    /// Users who may start a conversation with this user. Existing conversations continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_write: Option<Audience>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see_presence: Option<Audience>,
    /// Users who may see the last-seen time. Users without access to the presence never see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see_last_seen: Option<Audience>,
}

/// The users that a member permits something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    Everybody,
    Contacts,
    Nobody,
}

/// Filter of the conversation list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Only {
    /// Conversations with unread messages, or marked as unread.
    Unread,
    /// Conversations with an unread mention.
    Mentions,
}

/// Kind of a room. It decides who may find the room and write in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RoomKind {
    /// Listed in the directory; everybody may read and join.
    Public,
    /// By invitation only.
    Private,
    /// Like public, but only the owner and moderators may write.
    Announcement,
}

/// Role of a member in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Has all permissions.
    Owner,
    /// Moderates the room: mutes, removes, bans, freezes.
    Moderator,
    /// May read and write.
    Member,
    /// May only read.
    Muted,
}

/// An action on a user in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MemberAction {
    /// Make the user a member.
    Invite,
    /// Remove the member, who may come back.
    Remove,
    /// Remove the user, who may not come back.
    Ban,
    /// Undo `ban`.
    Unban,
    /// Set the `role`.
    SetRole,
}

/// The answer to a message request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RequestAnswer {
    /// The request becomes a normal conversation.
    Accept,
    /// Hide the request, without notice to the sender. Later messages of the sender stay silent.
    Dismiss,
}

/// The reason of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReportReason {
    Spam,
    Abuse,
    Sexual,
    Violence,
    Fraud,
    Other,
    /// A filter of the site. Users cannot report for this reason.
    Filter,
}

/// The state of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    Open,
    Taken,
    Closed,
}

/// An action of a moderator, with its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Moderate<'a> {
    pub rid: u64,
    pub act: ModeratorAct,
    /// The target user: with all actions except `delete` and those on reports.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    /// With `mute`, `unmute`, `ban`, `unban`: in this room only. With `delete`: the conversation of the
    /// message.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// With `delete`: the `seq` of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// With `mute`, `ban` and `shadow_ban`: Unix milliseconds at which the sanction expires. Left out: it
    /// does not expire. With `raid`: Unix milliseconds at which raid mode ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// With `warn`, `mute`, `ban`, `refuse`: shown to the user. With `shadow_ban` and `close_report`: a note
    /// for moderators. At most 1,000 bytes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// With the actions on reports: the number of the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<u64>,
    /// With `set_role`: the new role. Only admins may set roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SiteRole>,
    /// With `ban` on the whole site: also ban the devices that the user is connected from, and those used in
    /// later attempts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub devices: bool,
    /// With `set_level`: the new level. Left out: the level follows age and activity again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

/// The actions of a moderator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ModeratorAct {
    /// The user gets the warning until they have read it.
    Warn,
    /// The user may read, but not write.
    Mute,
    Unmute,
    /// On the site: the sessions end, and new sessions are refused. In a room: the user may not come back.
    Ban,
    Unban,
    /// The present sessions of the user end.
    Kick,
    /// The picture that the user has set in an app is removed, in apps too.
    RemovePicture,
    SetRole,
    /// Delete a message.
    Delete,
    TakeReport,
    /// Close a report. If the report is about a held message, the message is refused.
    CloseReport,
    ReopenReport,
    /// Deliver the held message of this report.
    Approve,
    /// Refuse the held message, with a reason for its sender.
    Refuse,
    /// Shadow ban: nobody else sees new messages of the user, and the user gets no notice.
    ShadowBan,
    LiftShadowBan,
    SetLevel,
    /// Raid mode: until `until`, new members cannot start conversations or write in rooms.
    Raid,
    EndRaid,
}

/// The trust level of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    New,
    Basic,
    Trusted,
}

/// Role of a user on the whole site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SiteRole {
    Member,
    /// Handles reports, and moderates users.
    Moderator,
    /// Also moderates moderators, and changes the site's settings.
    Admin,
}

/// The fields of a browser's `PushSubscription` (W3C Push API), and the language of its notifications.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PushSubscription<'a> {
    #[serde(borrow)]
    pub endpoint: Cow<'a, str>,
    /// Public key of the browser, base64url.
    #[serde(borrow)]
    pub p256dh: Cow<'a, str>,
    /// Secret of the browser, base64url.
    #[serde(borrow)]
    pub auth: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<Cow<'a, str>>,
}

impl std::fmt::Debug for PushSubscription<'_> {
    /// Omits the endpoint from logs: everybody who knows it can send to it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PushSubscription")
    }
}

/// Daily hours without notifications. They may span midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QuietHours {
    /// First quiet minute of the day by the user's clock, 0 to 1439.
    pub from: u16,
    /// First minute after the quiet hours.
    pub to: u16,
    /// Minutes that the user's clock is ahead of UTC, -720 to 840.
    pub offset: i16,
}

/// The marker to move, and its new position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MarkerSet {
    /// All messages up to this `seq` were delivered to a device of the user.
    Received(u64),
    /// The user has read all messages up to this `seq`. Implies received.
    Read(u64),
}

/// The presence that a user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetPresence {
    /// Available.
    Online,
    /// Not at the keyboard.
    Away,
    /// Do not disturb.
    Busy,
    /// Others see the user as offline.
    Invisible,
}

/// An action on a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ContactAction {
    /// Send a contact request. If the other user has sent one already, accept it at once.
    Request,
    /// Accept the other user's request.
    Accept,
    /// Decline the other user's request, without notice to them.
    Decline,
    /// Remove the contact, or withdraw the own request.
    Remove,
    /// Block the other user, without notice to them. Nothing from them is delivered any more.
    Block,
    /// Undo `block`.
    Unblock,
}
