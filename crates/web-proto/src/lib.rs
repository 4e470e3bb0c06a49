//! Kith's web protocol, version 1, without I/O.
//!
//! One JSON object is one frame; its `t` names it. A client sends [`Command`]s, the server [`Event`]s; both
//! travel alike over WebSocket, Server-Sent Events, a stream of JSON lines and long poll. `docs/protocol.md`
//! is the specification for people who write a client; this crate is the one for compilers, and the
//! TypeScript types of the widget are generated from it.
//!
//! It deliberately knows no transport, no clock, no user database: parsing gives a value or a [`Code`].
//!
//! Read first: [`Command`], [`Event`], [`Code`].

mod call;
mod code;
mod command;
mod event;
mod group_call;
mod parse;
#[cfg(test)]
mod typescript;

pub use call::{
    CallAction, CallEntry, CallNews, CallOutcome, CallsFrom, IceAnswer, IceQuestion, IceServer, Media,
};
pub use code::{Code, Return};
pub use command::{
    Audience, ChangeProfile, Command, ContactAction, Hello, Level, MarkerSet, MemberAction, Moderate,
    ModeratorAct, Only, PushSubscription, QuietHours, ReportReason, ReportState, RequestAnswer, Role,
    RoomKind, SendTo, SetPresence, SiteRole,
};
pub use event::{
    AppPassword, AuditEntry, Choice, Contact, ContactState, Conversation, Device, Event, ExportedItem, File,
    FilterAct, FilterHit, FilterKind, FormerBody, Forwarded, Gap, Held, HeldState, Invitation, Left,
    LeftReason, Limits, Link, Listed, MailDigest, Member, Message, Nickname, Notice, NoticeKind, OwnProfile,
    Person, Poll, PollCounts, Presence, Preview, Profile, PutReaction, Reaction, ReactionCount, Renamed,
    Replies, Report, ReportLine, RequestState, Room, SiteAccess, SiteState, Sticker, Thread, ThreadCount,
    Welcome,
};
pub use group_call::{GroupAction, GroupCall, GroupNews, Participant};
pub use parse::Reject;

/// The protocol version that [`Hello::v`] carries.
pub const VERSION: u8 = 1;

/// Most bytes of a `send`'s `id` and of [`Hello::device`].
pub const ID_BYTES: usize = 64;

/// Whether a web client may give a message this id.
pub fn is_message_id(id: &str) -> bool {
    let may_be_in_it = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=ID_BYTES).contains(&id.len()) && id.bytes().all(may_be_in_it)
}
