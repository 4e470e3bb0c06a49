//! Plans against a small server over real sockets: counts are right, and faults are noticed.
#![allow(clippy::unwrap_used)] // a failed one is a failed test

mod community;
mod fake_server;
mod flood;
mod mix;
mod router;
mod storm;
mod stress;
mod typing;
mod visit;
