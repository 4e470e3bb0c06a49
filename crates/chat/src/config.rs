//! Settings of a node, and the limits that clients are told.

use serde::{Deserialize, Serialize};

use crate::{CallConfig, Refusal, RequestRates};

/// Settings of a node.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    pub limits: Limits,
    /// How long a user stays visible after the last session has dropped without `bye`.
    pub presence_grace_ms: u64,
    /// Changes of presence are collected so long and told once.
    pub presence_coalesce_ms: u64,
    pub clock_skew_ms: u64,
    pub calls: CallConfig,
}

/// Limits for clients; the welcome has them. Guests get a quarter of the two rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub body_bytes: u32,
    pub page: u32,
    pub watch: u32,
    pub contacts: u32,
    /// One more replaces the oldest, so that a forgotten browser never locks its owner out. 0: no limit.
    pub sessions_per_user: u32,
    /// One more is refused as [`Refusal::Full`]. 0: no limit.
    pub sessions_per_site: u32,
    /// Messages: so many at once, then so many per minute. 0: no limit.
    pub send_burst: u32,
    pub send_per_minute: u32,
    /// All other commands likewise.
    pub command_burst: u32,
    pub command_per_minute: u32,
    /// All messages of one site, per second. 0: no limit.
    pub site_sends_per_second: u32,
    /// New guests from one address: so many at once, then so many per minute. 0: no limit.
    pub guest_burst: u32,
    pub guest_per_minute: u32,
    pub requests: RequestRates,
    pub rooms: RoomLimits,
}

impl Limits {
    /// Whether a text can be the body of a message. Only NUL is refused, because neither SQLite's text functions nor PostgreSQL can
    /// hold it.
    pub(crate) fn check_body(&self, body: &str) -> Result<(), Refusal> {
        if body.is_empty() || body.len() > self.body_bytes as usize || body.contains('\0') {
            return Err(Refusal::BadBody);
        }
        Ok(())
    }
}

/// Most members and rooms. 0: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomLimits {
    /// Members of one room.
    pub members: u32,
    /// Rooms of one user: the list of conversations searches each.
    pub per_user: u32,
    /// Rooms that one user owns.
    pub owned: u32,
}

impl Default for RoomLimits {
    fn default() -> RoomLimits {
        RoomLimits { members: 100_000, per_user: 1_000, owned: 100 }
    }
}

/// How much slower guests are.
pub(crate) const GUEST_SHARE: u32 = 4;
