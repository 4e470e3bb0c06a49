//! Chat's [`Store`](chat::Store) on SQLite or PostgreSQL.
//!
//! One writer thread takes all queued requests and applies them in one transaction. It waits until the transaction is
//! on disk, then answers in order (group commit). A few reader threads answer reads from snapshots. Readers and the
//! writer do not wait for each other. Messages lie in the order of their commits and are linked backwards, see
//! `message.rs`.
//!
//! The crate knows rows and transactions. It does not know sessions, tokens or permissions. Each kind of stored data
//! has a file with its writes and reads. `writer.rs`, `reader.rs` and `queue.rs` contain the threads and their queues.
//!
//! `engine.rs` and `dialect.rs` contain what differs between the two databases. The type is called [`Sqlite`] with either.
//!
//! Read first: [`Sqlite`], [`Options`], then `writer.rs`.

#[macro_use]
mod dialect;

mod app_password;
mod app_token;
mod archive;
mod backup;
mod bucket;
pub mod bulk;
mod call;
mod contact;
mod conversation;
mod counter;
mod device;
mod engine;
mod erase;
mod export;
mod fault;
mod file;
mod folder;
mod forward;
mod held;
mod import;
mod item;
mod late;
mod lease;
mod mail;
mod marks;
mod members;
mod merge;
mod message;
mod message_change;
mod meta;
mod migrate;
mod moderation;
mod notify;
mod open;
mod options;
mod own_picture;
mod pace;
mod poll;
mod port;
mod preview;
mod profile;
mod queue;
mod read_ahead;
mod reader;
mod requests;
mod resume;
mod retention;
mod rich;
mod room;
mod search;
mod sent;
mod sign_in;
mod site;
mod slot;
mod sqlite;
mod stats;
mod sticker;
mod thread;
mod token;
mod torn_log;
mod transfer;
mod turns;
mod user;
mod writer;
mod written;

pub use backup::{backup, restore};
pub use bucket::{Bucket, BucketPlace, KeyPair};
pub use folder::Folder;
pub use lease::{Clock, Lease, LeaseState, Take, name_of_holder};
pub use members::{Look, Members, SlotState, pin};
pub use open::OpenError;
pub use options::{Options, Synchronous};
pub use slot::{SiteBy, find_site, used_slots};
pub use sqlite::Sqlite;
pub use stats::Stats;
pub use transfer::{Database, Moved, Progress, Step, TransferError, TransferOptions, transfer};
