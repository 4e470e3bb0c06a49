//! Settings of calls.

use serde::{Deserialize, Serialize};

/// The users whose calls ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallsFrom {
    Nobody,
    /// Those who have agreed to be contacts.
    Contacts,
    /// Everybody who may write to them.
    Everyone,
}

/// How many a call may have at the most, whatever a site says: with six, each browser sends five pictures.
pub const MOST_IN_GROUP: u8 = 6;
