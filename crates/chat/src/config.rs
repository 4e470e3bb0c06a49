//! Settings of a node, and the limits that clients receive.

use serde::{Deserialize, Serialize};

use crate::{CallConfig, Refusal, RequestRates};

/// Settings of a node.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    pub limits: Limits,
    /// How long a user stays visible after the last session has dropped without `bye`.
    pub presence_grace_ms: u64,
    /// Presence changes within this time are sent as one event.
    pub presence_coalesce_ms: u64,
    pub clock_skew_ms: u64,
    pub calls: CallConfig,
    /// Whether a gateway of this node accepts app passwords. Otherwise members get no address for apps.
    pub app_passwords: bool,
}

/// Limits for clients, sent with the welcome. Guests get a quarter of the two rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub body_bytes: u32,
    /// The extension of one message, see [`Command::Send`](crate::messages::Command::Send). 0: gateways store none.
    pub extension_bytes: u32,
    pub page: u32,
    pub watch: u32,
    pub contacts: u32,
    /// One more session replaces the oldest, so that forgotten browsers do not lock their user out. 0: no
    /// limit.
    pub sessions_per_user: u32,
    /// One more is refused as [`Refusal::Full`]. 0: no limit.
    pub sessions_per_site: u32,
    /// Messages of one user: a burst, then a rate per minute. 0: no limit.
    pub send_burst: u32,
    pub send_per_minute: u32,
    /// All other commands of one user: a burst, then a rate per minute. 0: no limit.
    pub command_burst: u32,
    pub command_per_minute: u32,
    /// All messages of one site, per second. 0: no limit.
    pub site_sends_per_second: u32,
    /// New guests from one address: a burst, then a rate per minute. 0: no limit.
    pub guest_burst: u32,
    pub guest_per_minute: u32,
    pub requests: RequestRates,
    pub rooms: RoomLimits,
}

impl Limits {
    /// Usual sizes without any rate, for tests and for load runs that would otherwise measure the rates.
    pub fn without_rates() -> Limits {
        Limits {
            body_bytes: 8_192,
            extension_bytes: 32_768,
            page: 50,
            watch: 100,
            contacts: 1_000,
            sessions_per_user: 8,
            sessions_per_site: 0,
            send_burst: 0,
            send_per_minute: 0,
            command_burst: 0,
            command_per_minute: 0,
            site_sends_per_second: 0,
            guest_burst: 0,
            guest_per_minute: 0,
            requests: RequestRates::UNLIMITED,
            rooms: RoomLimits::default(),
        }
    }

    /// Checks the text as the body of a message: not empty, not too long, no NUL. Neither SQLite's text
    /// functions nor PostgreSQL can hold NUL.
    pub(crate) fn check_body(&self, body: &str) -> Result<(), Refusal> {
        if body.is_empty() || body.len() > self.body_bytes as usize || body.contains('\0') {
            return Err(Refusal::BadBody);
        }
        Ok(())
    }

    /// Checks the body and the extension of a message. With `is_enough`, the message has another part, so both may be
    /// missing.
    pub(crate) fn check_texts(
        &self,
        body: &str,
        extension: Option<&str>,
        is_enough: bool,
    ) -> Result<(), Refusal> {
        if let Some(extension) = extension {
            let fits = (1..=self.extension_bytes as usize).contains(&extension.len());
            if !fits || extension.contains('\0') {
                return Err(Refusal::BadBody);
            }
        }
        if body.is_empty() && (is_enough || extension.is_some()) { Ok(()) } else { self.check_body(body) }
    }
}

/// Most members and rooms. 0: no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomLimits {
    /// Members of one room.
    pub members: u32,
    /// Rooms of one user. Bounded, because the list of conversations searches each.
    pub per_user: u32,
    /// Rooms that one user owns.
    pub owned: u32,
}

impl Default for RoomLimits {
    fn default() -> RoomLimits {
        RoomLimits { members: 100_000, per_user: 1_000, owned: 100 }
    }
}

/// Guests get the rates divided by this.
pub(crate) const GUEST_SHARE: u32 = 4;
