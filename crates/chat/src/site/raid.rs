//! Settings of raid mode.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// [`Trust::new_hours`](crate::Trust::new_hours) decides which members are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Raid {
    /// More new members per minute start raid mode. 0: only moderators start it.
    pub new_per_minute: u32,
    /// Duration of raid mode that started by itself.
    pub minutes: u32,
    /// End of raid mode in Unix milliseconds.
    pub until: u64,
}

impl Default for Raid {
    fn default() -> Raid {
        Raid { new_per_minute: 0, minutes: 30, until: 0 }
    }
}

impl Raid {
    pub fn is_on(&self, now: Timestamp) -> bool {
        self.until > now.0
    }
}
