//! The table of error codes, with the reaction of a client to each.

use serde::{Deserialize, Serialize};

/// Whether and when a client reconnects after a close, or retries a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Return {
    /// Never automatically; a person must change something.
    Never,
    /// With a new token from the site.
    WithNewToken,
    /// After `retry_after` of the frame. Without it, after the client's own jittered backoff.
    Later,
    /// At once, with `hello` on a new session.
    Now,
}

impl Return {
    /// The word in the documentation and in the TypeScript table.
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
        /// An error or close code. Frames carry the word. Each code also has a WebSocket close code and an
        /// HTTP status.
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
    /// The client sent `bye`.
    Done = "done", 200, 1000, Never;
    /// The frame is not JSON or not an object, or its fields are missing or of the wrong type.
    BadFrame = "bad_frame", 400, 4000, Never;
    /// The text is not UTF-8.
    BadUtf8 = "bad_utf8", 400, 1007, Never;
    /// The client broke a rule of the transport (RFC 6455, HTTP).
    BadTransport = "bad_transport", 400, 1002, Never;
    /// This server does not know this `t`.
    UnknownCommand = "unknown_command", 400, 4001, Never;
    /// The protocol version is not 1.
    BadVersion = "bad_version", 400, 4002, Never;
    /// The first frame was not `hello`, or `hello` came twice.
    NotNow = "not_now", 400, 4003, Never;
    /// The frame or POST body is larger than `limits.frame_bytes`.
    TooLarge = "too_large", 413, 1009, Never;
    /// No site has this key, or the site is switched off.
    NoSuchSite = "no_such_site", 404, 4004, Never;
    /// The page's Origin is not on the site's list.
    BadOrigin = "bad_origin", 403, 4005, Never;
    /// The token is malformed, forged, of another site or signed with an algorithm that the site does not use.
    BadToken = "bad_token", 401, 4006, WithNewToken;
    /// The token has expired.
    TokenExpired = "token_expired", 401, 4007, WithNewToken;
    /// A one-time token (`jti` with `once`) was used before.
    TokenUsed = "token_used", 401, 4008, WithNewToken;
    /// The token is missing, and the site allows no guests.
    NoGuests = "no_guests", 401, 4009, WithNewToken;
    /// The user is banned.
    Banned = "banned", 403, 4010, Never;
    /// The session is unknown or over.
    NoSession = "no_session", 404, 4011, Now;
    /// This device has opened a newer session; this one is over.
    Replaced = "replaced", 409, 4012, Never;
    /// The server received nothing from the client for `limits.idle_ms`.
    Idle = "idle", 408, 4013, Now;
    /// The client sent no `hello` within 10 s of connecting.
    Slow = "slow", 408, 4014, Later;
    /// Too many frames, messages, or new guests from one address in a short time.
    RateLimited = "rate_limited", 429, 4015, Later;
    /// The node or site has reached its limit of sessions.
    Full = "full", 503, 4016, Later;
    /// The server cannot store data now (disk full, database unavailable; reading still works), or too many clients connect at once.
    Unavailable = "unavailable", 503, 4017, Later;
    /// No user has this id, or the user is not visible.
    NoSuchUser = "no_such_user", 404, 4018, Never;
    /// No conversation has this id, or the user is not a member of it.
    NoSuchConversation = "no_such_conversation", 404, 4019, Never;
    /// The recipient has blocked the user, or is no contact and the site requires one. Or the user may not change this message, or not do this in this room.
    NotAllowed = "not_allowed", 403, 4020, Never;
    /// The body is empty or longer than `limits.body_bytes`.
    BadBody = "bad_body", 400, 4021, Never;
    /// A field has a value outside its documented range.
    BadValue = "bad_value", 400, 4022, Never;
    /// The user's contact list is full.
    TooManyContacts = "too_many_contacts", 409, 4023, Never;
    /// No message has this `seq`, or it was deleted.
    NoSuchMessage = "no_such_message", 404, 4024, Never;
    /// The message has reached its limit of different reactions, in total or from one user.
    TooManyReactions = "too_many_reactions", 409, 4025, Never;
    /// The user must join the room first.
    NotAMember = "not_a_member", 403, 4030, Never;
    /// The user is banned from this room.
    RoomBanned = "room_banned", 403, 4031, Never;
    /// The user may read, but is muted: in this room, or on the whole site.
    Muted = "muted", 403, 4032, Never;
    /// Only the owner and the moderators may write in this room.
    ReadOnly = "read_only", 403, 4033, Never;
    /// The room is frozen for now: only its owner and moderators may write.
    Frozen = "frozen", 403, 4034, Never;
    /// The room is in slow mode. The user may send the next message after `retry_after`.
    SlowMode = "slow_mode", 429, 4035, Later;
    /// The room has reached its limit of members.
    RoomFull = "room_full", 409, 4036, Never;
    /// The user has reached the limit of rooms, as a member or as an owner.
    TooManyRooms = "too_many_rooms", 409, 4037, Never;
    /// The only owner of a room with other members must name another owner first.
    LastOwner = "last_owner", 409, 4038, Never;
    /// The invitation does not exist, has expired, is used up, or was taken back. The server does not say which.
    BadInvitation = "bad_invitation", 404, 4039, Never;
    /// The room has reached its limit of valid invitations.
    TooManyInvitations = "too_many_invitations", 409, 4045, Never;
    /// The call does not exist, the session has no part in it, or the call is not in the state for this action.
    NoSuchCall = "no_such_call", 404, 4040, Never;
    /// The user is in a call already.
    InCall = "in_call", 409, 4041, Never;
    /// The call of this room has reached its limit of participants.
    CallFull = "call_full", 409, 4042, Never;
    /// Rooms of more than 500 members have no calls.
    RoomTooLarge = "room_too_large", 403, 4044, Never;
    /// A message request has a link or an attachment. Or a file is for a user who is no contact and has not answered.
    FirstContact = "first_contact", 403, 4050, Never;
    /// The user has reached the limit for a request that is not accepted yet.
    RequestPending = "request_pending", 403, 4051, Never;
    /// The user has reached today's limit of new conversations with strangers.
    TooManyRequests = "too_many_requests", 403, 4052, Never;
    /// The user has reached the limit of open reports.
    TooManyReports = "too_many_reports", 409, 4053, Never;
    /// No report has this number.
    NoSuchReport = "no_such_report", 404, 4054, Never;
    /// Only moderators may write on this site now.
    SiteReadOnly = "site_read_only", 403, 4055, Never;
    /// The owner has closed the site for now.
    SiteClosed = "site_closed", 403, 4056, Never;
    /// A moderator has ended the session.
    Kicked = "kicked", 403, 4057, Never;
    /// The limit of pinned conversations or messages is reached.
    TooManyPinned = "too_many_pinned", 409, 4026, Never;
    /// The text has a word or a link that this site does not permit.
    Filtered = "filtered", 403, 4058, Never;
    /// The poll has ended, or was closed.
    PollClosed = "poll_closed", 409, 4080, Never;
    /// The user is too new on this site: for links, or for another room today.
    TooNew = "too_new", 403, 4059, Never;
    /// The site does not have this sticker, or not any more.
    NoSuchSticker = "no_such_sticker", 404, 4085, Never;
    /// For now, new members cannot start conversations or write in rooms.
    Raid = "raid", 403, 4060, Never;
    /// A banned user was connected from this device.
    DeviceBanned = "device_banned", 403, 4061, Never;
    /// This server sends no push notifications.
    NoPush = "no_push", 409, 4043, Never;
    /// No file has this id, the file is in another message, or its upload is not complete.
    NoSuchFile = "no_such_file", 404, 4070, Never;
    /// The file is larger than `limits.file_bytes`.
    FileTooLarge = "file_too_large", 413, 4071, Never;
    /// The user or the site has reached the limit of bytes for files.
    NoRoomForFile = "no_room_for_file", 409, 4072, Never;
    /// More than 10 files in one message, or too many that are not posted yet.
    TooManyFiles = "too_many_files", 409, 4073, Never;
    /// The picture cannot be read, or is too large to be re-encoded.
    BadPicture = "bad_picture", 422, 4074, Never;
    /// The upload is at another offset. Request the offset, and continue there.
    WrongOffset = "wrong_offset", 409, 4075, Now;
    /// Another request continues this upload.
    UploadReplaced = "upload_replaced", 409, 4076, Never;
    /// The link to a file is wrong or has expired; `history` has a new one.
    BadLink = "bad_link", 403, 4077, Now;
    /// Another user has the id that the guest would get.
    UserExists = "user_exists", 409, 4083, Never;
    /// The user has no such device.
    NoSuchDevice = "no_such_device", 404, 4081, Never;
    /// The user has as many app passwords as allowed.
    TooManyAppPasswords = "too_many_app_passwords", 409, 4089, Never;
    /// The user has signed this device out from another one. The device needs a token that the site has made since.
    SignedOut = "signed_out", 401, 4082, Never;
    /// The key that signed the token has ended, or its holders were signed out. The client needs a token that the site signs now.
    KeyEnded = "key_ended", 401, 4088, WithNewToken;
    /// The account was removed: by the member, or by the site.
    Removed = "removed", 410, 4084, Never;
    /// An internal error of the server. It was counted and logged.
    Internal = "internal", 500, 1011, Later;
}
