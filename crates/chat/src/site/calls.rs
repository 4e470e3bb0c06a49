//! Settings of calls.

use serde::{Deserialize, Serialize};

/// The users who can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallsFrom {
    Nobody,
    /// Contacts only.
    Contacts,
    /// Every user who may write to the callee.
    Everyone,
}

/// Most participants of a call in a room, for all sites: with six, each browser sends five video streams.
pub const MOST_IN_GROUP: u8 = 6;
