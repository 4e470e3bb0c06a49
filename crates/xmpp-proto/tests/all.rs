//! The tests of the protocol, in one binary that is linked once.

#![allow(clippy::unwrap_used, reason = "tests")]

mod calls;
mod jid;
mod payload;
mod xml;
