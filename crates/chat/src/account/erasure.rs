//! Erasing a user, as members may request it and sites must carry it out.
//!
//! One transaction removes the user's name, picture, id, sessions and list entries. A later user with the old
//! id is a new user. The large part follows in slices, so that other writes do not wait: the user leaves
//! their rooms, and their messages are deleted, or stay under an anonymous name. A row stores the rest of the
//! work, so a node continues after a crash.
//!
//! An erasure changes all messages that name the user: one room may have 100,000 of them. So connected
//! devices receive one event, [`Renamed`], and update their copies. The messages get new versions afterwards,
//! without events, for devices that come back later. A guest who becomes a member is renamed in the same way.

mod ask;
mod sanctions;
mod store;
mod unanswered;
mod work;

pub use sanctions::{ErasedSanction, sanctions_after_erasure};
pub use store::{EraseSlice, EraseStore, Erased, NewErasure};
pub(crate) use unanswered::LastLook;
pub use unanswered::UNANSWERED_MS;
pub(crate) use work::Erasing;

use serde::{Deserialize, Serialize};

use crate::{Profile, Sub};

/// A user whose id changed in all messages: an erased user, or a guest who became a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub former: Sub,
    pub now: Profile,
    /// All messages of the user are deleted.
    pub erased: bool,
}

/// Renamed users in one resume. A device that missed more gets a first page instead.
pub const MOST_RENAMED: usize = 256;

/// Whether an erasure deletes the user's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessagesAfterErasure {
    /// Deletes the messages with their files, earlier bodies, and the copies in reports.
    Erased,
    /// Keeps the messages under an anonymous name.
    Kept,
}

impl MessagesAfterErasure {
    /// The word in the moderation record.
    pub fn word(self) -> &'static str {
        match self {
            MessagesAfterErasure::Erased => "messages erased",
            MessagesAfterErasure::Kept => "messages kept",
        }
    }
}

/// Rows that one slice changes, at most: a few milliseconds of the writer's time.
pub const ERASE_SLICE: u32 = 50;
