//! Settings of the gateway, and the state that its workers share.

use std::sync::Arc;
use std::time::Duration;

use chat::{Node, Timestamp};
use edge::Mailboxes;
use edge::tls::Acceptor;
use xmpp_proto::xml::Limits;

use crate::gateway::Mail;
use crate::{Counters, Streams};

#[derive(Debug, Clone)]
pub struct XmppConfig {
    /// One for each listener of the connection layer, in its order.
    pub listeners: Vec<ListenerRole>,
    /// Of authenticated clients. Default: 256 KiB a stanza.
    pub limits: Limits,
    /// A client must be signed in this long after its stream was opened. Default 30 s.
    pub negotiation: Duration,
    /// A client that sends nothing, not even whitespace, for this time is asked by a ping, and disconnected if it does not
    /// answer within [`answer`](Self::answer). Default 5 minutes.
    pub idle: Duration,
    /// Default 60 s.
    pub answer: Duration,
}

impl Default for XmppConfig {
    fn default() -> XmppConfig {
        XmppConfig {
            listeners: Vec::new(),
            limits: Limits::default(),
            negotiation: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            answer: Duration::from_secs(60),
        }
    }
}

impl XmppConfig {
    /// A connection without a listener of this gateway gets nothing that needs one.
    pub(crate) fn role(&self, listener: usize) -> ListenerRole {
        self.listeners.get(listener).cloned().unwrap_or_default()
    }
}

/// What a listener offers to clients.
#[derive(Debug, Clone, Default)]
pub struct ListenerRole {
    /// For STARTTLS; None: the listener has no certificate.
    pub tls: Option<Acceptor>,
    /// Clients may sign in without TLS. Only for tests and load runs on one machine.
    pub allows_plain: bool,
}

/// State that all workers share.
pub struct Shared {
    pub node: Arc<Node>,
    pub mailboxes: Mailboxes<Mail>,
    pub config: XmppConfig,
    pub counters: Arc<Counters>,
    /// Streams that can be resumed.
    pub streams: Streams,
}

/// The domain's time.
pub(crate) fn timestamp(now: edge::Now) -> Timestamp {
    Timestamp(now.unix_ms)
}
