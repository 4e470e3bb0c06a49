//! What an operator may set of the gateway, and what its workers share.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use chat::Port;
use edge::Mailboxes;
use http_proto::proxies::TrustedProxies;

use crate::assets::Assets;
use crate::counters::Counters;
use crate::files::Links;
use crate::gateway::Mail;
use crate::key::SessionKeys;

#[derive(Debug, Clone)]
pub struct WebConfig {
    /// Longest frame, and longest POST body on the realtime routes. Default 64 KiB.
    pub frame_bytes: u32,
    /// Longest body of a request for the pages and REST. Default 64 KiB.
    pub rest_body_bytes: usize,
    /// Longest answer of the pages and REST. Default 8 MiB.
    pub rest_answer_bytes: usize,
    /// Between heartbeats on stream and SSE. Default 10 s.
    pub heartbeat: Duration,
    /// Silence after which a WebSocket session ends. Default 120 s.
    pub idle: Duration,
    /// How long a poll waits for an event. Default 25 s.
    pub poll_wait: Duration,
    /// How long a poll session lives without a poll. Default 30 s.
    pub poll_gap: Duration,
    /// From the connection to the hello. Default 10 s.
    pub hello: Duration,
    /// For the head of a request, once it has begun. Default 10 s.
    pub head: Duration,
    /// For the body of a request. Default 30 s.
    pub body: Duration,
    /// For a connection without a request. Default 60 s.
    pub keep_alive: Duration,
    /// Proxies that may name the address of a client.
    pub trusted_proxies: TrustedProxies,
    /// Output that a session may have waiting before typing notices are dropped. Default 64 KiB.
    pub soft_limit: usize,
    /// Output that a session may have waiting before it is *behind*. Default 256 KiB.
    pub hard_limit: usize,
    /// `GET /v1/echo` is a plain WebSocket echo, for conformance suites. The connection layer's output limit
    /// must have room for [`ECHO_BYTES`](crate::ECHO_BYTES). Default off.
    pub echo: bool,
    /// The gateway for XMPP on this port. Default None: this node has none.
    pub xmpp: Option<OtherGateway>,
    /// Longest file that members may send; 0: none.
    pub file_bytes: u64,
    /// How files are reached.
    pub links: Links,
}

/// A gateway of the same workers that answers some paths: see [`edge::Io::hand_over`].
#[derive(Debug, Clone, Copy)]
pub struct OtherGateway {
    pub number: usize,
    pub takes_path: fn(&str) -> bool,
}

impl Default for WebConfig {
    fn default() -> WebConfig {
        WebConfig {
            frame_bytes: 64 * 1024,
            rest_body_bytes: 64 * 1024,
            rest_answer_bytes: 8 * 1024 * 1024,
            heartbeat: Duration::from_secs(10),
            idle: Duration::from_secs(120),
            poll_wait: Duration::from_secs(25),
            poll_gap: Duration::from_secs(30),
            hello: Duration::from_secs(10),
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            keep_alive: Duration::from_secs(60),
            trusted_proxies: TrustedProxies::default(),
            soft_limit: 64 * 1024,
            hard_limit: 256 * 1024,
            echo: false,
            xmpp: None,
            file_bytes: 0,
            links: Links::default(),
        }
    }
}

impl WebConfig {
    /// The limits for a welcome, ours and the domain's.
    pub(crate) fn limits_in_welcome(&self, limits: &chat::Limits) -> web_proto::Limits {
        let ms = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        web_proto::Limits {
            body_bytes: limits.body_bytes,
            frame_bytes: self.frame_bytes,
            page: limits.page,
            watch: limits.watch,
            idle_ms: ms(self.idle),
            heartbeat_ms: ms(self.heartbeat),
            file_bytes: self.file_bytes,
        }
    }
}

/// State that the gateways of all workers share.
pub struct Shared {
    pub node: Port,
    pub mailboxes: Mailboxes<Mail>,
    pub config: WebConfig,
    pub assets: Assets,
    pub counters: Arc<Counters>,
    /// Everything that is neither realtime nor an asset.
    pub router: Router,
    pub runtime: tokio::runtime::Handle,
    pub keys: SessionKeys,
}
