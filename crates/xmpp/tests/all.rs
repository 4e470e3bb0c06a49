//! The tests of the gateway, in one binary.

#![allow(clippy::unwrap_used, reason = "tests")]

mod bosh;
mod components;
mod extensions;
mod scenarios;
mod scene;
mod streams;
mod websocket;
