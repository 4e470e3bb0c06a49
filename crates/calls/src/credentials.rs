//! Short-lived names and passwords: draft-uberti-behave-turn-rest-00 §2.2, on the wire the long-term credentials of RFC 8489 §9.2.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use md5::{Digest, Md5};
use ring::hmac;

use crate::CallOf;

/// The realm of clients' keys. Short, because answers to unproven sources contain it.
pub(crate) const REALM: &str = "kith";

/// Longest name: a few numbers.
const NAME_BYTES: usize = 128;

/// The secret that is shared with the issuer of names and passwords.
#[derive(Clone)]
pub struct Credentials {
    secret: hmac::Key,
}

/// The key of a request: MD5 of name, realm and password (RFC 8489 §9.2.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 16]);

/// The user of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner<'a> {
    /// Our number of the site; 0 for names of another program with the secret.
    pub(crate) site: u64,
    /// The owner of the quota: site and user, or everything behind the time in names of other programs.
    pub(crate) user: &'a str,
    pub(crate) what_for: For,
    /// Expiry in seconds since 1970.
    pub(crate) until: u64,
}

/// The use that a name permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// Relays for as long as the call lasts.
    Call(CallOf),
    /// A network check: a relay without data for a short time.
    Check,
    /// Issued by another program with the secret, which is responsible for it.
    Anything,
}

impl Credentials {
    pub fn new(secret: &[u8]) -> Credentials {
        Credentials { secret: hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret) }
    }

    pub fn password(&self, name: &str) -> String {
        STANDARD.encode(hmac::sign(&self.secret, name.as_bytes()))
    }

    pub(crate) fn key(&self, name: &str) -> Key {
        let mut password = [0; 28];
        let made = STANDARD.encode_slice(hmac::sign(&self.secret, name.as_bytes()), &mut password);
        let length = made.expect("20 bytes are 28 in base64");
        Key::new(name.as_bytes(), REALM.as_bytes(), &password[..length])
    }
}

impl Key {
    pub fn new(name: &[u8], realm: &[u8], password: &[u8]) -> Key {
        let mut hash = Md5::new();
        for part in [name, b":", realm, b":", password] {
            hash.update(part);
        }
        Key(hash.finalize().into())
    }

    /// The form that signs messages.
    pub fn hmac(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.0)
    }
}

/// Keeps it out of logs.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// Parses a name: `SECONDS:SITE-USER-CALL` with numbers in hex, `SECONDS:SITE-USER-calls`, `SECONDS:SITE-USER-check`, or
/// `SECONDS:ANYTHING` of other programs.
pub(crate) fn owner(name: &str) -> Option<Owner<'_>> {
    let (until, rest) = name.split_once(':').filter(|_| name.len() <= NAME_BYTES)?;
    let until = until.parse().ok()?;
    let site = rest.split_once('-').and_then(|(site, _)| u64::from_str_radix(site, 16).ok()).unwrap_or(0);
    let (user, what_for) = match ours(rest) {
        Some((user, what_for)) => (user, what_for),
        None => (rest, For::Anything),
    };
    Some(Owner { site, user, what_for, until })
}

/// `SITE-USER`, and the rest.
fn ours(rest: &str) -> Option<(&str, For)> {
    let (user, what_for) = rest.rsplit_once('-')?;
    let (site, number) = user.split_once('-')?;
    let (site, number) = (u32::from_str_radix(site, 16).ok()?, u32::from_str_radix(number, 16).ok()?);
    let what_for = match what_for {
        "check" => For::Check,
        "calls" => For::Call(CallOf { site, user: number, call: None }),
        call => For::Call(CallOf { site, user: number, call: Some(u64::from_str_radix(call, 16).ok()?) }),
    };
    Some((user, what_for))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_those_that_chat_hands_out() {
        // The values of `chat`'s test, made with openssl.
        let password = Credentials::new(b"north").password("1800003600:7-1f-000000000000feed");
        assert_eq!(password, "cqpW9Zzo/w4/t3uCv+fOTKLZja8=");
    }

    #[test]
    fn a_key_is_that_of_the_specification() {
        // RFC 8489 §9.2.2: user, realm.org?, pass; the digest is given in RFC 5389 §15.4.
        let key = Key::new(b"user", b"realm", b"pass");
        let digest =
            [0x84, 0x93, 0xfb, 0xc5, 0x3b, 0xa5, 0x82, 0xfb, 0x4c, 0x04, 0x4c, 0x45, 0x6b, 0xdc, 0x40, 0xeb];
        assert_eq!(key, Key(digest));
        let shared = Credentials::new(b"north");
        let password = shared.password("1:a");
        assert_eq!(shared.key("1:a"), Key::new(b"1:a", REALM.as_bytes(), password.as_bytes()));
    }

    #[test]
    fn names_are_read_or_refused() {
        let read = |name| owner(name).map(|owner| (owner.until, owner.site, owner.user, owner.what_for));
        let call = |call| For::Call(CallOf { site: 7, user: 0x1f, call });
        for (name, site, user, what_for) in [
            ("7-1f-000000000000feed", 7, "7-1f", call(Some(0xfeed))),
            ("7-1f-calls", 7, "7-1f", call(None)),
            ("7-1f-check", 7, "7-1f", For::Check),
            ("7-1f", 7, "7-1f", For::Anything),
            ("anna", 0, "anna", For::Anything),
            ("xyz-1", 0, "xyz-1", For::Anything),
            ("7-1f-elsewhere", 7, "7-1f-elsewhere", For::Anything),
        ] {
            let name = format!("1800003600:{name}");
            assert_eq!(owner(&name), Some(Owner { site, user, what_for, until: 1_800_003_600 }));
        }
        for wrong in ["", "1800003600", ":7-1", "x:7-1", "-1:7-1", "99999999999999999999999:7-1"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read(&format!("1:{}", "a".repeat(200))), None);
    }
}
