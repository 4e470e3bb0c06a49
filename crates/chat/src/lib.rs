//! Kith's domain: who is here, who may write to whom, what was said, and who must hear of it.
//!
//! It knows no XML, JSON (but that of tokens), SQL or NATS, reads no clock and draws no randomness (`now` and `rng` are
//! arguments). It meets the world through ports: [`Store`] keeps what must survive, [`Outbox`] carries
//! events to the sessions of a gateway.
//!
//! Read first: [`Node`] (what gateways call), [`Event`] (what they hear back), [`Store`].

mod admission;
mod cache;
mod call;
mod changes;
mod command;
mod contacts;
mod conversations;
mod delivery;
mod event;
mod guest;
mod id;
mod limits;
mod marker;
mod node;
mod peer;
mod people;
mod presence;
mod reactions;
mod refusal;
mod resume;
mod roll;
mod room;
mod search;
mod send;
mod session;
mod sign_in;
mod site;
mod sites;
mod stats;
mod store;
mod typing;
mod watch;
mod watch_contacts;

pub mod directory;
pub mod memory;
pub mod token;

pub use call::{
    AWAY_MS, CANDIDATE_BYTES, CallAction, CallConfig, CallEntry, CallEvent, CallId, CallNews, CallStep,
    CallTicket, CallsFrom, DESCRIPTION_BYTES, Ice, IceTurn, Media, Outcome, RINGS_MS, Turn, is_call_entry,
};
pub use changes::{REVISIONS, may_change, may_change_in_room, may_edit};
pub use command::{
    Command, ContactAction, ConversationChange, Hello, MarkerSet, MessageChange, PageOf, SetPresence, To,
};
pub use event::{
    Changes, Contact, ContactState, Conversation, Event, Gap, Member, Message, Person, Presence, Reactions,
    Welcome, With,
};
pub use id::{
    ConversationId, DeviceId, Position, Seq, SessionHandle, SessionId, SiteId, Sub, Timestamp, UserId,
};
pub use node::{Limits, Node, NodeConfig, Outbox};
pub use reactions::{NAMED, Reaction, room_for};
pub use refusal::Refusal;
pub use room::{
    Act, EVERYBODY, Joined, LeftReason, MOST_MENTIONED, MemberAction, MemberChanged, MemberRow, MembersPage,
    NewRoom, PageKey, Post, Posted, Role, Room, RoomChange, RoomChanged, RoomKind, RoomLimits, RoomName,
    RoomStore, RoomsPage, Rules, Standing, may, mentioned,
};
pub use search::{Word, words};
pub use site::{Mode, Secret, SecretKind, Site};
pub use stats::Stats;
pub use store::{
    Append, Appended, ChangeMessage, ChangedMessage, ContactRow, ContactsPage, ConversationOf,
    ConversationRow, ConversationsPage, Done, FoundPage, HistoryPage, MarkerRow, Met, PeoplePage, Profile,
    Relation, ResumeFrom, Revision, Search, Snapshot, Store, StoreError, StoredMessage, UserRow,
};
