//! The web gateway: HTTP/1.1, WebSocket, Server-Sent Events, JSON lines and long poll over the connection layer.
//!
//! The API that `server` wires up, complete in the next commits:
//! `web::outbox(mailboxes: edge::Mailboxes<web::Mail>) -> impl chat::Outbox`,
//! `web::Assets::new(Vec<web::AssetFile { path, content_type, bytes, brotli, gzip, immutable }>)`,
//! `web::Shared::new(node, mailboxes, WebConfig, Assets, router: axum::Router, tokio: Handle, secret: [u8; 32])`,
//! `web::Gateway::new(worker: usize, shared: Arc<Shared>)`, `Shared::counters()`, `Shared::set_ready(bool)`.
#![allow(dead_code, unreachable_pub, unused_imports)]

mod ask;
mod body;
mod config;
mod http;
mod names;
mod tell;
mod websocket;

pub use config::WebConfig;
