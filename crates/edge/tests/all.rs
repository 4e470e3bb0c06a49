//! The tests of the connection layer, in one binary that is linked once. Tests that lower a limit of the process have their own.

#![allow(clippy::unwrap_used, reason = "tests")]

mod address_limit;
mod callers;
mod churn;
mod echo;
mod hand_over;
mod harness;
mod mailboxes;
mod no_byte_lost;
mod own_sockets;
mod several_gateways;
mod tcp;
mod tls;
/// Repeats the tests of TLS on connections that stay with rustls.
#[path = "tls.rs"]
#[allow(clippy::duplicate_mod, reason = "`tls.rs` reads the name of its module")]
mod tls_of_rustls;
mod tls_openssl;
mod tls_records;
mod transfer;
