//! Refusals of the domain. Every gateway translates them in one `match` without `_`.

use serde::{Deserialize, Serialize};

/// The reason of a refusal. A refused command has changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, Serialize, Deserialize)]
pub enum Refusal {
    #[error("no site of this key")]
    NoSuchSite,
    #[error("this Origin is not on the site's list")]
    BadOrigin,
    #[error("the token is malformed, forged or of another site")]
    BadToken,
    #[error("the token has expired or is not valid yet")]
    TokenExpired,
    #[error("the key that signed the token has ended, or its holders were signed out")]
    KeyEnded,
    #[error("this one-time token was used before")]
    TokenUsed,
    #[error("a token is needed: the site allows no guests")]
    NoGuests,
    #[error("the user is banned")]
    Banned,
    #[error("somebody who is banned was here from this device")]
    DeviceBanned,
    #[error("the device has opened a newer session")]
    Replaced,
    #[error("too fast; try again after {retry_after_ms} ms")]
    RateLimited { retry_after_ms: u32 },
    #[error("the site or the node has as many sessions as it may")]
    Full,
    #[error("nothing can be stored now")]
    Unavailable,
    #[error("more come than can be let in; come back after {retry_after_ms} ms")]
    Overloaded { retry_after_ms: u32 },
    #[error("no such user")]
    NoSuchUser,
    #[error("no such conversation")]
    NoSuchConversation,
    #[error("one may not do this, or not write to this user")]
    NotAllowed,
    #[error("the body is empty or too long")]
    BadBody,
    #[error("a field is outside its documented range")]
    BadValue,
    #[error("the contact list is full")]
    TooManyContacts,
    #[error("no such message")]
    NoSuchMessage,
    #[error("the message has as many different reactions as it may")]
    TooManyReactions,
    #[error("one must join the room first")]
    NotAMember,
    #[error("one is banned from this room")]
    RoomBanned,
    #[error("one is muted here")]
    Muted,
    #[error("only the owner and the moderators write in this room")]
    ReadOnly,
    #[error("the room is frozen for now")]
    Frozen,
    #[error("the room is in slow mode; try again after {retry_after_ms} ms")]
    SlowMode { retry_after_ms: u32 },
    #[error("the room has as many members as it may")]
    RoomFull,
    #[error("one is in as many rooms, or owns as many, as one may")]
    TooManyRooms,
    #[error("no such invitation, or not any more")]
    BadInvitation,
    #[error("as many invitations into this room stand as may")]
    TooManyInvitations,
    #[error("the only owner of a room with other members must name another owner first")]
    LastOwner,
    #[error("no such call, or this session has no part in it, or it is not at this point")]
    NoSuchCall,
    #[error("one is in a call already")]
    InCall,
    #[error("as many are in the call of this room as may be")]
    CallFull,
    #[error("the room has more members than may call each other")]
    RoomTooLarge,
    #[error("no links and nothing attached in a first message to somebody")]
    FirstContact,
    #[error("one has written as much as one may before the other one has answered")]
    RequestPending,
    #[error("one has begun as many conversations with strangers today as one may")]
    TooManyRequests,
    #[error("as many of one's reports are open as may be")]
    TooManyReports,
    #[error("no such report")]
    NoSuchReport,
    #[error("only moderators write on this site now")]
    SiteReadOnly,
    #[error("this site is closed for now")]
    SiteClosed,
    #[error("a moderator has ended the session")]
    Kicked,
    #[error("as many are pinned as may be")]
    TooManyPinned,
    #[error("the poll is over")]
    PollClosed,
    #[error("a word or a link in it is not wanted on this site")]
    Filtered,
    #[error("one is too new here for links, or for another room")]
    TooNew,
    #[error("new members cannot write first or in rooms for a while")]
    Raid,
    #[error("this server sends no push notifications")]
    NoPush,
    #[error("no such file, or it is in another message or not all there")]
    NoSuchFile,
    #[error("the file is larger than this server takes")]
    FileTooLarge,
    #[error("the user or the site has as many bytes of files as it may")]
    NoRoomForFile,
    #[error("too many files in one message, or waiting to be posted")]
    TooManyFiles,
    #[error("this site has no such sticker, or not any more")]
    NoSuchSticker,
    #[error("somebody has this id already")]
    UserExists,
    #[error("no such device")]
    NoSuchDevice,
    #[error("this device was signed out, or its app password was revoked")]
    SignedOut,
    #[error("one has as many app passwords as one may")]
    TooManyAppPasswords,
    #[error("no such list or item, or not for this user")]
    NoSuchItem,
    #[error("the list exists, with other choices")]
    ItemListDiffers,
    #[error("the user or the site has as many items as it may")]
    TooManyItems,
    #[error("the account was removed")]
    Removed,
    #[error("the session is over")]
    NoSession,
    #[error("the node is about to stop; come back after {retry_after_ms} ms")]
    GoingAway { retry_after_ms: u32 },
}

impl Refusal {
    /// A word for each refusal, for metrics.
    pub const WORDS: [&'static str; 66] = [
        "no_such_site",
        "bad_origin",
        "bad_token",
        "token_expired",
        "token_used",
        "no_guests",
        "banned",
        "replaced",
        "rate_limited",
        "full",
        "unavailable",
        "no_such_user",
        "no_such_conversation",
        "not_allowed",
        "bad_body",
        "bad_value",
        "too_many_contacts",
        "no_session",
        "going_away",
        "overloaded",
        "no_such_message",
        "too_many_reactions",
        "not_a_member",
        "room_banned",
        "muted",
        "read_only",
        "frozen",
        "slow_mode",
        "room_full",
        "too_many_rooms",
        "last_owner",
        "no_such_call",
        "in_call",
        "first_contact",
        "request_pending",
        "too_many_requests",
        "too_many_reports",
        "no_such_report",
        "site_read_only",
        "site_closed",
        "kicked",
        "too_many_pinned",
        "filtered",
        "no_push",
        "no_such_file",
        "file_too_large",
        "no_room_for_file",
        "too_many_files",
        "poll_closed",
        "removed",
        "no_such_device",
        "signed_out",
        "too_new",
        "raid",
        "device_banned",
        "user_exists",
        "no_such_sticker",
        "call_full",
        "room_too_large",
        "bad_invitation",
        "too_many_invitations",
        "key_ended",
        "too_many_app_passwords",
        "no_such_item",
        "item_list_differs",
        "too_many_items",
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS[self.index()]
    }

    pub(crate) fn index(self) -> usize {
        match self {
            Refusal::NoSuchSite => 0,
            Refusal::BadOrigin => 1,
            Refusal::BadToken => 2,
            Refusal::TokenExpired => 3,
            Refusal::TokenUsed => 4,
            Refusal::NoGuests => 5,
            Refusal::Banned => 6,
            Refusal::Replaced => 7,
            Refusal::RateLimited { .. } => 8,
            Refusal::Full => 9,
            Refusal::Unavailable => 10,
            Refusal::NoSuchUser => 11,
            Refusal::NoSuchConversation => 12,
            Refusal::NotAllowed => 13,
            Refusal::BadBody => 14,
            Refusal::BadValue => 15,
            Refusal::TooManyContacts => 16,
            Refusal::NoSession => 17,
            Refusal::GoingAway { .. } => 18,
            Refusal::Overloaded { .. } => 19,
            Refusal::NoSuchMessage => 20,
            Refusal::TooManyReactions => 21,
            Refusal::NotAMember => 22,
            Refusal::RoomBanned => 23,
            Refusal::Muted => 24,
            Refusal::ReadOnly => 25,
            Refusal::Frozen => 26,
            Refusal::SlowMode { .. } => 27,
            Refusal::RoomFull => 28,
            Refusal::TooManyRooms => 29,
            Refusal::LastOwner => 30,
            Refusal::NoSuchCall => 31,
            Refusal::InCall => 32,
            Refusal::FirstContact => 33,
            Refusal::RequestPending => 34,
            Refusal::TooManyRequests => 35,
            Refusal::TooManyReports => 36,
            Refusal::NoSuchReport => 37,
            Refusal::SiteReadOnly => 38,
            Refusal::SiteClosed => 39,
            Refusal::Kicked => 40,
            Refusal::TooManyPinned => 41,
            Refusal::Filtered => 42,
            Refusal::NoPush => 43,
            Refusal::NoSuchFile => 44,
            Refusal::FileTooLarge => 45,
            Refusal::NoRoomForFile => 46,
            Refusal::TooManyFiles => 47,
            Refusal::PollClosed => 48,
            Refusal::Removed => 49,
            Refusal::NoSuchDevice => 50,
            Refusal::SignedOut => 51,
            Refusal::TooNew => 52,
            Refusal::Raid => 53,
            Refusal::DeviceBanned => 54,
            Refusal::UserExists => 55,
            Refusal::NoSuchSticker => 56,
            Refusal::CallFull => 57,
            Refusal::RoomTooLarge => 58,
            Refusal::BadInvitation => 59,
            Refusal::TooManyInvitations => 60,
            Refusal::KeyEnded => 61,
            Refusal::TooManyAppPasswords => 62,
            Refusal::NoSuchItem => 63,
            Refusal::ItemListDiffers => 64,
            Refusal::TooManyItems => 65,
        }
    }
}
