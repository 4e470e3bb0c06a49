//! Settings of the gateway, and the state that its workers share.

use std::sync::Arc;
use std::time::Duration;

use chat::{File, FileId, FileLimits, Port, SiteId, Timestamp};
use edge::Mailboxes;
use edge::tls::Acceptor;
use http_proto::proxies::TrustedProxies;
use xmpp_proto::xml::Limits;

use crate::gateway::Mail;
use crate::s2s::{Servers, ServersAtHome};
use crate::transport::Framing;
use crate::transport::passed_on::PassedOn;
use crate::{Counters, RemoteUsers, Streams};

/// Addresses with which clients upload and download files without a session. All are absolute URLs.
pub trait FileLinks: Send + Sync + std::fmt::Debug {
    /// An address that opens this file for a limited time.
    fn link(&self, file: &File) -> String;
    /// The addresses of a new file, as XEP-0363 §4 describes them. Anybody who has `get` can download the file, as long as the
    /// node keeps files that are in no message.
    fn slot(&self, id: FileId, name: &str) -> FileSlot;
    /// The file of an address that opens it now. None: the address is no such one of this node.
    fn named(&self, url: &str) -> Option<FileId>;
    /// The node's limits, which the domain checks.
    fn limits(&self) -> FileLimits;
}

/// See [`FileLinks::slot`].
#[derive(Debug, Clone)]
pub struct FileSlot {
    pub put: String,
    pub get: String,
    /// The value of the field `Authorization` of the upload.
    pub authorization: String,
}

#[derive(Debug, Clone)]
pub struct XmppConfig {
    /// One for each listener of the connection layer, in its order.
    pub listeners: Vec<ListenerRole>,
    /// None: no streams on the port of the web.
    pub web: Option<WebTransports>,
    /// None: no connections that a front has accepted.
    pub passed_on: Option<PassedOn>,
    /// None: the node has no files.
    pub files: Option<Arc<dyn FileLinks>>,
    /// None: no streams between servers.
    pub servers: Option<Servers>,
    /// This node is a front, whose home has the users of other servers and the components.
    pub home: Option<Arc<dyn ServersAtHome>>,
    /// Of authenticated clients. Default: 256 KiB a stanza.
    pub limits: Limits,
    /// A client must be signed in this long after its stream was opened. Default 30 s.
    pub negotiation: Duration,
    /// A client that sends nothing, not even whitespace, for this time is asked by a ping, and disconnected if it does not
    /// answer within [`answer`](Self::answer). Default 5 minutes.
    pub idle: Duration,
    /// The same for a stream on the port of the web, because proxies close silent connections. Default 90 s.
    pub idle_on_web: Duration,
    /// Default 60 s.
    pub answer: Duration,
    /// For a connection on the port of the web without a request. Default 60 s.
    pub keep_alive: Duration,
}

impl Default for XmppConfig {
    fn default() -> XmppConfig {
        XmppConfig {
            listeners: Vec::new(),
            web: None,
            passed_on: None,
            files: None,
            servers: None,
            home: None,
            limits: Limits::default(),
            negotiation: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            idle_on_web: Duration::from_secs(90),
            answer: Duration::from_secs(60),
            keep_alive: Duration::from_secs(60),
        }
    }
}

impl XmppConfig {
    pub(crate) fn idle(&self, framing: Framing) -> Duration {
        match framing {
            Framing::Tcp => self.idle,
            Framing::WebSocket | Framing::Bosh => self.idle_on_web,
        }
    }

    /// A connection without a listener of this gateway gets nothing that needs one.
    pub(crate) fn role(&self, listener: usize) -> ListenerRole {
        self.listeners.get(listener).cloned().unwrap_or_default()
    }
}

/// Makes the addresses that messages of a site have.
#[derive(Clone)]
pub(crate) struct Links {
    pub(crate) shared: Arc<Shared>,
    pub(crate) site: SiteId,
}

impl Links {
    /// None: the node has no files.
    pub(crate) fn files(&self) -> Option<&Arc<dyn FileLinks>> {
        self.shared.config.files.as_ref()
    }

    /// A page with the widget, if the site has told its origins.
    pub(crate) fn page(&self) -> Option<String> {
        self.shared.node.page(self.site)
    }
}

/// What a listener offers.
#[derive(Debug, Clone, Default)]
pub struct ListenerRole {
    pub peers: Peers,
    /// For STARTTLS; None: the listener has no certificate.
    pub tls: Option<Acceptor>,
    /// Clients may sign in without TLS. Only for tests and load runs on one machine.
    pub allows_plain: bool,
}

/// The other ends of the connections of a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Peers {
    #[default]
    Clients,
    /// TLS is required, and the certificates of clients are asked for.
    Servers,
    /// Programs of the operator (XEP-0114), without TLS.
    Components,
}

/// Streams on the port of the web, whose gateway hands over the connections.
#[derive(Debug, Clone)]
pub struct WebTransports {
    /// The number of the gateway that answers all other paths.
    pub pages: usize,
    /// Their header fields tell the client's address, and whether it uses https.
    pub trusted_proxies: TrustedProxies,
    /// Clients may connect without TLS.
    pub allows_plain: bool,
    /// The address of the web for browsers, with its scheme. None: that of each request.
    pub public_url: Option<Box<str>>,
}

/// State that all workers share.
pub struct Shared {
    pub node: Port,
    pub mailboxes: Mailboxes<Mail>,
    pub config: XmppConfig,
    pub counters: Arc<Counters>,
    /// Streams that can be resumed.
    pub streams: Arc<Streams>,
    /// Users of other servers who have a session.
    pub remote_users: RemoteUsers,
}

/// The domain's time.
pub(crate) fn timestamp(now: edge::Now) -> Timestamp {
    Timestamp(now.unix_ms)
}
