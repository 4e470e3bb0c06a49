//! Messages: sending and changing them, what belongs to one, and reading them again.

mod blocked_author;
pub(crate) mod changes;
pub(crate) mod conversations;
pub(crate) mod counts;
pub(crate) mod files;
pub(crate) mod forward;
pub(crate) mod gather;
pub(crate) mod held;
pub(crate) mod link_previews;
pub(crate) mod markers;
mod mentions;
mod pins;
pub(crate) mod polls;
pub(crate) mod post;
pub(crate) mod reactions;
pub(crate) mod retention;
pub(crate) mod rich;
mod room_history;
pub(crate) mod search;
pub(crate) mod send;
pub(crate) mod stickers;
pub(crate) mod threads;
pub(crate) mod typing;
pub(crate) mod whole_messages;

pub use blocked_author::{MOST_BLOCKED_LOOKED_AT, is_left_out};
pub use mentions::{EVERYBODY, MOST_MENTIONED, mentioned};
