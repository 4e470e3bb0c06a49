//! Kith's domain: who is here, who may write to whom, what was said, and who must hear of it.
//!
//! It knows no XML, JSON (but that of tokens), SQL or NATS, reads no clock and draws no randomness (`now` and `rng` are
//! arguments). It meets the world through ports: [`Store`] keeps what must survive, [`Outbox`] carries
//! events to the sessions of a gateway.
//!
//! Read first: [`Node`] (what gateways call), [`Event`] (what they hear back), [`Store`].

mod admission;
mod admit;
mod cache;
mod call;
mod changes;
mod command;
mod contacts;
mod conversations;
mod counts;
mod delivery;
mod device;
mod erase;
mod event;
mod export;
mod files;
mod filters;
mod forward;
mod gather;
mod guest;
mod held;
mod id;
mod import;
mod key_end;
mod limits;
mod marker;
mod merge;
mod moderation;
mod node;
mod notify;
mod owner;
mod peer;
mod people;
mod pins;
mod poll;
mod presence;
mod preview;
mod privacy;
mod profile;
mod published;
mod raid;
mod reactions;
mod refusal;
mod request_limits;
mod requests;
mod resume;
mod retention;
mod rich;
mod roll;
mod room;
mod search;
mod send;
mod session;
mod sign_in;
mod sign_in_log;
mod site;
mod site_change;
mod site_share;
mod sites;
mod stats;
mod sticker;
mod store;
mod thread;
mod trust;
mod typing;
mod watch;
mod watch_contacts;

pub mod directory;
pub mod memory;
pub mod settings;
pub mod token;

pub use call::{
    AWAY_MS, CANDIDATE_BYTES, CallAction, CallConfig, CallEntry, CallEvent, CallId, CallNews, CallStep,
    CallTicket, CallsFrom, DESCRIPTION_BYTES, GroupAction, GroupEvent, GroupNews, GroupSignal, GroupStanding,
    GroupUnderWay, Ice, IceTurn, MOST_IN_GROUP, MOST_MEMBERS_CALLED, Media, Outcome, Participant, Place,
    RINGS_MS, Turn, is_call_entry,
};
pub use changes::{
    KeptRevisions, REVISION_BYTES, REVISIONS, drops_revision, may_change, may_change_in_room, may_edit,
    recorded_change,
};
pub use command::{
    Command, ContactAction, ConversationChange, ConversationList, Hello, MarkerSet, MemberList,
    MessageChange, PageOf, SetPresence, To,
};
pub use conversations::MOST_PINNED;
pub use counts::{Counted, CountedBy, Counts, PollCounts};
pub use device::{
    Agent, Browser, DeviceRow, DeviceStore, KnownDevice, MOST_DEVICES, NewDevice, SignedOut, System,
};
pub use erase::{ERASE_SLICE, EraseSlice, EraseStore, Erased, MOST_RENAMED, Messages, NewErasure, Renamed};
pub use event::{
    Changes, Contact, ContactState, Conversation, Event, Gap, Member, MemberSanction, Message, Person,
    Presence, Reactions, Welcome, With,
};
pub use export::{ExportPage, ExportStore};
pub use files::{
    ANSWER_WITHIN, Blob, Blobs, File, FileFound, FileId, FileLimits, FilePlace, FileRow, FileStore, FileType,
    Identified, MOST_FILES, MOST_LOOSE, NewFile, Peaks, Picture, Rendition, Wish, file_name, has_room,
    may_send_files,
};
pub use filters::{CompiledFilters, FilterAct, Filters, Hit, HitKind, Links, Pattern};
pub use forward::{Forwarded, NewForward};
pub use gather::{UnpublishedPage, is_gathered, publishes_all};
pub use guest::GuestProof;
pub use held::{Held, HeldPlace, HeldState, HeldStore, HeldWhy, Kept, MOST_HELD, MOST_WAITING, NewHeld};
pub use id::{
    ConversationId, DeviceId, Position, Seq, SessionHandle, SessionId, SiteId, Sub, Timestamp, UserId,
};
pub use import::{
    IMPORT_JOB, ImportFloor, ImportItem, ImportJob, ImportKey, ImportMessage, ImportOutcome, ImportRefusal,
    ImportRules, ImportStore, ImportTo, Imported, Late, imported_client_id,
};
pub use marker::markers_after;
pub use merge::{Merge, MergeStore};
pub use moderation::{
    AuditEntry, AuditPage, By, DeviceBan, EVIDENCE_AFTER_ERASURE_MS, EVIDENCE_MS, Ended, FilterTest,
    LINES_AROUND, MOST_BANNED_DEVICES, MOST_OPEN_REPORTS, Moderate, Moderated, ModerationStore, ModeratorAct,
    NewReport, Notice, NoticeKind, REASON_BYTES, ReportAbout, ReportLine, ReportOf, ReportReason, ReportRow,
    ReportState, ReportsPage, RoleClaim, Sanction, SanctionKind, SiteAct, SiteRole, SiteStanding, SiteState,
    kept_with_report, may_decide_report, may_on_site, until_and_reason,
};
pub use node::{Limits, Node, NodeConfig, Outbox};
pub use notify::{
    Digest, MAIL_EVERY_MS, MOST_CALLS_COUNTED, MOST_IN_DIGEST, MOST_PUSH_DEVICES, MOST_SKIPPED, MailAddress,
    MailDue, MailView, Mailer, News, Notifier, NotifyChange, NotifyFacts, NotifySettings, NotifyStore,
    NotifyView, Push, PushDevice, PushNotice, QuietHours, Ring, Talk,
};
pub use owner::{Caller, NotSet, SiteNotSet, Told};
pub use poll::{CHOICE_BYTES, Choice, FEWEST_CHOICES, MOST_CHOICES, NewPoll, Poll};
pub use preview::{NewPicture, NewPreview, Preview, PreviewWanted, Previewer, first_link};
pub use privacy::{Audience, Privacy, Signal, Visibility};
pub use profile::{
    NameChange, OwnCard, ProfileCard, ProfileChange, ProfileStore, ProfileView, STATUS_CHARS, Status,
};
pub use raid::Raid;
pub use reactions::{NAMED, Reaction, room_for};
pub use refusal::Refusal;
pub use request_limits::{RequestKind, RequestRates};
pub use requests::{
    LinkRule, Request, RequestAnswer, RequestAnswered, RequestRules, RequestStore, RequestTold, Requested,
    first_contact, has_link, is_stranger,
};
pub use retention::{Retention, RetentionStore, RoomRetention, TRIM_SLICE, Trim, Trimmed};
pub use rich::{InThread, NewRich, Replies, Rich, ThreadCount};
pub use room::{
    Act, AddAs, AddMember, AddOutcome, AddRule, AvatarChange, BeforeAdd, EVERYBODY, Invitation, Invited,
    Joined, KeptSanction, LeftReason, LinkCode, LinkStore, MOST_BLOCKED_LOOKED_AT, MOST_LEFT_BY_BLOCK,
    MOST_LINKS, MOST_LINKS_EACH, MOST_MENTIONED, MOST_ROOM_ANSWERS, MOST_ROOM_REQUESTS, MOST_SEEN_BY,
    Markers, MemberAction, MemberChanged, MemberRow, MembersPage, NewLink, NewRoom, PageKey, Post, Posted,
    Role, Room, RoomAvatar, RoomChange, RoomChanged, RoomKind, RoomLimits, RoomLink, RoomMembers, RoomName,
    RoomRequestState, RoomRequestStore, RoomSanction, RoomSanctionKind, RoomStore, RoomsPage, Rules,
    SanctionedPage, Standing, add_outcome, after_sanction, is_left_out, keeps_links, kept_sanction, may,
    may_as_site_moderator, may_make_link, may_show, mentioned, requested_conversation, sanction_behind,
    takes_link,
};
pub use search::{Word, words};
pub use settings::{Settings, SettingsError};
pub use sign_in_log::{Door, SignInLog, SignInOutcome, SignInRecord};
pub use site::{Mode, Secret, SecretKind, Site};
pub use site_change::{
    MOST_KEYS, SignOut, SiteAuthor, SiteChange, SiteNotChanged, SiteProfile, is_origin, public_key,
};
pub use stats::Stats;
pub use sticker::{
    MOST_STICKERS, NewSticker, NoSticker, SERIES_BYTES, STICKER_BYTES, SendSticker, Sticker, StickerId,
    StickerStore, WORDS_BYTES,
};
pub use store::{
    Append, Appended, ChangeMessage, ChangedMessage, ContactRow, ContactsPage, ConversationOf,
    ConversationRow, ConversationsPage, Done, FoundPage, HistoryPage, MOST_BLOCKED_FIRST, MarkerRow, Met,
    PeoplePage, Profile, Relation, ResumeFrom, Revision, Search, Snapshot, Store, StoreError, StoredMessage,
    TokenUser, UserRow,
};
pub use thread::{MOST_THREADS, Thread, ThreadChange, ThreadRow, ThreadStore};
pub use trust::{Level, Trust, level};
