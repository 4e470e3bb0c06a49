//! Kith's domain: who is here, who may write to whom, what was said, and who must hear of it.
//!
//! It knows no XML, JSON, SQL or NATS, reads no clock and draws no randomness (`now` and `rng` are
//! arguments). It meets the world through ports: [`Store`] keeps what must survive, [`Outbox`] carries
//! events to the sessions of a gateway.
//!
//! Read first: [`Node`] (what gateways call), [`Event`] (what they hear back), [`Store`].

mod event;
mod id;
mod node;
mod refusal;
mod site;
mod store;

pub mod memory;

pub use event::{
    Changes, Contact, ContactState, Conversation, Event, Gap, Message, Person, Presence, Welcome,
};
pub use id::{
    ConversationId, DeviceId, Position, Seq, SessionHandle, SessionId, SiteId, Sub, Timestamp, UserId,
};
pub use node::{
    Command, ContactAction, ConversationChange, Hello, Limits, MarkerSet, Node, NodeConfig, Outbox, PageOf,
    SetPresence, To,
};
pub use refusal::Refusal;
pub use site::{Mode, Secret, SecretKind, Site};
pub use store::{
    Append, Appended, ContactRow, ContactsPage, ConversationRow, ConversationsPage, Done, HistoryPage,
    MarkerRow, Met, PeoplePage, Profile, Relation, ResumeFrom, Snapshot, Store, StoreError, StoredMessage,
    UserRow,
};
