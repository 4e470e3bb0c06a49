//! The web gateway: everything that a browser, or any client of the web protocol, says to a node.
//!
//! [`Gateway`] is an [`edge::Protocol`]: it reads HTTP/1.1 strictly, holds WebSocket, SSE, stream and poll sessions,
//! translates between `web_proto` and `chat`, answers the widget's files from memory, and passes every other request
//! as a whole to an axum router on the tokio side (`docs/design/one-owner-per-socket.md`).
//!
//! Deliberately not here: who may do what (`chat`), sockets and TLS (`edge`), the pages themselves (`server`).
//!
//! Read first: [`Gateway`], [`Shared`], `request.rs` (the routes), `live.rs` and `poll.rs` (sessions).

mod answer;
mod assets;
mod config;
#[cfg(test)]
mod cost;
mod counters;
mod credentials;
mod crowds;
mod fair_queue;
pub mod files;
mod framing;
mod gateway;
mod hand_over;
mod ice;
mod import;
mod key;
mod live;
mod missed;
mod own_pictures;
mod pieces;
mod poll;
mod request;
mod request_limit;
mod rest;
mod sign_in_queue;
mod site_api;
mod unproven;
mod visitor;
mod wire;

pub use assets::{Assets, File};
pub use config::{OtherGateway, Shared, WebConfig};
pub use counters::{Counter, Counters, Transport};
pub use fair_queue::{Bounds, FairQueue, Place, Turn};
pub use gateway::{Conn, Gateway, Mail, WebOutbox};
pub use http_proto::proxies::TrustedProxies;
pub use ice::{OfferedServers, ice_routes};
pub use import::{IMPORT_LINE_BYTES, parse_import_line};
pub use key::{SessionKeys, is_same};
pub use live::ECHO_BYTES;
pub use own_pictures::{made_picture, own_picture_routes, path as own_picture_path};
pub use pieces::pass_on_in_pieces;
pub use rest::Client;
pub use site_api::{NotMade, new_sticker, site_api, sticker_routes};

/// Entry points for fuzzing: what reads bytes from outside.
#[doc(hidden)]
pub mod fuzz {
    pub use crate::assets::{Range, range_of};
}
