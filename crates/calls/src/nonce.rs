//! Stateless nonces: the time of creation, and a tag that only we can compute for this time and client.

use std::net::{IpAddr, SocketAddr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::hmac;

/// Lifetime of a nonce. RFC 8489 §9.2.4 leaves it to us; clients get the next one with a 438.
const LIFE_SECONDS: u32 = 600;

/// Four bytes of the time and eight of the tag, in base64.
pub(crate) const LENGTH: usize = 16;

/// Eight bytes of HMAC-SHA256: a guess succeeds once in 2^64 packets, and the attacker still has no password.
const TAG: usize = 8;

pub(crate) struct Nonces {
    key: hmac::Key,
}

/// The validity of a client's nonce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Ours, for this address: the packet's source is proven.
    Good,
    /// Too old, of another client, or forged.
    Stale,
}

impl Nonces {
    pub(crate) fn new(key: &[u8; 32]) -> Nonces {
        Nonces { key: hmac::Key::new(hmac::HMAC_SHA256, key) }
    }

    pub(crate) fn make(&self, client: SocketAddr, unix_ms: u64) -> [u8; LENGTH] {
        let at = seconds(unix_ms).to_be_bytes();
        let mut raw = [0; 4 + TAG];
        raw[..4].copy_from_slice(&at);
        raw[4..].copy_from_slice(&self.tag(at, client));
        let mut nonce = [0; LENGTH];
        URL_SAFE_NO_PAD.encode_slice(raw, &mut nonce).expect("12 bytes are 16 in base64");
        nonce
    }

    pub(crate) fn check(&self, nonce: &[u8], client: SocketAddr, unix_ms: u64) -> Found {
        let mut raw = [0; 4 + TAG];
        if nonce.len() != LENGTH || URL_SAFE_NO_PAD.decode_slice(nonce, &mut raw) != Ok(raw.len()) {
            return Found::Stale;
        }
        let (at, tag) = raw.split_at(4);
        let at = [at[0], at[1], at[2], at[3]];
        let age = seconds(unix_ms).wrapping_sub(u32::from_be_bytes(at));
        // Constant time, so that timing reveals nothing about the tag.
        let differs =
            self.tag(at, client).iter().zip(tag).fold(0, |sum, (ours, theirs)| sum | (ours ^ theirs));
        if differs == 0 && age <= LIFE_SECONDS { Found::Good } else { Found::Stale }
    }

    fn tag(&self, at: [u8; 4], client: SocketAddr) -> [u8; TAG] {
        let ip = match client.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        let mut of = [0; 4 + 16 + 2];
        of[..4].copy_from_slice(&at);
        of[4..20].copy_from_slice(&ip.octets());
        of[20..].copy_from_slice(&client.port().to_be_bytes());
        let tag = hmac::sign(&self.key, &of);
        std::array::from_fn(|index| tag.as_ref()[index])
    }
}

/// Enough for the age; it wraps in 2106.
fn seconds(unix_ms: u64) -> u32 {
    (unix_ms / 1_000) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn a_nonce_is_good_for_its_client_and_its_time() {
        let nonces = Nonces::new(&[7; 32]);
        let client = "192.0.2.1:4000".parse().unwrap();
        let nonce = nonces.make(client, NOW);
        assert_eq!(nonces.check(&nonce, client, NOW), Found::Good);
        assert_eq!(nonces.check(&nonce, client, NOW + 600_000), Found::Good);
        assert_eq!(nonces.check(&nonce, client, NOW + 601_000), Found::Stale);
        assert_eq!(nonces.check(&nonce, client, NOW - 1_000), Found::Stale, "not made yet");
        for other in ["192.0.2.1:4001", "192.0.2.2:4000", "[::1]:4000"] {
            assert_eq!(nonces.check(&nonce, other.parse().unwrap(), NOW), Found::Stale);
        }
        assert_eq!(Nonces::new(&[8; 32]).check(&nonce, client, NOW), Found::Stale);
    }

    #[test]
    fn a_foreign_nonce_is_stale() {
        let nonces = Nonces::new(&[7; 32]);
        let client = "192.0.2.1:4000".parse().unwrap();
        let good = nonces.make(client, NOW);
        for index in 0..LENGTH {
            let mut changed = good;
            changed[index] = if changed[index] == b'A' { b'B' } else { b'A' };
            assert_eq!(nonces.check(&changed, client, NOW), Found::Stale, "{index}");
        }
        for wrong in [&b""[..], &good[1..], &[0xff; LENGTH], b"obMatJos2AAAAAAA"] {
            assert_eq!(nonces.check(wrong, client, NOW), Found::Stale);
        }
    }
}
