//! The client of SCRAM-SHA-256 (RFC 7677).

use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

/// The last message of a client. `header` and `data`: the GS2 header, and the data of its channel binding.
pub(crate) fn client_final(
    header: &str,
    bare: &str,
    server_first: &str,
    password: &str,
    data: &[u8],
) -> String {
    let attribute = |name: &str| server_first.split(',').find_map(|part| part.strip_prefix(name)).unwrap();
    let iterations: NonZeroU32 = attribute("i=").parse().unwrap();
    let salt = STANDARD.decode(attribute("s=")).unwrap();
    let mut salted = [0; 32];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, password.as_bytes(), &mut salted);
    let sign = |key: &[u8], data: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), data);
    let client_key = sign(&salted, b"Client Key");
    let channel = STANDARD.encode([header.as_bytes(), data].concat());
    let without_proof = format!("c={channel},r={}", attribute("r="));
    let stored = digest::digest(&digest::SHA256, client_key.as_ref());
    let signature = sign(stored.as_ref(), format!("{bare},{server_first},{without_proof}").as_bytes());
    let proof: Vec<u8> =
        client_key.as_ref().iter().zip(signature.as_ref()).map(|(one, two)| one ^ two).collect();
    format!("{without_proof},p={}", STANDARD.encode(proof))
}
