//! The one table of what can go wrong, and what a client does then.

use serde::{Deserialize, Serialize};

/// Whether and when a client that was sent away comes back, or tries a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    /// Never by itself; a person must change something.
    Never,
    /// After a fresh token from the site.
    WithNewToken,
    /// After the `retry_after` of the frame, or the client's own jittered backoff without one.
    Later,
    /// At once, with `hello` on a new session.
    Now,
}

impl Return {
    /// The word of the documentation and of the TypeScript table.
    pub const fn word(self) -> &'static str {
        match self {
            Return::Never => "never",
            Return::WithNewToken => "with_new_token",
            Return::Later => "later",
            Return::Now => "now",
        }
    }
}

macro_rules! codes {
    ($( $(#[doc = $doc:literal])* $name:ident = $word:literal, $http:literal, $close:literal, $return:ident; )*) => {
        /// An error or close code. On the wire: the word; the WebSocket close code and HTTP status beside it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        pub enum Code { $( $(#[doc = $doc])* #[serde(rename = $word)] $name, )* }

        impl Code {
            /// All codes, in the order of the table in `docs/protocol.md`.
            pub const ALL: &'static [Code] = &[$(Code::$name),*];

            /// The word on the wire.
            pub const fn word(self) -> &'static str { match self { $(Code::$name => $word),* } }
            /// Status of an HTTP response that ends with this code.
            pub const fn http_status(self) -> u16 { match self { $(Code::$name => $http),* } }
            /// Code of the WebSocket close frame (RFC 6455 §7.4; 4000 and up are ours).
            pub const fn close_code(self) -> u16 { match self { $(Code::$name => $close),* } }
            /// How a client should reconnect.
            pub const fn comes_back(self) -> Return { match self { $(Code::$name => Return::$return),* } }
            /// The documented meaning.
            pub const fn meaning(self) -> &'static str { match self { $(Code::$name => concat!($($doc),*)),* } }
        }
    };
}

codes! {
    /// The server is about to stop or restart.
    GoingAway = "going_away", 503, 1001, Later;
    /// The client said `bye`.
    Done = "done", 200, 1000, Never;
    /// Not JSON, not an object, or fields of the wrong type or missing.
    BadFrame = "bad_frame", 400, 4000, Never;
    /// Text that is not UTF-8.
    BadUtf8 = "bad_utf8", 400, 1007, Never;
    /// The transport's own rules were broken (RFC 6455, HTTP).
    BadTransport = "bad_transport", 400, 1002, Never;
    /// A `t` that this server does not know.
    UnknownCommand = "unknown_command", 400, 4001, Never;
    /// Another protocol version than 1.
    BadVersion = "bad_version", 400, 4002, Never;
    /// The first frame was not `hello`, or `hello` came twice.
    NotNow = "not_now", 400, 4003, Never;
    /// A frame or POST body larger than `limits.frame_bytes`.
    TooLarge = "too_large", 413, 1009, Never;
    /// No site of this key, or it is switched off.
    NoSuchSite = "no_such_site", 404, 4004, Never;
    /// The page's Origin is not on the site's list.
    BadOrigin = "bad_origin", 403, 4005, Never;
    /// The token is malformed, forged, of another site or signed with an algorithm that the site does not use.
    BadToken = "bad_token", 401, 4006, WithNewToken;
    /// The token has expired.
    TokenExpired = "token_expired", 401, 4007, WithNewToken;
    /// A one-time token (`jti` with `once`) was used before.
    TokenUsed = "token_used", 401, 4008, WithNewToken;
    /// No token, and the site allows no guests.
    NoGuests = "no_guests", 401, 4009, WithNewToken;
    /// The user is banned.
    Banned = "banned", 403, 4010, Never;
    /// The session is unknown or over.
    NoSession = "no_session", 404, 4011, Now;
    /// This device has opened a newer session; this one is over.
    Replaced = "replaced", 409, 4012, Never;
    /// Nothing was heard from the client for `limits.idle_ms`.
    Idle = "idle", 408, 4013, Now;
    /// No `hello` within 10 s of connecting.
    Slow = "slow", 408, 4014, Later;
    /// Too many frames, messages, or new guests of one address in a short time.
    RateLimited = "rate_limited", 429, 4015, Later;
    /// The node or site has as many sessions as it may.
    Full = "full", 503, 4016, Later;
    /// The server cannot store anything now (disk full, database away; reading goes on), or more come than can be let in.
    Unavailable = "unavailable", 503, 4017, Later;
    /// No user of this id, or they cannot be seen.
    NoSuchUser = "no_such_user", 404, 4018, Never;
    /// No conversation of this id in which one is a member.
    NoSuchConversation = "no_such_conversation", 404, 4019, Never;
    /// One may not write to this user (they have blocked it, or are no contact where the site asks for it), not change somebody else's message, or not do this in this room.
    NotAllowed = "not_allowed", 403, 4020, Never;
    /// The body is empty or longer than `limits.body_bytes`.
    BadBody = "bad_body", 400, 4021, Never;
    /// A field has a value outside its documented range.
    BadValue = "bad_value", 400, 4022, Never;
    /// One's contact list is full.
    TooManyContacts = "too_many_contacts", 409, 4023, Never;
    /// No message of this seq, or it was deleted.
    NoSuchMessage = "no_such_message", 404, 4024, Never;
    /// The message has as many different reactions as it may, in all or of one user.
    TooManyReactions = "too_many_reactions", 409, 4025, Never;
    /// One must join the room first.
    NotAMember = "not_a_member", 403, 4030, Never;
    /// One is banned from this room.
    RoomBanned = "room_banned", 403, 4031, Never;
    /// One may read, but is muted: in this room, or on the whole site.
    Muted = "muted", 403, 4032, Never;
    /// Only the owner and the moderators write in this room.
    ReadOnly = "read_only", 403, 4033, Never;
    /// The room is frozen for now: only its owner and moderators may write.
    Frozen = "frozen", 403, 4034, Never;
    /// The room is in slow mode, and one's next message may come after `retry_after`.
    SlowMode = "slow_mode", 429, 4035, Later;
    /// The room has as many members as it may.
    RoomFull = "room_full", 409, 4036, Never;
    /// One is in as many rooms, or owns as many, as one may.
    TooManyRooms = "too_many_rooms", 409, 4037, Never;
    /// The only owner of a room that has other members must name another owner first.
    LastOwner = "last_owner", 409, 4038, Never;
    /// The invitation never was, has ended, is used up, or was taken back; nobody learns which.
    BadInvitation = "bad_invitation", 404, 4039, Never;
    /// As many invitations into this room stand as may.
    TooManyInvitations = "too_many_invitations", 409, 4045, Never;
    /// No such call, or one's session has no part in it, or it is not at the point at which this can be said.
    NoSuchCall = "no_such_call", 404, 4040, Never;
    /// One is in a call already.
    InCall = "in_call", 409, 4041, Never;
    /// As many are in the call of this room as may be.
    CallFull = "call_full", 409, 4042, Never;
    /// Calls stand in rooms of at most 500 members.
    RoomTooLarge = "room_too_large", 403, 4044, Never;
    /// A message of a request has a link or something attached; or a file for somebody who is no contact and has not answered.
    FirstContact = "first_contact", 403, 4050, Never;
    /// One has written as much in a request as one may before it is accepted.
    RequestPending = "request_pending", 403, 4051, Never;
    /// One has begun as many conversations with strangers today as one may.
    TooManyRequests = "too_many_requests", 403, 4052, Never;
    /// As many of one's reports are open as may be.
    TooManyReports = "too_many_reports", 409, 4053, Never;
    /// No report of this number.
    NoSuchReport = "no_such_report", 404, 4054, Never;
    /// Only moderators write on this site now.
    SiteReadOnly = "site_read_only", 403, 4055, Never;
    /// The owner has closed the site for now.
    SiteClosed = "site_closed", 403, 4056, Never;
    /// A moderator has ended the session.
    Kicked = "kicked", 403, 4057, Never;
    /// As many conversations or messages are pinned as may be.
    TooManyPinned = "too_many_pinned", 409, 4026, Never;
    /// A word or a link in it is not wanted on this site.
    Filtered = "filtered", 403, 4058, Never;
    /// The poll is over: it has ended, or was closed.
    PollClosed = "poll_closed", 409, 4080, Never;
    /// One is too new here: for links, or for another room today.
    TooNew = "too_new", 403, 4059, Never;
    /// The site has no such sticker, or not any more.
    NoSuchSticker = "no_such_sticker", 404, 4085, Never;
    /// For a while new members cannot write first or in rooms.
    Raid = "raid", 403, 4060, Never;
    /// Somebody who is banned was here from this device.
    DeviceBanned = "device_banned", 403, 4061, Never;
    /// This server sends no push notifications.
    NoPush = "no_push", 409, 4043, Never;
    /// No file of this id, it is in another message, or not all of it has come.
    NoSuchFile = "no_such_file", 404, 4070, Never;
    /// The file is larger than `limits.file_bytes`.
    FileTooLarge = "file_too_large", 413, 4071, Never;
    /// The user or the site has as many bytes of files as it may.
    NoRoomForFile = "no_room_for_file", 409, 4072, Never;
    /// More than 10 files in one message, or too many that wait to be posted.
    TooManyFiles = "too_many_files", 409, 4073, Never;
    /// The picture cannot be read, or is larger than can be made anew.
    BadPicture = "bad_picture", 422, 4074, Never;
    /// The upload stands at another offset: ask where, and go on there.
    WrongOffset = "wrong_offset", 409, 4075, Now;
    /// Another request goes on with this upload.
    UploadReplaced = "upload_replaced", 409, 4076, Never;
    /// The link to a file is wrong or too old; `history` has a new one.
    BadLink = "bad_link", 403, 4077, Now;
    /// Somebody has the id that a guest shall get.
    UserExists = "user_exists", 409, 4083, Never;
    /// No such device of one's own.
    NoSuchDevice = "no_such_device", 404, 4081, Never;
    /// One has signed this device out from another: it needs a token that the site has made since.
    SignedOut = "signed_out", 401, 4082, Never;
    /// The key that signed the token has ended, or its holders were signed out: it needs a token that the site signs now.
    KeyEnded = "key_ended", 401, 4088, WithNewToken;
    /// The account was removed: by the member, or by the site.
    Removed = "removed", 410, 4084, Never;
    /// A mistake of ours; it has been counted and logged.
    Internal = "internal", 500, 1011, Later;
}
