//! Kith's domain: presence, rights, messages, and the receivers of each event.
//!
//! It knows no XML, no JSON except that of tokens, no SQL and no NATS. It reads no clock and draws no
//! randomness: `now` and `rng` are arguments. Two ports connect it to the world: [`Store`] keeps durable
//! data, and [`Outbox`] carries events to the sessions of a gateway.
//!
//! Read first: [`Node`] (the calls of gateways), [`Event`] (the answers to them), [`Store`].

pub mod account;
mod address;
mod call_entry;
pub mod calls;
mod command;
mod config;
mod contact_list;
pub mod contacts;
mod event;
mod file;
mod id;
mod import;
mod limits;
pub mod messages;
pub mod moderation;
mod node;
pub mod notifications;
mod observer;
pub mod presence;
mod privacy;
mod refusal;
mod relation;
mod rng;
pub mod rooms;
mod serialize;
pub mod session;
pub mod sign_in;
mod site;
mod stats;
mod store;
mod users;

pub use account::app_passwords::{
    APP_PASSWORD_NAME_BYTES, APP_TOKEN_MS, APP_TOKEN_REPLACED_AFTER_MS, AppCredentials, AppDevice,
    AppDeviceOf, AppPassword, AppPasswordKeys, AppPasswordRow, AppPasswordShown, AppPasswordStore, AppToken,
    AppTokenFor, AppTokenSecret, AppTokenStore, AppTokenUse, AppTokens, CHOSEN_CHARS, ITERATIONS,
    KnownAppPassword, MOST_APP_PASSWORDS, MOST_APP_TOKENS, NewAppPassword, NotChosen, SALT_BYTES, ScramKeys,
    ScramPair, StoredCredentials, StoredKeys, app_password_name, may_add_app_password,
    may_manage_app_passwords, notes_app_password_use,
};
pub use account::devices::{
    Agent, Browser, DeviceRow, DeviceStore, KnownDevice, MOST_DEVICES, NewDevice, SignedOut, System,
};
pub use account::erasure::{
    ERASE_SLICE, EraseSlice, EraseStore, Erased, ErasedSanction, MOST_RENAMED, MessagesAfterErasure,
    NewErasure, Renamed, UNANSWERED_MS, sanctions_after_erasure,
};
pub use account::export::{ExportPage, ExportStore, Exported, ExportedItem};
pub use account::guest_merge::{Merge, MergeStore};
pub use account::items;
pub use account::items::ItemStore;
pub use account::pictures::{
    MadePicture, NewOwnPicture, OWN_PICTURE_BYTES, OwnPictureChange, OwnPictureId, OwnPictureStore,
    PUBLISHED_PICTURE_BYTES, PictureMaker, PictureSource, PublishedPicture,
};
pub use account::profile::{
    NameChange, OwnCard, ProfileCard, ProfileChange, ProfileStore, ProfileView, STATUS_CHARS, Status,
};
pub use account::store::AccountStore;
pub use call_entry::{CallEntry, Media, Outcome, RINGS_MS};
pub use calls::store::{CallStore, NewCallEntry, PostedCall};
pub use calls::{
    AWAY_MS, CANDIDATE_BYTES, CallAction, CallConfig, CallEvent, CallNews, CallRecord, CallServers, CallStep,
    CallTicket, DESCRIPTION_BYTES, GroupAction, GroupEvent, GroupNews, GroupSignal, GroupStanding,
    GroupUnderWay, Ice, IceTurn, MOST_MEMBERS_CALLED, Participant, Place, Turn,
};
pub use command::{Command, PageOf, Pending, Request, To};
pub use config::{Limits, NodeConfig, RoomLimits};
pub use contact_list::{ContactCard, ContactHead, ContactList, GROUP_END};
pub use contacts::message_requests::{
    LinkRule, MessageRequest, RequestAnswer, RequestAnswered, RequestDay, RequestNotice, RequestRules,
    RequestStore, Requested, first_contact, is_stranger,
};
pub use contacts::note::{ContactNote, MOST_GROUPS, NOTE_NAME_CHARS};
pub use contacts::store::{ContactPair, ContactStore, ContactsPage, MOST_BLOCKED_FIRST, PeoplePage};
pub use contacts::{ContactAction, SubscriptionAction};
pub use event::{
    Changes, Contact, ContactChange, ContactState, Conversation, Delivery, Event, Gap, Member,
    MemberSanction, Message, Person, Presence, Reactions, Welcome, WhenBehind, WhenSlow, With,
};
pub use file::{File, FileType, Peaks, Picture};
pub use id::{
    CallId, ConversationId, DeviceId, FileId, Position, Seq, SessionHandle, SessionId, SiteId, Slot, Sub,
    Timestamp, UserId,
};
pub use import::{
    IMPORT_JOB, ImportFloor, ImportItem, ImportJob, ImportKey, ImportMessage, ImportOutcome, ImportRefusal,
    ImportRules, ImportStore, ImportTo, Imported, Late, imported_client_id,
};
pub use messages::changes::{
    KeptRevisions, REVISION_BYTES, REVISIONS, drops_revision, may_change, may_change_in_room, may_edit,
    recorded_change,
};
pub use messages::conversations::{MOST_PINNED, may_pin};
pub use messages::counts::{Counted, CountedBy, Counts, PollCounts};
pub use messages::files::{
    ANSWER_WITHIN, Blob, Blobs, FileFound, FileLimits, FilePlace, FileRow, FileStore, Identified, MOST_FILES,
    MOST_LOOSE, MOST_OPEN, NewFile, Rendition, Reserve, Wish, file_name, has_room, may_begin_file,
    may_send_files,
};
pub use messages::forward::{Forwarded, NewForward};
pub use messages::gather::{UnpublishedPage, is_gathered, publishes_all};
pub use messages::held::{
    HeldPlace, HeldStore, HeldWhy, Kept, MOST_HELD, MOST_WAITING, NewHeld, forgets_oldest, may_wait,
};
pub use messages::link_previews::{NewPicture, NewPreview, Preview, PreviewWanted, Previewer, first_link};
pub use messages::markers::markers_after;
pub use messages::polls::{CHOICE_BYTES, Choice, FEWEST_CHOICES, MOST_CHOICES, NewPoll, Poll};
pub use messages::reactions::{NAMED, Reaction, room_for};
pub use messages::retention::{RetentionStore, TRIM_SLICE, Trimmed};
pub use messages::rich::{InThread, NewRich, Replies, Rich, ThreadCount};
pub use messages::search::{Word, words};
pub use messages::stickers::{
    MOST_STICKERS, NewSticker, NoSticker, SERIES_BYTES, STICKER_BYTES, SendSticker, Sticker, StickerId,
    StickerStore, WORDS_BYTES,
};
pub use messages::store::{
    ArchivePage, ArchiveRead, ChangeMessage, ConversationsPage, FoundPage, MarkerRow, MessageStore, Post,
    Posted, ReadFrom, Search,
};
pub use messages::threads::{MOST_THREADS, Thread, ThreadChange, ThreadRow, ThreadStore};
pub use messages::{
    ConversationChange, ConversationList, MOST_BLOCKED_LOOKED_AT, MarkerSet, MessageChange, is_left_out,
};
pub use moderation::{
    AuditEntry, AuditPage, DeviceBan, EVIDENCE_AFTER_ERASURE_MS, EVIDENCE_MS, Ended, FilterTest, Held,
    HeldSanction, HeldState, LINES_AROUND, MOST_BANNED_DEVICES, MOST_OPEN_REPORTS, Moderate, Moderated,
    ModerationStore, ModeratorAct, NewReport, Notice, NoticeKind, ReportAbout, ReportLine, ReportOf,
    ReportReason, ReportRow, ReportState, ReportsPage, Sanction, SanctionKind, SiteState, kept_with_report,
    lines_around, may_decide_report, may_report, standing_under, until_and_reason,
};
pub use node::{Node, Port, PortAnswer, PortNote, PortQuestion, RemoteNode};
pub use notifications::{
    AppPush, AppPushRow, AppWake, AppWaker, Digest, MAIL_EVERY_MS, MOST_APP_PUSHES, MOST_CALLS_COUNTED,
    MOST_IN_DIGEST, MOST_PUSH_DEVICES, MOST_SKIPPED, MailDue, MailView, Mailer, News, NotificationStore,
    Notifier, NotifyChange, NotifyFacts, NotifySettings, NotifyView, Push, PushDevice, PushNotice,
    QuietHours, Reached, Ring, Talk, digest_due,
};
pub use presence::store::PresenceStore;
pub use privacy::{Audience, Privacy, SetPresence, Signal, Visibility};
pub use refusal::Refusal;
pub use relation::{Relation, Side, Viewpoint};
pub use rooms::{
    Act, AddAs, AddMember, AddOutcome, AddRule, Alias, AvatarChange, BeforeAdd, Closing, Entered, Invitation,
    Invited, Joined, KeptSanction, LeftReason, LinkCode, LinkStore, MOST_CLOSED_AT_ONCE, MOST_ENTERED,
    MOST_LEFT_BY_BLOCK, MOST_LINKS, MOST_LINKS_EACH, MOST_NAMED_AT_ONCE, MOST_ROOM_ANSWERS,
    MOST_ROOM_REQUESTS, MOST_SEEN_BY, Markers, MemberAction, MemberList, MemberRow, MemberState, MembersPage,
    Named, Naming, NewLink, NewRoom, Nickname, NicknameChange, Nicknamed, Occupant, OccupantChange, PageKey,
    Role, Room, RoomAvatar, RoomChange, RoomChanged, RoomClosed, RoomKind, RoomLink, RoomMembers, RoomName,
    RoomRequestState, RoomRequestStore, RoomSanction, RoomSanctionKind, RoomStore, RoomsPage, Rules,
    SanctionedPage, Standing, add_outcome, keeps_links, kept_sanction, leaves_by_block, may,
    may_as_site_moderator, may_make_link, may_moderate_message, may_show, owner_may_leave,
    owner_may_step_down, requested_conversation, role_of_new, sanction_behind, standing_now,
    standing_to_write, state_under, state_without, takes_link,
};
pub use session::Outbox;
pub use session::admission::{Admission, UnderWay};
pub use session::record::SessionRecord;
pub use session::request_limits::{RequestKind, RequestRates};
pub use sign_in::log::{Door, SignInLog, SignInOutcome, SignInRecord};
pub use sign_in::store::{AppPasswordUser, Met, ResumeFrom, SignInStore, Snapshot, Waiting};
pub use sign_in::{Credential, Hello};
pub use site::caller::{Caller, NotSet, Respond, SiteNotSet};
pub use site::calls::{CallsFrom, MOST_IN_GROUP};
pub use site::change::{
    MOST_KEYS, REASON_BYTES, SignOut, SiteAuthor, SiteChange, SiteNotChanged, SiteProfile, is_origin,
    may_be_named, public_key,
};
pub use site::filters::{CompiledFilters, FilterAct, Filters, Hit, HitKind, Links, Pattern};
pub use site::guest_proof::GuestProof;
pub use site::links::has_link;
pub use site::mail_address::MailAddress;
pub use site::published::{PublishedSite, PublishedSites, SitesOfSlot};
pub use site::raid::Raid;
pub use site::retention::{Retention, RoomRetention, Trim};
pub use site::roles::{By, RoleClaim, SiteAct, SiteRole, SiteStanding, may_on_site};
pub use site::settings::{MemberPictures, Settings, SettingsError};
pub use site::store::SiteStore;
pub use site::trust::{Level, Trust, level};
pub use site::{Mode, Secret, SecretKind, Site};
pub use site::{settings, token};
pub use stats::Stats;
pub use store::{
    Append, Appended, ChangedMessage, ConversationOf, ConversationRow, Done, HistoryPage, MemberChanged,
    MessageKind, Profile, Revision, Store, StoreError, StoredMessage, TokenUser, UserRow,
};
pub use users::contact_ids::ContactIds;
pub use users::directory;
pub use users::mentions::{EVERYBODY, MOST_MENTIONED, mentioned};
pub use users::store::UserStore;
