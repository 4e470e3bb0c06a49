//! The check of a site's signature.

use std::hint::black_box;

use chat::token::{Claims, holds, sign};
use chat::{Secret, SecretKind, Timestamp};

pub(crate) const SITE: &str = "bench";
pub(crate) const NOW: Timestamp = Timestamp(1_800_000_000_000);

/// HS256, which every site has.
pub(crate) fn verify() -> Box<dyn FnMut()> {
    let (secret, token) = (secret(), signed("user-1"));
    Box::new(move || holds(black_box(&token), SITE, &secret, NOW).expect("it was signed with this secret"))
}

pub(crate) fn signed(sub: &str) -> String {
    let claims = Claims {
        sub: sub.to_owned(),
        name: Some("Anna Example".to_owned()),
        exp: (NOW.0 / 1_000 + 3_600) as f64,
        ..Claims::default()
    };
    sign(&claims, &secret()).expect("HS256 signs")
}

pub(crate) fn secret() -> Secret {
    Secret::new(SecretKind::Hs256, vec![7; 32], NOW)
}
