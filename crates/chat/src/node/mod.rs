//! The domain of a running node, as gateways call it.
//!
//! # Locks
//!
//! Shared tables, each behind short locks of its own; **no two are held at once, and none while the store or
//! an outbox is called**, with the exceptions below:
//!
//! | table | file | sharded by | kept |
//! |---|---|---|---|
//! | connected users, their sessions, held events | `session/table.rs` | user | while connected |
//! | connected users, one bit each | `session/roll.rs` | site; under the lock of a user's shard | always |
//! | requests by user, address and site | `session/request_limits.rs` | – | bounded |
//! | failed checks of app passwords | `sign_in/guesses.rs` | – | bounded |
//! | pending logins and messages, their rate | `session/admission.rs` | – | always |
//! | *publishing* | `session/delivery.rs` | – | – |
//! | sites | `site/live.rs` | – | always; a second lock, over the table's, for changes |
//! | recent users, relations, contact lists | `users/cache.rs` | key | while in use, bounded |
//! | presence that waits for the next round | `presence/mod.rs` | –; under the lock of a user's shard | bounded |
//! | watches of presence | `presence/watch.rs` | session, then watched user: these two may be held together | while watching |
//! | watches from another node that are not looked up yet | `presence/watch.rs` | – | one for each adopted session |
//! | pending contact changes | `contacts/mod.rs` | – | while pending |
//! | pending and shown notices | `notifications/queue.rs` | – | bounded |
//! | the end of the next sanction | `moderation/mod.rs` | – | always |
//! | banned devices | `moderation/device_bans.rs` | – | always |
//! | direct calls and calls of rooms, with their users | `calls/table.rs` | site; over the lock of a user's shard, and while their events are handed to the outbox, and changes to the observer | while they last, bounded |
//! | occupants of rooms | `rooms/occupancy.rs` | –; while their events are handed to the outbox | while sessions are in the room |
//! | unpublished joins and leaves of rooms | `rooms/joins.rs` | – | bounded |
//! | unpublished reactions and votes of large rooms | `messages/gather.rs` | – | bounded |
//! | bytes of whole messages by room | `messages/whole_messages.rs` | – | bounded |
//! | import floors, and users who wait for a publication | `import/live.rs` | – | a number per site; bounded |
//! | new guests by address | `sign_in/guests.rs` | – | bounded |
//! | sessions that are being adopted, and their commands | `sign_in/adopt.rs` | – | until they are adopted; 64 commands each |
//! | randomness | `rng.rs` | – | always |
//!
//! *Publishing* is the exception, and no table. It is held while an event with a position is planned and
//! handed to the outbox, so that a resume can wait for it. Planning locks a user's shard; the outbox does not block.
//!
//! Stored changes are delivered inside the store's completion, which runs in commit order on one thread. A
//! [`Position`] is only correct because of that order.

mod admit;
mod housekeeping;
mod port;
mod remote;
mod requests;
mod rest;
mod services;
mod wiring;

pub use remote::{Port, PortAnswer, PortNote, PortQuestion, RemoteNode};

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

#[cfg(doc)]
use crate::Position;
use crate::account::Account;
use crate::calls::Calls;
use crate::contacts::Contacts;
use crate::import::Import;
use crate::messages::Messages;
use crate::moderation::Moderation;
use crate::notifications::Notifications;
use crate::presence::Presences;
use crate::rooms::Rooms;
use crate::session::Sessions;
use crate::session::request_limits::RequestLimits;
use crate::sign_in::SignIn;
use crate::sign_in::log::SignInRecords;
use crate::site::live::Sites;
use crate::stats::Counters;
use crate::users::Users;
use crate::{Command, NodeConfig, Refusal, Request, SessionId, Store, Timestamp};

/// The domain of one running node; shared by all workers and the tokio side.
pub struct Node {
    inner: Arc<Inner>,
}

/// The parts of the domain, and the node's own state. Parts use only those that their constructors take,
/// never this.
pub(crate) struct Inner {
    pub(crate) config: Arc<NodeConfig>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) sites: Arc<Sites>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) presences: Arc<Presences>,
    pub(crate) users: Arc<Users>,
    pub(crate) contacts: Arc<Contacts>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) requests: Arc<RequestLimits>,
    pub(crate) notifications: Arc<Notifications>,
    pub(crate) messages: Arc<Messages>,
    pub(crate) account: Arc<Account>,
    pub(crate) import: Arc<Import>,
    pub(crate) records: Arc<SignInRecords>,
    pub(crate) sign_in: Arc<SignIn>,
    pub(crate) rooms: Arc<Rooms>,
    pub(crate) counters: Arc<Counters>,
    /// The store's revision that the tables reflect.
    revision: AtomicU64,
    /// Held during a tick, so that two ticks never overlap.
    ticking: Mutex<()>,
    pub(crate) moderation: Arc<Moderation>,
}

impl Node {
    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

impl Inner {
    /// Hands a command to its part, with the context from its admission.
    fn dispatch(&self, session: SessionId, request: Request, now: Timestamp) {
        let context = match self.admit(session, &request, now) {
            Ok(context) => context,
            Err(Refusal::NoSession) => return self.sessions.bye(session.handle, Refusal::NoSession),
            Err(refusal) => return self.sessions.refuse(session.handle, request.answer_to(), refusal),
        };
        match request.command {
            Command::Account(command) => self.account.carry_out(context, command),
            Command::Calls(command) => self.calls.carry_out(context, command),
            Command::Contacts(command) => self.contacts.carry_out(context, command),
            Command::Messages(command) => self.messages.carry_out(context, command),
            Command::Moderation(command) => self.moderation.carry_out(context, command),
            Command::Notifications(command) => self.notifications.carry_out(context, command),
            Command::Presence(command) => self.presences.carry_out(context, command),
            Command::Rooms(command) => self.rooms.carry_out(context, command),
            Command::SignIn(command) => self.sign_in.carry_out(context, command),
        }
    }
}
