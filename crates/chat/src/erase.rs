//! Erasing a user: what a member may ask for, and a site must do when they ask it.
//!
//! At once, in one transaction, the user is nobody: no name, no picture, another id, no session, on no list; whoever signs in with
//! the old id is somebody new. What there is much of follows in slices, so that nobody's message waits for it: they leave
//! their rooms, those they talked to are told who it was not, and their messages go, or stay under nobody's name. A row says
//! what is left to do, so a node that dies goes on where it was.

mod ask;
mod port;
mod work;

pub use port::{EraseSlice, EraseStore, Erased, NewErasure};
pub(crate) use work::Erasing;

/// What becomes of what they have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Messages {
    /// It goes, with its files, former bodies, and what reports keep of it.
    Erased,
    /// It stays, as nobody's.
    Kept,
}

impl Messages {
    /// As the record has it.
    pub fn word(self) -> &'static str {
        match self {
            Messages::Erased => "messages erased",
            Messages::Kept => "messages kept",
        }
    }
}

/// Rows that one slice touches, at most: a few milliseconds of the writer's time.
pub const ERASE_SLICE: u32 = 50;
