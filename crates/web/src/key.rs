//! Secrets of sessions whose commands come on other connections.
//!
//! A key names the session and its user and carries a MAC over both, and over the origin of the page that said hello,
//! under a secret of this process. So a key is of no use to a page of another origin, nothing is kept
//! per session, a key cannot be guessed, and one of a session that is gone fits none that took its place, unless it
//! is the same user's.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{SessionHandle, SessionId, SiteId, UserId};
use ring::hmac;

/// Handle, site, user, then 128 bits of the MAC.
const NAMES_BYTES: usize = 16;
const MAC_BYTES: usize = 16;
const KEY_BYTES: usize = NAMES_BYTES + MAC_BYTES;

/// Makes and checks keys.
pub struct SessionKeys(hmac::Key);

impl SessionKeys {
    /// `secret` must be unpredictable and of this process only.
    pub fn new(secret: [u8; 32]) -> SessionKeys {
        SessionKeys(hmac::Key::new(hmac::HMAC_SHA256, &secret))
    }

    /// `origin`: of the page, where it is not one of our own.
    pub(crate) fn make(&self, session: SessionId, origin: Option<&str>) -> String {
        let mut key = [0; KEY_BYTES];
        key[..8].copy_from_slice(&session.handle.0.to_be_bytes());
        key[8..12].copy_from_slice(&session.user.site.0.to_be_bytes());
        key[12..16].copy_from_slice(&session.user.num.to_be_bytes());
        let mac = self.mac(&key[..NAMES_BYTES], origin);
        key[NAMES_BYTES..].copy_from_slice(&mac.as_ref()[..MAC_BYTES]);
        URL_SAFE_NO_PAD.encode(key)
    }

    /// The session that an `Authorization: Kith <key>` speaks for.
    pub(crate) fn check(&self, authorization: &str, origin: Option<&str>) -> Option<SessionId> {
        let (scheme, text) = authorization.split_once(' ')?;
        let mut key = [0; KEY_BYTES + 2];
        let length = URL_SAFE_NO_PAD.decode_slice(text.trim(), &mut key).ok()?;
        if !scheme.eq_ignore_ascii_case("kith") || length != KEY_BYTES {
            return None;
        }
        let expected = self.mac(&key[..NAMES_BYTES], origin);
        if !is_same(&expected.as_ref()[..MAC_BYTES], &key[NAMES_BYTES..KEY_BYTES]) {
            return None;
        }
        let number = |at: usize| u32::from_be_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]);
        Some(SessionId {
            user: UserId { site: SiteId(number(8)), num: number(12) },
            handle: SessionHandle(u64::from(number(0)) << 32 | u64::from(number(4))),
        })
    }

    fn mac(&self, names: &[u8], origin: Option<&str>) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(names);
        context.update(origin.unwrap_or("").as_bytes());
        context.sign()
    }
}

/// In the same time wherever they differ.
pub fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && std::hint::black_box(a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b))) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_speaks_for_its_session_only() {
        let keys = SessionKeys::new([7; 32]);
        let session = SessionId {
            user: UserId { site: SiteId(3), num: 9 },
            handle: SessionHandle(0x0102_0304_0506_0708),
        };
        let page = Some("https://forum.example");
        let key = keys.make(session, page);
        assert_eq!(keys.check(&format!("Kith {key}"), page), Some(session));
        assert_eq!(keys.check(&format!("kith {key}"), page), Some(session));
        for at in 0..key.len() {
            let mut other = key.clone().into_bytes();
            other[at] = if other[at] == b'A' { b'B' } else { b'A' };
            let other = String::from_utf8(other).unwrap();
            assert_eq!(keys.check(&format!("Kith {other}"), page), None, "byte {at}");
        }
        for wrong in
            [&key[..], "Kith", "Kith ", "Bearer x", &format!("Bearer {key}"), &format!("Kith {key}AAAA")]
        {
            assert_eq!(keys.check(wrong, page), None);
        }
        assert_eq!(keys.check(&format!("Kith {key}"), Some("https://evil.example")), None);
        assert_eq!(keys.check(&format!("Kith {key}"), None), None);
        assert_eq!(SessionKeys::new([8; 32]).check(&format!("Kith {key}"), page), None);
    }
}
