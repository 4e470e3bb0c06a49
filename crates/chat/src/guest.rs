//! Guests: users without an account, where a site lets them in.

use rand::{Rng, rngs::StdRng};

use crate::node::Inner;
use crate::token::{self, Claims, MAX_LIFE_MS, Ticket};
use crate::{Profile, Refusal, SecretKind, Site, Sub, Timestamp};

impl Inner {
    /// A guest whom nobody has seen before, and a token by which to come back as the same. Without a secret
    /// of kind HS256 the server cannot sign one, and the guest is another one next time.
    pub(crate) fn new_guest(&self, site: &Site, now: Timestamp) -> Result<(Ticket, Option<String>), Refusal> {
        if !site.guests {
            return Err(Refusal::NoGuests);
        }
        let mut rng = self.rng.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (sub, name) = (random_sub(&mut rng), format!("Guest {}", rng.random_range(1000..10_000)));
        drop(rng);
        let expires = Timestamp(now.0 + MAX_LIFE_MS);
        let claims = Claims {
            sub: sub.as_str().to_owned(),
            name: Some(name.clone()),
            exp: expires.0 as f64 / 1000.0,
            guest: true,
            site: Some(site.key.to_string()),
            ..Claims::default()
        };
        let secret = site
            .secrets
            .iter()
            .find(|secret| secret.kind == SecretKind::Hs256 && secret.expires.is_none_or(|end| now < end));
        let guest_token = secret.and_then(|secret| token::sign(&claims, secret));
        let profile = Profile { sub, name: name.into(), avatar: None, guest: true };
        Ok((Ticket { profile, expires, once: None }, guest_token))
    }
}

/// 26 letters of 32: 130 bits that nobody guesses.
fn random_sub(rng: &mut StdRng) -> Sub {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let name: String = (0..26).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect();
    Sub::parse(&format!("guest-{name}")).expect("32 letters are a sub")
}
