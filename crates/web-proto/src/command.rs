//! Commands from the client to the server.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallAction, GroupAction};

/// A frame from the client.
///
/// `rid` (request id) is the client's number for this request; the reply or error carries it back as `re`.
/// It may be left out where no reply is wanted (`marker`, `typing`, `watch`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "t", rename_all = "snake_case")]
pub enum Command<'a> {
    /// First frame of a session, and the only one that may be first.
    #[serde(borrow)]
    Hello(Box<Hello<'a>>),
    /// Post a message. Answered by `ack` after the message is on disk, or by `error` with `id`.
    /// Sending the same `id` again, from any device of the user, answers the `seq` of the first time.
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
        /// Ids of one's files that were brought for this conversation and are complete, at most 10. With some, `body` may be `""`.
        #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<Cow<'a, str>>,
        /// In a room: the `seq` of the message below whose thread this is a reply.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u64>,
    },
    /// Post a poll: a message whose `body` is the question. Answered as `send`, and its `id` is one of the same.
    Poll {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        #[serde(borrow)]
        body: Cow<'a, str>,
        /// 2 to 10 different ones of 1 to 200 bytes, no control characters.
        #[serde(borrow)]
        choices: Vec<Cow<'a, str>>,
        /// One may vote for several.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        multiple: bool,
        /// Nobody learns who has voted for what.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        anonymous: bool,
        /// Unix milliseconds from which on nobody votes any more, at most a year ahead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<u64>,
    },
    /// Vote in a poll. It takes the place of one's vote of before. Answered by `counts`.
    Vote {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        /// Numbers of choices, from 0; none takes one's vote back.
        choices: Vec<u8>,
    },
    /// End one's own poll, or as a moderator anybody's. Answered by `counts`.
    ClosePoll {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Take the preview of a link off one's own message, or as a moderator off anybody's. Answered by `counts`.
    DropPreview {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Send one of the site's stickers, as a message of its own. Answered as `send`.
    Sticker {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        /// Its id.
        #[serde(borrow)]
        sticker: Cow<'a, str>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<u64>,
        /// As of `send`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u64>,
    },
    /// All stickers of the site. Answered by `stickers`.
    Stickers { rid: u64 },
    /// Post a message that one can read as one's own in another conversation, with its files. Answered as `send`.
    Forward {
        #[serde(borrow)]
        id: Cow<'a, str>,
        #[serde(borrow)]
        to: SendTo<'a>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// How far this user has received or read a conversation. Only ever moves forward.
    Marker {
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(flatten)]
        set: MarkerSet,
    },
    /// Ephemeral: this user is writing. Say it again at least every 5 s; it lapses after 6 s.
    Typing {
        #[serde(borrow)]
        to: SendTo<'a>,
        on: bool,
    },
    /// Something of a call. Answered by `call`; without `rid`, only where the answer says more than `done`.
    Call {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rid: Option<u64>,
        #[serde(borrow, flatten)]
        action: CallAction<'a>,
    },
    /// Something of the call of a room. Answered by `group_call`; without `rid`, only where the answer says more than `done`.
    GroupCall {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rid: Option<u64>,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, flatten)]
        action: GroupAction<'a>,
    },
    /// Set one's own presence, for all devices of the user.
    Presence { set: SetPresence },
    /// Replace what this session wants to see of presence: all contacts, and the users now on the screen.
    Watch {
        /// Everybody with whom this user is in state `contact`, now and as that changes. Answered by `watching`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        contacts: bool,
        /// Each is answered by `presence`.
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
    /// A page of one's contacts, requests and blocked users, by name.
    Contacts {
        rid: u64,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// A page of the site's directory; refused on sites of mode *contacts* unless `query` is a whole user id.
    People {
        rid: u64,
        /// Case-insensitive start of a word of the name.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        query: Option<Cow<'a, str>>,
        /// The `next` of the page before.
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
    /// A member's profile; without `user` one's own. Answered by `profile`.
    Profile {
        rid: u64,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        user: Option<Cow<'a, str>>,
    },
    /// Change one's own profile. Fields left out stay. Answered by `profile`.
    #[serde(borrow)]
    ChangeProfile(Box<ChangeProfile<'a>>),
    /// A page of the conversation list, newest activity first.
    Conversations {
        rid: u64,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// Only archived conversations instead of only the others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        archived: bool,
        /// Of those that are not archived, only these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Only>,
    },
    /// Change how one sees a conversation. Fields left out stay. Answered by a `conversation` event with `re`.
    Conversation {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// Unix milliseconds until which it is muted; 0 unmutes; 253402300799999 mutes for good.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        muted_until: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
        /// Shown as unread, until it is read on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        marked_unread: Option<bool>,
        /// Unfinished text, at most `limits.body_bytes`; an empty one removes the draft.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        draft: Option<Cow<'a, str>>,
    },
    /// A page of a conversation's messages, ascending by `seq`. Without `before` and `after`: the newest page.
    History {
        rid: u64,
        #[serde(borrow)]
        to: SendTo<'a>,
        /// Only messages with a smaller `seq`, nearest first taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<u64>,
        /// Only messages with a larger `seq`, nearest first taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// The page begins with the first message of this time or later, in milliseconds since 1970. Without `before`, `after` and `thread`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<u64>,
        /// Only the replies in the thread below this `seq` of a room.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thread: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// How one stands to the thread below a message of a room; or change that. Answered by `thread`.
    Thread {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        follow: Option<bool>,
        /// One has read as many replies; never back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        read: Option<u64>,
    },
    /// The threads of a room that one follows. Answered by `threads`.
    Threads {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
    },
    /// Put another body in the place of the one of one's own message. Answered by `update`.
    Edit {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
        #[serde(borrow)]
        body: Cow<'a, str>,
    },
    /// Take back one's own message, for everybody. Answered by `update`.
    Delete {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        seq: u64,
    },
    /// Put a reaction on a message, or take one's own off. Answered by `counts`.
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
    /// Keep a message at hand above its conversation, or not any more. Answered by `update`, or by `counts` where it is not any more.
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
    /// Make a room, whose owner one is. Answered by `conversation`.
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
    /// Change a room. Fields left out stay. Answered by `conversation`; all other members hear `room`.
    ChangeRoom {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        name: Option<Cow<'a, str>>,
        /// An empty one takes it away.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        topic: Option<Cow<'a, str>>,
        /// The address of a picture, as in a token, which only an admin of the site may set; an empty one removes the room's picture,
        /// uploaded or not.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        avatar: Option<Cow<'a, str>>,
        /// The id of a complete file, a picture, which one has uploaded for this room. Not together with `avatar`.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        picture: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<RoomKind>,
        /// Milliseconds between two messages of a member, at most a day; 0 ends slow mode.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slow_ms: Option<u64>,
        /// Nobody but its owner and moderators may write.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frozen: Option<bool>,
        /// Members that the room takes at most, up to the site's limit; 0: as many as the site lets it. Members who are in it stay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_members: Option<u64>,
    },
    /// Become a member of a public room. Answered by `conversation`, also if one is a member already.
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
    /// Do something with another user in a room. Answered by `member`.
    Member {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        #[serde(borrow)]
        user: Cow<'a, str>,
        action: MemberAction,
        /// With `set_role`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<Role>,
        /// With `ban`, or with `set_role` and the role `muted`: when it ends by itself, in Unix milliseconds. Left out: it has no end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// With the same: why, at most 1,000 bytes. Shown to this user, if a member, and recorded.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        reason: Option<Cow<'a, str>>,
    },
    /// A page of a room's members: owners, moderators, members, muted ones, each by name.
    Members {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// Case-insensitive start of a word of the name.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        query: Option<Cow<'a, str>>,
        /// Muted members and banned users instead, without `query`; for those who keep order in the room.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sanctioned: bool,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Make an invitation into a room, for whoever has its code. Answered by `link`.
    MakeLink {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// After so many it ends, 1 to 8,760; left out: a week.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hours: Option<u32>,
        /// So many may come by it, 1 to 10,000; left out: as many as the room takes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uses: Option<u32>,
    },
    /// The invitations into a room that stand: all for who keeps order there, else one's own. Answered by `links`.
    Links {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
    },
    /// End an invitation. Answered by `links`, also if it has ended already.
    TakeBackLink {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        /// `code` of the list.
        #[serde(borrow)]
        code: Cow<'a, str>,
    },
    /// Show the room and the author of an invitation link. Answered by `invitation`.
    OpenLink {
        rid: u64,
        #[serde(borrow)]
        code: Cow<'a, str>,
    },
    /// Become a member by an invitation. Answered by `conversation`, also if one is a member already: then nothing is used up.
    JoinLink {
        rid: u64,
        #[serde(borrow)]
        code: Cow<'a, str>,
    },
    /// A page of the directory of the site's public and announcement rooms, by name.
    Rooms {
        rid: u64,
        /// Case-insensitive start of the name.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        query: Option<Cow<'a, str>>,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Messages of one's own conversations that have all these words, newest first. Answered by `found`.
    Search {
        rid: u64,
        /// Words; the last one may be the start of one.
        #[serde(borrow)]
        query: Cow<'a, str>,
        /// Only of this conversation.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        conversation: Option<Cow<'a, str>>,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Answer a message request. Answered by `conversation`; the one who has asked hears of `accept` only.
    Request {
        rid: u64,
        #[serde(borrow)]
        conversation: Cow<'a, str>,
        answer: RequestAnswer,
    },
    /// Tell the site's moderators of a message, a user or a room: exactly one of `seq` (with `conversation`), `user`, and
    /// `conversation` of a room alone. Answered by `reported`.
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
        /// Left out: all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<ReportState>,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// For moderators: do something. Answered by `moderated`.
    #[serde(borrow)]
    Moderate(Box<Moderate<'a>>),
    /// For moderators: a page of what was done, newest first.
    Audit {
        rid: u64,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Own sanctions and warnings. Answered by `notices`.
    Notices {
        rid: u64,
        /// One has read the warnings; they go.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        seen: bool,
    },
    /// For admins: all settings of the site. Answered by `settings`.
    Settings { rid: u64 },
    /// For admins: change settings by a merge patch (RFC 7396). Answered by `settings`, or by an error whose `text` says what is wrong.
    Configure {
        rid: u64,
        #[cfg_attr(test, ts(type = "object"))]
        patch: Box<Value>,
    },
    /// For moderators: what the site's filters would do with this text. Answered by `filter_tested`.
    TestFilter {
        rid: u64,
        #[serde(borrow)]
        body: Cow<'a, str>,
    },
    /// Read and change the notifications that one gets while away. Fields left out stay. Answered by `notifications`.
    Notifications {
        rid: u64,
        /// This browser takes notifications from now on.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        subscribe: Option<PushSubscription<'a>>,
        /// The browser of this endpoint takes none any more.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        unsubscribe: Option<Cow<'a, str>>,
        /// Equal minutes: no quiet hours.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quiet: Option<QuietHours>,
        /// Whether they show what was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bodies: Option<bool>,
        /// After so many minutes what was missed is mailed, at most a week; 0: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mail: Option<u32>,
    },
    /// One's own browsers and apps that are signed in, where the site keeps them. Answered by `devices`.
    Devices { rid: u64 },
    /// Sign one of them out: its session ends with `signed_out`. Answered by `devices`.
    SignOut {
        rid: u64,
        /// `device` of the list.
        #[serde(borrow)]
        device: Cow<'a, str>,
    },
    /// A page of all that was said to one or by one: direct conversations whole, of rooms one's own messages. For a file.
    Export {
        rid: u64,
        /// The `next` of the page before.
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        after: Option<Cow<'a, str>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    },
    /// Remove one's own account for good, where the site lets one. The session ends with `removed`.
    RemoveAccount {
        rid: u64,
        /// Also what one has written. Left out: it stays, as nobody's.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        messages: bool,
    },
    /// Ask for everything since a position: the answer to `behind`. Answered by `changes`.
    Resume {
        rid: u64,
        #[serde(borrow)]
        position: Cow<'a, str>,
    },
    /// Bring a new token before the old one expires. Must be of the same user. Answered by `token_ok`.
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
    /// The client leaves on purpose; presence ends without the grace time.
    Bye,
}

impl<'a> Command<'a> {
    /// The address of the answer or the error: the client's number of the request, `rid`, or its id of the message, `id`.
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
            Vote ClosePoll DropPreview Stickers Contact Contacts People Profiles Profile Conversations Conversation
            History Thread Threads Edit Delete React Pin Pins CreateRoom ChangeRoom Join Leave Member Members
            MakeLink Links TakeBackLink OpenLink JoinLink Rooms Search Request Report Reports Audit Notices Settings
            Configure TestFilter Notifications Devices SignOut Export RemoveAccount Resume Token
        }
    }

    /// The kinds (`t`) of the events that answer this command if it is not refused: with its `rid` as `re`, or with its `id`, or, of
    /// `hello` and `watch`, without a number. Empty: no event answers it.
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
            Command::Contact { .. } => &["contact"],
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
            Command::Leave { .. } => &["left"],
            Command::Member { .. } => &["member"],
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

/// The first frame.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hello<'a> {
    /// Protocol version, 1.
    pub v: u8,
    /// Key of the site.
    #[serde(borrow)]
    pub site: Cow<'a, str>,
    /// JWT signed by the site. Left out: enter as a guest, where the site allows it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Cow<'a, str>>,
    /// Name of this browser or app, made once by the client: 1 to 64 bytes of `[A-Za-z0-9_-]`.
    #[serde(borrow)]
    pub device: Cow<'a, str>,
    /// The last `position` that the client saw. Left out: send a first page.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Cow<'a, str>>,
    /// Software and version, for the operator's metrics: at most 64 bytes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Cow<'a, str>>,
}

impl std::fmt::Debug for Hello<'_> {
    /// Leaves the token out: a frame may end in a log.
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

/// Whom a command is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SendTo<'a> {
    /// The direct conversation with this user, whether it exists yet or not.
    #[serde(borrow)]
    User(Cow<'a, str>),
    /// A conversation by id.
    #[serde(borrow)]
    Conversation(Cow<'a, str>),
    /// The room of a page of the site, 1 to 200 bytes, whether it exists yet or not. A message or `join` makes it.
    #[serde(borrow)]
    Page(Cow<'a, str>),
}

/// Changes of a member's privacy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangeProfile<'a> {
    pub rid: u64,
    /// At most 140 characters; an empty one takes it away.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Cow<'a, str>>,
    /// With `status`: Unix milliseconds of its end; left out: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_until: Option<u64>,
    /// At most 200 characters, where the site lets members choose; an empty one is the site's, from the next `hello` on.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Cow<'a, str>>,
    /// Audience that may begin a conversation; existing conversations continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub may_write: Option<Audience>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see_presence: Option<Audience>,
    /// Not who may not see the presence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub see_last_seen: Option<Audience>,
}

/// Those to whom a member allows something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    Everybody,
    Contacts,
    Nobody,
}

/// Which conversations a page has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Only {
    /// With something unread, or marked so.
    Unread,
    /// With an unread mention.
    Mentions,
}

/// Kind of a room: it decides about finding it and writing in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RoomKind {
    /// In the directory; everybody may read and join.
    Public,
    /// By invitation only.
    Private,
    /// As public, but only its owner and moderators write.
    Announcement,
}

/// Role of a member in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Everything.
    Owner,
    /// Keeps order: mutes, removes, bans, freezes.
    Moderator,
    /// Reads and writes.
    Member,
    /// Reads.
    Muted,
}

/// An act on a user in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MemberAction {
    /// Make a member.
    Invite,
    /// May come back.
    Remove,
    /// May not come back.
    Ban,
    /// Undo `ban`.
    Unban,
    /// Give the `role`.
    SetRole,
}

/// The answer to a message request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RequestAnswer {
    /// It is a conversation as any other from now on.
    Accept,
    /// Put away without notice to the sender; later messages stay silent.
    Dismiss,
}

/// Why something is reported.
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
    /// A filter of the site; nobody can report it so.
    Filter,
}

/// Whether somebody looks after a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ReportState {
    Open,
    Taken,
    Closed,
}

/// An act of a moderator, with its fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Moderate<'a> {
    pub rid: u64,
    pub act: ModeratorAct,
    /// Whom it concerns: with all but `delete` and those about reports.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Cow<'a, str>>,
    /// With `mute`, `unmute`, `ban`, `unban`: in this room only. With `delete`: where the message is.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Cow<'a, str>>,
    /// With `delete`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// With `mute`, `ban` and `shadow_ban`: Unix milliseconds of the end; left out: there is none. With `raid`: of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// With `warn`, `mute`, `ban`, `refuse`: told to the user. With `shadow_ban` and `close_report`: a note for moderators. At most
    /// 1,000 bytes.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Cow<'a, str>>,
    /// With those about reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<u64>,
    /// With `set_role`, which only admins may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<SiteRole>,
    /// With `ban` on the whole site: the devices too, from which they are here and from which they try to come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub devices: bool,
    /// With `set_level`; left out: by age and activity again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

/// The kinds of moderators' acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ModeratorAct {
    /// Told to the user until they have read it.
    Warn,
    /// May read, and not write.
    Mute,
    Unmute,
    /// The sessions end, and no new one begins. In a room: may not come back.
    Ban,
    Unban,
    /// The sessions of now end.
    Kick,
    SetRole,
    /// Take a message away.
    Delete,
    TakeReport,
    /// With one of a held message: it is refused.
    CloseReport,
    ReopenReport,
    /// Send a held message, of which this is the report.
    Approve,
    /// Refuse it, with a reason for who has written it.
    Refuse,
    /// Shadow ban: nobody else sees what the user writes, and the user gets no notice.
    ShadowBan,
    LiftShadowBan,
    SetLevel,
    /// New members cannot write first or in rooms until then.
    Raid,
    EndRaid,
}

/// How well a member is known.
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
    /// Looks after reports, and keeps order.
    Moderator,
    /// Moderates moderators, too, and changes the site's settings.
    Admin,
}

/// The fields of a browser's `PushSubscription` (W3C Push API), and the language of its notices.
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
    /// Endpoints stay out of logs: everybody who knows one can send to it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PushSubscription")
    }
}

/// Hours in which nothing is shown, every day. They may pass midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct QuietHours {
    /// Minute of the day by the user's clock, 0 to 1439.
    pub from: u16,
    /// The first minute that is not quiet any more.
    pub to: u16,
    /// Minutes by which the user's clock is ahead of UTC, -720 to 840.
    pub offset: i16,
}

/// Which marker moves, and up to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MarkerSet {
    /// Everything up to this `seq` has reached a device of the user.
    Received(u64),
    /// Everything up to this `seq` has been read; implies received.
    Read(u64),
}

/// The presence that a user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum SetPresence {
    /// Here.
    Online,
    /// Not at the keyboard.
    Away,
    /// Does not want to be disturbed.
    Busy,
    /// Seen by others as offline.
    Invisible,
}

/// An act on a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ContactAction {
    /// Ask; accepts at once if the other one has asked already.
    Request,
    /// Say yes to their request.
    Accept,
    /// Say no to their request; they are not told.
    Decline,
    /// Take them off the list, or take back one's own request.
    Remove,
    /// Nothing from them arrives any more; they are not told.
    Block,
    /// Undo `block`.
    Unblock,
}
