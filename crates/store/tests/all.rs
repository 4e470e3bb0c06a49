//! The tests of the store on SQLite, and of what is special on PostgreSQL, in one binary that is linked once. `conformance` has what every store must do.

#![allow(clippy::unwrap_used, reason = "tests")]

mod app_passwords;
mod asking;
mod bucket;
mod bulk;
mod erased_bytes;
mod faults;
mod folder;
mod gathered_rows;
mod late_rows;
mod message_changes;
mod model;
mod opening;
mod packed_lists;
mod plain;
mod postgres;
mod postgres_faults;
mod postgres_schema;
mod postgres_tls;
mod rich_rows;
mod rooms_model;
mod rooms_rules;
mod slots;
mod transfer;
mod two_engines;
mod written;
