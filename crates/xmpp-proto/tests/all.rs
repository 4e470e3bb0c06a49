//! The tests of the protocol, in one binary that is linked once.

#![allow(clippy::unwrap_used, reason = "tests")]

mod jid;
mod payload;
mod xml;
