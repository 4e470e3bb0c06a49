//! The servers that clients need to find a path to each other: STUN and TURN addresses, with temporary
//! credentials.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;

use crate::{CallId, CallsFrom, Timestamp, UserId};

/// Settings of calls.
#[derive(Debug, Clone)]
pub struct CallConfig {
    /// The default for sites without a setting.
    pub from: CallsFrom,
    /// Current calls on this node; one more is refused.
    pub most: u32,
    /// Invitations of one user: a burst, then a rate per minute. 0: no limit. Guests get a quarter.
    pub burst: u32,
    pub per_minute: u32,
    /// URIs of RFC 7064: `stun:im.example:3478`.
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

/// The STUN and TURN servers that a node offers to its clients, as URIs of RFC 7064 and RFC 7065.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallServers {
    pub stun: Arc<[Box<str>]>,
    pub turn: Arc<[Box<str>]>,
}

/// TURN servers that share a secret with this server.
#[derive(Clone)]
pub struct Turn {
    /// URIs of RFC 7065: `turns:im.example:5349?transport=tcp`. Empty: only other nodes have such servers, and put their own here.
    pub urls: Arc<[Box<str>]>,
    pub secret: Arc<[u8]>,
    /// Lifetime of credentials. A relay checks them at its refreshes, too, so no call lasts longer.
    pub life_ms: u64,
}

/// Lifetime of the credentials of a check, in milliseconds.
const CHECK_MS: u64 = 20_000;

/// The purpose of credentials. Our own TURN server checks that the call still exists. A check relays nothing,
/// see `calls::credentials`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CredentialFor {
    Call(CallId),
    /// Whatever call the user is in: for clients that ask before a call begins.
    AnyCall,
    /// A client tests whether it can reach a relay, before any call.
    Check,
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("urls", &self.urls)
            .field("life_ms", &self.life_ms)
            .finish_non_exhaustive()
    }
}

/// Servers for one user, as a browser's `iceServers` takes them.
#[derive(Clone, Serialize, Deserialize)]
pub struct Ice {
    pub stun: Arc<[Box<str>]>,
    pub turn: Option<IceTurn>,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct IceTurn {
    /// Empty: this node has no such server.
    pub urls: Arc<[Box<str>]>,
    pub username: Box<str>,
    pub credential: Box<str>,
    pub expires: Timestamp,
}

impl Ice {
    /// Offers these servers in place of its own. They have the same secret, so the credentials stay.
    pub fn offer(&mut self, servers: &CallServers) {
        self.stun = Arc::clone(&servers.stun);
        if let Some(turn) = &mut self.turn {
            turn.urls = Arc::clone(&servers.turn);
        }
    }

    /// Credentials without a server to use them with are left out.
    pub fn drop_unusable(&mut self) {
        self.turn.take_if(|turn| turn.urls.is_empty());
    }
}

/// Credentials stay out of logs.
impl fmt::Debug for Ice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ice")
    }
}

impl CallConfig {
    pub(crate) fn ice(&self, user: UserId, what_for: CredentialFor, now: Timestamp) -> Ice {
        let turn = self.turn.as_ref().map(|turn| turn.credentials(user, what_for, now));
        Ice { stun: self.stun.clone(), turn }
    }
}

impl Turn {
    /// Credentials of draft-uberti-behave-turn-rest-00 §2.2, which coturn and others accept: the name is the
    /// second of the expiry and a user id, the password its HMAC-SHA1 in base64. On the wire they are the
    /// long-term credentials of RFC 8489 §9.2; that draft demands SHA-1. The network sees the name in plain
    /// text. So it has our numbers of site and user instead of the site's id, and then the call.
    fn credentials(&self, user: UserId, what_for: CredentialFor, now: Timestamp) -> IceTurn {
        let (life_ms, what_for) = match what_for {
            CredentialFor::Call(call) => (self.life_ms, call.to_string()),
            CredentialFor::AnyCall => (self.life_ms, "calls".to_owned()),
            CredentialFor::Check => (self.life_ms.min(CHECK_MS), "check".to_owned()),
        };
        let expires = Timestamp((now.0 + life_ms) / 1000 * 1000);
        let username = format!("{}:{:x}-{:x}-{what_for}", expires.0 / 1000, user.site.0, user.num);
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
    fn credentials_match_a_turn_servers_computation() {
        let turn = Turn {
            urls: [Box::from("turn:im.example:3478")].into(),
            secret: (*b"north").into(),
            life_ms: 3_600_000,
        };
        let user = UserId { site: SiteId(7), num: 0x1f };
        let call = CredentialFor::Call(CallId(0xfeed));
        let made = turn.credentials(user, call, Timestamp(1_800_000_000_999));
        assert_eq!(&*made.username, "1800003600:7-1f-000000000000feed");
        // printf %s 1800003600:7-1f-000000000000feed | openssl dgst -sha1 -hmac north -binary | base64
        assert_eq!(&*made.credential, "cqpW9Zzo/w4/t3uCv+fOTKLZja8=");
        assert_eq!(made.expires, Timestamp(1_800_003_600_000));
        let check = turn.credentials(user, CredentialFor::Check, Timestamp(1_800_000_000_999));
        assert_eq!(&*check.username, "1800000020:7-1f-check");
        let member = turn.credentials(user, CredentialFor::AnyCall, Timestamp(1_800_000_000_999));
        assert_eq!(&*member.username, "1800003600:7-1f-calls");
        assert!(!format!("{turn:?}").contains("110"), "the secret is in no log");
    }

    #[test]
    fn another_node_offers_its_own_servers_with_the_same_credentials() {
        let turn = Turn { urls: [].into(), secret: (*b"north").into(), life_ms: 1_000 };
        let user = UserId { site: SiteId(7), num: 0x1f };
        let turn = turn.credentials(user, CredentialFor::Check, Timestamp(1_800_000_000_000));
        let mut ice = Ice { stun: [].into(), turn: Some(turn.clone()) };
        let servers =
            CallServers { stun: [Box::from("stun:b:1")].into(), turn: [Box::from("turn:b:1")].into() };
        ice.offer(&servers);
        ice.drop_unusable();
        let offered = ice.turn.as_ref().expect("the front has a server");
        assert_eq!((&ice.stun, &offered.urls), (&servers.stun, &servers.turn));
        assert_eq!((&offered.username, &offered.credential), (&turn.username, &turn.credential));
        ice.offer(&CallServers { turn: [].into(), ..servers });
        ice.drop_unusable();
        assert!(ice.turn.is_none(), "no name without a server");
    }
}
