//! A running node's domain: what gateways call.

use std::sync::Arc;

use crate::{
    ConversationId, DeviceId, Event, Position, Refusal, Seq, SessionHandle, SessionId, Store, Sub, Timestamp,
};

/// The way back to sessions. Called from any thread, often inside the store's commit thread: must not
/// block, and must keep the order of calls for each session.
pub trait Outbox: Send + Sync + 'static {
    fn deliver(&self, to: SessionHandle, event: Event);
    /// The same event for many; a gateway encodes it once.
    fn deliver_all(&self, to: &[SessionHandle], event: Event) {
        for &handle in to {
            self.deliver(handle, event.clone());
        }
    }
}

/// Settings of a node.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    pub limits: Limits,
    /// How long a user stays visible after the last session has dropped without `bye`.
    pub presence_grace_ms: u64,
    /// Changes of presence are collected so long and told once.
    pub presence_coalesce_ms: u64,
    pub clock_skew_ms: u64,
}

/// What is accepted from clients; told to them in the welcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub body_bytes: u32,
    pub page: u32,
    pub watch: u32,
    pub contacts: u32,
    pub sessions_per_user: u32,
    pub sessions_per_site: u32,
    /// Messages: so many at once, then so many per minute. 0: no limit.
    pub send_burst: u32,
    pub send_per_minute: u32,
    /// All other commands likewise.
    pub command_burst: u32,
    pub command_per_minute: u32,
    /// All messages of one site, per second. 0: no limit.
    pub site_sends_per_second: u32,
}

/// What a client says first.
pub struct Hello<'a> {
    pub site_key: &'a str,
    /// None: as a guest.
    pub token: Option<&'a str>,
    pub device: DeviceId,
    pub position: Option<Position>,
    /// Origin header of the request, where there was one.
    pub origin: Option<&'a str>,
}

/// A command of a signed-in session.
#[derive(Debug, Clone)]
pub enum Command {
    Send { client_id: Box<str>, to: To, body: Box<str>, reply_to: Option<Seq> },
    Marker { conversation: ConversationId, set: MarkerSet },
    Typing { to: To, on: bool },
    SetPresence(SetPresence),
    Watch { users: Vec<Sub> },
    Contact { re: u64, action: ContactAction, user: Sub },
    Contacts { re: u64, page: PageOf },
    People { re: u64, query: Option<String>, page: PageOf },
    Profiles { re: u64, users: Vec<Sub> },
    Conversations { re: u64, archived: bool, page: PageOf },
    Conversation { re: u64, conversation: ConversationId, change: ConversationChange },
    History { re: u64, to: To, before: Option<Seq>, after: Option<Seq>, limit: Option<u32> },
    Resume { re: u64, position: Option<Position> },
    Token { re: u64, token: String },
}

/// Whom a command is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    User(Sub),
    Conversation(ConversationId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerSet {
    Received(Seq),
    Read(Seq),
}

/// The presence that a user chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SetPresence {
    #[default]
    Online,
    Away,
    Busy,
    Invisible,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactAction {
    Request,
    Accept,
    Decline,
    Remove,
    Block,
    Unblock,
}

/// Fields that are None stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConversationChange {
    pub muted_until: Option<Timestamp>,
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
}

/// One page of a list: after the `next` of the page before.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageOf {
    pub after: Option<String>,
    pub limit: Option<u32>,
}

/// The domain of one running node; shared by all workers and the tokio side.
pub struct Node {
    _store: Arc<dyn Store>,
    _outbox: Arc<dyn Outbox>,
}

impl Node {
    pub fn new(
        _config: NodeConfig,
        _store: Arc<dyn Store>,
        _outbox: Arc<dyn Outbox>,
        _rng_seed: [u8; 32],
    ) -> Node {
        todo!()
    }
    /// Checks the token and begins the session. The outcome comes as `Event::Welcome` or `Event::Bye` for
    /// `handle`; nothing else is delivered to it before.
    pub fn sign_in(&self, _hello: Hello<'_>, _handle: SessionHandle, _now: Timestamp) {
        todo!()
    }
    /// Carries out a command of a signed-in session; answers come as events.
    pub fn command(&self, _session: SessionId, _command: Command, _now: Timestamp) {
        todo!()
    }
    /// The session's connection is gone. `on_purpose`: the client said `bye`, presence ends at once.
    pub fn disconnected(&self, _session: SessionId, _on_purpose: bool, _now: Timestamp) {
        todo!()
    }
    /// A gateway dropped this session's queue (it read too slowly). Until the client's `Resume`, the domain
    /// delivers nothing to it.
    pub fn behind(&self, _session: SessionId) {
        todo!()
    }
    /// Runs what is due: presence grace and coalescing, token expiry, reload of sites. Call every 100 ms.
    pub fn tick(&self, _now: Timestamp) {
        todo!()
    }
    /// May a page of this origin talk to this site at all? For CORS, before a hello. Err: no such site.
    pub fn origin_allowed(&self, _site_key: &str, _origin: &str) -> Result<bool, Refusal> {
        todo!()
    }
}
