//! Keys of SCRAM (RFC 5802 §3): enough to check a password, not enough to sign in with.

use std::fmt;
use std::num::NonZeroU32;

use ring::{digest, hmac, pbkdf2};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Rounds for new passwords: the least that RFC 5802 §5.1 and RFC 7677 §4 allow. Random passwords need none, and chosen ones
/// are checked after a limited number of attempts.
pub const ITERATIONS: NonZeroU32 = NonZeroU32::new(4_096).expect("it is more than zero");
pub const SALT_BYTES: usize = 16;

/// StoredKey and ServerKey of one hash function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ScramPair<const BYTES: usize> {
    pub stored: [u8; BYTES],
    pub server: [u8; BYTES],
}

impl<const BYTES: usize> Serialize for ScramPair<BYTES> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.stored[..], &self.server[..]).serialize(serializer)
    }
}

impl<'de, const BYTES: usize> Deserialize<'de> for ScramPair<BYTES> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ScramPair<BYTES>, D::Error> {
        let (stored, server) = <(Vec<u8>, Vec<u8>)>::deserialize(deserializer)?;
        let key = |bytes: Vec<u8>| bytes.try_into().map_err(|_| D::Error::custom("a key of another length"));
        Ok(ScramPair { stored: key(stored)?, server: key(server)? })
    }
}

/// The keys for SCRAM-SHA-1 and SCRAM-SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScramKeys {
    pub sha1: ScramPair<20>,
    pub sha256: ScramPair<32>,
}

impl ScramKeys {
    /// Takes some milliseconds. `password`: in the form of SASLprep.
    pub fn derive(password: &[u8], salt: &[u8], iterations: NonZeroU32) -> ScramKeys {
        let mut salted = [0; 20];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA1, iterations, salt, password, &mut salted);
        let sha1 = ScramPair {
            stored: stored_key(
                &salted,
                hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                &digest::SHA1_FOR_LEGACY_USE_ONLY,
            ),
            server: server_key(&salted, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        };
        let mut salted = [0; 32];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password, &mut salted);
        let sha256 = ScramPair {
            stored: stored_key(&salted, hmac::HMAC_SHA256, &digest::SHA256),
            server: server_key(&salted, hmac::HMAC_SHA256),
        };
        ScramKeys { sha1, sha256 }
    }
}

/// StoredKey of SCRAM-SHA-256, to check a password that arrives in plain text.
pub(super) fn stored_sha256(password: &[u8], salt: &[u8], iterations: NonZeroU32) -> [u8; 32] {
    let mut salted = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password, &mut salted);
    stored_key(&salted, hmac::HMAC_SHA256, &digest::SHA256)
}

fn stored_key<const BYTES: usize>(
    salted: &[u8],
    mac: hmac::Algorithm,
    hash: &'static digest::Algorithm,
) -> [u8; BYTES] {
    let client_key = hmac::sign(&hmac::Key::new(mac, salted), b"Client Key");
    array(digest::digest(hash, client_key.as_ref()).as_ref())
}

fn server_key<const BYTES: usize>(salted: &[u8], mac: hmac::Algorithm) -> [u8; BYTES] {
    array(hmac::sign(&hmac::Key::new(mac, salted), b"Server Key").as_ref())
}

fn array<const BYTES: usize>(bytes: &[u8]) -> [u8; BYTES] {
    bytes.try_into().expect("the hash function has this output length")
}

impl<const BYTES: usize> fmt::Debug for ScramPair<BYTES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScramPair(…)")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use base64::{Engine, engine::general_purpose::STANDARD};

    use super::*;

    /// Checks the proof of a client, and answers the server's signature (RFC 5802 §3).
    fn signature(
        mac: hmac::Algorithm,
        hash: &'static digest::Algorithm,
        [stored, server]: [&[u8]; 2],
        auth_message: &str,
        proof: &str,
    ) -> String {
        let client_signature = hmac::sign(&hmac::Key::new(mac, stored), auth_message.as_bytes());
        let proof = STANDARD.decode(proof).unwrap();
        let client_key: Vec<u8> = proof.iter().zip(client_signature.as_ref()).map(|(a, b)| a ^ b).collect();
        assert_eq!(digest::digest(hash, &client_key).as_ref(), stored);
        STANDARD.encode(hmac::sign(&hmac::Key::new(mac, server), auth_message.as_bytes()).as_ref())
    }

    #[test]
    fn the_example_of_rfc_5802_section_5_is_checked_and_signed() {
        let keys = ScramKeys::derive(b"pencil", &STANDARD.decode("QSXCR+Q6sek8bf92").unwrap(), ITERATIONS);
        let auth_message = "n=user,r=fyko+d2lbbFgONRv9qkxdawL,\
            r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096,\
            c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j";
        let signed = signature(
            hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            &digest::SHA1_FOR_LEGACY_USE_ONLY,
            [&keys.sha1.stored, &keys.sha1.server],
            auth_message,
            "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        );
        assert_eq!(signed, "rmF9pqV8S7suAoZWja4dJRkFsKQ=");
    }

    #[test]
    fn the_example_of_rfc_7677_section_3_is_checked_and_signed() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let keys = ScramKeys::derive(b"pencil", &salt, ITERATIONS);
        let auth_message = "n=user,r=rOprNGfwEbeRWgbNEkqO,\
            r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,\
            c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let signed = signature(
            hmac::HMAC_SHA256,
            &digest::SHA256,
            [&keys.sha256.stored, &keys.sha256.server],
            auth_message,
            "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        );
        assert_eq!(signed, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert_eq!(stored_sha256(b"pencil", &salt, ITERATIONS), keys.sha256.stored);
    }

    #[test]
    fn debug_output_has_no_keys() {
        let keys = ScramKeys::derive(b"pencil", b"salt", ITERATIONS);
        assert_eq!(format!("{keys:?}"), "ScramKeys { sha1: ScramPair(…), sha256: ScramPair(…) }");
    }
}
