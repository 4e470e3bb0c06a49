//! What clients need to find a path to each other: addresses of STUN and TURN servers, and credentials for a while.

use std::fmt;
use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use serde::{Deserialize, Serialize};

use crate::{Timestamp, UserId};

/// Settings of calls.
#[derive(Debug, Clone)]
pub struct CallConfig {
    /// Where the site says nothing else.
    pub from: CallsFrom,
    /// Calls at one time on this node; one more is refused.
    pub most: u32,
    /// Invitations of one user: so many at once, then so many per minute. 0: no limit. Guests get a quarter.
    pub burst: u32,
    pub per_minute: u32,
    /// As in RFC 7064: `stun:im.example:3478`.
    pub stun: Arc<[Box<str>]>,
    pub turn: Option<Turn>,
}

impl Default for CallConfig {
    fn default() -> CallConfig {
        CallConfig {
            from: CallsFrom::Contacts,
            most: 100_000,
            burst: 6,
            per_minute: 12,
            stun: [].into(),
            turn: None,
        }
    }
}

/// Whose calls ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallsFrom {
    Nobody,
    /// Those who have agreed to be contacts.
    Contacts,
    /// Everybody who may write to them.
    Everyone,
}

/// TURN servers that know a secret of ours.
#[derive(Clone)]
pub struct Turn {
    /// As in RFC 7065: `turns:im.example:5349?transport=tcp`.
    pub urls: Arc<[Box<str>]>,
    pub secret: Arc<[u8]>,
    /// How long credentials are good for. A relay asks for them at its refreshes too, so a call may not last longer.
    pub life_ms: u64,
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("urls", &self.urls)
            .field("life_ms", &self.life_ms)
            .finish_non_exhaustive()
    }
}

/// Servers for one user: what a browser calls `iceServers`.
#[derive(Clone)]
pub struct Ice {
    pub stun: Arc<[Box<str>]>,
    pub turn: Option<IceTurn>,
}

#[derive(Clone)]
pub struct IceTurn {
    pub urls: Arc<[Box<str>]>,
    pub username: Box<str>,
    pub credential: Box<str>,
    pub expires: Timestamp,
}

/// Credentials are in no log.
impl fmt::Debug for Ice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ice")
    }
}

impl CallConfig {
    pub(crate) fn ice(&self, user: UserId, now: Timestamp) -> Ice {
        Ice { stun: self.stun.clone(), turn: self.turn.as_ref().map(|turn| turn.credentials(user, now)) }
    }
}

impl Turn {
    /// As draft-uberti-behave-turn-rest-00 §2.2 has it, which coturn and others read: the name is the second at which it
    /// ends and whose it is, the password its HMAC-SHA1 in base64. On the wire they are RFC 8489 §9.2's long-term
    /// credentials, and SHA-1 is what that draft says. The name goes over the network in the clear, so it has our numbers
    /// of site and user and not the site's id of them.
    fn credentials(&self, user: UserId, now: Timestamp) -> IceTurn {
        let expires = Timestamp((now.0 + self.life_ms) / 1000 * 1000);
        let username = format!("{}:{:x}-{:x}", expires.0 / 1000, user.site.0, user.num);
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.secret);
        let credential = STANDARD.encode(hmac::sign(&key, username.as_bytes()));
        IceTurn { urls: self.urls.clone(), username: username.into(), credential: credential.into(), expires }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    #[test]
    fn credentials_are_those_that_a_turn_server_computes() {
        let turn = Turn {
            urls: [Box::from("turn:im.example:3478")].into(),
            secret: (*b"north").into(),
            life_ms: 3_600_000,
        };
        let user = UserId { site: SiteId(7), num: 0x1f };
        let made = turn.credentials(user, Timestamp(1_800_000_000_999));
        assert_eq!(&*made.username, "1800003600:7-1f");
        // printf %s 1800003600:7-1f | openssl dgst -sha1 -hmac north -binary | base64
        assert_eq!(&*made.credential, "ymUenJAo/cJro4jJOvMDRWLlNJg=");
        assert_eq!(made.expires, Timestamp(1_800_003_600_000));
        assert!(!format!("{turn:?}").contains("110"), "the secret is in no log");
    }
}
