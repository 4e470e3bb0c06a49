//! Erasing a user: what a member may ask for, and a site must do when they ask it.
//!
//! At once, in one transaction, the user is nobody: no name, no picture, another id, no session, on no list; whoever signs in with
//! the old id is somebody new. What there is much of follows in slices, so that nobody's message waits for it: they leave
//! their rooms, and their messages go, or stay under nobody's name. A row says what is left to do, so a node that dies goes on
//! where it was.
//!
//! All messages that name the user change by this, and there may be 100,000 of them in one room. So devices that are connected
//! hear one event, [`Renamed`], and change what they have; the messages get their new versions afterwards, without events, for
//! the devices that come back later. A guest who becomes a member is renamed in the same way.

mod ask;
mod sanctions;
mod store;
mod work;

pub use sanctions::{ErasedSanction, sanctions_after_erasure};
pub use store::{EraseSlice, EraseStore, Erased, NewErasure};
pub(crate) use work::Erasing;

use serde::{Deserialize, Serialize};

use crate::{Profile, Sub};

/// A user who has another id in all messages now: one who was erased, or a guest who became a member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    pub former: Sub,
    pub now: Profile,
    /// All their messages are deleted.
    pub erased: bool,
}

/// Most users that a device is told of when it resumes. More: it gets a first page.
pub const MOST_RENAMED: usize = 256;

/// The fate of the user's messages: they stay, or go, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MessagesAfterErasure {
    /// It goes, with its files, former bodies, and what reports keep of it.
    Erased,
    /// It stays, as nobody's.
    Kept,
}

impl MessagesAfterErasure {
    /// As the record has it.
    pub fn word(self) -> &'static str {
        match self {
            MessagesAfterErasure::Erased => "messages erased",
            MessagesAfterErasure::Kept => "messages kept",
        }
    }
}

/// Rows that one slice touches, at most: a few milliseconds of the writer's time.
pub const ERASE_SLICE: u32 = 50;
