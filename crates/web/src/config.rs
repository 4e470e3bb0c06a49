//! What an operator may set of the gateway.

use std::time::Duration;

#[derive(Debug, Clone)]
pub struct WebConfig {
    /// Longest frame of a client, and longest body of a realtime POST, in bytes.
    pub frame_bytes: u32,
    /// A WebSocket session that says nothing for so long ends.
    pub idle: Duration,
    /// Between heartbeats of the stream transports.
    pub heartbeat: Duration,
    /// How long a poll waits for an event.
    pub poll_wait: Duration,
    /// How long a poll session lives without a poll.
    pub poll_gap: Duration,
    /// Output that may wait for one session before its queue is dropped and it is *behind*. Must be well below
    /// the connection layer's `output_limit`.
    pub session_bytes: usize,
    /// Output over which typing and presence are dropped.
    pub soft_bytes: usize,
    /// Longest body of a request to the router, in bytes.
    pub request_bytes: usize,
    /// Longest body of a router's response, in bytes; it is held in memory once.
    pub response_bytes: usize,
    /// `GET /v1/echo`: a plain WebSocket echo for conformance suites.
    pub echo: bool,
    /// Longest message of the echo, in bytes. The connection layer's `output_limit` must be larger.
    pub echo_bytes: usize,
    /// Everybody may read `/metrics`, not only loopback peers that no proxy stands before.
    pub metrics_public: bool,
}

impl Default for WebConfig {
    fn default() -> WebConfig {
        WebConfig {
            frame_bytes: 64 * 1024,
            idle: Duration::from_secs(75),
            heartbeat: Duration::from_secs(10),
            poll_wait: Duration::from_secs(25),
            poll_gap: Duration::from_secs(30),
            session_bytes: 256 * 1024,
            soft_bytes: 64 * 1024,
            request_bytes: 1024 * 1024,
            response_bytes: 16 * 1024 * 1024,
            echo: false,
            echo_bytes: 16 * 1024 * 1024,
            metrics_public: false,
        }
    }
}

/// How long a head, a body and a `hello` may take, and how long an idle connection is kept.
pub(crate) const HEAD_TIME: Duration = Duration::from_secs(10);
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);
pub(crate) const HELLO_TIME: Duration = Duration::from_secs(10);
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// How long the router or the domain may take to answer a request.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(30);
