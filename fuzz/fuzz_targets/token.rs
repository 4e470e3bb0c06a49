//! Tokens: only bytes that the site has signed are a valid token, and signed claims never panic.
#![no_main]

use chat::token::{Claims, holds, sign};
use chat::{Secret, SecretKind, Timestamp};
use libfuzzer_sys::fuzz_target;

const NOW: Timestamp = Timestamp(1_700_000_000_000);

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let secret = Secret::new(SecretKind::Hs256, b"secret".to_vec(), NOW);
    // The site has not signed the input, so it is refused.
    assert!(holds(text, "demo", &secret, NOW).is_err());
    // Use the input as claims that the site has signed.
    let claims = Claims {
        sub: text.to_owned(),
        name: Some(text.to_owned()),
        avatar: Some(text.to_owned()),
        jti: Some(text.to_owned()),
        exp: 1_700_000_100.0,
        ..Claims::default()
    };
    if let Some(token) = sign(&claims, &secret) {
        let held = holds(&token, "demo", &secret, NOW).is_ok();
        let other = Secret { bytes: b"other".to_vec(), ..secret.clone() };
        assert!(holds(&token, "demo", &other, NOW).is_err());
        if held && !token.is_empty() {
            // A shortened signature is refused.
            let cut = &token[..token.len() - 1];
            assert!(holds(cut, "demo", &secret, NOW).is_err());
        }
    }
});
